"""Reading and writing robots: URDF, xacro, MJCF, and the package's own TOML format (described in docs/format.md)."""

import os
import re
import tomllib
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

from dalembert.arguments import choice, flag, frozen_array, number, text
from dalembert.errors import DataWarning, Error, brief, warn
from dalembert.model.check import TOPICS, check
from dalembert.model.coupling import Coupling, Transmission
from dalembert.model.degrees import rpy_doubt
from dalembert.model.dh import DHRow
from dalembert.model.edit import with_free_base
from dalembert.model.inertia import Inertia
from dalembert.model.links import Frame, Joint, Link, Mimic, Note
from dalembert.model.loop import Loop
from dalembert.model.model import STANDARD_GRAVITY, Model
from dalembert.model.pose import Pose, rotation_rpy
from dalembert.storage import limits
from dalembert.storage.limits import at_most
from dalembert.storage.opening import file_path, in_memory, opened, told
from dalembert.storage.saving import save_text

M = TypeVar("M", bound=Model)
SUFFIXES = (".urdf", ".xml", ".mjcf", ".xacro", ".toml")
FORMAT = "dalembert robot 1"
SAYS_ROBOT = re.compile(rb"""^\s*format\s*=\s*["']%s["']""" % FORMAT.encode(), re.MULTILINE)
# of TOML: strings (to the end of the line or file where theirs is missing) and remarks, which may hold anything
STRINGS = re.compile(
    r"""\"{3}(?:[^"\\]++|\\.|"(?!""))*+(?:\"{3,5})?|'{3}(?:.*?'{3,5}|.*)|"(?:[^"\\\n]++|\\.)*+"?|'[^'\n]*+'?|#[^\n]*+""", re.DOTALL
)
TABLE = re.compile(r"^[ \t]*+\[\[?[^,=\[\]\n]*+\]", re.MULTILINE)
WORD = r"[^\s,=\[\]{}]"  # what keys and numbers consist of
FILE_KEYS = (
    *("format", "name", "source", "gravity", "base", "link", "frame", "notes"),
    *("coupling", "transmission", "loop", "independent", "end"),
)
JOINT_KEYS = tuple(Joint.__dataclass_fields__)
BODY_KEYS = ("mass", "com", "inertia", "inertia_about_origin")


def load(cls: type[M], path: str | Path, *, mimic: bool = True, free_base: bool = False, xacro: Any = None) -> M:
    """A robot from a URDF, xacro, MJCF or TOML file. Suspicious data are kept as they are, with one warning.

    mimic=False passes over all that couples joints; free_base=True sets the base free; xacro: arguments of a xacro file by name.
    """
    path, coupled, freed = file_path(path), flag(mimic, "load: mimic"), flag(free_base, "load: free_base")
    suffix = path.suffix.lower()
    with told(str(path), "read"):
        inside = sorted(x.name for x in path.iterdir() if _may_hold_robot(x)) if path.is_dir() else None
    if inside is not None:
        there = f"such as {path / inside[0]}" if inside else "there is none in it"
        raise Error(f"{path} is a folder: name a file in it ({', '.join(SUFFIXES)}), {there}")
    if suffix not in SUFFIXES:
        with told(str(path), "read"):
            _check_there(path)
        raise Error(f"{path}: unknown file extension {suffix!r}; known are {', '.join(SUFFIXES)}")
    if xacro is not None and suffix != ".xacro":
        raise Error(f"{path.name}: xacro arguments are for files that end in .xacro")
    with in_memory(path.name):
        model = parse_toml(cls, _content(path), path.name, coupled) if suffix == ".toml" else _xml_model(cls, path, coupled, xacro)
        doubts = check(model).errors
    if doubts:
        more = f"; robot.check() lists this and {len(doubts) - 1} more" if len(doubts) > 1 else ""
        warn(f"{path.name}: {doubts[0].told}{more}", DataWarning)
    return with_free_base(model) if freed else model


def _may_hold_robot(path: Path) -> bool:
    """By its ending; of .toml files, which many things are kept in, only those that say so."""
    if path.suffix.lower() != ".toml":
        return path.suffix.lower() in SUFFIXES
    try:
        with opened(path) as file:
            return SAYS_ROBOT.search(file.read(limits.ROBOT_BYTES)) is not None
    except Error:
        return False


