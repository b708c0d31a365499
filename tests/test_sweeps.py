"""Sweeps: the states that they are made of, what is kept of them, and that nothing depends on who computes which part."""

import dataclasses
import json
import os
import re
import signal
import subprocess
import sys
import textwrap
import time

import numpy as np
import pytest

import dalembert as da
from dalembert.errors import Error
from dalembert.native.sweeps import sweep as native
from dalembert.native.sweeps.drawn import drawn
from dalembert.native.sweeps.reductions import Reductions
from dalembert.native.sweeps.totals import Totals
from dalembert.sweeps.climbing import climb
from dalembert.sweeps.running import Task, crew, cut, on_threads
from dalembert.trace import trace

RATES = {"qd": (-1.0, 1.0), "qdd": (-1.0, 1.0)}
OVER = {"q": (-3.0, 3.0), **RATES}  # of arms without limits
EVERYTHING = {"extremes": {}, "sums": {}, "histogram": {"bins": 32}, "envelope": {"bins": 8}, "limits": {"limits": 5.0}}


@pytest.fixture
def small(monkeypatch):
    """Leaves of few states, so that small sweeps have many."""
    monkeypatch.setattr(native, "LEAF", 1 << 10)


@pytest.fixture(scope="module")
def arm():
    return da.robot("two_link")


def puma():
    return da.robot("puma560")


def same(a, b):
    """Whether totals are equal to the last bit."""
    return a.to_json() == b.to_json()


def added(parts):
    total, *rest = parts
    for part in rest:
        total = total + part
    return total


# --- states from their number


def uniform(count, m=7, kinds="h", seed=0):
    return drawn(kinds * m, np.zeros(m), np.ones(m), [0.0] * m, [0] * m, seed).states(np.arange(count))


@pytest.mark.parametrize("kinds", ["h", "s"])
def test_states_are_uniform_and_independent(kinds):
    u = uniform(1 << 15, kinds=kinds)
    assert u.min() >= 0 and u.max() < 1 and len(np.unique(u[:, 1])) == len(u)
    assert np.abs(u.mean(axis=0) - 0.5).max() < 0.01 and np.abs(u.var(axis=0) - 1 / 12).max() < 0.005
    assert np.abs(np.corrcoef(u.T) - np.eye(7)).max() < 0.03
    counts = np.histogramdd(u[:, :3], bins=4, range=[(0, 1)] * 3)[0]
    assert np.abs(counts * 64 / len(u) - 1).max() < 0.25


def test_a_low_discrepancy_sequence_is_more_even_than_random_states():
    def error(u):  # of the integral of a smooth function, whose value is 1
        return abs(np.prod(1 + (u - 0.5), axis=1).mean() - 1)

    assert error(uniform(4096, 4, "s")) < 0.1 * max(error(uniform(4096, 4, "h", seed)) for seed in range(8))


def test_seeds_give_other_states():
    assert not np.isin(uniform(500, seed=1), uniform(500, seed=2)).any()


def test_shares_at_the_ends():
    low, high = np.array([-1.0, 0.1, 2.0]), np.array([1.0, 0.3, 7.7])
    x = drawn("HHH", low, high, [0.9, 1.0, 0.0], [0] * 3, 3).states(np.arange(20_000))
    ends = ((x == low) | (x == high)).mean(axis=0)
    assert np.abs(ends - [0.9, 1.0, 0.0]).max() < 0.01 and (x >= low).all() and (x <= high).all()
    assert np.abs((x == low).mean(axis=0)[:2] - [0.45, 0.5]).max() < 0.02


def test_a_grid_has_every_point_once():
    x = drawn("ggfg", [0.0, 0.1, 5.0, -1.0], [1.0, 0.3, 5.0, 1.0], [0.0] * 4, [3, 4, 0, 7], 0).states(np.arange(84))
    wanted = np.stack(
        [a.ravel() for a in np.meshgrid(*(np.linspace(*e) for e in ((0, 1, 3), (0.1, 0.3, 4), (5, 5, 1), (-1, 1, 7))))], 1
    )
    assert len(np.unique(x, axis=0)) == 84 and np.allclose(
        np.sort(x.view("f8,f8,f8,f8").ravel()).view(float),
        np.sort(np.ascontiguousarray(wanted).view("f8,f8,f8,f8").ravel()).view(float),
    )
    assert x[:, 1].max() <= 0.3


# --- native reductions against NumPy


def undefined(q):
    return np.array([q[0].sqrt(), q[1] / q[0], q[2] - q[2] + 1, -q[2].sign()], dtype=object)


PROGRAMS = {
    "inverse dynamics": lambda: puma().program("inverse_dynamics"),
    "roots and quotients": lambda: trace(undefined, {"q": (3,)}),
    "in pieces": lambda: da.random_robot(3, "R" * 30).program("inverse_dynamics"),
}
KEPT = [Reductions(), Reductions(False, True), Reductions(True, True, 16, 0, 0, True), Reductions(True, True, 16, 8, 10, True)]


