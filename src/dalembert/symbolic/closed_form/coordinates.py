"""Joints of a tree in the coordinates of closed forms: what coupled joints follow, q = B y + b, and where angles begin."""

from fractions import Fraction
from math import lcm
from typing import Any

import numpy as np

from dalembert.algebra.precise import arctan2, cos_sin
from dalembert.algebra.spatial import Array
from dalembert.errors import Error
from dalembert.model.model import Model, freed
from dalembert.symbolic.closed_form.form import Form
from dalembert.symbolic.closed_form.rational import exact, exactly
from dalembert.symbolic.closed_form.symbols import Symbols
from dalembert.trace.exact import Angle

MOST = 200  # of divisors, and of harmonics of one joint: gears beyond it would not fit into products


def coordinate_letters(model: Model) -> str:
    """A letter for each coordinate: R revolute, P prismatic, H helical."""
    return "".join(joint.letter for joint in model.joints)


def divisors(model: Model) -> tuple[int, ...]:
    """The fractions of its coordinates that angles are counted in: 2 where a joint follows one by a half; none needs none."""
    if model.coupling is None:
        return ()
    rows = [(link, row) for link, row in zip(model.links, exactly(model.coupling.matrix), strict=True) if link.joint.screw[0]]
    found: list[int] = []
    for j, name in enumerate(model.coupling.names):
        factors = [(link, row[j]) for link, row in rows if row[j]]
        divisor = lcm(*(Fraction(x).denominator if not isinstance(x, float) else 0 for _, x in factors))
        if not 0 < divisor <= MOST or any(abs(x * divisor) > MOST for _, x in factors):
            link, x = next(((a, b) for a, b in factors if isinstance(b, float)), factors[-1])
            raise Error(
                f"closed forms take couplings by simple fractions; joint {link.joint.name!r} of {model.name} follows {name!r} by "
                f"{float(x):.12g}. {freed(model)} has them, in all joints"
            )
        found.append(divisor)
    return tuple(found) if any(x != 1 for x in found) else ()


def tree_positions(symbols: Symbols, model: Model) -> Array:
    """All joints of the tree, as formulations take them, from the coordinates that symbols have."""
    if model.coupling is None:
        return symbols.positions()
    y = [symbols[f"q{j + 1}"] for j in range(len(symbols.joints))]
    q = np.empty(len(model.links), dtype=object)
    rows = zip(model.links, exactly(model.coupling.matrix), exactly(model.coupling.offset), strict=True)
    for i, (link, row, offset) in enumerate(rows):
        value = sum((x * c for x, c in zip(y, row, strict=True)), symbols.number(offset))
        turns = {j: int(c * symbols.divisor(j)) for j, c in enumerate(row) if c}
        q[i] = _shifted(symbols.combined(turns, value), model.coupling.offset[i]) if link.joint.screw[0] else value
    return q


def _shifted(angle: Angle, offset: float) -> Angle:
    """An angle that begins at an offset, which its value has already."""
    c, s = map(exact, cos_sin(float(offset)))
    return Angle(angle.value, angle.cosine * c - angle.sine * s, angle.sine * c + angle.cosine * s)


def gathered(model: Model, matrix: Any) -> Any:
    """B^T M B of a matrix of all joints, of any scalar."""
    if model.coupling is None:
        return matrix
    B = exactly(model.coupling.matrix)
    return B.T @ matrix @ B


def offsets(model: Model) -> tuple[Array, tuple[float, ...]]:
    """Rotations before joints, (n, 3, 3), and the angles taken out of them: what is a turn about the joint's own axis.

    Robots with loops are drawn where these are closed, so their joints begin at odd angles, which the equations have as
    cos(q1 + 1.82) rather than as sums of cosines and sines with odd factors.
    """
    R = np.array(model.tree.before.rotation, dtype=float)
    angles = [0.0] * len(R)
    if model.coupling is not None or any(callable(loop.kind) for loop in model.loops) or not model.loops:
        return R, ()
    for i, link in enumerate(model.links):
        if link.joint.kind == "revolute" and _whole(R[i][:, 2]) and not _whole(R[i]):
            straight = _about(R[i][:, 2])
            turn = straight.T @ R[i]
            R[i], angles[i] = straight, arctan2(float(turn[1, 0]), float(turn[0, 0]))
    return R, tuple(angles) if any(angles) else ()


def _whole(x: Array) -> bool:
    return bool(np.isin(x, (-1.0, 0.0, 1.0)).all())


def _about(axis: Array) -> Array:
    """A rotation of zeros and ones whose z is this axis; none at all for z itself."""
    k = int(np.flatnonzero(axis)[0])
    x = np.eye(3)[(k + 1) % 3]
    return np.stack([x, np.cross(axis, x), axis], axis=-1) + 0.0


def told(symbols: Symbols, model: Model) -> list[tuple[str, Form]]:
    """The joints that follow others, and what they are in the coordinates."""
    if model.coupling is None:
        return []
    values = [x.value if isinstance(x, Angle) else x for x in tree_positions(symbols, model)]
    return [(x.joint.name, v) for x, v in zip(model.links, values, strict=True) if x.joint.name not in model.coupling.names]