def _check_there(path: Path) -> None:
    """An OSError for what is not there; the name of a built-in robot is a mistake of its own."""
    from dalembert.model.zoo import robot_names  # which reads its robots with this module

    try:
        path.stat()
    except FileNotFoundError:
        if str(path) in robot_names():
            raise Error(f'{str(path)!r} is a built-in robot: da.robot("{path}")') from None
        raise


def _content(path: Path) -> bytes:
    with opened(path) as file:
        return _small(file.read(min(os.fstat(file.fileno()).st_size, limits.ROBOT_BYTES) + 1), path)


def _small(data: bytes, path: Path) -> bytes:
    if len(data) > limits.ROBOT_BYTES:
        raise Error(f"{path.name}: larger than {limits.ROBOT_BYTES >> 20} MiB, too large for a robot file")
    return data


def _xml_model(cls: type[M], path: Path, mimic: bool, xacro: Any) -> M:
    """From URDF or MJCF, told by the root element."""
    from dalembert.model.xml import parse  # and all that comes with it

    macros = path.suffix.lower() == ".xacro"
    if macros:
        from dalembert.model.xacro import expanded

        data = _small(expanded(path, xacro), path)
    else:
        data = _content(path)
    try:
        root = parse(data, text=True)  # extensions have their numbers there
    except Error as error:
        raise Error(f"{path.name}: {error}") from None
    if root.tag.startswith("mujoco") or path.suffix.lower() == ".mjcf":
        from dalembert.model.mjcf import parse_mjcf

        return parse_mjcf(cls, root, path, len(data), mimic)
    from dalembert.model.urdf import parse_urdf

    model = parse_urdf(cls, root, path.name, mimic)
    return model if macros else replace(model, file=str(path.absolute()))


def parse_toml(cls: type[M], data: bytes, what: str = "TOML", mimic: bool = True) -> M:
    """A robot from the bytes of a TOML file; `what` names it in errors. With mimic=False its joints are not coupled."""
    try:
        _check_toml(content := data.decode())
        table = tomllib.loads(content)
    except Error as error:
        raise Error(f"{what}: {error}") from None
    except RecursionError:
        raise Error(f"{what}: nested too deeply") from None
    except ValueError as error:  # broken TOML, broken UTF-8, and integers of absurd length
        raise Error(f"{what}: not valid TOML: {str(error)[:200]}") from None
    if table.get("format") != FORMAT:
        raise Error(f"{what}: it must contain format = {FORMAT!r}, got {brief(table.get('format'), 60)}")
    if table.get("end") != {}:
        raise Error(f"{what}: truncated: the last line must be [end]")
    try:
        return _model(cls, table, mimic)
    except Error as error:
        raise Error(f"{what}: {error}") from None


def _check_toml(content: str) -> None:
    """Refuse what would take tomllib minutes or gigabytes, such as thousands of dots in a key."""
    at_most(content.count("\\"), limits.TOML_ESCAPES, "backslashes")
    at_most(content.count("\n"), limits.TOML_LINES, "lines")
    bare = STRINGS.sub("", content)
    tables = sum(1 for _ in TABLE.finditer(bare))
    at_most(tables, limits.TOML_TABLES, "tables")
    at_most(bare.count("=") + tables, limits.TOML_KEYS, "keys and tables")
    at_most(sum(map(bare.count, ",[{")), limits.TOML_VALUES, "values")
    before = bare.split("=")[:-1]
    dots = [text.count(".", max(map(text.rfind, ",[]{}\n")) + 1) for text in before] + [x.count(".") for x in TABLE.findall(bare)]
    if max(dots, default=0) > limits.TOML_DOTS or sum(dots) > limits.TOML_DOTTED:
        raise Error(f"too many dots in keys: the limits are {limits.TOML_DOTS} in one key and {limits.TOML_DOTTED} in total")
    if re.search(rf"(?<!{WORD}){WORD}{{{limits.TOML_WORD}}}", bare):
        raise Error(f"a key or a number has {limits.TOML_WORD} characters or more")


def _table(value: Any, what: str, known: tuple[str, ...]) -> dict[str, Any]:
    if not isinstance(value, Mapping):
        raise Error(f"{what} must be a table, got {brief(value, 60)}")
    for key in value:
        choice(key, f"key in {what}:", known)
    return dict(value)


def _tables(value: Any, what: str) -> list[Any]:
    if not isinstance(value, list):
        raise Error(f"{what} must be a list of tables, got {brief(value, 60)}")
    at_most(len(value), limits.TOML_TABLES, f"tables in {what}")
    return value


