// The page: one state of the arm, which the motion, the motors, the reader's hand or gravity change; the view and all panels show it.
"use strict";

const study = JSON.parse($("data").textContent);
const motion = Object.fromEntries(Object.entries(study.motion).map(([key, text]) => [key, new Float64Array(bytesOf(text))]));
const spec = study.live, can = !spec.missing.all;
const arm = mechanics({ ...spec, gravity: spec.gravity || { size: 0, down: [0, 0, -1], side: [1, 0, 0] }, bodies: spec.bodies || [] }, typeof programs === "undefined" ? null : programs);
const { n } = arm, panels = can ? createPanels(spec) : null;
const [first, last] = [motion.time[0], motion.time[motion.time.length - 1]];
const zeros = () => new Float64Array(n);
const state = { q: zeros(), qd: zeros(), qdd: zeros(), t: 0, mode: "hold", playing: false, now: first, push: null, drag: null, start: null };
let stage = null;
const live = { state, arm, motion, shown: {}, frames: 0 };

// --- the motion --------------------------------------------------------------------------------------------------------------

function follow(t) {  // the state of the motion at a time, linear between its samples, which are dense
  const high = notBefore(motion.time, t), low = Math.max(0, high - 1), gap = motion.time[high] - motion.time[low];
  const share = gap > 0 ? (t - motion.time[low]) / gap : 0;
  for (const key of ["q", "qd", "qdd"]) {
    for (let i = 0; i < n; i += 1) {
      const [a, b] = [motion[key][n * low + i], motion[key][n * high + i]];
      state[key][i] = share === 1 ? b : a + share * (b - a);
    }
  }
}

function setTime(t) {
  state.now = Math.min(last, Math.max(first, t));
  if (state.mode !== "play") setMode("play");
  follow(state.now);
  showTime();
  ask();
}

function showTime() {
  $("time").value = state.now;
  say($("clock"), `${state.now.toFixed(2)} s`);
  if (!state.playing) $("time").setAttribute("aria-valuetext", `${state.now.toFixed(2)} seconds`);
  charts.mark(state.now);
}

function play(on) {
  if (on && state.now >= last) state.now = first;
  if (on) setTime(state.now);
  state.playing = on;
  say($("play"), on ? "❚❚ Pause" : "▶ Play");
  if (state.mode === "play") tell(on ? "Playing the motion." : "The motion is paused.");
  ask();
}

// --- motors --------------------------------------------------------------------------------------------------------------------

const TOLD = { play: "The motion is shown.", hold: can ? "Motors hold the arm." : "The arm is shown, without forces.", float: "Motors carry the weight and brake gently: push the arm.", drop: "Motors are off: the arm falls." };
const tell = (words) => say($("status"), words);

function refused(mode) {  // why a mode is not to be had now, or nothing
  if (mode === "play" || mode === "hold") return "";
  return spec.missing.all || spec.missing.drop || (arm.world.rubs && spec.missing.friction ? `${spec.missing.friction} Choose friction: none.` : "");
}

function setMode(mode) {
  const reason = refused(mode);
  if (reason) { tell(reason); return; }
  if (state.playing && mode !== "play") play(false);
  state.mode = mode;
  state.qdd.fill(0);
  if (mode === "hold") state.qd.fill(0);
  state.start = null;
  document.querySelectorAll("[data-mode]").forEach((b) => b.setAttribute("aria-pressed", String(b.dataset.mode === mode)));
  $("play").setAttribute("aria-pressed", String(mode === "play"));
  tell(TOLD[mode]);
  ask();
}

function reset() {
  setMode("hold");
  state.now = motion.time[Math.floor(motion.time.length / 2)];  // where the arm is seldom stretched or folded
  follow(state.now);
  showTime();
  state.qd.fill(0);
  state.qdd.fill(0);
  [state.t, state.push, state.drag] = [0, null, null];
  if (panels) panels.forget();
  if (stage) stage.forget();
  ask();
}

function motors() {  // the forces of the motors now, but for what holds still
  if (state.mode !== "float") return zeros();
  return Float64Array.from(arm.holding(state.q), (x, i) => x - spec.brake[i] * state.qd[i]);
}

function shownTorques(needed) {
  if (state.mode === "play") {
    const tau = arm.torques(state.q, state.qd, state.qdd), lost = arm.friction(state.qd, tau);
    return Float64Array.from(tau, (x, i) => x + lost[i]);
  }
  const outside = arm.pushed(state.q, state.push);
  return state.mode === "hold" ? Float64Array.from(needed, (x, i) => x - outside[i]) : motors();
}

// --- frames --------------------------------------------------------------------------------------------------------------------

