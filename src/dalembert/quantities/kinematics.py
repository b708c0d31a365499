"""Where the links are."""

from typing import Any

import numpy as np

from dalembert.model.model import Model
from dalembert.spatial import Transform, compose


def world_poses(model: Model, q: Any) -> list[Transform]:
    """The pose of every link in the world."""
    q, poses = np.asarray(q), list[Transform]()
    for i, parent in enumerate(model.parents):
        above = model.base.transform if parent < 0 else poses[parent]
        poses.append(compose(above, model.tree.pose(i, q[..., i])))
    return poses