def _model(cls: type[M], table: dict[str, Any], mimic: bool) -> M:
    _table(table, "the file", FILE_KEYS)
    base = _table(table.get("base", {}), "base", ("name", "pose", *BODY_KEYS))
    links = tuple(_link(entry, f"link {i}") for i, entry in enumerate(_tables(table.get("link", []), "link"), 1))
    coupling, motors = (
        _around(table.get(key), key, made) for key, made in (("coupling", Coupling), ("transmission", Transmission))
    )
    if not mimic and (coupling is not None or any(link.joint.mimic for link in links)):
        links = tuple(replace(link, joint=replace(link.joint, mimic=None)) for link in links)
        coupling = motors = None  # which drive the coupled joints
    return cls(
        table.get("name", ""),
        links,
        gravity=table.get("gravity", STANDARD_GRAVITY),
        base=_pose(base.get("pose", {}), "the pose of the base"),
        base_name=base.get("name", "base"),
        base_inertia=_body(base, "base"),
        frames=tuple(_frame(entry, f"frame {i}") for i, entry in enumerate(_tables(table.get("frame", []), "frame"), 1)),
        source=table.get("source", ""),
        notes=tuple(_note(entry) for entry in _tables(table.get("notes", []), "notes")),
        coupling=coupling,
        transmission=motors,
        loops=tuple(_loop(entry, f"loop {i}") for i, entry in enumerate(_tables(table.get("loop", []), "loop"), 1)),
        independent=table.get("independent", ()),
    )


def _around(entry: Any, what: str, made: Any) -> Any:
    """A coupling or a transmission."""
    if entry is None:
        return None
    fields = tuple(made.__dataclass_fields__)
    t = _table(entry, what, fields)
    if missing := [key for key in fields if key not in t]:
        raise Error(f"{what} needs {', '.join(missing)}")
    return made(**t)


def _loop(entry: Any, what: str) -> Loop:
    t = _table(entry, what, tuple(Loop.__dataclass_fields__))
    return Loop(t.get("frame_a", ""), t.get("frame_b", ""), t.get("kind", "point"), t.get("rows"))


def _link(entry: Any, what: str) -> Link:
    t = _table(entry, what, ("name", "parent", "joint", "dh", "before", "after", *BODY_KEYS))
    what = f"link {brief(t.get('name', what), 60)}"
    if "dh" in t:
        if "before" in t or "after" in t:
            raise Error(f"{what} has both dh and before/after; give only one")
        dh = _table(t["dh"], f"dh of {what}", ("convention", "alpha", "a", "d", "theta"))
        try:
            row = DHRow(**{k: v for k, v in dh.items() if k != "convention"})
            before, after = row.placements(dh.get("convention", ""))
        except Error as error:
            raise Error(f"{what}: {error}") from None
        for doubt in row.doubts:
            warn(f"{what}: {doubt}", DataWarning)
    else:
        before, after = (_pose(t.get(k, {}), f"{k} of {what}") for k in ("before", "after"))
    joint = _table(t.get("joint", {}), f"joint of {what}", JOINT_KEYS)
    if "mimic" in joint:
        joint["mimic"] = _mimic(joint["mimic"], f"mimic of {what}")
    return Link(t.get("name", ""), t.get("parent", ""), Joint(joint.pop("name", ""), **joint), before, after, _body(t, what))


def _mimic(entry: Any, what: str) -> Mimic:
    t = _table(entry, what, Mimic._fields)
    return Mimic(
        text(t.get("joint"), f"the joint in {what}"),
        number(t.get("multiplier", 1.0), f"the multiplier in {what}"),
        number(t.get("offset", 0.0), f"the offset in {what}"),
    )


def _note(entry: Any) -> Note:
    t = _table(entry, "a note", Note._fields)
    return Note(t.get("link", ""), t.get("remark", ""), choice(t.get("topic", "inertia"), "topic of a note:", TOPICS))


def _frame(entry: Any, what: str) -> Frame:
    t = _table(entry, what, ("name", "link", "pose"))
    return Frame(t.get("name", ""), t.get("link", ""), _pose(t.get("pose", {}), f"the pose of {what}"))


def _body(t: dict[str, Any], what: str) -> Inertia:
    if "inertia" in t and "inertia_about_origin" in t:
        raise Error(f"{what} has both inertia (about the centre of mass) and inertia_about_origin; give only one")
    try:
        if "inertia_about_origin" in t:
            return Inertia.moved_to_com(t.get("mass", 0.0), t.get("com", np.zeros(3)), t["inertia_about_origin"])
        return Inertia(t.get("mass", 0.0), t.get("com", np.zeros(3)), t.get("inertia", np.zeros((3, 3))))
    except Error as error:
        raise Error(f"{what}: {error}") from None


