"""Speed beside Pinocchio, in one process and one run: `make bench`.

Prints a table, writes bench.json, and draws cost against the number of joints for the docs. Machines are noisy, so what counts are
the ratios; every time is the best of many.
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
import warnings
from pathlib import Path

os.environ["DALEMBERT_CACHE"] = tempfile.mkdtemp(prefix="dalembert-bench-")
atexit.register(shutil.rmtree, os.environ["DALEMBERT_CACHE"], ignore_errors=True)
sys.path.insert(0, str(Path(__file__).parent.parent / "tools"))

import casadi_peer
import numpy as np
import pinocchio as pin
from bounds import figures as bound_figures
from corpus import robots_folder
from effort import figures as effort_figures
from fastest import figures as fastest_figures
from feedback import figures as feedback_figures
from growth import exponent, growth, picture
from identification import figures as identifying
from inverse_kinematics import figures as reaching
from loops import figures as closed_figures
from machine_peak import peak_flops
from sticking import figures
from sweeps import figures as sweeping
from timing import best, best_pair

import dalembert as da
from dalembert.native.machine import host
from dalembert.studies.bench import pinocchio_model

BATCH = 10_000
PICTURE = Path(__file__).parents[1] / "docs/images/growth.svg"
rows: list[dict] = []


def report(name, value, unit, bar=None, better=None):
    """One line: the figure, and whether it reaches its bar."""
    met = None if bar is None else value >= bar if better == "more" else value <= bar
    met = None if met is None else bool(met)
    rows.append({"name": name, "value": float(value), "unit": unit, "bar": bar, "met": met})
    wanted = "" if bar is None else f"{'>=' if better == 'more' else '<='} {bar:g}"
    print(f"  {name:58} {value:10.4g} {unit:9} {wanted:10} {'' if met is None else 'ok' if met else 'MISSED'}", flush=True)


def machine():
    """What it is, in a line."""
    here = host()
    return f"{here.cpu}, vectors of {here.lanes} doubles, {os.cpu_count()} cores"


def panda():
    """The same arm twice (7 joints, hand, fingers closed, no friction) and Pinocchio's work space; one thread from here."""
    model = pin.buildModelFromUrdf(str(robots_folder() / "panda_description/urdf/panda.urdf"))
    fingers = [model.getJointId(f"panda_finger_joint{k}") for k in (1, 2)]
    reduced = pin.buildReducedModel(model, fingers, pin.neutral(model))
    da.set_threads(1)
    return da.robot("panda").without_friction(), reduced, reduced.createData()


def the_arm():
    """Single calls and batches of the Panda arm, beside Pinocchio's call, CasADi's C, and the time of the multiplications alone."""
    print("Panda arm, one thread: Pinocchio and one call in ns; states of a batch in ns")
    arm, model, data = panda()
    rng = np.random.default_rng(0)
    q, qd, x = arm.random_configuration(rng, SIZES[-1]), *rng.uniform(-1, 1, (2, SIZES[-1], 7))
    rate = peak_flops() / 2
    report("fused multiply-adds of this core", rate / 1e9, "per ns")
    casadi = casadi_peer.peer(arm) or {}
    heads = ("", "Pinocchio", "one call", *(f"{n:,}" for n in SIZES), "CasADi C", "bound")
    print(f"  {heads[0]:30} " + " ".join(f"{h:>9}" for h in heads[1:]))
    table = {}
    for name, (arrays, theirs, *more) in cases(model, data, q, qd, x).items():
        table[name] = row = arm_row(arm, name, arrays, theirs, *more)
        row["casadi"] = casadi.get(name, np.nan)
        count = arm.operation_count(name, **(more[1] if len(more) > 1 else {}))
        row["bound"] = (count.mul + SINCOS * count.sincos) / rate * 1e9
        cells = [row["pinocchio"], row["one"], *row["batch"], row["casadi"], row["bound"]]
        print(f"  {name.replace('_', ' '):30} " + " ".join("        -" if np.isnan(x) else f"{x:9.1f}" for x in cells), flush=True)
    for name, row in table.items():
        label, batch = name.replace("_", " "), dict(zip(SIZES, row["batch"], strict=True))
        if name in MOST_ONE or name in TIMES:
            report(f"{label}: largest relative difference from Pinocchio", row["error"], "", 1e-11, "less")
        if name in MOST_ONE:
            report(f"{label}: one call, of Pinocchio's", row["one"] / row["pinocchio"], "x", MOST_ONE[name], "less")
        if name in IN_THE_TABLE:
            report(f"{label}: one call", row["one"], "ns", 1600, "less")
        for n in (1000, 10_000) if name in TIMES else ():
            report(f"{label}: times Pinocchio's call, batch of {n:,}", row["pinocchio"] / batch[n], "x", TIMES[name], "more")
        if name in OF_THE_BOUND:
            report(f"{label}: of the bound", row["bound"] / min(row["batch"]) * 100, "%", OF_THE_BOUND[name], "more")
        if name in (*OF_THE_BOUND, "mass_matrix"):
            report(f"{label}: the worst batch size to the best", max(row["batch"]) / min(row["batch"]), "x", 1.5, "less")
        if name in casadi:
            report(f"{label}: times CasADi's C, batch of 1,000", row["casadi"] / batch[1000], "x")
    floats(arm, table, q, qd, x)
    threads(arm, rng)


