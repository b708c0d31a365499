"""The native engine on programs that are no robots: values, layouts, safety, threads, memory."""

import pickle
from fractions import Fraction

import numpy as np
import pytest
from conftest import close, run, sweep

import dalembert as da
from dalembert.algebra.scalars import cos_sin, sign, sqrt
from dalembert.native import emit, kernel, machine, pieces
from dalembert.native.direct import short_way
from dalembert.native.kernel import WORTH_A_THREAD, Kernel
from dalembert.native.ordered import ordered
from dalembert.trace import trace
from dalembert.trace.source import NumpyKernel


def program(function, **shapes):
    return trace(function, shapes, outputs=("y",))


def sines(x):
    c, s = cos_sin(x)
    return np.stack([s, c], axis=-1)


SINCOS = program(sines, x=())
MIXED = program(
    lambda a, b: np.stack([a[0] * b[1] - b[2] / a[1], sqrt(1 + a[2] * a[2]), cos_sin(a[0] + b[0])[1], sign(b[1]), -a[1], 7.0 + 0 * a[0]]),
    a=(3,),
    b=(3,),
)  # fmt: skip
HEAVY = program(lambda a, b: np.stack([sum(cos_sin(a[0] * k + b[1])[0] for k in range(40)), a[1] * b[0]]), a=(2,), b=(2,))


def states(count, size=3, seed=0):
    return np.random.default_rng(seed).uniform(-3, 3, (count, size))


def test_arithmetic():
    a, b = states(101), states(101, seed=1)
    close(da.compile_program(MIXED)(a, b), NumpyKernel(MIXED)(a, b), 1e-15)


def test_several_outputs_and_matrices():
    p = trace(lambda m, v: (m @ v, m * 2, v @ v), {"m": (2, 3), "v": (3,)}, outputs=("mv", "m2", "vv"))
    m, v = np.random.default_rng(0).normal(size=(5, 2, 3)), np.random.default_rng(1).normal(size=(4, 1, 3))
    kernel = da.compile_program(p)
    for got, want in zip(kernel(m, v), NumpyKernel(p)(m, v), strict=True):
        assert got.shape == want.shape
        close(got, want, 1e-15)
    out = (np.empty((4, 5, 2)), np.empty((4, 5, 2, 3)), np.empty((4, 5)))
    assert all(x is y for x, y in zip(kernel(m, v, out=out), out, strict=True))
    close(out[0], NumpyKernel(p)(m, v)[0], 1e-15)


def test_which_products_fuse_with_sums():
    """A product that only one sum uses is not rounded, and of two the later one; whatever the compiler would like."""
    a, b, c, d = (1 + k * 2.0**-30 for k in (1, 3, 5, 7))
    p = program(lambda x: np.stack([x[0] * x[1] - x[2], x[2] - x[0] * x[3], x[0] * x[2] - x[1] * x[3], x[1] * x[2] + 1]), x=(4,))
    exact = [Fraction(v) for v in (a, b, c, d)]
    ab, ad, ac, bd, bc = (exact[i] * exact[j] for i, j in ((0, 1), (0, 3), (0, 2), (1, 3), (1, 2)))
    expected = [ab - exact[2], exact[2] - ad, Fraction(float(ac)) - bd, bc + 1]
    assert da.compile_program(p)([a, b, c, d]).tolist() == [float(v) for v in expected]
    twice = program(lambda x: np.stack([x[0] * x[1] - x[2], x[0] * x[1]]), x=(3,))
    assert da.compile_program(twice)([a, b, c])[0] == a * b - c != float(ab - exact[2])


@pytest.mark.parametrize("count", [0, 1, 2, 3, 4, 5, 7, 8, 9, 31, 1000])
def test_alone_and_in_a_batch_the_same_bits(count):
    a, b = states(count), states(count, seed=1)
    kernel = da.compile_program(MIXED)
    together = kernel(a, b)
    assert together.shape == (count, 6)
    for i in range(min(count, 40)):
        assert np.array_equal(kernel(a[i], b[i]), together[i])


