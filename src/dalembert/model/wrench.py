"""Forces from outside: named parts, an explicit frame, and the array that formulations take."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from dalembert.algebra.spatial import Ad_inverse_dual, Array, Transform, compose, cross, join, rotate_back
from dalembert.arguments import choice, frozen_array
from dalembert.errors import Error, brief
from dalembert.model.model import Model
from dalembert.model.pose import Pose
from dalembert.model.values import Value

FRAMES = ("body", "world_aligned", "world")  # of twists, too


@dataclass(frozen=True, eq=False)
class Wrench(Value):
    """A force (N) and moment (N m) acting ON the robot, each (..., 3).

    frame="body": components in the axes of the link or frame; the force acts at `point`, given there too.
    frame="world_aligned": components in world axes; the point is still given in the link's or frame's own axes.
    frame="world": components in world axes, and `point` in world coordinates too.

    >>> weight = Wrench(force=(0, 0, -9.81), frame="world_aligned")
    """

    force: Any = (0.0, 0.0, 0.0)
    moment: Any = (0.0, 0.0, 0.0)
    point: Any = (0.0, 0.0, 0.0)
    frame: str = "body"

    def __post_init__(self) -> None:
        choice(self.frame, "frame of a wrench:", FRAMES)
        for name in ("force", "moment", "point"):
            array = frozen_array(getattr(self, name), None, f"the {name} of a wrench")
            if array.ndim == 0 or array.shape[-1] != 3:
                raise Error(f"the {name} of a wrench must be (..., 3), got shape {array.shape}")
            object.__setattr__(self, name, array)


def wrench_array(model: Model, q: Any, wrenches: Mapping[str, Wrench], world: Callable[[], Array] | None = None) -> Array:
    """Wrenches by link or frame name as (..., links, 6): (moment, force) at link origins in link axes.

    `world` gives the poses of the links in the world, (..., links, 4, 4), of robots whose tree does not.
    """
    total: list[Any] = [np.zeros(6) for _ in model.links]
    poses: list[Transform] = []
    base = model.base.transform if world is None else Pose.identity().transform
    try:
        for name, wrench in wrenches.items():
            if not isinstance(wrench, Wrench):
                raise Error(f"the wrench on {name!r} must be a dalembert.Wrench(force=..., moment=...), got {brief(wrench)}")
            link, pose = model.locate(name)
            if link < 0:
                continue  # what pushes the base is not felt by the joints
            if wrench.frame != "body" and not poses and world is not None:
                poses = [Transform(T[..., :3, :3], T[..., :3, 3]) for T in np.moveaxis(world(), -3, 0)]
            elif wrench.frame != "body" and not poses:
                poses = model.tree.poses(q if model.coupling is None else model.coupling.positions(q))
            if wrench.frame == "body":
                felt = join(wrench.moment + cross(wrench.point, wrench.force), wrench.force)
            else:
                felt = _in_body(wrench, base, compose(poses[link], pose.transform))
            total[link] = total[link] + Ad_inverse_dual(pose.transform, felt)
        return np.stack(np.broadcast_arrays(*total), axis=-2) if total else np.zeros((0, 6))
    except (ValueError, RuntimeError) as error:
        if isinstance(error, Error):
            raise
        raise Error(f"the wrenches' leading (batch) axes do not broadcast: {error}") from None


def _in_body(wrench: Wrench, base: Transform, here: Transform) -> Array:
    """(moment, force) at the origin of the frame `here` in the base, in its axes, of a wrench given in the world.

    By way of the base, so that the place of a far base is only subtracted from a point that is far itself.
    """
    force, moment = (rotate_back(here.rotation, rotate_back(base.rotation, x)) for x in (wrench.force, wrench.moment))
    point = wrench.point
    if wrench.frame == "world":
        point = rotate_back(here.rotation, rotate_back(base.rotation, point - base.translation) - here.translation)
    return join(moment + cross(point, force), force)
