"""What controllers are given: gains, paths and states, checked."""

from typing import Any, cast

import numpy as np

from dalembert.algebra.spatial import Array
from dalembert.arguments import batch, frozen_array
from dalembert.engine.evaluation import joint_vector
from dalembert.errors import Error, brief
from dalembert.motion.paths import Path, quintic


def keep(controller: Any, **values: Any) -> None:
    """Fields of a frozen value, set while it is made."""
    for name, value in values.items():
        object.__setattr__(controller, name, value)


def state(controller: Any, q: Any, qd: Any, **others: Array) -> tuple[Array, Array]:
    """Positions and velocities (..., n) that go with each other and with what the controller follows."""
    name = type(controller).__name__
    q, qd = (joint_vector(controller.robot, name, letter, x) for letter, x in (("q", q), ("qd", qd)))
    batch({"q": q.shape[:-1], "qd": qd.shape[:-1], **{what: np.shape(x)[:-1] for what, x in others.items()}}, name)
    return q, qd


def gain(value: Any, size: int, what: str) -> Array:
    """One number, `size` numbers, or a matrix; not negative."""
    gain = frozen_array(value, None, what)
    if gain.shape not in ((), (size,), (size, size)):
        raise Error(f"{what} must be one number, {size} numbers, or a {size} x {size} matrix, got shape {gain.shape}")
    negative = np.linalg.eigvalsh(gain + gain.T).min() < -1e-9 * np.abs(gain).max() if gain.ndim == 2 and size else (gain < 0).any()
    if negative:
        raise Error(f"{what} must not be negative, which would make the feedback unstable; got {brief(gain.tolist())}")
    return gain


def rotates(R: Array) -> bool:
    """Whether all matrices (..., 3, 3) are rotations, as far as six digits tell."""
    return np.allclose(R @ np.swapaxes(R, -1, -2), np.eye(3), atol=1e-6, rtol=0) and bool((np.linalg.det(R) > 0).all())


def path(value: Any, n: int, what: str) -> Path:
    """A path as it is, or rest at a place."""
    if not callable(value):
        place = frozen_array(value, None, "the path of a controller")
        if place.shape[-1:] != (n,):
            raise Error(f"{what} needs a path of {n} coordinates, or a place (..., {n}), got an array of shape {place.shape}")
        return quintic(place, place, 1.0)
    if getattr(value, "n", None) != n:
        raise Error(f"{what} needs a path of {n} coordinates, got one of {getattr(value, 'n', 'none')}: {brief(value)}")
    return cast(Path, value)
