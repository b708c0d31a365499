"""Large batches on several threads, forks, and the end of the interpreter."""

import os
import re
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest
from builtin import ARMS
from conftest import close, run
from test_native import HEAVY, MIXED, states

import dalembert as da
from dalembert.cached import cached_property
from dalembert.native import threads as pool
from dalembert.native.kernel import WORTH_A_THREAD


@pytest.fixture
def threads():
    yield da.set_threads
    da.set_threads(None)


@pytest.fixture
def jobs(monkeypatch):
    """How many jobs each threaded call had."""
    counts, real = [], pool.run
    monkeypatch.setattr(pool, "run", lambda work: (counts.append(len(work)), real(work))[1])
    return counts


@pytest.mark.parametrize("shape", [(120_000,), (3, 40_000), (130_000, 1), (400, 300), (4,) * 9, (3,) * 11])
def test_threads_give_the_same_bits(threads, jobs, shape):
    kernel = da.compile_program(HEAVY)
    rng = np.random.default_rng(0)
    a, b = rng.normal(size=(*shape, 2)), rng.normal(size=2)
    assert np.prod(shape) * kernel.size > 2 * WORTH_A_THREAD
    threads(1)
    alone = kernel(a, b)
    for count in (2, 3, 7):
        threads(count)
        assert np.array_equal(kernel(a, b), alone)
        out = np.empty((*shape, 2))
        assert kernel(a, b, out=out) is out
        assert np.array_equal(out, alone)
    a = np.ascontiguousarray(a)
    assert np.array_equal(kernel(a, np.broadcast_to(b, a.shape).copy()), alone)
    assert max(jobs) > 1


def test_small_batches_stay_on_one_thread(threads, jobs):
    threads(4)
    kernel = da.compile_program(HEAVY)
    kernel(np.zeros((1000, 2)), np.zeros(2))
    assert jobs == []


def test_threads_after_shutdown_and_in_forks():
    code = """
import atexit, os, signal, threading, time
import numpy as np, dalembert as da
from dalembert.trace import trace
arm = da.robot("two_link")
da.set_threads(2)
x = np.ones((200_000, 2))
expected = arm.inverse_dynamics(x, x, x)
busy = threading.Thread(target=lambda: [da.compile_program(trace(lambda x: x * k, {"x": (3,)})) for k in range(40)], daemon=True)
busy.start()
time.sleep(0.02)
child = os.fork()
if child == 0:
    signal.alarm(900)
    other = da.robot("rp").inverse_dynamics(x, x, x)
    os._exit(0 if np.array_equal(arm.inverse_dynamics(x, x, x), expected) else 1)
_, status = os.waitpid(child, 0)
print("fork", status)
def late():
    print("late", np.array_equal(arm.inverse_dynamics(x, x, x), expected))
atexit.register(late)
busy.join()
"""
    out, err = run(code)
    assert out.split("\n")[:2] == ["fork 0", "late True"], err


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork here")
def test_a_fork_while_a_thread_is_in_a_cached_property():
    """The child computes it itself: there is no lock that a thread, gone in the child, could hold."""
    code = """
import os, signal, threading
import dalembert as da
from dalembert.model.model import Model
inside, leave = threading.Event(), threading.Event()
tree = Model.__dict__["reduced_tree"]  # a cached property
compute = tree.func
def slowly(model):
    if threading.current_thread() is not threading.main_thread():
        inside.set()
        leave.wait()
    return compute(model)
tree.func = slowly
arm = da.robot("two_link")
assert "reduced_tree" not in vars(arm)
worker = threading.Thread(target=lambda: arm.reduced_tree)
worker.start()
inside.wait()
child = os.fork()
if child == 0:
    signal.alarm(60)  # a deadlock ends here
    os._exit(0 if len(da.robot("rp").reduced_tree.parents) == len(arm.reduced_tree.parents) == 2 else 1)
_, status = os.waitpid(child, 0)
leave.set()
worker.join()
print(status)
"""
    assert run(code)[0].split() == ["0"]


def test_threads_in_a_cached_property_get_the_same_value():
    both = threading.Barrier(2)

    class Slow:
        @cached_property
        def value(self):
            both.wait(60)
            return object()

    slow = Slow()
    with ThreadPoolExecutor(2) as pool:
        first, second = (future.result() for future in [pool.submit(lambda: slow.value) for _ in range(2)])
    assert first is second is slow.value


def test_every_cached_property_is_without_a_lock():
    package = Path(da.__file__).parent
    users = [path.name for path in package.rglob("*.py") if re.search(r"functools.*cached_property", path.read_text())]
    assert users == ["cached.py"]


def test_thread_counts(threads):
    threads(3)
    assert da.get_threads() == 3
    threads(None)
    assert da.get_threads() >= 1
    for bad in (0, -1, 1.5, "two", True):
        with pytest.raises(da.Error, match="number of threads"):
            threads(bad)


def test_errors_come_out_of_threads(threads):
    threads(2)
    kernel = da.compile_program(HEAVY)
    with pytest.raises(ValueError, match=r"a needs \(\.\.\., 2\), got shape \(1000000, 3\)"):
        kernel(np.zeros((1_000_000, 3)), np.zeros(2))


@pytest.mark.slow
def test_many_threads_hammer_many_kernels():
    names = ARMS
    expected = {n: da.robot(n).inverse_dynamics(*np.full((3, 33, da.robot(n).n), 0.3), backend="numpy") for n in names}
    start = threading.Barrier(16)

    def work(k):
        start.wait()
        for i in range(12):
            name = names[(k + i) % len(names)]
            robot = da.robot(name)
            close(robot.inverse_dynamics(*np.full((3, 33, robot.n), 0.3)), expected[name], 1e-13)
            assert np.isfinite(da.compile_program(MIXED)(states(5), states(5))).all()

    with ThreadPoolExecutor(16) as pool:
        for future in [pool.submit(work, k) for k in range(16)]:
            future.result()


def test_the_gil_is_released():
    """Another thread sees results of a native call that has not come to its end: it runs while the call does."""
    kernel = da.compile_program(HEAVY)
    da.set_threads(1)

    def seen(count):
        a, out = np.zeros((count, 2)), np.zeros((count, 2))
        worker = threading.Thread(target=kernel, args=(a, a), kwargs={"out": out})
        worker.start()
        partly = False
        while worker.is_alive() and not partly:
            last, first = out[-1, 0], out[0, 0]  # 40 where it is written
            partly = first == 40 and last == 0
        worker.join()
        assert (out[:, 0] == 40).all()
        return partly

    try:
        assert any(seen(100_000 << k) for k in range(7))
    finally:
        da.set_threads(None)
