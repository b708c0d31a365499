"""Commands that compute motions and forces from files of states."""

import sys
import warnings
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer

from dalembert.cli.changes import values
from dalembert.cli.motions import motion_file, write_motion
from dalembert.cli.parts import Output, allowing_nan, one_of, progress, said
from dalembert.cli.wording import in_words
from dalembert.derived.closed import ROUTES as CLOSED_ROUTES
from dalembert.engine.registry import methods
from dalembert.errors import DataWarning, Error
from dalembert.files import load_states, read_states
from dalembert.files.layout import check_finite
from dalembert.quantities.states import evaluate_states
from dalembert.robots import Robot
from dalembert.simulation.adaptive import SOLVERS
from dalembert.simulation.integrators import INTEGRATORS
from dalembert.simulation.stages import ROUTES
from dalembert.simulation.trajectory import Trajectory
from dalembert.text import table, wrapped

CHOICES = (*INTEGRATORS, "moreau", *SOLVERS)

_source = typer.Argument(
    metavar="STATES",
    help="A .csv, .npy or .npz file, or - for standard input. Columns are named q_<joint>, qd_<joint>, ..., or in this order.",
)
_at_rest = typer.Option("--at-rest", help="The input has positions q only: write the joint forces that hold the arm there.")
_all = typer.Option("--all", help="Write the input columns as well, so that the file can be read back.")
_allow_nan = typer.Option("--allow-nan", help="Take NaN and infinities in the input as they are: the result is NaN there.")
_header = typer.Option("--header/--no-header", help="Whether CSV output starts with a header line.")
_inverse = one_of(
    methods("inverse_dynamics"),
    "--method",
    "-m",
    metavar="METHOD",
    help="The formulation: one of {}. Default: chosen for the robot.",
)
_forward = one_of(
    (*methods("forward_dynamics"), *CLOSED_ROUTES),
    "--method",
    "-m",
    metavar="METHOD",
    help=f"The formulation: one of {', '.join(methods('forward_dynamics'))}. For robots with loops {' or '.join(CLOSED_ROUTES)}. "
    "Default: chosen for the robot.",
)
_q0 = typer.Option(
    "--q0",
    metavar="Q",
    help="Initial positions, rad or m: a number for each joint (0.5,0), or a file (its first state). "
    "Default: 0, or the nearest within the limits.",
)
_qd0 = typer.Option("--qd0", metavar="QD", help="Initial velocities, rad/s or m/s, given in the same way. Default: at rest.")
_integrator = one_of(CHOICES, "--integrator", "-i", help="One of {}. Default: moreau with Coulomb friction or stops, else rk4.")
_restitution = typer.Option(
    metavar="E", help="Make the position limits stops: joints rebound with this share of their velocity, 0 to 1."
)
_slip_speed = typer.Option(
    "--slip-speed",
    metavar="V",
    help="Make Coulomb friction smooth, c tanh(qd / V), V in rad/s or m/s; all integrators but moreau need it.",
)
_saturate = typer.Option("--saturate", help="Keep joint forces within the torque limits.")
_torque = typer.Option(
    "--torque",
    metavar="TAU",
    help="Joint forces, N m or N: a number for each joint, or a file with a row for each step. Default: 0.",
)
_velocities = one_of(ROUTES, help="The velocities that are integrated with q: {}.")
_motion = typer.Option("--output", "-o", metavar="FILE", help="File to write the motion: .csv or .npz; - is standard output (CSV).")


def inverse(
    robot: Robot,
    states: Annotated[str, _source] = "-",
    output: Output = "-",
    method: Annotated[str | None, _inverse] = None,
    at_rest: Annotated[bool, _at_rest] = False,
    everything: Annotated[bool, _all] = False,
    allow_nan: Annotated[bool, _allow_nan] = False,
    header: Annotated[bool, _header] = True,
) -> None:
    """Inverse dynamics: joint forces tau from a file of q, qd, qdd."""
    options: dict[str, Any] = {"method": method, "everything": everything, "allow_nan": allow_nan, "names": header}
    try:
        _evaluate(robot, "inverse_dynamics", states, output, at_rest=at_rest, **options)
    except Error as error:
        if "there is no column qd_" not in str(error):
            raise
        raise Error(f"{error}; for positions alone, --at-rest gives the torques that hold the robot") from None


