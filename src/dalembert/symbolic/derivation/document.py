"""A derivation as a document: Markdown with LaTeX, or LaTeX alone."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from dalembert.arguments import choice, numbers, whole
from dalembert.errors import Error
from dalembert.model.edit import without_armature, without_friction
from dalembert.model.model import Model, a_robot, freed
from dalembert.quantities.dynamics import forward_dynamics, inverse_dynamics
from dalembert.symbolic.closed_form.form import TooLongError
from dalembert.symbolic.closed_form.names import latex_name
from dalembert.symbolic.closed_form.paper import HEAD, display, escaped_text, in_latex, in_markdown, save
from dalembert.symbolic.closed_form.write import powered
from dalembert.symbolic.derivation.latex import equation, matrix, shown
from dalembert.symbolic.derivation.letters import Lettered, lettered
from dalembert.symbolic.derivation.methods import FAMILIES, METHODS
from dalembert.symbolic.derivation.steps import Entry, Step
from dalembert.symbolic.parameters import PARTS, named_parts

MOST_TERMS = 2_000  # of one value: a dozen pages or more
BRANCHES = (
    "The robot branches, and the books' formulas are those of a chain: link $i - 1$ in them stands for the link that carries "
    "link $i$ (in order, the links are carried by {}), link $i + 1$ for all links that link $i$ carries, whose forces and moments "
    "are added, and sums run over the links that all joints named in them move."
)


class Check(NamedTuple):
    """A state, what the derived formulas give there, what `robot.inverse_dynamics` does, and the largest difference.

    In derivations of forward dynamics `tau` is given, and `qdd` and `expected` are accelerations.
    """

    q: Any
    qd: Any
    qdd: Any
    tau: Any
    expected: Any
    difference: float


class _Block(NamedTuple):
    """A piece of the document: a heading of level 1 or 2, text, an item of a list, or mathematics."""

    kind: str
    text: str


@dataclass(frozen=True, eq=False, repr=False)
class Derivation:
    """The steps of a method for one robot; print it, `save` it, or take values out: `d["D"]`, `d.steps[0].values`.

    Values are arrays of symbolic scalars that SymPy takes as they are: `sympy.Matrix(d["D"])`.
    """

    name: str
    method: str
    steps: tuple[Step, ...]
    check: Check
    _letters: Lettered
    _friction: bool

    def __getitem__(self, name: str) -> Any:
        """A value by its name, such as U21, D or tau1."""
        return self._entry(name).value

    def equation(self, name: str) -> str:
        r"""A value as LaTeX with its name on the left, as the document has it.

        >>> import dalembert as da
        >>> print(da.derive(da.robot("two_link"), "kalman").equation("D2"))
        D_{2} = \frac{1}{3} m_2 l_2^2
        """
        return equation(*self._entry(name))

    def _entry(self, name: str) -> Entry:
        entries = {k: entry for step in self.steps for k, entry in step.entries.items()}
        return entries[choice(name, "value of this derivation:", entries)]

    def at(self, q: Any, qd: Any, qdd: Any) -> Any:
        """The derived joint forces at a state, with the robot's own numbers; of forward dynamics qdd, given tau in its place."""
        return _evaluate(self._letters, self.method, self.steps, q, qd, qdd)

    def markdown(self) -> str:
        """The document as Markdown; mathematics between dollar signs."""
        marks = {"1": "# {}", "2": "## {}", "text": "{}", "item": "- {}"}
        parts = [(b.kind, in_markdown(b.text) if b.kind == "math" else marks[b.kind].format(b.text)) for b in self._blocks()]
        return _joined(parts) + "\n"

    def latex(self) -> str:
        """The document as LaTeX, complete."""
        marks = {"1": r"\section*{%s}", "2": r"\subsection*{%s}", "text": "%s", "item": r"$\bullet$ %s\\[2pt]"}
        parts = [(b.kind, in_latex(b.text) if b.kind == "math" else marks[b.kind] % escaped_text(b.text)) for b in self._blocks()]
        return HEAD + _joined(parts) + "\n\\end{document}\n"

    def save(self, path: str | Path) -> Path:
        """Write a complete LaTeX document (.tex) or Markdown with mathematics (.md); returns where it is."""
        return save(path, {".tex": self.latex, ".md": self.markdown}, "a derivation")

    def __str__(self) -> str:
        return self.markdown()

    def __repr__(self) -> str:
        return f"<Derivation of {self.name} by {self.method}: {len(self.steps)} steps>"

    def _repr_markdown_(self) -> str:
        return self.markdown()

    def _blocks(self) -> list[_Block]:
        method = METHODS[self.method]
        blocks = [_Block("1", f"{_plain(self.name)}: {method.title}"), _Block("text", f"After {method.source}.")]
        blocks += _conventions(self._letters, self._friction)
        for number, step in enumerate(self.steps, 1):
            blocks.append(_Block("2", f"{number}. {step.title} {step.equation}"))
            blocks.append(_Block("math", step.formula.replace(r"\frac", r"\dfrac")))
            blocks += [_Block("text", step.remark)] if step.remark else []
            blocks += [_Block("math", equation(entry.latex, entry.value)) for entry in step.entries.values()]
        return blocks + _checked(self.check, method.forward)


