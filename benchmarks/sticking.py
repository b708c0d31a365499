"""A step of time stepping with friction and stops beside one of RK4, and MuJoCo's where it is installed: same arm, one thread."""

import warnings
from importlib.util import find_spec

import numpy as np
from reporting import heading, report
from timing import best, best_pair

import dalembert as da

ROLLOUTS, STEPS = 256, 1000


def figures():
    heading("simulation of joints that stick and stop, steps of 1 ms, one thread")
    da.set_threads(1)
    smooth = da.robot("panda").without_friction()
    rubs = smooth.with_friction(coulomb=1.0, damping=0.5)
    rng = np.random.default_rng(0)
    starts = np.clip(smooth.neutral() + rng.uniform(-0.3, 0.3, (ROLLOUTS, 7)), smooth.lower, smooth.upper)

    def stepped(robot, **options):
        return lambda: robot.simulate(starts, duration=STEPS * 1e-3, every=STEPS, progress=False, **options)

    each = ROLLOUTS * STEPS * 1e-9
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", da.LimitWarning)
        a, b = best_pair(stepped(smooth, integrator="rk4"), stepped(rubs), rounds=25, least=0)
        c, d = best_pair(stepped(smooth, integrator="rk4"), stepped(rubs, restitution=0.3), rounds=25, least=0)
        alone = best(lambda: rubs.simulate(starts[0], duration=2.0, every=100), rounds=5, least=0)
    report("Panda: an RK4 step in a batch, no friction", a / each, "ns")
    report("Panda: a step with friction in a batch", b / each, "ns")
    report("Panda: a step with friction in a batch, relative to RK4", b / a, "x", at_most=0.8)
    report("Panda: a step with friction and stops in a batch, relative to RK4", d / c, "x")
    report("Panda: a step with friction, one robot", alone / 2000e-9, "ns")
    if find_spec("mujoco"):
        beside_mujoco(rubs, starts[0], b / each)
    da.set_threads(None)


def beside_mujoco(robot, start, ours):
    """MuJoCo's own step of one robot; it has no batches in one thread."""
    import mujoco

    model = mujoco.MjModel.from_xml_string(mjcf(robot))
    data = mujoco.MjData(model)
    q = robot.random_configuration(1)
    data.qpos[:] = q
    full = np.zeros((robot.n, robot.n))
    mujoco.mj_forward(model, data)
    mujoco.mj_fullM(model, data, full)
    report("MuJoCo's mass matrix differs from ours by", np.abs(full - robot.mass_matrix(q)).max(), "kg m^2", at_most=1e-9)
    data.qpos[:], data.qvel[:] = start, 0.0
    theirs = best(lambda: mujoco.mj_step(model, data, 200), rounds=7, least=0) / 200e-9
    report(f"MuJoCo {mujoco.__version__}: a step with friction, one robot", theirs, "ns")
    report("MuJoCo's step of one robot, relative to ours in a batch", theirs / ours, "x")


def mjcf(robot, h=1e-3):
    """A serial arm in MuJoCo's format: a joint turns about z of its body, so that what comes after it belongs to the next body."""
    text, close, after = "", "", np.eye(4)
    for link in robot.links:
        T = after @ _matrix(link.before)
        after = _matrix(link.after)
        R, inertia = after[:3, :3], link.inertia
        com, tensor = R @ inertia.com + after[:3, 3], R @ inertia.tensor @ R.T
        entries = [tensor[i, j] for i, j in ((0, 0), (1, 1), (2, 2), (0, 1), (0, 2), (1, 2))]
        axes = " ".join(f"{x:.17g}" for x in (*T[:3, 0], *T[:3, 1]))
        joint = link.joint
        text += (
            f'<body pos="{_text(T[:3, 3])}" xyaxes="{axes}"><joint type="hinge" axis="0 0 1" damping="{joint.damping}" '
            f'frictionloss="{joint.coulomb}" armature="{joint.armature}"/>'
            f'<inertial pos="{_text(com)}" mass="{inertia.mass:.17g}" fullinertia="{_text(entries)}"/>'
        )
        close += "</body>"
    return (
        f'<mujoco><compiler balanceinertia="false" inertiafromgeom="false"/><option timestep="{h}" integrator="implicitfast" '
        f'gravity="{_text(robot.gravity)}"/><worldbody>{text}{close}</worldbody></mujoco>'
    )


def _matrix(pose):
    """(4, 4)."""
    return np.block([[pose.rotation, pose.translation[:, None]], [np.zeros((1, 3)), np.ones((1, 1))]])


def _text(numbers):
    return " ".join(f"{x:.17g}" for x in numbers)