def forward(
    robot: Robot,
    states: Annotated[str, _source] = "-",
    output: Output = "-",
    method: Annotated[str | None, _forward] = None,
    everything: Annotated[bool, _all] = False,
    allow_nan: Annotated[bool, _allow_nan] = False,
    header: Annotated[bool, _header] = True,
) -> None:
    """Forward dynamics: joint accelerations qdd from a file of q, qd, tau."""
    options: dict[str, Any] = {"method": method, "everything": everything, "allow_nan": allow_nan, "names": header}
    _evaluate(robot, "forward_dynamics", states, output, **options)


def _evaluate(robot: Robot, quantity: str, source: str, target: str, **options: Any) -> None:
    if source == "-" and sys.stdin.isatty():
        raise Error("no states: give a file, or pipe one to standard input")
    with progress(quantity.replace("_", " ")) as bar, allowing_nan("gives NaN for this state"):
        count = evaluate_states(robot, quantity, source, target, progress=bar, **options)
    if target != "-":
        said(f"{target}: {count} states")


def simulate(
    robot: Robot,
    q0: Annotated[str | None, _q0] = None,
    qd0: Annotated[str | None, _qd0] = None,
    duration: Annotated[float, typer.Option("--duration", "-t", metavar="S", help="Duration in seconds.")] = 1.0,
    step: Annotated[float, typer.Option("--step", "-s", metavar="S", help="Time step in seconds.")] = 1e-3,
    integrator: Annotated[str | None, _integrator] = None,
    restitution: Annotated[float | None, _restitution] = None,
    slip_speed: Annotated[float | None, _slip_speed] = None,
    saturate: Annotated[bool, _saturate] = False,
    method: Annotated[str | None, _forward] = None,
    torque: Annotated[str | None, _torque] = None,
    velocities: Annotated[str, _velocities] = "joint",
    every: Annotated[int, typer.Option(min=1, metavar="COUNT", help="Keep one of so many steps only.")] = 1,
    output: Annotated[str | None, _motion] = None,
) -> None:
    """Simulate the motion. Without --output, print a summary with the energy balance."""
    if output not in (None, "-"):
        motion_file(output)
    start = _start(robot, q0, qd0)
    forces = None if torque is None else _numbers_or_file(robot, torque, "tau", "--torque")
    if forces is not None and forces.ndim > 1 and len(forces) == round(duration / step) + 1:
        forces = forces[:-1]  # of a trajectory: nothing follows its last sample
    with progress("simulating") as bar:
        options: dict[str, Any] = {"integrator": integrator, "method": method, "velocities": velocities, "every": every}
        options |= {"restitution": restitution, "slip_speed": slip_speed, "saturate": saturate}
        trajectory = robot.simulate(*start, duration, torque=forces, step=step, progress=bar or False, **options)
    if output is None:
        print(_summary(trajectory))
    elif output == "-":
        trajectory.to_csv(sys.stdout)
    else:
        write_motion(trajectory, output)
        print(_balance(trajectory), file=sys.stderr)


def _is_file(text: str) -> bool:
    """Whether it names a file, or standard input, rather than numbers."""
    try:
        values(text, "numbers")
    except Error:
        return text == "-" or Path(text).suffix.lower() in (".csv", ".npy", ".npz") or Path(text).exists()
    return False


def numbers_of(arm: Robot, text: str, part: str, what: str) -> Any:
    """One number for each joint."""
    count = arm.nq if part == "q" else arm.n
    try:
        found = values(text, what)
    except Error:
        raise Error(f"{what} must be comma-separated numbers, or a file, got {text!r}") from None
    if len(found) != count:
        joints = f"one for each joint of {arm.name}" if count == arm.n else f"{', '.join(arm.position_names)} of {arm.name}"
        raise Error(f"{what} needs {count} number{'s' * (count != 1)}, {joints}, got {len(found)}: {text!r}")
    return np.array(found)


def _numbers_or_file(arm: Robot, text: str, part: str, what: str) -> Any:
    """One value for each joint, or the rows (steps, n) of a file."""
    return load_states(arm, text, [part])[part] if _is_file(text) else numbers_of(arm, text, part, what)


