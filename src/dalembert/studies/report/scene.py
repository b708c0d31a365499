"""What the 3D view draws: the kinematic chain, and shapes fixed in links, made from their geometry alone.

Lengths are in metres.
"""

import re
from typing import Any, NamedTuple

import numpy as np

from dalembert.algebra.spatial import Array
from dalembert.model.edit import hand_of_jaw
from dalembert.model.links import Frame, Link
from dalembert.model.model import Model
from dalembert.model.pose import Pose
from dalembert.model.positions import by_kind, ranges
from dalembert.studies.report.motion import SampledMotion
from dalembert.visuals.pack import packed
from dalembert.visuals.read import NONE, Visuals
from dalembert.visuals.shapes import extremes

TOOL = re.compile("tcp|tool|hand|ee|grip|tip", re.IGNORECASE)
MOST_TRAILS = 6
FAR = 1e6  # m: nothing is drawn beyond


class Stage(NamedTuple):
    """How to look at the whole motion: up, the direction of the eye, the middle of what is seen, half its width, height and depth
    as the eye sees them, the point of the floor below the base, and how thick a link near the base is.
    """

    up: Array
    eye: Array
    middle: Array
    half: Array
    floor: Array
    radius: float
    thick: float


def scene(robot: Model, motion: SampledMotion, at: Stage | None = None, looks: Visuals = NONE) -> dict[str, Any]:
    """Everything that the page's script needs to draw, as plain lists and numbers.

    `looks` are the visuals of the robot's file: "visuals" in links' frames, the "meshes" that they refer to, packed, and "bare",
    the links (-1: the base) for which our shapes are drawn.

    >>> import dalembert as da
    >>> from dalembert.studies.report.motion import follow
    >>> arm = da.robot("two_link")
    >>> [shape["kind"] for shape in scene(arm, follow(arm))["shapes"]]
    ['joint', 'tube', 'com', 'joint', 'tube', 'com']
    """
    at = at or stage(robot, motion, looks)
    return {
        "shapes": shapes(robot, motion, at.thick),
        "bare": looks.bare(robot),
        **packed(looks.shapes),
        "tips": [{"link": i, "at": _pose(pose)} for i, pose in hands(robot)[:MOST_TRAILS]],
        **{name: _rounded(getattr(at, name)) for name in ("up", "eye", "middle", "half", "floor")},
        "radius": round(at.radius, 4),
        "thick": round(at.thick, 5),
        "stand": round(max(0.0, _foot(robot, looks, at.up) - float(at.floor @ at.up)), 5),
    }


def _foot(robot: Model, looks: Visuals, up: Array) -> float:
    """The height of the lowest place of the base, which a stand carries: of its visuals, or its origin."""
    base, ends = robot.base, extremes(looks.shapes).get(-1, [])
    return min((float((base.rotation @ end + base.translation) @ up) for end in ends), default=float(base.translation @ up))


def points(robot: Model, q: Array, looks: Visuals = NONE) -> Array:
    """Places in the world that the arm occupies: joints, link origins, tips, the base and the ends of its visuals, (T, k, 3)."""
    places = [np.broadcast_to(robot.base.translation, (len(q), 3))]
    ends = extremes(looks.shapes)
    places += [np.broadcast_to(robot.base.matrix[:3, :3] @ end + robot.base.translation, (len(q), 3)) for end in ends.get(-1, [])]
    if robot.n:
        poses: Array = robot.poses(q)  # type: ignore[attr-defined]
        for i, link in enumerate(robot.links):
            places += [poses[:, i, :3, 3], _carried(poses[:, i], link.after.inverse.translation)]
        places += [_carried(poses[:, i], _end(robot, i, tip)) for i, tip in tips(robot) if i >= 0]
        places += [_carried(poses[:, i], end) for i, own in ends.items() if i >= 0 for end in own]
    return np.stack(places, axis=1)


