"""Speed beside Pinocchio and others, in one process and one run: `make bench`.

Prints every figure beside its bar and writes them to bench.json. Machines are noisy, so what counts are the ratios; every time is
the best of many. `python benchmarks/run.py sweeps bounds` runs these parts alone. `python benchmarks/page.py` makes the page of the
documentation from bench.json.
"""

import atexit
import datetime
import json
import os
import shutil
import sys
import tempfile
import traceback
import warnings
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
import reporting
import rollouts
import sticking
import sweeps
import symbolic
import waiting

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
    "sticking": sticking.figures,
    "loops": loops.figures,
    "identification": identification.figures,
    "inverse_kinematics": inverse_kinematics.figures,
    "fastest": fastest.figures,
    "effort": effort.figures,
    "feedback": feedback.figures,
    "sweeps": sweeps.figures,
    "bounds": bounds.figures,
    "closed_forms": symbolic.figures,
    "growing": waiting.what_must_not_grow,
    "start_up": waiting.start_up,
}


def machine():
    """What it is, in a line."""
    here = host()
    return f"{here.cpu}, vectors of {here.lanes} doubles, {os.cpu_count()} cores"


def run(names):
    """The parts in turn; the names of those that ended in an error, which does not end the others."""
    broken = []
    for name in names:
        try:
            PARTS[name]()
        except Exception:
            broken.append(name)
            traceback.print_exc()
        da.set_threads(None)
    return broken


if __name__ == "__main__":
    unknown = [name for name in sys.argv[1:] if name not in PARTS]
    if unknown:
        sys.exit(f"no part {unknown[0]!r}; there are {', '.join(PARTS)}")
    warnings.simplefilter("ignore", da.LimitWarning)  # arms that fall pass their limits
    print(machine())
    os.sync()  # what installing left to write would take the second core
    broken = run(sys.argv[1:] or PARTS)
    found = {
        "machine": machine(),
        "day": datetime.date.today().isoformat(),
        "dalembert": da.__version__,
        "pinocchio": pin.__version__,
        "figures": [figure._asdict() | {"bar": figure.bar, "met": figure.met} for figure in reporting.figures],
    }
    Path("bench.json").write_text(json.dumps(found, indent=1) + "\n")
    missed = [figure.name for figure in reporting.figures if figure.met is False]
    print(f"written to bench.json; {'all bars met' if not missed else 'missed: ' + '; '.join(missed)}")
    if broken:
        print(f"ended in an error: {', '.join(broken)}")
    sys.exit(bool(missed or broken))
