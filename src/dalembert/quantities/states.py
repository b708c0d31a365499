"""Inverse and forward dynamics of files of states, a piece at a time."""

from collections.abc import Iterator
from itertools import chain
from pathlib import Path
from typing import BinaryIO

import numpy as np

from dalembert.algebra.spatial import Array
from dalembert.arguments import flag
from dalembert.engine.kernels import compile
from dalembert.engine.quantity import Quantity
from dalembert.engine.registry import quantity_named
from dalembert.engine.singular import singular_states
from dalembert.errors import Error, SingularWarning, brief, warn
from dalembert.files.layout import States
from dalembert.files.states import read_states, write_states
from dalembert.model.model import Model, a_robot
from dalembert.progress import Progress


def evaluate_states(
    robot: Model,
    quantity: str,
    source: str | Path | BinaryIO,
    target: str | Path,
    *,
    method: str | None = None,
    at_rest: bool = False,
    everything: bool = False,
    names: bool = True,
    allow_nan: bool = False,
    progress: Progress | None = None,
) -> int:
    """Inverse or forward dynamics of a file of states, into another file; returns how many states there were.

    `at_rest` reads positions only, all else is zero; `everything` writes the states (and t) beside the result. Memory does not grow
    with the number of states. NaN and infinities are refused, by row and column, unless `allow_nan`: they then stay
    in their state.
    """
    described = quantity_named(quantity)
    if quantity not in ("inverse_dynamics", "forward_dynamics"):
        raise Error(f"files of states are for inverse_dynamics and forward_dynamics, got {brief(quantity)}")
    a_robot(robot, "evaluate_states")
    method = described.check_method(method, robot)
    everything = flag(everything, "everything")
    wanted = ["q"] if flag(at_rest, "at_rest") else list(described.inputs)
    (result,) = described.outputs
    count, singular, first = 0, 0, -1

    def computed() -> Iterator[States]:
        nonlocal count, singular, first
        for states in read_states(robot, source, wanted, progress, allow_nan=allow_nan):
            states |= {part: np.zeros((len(states["q"]), robot.n)) for part in described.inputs if part not in wanted}
            given = [states[x] for x in described.inputs]
            values = compile(robot, quantity, method)(*given)
            weak = _singular(robot, described, method, values, given)
            if weak is not None:
                first = count + int(np.argmax(weak >= 0)) if first < 0 else first
                singular += int((weak >= 0).sum())
            count += len(values)
            yield (states if everything else {}) | {result: values}

    pieces = computed()
    first_piece = next(pieces, None)
    if first_piece is None:
        raise Error(f"{source if isinstance(source, str | Path) and str(source) != '-' else 'the input'}: it contains no states")
    write_states(robot, target, chain([first_piece], pieces), names=names)
    if singular:
        what = "the loops" if robot.loops else "the mass matrix"
        warn(
            f"{quantity}: {what} of {robot.name} {'are' if robot.loops else 'is'} singular at {singular} of {count} states, the "
            f"result is NaN there; the first is state {first + 1}",
            SingularWarning,
        )
    return count


def _singular(robot: Model, quantity: Quantity, method: str, values: Array, given: list[Array]) -> Array | None:
    """For each state something not below 0 where its result is NaN though it is finite itself; None where all are fine."""
    if robot.loops:
        finite = np.logical_and.reduce([np.isfinite(x).all(axis=-1) for x in given])
        weak = np.where(np.isnan(values).any(axis=-1) & finite, 0, -1)
        return weak if (weak >= 0).any() else None
    return singular_states(robot, quantity, method, (values,), given[0], (len(values),)) if quantity.divides else None
