"""Text files."""

import os
from pathlib import Path
from typing import Any

from dalembert.errors import Error, brief


def write(path: Any, text: str, name: str | None = None) -> Path:
    """Write a file, under its own `name` if the path is a folder; returns where it is, or an Error says why not."""
    try:
        found = Path(path)
        folder = found.is_dir() or os.fspath(path).endswith(("/", os.sep))
    except (TypeError, ValueError, OSError):
        raise Error(f"cannot save to {brief(path)}: give the name of a file") from None
    if folder and name is not None:
        found = found / name
    try:
        found.write_text(text, encoding="utf-8")
    except (OSError, ValueError) as error:
        why = str(error) if isinstance(error, ValueError) else error.strerror or str(error)
        hint = why if found.parent.is_dir() else f"there is no folder {str(found.parent)!r}"
        raise Error(f"{found.name}: cannot be written: {hint}") from None
    return found
