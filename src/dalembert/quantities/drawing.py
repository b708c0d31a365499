"""What a notebook shows of a robot: a drawing and a table, and figures of configurations."""

import html
import io
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from dalembert.algebra.spatial import Array, Transform, compose
from dalembert.arguments import numbers
from dalembert.errors import Error, optional
from dalembert.model.check import around, check, limits_told
from dalembert.model.couple import to_uncoupled
from dalembert.model.links import POSES
from dalembert.model.model import Model, joints_told

MOST = 200  # configurations in a figure
EYE = np.radians([-60.0, 20.0])  # azimuth and elevation from which a robot is looked at
SIZE = 220  # pixels of a drawing
FAR = 1e6  # m: nothing is drawn beyond


class Skeleton(NamedTuple):
    """The lines and points of one configuration, in the world."""

    lines: list[Array]  #    (k, 3) each: from a link's origin over a joint to the next origin, and to the tools
    joints: list[Array]  #   (3,) each
    axes: list[Array]  #     (3,) each, the directions of the joints
    masses: Array  #         (n, 3), centres of mass


def skeleton(robot: Model, q: Array) -> Skeleton:
    """One configuration (nq,) as lines and points. Nothing ties a free body to what it moves against."""
    base, carried = robot.base.transform, set(robot.parents)
    poses, places = list[Transform](), list(to_uncoupled(robot, q))
    found = Skeleton([], [], [], np.zeros((len(robot.links), 3)))
    for i, (parent, link) in enumerate(zip(robot.parents, robot.links, strict=True)):
        size = len(POSES.get(link.joint.kind, link.joint.parts))
        at, places = places[:size], places[size:]
        start = poses[parent] if parent >= 0 else base
        joint, here = compose(start, link.before.transform), compose(start, link.pose(at if size > 1 else at[0]).transform)
        poses.append(here)
        found.masses[i] = here.rotation @ link.inertia.com + here.translation
        if link.joint.kind != "free":
            found.lines.append(np.array([start.translation, joint.translation, here.translation]))
            found.joints.append(joint.translation)
            found.axes.append(joint.rotation[:, 2] if size == 1 else np.zeros(3))
    for frame in robot.frames:
        link, pose = robot.locate(frame.name)
        if link >= 0 and link not in carried:  # a tool
            tip = poses[link].rotation @ pose.translation + poses[link].translation
            found.lines.append(np.array([poses[link].translation, tip]))
    return found


def plot(robot: Model, q: ArrayLike | None = None) -> Any:
    """Draw the robot at one configuration (n,), or at several (k, n); a matplotlib figure, which a notebook shows.

    Lines are links, thick points joints with their axes, crosses the centres of mass. Without `q`, its neutral configuration.

    >>> import dalembert as da
    >>> figure = da.robot("panda").plot()
    >>> figure.savefig("panda.png")  # doctest: +SKIP
    """
    given = robot.neutral() if q is None else numbers(q, "q")
    shown = np.atleast_2d(given)
    if shown.ndim > 2 or shown.shape[-1] != robot.nq or not 1 <= len(shown) <= MOST:
        raise Error(f"plot: q needs shape ({robot.nq},) or (k, {robot.nq}) with at most {MOST} configurations, got {given.shape}")
    drawn = [skeleton(robot, one) for one in shown]
    places = np.concatenate([x for one in drawn for x in _places(robot, one)])
    if not (np.abs(places) < FAR).all():
        raise Error(f"plot: {robot.name} is at places that are not finite or beyond {FAR:g} m")
    middle, reach = (places.min(axis=0) + places.max(axis=0)) / 2, float(np.ptp(places, axis=0).max()) or 1.0
    optional("mpl_toolkits.mplot3d")
    made = showing(optional("matplotlib.figure").Figure)(figsize=(6, 6), layout="constrained")
    axes = made.add_subplot(projection="3d")
    for k, one in enumerate(drawn):
        _draw(axes, one, reach, alpha=1.0 if k == len(drawn) - 1 else 0.25)
    for name, at in zip("xyz", middle, strict=True):
        getattr(axes, f"set_{name}lim")(at - reach / 2 * 1.1, at + reach / 2 * 1.1)
        getattr(axes, f"set_{name}label")(f"{name}, m")
    axes.set_box_aspect((1, 1, 1))
    axes.view_init(elev=np.degrees(EYE[1]), azim=np.degrees(EYE[0]), vertical_axis="xyz"[_vertical(robot)])
    axes.set_title(robot.name)
    return made


def _places(robot: Model, one: Skeleton) -> list[Array]:
    """Whatever a drawing shows, (k, 3) each: of a robot that flies not the base."""
    flies = any(link.joint.kind == "free" for link in robot.links)
    return [*one.lines, one.masses if flies else np.array(robot.base.translation)[None]]


def _draw(axes: Any, one: Skeleton, reach: float, alpha: float) -> None:
    for line in one.lines:
        axes.plot(*line.T, color="#1f5fa8", linewidth=3, solid_capstyle="round", alpha=alpha)
    for place, axis in zip(one.joints, one.axes, strict=True):
        ends = place + 0.06 * reach * np.outer([-1, 1], axis)
        axes.plot(*ends.T, color="#c2410c", linewidth=2, alpha=alpha)
        axes.plot(*place[:, None], marker="o", color="#c2410c", markersize=5, alpha=alpha)
    if len(one.masses):
        axes.plot(*one.masses.T, linestyle="", marker="x", color="#555555", markersize=5, alpha=alpha)


