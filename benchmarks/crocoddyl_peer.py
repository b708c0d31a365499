"""The reach of `benchmarks/feedback.py` by crocoddyl, in an environment of its own; one solution for every line that it reads.

Its first line of input is the problem as JSON, its first line of output says what it computed; each line after that is
answered by the seconds of one solution. The Makefile has versions that work together: with pin 4 it loads, and computes garbage.
"""

import json
import sys
import time

import crocoddyl
import numpy as np
import pinocchio as pin

FAR = 1e6  # no limits


def model_of(links):
    """A chain of revolute joints about z, from placements and inertias."""
    model, parent = pin.Model(), 0
    for k, link in enumerate(links):
        place = pin.SE3(np.array(link["rotation"]), np.array(link["translation"]))
        far = np.full(1, FAR)
        parent = model.addJoint(parent, pin.JointModelRZ(), place, f"joint{k}", far, far, -far, far)
        body = pin.Inertia(link["mass"], np.array(link["com"]), np.array(link["inertia"]))
        model.appendBodyToJoint(parent, body, pin.SE3(np.array(link["after_rotation"]), np.array(link["after_translation"])))
    model.armature = np.zeros(model.nv)
    return model


def cost(state, goal, weights, effort):
    """Half the weighted squares of the distance to the goal, and of the forces."""
    n = state.nv
    costs = crocoddyl.CostModelSum(state, n)
    residual = crocoddyl.ResidualModelState(state, goal, n)
    costs.addCost("x", crocoddyl.CostModelResidual(state, crocoddyl.ActivationModelWeightedQuad(weights), residual), 1.0)
    if effort is not None:
        forces = crocoddyl.ResidualModelControl(state, n)
        costs.addCost("u", crocoddyl.CostModelResidual(state, crocoddyl.ActivationModelWeightedQuad(effort), forces), 1.0)
    return costs


def problem_of(given):
    """The shooting problem: steps of Euler's half-implicit method."""
    state = crocoddyl.StateMultibody(model_of(given["links"]))
    motors, h = crocoddyl.ActuationModelFull(state), given["h"]
    goal, start = np.array(given["goal"]), np.array(given["start"])
    running, ending, effort = (np.array(given[name]) for name in ("running", "ending", "effort"))

    def action(costs, step):
        return crocoddyl.IntegratedActionModelEuler(crocoddyl.DifferentialActionModelFreeFwdDynamics(state, motors, costs), step)

    steps = [action(cost(state, goal, running, effort), h)] * given["steps"]
    return crocoddyl.ShootingProblem(start, steps, action(cost(state, goal, ending, None), 0.0))


if __name__ == "__main__":
    given = json.loads(sys.stdin.readline())
    problem, forces = problem_of(given), np.array(given["forces"])

    def solved():
        solver = crocoddyl.SolverDDP(problem)
        solver.th_stop = 1e-9
        us = [forces.copy() for _ in range(given["steps"])]
        xs = problem.rollout(us)
        start = time.perf_counter()
        solver.solve(xs, us, 100, True)
        return solver, time.perf_counter() - start

    solver, _ = solved()
    print(json.dumps({"cost": solver.cost, "iterations": solver.iter, "version": crocoddyl.__version__}), flush=True)
    for _ in sys.stdin:
        print(solved()[1], flush=True)
