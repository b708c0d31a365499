"""Programs as C99, which is C++ as well: no allocation, no dependency but the mathematical library."""

import re
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from dalembert.codegen.common import (
    TOLERANCE,
    Function,
    Syntax,
    comment,
    listed,
    results_by_output,
    statements,
)
from dalembert.trace.program import Program, Variable


def _syntax(real: str) -> Syntax:
    """How C writes numbers and functions of a type."""
    f = "f" if real == "float" else ""
    return Syntax(
        entry=lambda variable, j: f"{variable.name}[{j}]",
        inf="INFINITY",
        nan="NAN",
        assign=f"const {real} v{{}} = {{}};",
        above="{x} > {floor} ? {x} : {otherwise}",
        where=f"{{c}} > 0.0{f} ? {{a}} : {{b}}",
        sign=f"{{x}} > 0.0{f} ? 1.0{f} : {{x}} < 0.0{f} ? -1.0{f} : {{x}}",
        functions=f"{{op}}{f}({{x}})",
        written=_shortest if f else repr,
    )


def _shortest(x: float) -> str:
    """The fewest digits that mean this float of 32 bits."""
    text = str(np.float32(x))
    return text if text.endswith(("inf", "nan")) else text + "f"


REALS = ("double", "float")
SYNTAXES = {real: _syntax(real) for real in REALS}

_RESTRICT = """
// Arrays must not overlap: restrict says so, where the compiler knows it inside brackets (C++ does not).
#if defined(__cplusplus) || defined(_MSC_VER)
#define DALEMBERT_RESTRICT
#else
#define DALEMBERT_RESTRICT restrict
#endif
"""

_BATCHES = """
#if defined(__GNUC__)
#define DALEMBERT_INLINE static inline __attribute__((always_inline))
#else
#define DALEMBERT_INLINE static inline
#endif

// States of a batch do not depend on each other, so that a compiler may compute several at once. Of those measured, clang does:
// clang -O3 -march=native -ffast-math -fveclib=libmvec (-ffast-math does not keep NaN where a mass matrix is singular).
#if defined(_OPENMP) && _OPENMP >= 201307
#define DALEMBERT_SIMD _Pragma("omp simd")
#else
#define DALEMBERT_SIMD
#endif
"""

_OPEN = """
#if defined(__cplusplus)
extern "C" {
#endif
"""

_TAIL = """
#if defined(__cplusplus)
}
#endif
"""

_TEST = """
#if defined(DALEMBERT_SELF_TEST)
#include <stdio.h>

static int differs(const char *what, size_t count, const REAL *found, const REAL *expected, REAL tolerance)
{
    REAL error = ZERO, size = ZERO;
    for (size_t k = 0; k < count; k++) {
        const REAL distance = FABS(found[k] - expected[k]);
        size = FMAX(size, FABS(expected[k]));
        error = distance <= error ? error : distance;
        if (error != error)
            break;
    }
    if (error <= tolerance * (size > ZERO ? size : ONE))
        return 0;
    printf("%s differs by %g\\n", what, (double)error);
    return 1;
}

int main(void)
{
    int failures = 0;
CASES
    if (failures == 0)
        printf("ok\\n");
    return failures != 0;
}
#endif
"""


def c_file(
    name: str,
    head: Sequence[str],
    functions: Sequence[Function],
    *,
    dtype: str = "double",
    batch: bool = True,
    header: bool = False,
) -> str:
    """One C file: for each program a function of one state and one of a batch; main tests them with -DDALEMBERT_SELF_TEST.

    With `header`, what others need to know is in a file of its own (`c_header`), which this one includes.

    >>> from dalembert.trace import trace
    >>> double = Function("double", trace(lambda x: 2 * x, {"x": (2,)}, outputs=("y",)), [], [[1.0, 2.0]], [[2.0, 4.0]])
    >>> print(c_file("my", ["Doubles."], [double], dtype="float", batch=False))
    // Doubles.
    ...
    void my_double(const float x[DALEMBERT_RESTRICT 2], float y[DALEMBERT_RESTRICT 2])
    {
        const float v0 = 2.0f * x[0];
        const float v1 = 2.0f * x[1];
        y[0] = v0;
        y[1] = v1;
    }
    ...
    """
    printer = _Printer(name, dtype, batch)
    includes = [f'#include "{name}.h"', "", "#include <math.h>"] if header else ["#include <math.h>"]
    lines = [*comment("//", head), "", *includes, "#include <stddef.h>"]
    lines += [] if header else _block(_RESTRICT)
    lines += _block(_BATCHES) if batch else []
    lines += _block(_OPEN)
    lines += [] if header else ["", *printer.declarations(functions)]
    for function in functions:
        lines += ["", *comment("//", function.about), *printer.bodies(function)]
    cases = "\n".join(line for f in functions for line in printer.case(f))
    return "\n".join(lines) + "\n" + _TAIL + printer.in_its_type(_TEST).replace("CASES", cases)


