"""Intervals by native code, against ball arithmetic (arb) and samples; and bounds by branch and bound."""

import importlib
import re
from fractions import Fraction

import numpy as np
import pytest
from conftest import sweep

import dalembert as da
from dalembert.algebra.scalars import above, sign, sqrt, where
from dalembert.bounds.bound import box
from dalembert.native.evaluator import evaluator
from dalembert.trace import trace
from dalembert.trace.expr import unrounded
from dalembert.trace.intervals import spans
from dalembert.trace.intervals.bounding import margins, prepare
from dalembert.trace.intervals.degrees import angles, degree, quadratic
from dalembert.trace.intervals.enclosing import Enclosing
from dalembert.trace.intervals.rounding import errors
from dalembert.trace.intervals.spans import Span
from dalembert.trace.intervals.stepping import step_program
from dalembert.trace.program import Variable, assemble, evaluate
from dalembert.trace.source import NumpyKernel


def mixed(x):
    """All operations: quotients, roots, squares, sines of sums, jumps."""
    a, b, c = x
    inner = np.sin(3 * a + b * b) / (2 + np.cos(c * b)) + sqrt(1 + a * a) - b / 3
    return np.array([inner * where(inner - 0.3, a, b * c), sign(a * b - c) * 2 + a * c, 1 / (4 + where(b - a, a, b)), a * a - a])


def divided(x):
    """Divisors that hold 0 in large boxes only."""
    a, b, c = x
    return np.array([b / a + c, sqrt(a * a + b * b) / (a - c), a * b])


PROGRAMS = {
    "puma": lambda: da.robot("puma560").program("inverse_dynamics"),
    "two_link forward": lambda: da.robot("two_link").program("forward_dynamics"),
    "mixed": lambda: trace(lambda x: mixed(list(x)), {"x": (3,)}),
    "divided": lambda: trace(lambda x: divided(list(x)), {"x": (3,)}),
    "random": lambda: da.random_robot(5, "RPH").program("inverse_dynamics"),
}


def exact(program, inputs):
    """All results at a point by arb, as balls of 200 bits."""
    flint = pytest.importorskip("flint")
    flint.ctx.prec = 200

    def ball(c):
        x = unrounded(c)
        return flint.arb(x.numerator) / x.denominator if isinstance(x, Fraction) else flint.arb(x)

    def function(op, a, *more):
        if op == "where":
            return more[0] if a > 0 else more[1]
        if op == "sign":
            return flint.arb(int(a > 0) - int(a < 0))
        if op == "above":
            return a if a > more[0] else flint.arb(more[1])
        return getattr(a, op)()

    values = evaluate(program, [[ball(float(z)) for z in np.ravel(x)] for x in inputs], ball, function)
    return [values[i] for i in program.results]


def random_boxes(program, count, seed, reach=1.5):
    """Boxes of all sizes, points among them: lower and upper ends of each input."""
    random = np.random.default_rng(seed)
    radius = np.where(random.random(count) < 0.3, 0.0, 10.0 ** random.uniform(-9, 0, count))
    ends = [], []
    for v in program.inputs:
        middle = random.uniform(-reach, reach, (count, *v.shape))
        r = radius.reshape(-1, *[1] * len(v.shape)) * random.random((count, *v.shape))
        ends[0].append(middle - r)
        ends[1].append(middle + r)
    return ends, random


@pytest.mark.parametrize("name", PROGRAMS)
@pytest.mark.parametrize("mean_value", [True, False], ids=["mean", "natural"])
def test_enclosures_hold_what_arb_computes(name, mean_value):
    program = PROGRAMS[name]()
    count = 60
    (low, high), random = random_boxes(program, count, 1)
    names = [v.name for v in program.inputs]
    given = [dict(zip(names, side, strict=True)) for side in (low, high)]
    found = da.enclosure(program, *given, mean_value=mean_value)
    below, beyond = (np.reshape(x, (count, -1)) for x in found)
    assert (np.isfinite(below).mean() > 0.5) and (below <= beyond).all()
    for k in range(count):
        for share in (0.0, 1.0, None):
            some = [random.random(np.shape(a[k])) if share is None else share for a in low]
            point = [np.clip(a[k] + s * (b[k] - a[k]), a[k], b[k]) for a, b, s in zip(low, high, some, strict=True)]
            for i, y in enumerate(exact(program, point)):
                if y.is_finite():
                    assert y >= below[k, i], (name, k, i)
                    assert y <= beyond[k, i], (name, k, i)


