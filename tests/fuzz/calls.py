"""Calls of everything public with one or two arguments replaced by junk: they return, or raise an Error in one readable line."""

import inspect
import io
import random
import tempfile
from functools import cache
from pathlib import Path
from types import SimpleNamespace
from typing import Any, NamedTuple

import numpy as np

import dalembert as da
from dalembert import files
from dalembert.foreign import Foreign
from dalembert.quantities import states
from fuzz.harness import Failure, explained, shown
from fuzz.junk import JUNK

N = 2
HALF = np.full(N, 0.5)
SWEPT = {"q": (-1.0, 1.0), "qd": (-1.0, 1.0), "qdd": (-1.0, 1.0)}

# valid values of the arguments that functions cannot do without, by name; SPECIAL has those of a single function
VALID: dict[str, Any] = {
    "q": HALF, "qd": HALF, "qdd": HALF, "tau": HALF, "nu": HALF, "epsilon": HALF, "weights": HALF, "q0": HALF, "q1": HALF, "t": 0.1, "u": HALF, "v": HALF,
    "quantity": "gravity_force", "gravity": (0, 0, -9.81), "pose": da.Pose.identity(), "mass": 1.0, "com": (0, 0, 0),
    "positions": {"joint1": 0.1}, "array": HALF, "from_names": ["joint1", "joint2"], "values": {"joint1": 0.1, "joint2": 0.2},
    "name": "link1", "language": "c", "tensor": np.eye(3), "translation": (0, 0, 0), "rotation": np.eye(3), "value": np.eye(4),
    "inner": da.Pose.identity(), "other": da.Inertia.zero(), "tolerance": 1e-6, "joint": da.Joint("a"), "parent": "base",
    "link": "link1", "convention": "standard", "seed": 1, "time": 0.1, "index": 0, "start": HALF, "goal": HALF + 1, "duration": 2.0,
    "center": (0, 0, 0), "velocity": 1.0, "times": [0.0, 1.0], "points": [[0.0, 0.0], [1.0, 1.0]], "kp": 1.0, "kd": 1.0,
    "target": HALF, "slope": 1.0, "gain": 1.0, "rate": 1.0, "step": 0.1, "structure": "RR", "method_a": "newton_euler",
    "screws": [[0, 0, 1, 0, 0, 0]], "homes": [np.eye(4)], "inertias": [da.Inertia.from_com(1.0, (0, 0, 0), 0.1)], "count": 1, "limit": 128 << 20,
    "rows": [da.DHRow(a=1.0)], "links": (), "damping": 0.1, "armature": 0.1, "friction_offset": 0.1, "static_friction": None, "stribeck_speed": None, "load_friction": 0.1, "masses": [1.0], "pseudo": np.eye(4), "radius": 1.0,
    "length": 1.0, "sizes": (1, 1, 1), "radii": (1, 1, 1), "density": 1.0, "end": (1, 0, 0),
    "faces": [[0, 2, 1], [0, 1, 3], [0, 3, 2], [1, 2, 3]], "vertices": [[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]],
    "a": np.ones(6), "b": np.ones(6), "matrix": np.eye(3), "fixed": np.eye(3), "rotated": np.eye(3), "rotation_vector": (0, 0, 1), "axis": (0, 0, 1), "angle": 1.0, "W": np.eye(3),
    "W_dot": np.eye(3), "omega": (0, 0, 1), "omega_dot": (0, 0, 1), "r": (0, 0, 1), "starred_velocity": (0, 0, 1),
    "starred_acceleration": (0, 0, 1), "twist": np.ones(6), "twist_rate": np.ones(6), "pose_rate": np.eye(4), "local_rate": np.ones(6),
    "x": np.ones(6), "X": np.eye(6), "moments": np.eye(3), "offset": (0, 0, 1), "squares": np.eye(3), "inertia": np.eye(6),
    "q_d": HALF, "qd_d": HALF, "qdd_d": HALF, "integral": HALF, "assistance": HALF, "joint_damping": HALF, "stiffness": np.ones(6), "dt": 1e-3,
    "frame_a": "link2", "frame_b": "base", "coupling": {"joint2": {"joint1": 0.5}}, "rotor_inertia": 1e-3, "wrench": np.ones(6), "partial": np.eye(3), "item": "FGL 3.3-55", "acceleration": np.eye(3),
}  # fmt: skip