def stage(robot: Model, motion: SampledMotion, looks: Visuals = NONE) -> Stage:
    """Up is against gravity; the eye looks across the plane in which the arm is widest, a little from the side and from above."""
    up = -robot.gravity / np.linalg.norm(robot.gravity) if robot.gravity.any() else np.array([0.0, 0.0, 1.0])
    cloud = np.clip(np.nan_to_num(points(robot, motion.q, looks)), -FAR, FAR).reshape(-1, 3)
    radius = max(float(np.linalg.norm(cloud - cloud.mean(axis=0), axis=1).max()), 1e-3)
    thick = 0.05 * radius
    thin = _thin(cloud, up)
    eye = np.cos(0.55) * thin + np.sin(0.55) * np.cross(up, thin) + 0.4 * up
    eye = eye / np.linalg.norm(eye)
    base = robot.base.translation
    floor = base + up * (float((cloud @ up).min()) - float(base @ up) - (0.0 if looks.shapes else 1.6 * thick))
    side = np.cross(up, eye) / np.linalg.norm(np.cross(up, eye))
    axes = np.stack([side, np.cross(eye, side), eye])
    seen = np.concatenate([cloud, [floor]]) @ axes.T
    low, high = seen.min(axis=0), seen.max(axis=0)
    return Stage(up, eye, axes.T @ (low / 2 + high / 2), high / 2 - low / 2 + 2 * thick, floor, radius, thick)


def looking(robot: Model, motion: SampledMotion, looks: Visuals = NONE) -> Stage:
    """How to look at the arm where it may go by itself, too: wherever its joints let it."""
    if not robot.n:
        return stage(robot, motion, looks)
    low, high = ranges(robot.lower, robot.upper, by_kind(robot, 1.0, 2 * np.pi))
    anywhere = np.random.default_rng(0).uniform(low, np.maximum(low, high), (60, robot.n))
    near, wide = stage(robot, motion, looks), stage(robot, motion._replace(q=np.concatenate([motion.q, anywhere])), looks)
    below = wide.middle - 0.13 * wide.half[1] * wide.up  # the dock is in front of what is below
    return near._replace(
        middle=below, half=wide.half * [0.9, 1.1, 0.9], floor=wide.floor, radius=wide.radius, thick=0.05 * wide.radius
    )


def _thin(cloud: Array, up: Array) -> Array:
    """The level direction in which the places spread least, always to the same side."""
    first = np.cross(up, [1.0, 0.0, 0.0] if abs(up[0]) < 0.9 else [0.0, 1.0, 0.0])
    first = first / np.linalg.norm(first)
    level = np.stack([first, np.cross(up, first)])
    flat = (cloud - cloud.mean(axis=0)) @ level.T
    thin = level.T @ np.linalg.eigh(flat.T @ flat)[1][:, 0]
    return thin if thin @ np.array([1.0, -2.0, 1.0]) >= 0 else -thin


def tips(robot: Model) -> list[tuple[int, Pose]]:
    """The ends of the arm: of every link that carries none, the frame of a tool, or else the link's own."""
    return [(i, frames[0].pose if (frames := _frames(robot, i)) else Pose.identity()) for i in _leaves(robot)]


def hands(robot: Model) -> list[tuple[int, Pose]]:
    """What a reader may load and drag: the ends, most joints first; instead of fingers, the tool's frame of what carries them."""
    chosen: dict[int, Pose] = {}
    for i, pose in tips(robot):
        palm = _palm(robot, i)
        if palm >= 0:
            frames = _frames(robot, palm)
            chosen.setdefault(palm, frames[0].pose if frames else Pose.identity())
        else:
            chosen[i] = pose
    return sorted(chosen.items(), key=lambda hand: -_depth(robot, hand[0]))


def _palm(robot: Model, i: int) -> int:
    """The link of the hand in which link i, at an end, is a finger; -1 if it is none."""
    if i < 0:
        return -1
    palm = robot.parents[i]
    fingers = [k for k, parent in enumerate(robot.parents) if parent == palm]
    if len(fingers) == 1:
        return hand_of_jaw(robot, i)
    frames = _frames(robot, palm)
    is_hand = palm >= 0 and frames and TOOL.search(frames[0].name) and set(fingers) <= set(_leaves(robot))
    return palm if is_hand else -1


def _leaves(robot: Model) -> list[int]:
    """The links that carry none; the base where there are no others."""
    return sorted(set(range(len(robot.links))) - set(robot.parents)) or [-1]


def _frames(robot: Model, i: int) -> list[Frame]:
    """The frames on a link, those of tools first, then those furthest out."""
    name = robot.base_name if i < 0 else robot.link_names[i]
    frames = [f for f in robot.frames if f.link == name]
    return sorted(frames, key=lambda f: (TOOL.search(f.name) is None, -float(np.linalg.norm(f.pose.translation))))


def _depth(robot: Model, i: int) -> int:
    return 0 if i < 0 else 1 + _depth(robot, robot.parents[i])