SIZES = (100, 256, 1000, 10_000, 100_000)
SINCOS = 22  # multiplications of a sine and a cosine
MOST_ONE = {
    "inverse_dynamics": 0.45, "forward_dynamics": 0.4, "mass_matrix": 0.4, "inverse_dynamics_derivatives": 0.4,
    "forward_dynamics_derivatives": 0.4, "coriolis_matrix": 0.4, "regressor": 0.4, "jacobian": 1.0,
}  # fmt: skip
TIMES = {
    "inverse_dynamics": 30, "forward_dynamics": 30, "mass_matrix": 30, "inverse_dynamics_derivatives": 25,
    "forward_dynamics_derivatives": 25, "coriolis_matrix": 8, "regressor": 5, "jacobian": 10,
}  # fmt: skip
OF_THE_BOUND = {
    "inverse_dynamics": 65, "forward_dynamics": 65, "inverse_dynamics_derivatives": 75, "forward_dynamics_derivatives": 75,
}  # fmt: skip
# the last ones divide by small inertias; bits, and so these figures, are the same on every machine
FLOAT_ERROR = dict.fromkeys(("mass_matrix", *OF_THE_BOUND), 1.7e-6) | {"forward_dynamics_derivatives": 1.2e-5}
IN_THE_TABLE = (*list(MOST_ONE)[:-1], "task_inertia")
# where Pinocchio has our m, mx, my, mz, Ixx, Ixy, Ixz, Iyy, Iyz, Izz among its Ixx, Ixy, Iyy, Ixz, Iyz, Izz
PARAMETER_ORDER = [0, 1, 2, 3, 4, 5, 7, 6, 8, 9]


def cases(model, data, q, qd, x):
    """What is compared: arrays, Pinocchio's function, how its result becomes ours, and options of ours."""
    hand = model.getFrameId("panda_hand")

    def inverse(*state):
        pin.computeRNEADerivatives(model, data, *state)
        return data.dtau_dq

    def forward(*state):
        pin.computeABADerivatives(model, data, *state)
        return data.ddq_dq

    def jacobian(x):
        return pin.computeFrameJacobian(model, data, x, hand, pin.LOCAL_WORLD_ALIGNED)

    def columns(Y):
        return Y.reshape(7, 7, 10)[..., PARAMETER_ORDER].reshape(7, 70)

    at_hand = {"link": "panda_hand", "frame": "world_aligned"}
    return {
        "inverse_dynamics": ((q, qd, x), lambda *s: pin.rnea(model, data, *s)),
        "forward_dynamics": ((q, qd, x), lambda *s: pin.aba(model, data, *s)),
        # its upper triangle; mirroring it in Python would cost more
        "mass_matrix": ((q,), lambda s: pin.crba(model, data, s), lambda M: np.triu(M) + np.triu(M, 1).T),
        "inverse_dynamics_derivatives": ((q, qd, x), inverse),
        "forward_dynamics_derivatives": ((q, qd, x), forward),
        "coriolis_matrix": ((q, qd), lambda *s: pin.computeCoriolisMatrix(model, data, *s)),
        "regressor": ((q, qd, x), lambda *s: pin.computeJointTorqueRegressor(model, data, *s), columns),
        "jacobian": ((q,), jacobian, lambda J: J[[3, 4, 5, 0, 1, 2]], at_hand),
        "task_inertia": ((q,), None, None, {"link": "panda_hand"}),
    }


