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
import time
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
from dalembert.studies.bench import pinocchio_model

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
    """The same arm twice (7 joints, hand, fingers closed, no friction) and Pinocchio's work space; one thread from here."""
    model = pin.buildModelFromUrdf(str(robots_folder() / "panda_description/urdf/panda.urdf"))
    fingers = [model.getJointId(f"panda_finger_joint{k}") for k in (1, 2)]
    reduced = pin.buildReducedModel(model, fingers, pin.neutral(model))
    da.set_threads(1)
    return da.robot("panda").without_friction(), reduced, reduced.createData()


def inverse_dynamics():
    print("inverse dynamics, Panda arm, one thread")
    arm, model, data = panda()
    rng = np.random.default_rng(0)
    q, qd, qdd = arm.random_configuration(rng, BATCH), *rng.uniform(-1, 1, (2, BATCH, 7))
    batch = against("inverse dynamics", arm.inverse_dynamics, lambda *x: pin.rnea(model, data, *x), (q, qd, qdd), 30, 1.0)
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


def forward_dynamics():
    print("forward dynamics and mass matrix, Panda arm, one thread")
    arm, model, data = panda()
    rng = np.random.default_rng(1)
    q, qd, tau = arm.random_configuration(rng, BATCH), *rng.uniform(-1, 1, (2, BATCH, 7))
    against("forward dynamics", arm.forward_dynamics, lambda *x: pin.aba(model, data, *x), (q, qd, tau), 25, 1.0)

    def full_crba(x):
        return pin.crba(model, data, x)  # the upper triangle; mirroring it in Python would cost more

    against("mass matrix", arm.mass_matrix, full_crba, (q,), 15, 1.5, np.triu)
    for name in ("panda", "xarm7", "puma560", "ur5", "stanford"):  # is the default the right one?
        other = da.robot(name).without_friction()
        state = other.random_configuration(1, BATCH), *rng.uniform(-1, 1, (2, BATCH, other.n))
        kernels = [other.compile("forward_dynamics", method) for method in ("walker_orin_3", "articulated_body")]
        times = best_pair(*(lambda kernel=kernel, state=state: kernel(*state) for kernel in kernels))
        report(f"forward dynamics of {name}, walker_orin_3 to the default", times[0] / times[1], "x")
    da.set_threads(None)


# where Pinocchio has our m, mx, my, mz, Ixx, Ixy, Ixz, Iyy, Iyz, Izz among its Ixx, Ixy, Iyy, Ixz, Iyz, Izz
PARAMETER_ORDER = [0, 1, 2, 3, 4, 5, 7, 6, 8, 9]


def regressor():
    print("regressor, Panda arm, one thread")
    arm, model, data = panda()
    rng = np.random.default_rng(2)
    arrays = arm.random_configuration(rng, 1000), *rng.uniform(-1, 1, (2, 1000, 7))

    def theirs(*state):
        return pin.computeJointTorqueRegressor(model, data, *state)

    def ordered(Y):
        """Pinocchio's columns in our order; ours stay."""
        return Y if Y.ndim > 2 else Y.reshape(7, 7, 10)[..., PARAMETER_ORDER].reshape(7, 70)

    against("regressor", arm.regressor, theirs, arrays, 5, 1.0, ordered)
    da.set_threads(None)


def against(name, ours, theirs, arrays, bar, single_bar, part=lambda x: x, order=slice(None)):
    """A function beside Pinocchio's: one call each in turn, and a state of a batch, whose seconds it returns.

    `order` turns their rows into ours.
    """
    one = [x[0].copy() for x in arrays]
    out = ours(*arrays)
    expected = np.array([np.array(part(theirs(*(x[i] for x in arrays))))[order] for i in range(100)])
    error = np.abs(part(out[:100]) - expected).max() / np.abs(expected).max()
    report(f"{name}: largest relative difference from Pinocchio", error, "", 1e-11, "less")
    pinocchio, single = best_pair(lambda: theirs(*one), lambda: ours(*one))
    batch = best(lambda: ours(*arrays, out=out)) / len(arrays[0])
    report(f"{name}: Pinocchio, one Python call", pinocchio * 1e9, "ns")
    report(f"{name}: dalembert, a state in a batch of {len(arrays[0])}", batch * 1e9, "ns")
    report(f"{name}: times faster in a batch", pinocchio / batch, "x", bar, "more")
    if single_bar is not None:
        report(f"{name}: dalembert, one Python call", single * 1e9, "ns")
        report(f"{name}: one call, relative to Pinocchio's", single / pinocchio, "x", single_bar, "less")
    return batch


