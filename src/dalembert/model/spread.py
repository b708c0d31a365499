"""Joints of several degrees of freedom as runs of revolute and prismatic ones, on links without mass that users never see.

Formulations know joints of one degree of freedom. A ball is three revolute joints about x, y and z, a free body those and three
prismatic ones behind them, a planar joint two prismatic ones and a revolute one; the last link of a run is the body. The runs of
balls and free bodies always stand at home, in zero position: where the body really is enters as the place of its run
(`derived.charts`). There the velocities of the run are the components of the body's twist.
"""

from dataclasses import replace
from typing import Any, TypeVar

import numpy as np

from dalembert.model.inertia import Inertia
from dalembert.model.links import SEVERAL, Link
from dalembert.model.model import Model
from dalembert.model.pose import Pose, align_z
from dalembert.model.positions import Virtual, hidden

M = TypeVar("M", bound=Model)
TO = tuple(Pose(align_z(axis), np.zeros(3)) for axis in np.eye(3))  # z of a joint of a run to an axis of the body


def spread(model: M) -> M:
    """The same robot on joints of one degree of freedom; itself if it has no others."""
    if not model.several:
        return model
    if spread not in model.memo:
        links: list[Link] = []
        virtual: list[Virtual] = []
        for link in model.links:
            run = _run(link) if link.joint.kind in SEVERAL else [link]
            links += run
            if len(run) > 1:
                virtual.append(Virtual(link.joint.name, link.joint.kind, tuple(x.name for x in run[:-1])))
        model.memo[spread] = replace(model, links=tuple(links), virtual=tuple(virtual))
    return model.memo[spread]


def _run(link: Link) -> list[Link]:
    axes, parts, run = SEVERAL[link.joint.kind], link.joint.parts, list[Link]()
    for (name, _, axis), joint in zip(axes, parts, strict=True):
        last, turn = len(run) == len(axes) - 1, TO[axis]
        made: dict[str, Any] = {
            "name": link.name if last else f"{link.name}.{name}",
            "parent": run[-1].name if run else link.parent,
            "before": turn if run else link.before @ turn,
            "after": turn.inverse @ link.after if last else turn.inverse,
            "inertia": link.inertia if last else Inertia.zero(),
        }
        run.append(Link(joint=joint, **made))
    return run


def bodies(model: Model) -> list[int]:
    """The links of a spread robot that are bodies, in the order of the robot's own links."""
    return [i for i, name in enumerate(model.link_names) if name not in hidden(model)]
