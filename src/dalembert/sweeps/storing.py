"""All states and results of a sweep on disk: a Zarr group with names, units and joints as xarray reads them."""

import uuid
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from dalembert.engine.registry import OUTSIDE, QD, QDD, TAU, Q
from dalembert.errors import Error, optional
from dalembert.model.model import Model
from dalembert.native.sweeps import sweep
from dalembert.native.sweeps.sweep import Job
from dalembert.storage.opening import file_path, told

UNITS = {name: values.unit for name, values in (Q | QD | QDD | TAU | OUTSIDE).items()}
UNITS |= {"payload": "kg", "payload_com": "m", "gravity": "m/s^2", "damping": "N m s/rad or N s/m", "coulomb": "N m or N"}


@dataclass(frozen=True)
class Store:
    """A Zarr group, which workers open by its path; its key tells it from one that was there before."""

    path: str
    key: str

    def write(self, job: Job, leaf: int) -> None:
        """The states of a leaf, and their results."""
        zarr, place = optional("zarr", "scale"), file_path(self.path)
        first, end = job.bounds(leaf)
        states = job.inputs.states(np.arange(first, end))
        results = job.values_of(states)
        with told(place, "written"):
            group = zarr.open_group(self.path, mode="r+", zarr_format=2)
            for variables, scalars in ((job.program.inputs, states), (job.program.outputs, results)):
                ends = np.cumsum([0, *(v.size for v in variables)])
                for v, a, b in zip(variables, ends, ends[1:], strict=False):
                    group[v.name][first:end] = scalars[:, a:b].reshape((-1, *v.shape))


def chosen(path: Any, digest: str) -> Store:
    """Where a sweep is stored: a group of the same sweep, which was interrupted, or one that is made later."""
    zarr, place = optional("zarr", "scale"), file_path(path)
    if not place.exists():
        if not place.parent.is_dir():
            raise Error(f"{place}: cannot be written: there is no folder {str(place.parent)!r}")
        return Store(str(place), uuid.uuid4().hex)
    try:
        about = zarr.open_group(str(place), mode="r", zarr_format=2).attrs
        known, key = about.get("sweep"), str(about.get("key"))
    except (OSError, ValueError, KeyError):
        known = key = ""
    if known != digest:
        raise Error(f"{place}: exists already, and does not belong to this sweep; give another name, or delete it")
    return Store(str(place), key)


def create(store: Store, robot: Model, job: Job, units: Mapping[str, str], digest: str) -> None:
    """Make the group, if it is not there."""
    zarr, place = optional("zarr", "scale"), file_path(store.path)
    if place.exists():
        return
    about = {"sweep": digest, "key": store.key, "robot": robot.name}
    with told(place, "written"):
        group = zarr.create_group(str(place), zarr_format=2, attributes=about)
        names, chunk = np.array(robot.joint_names), (sweep.LEAF + 3) // 4  # four chunks a leaf: no two tasks write to one
        joints = group.create_array("joint", shape=names.shape, dtype=names.dtype, attributes={"_ARRAY_DIMENSIONS": ["joint"]})
        joints[:] = names
        for v in (*job.program.inputs, *job.program.outputs):
            own = ["joint"] if v.shape == (robot.n,) else [f"{v.name}_{k}" for k in range(len(v.shape))]
            about = {"_ARRAY_DIMENSIONS": ["state", *own], "units": units.get(v.name, UNITS.get(v.name, ""))}
            chunks = (min(chunk, job.samples), *v.shape)
            group.create_array(
                v.name, shape=(job.samples, *v.shape), chunks=chunks, dtype="f8", attributes=about, fill_value=np.nan
            )
        zarr.consolidate_metadata(str(place), zarr_format=2)