def arm_row(arm, name, arrays, theirs, turned=None, options=None):
    """The times of one quantity, and how far it is from Pinocchio's."""
    one, error, pinocchio = [x[0].copy() for x in arrays], 0.0, np.nan
    getattr(arm, name)(*one, **(options or {}))
    function = getattr(arm, name)  # as users read it from the second call on

    def with_options(*given):
        return function(*given, **options)

    ours = with_options if options else function
    if theirs:
        result = ours(*(x[:100] for x in arrays))
        expected = np.array([(turned or np.array)(np.array(theirs(*(x[i] for x in arrays)))) for i in range(100)])
        error = np.abs((result[0] if isinstance(result, tuple) else result) - expected).max() / np.abs(expected).max()
        pinocchio, single = best_pair(lambda: theirs(*one), lambda: ours(*one))
    else:
        single = best(lambda: ours(*one))
    batch = []
    for n in SIZES:
        some = [x[:n] for x in arrays]
        ours(*some)
        batch.append(best(lambda some=some: ours(*some), rounds=200 if n < 10_000 else 25) / n * 1e9)
    return {"pinocchio": pinocchio * 1e9, "one": single * 1e9, "batch": batch, "error": error}


def floats(arm, table, *arrays):
    print("float32, batch of 1,000")
    for name in (*OF_THE_BOUND, "mass_matrix"):
        some = [x[:1000].astype(np.float32) for x in (arrays[:1] if name == "mass_matrix" else arrays)]
        function = getattr(arm, name)
        result, exact = function(*some), function(*(x.astype(float) for x in some))
        result, exact = (x[0] if isinstance(x, tuple) else x for x in (result, exact))
        error = np.abs(result - exact).reshape(1000, -1).max(axis=1) / np.abs(exact).reshape(1000, -1).max(axis=1)
        ns = best(lambda function=function, some=some: function(*some)) * 1e6
        report(f"{name.replace('_', ' ')}: a state", ns, "ns")
        report(f"{name.replace('_', ' ')}: times as fast as in doubles", table[name]["batch"][2] / ns, "x")
        label = f"{name.replace('_', ' ')}: median and worst relative error are {np.median(error):.1e} and"
        report(label, error.max(), "", FLOAT_ERROR[name], "less")


def threads(arm, rng):
    print("threads")
    for n, bar in ((10_000, None), (400_000, 1.7)):
        q, qd, qdd = rng.uniform(-1, 1, (3, n, 7))
        out = np.empty_like(q)

        def run(count, given=(q, qd, qdd), out=out):
            da.set_threads(count)
            arm.inverse_dynamics(*given, out=out)

        single, double = best_pair(lambda: run(1), lambda: run(2), rounds=25, least=0)
        report(f"two threads relative to one, batch of {n:,}", single / double, "x", bar, "more" if bar else None)
    da.set_threads(None)


def defaults():
    print("forward dynamics: is the default the right one?")
    da.set_threads(1)
    rng = np.random.default_rng(0)
    for name in ("panda", "xarm7", "puma560", "ur5", "stanford"):
        other = da.robot(name).without_friction()
        state = other.random_configuration(1, BATCH), *rng.uniform(-1, 1, (2, BATCH, other.n))
        kernels = [other.compile("forward_dynamics", method) for method in ("walker_orin_3", "articulated_body")]
        times = best_pair(*(lambda kernel=kernel, state=state: kernel(*state) for kernel in kernels), rounds=100)
        report(f"{name}, walker_orin_3 to the default", times[0] / times[1], "x")
    da.set_threads(None)


FIRST = """
import json, sys, time
import numpy as np, dalembert as da
from dalembert.native import machine
machine.host()
what, quantity, states = sys.argv[1], sys.argv[2], int(sys.argv[3])
arm = da.load(what) if what.endswith(".urdf") else da.random_robot(int(what), "R" * int(what))
arm = arm.without_friction()
da.set_threads(1)
shape = (states, arm.n) if states else (arm.n,)
x = np.random.default_rng(0).uniform(-0.5, 0.5, (3, *shape))
start = time.perf_counter()
getattr(arm, quantity)(*x)
print(json.dumps(time.perf_counter() - start))
"""


