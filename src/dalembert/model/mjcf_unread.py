"""What of an MJCF file may act on its bodies but is ignored, listed by link, and what its flags switch off."""

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

from dalembert.errors import optional
from dalembert.model.links import Note

FREE, BALL = 0, 1  # mjtJoint
EQUALITIES = ("connect", "weld", "joint", "tendon", "flex", "flexvert", "flexstrain", "distance")  # mjtEq
OURS = 3  # of these equalities, the first are read elsewhere
TENDON = ("stiffness", "damping", "frictionloss", "limited", "armature")


class Flags(NamedTuple):
    """What <option><flag .../></option> leaves switched on."""

    equality: bool
    frictionloss: bool
    limit: bool
    spring: bool
    damper: bool
    gravity: bool

    @classmethod
    def of(cls, m: Any) -> "Flags":
        """Of a compiled model."""
        bits = optional("mujoco", "mujoco").mjtDisableBit
        off = int(m.opt.disableflags)
        constraint = off & int(bits.mjDSBL_CONSTRAINT)
        of_constraints = (bits.mjDSBL_EQUALITY, bits.mjDSBL_FRICTIONLOSS, bits.mjDSBL_LIMIT)
        others = (bits.mjDSBL_SPRING, bits.mjDSBL_DAMPER, bits.mjDSBL_GRAVITY)
        return cls(*(not (constraint or off & int(bit)) for bit in of_constraints), *(not off & int(bit) for bit in others))


def few(names: Sequence[str]) -> str:
    """The first of several names, and that there are more."""
    return ", ".join(map(repr, names[:3])) + (f" and {len(names) - 3} more" if len(names) > 3 else "")


def unread(m: Any, flags: Flags, bodies: Sequence[str], joints: Sequence[str], touching: int) -> Iterator[Note]:
    """Notes on everything that changes the dynamics and is not read; those on the whole go to the base."""
    for j, name in enumerate(joints):
        for remark in _of_joint(m, j, flags):
            yield Note(bodies[int(m.jnt_bodyid[j])], f"joint {name!r}: {remark}", "unread")
    for body in np.flatnonzero(m.body_gravcomp).tolist():
        yield Note(bodies[body], f"gravcomp {m.body_gravcomp[body]:g} is ignored", "unread")
    if m.opt.density or m.opt.viscosity:
        told = f"forces of a fluid are ignored: density {m.opt.density:g}, viscosity {m.opt.viscosity:g}"
        yield Note(bodies[0], told, "unread")
    for t in range(m.ntendon):
        acting = [key for key in TENDON if _acts(m, f"tendon_{key}", t)]
        if acting:
            yield Note(bodies[0], f"tendon {m.tendon(t).name!r}: its {', '.join(acting)} is ignored", "unread")
    if flags.equality:
        for e in np.flatnonzero((m.eq_type >= OURS) & m.eq_active0.astype(bool)).tolist():
            told = f"equality {m.equality(e).name or e!r} of kind {EQUALITIES[int(m.eq_type[e])]} is ignored"
            yield Note(bodies[0], told, "unread")
    if touching > 1:
        yield Note(bodies[0], f"{touching} geoms can touch; forces of contact are not computed", "contact")


def _of_joint(m: Any, j: int, flags: Flags) -> Iterator[str]:
    kind, dof = int(m.jnt_type[j]), int(m.jnt_dofadr[j])
    if flags.spring and _acts(m, "jnt_stiffness", j):
        yield f"its spring of stiffness {m.jnt_stiffness[j]:g} is ignored"
    if flags.damper and m.dof_dampingpoly[dof].any():
        yield "its damping is linear here, without the terms of higher degree"
    if kind == BALL and m.jnt_limited[j] and flags.limit:
        yield "the range of a ball joint is ignored"
    if kind in (FREE, BALL) and flags.frictionloss and m.dof_frictionloss[dof]:
        yield f"its frictionloss {m.dof_frictionloss[dof]:g} is ignored: balls and free bodies have damping only"
    if kind == FREE and m.dof_armature[dof]:
        yield f"its armature {m.dof_armature[dof]:g} is along axes of the body here, in MuJoCo along those of the world"


def _acts(m: Any, name: str, i: int) -> bool:
    """Whether a property is there, or its terms of higher degree."""
    more = getattr(m, f"{name}poly", None)
    return bool(getattr(m, name)[i] or (more is not None and more[i].any()))
