"""Programs as WebAssembly, inside a script that has the same functions as the JavaScript one.

Browsers optimize JavaScript functions only up to some five thousand operations; a module of WebAssembly is machine code however
long it is. One memory holds all numbers: every program has a stretch of it, first its inputs, then its outputs.
"""

import base64
import struct
from collections.abc import Mapping, Sequence
from textwrap import wrap

from dalembert.codegen.common import WIDTH, Function, comment
from dalembert.codegen.javascript import script, together
from dalembert.trace.program import Program, last_uses, operands

PAGE = 65536  # bytes of a page of memory
IMPORTED = ("sin", "cos", "sign")  # functions of JavaScript's Math
_CODES = {"add": 0xA0, "sub": 0xA1, "mul": 0xA2, "div": 0xA3, "neg": 0x9A, "sqrt": 0x9F}
_LOAD, _STORE, _GET, _SET = b"\x2b\x03", b"\x39\x03", b"\x20", b"\x21"  # doubles, aligned to 2^3 bytes; local variables
_ZERO = b"\x41\x00"  # i32.const 0: where addresses are counted from
_GREATER, _SELECT, _CALL, _END, _DOUBLE = b"\x64", b"\x1b", b"\x10", b"\x0b", b"\x7c"

_BODY = """  const code = `
CODE
  `;
  const bytes = Uint8Array.from(atob(code), (letter) => letter.charCodeAt(0));
  const { memory, ...run } = new WebAssembly.Instance(new WebAssembly.Module(bytes), { Math }).exports;
  const H = new Float64Array(memory.buffer);
  const put = (at, x) => { if (typeof x === "number") H[at] = x; else H.set(x, at); };

"""


def wasm_file(name: str, head: Sequence[str], functions: Sequence[Function]) -> str:
    """One script: a module of WebAssembly as text, and an object with a function of flat arrays for each program.

    >>> from dalembert.trace import trace
    >>> double = Function("double", trace(lambda x: 2 * x, {"x": (2,)}, outputs=("y",)), [], [[1.0, 2.0]], [[2.0, 4.0]])
    >>> print(wasm_file("my", ["Doubles."], [double]))
    // Doubles.
    ...
      function double(x) {
        put(0, x);
        run.double();
        return H.slice(2, 4);
      }
    ...
    """
    programs = {f.name: f.program for f in functions}
    text = base64.b64encode(module(programs)).decode()
    body = _BODY.replace("CODE", "\n".join(f"    {line}" for line in wrap(text, WIDTH)))
    starts = layout(programs)
    return script(name, head, functions, body + "\n\n".join(_function(f, starts[f.name]) for f in functions))


def compact_module(name: str, programs: Mapping[str, Program]) -> str:
    """The same object without head and self-test: for a page that carries its programs along."""
    starts, text = layout(programs), base64.b64encode(module(programs)).decode()
    functions = [_function(Function(key, p, [], [], []), starts[key]) for key, p in programs.items()]
    body = _BODY.replace("\nCODE\n  ", text) + "\n".join(functions)
    return f'"use strict";\nconst {name} = (() => {{\n{body}\n  return {{ {", ".join(programs)} }};\n}})();'


def layout(programs: Mapping[str, Program]) -> dict[str, int]:
    """Where in the memory, counted in doubles, the stretch of each program begins."""
    starts: dict[str, int] = {}
    start = 0
    for name, program in programs.items():
        starts[name] = start
        start += sum(v.size for v in (*program.inputs, *program.outputs))
    return starts


def _function(f: Function, start: int) -> str:
    lines: list[str] = []
    for variable in f.program.inputs:
        lines.append(f"put({start}, {variable.name});")
        start += variable.size
    lines.append(f"run.{f.name}();")
    returned: list[str] = []
    for variable in f.program.outputs:
        returned.append(f"H.slice({start}, {start + variable.size})" if variable.shape else f"H[{start}]")
        start += variable.size
    lines.append(f"return {together(returned)};")
    about = [f"  {line}" for line in comment("//", f.about)]
    return "\n".join([*about, f"  function {f.name}({f.arguments}) {{", *(f"    {line}" for line in lines), "  }"])


