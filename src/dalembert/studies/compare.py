"""Every formulation on one robot: do they agree, what do they cost on paper, and how long do they take."""

import html
import warnings
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from dalembert.algebra.precise import decimal, decimals, rounded
from dalembert.algebra.spatial import Array
from dalembert.arguments import choice, flag, several, whole
from dalembert.engine.kernels import compile
from dalembert.engine.program import operation_count, program
from dalembert.engine.registry import quantity_named
from dalembert.engine.size import MOST_WORK, order, work
from dalembert.errors import Error, PerformanceWarning, SingularWarning, optional
from dalembert.model.model import Model, a_robot
from dalembert.progress import Progress, chosen
from dalembert.studies.complexity import NOTES, Printed, comparable, polynomials, printed, value
from dalembert.studies.timing import nanoseconds, random_inputs
from dalembert.text import table, wrapped
from dalembert.trace.count import OperationCount
from dalembert.trace.replay import replay

COMPARED = ("inverse_dynamics", "forward_dynamics", "mass_matrix")
SAMPLE = 100  # states at which the methods are compared
BATCH = 10_000
MOST_STATES = 10_000_000
LARGEST = 20_000  # of `work`: lagrange_euler to 11 joints; beyond, tracing takes half a minute and more


class Row(NamedTuple):
    """One formulation of one quantity."""

    quantity: str
    method: str
    error: float  # beside sixty digits, the largest over random states, relative to the size of the entry
    customized: OperationCount  # for this very robot
    general: OperationCount  # as the source is written
    nanoseconds: float  # of one state in a batch, by one thread
    backend: str  # "native", or "numpy" where the program is too large to compile quickly
    order: int  # the general count grows as n to this power
    printed: tuple[Printed, ...]  # what the sources print, for serial arms of revolute joints


@dataclass(frozen=True, repr=False)
class Comparison:
    """Every formulation on one robot; `rows` has the numbers, printing it shows tables, and so does a notebook."""

    name: str
    n: int
    states: int
    rows: tuple[Row, ...]
    notes: tuple[str, ...]  # what was left out, and why

    @property
    def quantities(self) -> tuple[str, ...]:
        """Those that have rows."""
        return tuple(dict.fromkeys(row.quantity for row in self.rows))

    def cells(self, quantity: str) -> list[list[str]]:
        """The table of one quantity as text, the titles first."""
        choice(quantity, "quantity of this comparison:", self.quantities)
        rows = [row for row in self.rows if row.quantity == quantity]
        cells = [[f"{quantity.replace('_', ' ')} by", *_TITLES]]
        cells[0] += ["printed", "as mul / add, or total, in n"] if any(row.printed for row in rows) else []
        for row in rows:
            cells += _cells(row, self.n, len(cells[0]))
        return cells

    @property
    def head(self) -> str:
        """What the columns mean."""
        return wrapped(
            f"{self.name}, n = {self.n}: error beside sixty digits, the largest at {SAMPLE} random states, relative to the size of "
            "each entry over these states; "
            "operations of one evaluation, customized to this robot and as the source is written (general), totals with divisions "
            f"and square roots; nanoseconds of a state in a batch of {self.states}, one thread; growth of the general count "
            "with n, as declared"
        )

    @property
    def remarks(self) -> tuple[str, ...]:
        """The notes, and the remark on the printed counts."""
        printed = {row.quantity for row in self.rows if row.printed}
        remarks = [*self.notes, *(NOTES[q] for q in self.quantities if q in NOTES and q in printed)]
        slow = [f"{row.method} ({row.quantity})" for row in self.rows if row.backend == "numpy"]
        if slow:
            remarks.append(f"computed with NumPy, too large to compile quickly: {', '.join(slow)}")
        return tuple(remarks)

    def __str__(self) -> str:
        return "\n\n".join([self.head, *(_text(self.cells(q)) for q in self.quantities), *map(wrapped, self.remarks)])

    def __repr__(self) -> str:
        return str(self)

    def _repr_html_(self) -> str:
        parts = [f"<p>{html.escape(self.head)}</p>", *(_html(self.cells(q)) for q in self.quantities)]
        return "\n".join([*parts, *(f"<p>{html.escape(x)}</p>" for x in self.remarks)])

    def to_pandas(self) -> Any:
        """The rows as a pandas DataFrame, one column for each number."""
        return optional("pandas").DataFrame([_flat(row, self.n) for row in self.rows])


