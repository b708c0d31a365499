"""Command lines of junk: an exit code, at most one line about an error, and never a traceback."""

import contextlib
import io
import random
import sys
import tempfile
from pathlib import Path

from dalembert.cli import main
from fuzz.harness import LONGEST, Failure, shown

COMMANDS = {
    "robots": (), "info": (), "check": (), "--version": (), "--help": (),
    "inverse": ("-o", "--output", "-m", "--method", "--all", "--no-header"),
    "forward": ("-o", "--output", "-m", "--method", "--all"),
    "simulate": ("--q0", "--qd0", "-t", "-s", "-i", "-m", "--torque", "--velocities", "--every", "-o"),
    "ik": ("-p", "--pose", "-l", "--q0", "--rows", "--body", "--no-limits", "--posture", "--every", "--starts", "-o"),
    "equations": ("--symbols", "--parts", "-f", "--long", "--book", "--shared", "-o"),
    "derive": ("-m", "-f", "--symbols", "--longest", "-o"),
    "generate": ("-q", "-m", "--name", "-o"),
    "save": ("--payload", "--gravity"),
}  # fmt: skip
CHANGES = ("--payload", "--gravity", "--damping", "--coulomb", "--armature", "--lock", "--snap", "--base")
VALUES = (
    "", "-", "--", ".", "/", "two_link", "rp", "nowhere.urdf", "out.csv", "out.npz", "out.npy", "out.txt", "states.csv", "folder",
    "0", "1", "-1", "0.5,0", "1,2,3", "nan", "inf", "-inf", "1e999", "1e-320", "1e9", "abc", "a\0b", "a\nb", "\ud800", "x" * 10_000,
    "rk4", "RK45", "brandl", "lie_group", "M", "M,C", "none", "mass,com", "c", "python", "latex", "text", "mass_matrix", "🤖", "--debug",
    "no/such/folder/out.csv", "out.tex", "99999999999999999999", "2@0,0,1:link1", "1:", "@", "joint1=1", "joint1=", "=", "0 0 -1", "out.toml",
)  # fmt: skip
STATES = "q_joint1,q_joint2,qd_joint1,qd_joint2,qdd_joint1,qdd_joint2\n0,0,0,0,0,0\n"


def case(seed: int) -> None:
    """One command line."""
    rng = random.Random(seed)
    command = rng.choice(list(COMMANDS))
    words = [command, *(["two_link"] if rng.random() < 0.8 else [])]
    words += ["c"] if command == "generate" and rng.random() < 0.8 else []
    words += ["states.csv"] if command in ("inverse", "forward") and rng.random() < 0.8 else []
    for _ in range(rng.randint(0, 3)):
        words += [rng.choice((*COMMANDS[command], *CHANGES))] if command != "robots" and rng.random() < 0.8 else []
        words += [rng.choice(VALUES)] if rng.random() < 0.8 else []
    words = [word for word in words if word != "--debug"]  # which is to show tracebacks
    with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):
        Path("states.csv").write_text(STATES)
        Path("folder").mkdir()
        code, error = run(words)
    if code not in (0, 1, 2):
        raise Failure(f"{words}: exit code {code!r}")
    told = [line for line in error.splitlines() if not line.startswith(("wrote ", "dalembert: warning: "))]
    if "Traceback" in error or "--debug shows where" in error or len(told) > 1 or any(len(x) > LONGEST + 50 for x in told):
        raise Failure(f"{[w[:60] for w in words]}: {error[:600]!r}")
    if code == 2 and not told and words != [""]:
        raise Failure(f"{[w[:60] for w in words]}: exit code 2 without a word")


def run(words: list[str]) -> tuple[int, str]:
    """The exit code of a command, and what it said about errors."""
    out, error, given = (io.TextIOWrapper(io.BytesIO(), encoding="utf-8") for _ in range(3))
    before, sys.stdin = sys.stdin, given
    try:
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(error):
            code = main(words)
    except SystemExit as left:
        raise Failure(f"{words}: SystemExit {left.code!r}") from left
    except Exception as wrong:
        raise Failure(f"{words}: {shown(wrong)}") from wrong
    finally:
        sys.stdin = before
    error.flush()
    return code, error.buffer.getvalue().decode(errors="replace")
