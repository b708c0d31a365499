"""Where the mesh of a URDF file is on this machine.

`package://name/rest` is looked for beside the file and its parent folders, nearest first, then in the packages of ROS. Only files
with the ending of a mesh are ever named, and nothing comes from the network.
"""

import os
import re
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import unquote

from dalembert.errors import Error, brief

ENDINGS = (".stl", ".obj", ".dae")
SCHEME = re.compile(r"([A-Za-z][A-Za-z0-9+.-]+):(?://)?(.*)", re.DOTALL)  # at least two letters: C: is a disk


def mesh_file(name: str, urdf: Path) -> Path:
    """The file that a <mesh> of a URDF file names, or an Error that says where it was looked for."""
    if not name or "\0" in name or len(name) > 4096:
        raise Error(f"{brief(name, 60)} is not a file name")
    if Path(name).suffix.lower() not in ENDINGS:
        raise Error(f"{brief(name, 80)}: only meshes in {', '.join(ENDINGS)} files are drawn")
    for place in _places(name, urdf):
        try:
            if place.is_file():
                return place
        except OSError:  # names that are too long, folders that are closed
            continue
    raise Error(f"{brief(name, 200)} is not beside {urdf.name} or above it, nor in a folder of ROS_PACKAGE_PATH")


def beside(name: str, file: Path) -> Path | None:
    """A file that another one names, in the same folder or below."""
    parts = Path(name.replace("\\", "/")).parts
    inside = bool(parts) and "\0" not in name and ".." not in parts and not Path(name).is_absolute()
    return file.parent.joinpath(*parts) if inside else None


def _places(name: str, urdf: Path) -> Iterator[Path]:
    found = SCHEME.fullmatch(name)
    scheme, rest = (found[1].lower(), found[2]) if found else ("", name)
    if scheme in ("package", "model"):
        yield from _in_packages(rest, urdf)
    elif scheme == "file":
        yield urdf.parent / unquote(rest)
    elif not scheme:
        yield urdf.parent / name  # an absolute name stays as it is
        if not Path(name).is_absolute():
            yield from (folder / name for folder in urdf.parent.parents)
    else:
        raise Error(f"{brief(name, 80)}: meshes are read from files, not by {scheme}")


def _in_packages(rest: str, urdf: Path) -> Iterator[Path]:
    package, _, inside = rest.lstrip("/").partition("/")
    if ".." in Path(rest).parts or not inside:
        raise Error(f"{brief(rest, 80)}: a package has a name, and its files are inside")
    above = urdf.parents
    yield from (folder / package / inside for folder in above)
    yield from (folder / inside for folder in above if folder.name == package or (folder / "package.xml").is_file())
    for variable, below in (("ROS_PACKAGE_PATH", ""), ("AMENT_PREFIX_PATH", "share"), ("GAZEBO_MODEL_PATH", "")):
        for folder in filter(None, os.environ.get(variable, "").split(os.pathsep)):
            yield Path(folder, below, package, inside)
            if not below and Path(folder).name == package:
                yield Path(folder, inside)
    yield from (folder / inside for folder in above)  # a package in a folder of another name