def test_without_margins_points_would_not_hold():
    """The error that is added is needed: the same intervals without it exclude the exact value of some points."""
    program = PROGRAMS["puma"]()
    (low, _), _ = random_boxes(program, 40, 2)
    kernel = evaluator(Enclosing(program, (), False).record())
    slack = np.zeros(1)
    bare = kernel(*low, *low, np.zeros((2, 6)), slack)
    wrong = [not bare[0][k, i] <= y <= bare[1][k, i] for k in range(40) for i, y in enumerate(exact(program, [x[k] for x in low]))]
    assert np.mean(wrong) > 0.2
    given = dict(zip(("q", "qd", "qdd"), low, strict=True))
    below, beyond = da.enclosure(program, given, given)
    assert (beyond - below).max() < 1e-11


def test_outward_rounding_holds_points():
    """The other way to cover rounding, without any bound known beforehand."""
    program = PROGRAMS["random"]()
    (low, _), _ = random_boxes(program, 30, 3)
    below, beyond = evaluator(Enclosing(program, (), True).record())(*low, *low, np.zeros((2, 3)), np.zeros(1))
    for k in range(30):
        assert all(below[k, i] <= y <= beyond[k, i] for i, y in enumerate(exact(program, [x[k] for x in low])))
    assert (beyond - below).max() < 1e-11


def test_enclosures_by_numpy_are_the_same():
    program = PROGRAMS["mixed"]()
    record = Enclosing(program, (0,), False).record()
    (low, high), _ = random_boxes(program, 50, 4)
    given = (*low, *high, np.full((2, 4), 1e-12), np.full(3, 1e-12))
    for a, b in zip(evaluator(record)(*given), NumpyKernel(record)(*given), strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-12, atol=1e-13)


def test_boxes_broadcast():
    program = PROGRAMS["mixed"]()
    low, high = da.enclosure(program, {"x": np.zeros((2, 1, 3))}, {"x": np.ones((4, 3))})
    assert low.shape == high.shape == (2, 4, 4)
    alone = da.enclosure(program, {"x": 0.0}, {"x": 1.0})
    np.testing.assert_allclose(low, np.broadcast_to(alone[0], low.shape), rtol=1e-12)
    pieces = da.enclosure(program, {"x": np.zeros((2, 3))}, {"x": np.ones(3)}, pieces=8)
    assert pieces[0].shape == (2, 4)
    assert (pieces[0] >= alone[0] - 1e-12).all()
    assert (pieces[1] <= alone[1] + 1e-12).all()
    assert da.enclosure(program, {"x": np.zeros((0, 3))}, {"x": np.ones(3)})[0].shape == (0, 4)


def test_guards_are_refused_where_they_fail():
    guarded = trace(lambda x: 1 / above(x[()], 0.5, np.inf), {"x": ()})
    with pytest.raises(da.Error, match=r"must exceed 0\.5, and in this box it lies in \[0\.25, 2\.0\]"):
        da.enclosure(guarded, {"x": [1.0, 0.25]}, {"x": 2.0})


# --- the parts ------------------------------------------------------------------------------------------------------------


def test_sines_of_intervals():
    random = np.random.default_rng(0)
    low = random.uniform(-10, 10, 400)
    high = low + random.uniform(0, 1, 400) ** 3 * 8
    for function, f in ((spans.sine, np.sin), (spans.cosine, np.cos)):
        for a, b in zip(low, high, strict=True):
            found, seen = function(Span(a, b)), f(np.linspace(a, b, 4001))
            assert found.low <= seen.min() <= found.low + 1e-5
            assert found.high - 1e-5 <= seen.max() <= found.high


