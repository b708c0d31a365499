"""A robot's quantities as source code in other languages: one file that needs neither this package nor any other."""

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Literal, NamedTuple

import numpy as np

from dalembert.algebra.spatial import Array
from dalembert.arguments import by_name, choice, flag, several
from dalembert.codegen import PRINTERS, Function
from dalembert.codegen.c import REALS, c_file, c_header
from dalembert.codegen.common import RESERVED, TOLERANCE, footprint
from dalembert.codegen.precision import SAID, UNIT, in_single_precision
from dalembert.codegen.precision import STATES as DRAWN
from dalembert.engine.program import program
from dalembert.engine.registry import QUANTITIES, quantity_named
from dalembert.errors import Error, brief, unknown
from dalembert.model.check import around
from dalembert.model.edit import snapped, tip
from dalembert.model.links import Joint
from dalembert.model.model import Model
from dalembert.storage.opening import file_path
from dalembert.storage.saving import is_folder, save_text, save_together
from dalembert.trace.count import operation_count
from dalembert.trace.program import Program, Variable
from dalembert.trace.source import NumpyKernel
from dalembert.version import __version__

LONGEST = 63  # characters of a name: what MATLAB allows
STATES = 10  # tried for the self-test, until all results are finite

_HOW = {
    "c": (
        "Arrays are row-major and must not overlap; a function takes one state{batch}.",
        "Self-test: cc -std=c99 -O2 -DDALEMBERT_SELF_TEST {file} -lm && ./a.out",
    ),
    "python": (
        "Inputs are sequences of numbers, results are lists, of lists where there are more axes, row by row.",
        "Numbers outside a function's domain, and divisions by zero, raise as Python does.",
        "Self-test: python {file}",
    ),
    "matlab": (
        "Call {name}('quantity', inputs...), for example {example}.",
        "Vectors of inputs may be rows or columns, results are columns.",
        "Self-test: {name}('selftest')",
    ),
    "julia": (
        "Inputs are arrays of any real scalar, results are arrays of it, or a tuple of arrays.",
        'Self-test: include("{file}"); {name}.selftest()',
    ),
    "javascript": (
        "The object {name} has the functions: a browser takes this file as a script, Node by require('./{file}').",
        "Arrays are flat, row by row, and may be typed; several results come as an array of arrays.",
        "Self-test: node {file}",
    ),
    "wasm": (
        "The object {name} has the functions: a browser takes this file as a script, Node by require('./{file}').",
        "Arrays are flat, row by row, and may be typed; results are Float64Arrays, or an array of them.",
        "A content security policy must allow 'wasm-unsafe-eval'.",
        "Self-test: node {file}",
    ),
}
_CONVENTIONS = (
    "Equation of motion: M(q) qdd + C(q, qd) qd + g(q) + friction(qd) = tau + sum of J^T w.",
    "Units: SI. Positions in rad (prismatic joints: m), joint forces in N m (prismatic joints: N), on the link side of gears.",
    "Six-vectors have the angular part first: a twist is (omega, v), a wrench is (moment, force) and acts on the robot.",
    "Friction and armature of the robot are included; a state with a singular mass matrix gives NaN.",
)


_OUTSIDE = {
    "wrenches": "wrenches act on the links, in the order of the joints, each in its link's axes at its origin",
    "base_twist": "base_twist is in the axes of the base, at its origin",
    "base_acceleration": "base_acceleration has the rates of the components of base_twist, without gravity",
}


class Code(str):
    """The text of a generated file, with the name that it should have, and the header that belongs to it, if there is one."""

    __slots__ = ("filename", "header")
    filename: str
    header: "Code | None"

    def save(self, path: str | Path = ".") -> Path:
        """Write it, to a file or under its own name into a folder; returns where it is. With a header: both, into a folder."""
        if self.header is None:
            head, gap, rest = self.partition("\n\n")  # the comment, whose command for the self-test names the file
            named = head if is_folder(path) else head.replace(f" {self.filename}", f" {file_path(path).name}")
            return save_text(path, named + gap + rest, self.filename)
        return save_together(path, {self.filename: self, self.header.filename: self.header})[0]

    def __repr__(self) -> str:
        also = "" if self.header is None else f", and {self.header.filename}"
        return f"<Code {self.filename}: {self.count(chr(10))} lines{also}>"


