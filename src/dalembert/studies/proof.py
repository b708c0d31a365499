"""Formulations proven equal: as identities in everything a robot of a structure is made of, modulo a prime.

Two formulations are polynomials or quotients of polynomials in masses, centres of mass, inertias, link geometry, gravity, wrenches
and the state, once cosines and sines are points on circles and rotations are rational in three parameters each (Cayley). If such
functions differ, they agree at a random point modulo p with probability at most degree / p (Schwartz and Zippel), the degree being
that of the difference with its denominators cleared. With p = 2^521 - 1 one point settles it, for every robot of that structure.
"""

import random
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from dalembert.algebra.spatial import Transform
from dalembert.arguments import whole
from dalembert.engine.registry import quantity_named
from dalembert.engine.size import MOST_WORK, check_size
from dalembert.errors import Error
from dalembert.formulations import formulation, takes
from dalembert.model.links import LETTERS, SEVERAL, joint_letters
from dalembert.model.tree import Tree
from dalembert.model.values import parent_indices
from dalembert.trace.exact import PRIME, Angle, Residue
from dalembert.trace.program import Program, operands, trace
from dalembert.trace.replay import replay

# everything a tree is made of; "n" is the number of joints
TREE: dict[str, tuple[Any, ...]] = {
    "before_R": ("n", 3, 3),
    "before_p": ("n", 3),
    "after_R": ("n", 3, 3),
    "after_p": ("n", 3),
    "pitch": ("n",),
    "mass": ("n",),
    "com": ("n", 3),
    "inertia": ("n", 3, 3),
    "gravity": (3,),
}
RUNS = {("L" if kind == "planar" else kind[0].upper()): "".join(x[0].upper() for _, x, _ in SEVERAL[kind]) for kind in SEVERAL}
MOST_POINTS = 10_000  # one settles it
MOVING_BASE = ("base_twist", "base_acceleration")


class Certificate(NamedTuple):
    """What was compared, where, and how likely a false "equal" is. It is true if the methods are equal."""

    structure: str
    parents: tuple[int, ...]
    quantity: str
    methods: tuple[str, str]
    equal: bool
    points: int
    seed: int  # of the points
    degree: int  # bound on the degree of the difference
    modulus: int
    log2_probability: float  # of agreeing by accident, at most

    def __bool__(self) -> bool:
        return self.equal

    def __str__(self) -> str:
        tree = "" if self.parents == tuple(range(-1, len(self.parents) - 1)) else f" with parents {self.parents}"
        verdict = "equal" if self.equal else "NOT equal"
        sure = f": wrong with probability below 2^{self.log2_probability:.0f}" if self.equal else ": a counterexample was found"
        return f"{self.quantity} by {self.methods[0]} and {self.methods[1]} is {verdict} on {self.structure}{tree}{sure}"


def ingredients(quantity: str = "inverse_dynamics", moving: bool = True) -> dict[str, tuple[Any, ...]]:
    """Everything that a quantity of a robot is a function of: the tree, the state, wrenches, and the motion of the base."""
    described = quantity_named(quantity)
    optional = tuple(name for name in described.optional if moving or name not in MOVING_BASE)
    return TREE | {name: values.shape for name, values in described.arrays(optional).items()}


