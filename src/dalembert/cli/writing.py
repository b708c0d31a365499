"""Commands that write equations, derivations and programs."""

from pathlib import Path
from typing import Annotated, Any

import typer

import dalembert as da
from dalembert.arguments import choice
from dalembert.cli.parts import Output, all_listed, completing, listed, one_of, said, write_text
from dalembert.codegen import PRINTERS
from dalembert.codegen.c import REALS
from dalembert.engine.registry import QUANTITIES, methods, quantity_named
from dalembert.errors import Error
from dalembert.robots import Robot
from dalembert.symbolic.closed_form.equations import OF_LOOPS, PARTS_OF
from dalembert.symbolic.derivation.methods import METHODS
from dalembert.symbolic.parameters import PARTS

FORMATS = ("text", "latex", "sympy")
DOCUMENTS = ("markdown", "latex")
_LOOPS = ", ".join(OF_LOOPS[3:])
_LETTERS = ",".join(PARTS)
_INVERSE = ", ".join(methods("inverse_dynamics"))
_symbols = typer.Option(metavar="PARTS", help=f"What to write as symbols, comma-separated: any of {', '.join(PARTS)}; or none.")


def _complete_method(ctx: typer.Context, incomplete: str) -> list[str]:
    """The methods that all chosen quantities have."""
    chosen = [name for name in ctx.params.get("quantity") or () if name in QUANTITIES] or ["inverse_dynamics"]
    able = [name for name in methods(chosen[0]) if all(name in methods(other) for other in chosen)]
    return [name for name in able if name.startswith(incomplete)]


def save(
    robot: Robot,
    file: Annotated[Path, typer.Argument(metavar="FILE", help="File to write: .toml.")],
) -> None:
    """Save the robot, with the changes below, as a TOML file that every command reads."""
    robot.save(file)
    said(file)


def equations(
    robot: Robot,
    symbols: Annotated[str, _symbols] = _LETTERS,
    parts: Annotated[
        str,
        typer.Option(
            metavar="PARTS",
            help=f"What to write, comma-separated: any of {', '.join(PARTS_OF)}; with loops also {_LOOPS}. Default: all.",
        ),
    ] = "",
    format: Annotated[str, one_of(FORMATS, "--format", "-f", metavar="FORMAT")] = "text",
    long: Annotated[bool, typer.Option("--long", help="In LaTeX, write cos(q1 + q2) in full instead of the books' C_12.")] = False,
    book: Annotated[
        bool, typer.Option("--book", help="Name symbols as books do: l1 for the length of a link, m1 l1^2/12 for a rod.")
    ] = False,
    shared: Annotated[
        bool, typer.Option("--shared", help="Write assignments with shared subexpressions, shorter for larger arms.")
    ] = False,
    output: Output = "-",
) -> None:
    """Write the equations of motion in closed form, to the terminal or to a .tex, .md or .txt file."""
    choice(format, "format", FORMATS)
    closed = da.equations(robot, listed(symbols), where="book" if book else None)
    wanted = listed(parts) if parts else list(closed.parts)
    assignments = closed.shared(*(wanted if parts or not robot.loops else ())) if shared else None
    if output != "-" and format != "sympy":
        said(assignments.save(output) if assignments else closed.save(output, short=not long))
        return
    if assignments:
        text = assignments.latex() if format == "latex" else str(assignments)
    elif format == "latex":
        text = closed.latex(not long, wanted)
    elif format == "sympy":
        text = "\n".join(f"{part} = {closed.sympy()[part]}" for part in wanted)
    else:
        text = closed.text(wanted)
    write_text(text, output)


