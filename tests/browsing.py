"""Pages in real browsers without a network: Chromium through Playwright, Firefox through WebDriver BiDi."""

import os
import shutil
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path

import pytest
import screenshot

PUPPETEER = Path(__file__).parent.parent / "build/npm/node_modules/puppeteer-core"  # drives Firefox; make fetches it from npm
PATIENCE = 300_000  # ms: drawing without a graphics processor is slow, and more so beside other work
SOFTWARE = ("GPU stall", "GL Driver", "swiftshader")  # notes of the software renderer, not of the page

# Texts with less contrast than WCAG 2 asks for (AA), in HTML and SVG; those over the 3D view against the darkest and the lightest of it.
CONTRAST = """() => {
  const paint = document.createElement("canvas").getContext("2d", { willReadFrequently: true });
  const rgba = (c) => { paint.clearRect(0, 0, 1, 1); paint.fillStyle = c; paint.fillRect(0, 0, 1, 1); return [...paint.getImageData(0, 0, 1, 1).data]; };
  const light = ([r, g, b]) => [r, g, b].map((x) => (x /= 255) <= 0.03928 ? x / 12.92 : ((x + 0.055) / 1.055) ** 2.4).reduce((s, x, k) => s + x * [0.2126, 0.7152, 0.0722][k], 0);
  const probe = document.body.appendChild(document.createElement("i"));
  const view = ["sky", "haze", "ground"].map((name) => { probe.style.color = `var(--${name})`; return rgba(getComputedStyle(probe).color); });
  const under = (e) => {
    for (; e; e = e.parentElement) {
      if (e.matches(".view")) return view;
      const c = rgba(getComputedStyle(e).backgroundColor);
      if (c[3] === 255) return [c];
    }
    return [[255, 255, 255]];
  };
  const found = [];
  for (const e of document.querySelectorAll("body *")) {
    if (!e.getClientRects().length || e.matches("script, style, option") || ![...e.childNodes].some((x) => x.nodeType === 3 && x.textContent.trim())) continue;
    const style = getComputedStyle(e), own = light(rgba(e instanceof SVGElement ? style.fill : style.color));
    const ratio = Math.min(...under(e).map(light).map((x) => (Math.max(x, own) + 0.05) / (Math.min(x, own) + 0.05)));
    if (ratio < (parseFloat(style.fontSize) >= 24 ? 3 : 4.5)) found.push([e.tagName, e.className, e.textContent.trim().slice(0, 30), ratio.toFixed(2)].join(" "));
  }
  probe.remove();
  return found;
}"""
SMALLEST = """() => Math.min(...[...document.querySelectorAll("svg text")].filter((e) => e.getClientRects().length).map((e) =>
  parseFloat(getComputedStyle(e).fontSize) * e.getScreenCTM().a))"""  # px of text in charts, as it is seen


def firefox():
    """Where the browser is."""
    return shutil.which("firefox-esr") or shutil.which("firefox")


def chromium():
    """A Playwright browser, or a skipped test; CI must have it."""
    found = screenshot.chromium()
    missing = [what for what, there in (("chromium", found), ("playwright", find_spec("playwright"))) if not there]
    assert not (os.environ.get("CI") and missing), f"CI must install {missing}: see .ci/run"
    if missing:
        pytest.skip(f"needs {' and '.join(missing)}")
    from playwright.sync_api import sync_playwright

    with sync_playwright() as driver:
        opened = driver.chromium.launch(executable_path=found, args=list(screenshot.FLAGS))
        yield opened
        opened.close()


@contextmanager
def visiting(browser):
    """A function that opens a file with the network cut off; whatever is asked for beside it, or goes wrong, fails the test."""
    contexts, trouble = [], []

    def go(path, **options):
        context = browser.new_context(**{"viewport": {"width": 1300, "height": 900}, "offline": True, **options})
        context.set_default_timeout(PATIENCE)
        contexts.append(context)
        place = path.resolve().as_uri()
        context.route(lambda url: url.split("#")[0] != place, lambda route: (trouble.append(route.request.url), route.abort()))
        tab = context.new_page()
        tab.on("console", lambda message: trouble.append(f"{message.type}: {message.text}"))
        tab.on("pageerror", lambda error: trouble.append(str(error)))
        tab.goto(place)
        tab.wait_for_selector("html[data-ready]", state="attached")
        drawn(tab)
        return tab

    yield go
    for context in contexts:
        context.close()
    assert not [x for x in trouble if not any(note in x for note in SOFTWARE)]


def drawn(tab):
    """Wait until what has changed so far is on the screen."""
    tab.evaluate("() => new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))")


def until(tab, condition, frames=5000):
    """Wait until a JavaScript condition holds, for a number of frames, however long each of them takes.

    Playwright's own wait_for_function evaluates a string, which the policy of our pages forbids.
    """
    holds = tab.evaluate(
        f"""(frames) => new Promise((done) => {{
          const look = () => {{
            if ({condition}) done(true);
            else if (frames-- > 0) requestAnimationFrame(look);
            else done(false);
          }};
          look();
        }})""",
        frames,
    )
    assert holds, f"{condition} does not hold after {frames} frames"


def pixels(tab):
    """The picture of the arm as the browser shows it."""
    drawn(tab)
    return tab.locator("#scene").screenshot()