def test_comparisons_of_doubles_are_those_of_differences():
    """where(a - b, x, y) compares a with b in native code: the same for all doubles."""
    odd = [0.0, -0.0, 1.0, np.nextafter(1.0, 2.0), 5e-324, -5e-324, 2.3e-308, 1.7e308, -1.7e308, np.inf, -np.inf, np.nan]
    a, b = (x.ravel() for x in np.meshgrid(odd, odd))
    program = trace(
        lambda a, b: (where(a - b, b, a), where(a - b, a, b), where(a * a - b, 1, 2)), {"a": (), "b": ()}, outputs=("x", "y", "z")
    )
    for native, numpy in zip(da.compile_program(program)(a, b), NumpyKernel(program)(a, b), strict=True):
        np.testing.assert_array_equal(native, numpy)
    one = da.compile_program(program)(2.0, 1.0)
    assert [float(x) for x in one] == [1.0, 2.0, 1.0]


def test_degrees():
    program = trace(lambda x: x[0] * x[1] + x[2].sin() * x[0] + x[3] / x[2], {"x": (4,)})
    keys = [(0, j) for j in range(4)]
    assert [degree(program, [key]) for key in keys] == [1, 1, 3, 1]
    assert quadratic(program, keys) == [(0, 0), (0, 1), (0, 3)]
    assert angles(program) == set()
    assert angles(trace(lambda x: x[0].sin() * x[1], {"x": (2,)})) == {(0, 0)}
    cubic = trace(lambda x: x[0] * x[1] * x[2], {"x": (3,)})
    assert len(quadratic(cubic, keys[:3])) == 2
    torques = da.robot("puma560").program("inverse_dynamics")
    rates = [(k, j) for k in (1, 2) for j in range(6)]
    assert quadratic(torques, [(k, j) for k in range(3) for j in range(1, 6)]) == [key for key in rates if key[1]]
    assert [degree(torques, some) for some in (rates, rates[6:], [(0, 1)])] == [2, 1, 3]


def test_errors_are_known_beforehand():
    program = trace(lambda x: (x[0] + x[1]) / 3 - x[0] * 0.1, {"x": (2,)})
    known = errors(program, [[(-1.0, 2.0), (0.0, 4.0)]])[program.results[0]]
    assert known.low < -0.5
    assert known.high > 2.0
    assert 1e-16 < known.error < 1e-14
    free = trace(lambda x: 1 / x, {"x": ()})
    assert errors(free, [[(-1.0, 1.0)]])[free.results[0]].error == np.inf
    assert errors(free, [[(0.5, 1.0)]])[free.results[0]].error < 1e-14


def test_bounds_hold_after_the_last_rounding():
    """Moving an end outward by a known error rounds, too: here it would be rounded back, below the exact sum."""
    u = 2.0**-53
    program = trace(lambda x: np.array((((x[0] + x[1]) + x[2]) + x[3]) + x[4], dtype=object), {"x": (5,)})
    x = np.array([1.0, u, u, u, 1 + 2 * u])
    total = sum(map(Fraction, x.tolist()))
    for sign_ in (1, -1):
        low, high = da.enclosure(program, {"x": sign_ * x}, {"x": sign_ * x})
        assert Fraction(float(low)) <= sign_ * total <= Fraction(float(high))
        found = da.robot("two_link").bound(program, over={"x": (sign_ * x, sign_ * x)})
        assert Fraction(float(found.lower)) <= sign_ * total <= Fraction(float(found.upper))


