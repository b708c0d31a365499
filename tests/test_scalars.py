"""Programs on the scalars of other libraries, against the numbers of this one."""

import pickle
import re
import runpy
import subprocess
import sys
from fractions import Fraction
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from conftest import close, in_another_process, sweep

import dalembert as da
from dalembert.algebra.scalars import above, sign, sqrt
from dalembert.trace import Angle, replay, trace

ROOT = Path(__file__).parent.parent
NAMES = ("q", "qd", "qdd")


@pytest.fixture(scope="module")
def tree():
    """A branching robot of all kinds of joints, its program, 5 states and their torques."""
    robot = da.random_robot(3, "RPH", (-1, 0, 0))
    states = np.random.default_rng(3).uniform(-1, 1, (3, 5, robot.n))
    return robot.program("inverse_dynamics"), list(states), robot.inverse_dynamics(*states)


def complex_step(program, state):
    """d tau / d q, one state."""
    q, qd, qdd = state
    return replay(program, {"q": q + 1e-30j * np.eye(len(q)), "qd": qd, "qdd": qdd}).imag.T / 1e-30


# --- CasADi ---------------------------------------------------------------------------------------------------------------


def test_casadi_function(tree):
    casadi = pytest.importorskip("casadi")
    program, states, tau = tree
    f = da.casadi_function(program, "torques")
    assert (f.name(), f.name_in(), f.name_out()) == ("torques", list(NAMES), ["tau"])
    close(np.array(f(*(x.T for x in states))).T, tau, 1e-12)
    q = casadi.MX.sym("q", 3)
    jacobian = casadi.Function("jacobian", [q], [casadi.jacobian(f(q, states[1][0], states[2][0]), q)])
    state = [x[0] for x in states]
    close(np.array(jacobian(state[0])), complex_step(program, state), 1e-12)


def test_casadi_matrices_and_scalars():
    pytest.importorskip("casadi")
    program = trace(lambda A, s: (A * s, A.sum()), {"A": (2, 3), "s": ()}, outputs=("B", "total"))
    A = np.arange(6.0).reshape(2, 3)
    B, total = da.casadi_function(program)(A, 2.0)
    assert np.array(B).tolist() == (2 * A).tolist()
    assert float(total) == 15.0
    with pytest.raises(da.Error, match=r"'t' has shape \(2, 2, 2\), which is not a matrix; use replay"):
        da.casadi_function(trace(lambda t: t[0, 0, 0], {"t": (2, 2, 2)}))


def test_optimal_control():
    """From rest to rest with the least torque: it converges, the ends hold, and more time for the motion takes less torque."""
    pytest.importorskip("casadi")
    example = runpy.run_path(str(ROOT / "examples/casadi_optimal_control.py"))
    arm = da.robot("two_link")
    (q, qd, qdd, tau), cost = example["solve"](arm)
    close(q[[0, -1]], [example["START"], example["END"]], 1e-8)
    close(qd[[0, -1]], np.zeros((2, 2)), 1e-8)
    close(tau, arm.inverse_dynamics(q, qd, qdd), 1e-12)
    t = np.linspace(0, 1, 21)[:, None]  # a smooth motion between the same ends is no better
    s, ds, dds = (np.array(example["END"]) - example["START"]) * np.stack([3 * t**2 - 2 * t**3, 6 * t - 6 * t**2, 6 - 12 * t])
    smooth = (arm.inverse_dynamics(example["START"] + s, ds, dds) ** 2).sum(1)
    assert 0 < cost < 0.9 * np.trapezoid(smooth, dx=1 / 20)


# --- JAX ------------------------------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_jax_function(tree):
    jax = pytest.importorskip("jax")
    program, states, tau = tree
    expected = np.stack([complex_step(program, state) for state in zip(*states, strict=True)])
    with jax.enable_x64(True):
        f = da.jax_function(program)
        close(f(*states), tau, 1e-12)
        close(jax.jit(f)(*states), tau, 1e-12)
        close(jax.vmap(f)(*states), tau, 1e-12)
        close(jax.jit(jax.vmap(jax.jacobian(f)))(*states), expected, 1e-12)
        gradient = jax.grad(lambda q: f(q, states[1][0], states[2][0]) @ tau[0])(states[0][0])
        close(gradient, tau[0] @ expected[0], 1e-12)
    with pytest.raises(da.Error, match="takes 3 arrays, got 1"):
        f(states[0])


