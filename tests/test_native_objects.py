"""Kernels as objects: pickling, memory, the short way for one state, NumPy's C interface."""

import ctypes
import gc
import inspect
import pickle
import re
import sys
import weakref
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pytest
from conftest import close
from test_native import MIXED, program, states

import dalembert as da
from dalembert.native import recycle
from dalembert.native.direct import short_way
from dalembert.native.kernel import Kernel, build
from dalembert.trace import trace


@contextmanager
def counted_only():
    """The collector at rest: what dies does so since nothing refers to it, and no cycle keeps it."""
    gc.collect()
    gc.disable()
    try:
        yield
    finally:
        gc.enable()


def test_kernels_and_robots_pickle():
    kernel = da.compile_program(MIXED)
    again = pickle.loads(pickle.dumps(kernel))
    assert np.array_equal(again(states(5), states(5)), kernel(states(5), states(5)))
    arm = da.robot("ur5")
    x = np.full((3, 4, 6), 0.2)
    tau = arm.inverse_dynamics(*x)
    assert np.array_equal(pickle.loads(pickle.dumps(arm)).inverse_dynamics(*x), tau)
    bound = pickle.loads(pickle.dumps(arm.compile("inverse_dynamics")))
    assert isinstance(bound, Kernel)
    assert np.array_equal(bound(*x), tau)
    plain = pickle.loads(pickle.dumps(arm.compile("inverse_dynamics", backend="numpy")))
    close(plain(*x), tau, 1e-13)


def test_a_kernel_does_not_keep_its_robot():
    arm = da.robot("ur5").with_payload(0.321)
    kernel = arm.compile("inverse_dynamics")
    with counted_only():
        watch = weakref.ref(arm)
        del arm
        assert watch() is None
    assert kernel(*np.zeros((3, 6))).shape == (6,)
    assert np.array_equal(pickle.loads(pickle.dumps(kernel))(*np.zeros((3, 6))), kernel(*np.zeros((3, 6))))


def test_same_program_same_kernel():
    assert da.compile_program(MIXED) is da.compile_program(pickle.loads(pickle.dumps(MIXED)))
    arm = da.robot("ur5")
    assert arm.compile("inverse_dynamics") is arm.compile("inverse_dynamics", "newton_euler")
    assert "native" in repr(arm.compile("inverse_dynamics"))


@pytest.mark.slow
def test_kernels_die_with_their_robots(monkeypatch):
    """Robots, one after another, each compiled: code, engine and gufunc of each are gone with it, and nothing of Python's stays."""
    monkeypatch.setenv("DALEMBERT_CACHE", "off")
    watched = []

    def use(mass):
        arm = da.robot("rp").with_payload(mass)
        arm.inverse_dynamics(*np.ones((3, 2)))
        kernel = arm.compile("inverse_dynamics")
        for code in (kernel.loop.code, kernel.one.code):
            watched.extend(map(weakref.ref, (code, code._engine)))
        watched.append(weakref.ref(kernel))

    def objects():
        gc.collect()
        return len(gc.get_objects())

    for k in range(3):  # what is made once
        use(1.0 + k)
    before = objects()
    for k in range(20):
        use(100.0 + k)
    after = objects()
    assert len(watched) == 115
    assert [x for x in watched if x() is not None] == []
    assert after - before < 20 + len(watched), "something stays for every robot"


def test_a_gufunc_outlives_its_kernel():
    gufunc = da.compile_program(program(lambda x: x * x + 3, x=(2,)))._gufunc
    gc.collect()
    da.compile_program(program(lambda x: x * x + 4, x=(2,)))
    assert gufunc([1.0, 2.0]).tolist() == [4.0, 7.0]


def test_numpy_interface_is_where_we_think():
    """The slot of the C table and the fields of the ufunc structure, against NumPy's own headers and objects."""
    from dalembert.native import gufunc

    header = (Path(np.get_include()) / "numpy/__ufunc_api.h").read_text()
    found = re.search(r"#define PyUFunc_FromFuncAndDataAndSignature\s.*?PyUFunc_API\[(\d+)\]", header, re.DOTALL)
    assert found is not None
    assert int(found[1]) == gufunc._MAKE
    for ufunc in (np.add, np.matvec, np.sin):
        assert ctypes.c_char_p.from_address(id(ufunc) + gufunc._NAME).value == ufunc.__name__.encode()
    made = np.frompyfunc(len, 1, 1)
    assert ctypes.c_void_p.from_address(id(made) + gufunc._OBJ).value == id(len)
    assert not gufunc._immortal