def kinematics():
    print("kinematics and task space, Panda arm, one thread")
    arm, model, data = panda()
    last = model.njoints - 1
    rng = np.random.default_rng(2)
    q, qd = arm.random_configuration(rng, BATCH), rng.uniform(-1, 1, (BATCH, 7))
    hand = model.getFrameId("panda_hand")

    def joint(x):
        return pin.computeJointJacobian(model, data, x, last)

    def frame(x):
        return pin.computeFrameJacobian(model, data, x, hand, pin.LOCAL_WORLD_ALIGNED)

    def rate(x, v):
        pin.computeJointJacobiansTimeVariation(model, data, x, v)
        return pin.getFrameJacobianTimeVariation(model, data, hand, pin.LOCAL)

    def at_hand(x, frame="world_aligned", **options):
        return arm.jacobian(x, "panda_hand", frame, **options)

    def rate_at_hand(x, v, **options):
        return arm.jacobian_rate(x, v, "panda_hand", **options)

    against("Jacobian of the last link", arm.jacobian, joint, (q,), 10, 1.0, order=[3, 4, 5, 0, 1, 2])
    against("Jacobian of the hand, world axes", at_hand, frame, (q,), 10, 1.0, order=[3, 4, 5, 0, 1, 2])
    against("rate of the hand's Jacobian", rate_at_hand, rate, (q, qd), 10, 1.0, order=[3, 4, 5, 0, 1, 2])
    out = arm.task_inertia(q, "panda_hand")
    report(
        "task inertia of the hand, a state in a batch", best(lambda: arm.task_inertia(q, "panda_hand", out=out)) / BATCH * 1e9, "ns"
    )
    da.set_threads(None)


def structure():
    print("terms and derivatives, Panda arm, one thread")
    arm, model, data = panda()
    rng = np.random.default_rng(3)
    q, qd, x = arm.random_configuration(rng, BATCH), *rng.uniform(-1, 1, (2, BATCH, 7))
    against("Coriolis matrix", arm.coriolis_matrix, lambda *s: pin.computeCoriolisMatrix(model, data, *s), (q, qd), 8, None)

    def inverse(*state):
        pin.computeRNEADerivatives(model, data, *state)
        return data.dtau_dq

    def forward(*state):
        pin.computeABADerivatives(model, data, *state)
        return data.ddq_dq

    three = tuple(np.empty((BATCH, 7, 7)) for _ in range(3))

    def first(function):
        """The first of three matrices, all of them computed; in a batch into arrays that are there already."""
        return lambda *s, out=None: function(*s, out=None if out is None else three).dq

    against("derivatives of inverse dynamics", first(arm.inverse_dynamics_derivatives), inverse, (q, qd, x), 12, None)
    against("derivatives of forward dynamics", first(arm.forward_dynamics_derivatives), forward, (q, qd, x), 8, None)
    da.set_threads(None)


def long_chains():
    print("forward dynamics of general serial arms, one thread")
    da.set_threads(1)
    for n in (10, 20, 50):
        arm = da.random_robot(n, "R" * n)
        model, rng = pinocchio_model(arm), np.random.default_rng(n)
        data = model.createData()
        arrays = rng.uniform(-1, 1, (3, 2000, n))
        start = time.perf_counter()
        kernel = arm.compile("forward_dynamics")
        report(f"{n} links: trace and compile {kernel.size} nodes ({kernel.backend})", time.perf_counter() - start, "s", 15, "less")
        against(f"{n} links", arm.forward_dynamics, lambda *x, m=model, d=data: pin.aba(m, d, *x), tuple(arrays), 10, None)
    da.set_threads(None)