@pytest.mark.parametrize("kept", KEPT)
@pytest.mark.parametrize("name", [*list(PROGRAMS)[:2], pytest.param("in pieces", marks=pytest.mark.slow)])
def test_native_code_has_the_bits_of_numpy(name, kept, small, monkeypatch):
    program, rng = PROGRAMS[name](), np.random.default_rng(0)
    m, r = sum(v.size for v in program.inputs), len(program.results)
    kinds = "".join(rng.permutation(list("hHsSgf" * 20)[:m]))
    kept = kept._replace(by=tuple(rng.integers(0, m, r).tolist())) if kept.slots else kept
    scales = np.array([[8.0], [9.0], [4.0], [4.0], [5.0], [5.0], [-0.3], [0.4]]) * np.ones(r)
    inputs = drawn(kinds, rng.uniform(-1, 0, m), rng.uniform(0, 1, m), [0.5] * m, rng.integers(1, 5, m), 7)
    job = native.Job(program, inputs, kept, scales, 5_003)
    kernel = job.kernel
    whole, _ = job.run(range(job.leaves))
    parts = [job.run([leaf])[0] for leaf in reversed(range(job.leaves))]
    monkeypatch.setattr(native.Job, "kernel", property(lambda self: kernel))
    plain, _ = dataclasses.replace(job, backend="numpy").run(range(job.leaves))
    assert same(whole, plain) and same(whole, added(parts))
    assert whole.states == 5_003 and (whole.histogram.sum(axis=(1, 2)) == (5_003 - whole.nan) * bool(kept.bins)).all()


def test_what_is_kept_is_what_numpy_finds(arm):
    found = arm.sweep(over=OVER, samples=10_001, reduce=EVERYTHING)
    values, states = found.values(np.arange(10_001))["inverse_dynamics"], found.states(np.arange(10_001))
    assert np.array_equal(values, arm.inverse_dynamics(**states))
    assert np.array_equal(found.maximum["inverse_dynamics"], values.max(axis=0))
    assert np.array_equal(found.argmax["inverse_dynamics"], values.argmax(axis=0))
    assert np.array_equal(found.minimum["inverse_dynamics"], values.min(axis=0))
    assert np.array_equal(found.argmin["inverse_dynamics"], values.argmin(axis=0))
    assert np.array_equal(found.largest["inverse_dynamics"], np.abs(values).max(axis=0))
    assert np.allclose(found.mean["inverse_dynamics"], values.mean(axis=0), rtol=1e-13)
    assert np.allclose(found.rms["inverse_dynamics"], np.sqrt((values**2).mean(axis=0)), rtol=1e-13)
    assert np.array_equal(found.beyond["inverse_dynamics"], (np.abs(values) > 5).sum(axis=0))
    assert found.beyond_any == (np.abs(values) > 5).any(axis=1).sum()
    histogram, envelope = found.histogram["inverse_dynamics"], found.envelope["inverse_dynamics"]
    for j in range(2):
        assert np.array_equal(np.histogram(values[:, j], histogram.edges[j])[0], histogram.counts[j])
        slot = np.clip(np.searchsorted(envelope.edges[j], states["qd"][:, j], side="right") - 1, 0, 7)
        for k in range(8):
            assert envelope.maximum[j, k] == values[slot == k, j].max() and envelope.minimum[j, k] == values[slot == k, j].min()
            assert values[envelope.argmax[j, k], j] == envelope.maximum[j, k]


def test_a_histogram_by_another_input(arm):
    reduce = {"histogram": {"bins": 8, "rows": 4, "by": "qd", "range": (-30.0, 30.0)}}
    found = arm.sweep(over=OVER, samples=5_000, reduce=reduce)
    values, qd = found.values(np.arange(5_000))["inverse_dynamics"], found.states(np.arange(5_000))["qd"]
    got = found.histogram["inverse_dynamics"]
    for j in range(2):
        wanted = np.histogram2d(qd[:, j], values[:, j], [got.row_edges[j], got.edges[j]])[0]
        assert np.array_equal(wanted, got.counts[j])


def test_nan_is_counted_located_and_left_out():
    arm = da.robot("two_link")
    found = arm.sweep({"root": lambda q: np.array([q[0].sqrt(), q[1]], dtype=object)}, over={"q": {"joint1": (-1.0, 3.0), "joint2": 0.0}}, samples=4_000, reduce=EVERYTHING | {"envelope": {"by": "q"}, "limits": {"limits": 1.0}})  # fmt: skip
    q = found.states(np.arange(4_000))["q"][:, 0]
    assert found.nan["root"].tolist() == [(q < 0).sum(), 0] and found.first_nan["root"].tolist() == [np.argmax(q < 0), -1]
    assert (q < 0).sum() > 500 and np.isclose(found.mean["root"][0], np.sqrt(q[q >= 0]).mean()) and found.minimum["root"][0] >= 0
    counts = found.histogram["root"]
    assert (counts.counts.sum(axis=1) + counts.below + counts.above).tolist() == [(q >= 0).sum(), 4_000]


# --- the same bits, whoever computes


def test_threads_tasks_and_order_do_not_matter(arm, small, monkeypatch):
    job = arm.sweep(over=OVER, samples=30_000, reduce=EVERYTHING).job
    wanted, _ = job.run(range(job.leaves))
    for threads in (1, 8):
        da.set_threads(threads)
        try:
            assert same(wanted, added([part for part, _ in on_threads(Task(job), range(job.leaves))]))
        finally:
            da.set_threads(None)
    for size in (1, 4, 100):
        assert same(wanted, added([part for part, _ in crew(Task(job), cut(range(job.leaves), size)[::-1], 2)]))


