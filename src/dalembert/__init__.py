"""dalembert: the dynamics of robot arms and of other machines of rigid links and joints.

>>> import dalembert as da
>>> arm = da.robot("puma560")
>>> tau = arm.inverse_dynamics(arm.neutral(), [0.0] * 6, [0.0] * 6)
>>> tau.shape
(6,)
"""

import sys as _sys
import typing as _typing
from importlib import import_module as _import_module

from dalembert import imported as imported  # before any other module: it keeps the state of their files
from dalembert.version import __version__ as __version__

if _typing.TYPE_CHECKING:
    from dalembert import algebra as algebra
    from dalembert import trace as trace
    from dalembert.bounds.result import Bound as Bound
    from dalembert.control.contact import GravityCompensation as GravityCompensation
    from dalembert.control.contact import Impedance as Impedance
    from dalembert.control.contact import MomentumObserver as MomentumObserver
    from dalembert.control.controllers import ComputedTorque as ComputedTorque
    from dalembert.control.controllers import GravityPD as GravityPD
    from dalembert.control.controllers import SlotineLi as SlotineLi
    from dalembert.control.controllers import TaskSpaceControl as TaskSpaceControl
    from dalembert.engine.registry import methods as methods
    from dalembert.errors import AccuracyWarning as AccuracyWarning
    from dalembert.errors import DataWarning as DataWarning
    from dalembert.errors import Error as Error
    from dalembert.errors import LimitWarning as LimitWarning
    from dalembert.errors import PerformanceWarning as PerformanceWarning
    from dalembert.errors import SingularWarning as SingularWarning
    from dalembert.identification.excitation import Excitation as Excitation
    from dalembert.identification.excitation import excitation as excitation
    from dalembert.identification.identify import identify as identify
    from dalembert.identification.payload import Payload as Payload
    from dalembert.identification.payload import identify_payload as identify_payload
    from dalembert.identification.recording import Recording as Recording
    from dalembert.identification.result import Identification as Identification
    from dalembert.interop import casadi_function as casadi_function
    from dalembert.interop import jax_function as jax_function
    from dalembert.interop import jax_rollout as jax_rollout
    from dalembert.interop import sympy_expressions as sympy_expressions
    from dalembert.interop import torch_function as torch_function
    from dalembert.interop import torch_rollout as torch_rollout
    from dalembert.model.coupling import Coupling as Coupling
    from dalembert.model.coupling import Transmission as Transmission
    from dalembert.model.dh import DHRow as DHRow
    from dalembert.model.inertia import Inertia as Inertia
    from dalembert.model.links import Frame as Frame
    from dalembert.model.links import Joint as Joint
    from dalembert.model.links import Link as Link
    from dalembert.model.links import Mimic as Mimic
    from dalembert.model.loop import Loop as Loop
    from dalembert.model.pose import Pose as Pose
    from dalembert.model.tree import Tree as Tree
    from dalembert.model.wrench import Wrench as Wrench
    from dalembert.model.zoo import robot_names as robot_names
    from dalembert.motion.hand import circle as circle
    from dalembert.motion.hand import line as line
    from dalembert.motion.hand import pose_spline as pose_spline
    from dalembert.motion.paths import quintic as quintic
    from dalembert.motion.paths import spline as spline
    from dalembert.motion.paths import trapezoidal as trapezoidal
    from dalembert.native import cache as cache
    from dalembert.native import compile_program as compile_program
    from dalembert.native import get_threads as get_threads
    from dalembert.native import set_recycling as set_recycling
    from dalembert.native import set_threads as set_threads
    from dalembert.native.enclosure import enclosure as enclosure
    from dalembert.planning.fastest import Fastest as Fastest
    from dalembert.planning.feedback import Feedback as Feedback
    from dalembert.planning.inverse_kinematics import InverseKinematics as InverseKinematics
    from dalembert.planning.least_effort import LeastEffort as LeastEffort
    from dalembert.planning.optimal_control import OptimalControl as OptimalControl
    from dalembert.planning.rollout import Rollout as Rollout
    from dalembert.robots import Robot as Robot
    from dalembert.robots import load as load
    from dalembert.robots import random_robot as random_robot
    from dalembert.robots import robot as robot
    from dalembert.simulation.trajectory import Trajectory as Trajectory
    from dalembert.sizing.motors import MotorCurve as MotorCurve
    from dalembert.sizing.result import Sizing as Sizing
    from dalembert.studies.bench import bench as bench
    from dalembert.studies.compare import Comparison as Comparison
    from dalembert.studies.compare import compare as compare
    from dalembert.studies.complexity import complexity as complexity
    from dalembert.studies.concordance import Source as Source
    from dalembert.studies.concordance import source as source
    from dalembert.studies.concordance import sources as sources
    from dalembert.studies.proof import prove_equal as prove_equal
    from dalembert.studies.report import live as live
    from dalembert.studies.report import study as study
    from dalembert.sweeps.refining import Refined as Refined
    from dalembert.sweeps.result import Sweep as Sweep
    from dalembert.symbolic.closed_form.equations import Equations as Equations
    from dalembert.symbolic.closed_form.equations import equations as equations
    from dalembert.symbolic.closed_form.form import Form as Form
    from dalembert.symbolic.closed_form.lie import lie_two_joint as lie_two_joint
    from dalembert.symbolic.derivation import Derivation as Derivation
    from dalembert.symbolic.derivation import derive as derive
    from dalembert.trace import OperationCount as OperationCount
    from dalembert.trace import Program as Program
    from dalembert.trace import differentiate as differentiate
    from dalembert.trace import replay as replay

