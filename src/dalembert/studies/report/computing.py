"""What a page computes by itself: the robot's programs as a script, and the numbers that its mechanics need.

The four core programs take the state, the bodies of the links that may carry a load, and gravity. In plain JavaScript they run
under the page's strict policy; WebAssembly is for all formulations, and for programs that browsers do not optimize otherwise.
"""

from functools import partial
from typing import Any, NamedTuple

import numpy as np

from dalembert.algebra.spatial import Array
from dalembert.codegen.javascript import compact
from dalembert.codegen.wasm import compact_module
from dalembert.derived.joints import (
    armatures,
    coupled_inertia,
    friction,
    friction_law,
    load_friction,
    loading,
    on_diagonal,
    tree_forces,
)
from dalembert.derived.loaded import BODIES, GRAVITY, Carriers, carriers, carrying, hand, loaded
from dalembert.derived.sticking import newton
from dalembert.engine.registry import quantity_named
from dalembert.engine.size import work
from dalembert.errors import Error
from dalembert.model.positions import by_kind, ranges
from dalembert.robots import Robot
from dalembert.simulation.step import Laws, stepping
from dalembert.studies.compare import default_first
from dalembert.studies.report import figures
from dalembert.studies.report.motion import SampledMotion, largest_torques
from dalembert.studies.report.scene import Stage, hands
from dalembert.trace.count import operation_count
from dalembert.trace.program import Program, trace

MOST_JOINTS = 48  # of a page that computes
OPTIMIZED = 5000  # operations of a JavaScript function that browsers optimize
SAMPLES = 200
STEP = 1e-3  # s
STABLE = 1.0  # the largest decay in a step of Runge and Kutta's method: they are accurate, too
ITERATIONS = 2, 2  # of predictor and corrector of a step with joints that stick; the few steps that need more are called again
LARGE = 40_000  # operations of a step with joints that stick: more would not keep up
MOST_HANDS = 6
TRACED = 3500  # of `work`: formulations beyond are not traced for a page alone
SWITCHED = ("inverse_dynamics", "forward_dynamics")
LOADS = (0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 50, 100)  # kg: what the slider ends with


class Live(NamedTuple):
    """Data for the page's script, the programs as a script of their own, and whether that needs WebAssembly."""

    data: dict[str, Any]
    script: str
    wasm: bool


def live(robot: Robot, motion: SampledMotion, stage: Stage, everything: bool = False) -> Live:
    """All that the page needs to compute; `everything`: with every formulation, as WebAssembly."""
    data: dict[str, Any] = {
        "base": _rows(robot.base.matrix),
        "chain": [
            {"parent": parent, "before": _rows(x.before.matrix), "after": _rows(x.after.matrix), "screw": list(x.joint.screw)}
            for x, parent in zip(robot.links, robot.parents, strict=True)
        ],
        "missing": {},
    }
    if robot.coupling is not None:
        data["coupling"] = {"matrix": robot.coupling.matrix.tolist(), "offset": robot.coupling.offset.tolist()}
    if reason := _too_much(robot):
        data["missing"]["all"] = reason
        return Live(data, "", False)
    ends = hands(robot)[:MOST_HANDS]
    by = carriers(robot, *dict.fromkeys(i for i, _ in ends))
    data |= _numbers(robot, motion, stage) | {"hands": _hands(robot, by), "bodies": by.bodies.tolist()}
    programs, data["missing"], data["methods"] = _programs(robot, by, everything)
    data["step"] = STEP
    if sticks(robot, data.pop("stiffest")) and "drop" not in data["missing"]:
        try:
            step = _sticking_step(robot, by)
        except Error as mixed:  # friction that holds no joint by itself
            step, data["missing"]["friction"] = None, f"Falls are without friction: {mixed}."
        if step is not None and operation_count(step).total <= LARGE:
            programs["sticking_step"] = step
        elif step is not None:
            data["missing"]["friction"] = "Steps with this robot’s friction are too long for a page: falls are without friction."
    sizes = {name: operation_count(program).total for name, program in programs.items()}
    wasm = everything or max(sizes.values()) > OPTIMIZED
    return Live(data, (compact_module if wasm else compact)("programs", programs), wasm)


def _too_much(robot: Robot) -> str:
    """Why nothing can be computed in the page, or nothing."""
    if not robot.n:
        return "This robot has no joints: nothing moves."
    if robot.loops:
        return "This robot has closed loops: the page plays its motion, which keeps them closed, and computes nothing else."
    if robot.n > MOST_JOINTS:
        return f"With {robot.n} joints the programs are too large for a page, which computes for up to {MOST_JOINTS}."
    if not all(np.isfinite(x).all() for x in (*robot.tree.before, robot.tree.mass, robot.tree.com, robot.tree.inertia)):
        return "Some figures of this robot are not finite: nothing can be computed."
    return ""


