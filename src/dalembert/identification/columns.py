"""The columns of the regressor: inertial parameters, friction and rotors, and which of them matter.

A *drive* is whatever rubs or spins at a speed g . qd: a joint, one that follows others, or a motor that moves several joints. Its
friction f acts on the joints as g f(g . qd), its rotor as g (g . qdd).
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from dalembert.algebra.spatial import Array
from dalembert.arguments import choice
from dalembert.errors import Error
from dalembert.identification.prepare import Prepared
from dalembert.quantities.parameters import LEADING, independent_columns
from dalembert.robots import Robot

TERMS = {  # of friction: the name of its parameter, whether that must not be negative
    "viscous": ("damping", True),
    "coulomb": ("coulomb", True),
    "offset": ("friction_offset", False),
    "sqrt": ("sqrt_friction", False),
    "stribeck": ("stribeck", False),
    "load": ("load_friction", True),
}
SAMPLES = 40  # random states per joint that show which columns are independent
SMOOTH = 0.01  # of the greatest speed: the v0 of tanh(v / v0)
STRIBECK = 0.05  # of the greatest speed


class Base(NamedTuple):
    """A minimal set of combinations: base = matrix @ parameters, the columns `chosen` of all lead them."""

    names: tuple[str, ...]
    chosen: Array  # (rank,)
    matrix: Array  # (rank, all)
    pattern: Array  # (n, rank), where these columns are not zero

    def shared(self, names: Sequence[str]) -> list[str]:
        """Those of all names whose parameters forces do not tell by themselves: they are no base parameters alone, or none."""
        alone = {k for k, row in zip(self.chosen, self.matrix, strict=True) if np.count_nonzero(row) == 1}
        return [name for k, name in enumerate(names) if k not in alone]


@dataclass(frozen=True, eq=False)
class Columns:
    """All columns for one robot: (T, n, k) from a motion, k = 10 links + terms x drives + rotors."""

    robot: Robot
    terms: tuple[str, ...]  # of friction
    rotors: bool
    smooth: Array  # (drives,), rad/s: Coulomb friction is tanh(v / smooth)
    stribeck: Array  # (drives,), rad/s
    rigid: Array | None = None  # parameters of inertia and rotors, for friction by load

    @classmethod
    def of(cls, robot: Robot, terms: Sequence[str], rotors: bool, motion: Prepared) -> "Columns":
        """With speeds that suit a motion."""
        chosen = tuple(choice(term, "friction term:", TERMS) for term in terms)
        fastest = np.abs(motion.qd @ drives(robot)[0].T).max(axis=0)
        slow = np.abs(drives(robot)[0]) @ motion.slow
        smooth = np.maximum(SMOOTH * fastest, slow / 3)
        return cls(robot, tuple(t for t in TERMS if t in chosen), rotors, smooth, np.maximum(STRIBECK * fastest, 2 * smooth))

    @property
    def plain(self) -> "Columns":
        """Without friction by load, which needs the rigid forces first."""
        return replace(self, terms=tuple(t for t in self.terms if t != "load"), rigid=None)

    @property
    def names(self) -> tuple[str, ...]:
        """Names of all parameters, those of `regressor_parameters` where it has them."""
        _, rubbing, spinning = drives(self.robot)
        friction = [f"{TERMS[term][0]}[{name}]" for name in rubbing for term in self.terms]
        return (*self.robot.parameter_names(), *friction, *(f"armature[{name}]" for name in spinning if self.rotors))

    @property
    def inertial(self) -> int:
        """How many of them belong to links."""
        return 10 * len(self.robot.links)

    @property
    def positive(self) -> list[int]:
        """Which must not be negative."""
        allowed = {name for name, sign in TERMS.values() if sign} | {"armature"}
        return [k for k, name in enumerate(self.names) if k >= self.inertial and name.partition("[")[0] in allowed]

    def __call__(self, q: Array, qd: Array, qdd: Array) -> Array:
        """All columns (T, n, k)."""
        G, rubbing, spinning = drives(self.robot)
        v, a = qd @ G.T, qdd @ G.T
        Y = self.robot.regressor(q, qd, qdd)
        parts = [Y]
        for k in range(len(rubbing)):
            parts += [_friction(x, v[:, k], self.smooth[k], self.stribeck[k])[:, None, None] * G[k, :, None] for x in self.terms]
        if self.rotors:
            first = len(G) - len(spinning)
            parts += [a[:, first + k, None, None] * G[first + k, :, None] for k in range(len(spinning))]
        whole = np.concatenate(parts, axis=-1)
        if "load" in self.terms and self.rigid is not None:
            whole[:, :, self._of_load] = self._loads(whole, v)
        return whole

    @property
    def _of_load(self) -> list[int]:
        count = len(drives(self.robot)[1])
        return [self.inertial + len(self.terms) * k + self.terms.index("load") for k in range(count)]

    def _loads(self, whole: Array, v: Array) -> Array:
        """|rigid force| tanh(v / smooth) of each joint, (T, n, drives)."""
        G = drives(self.robot)[0][: len(self._of_load)]
        forces = np.abs(whole @ self.rigid)
        return forces[:, :, None] * G.T * np.tanh(v[:, None, : len(G)] / self.smooth[: len(G)])

    def filtered(self, motion: Prepared, base: Base | None = None) -> Array:
        """The columns of a motion as its forces were filtered, one of `every` rows: those that lead the base, or all."""
        base = self.base() if base is None else base
        Y = self(motion.q, motion.qd, motion.qdd)[:, :, base.chosen]
        rows, columns = np.nonzero(base.pattern)
        Y[:, rows, columns] = motion.filtered(Y[:, rows, columns])
        return Y

    def base(self) -> Base:
        """The columns that are independent at random states; those of friction and rotors are kept before inertial ones."""
        speeds = np.abs(drives(self.robot)[0]).sum(axis=-1)  # joints that follow one another have one Coulomb friction, not two
        wide = replace(self, smooth=0.1 * speeds, stribeck=0.5 * speeds)
        order = [*range(self.inertial, len(self.names)), *(10 * i + k for i in range(len(self.robot.links)) for k in LEADING)]
        return independent(wide(*random_states(self.robot)), self.names, order)

    def scales(self, prior: Robot, friction: float) -> Array:
        """What would be large for each parameter, (k,): of bodies as heavy and as far out as the prior's; of friction as given."""
        made = np.full(len(self.names), friction)
        for i, phi in enumerate(prior.parameters().reshape(-1, 10)):
            reach = np.sqrt(max((phi[4] + phi[7] + phi[9]) / 2 / phi[0], 0.0)) if phi[0] > 0 else 0.1
            made[10 * i : 10 * i + 10] = phi[0] * np.array([1.0, *[reach] * 3, *[reach**2] * 6])
        return made

    def values(self, robot: Robot) -> Array:
        """The parameters of a robot, (k,)."""
        inertial, joints = robot.parameters(), {link.joint.name: link.joint for link in robot.links}
        motors = robot.transmission
        rotors = {} if motors is None else dict(zip(motors.names, motors.rotor_inertia.tolist(), strict=True))

        def one(name: str) -> float:
            kind, _, of = name.removesuffix("]").partition("[")
            if kind == "armature":
                return rotors.get(of, joints[of].armature if of in joints else 0.0)
            if of not in joints:
                return 0.0
            joint = joints[of]
            if kind == "stribeck":
                return joint.static_friction - joint.coulomb if joint.static_friction else 0.0
            return float(getattr(joint, kind, 0.0))

        return np.concatenate([inertial, [one(name) for name in self.names[self.inertial :]]])


