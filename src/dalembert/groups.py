"""Specialized functions of a robot in groups, so that completion after `arm.` is a list that one can read."""

from inspect import getdoc
from typing import Any

from dalembert.text import Text, table


class Group:
    """Functions of a robot that belong together: `arm.books.<TAB>` completes them, and printing `arm.books` lists them.

    They are the robot's own: `arm.books.probe` is `arm.probe`. Only completion leaves them out after `arm.`.
    """

    def __init__(self, about: str, names: str) -> None:
        self.__doc__, self.names = about, tuple(names.split())

    def __get__(self, robot: Any, owner: type) -> Any:
        return self if robot is None else Members(robot, self)


class Members:
    """A group of functions of one robot."""

    def __init__(self, robot: Any, group: Group) -> None:
        self._robot, self._group = robot, group

    def __getattr__(self, name: str) -> Any:
        if name in self._group.names:
            return getattr(self._robot, name)
        raise AttributeError(f"this group has no {name!r}; it has {', '.join(self._group.names)}")

    def __dir__(self) -> list[str]:
        return [*super().__dir__(), *self._group.names]

    def __repr__(self) -> str:
        rows = [["function", "what it returns"]]
        rows += [[name, (getdoc(getattr(type(self._robot), name)) or "").split("\n")[0]] for name in self._group.names]
        return Text(table(rows))


books = Group(
    "The terms that the books and papers define.",
    """lagrange_euler_terms lagrange_euler_matrices dalembert_terms dalembert_velocity_terms newton_euler_pass stacked_operators
    stacked_terms zero_pose_factors partial_velocities kinetic_energy_partials kinetic_energy_parts suffix_sums probe
    torque_components diagonalized_terms""",
)
diagonalized = Group(
    "The equations of motion in quasi-velocities, in which the mass matrix is the identity or diagonal.",
    """diagonalize quasi_velocity joint_velocity quasi_force joint_force quasi_coriolis quasi_coriolis_matrix spatial_operators
    spatial_operator_rates""",
)
curvature = Group(
    "The mass matrix as a metric: its curvature, and coordinates in which it is constant.",
    "riemann_curvature scalar_curvature sectional_curvature is_flat canonical_coordinates path_energy",
)
simplified = Group(
    "Which terms matter, and what becomes of the results without the others.",
    "dominance zero_couplings inverse_dynamics_without_coriolis speed_limit",
)
GROUPS = (books, diagonalized, curvature, simplified)
# for those who write formulations
INTERNAL = ("memo", "locate", "open", "cut", "is_tree", "runs", "several", "virtual", "exact_tree", "exact_base", "reduced_tree")
HIDDEN = {*INTERNAL, *(name for group in GROUPS for name in group.names)}