def test_sums_are_exact_whatever_their_order():
    rng = np.random.default_rng(1)
    values = rng.normal(size=40) * 10.0 ** rng.integers(-300, 300, 40)
    one = Totals.empty(Reductions(sums=True), 1)
    parts = [
        dataclasses.replace(one, sums=[[native.Totals.empty(Reductions(), 1).sums[0][0] + _units(x)], [0]]) for x in values.tolist()
    ]
    import math

    assert added(parts).sum(1)[0] == added(parts[::-1]).sum(1)[0] == math.fsum(values)


def _units(x):
    from dalembert.native.sweeps.totals import units

    return units(x)


def test_infinite_sums():
    program = trace(lambda x: np.array([1 / x[0], -1 / x[0]], dtype=object), {"x": (1,)})
    job = native.Job(program, drawn("g", [0.0], [1.0], [0.0], [2], 0), Reductions(sums=True), np.zeros((8, 2)), 16)
    total, _ = job.run([0])
    assert total.sum(1).tolist() == [np.inf, -np.inf] and np.isnan((total + total.from_json(_minus(total), total)).sum(1)[0])


def _minus(total):
    entry = total.to_json()
    return entry | {"special": [float.fromhex(x).__neg__().hex() for x in entry["special"]]}


# --- what varies


def test_payload_gravity_and_friction_vary_as_robots_do():
    arm = puma().with_friction(damping=0.1)
    over = RATES | {"payload": (0.0, 5.0), "payload_com": ([-0.1] * 3, [0.2] * 3), "gravity": (-10.0, 10.0), "coulomb": (0.0, 2.0)}
    found = arm.sweep(["inverse_dynamics", "gravity_force", "mass_matrix", "coriolis_force"], over, 1_000, link="link4")
    for k in found.argmax["inverse_dynamics"].tolist():
        x = found.states(k)
        own = (
            arm.with_payload(float(x["payload"]), x["payload_com"], link="link4")
            .with_gravity(x["gravity"])
            .with_friction(coulomb=x["coulomb"])
        )
        values, q, qd, qdd = found.values(k), x["q"], x["qd"], x["qdd"]
        for name, wanted in (
            ("inverse_dynamics", own.inverse_dynamics(q, qd, qdd)), ("gravity_force", own.gravity_force(q)),
            ("mass_matrix", own.mass_matrix(q)), ("coriolis_force", own.coriolis_force(q, qd)),
        ):  # fmt: skip
            assert np.abs(values[name] - wanted).max() < 1e-12 * max(np.abs(wanted).max(), 1)


def test_quantities_of_a_link_are_those_of_the_link():
    arm = puma()
    found = arm.sweep(["jacobian", {"reach": lambda pose: pose[0, 3]}], samples=1_000, link="link3")
    for k in found.argmax["jacobian"].ravel()[:5].tolist():
        q = found.states(k)["q"]
        np.testing.assert_allclose(found.values(k)["jacobian"], arm.jacobian(q, "link3"), atol=1e-15)
        np.testing.assert_allclose(found.values(k)["reach"], arm.pose(q, "link3")[0, 3], atol=1e-15)
    with pytest.raises(da.Error, match="unknown link or frame of puma560: 'nope'"):
        arm.sweep("jacobian", samples=10, link="nope")
    with pytest.raises(
        da.Error, match="link='link3' has no effect: no payload varies, and none of mass_matrix, gravity_force is of a link"
    ):
        arm.sweep(["mass_matrix", "gravity_force"], samples=10, link="link3")


def test_numbers_of_the_model_vary():
    arm = puma()
    found = arm.sweep("gravity_force", {"m2": (1.0, 20.0), "ax2": 0.5, "damping": 1.0}, 100)
    symbolic, x = arm.symbolic(), found.states(7)
    numbers = dict(zip(symbolic.names, symbolic.values, strict=True)) | {"m2": float(x["m2"]), "ax2": 0.5}
    tau = da.replay(
        symbolic.program("inverse_dynamics"),
        {"q": x["q"], "qd": np.zeros(6), "qdd": np.zeros(6), "parameters": list(numbers.values())},
    )
    assert np.allclose(found.values(7)["gravity_force"], tau, rtol=1e-12)


def test_forward_dynamics_with_varying_friction(arm):
    found = arm.sweep(
        "forward_dynamics",
        {"q": (-3, 3), "qd": (-1, 1), "tau": (-3, 3), "damping": (0, 1), "gravity": ([0, -12, 0], [0, -8, 0])},
        100,
    )
    x = found.states(3)
    own = arm.with_friction(damping=x["damping"]).with_gravity(x["gravity"])
    assert np.allclose(found.values(3)["forward_dynamics"], own.forward_dynamics(x["q"], x["qd"], x["tau"]), rtol=1e-10)