def _code(text: str, filename: str, header: Code | None = None) -> Code:
    code = Code(text)
    code.filename, code.header = filename, header
    return code


class Style(NamedTuple):
    """The language, and what only C has a choice of: the type of its numbers, a header, functions of batches."""

    language: str
    dtype: str = "double"
    header: bool = False
    batch: bool = True

    @property
    def single(self) -> bool:
        """Whether numbers have 32 bits."""
        return self.dtype == "float"


def generate(
    robot: Model,
    language: str,
    quantities: Sequence[str] | str = "inverse_dynamics",
    method: str | Mapping[str, str] | None = None,
    *,
    name: str | None = None,
    options: Mapping[str, Mapping[str, Any]] | None = None,
    dtype: Literal["double", "float"] = "double",
    header: bool = False,
    batch: bool = True,
) -> Code:
    """Quantities of this robot as one self-contained file in "c", "python", "matlab" (and Octave), "julia", "javascript" or "wasm".

    `method` is a formulation for all of them, or one for each by name. `options` has what a quantity's own function takes
    beside arrays, such as {"jacobian": {"link": "hand"}}, and further inputs: {"inverse_dynamics": {"optional": ["wrenches"]}}.
    "wasm" is a script like that of "javascript" with WebAssembly in it, which runs programs of many thousand operations faster.
    `name` begins the names in the file, the robot's by default. The file documents its contents and has a self-test.

    For microcontrollers C has three options more: dtype="float" computes in single precision and states the error, header=True puts
    the declarations into a header (`code.header`), batch=False leaves the functions of batches out.

    >>> import dalembert as da
    >>> code = da.robot("two_link").generate("python", ["inverse_dynamics", "mass_matrix"])
    >>> code
    <Code two_link.py: ... lines>
    >>> print(code)
    # two_link: inverse_dynamics, mass_matrix
    ...
    >>> da.robot("two_link").generate("c", "gravity_force", dtype="float", header=True, batch=False)
    <Code two_link.c: ... lines, and two_link.h>
    """
    choice(language, "language", PRINTERS)
    style = _style(language, dtype, header, batch)
    if robot.n == 0:
        raise Error(f"{robot.name} has no moving joints: there is nothing to generate")
    chosen = several(quantities, "quantities")
    options = by_name({} if options is None else options, "options", "{'jacobian': {'link': 'hand'}}")
    if method is not None and not isinstance(method, str | Mapping):
        raise Error(f"generate: method must be a name, or names by quantity, got {brief(method)}")
    _check_names(chosen, options, method)
    name = _identifier(robot.name) if name is None else _checked_name(name)
    by = method if isinstance(method, Mapping) else dict.fromkeys(chosen, method)
    return _printed(robot, name, [_function(robot, q, by.get(q), options, style) for q in chosen], style)


def _printed(robot: Model, name: str, functions: Sequence[Function], style: Style) -> Code:
    """The file, and with it the header where one is wanted, which then has the documentation."""
    ending, printer = PRINTERS[style.language]
    head = _head(robot, name, name + ending, functions, style)
    listed = [line for f in functions for line in (f"  {f.about[0]}", *(f"    {line}" for line in f.about[1:]))]
    whole = [*head, "", "Functions, with the operations of one evaluation:", *listed]
    if style.language != "c":
        return _code(printer(name, whole, functions), name + ending)
    types: dict[str, Any] = {"dtype": style.dtype, "batch": style.batch}
    if not style.header:
        return _code(c_file(name, whole, functions, **types), name + ending)
    said = _code(c_header(name, head, functions, **types), name + ".h")
    short = [*head[:2], f"What it computes, and how it is tested, is said in {said.filename}."]
    return _code(c_file(name, short, functions, header=True, **types), name + ending, said)


