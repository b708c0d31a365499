"""All states and results of a sweep on disk: a Zarr group with names, units and joints as xarray reads them."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from dalembert.engine.registry import OUTSIDE, QD, QDD, TAU, Q
from dalembert.errors import Error, optional
from dalembert.model.model import Model
from dalembert.native import sweep
from dalembert.native.sweep import Job
from dalembert.storage.opening import file_path, told

UNITS = {name: values.unit for name, values in (Q | QD | QDD | TAU | OUTSIDE).items()}
UNITS |= {"payload": "kg", "payload_com": "m", "gravity": "m/s^2", "damping": "N m s/rad or N s/m", "coulomb": "N m or N"}


@dataclass(frozen=True)
class Store:
    """A Zarr group that is there already; workers open it by its path."""

    path: str

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


def created(path: Any, robot: Model, job: Job, units: Mapping[str, str], digest: str) -> Store:
    """A new group for a sweep; one of the same sweep, which was interrupted, is gone on with."""
    zarr, place = optional("zarr", "scale"), file_path(path)
    with told(place, "written"):
        if place.exists():
            try:
                known = zarr.open_group(str(place), mode="r", zarr_format=2).attrs.get("sweep")
            except (OSError, ValueError, KeyError):
                known = None
            if known != digest:
                raise Error(f"{place}: is there already, and does not belong to this sweep; give another name, or delete it")
            return Store(str(place))
        group = zarr.create_group(str(place), zarr_format=2, attributes={"sweep": digest, "robot": robot.name})
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
    return Store(str(place))
