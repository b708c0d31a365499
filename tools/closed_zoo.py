"""Makes the built-in robots with loops: python tools/closed_zoo.py. Each is closed where all joints are at zero."""

from pathlib import Path

import numpy as np

import dalembert as da

FOLDER = Path(__file__).parent.parent / "src" / "dalembert" / "model" / "zoo"


def link(
    name: str, parent: str, joint: str, inertia: da.Inertia, at=(0.0, 0.0, 0.0), rpy=(0.0, 0.0, 0.0), kind="revolute"
) -> da.Link:
    return da.Link(name, parent, da.Joint(joint, kind), da.Pose.of(at, rpy), inertia=inertia)


def turned(angle: float) -> tuple[float, float, float]:
    return 0.0, 0.0, float(angle)


def rod(mass: float, length: float, width: float, back: float = 0.0) -> da.Inertia:
    """A bar along x from -back to length."""
    return da.Inertia.box(mass, (length + back, width, width), center=((length - back) / 2, 0, 0))


def four_bar() -> da.Robot:
    """Pivots 2 m apart, bars of 4 m: an isosceles trapezoid at zero, the coupler level."""
    bar, lean = da.Inertia.box(20.0, (4.2, 0.2, 0.1), center=(2, 0, 0)), float(np.arctan(np.sqrt(15)))
    links = (
        link("crank", "base", "crank", bar, rpy=turned(np.pi - lean)),
        link("coupler", "crank", "coupler", bar, (4, 0, 0), turned(lean - np.pi)),
        link("rocker", "base", "rocker", bar, (2, 0, 0), turned(lean)),
    )
    frames = da.Frame("coupler_end", "coupler", da.Pose.of((4, 0, 0))), da.Frame("rocker_end", "rocker", da.Pose.of((4, 0, 0)))
    source = (
        "Drake, examples/multibody/four_bar: three boxes of 20 kg, 4.2 x 0.1 x 0.2 m, 4 m between their pins, on pins 2 m apart"
    )
    made = da.Robot("four_bar", links, gravity=(0, -9.81, 0), frames=frames, source=source)
    return made.with_loop("coupler_end", "rocker_end", "revolute", independent="crank")


def five_bar() -> da.Robot:
    near, far, base = 0.063, 0.075, 0.025
    lean = np.pi / 4
    rise = np.arccos((base / 2 + near * np.cos(lean)) / far)  # of the far links above the base line
    links, frames = [], []
    for side, angle, sign in (("left", np.pi - lean, -1), ("right", lean, 1)):
        second = rise if sign < 0 else np.pi - rise
        k = 1 if sign < 0 else 2
        links += [
            link(f"{side}_near", "base", f"motor{k}", rod(0.02, near, 0.008), (sign * base / 2, 0, 0), turned(angle)),
            link(f"{side}_far", f"{side}_near", f"elbow{k}", rod(0.02, far, 0.008), (near, 0, 0), turned(second - angle)),
        ]
        frames.append(da.Frame(f"{side}_tip", f"{side}_far", da.Pose.of((far, 0, 0))))
    source = (
        "Campion, Wang and Hayward, The Pantograph Mk-II, IROS 2005: 63 and 75 mm, motors 25 mm apart, lying flat; "
        "masses of 20 g are assumed, links uniform"
    )
    made = da.Robot("five_bar", tuple(links), frames=tuple(frames), source=source)
    return made.with_loop("left_tip", "right_tip", "revolute", independent=("motor1", "motor2"))