def test_errors_after_cancellation():
    """V and m are computed with the errors that they bound: V may be E where 0 is computed, and m less than m - E."""
    u = 2.0**-53
    ends = [[(1.0, 1.0), (0.9 * u, 0.9 * u)]]
    product = trace(lambda x: ((x[0] + x[1]) - x[0]) * ((x[1] - x[0]) + x[0]), {"x": (2,)})
    known = errors(product, ends)
    a, b = (known[i].error for i in product.nodes[product.results[0]][1:])
    assert known[product.results[0]].error >= 3 * a * b
    quotient = trace(lambda x: 1 / ((x[0] + x[1]) - x[0]), {"x": (2,)})
    assert errors(quotient, [[(1.0, 1.0), (4 * u, 4 * u)]])[quotient.results[0]].error == np.inf  # E is 3 u
    assert errors(quotient, [[(1.0, 1.0), (64 * u, 64 * u)]])[quotient.results[0]].error < np.inf


HUGE = {
    "square": (lambda x: x * x, 1e160, 1e161),
    "sine": (lambda x: x.sin(), 1e300, 1e300),
    "reciprocal": (lambda x: 1 / x, 1e-170, 1.0),
    "tiny": (lambda x: x * x + x, 0.0, 5e-324),
    "tinier": (lambda x: x * x + x, -5e-324, 1e-320),
    "overflow": (lambda x: ((x * x - x * x * 3) * (x - 1e200)).sin() + (x * x).sqrt(), 1e200, 2e200),
    "no number": (lambda x: (x * x - x * x * 2 + x) * (x - 2e200), 1e200, 2e200),
    "choice": (lambda x: where(x * x - x * x * 2, x, -x), 1e200, 2e200),
    "wide": (lambda x: x * 2 - x, -1.7e308, 1.7e308),
}


@pytest.mark.parametrize("name", HUGE)
def test_huge_and_tiny_boxes(name):
    """Where numbers overflow or underflow, bounds hold, and may be infinite."""
    f, low, high = HUGE[name]
    program = trace(lambda x: np.array(f(x[()]), dtype=object), {"x": ()})
    below, beyond = da.enclosure(program, {"x": low}, {"x": high})
    for x in (low, high):
        (y,) = exact(program, [np.array(x)])
        assert y >= float(below)
        assert y <= float(beyond)


def test_ranges_without_values():
    program = trace(lambda x: np.array(x[0] / x[1], dtype=object), {"x": (2,)})
    with pytest.raises(da.Error, match="there is no finite value in this range"):
        da.robot("two_link").bound(program, over={"x": (x := np.array([1.0, 0.0]), x)})
    with pytest.raises(da.Error, match="there is no finite value in this range"):
        da.robot("two_link").bound(program, over={"x": ([1.0, 0.0], [2.0, 0.0])})
    square = trace(lambda x: np.array(x[0] * x[0], dtype=object), {"x": (1,)})
    with pytest.raises(da.Error, match="there is no finite value in this range"):
        da.robot("two_link").bound(square, over={"x": (1e160, 1e161)})
    one = trace(lambda x: np.array(1 / x[0], dtype=object), {"x": (1,)})
    with pytest.raises(da.Error, match="there is no finite value in this range"):
        da.robot("two_link").bound(one, over={"x": 0.0})


# --- steps: bounds, contraction, cuts -------------------------------------------------------------------------------------

STEPS = {
    "torques": (lambda: da.robot("two_link").program("inverse_dynamics"), 0),
    "friction": (lambda: da.robot("two_link").with_friction(damping=0.3, coulomb=2.0).program("inverse_dynamics"), 1),
    "accelerations": (lambda: da.robot("two_link").program("forward_dynamics"), 1),
    "mixed 0": (PROGRAMS["mixed"], 0),
    "mixed 1": (PROGRAMS["mixed"], 1),
    "divided": (PROGRAMS["divided"], 0),
    "jumping": (lambda: trace(lambda x: (x[0] + 1) ** 2 - 3 * sign(x[0]) + x[1] * x[0], {"x": (2,)}), 0),  # convex but for a jump
    "sliding": (lambda: da.random_robot(123705, "HP").with_friction(coulomb=1.0).program("forward_dynamics"), 1),
    "puma": (PROGRAMS["puma"], 2),
    "random": (lambda: da.random_robot(2, "RHP", (-1, 0, 0)).program("inverse_dynamics"), 0),
}