def sticks(robot: Robot, stiffest: float) -> bool:
    """Whether falls with the robot's friction need Moreau's step: joints stick, or the fastest decay `stiffest`, 1/s, is too fast.

    Otherwise they are integrated by Runge and Kutta's method, as falls without friction are.
    """
    return friction_law(robot.open).jumps or not stiffest * STEP <= STABLE


# --- programs -----------------------------------------------------------------------------------------------------------


def _programs(robot: Robot, by: Carriers, everything: bool) -> tuple[dict[str, Program], dict[str, str], dict[str, Any]]:
    """Programs by name; what is missing and why; and which formulations the page has, by quantity."""
    programs = {"mass_matrix": loaded(robot, by, "mass_matrix", quantity_named("mass_matrix").method_of(robot))}
    missing: dict[str, str] = {}
    known: dict[str, dict[str, str]] = {}
    for quantity in SWITCHED:
        default = quantity_named(quantity).method_of(robot)
        try:
            robot.program(quantity)  # which says what a robot lacks
        except Error as error:
            missing["drop"] = f"No falling: {error}"
            continue
        programs[quantity] = loaded(robot, by, quantity, default)
        known[quantity] = {default: quantity}
        for method in quantity_named(quantity).methods_of(robot) if everything else ():
            if method != default and work(robot.parents, quantity, method) <= TRACED:
                name = known[quantity][method] = f"{quantity}_{method}"
                programs[name] = loaded(robot, by, quantity, method)
    for k, (name, _, _) in enumerate(_named_hands(robot)):
        programs[f"hand{k}"] = hand(robot, name)
    if any(x.joint.rubs for x in robot.links):
        programs["friction"] = _friction(robot)
    return programs, missing, known


def _friction(robot: Robot) -> Program:
    """The joint forces that friction takes at given velocities, with a load: the forces that the links need."""

    def taken(qd: Any, load: Any) -> Any:
        more = load * (loading(robot, qd, load) - 1) if load_friction(robot).any() else 0 * load
        return sum(friction(robot, qd), more)

    return trace(taken, {"qd": (robot.n,), "load": (robot.n,)}, outputs=("tau",))


def _sticking_step(robot: Robot, by: Carriers) -> Program:
    """Moreau's step with loads and gravity as inputs: the state after it, whether it is done, and where its iterations ended."""
    n, forces = robot.n, tree_forces(robot)
    armature = armatures(robot) if robot.is_tree else np.zeros(0)  # of others they are in the mass matrix
    solvers = [partial(newton, iterations=count) for count in ITERATIONS]

    def body(q: Any, v: Any, guess: Any, tau: Any, step: Any, again: Any, bodies: Any, gravity: Any) -> Any:
        tree = carrying(by, bodies, gravity)
        inertia = lambda q: on_diagonal(coupled_inertia(robot, q, tree), armature)  # noqa: E731
        laws = Laws(inertia, lambda *_: 0, lambda *_: 0)  # energies are for stops
        move = stepping(robot, laws, (), (), solvers, lambda q, qd: forces(tree, q, qd, np.zeros(n, dtype=int)))
        zero = np.zeros((), dtype=object)
        new_q, new_v, _, done, ended, *_ = move(q, v, np.zeros(3), zero, guess, tau, tau, step, again)
        return new_q, new_v, np.asarray(done, dtype=object), ended

    shapes = {
        "q": (n,),
        "v": (n,),
        "guess": (2, n),
        "tau": (n,),
        "step": (),
        "again": (),
        BODIES: (len(by.links), 10),
        GRAVITY: (3,),
    }
    return trace(body, shapes, outputs=("new_q", "new_v", "done", "ended"))


def _named_hands(robot: Robot) -> list[tuple[str, int, Any]]:
    """The ends of the arm: a name that `link=` takes, the moving link, and the place in it."""
    found: list[tuple[str, int, Any]] = []
    for i, pose in hands(robot)[:MOST_HANDS]:
        link = robot.link_names[i]
        name = next((f.name for f in robot.frames if f.link == link and f.pose == pose), link)
        found.append((name, i, pose))
    return found


def _hands(robot: Robot, by: Carriers) -> list[dict[str, Any]]:
    hands: list[dict[str, Any]] = []
    for name, i, pose in _named_hands(robot):
        k = by.links.index(i)
        R, p = by.frames[k]
        place = {"name": name, "link": i, "at": _rows(pose.matrix), **_ranks(robot, name)}
        hands.append({**place, "body": k, "R": _flat(R), "p": _flat(p)})
    return hands


