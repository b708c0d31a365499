"""Programs as JavaScript that needs nothing: an ordinary script for a browser, and a module for Node."""

from collections.abc import Mapping, Sequence

from dalembert.codegen.common import TOLERANCE, Function, Syntax, bracketed, comment, listed, results_by_output, statements
from dalembert.trace.program import Program, Variable

JAVASCRIPT = Syntax(
    entry=lambda variable, j: f"{variable.name}[{j}]" if variable.shape else variable.name,
    inf="Infinity",
    nan="NaN",
    assign="const v{} = {};",
    above="{x} > {floor} ? {x} : {otherwise}",
    where="{c} > 0.0 ? {a} : {b}",
    sign="Math.sign({x})",
    functions="Math.{op}({x})",
)

_FILE = """
"use strict";

const NAME = (() => {
BODY

  function check(what, found, expected) {
    const entries = typeof found === "number" ? [found] : found;
    const size = expected.reduce((most, x) => Math.max(most, Math.abs(x)), 0) || 1;
    if (entries.length !== expected.length || !expected.every((x, k) => Math.abs(entries[k] - x) <= TOLERANCE * size)) {
      throw new Error(`${what} differs: ${entries}, expected ${expected}`);
    }
  }

  // Compares every function at one state with what the library computed.
  function selftest() {
CASES
    return "ok";
  }

  return { NAMES, selftest };
})();

if (typeof module !== "undefined" && module.exports) {
  module.exports = NAME;
  if (require.main === module) console.log(NAME.selftest());
}
"""


def javascript_file(name: str, head: Sequence[str], functions: Sequence[Function]) -> str:
    """One script: an object of that name, with for each program a function of flat arrays, and selftest().

    >>> from dalembert.trace import trace
    >>> double = Function("double", trace(lambda x: 2 * x, {"x": (2,)}, outputs=("y",)), [], [[1.0, 2.0]], [[2.0, 4.0]])
    >>> print(javascript_file("my", ["Doubles."], [double]))
    // Doubles.
    ...
    const my = (() => {
      function double(x) {
        const v0 = 2.0 * x[0];
        const v1 = 2.0 * x[1];
        return [v0, v1];
      }
    ...
    """
    return script(name, head, functions, "\n\n".join(_function(f) for f in functions))


def compact(name: str, programs: Mapping[str, Program]) -> str:
    """The same object in few bytes, without head and self-test: for a page that carries its programs along.

    >>> from dalembert.trace import trace
    >>> compact("my", {"double": trace(lambda x: 2 * x, {"x": (2,)})})
    '"use strict";const my={double(x){const v0=2.0*x[0],v1=2.0*x[1];return[v0,v1]}};'
    """
    return f'"use strict";const {name}={{{",".join(_compact(key, program) for key, program in programs.items())}}};'


def _compact(name: str, program: Program) -> str:
    lines, texts = statements(program, JAVASCRIPT._replace(assign="v{}={}"))
    parts = [f"[{','.join(entries)}]" if v.shape else entries[0] for v, entries in results_by_output(program, texts)]
    returned = parts[0] if len(parts) == 1 else f"[{','.join(parts)}]"
    body = f"const {','.join(lines).replace(' ', '')};" if lines else ""
    space = "" if returned.startswith("[") else " "
    names = ",".join(v.name for v in program.inputs)
    return f"{name}({names}){{{body}return{space}{returned}}}"


def script(name: str, head: Sequence[str], functions: Sequence[Function], body: str) -> str:
    """The file around the functions, which `body` defines: their names to the outside, and the self-test."""
    cases = "\n".join(line for f in functions for line in _case(f))
    text = _FILE.replace("NAMES", ", ".join(f.name for f in functions)).replace("NAME", name)
    text = text.replace("TOLERANCE", repr(TOLERANCE)).replace("CASES", cases).replace("BODY", body)
    return "\n".join(comment("//", head)) + "\n" + text


def together(results: Sequence[str]) -> str:
    """One result as it is, several as an array."""
    return results[0] if len(results) == 1 else "[" + ", ".join(results) + "]"


def _function(f: Function) -> str:
    lines, texts = statements(f.program, JAVASCRIPT)
    returned = [_array(v, entries) for v, entries in results_by_output(f.program, texts)]
    lines.append(f"return {together(returned)};")
    about = [f"  {line}" for line in comment("//", f.about)]
    return "\n".join([*about, f"  function {f.name}({f.arguments}) {{", *(f"    {line}" for line in lines), "  }"])


def _array(variable: Variable, entries: Sequence[str]) -> str:
    """The entries in row-major order; a number where there are no axes."""
    return bracketed(entries, "      ") if variable.shape else entries[0]


def _case(f: Function) -> list[str]:
    takes, gives = f.tested
    lines = ["    {", *(f"    const {v.name} = {_array(v, entries)};" for v, entries in takes)]
    lines.append(f"    const found = {f.name}({f.arguments});")
    several = len(gives) > 1
    for k, (variable, entries) in enumerate(gives):
        numbers = "\n".join(listed(entries, "      "))
        expected = f"const expected = [\n{numbers}\n    ];"
        lines.append(f'    {{ {expected} check("{f.name}: {variable.name}", found{f"[{k}]" if several else ""}, expected); }}')
    return [*lines, "    }"]
