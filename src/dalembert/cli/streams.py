"""Standard streams that the shell has closed (`<&-`, `>&-`): Python has None for them."""

import io
import os
import sys
from collections.abc import Generator
from contextlib import contextmanager
from typing import Any, cast

from dalembert.errors import Error


class _ClosedInput(io.RawIOBase):
    """What reads from it learns that it is closed."""

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any, /) -> int:
        raise Error("standard input is closed")


class _ClosedOutput(io.BufferedIOBase):
    """What writes to it learns that it is closed."""

    def writable(self) -> bool:
        return True

    def write(self, buffer: Any, /) -> int:
        raise Error("standard output is closed")


@contextmanager
def standing_in() -> Generator[None]:
    """Replace closed streams: only what needs one of them fails, with a message. Messages are discarded without one."""
    before = sys.stdin, sys.stdout, sys.stderr
    for number in range(3):
        try:
            os.fstat(number)
        except OSError:
            os.open(os.devnull, os.O_RDWR)  # takes the free file descriptor, which no file of ours must get
    if sys.stdin is None:
        sys.stdin = io.TextIOWrapper(io.BufferedReader(_ClosedInput()), encoding="utf-8")
    if sys.stdout is None:
        sys.stdout = io.TextIOWrapper(cast(Any, _ClosedOutput()), encoding="utf-8", write_through=True)
    if sys.stderr is None:
        sys.stderr = io.StringIO()
    try:
        yield
    finally:
        sys.stdin, sys.stdout, sys.stderr = before
