"""Quantities whose load, gravity, friction or named parameters are inputs beside the motion.

A load is a point mass. It enters as a second robot on the same links, which has nothing but the load: forces and the mass matrix of
both add up, so that programs stay affine in the mass and share the kinematics.
"""

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

import numpy as np

from dalembert.algebra.scalars import sign
from dalembert.algebra.spatial import Transform, rotate, rotate_back, zeros
from dalembert.derived.joints import accelerations, forces, friction_law, inertias, pivots
from dalembert.errors import Error
from dalembert.formulations import formulation
from dalembert.model.edit import tip, with_friction
from dalembert.model.model import Model
from dalembert.model.tree import Tree

LOAD, PLACE, GRAVITY, FRICTION = "payload", "payload_com", "gravity", ("damping", "coulomb")
VARIED = (LOAD, PLACE, GRAVITY, *FRICTION)
PARTS = ("mass", "com", "inertia", "length", "gravity")
AXES = "xyz"
Slot = tuple[str, tuple[int, ...]]  # a number of a tree: its field and place


def named_parameters(model: Model, parts: tuple[str, ...] = PARTS) -> dict[str, tuple[Slot, float]]:
    """The numbers of a tree by name: m1, cx1, Ixx1, bx1, ax1, ..., gx; its zeros have none."""
    t = model.tree
    found: dict[str, tuple[Slot, float]] = {}

    def take(field: str, array: Any, label: str, i: int) -> None:
        found.update({f"{label}{AXES[k]}{i + 1}": ((field, (i, k)), float(array[i, k])) for k in range(3) if array[i, k]})

    for i in range(len(model.links)):
        if "mass" in parts and t.mass[i]:
            found[f"m{i + 1}"] = ("mass", (i,)), float(t.mass[i])
        if "com" in parts:
            take("com", t.com, "c", i)
        if "inertia" in parts:
            for r, c in zip(*np.triu_indices(3), strict=True):
                if t.inertia[i, r, c]:
                    found[f"I{AXES[r]}{AXES[c]}{i + 1}"] = ("inertia", (i, int(r), int(c))), float(t.inertia[i, r, c])
        if "length" in parts:
            take("before", t.before.translation, "b", i)
            take("after", t.after.translation, "a", i)
    if "gravity" in parts:
        found |= {f"g{AXES[k]}": (("gravity", (k,)), float(t.gravity[k])) for k in range(3) if t.gravity[k]}
    return found


def with_numbers(tree: Tree, numbers: Mapping[Slot, Any]) -> Tree:
    """A tree with other scalars at some places: floats, expressions, symbols."""
    fields = {
        "mass": tree.mass, "com": tree.com, "inertia": tree.inertia, "gravity": tree.gravity,
        "before": tree.before.translation, "after": tree.after.translation,
    }  # fmt: skip
    filled = {name: np.array(array, dtype=object) for name, array in fields.items()}
    for (field, index), scalar in numbers.items():
        filled[field][index] = scalar
        if field == "inertia":
            filled[field][index[0], index[2], index[1]] = scalar
    before, after = (Transform(getattr(tree, name).rotation, filled.pop(name)) for name in ("before", "after"))
    return tree._replace(**filled, before=before, after=after)


def varied(model: Model, quantity: str, names: tuple[str, ...], link: str | None = None) -> Callable[..., Any]:
    """A quantity as a function of its inputs and of those named, by keyword.

    They are `payload` (kg), `payload_com` (3,) in the axes of the link or frame that carries it (default: the end), `gravity` (3,)
    in the world, `damping` and `coulomb` (n,), and numbers of the tree, which `named_parameters` lists.
    """
    if not model.is_tree or model.runs:
        raise Error(
            f"payload, gravity, friction and parameters can vary for trees of independent joints only, which {model.name} is not"
        )
    if quantity not in _QUANTITIES:
        raise Error(f"{', '.join(names)} cannot vary in {quantity}, only in {', '.join(_QUANTITIES)}")
    slots = {name: slot for name, (slot, _) in named_parameters(model).items()}
    place = _carrier(model, link) if LOAD in names or PLACE in names else None
    rubbing = _without(model, tuple(name for name in FRICTION if name in names))

    def body(**given: Any) -> Any:
        more = {name: given.pop(name) for name in names}
        tree = with_numbers(model.exact_tree, {slots[name]: x[()] for name, x in more.items() if name in slots})
        if GRAVITY in more:
            tree = tree._replace(gravity=rotate_back(model.base.rotation, more[GRAVITY]))
        trees = [tree]
        if place is not None:
            trees.append(_load(tree, *place, more.get(LOAD, zeros(()))[()], more.get(PLACE, zeros(3))))
        qd = given.get("qd", zeros(model.n))
        extra = [more[name] * (qd if name == "damping" else sign(qd)) for name in FRICTION if name in more]
        return _QUANTITIES[quantity](rubbing, trees, given, extra)

    return body


