"""Recording, counting, differentiating and replaying programs, most of them no robots."""

import math
import pickle
from fractions import Fraction

import numpy as np
import pytest
from conftest import REFERENCE, STRUCTURES, close, directly, reference_robot, sweep

import dalembert as da
from dalembert.algebra.scalars import above, cos_sin, sign, sqrt, tanh, where
from dalembert.trace import Angle, Residue, differentiate, operation_count, replay, trace
from dalembert.trace.source import NumpyKernel, numpy_source


def count(function, size=3, **options):
    return operation_count(trace(function, {"x": (size,)}, **options))


@pytest.mark.parametrize(
    ("function", "expected"),
    [
        (lambda x: 0 * x[0] + x[1], (0, 0)),
        (lambda x: 1 * x[0] - 0, (0, 0)),
        (lambda x: x[0] * x[1] + x[1] * x[0], (1, 1)),
        (lambda x: x[0] - x[0], (0, 0)),
        (lambda x: (x[0] - x[1]) * (x[1] - x[0]), (1, 1)),
        (lambda x: 0 - (-x[0]), (0, 0)),
        (lambda x: (-x[0]) * (-x[1]) + (-x[2]), (1, 1)),
        (lambda x: (-2.0 * x[0]) + 2.0 * x[0] * x[1], (2, 1)),
        (lambda x: x[0] ** 3, (2, 0)),
        (lambda x: x[0] / 1, (0, 0)),
        (lambda x: (0.0 - x[0]) - x[1], (0, 1)),
    ],
)  # fmt: skip
def test_folding(function, expected):
    assert count(function)[:2] == expected


def test_switches():
    function = lambda x: 0 * x[0] + x[1] * x[1] + x[1] * x[1]  # noqa: E731
    assert count(function)[:2] == (1, 1)
    assert count(function, sharing=False)[:2] == (2, 1)
    assert count(function, folding=False, sharing=False)[:2] == (3, 2)


def test_sine_and_cosine_of_one_angle_count_once():
    program = trace(lambda x: x[0] * cos_sin(x[1])[0] + cos_sin(-x[1])[1], {"x": (2,)})
    assert operation_count(program).sincos == 1


def test_results_that_need_nothing():
    program = trace(lambda x: np.array([0 * x[0], 3 + 0 * x[1], x[0]], dtype=object), {"x": (2,)})
    assert replay(program, {"x": np.array([[5.0, 6.0]])}).tolist() == [[0.0, 3.0, 5.0]]
    assert NumpyKernel(program)(np.array([[5.0, 6.0], [7.0, 8.0]])).tolist() == [[0, 3, 5], [0, 3, 7]]


def test_a_traced_scalar_refuses_to_be_a_number():
    with pytest.raises(TypeError, match="branch"):
        trace(lambda x: x[0] if x[0] else x[1], {"x": (2,)})
    with pytest.raises(da.Error, match="structural zero"):
        trace(lambda x: x[0] / (x[1] - x[1]), {"x": (2,)})
    with pytest.raises(da.Error, match="2 output names"):
        trace(lambda x: x, {"x": (2,)}, outputs=("a", "b"))
    with pytest.raises(da.Error, match="identifier"):
        trace(lambda x: x, {"not a name": (2,)})


def test_programs_are_values():
    make = lambda: da.robot("puma560").program("inverse_dynamics")  # noqa: E731
    a, b = make(), make()
    assert a == b
    assert hash(a) == hash(b)
    assert a != da.robot("ur5").program("inverse_dynamics")
    assert pickle.loads(pickle.dumps(a)) == a
    text = str(a)
    assert text.startswith("program: q(6), qd(6), qdd(6) -> tau(6)")
    assert text.count("\n") == len(a.nodes) + 6
    assert len({a, b}) == 1


FUNCTIONS = {
    "polynomial": lambda x: np.array([x[0] * x[1] - x[2] ** 2, x[2] * x[2] * x[0]], dtype=object),
    "trigonometric": lambda x: np.array([cos_sin(x[0] * x[1])[1] / (2 + cos_sin(x[2])[0])], dtype=object),
    "root": lambda x: np.array([sqrt(1 + x[0] * x[0]) / x[1], 1 / x[2], x[0]], dtype=object),
}