@pytest.mark.parametrize("name", sweep(list(STEPS), quick=("friction", "mixed 0", "mixed 1", "divided", "jumping")))
@pytest.mark.parametrize("side", [1.0, -1.0])
def test_steps_lose_no_state(name, side):
    """In boxes of all sizes: no sample is above the bound, nor above the bounds of both parts of the smaller box."""
    make, entry = STEPS[name]
    program, random = make(), np.random.default_rng(0)
    keys = [(k, j) for k, v in enumerate(program.inputs) for j in range(v.size)]
    step = prepare(program, program.results[entry], keys, [])
    known = margins(step, dict.fromkeys(keys, (-1.5, 1.5)))
    kernel = evaluator(step_program(step, known.outward))
    count, wide = 400, len(step.groups.wide)
    middle = random.uniform(-1.5, 1.5, (count, wide))
    radius = 1.5 * 10.0 ** random.uniform(-3, 0, (count, 1)) * random.random((count, wide))
    radius[random.random((count, wide)) < 0.2] = 0.0
    low, high = np.maximum(middle - radius, -1.5), np.minimum(middle + radius, 1.5)

    def bounds(a, b):
        top, *rest = kernel(a, b, side, np.array(known.slack))
        return np.where(np.isnan(top), np.inf, top + known.bound), *rest

    top, _, lower, half, centre, upper = bounds(low, high)
    assert ((lower >= low) & (half <= high) & (centre >= low) & (upper <= high)).all()
    parts = np.maximum(bounds(lower, half)[0], bounds(centre, upper)[0])
    value = evaluator(assemble(program.inputs, (Variable("f", ()),), program.nodes, [program.results[entry]]))
    for _ in range(60):
        share = random.random((count, wide))
        share = np.where(random.random((count, wide)) < 0.4, np.round(share), share)
        x = np.clip(low + share * (high - low), low, high)
        full = [np.zeros((count, v.size)) for v in program.inputs]
        for i, (k, j) in enumerate(step.groups.wide):
            full[k][:, j] = x[:, i]
        f = side * value(*(a.reshape(count, *v.shape) for a, v in zip(full, program.inputs, strict=True)))[0]
        slip = 1e-13 * (1 + abs(f))  # of the sample itself
        known_ = ~np.isnan(f)
        assert (f[known_] <= (top + slip)[known_]).all()
        assert (f[known_] <= (parts + slip)[known_]).all()
    assert np.isfinite(top).mean() > 0.5
    assert (upper - lower < high - low).any()  # boxes do contract


# --- bounds of robots -----------------------------------------------------------------------------------------------------


def samples(robot, ranges, count, seed=0):
    random = np.random.default_rng(seed)
    states = []
    for low, high in ranges:
        share = random.random((count, robot.n))
        share = np.where(random.random((count, robot.n)) < 0.5, np.round(share), share)
        states.append(low + share * (np.asarray(high) - low))
    return states


def test_gravity_of_a_pendulum_arm():
    """The largest torques that hold two rods are known: stretched out, 2 g and 0.5 g times lengths of 1 m."""
    arm = da.robot("two_link")
    found = arm.bound("gravity_force", tolerance=1e-3)
    straight = arm.gravity_force([0.0, 0.0])
    assert (found.upper >= straight).all()
    assert (found.upper <= straight * 1.0011).all()
    np.testing.assert_allclose(found.greatest, straight, rtol=1e-9)
    np.testing.assert_allclose(found.least, -straight, rtol=1e-9)
    assert (found.lower <= -straight).all()
    assert found.within_tolerance
    assert (found.ratio < 1.0011).all()
    assert found.names == arm.joint_names
    assert arm.gravity_force(found.at_greatest[0]["q"])[0] == pytest.approx(found.greatest[0])


