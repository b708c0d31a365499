// A live page in Firefox, through WebDriver BiDi: node firefox.mjs PUPPETEER FIREFOX PAGE STATE; prints what was found as JSON.
import { createRequire } from "module";
import { pathToFileURL } from "url";

const [folder, firefox, page, given] = process.argv.slice(2), puppeteer = createRequire(`${folder}/`)("puppeteer-core");
const { q, qd, x } = JSON.parse(given), log = [];
const PATIENCE = 300_000;  // ms: as in browsing.py
const prefs = { "webgl.force-enabled": true, "network.proxy.type": 1, "network.proxy.http": "127.0.0.1", "network.proxy.http_port": 9, "network.proxy.ssl": "127.0.0.1", "network.proxy.ssl_port": 9 };
const browser = await puppeteer.launch({ browser: "firefox", executablePath: firefox, headless: false, timeout: PATIENCE, protocolTimeout: PATIENCE, extraPrefsFirefox: prefs, env: { ...process.env, LIBGL_ALWAYS_SOFTWARE: "1" } });
try {
  const tab = await browser.newPage();
  tab.setDefaultTimeout(PATIENCE);
  tab.on("console", (message) => log.push(`${message.type()}: ${message.text()}`));
  tab.on("pageerror", (error) => log.push(String(error)));
  tab.on("request", (request) => { if (!/^(file|data|blob):/.test(request.url())) log.push(`asks for ${request.url()}`); });
  await tab.setViewport({ width: 1300, height: 900 });
  await tab.goto(pathToFileURL(page).href);
  await tab.waitForSelector("html[data-ready]");
  const numbers = await tab.evaluate((a, v, b) => {
    const more = [arm.world.bodies, arm.world.gravity];
    return [arm.torques(a, v, b), programs.forward_dynamics(a, v, b, ...more), arm.massMatrix(a)].map((y) => Array.from(y));
  }, q, qd, x);
  const fall = await tab.evaluate((a) => {
    arm.world.stops = false;
    const s = { q: Float64Array.from(a), qd: zeros(), t: 0 };
    for (let k = 0; k < 1000; k += 1) arm.step(s, 1e-3, zeros(), null);
    return Array.from(s.q);
  }, q);
  const before = await tab.$eval("#effort1", (e) => e.textContent);
  await tab.focus("#q1");
  for (let k = 0; k < 4; k += 1) await tab.keyboard.press("PageUp");
  await tab.evaluate(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))));
  const after = await tab.$eval("#effort1", (e) => e.textContent);
  const [cx, cy] = await tab.evaluate(() => stage.screen(arm.hand(state.q).at));
  await tab.mouse.move(cx, cy);
  await tab.mouse.down();
  await tab.mouse.move(cx - 30, cy + 30, { steps: 4 });
  await tab.evaluate(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))));
  const hand = await tab.evaluate(() => stage.screen(arm.hand(state.q).at));
  await tab.mouse.up();
  await tab.click("[data-mode=drop]");
  await tab.waitForFunction(() => state.t > 0.2);
  const modes = [await tab.evaluate(() => state.mode)];
  await tab.focus("#scene");
  await tab.keyboard.press(" ");
  modes.push(await tab.evaluate(() => state.mode));
  console.log(JSON.stringify({ numbers, fall, before, after, moved: [hand[0] - cx, hand[1] - cy], modes, log }));
} finally {
  await browser.close();
}
