"""Speed beside Pinocchio and others, in one process and one run: `make bench`.

Prints a table, writes bench.json, and draws cost against the number of joints for the docs. Machines are noisy, so what counts are
the ratios; every time is the best of many. `python benchmarks/run.py sweeps bounds` runs these parts alone.
"""

import atexit
import json
import os
import shutil
import sys
import tempfile
from pathlib import Path

os.environ["DALEMBERT_CACHE"] = tempfile.mkdtemp(prefix="dalembert-bench-")
atexit.register(shutil.rmtree, os.environ["DALEMBERT_CACHE"], ignore_errors=True)
sys.path.insert(0, str(Path(__file__).parent.parent / "tools"))

import arm
import bounds
import effort
import fastest
import feedback
import identification
import inverse_kinematics
import large
import loops
import pinocchio as pin
import rollouts
import sticking
import sweeps
import waiting
from reporting import rows, section

import dalembert as da
from dalembert.native.machine import host

PARTS = {
    "arm": arm.the_arm,
    "defaults": arm.defaults,
    "humanoid": large.humanoid,
    "coupled": large.coupled,
    "flying": large.flying,
    "chains": large.long_chains,
    "rollouts": rollouts.simulation,
    "sticking": lambda: section("simulation of joints that stick and stop, steps of 1 ms, one thread", sticking.figures, "less"),
    "loops": lambda: section("closed loops, one thread", loops.figures, "more"),
    "identification": lambda: section("from recordings to a robot", identification.figures, "less"),
    "inverse_kinematics": lambda: section("inverse kinematics, one thread", inverse_kinematics.figures, "less"),
    "fastest": lambda: section("the fastest way along a path, one thread", fastest.figures, "less"),
    "effort": lambda: section("motions of least effort", effort.figures, "less"),
    "feedback": lambda: section("feedback and gradients of rollouts, one thread", feedback.figures, "less"),
    "sweeps": lambda: section("sweeps of the PUMA's inverse dynamics", sweeps.figures, "less"),
    "bounds": lambda: section("bounds that no state exceeds, all cores", bounds.figures, "less"),
    "growing": waiting.what_must_not_grow,
    "start_up": waiting.start_up,
}


def machine():
    """What it is, in a line."""
    here = host()
    return f"{here.cpu}, vectors of {here.lanes} doubles, {os.cpu_count()} cores"


if __name__ == "__main__":
    unknown = [name for name in sys.argv[1:] if name not in PARTS]
    if unknown:
        sys.exit(f"no part {unknown[0]!r}; there are {', '.join(PARTS)}")
    print(machine())
    os.sync()  # what installing left to write would take the second core
    for name in sys.argv[1:] or PARTS:
        PARTS[name]()
        da.set_threads(None)
    found = {"machine": machine(), "pinocchio": pin.__version__, "dalembert": da.__version__, "rows": rows}
    Path("bench.json").write_text(json.dumps(found, indent=1) + "\n")
    missed = [row["name"] for row in rows if row["met"] is False]
    print(f"written to bench.json; {'all bars met' if not missed else 'missed: ' + '; '.join(missed)}")
    sys.exit(bool(missed))
