"""dalembert: the dynamics of robot arms and other open kinematic chains.

>>> import dalembert as da
>>> arm = da.robot("puma560")
>>> tau = arm.inverse_dynamics(arm.neutral(), [0.0] * 6, [0.0] * 6)
>>> tau.shape
(6,)
"""

import sys as _sys
import typing as _typing
from importlib import import_module as _import_module
from pathlib import Path as _Path

from dalembert import algebra as algebra
from dalembert import foreign as _foreign
from dalembert import trace as trace
from dalembert.engine.registry import methods as methods
from dalembert.errors import DataWarning as DataWarning
from dalembert.errors import Error as Error
from dalembert.errors import PerformanceWarning as PerformanceWarning
from dalembert.errors import SingularWarning as SingularWarning
from dalembert.model import files as _files
from dalembert.model import random as _random
from dalembert.model import zoo as _zoo
from dalembert.model.dh import DHRow as DHRow
from dalembert.model.inertia import Inertia as Inertia
from dalembert.model.links import Frame as Frame
from dalembert.model.links import Joint as Joint
from dalembert.model.links import Link as Link
from dalembert.model.links import Mimic as Mimic
from dalembert.model.pose import Pose as Pose
from dalembert.model.tree import Tree as Tree
from dalembert.model.wrench import Wrench as Wrench
from dalembert.model.zoo import robot_names as robot_names
from dalembert.motion.paths import quintic as quintic
from dalembert.motion.paths import spline as spline
from dalembert.motion.paths import trapezoidal as trapezoidal
from dalembert.native import cache as cache
from dalembert.native import compile_program as compile_program
from dalembert.native import get_threads as get_threads
from dalembert.native import set_threads as set_threads
from dalembert.robots import Robot as Robot
from dalembert.simulation.trajectory import Trajectory as Trajectory
from dalembert.trace import OperationCount as OperationCount
from dalembert.trace import Program as Program
from dalembert.trace import differentiate as differentiate
from dalembert.trace import enclosure as enclosure
from dalembert.trace import replay as replay
from dalembert.version import __version__ as __version__

if _typing.TYPE_CHECKING:
    from dalembert.control.controllers import ComputedTorque as ComputedTorque
    from dalembert.control.controllers import GravityPD as GravityPD
    from dalembert.control.controllers import SlotineLi as SlotineLi
    from dalembert.control.controllers import TaskSpaceControl as TaskSpaceControl
    from dalembert.interop import casadi_function as casadi_function
    from dalembert.interop import jax_function as jax_function
    from dalembert.interop import sympy_expressions as sympy_expressions
    from dalembert.interop import torch_function as torch_function
    from dalembert.studies.bench import bench as bench
    from dalembert.studies.compare import Comparison as Comparison
    from dalembert.studies.compare import compare as compare
    from dalembert.studies.complexity import complexity as complexity
    from dalembert.studies.proof import prove_equal as prove_equal
    from dalembert.studies.report import study as study
    from dalembert.symbolic.closed_form.equations import Equations as Equations
    from dalembert.symbolic.closed_form.equations import equations as equations
    from dalembert.symbolic.closed_form.form import Form as Form
    from dalembert.symbolic.closed_form.lie import lie_two_joint as lie_two_joint
    from dalembert.symbolic.derivation import Derivation as Derivation
    from dalembert.symbolic.derivation import derive as derive

# loaded on first use, so that importing the package stays fast
_LATER = {
    "ComputedTorque": "control.controllers",
    "GravityPD": "control.controllers",
    "SlotineLi": "control.controllers",
    "TaskSpaceControl": "control.controllers",
    "casadi_function": "interop",
    "jax_function": "interop",
    "sympy_expressions": "interop",
    "torch_function": "interop",
    "bench": "studies.bench",
    "Comparison": "studies.compare",
    "compare": "studies.compare",
    "complexity": "studies.complexity",
    "prove_equal": "studies.proof",
    "study": "studies.report",
    "Equations": "symbolic.closed_form.equations",
    "equations": "symbolic.closed_form.equations",
    "Form": "symbolic.closed_form.form",
    "lie_two_joint": "symbolic.closed_form.lie",
    "Derivation": "symbolic.derivation",
    "derive": "symbolic.derivation",
}


if not _typing.TYPE_CHECKING:  # else no name of the package would be unknown to a type checker

    def __getattr__(name: str) -> _typing.Any:
        if name not in _LATER:
            hint = f"; {_foreign.hint(name)}" if name in _foreign.FOREIGN else ""
            raise AttributeError(f"module 'dalembert' has no attribute {name!r}{hint}", name=name, obj=_sys.modules[__name__])
        value = globals()[name] = getattr(_import_module(f"dalembert.{_LATER[name]}"), name)
        return value


def __dir__() -> list[str]:
    return sorted({*globals(), *_LATER})


def robot(name: str) -> Robot:
    """A built-in robot by name; `robot_names()` lists them."""
    return _zoo.robot(Robot, name)


def load(path: str | _Path) -> Robot:
    """A robot from a URDF or TOML file. Suspicious data are kept as they are, with one warning; `robot.check()` lists them."""
    return _files.load(Robot, path)


def random_robot(seed: int, joints: str = "RPRRP", parents: list[int] | tuple[int, ...] | None = None) -> Robot:
    """A random robot with full inertias, general geometry and tilted gravity; the same for the same arguments.

    >>> random_robot(7, "RPH")
    <Robot 'random_RPH_7': 3 joints RPH>
    """
    return _random.random_robot(Robot, seed, joints, parents)
