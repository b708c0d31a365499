// The charts: a cursor at the time of the motion, numbers under the pointer, tables and CSV on demand.
"use strict";

const SVG = "http://www.w3.org/2000/svg";

function svgElement(name, attributes, parent) {
  const made = document.createElementNS(SVG, name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  return parent.appendChild(made);
}

function notBefore(times, t) {
  const found = times.findIndex((x) => x >= t);
  return found < 0 ? times.length - 1 : found;
}

function nearest(times, t) {
  const high = notBefore(times, t), low = Math.max(0, high - 1);
  return t - times[low] < times[high] - t ? low : high;
}

const bytesOf = (text) => Uint8Array.from(atob(text), (c) => c.charCodeAt(0)).buffer;  // of base64

// Numbers of a figure as base64: doubles, or floats, of which seven digits count; null is what is not finite.
function unpacked(text, double) {
  const read = double ? new Float64Array(bytesOf(text)) : Array.from(new Float32Array(bytesOf(text)), (x) => Number(x.toPrecision(7)));
  return Array.from(read, (x) => (Number.isFinite(x) ? x : null));
}

function inDigits(x, digits) { return x === null ? "–" : String(Number(x.toPrecision(digits))); }

function unpackedFigure({ time, panels }) {
  const read = (series) => series.map((s) => ({ ...s, values: unpacked(s.values, s.column) }));
  return { time: unpacked(time, true), panels: panels.map((p) => ({ ...p, series: read(p.series) })) };
}

function createChart(svg, data, panel, clock) {
  const [left, right, top, bottom] = svg.dataset.box.split(" ").map(Number);
  const [start, end, low, high] = svg.dataset.span.split(" ").map(Number);
  const drawn = panel.series.filter((s) => s.style);
  const cursor = svgElement("line", { class: "cursor", x1: 0, x2: 0, y1: top, y2: bottom }, svg);
  const dots = drawn.map((s) => svgElement("circle", { class: `dot ${s.style}`, r: 2.6 }, svg));
  return {
    svg, data, panel, drawn, clock, start,
    mark(t) {
      const x = left + ((t - start) / (end - start)) * (right - left), i = nearest(data.time, t);
      cursor.setAttribute("transform", `translate(${x.toFixed(1)} 0)`);
      drawn.forEach((s, j) => {
        const y = bottom - ((s.values[i] - low) / (high - low)) * (bottom - top);
        dots[j].setAttribute("transform", `translate(${x.toFixed(1)} ${y.toFixed(1)})`);
        dots[j].style.visibility = s.values[i] === null ? "hidden" : "visible";
      });
    },
    timeAt(event) {
      const box = svg.getBoundingClientRect(), x = ((event.clientX - box.left) / box.width) * svg.viewBox.baseVal.width;
      return start + Math.min(1, Math.max(0, (x - left) / (right - left))) * (end - start);
    },
  };
}

// `hover` and `choose` are told the time of the motion under the pointer when it moves over a chart, and when it is pressed.
function createCharts(study, hover, choose) {
  const charts = [], tip = document.createElement("div");
  tip.className = "tip";
  tip.hidden = true;
  document.body.append(tip);

  function point(chart, event, tell) {
    const t = chart.timeAt(event), i = nearest(chart.data.time, t), head = document.createElement("b");
    if (chart.clock === "free") charts.forEach((c) => c.clock === "free" && c.mark(t));
    else tell(t);
    head.textContent = `${chart.data.time[i].toFixed(2)} s`;
    tip.replaceChildren(head, ...chart.drawn.map((s) => {
      const row = document.createElement("div"), name = document.createElement("span"), value = document.createElement("span");
      row.className = s.style;
      name.textContent = s.name;
      value.textContent = s.values[i] === null ? "–" : `${inDigits(s.values[i], 4)} ${chart.panel.unit}`;
      row.append(name, value);
      return row;
    }));
    tip.hidden = false;
    const width = tip.offsetWidth, room = document.documentElement.clientWidth;
    tip.style.left = `${event.clientX + 18 + width > room ? Math.max(4, event.clientX - width - 18) : event.clientX + 18}px`;
    tip.style.top = `${Math.max(4, Math.min(event.clientY + 14, window.innerHeight - tip.offsetHeight - 8))}px`;
  }

  const figures = Array.from(document.querySelectorAll("figure.plots"), (figure) => ({ figure, data: unpackedFigure(study.figures[figure.dataset.figure]) }));
  const states = figures.filter(({ figure }) => figure.dataset.clock === "motion").flatMap(({ data }) => columns(data).filter((c) => c.column));
  for (const { figure, data } of figures) {
    figure.querySelectorAll("svg.chart").forEach((svg, k) => {
      const chart = createChart(svg, data, data.panels[k], figure.dataset.clock);
      svg.addEventListener("pointermove", (e) => point(chart, e, hover));
      svg.addEventListener("pointerdown", (e) => point(chart, e, choose));
      svg.addEventListener("pointerleave", () => { tip.hidden = true; });
      charts.push(chart);
    });
    offerNumbers(figure, data, study.name, figure.dataset.clock === "motion" ? states : []);
  }
  charts.filter((c) => c.clock === "free").forEach((c) => c.mark(c.start));
  return { mark: (t) => charts.forEach((c) => c.clock === "motion" && c.mark(t)) };
}

// --- numbers ---------------------------------------------------------------------------------------------------------------

function columns(data) {
  return data.panels.flatMap((p) => p.series.map((s) => ({ name: `${p.title} ${s.name} [${p.unit}]`, column: s.column, values: s.values })));
}

// The states of the motion first, with all digits and under the names by which commands read them.
function csv(data, states) {
  const quoted = (x) => `"${(/^[=+@-]/.test(x) ? `'${x}` : x).replaceAll('"', '""')}"`;  // no formulas from names
  const all = [{ column: "t", values: data.time }, ...states, ...columns(data).filter((c) => !c.column)];
  const rows = data.time.map((_, i) => all.map((c) => c.values[i] ?? "").join(","));
  return [all.map((c) => quoted(c.column || c.name)).join(","), ...rows].join("\r\n") + "\r\n";
}

function numbers(data) {
  const all = [{ name: "time [s]", values: data.time }, ...columns(data)], table = document.createElement("table"), head = table.createTHead().insertRow(), body = table.createTBody();
  for (const column of all) {
    const cell = document.createElement("th");
    cell.textContent = column.name;
    head.append(cell);
  }
  data.time.forEach((_, i) => {
    const row = body.insertRow();
    for (const column of all) row.insertCell().textContent = inDigits(column.values[i], 5);
  });
  return table;
}

function offerNumbers(figure, data, name, states) {
  const details = figure.querySelector(".numbers");
  details.addEventListener("toggle", () => {
    const place = details.querySelector(".scroll");
    if (details.open && !place.firstChild) place.append(numbers(data));
  });
  details.querySelector(".csv").addEventListener("click", () => {
    const link = document.createElement("a");
    link.href = URL.createObjectURL(new Blob([csv(data, states)], { type: "text/csv" }));
    link.download = `${name}-${figure.dataset.figure}.csv`;
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 1000);
  });
}