# --- the module ---------------------------------------------------------------------------------------------------------


def module(programs: Mapping[str, Program]) -> bytes:
    r"""The bytes of a module: it exports its memory and, by name, a function without arguments for each program.

    >>> from dalembert.trace import trace
    >>> module({"double": trace(lambda x: 2 * x, {"x": (2,)})})[:8]
    b'\x00asm\x01\x00\x00\x00'
    """
    starts = layout(programs)
    doubles = sum(v.size for p in programs.values() for v in (*p.inputs, *p.outputs))
    bodies = [_sized(_body(program, starts[name])) for name, program in programs.items()]
    imports = [_name("Math") + _name(function) + b"\x00\x00" for function in IMPORTED]
    exports = [_name(name) + b"\x00" + _unsigned(len(IMPORTED) + k) for k, name in enumerate(programs)]
    sections = (
        (1, _vector([b"\x60\x01" + _DOUBLE + b"\x01" + _DOUBLE, b"\x60\x00\x00"])),  # types: double to double, none to none
        (2, _vector(imports)),
        (3, _vector([b"\x01"] * len(bodies))),
        (5, b"\x01\x00" + _unsigned(-(-8 * doubles // PAGE) or 1)),
        (7, _vector([*exports, _name("memory") + b"\x02\x00"])),
        (10, _vector(bodies)),
    )
    return b"\0asm\x01\0\0\0" + b"".join(bytes([kind]) + _sized(content) for kind, content in sections)


def _body(program: Program, start: int) -> bytes:
    """The code of one program. A local variable is used again after the last operation that reads it."""
    first = [start]
    for variable in program.inputs:
        first.append(first[-1] + variable.size)
    last = last_uses(program)
    codes: list[bytes] = []  # what puts the value of each node on the stack
    text, free, count = bytearray(), list[int](), 0
    slots: dict[int, int] = {}
    for i, node in enumerate(program.nodes):
        if node[0] == "input":
            codes.append(_ZERO + _LOAD + _unsigned(8 * (first[node[1]] + node[2])))
            continue
        if node[0] == "const":
            codes.append(_number(node[1]))
            continue
        text += _operation(node, [codes[j] for j in operands(node)])
        free += [slots.pop(j) for j in dict.fromkeys(operands(node)) if j in slots and last[j] == i]
        if free:
            slots[i] = free.pop()
        else:
            slots[i], count = count, count + 1
        codes.append(_GET + _unsigned(slots[i]))
        text += _SET + _unsigned(slots[i])
    for k, i in enumerate(program.results):
        text += _ZERO + codes[i] + _STORE + _unsigned(8 * (first[-1] + k))
    return _vector([_unsigned(count) + _DOUBLE]) + bytes(text) + _END


def _operation(node: tuple, operands: list[bytes]) -> bytes:
    op = node[0]
    if op in IMPORTED:
        return operands[0] + _CALL + _unsigned(IMPORTED.index(op))
    if op == "above":
        floor, otherwise = map(_number, node[2:])
        return operands[0] + otherwise + operands[0] + floor + _GREATER + _SELECT
    if op == "where":
        condition, a, b = operands
        return a + b + condition + _number(0.0) + _GREATER + _SELECT
    return b"".join(operands) + bytes([_CODES[op]])


def _number(x: float) -> bytes:
    return b"\x44" + struct.pack("<d", float(x))


def _unsigned(n: int) -> bytes:
    """LEB128: seven bits a byte, the lowest first."""
    code = bytearray()
    while n > 127:
        code.append(n & 127 | 128)
        n >>= 7
    return bytes([*code, n])


def _sized(content: bytes) -> bytes:
    return _unsigned(len(content)) + content


def _name(text: str) -> bytes:
    return _sized(text.encode())


def _vector(items: Sequence[bytes]) -> bytes:
    return _unsigned(len(items)) + b"".join(items)
