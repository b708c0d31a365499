"""Object code on disk, so that a program is compiled once per machine.

What lies there is executed, so the folder is private (mode 0700, owned by the user, no link) or it is not used at all, and so is
every entry. An entry is a header (magic, key, checksum) and the content; whatever does not match its header is ignored and
compiled again. Entries appear by atomic rename, so processes may share the folder, and anything in it may be deleted at any time.
"""

import hashlib
import os
import stat
from contextlib import suppress
from pathlib import Path

MAGIC = b"dalembert cache 1\n"
LIMIT = 256 << 20  # bytes; the entries used longest ago go first
PARTS = 64  # entries are counted when a process first writes one, and after each such part of the limit: it may be passed by a part
VARIABLE = "DALEMBERT_CACHE"  # a folder, or "off"
_written = float("inf")  # bytes since entries were counted
_QUIET = getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)


def folder() -> Path | None:
    """Where entries are kept; None if caching is off."""
    chosen = os.environ.get(VARIABLE)
    if chosen == "off":
        return None
    try:
        if chosen:
            return Path(chosen).expanduser()
        root = Path(os.environ.get("LOCALAPPDATA" if os.name == "nt" else "XDG_CACHE_HOME") or "")
        return (root if root.is_absolute() else Path.home() / ".cache") / "dalembert"
    except RuntimeError:  # no home
        return None


def _ours(status: os.stat_result) -> bool:
    """Owned by this user, and not writable by others."""
    return not hasattr(os, "getuid") or (status.st_uid == os.getuid() and not status.st_mode & 0o022)


def _private(make: bool) -> Path | None:
    """The folder if it is private; created on request."""
    place = folder()
    if place is None:
        return None
    try:
        if make:
            place.mkdir(mode=0o700, parents=True, exist_ok=True)
        status = place.lstat()
    except OSError:
        return None
    closed = os.name == "nt" or not status.st_mode & 0o077
    return place if stat.S_ISDIR(status.st_mode) and _ours(status) and closed else None


def _name(key: bytes) -> str:
    return hashlib.sha256(key).hexdigest() + ".bin"


def get(key: bytes) -> bytes | None:
    """The content stored under a key, or None."""
    place = _private(make=False)
    if place is None:
        return None
    path = place / _name(key)
    try:
        with os.fdopen(os.open(path, os.O_RDONLY | _QUIET), "rb") as file:
            status = os.fstat(file.fileno())
            if not stat.S_ISREG(status.st_mode) or not _ours(status):
                return None
            data = file.read()
    except OSError:
        return None
    head = MAGIC + hashlib.sha256(key).digest()
    content = data[len(head) + 32 :]
    if not data.startswith(head) or hashlib.sha256(content).digest() != data[len(head) : len(head) + 32]:
        return None
    with suppress(OSError):
        os.utime(path)
    return content


def put(key: bytes, content: bytes) -> None:
    """Store a content; failing to is not an error."""
    global _written
    import tempfile  # which only writing needs, and which takes longer to import than all else here

    place = _private(make=True)
    if place is None:
        return
    data = MAGIC + hashlib.sha256(key).digest() + hashlib.sha256(content).digest() + content
    try:
        handle, temporary = tempfile.mkstemp(dir=place, suffix=".tmp")
    except OSError:
        return
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(data)
        Path(temporary).replace(place / _name(key))
        _written += len(data)
        if _written > LIMIT // PARTS:
            _trim(place)
            _written = 0
    except OSError:
        with suppress(OSError):
            Path(temporary).unlink(missing_ok=True)


def _trim(place: Path) -> None:
    entries = sorted(_entries(place))
    excess = sum(size for _, size, _ in entries) - LIMIT
    for _, size, path in entries:
        if excess <= 0:
            return
        path.unlink(missing_ok=True)
        excess -= size


def _entries(place: Path | None) -> list[tuple[float, int, Path]]:
    entries: list[tuple[float, int, Path]] = []
    with suppress(OSError):
        for path in place.iterdir() if place is not None else ():
            with suppress(OSError):
                status = path.lstat()
                if path.suffix in (".bin", ".tmp") and stat.S_ISREG(status.st_mode):
                    entries.append((status.st_mtime, status.st_size, path))
    return entries


def info() -> dict[str, object]:
    """Where the cache is, whether it may be used, how many entries it has, and their bytes."""
    place, wanted = _private(make=False), folder()
    entries = _entries(place)
    usable = wanted is not None and (place is not None or not wanted.exists())
    return {"folder": wanted, "usable": usable, "entries": len(entries), "bytes": sum(size for _, size, _ in entries)}


def clear() -> int:
    """Remove all entries; returns how many were removed."""
    removed = 0
    for _, _, path in _entries(_private(make=False)):
        with suppress(OSError):
            path.unlink()
            removed += 1
    return removed