# of a Pinocchio model of this arm, what to_pinocchio reads
PINOCCHIO = SimpleNamespace(names=["universe", "joint1", "joint2"], nqs=[0, 1, 1], nvs=[0, 1, 1])


class Subject(NamedTuple):
    """Something to call, valid arguments, and the names of all."""

    function: Any
    valid: dict[str, Any]
    names: tuple[str, ...]
    positional: tuple[str, ...]  # arguments without a name, such as *parts


def _arm() -> Any:
    return da.robot("two_link").with_friction(damping=0.1, coulomb=0.1)


def smooth() -> Any:
    """An arm without friction that jumps."""
    return da.robot("two_link")


@cache
def folder() -> Path:
    """Files to read, and a place to write."""
    kept = tempfile.TemporaryDirectory(prefix="dalembert-fuzz-")
    place = Path(kept.name)
    folder.kept = kept  # pyright: ignore[reportFunctionMemberAccess]
    _arm().save(place / "arm.toml")
    (place / "states.csv").write_text("q_joint1,q_joint2,qd_joint1,qd_joint2,qdd_joint1,qdd_joint2\n0,0,0,0,0,0\n")
    (place / "motors.csv").write_text("speed,peak\n0,90\n4,50\n")
    _arm().simulate(HALF, duration=0.01).to_csv(place / "motion.csv")
    return place


@cache
def objects() -> dict[str, Any]:
    """One of every public class, whose methods are called."""
    arm = _arm()
    path = da.quintic(HALF, HALF + 1, 1.0)
    found = da.equations(arm)
    return {
        "robot": arm,
        "no joints": da.Robot("base_only", (), base_inertia=da.Inertia.from_com(1.0, (0, 0, 0), (1, 1, 1))),
        "coupled": da.random_robot(1, "RRR")
        .with_coupling({"joint3": {"joint2": 0.5}})
        .with_transmission([2.0, 3.0], rotor_inertia=0.1),
        "closed": da.random_robot(1, "RR").with_loop(kind=lambda q: [q[1] - 0.5 * q[0]]),
        "trajectory": arm.simulate(HALF, duration=0.01),
        "sweep": arm.sweep(
            over=SWEPT, samples=100, reduce={"extremes": {}, "sums": {}, "histogram": {}, "envelope": {}, "limits": {"limits": 1.0}}
        ),
        "rollouts": arm.simulate(np.zeros((3, N)), duration=0.01),
        "fastest": arm.fastest([HALF, HALF + 1], torque=200.0, points=50),
        "least_effort": arm.least_effort(HALF, HALF + 0.1, 1.0, knots=4, limits=False, progress=False),
        "equations": found,
        "closed_equations": da.equations(da.robot("two_link").with_loop(kind=lambda q: [q[1] - 0.5 * q[0]]), "mass"),
        "form": found.M[0, 0],
        "shared": found.shared("M"),
        "derivation": da.derive(arm),
        "comparison": da.compare(arm, "mass_matrix", 10),
        "program": arm.program("mass_matrix"),
        "kernel": arm.compile("mass_matrix"),
        "numpy kernel": arm.compile("mass_matrix", backend="numpy"),
        "quintic": path,
        "trapezoidal": da.trapezoidal(HALF, HALF + 1, 1.0, 1.0),
        "spline": da.spline([0.0, 1.0], [HALF, HALF + 1]),
        "line": da.line(np.eye(4), np.eye(4), 1.0),
        "pose_spline": da.pose_spline([0.0, 1.0], [np.eye(4), np.eye(4)]),
        "inverse_kinematics": arm.inverse_kinematics([1.0, 0.5, 0.0]),
        "gravity_pd": da.GravityPD(arm, HALF, 1.0, 1.0),
        "computed_torque": da.ComputedTorque(arm, path, 1.0, 1.0),
        "task_space": da.TaskSpaceControl(arm, da.quintic([1, 0, 0], [1, 1, 0], 1.0), 1.0, 1.0, rows=("vx", "vy")),
        "slotine_li": da.SlotineLi(arm, path, 1.0, 1.0, 1.0),
        "gravity_compensation": da.GravityCompensation(arm, 0.1),
        "impedance": da.Impedance(arm, np.eye(4), 1.0, 1.0),
        "momentum_observer": da.MomentumObserver(arm, 10.0, 1e-3),
        "motor": (motor := da.MotorCurve([0.0, 4.0], [90.0, 50.0])),
        "sizing": arm.size(1.0, motor, velocity=1.0, samples=12),
        "pose": da.Pose.identity(),
        "inertia": da.Inertia.from_com(1.0, (0, 0, 0), 0.1),
        "joint": da.Joint("a"),
        "link": da.Link("l", "base", da.Joint("a")),
        "row": da.DHRow(a=1.0),
        "dominance": arm.dominance(HALF, HALF, HALF),
        "findings": arm.check(),
        "feedback": arm.lqr(HALF),
        "optimal_control": smooth().optimal_control(HALF, HALF + 0.1, 0.1),
        "rollout": smooth().rollout(HALF, duration=0.01),
        "symbolic": arm.symbolic("mass"),
        "code": arm.generate("c"),
    }


