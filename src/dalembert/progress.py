"""Progress of long computations."""

import html
import sys
import time
from collections.abc import Callable
from typing import Any

from dalembert.arguments import flag

PATIENCE = 1.0  # seconds before anything is shown
Progress = Callable[[int, int], Any]  # (done, all)


class Bar:
    """A bar on standard error, rewritten in place; it appears only once the work has taken a while."""

    def __init__(self, what: str, width: int = 30) -> None:
        self.what, self.width, self.start, self.shown = what, width, time.monotonic(), 0.0

    def __call__(self, done: int, total: int) -> None:
        """Show that `done` of `total` is done."""
        now = time.monotonic()
        if now - self.start < PATIENCE or (now - self.shown < 0.1 and done < total):
            return
        self.shown, part = now, done / total
        left = (now - self.start) * (1 - part) / part if part else 0.0
        bar = "#" * round(part * self.width)
        end = "\n" if done >= total else ""
        print(f"\r{self.what} [{bar:{self.width}}] {part:4.0%}, {left:.0f} s left ", end=end, file=sys.stderr, flush=True)


class NotebookBar(Bar):
    """The same in the output of a notebook's cell, from which it goes when the work is done."""

    handle: Any = None

    def __call__(self, done: int, total: int) -> None:
        """Show that `done` of `total` is done."""
        now = time.monotonic()
        if now - self.start < PATIENCE or (now - self.shown < 0.1 and done < total) or not total:
            return
        self.shown, part = now, done / total
        left = (now - self.start) * (1 - part) / part if part else 0.0
        told = f"{html.escape(self.what)} {part:.0%}, {left:.0f} s left"
        self._show("" if done >= total else f'<progress value="{part:.4f}" max="1"></progress> {told}')

    def _show(self, text: str) -> None:
        from IPython.display import HTML, display  # type: ignore[import-not-found]

        if self.handle is None:
            self.handle = display(HTML(text), display_id=True) if text else None
        else:
            self.handle.update(HTML(text))


def in_notebook() -> bool:
    """Whether this is the kernel of a notebook, which shows HTML; IPython in a terminal is none."""
    python = sys.modules.get("IPython")
    shell = python.get_ipython() if python is not None else None
    return shell is not None and hasattr(shell, "kernel")


def chosen(progress: Progress | bool | None, what: str) -> Progress:
    """The function to call as work proceeds: the user's, a bar, or one that does nothing.

    None shows a bar on a terminal and in a notebook.
    """
    if callable(progress):
        return progress
    seen = in_notebook() or (sys.stderr is not None and sys.stderr.isatty())
    wanted = seen if progress is None else flag(progress, "progress, unless it is a function,")
    return (NotebookBar(what) if in_notebook() else Bar(what)) if wanted else lambda done, total: None