# --- the short way for one state ----------------------------------------------------------------------------------------


def test_array_layout_is_what_the_short_way_reads():
    from dalembert.native import builtin, direct

    def field(array, offset, kind):
        return kind.from_address(id(array) + offset).value

    for array in (np.zeros(3), np.zeros((4, 5)), np.zeros((2, 3, 4), np.float32), np.zeros((4, 6))[::2, ::3]):
        assert field(array, builtin.TYPE, ctypes.c_void_p) == id(np.ndarray)
        assert field(array, builtin.DATA, ctypes.c_void_p) == array.ctypes.data
        assert field(array, builtin.NDIM, ctypes.c_int) == array.ndim
        shape = (ctypes.c_int64 * array.ndim).from_address(field(array, builtin.SHAPE, ctypes.c_void_p))
        assert tuple(shape) == array.shape
        assert field(array, builtin.DTYPE, ctypes.c_void_p) == id(array.dtype)
        flags = field(array, builtin.FLAGS, ctypes.c_int)
        assert bool(flags & 1) == array.flags.c_contiguous
        assert bool(flags & 0x100) == array.flags.aligned
    assert np.zeros(3).dtype is np.dtype(float)
    header = (Path(np.get_include()) / "numpy/__multiarray_api.h").read_text()
    found = re.search(r"#define PyArray_New \\\n.*?PyArray_API\[(\d+)\]", header, re.DOTALL)
    assert found is not None
    assert int(found[1]) == direct._NEW


def test_short_way_equals_the_kernel():
    p = trace(lambda m, v, s: m @ v * s, {"m": (2, 3), "v": (3,), "s": ()}, outputs=("y",))
    kernel = da.compile_program(p)
    short = short_way(kernel)
    assert type(short).__name__ == "builtin_function_or_method"
    m, v, s = np.arange(6.0).reshape(2, 3), np.arange(3.0), np.array(2.0)
    expected = kernel(m, v, s)
    assert np.array_equal(short(m, v, s), expected)
    assert short(m, v, s).flags.owndata
    others = [
        (m.tolist(), v, s), (m, v.tolist(), 2.0), (m[None], v, s), (m, np.stack([v, v]), s), (np.asfortranarray(m), v, s),
        (m.astype(np.float32), v, s), (m.astype(">f8"), v, s), (m.astype(int), v, s), (m, v[::-1][::-1], s), (m, np.repeat(v, 2)[::2], s),
        (np.ma.array(m), v, s),
    ]  # fmt: skip
    for arguments in others:
        assert np.array_equal(np.broadcast_to(expected, kernel(*arguments).shape), short(*arguments))
    assert short(np.zeros((0, 2, 3)), v, s).shape == (0, 2)
    for wrong in (
        (m, v),
        (m, v, s, s),
        (m.T, v, s),
        (v, v, s),
        (m, v, None),
        ("m", v, s),
    ):
        with pytest.raises((TypeError, ValueError)):
            short(*wrong)
    with pytest.raises(TypeError):
        short(m, v, s=s)


def test_short_way_leaks_nothing():
    kernel = da.compile_program(program(lambda x: x * x + 5, x=(2,)))
    short, x, wrong = short_way(kernel), np.ones(2), np.ones(3)
    before = sys.getrefcount(x), sys.getrefcount(kernel), sys.getrefcount(np.ndarray)
    for _ in range(1000):
        short(x)
        with pytest.raises(ValueError, match=r"x needs \(\.\.\., 2\), got shape \(3,\)"):
            short(wrong)
    gc.collect()  # tracebacks hold frames
    after = sys.getrefcount(x), sys.getrefcount(kernel), sys.getrefcount(np.ndarray)
    assert max(abs(a - b) for a, b in zip(before, after, strict=True)) < 20
    del kernel
    gc.collect()
    assert short(x).tolist() == [6.0, 6.0]
    assert short(np.ones((2, 2))).tolist() == [[6.0, 6.0]] * 2


