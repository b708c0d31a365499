"""Writing LLVM assembly."""

import struct
from itertools import count

import numpy as np

BYTES = {"double": 8, "float": 4}


def number(x: float, real: str = "double") -> str:
    """A constant, to the last bit; of floats, the nearest one, written as LLVM wants it: as a double."""
    return f"0x{struct.unpack('<Q', struct.pack('<d', x if real == 'double' else float(np.float32(x))))[0]:016X}"


# where the constants of a module are: asked at the start of every function, so that each is one operand, not an address and a load
CONSTANTS = "  %constants = load volatile ptr, ptr @constants_at, align 8"


class Assembly:
    """Lines of assembly, and fresh names for their values, which are vectors of so many numbers; one lane is a plain number."""

    def __init__(self, real: str, lanes: int, widest: int = 0) -> None:
        """`real` is "double" or "float"; `widest` the length of the longest vectors in the module, if it is not this one."""
        self.real, self.bytes, self.lanes, self.widest = real, BYTES[real], lanes, widest or lanes
        self.size = self.bytes * lanes  # of a vector
        kinds = (real, f"i{8 * self.bytes}", "i1")
        self.vector, self.integers, self.bits = (f"<{lanes} x {t}>" if lanes > 1 else t for t in kinds)
        self.suffix = f"{f'v{lanes}' if lanes > 1 else ''}f{8 * self.bytes}"
        self.lines: list[str] = []
        self._fresh = count(1)
        self._constants: dict[str, int] = {}

    def wide(self) -> "Assembly":
        """The same lines, written with the longest vectors."""
        other = Assembly(self.real, self.widest)
        other.lines, other._fresh, other._constants = self.lines, self._fresh, self._constants
        return other

    def line(self, text: str) -> None:
        """A line as it is."""
        self.lines.append(text)

    def op(self, text: str) -> str:
        """An instruction; returns the name of its value."""
        name = f"%t{next(self._fresh)}"
        self.lines.append(f"  {name} = {text}")
        return name

    def label(self) -> str:
        """A fresh name for a block."""
        return f"b{next(self._fresh)}"

    def splat(self, x: float) -> str:
        """A constant in every lane, from the module's table."""
        k = self._constants.setdefault(number(x, self.real), len(self._constants))
        return self.op(f"load {self.vector}, ptr {self.at('%constants', k * self.widest)}, align {self.bytes}, !invariant.load !1")

    def whole(self, k: int) -> str:
        """An integer in every lane."""
        return f"splat (i{8 * self.bytes} {k})" if self.lanes > 1 else str(k)

    def do(self, name: str, a: str, b: str) -> str:
        """An operation on two vectors of numbers."""
        return self.op(f"{name} {self.vector} {a}, {b}")

    def call(self, name: str, *values: str) -> str:
        """An intrinsic function of vectors."""
        return self.op(f"call {self.vector} @llvm.{name}.{self.suffix}({', '.join(f'{self.vector} {x}' for x in values)})")

    def fma(self, a: str, b: str, c: str) -> str:
        """a b + c, rounded once."""
        return self.call("fma", a, b, c)

    def negative(self, x: str) -> str:
        """-x."""
        return self.op(f"fneg {self.vector} {x}")

    def any(self, mask: str) -> str:
        """Whether some lane of a mask is true."""
        return self.op(f"call i1 @llvm.vector.reduce.or.v{self.lanes}i1({self.bits} {mask})") if self.lanes > 1 else mask

    def load(self, place: str, align: int = 0) -> str:
        """The vector at an address."""
        return self.op(f"load {self.vector}, ptr {place}, align {align or self.size}")

    def store(self, value: str, place: str, align: int = 0) -> None:
        """A vector to an address."""
        self.line(f"  store {self.vector} {value}, ptr {place}, align {align or self.size}")

    def at(self, base: str, index: int, unit: str = "") -> str:
        """The address so many units, numbers if not said otherwise, behind another."""
        return self.op(f"getelementptr {unit or self.real}, ptr {base}, i64 {index}") if index else base

    def shuffle(self, a: str, b: str, lanes: list[int]) -> str:
        """A vector of lanes chosen from two, those of the second counted on."""
        chosen = ", ".join(f"i32 {k}" for k in lanes)
        return self.op(f"shufflevector {self.vector} {a}, {self.vector} {b}, <{len(lanes)} x i32> <{chosen}>")

    def module(self) -> list[str]:
        """All lines, the constants, and the intrinsic functions."""
        values = ", ".join(f"{self.real} {x}" for x in self._constants for _ in range(self.widest))
        kind, align = f"[{len(self._constants) * self.widest} x {self.real}]", self.bytes * self.widest
        table = f"@constants = internal constant {kind} [{values}], align {align}"
        return [*self.lines, table, "@constants_at = internal global ptr @constants", "!1 = !{}"]

    def declarations(self) -> list[str]:
        """The intrinsic functions of vectors of this length."""
        T, s = self.vector, self.suffix
        some = [f"declare {T} @llvm.fma.{s}({T}, {T}, {T})", *(f"declare {T} @llvm.{f}.{s}({T})" for f in ("fabs", "sqrt"))]
        return [*some, f"declare i1 @llvm.vector.reduce.or.v{self.lanes}i1({self.bits})"] if self.lanes > 1 else some
