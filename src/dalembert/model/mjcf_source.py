"""From the text of an MJCF file to MuJoCo's compiled model of it: includes, limits, and what is left out before it compiles.

MuJoCo gets one text in which only bodies, geoms, joints and what acts on them are left. Files that are included, and models that
are attached, are read here, under the limits of all files; meshes are opened only if the inertia of a body comes from them.
"""

import re
import warnings
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple
from xml.etree.ElementTree import Element, tostring

from dalembert.errors import Error, brief, optional
from dalembert.model import xml
from dalembert.model.links import Note
from dalembert.storage import limits
from dalembert.storage.opening import opened

# looks, sensors and sizes: nothing of the dynamics, and some of them open files or take memory
DROPPED = ("visual", "statistic", "sensor", "keyframe", "custom", "contact", "size", "extension")
DROPPED += ("camera", "light", "texture", "material", "skin", "hfield")
FLEXIBLE = ("deformable", "flexcomp", "flex", "flexvert", "flexstrain")
NAMELESS = ("material", "user", "nsample", "delay", "interp")  # attributes
MESH_PARAMETER = 1000  # of meshes that MuJoCo makes
PLACE = re.compile(r"\s*Element (?:name )?'([^']*)'(?:, id \d+)?(?:, line \d+)?\s*")


class Source(NamedTuple):
    """What MuJoCo made of a file, and what was left out of it; `touching` geoms could have contacts."""

    model: Any  # mujoco.MjModel
    notes: tuple[Note, ...]
    touching: int


class _Reader:
    """The files of one model: read once each, together not larger than a robot may be."""

    def __init__(self, size: int) -> None:
        self.left = limits.ROBOT_BYTES - size
        self.seen: set[Path] = set()
        self.parts: dict[str, bytes] = {}  # attached models by the names that MuJoCo knows them by
        self.elements = 0
        self.notes: dict[str, None] = {}

    def read(self, path: Path) -> Element:
        with opened(path) as file:
            data = file.read(self.left + 1)
        self.left -= len(data)
        if self.left < 0:
            raise Error(f"with its includes it is larger than {limits.ROBOT_BYTES >> 20} MiB, too large for a robot file")
        try:
            return xml.parse(data)
        except Error as error:
            raise Error(f"{path.name}: {error}") from None

    def included(self, element: Element, folder: Path) -> Iterator[Element]:
        """The children of an element, with those of the files that they include in their place."""
        for child in element:
            if child.tag != "include":
                yield child
                continue
            path = folder / _file(child)
            if path in self.seen:
                raise Error(f"<include> names {brief(child.get('file'), 60)} twice; MuJoCo includes a file once")
            self.seen.add(path)
            yield from self.included(self.read(path), folder)

    def cleaned(self, element: Element, folder: Path, copies: int = 1, depth: int = 1) -> Element:
        """The same without what nothing of the dynamics needs."""
        self.elements += copies
        if self.elements > limits.MJCF_ELEMENTS or depth > limits.MJCF_DEPTH:
            raise Error(f"more than {limits.MJCF_ELEMENTS} elements, or nested deeper than {limits.MJCF_DEPTH}: too large")
        made = Element(element.tag, {key: value for key, value in element.attrib.items() if key not in NAMELESS})
        for key, value in made.attrib.items():
            if any(part.lower().strip("+-") == "nan" for part in value.split()):
                raise Error(f"{_told(element)}: {key} must be finite numbers, got {brief(value, 60)}")
        if element.tag == "replicate":
            count = element.get("count", "1").strip()
            copies *= int(count) if count.isdecimal() and len(count) < 10 else 1
        for child in self.included(element, folder):
            if child.tag in FLEXIBLE:
                self.notes["flexible bodies are ignored"] = None
            elif child.tag == "plugin":
                self.notes[f"plugin {brief(child.get('plugin', ''), 60)} is ignored"] = None
            elif child.tag not in DROPPED and not (child.tag == "geom" and child.get("hfield")):
                made.append(self.cleaned(child, folder, copies, depth + 1))
        return made

    def text(self, root: Element, folder: Path) -> str:
        """A whole model, with absolute names of meshes; the models that it attaches are kept as parts."""
        root = self.cleaned(root, folder)
        place = folder
        for compiler in root.findall("compiler"):
            place = folder / (compiler.attrib.pop("assetdir", None) or place)
            place = folder / (compiler.attrib.pop("meshdir", None) or place)
            compiler.attrib.pop("texturedir", None)
        strip = any(compiler.attrib.pop("strippath", "false") == "true" for compiler in root.findall("compiler"))
        for mesh in root.findall("asset/mesh"):
            _placed(mesh, place, strip)
        for part in root.findall("asset/model"):
            path = folder / _file(part)
            if path in self.seen:
                raise Error(f"<model> names {brief(part.get('file'), 60)}, which is read already")
            self.seen.add(path)
            name = f"part{len(self.parts) + 1}.xml"
            self.parts[name] = b""
            part.set("name", part.get("name") or path.stem)
            part.set("file", name)
            self.parts[name] = self.text(self.read(path), path.parent).encode()
        return tostring(root, "unicode")