def _carrier(model: Model, link: str | None) -> tuple[int, Any]:
    index, pose = model.locate(tip(model) if link is None else link)
    if index < 0:
        raise Error(f"a payload on {link!r}, which does not move, changes nothing; link= must name a moving link or a frame on it")
    return index, pose


def _without(model: Model, parts: tuple[str, ...]) -> Model:
    """The model without parts of its friction, which come from outside."""
    if "coulomb" in parts and friction_law(model).static_friction.any():
        raise Error(f"{model.name} has static friction above its Coulomb friction, so that coulomb alone cannot vary")
    return with_friction(model, **dict.fromkeys(parts, 0.0)) if parts else model


def _load(tree: Tree, index: int, pose: Any, mass: Any, com: Any) -> Tree:
    """The tree with nothing but a point mass on one link."""
    n = len(tree.parents)
    masses, places = zeros(n).astype(object), zeros((n, 3)).astype(object)
    masses[index], places[index] = mass, rotate(pose.rotation, com) + pose.translation
    return tree._replace(mass=masses, com=places, inertia=zeros((n, 3, 3)))


def _summed(quantity: str, method: str, trees: list[Tree], *given: Any) -> Any:
    function = formulation(quantity, method)
    first, *others = (function(tree, *given) for tree in trees)
    return sum(others, first)


def _inverse(model: Model, trees: list[Tree], given: dict[str, Any], extra: list[Any]) -> Any:
    bare = lambda **motion: _summed("inverse_dynamics", "newton_euler", trees, *(motion[k] for k in ("q", "qd", "qdd")))  # noqa: E731
    return sum(extra, forces(model, bare)(**given))


def _part(gravity: bool, moving: bool) -> Callable[..., Any]:
    """Gravity, Coriolis forces, or both."""

    def part(model: Model, trees: list[Tree], given: dict[str, Any], extra: list[Any]) -> Any:
        still = zeros(model.n)
        here = trees if gravity else [tree._replace(gravity=zeros(3)) for tree in trees]
        return _summed("inverse_dynamics", "newton_euler", here, given["q"], given["qd"] if moving else still, still)

    return part


def _mass(model: Model, trees: list[Tree], given: dict[str, Any], extra: list[Any]) -> Any:
    return inertias(model, lambda q: _summed("mass_matrix", "composite_body", trees, q))(q=given["q"])


def _coriolis(model: Model, trees: list[Tree], given: dict[str, Any], extra: list[Any]) -> Any:
    return _summed("coriolis_matrix", "composite_body", trees, given["q"], given["qd"])


def _forward(model: Model, trees: list[Tree], given: dict[str, Any], extra: list[Any]) -> Any:
    if len(trees) > 1:
        raise Error("a payload cannot vary in forward_dynamics; give robots with_payload, or sweep inverse_dynamics")
    solve = partial(formulation("forward_dynamics", "articulated_body"), trees[0], pivots=pivots(model))
    return accelerations(model, solve)(**{**given, "tau": given["tau"] - sum(extra)})


_QUANTITIES: dict[str, Callable[..., Any]] = {
    "inverse_dynamics": _inverse,
    "gravity_force": _part(True, False),
    "bias_force": _part(True, True),
    "coriolis_force": _part(False, True),
    "mass_matrix": _mass,
    "coriolis_matrix": _coriolis,
    "forward_dynamics": _forward,
}
