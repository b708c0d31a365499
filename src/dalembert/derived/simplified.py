"""Inverse dynamics from chosen parts of the generalized d'Alembert equations."""

from typing import Any

import numpy as np

from dalembert.algebra.spatial import rotate, symmetric
from dalembert.derived.joints import forces
from dalembert.derived.make import Body, Make
from dalembert.formulations import formulation
from dalembert.model.model import Model


def simplified(model: Model, make: Make, method: str, optional: tuple[str, ...], *, keep: Any) -> Body:
    """Inverse dynamics from the kept parts; what only the others need is not in it."""
    terms = formulation("dalembert_terms", method)

    def kept(q: Any, qd: Any, qdd: Any) -> Any:
        *parts, c = terms(model.exact_tree, q, qd)
        masks = [True] * 4 if keep is None else map(np.array, keep)
        D_tran, D_rot, h_tran, h_rot = (np.where(mask, part, 0) for mask, part in zip(masks, parts, strict=True))
        return rotate(symmetric(D_tran + D_rot), qdd) + h_tran + h_rot + c

    return forces(model, kept)
