"""How well robots from MJCF files agree with MuJoCo itself: inverse and forward dynamics at random states.

    python tools/mujoco_agreement.py FOLDER_OR_FILE ... [--states 5]

What the robot does not have is switched off in MuJoCo: contacts, limits, friction loss, actuators, springs, fluids, compensation of
gravity, tendons. Needs dalembert[mujoco]. A line for each file, with the largest difference relative to the largest entry.
"""

import argparse
import sys
import warnings
from pathlib import Path

import mujoco
import numpy as np

import dalembert as da

OFF = ("CONTACT", "LIMIT", "FRICTIONLOSS", "ACTUATION", "SPRING", "EQUALITY")


def bare(path):
    """MuJoCo's model of a file with what robots do not have switched off, and its data."""
    model = mujoco.MjModel.from_xml_path(str(path))
    for name in OFF:
        model.opt.disableflags |= getattr(mujoco.mjtDisableBit, f"mjDSBL_{name}")
    model.opt.density = model.opt.viscosity = 0.0
    model.body_gravcomp[:] = 0.0
    for name in ("stiffness", "damping", "armature", "stiffnesspoly", "dampingpoly"):
        getattr(model, f"tendon_{name}")[:] = 0.0
    model.dof_dampingpoly[:] = 0.0
    model.opt.enableflags = 0
    return model, mujoco.MjData(model)


def differences(robot, model, data, states, rng):
    """The largest of inverse and of forward dynamics, relative to the largest entry of MuJoCo's."""
    worst = [0.0, 0.0]
    tree = robot.without_transmission() if robot.transmission is not None else robot
    tree = tree.uncoupled().with_friction(coulomb=0.0)
    for _ in range(states):
        q, qd, qdd = tree.random_configuration(rng), rng.normal(size=tree.n), rng.normal(size=tree.n)
        theirs = tree.to_mujoco(q, qd, qdd)
        data.qpos[:], data.qvel[:], data.qacc[:] = theirs.q, theirs.qd, theirs.qdd
        mujoco.mj_inverse(model, data)
        tau = tree.from_mujoco(theirs.q, tau=data.qfrc_inverse.copy()).tau
        worst[0] = max(worst[0], far(tree.inverse_dynamics(q, qd, qdd, backend="numpy"), tau))
        data.qfrc_applied[:] = data.qfrc_inverse
        mujoco.mj_forward(model, data)
        again = tree.from_mujoco(theirs.q, theirs.qd, data.qacc.copy()).qdd
        worst[1] = max(worst[1], far(tree.forward_dynamics(q, qd, tau, backend="numpy"), again))
    return worst


def far(ours, theirs):
    return float(np.abs(ours - theirs).max(initial=0.0) / max(np.abs(theirs).max(initial=0.0), 1e-300))


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("places", nargs="+", type=Path)
    parser.add_argument("--states", type=int, default=5)
    parser.add_argument("--most", type=int, default=200, help="degrees of freedom; larger models are only loaded")
    given = parser.parse_args()
    found = [path for place in given.places for path in (sorted(place.rglob("*.xml")) if place.is_dir() else [place])]
    print(f"{'file':60} {'n':>4} {'joints':24} {'inverse':>9} {'forward':>9}  not understood")
    for path in found:
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", da.DataWarning)
                robot = da.load(path)
        except da.Error as error:
            print(f"{str(path)[-60:]:60} {error}")
            continue
        if not robot.n or robot.n > given.most:
            print(f"{str(path)[-60:]:60} {robot.n:4} is not compared")
            continue
        sys.stdout.flush()
        worst = differences(robot, *bare(path), given.states, np.random.default_rng(0))
        kinds = "".join(link.joint.letter for link in robot.links)
        unread = len(robot.check().about("unread"))
        print(f"{str(path)[-60:]:60} {robot.n:4} {kinds[:24]:24} {worst[0]:9.1e} {worst[1]:9.1e}  {unread or ''}", flush=True)


if __name__ == "__main__":
    main()