def layouts():
    x = states(10)
    wide = np.zeros((20, 6))
    wide[::2, ::2] = x
    yield "strided", wide[::2, ::2]
    yield "fortran", np.asfortranarray(x)
    yield "reversed", np.ascontiguousarray(x[::-1, ::-1])[::-1, ::-1]
    yield "swapped bytes", x.astype(">f8")
    buffer = np.zeros(x.nbytes + 1, np.uint8)
    unaligned = buffer[1:].view(float).reshape(x.shape)
    unaligned[:] = x
    yield "unaligned", unaligned
    read_only = x.copy()
    read_only.setflags(write=False)
    yield "read-only", read_only
    yield "list", x.tolist()


@pytest.mark.parametrize(("name", "x"), [pytest.param(n, x, id=n) for n, x in layouts()])
def test_layouts(name, x):
    kernel, b = da.compile_program(MIXED), states(10, seed=1)
    assert np.array_equal(kernel(x, b), kernel(states(10), b))
    assert np.array_equal(kernel(b, x), kernel(b, states(10)))
    out = np.zeros((10, 12))[:, ::2]
    assert kernel(x, b, out=out) is out
    assert np.array_equal(out, kernel(states(10), b))


def test_float32_integers_and_broadcasting():
    kernel, a, b = da.compile_program(MIXED), states(10), states(10, seed=1)
    assert np.array_equal(kernel(a.astype(np.float32), b), kernel(a.astype(np.float32).astype(float), b))
    assert np.array_equal(kernel([1, 2, 3], [4, 5, 6]), kernel([1.0, 2.0, 3.0], [4.0, 5.0, 6.0]))
    assert np.array_equal(kernel(a[:, None], b), np.array([[kernel(x, y) for y in b] for x in a]))
    assert np.array_equal(kernel(np.broadcast_to(a[0], (6, 3)), b[0]), np.broadcast_to(kernel(a[0], b[0]), (6, 6)))
    assert kernel(np.zeros((0, 3)), np.zeros(3)).shape == (0, 6)
    assert kernel(np.zeros((2, 0, 3)), np.zeros((0, 3))).shape == (2, 0, 6)
    narrow = np.empty((10, 6), np.float32)
    kernel(a, b, out=narrow)
    close(narrow, kernel(a, b), 1e-6)