def test_mass_matrix_has_its_shape():
    arm = da.robot("two_link")
    found = arm.bound("mass_matrix", tolerance=1e-6)
    ends = arm.mass_matrix([[0.0, 0.0], [0.0, np.pi]])
    assert found.upper.shape == (2, 2)
    np.testing.assert_allclose(found.upper, ends.max(0), rtol=1e-6)
    np.testing.assert_allclose(found.lower, ends.min(0), rtol=1e-6)


@pytest.mark.parametrize(("quantity", "other"), [("inverse_dynamics", "qdd"), ("forward_dynamics", "tau")])
def test_no_sample_exceeds_bounds(quantity, other):
    arm = da.robot("two_link").with_friction(damping=0.2, coulomb=1.5)
    ranges = [(-np.pi, np.pi), (-1.0, 2.0), (-3.0, 3.0)]
    found = arm.bound(quantity, over=dict(zip(("q", "qd", other), ranges, strict=True)), tolerance=0.02)
    values = getattr(arm, quantity)(*samples(arm, ranges, 200_000))
    assert (values <= found.upper).all()
    assert (values >= found.lower).all()
    assert (values.max(0) <= found.greatest + 1e-9).all()
    assert (values.min(0) >= found.least - 1e-9).all()
    assert found.within_tolerance


@pytest.mark.slow
@pytest.mark.parametrize("wrist", [0.0, 0.4])
def test_puma_within_a_thousandth(wrist):
    """Also with the wrist fixed elsewhere, where its sines are numbers that round."""
    arm = da.robot("puma560")
    on = np.array([1.0, 1.0, 1.0, 0.0, 0.0, 0.0])
    over = {"q": dict.fromkeys(arm.joint_names[3:], wrist), "qd": (-on, on), "qdd": (-on, on)}
    found = arm.bound("inverse_dynamics", over=over, tolerance=1e-3, only=[0, 1, 2])
    assert (found.ratio < 1.0011).all()
    q = [np.r_[arm.lower[:3], [wrist] * 3], np.r_[arm.upper[:3], [wrist] * 3]]
    tau = arm.inverse_dynamics(*samples(arm, [q, (-on, on), (-on, on)], 500_000))[:, :3]
    assert ((tau <= found.upper) & (tau >= found.lower)).all()
    assert (tau.max(0) > 0.9 * found.upper).all()
    for k in range(3):
        np.testing.assert_allclose(arm.inverse_dynamics(**found.at_least[k])[k], found.least[k], rtol=1e-12)


def test_bounds_hold_however_early_it_stops():
    arm = da.robot("two_link")
    over = {"qd": (-1.0, 1.0), "qdd": (-1.0, 1.0)}
    early = arm.bound("inverse_dynamics", over=over, tolerance=1e-9, seconds=1e-6)
    late = arm.bound("inverse_dynamics", over=over, tolerance=1e-3)
    assert not early.within_tolerance
    assert "give it more seconds" in str(early)
    assert (early.upper >= late.greatest).all()
    assert (early.upper > late.upper).all()
    assert (early.lower <= late.least).all()


def test_time_is_looked_at_between_entries(monkeypatch):
    begun = []
    entry = importlib.import_module("dalembert.bounds.bound").Entry
    monkeypatch.setattr("dalembert.bounds.bound.Entry", lambda *given: begun.append(given[1]) or entry(*given))
    arm = da.robot("two_link")
    found = arm.bound("gravity_force", seconds=1e-6)
    assert len(begun) == 1
    assert (found.lower[1], found.upper[1]) == (-np.inf, np.inf)
    assert arm.gravity_force(found.at_greatest[1]["q"])[1] == pytest.approx(found.greatest[1])
    assert not found.within_tolerance
    assert "give it more seconds" in str(found)


