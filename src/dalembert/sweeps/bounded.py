"""What is proven of a quantity, and what is attained."""

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from dalembert.algebra.spatial import Array
from dalembert.text import table


@dataclass(frozen=True, eq=False)
class Bound:
    """Bounds that no state of a range exceeds, and values that occur there; arrays have an entry for each of `names`.

    With no choice of entries, and one output, arrays have the shape of the output.
    """

    robot: str
    quantity: str
    names: tuple[str, ...]
    lower: Array  # no state has less
    upper: Array  # no state has more
    least: Array  # the least value found, and the greatest
    greatest: Array
    at_least: tuple[dict[str, Array], ...] = field(repr=False)  # where, in the order of `names`: inputs by name
    at_greatest: tuple[dict[str, Array], ...] = field(repr=False)
    tolerance: float
    seconds: float
    boxes: int

    @property
    def largest(self) -> Array:
        """A bound of absolute values."""
        return np.maximum(-self.lower, self.upper)

    @property
    def attained(self) -> Array:
        """The largest absolute value found."""
        return np.maximum(-self.least, self.greatest)

    @property
    def ratio(self) -> Array:
        """The bound of absolute values divided by what is attained; 1 is the best there is."""
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.where(self.largest <= self.attained, 1.0, self.largest / self.attained)

    @property
    def gap(self) -> Array:
        """The larger of both distances between what is proven and what is attained."""
        return np.maximum(self.least - self.lower, self.upper - self.greatest)

    @property
    def within_tolerance(self) -> bool:
        """Whether every gap is as small as it was to become."""
        return bool((self.gap <= self.tolerance * self.attained * (1 + 1e-9)).all())

    def __str__(self) -> str:
        titles = ["", "no less than", "attained", "attained", "no more than", "gap"]
        columns = [x.ravel() for x in (self.lower, self.least, self.greatest, self.upper)]
        size = np.maximum(self.attained, 1e-300).ravel()
        rows = [
            [name, *(f"{x:.6g}" for x in values), _share(gap)]
            for name, gap, *values in zip(self.names, self.gap.ravel() / size, *columns, strict=True)
        ]
        late = "" if self.within_tolerance else f"; not all gaps are below {self.tolerance:g} yet: give more seconds"
        head = f"{self.quantity} of {self.robot}: {self.boxes:,} boxes in {self.seconds:.2f} s{late}"
        return f"{head}\n{table([titles, *rows], right=True)}"

    def states(self, joint_names: Any = None) -> str:
        """Where the largest absolute values occur, as a table."""
        parts = [a if -x > y else b for x, y, a, b in zip(self.least.ravel(), self.greatest.ravel(), self.at_least, self.at_greatest, strict=True)]
        titles = ["", *(name for name in (parts[0] if parts else ()))]
        rows = [[name, *(" ".join(f"{x:.4g}" for x in np.ravel(value)) for value in at.values())] for name, at in zip(self.names, parts, strict=True)]
        return table([titles, *rows])


def _share(x: float) -> str:
    return "0" if x <= 0 else f"{x:.2%}" if x >= 1e-4 else f"{x:.1e}" if np.isfinite(x) else "unknown"
