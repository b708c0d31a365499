"""The robot as a whole: its momentum as a matrix times the velocities, its inertia as one body, and what its base bears."""

from typing import Any

import numpy as np

from dalembert.algebra.precise import exact
from dalembert.algebra.spatial import Ad_inverse_dual, homogeneous, pseudo_inertia, symmetric, zeros
from dalembert.derived import kinematics
from dalembert.derived.charts import placed, position_rate
from dalembert.derived.make import Body, Make
from dalembert.model.model import Model
from dalembert.trace.program import Program
from dalembert.trace.replay import replay


def _matrix(model: Model, make: Make) -> Program:
    """A(q), (6, n), with A qd the momentum about the centre of mass, in world axes: the derivative of that by qd."""
    shapes = {"q": (model.nq,), "qd": (model.n,)}
    momentum = make.recorded(lambda q, qd: kinematics.momentum(model, q, qd, about="com"), shapes)
    slope = make.derivative(momentum, ["qd"], "reverse")
    return make.recorded(lambda q: replay(slope, {"q": q, "qd": zeros(model.n)}), {"q": (model.nq,)})


def momentum_matrix(model: Model, make: Make, method: str, optional: tuple[str, ...]) -> Body:
    """A(q)."""
    matrix = _matrix(model, make)
    return lambda q: replay(matrix, {"q": q})


def momentum_matrix_rate(model: Model, make: Make, method: str, optional: tuple[str, ...]) -> Body:
    """dA/dt along the motion: the derivative of A(q + t q') by t at 0."""
    matrix = _matrix(model, make)

    def moved(q: Any, qd: Any, t: Any) -> Any:
        return replay(matrix, {"q": q + t[()] * position_rate(model, q, qd)})

    shapes: dict[str, tuple[int, ...]] = {"q": (model.nq,), "qd": (model.n,), "t": ()}
    slope = make.derivative(make.recorded(moved, shapes), ["t"], "forward")
    return lambda q, qd: replay(slope, {"q": q, "qd": qd, "t": np.array(0)})


def composite_inertia(model: Model, q: Any) -> Any:
    """(6, 6), about the centre of mass, in world axes."""
    poses = kinematics.frames(model, q).links
    tree, base = model.exact_tree, model.base_inertia
    moments = [
        homogeneous(T) @ pseudo_inertia(tree.mass[i], tree.com[i], tree.inertia[i]) @ homogeneous(T).T for i, T in poses.items()
    ]
    fixed = homogeneous(model.exact_base)
    whole = fixed @ pseudo_inertia(exact(base.mass), exact(base.com), exact(base.tensor)) @ fixed.T + sum(moments, zeros((4, 4)))
    m, h = whole[3, 3], whole[:3, 3]
    found = zeros((6, 6)).astype(object)
    second = symmetric(whole[:3, :3] - h[:, None] * h[None, :] / m)
    trace = second[0, 0] + second[1, 1] + second[2, 2]
    found[:3, :3] = [[(trace if i == j else 0) - second[i, j] for j in range(3)] for i in range(3)]
    found[3:, 3:] = np.diag([m, m, m])
    return found


def base_wrench(model: Model, make: Make, method: str, optional: tuple[str, ...]) -> Body:
    """The sum of what all joints on the base exert on their links, seen from the base."""
    loads = make("joint_wrenches", method, optional)

    def body(**given: Any) -> Any:
        found, (tree, q) = replay(loads, given), placed(model, given["q"])
        roots = [i for i, parent in enumerate(tree.parents) if parent < 0]
        return sum((Ad_inverse_dual(tree.pose(i, q[i]), found[i]) for i in roots), zeros(6))

    return body
