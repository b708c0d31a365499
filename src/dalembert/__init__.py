"""dalembert: the dynamics of robot arms and other open kinematic chains.

>>> import dalembert as da
>>> arm = da.robot("puma560")
>>> tau = arm.inverse_dynamics(arm.neutral(), [0.0] * 6, [0.0] * 6)
>>> tau.shape
(6,)
"""

from pathlib import Path as _Path

from dalembert import trace as trace
from dalembert.bridges import casadi_function as casadi_function
from dalembert.bridges import jax_function as jax_function
from dalembert.bridges import sympy_expressions as sympy_expressions
from dalembert.bridges import torch_function as torch_function
from dalembert.closed_form.equations import Equations as Equations
from dalembert.closed_form.equations import equations as equations
from dalembert.closed_form.form import Form as Form
from dalembert.closed_form.lie import lie_two_joint as lie_two_joint
from dalembert.derivation import Derivation as Derivation
from dalembert.derivation import derive as derive
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
from dalembert.model.zoo import robot_names as robot_names
from dalembert.native import cache as cache
from dalembert.native import compile_program as compile_program
from dalembert.native import get_threads as get_threads
from dalembert.native import set_threads as set_threads
from dalembert.proof import prove_equal as prove_equal
from dalembert.quantities.table import methods as methods
from dalembert.quantities.wrench import Wrench as Wrench
from dalembert.robot import Robot as Robot
from dalembert.simulate.controllers import ComputedTorque as ComputedTorque
from dalembert.simulate.controllers import GravityPD as GravityPD
from dalembert.simulate.controllers import SlotineLi as SlotineLi
from dalembert.simulate.controllers import TaskSpaceControl as TaskSpaceControl
from dalembert.simulate.paths import quintic as quintic
from dalembert.simulate.paths import spline as spline
from dalembert.simulate.paths import trapezoidal as trapezoidal
from dalembert.simulate.trajectory import Trajectory as Trajectory
from dalembert.study.compare import Comparison as Comparison
from dalembert.study.compare import compare as compare
from dalembert.study.complexity import complexity as complexity
from dalembert.trace import OperationCount as OperationCount
from dalembert.trace import Program as Program
from dalembert.trace import differentiate as differentiate
from dalembert.trace import enclosure as enclosure
from dalembert.trace import replay as replay

__version__ = "0.1.0"


def robot(name: str) -> Robot:
    """A built-in robot by name; `robot_names()` lists them."""
    return _zoo.robot(Robot, name)


def load(path: str | _Path) -> Robot:
    """A robot from a URDF or TOML file. Doubtful data are taken as they are, with one warning; `robot.check()` lists them."""
    return _files.load(Robot, path)


def random_robot(seed: int, joints: str = "RPRRP", parents: list[int] | tuple[int, ...] | None = None) -> Robot:
    """A random robot with full inertias, general geometry and tilted gravity; the same for the same arguments.

    >>> random_robot(7, "RPH")
    <Robot 'random_RPH_7': 3 joints RPH>
    """
    return _random.random_robot(Robot, seed, joints, parents)