def test_functions_of_the_user(arm):
    found = arm.sweep(
        ["inverse_dynamics", {"power": lambda qd, inverse_dynamics: qd * inverse_dynamics}],
        over={"s": (0.0, 1.0), "q": lambda s: [s, 2 * s], "qd": (-1, 1), "qdd": lambda qd: -3 * qd},
        samples=500,
    )
    x = found.states(11)
    assert set(x) == {"s", "qd"} and found.names == ("inverse_dynamics", "power")
    tau = arm.inverse_dynamics([x["s"], 2 * x["s"]], x["qd"], -3 * x["qd"])
    assert np.allclose(found.values(11)["power"], x["qd"] * tau)
    only = arm.sweep({"power": lambda qd, inverse_dynamics: qd @ inverse_dynamics}, over=OVER, samples=100)
    assert only.names == ("power",) and np.shape(only.maximum["power"]) == ()


def test_a_design_sweep_compiles_nothing_new(arm, monkeypatch):
    arm.sweep("gravity_force", {"q": (-1, 1), "m2": (1.0, 2.0)}, 100)
    monkeypatch.setattr(native.machine, "object_code", lambda *a: pytest.fail("compiled again"))
    assert arm.sweep("gravity_force", {"q": (-2, 1), "m2": (3.0, 7.0)}, 100, seed=3).done == 100


def test_a_grid_alone_is_swept_once(arm):
    found = arm.sweep("gravity_force", {"q": (-3.0, 3.0, 5)})
    assert found.samples == 25 and len(np.unique(found.states(np.arange(25))["q"], axis=0)) == 25


def test_a_coupled_robot_and_one_by_numpy():
    arm = da.random_robot(1, "RRR").with_coupling({"joint3": {"joint2": 0.5}})
    over = {"q": (-1, 1), **RATES}
    found, plain = (arm.sweep(over=over, samples=300, reduce="extremes", backend=b) for b in ("native", "numpy"))
    assert np.allclose(found.maximum["inverse_dynamics"], plain.maximum["inverse_dynamics"], rtol=1e-12)


# --- refined


def test_climbing_finds_a_corner_and_a_hill():
    def slopes(x):
        f = -((x[:, 0] - 0.3) ** 2) + x[:, 1] - 0.1 * x[:, 0] * x[:, 1]
        return f, np.stack([-2 * (x[:, 0] - 0.3) - 0.1 * x[:, 1], 1 - 0.1 * x[:, 0]], axis=1)

    value, at = climb(slopes, np.random.default_rng(0).uniform(-1, 1, (4, 2)), np.array([-1.0, -1.0]), np.array([1.0, 1.0]))
    np.testing.assert_allclose(at, [0.25, 1.0], atol=1e-7)
    assert value == pytest.approx(0.9725, abs=1e-12)


@pytest.mark.parametrize("n", [2, 7, 20])
def test_local_searches_end_where_the_box_or_the_slope_stops_them(n):
    rng = np.random.default_rng(n)
    A, b = rng.normal(size=(n, n)), 3 * rng.normal(size=n)
    H = A @ A.T + 0.01 * np.eye(n)  # concave, so that the top is the only place without a way up
    hill = lambda x: (x @ b - np.vecdot(x @ H, x) / 2, b - x @ H)  # noqa: E731
    value, x = climb(hill, rng.uniform(-1, 1, (3, n)), -np.ones(n), np.ones(n))
    slope = hill(x)[1]
    stopped = ((x <= -1) & (slope < 0)) | ((x >= 1) & (slope > 0))
    assert np.abs(np.where(stopped, 0.0, slope)).max() < 1e-5 * abs(value)


def test_refined_extremes_of_an_arm_are_those_of_its_formula(arm):
    found = arm.sweep("gravity_force", {"q": (-3.3, 3.3)}, 200)
    refined = found.refine(16)
    at = arm.gravity_force([0.0, 0.0])  # both links stretched out sideways
    assert np.allclose(refined.maximum["gravity_force"], at, rtol=1e-12) and np.allclose(
        refined.minimum["gravity_force"], -at, rtol=1e-12
    )
    assert (refined.maximum["gravity_force"] >= found.maximum["gravity_force"]).all()
    assert np.allclose(
        arm.gravity_force(refined.at_maximum["gravity_force"]["q"][0])[0], refined.maximum["gravity_force"][0], rtol=1e-14
    )
    assert np.shape(refined.at_maximum["gravity_force"]["q"]) == (2, 2) and "joint2" in str(refined)


@pytest.mark.slow
def test_refined_extremes_are_local_optima():
    arm = puma()
    found = arm.sweep(over=RATES, samples=1_000_000)
    refined, rng = found.refine(names="inverse_dynamics"), np.random.default_rng(0)
    assert (refined.slope["inverse_dynamics"] < 1e-6).all()
    for j in range(6):
        x = {name: values[j] for name, values in refined.at_maximum["inverse_dynamics"].items()}
        for size in (1e-2, 1e-4, 1e-6):
            near = {n: np.clip(v + size * rng.normal(size=(2_000, 6)), *_box(arm, n)) for n, v in x.items()}
            assert arm.inverse_dynamics(**near)[:, j].max() <= refined.maximum["inverse_dynamics"][j] * (1 + 1e-9)


