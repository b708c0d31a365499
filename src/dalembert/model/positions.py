"""Positions of a robot: what their entries are called, where balls and free bodies are among them, by name and at random."""

from collections import Counter
from collections.abc import Callable, Mapping
from math import prod
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from dalembert.algebra.spatial import Array
from dalembert.arguments import by_name, choice, frozen_array, listed, numbers, room, text, whole
from dalembert.errors import Error, brief
from dalembert.model.links import POSES, SEVERAL

if TYPE_CHECKING:
    from dalembert.model.model import Model

QUATERNION = "quaternion"  # instead of the unit of its entries
ONE = ("",)  # what the number of a joint of one degree of freedom adds to its name
OPEN = 1e-6  # the gap, in m or rad, from which on a loop counts as open


class Virtual(NamedTuple):
    """A joint of several degrees of freedom in a robot that `spread` made: its name and kind, and the links without mass."""

    joint: str
    kind: str
    links: tuple[str, ...]


def hidden(model: "Model") -> set[str]:
    """The links of a robot that `spread` made that are none of its bodies."""
    return {name for run in model.virtual for name in run.links}


class Run(NamedTuple):
    """A joint: where its positions begin in q, and its velocities in qd."""

    joint: str
    kind: str
    q: int
    v: int

    @property
    def positions(self) -> slice:
        """In q: of a ball or free joint the quaternion, and then the point."""
        return slice(self.q, self.q + len(POSES.get(self.kind, SEVERAL.get(self.kind, ONE))))

    @property
    def velocities(self) -> slice:
        """In qd: of a ball or free joint the angular velocity, and then the linear one."""
        return slice(self.v, self.v + len(SEVERAL.get(self.kind, ONE)))


def position_names(robot: "Model") -> tuple[str, ...]:
    """Names of the entries of q: those of the joints, and of a free joint `base`, base.qw to base.qz and base.px to base.pz."""
    names = list(robot.joint_names)
    for run in reversed(robot.runs):
        names[run.velocities] = [f"{run.joint}.{part}" for part in POSES[run.kind]]
    return tuple(names)


def position_units(robot: "Model") -> tuple[str, ...]:
    """Units of the entries of q: rad, m, or that they are of a quaternion."""
    units = [joint.unit for joint in robot.joints]
    for run in reversed(robot.runs):
        units[run.velocities] = [QUATERNION if part[0] == "q" else "m" for part in POSES[run.kind]]
    return tuple(units)


def joint_runs(robot: "Model") -> tuple[Run, ...]:
    """The independent joints in order, each with all of its degrees of freedom."""
    kinds = [(x.joint, x.kind) for x in robot.virtual] or [(x.joint.name, x.joint.kind) for x in robot.links]
    several = {f"{name}.{SEVERAL[kind][0][0]}": (name, kind) for name, kind in kinds if kind in SEVERAL}
    result = list[Run]()
    q = v = 0
    while v < robot.n:
        joint = robot.joints[v]
        name, kind = several.get(joint.name, (joint.name, joint.kind))
        run = Run(name, kind, q, v)
        result.append(run)
        q, v = run.positions.stop, run.velocities.stop
    return tuple(result)


def runs(robot: "Model") -> tuple[Run, ...]:
    """The ball and free joints, in order: what is not the same in q and in qd."""
    return tuple(run for run in joint_runs(robot) if run.kind in POSES)


def _generator(rng: Any) -> "np.random.Generator":
    if rng is None or isinstance(rng, np.random.Generator):
        return np.random.default_rng(rng)
    return np.random.default_rng(whole(rng, "rng, unless it is a numpy Generator,", 0))


def neutral(robot: "Model") -> Array:
    """Zero, or the nearest position within the limits, (1, 0, 0, 0) of quaternions; an error where that leaves a loop open."""
    q = np.clip(np.zeros(robot.n), robot.lower, robot.upper)
    for loop in robot.loops:
        if (gap := float(np.abs(loop.equations(robot, q if callable(loop.kind) else q.astype(object)).astype(float)).max())) > OPEN:
            raise Error(f"the loop {loop.told} of {robot.name} is open by {gap:.3g} at q = 0; robot.settle(q) closes it")
    return with_poses(robot, q, lambda run: np.eye(1, len(POSES[run.kind]))[0])


def by_kind(robot: "Model", metres: float, radians: float) -> Array:
    """A number for each joint, (n,), by its kind: of those that slide, and of those that turn."""
    return np.array([metres if joint.kind == "prismatic" else radians for joint in robot.joints])


