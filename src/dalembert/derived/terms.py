"""The terms of M(q) qdd + C(q, qd) qd + g(q) = tau, the symbols behind C, and the energies, as recipes."""

from typing import Any

import numpy as np

from dalembert.algebra.linalg import inverse, udu
from dalembert.algebra.spatial import dot, rotate, zeros
from dalembert.derived.charts import formulated, placed
from dalembert.derived.joints import accelerations, armatures, pivots, tree_forces
from dalembert.derived.make import Body, Make, Recipe
from dalembert.formulations import built_on, formulation
from dalembert.model.model import Model
from dalembert.trace.program import Program
from dalembert.trace.replay import replay


def part_of_forces(*, gravity: bool, moving: bool) -> Recipe:
    """A part of inverse dynamics, by the same methods, friction left out."""

    def recipe(model: Model, make: Make, method: str, optional: tuple[str, ...]) -> Body:
        tree = model.reduced_tree if gravity else model.reduced_tree._replace(gravity=zeros(3))
        function, still = formulated(model, "inverse_dynamics", method), zeros(model.n)

        def body(q: Any, qd: Any = still) -> Any:
            return function(tree, q, qd if moving else still, still) if model.n else zeros(0)  # with both, b of (9.1)

        return body

    return recipe


def forward_dynamics(model: Model, make: Make, method: str, optional: tuple[str, ...]) -> Body:
    """Of a coupled robot: (B^T M B + rotors) qdd = B^T (...), by the formulations that take M and forces from others."""
    solve, parts = formulation("forward_dynamics", method), built_on(method)
    tree, forces = model.exact_tree if optional else model.reduced_tree, tree_forces(model, parts["inverse_dynamics"])
    mass = make("mass_matrix", parts["mass_matrix"])
    taken = {"inverse_dynamics": forces, "mass_matrix": lambda _, q: replay(mass, {"q": q}), "pivots": pivots(model)}
    return accelerations(model, lambda **given: solve(tree, **given, **taken))


def inverse_mass_matrix(model: Model, make: Make, method: str, optional: tuple[str, ...]) -> Body:
    """Of a coupled robot: from the factors of its mass matrix."""
    mass = make("mass_matrix")
    return lambda q: inverse(udu(replay(mass, {"q": q}), pivots(model)))


def mass_matrix_rate(model: Model, make: Make, method: str, optional: tuple[str, ...]) -> Body:
    """C + C^T."""
    coriolis = make("coriolis_matrix", method)

    def body(q: Any, qd: Any) -> Any:
        C = replay(coriolis, {"q": q, "qd": qd})
        return C + C.T

    return body


def mass_matrix_gradient(model: Model, make: Make, method: str, optional: tuple[str, ...]) -> Program:
    """The derivative of the program of M."""
    return make.derivative(make("mass_matrix", method), ["q"], "forward")


def christoffel(model: Model, make: Make, method: str, optional: tuple[str, ...]) -> Body:
    """From the derivatives of the mass matrix."""
    gradient = make("mass_matrix_gradient")

    def body(q: Any) -> Any:
        return twice_christoffel(replay(gradient, {"q": q})) / 2  # (9.13), Park-Bobrow-Ploen (52)

    return body


def twice_christoffel(D: Any) -> Any:
    """2 Gamma from D[i, j, k] = dM_ij / dq_k."""
    return D + np.moveaxis(D, 2, 1) - np.moveaxis(D, 2, 0)


def christoffel_gradient(model: Model, make: Make, method: str, optional: tuple[str, ...]) -> Program:
    """The symbols and their derivatives."""
    return make.derivative(make("christoffel", method), ["q"], "forward", keep=True)


def kinetic_energy(model: Model, make: Make, method: str, optional: tuple[str, ...]) -> Body:
    """qd . (M qd) / 2, with M qd by inverse dynamics."""
    tree = model.reduced_tree._replace(gravity=zeros(3))
    function, armature = formulated(model, "inverse_dynamics", method), armatures(model)

    def body(q: Any, qd: Any) -> Any:
        if not model.n:
            return 0
        momentum = function(tree, q, zeros(model.n), qd)  # M qd
        return dot(qd, momentum + armature * qd if armature.any() else momentum) / 2  # (9.10)

    return body


def potential_energy(model: Model, make: Make, method: str, optional: tuple[str, ...]) -> Body:
    """-sum m gravity . r."""

    def body(q: Any) -> Any:
        tree, q = placed(model, q)
        points = (rotate(T.rotation, c) + T.translation for T, c in zip(tree.poses(q), tree.com, strict=True))
        weight = (m * dot(tree.gravity, r) for m, r in zip(tree.mass, points, strict=True))
        return -sum(weight, 0)  # (3.2-21), (3.2-22), (3.4-20), Park-Bobrow-Ploen (58)

    return body
