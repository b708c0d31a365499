"""The mass matrix read out of inverse dynamics: Fu, Gonzalez and Lee, problems 3.11 and 3.12.

Without gravity and at rest, the forces that accelerate joint j alone by one are column j of M. Any inverse dynamics will do.
"""

from collections.abc import Callable
from typing import Any

import numpy as np

from dalembert.algebra.spatial import Array, zeros
from dalembert.model.tree import Tree


def mass_matrix(tree: Tree, q: Any, *, inverse_dynamics: Callable[..., Array]) -> Array:
    """M (..., n, n), rotors left out."""
    n = len(tree.parents)
    weightless = tree._replace(gravity=zeros(3))
    return np.stack([inverse_dynamics(weightless, q, zeros(n), unit) for unit in np.eye(n, dtype=int)], axis=-1)
