"""Programs as a Julia module that needs no package."""

from collections.abc import Sequence

from dalembert.codegen.common import TOLERANCE, Function, Syntax, bracketed, comment, results_by_output, statements
from dalembert.codegen.matlab import one_based
from dalembert.trace.program import Variable

JULIA = Syntax(
    entry=lambda variable, j: f"{variable.name}[{one_based(variable, j)}]" if variable.shape else variable.name,
    inf="Inf",
    nan="NaN",
    assign="v{} = {}",
    above="ifelse({x} > {floor}, {x}, {otherwise})",
    where="ifelse({c} > 0.0, {a}, {b})",
    sign="sign({x})",
)

_TEST = """
function _check(what, found, expected)
    scale = maximum(abs, expected)
    scale = scale == 0 ? 1.0 : scale
    if size(found) != size(expected) || !all(abs.(found .- expected) .<= TOLERANCE * scale)
        error("$what differs")
    end
end

function selftest()
CASES
    println("ok")
end

end
"""


def julia_file(name: str, head: Sequence[str], functions: Sequence[Function]) -> str:
    """One Julia module: for each program a function of arrays of any scalar, and selftest().

    >>> from dalembert.trace import trace
    >>> double = Function("double", trace(lambda x: 2 * x, {"x": (2,)}, outputs=("y",)), [], [[1.0, 2.0]], [[2.0, 4.0]])
    >>> print(julia_file("my", ["Doubles."], [double]))
    # Doubles.
    ...
    function double(x)
        v0 = 2.0 * x[1]
        v1 = 2.0 * x[2]
        return [v0, v1]
    end
    ...
    """
    lines = [*comment("#", head), "", f"module {name}", "", f"export {', '.join(f.name for f in functions)}"]
    for f in functions:
        body, texts = statements(f.program, JULIA)
        lines += ["", *comment("#", f.about), f"function {f.name}({f.arguments})"]
        lines += [f"    {line}" for line in body]
        returned = [_array(v, entries) for v, entries in results_by_output(f.program, texts)]
        lines += [f"    return {returned[0]}"] if len(returned) == 1 else ["    return (", *_tuple(returned), "    )"]
        lines += ["end"]
    cases = "\n".join(line for f in functions for line in _case(f))
    return "\n".join(lines) + "\n" + _TEST.replace("TOLERANCE", repr(TOLERANCE)).replace("CASES", cases)


def _tuple(parts: Sequence[str]) -> list[str]:
    return [f"        {part}," for part in parts]


def _array(variable: Variable, entries: Sequence[str]) -> str:
    """An array from its entries in row-major order."""
    if not variable.shape:
        return entries[0]
    flat = bracketed(entries, "        ")
    if len(variable.shape) == 1:
        return flat
    axes = range(len(variable.shape), 0, -1)
    return f"permutedims(reshape({flat}, ({', '.join(map(str, reversed(variable.shape)))})), ({', '.join(map(str, axes))}))"


def _case(f: Function) -> list[str]:
    takes, gives = f.tested
    lines = [f"    {v.name} = {_array(v, entries)}" for v, entries in takes]
    lines.append(f"    found = {f.name}({f.arguments})")
    several = len(gives) > 1
    for k, (variable, entries) in enumerate(gives):
        lines.append(f"    expected = {_array(variable, entries)}")
        lines.append(f'    _check("{f.name}: {variable.name}", found{f"[{k + 1}]" if several else ""}, expected)')
    return lines
