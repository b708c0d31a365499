"""Programs as C99, which is C++ as well: no allocation, no dependency but the mathematical library."""

from collections.abc import Sequence

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

C = Syntax(
    entry=lambda variable, j: f"{variable.name}[{j}]",
    inf="INFINITY",
    nan="NAN",
    assign="const double v{} = {};",
    above="{x} > {floor} ? {x} : {otherwise}",
    where="{c} > 0.0 ? {a} : {b}",
    sign="{x} > 0.0 ? 1.0 : {x} < 0.0 ? -1.0 : {x}",
)

_HEAD = """
#include <math.h>
#include <stddef.h>

#if defined(__GNUC__)
#define DALEMBERT_INLINE static inline __attribute__((always_inline))
#else
#define DALEMBERT_INLINE static inline
#endif

#if defined(__cplusplus)
#define DALEMBERT_RESTRICT __restrict
#else
#define DALEMBERT_RESTRICT restrict
#endif

// States of a batch do not depend on each other, so that a compiler may compute several at once. Of those measured, clang does:
// clang -O3 -march=native -ffast-math -fveclib=libmvec (-ffast-math does not keep NaN where a mass matrix is singular).
#if defined(_OPENMP) && _OPENMP >= 201307
#define DALEMBERT_SIMD _Pragma("omp simd")
#else
#define DALEMBERT_SIMD
#endif

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

static int differs(const char *what, size_t count, const double *found, const double *expected)
{
    double error = 0.0, size = 0.0;
    for (size_t k = 0; k < count; k++) {
        const double distance = fabs(found[k] - expected[k]);
        size = fmax(size, fabs(expected[k]));
        error = distance <= error ? error : distance;
        if (error != error)
            break;
    }
    if (error <= TOLERANCE * (size > 0.0 ? size : 1.0))
        return 0;
    printf("%s differs by %g\\n", what, error);
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


def c_file(name: str, head: Sequence[str], functions: Sequence[Function]) -> str:
    """One C file: for each program a function of one state and one of a batch; main tests them with -DDALEMBERT_SELF_TEST.

    >>> from dalembert.trace import trace
    >>> double = Function("double", trace(lambda x: 2 * x, {"x": (2,)}, outputs=("y",)), [], [[1.0, 2.0]], [[2.0, 4.0]])
    >>> print(c_file("my", ["Doubles."], [double]))
    // Doubles.
    ...
    void my_double(const double x[2], double y[2])
    ...
    """
    lines = [*comment("//", head), *_HEAD.rstrip().splitlines(), ""]
    lines += [f"{line};" for f in functions for line in (_single(name, f), _batch(name, f))]
    for function in functions:
        lines += ["", *comment("//", function.about), *_bodies(name, function)]
    cases = [line for f in functions for line in _case(name, f)]
    test = _TEST.replace("TOLERANCE", repr(TOLERANCE)).replace("CASES", "\n".join(cases))
    return "\n".join(lines) + "\n" + _TAIL + test


def _arrays(program: Program) -> list[tuple[str, Variable]]:
    return [*(("const double", v) for v in program.inputs), *(("double", v) for v in program.outputs)]


def _single(name: str, f: Function, declared: str = "void", suffix: str = "") -> str:
    given = ", ".join(f"{kind} {v.name}[{v.size}]" for kind, v in _arrays(f.program))
    return f"{declared} {name}_{f.name}{suffix}({given})"


def _batch(name: str, f: Function) -> str:
    given = ", ".join(f"{kind} *DALEMBERT_RESTRICT {v.name}" for kind, v in _arrays(f.program))
    return f"void {name}_{f.name}_batch(size_t count, {given})"


def _bodies(name: str, f: Function) -> list[str]:
    program, arrays = f.program, _arrays(f.program)
    lines, texts = statements(program, C)
    used = {node[1] for node in program.nodes if node[0] == "input"}
    unused = [f"(void){v.name};" for k, v in enumerate(program.inputs) if k not in used]
    stores = [f"{v.name}[{j}] = {x};" for v, entries in results_by_output(program, texts) for j, x in enumerate(entries)]
    shifted = ", ".join(f"{v.name} + {v.size} * state" for _, v in arrays)
    return [
        _single(name, f, "DALEMBERT_INLINE void", "_kernel"),
        "{",
        *(f"    {line}" for line in (*unused, *lines, *stores)),
        "}",
        "",
        _single(name, f),
        "{",
        f"    {name}_{f.name}_kernel({', '.join(v.name for _, v in arrays)});",
        "}",
        "",
        _batch(name, f),
        "{",
        "    DALEMBERT_SIMD",
        "    for (size_t state = 0; state < count; state++)",
        f"        {name}_{f.name}_kernel({shifted});",
        "}",
    ]


def _case(name: str, f: Function) -> list[str]:
    """One function called at one state, in a block of its own."""
    lines = ["    {"]
    for variable, values in zip(f.program.inputs, f.given, strict=True):
        lines += _values(f"{variable.name}[{variable.size}]", values)
    for variable, values in zip(f.program.outputs, f.expected, strict=True):
        lines += [f"        double {variable.name}[{variable.size}];"]
        lines += _values(f"{variable.name}_expected[{variable.size}]", values)
    lines.append(f"        {name}_{f.name}({', '.join(v.name for _, v in _arrays(f.program))});")
    for v in f.program.outputs:
        lines.append(f'        failures += differs("{f.name}: {v.name}", {v.size}, {v.name}, {v.name}_expected);')
    return [*lines, "    }"]


def _values(declared: str, values: Sequence[float]) -> list[str]:
    return [
        f"        static const double {declared} = {{",
        *listed([repr(float(x)) for x in values], " " * 12),
        "        };",
    ]
