"""The actuators of an MJCF file: what they add to joints, and the motors that they are."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, TypeVar

import numpy as np

from dalembert.algebra.spatial import Array
from dalembert.model.coupling import Transmission
from dalembert.model.links import MOST_JOINTS, SEVERAL, Kind, Note
from dalembert.model.mjcf_unread import few
from dalembert.model.model import Model

M = TypeVar("M", bound=Model)
KINDS: tuple[Kind, ...] = ("free", "ball", "prismatic", "revolute")  # mjtJoint
OF_JOINTS, OF_TENDON = (0, 1), 3  # mjtTrn
FIXED = 0  # mjtTendon


def gear(m: Any, a: int) -> float:
    """Of an actuator with one force."""
    return float(m.actuator_gear[m.actuator_outadr[a]][0])


def by_joint(m: Any) -> dict[int, list[int]]:
    """The actuators that act on joints of one degree of freedom."""
    found: dict[int, list[int]] = {}
    for a in range(m.nactuator):
        target = int(m.actuator_trnid[a][0])
        if m.actuator_trntype[a] in OF_JOINTS and KINDS[int(m.jnt_type[target])] not in SEVERAL:
            found.setdefault(target, []).append(a)
    return found


def effort(m: Any, joint: int, actuators: Sequence[int]) -> float:
    """The largest force that actuators give a joint; infinite where the file says none, or where there is none."""
    own = float(np.abs(m.jnt_actfrcrange[joint]).max()) if m.jnt_actfrclimited[joint] else np.inf
    return min(own, sum(abs(gear(m, a)) * _most(m, a) for a in actuators)) if actuators else own


def _most(m: Any, a: int) -> float:
    """The largest force of an actuator: by its own range, or of a plain motor by the range of its control."""
    if m.actuator_forcelimited[a]:
        return float(np.abs(m.actuator_forcerange[a]).max())
    control = int(m.actuator_ctrladr[a])
    if not plain(m, a) or m.actuator_ctrlnum[a] != 1 or not m.actuator_ctrllimited[control]:
        return np.inf
    return abs(float(m.actuator_gainprm[a][0])) * float(np.abs(m.actuator_ctrlrange[control]).max())


def plain(m: Any, a: int) -> bool:
    """Whether the force of an actuator is a constant multiple of its control."""
    return not (m.actuator_dyntype[a] or m.actuator_gaintype[a] or m.actuator_biastype[a])


def _row(m: Any, a: int) -> Array:
    """The speed of an actuator by all velocities, (nv,); 0 where it is no constant multiple of them."""
    row, kind, target = np.zeros(m.nv), int(m.actuator_trntype[a]), int(m.actuator_trnid[a][0])
    if kind in OF_JOINTS and KINDS[int(m.jnt_type[target])] not in SEVERAL:
        row[m.jnt_dofadr[target]] = gear(m, a)
    elif kind == OF_TENDON and m.tendon_type[target] == FIXED:
        first = int(m.tendon_adr[target])
        for k in range(first, first + int(m.tendon_num[target])):
            row[m.jnt_dofadr[m.wrap_objid[k]]] += gear(m, a) * m.wrap_prm[k]
    return row


def driven(robot: M, m: Any, names: Sequence[str], notes: list[Note]) -> M:
    """The same robot with the motors of the file: its actuators on joints and on fixed tendons, by their gears."""
    if m.nactuator and m.nv > MOST_JOINTS:
        told = f"its {m.nactuator} actuators are no motors here: more than {MOST_JOINTS} joints are too many for a transmission"
        notes.append(Note(robot.base_name, told, "actuator"))
        return robot
    matrix = np.array([_row(m, a) for a in range(m.nactuator)]).reshape(m.nactuator, m.nv)
    other = [name for name, row in zip(names, matrix, strict=True) if not row.any()]
    if other:
        notes.append(Note(robot.base_name, f"actuators on no joint or fixed tendon are ignored: {few(other)}", "actuator"))
    active = [names[a] for a in range(m.nactuator) if not plain(m, a)]
    if active:
        told = f"actuators with dynamics or feedback are taken as plain motors, which give tau: {few(active)}"
        notes.append(Note(robot.base_name, told, "actuator"))
    matrix = matrix if robot.coupling is None else matrix @ robot.coupling.matrix
    motors = [a for a, row in enumerate(matrix) if row.any()]
    if not motors:
        return robot
    # rotors of motors that drive one joint are in its armature
    rotors = np.array([float(m.actuator_armature[a]) * (m.actuator_trntype[a] == OF_TENDON) for a in motors])
    return replace(robot, transmission=Transmission(tuple(names[a] for a in motors), matrix[motors], rotors))