class Pair(NamedTuple):
    a: np.ndarray
    b: np.ndarray


def test_short_way_of_several_results():
    kernel = da.compile_program(trace(lambda x: (x, x @ x), {"x": (2,)}, outputs=("a", "b")))
    x, many = np.array([3.0, 4.0]), np.arange(10.0).reshape(5, 2)
    for short, kind in ((short_way(kernel), tuple), (short_way(kernel, result=Pair), Pair)):
        for _ in range(2):  # before and after the loop is compiled
            alone, several = short(x), short(many)
            assert type(alone) is kind
            assert alone[0].tolist() == [3.0, 4.0]
            assert type(alone[1]) is np.float64
            assert alone[1] == 25.0
            assert several[0].tolist() == many.tolist()
            assert several[1].tolist() == (many * many).sum(axis=1).tolist()
    assert short(x).b == 25.0
    with pytest.raises(TypeError, match="unhashable"):
        hash(short(x))


def test_short_way_into_arrays():
    kernel = da.compile_program(program(lambda x, y: x * y + 1, x=(2,), y=(2,)))
    short, x, y = short_way(kernel), np.arange(8.0).reshape(4, 2), np.array([2.0, 3.0])
    short(x, y), short(x[0].copy(), y)
    out = np.empty((4, 2))
    assert short(x, y, out) is out
    assert out.tolist() == (x * y + 1).tolist()
    one = np.empty(2)
    assert short(y, y, one) is one
    assert one.tolist() == [5.0, 10.0]
    expected = (x * x + 1).tolist()
    assert short(x, x, x) is x  # one memory: as if it were not
    assert x.tolist() == expected
    long = np.arange(10.0)
    a, b = long[:8].reshape(4, 2), long[2:].reshape(4, 2)
    expected = (a * y + 1).tolist()
    assert short(a, y, b).tolist() == expected
    frozen = np.empty((4, 2))
    frozen.flags.writeable = False
    for wrong in (frozen, np.empty((3, 2)), np.empty(2), [[0.0] * 2] * 4):
        with pytest.raises((ValueError, TypeError)):
            short(x, y, wrong)
    strided = np.empty((4, 4))[:, ::2]
    assert short(x, y, strided).tolist() == (x * y + 1).tolist()


def test_short_way_looks_for_nan():
    kernel = da.compile_program(program(lambda x: 1 / x, x=(9,)))
    seen = []
    short = short_way(kernel, slow=lambda *given: seen.append(len(given)) or kernel(*given), check=True)
    x = np.ones((6, 9))
    short(x), short(x[0].copy())
    del seen[:]
    short(x), short(x[0].copy()), short(np.zeros(9))
    assert not seen  # infinity is a number
    for place in range(9):
        bad = x.copy()
        bad[5, place] = np.nan
        assert np.isnan(short(bad[5].copy())[place])
        assert np.isnan(short(bad)).sum() == 1
    assert len(seen) == 18


def test_short_way_of_floats_takes_no_step_in_python():
    """Float32 in, float32 out, by the code for one state and by the loop; the first calls make and compile what serves the others."""
    kernel = da.compile_program(program(lambda x: x * x + 11, x=(3,)))
    seen = []
    short = short_way(kernel, slow=lambda *given: seen.append(len(given)) or kernel(*given))
    x = np.arange(6, dtype=np.float32).reshape(2, 3)
    short(x), short(x[0].copy())
    del seen[:]
    out = np.empty_like(x)
    for given, expected in (((x,), x * x + 11), ((x[1],), x[1] * x[1] + 11), ((x, out), x * x + 11)):
        result = short(*given)
        assert result.dtype == np.float32
        assert result.tolist() == expected.tolist()
    assert short(x, out) is out
    assert not seen
    assert short(x[0].astype(float)).dtype == np.float64
    assert short(x[0].tolist()).dtype == np.float64
    assert len(seen) == 2  # no double has come before: its code is compiled now