def first_call(what, quantity, states):
    """Seconds of a first call in a process of its own: with an empty cache, and then with what that left."""
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, "-c", FIRST, str(what), quantity, str(states)]
        environment = os.environ | {"DALEMBERT_CACHE": folder, "PYTHONWARNINGS": "ignore"}
        runs = [subprocess.run(command, env=environment, capture_output=True, text=True, check=True).stdout for _ in range(3)]
    return float(runs[0]), min(map(float, runs[1:]))


def beside(name, arm, model, quantities, states, first, times):
    """A large robot beside Pinocchio: the first call, from the disk cache, and a state of a batch."""
    data, rng = model.createData(), np.random.default_rng(0)
    x = rng.uniform(-0.5, 0.5, (3, states, arm.n))
    names = list(arm.joint_names)
    order = [names.index(name) for name in list(model.names)[1:]] if set(names) == set(list(model.names)[1:]) else slice(None)
    theirs = {
        "inverse_dynamics": lambda s: pin.rnea(model, data, *s), "forward_dynamics": lambda s: pin.aba(model, data, *s),
        "inverse_dynamics_derivatives": lambda s: (pin.computeRNEADerivatives(model, data, *s), data.dtau_dq)[1],
        "forward_dynamics_derivatives": lambda s: (pin.computeABADerivatives(model, data, *s), data.ddq_dq)[1],
    }  # fmt: skip
    for quantity in quantities:
        label, one = f"{name}: {quantity.replace('_', ' ')}", [y[0].copy() for y in x]
        cold, warm = first_call(first[0], quantity, states)
        report(f"{label}, first call", cold, "s", first[1].get(quantity), "less")
        report(f"{label}, first call from the disk cache", warm * 1e3, "ms", 50, "less")
        result = getattr(arm, quantity)(*x)
        result = (result[0] if isinstance(result, tuple) else result)[0]
        expected = np.array(theirs[quantity]([y[order] for y in one]))
        ours = result[order] if result.ndim == 1 else result[order][:, order]
        report(f"{label}, difference from Pinocchio", np.abs(ours - expected).max() / np.abs(expected).max(), "", 1e-9, "less")
        function = getattr(arm, quantity)
        pinocchio, single = best_pair(lambda q=quantity, s=one: theirs[q](s), lambda f=function, s=one: f(*s), rounds=60)
        batch = best(lambda f=function: f(*x), rounds=25) / states
        report(f"{label}: Pinocchio, one Python call", pinocchio * 1e6, "us")
        report(f"{label}: dalembert, one Python call", single * 1e6, "us")
        report(f"{label}: dalembert, a state in a batch of {states}", batch * 1e6, "us")
        report(f"{label}: times Pinocchio's call in a batch", pinocchio / batch, "x", times.get(quantity), "more")


def humanoid():
    print("Talos, a humanoid with 32 joints, one thread")
    path = robots_folder() / "talos_data/robots/talos_reduced.urdf"
    da.set_threads(1)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        arm = da.load(path).without_friction()
    limits = {"inverse_dynamics_derivatives": 2.5, "forward_dynamics_derivatives": 6}
    beside(
        "Talos", arm, pin.buildModelFromUrdf(str(path)),
        ("inverse_dynamics", "forward_dynamics", "inverse_dynamics_derivatives", "forward_dynamics_derivatives"),
        256, (path, limits), {"inverse_dynamics_derivatives": 10, "forward_dynamics_derivatives": 8},
    )  # fmt: skip
    x = np.random.default_rng(0).uniform(-0.5, 0.5, (3, 256, arm.n))
    da.set_threads(2)
    arm.forward_dynamics_derivatives(*x)
    seconds = best(lambda: arm.forward_dynamics_derivatives(*x), rounds=50)
    # 435 us is what a GPU library publishes for 256 states of a humanoid with 30 joints, transfers included
    bar = 435 if host().lanes == 8 else None
    report("Talos: derivatives of forward dynamics, 256 states, two threads", seconds * 1e6, "us", bar, "less")
    da.set_threads(None)