def _box(arm, name):
    return (arm.lower, arm.upper) if name == "q" else (-1.0, 1.0)


# --- interruptions


def test_an_interrupted_sweep_says_how_far_it_came(arm, small):
    def stop(done, total):
        if done > 3_000:
            raise KeyboardInterrupt

    found = arm.sweep(over=OVER, samples=100_000, progress=stop)
    assert 3_000 < found.done < found.samples == 100_000 and not found.complete and "interrupted" in str(found)
    assert found.argmax["inverse_dynamics"].max() < 100_000


def test_a_sweep_goes_on_from_its_checkpoint(arm, small, tmp_path):
    place, calls = tmp_path / "sweep.jsonl", []
    wanted = arm.sweep(over=OVER, samples=30_000, reduce=EVERYTHING)

    def stop(done, total):
        if done > 5_000:
            raise KeyboardInterrupt

    first = arm.sweep(over=OVER, samples=30_000, reduce=EVERYTHING, checkpoint=place, progress=stop)
    assert first.done < 30_000
    with place.open("ab") as file:
        file.write(b'{"leaves": [[0, 1')  # the end of a process, while it wrote
    found = arm.sweep(over=OVER, samples=30_000, reduce=EVERYTHING, checkpoint=place, progress=lambda a, b: calls.append(a))
    assert calls[0] > first.done and same(found.totals, wanted.totals)
    again = arm.sweep(over=OVER, samples=30_000, reduce=EVERYTHING, checkpoint=place)
    assert same(again.totals, wanted.totals)
    before = place.read_bytes()
    with pytest.raises(Error, match="belongs to another sweep"):
        arm.sweep(over=OVER, samples=30_000, reduce=EVERYTHING, checkpoint=place, seed=1)
    assert place.read_bytes() == before
    place.write_bytes(before.replace(b"extremes", b"extrimes", 1))
    with pytest.raises(Error, match="damaged"):
        arm.sweep(over=OVER, samples=30_000, reduce=EVERYTHING, checkpoint=place)


def test_a_full_disk_does_not_stop_a_sweep(arm, small, tmp_path, monkeypatch):
    from dalembert.sweeps import checkpoint

    append, written = checkpoint._append, []

    def full(file, entry):
        if len(written) > 2:
            raise OSError(28, "No space left on device")
        written.append(entry)
        append(file, entry)

    monkeypatch.setattr(checkpoint, "_append", full)
    with pytest.warns(UserWarning, match="No space left on device; the sweep goes on"):
        found = arm.sweep(over=OVER, samples=30_000, checkpoint=tmp_path / "x.jsonl")
    assert found.complete


KILLED = """
    import sys, dalembert as da
    from dalembert.native.sweeps import sweep
    sweep.LEAF = 1 << 12
    found = da.robot("two_link").sweep(over={"q": (-3.0, 3.0), "qd": (-1.0, 1.0), "qdd": (-1.0, 1.0)}, samples=int(sys.argv[2]), checkpoint=sys.argv[1],
                                       reduce=["extremes", "sums"])
"""


@pytest.mark.slow
def test_a_killed_process_loses_nothing_that_it_had_finished(arm, tmp_path, monkeypatch):
    monkeypatch.setattr(native, "LEAF", 1 << 12)
    place, samples = tmp_path / "sweep.jsonl", 400_000_000
    process = subprocess.Popen([sys.executable, "-c", textwrap.dedent(KILLED), str(place), str(samples)])
    while not place.exists() or place.read_bytes().count(b"\n") < 4:
        assert process.poll() is None
        time.sleep(0.01)
    process.send_signal(signal.SIGKILL)
    process.wait()
    done = sum(json.loads(line)["states"] for line in place.read_bytes().split(b"\n")[1:-1])
    seen = []
    found = arm.sweep(
        over=OVER, samples=samples, checkpoint=place, reduce=["extremes", "sums"], progress=lambda a, b: seen.append(a)
    )
    assert 0 < done < seen[0] < samples
    assert same(found.totals, arm.sweep(over=OVER, samples=samples, reduce=["extremes", "sums"]).totals)


# --- clusters


@pytest.mark.slow
def test_clusters_have_the_same_bits_and_survive_a_killed_worker(tmp_path):
    distributed = pytest.importorskip("distributed")
    arm, kept = puma(), ["extremes", "sums", "histogram", "envelope"]
    wanted = arm.sweep(over=RATES, samples=40_000_003, reduce=kept)
    options = {"threads_per_worker": 1, "dashboard_address": "127.0.0.1:0", "silence_logs": 50, "local_directory": str(tmp_path)}
    for workers in (1, 2, 4):
        with distributed.LocalCluster(n_workers=workers, **options) as cluster, distributed.Client(cluster) as client:
            given = client if workers != 2 else cluster.scheduler_address
            assert same(arm.sweep(over=RATES, samples=40_000_003, reduce=kept, cluster=given).totals, wanted.totals)
            if workers == 2:
                pids, killed = list(client.run(os.getpid).values()), []

                def kill(done, total, pids=pids, killed=killed):
                    if not killed:
                        killed.append(os.kill(pids[0], signal.SIGKILL))

                found = arm.sweep(over=RATES, samples=40_000_003, reduce=kept, cluster=client, progress=kill)
                assert killed and same(found.totals, wanted.totals)


