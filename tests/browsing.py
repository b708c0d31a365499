"""Pages in real browsers without a network: Chromium through Playwright, Firefox through WebDriver BiDi."""

import os
import shutil
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path

import pytest
import screenshot

PUPPETEER = Path(__file__).parent.parent / "build/npm/node_modules/puppeteer-core"  # drives Firefox; make fetches it from npm
SOFTWARE = ("GPU stall", "GL Driver", "swiftshader")  # notes of the software renderer, not of the page


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


def pixels(tab):
    """The picture of the arm as the browser shows it."""
    drawn(tab)
    return tab.locator("#scene").screenshot()
