"""Digests and counts of programs, a line each: for a process of its own, whose BLAS and vector instructions are chosen from outside.

`python tests/digests.py few` traces a few programs of a general arm, `quick` those of a built-in robot too, `full` every method of
every quantity for all built-in robots and for general arms. For robots of more than three joints, and for general arms after the
first, `full` leaves out what one function makes from programs that are in the list: derivatives and parts by
other than the default method, and the rates of 6n x 6n operators. Everything for all robots would take an hour.
"""

import sys

from builtin import ARMS

import dalembert as da
from dalembert.engine.registry import QUANTITIES
from dalembert.studies.complexity import general_chain
from dalembert.trace.count import operation_count

SEEDS = range(12)
JOINTS = 3  # of the general arms: a first, a last and one between
MADE_FROM_OTHERS = (
    *("coriolis_force", "gravity_force", "bias_force", "kinetic_energy"),
    *("inverse_dynamics_derivatives", "inverse_dynamics_hessian", "mass_matrix_gradient"),
)
LARGE = ("inverse_dynamics_second_derivatives", "geometry_derivatives", "spatial_operator_rates")
LONG = ("lagrange_euler", "uicker_kahn", "lie_closed_form", "generalized_dalembert", "stacked_operators")


def robots(which):
    if which == "few":
        return [general_chain(3)]
    if which == "quick":
        return [da.robot("ur5"), general_chain(3), da.random_robot(0, "RPH")]
    others = general_chain(6), da.random_robot(1, "RPHR"), da.random_robot(2, "RRPR", (-1, 0, 0, 2)).with_armature([0.1, 0, 0, 0.2])
    return [*map(da.robot, ARMS), *(general_chain(JOINTS, seed) for seed in SEEDS), *others]


def programs(robot, which, whole=True):
    """(quantity, method, program) of all that this robot has, or of what is not made from other programs."""
    for quantity in ("forward_dynamics", "mass_matrix", "com_jacobian") if which != "full" else QUANTITIES:
        methods = da.methods(quantity)
        if robot.n > JOINTS or not whole:
            methods = () if quantity in LARGE else (QUANTITIES[quantity].method,) if quantity in MADE_FROM_OTHERS else methods
        elif quantity in (LARGE[0], "inverse_dynamics_hessian"):
            methods = methods[:3]
        if robot.n > 4 and robot.name != "puma560":
            methods = tuple(method for method in methods if method not in LONG)
        for method in methods:
            try:
                yield quantity, method, robot.program(quantity, method)
            except da.Error as error:  # task space needs six joints, and the like
                yield quantity, method, error


def main(which):
    seen = set()
    for k, robot in enumerate(robots(which)):
        whole = robot.name not in seen
        seen.add(robot.name)
        for quantity, method, program in programs(robot, which, whole):
            if isinstance(program, da.Error):
                print(k, robot.name, quantity, method, "refused", sep="\t")
            else:
                count = operation_count(program)
                print(k, robot.name, quantity, method, program.digest, ",".join(map(str, count)), sep="\t")


if __name__ == "__main__":
    main(sys.argv[1])