def _end(robot: Model, i: int, tip: Pose) -> Array:
    """Where the last link ends; if its frame is on its joint, the centre of mass."""
    if i < 0:
        return tip.translation
    link = robot.links[i]
    there = np.abs(tip.translation - link.after.inverse.translation).max() > 1e-9
    return tip.translation if there or not link.inertia.mass > 0 else link.inertia.com


def shapes(robot: Model, motion: SampledMotion, base: float) -> list[dict[str, Any]]:
    """Joints as cylinders or boxes, links as tubes between them, centres of mass as spheres; each fixed in one link's frame.

    `base` is the thickness of a link near the base; those further out are thinner.
    """
    ends: dict[int, list[Array]] = {i: [] for i in range(-1, len(robot.links))}
    q = motion.q if robot.coupling is None else robot.coupling.positions(motion.q)
    for link, parent in zip(robot.links, robot.parents, strict=True):
        ends[parent].append(link.before.translation)
    for i, tip in tips(robot):
        ends[i].append(_end(robot, i, tip))
    bodies = [_tube(-1, [np.zeros(3), end], base) for end in ends[-1] if np.linalg.norm(end) > 0.3 * base]
    heaviest = max((link.inertia.mass for link in robot.links), default=0.0)
    for i, (link, thick) in enumerate(zip(robot.links, _thicknesses(robot, ends, base), strict=True)):
        bodies += _joint(i, link, q[:, i], thick)
        bodies += [_tube(i, elbow(link.after.inverse, end, thick), thick) for end in ends[i]]
        if (mass := link.inertia.mass) > 0:
            ball = base * (0.25 + 0.9 * (mass / heaviest) ** (1 / 3))
            bodies.append({"kind": "com", "link": i, "points": [_rounded(link.inertia.com)], "radius": round(ball, 5)})
    return [shape for shape in bodies if shape["kind"] != "tube" or len(shape["points"]) > 1]


def _thicknesses(robot: Model, ends: dict[int, list[Array]], base: float) -> list[float]:
    """Links further out are thinner, and fingers are not thicker than long; where joints coincide, the parent's length counts."""
    depth: list[int] = []
    length: list[float] = []
    for i, (link, parent) in enumerate(zip(robot.links, robot.parents, strict=True)):
        depth.append(0 if parent < 0 else depth[parent] + 1)
        reach = max((float(np.linalg.norm(end - link.after.inverse.translation)) for end in ends[i]), default=0.0)
        length.append(reach if reach > 0.1 * base else np.inf if parent < 0 else length[parent])
    taper = 0.5 / max(3, *depth, 0)
    return [min(base * (1 - taper * d), max(0.4 * x, 0.12 * base)) for d, x in zip(depth, length, strict=True)]


def _joint(i: int, link: Link, q: Array, thick: float) -> list[dict[str, Any]]:
    """A cylinder about the axis; or a box, and the rod of a prismatic joint, as long as the motion needs."""
    axis, radius = link.after.inverse, round(1.4 * thick, 5)
    if link.joint.kind != "prismatic":
        return [{"kind": "joint", "link": i, "at": _pose(axis), "radius": radius}]
    rod = [axis.translation - axis.rotation[:, 2] * x for x in (max(float(q.max()), 0.0), min(float(q.min()), 0.0))]
    return [{"kind": "slide", "link": i, "at": _pose(axis), "radius": radius}, _tube(i, rod, 0.55 * thick)]


def elbow(axis: Pose, end: Array, thick: float) -> list[Array]:
    """From a joint to a place on its link: first along the joint's axis, then straight; short pieces are left out."""
    start, z = axis.translation, axis.rotation[:, 2]
    along = start + z * float(z @ (end - start))
    corners = [start]
    for corner in (along, end):
        if np.linalg.norm(corner - corners[-1]) > 0.05 * thick:
            corners.append(corner)
    return corners


def _tube(link: int, corners: list[Array], radius: float) -> dict[str, Any]:
    return {"kind": "tube", "link": link, "points": [_rounded(c) for c in corners], "radius": round(radius, 5)}


def _carried(poses: Array, point: Array) -> Array:
    return poses[:, :3, 3] + np.matvec(poses[:, :3, :3], point)


def _pose(pose: Pose) -> list[float]:
    """The upper three rows of the homogeneous matrix."""
    return _rounded(pose.matrix[:3].reshape(-1), 6)


def _rounded(values: Array, digits: int = 5) -> list[float]:
    return [round(float(np.clip(np.nan_to_num(x), -FAR, FAR)), digits) + 0.0 for x in values]