def prove_equal(
    structure: str,
    method_a: str,
    method_b: str | None = None,
    *,
    quantity: str = "inverse_dynamics",
    parents: Sequence[int] | None = None,
    points: int = 1,
    seed: int = 0,
) -> Certificate:
    """Whether two formulations of a quantity are identical for every robot of a structure: letters of joints, and parents.

    Letters are R revolute, P prismatic, H helical, L planar, B ball, F free; the last three are proven as the runs of revolute and
    prismatic joints that formulations take them for, with any masses between these. The second is the default method unless another
    is named. Wrenches on all links are part of the identity, and a moving base where both methods take one. Methods with square
    roots (the normalized quasi-velocities) have no residues.

    >>> import dalembert as da
    >>> print(da.prove_equal("RP", "lagrange_euler"))
    inverse_dynamics by lagrange_euler and newton_euler is equal on RP: wrong with probability below 2^-51...
    """
    described = quantity_named(quantity)
    given = parent_indices(parents, len(joint_letters(structure, (*LETTERS, *RUNS))))
    letters, above = spelled(structure, given)
    names = method_a, described.default(above) if method_b is None else method_b
    functions = [formulation(quantity, method) for method in names]
    for method in names:
        check_size(above, structure, described, method, MOST_WORK // 5)  # nothing is a number here, which makes programs longer
    moving = all(takes(quantity, method, MOVING_BASE[0]) for method in names)
    proof = compare(letters, functions, names, quantity=quantity, parents=above, moving=moving, points=points, seed=seed)
    return proof._replace(structure=structure, parents=given)


def spelled(structure: str, parents: Sequence[int]) -> tuple[str, tuple[int, ...]]:
    """Letters and parents of joints of one degree of freedom, planar, ball and free ones as the runs that they are made of.

    >>> spelled("LRR", (-1, 0, 0))
    ('PPRRR', (-1, 0, 1, 2, 2))
    """
    letters, above, last = "", list[int](), {-1: -1}
    for i, (letter, parent) in enumerate(zip(structure, parents, strict=True)):
        for k, part in enumerate(RUNS.get(letter, letter)):
            above.append(last[parent] if k == 0 else len(above) - 1)
            letters += part
        last[i] = len(above) - 1
    return letters, tuple(above)


def compare(
    structure: str,
    functions: Sequence[Callable[..., Any]],
    names: tuple[str, str],
    *,
    quantity: str = "inverse_dynamics",
    parents: Sequence[int] | None = None,
    moving: bool = True,
    points: int = 1,
    seed: int = 0,
) -> Certificate:
    """As `prove_equal`, for two functions of a tree and a state."""
    points, seed = whole(points, "points", 1, MOST_POINTS), whole(seed, "seed", -(10**18), 10**18)
    if not joint_letters(structure):
        raise Error("a proof needs joint letters such as 'RPR', got none")
    above = parent_indices(parents, len(structure))
    wanted = ingredients(quantity, moving)
    shapes = {k: _shape(s, len(structure)) for k, s in wanted.items()}
    outputs = tuple(quantity_named(quantity).outputs)
    programs = [trace(on_tree(function, structure, above), shapes, outputs=outputs) for function in functions]
    for name, program in zip(names, programs, strict=True):
        if any(node[0] == "sqrt" for node in program.nodes):
            raise Error(
                f"{name} takes square roots, which have no residues modulo a prime: {quantity} by it cannot be proven equal"
            )
    degree = sum(degree_bound(program, len(structure)) for program in programs)
    equal = True
    for k in range(points):
        values = random_point(structure, f"{seed} {k}", wanted)
        first, second = (_residues(program, values) for program in programs)
        equal = equal and first == second
    log2 = points * (np.log2(max(degree, 1)) - np.log2(float(PRIME >> 500)) - 500)
    return Certificate(structure, above, quantity, names, equal, points, seed, degree, PRIME, float(log2))


def _shape(template: tuple[Any, ...], n: int) -> tuple[int, ...]:
    return tuple(n if isinstance(d, str) else d for d in template)


def _residues(program: Program, values: dict[str, Any]) -> list[Any]:
    residues = replay(program, values)
    return [x for array in (residues if isinstance(residues, tuple) else (residues,)) for x in array.ravel()]


def on_tree(function: Callable[..., Any], structure: str, parents: tuple[int, ...]) -> Callable[..., Any]:
    """A formulation as a function of all ingredients, in their order."""

    def body(
        before_R: Any,
        before_p: Any,
        after_R: Any,
        after_p: Any,
        pitch: Any,
        mass: Any,
        com: Any,
        inertia: Any,
        gravity: Any,
        *state: Any,
    ) -> Any:
        screw = [{"R": (1, 0), "P": (0, 1), "H": (1, pitch[i])}[letter] for i, letter in enumerate(structure)]
        tree = Tree(parents, Transform(before_R, before_p), Transform(after_R, after_p), screw, mass, com, inertia, gravity)
        return function(tree, *state)

    return body


def random_point(structure: str, seed: Any, wanted: dict[str, tuple[Any, ...]]) -> dict[str, Any]:
    """Residues for every ingredient: rotations orthonormal, inertias symmetric, angles on circles, the rest free."""
    rng, n = random.Random(seed), len(structure)

    def free(*shape: int) -> Any:
        array = np.empty(shape, dtype=object)
        for index in np.ndindex(*shape):
            array[index] = Residue(rng.randrange(PRIME))
        return array

    values = {name: free(*_shape(shape, n)) for name, shape in wanted.items()}
    for i in range(n):
        values["before_R"][i], values["after_R"][i] = _rotation(rng), _rotation(rng)
        for r, c in ((1, 0), (2, 0), (2, 1)):
            values["inertia"][i, r, c] = values["inertia"][i, c, r]
        if structure[i] != "P":
            values["q"][i] = Angle.from_parameter(Residue(rng.randrange(PRIME)), values["q"][i])
    return values


def _rotation(rng: random.Random) -> Any:
    """(1 - [a])^-1 (1 + [a]) is orthogonal over any field."""
    x, y, z = (Residue(rng.randrange(PRIME)) for _ in range(3))
    s = 1 / (1 + x * x + y * y + z * z)
    rows = [
        [1 + x * x - y * y - z * z, 2 * (x * y - z), 2 * (x * z + y)],
        [2 * (x * y + z), 1 - x * x + y * y - z * z, 2 * (y * z - x)],
        [2 * (x * z - y), 2 * (y * z + x), 1 - x * x - y * y + z * z],
    ]
    return np.array([[entry * s for entry in row] for row in rows], dtype=object)


def degree_bound(program: Program, n: int) -> int:
    """A bound on the degree of numerators and denominators of the outputs in the free parameters.

    A node is a polynomial of some degree over a product of earlier divisors; sums take the least common denominator. Of the inputs,
    cosines and sines that these are polynomials in, 2 n rotations and n circles are quadratic polynomials over a quadratic
    denominator of their own; clearing all of them makes at most d + 3 n times 2 d of a degree d.
    """
    degree: list[int] = []  # of the numerator
    below: list[dict[int, int]] = []  # powers of divisors in the denominator, by the node that was divided by
    for node in program.nodes:
        op, given = node[0], operands(node)
        if not given or op in ("sin", "cos"):
            degree.append(0 if op == "const" else 1)
            below.append({})
        elif op in ("add", "sub"):
            common = {k: max(below[i].get(k, 0) for i in given) for i in given for k in below[i]}
            missing = {i: {k: e - below[i].get(k, 0) for k, e in common.items()} for i in given}  # what each is expanded by
            degree.append(max(degree[i] + sum(e * degree[k] for k, e in missing[i].items()) for i in given))
            below.append(common)
        elif op == "mul":
            a, b = given
            degree.append(degree[a] + degree[b])
            below.append({k: below[a].get(k, 0) + below[b].get(k, 0) for k in below[a] | below[b]})
        elif op == "div":
            a, b = given
            by = below[b] | {b: below[b].get(b, 0) - 1} if degree[b] else below[b]  # the divisor's numerator comes below
            degree.append(degree[a])
            below.append({k: below[a].get(k, 0) - by.get(k, 0) for k in below[a] | by})
        elif op in ("neg", "above"):
            degree.append(degree[given[0]])
            below.append(below[given[0]])
        else:
            raise Error(f"a program with {op} has no degree: it is not a quotient of polynomials")
    whole = (degree[i] + sum(abs(e) * degree[k] for k, e in below[i].items()) for i in program.results)
    return (1 + 6 * n) * max(whole, default=0)