@cache
def special() -> dict[str, dict[str, Any]]:
    """Valid arguments of single functions."""
    arm, made, place = _arm(), objects(), folder()
    file = {"path": place / "out.txt"}
    time = np.arange(60) / 50
    phase, rate = np.outer(time, [3.0, 4.0]), np.array([3.0, 4.0])
    motion = np.sin(phase), rate * np.cos(phase), -(rate**2) * np.sin(phase)
    recorded = {"time": time, "q": motion[0], "tau": arm.inverse_dynamics(*motion)}
    return {
        "da.Robot": {"name": "a"}, "da.Joint": {"name": "a"}, "da.Frame": {"name": "a", "link": "base"}, "da.Link": {"name": "a"},
        "da.Mimic": {"joint": "a"}, "da.Coupling": {"names": ("a",), "matrix": [[1.0], [2.0]], "offset": [0.0, 0.1]},
        "da.Transmission": {"names": ("m",), "matrix": [[1.0, 2.0]]}, "robot.with_transmission": {"matrix": [2.0, 3.0]},
        "coupled.with_transmission": {"matrix": [2.0, 3.0]}, "coupled.from_uncoupled": {"q": [0.1, 0.2, 0.1]},
        "coupled.with_parameters": {"parameters": da.random_robot(1, "RRR").parameters()}, "coupled.save": {"path": place / "arm4.toml"},
        "coupled.simulate": {"duration": 0.01}, "coupled.torques_along": {"path": made["quintic"]}, "coupled.impedance": {"target": np.eye(4), "damping": np.ones(6)},
        "coupled.computed_torque": {"kp": HALF, "kd": HALF}, "coupled.gravity_compensation": {"damping": HALF}, "coupled.momentum_observer": {"gain": HALF},
        "coupled.speed_limit": {"tolerance": 0.1}, "coupled.sectional_curvature": {"u": [1.0, 0.0], "v": [0.0, 1.0]},
        **{f"coupled.{name}": {"rows": ("vx", "vy")} for name in ("task_inertia", "task_bias", "task_gravity", "dynamically_consistent_inverse")},
        "closed.with_transmission": {"matrix": [2.0, 3.0]}, "closed.with_parameters": {"parameters": da.random_robot(1, "RR").parameters()},
        "closed.save": {"path": place / "arm5.toml"}, "closed.simulate": {"q0": np.zeros(2), "duration": 0.01}, "closed.torques_along": {"path": made["quintic"]},
        "closed.impedance": {"target": np.eye(4), "damping": np.ones(6)}, "closed.computed_torque": {"kp": HALF, "kd": HALF},
        "closed.gravity_compensation": {"damping": HALF}, "closed.momentum_observer": {"gain": HALF}, "closed.speed_limit": {"tolerance": 0.1},
        "no joints.with_transmission": {"matrix": np.zeros((0, 0))}, "da.robot": {"name": "two_link"}, "da.load": {"path": place / "arm.toml"},
        "da.trapezoidal": {"acceleration": 1.0}, "da.casadi_function": {"program": made["program"]}, "da.compile_program": {"program": made["program"]},
        "da.compare": {"robot": arm, "quantities": "mass_matrix", "states": 10}, "da.complexity": {"quantity": "mass_matrix"},
        "da.differentiate": {"program": made["program"]}, "da.jax_function": {"program": made["program"]},
        "da.enclosure": {"program": made["program"], "lower": {"q": HALF}, "upper": {"q": HALF + 0.1}},
        "da.torch_function": {"program": made["program"]}, "da.sympy_expressions": {"program": made["program"]},
        "da.replay": {"program": made["program"], "inputs": {"q": HALF}},
        "da.derive": {"robot": arm}, "da.equations": {"robot": arm}, "da.lie_two_joint": {"robot": arm},
        "da.ComputedTorque": {"robot": arm, "path": made["quintic"]}, "da.GravityPD": {"robot": arm},
        "da.SlotineLi": {"robot": arm, "path": made["quintic"]}, "da.Trajectory.load": {"path": place / "motion.csv", "robot": arm},
        "da.TaskSpaceControl": {"robot": arm, "path": da.quintic([1, 0, 0], [1, 1, 0], 1.0), "rows": ("vx", "vy")},
        "da.Recording": {"robot": arm, **recorded}, "da.Recording.load": {"path": place / "motion.csv", "robot": arm},
        "da.identify": {"robot": arm, "recordings": da.Recording(arm, **recorded), "progress": False},
        "da.identify_payload": {"robot": arm, "recordings": da.Recording(arm, **recorded)},
        "da.excitation": {"robot": arm, "starts": 1, "harmonics": 2, "period": 2.0, "progress": False},
        "da.MotorCurve": {"speed": [0.0, 4.0], "peak": [90.0, 50.0]}, "da.MotorCurve.load": {"path": place / "motors.csv"}, "motor.load": {"path": place / "motors.csv"},
        "motor.geared": {"ratio": 2.0}, "motor.peak_at": {"speed": 1.0}, "motor.continuous_at": {"speed": 1.0}, "sizing.save": {"path": place / "out.csv"},
        **{f"{kind}.size": {"velocity": 1.0, "motor": made["motor"], "samples": 12, "progress": False} for kind in ("robot", "coupled", "closed", "no joints")},
        **{f"{kind}.largest_payload": {"motor": made["motor"]} for kind in ("robot", "coupled", "closed", "no joints")},
        "da.GravityCompensation": {"robot": arm}, "da.Impedance": {"robot": arm, "target": np.eye(4)},
        "da.MomentumObserver": {"robot": arm, "gain": 10.0}, "momentum_observer.along": dict.fromkeys(("q", "qd", "tau"), np.zeros((3, N))),
        "da.line": dict.fromkeys(("start", "goal"), np.eye(4)), "da.circle": {"start": np.eye(4)}, "da.pose_spline": {"poses": [np.eye(4)] * 2},
        **{f"{kind}.follow": {"path": da.line(*(da.Pose.of((1.0, y, 0.0)) for y in (0.5, 0.6)), 1.0), "rows": ("vx", "vy", "vz")} for kind in ("robot", "coupled", "closed", "no joints")},
        "robot.gravity_compensation": {"damping": HALF}, "no joints.gravity_compensation": {"damping": np.zeros(0)},
        "robot.computed_torque": {"kp": HALF, "kd": HALF}, "no joints.computed_torque": {"kp": np.zeros(0), "kd": np.zeros(0)},
        **{f"{kind}.impedance": {"target": np.eye(4), "damping": np.ones(6)} for kind in ("robot", "no joints")},
        "robot.momentum_observer": {"gain": HALF}, "no joints.momentum_observer": {"gain": np.zeros(0)},
        "da.trace.trace": {"function": lambda x=0: x + x, "inputs": {"x": (2,)}}, "da.trace.operation_count": {"program": made["program"]},
        "da.trace.tally": {"function": lambda x=0: x + x, "inputs": {"x": (2,)}},
        "states.evaluate_states": {
            "robot": arm, "quantity": "inverse_dynamics", "source": place / "states.csv", "target": place / "out.csv",
        },
        "files.load_states": {"robot": arm, "source": place / "states.csv"},
        "files.read_states": {"robot": arm, "source": place / "states.csv"},
        "files.write_states": {"robot": arm, "target": place / "out.csv", "states": [{"q": np.zeros((1, N))}]},
        **{f"{kind}.bound": {"tolerance": 0.5, "seconds": 0.01, "progress": False, "over": {"q": (-0.1, 0.1)}} for kind in ("robot", "no joints", "coupled", "closed")},
        "robot.with_parameters": {"parameters": arm.parameters()}, "robot.torques_along": {"path": made["quintic"]},
        "robot.save": {"path": place / "arm2.toml"}, "robot.least_effort": {"knots": 4, "progress": False}, "robot.simulate": {"duration": 0.01},
        "robot.rollout": {"duration": 0.01, "slip_speed": 0.1},
        "robot.optimal_control": {"duration": 0.1, "iterations": 3, "slip_speed": 0.1, "progress": False},
        "da.torch_rollout": {"robot": smooth(), "duration": 0.01},
        "da.jax_rollout": {"robot": smooth(), "duration": 0.01},
        **{f"{kind}.fastest": {"path": [[0.0, 0.0], [1.0, 0.5]], "torque": 200.0, "points": 50} for kind in ("robot", "coupled", "closed", "no joints")},
        "fastest.__call__": {"time": 0.1}, "fastest.at": {"time": 0.1}, "fastest.to_csv": {"path": place / "out.csv"}, "fastest.to_npz": {"path": place / "out.npz"},
        "fastest.load": {"path": place / "motion.csv", "robot": arm},
        "least_effort.at": {"time": 0.1}, "least_effort.to_csv": {"path": place / "out.csv"}, "least_effort.to_npz": {"path": place / "out.npz"},
        "least_effort.load": {"path": place / "motion.csv", "robot": arm},
        **{f"{kind}.sweep": {"over": SWEPT, "samples": 100} for kind in ("robot", "coupled", "closed", "no joints")},
        "sweep.states": {"number": 3}, "sweep.values": {"number": 3}, "sweep.save": {"path": place / "out.json"}, "sweep.labels": {"name": "inverse_dynamics"},
        "sweep.refine": {"starts": 2},
        "robot.task_inertia": {"rows": ("vx", "vy"), "frame": "body"}, "robot.task_bias": {"rows": ("vx", "vy"), "frame": "body"},
        "robot.task_gravity": {"rows": ("vx", "vy")}, "robot.dynamically_consistent_inverse": {"rows": ("vx", "vy")},
        "robot.sectional_curvature": {"u": [1.0, 0.0], "v": [0.0, 1.0]},
        **{f"robot.{name}_pinocchio": {"names": PINOCCHIO} for name in ("to", "from")},
        **{f"{kind}.reorder": {"from_names": ["joint2", "joint1"]} for kind in ("robot", "coupled", "closed")},
        "no joints.reorder": {"array": [], "from_names": []}, "no joints.to_dict": {"array": []}, "no joints.to_array": {"values": {}},
        "no joints.locate": {"name": "base"}, "no joints.lock": {"positions": {}}, "no joints.with_parameters": {"parameters": []},
        "no joints.save": {"path": place / "arm3.toml"}, "no joints.torques_along": {"path": made["quintic"]},
        "trajectory.at": {"time": 0.005}, "rollouts.at": {"time": 0.005}, "joint.motion": {"q": 0.5}, "link.pose": {"q": 0.5},
        "kernel.__call__": {"arrays": HALF}, "numpy kernel.__call__": {"arrays": HALF},
        "trajectory.to_csv": {"path": place / "out.csv"}, "trajectory.to_npz": {"path": place / "out.npz"},
        "rollouts.to_csv": {"path": place / "out.csv"}, "rollouts.to_npz": {"path": place / "out.npz"},
        "equations.evaluate": {}, "equations.save": file, "closed_equations.evaluate": {}, "closed_equations.save": file, "shared.save": file, "form.diff": {"name": "q1"},
        "form.evaluate": {"values": dict.fromkeys(made["equations"].names, 1.0) | {"q1": 0.1, "q2": 0.1}},
        "form.__add__": {"other": 1}, "pose.snapped": {"tolerance": 1e-6}, "derivation.save": {"path": place / "out.md"},
        "derivation.__getitem__": {"name": "D"}, "derivation.equation": {"name": "A1"}, "comparison.cells": {"quantity": "mass_matrix"}, "code.save": {"path": place},
        **{
            f"{kind}.{name}": given
            for kind in ("da.Inertia", "inertia")
            for name, given in (("rod", {"start": (0, 0, 0)}), ("from_particles", {"points": [[0, 0, 1]]}))
        },
        "da.algebra.skew": {"a": (0, 0, 1)}, "da.algebra.unhat": {"matrix": np.eye(4)}, "da.algebra.matrix_rate": {"local_rate": np.eye(6)},
        "da.algebra.screw": {"pitch": 1.0}, "robot.speed_limit": {"tolerance": 0.1},
        "da.algebra.kinetic_energy_by_trace": {"rate": np.eye(3)},
        **{f"da.algebra.{name}": {"pose": np.eye(4)} for name in ("Ad", "Ad_dual", "inverse", "log_se3", "body_twist", "space_twist")},
        "findings.about": {"topic": "inertia"}, "da.Inertia.from_parameters": {"parameters": np.r_[1.0, np.zeros(9)]},
        "inertia.from_parameters": {"parameters": np.r_[1.0, np.zeros(9)]}, "slotine_li.__call__": {"memory": made["slotine_li"].memory},
        "symbolic.tree": {"parameters": np.ones(2)}, "symbolic.loop_frames": {"parameters": np.ones(2)}, "symbolic.program": {"quantity": "mass_matrix"},
        "trajectory.load": {"path": place / "motion.csv", "robot": arm}, "rollouts.load": {"path": place / "motion.csv", "robot": arm},
    }  # fmt: skip


