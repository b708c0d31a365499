// One time for the arm and all charts: the slider, playing, and moving over a chart set it. Tables and CSV are made on demand.
"use strict";

const study = JSON.parse(document.getElementById("data").textContent);
const $ = (id) => document.getElementById(id);
const SVG = "http://www.w3.org/2000/svg";
let arm = null, now = study.time[0], playing = false;
const [first, last] = [study.time[0], study.time[study.time.length - 1]];

// --- the arm ---------------------------------------------------------------------------------------------------------------

try {
  arm = createScene($("scene"), study.scene, study.q);
} catch (error) {
  const told = document.createElement("p");
  told.className = "failed";
  told.textContent = "The 3D view needs WebGL, which this browser does not offer. Everything else works.";
  $("view").append(told);
}

function notBefore(times, t) {
  const found = times.findIndex((x) => x >= t);
  return found < 0 ? times.length - 1 : found;
}

function nearest(times, t) {
  const high = notBefore(times, t), low = Math.max(0, high - 1);
  return t - times[low] < times[high] - t ? low : high;
}

function at(times, rows, t) {  // linear between samples, which are dense
  const high = notBefore(times, t), low = Math.max(0, high - 1), gap = times[high] - times[low], share = gap > 0 ? (t - times[low]) / gap : 0;
  return rows[low].map((x, k) => x + share * (rows[high][k] - x));
}

// --- charts ----------------------------------------------------------------------------------------------------------------

const charts = [];
const tip = document.createElement("div");
tip.className = "tip";
tip.hidden = true;
document.body.append(tip);