@pytest.mark.parametrize("name", FUNCTIONS)
@pytest.mark.parametrize("mode", ["forward", "reverse"])
def test_derivatives_by_complex_step(name, mode):
    program = trace(FUNCTIONS[name], {"x": (3,)}, outputs=("y",))
    x = np.array([0.7, -1.3, 0.4])
    jacobian = replay(differentiate(program, mode=mode), {"x": x})
    step = x + 1e-30j * np.eye(3)
    close(jacobian, replay(program, {"x": step}).imag.T / 1e-30, 1e-14)


@pytest.mark.parametrize(("joints", "parents"), sweep(STRUCTURES))
@pytest.mark.parametrize("method", ["newton_euler", "lie_group"])
def test_derivatives_of_inverse_dynamics(joints, parents, method):
    robot = da.random_robot(4, joints, parents).with_friction(0.3, 0.7).with_armature(0.2)
    program = robot.program("inverse_dynamics", method=method)
    rng, n = np.random.default_rng(0), robot.n
    state = dict(zip(("q", "qd", "qdd"), rng.uniform(-1, 1, (3, n)), strict=True))
    forward, reverse = (replay(differentiate(program, mode=m), state) for m in ("forward", "reverse"))
    for k, name in enumerate(state):
        size = max(np.abs(x).max() for x in reverse)
        close(forward[k], reverse[k], 1e-12, size)
        stepped = state | {name: state[name] + 1e-30j * np.eye(n)}
        close(reverse[k], replay(program, stepped).imag.T / 1e-30, 1e-12, size)


def test_reference_derivatives():
    for name, ref in REFERENCE.items():
        program = reference_robot(name).program("inverse_dynamics")
        derivative = differentiate(program, ["q", "qd"], keep=True)
        assert [v.name for v in derivative.outputs] == ["tau", "dtau_dq", "dtau_dqd"]
        tau, dq, dqd = replay(derivative, {k: np.array(ref[k]) for k in ("q", "qd", "qdd")})
        close(tau, ref["tau"], 1e-12)
        close(dq, ref["derivatives"]["dtau_dq"], 1e-12)
        close(dqd, ref["derivatives"]["dtau_dqd"], 1e-12)


def test_reverse_is_cheaper_for_inverse_dynamics():
    program = da.robot("panda").without_friction().program("inverse_dynamics")
    forward, reverse = (operation_count(differentiate(program, mode=m)).total for m in ("forward", "reverse"))
    assert reverse < forward


@pytest.fixture(scope="module")
def puma():
    ref = REFERENCE["PUMA560"]
    return da.robot("puma560").program("inverse_dynamics"), {k: ref[k] for k in ("q", "qd", "qdd")}, ref["tau"]


def test_replay_floats_and_batches(puma):
    program, state, tau = puma
    close(replay(program, state), tau, 1e-13)
    batched = {k: np.array([v, v]) for k, v in state.items()}
    close(replay(program, batched), [tau, tau], 1e-13)


def test_replay_complex(puma):
    program, state, tau = puma
    result = replay(program, state | {"qd": [x + 0j for x in state["qd"]]})
    assert np.iscomplexobj(result)
    close(result, tau, 1e-13)


def test_replay_fractions():
    program = trace(lambda q, a: np.array([cos_sin(q[0])[0] * a[0] + a[1] / 3], dtype=object), {"q": (1,), "a": (2,)})
    result = replay(
        program, {"q": [Angle.from_parameter(Fraction(1, 2), value=Fraction(9, 10))], "a": [Fraction(1, 7), Fraction(2)]}
    )
    assert result[0] == Fraction(3, 35) + Fraction(2, 3)
    with pytest.raises(da.Error, match="Angle"):
        replay(program, {"q": [Fraction(1)], "a": [Fraction(1), Fraction(2)]})


