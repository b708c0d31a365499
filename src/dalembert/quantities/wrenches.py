"""Wrenches as users give them."""

from collections.abc import Mapping
from typing import Any

from dalembert.engine.evaluation import joint_vector
from dalembert.model.model import Model
from dalembert.model.wrench import Wrench, wrench_array


def as_array(robot: Model, quantity: str, q: Any, wrenches: Mapping[str, Wrench] | Any) -> Any:
    """Wrenches by name as an array; anything else as it is."""
    if not isinstance(wrenches, Mapping):
        return wrenches
    return wrench_array(robot, joint_vector(robot, quantity, "q", q), wrenches)
