// The panels beside and below the view: what the arm feels now, in numbers and bars. They only show; nothing is computed for long.
"use strict";

const $ = (id) => document.getElementById(id);
const raised = (digits) => [...digits].map((x) => (x === "-" ? "⁻" : "⁰¹²³⁴⁵⁶⁷⁸⁹"[x])).join("");
const minus = (text) => text.replaceAll("-", "−");

function number(x, digits = 3) {  // for readers: three digits, a true minus, powers of ten
  if (!Number.isFinite(x)) return "–";
  const size = Math.abs(x);
  if (size === 0 || (size >= 1e-3 && size < 1e5)) return minus(String(Number(x.toPrecision(digits))));
  const [mantissa, power] = x.toExponential(0).split("e");
  return `${minus(mantissa)}·10${raised(String(Number(power)))}`;
}

function say(element, text) {  // the page is touched only where something changes
  if (element.textContent !== text) element.textContent = text;
}

function createPanels(spec) {
  const n = spec.prismatic.length;  // of coupled joints the independent ones
  const rows = spec.prismatic.map((_, i) => ({
    row: $(`row${i}`), slider: $(`q${i}`), place: $(`place${i}`), bar: $(`bar${i}`), need: $(`need${i}`), effort: $(`effort${i}`),
  }));
  const cells = [...document.querySelectorAll("#matrix td")];
  const amount = (x) => { const a = Math.abs(x); return minus(a < 0.005 ? "0" : x.toFixed(a < 10 ? 2 : a < 100 ? 1 : 0)); };
  const place = (x, i) => (spec.prismatic[i] ? `${minus((1000 * x).toFixed(Math.abs(x) < 1 ? 1 : 0))} mm` : `${minus(((180 * x) / Math.PI).toFixed(1))}°`);
  const effort = (x, i) => `${amount(x)} ${spec.prismatic[i] ? "N" : "N m"}`;

  function joints(q, motor, needed, beyond, held) {
    rows.forEach((r, i) => {
      const limit = spec.efforts[i], whole = limit === null ? spec.scale[i] : 1.15 * limit, share = (x) => Math.max(-1, Math.min(1, x / whole || 0));
      if (!held || document.activeElement !== r.slider) r.slider.value = q[i];
      say(r.place, place(q[i], i));
      const x = share(motor[i]);
      r.bar.style.width = `${(50 * Math.abs(x)).toFixed(2)}%`;
      r.bar.style.left = `${(50 + Math.min(0, 50 * x)).toFixed(2)}%`;
      r.need.style.left = `${(50 + 50 * share(needed[i])).toFixed(2)}%`;
      say(r.effort, effort(motor[i], i));
      r.row.classList.toggle("over", limit !== null && Math.abs(motor[i]) > limit);
      r.row.classList.toggle("beyond", Math.abs(beyond[i]) > 1e-9);
      if (held) r.slider.setAttribute("aria-valuetext", `${place(q[i], i)}, ${effort(motor[i], i)}`);
    });
  }

  function matrix(M) {  // colour: how strongly two joints are coupled
    cells.forEach((cell, k) => {
      const i = Math.floor(k / n), j = k % n, share = M[k] / Math.sqrt(M[n * i + i] * M[n * j + j]) || 0;
      cell.style.setProperty("--share", `${Math.round(80 * Math.min(1, Math.abs(share)))}%`);
      cell.className = share < 0 ? "minus" : "plus";
      if (cell.firstElementChild) say(cell.firstElementChild, Math.abs(share) < 5e-7 ? "0" : number(M[k], 2));
    });
  }

  function hand(at, ease, J, rank) {
    say($("hand-at"), at.map((x) => minus(x.toFixed(3))).join(", "));
    const [lightest, , heaviest] = ease.values.map((x) => (x > 0 ? 1 / x : Infinity)).sort((a, b) => a - b);
    const weight = (x) => (x < 1e4 ? `${number(x)} kg` : Number.isNaN(x) ? "–" : "∞");
    say($("lightest"), weight(lightest));
    say($("heaviest"), weight(heaviest));
    const JJ = new Array(9).fill(0);
    for (let r = 0; r < 3; r += 1) for (let c = 0; c < 3; c += 1) for (let i = 0; i < n; i += 1) JJ[3 * r + c] += J[n * (3 + r) + i] * J[n * (3 + c) + i];
    const sizes = eigen(JJ).values.map((x) => Math.sqrt(Math.max(0, x))).sort((a, b) => b - a);
    say($("dexterity"), `${Math.round((100 * sizes[rank - 1]) / sizes[0] || 0)} %`);
  }

  // Energies of the last seconds.
  const SPAN = 6, history = [], box = { left: 62, right: 334, top: 8, bottom: 120 };
  function record(t, e) {
    if (history.length && history[history.length - 1].t >= t) history.pop();
    history.push({ t, ...e });
    while (history[0].t < t - SPAN) history.shift();
  }
  function energy(t, e, change) {
    say($("kinetic"), number(Math.abs(e.kinetic) < 5e-4 ? 0 : e.kinetic));
    say($("potential"), number(Math.abs(e.potential) < 5e-4 ? 0 : e.potential));
    say($("change"), number(Math.abs(change) < 5e-10 ? 0 : change, Math.abs(change) < 0.01 ? 1 : 3));
    const start = history.length ? history[0].potential : 0;
    const lines = { kinetic: (h) => h.kinetic, potential: (h) => h.potential - start, total: (h) => h.total - start };
    let [low, high] = [0, 1e-6];
    for (const line of Object.values(lines)) for (const h of history) { low = Math.min(low, line(h)); high = Math.max(high, line(h)); }
    const x = (at) => box.right - ((t - at) / SPAN) * (box.right - box.left), y = (v) => box.bottom - ((v - low) / (high - low)) * (box.bottom - box.top);
    for (const [name, line] of Object.entries(lines)) {
      $(`line-${name}`).setAttribute("d", history.map((h, k) => `${k ? "L" : "M"}${x(h.t).toFixed(1)} ${y(line(h)).toFixed(1)}`).join(""));
    }
    const shown = history.length > 2;
    say($("energy-high"), shown ? `${number(high, 2)} J` : "");
    say($("energy-low"), shown && low < 0 ? `${number(low, 2)} J` : "");
    $("energy-zero").setAttribute("transform", `translate(0 ${y(0).toFixed(1)})`);
    $("energy-wait").style.display = shown ? "none" : "";
  }
  return { rows, joints, matrix, hand, record, energy, forget: () => { history.length = 0; } };
}
