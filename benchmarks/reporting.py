"""Figures and their bars: a line each as they are measured, and all of them at the end."""

from typing import NamedTuple


class Figure(NamedTuple):
    """What was measured, under which heading, and what it should be at most or at least, if there is a bar."""

    heading: str
    name: str
    value: float
    unit: str
    at_most: float | None
    at_least: float | None

    @property
    def bar(self):
        """As text, empty without one."""
        if self.at_most is not None:
            return f"<= {self.at_most:g}"
        return "" if self.at_least is None else f">= {self.at_least:g}"

    @property
    def met(self):
        """Whether it reaches its bar; None without one."""
        if self.at_most is not None:
            return self.value <= self.at_most
        return None if self.at_least is None else self.value >= self.at_least


figures: list[Figure] = []
_heading = [""]


def heading(text):
    """What the figures after it are of."""
    _heading[0] = text
    print(text, flush=True)


def report(name, value, unit="", at_most=None, at_least=None):
    """One figure, with the bar that it has to reach, if there is one."""
    figure = Figure(_heading[0], name, float(value), unit, at_most, at_least)
    figures.append(figure)
    verdict = {None: "", True: "ok", False: "MISSED"}[figure.met]
    print(f"  {name:58} {value:10.4g} {unit:9} {figure.bar:10} {verdict}".rstrip(), flush=True)
