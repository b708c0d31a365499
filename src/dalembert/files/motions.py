"""Motions in files, as `Trajectory` saves and loads them: the same tables and archives as those of states, but whole."""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np

from dalembert.algebra.spatial import Array
from dalembert.arguments import whole
from dalembert.errors import Error
from dalembert.files.binary import Table, archive, other_joints, write_npz
from dalembert.files.layout import PARTS, Layout, States, check_bytes, check_finite, gathered, named
from dalembert.files.text import CsvWriter, read_csv
from dalembert.model.model import Model
from dalembert.storage.opening import file_path, opened, told
from dalembert.storage.saving import saving

ROWS = 10_000  # that are text at once


def save_csv(path: Any, columns: Mapping[str, Array]) -> Any:
    """Named columns as CSV, to a file by its name or to one that is open for writing text; returns it."""
    if hasattr(path, "write"):
        with told(getattr(path, "name", "the table"), "written"):
            _write(path.write, columns)
            getattr(path, "flush", int)()  # so that what fails fails here
        return path
    with saving(path) as file:
        _write(lambda text: file.write(text.encode()), columns)
    return file_path(path)


def _write(write: Any, columns: Mapping[str, Array]) -> None:
    """Some rows at a time: the text of a long motion is many times larger than its arrays."""
    writer, held = CsvWriter(write, list(columns)), list(columns.values())
    for k in range(0, len(held[0]), ROWS):
        writer.write(np.stack([column[k : k + ROWS] for column in held], axis=1))


def save_npz(path: Any, arrays: Mapping[str, Array]) -> Path:
    """Named arrays as an NPZ file; returns where it is."""
    with saving(path) as file:
        write_npz(file, arrays)
    return file_path(path)


def load_motion(path: Any, robot: Model, limit: int, *, allow_nan: bool = False) -> dict[str, Array]:
    """The arrays t (T,), q, qd, qdd, tau (..., T, n), and `worked`, `memory`, `lost` if they are there; CSV by name, or NPZ."""
    place, limit = file_path(path), whole(limit, "limit", 1)
    try:
        with opened(place) as file:
            if place.suffix.lower() == ".csv":
                return gathered(_csv(file, str(place), robot, allow_nan), str(place), limit)
            arrays = _npz(file, str(place), robot, limit)
            if not allow_nan:
                check_finite({part: arrays[part] for part in ("t", *PARTS)}, str(place), 0)
            return arrays
    except MemoryError:
        raise Error(f"{place}: does not fit into memory") from None


def _csv(file: BinaryIO, what: str, robot: Model, allow_nan: bool) -> Iterator[States]:
    def arrange(columns: Sequence[str] | int, where: str) -> Layout:
        if isinstance(columns, int):
            raise Error(f"{where}: a trajectory file must start with a header line")
        joints = tuple(name[2:] for name in columns if name.startswith("q_"))
        if joints != tuple(name.strip() for name in robot.position_names):
            raise other_joints(what, robot, joints)
        layout = named(robot, columns, PARTS, where)
        if "t" not in layout.columns:
            raise Error(f"{where}: there is no column t")
        return layout

    for states, _ in read_csv(file, what, arrange, allow_nan=allow_nan):
        yield states


def _npz(file: BinaryIO, what: str, robot: Model, limit: int) -> dict[str, Array]:
    """All headers are checked before memory is allocated."""
    with archive(file, what) as held:
        for name in ("time", *PARTS, "joints"):
            if name not in held.names:
                raise Error(f"{what}: there is no array {name!r}; a trajectory has time, {', '.join(PARTS)} and joints")
        joints = held.joints()
        if joints != robot.joint_names:
            raise other_joints(what, robot, joints or ())
        tables = {name: held.table(name) for name in ("time", *PARTS, "worked", "memory", "lost") if name in held.names}
        _check(tables, what, robot)
        check_bytes(8 * sum(table.rows * table.width for table in tables.values()), what, limit)
        arrays = {name: table.whole() for name, table in tables.items()}
        return {"t": arrays.pop("time"), **arrays}


def _check(tables: Mapping[str, Table], what: str, robot: Model) -> None:
    q = tables["q"].shape
    if len(q) < 2 or q[-1] != robot.nq or tables["time"].shape != q[-2:-1]:
        raise Error(f"{what}: time {tables['time'].shape} and q {q} should be (T,) and (..., T, {robot.nq}) for {robot.name}")
    for name, table in tables.items():
        others = {"time": table.shape, "worked": q[:-1], "memory": (*q[:-1], *table.shape[-1:]), "lost": (*q[:-1], 2), "q": q}
        right = others.get(name, (*q[:-1], robot.n))
        if table.shape != right:
            raise Error(f"{what}: {name} has shape {table.shape}, but q {q} requires {right}")
