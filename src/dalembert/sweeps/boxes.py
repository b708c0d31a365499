"""Boxes of states: the range of every scalar of the inputs of a program."""

from typing import Any

from dalembert.arguments import by_name, choice
from dalembert.errors import Error
from dalembert.model.model import Model
from dalembert.sweeps.ranges import EXAMPLE, ranges_of
from dalembert.trace.intervals.degrees import Key, angles, used
from dalembert.trace.program import Program


def box(robot: Model, program: Program, over: Any) -> dict[Key, tuple[float, float]]:
    """The ends of each scalar: given, or the limits of the robot; one turn where no more than sine and cosine matter."""
    given = by_name({} if over is None else over, "over", EXAMPLE)
    names = [v.name for v in program.inputs]
    for name in given:
        if not callable(given[name]):
            choice(name, "input to give a range of:", names)
    turning, needed = angles(program), set(used(program))
    free = {v.name: [(k, j) in turning or (k, j) not in needed for j in range(v.size)] for k, v in enumerate(program.inputs)}
    asked = {v.name: v.shape for k, v in enumerate(program.inputs) if v.name in given or any(key[0] == k for key in needed)}
    found = {part.name: part for part in ranges_of(robot, given, asked, free)}
    if gridded := next((part.name for part in found.values() if part.counts.any()), None):
        raise Error(f"over: a bound holds for all of a range, so {gridded} has no number of points: give (low, high)")
    ends: dict[Key, tuple[float, float]] = {}
    for k, v in enumerate(program.inputs):
        part = found.get(v.name)
        for j in range(v.size):
            ends[k, j] = (0.0, 0.0) if part is None else (float(part.low[j]), float(part.high[j]))
    return ends
