"""Balls and free bodies: the place of their runs, and what their velocities are to the rates of positions.

A run of revolute and prismatic joints (`model.spread`) stands at home. There its velocities are those of the body, nu = (omega, v)
in body axes, and its forces those on the body, but its accelerations are not the rates of nu. With nu = N(q) qd, near home,

    nu' = qdd + N' nu,    N' nu = (wy wz, -wx wz, wx wy; omega x v)

so every formulation that knows joints of one degree of freedom serves: qdd = nu' - N' nu goes in, nu' comes out. The Coriolis
matrix of nu is C - M N', and M' - 2 C stays skew.

Where the body is enters as the place of its run. If one free body carries all others, the dynamics do not depend on where it is,
and on its rotation only through the direction of gravity: then gravity is turned instead.

Quaternions may have any length but 0: it is divided out, so programs stay rational. Derivatives "by q" are by small displacements
in body axes: q changes by E(q) nu dt, so they are the derivatives by the entries of q, times E(q).
"""

from collections.abc import Callable
from typing import Any

import numpy as np

from dalembert.algebra.spatial import Array, Transform, compose, cross, rotate, rotate_back, rotation_of, skew, stack, zeros
from dalembert.formulations import formulation
from dalembert.model.model import Model
from dalembert.model.positions import Run
from dalembert.model.spread import TO
from dalembert.model.tree import Tree

FIRST = TO[0].rotation.astype(int)  # the first joint of a run is about x
EXTERNAL = ("wrenches", "base_twist", "base_acceleration")  # methods made of others hand them on by position


def placed(model: Model, q: Any, tree: Tree | None = None, *, weighed: bool = False) -> tuple[Tree, Any]:
    """The tree (default: the exact one) with its balls and free bodies in place, and the positions of its joints, (n,).

    weighed: a free body that carries all others stays at home, and gravity is turned instead.
    """
    tree = model.exact_tree if tree is None else tree
    if not model.runs:
        return tree, q
    R, p, gravity = tree.before.rotation.astype(object), tree.before.translation.astype(object), tree.gravity
    for run in model.runs:
        turn, at, i = rotation_of(q[run.positions][:4]), q[run.positions][4:], run.v
        here = Transform(FIRST.T @ turn @ FIRST, rotate_back(FIRST, at) if len(at) else zeros(3))  # in axes of the first joint
        if weighed and run.kind == "free" and tree.parents[i] < 0 and tree.parents.count(-1) == 1:
            gravity = rotate(R[i], rotate_back(here.rotation, rotate_back(R[i], gravity)))
        else:
            R[i], p[i] = compose(Transform(R[i], p[i]), here)
    return tree._replace(before=Transform(R, p), gravity=gravity), at_home(model, q)


def at_home(model: Model, q: Any) -> Array:
    """Positions of the joints of a spread robot, (n,), its balls and free bodies at home."""
    parts: list[Any] = list(q)
    for run in reversed(model.runs):
        parts[run.positions] = [0] * len(range(model.n)[run.velocities])
    return stack(parts)


def positions_of(model: Model) -> dict[int, int]:
    """Where in q the position of each joint is, by its place in qd: of all but balls and free bodies."""
    joints = {i: i + sum(run.v < i for run in model.runs) for i in range(model.n)}
    return {i: k for i, k in joints.items() if not any(i in range(model.n)[run.velocities] for run in model.runs)}


def spread_positions(model: Model, q: Any) -> Any:
    """Positions of all joints of the tree from those of the independent ones: q = B y + b, and poses as they are."""
    if model.coupling is None:
        return q
    if not model.runs:
        return model.coupling.positions(q)
    found = list(model.coupling.positions(at_home(model, q)))
    own = {run.joint: q[run.positions] for run in model.runs}
    for run in reversed(model.open.runs):
        found[run.velocities] = own[run.joint]
    return stack(found)


def excess(model: Model, qd: Any) -> Array:
    """N' nu (n,): what the rates of velocities exceed the accelerations of the runs by."""
    found = zeros(model.n).astype(object)
    for run in model.runs:
        (x, y, z), v = qd[run.velocities][:3], qd[run.velocities][3:]
        found[run.velocities] = [y * z, -x * z, x * y, *(cross(qd[run.velocities][:3], v) if len(v) else ())]
    return found


def chart_rate(model: Model, qd: Any) -> Array:
    """N' (n, n)."""
    found = zeros((model.n, model.n)).astype(object)
    for run in model.runs:
        (_x, y, z), v, a = qd[run.velocities][:3], qd[run.velocities][3:], run.v
        found[a, a + 1], found[a + 1, a], found[a + 2, a] = z, -z, y
        if len(v):
            found[a + 3 : a + 6, a : a + 3] = -skew(v)
    return found


def position_rate(model: Model, q: Any, qd: Any) -> Any:
    """The rates of the entries of q (nq,): E(q) qd, which is qd but for balls and free bodies."""

    def rates(run: Run) -> list[Any]:
        own, nu = q[run.positions], qd[run.velocities]
        (w, x, y, z), (a, b, c) = own[:4], nu[:3]
        turned = [-x * a - y * b - z * c, w * a + y * c - z * b, w * b + z * a - x * c, w * c + x * b - y * a]
        return [*(t / 2 for t in turned), *(rotate(rotation_of(own[:4]), nu[3:]) if len(nu) > 3 else ())]

    if not model.runs:
        return qd
    parts: list[Any] = list(qd)
    for run in reversed(model.runs):
        parts[run.velocities] = rates(run)
    return stack(parts)


def by_displacement(model: Model, slope: Any, q: Any) -> Any:
    """Derivatives by small displacements (..., n) from those by the entries of q (..., nq): times E(q)."""
    if not model.runs:
        return slope
    columns = [position_rate(model, q, unit) for unit in np.eye(model.n, dtype=int)]
    return np.stack([np.asarray(slope) @ column for column in columns], axis=-1)


def formulated(model: Model, quantity: str, method: str) -> Callable[..., Any]:
    """A formulation as a function of a tree and of q, qd, qdd or tau of this robot, its balls and free bodies in place."""
    function = formulation(quantity, method)
    if not model.runs:
        return function
    state = ("q", "qd", "tau" if quantity == "forward_dynamics" else "qdd")

    def whole(tree: Tree, *arrays: Any, **more: Any) -> Any:
        if len(arrays) > len(state) + len(EXTERNAL):
            raise TypeError(f"{quantity} got {len(arrays)} arrays by position")
        given = dict(zip((*state, *EXTERNAL), arrays, strict=False)) | more
        weighed = given.get("base_twist") is None and given.get("base_acceleration") is None
        here, given["q"] = placed(model, given["q"], tree, weighed=weighed)
        if "qdd" in given:
            given["qdd"] = given["qdd"] - excess(model, given["qd"])
        if quantity == "forward_dynamics" and (rotors := given["pivots"].armature) is not None:
            given["tau"] = given["tau"] - rotors * excess(model, given["qd"])  # rotors turn with nu', the pivots with qdd
        found = function(here, **given)
        if quantity == "forward_dynamics":
            return found + excess(model, given["qd"])
        if quantity == "coriolis_matrix":
            M = formulation("mass_matrix", "composite_body")(here, given["q"])
            return found - M @ chart_rate(model, given["qd"])
        return found

    return whole
