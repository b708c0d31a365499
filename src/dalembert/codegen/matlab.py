"""Programs as one MATLAB function file, which Octave runs too."""

from collections.abc import Sequence

import numpy as np

from dalembert.codegen.common import TOLERANCE, Function, Syntax, comment, listed, results_by_output, statements
from dalembert.trace.program import Program, Variable


def one_based(variable: Variable, j: int) -> str:
    """The index of an entry, counted from one."""
    return ", ".join(str(k + 1) for k in np.unravel_index(j, variable.shape))


MATLAB = Syntax(
    entry=lambda variable, j: f"{variable.name}({one_based(variable, j)})" if variable.shape else variable.name,
    inf="Inf",
    nan="NaN",
    assign="v{} = {};",
    above="dalembert_above({x}, {floor}, {otherwise})",
    where="dalembert_where({c}, {a}, {b})",
    sign="sign({x})",
)

_DISPATCH = """
function varargout = NAME(quantity, varargin)
% NAME(quantity, inputs...) calls a function of this file by name; NAME('selftest') compares them with stored results.
switch quantity
BRANCHES
    case 'selftest'
        dalembert_selftest();
    otherwise
        error('NAME: unknown quantity %s (known: KNOWN, selftest)', quantity);
end
end
"""

_BRANCH = """    case 'NAME'
        if numel(varargin) ~= INPUTS
            error('NAME needs: TAKEN');
        end
        [varargout{1:max(nargout, 1)}] = dalembert_NAME(varargin{:});"""

_TEST = """
function y = dalembert_above(x, low, otherwise_)
if x > low
    y = x;
else
    y = otherwise_;
end
end

function y = dalembert_where(c, a, b)
if c > 0
    y = a;
else
    y = b;
end
end

function dalembert_check(what, found, expected)
scale = max([abs(expected(:)); 0]);
if scale == 0
    scale = 1;
end
if ~isequal(size(found), size(expected)) || ~all(abs(found(:) - expected(:)) <= TOLERANCE * scale)
    error('%s differs', what);
end
end

function dalembert_selftest()
CASES
disp('ok');
end
"""


def matlab_file(name: str, head: Sequence[str], functions: Sequence[Function]) -> str:
    """One MATLAB file: its function calls those of the programs by name, and 'selftest' tests them.

    >>> from dalembert.trace import trace
    >>> double = Function("double", trace(lambda x: 2 * x, {"x": (2,)}, outputs=("y",)), [], [[1.0, 2.0]], [[2.0, 4.0]])
    >>> print(matlab_file("my", ["Doubles."], [double]))
    % Doubles.
    ...
    function y = dalembert_double(x)
    v0 = 2.0 * x(1);
    v1 = 2.0 * x(2);
    y = [v0; v1];
    end
    ...
    """
    branches = [
        _BRANCH.replace("NAME", f.name).replace("INPUTS", str(len(f.program.inputs))).replace("TAKEN", f.arguments)
        for f in functions
    ]
    text = "\n".join(comment("%", head)) + "\n"
    text += (
        _DISPATCH.replace("BRANCHES", "\n".join(branches))
        .replace("KNOWN", ", ".join(f.name for f in functions))
        .replace("NAME", name)
    )
    for f in functions:
        body, texts = statements(f.program, MATLAB)
        outputs = _outputs(f.program)
        left = outputs[0] if len(outputs) == 1 else f"[{', '.join(outputs)}]"
        text += f"\nfunction {left} = dalembert_{f.name}({f.arguments})\n"
        text += "\n".join([*comment("%", f.about), *body]) + "\n"
        for output, (variable, entries) in zip(outputs, results_by_output(f.program, texts), strict=True):
            text += "\n".join(_array(output, variable, entries)) + "\n"
        text += "end\n"
    cases = "\n".join(line for f in functions for line in _case(f))
    return text + _TEST.replace("TOLERANCE", repr(TOLERANCE)).replace("CASES", cases)


def _outputs(program: Program) -> list[str]:
    """Names for the outputs that no input has."""
    taken = {v.name for v in program.inputs}
    return [v.name + "_" * (v.name in taken) for v in program.outputs]


def _array(name: str, variable: Variable, entries: Sequence[str]) -> list[str]:
    """An array from its entries in row-major order: vectors are columns, and of more axes the last runs fastest."""
    if not variable.shape:
        return [f"{name} = {entries[0]};"]
    if len(variable.shape) == 1:
        before, after = "[", "];"
        separator = "; "
    else:
        axes = range(len(variable.shape), 0, -1)
        before = "permute(reshape(["
        after = f"], [{' '.join(map(str, reversed(variable.shape)))}]), [{' '.join(map(str, axes))}]);"
        separator = ", "
    lines = listed(entries, "    ", separator, " ...")
    if len(lines) == 1:
        return [f"{name} = {before}{lines[0].strip()}{after}"]
    return [f"{name} = {before} ...", *lines[:-1], lines[-1] + after]


def _case(f: Function) -> list[str]:
    takes, gives = f.tested
    lines = [line for v, entries in takes for line in _array(v.name, v, entries)]
    names = [f"found{k + 1}" for k in range(len(gives))]
    lines.append(f"[{', '.join(names)}] = dalembert_{f.name}({f.arguments});")
    for name, (variable, entries) in zip(names, gives, strict=True):
        lines += _array("expected", variable, entries)
        lines.append(f"dalembert_check('{f.name}: {variable.name}', {name}, expected);")
    return lines