@pytest.mark.slow
@pytest.mark.parametrize("name", ["two_link", "panda"])
def test_jax_with_the_option_that_the_page_advises(name):
    """XLA knows the option, values and gradients are right, and the only work is that of the program."""
    jax = pytest.importorskip("jax")
    arm = da.robot(name).without_friction()
    program = arm.program("inverse_dynamics")
    states = np.random.default_rng(3).uniform(-1, 1, (3, 16, arm.n))
    tau = arm.inverse_dynamics(*states)
    slopes = arm.inverse_dynamics_derivatives(*states)
    options = {"xla_cpu_use_fusion_emitters": False}
    with jax.enable_x64(True):
        f = da.jax_function(program)
        compiled = jax.jit(f, compiler_options=options).lower(*states).compile()
        gradient = jax.jit(jax.grad(lambda *x: (f(*x) ** 2).sum(), argnums=(0, 1, 2)), compiler_options=options)
        close(compiled(*states), tau, 1e-12)
        for by_jax, slope in zip(gradient(*states), slopes, strict=True):
            close(by_jax, 2 * np.einsum("bi,bij->bj", tau, slope), 1e-12)
    assert compiled.cost_analysis()["flops"] <= len(states[0]) * len(program.nodes)


# --- PyTorch --------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("library", ["torch", "jax"])
def test_functions_can_be_pickled(tree, library):
    pytest.importorskip(library)
    program, states, _ = tree
    f = getattr(da, f"{library}_function")(program)
    copy = pickle.loads(pickle.dumps(f))
    assert copy.__doc__ == f.__doc__
    np.testing.assert_array_equal(copy(*states), f(*states))


@pytest.mark.slow
@pytest.mark.parametrize("library", ["torch", "jax"])
def test_pickled_functions_in_another_process(tree, library):
    pytest.importorskip(library)
    program, states, _ = tree
    f = getattr(da, f"{library}_function")(program)
    (values,) = in_another_process(f, *states)
    np.testing.assert_array_equal(values, f(*states))


@pytest.mark.slow
def test_tensors_that_are_differentiated_name_their_function():
    """They have no numbers for NumPy; the message says what to call instead."""
    jax, torch, arm = pytest.importorskip("jax"), pytest.importorskip("torch"), da.robot("two_link")
    with pytest.raises(da.Error, match=r"for gradients use da.torch_function\(robot.program\(...\)\), or detach it"):
        arm.gravity_force(torch.zeros(2, requires_grad=True))
    with pytest.raises(da.Error, match=r"for gradients use da.jax_function"):
        jax.grad(lambda q: arm.gravity_force(q).sum())(jax.numpy.zeros(2))
    assert "q(2) -> tau(2)" in str(da.torch_function(arm.program("gravity_force")).__doc__)
    close(arm.gravity_force(torch.zeros(2)), arm.gravity_force([0.0, 0.0]), 1e-7)  # others are arrays


def test_torch_function(tree):
    torch = pytest.importorskip("torch")
    program, states, tau = tree
    f = da.torch_function(program)
    tensors = [torch.tensor(x) for x in states]
    close(f(*tensors), tau, 1e-12)
    close(f(*states), tau, 1e-12)
    close(f(tensors[0], tensors[1][0], tensors[2][:1]).shape, tau.shape, 0)
    close(torch.func.vmap(f)(*tensors), tau, 1e-12)
    single = f(*(x.float() for x in tensors))
    assert single.dtype == torch.float32
    close(single, tau, 1e-5)


@pytest.mark.slow
def test_torch_derivatives(tree):
    torch = pytest.importorskip("torch")
    program, states, _ = tree
    f = da.torch_function(program)
    state = [torch.tensor(x[0]) for x in states]
    expected = complex_step(program, [x[0] for x in states])
    close(torch.autograd.functional.jacobian(f, tuple(state))[0], expected, 1e-12)
    close(torch.func.jacrev(f)(*state), expected, 1e-12)
    assert torch.autograd.gradcheck(f, [x.requires_grad_() for x in state])