def ranges(low: Array, high: Array, width: Array | float) -> tuple[Array, Array]:
    """The ends of ranges between limits; where one is infinite the range is as wide as `width`, about zero where both are."""
    return (
        np.where(np.isfinite(low), low, np.where(np.isfinite(high), high - width, -width / 2)),
        np.where(np.isfinite(high), high, np.where(np.isfinite(low), low + width, width / 2)),
    )


def random_configuration(robot: "Model", rng: Any = None, shape: int | tuple[int, ...] = ()) -> Array:
    """Uniform positions within the limits, (*shape, nq). `rng` is a numpy Generator or a seed.

    Without limits a revolute joint takes -pi .. pi and a prismatic one -1 .. 1 m. Balls and free bodies take any rotation.
    """
    if robot.loops:
        raise Error(
            f"random positions leave the loops of {robot.name} open; robot.settle(robot.without_loops().random_configuration()) "
            "closes them where it can"
        )
    low, high = ranges(robot.lower, robot.upper, by_kind(robot, 2.0, 2 * np.pi))
    sizes = listed(shape, "shape") if np.iterable(shape) else [shape]
    sizes = [whole(size, "each of shape", 0) for size in sizes]
    room("random_configuration", 3 * 8 * prod(sizes) * max(robot.n, 1), "request fewer at once")
    generator = _generator(rng)
    share = generator.uniform(size=(*sizes, robot.n))

    def pose(run: Run) -> Array:
        quaternion = generator.normal(size=(*sizes, 4))
        quaternion /= np.sqrt((quaternion**2).sum(axis=-1, keepdims=True))
        return np.concatenate([quaternion, generator.uniform(-1.0, 1.0, (*sizes, len(POSES[run.kind]) - 4))], axis=-1)

    return with_poses(robot, low * (1 - share) + high * share, pose)


def to_array(robot: "Model", values: Mapping[str, Any], default: float | None = None) -> Array:
    """Joint values by name to an array in joint order; names left out take `default`, or are an error.

    With names of positions of a ball or free joint (`position_names`) they are positions, (..., nq).
    """
    given = by_name(values, "values", "{'joint1': 0.0}")
    known = robot.position_names if (set(given) - set(robot.joint_names)) & set(robot.position_names) else robot.joint_names
    for name in given:
        choice(name, f"joint of {robot.name}:", known)
    missing = [name for name in known if name not in values]
    if missing and default is None:
        raise Error(f"no value for joint {', '.join(map(repr, missing))}; give one, or default=0.0")
    parts = [frozen_array(values.get(name, default), None, f"the value of joint {name!r}") for name in known]
    try:
        return np.stack(np.broadcast_arrays(*parts), axis=-1) if parts else np.zeros(0)
    except ValueError:
        raise Error(f"the values do not broadcast: shapes {brief([p.shape for p in parts])}") from None


def to_dict(robot: "Model", array: Any) -> dict[str, Any]:
    """An array (..., n) in joint order, or positions (..., nq), to values by name."""
    array = numbers(array, "the array of to_dict", complex_=True)
    if array.ndim == 0 or array.shape[-1] not in (robot.n, robot.nq):
        sizes = f"{robot.n}" if robot.n == robot.nq else f"{robot.n} (or {robot.nq} positions)"
        raise Error(f"to_dict needs {sizes} joint values along the last axis, got an array of shape {array.shape}")
    names = robot.joint_names if array.shape[-1] == robot.n else robot.position_names
    return {name: array[..., i] if array.ndim > 1 else array[i].item() for i, name in enumerate(names)}


