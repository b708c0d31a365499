"""What is proven of a quantity, and what is attained."""

from dataclasses import dataclass, field

import numpy as np

from dalembert.algebra.spatial import Array
from dalembert.text import Text, table


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

    @property
    def head(self) -> str:
        """What was bounded, and whether the gaps are as small as they were to become."""
        late = (
            "" if self.within_tolerance else f"; some gaps are above {self.tolerance:.2g}: give it more seconds, or a smaller range"
        )
        return f"{self.quantity} of {self.robot}: {self.boxes:,} boxes in {self.seconds:.2f} s{late}"

    def cells(self) -> list[list[str]]:
        """Titles and rows: bounds, what is attained, and the gap as a share of the largest value attained."""
        columns = [x.ravel() for x in (self.lower, self.least, self.greatest, self.upper)]
        with np.errstate(divide="ignore", invalid="ignore"):
            shares = self.gap.ravel() / self.attained.ravel()
        titles = ["entry", "lower bound", "least attained", "greatest attained", "upper bound", "gap"]
        rows = zip(self.names, shares, *columns, strict=True)
        return [titles, *([name, *(f"{x:.6g}" for x in values), _share(share)] for name, share, *values in rows)]

    def __str__(self) -> str:
        return f"{self.head}\n{table(self.cells(), right=True)}"

    def states(self) -> Text:
        """Where the largest absolute values occur, as a table of all inputs."""
        pairs = zip(self.least.ravel(), self.greatest.ravel(), self.at_least, self.at_greatest, strict=True)
        places = [low if -least > greatest else high for least, greatest, low, high in pairs]
        rows = [
            [name, *(" ".join(f"{x:.4g}" for x in np.ravel(value)) for value in at.values())]
            for name, at in zip(self.names, places, strict=True)
        ]
        return Text(table([["entry", *(places[0] if places else ())], *rows]))


def _share(x: float) -> str:
    if not x > 0:
        return "0" if x <= 0 else "unknown"
    return f"{x:.1e}" if x < 1e-4 else f"{x:.2%}" if x < 10 else "above 1000%"