def test_what_is_proven_survives_an_interruption():
    def interrupt(done, total):
        raise KeyboardInterrupt

    arm = da.robot("two_link")
    found = arm.bound("gravity_force", tolerance=1e-9, progress=interrupt)
    assert np.isfinite(found.upper).all()
    assert (found.upper >= arm.gravity_force([0.0, 0.0])).all()


def test_programs_and_chosen_entries():
    arm = da.robot("two_link")
    program = trace(lambda q, m: m * np.array([np.cos(q[0]), np.sin(q[1]) * q[0]]), {"q": (2,), "m": ()}, outputs=("f",))
    found = arm.bound(program, over={"q": (0.0, 1.0), "m": (1.0, 2.0)}, only="joint2", tolerance=1e-4)
    assert found.names == ("joint2",)
    assert found.upper[0] == pytest.approx(2 * np.sin(1.0), rel=1e-3)
    assert found.at_greatest[0]["m"] == 2.0
    everything = arm.bound(program, over={"q": 0.5, "m": 2.0})  # nothing varies
    np.testing.assert_allclose(everything.upper, [2 * np.cos(0.5), np.sin(0.5)], rtol=1e-14)
    assert (everything.lower < everything.upper).all()


def test_loads_and_functions_vary_as_in_sweeps():
    """Torque is affine in the load, so the bound is that of the heaviest, and a function of quantities may be bounded, too."""
    arm = da.robot("two_link")
    still = {"qd": 0.0, "qdd": 0.0}
    found = arm.bound("inverse_dynamics", over={**still, "payload": (0.0, 2.0), "payload_com": [0.1, 0.0, 0.0]}, tolerance=1e-4)
    heaviest = arm.with_payload(mass=2.0, com=(0.1, 0.0, 0.0)).gravity_force([0.0, 0.0])
    np.testing.assert_allclose(found.greatest, heaviest, rtol=1e-9)
    assert (found.upper >= heaviest * (1 - 1e-14)).all()
    assert found.at_greatest[0]["payload"] == 2.0
    power = {"power": lambda qd, inverse_dynamics: qd @ inverse_dynamics}
    ranges = [(-np.pi, np.pi), (-1.0, 1.0), (-2.0, 2.0)]
    most = arm.bound(power, over=dict(zip(("q", "qd", "qdd"), ranges, strict=True)), tolerance=0.1)
    states = samples(arm, ranges, 100_000)
    values = (states[1] * arm.inverse_dynamics(*states)).sum(1)
    assert most.names == ("power",)
    assert values.max() <= most.upper
    assert values.min() >= most.lower


def test_optional_inputs_count_where_they_are_named():
    arm = da.robot("two_link")
    over = {"q": 0.0, "qd": 0.0, "qdd": 0.0, "wrenches": (-1.0, 1.0)}
    found = arm.bound("inverse_dynamics", over=over, tolerance=1e-6)
    still = arm.gravity_force([0.0, 0.0])
    corner = [arm.inverse_dynamics([0.0, 0.0], [0.0, 0.0], [0.0, 0.0], wrenches=s * np.ones((2, 6))) for s in (-1, 1)]
    assert (found.upper >= np.max(corner, axis=0)).all()
    assert (found.upper > still).all()
    assert found.at_greatest[0]["wrenches"].shape == (2, 6)