const FOLDED = 0.02;  // cosine of the second of three angles below which the rates of the others are too large

let asked = false, before = null, owed = 0, waited = 0, told = -Infinity;
function ask() { if (!asked) { asked = true; requestAnimationFrame(frame); } }

function advance(stamp) {  // the time since the last frame, in the arm's seconds
  const passed = before === null ? 0 : Math.min(0.1, (stamp - before) / 1000) * Number($("speed").value);
  before = stamp;
  if (state.mode === "play") {
    if (state.now < last) state.now = Math.min(last, state.now + passed);
    else if ((waited += passed) > 0.6) [waited, state.now] = [0, first];
    state.t += passed;
    follow(state.now);
    showTime();
    return;
  }
  for (owed += passed; owed >= spec.step; owed -= spec.step) {
    arm.step(state, spec.step, motors(), state.push);
    if (study.angles.some((i) => Math.abs(Math.cos(state.q[i])) < FOLDED)) {
      reset();
      tell("A ball or free joint reached a right angle about y, where the page’s three angles fail: the robot is back at its start.");
      return;
    }
    if (Math.round(state.t / spec.step) % Math.round(0.016 / spec.step) === 0) {
      panels.record(state.t, arm.energy(state));
      if (stage) stage.track(arm.hand(state.q).at);
    }
  }
  if (![...state.q, ...state.qd].every(Number.isFinite)) {
    reset();
    tell("The motion became too fast for the page’s time steps: the arm is back at its start.");
  }
}

function frame(stamp) {
  asked = false;
  const moving = state.playing || state.mode === "float" || state.mode === "drop";
  if (moving) { advance(stamp); ask(); } else { before = null; owed = 0; }
  if (state.drag && state.mode === "hold") live.reached = arm.reach(state.q, state.drag.target, $("keep").checked ? state.drag.pose : null);
  show(!moving || stamp - told > 60 ? stamp : null);
  live.frames += 1;
}

function show(stamp) {  // panels of many numbers follow more slowly
  const { links } = arm.poses(state.q);
  if (stage) stage.pose(links);
  if (!can) return;
  const needed = arm.holding(state.q), motor = shownTorques(needed), { at, J, com } = arm.hand(state.q);
  panels.joints(state.q, motor, needed, state.q.map((_, i) => arm.beyond(state.q, i)), state.mode === "hold");
  Object.assign(live.shown, { motor: Array.from(motor), needed: Array.from(needed) });
  const ease = eigen(arm.mobility(state.q));
  if (stage) showForces(at, com, ease);
  if (stamp === null) return;
  told = stamp;
  const e = arm.energy(state);
  if (state.start === null) state.start = e.total;
  if (state.playing) panels.record(state.t, e);
  panels.matrix(arm.massMatrix(state.q));
  panels.hand(at, ease, J, spec.hands[arm.world.hand].rank);
  panels.energy(state.t, e, e.total - state.start);
  Object.assign(live.shown, { energy: e, ease: ease.values });
}

function showForces(at, com, ease) {
  const { world } = arm, total = spec.mass + world.load;
  live.largest = live.largest || Math.max(...ease.values) || 1;
  stage.hand(at, world.load, spec.load);
  stage.weight(at.map((x, k) => (spec.mass * com[k] + world.load * x) / (total || 1)), world.field, world.size / 9.81);
  stage.force(state.push, spec.push.most);
  stage.ellipsoid(at, ease, live.largest);
  const tag = $("push");
  tag.hidden = !(state.push && state.push.force);
  if (tag.hidden) return;
  const [x, y] = stage.screen(state.push.target || state.push.point), box = $("scene").getBoundingClientRect();
  say(tag, `${Math.round(Math.hypot(...state.push.force))} N`);
  tag.style.left = `${Math.min(box.width - 70, Math.max(4, x - box.left + 12))}px`;
  tag.style.top = `${Math.max(4, y - box.top - 26)}px`;
}

// --- the reader's hand ---------------------------------------------------------------------------------------------------------

const canvas = $("scene"), NEAR = 22;  // px

function over(event) {
  const { at, pose } = arm.hand(state.q), [x, y] = stage.screen(at);
  if (Math.hypot(event.clientX - x, event.clientY - y) < NEAR) return { hand: true, at, pose };
  return stage.pick(event);
}