def derive(
    robot: Model,
    method: str = "lagrange_euler",
    symbols: Sequence[str] | str = PARTS,
    *,
    where: Mapping[str, Any] | str | None = None,
    longest: int = 3,
) -> Derivation:
    """Every step of a method for one robot, as a document to teach with.

    `method`: lagrange_euler, newton_euler, generalized_dalembert, angular_velocity_lagrange, lie_group, lie_closed_form,
    stacked_operators, or kalman and diagonalized_unnormalized, which are forward dynamics; the formulation itself runs on symbols.
    `symbols` are the parts of the robot that are written as symbols, as in `equations`; the rest stays numbers. They have the
    books' names, as with equations(robot, where="book"); `where` gives others: {"ax1": "l", "ax2": "l"}. A robot with more than
    `longest` joints is rejected: its formulas fill pages. Friction and rotor inertia are left out. The document ends with a check
    against `robot.inverse_dynamics` or `robot.forward_dynamics`.

    >>> import dalembert as da
    >>> d = da.derive(da.robot("two_link"))
    >>> d
    <Derivation of two_link by lagrange_euler: 9 steps>
    >>> d["D"][1, 1]
    m2*l2**2/3
    >>> print(d.markdown().splitlines()[0])
    # two_link: Lagrange-Euler
    """
    a_robot(robot, "derive")
    _has_derivation(method)
    if not robot.n:
        raise Error(f"{robot.name} has no joints: there is nothing to derive")
    if robot.several:
        raise Error(f"derive: derivations need joints of one degree of freedom, and {robot.name} has others")
    if not robot.is_tree:
        raise Error(
            f"derive: derivations need a tree of independent joints, which {robot.name} is not; {freed(robot)} is one, and "
            "equations(robot) has closed forms"
        )
    if robot.n > whole(longest, "longest", 0):
        raise Error(
            f"the derivation for the {robot.n} joints of {robot.name} would fill many pages; "
            f"force it with derive(robot, ..., longest={robot.n}), and with symbols=() to keep its numbers as numbers"
        )
    try:
        more = [f"{name}{i + 1}" for name in METHODS[method].letters for i in range(robot.n)]
        letters = lettered(robot, named_parts(symbols, "symbols"), where, MOST_TERMS, more)
        steps = METHODS[method].steps(letters)
    except TooLongError:
        raise Error(
            f"the derivation for {robot.name} has values of more than {MOST_TERMS} terms; use fewer symbols, such as "
            "symbols=('mass', 'gravity') or symbols=(), robot.snapped(tol) if its angles are nearly right angles, or "
            "equations(robot).shared(), which writes the result with shared subexpressions"
        ) from None
    rubbing = any(link.joint.rubs or link.joint.armature for link in robot.links)
    return Derivation(robot.name, method, steps, _compared(robot, letters, method, steps), letters, rubbing)


def _has_derivation(method: str) -> None:
    for derived, others in FAMILIES.items():
        if isinstance(method, str) and method in others:
            raise Error(f"{method} has no derivation; use that of {derived}, which derives what it evaluates")
    choice(method, "method of a derivation:", METHODS)


