"""Joints that follow others, and motors that drive several joints: constant matrices between coordinates, joints and motors."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from dalembert.algebra.precise import exact
from dalembert.arguments import frozen_array, listed, text
from dalembert.cached import cached_property
from dalembert.errors import Error
from dalembert.model.links import MOST_JOINTS, Joint
from dalembert.model.values import Frozen, Value
from dalembert.storage import limits
from dalembert.storage.limits import at_most


def _names(given: Any, what: str) -> tuple[str, ...]:
    names = tuple(listed(given, f"the names of {what}s"))
    at_most(len(names), limits.COUPLED, f"{what}s of a robot")
    seen: set[str] = set()
    for name in names:
        if text(name, f"the name of {what}") in seen:
            raise Error(f"two {what}s are named {name!r}")
        seen.add(name)
    return names


def _like(exactly: Any, floats: Any, x: Any) -> Any:
    """The constants for a scalar: floats for arrays of floats, exact ones for whole numbers and whatever is recorded."""
    return floats if np.asarray(x).dtype.kind in "fc" else exactly


@dataclass(frozen=True, eq=False)
class Coupling(Value):
    """q = matrix @ y + offset: all joints of the tree, (N,), from independent coordinates y, (n,).

    A coordinate with the name of a joint is the position of that joint; others are angles, such as those of motors or pulleys.
    """

    names: tuple[str, ...]
    matrix: Frozen  # B, (N, n)
    offset: Frozen  # b, (N,)

    def __post_init__(self) -> None:
        object.__setattr__(self, "names", _names(self.names, "coordinate"))
        object.__setattr__(self, "offset", frozen_array(self.offset, None, "the offset of a coupling"))
        at_most(self.offset.size, limits.COUPLED, "coupled joints")
        shape = self.offset.size, len(self.names)
        object.__setattr__(self, "matrix", frozen_array(self.matrix, shape, "the matrix of a coupling"))
        if not self.names:
            raise Error("a coupling needs at least one independent coordinate")
        if (rank := int(np.linalg.matrix_rank(self.matrix))) < len(self.names):
            raise Error(f"{len(self.names)} coordinates must move the joints independently, but the coupling's rank is {rank}")

    @cached_property
    def exact(self) -> tuple[Any, Any]:
        """B and b in fractions, for programs."""
        return exact(self.matrix), exact(self.offset)

    def positions(self, y: Any) -> Any:
        """q (..., N) from y (..., n), of any scalar."""
        return self.rates(y) + _like(self.exact[1], self.offset, y)

    def rates(self, yd: Any) -> Any:
        """qd = B yd, and so accelerations."""
        with np.errstate(all="ignore"):  # infinities appear in the results
            return np.matvec(_like(self.exact[0], self.matrix, yd), yd)

    def forces(self, tau: Any) -> Any:
        """The forces (..., n) that act on y, from those on all joints: B^T tau."""
        with np.errstate(all="ignore"):
            return np.vecmat(tau, _like(self.exact[0], self.matrix, tau))

    def pulled_back(self, x: Any, axis: int) -> Any:
        """An array with an axis of forces, or of derivatives by q, (N,): with one of y, (n,), in its place."""
        return np.moveaxis(self.forces(np.moveaxis(np.asarray(x), axis, -1)), -1, axis)

    def alone(self, i: int) -> int | None:
        """The one coordinate that moves joint i; None if there are several, or none."""
        (moving,) = np.nonzero(self.matrix[i])
        return int(moving[0]) if len(moving) == 1 else None

    def told(self, joints: Sequence[Joint]) -> list[str]:
        """Each joint that is no coordinate itself, with what it follows."""
        rows = zip(joints, self.matrix, self.offset, strict=True)
        return [f"{joint.name} = {sum_of(row, self.names, b)}" for joint, row, b in rows if joint.name not in self.names]


def sum_of(row: Any, names: Sequence[str], constant: float) -> str:
    """2 a - b + 0.1 in words."""
    parts = [(float(c), name) for c, name in zip(row, names, strict=True) if c]
    terms = [(c < 0, name if abs(c) == 1 else f"{abs(c):g} {name}") for c, name in parts]
    terms += [(constant < 0, f"{abs(constant):g}")] if constant or not terms else []
    first = ("-" if terms[0][0] else "") + terms[0][1]
    return first + "".join(f" {'-' if negative else '+'} {term}" for negative, term in terms[1:])


@dataclass(frozen=True, eq=False)
class Transmission(Value):
    """Motors that drive a robot through gears, belts or tendons: their speeds are matrix @ qd, (m,) from (n,).

    tau = matrix^T (forces of the motors), and rotors add matrix^T diag(rotor_inertia) matrix to the mass matrix.
    """

    names: tuple[str, ...]
    matrix: Frozen  # G, (m, n)
    rotor_inertia: Frozen  # (m,), about the rotors' own axes

    def __post_init__(self) -> None:
        object.__setattr__(self, "names", _names(self.names, "motor"))
        matrix = frozen_array(self.matrix, None, "the matrix of a transmission")
        if matrix.ndim != 2 or len(matrix) != len(self.names) or not self.names:
            raise Error(
                f"the matrix of a transmission has a row for each of the {len(self.names)} motors, got shape {matrix.shape}"
            )
        at_most(matrix.shape[1], limits.COUPLED, "joints behind a transmission")
        object.__setattr__(self, "matrix", matrix)
        rotors = frozen_array(self.rotor_inertia, None, "rotor_inertia")
        if rotors.shape not in ((), (len(self.names),)):
            raise Error(f"rotor_inertia must be one number or {len(self.names)} (one per motor), got shape {rotors.shape}")
        rotors = np.broadcast_to(rotors, (len(self.names),))
        object.__setattr__(self, "rotor_inertia", frozen_array(rotors, None, "rotor_inertia"))
        if (self.rotor_inertia < 0).any():
            raise Error(f"rotor_inertia must not be negative, got {self.rotor_inertia.tolist()}")

    @cached_property
    def exact_inertia(self) -> Any:
        """G^T I G, (n, n), in fractions."""
        G = exact(self.matrix)
        return G.T @ (exact(self.rotor_inertia)[:, None] * G)

    @cached_property
    def inertia(self) -> Any:
        """G^T I G in floats."""
        return self.exact_inertia.astype(float)


# --- couplings from equations -------------------------------------------------------------------------------------------------


def following(names: Sequence[str], follow: Mapping[str, Mapping[str, float]], offset: Mapping[str, float]) -> Coupling:
    """The coupling of joints that are sums of multiples of others, and an offset; chains are followed to their ends."""
    if len(names) > MOST_JOINTS:
        raise Error(f"couplings are for robots of at most {MOST_JOINTS} joints, this one has {len(names)}")
    free = [name for name in names if name not in follow]
    rows = dict(zip(free, np.eye(len(free)), strict=True))
    constants = dict.fromkeys(free, 0.0)
    left = dict(follow)
    while left:
        ready = [name for name, others in left.items() if all(other in rows for other in others)]
        if not ready:
            raise _circle(left)
        for name in ready:
            others = left.pop(name)
            rows[name] = sum((factor * rows[other] for other, factor in others.items()), np.zeros(len(free)))
            constants[name] = sum((factor * constants[other] for other, factor in others.items()), offset.get(name, 0.0))
    return Coupling(tuple(free), np.array([rows[name] for name in names]), np.array([constants[name] for name in names]))


def _circle(follow: Mapping[str, Mapping[str, float]]) -> Error:
    """Error for joints that follow each other."""
    way = [next(iter(follow))]
    while way[-1] not in way[:-1]:
        way.append(next(other for other in follow[way[-1]] if other in follow))
    return Error(f"joint {way[-1]!r} follows itself: {' -> '.join(way[way.index(way[-1]) :])}")


def of_mimics(joints: Sequence[Joint]) -> Coupling | None:
    """What the mimics of joints say; those of joints that are not there say nothing."""
    names = dict.fromkeys(joint.name for joint in joints)
    mimics = {joint.name: joint.mimic for joint in joints if joint.mimic is not None and joint.mimic.joint in names}
    if not mimics:
        return None
    return following(list(names), {k: {m.joint: m.multiplier} for k, m in mimics.items()}, {k: m.offset for k, m in mimics.items()})


# --- joints of coordinates ----------------------------------------------------------------------------------------------------


def coordinates(coupling: Coupling, joints: Sequence[Joint]) -> tuple[Joint, ...]:
    """A joint for each coordinate: limits and friction of all joints that it alone moves, as they are felt there.

    What a joint that two coordinates move adds is none of either's, and is left out here.
    """
    own = {joint.name: joint for joint in joints}
    moved: list[list[tuple[float, float, Joint]]] = [[] for _ in coupling.names]
    for i, joint in enumerate(joints):
        if (j := coupling.alone(i)) is not None:
            moved[j].append((float(coupling.matrix[i, j]), float(coupling.offset[i]), joint))
        _check(coupling, joints, i)
    return tuple(_coordinate(name, own.get(name), some) for name, some in zip(coupling.names, moved, strict=True))


def _check(coupling: Coupling, joints: Sequence[Joint], i: int) -> None:
    joint, unit = joints[i], np.array([float(name == joints[i].name) for name in coupling.names])
    if joint.name in coupling.names and not (np.array_equal(coupling.matrix[i], unit) and coupling.offset[i] == 0):
        raise Error(f"coordinate {joint.name!r} has the name of a joint whose position it is not; give it another name")
    with_others = coupling.alone(i) is None or np.count_nonzero(coupling.matrix[:, coupling.alone(i)]) > 1
    if joint.load_friction and with_others:
        raise Error(f"joint {joint.name!r} is coupled, so its load is not determined, nor its load_friction; make that 0")


def _coordinate(name: str, own: Joint | None, moved: list[tuple[float, float, Joint]]) -> Joint:
    kind, pitch, effort = ("revolute", 0.0, np.inf) if own is None else (own.kind, own.pitch, own.effort_limit)
    lower, upper = -np.inf, np.inf
    for factor, offset, joint in moved:
        ends = sorted((x - offset) / factor + 0.0 for x in (joint.lower, joint.upper))
        lower, upper = max(lower, ends[0]), min(upper, ends[1])
    if lower > upper:
        others = ", ".join(joint.name for *_, joint in moved)
        raise Error(
            f"joint {name!r} has no position within the limits of all that are coupled to it ({others}): {lower:g} .. {upper:g}"
        )
    fastest = [
        joint.velocity_limit / abs(factor) for factor, _, joint in moved if joint.velocity_limit
    ]  # files write 0 for unknown
    level, extra, speeds = 0.0, 0.0, set[float]()
    for factor, _, joint in moved:
        level += abs(factor) * joint.coulomb
        if joint.static_friction:
            extra += abs(factor) * (joint.static_friction - joint.coulomb)
            speeds.add(joint.stribeck_speed / abs(factor))
    return Joint(
        name, kind, pitch, lower, upper, min(fastest, default=own.velocity_limit if own else np.inf), effort,
        damping=sum(factor * factor * joint.damping for factor, _, joint in moved),
        coulomb=level,
        armature=sum(factor * factor * joint.armature for factor, _, joint in moved),
        friction_offset=sum(factor * joint.friction_offset for factor, _, joint in moved),
        static_friction=level + extra if len(speeds) == 1 else 0.0,
        stribeck_speed=speeds.pop() if len(speeds) == 1 else 0.0,
        load_friction=moved[0][2].load_friction if len(moved) == 1 else 0.0,
    )  # fmt: skip


def not_reflected(coupling: Coupling, joints: Sequence[Joint]) -> str:
    """Why friction is not one of each coordinate by itself, in words; empty where it is."""
    speeds: dict[int, float] = {}
    for i, joint in enumerate(joints):
        j = coupling.alone(i)
        if j is None and joint.rubs and coupling.matrix[i].any():
            return f"joint {joint.name!r} has friction and is moved by several coordinates"
        if j is not None and joint.static_friction:
            speed = joint.stribeck_speed / abs(float(coupling.matrix[i, j]))
            if speeds.setdefault(j, speed) != speed:
                return f"the joints that {coupling.names[j]!r} moves have different Stribeck speeds"
    return ""