def test_ranges():
    """Limits by default, one turn where only sine and cosine count, joints by name."""
    puma = da.robot("puma560")
    program = puma.program("gravity_force")
    ends = box(puma, program, {"q": {puma.joint_names[4]: (-20.0, 20.0), puma.joint_names[5]: 0.25}})
    assert ends[0, 1] == (puma.lower[1], puma.upper[1])
    assert ends[0, 4][0] == -20.0
    assert ends[0, 4][1] == pytest.approx(-20.0 + 2 * np.pi)
    assert ends[0, 5] == (0.25, 0.25)
    free = da.robot("two_link")
    low, high = box(free, free.program("gravity_force"), None)[0, 1]
    assert high - low == pytest.approx(2 * np.pi)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"over": {"qd": (-1, 1)}}, r"qdd has no range; give one, such as over={'qdd': \(-1\.0, 1\.0\)}"),
        ({"over": {"qdd": (-1, 1)}}, r"qd of 'joint1' needs a finite range, two_link has no limits for it"),
        ({"over": {"qd": (1, -1), "qdd": 0.0}}, r"over: the range of qd of 'joint1' is empty: 1 is above -1"),
        ({"over": {"qd": (np.nan, 1), "qdd": 0.0}}, "qd of 'joint1' needs a finite range, got nan to 1"),
        ({"over": {"speed": (-1, 1)}}, r"input of the sweep: 'speed'"),
        ({"over": {"qd": {"elbow": 0.0}, "qdd": 0.0}}, r"entry of qd: 'elbow'"),
        ({"over": {"qd": [1, 2, 3, 4], "qdd": 0.0}}, r"over: qd must be \(low, high\)"),
        ({"over": {"qd": (-1, 1, 5), "qdd": 0.0}}, "a bound holds for the whole range, so qd takes no number of points"),
        ({"over": 3}, r"over must be given by name, such as"),
        ({"over": {"qd": 0.0, "qdd": 0.0}, "tolerance": 0.0}, "tolerance must be positive"),
        ({"over": {"qd": 0.0, "qdd": 0.0}, "seconds": -1}, "seconds must be positive"),
        ({"over": {"qd": 0.0, "qdd": 0.0}, "only": [2]}, "only must hold names of joints, or indices from 0 to 1, got 2"),
        ({"over": {"qd": 0.0, "qdd": 0.0}, "only": "elbow"}, "entry to bound: 'elbow'"),
    ],
)  # fmt: skip
def test_mistakes(given, message):
    with pytest.raises(da.Error, match=message):
        da.robot("two_link").bound("inverse_dynamics", **given)


def test_robots_without_bounds():
    with pytest.raises(da.Error, match="unknown quantity"):
        da.robot("two_link").bound("torque")
    with pytest.raises(da.Error, match="bound does not support closed loops"):
        da.robot("four_bar").bound("gravity_force")
    with pytest.raises(da.Error, match="bound needs velocities that are the rates of the positions"):
        da.robot("two_link").with_free_base().bound("gravity_force")
    slide = da.random_robot(1, "RP")
    with pytest.raises(
        da.Error,
        match=r"q of 'joint2' needs a finite range, random_RP_1 has no limits for it; give one, such as over={'q': {'joint2'",
    ):
        slide.bound("gravity_force")


def test_progress_is_told():
    told = []
    arm = da.robot("two_link")
    arm.bound("gravity_force", progress=lambda done, total: told.append((done, total)))
    assert told[-1] == (1000, 1000)
    assert all(0 <= done <= total for done, total in told)


def test_command(capsys):
    from dalembert.cli import main

    assert main(["bound", "two_link", "--over", "qd=-1:1", "--over", "qdd.joint1=0", "--over", "qdd.joint2=-1:1", "--states"]) == 0
    out = capsys.readouterr().out
    assert re.search(r"inverse_dynamics of two_link: [\d,]+ boxes in", out)
    assert re.search(r"joint2 +-[\d.]+ +-[\d.]+ +[\d.]+ +[\d.]+", out)
    assert main(["bound", "two_link", "-q", "mass_matrix", "--over", "q=0:1", "--only", "M[0,1], 3"]) == 0
    out = capsys.readouterr().out
    assert "M[0,1]" in out and "M[1,1]" in out and "M[0,0]" not in out
    for wrong, message in (
        (["--over", "qd"], "--over must be NAME=LOW:HIGH"),
        (["--over", "qd=a:b"], "--over must be NAME=LOW:HIGH"),
        (["--over", "qd=0", "--over", "qd.joint1=1"], "qd has a range already"),
    ):
        assert main(["bound", "two_link", *wrong]) == 2
        assert message in capsys.readouterr().err