def coupled():
    """The Panda with its fingers, one of which mimics the other: beside Pinocchio's call, and all joints free."""
    print("Panda with fingers, one of which mimics the other")
    path = robots_folder() / "panda_description/urdf/panda.urdf"
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", da.DataWarning)
        arm, free = (da.load(path, mimic=mimic).without_friction() for mimic in (True, False))
    model = pin.buildModelFromUrdf(str(path), mimic=True)
    data, places = model.createData(), [model.joints[model.getJointId(name)].idx_v for name in arm.joint_names]
    state = np.random.default_rng(0).uniform(-1, 1, (3, 1000, arm.n))
    spread = arm.to_uncoupled(state[0]), *(arm.to_uncoupled(x, rates=True) for x in state[1:])
    theirs = [np.ascontiguousarray(x[0][np.argsort(places)]) for x in state]
    error = np.abs(pin.rnea(model, data, *theirs)[places] - arm.inverse_dynamics(*(x[0] for x in state))).max()
    report("coupled Panda: difference of inverse dynamics from Pinocchio's", error, "N m", 1e-10, "less")
    ours, others = (robot.compile("inverse_dynamics") for robot in (arm, free))
    a, b = best_pair(lambda: ours(*state), lambda: others(*spread))
    report("coupled Panda: inverse dynamics, batch of 1,000", a * 1e6, "ns")
    report("coupled Panda: inverse dynamics, of that with all joints free", a / b, "x", 1.1, "less")
    report(
        "coupled Panda: inverse dynamics, times Pinocchio's call",
        best(lambda: pin.rnea(model, data, *theirs)) / (a / 1000),
        "x",
        25,
        "more",
    )
    forward = arm.compile("forward_dynamics")
    report("coupled Panda: forward dynamics, batch of 1,000", best(lambda: forward(*state)) * 1e6, "ns")


def flying():
    """Talos on a free base beside Pinocchio's free flyer."""
    print("Talos on a free base, 38 degrees of freedom, one thread")
    path = robots_folder() / "talos_data/robots/talos_reduced.urdf"
    da.set_threads(1)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        robot = da.load(path, free_base=True).without_friction()
    model = pin.buildModelFromUrdf(str(path), pin.JointModelFreeFlyer())
    data, rng = model.createData(), np.random.default_rng(0)
    order = [*range(6), *(robot.joint_names.index(name) for name in list(model.names)[2:])]
    q = robot.random_configuration(rng, 10_000)
    state = q, *rng.uniform(-0.5, 0.5, (2, 10_000, robot.n))
    alone = [x[0].copy() for x in state]
    given = robot.to_pinocchio(*alone)
    places = [*range(7), *(k + 1 for k in order[6:])]
    theirs = [np.ascontiguousarray(x) for x in (given.q[places], given.qd[order], given.qdd[order])]
    calls = {
        "inverse_dynamics": (lambda: pin.rnea(model, data, *theirs), 25, 0.5),
        "forward_dynamics": (lambda: pin.aba(model, data, *theirs), 25, 0.5),
        "mass_matrix": (lambda: pin.crba(model, data, theirs[0]), None, None),
        "inverse_dynamics_derivatives": (lambda: pin.computeRNEADerivatives(model, data, *theirs), None, None),
    }
    for quantity, (call, times, share) in calls.items():
        function, count = getattr(robot, quantity), 1 if quantity == "mass_matrix" else 3
        result, label = function(*alone[:count]), f"free Talos: {quantity.replace('_', ' ')}"
        if quantity in ("inverse_dynamics", "forward_dynamics"):
            expected = robot.from_pinocchio(theirs[0], call()).qd
            error = np.abs(result[order] - expected).max() / np.abs(expected).max()
            report(f"{label}, difference from Pinocchio", error, "", 1e-9, "less")
        pinocchio, single = best_pair(call, lambda f=function, s=alone[:count]: f(*s), rounds=60)
        report(f"{label}: Pinocchio, one Python call", pinocchio * 1e6, "us")
        report(f"{label}: dalembert, one call, of Pinocchio's", single / pinocchio, "x", share, "less")
        for size in (256, 1_000, 10_000) if count == 1 or quantity.endswith("dynamics") else (256,):
            some = [x[:size] for x in state[:count]]
            batch = best(lambda f=function, s=some: f(*s), rounds=15) / size
            report(f"{label}: times Pinocchio's call in a batch of {size:,}", pinocchio / batch, "x", times, "more")
    da.set_threads(None)