function takes(event) {  // the hand is moved while motors hold; whatever else is taken is pushed
  if (event.button || event.shiftKey || event.ctrlKey) return;
  const hit = over(event);
  if (!hit) return;
  event.stopImmediatePropagation();
  event.preventDefault();
  canvas.focus({ preventScroll: true });
  canvas.setPointerCapture(event.pointerId);
  if (state.mode === "play") setMode("hold");
  const { link, at } = spec.hands[arm.world.hand], target = hit.hand ? hit.at : hit.point;
  if (hit.hand && state.mode === "hold") state.drag = { id: event.pointerId, target, pose: hit.pose.slice() };
  else state.push = { id: event.pointerId, link: hit.hand ? link : hit.link, local: hit.hand ? [at[3], at[7], at[11]] : hit.local, target };
  stage.grab(target);
  ask();
}

function pulls(event) {
  const held = state.drag || state.push;
  if (!held || held.id !== event.pointerId) {
    if (!event.buttons) { const hit = over(event); canvas.dataset.over = hit ? (hit.hand ? "hand" : "link") : ""; }
    return;
  }
  event.stopImmediatePropagation();
  held.target = stage.onPlane(event) || held.target;
  ask();
}

function lets(event) {
  for (const key of ["drag", "push"]) if (state[key] && state[key].id === event.pointerId) state[key] = null;
  ask();
}

// --- keys ------------------------------------------------------------------------------------------------------------------------

const MOVES = { w: [0, 0, 1], s: [0, 0, -1], a: [0, 1, 0], d: [0, -1, 0], r: [1, 0, 0], f: [-1, 0, 0] };
const PUSHES = { l: [1, 0, 0], j: [-1, 0, 0], i: [0, 1, 0], k: [0, -1, 0], u: [0, 0, 1], o: [0, 0, -1] };
const MODES = { " ": () => setMode(state.mode === "drop" ? "hold" : "drop"), h: () => setMode("hold"), g: () => setMode("float"), p: () => play(!state.playing), 0: reset };
const count = spec.chain.length;
let chosen = count - 1;

function moveHand(way) {
  if (state.mode !== "hold") setMode("hold");
  const { at, pose } = arm.hand(state.q);
  live.reached = arm.reach(state.q, at.map((x, k) => x + 0.02 * spec.radius * way[k]), $("keep").checked ? pose.slice() : null);
  tell(`The hand is at ${arm.hand(state.q).at.map((x) => minus(x.toFixed(3))).join(", ")} m.`);
}

function pressed(event) {
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  const key = event.key.toLowerCase();
  if (MODES[key] && !event.repeat) MODES[key]();
  else if (can && MOVES[key]) moveHand(MOVES[key]);
  else if (can && PUSHES[key] && !event.repeat) {
    if (state.mode === "play") setMode("hold");
    state.push = { key, link: chosen, local: spec.middles[chosen], force: PUSHES[key].map((x) => 0.3 * spec.push.most * x) };
    tell(`Pushing ${study.links[chosen]} with ${Math.round(0.3 * spec.push.most)} N.`);
  } else if (key === "[" || key === "]") {
    chosen = (chosen + (key === "]" ? 1 : count - 1)) % count;
    tell(`Pushes act on ${study.links[chosen]}.`);
  } else if (!MODES[key]) return;
  event.preventDefault();
  ask();
}

function released(event) {
  if (state.push && (!event.key || state.push.key === event.key.toLowerCase())) { state.push = null; tell(TOLD[state.mode]); ask(); }
}

// --- controls --------------------------------------------------------------------------------------------------------------------

const changed = () => { arm.weigh(); state.start = null; ask(); };

function connectRanges() {
  panels.rows.forEach(({ slider }, i) => slider.addEventListener("input", () => {
    if (state.mode !== "hold") setMode("hold");
    state.q[i] = Number(slider.value);
    ask();
  }));
  $("load").addEventListener("input", (e) => { arm.world.load = Number(e.target.value); say($("load-told"), `${number(arm.world.load)} kg`); changed(); });
  $("tilt").addEventListener("input", (e) => { arm.world.tilt = (Number(e.target.value) * Math.PI) / 180; say($("tilt-told"), `${minus(e.target.value)}°`); changed(); });
  $("stops").addEventListener("change", (e) => { arm.world.stops = e.target.checked; changed(); });
  arm.world.stops = $("stops").checked;
  const choices = (name, act) => document.querySelectorAll(`input[name="${name}"]`).forEach((x) => x.addEventListener("change", () => { act(x.value); changed(); }));
  choices("gravity", (value) => { arm.world.size = Number(value); });
  choices("friction", (value) => { arm.world.rubs = value === "model"; if (refused(state.mode)) setMode("hold"); });
  if ($("which")) $("which").addEventListener("change", (e) => { arm.world.hand = Number(e.target.value); live.largest = 0; if (stage) stage.forget(); changed(); });
  document.querySelectorAll("[data-method]").forEach((b) => b.addEventListener("click", () => choose(b.dataset.quantity, b.dataset.method)));
}