def _start(arm: Robot, q0: str | None, qd0: str | None) -> tuple[Any, Any]:
    """Positions and velocities at the start."""
    if q0 is not None and qd0 is None and _is_file(q0):
        first = _first(arm, q0, ["q", "qd"])
        return first["q"], first["qd"]
    q = arm.neutral() if q0 is None else _one_state(arm, q0, "q", "--q0")
    qd = np.zeros(arm.n) if qd0 is None else _one_state(arm, qd0, "qd", "--qd0")
    return q, qd


def _one_state(arm: Robot, text: str, part: str, what: str) -> Any:
    """One value for each joint, or those of the first state of a file."""
    return _first(arm, text, [part])[part] if _is_file(text) else numbers_of(arm, text, part, what)


def _first(arm: Robot, source: str, parts: Sequence[str]) -> dict[str, Any]:
    """The first state of a file, of which no more is read than needed."""
    with closing(read_states(arm, source, parts, allow_nan=True)) as pieces, warnings.catch_warnings():
        warnings.simplefilter("ignore", DataWarning)  # of all states that were read; the simulation tells of the first
        for states in pieces:
            check_finite({part: states[part][:1] for part in parts}, source, 0)
            return {part: states[part][0] for part in parts}
    raise Error(f"{source}: the file contains no states")


def _summary(trajectory: Trajectory) -> str:
    """The start and end of the motion, and where the energy went."""
    rows = [["joint", "q at start", "q at end", "qd at start", "qd at end", "largest |tau|"]]
    robot, largest = trajectory.robot, np.abs(trajectory.tau).max(axis=0)
    at = {name: i for i, name in enumerate(robot.joint_names)}
    for k, name in enumerate(robot.position_names):  # of balls and free bodies positions and velocities have rows of their own
        i = at.pop(name, None)
        rates = ["", "", ""] if i is None else [f"{x:.6g}" for x in (trajectory.qd[0, i], trajectory.qd[-1, i], largest[i])]
        rows.append([name, *(f"{x:.6g}" for x in (trajectory.q[0, k], trajectory.q[-1, k])), *rates])
    for name, i in at.items():
        rows.append([name, "", "", *(f"{x:.6g}" for x in (trajectory.qd[0, i], trajectory.qd[-1, i], largest[i]))])
    lines = [
        f"{trajectory.robot.name}: {len(trajectory)} states over {trajectory.duration:g} s",
        table(rows, right=True),
        f"energy {trajectory.energy[0]:.9g} J at the start, {trajectory.energy[-1]:.9g} J at the end",
        _balance(trajectory),
    ]
    return "\n".join(lines)


def _balance(trajectory: Trajectory) -> str:
    """Where the energy went, and how far the sum is off; why, a warning has said."""
    change, work, lost = trajectory.energy[-1] - trajectory.energy[0], trajectory.work[-1], trajectory.dissipated[-1]
    struck = trajectory.lost_at_stops[-1]
    stops = f" + lost at stops {struck:.6g} J" if struck else ""
    rubbed = f"lost to friction {lost - struck:.6g} J{stops}"
    parts = f"change of energy {change:.6g} J - work {work:.6g} J + {rubbed} = {trajectory.balance[-1]:.3g} J"
    verdict = f", which is too much: {in_words(trajectory.doubt)}" if trajectory.doubt else ""
    return wrapped(f"{parts}; off by at most {trajectory.drift:.1g} of the energy exchanged{verdict}", "balance: ")


COMMANDS = (
    (
        inverse,
        [
            "dalembert inverse puma560 states.csv -o tau.csv",
            "echo 0.3,0.5 | dalembert inverse two_link --at-rest",
            "make_states | dalembert inverse puma560 - --all > all.csv",
        ],
    ),
    (forward, ["dalembert forward puma560 states.npz -o qdd.npy --method brandl"]),
    (
        simulate,
        [
            "dalembert simulate two_link --q0 0.5,0 --duration 10",
            "dalembert simulate xarm7 --restitution 0.3 --duration 2",
            "dalembert simulate panda --torque tau.csv -o motion.csv",
        ],
    ),
)