def test_replay_mpmath(puma):
    mpmath = pytest.importorskip("mpmath")
    program, state, tau = puma
    with mpmath.workdps(50):
        result = replay(program, {k: [mpmath.mpf(x) for x in v] for k, v in state.items()})
    close(result.astype(float), tau, 1e-14)


def test_replay_sympy():
    sympy = pytest.importorskip("sympy")
    program = da.robot("two_link").program("inverse_dynamics")
    symbols = {name: sympy.symbols(f"{name}1:3") for name in ("q", "qd", "qdd")}
    tau = replay(program, symbols)
    ref = REFERENCE["FGL_2R"]
    numbers = {s: x for name, pair in symbols.items() for s, x in zip(pair, ref[name], strict=True)}
    close([float(t.subs(numbers)) for t in tau], ref["tau"], 1e-13)
    q2, qdd2 = symbols["q"][1], symbols["qdd"][1]
    assert (
        sympy.simplify(sympy.expand(tau[0]).coeff(qdd2) - (sympy.Rational(1, 3) + sympy.cos(q2) / 2)).evalf(subs={q2: 0.7}) < 1e-15
    )


def test_replay_casadi(puma):
    casadi = pytest.importorskip("casadi")
    program, state, tau = puma
    symbols = {k: casadi.SX.sym(k, 6) for k in state}
    function = casadi.Function("id", list(symbols.values()), [casadi.vertcat(*replay(program, symbols))])
    close(np.array(function(*state.values())).ravel(), tau, 1e-13)


@pytest.mark.slow
def test_replay_jax(puma):
    jax = pytest.importorskip("jax")
    program, state, tau = puma
    with jax.enable_x64(True):
        function = jax.jit(lambda q, qd, qdd: replay(program, {"q": q, "qd": qd, "qdd": qdd}))
        arrays = [jax.numpy.array(v) for v in state.values()]
        close(function(*arrays), tau, 1e-12)
        batched = [jax.numpy.stack([a, a]) for a in arrays]
        close(function(*batched), [tau, tau], 1e-12)
        close(jax.vmap(function)(*batched), [tau, tau], 1e-12)


def test_replay_residues_like_fractions():
    program = trace(lambda x: x[:1] / x[1:], {"x": (2,)})
    assert replay(program, {"x": [Residue(3), Residue(7)]})[0] == Residue(Fraction(3, 7))


def test_replay_says_what_is_missing(puma):
    program, state, _ = puma
    with pytest.raises(da.Error, match="needs input 'qdd'"):
        replay(program, {"q": state["q"], "qd": state["qd"]})
    with pytest.raises(da.Error, match="no input 'tau'"):
        replay(program, state | {"tau": [0] * 6})
    with pytest.raises(da.Error, match="'q' must"):
        replay(program, state | {"q": [0.0] * 5})
    with pytest.raises(da.Error, match="'q' must"):
        replay(program, state | {"q": np.zeros((2, 5))})


@pytest.mark.parametrize("method", ["newton_euler", "lie_group", "generalized_dalembert"])
def test_numpy_path_and_replay_equal(some_zoo_robot, method):
    program = some_zoo_robot.program("inverse_dynamics", method=method)
    rng = np.random.default_rng(1)
    state = dict(zip(("q", "qd", "qdd"), rng.uniform(-2, 2, (3, 5, some_zoo_robot.n)), strict=True))
    close(some_zoo_robot.inverse_dynamics(**state, method=method, backend="numpy"), replay(program, state), 1e-13)
    for k in range(5):
        one = replay(program, {name: value[k].tolist() for name, value in state.items()})
        close(some_zoo_robot.inverse_dynamics(**state, method=method)[k], one, 1e-13)


def test_formulation_on_plain_arrays_equals_its_program(some_zoo_robot, method):
    """The source itself runs on float batches: no tracing needed."""
    rng = np.random.default_rng(2)
    q, qd, qdd = rng.uniform(-2, 2, (3, 2, 3, some_zoo_robot.n))
    bare = some_zoo_robot.without_friction().without_armature()
    close(directly(bare, method, q, qd, qdd), bare.inverse_dynamics(q, qd, qdd, method=method, backend="numpy"), 1e-13)


