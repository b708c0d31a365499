"""Progress of long computations."""

import html
import sys
import time
from collections.abc import Callable
from typing import Any

from dalembert.arguments import flag

PATIENCE = 1.0  # seconds before anything is shown
WIDTH = 30  # signs of a bar
Progress = Callable[[int, int], Any]  # (done, all)


class Bar:
    """A bar on standard error, rewritten in place; it appears only once the work has taken a while."""

    def __init__(self, what: str, unit: str = "") -> None:
        """`unit`: what is counted, to show how much of it is done in a second."""
        self.what, self.start, self.shown, self.unit = what, time.monotonic(), 0.0, unit
        self.first: int | None = None  # what was done before

    def told(self, done: int, total: int) -> str:
        """The part that is done, the rate if it is wanted, and how long the rest will take at the rate so far."""
        elapsed, self.first = time.monotonic() - self.start, done if self.first is None else self.first
        own = done - self.first or done
        rate = f", {own / elapsed:.3g} {self.unit}/s" if self.unit and elapsed > 0 else ""
        return f"{done / total:4.0%}{rate}, {elapsed * (total - done) / own if own else 0.0:.0f} s left"

    def __call__(self, done: int, total: int) -> None:
        """Show that `done` of `total` is done, unless it was shown just now."""
        now = time.monotonic()
        if total and now - self.start >= PATIENCE and (now - self.shown >= 0.1 or done >= total):
            self.shown = now
            self.show(done, total)

    def show(self, done: int, total: int) -> None:
        """Draw it."""
        bar = "#" * round(done / total * WIDTH)
        end = "\n" if done >= total else ""
        print(f"\r{self.what} [{bar:{WIDTH}}] {self.told(done, total)} ", end=end, file=sys.stderr, flush=True)


class NotebookBar(Bar):
    """The same in the output of a notebook's cell, from which it goes when the work is done."""

    handle: Any = None

    def show(self, done: int, total: int) -> None:
        """Draw it, or what is left when all is done: nothing."""
        from IPython.display import HTML, display  # type: ignore[import-not-found]

        told = f"{html.escape(self.what)} {self.told(done, total).strip()}"
        text = "" if done >= total else f'<progress value="{done / total:.4f}" max="1"></progress> {told}'
        if self.handle is None:
            self.handle = display(HTML(text), display_id=True) if text else None
        else:
            self.handle.update(HTML(text))


def in_notebook() -> bool:
    """Whether this is the kernel of a notebook, which shows HTML; IPython in a terminal is none."""
    python = sys.modules.get("IPython")
    shell = python.get_ipython() if python is not None else None
    return shell is not None and hasattr(shell, "kernel")


def chosen(progress: Progress | bool | None, what: str, unit: str = "") -> Progress:
    """The function to call as work proceeds: the user's, a bar, or one that does nothing.

    None shows a bar on a terminal and in a notebook, with the rate if the unit is given that is counted.
    """
    if callable(progress):
        return progress
    seen = in_notebook() or (sys.stderr is not None and sys.stderr.isatty())
    wanted = seen if progress is None else flag(progress, "progress, unless it is a function,")
    return (NotebookBar if in_notebook() else Bar)(what, unit) if wanted else lambda done, total: None