def reorder(robot: "Model", array: Any, from_names: Any = None, *, to_names: Any = None) -> Array:
    """An array of joint values in another order: from that of `from_names`, or to that of `to_names`.

    array: positions (..., nq) or velocities, accelerations or forces (..., n) along the last axis.
    from_names: the order that the array has; the result has this robot's. Names that are not joints
    of this robot are ignored, and a joint that is not named is an error.
    to_names: the order of the result; the array has this robot's. A name that is not a joint of this
    robot is an error, and joints that are not named are left out.

    The name of a ball, free or planar joint stands for all of its numbers, which stay as they are
    (`to_pinocchio` and `to_mujoco` convert them). Names of single entries, those of `position_names`
    or `joint_names`, do as well.

    >>> import dalembert as da
    >>> arm = da.robot("planar_3r")
    >>> arm.reorder([3.0, 1.0, 2.0], ["joint3", "joint1", "joint2"]).tolist()
    [1.0, 2.0, 3.0]
    >>> arm.reorder([1.0, 2.0, 3.0], to_names=["joint3", "joint1", "joint2"]).tolist()
    [3.0, 1.0, 2.0]
    """
    array = numbers(array, "the array to reorder", complex_=True)
    if (from_names is None) == (to_names is None):
        order = "from_names, the order of the array, or to_names, the order of the result"
        raise Error(f"reorder takes either {order}")
    side, names = ("from_names", from_names) if to_names is None else ("to_names", to_names)
    names = [text(name, f"each of {side}") for name in listed(names, side)]
    runs = {run.joint: run for run in joint_runs(robot)}
    lacking, sizes = "", list[int]()
    for own, part in ((robot.position_names, "positions"), (robot.joint_names, "velocities")):
        parts = {joint: own[getattr(run, part)] for joint, run in runs.items()}
        named = [entry for name in names for entry in parts.get(name, (name,))]
        if len(set(named)) < len(named):
            raise Error(f"joint {Counter(named).most_common(1)[0][0]!r} is named twice in {side}")
        given, wanted = (named, own) if to_names is None else (own, named)
        if not set(wanted) <= set(given):
            lacking = _lacking(robot.name, parts, side, named)
            continue
        sizes.append(len(given))
        if array.ndim and array.shape[-1] == len(given):
            if side == "from_names" and len(given) > len(own):
                _refuse_ambiguous(robot, array.shape[-1], [name for name in given if name not in own])
            return array[..., [given.index(entry) for entry in wanted]]
    if not sizes:
        raise Error(f"reorder: {lacking}")
    whose = side if to_names is None else robot.name
    size = " or ".join(map(str, dict.fromkeys(sizes)))
    wanted_size = f"{whose} needs an array of size {size} along the last axis"
    raise Error(f"reorder: {wanted_size}, got shape {array.shape}")


def _refuse_ambiguous(robot: "Model", size: int, superfluous: list[str]) -> None:
    """Of names with superfluous ones: so many numbers could also be all that the robot itself has."""
    if robot.nq != robot.n and size in (robot.n, robot.nq):
        what = "positions" if size == robot.nq else "velocities"
        raise Error(
            f"reorder: {robot.name} has no {some_names(superfluous)}, and an array of size {size} may be its own {what}; "
            "leave out these names, or their numbers"
        )


def _lacking(robot: str, parts: dict[str, tuple[str, ...]], side: str, named: list[str]) -> str:
    """What is missing on either side, in words; a joint by its name if all of its entries are."""
    theirs = [name for name in named if all(name not in entries for entries in parts.values())]
    ours = list[str]()
    for joint, entries in parts.items():
        missing = [entry for entry in entries if entry not in named]
        ours += [joint] if len(missing) == len(entries) else missing
    lists = [(side, ours), (robot, theirs)]
    if side == "to_names":  # which may leave joints out
        lists.reverse()
    return "; ".join(f"{whose} has no {some_names(lost)}" for whose, lost in lists if lost)


def some_names(names: list[str]) -> str:
    """Names for a message, the first ten of them.

    >>> some_names([f"j{k}" for k in range(13)])
    "'j0', 'j1', 'j2', 'j3', 'j4', 'j5', 'j6', 'j7', 'j8', 'j9' and 3 more"
    """
    more = f" and {len(names) - 10} more" if len(names) > 10 else ""
    return ", ".join(map(repr, names[:10])) + more


def with_poses(robot: "Model", positions: Array, pose_of: Callable[[Run], Array]) -> Array:
    """Positions (..., nq) from those of the joints, (..., n), and poses for the ball and free ones."""
    parts, at = list[Array](), 0
    for run in robot.runs:
        pose = pose_of(run)
        parts += [positions[..., at : run.v], np.broadcast_to(pose, (*positions.shape[:-1], pose.shape[-1]))]
        at = run.velocities.stop
    return np.concatenate([*parts, positions[..., at:]], axis=-1) if parts else positions


def without_poses(robot: "Model", q: Array) -> Array:
    """Positions of the joints (..., n), 0 where they are those of a ball or free joint."""
    parts, at = list[Array](), 0
    for run in robot.runs:
        parts += [q[..., at : run.q], np.zeros((*q.shape[:-1], len(SEVERAL[run.kind])))]
        at = run.positions.stop
    return np.concatenate([*parts, q[..., at:]], axis=-1) if parts else q