def palletizer() -> da.Robot:
    """A crank on the shoulder's axis drives the forearm behind the elbow, by a rod parallel to the upper arm."""
    upper, fore, short = 0.135, 0.147, 0.04
    arm, reach = np.pi / 2, 0.0  # at zero the upper arm is upright, the forearm level
    links = (
        link("column", "base", "turn", da.Inertia.cylinder(1.0, 0.05, 0.1, center=(0, 0, -0.05)), (0, 0, 0.139)),
        link("upper_arm", "column", "shoulder", rod(0.3, upper, 0.03), rpy=(np.pi / 2, 0, 0)),
        link("forearm", "upper_arm", "elbow", rod(0.25, fore, 0.025, short), (upper, 0, 0), turned(reach - arm)),
        link("crank", "column", "crank", rod(0.05, short, 0.02), rpy=(np.pi / 2, 0, 0)),
        link("rod", "crank", "rod", rod(0.05, upper, 0.01), (short, 0, 0), turned(arm - np.pi)),
    )
    links = (links[0], _turned(links[1], arm), links[2], _turned(links[3], reach + np.pi), links[4])
    frames = (
        da.Frame("forearm_back", "forearm", da.Pose.of((-short, 0, 0))),
        da.Frame("rod_end", "rod", da.Pose.of((upper, 0, 0))),
        da.Frame("tool", "forearm", da.Pose.of((fore, 0, 0))),
    )
    source = (
        "Dobot Magician: shoulder 139 mm above the table, upper arm 135 mm, forearm 147 mm; the crank of 40 mm and all masses are "
        "assumed, links uniform"
    )
    made = da.Robot("palletizer", links, frames=frames, source=source)
    return made.with_loop("forearm_back", "rod_end", "revolute", independent=("turn", "shoulder", "crank"))


def _turned(x: da.Link, angle: float) -> da.Link:
    """The same with its zero position elsewhere."""
    return da.Link(x.name, x.parent, x.joint, x.before @ da.Pose.of(rpy=turned(angle)), x.after, x.inertia)


def delta() -> da.Robot:
    """The platform slides in x, y and z; each forearm hangs on a universal joint, and its end meets the platform."""
    side, small, arm, fore = 0.567, 0.076, 0.524, 1.244
    inner, outer = side * np.sqrt(3) / 6, small * np.sqrt(3) / 3
    across = inner + arm - outer  # at zero the arms are level
    depth = np.sqrt(fore**2 - across**2)
    links, frames = [], []
    for k in range(3):
        phi, i = 2 * np.pi * k / 3, k + 1
        at = inner * np.cos(phi), inner * np.sin(phi), 0.0
        links += [
            link(f"arm{i}", "base", f"motor{i}", rod(1.0, arm, 0.04), at, (np.pi / 2, 0, phi)),
            link(f"cross{i}", f"arm{i}", f"swing{i}", da.Inertia.zero(), (arm, 0, 0), turned(np.arctan2(-depth, -across))),
            link(f"forearm{i}", f"cross{i}", f"tilt{i}", rod(0.4, fore, 0.02), rpy=(-np.pi / 2, 0, 0)),
        ]
        frames += [
            da.Frame(f"tip{i}", f"forearm{i}", da.Pose.of((fore, 0, 0))),
            da.Frame(f"corner{i}", "platform", da.Pose.of((outer * np.cos(phi), outer * np.sin(phi), 0))),
        ]
    x, y = (0, np.pi / 2, 0), (-np.pi / 2, 0, 0)
    slide = lambda name: da.Joint(name, "prismatic")  # noqa: E731
    links += [
        da.Link("slide_x", "base", slide("x"), da.Pose.of((0, 0, -depth), x), da.Pose.of(rpy=x).inverse, da.Inertia.zero()),
        da.Link("slide_y", "slide_x", slide("y"), da.Pose.of(rpy=y), da.Pose.of(rpy=y).inverse, da.Inertia.zero()),
        da.Link("platform", "slide_y", slide("z"), inertia=da.Inertia.cylinder(0.5, 0.08, 0.02)),
    ]
    source = (
        "R. L. Williams II, The Delta Parallel Robot: Kinematics Solutions (ABB FlexPicker IRB 360-1/1600): lengths; one rod "
        "stands for a pair; masses are assumed, links uniform"
    )
    made = da.Robot("delta", tuple(links), frames=tuple(frames), source=source)
    for i in (1, 2, 3):
        made = made.with_loop(f"tip{i}", f"corner{i}", "point", near=np.zeros(12))
    return made.with_independent("motor1", "motor2", "motor3")


if __name__ == "__main__":
    for make in (four_bar, five_bar, palletizer, delta):
        robot = make()
        robot.save(FOLDER / f"{robot.name}.toml")
        print(robot, [loop.rows for loop in robot.loops], np.abs(robot.loop_gap(np.zeros(robot.n))).max())