def test_aliased_out():
    p = program(lambda a, b: a[::-1] + b, a=(3,), b=(3,))
    kernel = da.compile_program(p)
    for count in (10, 2 * WORTH_A_THREAD // len(p) + 1000):
        x = states(count)
        expected = kernel(x, x)
        y = x.copy()
        assert np.array_equal(kernel(y, y, out=y), expected)
        z = x.copy()
        assert np.array_equal(kernel(z[::-1], x, out=z), kernel(x[::-1], x))
        z = np.concatenate([x, x[:1]])
        assert np.array_equal(kernel(z[:-1], x, out=z[1:]), kernel(x, x))


def test_wrong_sizes_never_reach_native_code():
    kernel = da.compile_program(MIXED)
    good = states(10)
    for bad in (np.zeros(2), np.zeros((10, 4)), np.zeros(()), np.zeros((3, 10))):
        with pytest.raises(ValueError, match="needs"):
            kernel(bad, good)
    with pytest.raises(ValueError, match=r"mismatch|shape"):
        kernel(good, good, out=np.zeros((10, 5)))
    with pytest.raises(da.Error, match="takes 2 arrays, got 1"):
        kernel(good)
    with pytest.raises(da.Error, match="a must hold real numbers"):
        kernel(good.astype(complex), good)


def test_nan_and_infinity_stay_in_their_lane():
    kernel, a, b = da.compile_program(MIXED), states(9), states(9, seed=1)
    clean = kernel(a, b)
    for poison in (np.nan, np.inf, -np.inf, 1e300):
        for i in range(9):
            dirty = a.copy()
            dirty[i] = poison
            result = kernel(dirty, b)
            assert not np.isfinite(result[i]).all()
            others = [k for k in range(9) if k != i]
            assert np.array_equal(result[others], clean[others])


def ulps(got, x, function):
    """Errors in units in the last place of the true value, from 80-bit arithmetic."""
    true = function(x.astype(np.longdouble))
    return np.abs((got.astype(np.longdouble) - true) / np.spacing(np.abs(true.astype(float)))).max()


@pytest.mark.skipif(np.finfo(np.longdouble).nmant != 63, reason="needs 80-bit long double a fast oracle")
@pytest.mark.parametrize("count", sweep([10**5, 10**7], quick=(0,)))
def test_sine_and_cosine_within_1_ulp(count):
    """10^5 or 10^7 arguments: ordinary angles, all magnitudes, and the neighbours of multiples of pi/2, where cancellation is worst."""
    rng = np.random.default_rng(7)
    tenth = count // 10
    near = np.rint(rng.uniform(-600_000, 600_000, 2 * tenth)) * (np.pi / 2)
    sets = [
        rng.uniform(-10, 10, 3 * tenth),
        rng.uniform(-1e6, 1e6, 2 * tenth),
        np.exp(rng.uniform(-40, 14, 3 * tenth)) * rng.choice([-1, 1], 3 * tenth),
        near + np.spacing(near) * rng.integers(-3, 4, near.size),
    ]
    assert sum(map(len, sets)) == count
    kernel = da.compile_program(SINCOS)
    worst = 0.0
    for x in sets:
        s, c = np.moveaxis(kernel(x), -1, 0)
        worst = max(worst, ulps(s, x, np.sin), ulps(c, x, np.cos))
    assert worst < 1.0, f"{worst:.3f} ulp"


@pytest.mark.slow
def test_sine_and_cosine_of_huge_angles_within_1_ulp():
    """10^5 arguments of all magnitudes to the largest double, and the one that comes closest to a multiple of pi/2."""
    mpmath = pytest.importorskip("mpmath")
    rng = np.random.default_rng(8)
    x = np.ldexp(rng.uniform(1, 2, 10**5), rng.integers(18, 1024, 10**5)) * rng.choice([-1, 1], 10**5)
    x = np.concatenate([x, 2.0**20 + np.arange(-5, 6) * 2.0**-33, [6381956970095103 * 2.0**797, 1.7976931348623157e308]])
    s, c = np.moveaxis(da.compile_program(SINCOS)(x), -1, 0)
    worst = 0.0
    with mpmath.workprec(120):
        for at, *got in zip(x.tolist(), c.tolist(), s.tolist(), strict=True):
            for value, true in zip(got, mpmath.cos_sin(mpmath.mpf(at)), strict=True):
                worst = max(worst, abs(float((value - true) / np.spacing(abs(float(true))))))
    assert worst < 1.0, f"{worst:.3f} ulp"


def test_signs_of_odd_numbers():
    kernel = da.compile_program(program(lambda x: sign(x), x=(5,)))
    result = kernel([1e-300, -np.inf, 0.0, -0.0, np.nan])
    assert result[:4].tolist() == [1, -1, 0, 0]
    assert np.isnan(result[4])


def test_long_arrays_and_strided_cores():
    """Arrays longer than what is written out, and strides in every core axis."""
    for shape in ((2,), (70,), (3, 30), (2, 5, 9)):
        kernel = da.compile_program(trace(lambda x: x * x + 1, {"x": shape}, outputs=("y",)))
        x = np.random.default_rng(0).integers(-99, 99, (6, *shape)).astype(float)  # whole numbers: fused or not, exact
        assert np.array_equal(kernel(x), x * x + 1)
        wide = np.zeros((12, *(2 * d for d in shape)))
        every = (slice(None, None, 2),) * wide.ndim
        wide[every] = x
        assert np.array_equal(kernel(wide[every]), x * x + 1)
        out = np.zeros_like(wide)
        kernel(x, out=out[every])
        assert np.array_equal(out[every], x * x + 1)
        assert np.count_nonzero(out) == x.size


# --- float32 ------------------------------------------------------------------------------------------------------------


def test_sines_of_floats_are_right_to_the_last_place():
    kernel = da.compile_program(trace(lambda x: cos_sin(x)[::-1], {"x": ()}, outputs=("sin", "cos")))
    rng = np.random.default_rng(0)
    sizes = np.exp(rng.uniform(np.log(1e-4), np.log(3e38), 20_000))
    near = np.arange(1, 20_000) * (np.pi / 2)  # where one of them is almost zero
    x = np.concatenate([sizes, -sizes, rng.uniform(-10, 10, 20_000), near, near * 30]).astype(np.float32)
    for result, exact in zip(kernel(x), (np.sin(x.astype(float)), np.cos(x.astype(float))), strict=True):
        assert result.dtype == np.float32
        unit = np.spacing(np.abs(exact).astype(np.float32)).astype(float)
        assert (np.abs(result - exact) / unit).max() < 1
    odd = np.array([np.inf, -np.inf, np.nan, 0], np.float32)
    assert np.isnan(kernel(odd)[0]).tolist() == [True, True, True, False]
    assert kernel(odd)[1][3] == 1


@pytest.mark.parametrize("name", ["inverse_dynamics", "forward_dynamics_derivatives"])
def test_floats_in_floats_out(name):
    """The same bits alone and in any batch; right to single precision."""
    arm = da.robot("ur5").without_friction()
    rng = np.random.default_rng(0)
    wide = rng.uniform(-1, 1, (3, 37, 6)).astype(np.float32)
    function = getattr(arm, name)
    results, exact = (x if isinstance(x, tuple) else (x,) for x in (function(*wide), function(*wide.astype(float))))
    for k, (x, y) in enumerate(zip(results, exact, strict=True)):
        assert (x.dtype, y.dtype) == (np.float32, np.float64)
        close(x, y, 1e-5)
        for _ in range(2):
            alone = function(*wide[:, 5].copy())
            assert (alone[k] if isinstance(alone, tuple) else alone).tobytes() == x[5].tobytes()
        again = function(*wide, out=tuple(np.zeros_like(r) for r in results) if len(results) > 1 else np.zeros_like(x))
        assert (again[k] if isinstance(again, tuple) else again).tobytes() == x.tobytes()


def test_only_floats_give_floats():
    arm = da.robot("two_link")
    q = np.full((3, 5, 2), 0.3, np.float32)
    assert arm.inverse_dynamics(*q).dtype == np.float32
    assert arm.inverse_dynamics(*q, backend="numpy").dtype == np.float32
    assert arm.inverse_dynamics(q[0].astype(float), q[1], q[2]).dtype == np.float64
    assert arm.inverse_dynamics(q[0], q[1], q[2].tolist()).dtype == np.float64
    assert arm.inverse_dynamics(*q, out=np.empty((5, 2))).dtype == np.float64
    assert arm.compile("inverse_dynamics")(*q).dtype == np.float32
    narrow = pickle.loads(pickle.dumps(arm.compile("inverse_dynamics").narrow))
    assert narrow(*q).tobytes() == arm.inverse_dynamics(*q).tobytes()


# --- long programs ------------------------------------------------------------------------------------------------------


def angles(x):
    """Sines of inputs and of computed angles, used long after; results that are inputs, constants, the same, and used again."""
    c, s = cos_sin(x)
    far = cos_sin(c * 3 + s[::-1])[0]
    product = far @ s + sqrt(1 + c[0] * c[0]) - x[1] * x[2] / 4
    return np.concatenate([x[:2], [7.0, 7.0, product, product, far[0]], far * product, sign(s) * c - product / x])


def in_pieces(monkeypatch, p, size):
    """The kernel of a program cut into pieces of so many operations, with its frame in memory that the caller lends."""
    with monkeypatch.context() as patch:
        for name, value in {"WHOLE": 0, "PIECE": size, "STORE": 1, "ON_STACK": 0}.items():
            patch.setattr(pieces, name, value)
        assert len(pieces.planned(p, 8).pieces) > 1
        patch.setenv("DALEMBERT_CACHE", "off")
        cut = Kernel(kernel._about(p), lambda: p, ())
        assert cut.loop.frame()
        assert cut.one.frame()
    return cut


@pytest.mark.parametrize("size", [1, 3, 20])
def test_pieces_give_the_same_bits(monkeypatch, size):
    """However a program is cut, and wherever its frame lies; in a batch and alone."""
    for p in (MIXED, program(angles, x=(5,)), da.robot("two_link").program("forward_dynamics_derivatives")):
        whole, cut = da.compile_program(p), in_pieces(monkeypatch, p, size)
        assert not whole.loop.frame()
        given = [np.random.default_rng(0).uniform(-3, 3, (13, *v.shape)) for v in p.inputs]
        one = [np.array(x[5]) for x in given]
        for found, expected in ((cut(*given), whole(*given)), (short_way(cut)(*one), whole(*one))):
            for x, y in zip(found, expected, strict=True):
                assert x.tobytes() == y.tobytes()


@pytest.mark.parametrize("dtype", [float, np.float32])
def test_results_past_the_cache_have_the_same_bits(monkeypatch, dtype):
    """Batches too large for the cache, whole and in pieces, wherever in a line of the cache results begin, and to their last state."""
    p = trace(lambda x: (angles(x), x * x[0], x[0] + x[1]), {"x": (5,)}, outputs=("y", "z", "w"))
    x = np.random.default_rng(0).uniform(-3, 3, (37, 5)).astype(dtype)
    expected = da.compile_program(p)(x)
    monkeypatch.setattr(emit, "FAR", 8)
    monkeypatch.setenv("DALEMBERT_CACHE", "off")
    for made in (Kernel(kernel._about(p), lambda: p, ()), in_pieces(monkeypatch, p, 20)):
        for offset in (0, 1, 3, 8):
            out = tuple(_from(offset, e.shape, dtype) for e in expected)
            for found, wanted in zip(made(x, out=out), expected, strict=True):
                assert found.tobytes() == wanted.tobytes()
                assert np.isnan(found.base).sum() == found.base.size - found.size  # nothing beside it was written
        gaps = tuple(np.zeros((37, 2, *e.shape[1:]), dtype)[:, 0] for e in expected)  # no stream: what lies between stays
        for found, wanted in zip(made(x, out=gaps), expected, strict=True):
            assert found.tobytes() == wanted.tobytes()
            assert not found.base[:, 1].any()


def _from(offset, shape, dtype):
    """An array that begins so many numbers after the start of a line of the cache, amid NaN."""
    size = int(np.prod(shape))
    memory = np.full(size + 64, np.nan, dtype)
    start = -(memory.ctypes.data // memory.itemsize) % 16 + offset
    return memory[start : start + size].reshape(shape)


def test_less_optimization_gives_the_same_bits(monkeypatch):
    """Programs above a size are optimized less."""
    p = da.robot("puma560").program("forward_dynamics")
    usual, x = da.compile_program(p), np.random.default_rng(0).uniform(-3, 3, (3, 13, 6))
    batch, one = usual(*x), usual(*x[:, 5])
    levels, made = [], machine._object_code
    monkeypatch.setattr(machine, "LARGE", 0)
    monkeypatch.setattr(machine, "_object_code", lambda text, level: levels.append(level) or made(text, level))
    monkeypatch.setenv("DALEMBERT_CACHE", "off")
    less = Kernel(kernel._about(p), lambda: p, ())
    assert less(*x).tobytes() == batch.tobytes()
    assert less(*x[:, 5]).tobytes() == one.tobytes()
    assert levels == [1, 1]


def test_pieces_in_order(monkeypatch):
    """A kernel that lends itself memory runs over and over as others do."""
    step = program(lambda x: x[::-1] * 0.9 + x * x[0], x=(3,))
    results = []
    for made in (da.compile_program(step), in_pieces(monkeypatch, step, 2)):
        x, kept = np.full((1, 1, 1, 5, 3), 0.3), np.zeros((6, 1, 1, 5, 3))
        for _ in range(2):
            ordered(made, [x], [kept], (6, 1, 1))()
            ordered(made, [x], [x], (6, 1, 1))()
        results.append((x.tobytes(), kept.tobytes()))
    assert results[0] == results[1]


def test_pieces_reuse_their_rows():
    """The frame grows with what is alive at once, not with the program."""

    def long(x):
        for _ in range(5_000):
            x = x * 1.0001 + x[::-1]
        return x

    plan = pieces.planned(program(long, x=(4,)), 8)
    assert len(plan.pieces) > 20
    assert plan.rows <= 4 + 3 * 4


@pytest.mark.slow
def test_small_stacks():
    """A thread may have 128 KB of stack, as all of musl's have: what a kernel computes with lies elsewhere."""
    code = """
import threading
import numpy as np, dalembert as da
from dalembert.native.direct import short_way
from dalembert.studies.complexity import general_chain
from dalembert.trace import trace
programs = [
    general_chain(30).program("mass_matrix"),
    trace(lambda x: x[::8] * x[1::8] + x[2::8], {"x": (14_000,)}),
    trace(lambda x: x[:1] * x[1:2] + np.zeros(16_000), {"x": (2,)}),
    trace(lambda x: (y := np.outer(x, x)[np.triu_indices(61, 1)]) * y[::-1].sum(), {"x": (61,)}),
]
made = []
for program in programs:
    kernel = da.compile_program(program)
    x = np.random.default_rng(0).uniform(-1, 1, (9, *program.inputs[0].shape))
    made.append((kernel, short_way(kernel), x, kernel(x)))
def work():
    for kernel, short, x, expected in made:
        print(np.array_equal(kernel(x), expected), np.array_equal(short(x[3].copy()), expected[3]))
threading.stack_size(128 << 10)
worker = threading.Thread(target=work)
worker.start()
worker.join()
"""
    assert run(code)[0].split() == ["True"] * 8


def test_no_memory_for_the_frame_is_an_error(monkeypatch):
    cut = da.compile_program(trace(lambda x: x * x, {"x": (5_000,)}))
    monkeypatch.setattr(kernel.np, "empty", lambda *_: (_ for _ in ()).throw(MemoryError()))
    with pytest.raises(MemoryError):
        cut(np.ones(5_000))


def test_what_no_kernel_can_be():
    bad = {
        "size 0": trace(lambda x: x, {"x": (0,)}),
        "no input": trace(lambda: np.ones(2), {}),
        "complex": program(lambda x: x + 1j, x=(2,)),
        "too large": program(lambda x: x * 10**400, x=(2,)),
        "too long": program(lambda x: x[:1], x=(70_000,)),
        "too many": trace(lambda *x: x[0], {f"x{k}": (1,) for k in range(40)}),
    }
    for name, p in bad.items():
        with pytest.raises(da.Error, match="a kernel"):
            print(name, da.compile_program(p))


def test_everything_twice():
    """The first call and the second take different ways; both give the same, whatever the arrays are."""

    class Duck:
        def __init__(self, values):
            self.values = values
            self.ndim = 1

        def __array__(self, dtype=None, copy=None):
            return np.array(self.values, dtype)

        def __array_ufunc__(self, *_, **__):
            raise AssertionError("the engine must not hand over to other people's arrays")

    for kind in (list, tuple, np.array, np.ma.array, Duck, np.longdouble, lambda v: np.array(v)[None][0]):
        arm = da.robot("two_link")
        q = [kind([0.5, 2.0]), kind([1.0, 0.25]), kind([0.0, 1.0])]
        first, second = arm.inverse_dynamics(*q), arm.inverse_dynamics(*q)
        assert type(first) is type(second) is np.ndarray
        assert np.array_equal(first, second)
        assert np.array_equal(first, da.robot("two_link").inverse_dynamics([0.5, 2.0], [1.0, 0.25], [0.0, 1.0]))


def test_special_angles():
    kernel = da.compile_program(SINCOS)
    assert kernel(0.0).tolist() == [0.0, 1.0]
    assert np.isnan(kernel(np.array([np.inf, -np.inf, np.nan]))).all()
    assert kernel(5e-324)[0] == 5e-324


def test_sine_of_computed_angles():
    p = program(lambda x: np.stack([cos_sin(x[0] * x[1])[0], cos_sin(cos_sin(x[0])[0])[1]]), x=(2,))
    x = states(50, 2) * 1e4
    close(da.compile_program(p)(x), NumpyKernel(p)(x), 1e-15)


@pytest.mark.parametrize("seed", sweep(range(12), quick=(0, 1)))
def test_native_and_numpy_paths_equal_on_random_robots(seed):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(1, 8))
    parents = tuple(int(rng.integers(-1, i)) if i else -1 for i in range(n))
    robot = da.random_robot(seed, "".join(rng.choice(list("RPH"), n)), parents).with_friction(0.1, 0.2).with_armature(0.3)
    q, qd, qdd = rng.uniform(-2, 2, (3, 17, n))
    options = {"wrenches": rng.normal(size=(n, 6)), "base_twist": rng.normal(size=6), "base_acceleration": rng.normal(size=(17, 6))}
    for given in ({}, options):
        native, numpy = (robot.inverse_dynamics(q, qd, qdd, **given, backend=b) for b in ("native", "numpy"))
        close(native, numpy, 1e-13)


@pytest.mark.parametrize("method", ["newton_euler", "lie_group", "stacked_operators"])
def test_native_and_numpy_paths_equal_on_the_zoo(some_zoo_robot, method):
    q, qd, qdd = np.random.default_rng(0).uniform(-2, 2, (3, 50, some_zoo_robot.n))
    native, numpy = (some_zoo_robot.inverse_dynamics(q, qd, qdd, method=method, backend=b) for b in ("native", "numpy"))
    close(native, numpy, 1e-13)
    assert some_zoo_robot.compile("inverse_dynamics", method).backend == "native"


def test_one_state_and_a_batch_of_a_robot_the_same_bits(zoo_robot):
    q, qd, qdd = np.random.default_rng(0).uniform(-2, 2, (3, 7, zoo_robot.n))
    together = zoo_robot.inverse_dynamics(q, qd, qdd)
    for i in range(7):
        assert np.array_equal(zoo_robot.inverse_dynamics(q[i], qd[i], qdd[i]), together[i])
        assert np.array_equal(zoo_robot.inverse_dynamics(list(q[i]), list(qd[i]), list(qdd[i])), together[i])


# --- without the engine -------------------------------------------------------------------------------------------------


def test_without_llvmlite():
    code = """
import sys
sys.modules["llvmlite"] = sys.modules["llvmlite.binding"] = None
import dalembert as da, numpy as np
arm = da.robot("puma560")
for _ in range(3):
    tau = arm.inverse_dynamics(*np.zeros((3, 6)))
print(arm.compile("inverse_dynamics").backend, round(tau[1], 4))
try:
    arm.inverse_dynamics(*np.zeros((3, 6)), backend="native")
except da.Error as error:
    print(error)
"""
    out, err = run(code)
    assert out.startswith("numpy 37.4837\nnative kernels need llvmlite")
    assert err.count("computing with NumPy instead") == 1


def test_a_broken_llvmlite_is_a_missing_one():
    code = """
import sys, types
broken = types.ModuleType("llvmlite")
broken.__path__ = []
sys.modules["llvmlite"] = broken
class Finder:
    def find_spec(self, name, path=None, target=None):
        if name == "llvmlite.binding":
            raise OSError("libLLVM.so: cannot open shared object file")
sys.meta_path.insert(0, Finder())
import dalembert as da, numpy as np
print(da.robot("rp").compile("inverse_dynamics").backend)
"""
    out, err = run(code)
    assert out.strip() == "numpy"
    assert "does not load" in err


def test_llvmlite_is_loaded_on_first_use():
    out, _ = run("import sys, dalembert; print('llvmlite' in sys.modules)")
    assert out.strip() == "False"


def test_too_large_programs_run_on_numpy_and_say_so(monkeypatch):
    from dalembert.engine import kernels

    monkeypatch.setattr(kernels, "LARGE", 50)
    kernels._say_once.cache_clear()
    arm = da.robot("planar_3r").with_payload(0.123)
    x = np.full((3, 3), 0.1)
    with pytest.warns(da.PerformanceWarning, match="operations, too many to compile quickly") as caught:
        tau = arm.inverse_dynamics(*x)
        arm.inverse_dynamics(*x)
    assert len(caught) == 1
    assert arm.compile("inverse_dynamics").backend == "numpy"
    with pytest.warns(da.PerformanceWarning, match=r"\); method='newton_euler' has fewer operations; computing with NumPy"):
        arm.inverse_dynamics(*x, method="lagrange_euler")
    close(arm.inverse_dynamics(*x, backend="native"), tau, 1e-13)
    monkeypatch.setattr(kernels, "MOST_SCALARS", 10)  # of which no method has fewer
    with pytest.warns(
        da.PerformanceWarning, match="takes and gives 12 numbers, more than the 10 of a kernel; computing with NumPy"
    ):
        arm.mass_matrix(x[0], method="probing")


@pytest.mark.parametrize("layout", ["dense", "every other state", "broadcast"])
def test_inputs_that_are_asked_for_ahead_are_those_of_small_batches(layout):
    """Blocks of large batches are fetched before they are needed, also beyond the end, which no memory follows."""
    made = da.compile_program(trace(lambda a, b: a * b + a, {"a": (3,), "b": (3,)}))
    states = emit.MANY // 48 + 77
    a, b = np.random.default_rng(0).uniform(-1, 1, (2, 2 * states, 3))
    a, b = {"dense": (a[:states], b[:states]), "every other state": (a[::2], b[::2]), "broadcast": (a[:states], b[0])}[layout]
    parts = [slice(k, k + 1000) for k in range(0, states, 1000)]
    apart = np.concatenate([made(a[part], b if layout == "broadcast" else b[part]) for part in parts])
    assert (made(a, b) == apart).all()
