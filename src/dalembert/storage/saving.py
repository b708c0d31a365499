"""Saving: a file is there as a whole, or what was there before still is."""

import errno
import os
import stat
from collections.abc import Generator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import Any, BinaryIO

from dalembert.errors import Error
from dalembert.storage.opening import NO_WAITING, file_path, told

NEW = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0) | getattr(os, "O_CLOEXEC", 0)
OPEN_FILES = ("/dev/stdout", "/dev/stderr", "/dev/fd/", "/proc/")  # names of files that are open already


@contextmanager
def saving(path: Any) -> Generator[BinaryIO]:
    """A file to write that takes this name when it is complete.

    Until then, and if anything fails, the old one stays. The new one has the old one's permissions. Where the name is a symbolic
    link, the file that it points to is replaced. A device or a pipe is written to as it is.
    """
    place = file_path(path)
    with told(place, "written"):
        old = _status(place)
        if (old is not None and not stat.S_ISREG(old.st_mode)) or str(place.absolute()).startswith(OPEN_FILES):
            with _as_it_is(place) as file:
                yield file
            return
        target = place.resolve()
        if old is not None and not os.access(target, os.W_OK):
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))
        temporary = target.with_name(f".{os.urandom(8).hex()}.tmp")
        # the system gives a new file its ordinary permissions; what replaces a private file is private from the start
        number = os.open(temporary, NEW, 0o666 if old is None else 0o600)
        try:
            with os.fdopen(number, "wb") as file:
                yield file
                file.flush()
                _to_disk(number)
            if old is not None:
                _permit(temporary, old)
            temporary.replace(target)
        except BaseException:
            with suppress(OSError):
                temporary.unlink()
            raise


def save_text(path: Any, text: str, name: str | None = None) -> Path:
    """Save a text, under its own `name` if the path is a folder; returns where it is."""
    place = file_path(path)
    if name is not None and is_folder(path):
        place = place / name
    with saving(place) as file:
        file.write(text.encode())
    return place


def save_together(folder: Any, texts: Mapping[str, str]) -> list[Path]:
    """Save several texts by name into a folder, made if it is not there; returns where they are.

    All of them are complete on the disk before the first takes its name, so a full disk or a name that cannot be taken leaves what
    was there before.
    """
    place = file_path(folder)
    with told(place, "written"):
        if not is_folder(folder) and (place.suffix or place.exists()):
            raise Error(f"{place}: {' and '.join(texts)} belong together: give a folder, not a file name")
        place.mkdir(parents=True, exist_ok=True)
    places = [place / name for name in texts]
    with ExitStack() as stack:
        files = [stack.enter_context(saving(place)) for place in places]
        for file, text in zip(files, texts.values(), strict=True):
            file.write(text.encode())
            file.flush()
            _to_disk(file.fileno())
    return places


def is_folder(path: Any) -> bool:
    """Whether a path is a folder, or is meant to be one by its last sign."""
    place = file_path(path)
    with told(place, "written"):
        return place.is_dir() or str(path).endswith(("/", os.sep))


def _to_disk(number: int) -> None:
    try:
        os.fsync(number)
    except OSError as error:
        if error.errno not in (errno.EINVAL, errno.ENOSYS, errno.ENOTSUP):  # some systems of files cannot
            raise


def _status(place: Path) -> os.stat_result | None:
    try:
        return place.stat()
    except FileNotFoundError:
        return None


@contextmanager
def _as_it_is(place: Path) -> Generator[BinaryIO]:
    """What is there, to append to: standard output may be a file, too."""
    try:
        number = os.open(place, os.O_WRONLY | os.O_APPEND | NO_WAITING)
    except OSError as error:
        if error.errno == errno.ENXIO:
            raise Error(f"{place}: cannot be written: the pipe was closed by its reader") from None
        raise
    if NO_WAITING:
        os.set_blocking(number, True)
    with os.fdopen(number, "wb") as file:
        yield file


def _permit(temporary: Path, old: os.stat_result) -> None:
    """Give a file the owner, where that is allowed, and the permissions of another."""
    if hasattr(os, "chown"):
        for user, group in ((-1, old.st_gid), (old.st_uid, -1)):
            with suppress(OSError):
                os.chown(temporary, user, group)
    temporary.chmod(stat.S_IMODE(old.st_mode))