def _pose(value: Any, what: str) -> Pose:
    t = _table(value, what, ("translation", "rpy", "rotation"))
    if "rpy" in t and "rotation" in t:
        raise Error(f"{what} has both rpy and rotation; give only one")
    try:
        rpy = frozen_array(t.get("rpy", np.zeros(3)), (3,), "rpy")
        if doubt := rpy_doubt(rpy):
            warn(f"{what}: {doubt}", DataWarning)
        return Pose(t["rotation"] if "rotation" in t else rotation_rpy(rpy), t.get("translation", np.zeros(3)))
    except Error as error:
        raise Error(f"{what}: {error}") from None


# --- writing ------------------------------------------------------------------------------------------------------------


def save(robot: Model, path: str | Path) -> None:
    """Write the robot as TOML; `load` gives an equal one back."""
    path = file_path(path)
    if path.suffix.lower() != ".toml":
        raise Error(f"{path.name}: robots are saved as TOML; the file name must end in .toml")
    save_text(path, to_toml(robot))


def to_toml(model: Model) -> str:
    """The robot in the package's own format."""
    base = {"name": model.base_name, "pose": _pose_table(model.base), **_body_table(model.base_inertia)}
    head: dict[str, Any] = {"format": FORMAT, "name": model.name, "source": model.source, "gravity": model.gravity}
    if model.independent:
        head["independent"] = model.independent
    if model.notes:
        head["notes"] = [{k: v for k, v in note._asdict().items() if v != "inertia" or k != "topic"} for note in model.notes]
    blocks = [_block("", head), _block("[base]", base)]
    for link in model.links:
        joint = {k: _plain(getattr(link.joint, k)) for k in JOINT_KEYS}
        defaults = Joint("default")
        kept = {k: v for k, v in joint.items() if k in ("name", "kind") or v != getattr(defaults, k)}
        placed = {k: _pose_table(getattr(link, k)) for k in ("before", "after")}
        entry = {"name": link.name, "parent": link.parent, "joint": kept, **placed, **_body_table(link.inertia)}
        blocks.append(_block("[[link]]", entry))
    around = {"coupling": model.coupling, "transmission": model.transmission}
    blocks += [_block(f"[{key}]", {k: getattr(x, k) for k in x.__dataclass_fields__}) for key, x in around.items() if x is not None]
    for loop in model.loops:
        if callable(loop.kind):
            raise Error(f"{model.name}: the loop {loop.told} is a function, which a file cannot hold; save robot.without_loops()")
        blocks.append(_block("[[loop]]", {key: getattr(loop, key) for key in Loop.__dataclass_fields__}))
    blocks += [_block("[[frame]]", {"name": f.name, "link": f.link, "pose": _pose_table(f.pose)}) for f in model.frames]
    return "\n".join([*blocks, "[end]\n"])


def _plain(value: Any) -> Any:
    return value._asdict() if isinstance(value, Mimic) else value


def _pose_table(pose: Pose) -> dict[str, Any]:
    parts = {"rotation": pose.rotation, "translation": pose.translation}
    plain = {"rotation": np.eye(3), "translation": np.zeros(3)}
    return {k: v for k, v in parts.items() if not np.array_equal(v, plain[k])}


def _body_table(body: Inertia) -> dict[str, Any]:
    return {"mass": body.mass, "com": body.com, "inertia": body.tensor}


def _block(title: str, entries: dict[str, Any]) -> str:
    lines = [title] if title else []
    lines += [f"{k} = {_toml(v)}" for k, v in entries.items() if not (isinstance(v, dict) and not v)]
    return "\n".join(lines) + "\n"


def _toml(value: Any) -> str:
    if isinstance(value, str):
        escaped = value.replace("\\", "\\\\").replace('"', '\\"')
        return '"' + "".join(c if c.isprintable() else f"\\U{ord(c):08x}" for c in escaped) + '"'
    if isinstance(value, dict):
        return "{ " + ", ".join(f"{k} = {_toml(v)}" for k, v in value.items()) + " }"
    if isinstance(value, np.ndarray):
        return _toml(value.tolist())
    if isinstance(value, list | tuple):
        return "[" + ", ".join(map(_toml, value)) + "]"
    return repr(value if isinstance(value, int) else float(value))