def test_torch_functions_and_numbers():
    torch = pytest.importorskip("torch")
    program = trace(lambda x, y: np.stack([sqrt(x), sign(y), above(x[()], 1.0, 7.0), 0 * x + 3, sqrt(y)]), {"x": (), "y": ()})
    x = torch.tensor([4.0, 0.25], dtype=torch.float64)
    expected = [[2.0, 1.0, 4.0, 3.0, 3.0], [0.5, 1.0, 7.0, 3.0, 3.0]]
    assert replay(program, {"x": x, "y": 9.0}).tolist() == replay(program, {"x": x, "y": np.array([9.0, 9.0])}).tolist() == expected
    with pytest.raises(da.Error, match=r"must hold floating-point numbers, got dtype torch.int64"):
        replay(program, {"x": torch.tensor([1]), "y": x})
    with pytest.raises(da.Error, match="do not broadcast"):
        replay(program, {"x": torch.ones(3), "y": x})


# --- SymPy ----------------------------------------------------------------------------------------------------------------


def test_sympy_expressions():
    sympy = pytest.importorskip("sympy")
    robot = da.random_robot(4, "RPH", (-1, 0, 0))
    x, y = da.sympy_expressions(robot.program("inverse_dynamics"))
    assert [str(s) for s in x["qdd"]] == ["qdd1", "qdd2", "qdd3"]
    f = sympy.lambdify([*x.values()], y["tau"], cse=True)
    for state in np.random.default_rng(4).uniform(-1, 1, (5, 3, 3)):
        close(np.ravel(f(*state)), robot.inverse_dynamics(*state), 1e-12)


def test_sympy_takes_inputs_of_yours():
    sympy = pytest.importorskip("sympy")
    program = trace(lambda A, s: A @ A * s, {"A": (2, 2), "s": ()}, outputs=("B",))
    x, y = da.sympy_expressions(program)
    assert str(x["A"]) == "Matrix([[A1_1, A1_2], [A2_1, A2_2]])"
    assert sympy.expand(y["B"] - x["A"] ** 2 * x["s"][0]) == sympy.zeros(2)
    assert da.sympy_expressions(program, {"A": [[1, 2], [3, 4]], "s": 2})[1]["B"] == sympy.Matrix([[14, 20], [30, 44]])
    with pytest.raises(da.Error, match="unknown input of the program: 'a'"):
        da.sympy_expressions(program, {"a": 1})


# --- digits and fractions -------------------------------------------------------------------------------------------------


def test_mpmath(tree):
    mpmath = pytest.importorskip("mpmath")
    program, states, tau = tree
    state = {name: x[0] for name, x in zip(NAMES, states, strict=True)}

    def torques(digits):
        with mpmath.workdps(digits):
            return replay(program, {name: list(map(mpmath.mpf, x)) for name, x in state.items()})

    fifty, eighty = torques(50), torques(80)
    close(fifty.astype(float), tau[0], 1e-14)
    with mpmath.workdps(80):
        assert max(abs(a - b) for a, b in zip(fifty, eighty, strict=True)) < mpmath.mpf(10) ** -46
        mixed = replay(program, state | {"q": list(map(mpmath.mpf, state["q"]))})  # plain numbers are as exact
        assert max(abs(a - b) for a, b in zip(mixed, eighty, strict=True)) < mpmath.mpf(10) ** -74


def test_fractions():
    robot = da.robot("stanford")
    t, qd, qdd = np.random.default_rng(5).uniform(-0.5, 0.5, (3, 6))
    q = [Angle.from_parameter(Fraction(x), value=Fraction(x)) for x in t]
    q[2] = Fraction(t[2])  # it slides
    tau = replay(robot.program("inverse_dynamics"), {"q": q, "qd": list(qd), "qdd": list(map(Fraction, qdd))})
    assert all(isinstance(x, Fraction) for x in tau)
    turned = np.where(np.arange(6) == 2, t, 2 * np.arctan(t))
    close(tau.astype(float), robot.inverse_dynamics(turned, qd, qdd), 1e-13)


# --- intervals ------------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def box():
    pytest.importorskip("mpmath")
    robot = da.random_robot(6, "RPH", (-1, 0, 0))
    middle = np.random.default_rng(6).uniform(-1, 1, (3, 3))
    lower, upper = (dict(zip(NAMES, middle + side, strict=True)) for side in (-0.2, 0.2))
    return robot, robot.program("inverse_dynamics"), lower, upper