def _style(language: str, dtype: Any, header: Any, batch: Any) -> Style:
    """The options of C; other languages have none of them."""
    style, plain = Style(language, choice(dtype, "dtype", REALS), flag(header, "header"), flag(batch, "batch")), Style(language)
    if language != "c" and style != plain:
        changed = [name for name in Style._fields if getattr(style, name) != getattr(plain, name)]
        raise Error(f"generate: {', '.join(changed)} {'is' if len(changed) == 1 else 'are'} for C only; leave out for {language}")
    return style


def _check_names(chosen: tuple[str, ...], options: Mapping[str, Any], method: str | Mapping[str, str] | None) -> None:
    if not chosen:
        raise Error("generate: give at least one quantity, such as 'inverse_dynamics'")
    for k, quantity in enumerate(chosen):
        quantity_named(quantity)
        if quantity in chosen[:k]:
            raise Error(f"generate: {quantity} is named twice")
    for about, given in (("with options", options), ("with a method", method if isinstance(method, Mapping) else {})):
        for quantity in given:
            if quantity not in chosen:
                raise unknown(f"quantity {about}", quantity, chosen)


def _identifier(name: str) -> str:
    """A robot's name as an identifier of every language."""
    identifier = re.sub(r"[^A-Za-z0-9_]+", "_", name)[: LONGEST - len("robot_")]
    return identifier if _allowed(identifier) else "robot_" + identifier.lstrip("_")


def _checked_name(name: Any) -> str:
    if not isinstance(name, str) or not _allowed(name):
        raise Error(
            f"generate: name {brief(name)} must begin with a letter, consist of letters, digits and _ (at most {LONGEST}), "
            "and be neither a quantity nor a word of one of the languages"
        )
    return name


def _allowed(name: str) -> bool:
    fits = re.fullmatch(r"[A-Za-z][A-Za-z0-9_]*", name) and len(name) <= LONGEST
    own = name.lower().startswith("dalembert_")  # what the files call their own helpers
    return bool(fits) and not own and name.lower() not in RESERVED and name not in QUANTITIES


def _function(robot: Model, quantity: str, method: str | None, options: Mapping[str, Any], style: Style) -> Function:
    """A quantity's program, its description, and a state with its results."""
    given = dict(by_name(options.get(quantity, {}), f"options of {quantity}", "{'link': 'hand'}"))
    if "optional" in given:
        given["optional"] = several(given["optional"], "optional")
    described = quantity_named(quantity)
    method = described.check_method(method, robot, given.get("optional", ()))
    made = program(robot, quantity, method, **given)
    for variable in (*made.inputs, *made.outputs):
        if variable.size == 0:
            raise Error(f"{quantity} of {robot.name}: {variable.name} has shape {variable.shape}, so there is nothing to generate")
    printed = program(snapped(robot, UNIT), quantity, method, **given) if style.single else made
    with_options = f" with {', '.join(f'{k}={v!r}' for k, v in given.items())}" if given else ""
    meaning = _meaning(robot, quantity)
    about = [f"{quantity} by {method}{with_options}: {operation_count(printed)}"]
    about += [_size(printed, style)] if style.language == "c" else []
    about += [meaning] if meaning else []
    if "link" in described.options:
        about += [_place(robot, given.get("link"))]
    about += [f"{label} {', '.join(map(_shaped, side))}" for label, side in (("takes", made.inputs), ("gives", made.outputs))]
    about += [_OUTSIDE[variable.name] for variable in made.inputs if variable.name in _OUTSIDE]
    function = Function(quantity, printed, about, *_sample(robot, quantity, made, np.float32 if style.single else float))
    return in_single_precision(robot, function, made, described, given.get("optional", ())) if style.single else function


