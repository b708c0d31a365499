"""Opening files to read, and errors of the system as errors of this package."""

import errno
import io
import os
import stat
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from dalembert.errors import Error, brief

NO_WAITING = getattr(os, "O_NONBLOCK", 0)  # a pipe without another end opens at once; Windows has no such pipes


def file_path(path: Any) -> Path:
    """The given path, or an Error if it is not one."""
    try:
        place = Path(path)
        os.fsencode(place)
    except (TypeError, ValueError):
        raise Error(f"{brief(path)}: not a file name") from None
    if "\0" in str(place):
        raise Error(f"{brief(str(place))}: a file name must not contain a null character")
    return place


@contextmanager
def told(what: Any, doing: str) -> Generator[None]:
    """Errors of the system become an Error that names the file; `doing` is "read" or "written".

    Only a BrokenPipeError stays as it is: that the reader of a pipe has gone is not a mistake.
    """
    try:
        yield
    except BrokenPipeError:
        raise
    except OSError as error:
        why = error.strerror or str(error)
        if doing == "written" and error.errno == errno.ENOENT and isinstance(what, Path) and not what.parent.is_dir():
            why = f"there is no folder {str(what.parent)!r}"
        raise Error(f"{what}: cannot be {doing}: {why}") from error


@contextmanager
def in_memory(what: Any) -> Generator[None]:
    """What takes more memory than there is becomes an Error that names the file."""
    try:
        yield
    except MemoryError:
        raise Error(f"{what}: needs more memory than there is") from None
    except RecursionError:
        raise Error(f"{what}: nested too deeply") from None


@contextmanager
def opened(path: Any, *, pipes: bool = False) -> Generator[io.BufferedReader]:
    """A file to read; a pipe or a device is rejected, unless `pipes` are allowed."""
    place = file_path(path)
    with told(place, "read"), open(place, "rb", opener=None if pipes else _at_once) as file:
        if not pipes and not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
            raise Error(f"{place}: cannot be read: it must be a regular file, not a pipe or a device")
        yield file


def _at_once(path: str, flags: int) -> int:
    return os.open(path, flags | NO_WAITING)
