"""Joints that feel no inertia: where the mass matrix is singular, and what is said about it."""

import warnings
from collections.abc import Mapping, Sequence

import numpy as np

from dalembert.errors import Error, SingularWarning
from dalembert.formulations._filter import filtered, links
from dalembert.linalg import SingularError
from dalembert.model.model import Model
from dalembert.quantities.table import UNGUARDED, pivots
from dalembert.spatial import Array


def without_inertia(model: Model, quantity: str, joint: int, where: str = "") -> Error:
    """What is wrong with a joint that moves nothing."""
    link = model.links[joint]
    kind = "along" if link.joint.kind == "prismatic" else "about"
    return Error(
        f"{quantity}: joint {link.joint.name!r} of {model.name} has no positive inertia {kind} its axis{where}, so the mass "
        f"matrix is singular and forces do not determine accelerations; give link {link.name!r} (or what it carries) "
        f"{'mass' if kind == 'along' else 'inertia about that axis'}, or the joint an armature (with_armature)"
    )


def regular(found: Array) -> bool:
    """Whether a result is free of NaN, at the price of a sum; it may say no for infinities too."""
    return bool(np.isfinite(np.add.reduce(found, axis=None)))


def check_regular(model: Model, quantity: str, method: str, found: Sequence[Array], given: Mapping[str, Array]) -> None:
    """Raise for one state, warn for a batch, where NaN comes from a singular mass matrix and not from the inputs."""
    if method not in UNGUARDED and all(regular(x) for x in found):
        return
    batch = np.broadcast_shapes(*(np.shape(x)[: np.ndim(x) - (2 if name == "wrenches" else 1)] for name, x in given.items()))
    q = np.broadcast_to(np.real(given["q"]), (*batch, model.n)).reshape(-1, model.n)
    known = np.isfinite(q).all(axis=-1)
    weak = np.full(len(q), -1)
    try:
        weak[known] = weak_joints(model, q[known])
    except SingularError as singular:
        raise without_inertia(model, quantity, singular.index) from None
    if not (weak >= 0).any():
        return
    state = int(np.argmax(weak >= 0))
    where = f" at q = {np.array2string(q[state], precision=6, separator=', ')}"
    if batch == ():
        raise without_inertia(model, quantity, int(weak[state]), where)
    if method in UNGUARDED:
        for x in found:
            x[(weak >= 0).reshape(batch)] = np.nan
    name = model.joint_names[weak[state]]
    warnings.warn(
        f"{quantity}: the mass matrix of {model.name} is singular at {int((weak >= 0).sum())} of {len(q)} states, the result is "
        f"NaN there; the first is state {state}, where joint {name!r} has no positive inertia{where}",
        SingularWarning,
        stacklevel=4,
    )


def weak_joints(model: Model, q: Array) -> Array:
    """For each state of (m, n), the joint nearest the tips without inertia, or -1."""
    with np.errstate(all="ignore"):
        D = filtered(model.tree, links(model.tree, q), pivots(model)).D
    weak = np.isnan(np.stack(np.broadcast_arrays(*D), axis=-1) + np.zeros((len(q), 1)))
    return np.where(weak, np.arange(model.n), -1).max(axis=-1)
