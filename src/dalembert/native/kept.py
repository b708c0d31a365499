"""What is made for this machine by this code, in the disk cache, named by a hash of the source: no other version finds it."""

from collections.abc import Callable

from dalembert import imported
from dalembert.native import cache, machine


def kept(name: str, make: Callable[[], bytes]) -> bytes:
    """What is made for this machine, from the disk cache or made and kept there; without source to name it by, always made."""
    digest = imported.digest("native", "trace")
    key = "\n".join([digest, *map(str, machine.host()), name]).encode() if digest else b""
    entry = look(key)
    if entry is None:
        entry = make()
        keep(key, entry)
    return entry


def look(key: bytes) -> bytes | None:
    """The entry of a key, if there is one; an empty key has none."""
    return cache.get(key) if key else None


def keep(key: bytes, entry: bytes) -> None:
    """Store an entry, unless the source has been edited: modules may have been imported since the key was made."""
    if key and imported.unchanged():
        cache.put(key, entry)