def showing(figure: Any) -> Any:
    """A kind of figure that a notebook shows by itself, without pyplot and its global state."""

    def png(made: Any) -> bytes:
        held = io.BytesIO()
        made.savefig(held, format="png", dpi=100)
        return held.getvalue()

    return type("Figure", (figure,), {"_repr_png_": png})


# --- in a notebook --------------------------------------------------------------------------------------------------------


def page(robot: Model) -> str:
    """What a notebook shows for a robot: its drawing beside a table of its joints, as HTML."""
    titles = ("joint", "kind", "range", "moves", "on", "mass, kg")
    cells = [[f'<td style="text-align: left">{html.escape(x)}</td>' for x in row] for row in _rows(robot)]
    rows = "".join(f"<tr>{''.join(row)}</tr>" for row in cells)
    found = check(robot)
    counts = [f"{len(x)} {what}{'s' * (len(x) > 1)}" for x, what in ((found.errors, "error"), (found.hints, "hint")) if x]
    told = f"{', '.join(counts)}: see <code>check()</code>" if found else "no suspicious data"
    head = joints_told(robot) + "".join(f"; {what}: {html.escape(words)}" for what, words in around(robot).items())
    return (
        f"<p><b>{html.escape(robot.name)}</b>: {head}, {robot.total_mass:.4g} kg; {told}</p>"
        f'<div style="display: flex; gap: 1em; align-items: center; flex-wrap: wrap">{_svg(robot)}<table><thead><tr>'
        f"{''.join(f'<th>{title}</th>' for title in titles)}</tr></thead><tbody>{rows}</tbody></table></div>"
    )


def _rows(robot: Model) -> list[tuple[str, ...]]:
    return [(x.joint.name, x.joint.kind, limits_told(x.joint), x.name, x.parent, f"{x.inertia.mass:.4g}") for x in robot.links]


def _vertical(robot: Model) -> int:
    """The axis of the world nearest to gravity; z without gravity."""
    return int(np.argmax(np.abs(robot.gravity))) if robot.gravity.any() else 2


def _sight(robot: Model, places: Array | None = None) -> Array:
    """What points to the right and up in a drawing, (2, 3), for an eye that sees a planar arm from the front.

    With places (k, 3) it stands so that they spread to the right and to the left.
    """
    k, (ca, sa), (ce, se) = _vertical(robot), *((np.cos(x), np.sin(x)) for x in EYE)
    up = np.eye(3)[k] * (-1.0 if robot.gravity[k] > 0 else 1.0)
    ahead = np.eye(3)[0 if k else 1]
    aside = np.cross(up, ahead)
    if places is not None:
        x, y = ((places - places.mean(axis=0)) @ v for v in (ahead, aside))
        along = 0.5 * np.arctan2(2 * (x @ y), x @ x - y @ y)
        ca, sa = np.sin(along), -np.cos(along)
    return np.array([-sa * ahead + ca * aside, -se * (ca * ahead + sa * aside) + ce * up])


class Seen(NamedTuple):
    """A configuration as an eye sees it that looks from the side and a little from above, in m to the right and up."""

    lines: list[Array]  #   (k, 2) each
    joints: Array  #        (m, 2)
    others: Array  #        (k, 2): the base (or the masses, of what flies), and what else was given

    @property
    def places(self) -> Array:
        """Whatever is seen, (k, 2)."""
        return np.concatenate([*self.lines, self.others])


def seen(robot: Model, q: Array, *others: Array, aside: bool = False) -> Seen:
    """One configuration (nq,), upright; `others` are further places (3,) in the world, such as that of a load.

    `aside`: the eye stands where it sees most of the configuration, wherever the arm points.
    """
    one = skeleton(robot, q)
    ground = np.concatenate([_places(robot, one)[-1], *(place[None] for place in others)])
    eye = _sight(robot, np.concatenate([*one.lines, ground]) if aside else None)
    return Seen([line @ eye.T for line in one.lines], np.array(one.joints).reshape(-1, 3) @ eye.T, ground @ eye.T)


def _svg(robot: Model) -> str:
    """The neutral configuration; nothing for a robot that cannot be drawn."""
    one = seen(robot, robot.neutral())
    if not (np.abs(one.places) < FAR).all():
        return ""
    low, reach = one.places.min(axis=0), float(np.ptp(one.places, axis=0).max()) or 1.0
    width, height = np.ptp(one.places, axis=0) / reach * (SIZE - 40) + 40

    def point(place: Array) -> str:
        x, y = (place - low) / reach * (SIZE - 40) + 20
        return f"{x:.1f},{height - y:.1f}"

    lines = "".join(f'<polyline points="{" ".join(map(point, line))}"/>' for line in one.lines)
    dots = "".join('<circle cx="{}" cy="{}" r="4"/>'.format(*point(place).split(",")) for place in one.joints)
    return (
        f'<svg width="{width:.0f}" height="{height:.0f}" viewBox="0 0 {width:.0f} {height:.0f}" role="img" aria-label="the robot">'
        f'<g fill="none" stroke="#1f5fa8" stroke-width="5" stroke-linecap="round" stroke-linejoin="round">{lines}</g>'
        f'<g fill="#c2410c">{dots}</g></svg>'
    )
