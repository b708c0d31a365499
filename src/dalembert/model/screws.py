"""Robots from joint screws and home frames (product of exponentials)."""

from collections.abc import Sequence
from typing import Any, TypeVar

import numpy as np

from dalembert.algebra.precise import precisely, product
from dalembert.algebra.spatial import Ad, Array, cross, dot
from dalembert.arguments import choice, frozen_array, instance, listed
from dalembert.errors import Error
from dalembert.model.inertia import Inertia
from dalembert.model.links import Joint, Link
from dalembert.model.model import Model
from dalembert.model.pose import Pose, align_z
from dalembert.model.values import parent_indices

M = TypeVar("M", bound=Model)
NO_PITCH = 1e-6  # m/rad


def from_screws(
    cls: type[M],
    screws: Any,
    homes: Sequence[Any],
    inertias: Sequence[Inertia],
    *,
    frame: str = "space",
    tip: Any = None,
    parents: Sequence[int] | None = None,
    joint_names: Sequence[str] | None = None,
    link_names: Sequence[str] | None = None,
    name: str = "robot",
    **options: Any,
) -> M:
    """A robot from joint screws (n, 6), angular part first, and the home poses of its link frames in the base.

    T_i(q) = e^{S_1 q_1} ... e^{S_i q_i} home_i along the path from the base to link i: Park and Lynch (9.36), (9.37), Park, Bobrow
    and Ploen (13), (31). With frame="body" the screws are given
    in the tip frame, whose home is `tip` (default: the last link's home): S_i = Ad_tip(B_i) (14). A screw has a unit angular part
    (revolute; its pitch is w . v, below a micrometre per radian treated as rounding) or, if that is zero, a unit linear part
    (prismatic). Inertias are in link axes.

    >>> import dalembert as da
    >>> bob = da.Inertia.from_com(1.0, (0, 0, 0), 0.0)
    >>> home = da.Pose.of(translation=(1.0, 0, 0))
    >>> pendulum = da.Robot.from_screws([[0, -1, 0, 0, 0, 0]], [home], [bob])
    >>> pendulum.inverse_dynamics([0.0], [0.0], [0.0]).tolist()
    [9.81]
    """
    homes, inertias = listed(homes, "homes"), listed(inertias, "inertias")
    count = len(homes)
    S = frozen_array(np.zeros((0, 6)) if count == 0 == np.size(screws) else screws, (count, 6), "screws")
    poses = [Pose.coerce(home) for home in homes]
    if len(inertias) != count:
        raise Error(f"{count} home poses but {len(inertias)} inertias; give one of each per link")
    choice(frame, "frame of screws", ("space", "body"))
    if frame == "body" and count:
        tip_pose = Pose.coerce(tip) if tip is not None else poses[-1]
        S = precisely(Ad)(tip_pose.transform, S)
    elif tip is not None:
        raise Error('tip= is only for frame="body"; omit it for space screws')
    base_name = str(options.get("base_name", "base"))
    names = _names(link_names, "link", count)
    joints = _names(joint_names, "joint", count)
    above = parent_indices(parents, count)
    links: list[Link] = []
    for i, p in enumerate(above):
        outer = Pose.identity() if p < 0 else poses[p]
        joint, axis = _joint(S[i], poses[i], joints[i])
        links.append(
            Link(
                names[i],
                base_name if p < 0 else names[p],
                joint,
                before=outer.inverse @ axis,  # (9.35), (9.39), Park-Bobrow-Ploen (12)
                after=axis.inverse @ poses[i],  # (9.40)
                inertia=instance(inertias[i], Inertia, f"the inertia of {names[i]!r}"),
            )
        )
    return cls(name, tuple(links), **options)


def _names(given: Sequence[str] | None, stem: str, count: int) -> list[str]:
    names = [f"{stem}{i}" for i in range(1, count + 1)] if given is None else listed(given, f"{stem}_names")
    if len(names) != count:
        raise Error(f"{count} links but {len(names)} {stem} names")
    return names


def _joint(screw: Array, home: Pose, name: str) -> tuple[Joint, Pose]:
    """The joint of a screw, and a frame in the base with z along it: beside the link's home and aligned with it."""
    w, v = screw[:3], screw[3:]
    rotates = bool(w.any())
    along = w if rotates else v
    size = float(np.sqrt(dot(along, along)))
    if abs(size - 1.0) > 1e-9:
        part = "angular" if rotates else "linear"
        raise Error(f"screw of {name!r}: the {part} part must be a unit vector, got length {size:.6g}: {screw.tolist()}")
    direction = along / size
    axes = product(home.rotation, align_z(product(home.rotation.T, direction)))
    if not rotates:
        return Joint(name, "prismatic"), Pose(axes, home.translation)
    pitch = float(dot(direction, v))
    foot = cross(direction, v)  # the point of the axis nearest the base
    origin = foot + direction * dot(direction, home.translation - foot)
    joint = Joint(name) if abs(pitch) <= NO_PITCH else Joint(name, "helical", pitch=pitch)
    return joint, Pose(axes, origin)