def simulation():
    print("simulation: 10 s at 1 kHz by RK4, no friction")
    puma = da.robot("puma560").without_friction()
    q0 = np.array([0.0, -0.5, 0.5, 0.1, 0.2, 0.3])
    run = lambda: puma.simulate(q0, duration=10.0)  # noqa: E731
    run()
    report("PUMA, one rollout", best(run, rounds=5, least=0) * 1e3, "ms", 100, "less")
    starts = q0 + np.random.default_rng(0).uniform(-0.1, 0.1, (1000, 6))
    many = lambda: puma.simulate(starts, duration=1.0, every=10)  # noqa: E731
    report("PUMA, 1,000 rollouts of 1 s, all cores", best(many, rounds=3, least=0), "s")
    arm, model, data = panda()
    q0 = arm.neutral()
    ours = lambda: arm.simulate(q0, duration=1.0)  # noqa: E731
    theirs = lambda: runge_kutta(model, data, q0, 1000, 1e-3)  # noqa: E731
    apart = np.abs(ours().q[-1] - theirs()).max()
    a, b = best_pair(ours, theirs, rounds=5, least=0)
    report("Panda, 1 s: the same loop in Python around Pinocchio, relative", b / a, "x")
    report("its last position differs by", apart, "rad", 1e-6, "less")
    da.set_threads(None)


def runge_kutta(model, data, q, steps, h):
    """What a user of Pinocchio writes."""
    qd, tau = np.zeros_like(q), np.zeros_like(q)
    for _ in range(steps):
        a1 = pin.aba(model, data, q, qd, tau).copy()
        v2 = qd + h / 2 * a1
        a2 = pin.aba(model, data, q + h / 2 * qd, v2, tau).copy()
        v3 = qd + h / 2 * a2
        a3 = pin.aba(model, data, q + h / 2 * v2, v3, tau).copy()
        v4 = qd + h * a3
        a4 = pin.aba(model, data, q + h * v3, v4, tau)
        q, qd = q + h / 6 * (qd + 2 * v2 + 2 * v3 + v4), qd + h / 6 * (a1 + 2 * a2 + 2 * a3 + a4)
    return q


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

COMMAND = """
import time; a = time.perf_counter()
import contextlib, os
from dalembert.cli import main
with open(os.devnull, "w") as nowhere, contextlib.redirect_stdout(nowhere):
    main(["robots"])
print(time.perf_counter() - a)
"""


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
    report("dalembert robots, the command", median(COMMAND), "s", 0.5, "less")
    report("trace and compile, llvmlite loaded", median(FIRST_CALL, "loaded", cold=True), "s", 0.5, "less")
    report("from the disk cache, llvmlite loaded", median(FIRST_CALL, "loaded") * 1e3, "ms", 20, "less")
    report("from the disk cache, loading llvmlite too", median(FIRST_CALL, "no") * 1e3, "ms")


def what_must_not_grow():
    """Times that a square, or work for states that need none, would show at once."""
    print("large files, and states that are no numbers")
    links = "".join(
        f'<link name="l{i}"/><joint name="j{i}" type="revolute"><parent link="b"/><child link="l{i}"/></joint>'
        for i in range(20_000)
    )
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "star.urdf"
        path.write_text(f'<robot name="star"><link name="b"/>{links}</robot>')
        start = time.perf_counter()
        da.load(path)
    report("a URDF file of 20,000 joints", time.perf_counter() - start, "s", 30, "less")
    arm = da.robot("panda")
    q = arm.random_configuration(0, 2 * BATCH)
    dirty = q.copy()
    dirty[5, 3] = np.nan
    clean, nan = best_pair(lambda: arm.forward_dynamics(q, q, q), lambda: arm.forward_dynamics(dirty, q, q), rounds=10, least=0)
    report(f"forward dynamics of {2 * BATCH} states, one of them NaN, relative", nan / clean, "x", 10, "less")


if __name__ == "__main__":
    os.sync()  # what installing left to write would take the second core
    inverse_dynamics()
    forward_dynamics()
    structure()
    regressor()
    kinematics()
    long_chains()
    simulation()
    what_must_not_grow()
    start_up()
    Path("bench.json").write_text(
        json.dumps({"pinocchio": pin.__version__, "dalembert": da.__version__, "rows": rows}, indent=1) + "\n"
    )
    missed = [row["name"] for row in rows if row["met"] is False]
    print(f"written to bench.json; {'all bars met' if not missed else 'missed: ' + '; '.join(missed)}")
    sys.exit(bool(missed))
