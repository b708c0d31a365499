"""How fast this robot's quantities are on this machine, next to Pinocchio if it is installed."""

import warnings
from dataclasses import dataclass
from importlib.util import find_spec
from typing import Any, NamedTuple

import numpy as np

from dalembert.algebra.spatial import Array
from dalembert.arguments import whole
from dalembert.engine.registry import quantity_named
from dalembert.errors import Error, PerformanceWarning, SingularWarning, optional
from dalembert.model.model import Model, a_robot
from dalembert.progress import Progress, chosen
from dalembert.robots import Robot
from dalembert.studies.timing import nanoseconds, random_inputs, seconds
from dalembert.text import table, wrapped

BATCH = 10_000
MOST_STATES = 10_000_000
# our quantities and Pinocchio's functions for them
BENCHED = {
    "inverse_dynamics": "rnea",
    "forward_dynamics": "aba",
    "mass_matrix": "crba",
    "coriolis_matrix": "computeCoriolisMatrix",
    "inverse_dynamics_derivatives": "computeRNEADerivatives",
    "forward_dynamics_derivatives": "computeABADerivatives",
}


class Timing(NamedTuple):
    """One quantity: nanoseconds of a state in a batch and of one Python call, Pinocchio's call, and how far its result is."""

    quantity: str
    batch: float
    call: float
    pinocchio: float | None = None
    difference: float | None = None


@dataclass(frozen=True, repr=False)
class Bench:
    """Times of a robot's quantities; `rows` has the numbers, printing it shows a table."""

    name: str
    states: int
    rows: tuple[Timing, ...]
    notes: tuple[str, ...]

    def cells(self) -> list[list[str]]:
        """The table as text, the titles first."""
        beside = any(row.pinocchio is not None for row in self.rows)
        cells = [["quantity", "batch ns", "call ns", *(["Pinocchio call ns", "ratio", "differs by"] if beside else [])]]
        for row in self.rows:
            line = [row.quantity.replace("_", " "), f"{row.batch:.0f}", f"{row.call:.0f}"]
            if beside and row.pinocchio is not None:
                far = "" if row.difference is None else f"{row.difference:.1e}"
                line += [f"{row.pinocchio:.0f}", f"{row.pinocchio / row.batch:.0f}", far]
            cells.append([*line, *[""] * (len(cells[0]) - len(line))])
        return cells

    @property
    def head(self) -> str:
        """What was measured."""
        return wrapped(f"{self.name} without friction: a state in a batch of {self.states}, and one Python call; one thread")

    def __str__(self) -> str:
        return "\n\n".join([self.head, *([table(self.cells(), right=True)] if self.rows else []), *map(wrapped, self.notes)])

    def __repr__(self) -> str:
        return str(self)


def bench(robot: Robot, states: int = BATCH, progress: Progress | bool | None = None) -> Bench:
    """Measure the main quantities of a robot: in a batch, one call at a time, and Pinocchio's calls where it is installed.

    >>> import dalembert as da
    >>> bench(da.robot("two_link"), states=100).rows[0].quantity
    'inverse_dynamics'
    """
    a_robot(robot, "bench")
    states = whole(states, "states", 1, MOST_STATES)
    robot, rng, notes, rows = robot.without_friction(), np.random.default_rng(0), list[str](), list[Timing]()
    if not robot.n:
        return Bench(robot.name, states, (), (f"{robot.name} has no moving joints: there is nothing to measure",))
    told = chosen(progress, f"measuring {robot.name}")
    other = pinocchio_model(robot) if find_spec("pinocchio") and robot.is_tree else None
    if not robot.is_tree:
        what = "loops" if robot.loops else "coupled joints or rotors behind a transmission"
        notes.append(f"{robot.name} has {what}, which are not compared with Pinocchio's")
    elif other is None:
        notes.append("Pinocchio is not installed (pip install pin), so there is no comparison")
    for done, (quantity, name) in enumerate(BENCHED.items(), 1):
        given = random_inputs(robot, quantity_named(quantity).inputs, rng, states)
        try:
            rows.append(_measured(robot, quantity, given, other, name))
        except Error as error:
            notes.append(f"no {quantity.replace('_', ' ')}: {error}")
        told(done, len(BENCHED))
    return Bench(robot.name, states, tuple(rows), tuple(notes))


def _measured(robot: Robot, quantity: str, given: list[Array], other: Any, name: str) -> Timing:
    function, one = getattr(robot, quantity), [x[0] for x in given]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SingularWarning)
        warnings.simplefilter("ignore", PerformanceWarning)
        kernel = robot.compile(quantity)
        batch = nanoseconds(kernel, given)
        call = seconds(function, one) * 1e9
    if other is None:
        return Timing(quantity, batch, call)
    pin = optional("pinocchio")
    data = other.createData()

    def theirs(*arrays: Any) -> Any:
        return getattr(pin, name)(other, data, *arrays)

    difference = None
    if quantity in ("inverse_dynamics", "forward_dynamics"):
        ours = np.asarray(function(*one))
        difference = float(np.abs(ours - theirs(*one)).max() / (np.abs(ours).max() or 1.0))
    return Timing(quantity, batch, call, seconds(theirs, one) * 1e9, difference)


def pinocchio_model(robot: Model) -> Any:
    """The same robot as a Pinocchio model, joints in the same order; friction left out."""
    pin = optional("pinocchio")
    model = pin.Model()
    model.name = robot.name

    def placement(pose: Any) -> Any:
        return pin.SE3(np.array(pose.rotation), np.array(pose.translation))

    after, numbers = [pin.SE3.Identity()], [0]  # the base first
    for link, parent in zip(robot.links, robot.parents, strict=True):
        kinds = {"revolute": lambda: pin.JointModelRZ(), "prismatic": lambda: pin.JointModelPZ()}
        joint = kinds.get(link.joint.kind, lambda pitch=link.joint.pitch: pin.JointModelHZ(pitch))()
        number = model.addJoint(numbers[parent + 1], joint, after[parent + 1] * placement(link.before), link.joint.name)
        body = link.inertia
        inertia = pin.Inertia(float(body.mass), np.array(body.com), np.array(body.tensor))
        model.appendBodyToJoint(number, inertia, placement(link.after))
        numbers.append(number)
        after.append(placement(link.after))
    model.armature = np.array([link.joint.armature for link in robot.links])
    model.gravity = pin.Motion(np.array(robot.tree.gravity), np.zeros(3))
    return model
