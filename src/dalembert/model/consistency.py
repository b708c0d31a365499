"""Whether the parts of a robot go together: names and parents, what joints follow, what drives them, and loops."""

from collections import Counter
from typing import TYPE_CHECKING

import numpy as np

from dalembert.arguments import choice, instance
from dalembert.errors import Error, unknown
from dalembert.model.coupling import Coupling, Transmission
from dalembert.model.links import POSES

if TYPE_CHECKING:
    from dalembert.model.model import Model


def check_names(model: "Model") -> None:
    """That links come after their parents, frames are on links, and names are different."""
    seen = {model.base_name}
    for link in model.links:
        if link.name in seen:
            raise Error(f"two links are named {link.name!r}; link names must be unique")
        if link.parent not in seen:
            raise Error(
                f"link {link.name!r} has parent {link.parent!r}, which is not an earlier link; "
                f"list parents before children (earlier links: {', '.join(sorted(seen)[:12])})"
            )
        seen.add(link.name)
    links = set(seen)
    for frame in model.frames:
        if frame.name in seen:
            raise Error(f"frame {frame.name!r} has the same name as another link or frame")
        if frame.link not in links:
            raise unknown(f"link of frame {frame.name!r}:", frame.link, model.link_names)
        seen.add(frame.name)
    for joint, count in Counter(link.joint.name for link in model.links).items():
        if count > 1:
            raise Error(f"two joints are named {joint!r}; joint names must be unique")


def check_coupling(model: "Model") -> None:
    """That the coupling is of these joints, leaves them room within their limits, and takes balls and free bodies as they are."""
    coupling, own = model.coupling, sum(len(link.joint.parts) for link in model.links)
    if coupling is None:
        return
    instance(coupling, Coupling, "the coupling of a robot")
    if len(coupling.offset) != own:
        raise Error(f"the coupling is of {len(coupling.offset)} joints, {model.name} has {own}")
    model.joints  # noqa: B018 - checks limits
    for joint in model.several:
        names = [part.name for part in joint.parts]
        if any(name not in coupling.names for name in names):
            raise Error(f"joint {joint.name!r} is {joint.kind} and cannot follow others")
        start = coupling.names.index(names[0])
        if coupling.names[start : start + len(names)] != tuple(names):
            order = ", ".join(names)
            raise Error(f"joint {joint.name!r} is {joint.kind}: {order} keep this order among the coordinates of a coupling")
        moved = np.count_nonzero(coupling.matrix[:, [coupling.names.index(name) for name in names]], axis=0)
        if joint.kind in POSES and (moved > 1).any():
            raise Error(
                f"a joint cannot follow {names[int(np.argmax(moved > 1))]!r}: {joint.name!r} is {joint.kind}, without angles"
            )


def check_transmission(model: "Model") -> None:
    """That the motors drive these joints."""
    if model.transmission is None:
        return
    instance(model.transmission, Transmission, "the transmission of a robot")
    if model.transmission.matrix.shape[1] != model.n:
        raise Error(f"the transmission drives {model.transmission.matrix.shape[1]} joints, {model.name} has {model.n}")
    if not model.is_tree:
        _refuse_load_friction(model, "rotors behind a transmission")


def check_loops(model: "Model") -> None:
    """That loops are between links which can move, and leave as many joints independent as are named."""
    names = model.independent
    if not model.loops:
        if names:
            raise Error(f"{model.name} has no loops, so all of its joints are independent; with_loop(...) closes one")
        return
    if model.several:
        joint = model.several[0]
        raise Error(f"loops are supported between joints of one degree of freedom; {joint.name!r} of {model.name} is {joint.kind}")
    for loop in model.loops:
        loop.check(model)
    if (free := model.n - model.closures) < 0:
        raise Error(f"the loops of {model.name} have {model.closures} equations for {model.n} joints, so nothing would move")
    left = dict.fromkeys(model.joint_names)
    for name in names:
        if not isinstance(name, str) or name not in left:
            choice(name, f"joint of {model.name}:", model.joint_names)
            raise Error(f"joint {name!r} is named twice among the independent ones")
        del left[name]
    if names and len(names) != free:
        raise Error(f"{model.name} has {free} independent joint{'' if free == 1 else 's'}, got {len(names)}: {', '.join(names)}")
    _refuse_load_friction(model, "loops, whose forces load it")


def _refuse_load_friction(model: "Model", what: str) -> None:
    for joint in model.joints:
        if joint.load_friction:
            raise Error(f"joint {joint.name!r} has load_friction, which does not go with {what}; make it 0")