def _compared(robot: Model, letters: Lettered, method: str, steps: Sequence[Step]) -> Check:
    """The last step at a state, and what the library computes there without friction and rotors."""
    bare = without_armature(without_friction(robot))
    q, qd, given = np.random.default_rng(0).uniform(-1, 1, (3, robot.n)).round(3)
    derived = _evaluate(letters, method, steps, q, qd, given)
    compute = forward_dynamics if METHODS[method].forward else inverse_dynamics
    expected = compute(bare, q, qd, given, backend="numpy")
    qdd, tau = (derived, given) if METHODS[method].forward else (given, derived)
    return Check(q, qd, qdd, tau, expected, float(np.abs(derived - expected).max()))


def _evaluate(letters: Lettered, method: str, steps: Sequence[Step], q: Any, qd: Any, given: Any) -> Any:
    """The last step at a state; values that have letters of their own come first, in the order of the steps."""
    n, values = len(letters.tree.parents), dict(letters.values)
    for name, x in (("q", q), ("qd", qd), ("tau" if METHODS[method].forward else "qdd", given)):
        array = numbers(x, name)
        if array.shape != (n,):
            raise Error(f"{name} must have shape ({n},), got {array.shape}")
        values |= {f"{name}{i + 1}": float(x) for i, x in enumerate(array)}
    own = {f"{name}{i + 1}" for name in METHODS[method].letters for i in range(n)} | set(steps[-1].values)
    for name, form in ((name, form) for step in steps for name, form in step.values.items() if name in own):
        values[name] = float(form.evaluate(values))
    return np.array([values[name] for name in steps[-1].values])


def _conventions(letters: Lettered, friction: bool) -> list[_Block]:
    """The notation."""
    gravity = letters.symbols.forms(letters.tree.gravity)
    blocks = [
        _Block("2", "The robot and its symbols"),
        _Block(
            "text",
            r"Joint variables: $"
            + r",\ ".join(latex_name(f"q{i + 1}", letters.symbols) for i in range(len(letters.q)))
            + r"$; link 0 is the base. $C_i = \cos\theta_i$, $S_i = \sin\theta_i$, $C_{ij} = \cos(\theta_i + \theta_j)$, "
            r"$S_{i-j} = \sin(\theta_i - \theta_j)$ and so on.",
        ),
    ]
    for name, words, value, parameters in letters.meaning:
        latex = latex_name(name, letters.symbols)
        blocks.append(_Block("item", f"${latex} = {powered(f'{value:.6g}')}$: {words} ({', '.join(parameters)})"))
    blocks += [_Block("item", f"{words}: ${shown(x)}$") for words, x in letters.written]
    field = f"${matrix(gravity)}$" if any(x != 0 for x in gravity) else "none"
    blocks.append(_Block("text", f"Gravity in the base frame: {field}. The links have the frames of the robot's model."))
    parents = letters.tree.parents
    if parents != tuple(range(-1, len(parents) - 1)):
        blocks.append(_Block("text", BRANCHES.format(", ".join(str(parent + 1) for parent in parents))))
    if friction:
        blocks.append(_Block("text", "Friction and rotor inertias are not included."))
    return blocks


def _checked(check: Check, forward: bool) -> list[_Block]:
    def row(values: Any) -> str:
        return "(" + ", ".join(f"{x:.9g}" for x in values) + ")"

    tau, qdd = (r"\tau", check.tau), (r"\ddot{q}", check.qdd)
    (given, value), (name, derived) = (tau, qdd) if forward else (qdd, tau)
    return [
        _Block("2", "Check with numbers"),
        _Block("text", "At the state"),
        _Block("math", display([("q", row(check.q)), (r"\dot{q}", row(check.qd)), (given, row(value))])),
        _Block(
            "text",
            f"the formulas above give, and {'forward' if forward else 'inverse'} dynamics in floating-point numbers gives,",
        ),
        _Block("math", display([(name, row(derived)), (name, row(check.expected))])),
        _Block("text", f"Largest difference: {check.difference:.1e}."),
    ]


def _joined(parts: list[tuple[str, str]]) -> str:
    """Blocks with an empty line between them, items of a list without."""
    text, before = "", ""
    for kind, part in parts:
        text += ("" if not text else "\n" if kind == before == "item" else "\n\n") + part
        before = kind
    return text


def _plain(name: str) -> str:
    """A name that neither Markdown nor LaTeX takes for markup."""
    return re.sub(r"[^\w .-]", " ", name)