def _ranks(robot: Robot, name: str) -> dict[str, Any]:
    """In how many directions the hand can move (a planar arm is not singular because it has two), and whether it can do so without
    turning.
    """
    q = np.random.default_rng(1).uniform(-1, 1, (8, robot.n))
    J: Array = np.nan_to_num(robot.jacobian(q, name, frame="world_aligned", backend="numpy"))
    turns, moves, both = (int(np.linalg.matrix_rank(x).max()) for x in (J[:, :3], J[:, 3:], J))
    return {"rank": max(1, moves), "keeps": both - turns == moves}


def counted(robot: Robot, compared: Any = None) -> dict[str, dict[str, int]]:
    """Operations of the formulations, customized to this robot: by quantity and method, the default first."""
    counts: dict[str, dict[str, int]] = {}
    for quantity in () if _too_much(robot) else SWITCHED:
        if compared is not None:
            rows = {row.method: row.customized.total for row in compared.rows if row.quantity == quantity}
        else:
            rows = _counts(robot, quantity)
        if rows:
            counts[quantity] = rows
    return counts


def _counts(robot: Robot, quantity: str) -> dict[str, int]:
    able = (m for m in default_first(robot, quantity) if work(robot.parents, quantity, m) <= TRACED)
    try:
        return {m: robot.operation_count(quantity, m).total for m in able}
    except Error:
        return {}


# --- numbers ------------------------------------------------------------------------------------------------------------


def _numbers(robot: Robot, motion: SampledMotion, stage: Stage) -> dict[str, Any]:
    joints, efforts = robot.joints, largest_torques(robot, motion)
    low, high = ranges(robot.lower, robot.upper, by_kind(robot, 1.0, 2 * np.pi))  # what sliders run through
    high = np.maximum(high, low + 1e-6)
    q = np.random.default_rng(0).uniform(low, high, (SAMPLES, robot.n))
    sizes = _sizes(robot, q)
    mass = float(sum(x.inertia.mass for x in robot.links))
    weight = max(mass, 1e-9) * 9.81
    down = robot.gravity / np.linalg.norm(robot.gravity) if robot.gravity.any() else -stage.up
    side = np.cross(down, [0.0, 1.0, 0.0] if abs(down[1]) < 0.9 else [1.0, 0.0, 0.0])
    return {
        "middles": [x.inertia.com.tolist() for x in robot.links],
        "ranges": np.stack([low, high], axis=-1).tolist(),
        "limits": [[x if np.isfinite(x) else None for x in (j.lower, j.upper)] for j in joints],
        "efforts": [float(x) if np.isfinite(x) and x > 0 else None for x in efforts],
        "prismatic": [j.kind == "prismatic" for j in joints],
        "rubs": any(x.joint.rubs for x in robot.links),
        "mass": mass,
        "radius": stage.radius,
        "gravity": {"size": float(np.linalg.norm(robot.gravity)), "down": down.tolist(), "side": _unit(side).tolist()},
        "push": {"stiffness": weight / (0.5 * stage.radius), "most": 0.8 * weight},
        "load": float(max(x for x in LOADS if x <= max(0.3 * weight / 9.81, LOADS[0]))),
        **sizes,
    }


def _sizes(robot: Robot, q: Array) -> dict[str, Any]:
    """Torques, brakes and stops in proportion to this robot, from its mass matrix at many positions."""
    M: Array = robot.mass_matrix(q, backend="numpy")
    typical = np.diagonal(M, axis1=1, axis2=2).mean(axis=0)
    damping = np.array([joint.damping for joint in robot.joints])
    try:
        inverse = np.linalg.inv(M)
        least = 1 / np.diagonal(inverse, axis1=1, axis2=2).max(axis=0)
        stiffest = float(np.abs(np.linalg.eigvals(inverse * damping)).max()) if damping.any() else 0.0
    except np.linalg.LinAlgError:
        least, stiffest = typical, np.inf
    holds = np.abs(robot.gravity_force(q, backend="numpy")).max(axis=0)
    return {
        "scale": _finite(np.maximum(1.5 * holds, 0.05 * holds.max() or 1.0)),
        "brake": _finite(typical / 0.8),
        "stiff": _finite(np.abs(least) * 150.0**2),
        "stiffest": stiffest if np.isfinite(stiffest) else np.inf,
    }


def _finite(values: Array) -> list[float]:
    return np.nan_to_num(values, nan=0.0, posinf=0.0, neginf=0.0).tolist()


def _unit(v: Array) -> Array:
    return v / np.linalg.norm(v)


def _rows(matrix: Array) -> list[float]:
    return _flat(matrix[:3])


def _flat(values: Any) -> list[float]:
    return np.asarray(values, dtype=float).ravel().tolist()


def recorded(motion: SampledMotion) -> dict[str, str]:
    """The motion to the last digit: positions, velocities and accelerations, one state after the other, as base64 of doubles."""
    return {name: figures.packed(getattr(motion, name)) for name in ("time", "q", "qd", "qdd")}
