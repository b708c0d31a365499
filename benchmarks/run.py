"""Speed beside Pinocchio, in one process and one run: `make bench`.

Prints a table and writes bench.json. Machines are noisy, so what counts are the ratios; every time is the best of many.
"""

import atexit
import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

os.environ["DALEMBERT_CACHE"] = tempfile.mkdtemp(prefix="dalembert-bench-")
atexit.register(shutil.rmtree, os.environ["DALEMBERT_CACHE"], ignore_errors=True)
sys.path.insert(0, str(Path(__file__).parent.parent / "tools"))

import numpy as np
import pinocchio as pin
from corpus import robots_folder
from machine_peak import peak_flops
from timing import best, best_pair

import dalembert as da

BATCH = 10_000
SINCOS = 49  # floating-point operations of one sine and cosine in native/sincos.py, a fused multiply-add counted as two
rows: list[dict] = []


def report(name, value, unit, bar=None, better=None):
    """One line: the figure, and whether it reaches its bar."""
    met = None if bar is None else value >= bar if better == "more" else value <= bar
    met = None if met is None else bool(met)
    rows.append({"name": name, "value": float(value), "unit": unit, "bar": bar, "met": met})
    wanted = "" if bar is None else f"{'>=' if better == 'more' else '<='} {bar:g}"
    print(f"  {name:58} {value:10.4g} {unit:9} {wanted:10} {'' if met is None else 'ok' if met else 'MISSED'}", flush=True)


def panda():
    """The same arm twice: 7 joints, hand attached, fingers closed, no friction."""
    model = pin.buildModelFromUrdf(str(robots_folder() / "panda_description/urdf/panda.urdf"))
    fingers = [model.getJointId(f"panda_finger_joint{k}") for k in (1, 2)]
    return da.robot("panda").without_friction(), pin.buildReducedModel(model, fingers, pin.neutral(model))


def inverse_dynamics():
    print("inverse dynamics, Panda arm, one thread")
    arm, model = panda()
    data = model.createData()
    da.set_threads(1)
    rng = np.random.default_rng(0)
    q, qd, qdd = arm.random_configuration(rng, BATCH), *rng.uniform(-1, 1, (2, BATCH, 7))
    one = q[0].copy(), qd[0].copy(), qdd[0].copy()
    out = arm.inverse_dynamics(q, qd, qdd)
    expected = np.array([pin.rnea(model, data, *(x[i] for x in (q, qd, qdd))) for i in range(100)])
    report(
        "largest relative difference from Pinocchio", np.abs(out[:100] - expected).max() / np.abs(expected).max(), "", 1e-11, "less"
    )
    theirs, ours = best_pair(lambda: pin.rnea(model, data, *one), lambda: arm.inverse_dynamics(*one))
    batch = best(lambda: arm.inverse_dynamics(q, qd, qdd, out=out)) / BATCH
    report("Pinocchio, one Python call", theirs * 1e9, "ns")
    report(f"dalembert, a state in a batch of {BATCH}", batch * 1e9, "ns")
    report("times faster in a batch", theirs / batch, "x", 30, "more")
    report("dalembert, one Python call", ours * 1e9, "ns")
    report("one call, relative to Pinocchio's", ours / theirs, "x", 1.0, "less")
    count = arm.operation_count("inverse_dynamics")
    peak = peak_flops()
    report("peak of this core (fused multiply-add loop)", peak / 1e9, "Gflop/s")
    report("fraction of peak, arithmetic without sines", count.total / batch / peak * 100, "%")
    flops = count.total + SINCOS * count.sincos
    report(f"fraction of peak, sines included ({SINCOS} operations each)", flops / batch / peak * 100, "%")
    threads(arm, rng)


def threads(arm, rng):
    print("threads")
    q, qd, qdd = rng.uniform(-1, 1, (3, 40 * BATCH, 7))
    out = np.empty_like(q)

    def run(count):
        da.set_threads(count)
        arm.inverse_dynamics(q, qd, qdd, out=out)

    single, double = best_pair(lambda: run(1), lambda: run(2), rounds=25, least=0)
    da.set_threads(None)
    report(f"two threads relative to one, batch of {40 * BATCH}", single / double, "x", 1.7, "more")


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


def start_up():
    print("start-up, each in a fresh process, median of 7")
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

    report("import dalembert", median(IMPORT), "s", 0.25, "less")
    report("trace and compile, llvmlite loaded", median(FIRST_CALL, "loaded", cold=True), "s", 0.5, "less")
    report("from the disk cache, llvmlite loaded", median(FIRST_CALL, "loaded") * 1e3, "ms", 20, "less")
    report("from the disk cache, loading llvmlite too", median(FIRST_CALL, "no") * 1e3, "ms")


if __name__ == "__main__":
    os.sync()  # what installing left to write would take the second core
    inverse_dynamics()
    start_up()
    Path("bench.json").write_text(
        json.dumps({"pinocchio": pin.__version__, "dalembert": da.__version__, "rows": rows}, indent=1) + "\n"
    )
    missed = [row["name"] for row in rows if row["met"] is False]
    print(f"written to bench.json; {'all bars met' if not missed else 'missed: ' + '; '.join(missed)}")
    sys.exit(bool(missed))