def random_states(robot: Robot) -> Array:
    """q, qd and qdd (3, T, n) that show which columns are independent."""
    return np.random.default_rng(0).uniform(-2, 2, (3, SAMPLES * robot.n + 40, robot.n))


def independent(Y: Array, names: tuple[str, ...], order: list[int]) -> Base:
    """Which columns of Y (T, n, k) lead a base, taken in this order, and how the others depend on them."""
    chosen, matrix = independent_columns(Y.reshape(-1, len(names)), order)
    return Base(tuple(names[k] for k in chosen), np.array(chosen), matrix, (Y != 0).any(axis=0)[:, chosen])


def _friction(term: str, v: Array, smooth: float, stribeck: float) -> Array:
    """What a term of friction is at a speed, for a parameter of 1."""
    jump = np.tanh(v / smooth) if smooth > 0 else np.sign(v)
    if term == "viscous":
        return v
    if term == "coulomb":
        return jump
    if term == "offset":
        return np.ones_like(v)
    if term == "sqrt":
        return np.sign(v) * np.sqrt(np.abs(v))
    if term == "load":  # filled in when the rigid forces are known
        return 0 * v
    return jump / (1 + (v / stribeck) ** 2) if stribeck > 0 else 0 * v


def drives(robot: Robot) -> tuple[Array, tuple[str, ...], tuple[str, ...]]:
    """(drives, n) matrix of speeds, the names of those that rub, and of those that have rotors: the last ones.

    Those are the joints, or the motors of a transmission, of which the ones that move several joints rub, too.
    """
    joints = tuple(link.joint.name for link in robot.links)
    B = np.eye(robot.n) if robot.coupling is None else robot.coupling.matrix
    if robot.transmission is None:
        return B, joints, joints
    G, names = robot.transmission.matrix, robot.transmission.names
    if set(names) & set(joints):
        raise Error(f"motors of {robot.name} have the names of joints; give them others: with_transmission(..., names=...)")
    mixed = [k for k, row in enumerate(G) if np.count_nonzero(row) > 1]
    single = [k for k in range(len(G)) if k not in mixed]
    rows = [*mixed, *single]
    return np.concatenate([B, G[rows]]), (*joints, *(names[k] for k in mixed)), tuple(names[k] for k in rows)