@pytest.mark.slow
def test_the_address_of_a_cluster_is_enough(arm, small):
    distributed = pytest.importorskip("distributed")
    wanted = arm.sweep(over=OVER, samples=30_000)
    with distributed.LocalCluster(n_workers=1, processes=False, dashboard_address="127.0.0.1:0") as cluster:  # no client is open
        found = arm.sweep(over=OVER, samples=30_000, cluster=cluster.scheduler_address)
    assert same(found.totals, wanted.totals)


@pytest.mark.parametrize(("threads", "ahead"), [([4, 4], 6 * 4), ([40, 40], 2)])
def test_a_large_node_has_one_task_at_a_time(arm, small, monkeypatch, threads, ahead):
    pytest.importorskip("distributed")
    from dalembert.sweeps import clusters

    class Later:
        def result(self):
            return (Totals.empty(Reductions(), 2), []), 1e-3

    class Client:
        loop, asked = None, 0

        def submit(self, *given, **options):
            self.asked += 1
            return Later()

        def cancel(self, *given, **options):
            pass

    class Finished(list):
        def __init__(self, futures, loop=None):
            super().__init__(futures[:1])
            client.begun = len(futures)

        def update(self, more):
            pass

    client = Client()
    monkeypatch.setattr(clusters, "_workers", lambda _: threads)
    monkeypatch.setattr("distributed.as_completed", Finished)
    job = arm.sweep(over=OVER, samples=100).job
    list(clusters._distributed(client, Task(job), range(100_000)))
    assert client.begun == ahead


@pytest.mark.slow
def test_faults_of_clusters_are_told_in_a_line(arm, monkeypatch):
    distributed = pytest.importorskip("distributed")
    from dalembert.sweeps import clusters

    monkeypatch.setattr(clusters, "PATIENCE", 1)
    with pytest.raises(Error, match="cannot be reached"):
        arm.sweep(over=OVER, samples=100, cluster="tcp://127.0.0.1:1")
    with pytest.raises(Error, match="cluster must be the address"):
        arm.sweep(over=OVER, samples=100, cluster=3)
    options = {"processes": False, "dashboard_address": "127.0.0.1:0"}
    with distributed.LocalCluster(n_workers=0, **options) as cluster, pytest.raises(Error, match="no worker in 1 seconds"):
        arm.sweep(over=OVER, samples=100, cluster=cluster.scheduler_address)
    with distributed.LocalCluster(n_workers=1, **options) as cluster, distributed.Client(cluster) as client:
        monkeypatch.setattr(type(client), "run", lambda self, function: {"tcp://there:1": ("0.0.1", "")})
        with pytest.raises(Error, match=r"worker tcp://there:1 has dalembert 0\.0\.1, this process has"):
            arm.sweep(over=OVER, samples=100, cluster=client)


def test_a_node_computes_on_all_its_threads(arm, small):
    from dalembert.sweeps.clusters import work

    job = arm.sweep(over=OVER, samples=20_000, reduce=EVERYTHING).job
    import pickle
    import zlib

    data = zlib.compress(pickle.dumps(Task(job)))
    alone, several = (work(data, range(job.leaves), threads)[0] for threads in (1, 3))
    assert same(alone[0], several[0]) and alone[1] == several[1]


# --- on disk


def test_states_are_stored_as_xarray_reads_them(arm, small, tmp_path):
    pytest.importorskip("zarr")
    xarray = pytest.importorskip("xarray")
    found = arm.sweep(["inverse_dynamics", "mass_matrix"], OVER, 3_001, store=tmp_path / "all.zarr")
    with xarray.open_zarr(tmp_path / "all.zarr") as data:
        values, states = found.values(np.arange(3_001)), found.states(np.arange(3_001))
        for name, wanted in {**values, **states}.items():
            assert np.array_equal(data[name].values, wanted)
        assert data.q.attrs["units"] == "rad or m" and data.joint.values.tolist() == ["joint1", "joint2"]
        assert data.inverse_dynamics.dims == ("state", "joint")
    with pytest.raises(Error, match="does not belong to this sweep"):
        arm.sweep(["inverse_dynamics", "mass_matrix"], OVER, 3_001, seed=1, store=tmp_path / "all.zarr")


def test_a_checkpoint_and_a_store_go_on_together(arm, small, tmp_path):
    zarr = pytest.importorskip("zarr")
    kept, states = tmp_path / "kept.jsonl", tmp_path / "all.zarr"

    def stop(done, total):
        if done > 5_000:
            raise KeyboardInterrupt

    both = {"over": OVER, "samples": 30_000, "checkpoint": kept, "store": states}
    assert arm.sweep(**both, progress=stop).done < 30_000
    for other in (None, tmp_path / "other.zarr"):
        with pytest.raises(Error, match="was begun with"):
            arm.sweep(**both | {"store": other})
    assert not (tmp_path / "other.zarr").exists()
    found = arm.sweep(**both)
    assert 5_000 < found.before < found.done == 30_000 and f"{found.before:,} of them from the checkpoint" in str(found)
    stored = zarr.open_group(str(states), mode="r", zarr_format=2)["inverse_dynamics"][:]
    assert np.array_equal(stored, found.values(np.arange(30_000))["inverse_dynamics"])
    assert "a second" not in str(arm.sweep(**both))
    alone = tmp_path / "alone.jsonl"
    arm.sweep(over=OVER, samples=3_000, checkpoint=alone)
    with pytest.raises(Error, match="was begun without this store"):
        arm.sweep(over=OVER, samples=3_000, checkpoint=alone, store=tmp_path / "late.zarr")
    with pytest.raises(Error, match="there is no folder"):
        arm.sweep(over=OVER, samples=3_000, store=tmp_path / "nowhere" / "late.zarr")


