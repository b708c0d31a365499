"""Merging fixed joints: bodies behind them become part of the link that carries them, and remain as named frames."""

from collections.abc import Iterable
from dataclasses import replace
from typing import NamedTuple

from dalembert.errors import Error
from dalembert.model.inertia import Inertia
from dalembert.model.links import Frame, Link, Note
from dalembert.model.pose import Pose


class Fixed(NamedTuple):
    """A body rigidly attached to its parent at a pose."""

    name: str
    parent: str
    pose: Pose
    inertia: Inertia


class Assembly(NamedTuple):
    """Moving links, frames of all lumped bodies, what the base has gathered, and what joining would hide."""

    links: tuple[Link, ...]
    frames: tuple[Frame, ...]
    base_inertia: Inertia
    notes: tuple[Note, ...]  # why a body's own inertia is impossible, for those that check() cannot see any more


def assemble(base_name: str, base_inertia: Inertia, bodies: Iterable[Link | Fixed], frames: Iterable[Frame] = ()) -> Assembly:
    """Lump every fixed body into its carrier. Parents come before children in `bodies`, and the order of links is kept."""
    own = {base_name: base_inertia}
    joined = {base_name}  # the base is used nowhere else
    place = {base_name: (base_name, Pose.identity())}  # body -> the moving link that carries it, and the pose there
    inertia = {base_name: base_inertia}
    links: list[Link] = []
    lumped: list[Frame] = []
    for body in bodies:
        carrier, pose = place[body.parent]
        own[body.name] = body.inertia
        if isinstance(body, Link):
            links.append(replace(body, parent=carrier, before=pose @ body.before))
            place[body.name] = body.name, Pose.identity()
            inertia[body.name] = body.inertia
        else:
            pose = pose @ body.pose
            place[body.name] = carrier, pose
            try:
                inertia[carrier] += body.inertia.seen_from(pose)
            except Error as error:
                raise Error(f"joining {body.name!r} to {carrier!r}: {error}") from None
            joined |= {carrier, body.name}
            lumped.append(Frame(body.name, carrier, pose))
    kept = [Frame(f.name, place[f.link][0], place[f.link][1] @ f.pose) for f in frames]
    notes = tuple(Note(name, f"impossible inertia: {why}") for name in own if name in joined and (why := own[name].impossible()))
    moving = tuple(replace(link, inertia=inertia[link.name]) for link in links)
    return Assembly(moving, (*kept, *lumped), inertia[base_name], notes)