@pytest.mark.parametrize("pieces", [1, 30])
def test_enclosures_hold(box, pieces):
    robot, program, lower, upper = box
    low, high = da.enclosure(program, lower, upper, pieces=pieces)
    random = np.random.default_rng(7)
    tau = robot.inverse_dynamics(**{x: random.uniform(lower[x], upper[x], (200, 3)) for x in NAMES})
    corners = robot.inverse_dynamics(**{x: np.where(random.random((200, 3)) < 0.5, lower[x], upper[x]) for x in NAMES})
    for found in (tau, corners):
        assert (low <= found).all()
        assert (found <= high).all()


def test_enclosures_shrink(box):
    _, program, lower, upper = box
    widths = [np.subtract(*da.enclosure(program, lower, upper, pieces=k)[::-1]) for k in (1, 4, 16)]
    assert all((b <= a).all() and b.sum() < 0.95 * a.sum() for a, b in pairwise(widths))


def test_enclosures_of_points_hold_the_exact_value(box):
    """Outward rounding: between the ends lies what 60 digits give, and nothing but rounding is between them."""
    import mpmath

    _, program, lower, _ = box
    low, high = da.enclosure(program, lower, lower)
    assert (low < high).all()
    assert (high - low < 1e-12).all()
    with mpmath.workdps(60):
        exact = replay(program, {name: list(map(mpmath.mpf, x)) for name, x in lower.items()})
    assert all(a < x < b for a, x, b in zip(low, exact, high, strict=True))
    sharp = da.enclosure(program, lower, lower, bits=200)  # the two floats around it
    assert (sharp[1] == np.nextafter(sharp[0], np.inf)).all()
    assert all(a < x < b for a, x, b in zip(sharp[0], exact, sharp[1], strict=True))
    rational = trace(lambda x: x[:1] / 3 + x[1:] * x[1:] - x[:1] * x[1:], {"x": (2,)})
    value = replay(rational, {"x": [Fraction(1, 8), Fraction(0.1)]})[0]
    low, high = da.enclosure(rational, {"x": [0.125, 0.1]}, {"x": [0.125, 0.1]})
    assert Fraction(low[0]) < value < Fraction(high[0]) < value + Fraction(1, 10**15)


def test_enclosures_with_friction():
    """The sign of a speed that may be zero jumps, so the mean value form must stay away."""
    pytest.importorskip("mpmath")
    program = trace(lambda x: x + 5 * sign(x), {"x": ()})
    low, high = da.enclosure(program, {"x": -0.1}, {"x": 0.1}, pieces=20)
    assert low <= -5.1 < 5.1 <= high
    assert (high - low) < 10.21
    low, high = da.enclosure(program, {"x": 1.0}, {"x": 2.0})
    assert 6.0 - 1e-14 < low <= 6.0 < 7.0 <= high < 7.0 + 1e-14


def test_intervals_know_squares_guards_and_zero():
    iv = pytest.importorskip("mpmath").iv
    program = trace(lambda x: np.stack([x * x, sign(x), sqrt(x * x)]), {"x": ()})
    found = replay(program, {"x": iv.mpf([-1, 2])})
    assert [(float(y.a), float(y.b)) for y in found] == [(0.0, 4.0), (-1.0, 1.0), (0.0, 2.0)]
    guarded = trace(lambda x: 1 / above(x[()], 0.5, np.inf), {"x": ()})
    low, high = da.enclosure(guarded, {"x": 1.0}, {"x": 2.0})
    assert 0.0 < low <= 0.5 < 1.0 <= high
    with pytest.raises(da.Error, match=r"must exceed 0\.5, and in this box it lies in \[0\.25, 2\.0\]: take a smaller box"):
        da.enclosure(guarded, {"x": 0.25}, {"x": 2.0})
    for end in (1.0, 2.0):
        low, high = da.enclosure(trace(lambda x: 1 / x, {"x": ()}), {"x": -1.0}, {"x": end}, pieces=8)
        assert (low, high) == (-np.inf, np.inf)