BEFORE_PRINTED = 10  # columns before those of printed counts
_TITLES = ["error", "customized mul", "add", "total", "general mul", "add", "total", "ns", "growth"]


def _cells(row: Row, n: int, width: int) -> list[list[str]]:
    """A line, and one more for each further printed count."""
    counts = (str(x) for c in (row.customized, row.general) for x in (c.mul, c.add, c.total))
    first = [row.method, f"{row.error:.1e}", *counts, f"{row.nanoseconds:.0f}", f"n^{row.order}"]
    theirs = [[str(value(p.total, n)), polynomials(p)] for p in row.printed] or [[]]
    lines = [[*(first if k == 0 else [""] * len(first)), *cells] for k, cells in enumerate(theirs)]
    return [[*line, *[""] * (width - len(line))] for line in lines]


def _text(cells: list[list[str]]) -> str:
    """The printed counts, of which a method may have several, in a table of their own."""
    theirs = [[row[0], *row[BEFORE_PRINTED:]] for row in cells if any(row[BEFORE_PRINTED:])]
    tables = [[row[:BEFORE_PRINTED] for row in cells], *([theirs] if theirs else [])]
    return "\n\n".join(table(rows, right=True) for rows in tables)


def _flat(row: Row, n: int) -> dict[str, Any]:
    cells: dict[str, Any] = {k: getattr(row, k) for k in ("quantity", "method", "error", "nanoseconds", "backend", "order")}
    for label, count in (("customized", row.customized), ("general", row.general)):
        cells |= {f"{label}_{k}": x for k, x in (*count._asdict().items(), ("total", count.total))}
    totals = [int(x) if (x := value(p.total, n)).denominator == 1 else float(x) for p in row.printed]
    return cells | {"printed": "; ".join(map(polynomials, row.printed)), "printed_total": totals[0] if totals else None}


def _html(cells: Sequence[Sequence[str]]) -> str:
    def line(row: Sequence[str], tag: str) -> str:
        return "<tr>" + "".join(f"<{tag}>{html.escape(cell)}</{tag}>" for cell in row) + "</tr>"

    body = "".join(line(row, "td") for row in cells[1:])
    return f"<table><thead>{line(cells[0], 'th')}</thead><tbody>{body}</tbody></table>"


def compare(
    robot: Model,
    quantities: Sequence[str] | str = COMPARED,
    states: int = BATCH,
    *,
    everything: bool = False,
    progress: Progress | bool | None = None,
) -> Comparison:
    """Every formulation of inverse dynamics, forward dynamics and the mass matrix on one robot, in one table.

    For each: its error beside the default method in sixty digits, its operation counts next to those of the sources, the time
    of a state in a batch of `states`, and how its count grows with the number of joints. The first call of each method compiles
    it: `progress(done, total)` is called after each; by default, a bar on a terminal. On large robots, methods that would
    take minutes are left out, with a note; `everything` includes them. A quantity that the robot does not have, such as forward
    dynamics with a singular mass matrix, is a note, too.

    >>> import dalembert as da
    >>> comparison = compare(da.robot("two_link"), "mass_matrix", states=100)
    >>> len(comparison.rows), all(row.error < 1e-12 for row in comparison.rows)
    (9, True)
    """
    a_robot(robot, "compare")
    wanted = tuple(dict.fromkeys(choice(x, "quantity to compare:", COMPARED) for x in several(quantities, "quantities")))
    states, everything = whole(states, "states", 1, MOST_STATES), flag(everything, "everything")
    if not robot.n:
        return Comparison(robot.name, 0, states, (), (f"{robot.name} has no moving joints: there is nothing to compare",))
    told = chosen(progress, f"comparing methods for {robot.name}")
    total = sum(len(default_first(robot, quantity)) for quantity in wanted)
    done, rows, notes = 0, list[Row](), list[str]()
    for quantity in wanted:
        try:
            row = _comparer(robot, quantity, states)
        except Error as error:  # nothing of this quantity will work
            notes.append(f"no {quantity.replace('_', ' ')}: {error}")
            done += len(default_first(robot, quantity))
            continue
        for method in default_first(robot, quantity):
            if (size := work(robot.parents, quantity, method)) > (MOST_WORK if everything else LARGEST):
                notes.append(f"{quantity} by {method} was skipped: its count grows as n^{order(quantity, method)}, here {size}")
            else:
                rows.append(row(method))
            done += 1
            told(done, total)
    return Comparison(robot.name, robot.n, states, tuple(rows), tuple(notes))


