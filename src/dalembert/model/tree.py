"""The robot as formulations see it: plain arrays of any scalar, nothing to validate."""

from collections.abc import Callable
from typing import Any, NamedTuple

from dalembert.algebra.precise import exact, exact_rotation
from dalembert.algebra.spatial import Transform, along_z, compose, congruent, cross, exp_z, join, rotate, split, symmetric, zeros


class Body(NamedTuple):
    """A rigid body seen from some frame: mass, centre of mass, inertia about it."""

    mass: Any
    com: Any
    inertia: Any


class Tree(NamedTuple):
    """Links i = 0 .. n-1, each after its parent; parent -1 is the base.

    The pose of link i's frame in its parent's is before[i] . exp_z(screw[i], q_i) . after[i].
    """

    parents: tuple[int, ...]
    before: Transform  #   (n, 3, 3), (n, 3)
    after: Transform  #    (n, 3, 3), (n, 3)
    screw: Any  #          (n, 2): (rho, sigma), revolute (1, 0), prismatic (0, 1), helical (1, pitch)
    mass: Any  #           (n,)
    com: Any  #            (n, 3) in link axes
    inertia: Any  #        (n, 3, 3) about the centre of mass, in link axes
    gravity: Any  #        (3,) the physical field, in the base frame
    offset: Any = None  #  (n,) added to the joint positions; None means 0

    def mapped(self, convert: Callable[[tuple[Any, ...]], tuple[Any, ...]]) -> "Tree":
        """The same tree with its numbers converted."""
        return Tree(self.parents, *convert(tuple(self[1:])))

    @property
    def exact(self) -> "Tree":
        """A tree of floats in fractions, and its rotations orthogonal to the last digit."""
        turns = (Transform(exact_rotation(T.rotation), T.translation) for T in (self.before, self.after))
        return self._replace(**dict(zip(("before", "after"), turns, strict=True))).mapped(exact)

    @property
    def children(self) -> tuple[tuple[int, ...], ...]:
        """The links carried by each link."""
        children: list[list[int]] = [[] for _ in self.parents]
        for i, parent in enumerate(self.parents):
            if parent >= 0:
                children[parent].append(i)
        return tuple(map(tuple, children))

    def path(self, i: int) -> tuple[int, ...]:
        """The links from the base to link i, itself included."""
        path: list[int] = []
        while i >= 0:
            path.append(i)
            i = self.parents[i]
        return tuple(reversed(path))

    def poses(self, q: Any) -> list[Transform]:
        """Every link's frame in the base frame."""
        poses: list[Transform] = []
        for i, parent in enumerate(self.parents):
            step = self.pose(i, q[..., i])
            poses.append(step if parent < 0 else compose(poses[parent], step))
        return poses

    def at(self, i: int, q: Any) -> Any:
        """How far joint i has moved at position q."""
        return q if self.offset is None else q + self.offset[i]

    def pose(self, i: int, q: Any) -> Transform:
        """Link i's frame in its parent's, with joint i at position q."""
        before, after, rho, sigma = self.joint(i)
        return compose(compose(before, exp_z(rho, sigma, self.at(i, q))), after)

    def joint(self, i: int) -> tuple[Transform, Transform, Any, Any]:
        """The fixed transforms before and after joint i, and its rho and sigma."""
        before = Transform(self.before.rotation[i], self.before.translation[i])
        after = Transform(self.after.rotation[i], self.after.translation[i])
        return before, after, self.screw[i][0], self.screw[i][1]

    def step(self, i: int) -> Transform:
        """The pose of joint i's frame in its parent's joint frame when the joint is at zero."""
        before, parent = self.joint(i)[0], self.parents[i]
        return before if parent < 0 else compose(self.joint(parent)[1], before)

    def body(self, i: int) -> "Body":
        """Link i in its joint's frame."""
        R, p = self.joint(i)[1]
        return Body(self.mass[i], rotate(R, self.com[i]) + p, symmetric(congruent(R, self.inertia[i])))

    def axis(self, i: int) -> Any:
        """Joint i's axis as a twist in the frame on it: (0, 0, rho; 0, 0, sigma)."""
        _, _, rho, sigma = self.joint(i)
        return join(along_z(rho), along_z(sigma))

    def base_motion(self, twist: Any, acceleration: Any) -> tuple[Any, Any, Any]:
        """w0, wd0 and vd0 = true acceleration of the base's origin minus gravity; None means a base at rest."""
        w, v = split(zeros(6) if twist is None else twist)
        wd, vd = split(zeros(6) if acceleration is None else acceleration)
        return w, wd, vd + cross(w, v) - self.gravity