def test_generated_source_reuses_names():
    program = da.robot("puma560").program("inverse_dynamics")
    names = {line.split(" = ")[0].strip() for line in numpy_source(program).splitlines()[1:-1]}
    assert len(names) < len(program.nodes) / 4


def test_large_batch_runs_in_chunks():
    program = trace(lambda x: cos_sin(x)[0], {"x": (1,)})
    x = np.linspace(0, 9, 5000)[:, None]
    assert np.array_equal(NumpyKernel(program)(x), np.cos(x))
    assert math.isclose(replay(program, {"x": [1.0]})[0], math.cos(1.0))


# --- more of replay -----------------------------------------------------------------------------------------------------


def test_replay_whole_numbers_are_floats(puma):
    program = puma[0]
    state = {"q": np.array([[0, 1, 0, 1, 0, 1]], np.int8), "qd": np.full((1, 6), 100, np.int8), "qdd": np.zeros((1, 6), np.int32)}
    close(replay(program, state), replay(program, {k: v.astype(float) for k, v in state.items()}), 1e-15)
    single = {k: list(v[0]) for k, v in state.items()}
    close(replay(program, single), replay(program, state)[0], 1e-13)


def test_replay_refuses_what_it_cannot_do(puma):
    program, state, _ = puma
    grid = trace(lambda m: m[0] * 2, {"m": (2, 3)})
    for bad in ([[1, 2], [3, 4], [5, 6]], np.zeros((3, 2)), np.zeros((3, 2), object), [1] * 6, None, 3.0, "text"):
        with pytest.raises(da.Error, match="'m' must"):
            replay(grid, {"m": bad})
    with pytest.raises(da.Error, match="do not broadcast"):
        replay(program, {"q": np.zeros((2, 6)), "qd": np.zeros((3, 6)), "qdd": np.zeros(6)})
    with pytest.raises(da.Error, match="cannot be evaluated"):
        replay(program, state | {"q": [math.inf] * 6})
    with pytest.raises(da.Error, match="dtype"):
        replay(program, state | {"q": np.array(["a"] * 6)})
    with pytest.raises(da.Error, match="are unknown"):
        replay(program, state | {"q": [{}] * 6})
    with pytest.raises(da.Error, match="mix"):
        replay(program, state | {"q": [Fraction(0)] * 6, "qd": [Residue(0)] * 6})
    with pytest.raises(da.Error, match="give it as an Angle"):
        replay(program, {k: [Residue(1)] * 6 for k in state})


def test_replay_mixes_plain_numbers_with_any_kind(puma):
    casadi, jax, sympy = (pytest.importorskip(name) for name in ("casadi", "jax", "sympy"))
    program, state, tau = puma
    plain = {k: np.array(v) for k, v in state.items()}
    symbol = casadi.SX.sym("qd", 6)
    function = casadi.Function("f", [symbol], [casadi.vertcat(*replay(program, plain | {"qd": symbol}))])
    close(np.array(function(state["qd"])).ravel(), tau, 1e-13)
    with jax.enable_x64(True):
        jitted = jax.jit(lambda qd: replay(program, plain | {"qd": qd}))
        close(jitted(jax.numpy.array(state["qd"])), tau, 1e-12)
    column = sympy.Matrix(state["qd"])
    close(replay(program, plain | {"qd": column}).astype(float), tau, 1e-13)


def test_exact_derivatives():
    program = trace(lambda x: x[:1] / 3 + 1 / x[1:], {"x": (2,)}, outputs=("y",))
    derivative = replay(differentiate(program), {"x": [Fraction(5), Fraction(2)]})
    assert derivative.tolist() == [[Fraction(1, 3), Fraction(-1, 4)]]


def test_derivatives_follow_the_order_asked_for():
    program = da.robot("two_link").program("inverse_dynamics")
    assert [v.name for v in differentiate(program, ["qd", "q"]).outputs] == ["dtau_dqd", "dtau_dq"]
    assert [v.name for v in differentiate(program, "qdd").outputs] == ["dtau_dqdd"]