# made by functions of this package and plain containers, or for those who write formulations: not for calls with anything
NOT_CALLED = {
    "da.Comparison", "da.Excitation", "da.Sizing", "da.InverseKinematics", "da.Identification", "da.Payload", "da.Derivation", "da.Equations", "da.Form", "da.OperationCount", "da.Program", "da.Source", "da.Tree",
    "da.Trajectory", "da.LeastEffort", "da.Fastest", "da.Feedback", "da.OptimalControl", "da.Rollout", "da.Sweep", "da.Refined", "da.Bound",
    "da.trace.Angle", "da.trace.Expr", "da.trace.OperationCount", "da.trace.Program", "da.trace.Residue", "da.trace.Variable",
    "da.bench", "da.study", "da.live", "da.sources",  # which take seconds
    "da.algebra.Body", "da.algebra.Screw",
    "kernel.here", "kernel.narrow",  # what a thread runs, arrays as they are
    "kernel.serve",  # fills a table of addresses
}  # fmt: skip
SPECIAL_METHODS = ("__call__", "__getitem__", "__add__", "__matmul__")


def _public(thing: Any) -> list[str]:
    named = (name for name in dir(type(thing)) if name in SPECIAL_METHODS or not name.startswith("_"))
    return [name for name in named if not isinstance(getattr(type(thing), name), Foreign)]