def test_what_was_found_is_saved(arm, tmp_path):
    found = arm.sweep(over=OVER, samples=100, reduce=EVERYTHING)
    saved = json.loads(found.save(tmp_path / "found.json").read_text())
    assert saved["maximum"]["inverse_dynamics"] == found.maximum["inverse_dynamics"].tolist() and saved["done"] == 100
    worst = saved["worst"]["inverse_dynamics"][0]
    assert np.abs(arm.inverse_dynamics(worst["q"], worst["qd"], worst["qdd"])[0]) == found.largest["inverse_dynamics"][0]


# --- mistakes

BAD = {
    "an unbounded joint": ({"over": OVER | {"q": None}}, r"q of 'joint1' needs a finite range, free has no limits for it"),
    "no range": ({"over": {"q": (0, 1), "qd": (0, 1)}}, "qdd has no range; give one"),
    "an empty range": ({"over": OVER | {"q": (1.0, 0.0)}}, "the range of q of 'joint1' is empty: 1 is above 0"),
    "not finite": ({"over": OVER | {"q": (0.0, np.inf)}}, "needs a finite range, got 0 to inf"),
    "an unknown input": ({"over": OVER | {"q": (0, 1), "speed": (0, 1)}}, "unknown input of the sweep: 'speed'"),
    "an unknown joint": ({"over": OVER | {"q": {"elbow": (0, 1)}}}, "unknown entry of q: 'elbow'"),
    "a negative payload": ({"over": OVER | {"q": (0, 1), "payload": (-1, 1)}}, "payload must not be negative"),
    "counts": ({"over": OVER | {"q": (0, 1, 2.5)}}, "must be a whole number of points"),
    "a number too many": ({"over": OVER | {"q": ([0, 0, 0], 1)}}, "each a number or 2 of them"),
    "an unknown reduction": ({"over": OVER | {"q": (0, 1)}, "reduce": "median"}, "unknown reduction 'median'"),
    "an unknown option": ({"over": OVER | {"q": (0, 1)}, "reduce": {"histogram": {"bin": 3}}}, "unknown option of histogram: 'bin'"),
    "too many bins": ({"over": RATES | {"q": (0, 1)}, "reduce": {"histogram": {"bins": 65_000, "by": "q", "rows": 100}}}, "take fewer bins"),
    "no samples": ({"over": OVER | {"q": (0, 1)}, "samples": 0}, "samples must be an integer from 1"),
    "an unknown sampling": ({"over": OVER | {"q": (0, 1)}, "sampling": "sobol"}, "unknown sampling 'sobol'"),
    "itself": ({"over": OVER | {"q": lambda q: q}}, "q is a function of itself"),
    "a payload in the regressor": ({"quantities": "regressor", "over": OVER | {"q": (0, 1), "payload": 1.0}}, "payload, payload_com cannot vary in regressor"),
    "no limits": ({"over": {"q": (0, 1)}, "quantities": "mass_matrix", "reduce": "limits"}, "mass_matrix has no limits of its own"),
    "a place of no load": ({"over": OVER | {"payload_com": ([0, 0, 0], [0.1, 0, 0])}}, "payload_com is the place of a load, and there is none; give payload"),
    "gravity twice": ({"over": OVER | {"gravity": [0, 0, -9], "gz": (-10, -9)}}, "gravity and gz contradict each other"),
    "no efforts": ({"over": OVER, "reduce": "limits"}, "inverse_dynamics has no limits of its own; give them"),
    "some of a grid": ({"over": dict.fromkeys(OVER, (0, 1, 2)), "samples": 10}, "a grid of 64 points; leave samples out, .* got 10"),
    "an exponential": ({"over": {"q": (0, 1)}, "quantities": {"f": lambda q: np.exp(q[0])}}, r"f: .*exp.*it may use .*np\.sqrt"),
    "a comparison": ({"over": OVER | {"qd": lambda q: q[0] > 0}}, r"over: qd: .*'>' not supported.*x\.where"),
    "a file that is none": ({"over": OVER | {"q": (0, 1)}, "checkpoint": "/nowhere/at/all"}, "there is no folder '/nowhere/at'"),
    "a file of others": ({"over": OVER | {"q": (0, 1)}, "checkpoint": __file__}, "is not a checkpoint of a sweep"),
}  # fmt: skip