def test_signs_of_angles():
    program = trace(lambda x: np.stack([cos_sin(-x[0])[0], cos_sin(-x[0])[1]]), {"x": (1,)})
    close(replay(program, {"x": [0.7]}), [math.cos(0.7), -math.sin(0.7)], 1e-15)


def test_angles_add_and_turn_back():
    third, half = (Angle.from_parameter(Fraction(1, k), value=Fraction(k)) for k in (3, 2))
    total, back = third + half, -third
    assert total.cos() == third.cos() * half.cos() - third.sin() * half.sin()
    assert total.sin() == third.sin() * half.cos() + third.cos() * half.sin()
    assert (back.cos(), back.sin(), back.value) == (third.cos(), -third.sin(), -3)
    assert (total - half).cos() == third.cos()
    assert (1 * third).sin() == third.sin()
    assert 2 * third == 6


def test_functions_of_fractions():
    program = trace(lambda x: np.stack([sqrt(x[0]), sign(x[1]), x[0] / x[0], 0 / x[1]]), {"x": (2,)})
    assert replay(program, {"x": [Fraction(4, 9), Fraction(-3)]}).tolist() == [Fraction(2, 3), -1, 1, 0]


def guarded():
    return trace(lambda x: np.stack([1 / above(x[0], 0.5, np.inf), above(x[1], 0.0, 7.0) + x[1]]), {"x": (2,)})


def test_above_on_every_scalar():
    """A number where it exceeds another, else a third one; symbols and residues have no order and stay."""
    p = guarded()
    assert "above(v0, 0.5, inf)" in str(p)
    assert da.trace.operation_count(p) == da.OperationCount(add=1, div=1)
    for x, expected in (([2.0, -1.0], [0.5, 6.0]), ([0.5, 3.0], [0.0, 6.0]), ([np.nan, 1.0], [0.0, 2.0])):
        assert replay(p, {"x": x}).tolist() == NumpyKernel(p)(np.array(x)).tolist() == expected
        assert da.compile_program(p)(np.array(x)).tolist() == expected
        assert replay(p, {"x": np.array([x, x])}).tolist() == [expected] * 2
    assert replay(p, {"x": [Fraction(4), Fraction(-2)]}).tolist() == [Fraction(1, 4), 5.0]
    assert replay(p, {"x": [Residue(4), Residue(3)]}).tolist() == [Residue(1) / 4, 6]
    close(replay(differentiate(p), {"x": [2.0, 1.0]}), [[-0.25, 0.0], [0.0, 2.0]], 1e-15)
    again = trace(lambda x: replay(p, {"x": x}), {"x": (2,)})
    assert again == p


def chosen():
    return trace(lambda x: np.stack([where(x[0] - 1, x[0] * x[1], 7.0), where(x[1], x[0], -x[1])]), {"x": (2,)})


def test_where_on_every_scalar():
    """One of two numbers, by whether a third is above 0; derivatives are those of the one that is taken."""
    p = chosen()
    assert "where(v" in str(p) and da.trace.operation_count(p) == da.OperationCount(mul=1, add=1)
    for x, expected in (
        ([2.0, -1.0], [-2.0, 1.0]),
        ([1.0, 3.0], [7.0, 1.0]),
        ([np.nan, 2.0], [7.0, np.nan]),
        ([2.0, np.nan], [np.nan] * 2),
    ):
        for found in (replay(p, {"x": x}), NumpyKernel(p)(np.array(x)), da.compile_program(p)(np.array(x))):
            np.testing.assert_array_equal(found, expected)
        np.testing.assert_array_equal(da.compile_program(p)(np.tile(x, (9, 1))), [expected] * 9)
        np.testing.assert_array_equal(replay(p, {"x": np.array([x, x])}), [expected] * 2)
    assert replay(p, {"x": [Fraction(4), Fraction(-1, 2)]}).tolist() == [-2, Fraction(1, 2)]
    assert replay(differentiate(p), {"x": [2.0, 3.0]}).tolist() == [[3.0, 2.0], [1.0, 0.0]]
    assert replay(differentiate(p, mode="forward"), {"x": [0.5, -1.0]}).tolist() == [[0.0, 0.0], [0.0, -1.0]]
    assert trace(lambda x: replay(p, {"x": x}), {"x": (2,)}) == p
    assert trace(lambda x: where(x[0], x[1], x[1]) + where(1.0, x[1], x[0]), {"x": (2,)}) == trace(
        lambda x: x[1] + x[1], {"x": (2,)}
    )
    with pytest.raises(da.Error, match="sign"):
        replay(p, {"x": [Residue(4), Residue(3)]})
    with pytest.raises(da.Error, match="identifier"):
        trace(lambda where: where, {"where": (2,)})