@cache
def subjects() -> dict[str, Subject]:
    """Everything public that can be called, with valid arguments."""
    functions: dict[str, Any] = {}
    for prefix, module in (
        ("da", da),
        ("da.algebra", da.algebra),
        ("da.trace", da.trace),
        ("da.cache", da.cache),
        ("files", files),
    ):
        for name in dir(module):
            thing = getattr(module, name)
            own = getattr(thing, "__module__", "").startswith("dalembert")
            known = f"{prefix}.{name}" in NOT_CALLED or any(thing is other for other in functions.values())
            if callable(thing) and own and not name.startswith("_") and not known:
                functions[f"{prefix}.{name}"] = thing
    for name, thing in list(functions.items()):
        if isinstance(thing, type) and issubclass(thing, Exception):
            del functions[name]
    for name in ("cache.get", "cache.put"):
        functions.pop(f"da.{name}", None)
    for prefix, thing in objects().items():
        for name in _public(thing):
            known = getattr(getattr(type(thing), name), "__module__", "") or ""
            if callable(getattr(thing, name)) and known.startswith("dalembert") and f"{prefix}.{name}" not in NOT_CALLED:
                functions[f"{prefix}.{name}"] = getattr(thing, name)
    for kind in (
        *("from_com", "from_origin", "from_parameters", "from_pseudo_inertia", "from_radii", "point", "rod", "box", "cylinder"),
        *("sphere", "from_particles", "from_mesh"),
    ):
        functions[f"da.Inertia.{kind}"] = getattr(da.Inertia, kind)
    functions["da.Trajectory.load"] = da.Trajectory.load
    functions["da.MotorCurve.load"] = da.MotorCurve.load
    functions["states.evaluate_states"] = states.evaluate_states
    return {name: _subject(name, function) for name, function in functions.items()}


