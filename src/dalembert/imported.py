"""The source of this package as it was imported: entries of the disk cache are named by it.

Modules are imported when they are first needed, and the source is hashed when the first entry is looked for. A file edited in
between, or later on, must not lend its name to what other code made: so names, sizes and times of all files are taken when the
package is imported. Once they differ, nothing is written to the cache any more, and no hash is made.
"""

import os
from functools import cache

_FOLDER = os.path.dirname(__file__)  # noqa: PTH120 - pathlib takes longer to import than all else here


def _files(folder: str) -> tuple[tuple[str, int, int], ...]:
    """Path, time and size of the Python files in a folder and below; of none if it cannot be read."""
    found: list[tuple[str, int, int]] = []
    folders = [folder]
    try:
        while folders:
            with os.scandir(folders.pop()) as entries:
                for entry in entries:
                    if entry.name.endswith(".py"):
                        status = entry.stat()
                        found.append((entry.path, status.st_mtime_ns, status.st_size))
                    elif "." not in entry.name and entry.name != "__pycache__" and entry.is_dir():
                        folders.append(entry.path)
    except OSError:
        return ()
    return tuple(sorted(found))


_AS_IMPORTED = _files(_FOLDER)  # this module is imported before all others


def unchanged() -> bool:
    """Whether the files are as they were when the package was imported; False if there are none, as in a zip archive."""
    return bool(_AS_IMPORTED) and _files(_FOLDER) == _AS_IMPORTED


@cache
def digest(*parts: str) -> str:
    """A hash of the source of some parts of this package, as imported; empty if it cannot be read or was edited since.

    >>> digest("native", "errors.py") != digest("native")
    True
    """
    from hashlib import sha256
    from pathlib import Path

    hashed = sha256()
    inside = tuple(f"{_FOLDER}{os.sep}{part}" + ("" if part.endswith(".py") else os.sep) for part in parts)
    paths = [path for path, _, _ in _AS_IMPORTED if path.startswith(inside)]
    try:
        for path in paths:
            hashed.update(f"{path[len(_FOLDER) :]}\n".encode() + Path(path).read_bytes())
    except OSError:
        return ""
    return hashed.hexdigest() if paths and unchanged() else ""