def test_a_batch_of_one_is_one_state():
    """By the code for one state, whose results get the axes of the batch."""
    kernel = da.compile_program(trace(lambda x: (x * x + 13, x @ x), {"x": (3,)}, outputs=("a", "b")))
    seen = []
    short, x = short_way(kernel, slow=lambda *given: seen.append(len(given)) or kernel(*given)), np.arange(3.0)
    expected = short(x)
    for _ in range(2):
        a, b = short(x[None])
        assert (a.shape, b.shape) == ((1, 3), (1,))
        assert a[0].tolist() == expected[0].tolist()
        assert b[0] == expected[1]
    assert len(seen) == 1
    a, b = kernel(x[None, None])
    assert (a.shape, b.shape) == ((1, 1, 3), (1, 1))
    out = np.empty((1, 3)), np.empty(1)
    assert kernel(x[None], out=out) is out
    assert out[0][0].tolist() == expected[0].tolist()
    assert "loop" not in vars(kernel)


def test_large_results_of_one_state(monkeypatch):
    """Only batches are written where earlier results were."""
    monkeypatch.setattr(recycle, "LEAST", 64)
    kernel = da.compile_program(program(lambda x: x * x + 17, x=(40,)))
    short, x = short_way(kernel), np.arange(40.0)
    for result in (short(x), short(x), short(x[None])[0], kernel(x)):
        assert result.tolist() == (x * x + 17).tolist()


def test_large_results_are_recycled():
    kernel = da.compile_program(program(lambda x: x + 1, x=(4,)))
    short, x = short_way(kernel), np.zeros((40_000, 4))
    for make in (kernel, short):
        first = make(x)
        assert first.flags.c_contiguous
        assert first.flags.writeable
        address, kept = first.ctypes.data, first[7, 1:]
        assert make(x).ctypes.data != address, "a view is still there"
        kept[:] = 5.0
        del first
        again = make(x)
        assert again.ctypes.data != address
        assert kept.tolist() == [5.0] * 3
        del kept
        assert make(x).ctypes.data == address
        del again
    da.set_recycling(0)
    try:
        assert make(x).flags.owndata
    finally:
        da.set_recycling(128 << 20)
    with pytest.raises(da.Error, match="limit in bytes"):
        da.set_recycling(-1)


def test_recycling_keeps_no_more_than_its_limit():
    held = [recycle.empty((1 << 20,)) for _ in range(20)]
    assert sum(b.size for b in recycle._buffers) <= 128 << 20
    assert len({x.ctypes.data for x in held}) == 20


def test_long_programs_are_recorded_again_rather_than_kept(monkeypatch):
    monkeypatch.setattr("dalembert.native.kernel.KEPT", 10)
    monkeypatch.setenv("DALEMBERT_CACHE", "off")
    p, count = program(lambda x: x * x + 7, x=(20,)), []
    kernel = build("", lambda: count.append(1) or p, ())
    assert len(count) == 1
    batch, one = kernel(np.ones((3, 20))), kernel(np.ones(20))
    assert len(count) == 2
    assert np.array_equal(batch[0], one)


def test_a_robot_answers_plain_calls_at_once():
    """From the second call on its method is a built-in function, which is documented, pickles, and needs no robot to live on."""
    arm = da.robot("rp").with_payload(0.7)
    x = np.full((3, 2), 0.4)
    tau = arm.inverse_dynamics(*x)
    method = arm.inverse_dynamics
    assert type(method).__name__ == "builtin_function_or_method"
    assert method.__name__ == "inverse_dynamics"
    assert method.__doc__ == da.Robot.inverse_dynamics.__doc__
    names = list(inspect.signature(da.Robot.inverse_dynamics).parameters)
    assert list(inspect.signature(method).parameters) == names[1:]
    same = [
        method(*x), method(*x.tolist()), method(x[0], qd=x[1], qdd=x[2]), method(*x, method="newton_euler"), method(*x[:, None])[0],
        pickle.loads(pickle.dumps(method))(*x), pickle.loads(pickle.dumps(arm)).inverse_dynamics(*x), method(*x, out=np.empty(2)),
    ]  # fmt: skip
    assert all(np.array_equal(y, tau) for y in same)
    close(method(*x, method="lie_group"), tau, 1e-12)
    with counted_only():
        watch = weakref.ref(arm)
        del arm
        assert watch() is None
    assert np.array_equal(method(*x.tolist()), tau)
    with pytest.raises(da.Error, match=r"inverse_dynamics: qd has shape \(3,\), rp needs \(\.\.\., 2\)"):
        method(x[0], np.zeros(3), x[2])
