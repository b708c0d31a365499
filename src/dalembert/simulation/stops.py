"""The joints' limits as stops."""

from typing import Any, NamedTuple

import numpy as np

from dalembert.algebra.spatial import Array


class Stops(NamedTuple):
    """The limits (n,) of all joints, those that are stops, and with what share of its speed a joint leaves them."""

    lower: Array
    upper: Array
    restitution: float

    @property
    def which(self) -> tuple[tuple[int, int], ...]:
        """The joint and the side (+1 or -1) of each stop."""
        sides = ((self.upper, 1), (self.lower, -1))
        return tuple((i, side) for i in range(len(self.lower)) for limits, side in sides if np.isfinite(limits[i]))

    @property
    def arrays(self) -> list[Array]:
        """As the step takes them."""
        finite = (np.where(np.isfinite(x), x, 0.0) for x in (self.lower, self.upper))
        return [*finite, np.array(self.restitution)]

    @property
    def given(self) -> dict[str, Any]:
        """As accelerations take them."""
        lower, upper, _ = self.arrays
        return {"stops": self.which, "lower": lower, "upper": upper} if self.which else {}