@pytest.mark.parametrize("name", BAD)
def test_mistakes_are_told_in_a_line(name):
    arguments, message = BAD[name]
    free = da.Robot("free", tuple(dataclasses.replace(x, joint=da.Joint(x.joint.name)) for x in da.robot("two_link").links))
    over = {k: v for k, v in arguments["over"].items() if v is not None}
    with pytest.raises(Error, match=message):
        free.sweep(**{"samples": 100, **arguments, "over": over})


def test_a_float_may_say_how_many(arm):
    assert arm.sweep(over=OVER, samples=1e3).done == 1000
    assert arm.sweep(over=OVER, samples=100, reduce={"histogram": {"bins": np.float32(8)}}).job.reductions.bins == 8
    for samples in (1.5, np.inf, np.nan, True):
        with pytest.raises(Error, match="samples must be an integer"):
            arm.sweep(over=OVER, samples=samples)


def test_no_state_leaves_the_range_of_a_histogram_that_is_proven(arm):
    proven = arm.bound("inverse_dynamics", over=OVER, tolerance=0.3)
    kept = {"extremes": {}, "histogram": {"bins": 32, "range": (proven.lower, proven.upper)}}
    found = arm.sweep(over=OVER, samples=20_000, reduce=kept)
    counted = found.histogram["inverse_dynamics"]
    assert not counted.below.any() and not counted.above.any() and (counted.counts.sum(axis=-1) == 20_000).all()
    assert np.array_equal(counted.edges[:, [0, -1]].T, [proven.lower, proven.upper])


def test_a_reduction_that_was_not_asked_for(arm):
    found = arm.sweep(over=OVER, samples=100, reduce="extremes")
    for name in ("mean", "histogram", "envelope", "beyond"):
        with pytest.raises(Error, match="this sweep has no"):
            getattr(found, name)
    with pytest.raises(Error, match="the number of a state is an integer from 0 to 99"):
        found.states(100)


def test_without_llvmlite_numpy_computes(arm, monkeypatch):
    monkeypatch.setattr(native.machine, "host", lambda: (_ for _ in ()).throw(ImportError("none here")))
    with pytest.warns(da.PerformanceWarning, match="sweeping with NumPy"):
        found = arm.sweep(over=OVER, samples=1_000)
    assert found.job.backend == "numpy" and found.done == 1_000
    with pytest.raises(Error, match="native code needs llvmlite"):
        arm.sweep(over=OVER, samples=1_000, backend="native")


def test_the_command(capsys, tmp_path):
    from dalembert.cli import main

    options = [
        "--over",
        "q=-3:3",
        "--over",
        "qd=-1:1",
        "--over",
        "qdd.joint1=-1:1",
        "--over",
        "qdd.joint2=0",
        "-n",
        "1e4",
        "-o",
        str(tmp_path / "x.json"),
    ]
    assert main(["sweep", "two_link", "--refine", "--checkpoint", str(tmp_path / "x.jsonl"), *options]) == 0
    out = capsys.readouterr().out
    assert "10,000 states" in out and "refined:" in out and json.loads((tmp_path / "x.json").read_text())["done"] == 10_000
    assert main(["sweep", "two_link", "-n", "many"]) == 2 and "Invalid value for '--samples'" in capsys.readouterr().err
    assert main(["sweep", "two_link", "-n", "1.5", "--over", "q=0", "--over", "qd=0", "--over", "qdd=0"]) == 2
    assert "samples must be an integer from 1" in capsys.readouterr().err
    assert main(["sweep", "two_link", "--over", "qd=a:b"]) == 2 and "--over must be" in capsys.readouterr().err


def test_what_is_printed():
    """Extremes with the unit of each joint and where the largest arises, states beyond limits, and what the table cannot show."""
    arm = da.robot("stanford")
    found = arm.sweep(over={"qd": (-1.0, 1.0), "qdd": (-1.0, 1.0)}, samples=5000)
    lines = str(found).splitlines()
    units = {line.split()[0]: line.split()[1] for line in lines[2 : 2 + arm.n]}
    assert [units[joint.name] for joint in arm.joints] == [joint.force_unit.split()[0] for joint in arm.joints]
    both = str(arm.sweep(["inverse_dynamics", "kinetic_energy"], over={"qd": (-1.0, 1.0), "qdd": (-1.0, 1.0)}, samples=1000))
    assert re.search(r"^inverse_dynamics joint3 +N +-", both, re.MULTILINE) and both.count("the largest, of") == 2  # of each result
    largest = found.largest["inverse_dynamics"]
    worst = int(np.argmax(largest))
    assert found.worst["inverse_dynamics"][worst] in (
        found.argmax["inverse_dynamics"][worst],
        found.argmin["inverse_dynamics"][worst],
    )
    number = int(re.search(r"state ([\d,]+),", str(found))[1].replace(",", ""))
    assert f"the largest, of {arm.joint_names[worst]}" in str(found)
    assert abs(found.values(number)["inverse_dynamics"][worst]) == largest[worst]
    beyond = arm.sweep(
        over={"qd": 1.0, "qdd": 0.0}, samples=1000, reduce={"limits": {"limits": 1.0}, "histogram": {}, "envelope": {}}
    )
    count = int(beyond.beyond["inverse_dynamics"][1])
    assert f"{count:,} ({count / 10:.2g} %)" in str(beyond) and "histogram and envelope: in the file of `save`" in str(beyond)
