"""Take the picture of a report for the README: python tools/screenshot.py [robot] [docs/images/report.png]. Needs Chromium."""

import shutil
import sys
import tempfile
from pathlib import Path

FLAGS = ("--use-angle=swiftshader", "--enable-unsafe-swiftshader", "--ignore-gpu-blocklist", "--no-sandbox")
WIDTH, HEIGHT = 1400, 900


def chromium() -> str | None:
    """Where the browser is."""
    return next((found for name in ("chromium", "chromium-browser", "google-chrome") if (found := shutil.which(name))), None)


def picture(page: Path, target: Path, *, time: float = 1.2, scheme: str = "light", whole: bool = False) -> Path:
    """The top of a report, or the whole of it, at a time of its motion."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=chromium(), args=list(FLAGS))
        context = browser.new_context(viewport={"width": WIDTH, "height": HEIGHT}, offline=True, color_scheme=scheme)
        context.set_default_timeout(300_000)  # ms: drawing without a graphics processor is slow
        tab = context.new_page()
        tab.goto(page.resolve().as_uri())
        tab.evaluate("t => setTime(t)", time)
        tab.wait_for_timeout(800)
        target.parent.mkdir(parents=True, exist_ok=True)
        tab.screenshot(path=target, full_page=whole)
        browser.close()
    return target


def main(robot: str = "puma560", target: str = "docs/images/report.png") -> None:
    import dalembert as da
    from dalembert.studies.report import study

    with tempfile.TemporaryDirectory() as folder:
        arm = da.robot(robot) if robot in da.robot_names() else da.load(robot)
        print(picture(study(arm, folder), Path(target)))


if __name__ == "__main__":
    main(*sys.argv[1:])
