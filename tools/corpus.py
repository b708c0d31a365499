"""Where the URDF files of the example-robot-data package are, if it is installed."""

import importlib.metadata
from pathlib import Path


def robots_folder() -> Path:
    """The folder of robot descriptions; FileNotFoundError if the package is not there."""
    try:
        files = importlib.metadata.files("example-robot-data") or []
    except importlib.metadata.PackageNotFoundError:
        raise FileNotFoundError("example-robot-data is not installed (pip install 'dalembert[corpus]')") from None
    for file in files:
        path = Path(str(file.locate())).resolve()
        if "robots" in path.parts and "example-robot-data" in path.parts:
            return Path(*path.parts[: path.parts.index("robots", path.parts.index("example-robot-data")) + 1])
    raise FileNotFoundError("example-robot-data is installed without its robots")


def urdf_files() -> dict[str, Path]:
    """Every URDF of the corpus by its path relative to the folder."""
    folder = robots_folder()
    return {path.relative_to(folder).as_posix(): path for path in sorted(folder.rglob("*.urdf"))}
