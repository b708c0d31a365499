"""Object code on disk, so that a program is compiled once per machine.

What lies there is executed, so the folder is private (mode 0700, owned by the user, no link) or it is not used at all. An entry is
a header (magic, key, checksum) and the content; whatever does not match its header is ignored and compiled again. Entries appear
by atomic rename, so processes may share the folder, and anything in it may be deleted at any time.
"""

import hashlib
import os
import stat
import tempfile
from contextlib import suppress
from pathlib import Path

MAGIC = b"dalembert cache 1\n"
LIMIT = 256 << 20  # bytes; the entries used longest ago go first
VARIABLE = "DALEMBERT_CACHE"  # a folder, or "off"


def folder() -> Path | None:
    """Where entries are kept; None if caching is off."""
    chosen = os.environ.get(VARIABLE)
    if chosen == "off":
        return None
    if chosen:
        return Path(chosen)
    root = os.environ.get("LOCALAPPDATA") if os.name == "nt" else os.environ.get("XDG_CACHE_HOME")
    try:
        return (Path(root) if root else Path.home() / ".cache") / "dalembert"
    except RuntimeError:  # no home
        return None


def _private(make: bool) -> Path | None:
    """The folder if it is ours alone; made if asked for."""
    place = folder()
    if place is None:
        return None
    try:
        if make:
            place.mkdir(mode=0o700, parents=True, exist_ok=True)
        status = place.lstat()
    except OSError:
        return None
    if not stat.S_ISDIR(status.st_mode):
        return None
    if hasattr(os, "getuid") and (status.st_uid != os.getuid() or status.st_mode & 0o077):
        return None
    return place


def _name(key: bytes) -> str:
    return hashlib.sha256(key).hexdigest() + ".bin"


def get(key: bytes) -> bytes | None:
    """The content stored under a key, or None."""
    place = _private(make=False)
    if place is None:
        return None
    path = place / _name(key)
    try:
        data = path.read_bytes()
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
    """Store a content; failing to is no error."""
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
        _trim(place)
    except OSError:
        Path(temporary).unlink(missing_ok=True)


def _trim(place: Path) -> None:
    entries = sorted(_entries(place))
    excess = sum(size for _, size, _ in entries) - LIMIT
    for _, size, path in entries:
        if excess <= 0:
            return
        path.unlink(missing_ok=True)
        excess -= size


def _entries(place: Path) -> list[tuple[float, int, Path]]:
    found: list[tuple[float, int, Path]] = []
    for path in place.iterdir():
        if path.suffix in (".bin", ".tmp"):
            try:
                status = path.stat()
            except OSError:
                continue
            found.append((status.st_mtime, status.st_size, path))
    return found


def info() -> dict[str, object]:
    """Where the cache is, how many entries it has, and their bytes."""
    place = _private(make=False)
    entries = _entries(place) if place is not None else []
    return {"folder": folder(), "entries": len(entries), "bytes": sum(size for _, size, _ in entries)}


def clear() -> int:
    """Remove all entries; returns how many there were."""
    place = _private(make=False)
    entries = _entries(place) if place is not None else []
    for _, _, path in entries:
        path.unlink(missing_ok=True)
    return len(entries)
