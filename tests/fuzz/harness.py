"""What all fuzzers share: a case is a function of its seed; a run is cases of consecutive seeds until a deadline."""

import signal
import time
import traceback
import warnings
from collections.abc import Callable
from contextlib import contextmanager
from typing import NamedTuple

import dalembert as da

LONGEST = 400  # characters of a message
SLOW = 60  # seconds of processor time in one case: it hangs
WARNINGS = (da.DataWarning, da.PerformanceWarning, da.SingularWarning)


class Failure(AssertionError):
    """What a case found wrong, in a line or two."""


class Hung(BaseException):
    """A case that takes too long: nothing should catch this."""


class Found(NamedTuple):
    seed: int
    what: str


Case = Callable[[int], None]


def run(case: Case, seed: int, seconds: float, cases: int | None = None) -> tuple[int, list[Found]]:
    """How many cases ran, at least one, and those that failed."""
    found, count, end = [], 0, time.monotonic() + seconds
    while count == 0 or (time.monotonic() < end if cases is None else count < cases):
        if wrong := failure(case, seed + count):
            found.append(Found(seed + count, wrong))
        count += 1
    return count, found


def failure(case: Case, seed: int) -> str:
    """What is wrong with a case; "" if nothing is."""
    try:
        with limited(), warnings.catch_warnings():
            warnings.simplefilter("error")
            for category in WARNINGS:
                warnings.simplefilter("ignore", category)
            case(seed)
    except Failure as wrong:
        return str(wrong)
    except Hung:
        return f"takes more than {SLOW} s of processor time"
    except Exception as error:
        return f"the fuzzer itself failed: {shown(error)}"
    return ""


@contextmanager
def limited():
    """No case runs for ever. Processor time, so that a busy machine does not matter."""
    if not hasattr(signal, "setitimer"):
        yield
        return

    def hung(*_):
        raise Hung

    before = signal.signal(signal.SIGVTALRM, hung)
    signal.setitimer(signal.ITIMER_VIRTUAL, SLOW)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        signal.signal(signal.SIGVTALRM, before)


def shown(error: BaseException) -> str:
    """An exception in one line, with the place it comes from."""
    where = traceback.extract_tb(error.__traceback__)
    place = f" ({where[-1].filename.rpartition('/')[2]}:{where[-1].lineno})" if where else ""
    return f"{type(error).__name__}: {str(error)[:300]!r}{place}"


def explained(error: BaseException, what: str) -> None:
    """Only an Error in one readable line is an answer to a mistake."""
    if not isinstance(error, da.Error):
        raise Failure(f"{what}: {shown(error)}") from error
    message = str(error)
    if len(message.splitlines()) != 1 or len(message) > LONGEST or not message.isprintable():
        raise Failure(f"{what}: the message has {len(message)} characters or more than a line: {message[:LONGEST]!r}") from error