def default_first(robot: Model, quantity: str) -> list[str]:
    """The methods of a quantity, the default one first."""
    default = quantity_named(quantity).method_of(robot)
    return [default, *(m for m in quantity_named(quantity).methods_of(robot) if m != default)]


def _comparer(robot: Model, quantity: str, states: int) -> Callable[[str], Row]:
    """A function that evaluates one method, with the states and the true results to compare with."""
    described, rng = quantity_named(quantity), np.random.default_rng(0)
    count = max(states, SAMPLE)
    inputs = _states(robot, described.inputs, rng, count)
    sample = [x[:SAMPLE] for x in inputs]
    evaluate = partial(_evaluated, getattr(robot, quantity), sample)
    if not np.isfinite(evaluate(described.method_of(robot))).any():
        raise Error(f"the results at {SAMPLE} random states are not finite; robot.check() may show why")
    true = in_sixty_digits(robot, quantity, dict(zip(described.inputs, sample, strict=True)))

    def row(method: str) -> Row:
        kernel = _compiled(robot, quantity, method)
        return Row(
            quantity,
            method,
            _error(evaluate(method), true),
            operation_count(robot, quantity, method),
            operation_count(robot, quantity, method, customized=False),
            nanoseconds(kernel, [x[:states] for x in inputs]),
            kernel.backend,
            order(quantity, method),
            tuple(printed(method, quantity)) if comparable(robot) else (),
        )

    return row


def _states(robot: Model, names: Collection[str], rng: np.random.Generator, count: int) -> list[Array]:
    """Random states (count, ...), with the forces of random accelerations.

    Equal forces on all joints would give small links accelerations beside which those of all others vanish.
    """
    if "tau" not in names:
        return random_inputs(robot, names, rng, count)
    motion = random_inputs(robot, ("q", "qd", "qdd"), rng, count)
    forces: Array = compile(robot, "inverse_dynamics")(*motion)
    states = {"q": motion[0], "qd": motion[1], "tau": forces}
    return [states[name] for name in names]


def in_sixty_digits(robot: Model, quantity: str, states: Mapping[str, Array]) -> Array:
    """A quantity by its default method in states (count, ...) by name, with the numbers of the robot as they are, rounded once.

    >>> import dalembert as da
    >>> in_sixty_digits(da.robot("two_link"), "mass_matrix", {"q": np.array([[0.0, 0.5]])})[0, 0].round(4).tolist()
    [2.5442, 0.7721]
    """
    exact = program(robot, quantity)
    count = len(states["q"])
    with decimals():
        inputs = [{name: decimal(x[k]) for name, x in states.items()} for k in range(count)]
        return np.array([rounded(replay(exact, x)) for x in inputs])


def _evaluated(function: Callable[..., Array], given: Sequence[Array], method: str) -> Array:
    with warnings.catch_warnings():  # singular states are NaN in all methods, and are left out
        warnings.simplefilter("ignore", SingularWarning)
        warnings.simplefilter("ignore", PerformanceWarning)
        return function(*given, method=method)


def _compiled(robot: Model, quantity: str, method: str) -> Any:
    with warnings.catch_warnings():  # the row has the backend
        warnings.simplefilter("ignore", PerformanceWarning)
        return compile(robot, quantity, method)


def _error(result: Array, true: Array) -> float:
    """The largest, relative to the size of the entry; infinite where only the truth is a number."""
    there = np.isfinite(true)
    if not np.isfinite(result[there]).all():
        return float("inf")
    error = np.where(there, np.abs(result - true), 0.0)
    return float((error / _sizes(np.where(there, true, 0.0))).max())


def _sizes(true: Array) -> Array:
    """Of a vector's entries the largest value in any state; of a mass matrix the roots of M_ii M_jj, which no M_ij exceeds."""
    if true.ndim == 2:
        size = np.abs(true).max(axis=0)
    else:
        size = np.sqrt(np.diagonal(true, axis1=-2, axis2=-1).max(axis=0))
        size = size[:, None] * size
    return np.where(size > 0, size, size.max() or 1.0)