def compiled(root: Element, folder: Path, size: int) -> Source:
    """MuJoCo's model of a file whose root element and size in bytes are given; what it refers to is looked for in the folder."""
    mujoco = optional("mujoco", "mujoco")
    reader = _Reader(size)
    text = reader.text(root, folder)
    try:
        with _silence(mujoco):
            spec = mujoco.MjSpec.from_string(text, include=reader.parts)
            touching = 0 if _without_contact(mujoco, spec) else sum(bool(g.contype or g.conaffinity) for g in spec.geoms)
            _without_meshes(mujoco, spec)
            model = spec.compile()
    except Error:
        raise
    except Exception as error:  # MuJoCo's are ValueError and FatalError, and where memory ends others
        raise Error(_message(error)) from None
    return Source(model, tuple(Note("world", remark, "unread") for remark in reader.notes), touching)


@contextmanager
def _silence(mujoco: Any) -> Generator[None]:
    """No warnings of MuJoCo: it would print them, and write a file into the current folder."""
    before = mujoco.get_mju_user_warning()
    mujoco.set_mju_user_warning(lambda message: None)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    finally:
        mujoco.set_mju_user_warning(before)


def _message(error: Exception) -> str:
    """MuJoCo's message in one line; its numbers of lines are those of the text that it got."""
    told = re.sub(r"^(XML Error: |Error: )+", "", str(error).strip())
    found = PLACE.search(told)
    where = f" ({found[1]!r})" if found and found[1] and repr(found[1]) not in told[: found.start()] else ""
    return f"MuJoCo: {PLACE.sub('', told).strip() or type(error).__name__}{where}"


def _told(element: Element) -> str:
    name = element.get("name")
    return f"<{element.tag[:40]}>" + (f" {brief(name, 60)}" if name else "")


def _file(element: Element) -> str:
    name = element.get("file")
    if not name or "\0" in name:
        raise Error(f'{_told(element)} needs file="..."')
    return name


def _placed(mesh: Element, folder: Path, strip: bool) -> None:
    """Give a mesh the absolute name of its file, and the name that it has by that file."""
    file = mesh.get("file")
    if file:
        mesh.set("name", mesh.get("name") or Path(file).stem)
        mesh.set("file", str((folder / (Path(file).name if strip else file)).absolute()))
    for part in mesh.get("params", "").split():
        if not re.fullmatch(r"[+-]?\d{0,4}(\.\d*)?", part) or abs(float(part)) > MESH_PARAMETER:
            raise Error(f"{_told(mesh)}: params must be numbers up to {MESH_PARAMETER}, got {brief(part, 40)}")


def _without_contact(mujoco: Any, spec: Any) -> bool:
    bits = mujoco.mjtDisableBit
    return bool(spec.option.disableflags & (bits.mjDSBL_CONTACT | bits.mjDSBL_CONSTRAINT))


def _without_meshes(mujoco: Any, spec: Any) -> None:
    """Delete the meshes that no inertia comes from: their files need not be there. The others may only be so large together."""
    shape = mujoco.mjtInertiaFromGeom.mjINERTIAFROMGEOM_TRUE
    first, last = spec.compiler.inertiagrouprange
    used: dict[str, str] = {}
    for geom in list(spec.geoms):
        if not geom.meshname:
            continue
        body = geom.parent
        explicit = body.explicitinertial and spec.compiler.inertiafromgeom != shape
        if body.name == "world" or explicit or not first <= geom.group <= last:
            spec.delete(geom)
        else:
            used.setdefault(geom.meshname, body.name)
    limits.at_most(len(used), limits.MJCF_MESHES, "meshes that inertias come from")
    total = 0
    for mesh in list(spec.meshes):
        if mesh.name not in used:
            spec.delete(mesh)
        elif mesh.file:
            total += _readable(Path(mesh.file), used[mesh.name])
            if total > limits.MJCF_MESH_BYTES:
                raise Error(f"the meshes that inertias come from are larger than {limits.MJCF_MESH_BYTES >> 20} MiB in all")


def _readable(path: Path, body: str) -> int:
    """How many bytes a mesh has."""
    here = f"the inertia of body {body!r} comes from the mesh {path.name!r}"
    try:
        with opened(path) as file:
            size = file.seek(0, 2)
    except Error as error:
        raise Error(f"{here}: {error}; with an <inertial> in the body it would not be needed") from None
    if size > limits.MESH_BYTES:
        raise Error(f"{here}, which is larger than {limits.MESH_BYTES >> 20} MiB")
    return size