function choose(quantity, method) {  // another formulation computes from now on; how far it is from the default, and how long it takes
  const given = quantity === "inverse_dynamics" ? [state.q, state.qd, state.q.map((_, i) => 0.5 - 0.1 * i)] : [state.q, state.qd, state.q.map((_, i) => 1 - 0.2 * i)];
  const run = (name) => Array.from(programs[name](...given, arm.world.bodies, arm.world.gravity));
  const name = spec.methods[quantity][method], [reference, own] = [run(quantity), run(name)];
  const apart = Math.max(...own.map((x, i) => Math.abs(x - reference[i]))) / (Math.max(...reference.map(Math.abs)) || 1);
  let [count, begun] = [0, performance.now()];
  do { for (let k = 0; k < 50; k += 1) run(name); count += 50; } while (performance.now() - begun < 20);
  arm.world.methods[quantity] = name;
  live.formulation = { name, apart };
  document.querySelectorAll(`[data-quantity="${quantity}"]`).forEach((b) => b.setAttribute("aria-checked", String(b.dataset.method === method)));
  say($(`told-${quantity}`), `${method}: ${number(((performance.now() - begun) / count) * 1000, 2)} µs per call here, differs from the first by ${number(apart, 1)}.`);
  ask();
}

function connectView() {
  try {
    const paths = study.scene.tips.map((tip) => Array.from(motion.time, (t) => {
      follow(t);
      const rows = tip.link < 0 ? spec.base : arm.poses(state.q).links[tip.link];
      return placed(rows, [tip.at[3], tip.at[7], tip.at[11]]);
    }));
    stage = createScene(canvas, { ...study.scene, links: spec.chain.length, base: spec.base }, paths);
  } catch (error) {
    const words = document.createElement("p");
    words.className = "failed";
    words.textContent = "The 3D view needs WebGL, which this browser does not offer. Everything else works.";
    $("view").append(words);
    return;
  }
  document.querySelectorAll("[data-show]").forEach((box) => box.addEventListener("change", () => { stage.layer(box.dataset.show, box.checked); ask(); }));
  $("home").addEventListener("click", () => stage.reset());
  if (!can) { stage.live(false); return; }
  canvas.addEventListener("pointerdown", takes, true);
  canvas.addEventListener("pointermove", pulls, true);
  ["pointerup", "pointercancel"].forEach((name) => canvas.addEventListener(name, lets, true));
}

function connectPage() {
  $("play").addEventListener("click", () => play(!state.playing));
  document.querySelectorAll("[data-mode]").forEach((b) => b.addEventListener("click", () => setMode(b.dataset.mode)));
  $("reset").addEventListener("click", reset);
  $("time").addEventListener("input", () => { play(false); setTime(Number($("time").value)); });
  canvas.addEventListener("keydown", pressed);
  canvas.addEventListener("keyup", released);
  canvas.addEventListener("blur", released);
  const dark = matchMedia("(prefers-color-scheme: dark)"), recolor = () => { if (stage) stage.recolor(); };
  dark.addEventListener("change", recolor);
  $("theme").addEventListener("click", () => {
    const now = document.documentElement.dataset.theme || (dark.matches ? "dark" : "light");
    document.documentElement.dataset.theme = now === "dark" ? "light" : "dark";
    recolor();
  });
  $("help").addEventListener("click", () => $("keys").showModal());
  document.addEventListener("keydown", (e) => { if (e.key === "?" && !$("keys").open) $("keys").showModal(); });
  const folds = [...document.querySelectorAll("details:not(.numbers)")];
  document.querySelectorAll("nav a, .facts a").forEach((a) => a.addEventListener("click", () => {
    const target = document.querySelector(a.getAttribute("href")), fold = target && target.closest("details.fold");
    if (fold) fold.open = true;
  }));
  let opened = [];
  window.addEventListener("beforeprint", () => { opened = folds.filter((f) => !f.open); opened.forEach((f) => { f.open = true; }); });
  window.addEventListener("afterprint", () => opened.forEach((f) => { f.open = false; }));
}

const charts = createCharts(study, (t) => { if (state.mode === "play" && !state.playing) setTime(t); }, (t) => { play(false); setTime(t); });
connectView();
connectPage();
if (can) {
  connectRanges();
  arm.weigh();
  document.querySelectorAll("[data-method]").forEach((b) => { if (spec.methods[b.dataset.quantity][b.dataset.method] === b.dataset.quantity) b.setAttribute("aria-checked", "true"); });
}
reset();
charts.mark(state.now);
document.documentElement.dataset.ready = "";