def c_header(name: str, head: Sequence[str], functions: Sequence[Function], *, dtype: str = "double", batch: bool = True) -> str:
    """The header of such a file, for C and C++: what it computes, and the declarations."""
    printer, guard = _Printer(name, dtype, batch), f"DALEMBERT_{name.upper()}_H"
    lines = [*comment("//", head), "", f"#ifndef {guard}", f"#define {guard}"]
    lines += ["", "#include <stddef.h>"] if batch else []
    lines += [*_block(_RESTRICT), *_block(_OPEN)]
    for function in functions:
        lines += ["", *comment("//", function.about), *printer.declarations([function])]
    return "\n".join(lines) + "\n" + _TAIL + "\n#endif\n"


def _arguments(given: Sequence[str]) -> str:
    """The arguments of a function: a few on its line, more on lines of their own."""
    if len(given) <= 2:
        return ", ".join(given) + ")"
    return "\n    " + ",\n    ".join(given) + ")"


def _block(text: str) -> list[str]:
    return text.rstrip().splitlines()


class _Printer(NamedTuple):
    """How functions are printed: with which names, of which type, and whether for batches, too."""

    name: str
    real: str
    batch: bool

    def in_its_type(self, text: str) -> str:
        """A text about REAL for this type."""
        f = "f" if self.real == "float" else ""
        words = {"REAL": self.real, "ZERO": "0.0" + f, "ONE": "1.0" + f, "FABS": "fabs" + f, "FMAX": "fmax" + f}
        return re.sub(r"\b(REAL|ZERO|ONE|FABS|FMAX)\b", lambda found: words[found[0]], text)

    def arrays(self, program: Program) -> list[tuple[str, Variable]]:
        """Inputs, then outputs, with their types."""
        return [*((f"const {self.real}", v) for v in program.inputs), *((self.real, v) for v in program.outputs)]

    def single(self, f: Function, declared: str = "void", suffix: str = "") -> str:
        """The declaration of a function of one state."""
        given = [f"{kind} {v.name}[DALEMBERT_RESTRICT {v.size}]" for kind, v in self.arrays(f.program)]
        return f"{declared} {self.name}_{f.name}{suffix}(" + _arguments(given)

    def several(self, f: Function) -> str:
        """The declaration of a function of a batch."""
        given = [f"{kind} {v.name}[DALEMBERT_RESTRICT]" for kind, v in self.arrays(f.program)]
        return f"void {self.name}_{f.name}_batch(" + _arguments(["size_t count", *given])

    def declarations(self, functions: Sequence[Function]) -> list[str]:
        """Of all that others may call."""
        return [f"{line};" for f in functions for line in (self.single(f), self.several(f))[: 1 + self.batch]]

    def body(self, f: Function) -> list[str]:
        """The statements of one state."""
        program = f.program
        lines, texts = statements(program, SYNTAXES[self.real])
        used = {node[1] for node in program.nodes if node[0] == "input"}
        unused = [f"(void){v.name};" for k, v in enumerate(program.inputs) if k not in used]
        stores = [f"{v.name}[{j}] = {x};" for v, entries in results_by_output(program, texts) for j, x in enumerate(entries)]
        return ["{", *(f"    {line}" for line in (*unused, *lines, *stores)), "}"]

    def bodies(self, f: Function) -> list[str]:
        """One state; or one, and a batch, by one inlined kernel."""
        if not self.batch:
            return [self.single(f), *self.body(f)]
        arrays = [v for _, v in self.arrays(f.program)]
        shifted = ", ".join(f"{v.name} + {v.size} * state" for v in arrays)
        return [
            self.single(f, "DALEMBERT_INLINE void", "_kernel"),
            *self.body(f),
            "",
            self.single(f),
            "{",
            f"    {self.name}_{f.name}_kernel({', '.join(v.name for v in arrays)});",
            "}",
            "",
            self.several(f),
            "{",
            "    DALEMBERT_SIMD",
            "    for (size_t state = 0; state < count; state++)",
            f"        {self.name}_{f.name}_kernel({shifted});",
            "}",
        ]

    def case(self, f: Function) -> list[str]:
        """One function called at one state, in a block of its own."""
        number, lines = SYNTAXES[self.real].written, ["    {"]
        for variable, values in zip(f.program.inputs, f.given, strict=True):
            lines += self.values(f"{variable.name}[{variable.size}]", values)
        for variable, values in zip(f.program.outputs, f.expected, strict=True):
            lines += [f"        {self.real} {variable.name}[{variable.size}];"]
            lines += self.values(f"{variable.name}_expected[{variable.size}]", values)
        lines.append(f"        {self.name}_{f.name}({', '.join(v.name for _, v in self.arrays(f.program))});")
        for v, tolerance in zip(f.program.outputs, f.tolerances or [TOLERANCE] * len(f.program.outputs), strict=True):
            compared = f'"{f.name}: {v.name}", {v.size}, {v.name}, {v.name}_expected, {number(tolerance)}'
            lines.append(f"        failures += differs({compared});")
        return [*lines, "    }"]

    def values(self, declared: str, values: Sequence[float]) -> list[str]:
        """An array of numbers."""
        number = SYNTAXES[self.real].written
        return [
            f"        static const {self.real} {declared} = {{",
            *listed([number(float(x)) for x in values], " " * 12),
            "        };",
        ]