function svgElement(name, attributes, parent) {
  const made = document.createElementNS(SVG, name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  return parent.appendChild(made);
}

for (const figure of document.querySelectorAll("figure.plots")) {
  const data = study.figures[figure.dataset.figure];
  figure.querySelectorAll("svg.chart").forEach((svg, k) => {
    const [left, right, top, bottom] = svg.dataset.box.split(" ").map(Number);
    const [start, end, low, high] = svg.dataset.span.split(" ").map(Number);
    const panel = data.panels[k], drawn = panel.series.filter((s) => s.style);
    const cursor = svgElement("line", { class: "cursor", x1: 0, x2: 0, y1: top, y2: bottom }, svg);
    const dots = drawn.map((s) => svgElement("circle", { class: `dot ${s.style}`, r: 2.6 }, svg));
    const chart = { svg, data, panel, drawn, clock: figure.dataset.clock, left, right, start, end };
    chart.index = (t) => nearest(data.time, t);
    chart.mark = (t) => {
      const x = left + ((t - start) / (end - start)) * (right - left), i = chart.index(t);
      cursor.setAttribute("transform", `translate(${x.toFixed(1)} 0)`);
      drawn.forEach((s, j) => {
        const y = bottom - ((s.values[i] - low) / (high - low)) * (bottom - top);
        dots[j].setAttribute("transform", `translate(${x.toFixed(1)} ${y.toFixed(1)})`);
        dots[j].style.visibility = s.values[i] === null ? "hidden" : "visible";
      });
    };
    svg.addEventListener("pointermove", (e) => point(chart, e));
    svg.addEventListener("pointerdown", (e) => { play(false); point(chart, e); });
    svg.addEventListener("pointerleave", () => { tip.hidden = true; });
    charts.push(chart);
  });
}

function point(chart, event) {
  const box = chart.svg.getBoundingClientRect(), x = ((event.clientX - box.left) / box.width) * chart.svg.viewBox.baseVal.width;
  const share = Math.min(1, Math.max(0, (x - chart.left) / (chart.right - chart.left)));
  const t = chart.start + share * (chart.end - chart.start);
  if (chart.clock === "free") charts.forEach((c) => c.clock === "free" && c.mark(t));
  else if (!playing) setTime(t);
  const i = chart.index(t), head = document.createElement("b");
  head.textContent = `${chart.data.time[i].toFixed(2)} s`;
  tip.replaceChildren(head, ...chart.drawn.map((s) => {
    const row = document.createElement("div"), name = document.createElement("span"), value = document.createElement("span");
    row.className = s.style;
    name.textContent = s.name;
    value.textContent = s.values[i] === null ? "–" : `${Number(s.values[i].toPrecision(4))} ${chart.panel.unit}`;
    row.append(name, value);
    return row;
  }));
  tip.hidden = false;
  const width = tip.offsetWidth, room = document.documentElement.clientWidth;
  tip.style.left = `${event.clientX + 18 + width > room ? Math.max(4, event.clientX - width - 18) : event.clientX + 18}px`;
  tip.style.top = `${Math.min(event.clientY + 14, window.innerHeight - tip.offsetHeight - 60)}px`;
}

// --- time ------------------------------------------------------------------------------------------------------------------

function setTime(t) {
  now = Math.min(last, Math.max(first, t));
  $("time").value = now;
  $("clock").textContent = `${now.toFixed(2)} s`;
  $("time").setAttribute("aria-valuetext", `${now.toFixed(2)} seconds`);
  if (arm) arm.show(at(study.time, study.q, now));
  for (const chart of charts) if (chart.clock === "motion") chart.mark(now);
}

let before = null, rest = 0;
function frame(stamp) {
  if (!playing) return;
  const passed = before === null ? 0 : Math.min(0.1, (stamp - before) / 1000) * Number($("speed").value);
  before = stamp;
  if (now >= last && (rest += passed) > 0.6) { rest = 0; setTime(first); } else if (now < last) setTime(now + passed);
  requestAnimationFrame(frame);
}

function play(on) {
  if (playing === on) return;
  playing = on;
  $("play").textContent = on ? "❚❚" : "▶";
  $("play").setAttribute("aria-label", on ? "Pause" : "Play");
  $("play").setAttribute("aria-pressed", String(on));
  before = null;
  if (on) { if (now >= last) setTime(first); requestAnimationFrame(frame); }
}

$("play").addEventListener("click", () => play(!playing));
$("time").addEventListener("input", () => { play(false); setTime(Number($("time").value)); });
$("home").addEventListener("click", () => arm && arm.reset());
document.querySelectorAll("[data-show]").forEach((box) => box.addEventListener("change", () => arm && arm.layer(box.dataset.show, box.checked)));

// --- light and dark --------------------------------------------------------------------------------------------------------

const dark = matchMedia("(prefers-color-scheme: dark)");
dark.addEventListener("change", () => arm && arm.recolor());
$("theme").addEventListener("click", () => {
  const chosen = document.documentElement.dataset.theme || (dark.matches ? "dark" : "light");
  document.documentElement.dataset.theme = chosen === "dark" ? "light" : "dark";
  if (arm) arm.recolor();
});

// --- numbers ---------------------------------------------------------------------------------------------------------------

function columns(data) {
  const all = data.panels.flatMap((p) => p.series.map((s) => ({ name: `${p.title} ${s.name} [${p.unit}]`, values: s.values })));
  return [{ name: "time [s]", values: data.time }, ...all];
}

function csv(data) {
  const quoted = (x) => `"${(/^[=+@-]/.test(x) ? `'${x}` : x).replaceAll('"', '""')}"`;  // no formulas from names
  const all = columns(data), rows = data.time.map((_, i) => all.map((c) => c.values[i] ?? "").join(","));
  return [all.map((c) => quoted(c.name)).join(","), ...rows].join("\r\n") + "\r\n";
}

function numbers(data) {
  const all = columns(data), table = document.createElement("table"), head = table.createTHead().insertRow(), body = table.createTBody();
  for (const column of all) {
    const cell = document.createElement("th");
    cell.textContent = column.name;
    head.append(cell);
  }
  data.time.forEach((_, i) => {
    const row = body.insertRow();
    for (const column of all) row.insertCell().textContent = column.values[i] ?? "–";
  });
  return table;
}

for (const figure of document.querySelectorAll("figure.plots")) {
  const data = study.figures[figure.dataset.figure], details = figure.querySelector(".numbers");
  details.addEventListener("toggle", () => {
    const place = details.querySelector(".scroll");
    if (details.open && !place.firstChild) place.append(numbers(data));
  });
  details.querySelector(".csv").addEventListener("click", () => {
    const link = document.createElement("a");
    link.href = URL.createObjectURL(new Blob([csv(data)], { type: "text/csv" }));
    link.download = `${study.name}-${figure.dataset.figure}.csv`;
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 1000);
  });
}

setTime(first);
charts.filter((c) => c.clock === "free").forEach((c) => c.mark(c.start));