def _meaning(robot: Model, quantity: str) -> str:
    """The first sentences about a quantity where users call it, without the shapes."""
    documented = getattr(robot, quantity).__doc__ if hasattr(robot, quantity) else None
    return (documented or "").partition("\n")[0].partition(" Signature")[0]


def _place(robot: Model, link: str | None) -> str:
    """Which link or frame a quantity is of."""
    name = tip(robot) if link is None else link
    index, _ = robot.locate(name)
    carrier = robot.base_name if index < 0 else robot.link_names[index]
    if carrier == name:
        return f"of the link {name}"
    return f"of the frame {name}, which is fixed to {carrier}"


def _shaped(variable: Variable) -> str:
    return f"{variable.name} ({' x '.join(map(str, variable.shape))})" if variable.shape else f"{variable.name} (a number)"


def _sample(robot: Model, quantity: str, made: Program, kind: Any) -> tuple[list[list[float]], list[list[float]]]:
    """A state of short numbers of this kind, and the results there."""
    kernel = NumpyKernel(made)
    for s in range(STATES):
        arrays: list[Array] = []
        for k, variable in enumerate(made.inputs):
            entries = np.sin(1.0 + 2.3 * np.arange(variable.size) + 0.7 * k + 1.1 * s)
            arrays.append(entries.round(3).astype(kind).astype(float).reshape(variable.shape))
        outputs = kernel(*arrays)
        results = outputs if isinstance(outputs, tuple) else (outputs,)
        if all(np.isfinite(x).all() for x in results):
            return [x.ravel().tolist() for x in arrays], [x.ravel().tolist() for x in results]
    raise Error(f"{quantity} of {robot.name} is not finite at any of {STATES} states: its mass matrix may be singular; see check()")


def _joint(joint: Joint) -> str:
    """A joint's name; prismatic joints are marked, since they have other units."""
    return f"{joint.name} (prismatic)" if joint.letter == "P" else joint.name


def _head(robot: Model, name: str, file: str, functions: Sequence[Function], style: Style) -> list[str]:
    """What the file says of itself, one line each."""
    first = functions[0]
    example = f"{name}('{first.name}', {', '.join(v.name for v in first.program.inputs)})"
    batch = ", its _batch version several, one after the other in each array" if style.batch else ""
    allowed = "what rounding allows" if style.single else f"{TOLERANCE:g} of the largest entry"
    return [
        f"{robot.name}: {', '.join(f.name for f in functions)}",
        f"Written by dalembert {__version__}, robot.generate({style.language!r}, ...). Self-contained.",
        "",
        *_order(robot),
        *(f"{what.capitalize()}: {words}" for what, words in around(robot).items()),
        *_CONVENTIONS,
        f"Moving mass: {sum(link.inertia.mass for link in robot.links):.6g} kg, payloads included.",
        f"Gravity is {tuple(map(float, robot.gravity))} m/s^2 in the world.",
        *(line.format(name=name, file=file, example=example, batch=batch) for line in _HOW[style.language]),
        f"It compares with stored results of the library, to within {allowed}.",
        *((SAID, f"Figures are the largest of {DRAWN} such states, compared with double precision.") if style.single else ()),
    ]


def _order(robot: Model) -> list[str]:
    """The joints in the order of the arrays; of balls and free bodies positions and velocities have names of their own."""
    if not robot.runs:
        return [f"Joints, in the order of the arrays: {', '.join(map(_joint, robot.joints))}"]
    return [f"Positions q, in order: {', '.join(robot.position_names)}", f"Velocities and forces: {', '.join(robot.joint_names)}"]


def _size(made: Program, style: Style) -> str:
    """How large the code of a program is, as far as the program tells."""
    statements, constants, alive = footprint(made)
    width = 4 if style.single else 8
    return (
        f"size: {statements} statements, {constants} constants ({width * constants} bytes), "
        f"at most {alive} values ({width * alive} bytes) alive at once"
    )