def _subject(name: str, function: Any) -> Subject:
    valid, names, positional = dict(special().get(name, {})), [], []
    for parameter in inspect.signature(function).parameters.values():
        if parameter.kind is parameter.VAR_POSITIONAL:
            positional.append(parameter.name)
        elif parameter.kind is not parameter.VAR_KEYWORD:
            names.append(parameter.name)
            if parameter.default is parameter.empty and parameter.name not in valid:
                if name.startswith("no joints.") and VALID.get(parameter.name) is HALF:
                    valid[parameter.name] = np.zeros(0)
                elif parameter.name in VALID:
                    valid[parameter.name] = VALID[parameter.name]
                else:
                    raise Failure(f"{name} needs {parameter.name}: give calls.py a valid value of it")
    return Subject(function, valid, tuple(names), tuple(positional))


def case(seed: int) -> None:
    """One call: a valid one with one or two arguments replaced."""
    rng = random.Random(seed)
    name = rng.choice(list(subjects()))
    subject = subjects()[name]
    places = [*subject.names, *subject.positional]
    chosen = rng.sample(places, min(len(places), 1 if rng.random() < 0.8 else 2))
    call(name, {place: rng.choice(list(JUNK)) for place in chosen})


def call(name: str, junk: dict[str, str]) -> None:
    """A call with junk by the names of its arguments; raises Failure unless it returns or explains."""
    subject = subjects()[name]
    given = {**subject.valid, **{place: JUNK[what]() for place, what in junk.items()}}
    more = [given.pop(place) for place in subject.positional if place in given]
    what = f"{name}({', '.join(f'{place}=<{kind}>' for place, kind in junk.items())})"
    with tempfile.TemporaryDirectory() as place, _inside(place):
        try:
            found = subject.function(*more, **given)
            if inspect.isgenerator(found):
                for _ in found:
                    pass
        except Exception as error:
            explained(error, what)
        finally:
            da.set_threads(None)
            da.set_recycling(128 << 20)


