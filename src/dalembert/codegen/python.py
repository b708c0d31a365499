"""Programs as Python that imports nothing but math."""

from collections.abc import Sequence

import numpy as np

from dalembert.codegen.common import TOLERANCE, Function, Syntax, comment, listed, results_by_output, statements
from dalembert.trace.program import Variable


def _entry(variable: Variable, j: int) -> str:
    return variable.name + "".join(f"[{k}]" for k in np.unravel_index(j, variable.shape))


PYTHON = Syntax(
    entry=_entry,
    inf="math.inf",
    nan="math.nan",
    assign="v{} = {}",
    above="{x} if {x} > {floor} else {otherwise}",
    where="{a} if {c} > 0.0 else {b}",
    sign="1.0 if {x} > 0.0 else -1.0 if {x} < 0.0 else {x}",
    functions="math.{op}({x})",
)

_TEST = """

def _flat(x):
    return [z for y in x for z in _flat(y)] if isinstance(x, list) else [x]


def _check(what, found, expected):
    found, expected = _flat(found), _flat(expected)
    size = max(map(abs, expected)) or 1.0
    if len(found) != len(expected) or not all(abs(a - b) <= TOLERANCE * size for a, b in zip(found, expected)):
        raise SystemExit("%s differs: %r, expected %r" % (what, found, expected))


def selftest():
    \"\"\"Compare every function at one state with what the library computed.\"\"\"
CASES
    print("ok")


if __name__ == "__main__":
    selftest()
"""


def python_file(name: str, head: Sequence[str], functions: Sequence[Function]) -> str:
    """One Python module: for each program a function of sequences that returns lists; run as a script, it tests itself.

    >>> from dalembert.trace import trace
    >>> double = Function("double", trace(lambda x: 2 * x, {"x": (2,)}, outputs=("y",)), [], [[1.0, 2.0]], [[2.0, 4.0]])
    >>> print(python_file("my", ["Doubles."], [double]))
    # Doubles.
    ...
    def double(x):
        v0 = 2.0 * x[0]
        v1 = 2.0 * x[1]
        return [v0, v1]
    ...
    """
    lines = [*comment("#", head), "", "import math"]
    for f in functions:
        body, texts = statements(f.program, PYTHON)
        returned = [item for v, entries in results_by_output(f.program, texts) for item in nested(v, entries)]
        lines += ["", "", *comment("#", f.about), f"def {f.name}({f.arguments}):"]
        lines += [f"    {line}" for line in body]
        lines += _statement("return", returned)
    cases = "\n".join(line for f in functions for line in _case(f))
    return "\n".join(lines) + "\n" + _TEST.replace("TOLERANCE", repr(TOLERANCE)).replace("CASES", cases)


def nested(variable: Variable, entries: Sequence[str]) -> list[str]:
    """Entries in row-major order, with the brackets of nested lists at the ends of the rows."""
    texts = list(entries)
    size = 1
    for length in reversed(variable.shape):
        size *= length
        for start in range(0, len(texts), size):
            texts[start] = "[" + texts[start]
            texts[start + size - 1] += "]"
    return texts


def _case(f: Function) -> list[str]:
    takes, gives = f.tested
    lines = [line for v, entries in takes for line in _statement(f"{v.name} =", nested(v, entries))]
    lines.append(f"    found = {f.name}({f.arguments})")
    several = len(gives) > 1
    for k, (variable, entries) in enumerate(gives):
        lines += _statement("expected =", nested(variable, entries))
        lines.append(f'    _check("{f.name}: {variable.name}", found{f"[{k}]" if several else ""}, expected)')
    return lines


def _statement(start: str, items: list[str]) -> list[str]:
    """A line of a function, or as many as its items need."""
    lines = listed(items, "        ")
    return [f"    {start} {lines[0].strip()}"] if len(lines) == 1 else [f"    {start} (", *lines, "    )"]
