"""How many instructions the generated C takes on a Cortex-M4F, counted from the disassembly.

    python tools/instructions.py [ROBOT ...]

Needs Debian's gcc-arm-none-eabi and libnewlib-dev. The functions have no loops, so that the longest way through one is
the most that a call takes; sines and cosines of the C library come on top, and are counted as calls.
"""

import re
import shutil
import subprocess
import sys
import tempfile
from collections import Counter
from pathlib import Path
from typing import NamedTuple

import dalembert as da
from dalembert.text import table

COMPILER, DISASSEMBLER = "arm-none-eabi-gcc", "arm-none-eabi-objdump"
TARGET = ("-mcpu=cortex-m4", "-mthumb", "-mfloat-abi=hard", "-mfpu=fpv4-sp-d16")
FLAGS = ("-std=gnu99", "-O2", "-Wall", "-Wextra", "-Wconversion", "-Wdouble-promotion", "-Werror")
LAWS = ("gravity_force", "inverse_dynamics", "gravity_compensation", "computed_torque", "impedance", "momentum_observer")
FUSED = ("vfma", "vfms", "vfnma", "vfnms", "vmla", "vmls", "vnmla", "vnmls")


class Instructions(NamedTuple):
    """What one function takes."""

    most: int  # executed in one call, along the longest way; the C library's own not counted
    arithmetic: int  # additions, multiplications, divisions and roots in the code; a fused multiply-add is two
    bytes: int
    calls: tuple[str, ...]


def available() -> bool:
    """Whether the tools are there."""
    return bool(shutil.which(COMPILER) and shutil.which(DISASSEMBLER))


def compiled(source: Path, target: Path, *flags: str) -> Path:
    """The object file of a source for the Cortex-M4F."""
    subprocess.run([COMPILER, *FLAGS, *TARGET, *flags, "-c", source, "-o", target], check=True)
    return target


def counted(target: Path) -> dict[str, Instructions]:
    """The instructions of every function of an object file."""
    command = [DISASSEMBLER, "-d", "--no-show-raw-insn", str(target)]
    text = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    pieces = re.split(r"^[0-9a-f]+ <(\w+)>:$", text, flags=re.MULTILINE)[1:]
    return {name: _counted(body) for name, body in zip(pieces[::2], pieces[1::2], strict=True)}


def _counted(body: str) -> Instructions:
    lines = re.findall(r"^ *([0-9a-f]+):\s+(\S+)(.*)$", body, re.MULTILINE)
    code = [(int(at, 16), op, rest) for at, op, rest in lines if not op.startswith((".word", ".short"))]
    stems = Counter(op.split(".")[0] for _, op, _ in code)
    single = sum(stems[op] for op in ("vadd", "vsub", "vmul", "vnmul", "vdiv", "vsqrt"))
    return Instructions(
        _longest_way(code),
        single + 2 * sum(stems[op] for op in FUSED),
        int(lines[-1][0], 16) - int(lines[0][0], 16) + 4,
        tuple(re.findall(r"\bbl\s+\S+ <(\w+)", body)),
    )


def _longest_way(code: list[tuple[int, str, str]]) -> int:
    """The most instructions from the first one to a return; a loop has no such number."""
    after = {at: code[k + 1][0] for k, (at, _, _) in enumerate(code[:-1])}
    leads: dict[int, list[int]] = {}
    for at, op, rest in code:
        to = re.search(r"\b([0-9a-f]+) <", rest) if re.fullmatch(r"(b|cbn?z)(\w\w)?(\.[nw])?", op) else None
        leaves = op in ("b", "b.n", "b.w", "bx") or (op.startswith(("pop", "ldmia")) and "pc" in rest)
        leads[at] = ([int(to[1], 16)] if to else []) + ([after[at]] if at in after and not leaves else [])
    longest: dict[int, int] = {}
    open_, pending = set[int](), [code[0][0]]
    while pending:
        at = pending[-1]
        missing = [x for x in leads[at] if x not in longest]
        open_.add(at)
        if any(x in open_ for x in missing):
            raise ValueError(f"the code has a loop through {at:x}")
        if missing:
            pending.append(missing[0])
        else:
            longest[pending.pop()] = 1 + max((longest[x] for x in leads[at]), default=0)
    return longest[code[0][0]]


def rows(robot: da.Robot, quantities: tuple[str, ...] = LAWS) -> list[list[str]]:
    """One row a function: operations of the program, instructions, bytes."""
    code = robot.generate("c", quantities, name="arm", dtype="float", header=True, batch=False)
    with tempfile.TemporaryDirectory() as place:
        found = counted(compiled(code.save(place), Path(place) / "arm.o"))
    cells: list[list[str]] = []
    for quantity in quantities:
        one, operations = found[f"arm_{quantity}"], da.trace.operation_count(robot.program(quantity))
        cells.append([robot.name, quantity, str(operations.total), str(one.most), f"{len(one.calls)}", f"{one.bytes:,}"])
    return cells


if __name__ == "__main__":
    if not available():
        sys.exit(f"{COMPILER} is not installed (Debian: apt-get install gcc-arm-none-eabi libnewlib-dev)")
    title = ["robot", "function", "operations", "instructions", "calls of sinf, cosf", "bytes"]
    robots = [da.robot(name) for name in sys.argv[1:] or ("two_link", "puma560", "panda")]
    print(table([title, *(row for robot in robots for row in rows(robot))], right=True))
