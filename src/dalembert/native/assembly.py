"""Writing LLVM assembly."""

import struct


def number(x: float) -> str:
    """A constant, to the last bit."""
    return f"0x{struct.unpack('<Q', struct.pack('<d', x))[0]:016X}"


class Assembly:
    """Lines of assembly, and fresh names for their values."""

    def __init__(self, lanes: int) -> None:
        self.lanes = lanes
        self.vector, self.integers, self.bits = f"<{lanes} x double>", f"<{lanes} x i64>", f"<{lanes} x i1>"
        self.lines: list[str] = []
        self.count = 0

    def line(self, text: str) -> None:
        """A line as it is."""
        self.lines.append(text)

    def op(self, text: str) -> str:
        """An instruction; returns the name of its value."""
        self.count += 1
        self.lines.append(f"  %t{self.count} = {text}")
        return f"%t{self.count}"

    def label(self) -> str:
        """A fresh name for a block."""
        self.count += 1
        return f"b{self.count}"

    def splat(self, x: float) -> str:
        """A vector constant."""
        return f"splat (double {number(x)})"

    def do(self, name: str, a: str, b: str) -> str:
        """An operation on two vectors of doubles."""
        return self.op(f"{name} {self.vector} {a}, {b}")

    def fma(self, a: str, b: str, c: str) -> str:
        """a b + c, rounded once."""
        return self.op(f"call {self.vector} @llvm.fma.v{self.lanes}f64({self.vector} {a}, {self.vector} {b}, {self.vector} {c})")

    def negative(self, x: str) -> str:
        """-x."""
        return self.op(f"fneg {self.vector} {x}")

    def whole(self, k: int) -> str:
        """A vector constant of integers."""
        return f"splat (i64 {k})"
