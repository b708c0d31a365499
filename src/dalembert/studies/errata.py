"""The misprints of the five sources, and what differs between them: what is printed, what is right, and the test that shows it.

The list is `errata.toml`, which says what its fields are.
"""

import tomllib
from pathlib import Path
from typing import NamedTuple

DOCUMENTS = {
    "silver": "Silver 1981",
    "fu": "Fu, Gonzalez and Lee 1987, chapter 3",
    "park_lynch": "Park and Lynch, chapter 9",
    "kozlowski": "Kozlowski 1995",
    "park": "Park, Bobrow and Ploen 1995",
    "traps": "Between the sources",
}
_LETTERS = {"S": "silver", "F": "fu", "T": "fu", "P": "park_lynch", "K": "kozlowski", "B": "park"}


class Erratum(NamedTuple):
    """One misprint (E-...) or trap (T...): where it is, what is printed, what is right, and how far off the printed form is."""

    id: str
    place: str
    printed: str
    right: str
    off: float | None = None

    @property
    def document(self) -> str:
        """Its key in DOCUMENTS."""
        return _LETTERS[self.id[2]] if self.id.startswith("E-") else "traps"

    @property
    def test(self) -> str:
        """The test that shows it, as pytest names it."""
        return f"tests/errata/test_{self.document}.py::test_{self.id.replace('-', '_')}"


def _entries() -> tuple[Erratum, ...]:
    listed = tomllib.loads((Path(__file__).parent / "errata.toml").read_text(encoding="utf-8"))
    return tuple(Erratum(name, **entry) for name, entry in listed.items())


ERRATA = _entries()
