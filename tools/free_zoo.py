"""Write the built-in robots on free bases: a quadruped, a humanoid without hands, and a space arm.

python tools/free_zoo.py        (needs the `corpus` extra: example-robot-data)
"""

import warnings
from dataclasses import replace
from pathlib import Path

import numpy as np
from corpus import robots_folder

import dalembert as da

ZOO = Path(__file__).parent.parent / "src/dalembert/model/zoo"
WATER = 1000.0  # kg/m^3
HEIGHT, MASS = 1.75, 70.0


def quadruped():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", da.DataWarning)
        robot = da.load(robots_folder() / "solo_description/robots/solo12.urdf", free_base=True).snapped(1e-5)
    source = (
        "Solo 12 (Grimminger et al., An open torque-controlled modular robot architecture for legged locomotion research, 2020): "
        "figures of its open description"
    )
    return replace(robot, name="solo12", source=source, notes=(), file="")


def limb(share, length, centre, gyration, axis=2):
    """A segment along -z (or x) of its frame: its share of the mass, and centre and radius of gyration as shares of its length.

    About its long axis it is a cylinder of water of the same mass and length.
    """
    m, l = share * MASS, length * HEIGHT
    across, along = m * (gyration * l) ** 2, m * (m / (WATER * np.pi * l)) / 2
    moments = [across] * 3
    moments[axis] = along
    com = np.zeros(3)
    com[axis] = -centre * l if axis == 2 else centre * l
    return da.Inertia.from_com(m, com, moments)


def about_y():
    """The frame of a joint about y of the link."""
    return da.Pose([[1.0, 0.0, 0.0], [0.0, 0.0, 1.0], [0.0, -1.0, 0.0]], np.zeros(3))


def about_x():
    return da.Pose([[0.0, 0.0, 1.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0]], np.zeros(3))


def hinge(name, parent, joint, place, turn, body, lower, upper):
    joint = da.Joint(joint, lower=np.deg2rad(lower), upper=np.deg2rad(upper))
    return da.Link(name, parent, joint, da.Pose.of(place, (0, 0, 0)) @ turn, turn.inverse, body)


def humanoid():
    """Shares of mass and height, centres and radii of gyration from Winter; x forward, y left, z up, standing upright at zero."""
    H = HEIGHT
    trunk = limb(0.578, 0.288, -0.66, 0.503)
    links = [da.Link("trunk", "world", da.Joint("base", "free"), inertia=trunk)]
    frames = [da.Frame("head", "trunk", da.Pose.of((0, 0, 0.47 * H), (0, 0, 0)))]
    for side, y in (("left", 1.0), ("right", -1.0)):
        hip, shoulder = (0.0, y * 0.0955 * H, 0.0), (0.0, y * 0.1295 * H, 0.288 * H)
        thigh, shin, foot, upper_arm, forearm = (f"{side}_{x}" for x in ("thigh", "shin", "foot", "upper_arm", "forearm"))
        sole = da.Inertia.from_com(
            0.0145 * MASS, (0.5 * 0.6 * 0.152 * H, 0, -0.5 * 0.039 * H), [0.0145 * MASS * (0.475 * 0.152 * H) ** 2] * 3
        )
        toes, fingers = (0.6 * 0.152 * H, 0, -0.039 * H), (0, 0, -(0.146 + 0.108) * H)
        for name, link, place in ((f"{side}_toes", foot, toes), (f"{side}_fingers", forearm, fingers)):
            frames.append(da.Frame(name, link, da.Pose.of(place, (0, 0, 0))))
        links += [
            da.Link(
                thigh, "trunk", da.Joint(f"{side}_hip", "ball"), da.Pose.of(hip, (0, 0, 0)),
                inertia=limb(0.1, 0.245, 0.433, 0.323),
            ),
            hinge(shin, thigh, f"{side}_knee", (0, 0, -0.245 * H), about_y(), limb(0.0465, 0.246, 0.433, 0.302), 0, 150),
            hinge(f"{side}_talus", shin, f"{side}_ankle_pitch", (0, 0, -0.246 * H), about_y(), da.Inertia.zero(), -45, 45),
            hinge(foot, f"{side}_talus", f"{side}_ankle_roll", (0, 0, 0), about_x(), sole, -30, 30),
            da.Link(
                upper_arm, "trunk", da.Joint(f"{side}_shoulder", "ball"), da.Pose.of(shoulder, (0, 0, 0)),
                inertia=limb(0.028, 0.186, 0.436, 0.322),
            ),
            hinge(forearm, upper_arm, f"{side}_elbow", (0, 0, -0.186 * H), about_y(), limb(0.022, 0.146, 0.682, 0.468), -150, 0),
        ]  # fmt: skip
    source = (
        "A person of 1.75 m and 70 kg, hands with the forearms: Winter, Biomechanics and Motor Control of Human Movement, 4.1; "
        "moments about long axes as of cylinders of water"
    )
    return da.Robot("humanoid", tuple(links), base_name="world", frames=tuple(frames), source=source)


def space_arm():
    """A UR5, of which all masses are known, on a cube."""
    mass, side = 1000.0, 1.5
    arm = da.robot("ur5")
    bus = da.Inertia.from_com(mass, (0, 0, 0), [mass * side**2 / 6] * 3)
    top = da.Pose.of((0, 0, side / 2), (0, 0, 0))
    links = [replace(x, parent="bus", before=top @ x.before) if x.parent == arm.base_name else x for x in arm.links]
    frames = [replace(x, link="bus", pose=top @ x.pose) if x.link == arm.base_name else x for x in arm.frames]
    free = replace(
        arm, links=tuple(links), frames=tuple(frames), base_inertia=bus + arm.base_inertia.seen_from(top), base_name="bus"
    )
    source = f"The ur5 on a satellite without gravity: a homogeneous cube of {mass:g} kg and {side:g} m, chosen, no real one"
    return replace(free.with_gravity((0, 0, 0)).with_free_base(), name="space_arm", source=source)


for made in (quadruped(), humanoid(), space_arm()):
    made.save(ZOO / f"{made.name}.toml")
    print(made.summary(), made.check(), sep="\n")