def test_where_in_other_libraries():
    sympy, casadi, iv = pytest.importorskip("sympy"), pytest.importorskip("casadi"), pytest.importorskip("mpmath").iv
    p, x = chosen(), sympy.symbols("x0:2", real=True)
    found = replay(p, {"x": list(x)})
    assert [float(y.subs({x[0]: 2.0, x[1]: -1.0})) for y in found] == [-2.0, 1.0]
    s = casadi.SX.sym("x", 2)
    function = casadi.Function("f", [s], [casadi.vertcat(*replay(p, {"x": s}))])
    assert np.asarray(function([2.0, -1.0])).ravel().tolist() == [-2.0, 1.0]
    low, high = da.enclosure(p, {"x": [0.5, 1.0]}, {"x": [2.0, 3.0]})
    assert low[0] <= 0.5 and high[0] >= 7.0 and (low[1], high[1]) == (0.5, 2.0)
    assert [float(y.b) for y in replay(p, {"x": [iv.mpf(2), iv.mpf([-1, 1])]})] == [2.0, 2.0]


def test_tanh_of_programs():
    x = np.linspace(-30, 30, 301)
    p = trace(lambda x: tanh(x), {"x": ()})
    for found in (tanh(x), da.compile_program(p)(x)):
        assert np.abs(found - np.tanh(x)).max() < 1e-15
    close(replay(differentiate(p), {"x": 0.7}), 1 - np.tanh(0.7) ** 2, 1e-14)


def test_above_in_other_libraries():
    sympy, casadi, mpmath = (pytest.importorskip(name) for name in ("sympy", "casadi", "mpmath"))
    p, x = guarded(), sympy.symbols("x0:2")
    assert replay(p, {"x": list(x)}).tolist() == [1 / x[0], 2 * x[1]]
    assert [float(y) for y in replay(p, {"x": [mpmath.mpf(2), mpmath.mpf(-1)]})] == [0.5, 6.0]
    s = casadi.SX.sym("x", 2)
    function = casadi.Function("f", [s], [casadi.vertcat(*replay(p, {"x": s}))])
    assert np.asarray(function([2.0, -1.0])).ravel().tolist() == [0.5, 6.0]


def test_numpy_kernels_take_any_program():
    p = trace(lambda e, x: (x * float("inf"), e * 2, x + 1j), {"e": (0,), "x": (2,)}, outputs=("a", "b", "c"))
    a, b, c = NumpyKernel(p)(np.zeros((3, 0)), np.ones((3, 2)))
    assert np.isinf(a).all()
    assert b.shape == (3, 0)
    assert (c == 1 + 1j).all()
    with pytest.raises(ValueError, match="needs"):
        NumpyKernel(p)(np.zeros(0), np.ones(3))
    with pytest.raises(ValueError, match="needs"):
        NumpyKernel(p)(np.zeros(0), np.ones((3, 1)))


def test_names_are_checked():
    for name in ("lambda", "sin", "v3", "a b"):
        with pytest.raises(da.Error, match="identifier"):
            trace(lambda x: x, {name: (2,)})


def test_recordings_do_not_mix():
    kept = []
    trace(lambda x: kept.append(x[0]) or x, {"x": (1,)})
    with pytest.raises(da.Error, match="another"):
        trace(lambda y: y + kept[0], {"y": (1,)})
    with pytest.raises(da.Error, match="another"):
        trace(lambda y: np.array([kept[0]], dtype=object), {"y": (1,)})
    with pytest.raises(da.Error, match="needs numbers"):
        trace(lambda y: None, {"y": (1,)})