def long_chains():
    print("general serial arms, one thread")
    da.set_threads(1)
    limits = {100: (1.5, 3.5), 200: (2.5, 8)}
    for n, pair in limits.items():
        arm = da.random_robot(n, "R" * n)
        names = ("inverse_dynamics", "forward_dynamics")
        first = n, dict(zip(names, pair, strict=True))
        beside(f"{n} joints", arm, pinocchio_model(arm), names, 256, first, dict.fromkeys(names, 15))
    arm = da.random_robot(24, "R" * 24)
    names = ("inverse_dynamics_derivatives", "forward_dynamics_derivatives")
    beside("24 joints", arm, pinocchio_model(arm), names, 256, (24, {}), {})
    grown = growth()
    for quantity, lines in grown.items():
        report(f"{quantity.replace('_', ' ')}: power of n, from 20 to {lines[-1][0]} joints", exponent(lines), "")
    PICTURE.write_text(picture(grown))
    print(f"  drawn in {PICTURE}")
    cold, warm = first_call(7, "inverse_dynamics_second_derivatives", 0)
    report("second derivatives of a general 7-joint arm, first call", cold, "s", 4, "less")
    report("the same from the disk cache", warm * 1e3, "ms", 50, "less")
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
    long = lambda: arm.simulate(q0, duration=10.0)  # noqa: E731
    report("Panda: an RK4 step of one robot", best(long, rounds=10, least=0) * 1e5, "ns", 1600, "less")
    report("Panda, 1 s: the same loop in Python around Pinocchio, relative", b / a, "x")
    report("its last position differs by", apart, "rad", 1e-6, "less")
    da.set_threads(None)


def friction():
    """Time stepping beside RK4, and beside MuJoCo where it is installed."""
    print("simulation of joints that stick and stop, steps of 1 ms, one thread")
    for name, value, unit, bar in figures():
        report(name, value, unit, bar, "less")


def closed():
    """Robots with loops beside Pinocchio's constraint dynamics."""
    print("closed loops, one thread")
    for name, value, unit, bar in closed_figures():
        report(name, value, unit, bar, "more")
    da.set_threads(None)


def feedback():
    """Differential dynamic programming beside crocoddyl, where there is an environment with it; gradients of rollouts."""
    print("feedback and gradients of rollouts, one thread")
    for name, value, unit, bar in feedback_figures():
        report(name, value, unit, bar, "less")


def fastest():
    """The fastest motion along a path, beside toppra where it is installed."""
    print("the fastest way along a path, one thread")
    for name, value, unit, bar in fastest_figures():
        report(name, value, unit, bar, "less")
    da.set_threads(None)


def bounds():
    """Proven bounds, and samples that must not exceed them."""
    print("bounds that no state exceeds, all cores")
    for name, value, unit, bar, better in bound_figures():
        report(name, value, unit, bar, better)


def identification():
    """Excitation and identification; the second reads ten million samples from disk."""
    print("from recordings to a robot")
    for name, value, unit, bar in identifying():
        report(name, value, unit, bar, "less")


def inverse_kinematics():
    """Random poses within reach, beside Robotics Toolbox's compiled solver."""
    print("inverse kinematics, one thread")
    for name, value, unit, bar in reaching():
        report(name, value, unit, bar, "less")
    da.set_threads(None)


def least_effort():
    """Motions of least effort beside Ipopt."""
    print("motions of least effort")
    for name, value, unit, bar in effort_figures():
        report(name, value, unit, bar, "less")


def sweeps():
    """All states of a range beside the bare kernel, and on Dask."""
    print("sweeps of the PUMA's inverse dynamics")
    for name, value, unit, bar, better in sweeping():
        report(name, value, unit, bar, better)


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

    report("import dalembert", median(IMPORT), "s", 0.12, "less")
    report("import numpy", median(IMPORT.replace("dalembert", "numpy")), "s")
    report("import dalembert and numpy, a robot, the first call, from the disk cache", median(WHOLE), "s", 0.25, "less")
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
    print(machine())
    os.sync()  # what installing left to write would take the second core
    the_arm()
    defaults()
    humanoid()
    coupled()
    flying()
    long_chains()
    simulation()
    friction()
    closed()
    feedback()
    fastest()
    bounds()
    identification()
    inverse_kinematics()
    least_effort()
    sweeps()
    what_must_not_grow()
    start_up()
    Path("bench.json").write_text(
        json.dumps({"machine": machine(), "pinocchio": pin.__version__, "dalembert": da.__version__, "rows": rows}, indent=1) + "\n"
    )
    missed = [row["name"] for row in rows if row["met"] is False]
    print(f"written to bench.json; {'all bars met' if not missed else 'missed: ' + '; '.join(missed)}")
    sys.exit(bool(missed))
