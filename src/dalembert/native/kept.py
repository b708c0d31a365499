"""What is made for this machine by this code, in the disk cache, named by a hash of the source: no other version finds it."""

import hashlib
from collections.abc import Callable
from contextlib import suppress
from importlib.resources import files
from importlib.resources.abc import Traversable

from dalembert.native import cache, machine


def kept(name: str, make: Callable[[], bytes]) -> bytes:
    """What is made for this machine, from the disk cache or made and kept there; without source to name it by, always made."""
    key = "\n".join([SOURCE, *map(str, machine.host()), name]).encode() if SOURCE else b""
    entry = cache.get(key) if key else None
    if entry is None:
        entry = make()
        if key:
            cache.put(key, entry)
    return entry


def source_digest(*parts: str) -> str:
    """A hash of the source of this package, or of some of its parts; empty if there is none to read.

    >>> source_digest("native", "errors.py") != source_digest("native") != source_digest()
    True
    """
    digest, read = hashlib.sha256(), 0

    def walk(place: Traversable, path: str) -> None:
        nonlocal read
        if place.is_dir():
            for item in sorted(place.iterdir(), key=lambda x: x.name):
                if item.name != "__pycache__":
                    walk(item, f"{path}/{item.name}")
        elif place.name.endswith(".py"):
            digest.update(f"{path}\n".encode() + place.read_bytes())
            read += 1

    with suppress(OSError):
        for part in parts or ("",):
            walk(files("dalembert") / part if part else files("dalembert"), part)
    return digest.hexdigest() if read else ""


# all that a given program's code depends on, read with the code itself: a file edited later must not lend its name to it
SOURCE = source_digest("native", "trace")