# where the names above are: each is imported when it is first read, so that nobody waits for what is not used
_PLACES = {
    "bounds.result": "Bound",
    "control.contact": "GravityCompensation Impedance MomentumObserver",
    "control.controllers": "ComputedTorque GravityPD SlotineLi TaskSpaceControl",
    "engine.registry": "methods",
    "errors": "AccuracyWarning DataWarning Error LimitWarning PerformanceWarning SingularWarning",
    "identification.excitation": "Excitation excitation",
    "identification.identify": "identify",
    "identification.payload": "Payload identify_payload",
    "identification.recording": "Recording",
    "identification.result": "Identification",
    "interop": "casadi_function jax_function jax_rollout sympy_expressions torch_function torch_rollout",
    "model.coupling": "Coupling Transmission",
    "model.dh": "DHRow",
    "model.inertia": "Inertia",
    "model.links": "Frame Joint Link Mimic",
    "model.loop": "Loop",
    "model.pose": "Pose",
    "model.tree": "Tree",
    "model.wrench": "Wrench",
    "model.zoo": "robot_names",
    "motion.hand": "circle line pose_spline",
    "motion.paths": "quintic spline trapezoidal",
    "native": "cache compile_program get_threads set_recycling set_threads",
    "planning.inverse_kinematics": "InverseKinematics",
    "planning.least_effort": "LeastEffort",
    "planning.feedback": "Feedback",
    "planning.optimal_control": "OptimalControl",
    "planning.rollout": "Rollout",
    "planning.fastest": "Fastest",
    "native.enclosure": "enclosure",
    "robots": "Robot load random_robot robot",
    "simulation.trajectory": "Trajectory",
    "sizing.motors": "MotorCurve",
    "sizing.result": "Sizing",
    "studies.bench": "bench",
    "studies.compare": "Comparison compare",
    "studies.complexity": "complexity",
    "studies.concordance": "Source source sources",
    "studies.proof": "prove_equal",
    "studies.report": "live study",
    "sweeps.refining": "Refined",
    "sweeps.result": "Sweep",
    "symbolic.closed_form.equations": "Equations equations",
    "symbolic.closed_form.form": "Form",
    "symbolic.closed_form.lie": "lie_two_joint",
    "symbolic.derivation": "Derivation derive",
    "trace": "OperationCount Program differentiate replay",
}
_PACKAGES = ("algebra", "trace")
_LATER = {name: place for place, names in _PLACES.items() for name in names.split()}


if not _typing.TYPE_CHECKING:  # else no name of the package would be unknown to a type checker

    def __getattr__(name: str) -> _typing.Any:
        if name in _PACKAGES:
            return _import_module(f"dalembert.{name}")
        if name not in _LATER:
            foreign = _import_module("dalembert.foreign")
            robot = getattr(
                _sys.modules.get("dalembert.robots"), "Robot", None
            )  # not imported for this: `import` asks for modules here
            hint = f"; {foreign.hint(name)}" if name in foreign.FOREIGN else ""
            if not hint and robot is not None and callable(getattr(robot, name, None)):
                hint = f": it is a method of a robot, robot.{name}"
            raise AttributeError(f"module 'dalembert' has no attribute {name!r}{hint}", name=name, obj=_sys.modules[__name__])
        value = globals()[name] = getattr(_import_module(f"dalembert.{_LATER[name]}"), name)
        return value


def __dir__() -> list[str]:
    return sorted({*_LATER, *_PACKAGES, *(name for name in globals() if name.startswith("__"))})
