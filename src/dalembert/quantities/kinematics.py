"""Where the links are."""

from typing import Any

import numpy as np

from dalembert.model.model import Model
from dalembert.spatial import Transform, compose


def world_poses(model: Model, q: Any) -> list[Transform]:
    """The pose of every link in the world."""
    return [compose(model.base.transform, pose) for pose in model.tree.poses(np.asarray(q))]
