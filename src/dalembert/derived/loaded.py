"""Programs that take the bodies of some links and gravity as inputs: for loads and a field that change while they run.

Everything else is the robot's own numbers, so that they are almost as short as its other programs. The links have frames of
their own here, which make them short (`model.reduce`); friction, which acts on the joint forces alone, is left to the caller.
"""

from functools import partial
from typing import Any, NamedTuple

import numpy as np

from dalembert.algebra.spatial import Array, Transform
from dalembert.derived import kinematics
from dalembert.derived.charts import spread_positions
from dalembert.derived.joints import armatures, coupled_inertia, on_diagonal, pivots, rotors, tree_forces
from dalembert.formulations import built_on, formulation, takes
from dalembert.model.model import Model
from dalembert.model.reduce import reduced_around
from dalembert.model.tree import Tree
from dalembert.trace.program import Program, trace

BODIES, GRAVITY = "bodies", "gravity"
INPUTS = {"mass_matrix": ("q",), "inverse_dynamics": ("q", "qd", "qdd"), "forward_dynamics": ("q", "qd", "tau")}
OUTPUT = {"mass_matrix": "M", "inverse_dynamics": "tau", "forward_dynamics": "qdd"}


class Carriers(NamedTuple):
    """Links that carry loads: their indices, their frames in the programs as seen from their own, and the tree in such frames."""

    links: tuple[int, ...]
    frames: list[Transform]
    tree: Tree

    @property
    def bodies(self) -> Array:
        """What the programs take for links without a load, (k, 10): mass, centre of mass, and xx, xy, xz, yy, yz, zz about it."""
        t, upper = self.tree, np.triu_indices(3)
        return np.array([[t.mass[i], *t.com[i], *t.inertia[i][upper]] for i in self.links], dtype=float)


def carriers(model: Model, *links: int) -> Carriers:
    """What programs with loads on moving links, given by their indices, are made from."""
    tree, frames = reduced_around(model.tree, links)
    return Carriers(links, frames, tree)


def loaded(model: Model, by: Carriers, quantity: str, method: str) -> Program:
    """M, inverse or forward dynamics by a formulation, without friction, with rotors; more inputs: bodies (k, 10), gravity (3,).

    Gravity is in the frame of the base. The mass matrix does not take it.

    >>> import dalembert as da
    >>> arm = da.robot("two_link")
    >>> loaded(arm, carriers(arm, 1), "inverse_dynamics", "newton_euler")
    <Program q(2), qd(2), qdd(2), bodies(1,10), gravity(3) -> tau(2): ... nodes>
    """
    function, armature = _function(model, quantity, method), armatures(model) if model.is_tree else np.zeros(0)
    more = {"pivots": pivots(model)} if takes(quantity, method, "pivots") else {}
    fields: dict[str, tuple[int, ...]] = {} if quantity == "mass_matrix" else {GRAVITY: (3,)}
    shapes = dict.fromkeys(INPUTS[quantity], (model.n,)) | {BODIES: (len(by.links), 10)} | fields

    def body(*arrays: Any) -> Any:
        given = dict(zip(shapes, arrays, strict=True))
        tree = carrying(by, given.pop(BODIES), given.pop(GRAVITY, None))
        result = function(tree, *given.values(), **more)
        if quantity == "mass_matrix":
            return on_diagonal(result, armature)
        return result + armature * given["qdd"] if quantity == "inverse_dynamics" and armature.any() else result

    with np.errstate(all="ignore"):  # absurd figures overflow
        return trace(body, shapes, outputs=(OUTPUT[quantity],))


def _function(model: Model, quantity: str, method: str) -> Any:
    """A formulation, a function of a tree; of a coupled robot with its rotors."""
    if model.is_tree:
        return formulation(quantity, method)
    if quantity == "mass_matrix":
        return lambda tree, q: coupled_inertia(model, q, tree, method)
    if quantity == "inverse_dynamics":
        forces, R = tree_forces(model, method), rotors(model)
        return lambda tree, q, qd, qdd: forces(tree, q, qd, qdd) + np.matvec(R, qdd)
    parts = built_on(method)
    mass = _function(model, "mass_matrix", parts["mass_matrix"])
    taken = {"inverse_dynamics": tree_forces(model, parts["inverse_dynamics"]), "mass_matrix": mass}
    return partial(formulation(quantity, method), **taken)


def carrying(by: Carriers, bodies: Any, gravity: Any) -> Tree:
    """The tree with other bodies at some links, and in another field."""
    mass, com, inertia = (np.array(x, dtype=object) for x in (by.tree.mass, by.tree.com, by.tree.inertia))
    for link, body in zip(by.links, bodies, strict=True):
        xx, xy, xz, yy, yz, zz = body[4:]
        mass[link], com[link] = body[0], body[1:4]
        inertia[link] = np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])
    tree = by.tree._replace(mass=mass, com=com, inertia=inertia)
    return tree if gravity is None else tree._replace(gravity=gravity)


def hand(model: Model, name: str) -> Program:
    """The pose (3, 4) and the world-aligned Jacobian (6, n) of a link or frame, and the moving links' centre of mass, from q.

    >>> import dalembert as da
    >>> hand(da.robot("two_link"), "link2")
    <Program q(2) -> pose(3,4), J(6,2), com(3): ... nodes>
    """
    tree, coupling = model.open, model.coupling

    def body(q: Any) -> Any:
        at = spread_positions(model, q)
        J = kinematics.jacobian(tree, at, link=name, frame="world_aligned")
        return kinematics.pose(tree, at, link=name)[:3], J if coupling is None else coupling.pulled_back(J, -1), _centre(tree, at)

    return trace(body, {"q": (model.n,)}, outputs=("pose", "J", "com"))


def _centre(model: Model, q: Any) -> Any:
    """The centre of mass of the moving links; the origin where they have no mass."""
    tree, links = model.exact_tree, kinematics.frames(model, q).links
    total = sum(tree.mass)
    moments = (tree.mass[i] * (links[i].rotation @ tree.com[i] + links[i].translation) for i in range(model.n))
    return sum(moments, np.zeros(3, dtype=int)) / total if total else np.zeros(3)
