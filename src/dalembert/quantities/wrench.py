"""Forces from outside: named parts, an explicit frame, and their way into the array that formulations take."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from dalembert.errors import Error, unknown
from dalembert.model.model import Model
from dalembert.model.tree import Tree
from dalembert.spatial import Ad_inverse_dual, Array, Transform, compose, cross, exp_z, join, rotate_back

FRAMES = ("body", "world_aligned", "world")


@dataclass(frozen=True)
class Wrench:
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
        if self.frame not in FRAMES:
            raise unknown("frame of a wrench:", self.frame, FRAMES)
        for name in ("force", "moment", "point"):
            array = np.asarray(getattr(self, name), dtype=float)
            if array.ndim == 0 or array.shape[-1] != 3:
                raise Error(f"{name} of a wrench must be (..., 3), got shape {array.shape}")
            object.__setattr__(self, name, array)


def wrench_array(model: Model, q: Any, wrenches: Mapping[str, Wrench] | Any) -> Array:
    """Wrenches by link or frame name, or an array already, as (..., n, 6): (moment, force) at link origins in link axes."""
    if not isinstance(wrenches, Mapping):
        return np.asarray(wrenches)
    total: list[Any] = [np.zeros(6) for _ in range(model.n)]
    poses = None
    for name, wrench in wrenches.items():
        if not isinstance(wrench, Wrench):
            raise Error(f"the wrench on {name!r} must be a dalembert.Wrench(force=..., moment=...), got {wrench!r}")
        link, pose = model.locate(name)
        if link < 0:
            continue  # what pushes the base is not felt by the joints
        place = Transform(pose.rotation, pose.translation)
        if wrench.frame == "body":
            felt = join(wrench.moment + cross(wrench.point, wrench.force), wrench.force)
        else:
            poses = poses or world_poses(model.tree, Transform(model.base.rotation, model.base.translation), q)
            world = compose(poses[link], place)
            force, moment = rotate_back(world.rotation, wrench.force), rotate_back(world.rotation, wrench.moment)
            point = wrench.point
            if wrench.frame == "world":
                point = rotate_back(world.rotation, wrench.point - world.translation)
            felt = join(moment + cross(point, force), force)
        total[link] = total[link] + Ad_inverse_dual(place, felt)
    batch = np.broadcast_shapes(*(t.shape[:-1] for t in total)) if total else ()
    return np.stack([np.broadcast_to(t, (*batch, 6)) for t in total], axis=-2) if total else np.zeros((0, 6))


def world_poses(tree: Tree, base: Transform, q: Any) -> list[Transform]:
    """The pose of every link in the world."""
    q, poses = np.asarray(q), list[Transform]()
    for i, parent in enumerate(tree.parents):
        before, after, rho, sigma = tree.joint(i)
        step = compose(compose(before, exp_z(rho, sigma, q[..., i])), after)
        poses.append(compose(base if parent < 0 else poses[parent], step))
    return poses
