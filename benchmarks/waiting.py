"""What a newcomer waits for: import, first call, command; and times that must not grow."""

import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
from reporting import heading, report
from timing import best_pair

import dalembert as da

STATES = 20_000
FIRST_CALL = """
import sys, time, numpy as np, dalembert as da
if sys.argv[1] == "loaded":
    from dalembert.native import machine
    machine.host()
arm, x = da.robot("panda").without_friction(), np.zeros((3, 7))
start = time.perf_counter()
arm.inverse_dynamics(*x)
print(time.perf_counter() - start)
"""


IMPORT = "import time; a = time.perf_counter(); import dalembert; print(time.perf_counter() - a)"


WHOLE = """
import time; start = time.perf_counter()
import dalembert as da, numpy as np
da.robot("panda").without_friction().inverse_dynamics(*np.zeros((3, 7)))
print(time.perf_counter() - start)
"""


COMMAND = """
import time; a = time.perf_counter()
import contextlib, os
from dalembert.cli import main
with open(os.devnull, "w") as nowhere, contextlib.redirect_stdout(nowhere):
    main(["robots"])
print(time.perf_counter() - a)
"""


def start_up():
    heading("start-up, each in a fresh process, median of 7")
    environment = {k: v for k, v in os.environ.items() if k != "PYTHONDONTWRITEBYTECODE"}

    def fresh(code, *arguments, cold=False):
        with tempfile.TemporaryDirectory() as folder:
            cache = folder if cold else environment["DALEMBERT_CACHE"]
            command = [sys.executable, "-c", code, *arguments]
            done = subprocess.run(command, env=environment | {"DALEMBERT_CACHE": cache}, capture_output=True, text=True, check=True)
            return float(done.stdout)

    def median(*arguments, **options):
        fresh(*arguments)
        return statistics.median(fresh(*arguments, **options) for _ in range(7))

    report("import dalembert", median(IMPORT), "s", at_most=0.12)
    report("import numpy", median(IMPORT.replace("dalembert", "numpy")), "s")
    report("import dalembert and numpy, a robot, the first call, from the disk cache", median(WHOLE), "s", at_most=0.25)
    report("dalembert robots, the command", median(COMMAND), "s", at_most=0.5)
    report("trace and compile, llvmlite loaded", median(FIRST_CALL, "loaded", cold=True), "s", at_most=0.5)
    report("from the disk cache, llvmlite loaded", median(FIRST_CALL, "loaded") * 1e3, "ms", at_most=20)
    report("from the disk cache, loading llvmlite too", median(FIRST_CALL, "no") * 1e3, "ms")


def what_must_not_grow():
    """Times that a square, or work for states that need none, would show at once."""
    heading("large files, and states that are no numbers")
    links = "".join(
        f'<link name="l{i}"/><joint name="j{i}" type="revolute"><parent link="b"/><child link="l{i}"/></joint>'
        for i in range(20_000)
    )
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "star.urdf"
        path.write_text(f'<robot name="star"><link name="b"/>{links}</robot>')
        start = time.perf_counter()
        da.load(path)
    report("a URDF file of 20,000 joints", time.perf_counter() - start, "s", at_most=30)
    arm = da.robot("panda")
    q = arm.random_configuration(0, STATES)
    dirty = q.copy()
    dirty[5, 3] = np.nan
    clean, nan = best_pair(lambda: arm.forward_dynamics(q, q, q), lambda: arm.forward_dynamics(dirty, q, q), rounds=10, least=0)
    report(f"forward dynamics of {STATES} states, one of them NaN, relative", nan / clean, "x", at_most=10)