def derive(
    robot: Robot,
    method: Annotated[
        str, one_of(METHODS, "--method", "-m", metavar="METHOD", help="The formulation: one of {}.")
    ] = "lagrange_euler",
    format: Annotated[
        str, one_of(DOCUMENTS, "--format", "-f", metavar="FORMAT", help="One of markdown, latex; for standard output.")
    ] = "markdown",
    symbols: Annotated[str, _symbols] = _LETTERS,
    longest: Annotated[
        int, typer.Option(metavar="COUNT", help="Refuse robots with more joints, whose formulas fill many pages.")
    ] = 3,
    output: Output = "-",
) -> None:
    """Write the derivation of the equations of motion step by step, to the terminal or to a .md or .tex file."""
    choice(format, "format", DOCUMENTS)
    derivation = da.derive(robot, method, listed(symbols), longest=longest)
    if output == "-":
        write_text(derivation.latex() if format == "latex" else derivation.markdown(), output)
    else:
        said(derivation.save(output))


def generate(
    robot: Robot,
    language: Annotated[
        str, typer.Argument(metavar="LANGUAGE", help=f"One of {', '.join(PRINTERS)}.", autocompletion=completing(*PRINTERS))
    ],
    quantity: Annotated[
        list[str] | None,
        one_of(
            QUANTITIES,
            "--quantity",
            "-q",
            metavar="QUANTITY,...",
            help="What to compute, inverse_dynamics by default; repeat it for more. Any of {}.",
        ),
    ] = None,
    method: Annotated[
        str | None,
        typer.Option(
            "--method",
            "-m",
            metavar="METHOD",
            help=f"The formulation; each quantity has a default. For inverse_dynamics one of {_INVERSE}.",
            autocompletion=_complete_method,
        ),
    ] = None,
    link: Annotated[
        str | None,
        typer.Option(
            "--link",
            "-l",
            metavar="NAME",
            help="The link or frame that pose, jacobian, impedance, ... are of. Default: the end link.",
        ),
    ] = None,
    name: Annotated[
        str | None, typer.Option(metavar="NAME", help="Prefix of the names in the file. Default: the robot's name.")
    ] = None,
    dtype: Annotated[str, one_of(REALS, metavar="TYPE", help="Numbers: double, or float for microcontrollers; C only.")] = "double",
    header: Annotated[bool, typer.Option("--header", help="Write a header file as well, into the folder -o; C only.")] = False,
    no_batch: Annotated[bool, typer.Option("--no-batch", help="Leave out the functions for batches; C only.")] = False,
    output: Annotated[
        str, typer.Option("--output", "-o", metavar="PATH", help="File or folder to write; - is standard output.")
    ] = "-",
) -> None:
    """Write quantities as one self-contained file of C, Python, MATLAB, Julia, JavaScript or WebAssembly with a self-test."""
    if header and output == "-":
        raise Error("--header writes two files: give their folder, for example -o .")
    chosen = all_listed(quantity or ["inverse_dynamics"])
    style: dict[str, Any] = {"dtype": dtype, "header": header, "batch": not no_batch}
    options = {x: {"link": link} for x in chosen if link is not None and "link" in quantity_named(x).options}
    if link is not None and not options:
        able = ", ".join(x for x in QUANTITIES if "link" in quantity_named(x).options)
        raise Error(f"--link: none of {', '.join(chosen)} is of one link; these are: {able}")
    code = robot.generate(language, chosen, method, name=name, options=options, **style)
    if output == "-":
        write_text(code, output)
        return
    path = code.save(Path(output))
    said(path)
    if code.header is not None:
        said(path.with_name(code.header.filename))


COMMANDS = (
    (save, ["dalembert save arm.urdf arm.toml --snap 1e-4", "dalembert save panda loaded.toml --payload 2@0,0,0.1:panda_hand"]),
    (
        equations,
        [
            "dalembert equations two_link",
            "dalembert equations planar_3r -o eom.tex",
            "dalembert equations puma560 --shared --parts M",
        ],
    ),
    (derive, ["dalembert derive two_link --method newton_euler -o two_link.tex"]),
    (
        generate,
        [
            "dalembert generate puma560 c -q inverse_dynamics -q mass_matrix -o .",
            "dalembert generate panda c -q jacobian --link panda_hand",
            "dalembert generate puma560 c -q gravity_force --dtype float --header --no-batch -o .",
        ],
    ),
)
