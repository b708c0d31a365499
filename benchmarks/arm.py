"""The Panda arm beside Pinocchio's calls and CasADi's C: single calls, batches, float32, threads."""

import casadi_peer
import numpy as np
import pinocchio as pin
from corpus import robots_folder
from machine_peak import peak_flops
from reporting import heading, report
from timing import best, best_pair

import dalembert as da

BATCH = 10_000
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


def panda():
    """The same arm twice (7 joints, hand, fingers closed, no friction) and Pinocchio's work space; one thread from here."""
    model = pin.buildModelFromUrdf(str(robots_folder() / "panda_description/urdf/panda.urdf"))
    fingers = [model.getJointId(f"panda_finger_joint{k}") for k in (1, 2)]
    reduced = pin.buildReducedModel(model, fingers, pin.neutral(model))
    da.set_threads(1)
    return da.robot("panda").without_friction(), reduced, reduced.createData()


def the_arm():
    """Single calls and batches of the Panda arm, beside Pinocchio's call, CasADi's C, and the time of the multiplications alone."""
    heading("Panda arm, one thread")
    print("  Pinocchio and one call in ns; states of a batch in ns")
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
            report(f"{label}: largest relative difference from Pinocchio", row["error"], "", at_most=1e-11)
        if name in MOST_ONE:
            report(f"{label}: one call, of Pinocchio's", row["one"] / row["pinocchio"], "x", at_most=MOST_ONE[name])
        if name in IN_THE_TABLE:
            report(f"{label}: one call", row["one"], "ns", at_most=1600)
        for n in (1000, 10_000) if name in TIMES else ():
            report(f"{label}: times Pinocchio's call, batch of {n:,}", row["pinocchio"] / batch[n], "x", at_least=TIMES[name])
        if name in OF_THE_BOUND:
            report(f"{label}: of the bound", row["bound"] / min(row["batch"]) * 100, "%", at_least=OF_THE_BOUND[name])
        if name in (*OF_THE_BOUND, "mass_matrix"):
            report(f"{label}: the worst batch size to the best", max(row["batch"]) / min(row["batch"]), "x", at_most=1.5)
        if name in casadi:
            report(f"{label}: times CasADi's C, batch of 1,000", row["casadi"] / batch[1000], "x")
    floats(arm, table, q, qd, x)
    threads(arm, rng)


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
    heading("float32, batch of 1,000")
    for name in (*OF_THE_BOUND, "mass_matrix"):
        some = [x[:1000].astype(np.float32) for x in (arrays[:1] if name == "mass_matrix" else arrays)]
        function = getattr(arm, name)
        result, exact = function(*some), function(*(x.astype(float) for x in some))
        result, exact = (x[0] if isinstance(x, tuple) else x for x in (result, exact))
        error = np.abs(result - exact).reshape(1000, -1).max(axis=1) / np.abs(exact).reshape(1000, -1).max(axis=1)
        ns = best(lambda function=function, some=some: function(*some)) * 1e6
        report(f"{name.replace('_', ' ')}: a state", ns, "ns")
        report(f"{name.replace('_', ' ')}: times as fast as in doubles", table[name]["batch"][2] / ns, "x")
        label = f"{name.replace('_', ' ')}: worst relative error of 1,000 states (median {np.median(error):.1e})"
        report(label, error.max(), "", at_most=FLOAT_ERROR[name])


def threads(arm, rng):
    heading("threads")
    for n, bar in ((10_000, None), (400_000, 1.7), (1_000_000, None)):
        q, qd, qdd = rng.uniform(-1, 1, (3, n, 7))
        out = np.empty_like(q)

        def run(count, given=(q, qd, qdd), out=out):
            da.set_threads(count)
            arm.inverse_dynamics(*given, out=out)

        single, double = best_pair(lambda: run(1), lambda: run(2), rounds=25, least=0)
        report(f"two threads relative to one, batch of {n:,}", single / double, "x", at_least=bar)
        report(f"inverse dynamics of {n:,} states, one thread", single * 1e3, "ms")
    da.set_threads(None)


def defaults():
    heading("forward dynamics: is the default the right one?")
    da.set_threads(1)
    rng = np.random.default_rng(0)
    for name in ("panda", "xarm7", "puma560", "ur5", "stanford"):
        other = da.robot(name).without_friction()
        state = other.random_configuration(1, BATCH), *rng.uniform(-1, 1, (2, BATCH, other.n))
        kernels = [other.compile("forward_dynamics", method) for method in ("walker_orin_3", "articulated_body")]
        times = best_pair(*(lambda kernel=kernel, state=state: kernel(*state) for kernel in kernels), rounds=100)
        report(f"{name}, walker_orin_3 to the default", times[0] / times[1], "x")
    da.set_threads(None)
