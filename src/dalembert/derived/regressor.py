"""The regressor with the columns of friction and rotors, and some of its columns."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from dalembert.algebra.scalars import sign
from dalembert.algebra.spatial import Array, block_diagonal
from dalembert.derived.charts import formulated
from dalembert.derived.make import Body, Make
from dalembert.model.model import Model
from dalembert.model.spread import bodies


def width(model: Model, options: Mapping[str, Any]) -> int:
    """The number of columns."""
    if options["columns"] is not None:
        return len(options["columns"])
    return 10 * len(model.links) + (2 * options["friction"] + options["armature"] + options["friction_offset"]) * model.open.n


def regressor(
    model: Model,
    make: Make,
    method: str,
    optional: tuple[str, ...],
    *,
    columns: tuple[int, ...] | None,
    friction: bool,
    armature: bool,
    friction_offset: bool,
) -> Body:
    """The inertial columns, those of friction, of rotors and of offsets; `columns` picks some of them all."""
    n = model.n

    def body(q: Any, qd: Any, qdd: Any) -> Any:
        if n == 0:
            return np.zeros((0, 0))
        Y = formulated(model, "regressor", method)(model.exact_tree, q, qd, qdd)
        parts = [Y if not model.virtual else Y.reshape(n, -1, 10)[:, bodies(model)].reshape(n, -1)]
        if friction:
            parts.append(_beside([np.stack([qd[i], sign(qd)[i]]) for i in range(n)]))
        if armature:
            parts.append(_beside([qdd[i : i + 1] for i in range(n)]))
        if friction_offset:
            parts.append(np.eye(n, dtype=int))
        Y = np.concatenate(parts, axis=-1)
        return Y if columns is None else Y[:, list(columns)]

    return body


def _beside(rows: list[Any]) -> Array:
    """A matrix with each row of numbers in a block of its own on the diagonal."""
    return block_diagonal([row[None] for row in rows])
