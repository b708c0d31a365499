"""Closed loops: two frames of a tree that stay together, or equations between its joints, as constraints phi(q) = 0."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from dalembert.algebra.spatial import Transform, compose, cross, dot, join, stack
from dalembert.arguments import choice, listed, text, whole
from dalembert.errors import Error, brief
from dalembert.model.values import Value

if TYPE_CHECKING:
    from dalembert.model.model import Model
    from dalembert.model.tree import Tree

KINDS = {"point": 3, "revolute": 5, "weld": 6}  # how many equations each has
MOST_ROWS = 1000


@dataclass(frozen=True, eq=False)
class Loop(Value):
    """Two frames that stay together, as equations phi(q) = 0 between all joints.

    kind "point": their origins meet, as in a ball joint. "revolute": their z axes are one axis, too. "weld": the frames are one.
    Or a function of q, an array of n scalars, that returns equations; it has no frames. rows: those of the equations that count,
    the others follow from them; by default all.

    The equations, angular part first, are of frame_a as seen from frame_b: "weld" has three small angles and the distance of the
    origins, in the axes of the nearest link that carries both; "revolute" two small angles, about x and y of frame_b, and the
    distance.
    """

    frame_a: str
    frame_b: str
    kind: str | Callable[[Any], Any] = "point"
    rows: tuple[int, ...] | None = None

    def __post_init__(self) -> None:
        if callable(self.kind):
            if self.frame_a or self.frame_b:
                raise Error("a loop that is a function of q has no frames: with_loop(kind=function)")
            most = MOST_ROWS
        else:
            text(self.frame_a, "the first frame of a loop")
            text(self.frame_b, "the second frame of a loop")
            most = KINDS[choice(self.kind, "kind of a loop:", KINDS)]
            if self.frame_a == self.frame_b:
                raise Error(f"a loop needs two frames, got {self.frame_a!r} twice")
        rows = self.rows
        if rows is None:
            if callable(self.kind):
                raise Error("a loop that is a function of q needs rows, such as (0, 1); with_loop(kind=function) finds them")
            rows = range(most)
        rows = tuple(whole(row, "each of the rows of a loop", 0, most - 1) for row in listed(rows, "the rows of a loop"))
        if not rows or list(rows) != sorted(set(rows)):
            raise Error(f"the rows of a loop are at least one, in order and each once, got {brief(rows)}")
        object.__setattr__(self, "rows", rows)

    @property
    def told(self) -> str:
        """The loop in words."""
        if callable(self.kind):
            return f"{getattr(self.kind, '__name__', 'a function')}(q) = 0"
        return f"{self.frame_a} - {self.frame_b} ({self.kind})"

    def check(self, model: "Model") -> None:
        """That the frames are there, on links that can move against each other."""
        if callable(self.kind):
            return
        (i, _), (j, _) = (model.locate(name) for name in (self.frame_a, self.frame_b))
        if i == j:
            raise Error(f"the loop {self.told} is between two frames of one link, which closes nothing")

    def equations(self, model: "Model", q: Any) -> Any:
        """All rows of phi, of any scalar; q (n,)."""
        if callable(self.kind):
            return _returned(self.kind, q)
        return self.between(*self._frames(model, q))

    def between(self, A: Transform, B: Transform) -> Any:
        """All rows of phi, of where the two frames are."""
        apart = A.translation - B.translation
        if self.kind == "point":
            return apart
        a, b = ([T.rotation[:, k] for k in range(3)] for T in (A, B))  # columns: the axes
        if self.kind == "revolute":
            return join(stack([-dot(b[1], a[2]), dot(b[0], a[2])]), apart)
        return join(sum(cross(y, x) for x, y in zip(a, b, strict=True)) / 2, apart)

    def facing(self, model: "Model", q: Any) -> Any:
        """1 where closed frames face each other as they should, -1 where they are turned by half a turn; q (n,)."""
        if callable(self.kind) or self.kind == "point":
            return 1
        A, B = self._frames(model, q)
        cosines = [dot(A.rotation[:, k], B.rotation[:, k]) for k in range(3)]
        return cosines[2] if self.kind == "revolute" else (sum(cosines) - 1) / 2

    def _frames(self, model: "Model", q: Any) -> tuple[Transform, Transform]:
        """Both, seen from the nearest link that carries both: what moves that link does not come in."""
        if model.coupling is not None:
            q = model.coupling.positions(q)
        at = [model.locate(name)[1].exact for name in (self.frame_a, self.frame_b)]
        return self.frames(model, model.exact_tree, q, at)

    def frames(self, model: "Model", tree: "Tree", q: Any, at: Sequence[Transform]) -> tuple[Transform, Transform]:
        """The same of any tree of these links, at positions of all its joints, and of frames at these places on their links."""
        links = [model.locate(name)[0] for name in (self.frame_a, self.frame_b)]
        paths = [tree.path(i) if i >= 0 else () for i in links]
        shared = sum(1 for i, j in zip(*paths, strict=False) if i == j)
        found: list[Transform] = []
        for place, path in zip(at, paths, strict=True):
            T = None
            for i in path[shared:]:
                step = tree.pose(i, q[i])
                T = step if T is None else compose(T, step)
            found.append(place if T is None else compose(T, place))
        return found[0], found[1]


def _returned(function: Callable[[Any], Any], q: Any) -> Any:
    """What a user's function gives, as an array of scalars."""
    try:
        found = np.asarray(function(q), dtype=object)
    except Error:
        raise
    except Exception as reason:
        raise Error(f"the function of a loop failed for an array of {len(q)} scalars: {type(reason).__name__}: {reason}") from None
    if found.ndim > 1 or not 0 < found.size <= MOST_ROWS:
        raise Error(f"the function of a loop must return one array of equations, (m,), got shape {found.shape}")
    return found.reshape(-1)
