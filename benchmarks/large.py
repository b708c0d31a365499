"""Large, coupled and flying robots beside Pinocchio: the first call, single calls, batches, growth with the number of joints."""

import os
import subprocess
import sys
import tempfile
import warnings

import numpy as np
import pinocchio as pin
from corpus import robots_folder
from growth import exponent, growth
from reporting import heading, report
from timing import best, best_pair

import dalembert as da
from dalembert.native.machine import host
from dalembert.studies.bench import pinocchio_model

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
        report(f"{label}, first call", cold, "s", at_most=first[1].get(quantity))
        report(f"{label}, first call from the disk cache", warm * 1e3, "ms", at_most=50)
        result = getattr(arm, quantity)(*x)
        result = (result[0] if isinstance(result, tuple) else result)[0]
        expected = np.array(theirs[quantity]([y[order] for y in one]))
        ours = result[order] if result.ndim == 1 else result[order][:, order]
        report(f"{label}, difference from Pinocchio", np.abs(ours - expected).max() / np.abs(expected).max(), "", at_most=1e-9)
        function = getattr(arm, quantity)
        pinocchio, single = best_pair(lambda q=quantity, s=one: theirs[q](s), lambda f=function, s=one: f(*s), rounds=60)
        batch = best(lambda f=function: f(*x), rounds=25) / states
        report(f"{label}: Pinocchio, one Python call", pinocchio * 1e6, "us")
        report(f"{label}: dalembert, one Python call", single * 1e6, "us")
        report(f"{label}: dalembert, a state in a batch of {states}", batch * 1e6, "us")
        report(f"{label}: times Pinocchio's call in a batch", pinocchio / batch, "x", at_least=times.get(quantity))


def humanoid():
    heading("Talos, a humanoid with 32 joints, one thread")
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
    report("Talos: derivatives of forward dynamics, 256 states, two threads", seconds * 1e6, "us", at_most=bar)
    da.set_threads(None)


def coupled():
    """The Panda with its fingers, one of which mimics the other: beside Pinocchio's call, and all joints free."""
    heading("Panda with fingers, one of which mimics the other")
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
    report("coupled Panda: difference of inverse dynamics from Pinocchio's", error, "N m", at_most=1e-10)
    ours, others = (robot.compile("inverse_dynamics") for robot in (arm, free))
    a, b = best_pair(lambda: ours(*state), lambda: others(*spread))
    report("coupled Panda: inverse dynamics, batch of 1,000", a * 1e6, "ns")
    report("coupled Panda: inverse dynamics, of that with all joints free", a / b, "x", at_most=1.1)
    pinocchio = best(lambda: pin.rnea(model, data, *theirs))
    report("coupled Panda: inverse dynamics, times Pinocchio's call", pinocchio / (a / 1000), "x", at_least=25)
    forward = arm.compile("forward_dynamics")
    report("coupled Panda: forward dynamics, batch of 1,000", best(lambda: forward(*state)) * 1e6, "ns")


def flying():
    """Talos on a free base beside Pinocchio's free flyer."""
    heading("Talos on a free base, 38 degrees of freedom, one thread")
    path = robots_folder() / "talos_data/robots/talos_reduced.urdf"
    da.set_threads(1)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        robot = da.load(path, free_base=True).without_friction()
    model = pin.buildModelFromUrdf(str(path), pin.JointModelFreeFlyer())
    data, rng = model.createData(), np.random.default_rng(0)
    q = robot.random_configuration(rng, 10_000)
    state = q, *rng.uniform(-0.5, 0.5, (2, 10_000, robot.n))
    alone = [x[0].copy() for x in state]
    theirs = robot.to_pinocchio(*alone, names=model)[:3]
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
            expected = robot.from_pinocchio(theirs[0], call(), names=model).qd
            error = np.abs(result - expected).max() / np.abs(expected).max()
            report(f"{label}, difference from Pinocchio", error, "", at_most=1e-9)
        pinocchio, single = best_pair(call, lambda f=function, s=alone[:count]: f(*s), rounds=60)
        report(f"{label}: Pinocchio, one Python call", pinocchio * 1e6, "us")
        report(f"{label}: dalembert, one call, of Pinocchio's", single / pinocchio, "x", at_most=share)
        for size in (256, 1_000, 10_000) if count == 1 or quantity.endswith("dynamics") else (256,):
            some = [x[:size] for x in state[:count]]
            batch = best(lambda f=function, s=some: f(*s), rounds=15) / size
            report(f"{label}: times Pinocchio's call in a batch of {size:,}", pinocchio / batch, "x", at_least=times)
    da.set_threads(None)


def long_chains():
    heading("general serial arms, one thread")
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
    cold, warm = first_call(7, "inverse_dynamics_second_derivatives", 0)
    report("second derivatives of a general 7-joint arm, first call", cold, "s", at_most=4)
    report("second derivatives of a general 7-joint arm, first call from the disk cache", warm * 1e3, "ms", at_most=50)
    da.set_threads(None)