def test_enclosures_of_several_outputs():
    pytest.importorskip("mpmath")
    program = trace(lambda A, s: (A * s, A[0, 0] - A[0, 0] * s), {"A": (2, 2), "s": ()}, outputs=("B", "d"))
    (B, d), (B2, d2) = da.enclosure(program, {"A": 1, "s": 0}, {"A": [[1, 2], [3, 4]], "s": 1}, pieces=40)
    assert B.shape == (2, 2)
    assert (B <= 0).all()
    assert (B2 >= [[1, 2], [3, 4]]).all()
    assert -0.2 < d <= 0.0 < 1.0 <= d2 < 1.2


@pytest.mark.parametrize(
    ("lower", "upper", "message"),
    [
        ({"x": 0}, {"x": [0, 1, 2]}, r"the upper end of 'x' must have shape \(2,\), got \[0, 1, 2\]"),
        ({"x": [1, 2]}, {"x": [2, 1]}, "the lower end of the box is above its upper end"),
        ({"x": 0}, {"x": np.inf}, "the upper end of 'x' must be finite"),
        ({}, {"x": 0}, "the box needs input 'x'"),
        ({"x": 0, "y": 0}, {"x": 0}, "the program has no input 'y'"),
    ],
)
def test_boxes_are_checked(lower, upper, message):
    with pytest.raises(da.Error, match=message):
        da.enclosure(trace(lambda x: x[:1], {"x": (2,)}), lower, upper)


# --- libraries that are missing, the examples, the page ----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("library", "call"),
    [
        ("casadi", da.casadi_function),
        ("jax", da.jax_function),
        ("torch", da.torch_function),
        ("sympy", da.sympy_expressions),
        ("mpmath", lambda p: da.enclosure(p, {"x": 0}, {"x": 1}, bits=60)),
    ],
    ids=["casadi", "jax", "torch", "sympy", "mpmath"],
)
def test_missing_libraries_say_what_to_install(monkeypatch, library, call):
    monkeypatch.setitem(sys.modules, library, None)
    with pytest.raises(da.Error, match=f"this needs {library}, which is not installed: pip install {library}"):
        call(trace(lambda x: x, {"x": ()}))


@pytest.mark.parametrize(
    ("name", "needs", "says"),
    sweep(
        [
            ("casadi_optimal_control", ("casadi",), "integral of tau"),
            (
                "gradients",
                ("torch", "jax"),
                r"torch differs from dalembert by \S+e-1[4-9]\njax differs from dalembert by \S+e-1[4-9]",
            ),
            ("torque_bounds", (), "100 boxes guarantee[^|]*random states reach only"),
        ],
        quick=(),  # test_examples.py has a quick one
    ),
    ids=["casadi", "gradients", "bounds"],
)
def test_examples(name, needs, says):
    for library in needs:
        pytest.importorskip(library)
    done = subprocess.run(
        [sys.executable, "-W", "error", ROOT / f"examples/{name}.py"], capture_output=True, text=True, timeout=900
    )
    assert done.returncode == 0, done.stderr
    assert re.search(says, done.stdout), done.stdout


@pytest.mark.parametrize("call", [da.casadi_function, da.jax_function, da.torch_function, da.sympy_expressions])
def test_robots_are_no_programs(call):
    with pytest.raises(da.Error, match=r"takes a program, such as robot\.program"):
        call(da.robot("two_link"))


def test_bridges_check_what_they_get():
    robot = da.robot("two_link")
    program, box = robot.program("inverse_dynamics"), {"q": 0.0, "qd": 0.0, "qdd": 0.0}
    wrong = [
        lambda: da.enclosure(robot, box, box),
        lambda: da.enclosure(program, 3, box),
        lambda: da.enclosure(program, box, box, bits=0),
        lambda: da.enclosure(program, box, box, bits="53"),
        lambda: da.enclosure(program, box, box, pieces=0),
        lambda: da.replay(robot, box),
        lambda: da.replay(program, 3),
        lambda: da.casadi_function(program, 3),
        lambda: da.casadi_function(program, "two words"),
        lambda: da.sympy_expressions(program, 3),
        lambda: da.sympy_expressions(program, {"q": [1]}),
        lambda: robot.symbolic(3),
    ]
    for call in wrong:
        with pytest.raises(da.Error):
            call()