class _inside:
    """In another folder, since some junk is the name of a file; nothing is printed."""

    def __init__(self, place: str) -> None:
        self.place = place

    def __enter__(self) -> None:
        import contextlib

        self.stack = contextlib.ExitStack()
        self.stack.enter_context(contextlib.chdir(self.place))
        self.stack.enter_context(contextlib.redirect_stdout(io.TextIOWrapper(io.BytesIO())))
        self.stack.enter_context(contextlib.redirect_stderr(io.StringIO()))

    def __exit__(self, *about: Any) -> None:
        self.stack.__exit__(*about)


# what is refused with any arguments: a robot without joints has little to compute, some things are for one rollout or for several,
# closed forms have no sines of sums of products, its metric is not flat; and kernels, whose arrays have no names
REFUSING = (
    *(
        "no joints.",
        "coupled.",  # what trees alone have
        "closed.",
        *(f"robot.{name}" for name in ("settle", "with_loop", "with_independent", "loop_", "closed_motion", "constraint_dynamics")),
        "robot.independent_jacobian",
        "robot.to_motors",
        "robot.canonical_coordinates",
        "trajectory.__getitem__",
        "fastest.__getitem__",
        "least_effort.__getitem__",
        "rollouts.plot",
        "rollouts.to_csv",
        "rollouts.to_pandas",
    ),
    *("form.cos", "form.sin", "kernel.__call__", "numpy kernel.__call__"),
)


def valid_calls() -> None:
    """All calls with valid arguments work; else junk would be refused for another reason."""
    with tempfile.TemporaryDirectory() as place, _inside(place):
        for name, subject in subjects().items():
            if name.startswith(REFUSING):
                continue
            try:
                given = dict(subject.valid)
                subject.function(*(given.pop(place) for place in subject.positional if place in given), **given)
            except Exception as error:
                raise Failure(f"the valid call of {name} fails: {shown(error)}") from error
