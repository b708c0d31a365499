"""Motions to follow: their ends, their derivatives, their limits, and what is refused."""

import pickle

import numpy as np
import pytest

import dalembert as da
from dalembert.motion.paths import Spline, quintic, spline, trapezoidal, tridiagonal

rng = np.random.default_rng(8)
START, GOAL = rng.uniform(-2, 2, (2, 4))
POINTS = rng.uniform(-2, 2, (6, 4))
KNOTS = np.array([0.0, 0.4, 1.5, 1.7, 3.0, 3.6])
PATHS = {
    "quintic": quintic(START, GOAL, 1.7),
    "trapezoidal": trapezoidal(START, GOAL, 1.3, [2.0, 0.5, 9.0, 4.0]),
    "spline": spline(KNOTS, POINTS),
}


@pytest.fixture(autouse=True)
def same_numbers():
    """Every test draws the same numbers, whichever others run."""
    global rng
    rng = np.random.default_rng(8)


@pytest.fixture(params=PATHS)
def path(request):
    return PATHS[request.param]


def test_it_begins_and_ends_at_rest(path):
    T, (start, goal) = path.duration, (POINTS[[0, -1]] if isinstance(path, Spline) else (START, GOAL))
    for time, place in ((0.0, start), (-3.0, start), (T, goal), (T + 5, goal)):
        q, qd, _ = path(time)
        np.testing.assert_array_equal(q, place)
        np.testing.assert_allclose(qd, 0, atol=1e-14)
    for time in (-1e-9, T + 1e-9, -np.inf, np.inf):
        assert not path(time).qd.any() and not path(time).qdd.any()


def test_velocity_and_acceleration_are_the_derivatives(path):
    t, h = np.sort(rng.uniform(1e-3, path.duration - 1e-3, 400)), 1e-6
    before, now, after = path(t - h), path(t), path(t + h)
    np.testing.assert_allclose((after.q - before.q) / (2 * h), now.qd, atol=1e-5)
    jumps = np.abs((after.qd - before.qd) / (2 * h) - now.qdd).max(-1) > 1e-4  # where a trapezoid has its corners
    assert jumps.sum() <= 2 * path.n * (path is PATHS["trapezoidal"])


def test_position_and_velocity_have_no_jumps(path):
    t = np.linspace(-0.1, path.duration + 0.1, 200_001)
    q, qd, qdd = path(t)
    step, most = t[1] - t[0], [np.abs(x).max() * 1.01 for x in (qd, qdd)]
    assert np.abs(np.diff(q, axis=0)).max() <= most[0] * step
    assert np.abs(np.diff(qd, axis=0)).max() <= most[1] * step
    np.testing.assert_allclose(q[-1] - q[0], np.trapezoid(qd, t, axis=0), atol=1e-9)
    np.testing.assert_allclose(0, np.trapezoid(qdd, t, axis=0), atol=1e-3)


def test_one_time_and_many_agree(path):
    t = rng.uniform(-0.5, path.duration + 0.5, (3, 5))
    many, row = path(t), path(t[1])
    for k, whole in enumerate(many):
        assert whole.shape == (3, 5, 4)
        np.testing.assert_array_equal(whole[1], row[k])
        np.testing.assert_array_equal(whole[2, 3], path(t[2, 3])[k])
    assert np.isnan(np.concatenate(path(np.nan))[:8]).all()


def test_samples(path):
    time, *motion = path.sample(0.01)
    assert time[0] == 0 and time[-1] == path.duration and time[1] <= 0.01 < path.duration / (len(time) - 2)
    for x, y in zip(motion, path(time), strict=True):
        np.testing.assert_array_equal(x, y)


def test_values(path):
    copy = pickle.loads(pickle.dumps(path))
    assert copy == path and hash(copy) == hash(path) and len(set(PATHS.values())) == 3
    np.testing.assert_array_equal(copy(0.3).q, path(0.3).q)
    with pytest.raises(AttributeError):
        path.start = 0


# --- quintic ------------------------------------------------------------------------------------------------------------------


def test_quintic_meets_its_six_conditions():
    """The only polynomial of fifth degree with these ends, found from the conditions themselves."""
    T = 1.7
    powers = np.arange(6)
    rows = [[0.0**k for k in powers], [float(k == 1) for k in powers], [2.0 * (k == 2) for k in powers]]
    rows += [T**powers, [k * T ** max(k - 1, 0) for k in powers], [k * (k - 1) * T ** max(k - 2, 0) for k in powers]]
    zero = 0 * START
    c = np.linalg.solve(np.array(rows), np.stack([START, zero, zero, GOAL, zero, zero]))
    t = np.linspace(0, T, 50)
    np.testing.assert_allclose(PATHS["quintic"](t).q, t[:, None] ** powers @ c, atol=1e-12)


def test_quintic_is_a_straight_line_with_the_stated_top_speed():
    q, qd, _ = PATHS["quintic"](np.linspace(0, 1.7, 1001))
    along = (q - START) / (GOAL - START)
    np.testing.assert_allclose(along, along[:, :1] * np.ones(4), atol=1e-12)
    np.testing.assert_allclose(np.abs(qd).max(0), 15 / 8 * np.abs(GOAL - START) / 1.7, rtol=1e-12)


# --- trapezoidal --------------------------------------------------------------------------------------------------------------


def test_trapezoidal_respects_its_limits_and_is_as_fast_as_they_allow():
    v, a = rng.uniform(0.3, 2, (2, 7))
    start, goal = rng.uniform(-2, 2, (2, 7))
    path = trapezoidal(start, goal, v, a)
    _, qd, qdd = path(np.linspace(0, path.duration, 4001))
    assert (np.abs(qd) <= v * (1 + 1e-12)).all() and (np.abs(qdd) <= a * (1 + 1e-12)).all()
    alone = np.array([trapezoidal(*(x[i : i + 1] for x in (start, goal, v, a))).duration for i in range(7)])
    assert path.duration == alone.max()
    for i in range(7):  # alone, the speed or the acceleration is always at its limit: nothing could be faster
        one = trapezoidal(start[i : i + 1], goal[i : i + 1], v[i], a[i])
        _, qd, qdd = one(np.linspace(0, one.duration, 1001))
        assert (np.isclose(np.abs(qd), v[i]) | np.isclose(np.abs(qdd), a[i])).all()


def test_trapezoidal_short_and_long():
    short, long = trapezoidal([0.0], [0.5], 1.0, 2.0), trapezoidal([0.0], [-3.0], 1.0, 2.0)
    assert short.duration == pytest.approx(2 * np.sqrt(0.5 / 2)) and short(short.duration / 2).qd[0] == pytest.approx(1.0)
    assert long.duration == 3.5 and long(0.25).qd[0] == -0.5 and long(2.0).qd[0] == -1.0 and long(0.0).qdd[0] == -2.0
    assert long(3.25).qdd[0] == 2.0 and long(2.0).qdd[0] == 0.0
    tiny = trapezoidal([0.0], [1e-12], 1.0, 2.0)
    assert np.abs(tiny(np.linspace(0, tiny.duration, 99)).qdd).max() == pytest.approx(2.0)


def test_trapezoidal_without_distance():
    path = trapezoidal(START, START, 1.0, 1.0)
    assert path.duration == 0.0
    for t in (-1.0, 0.0, 2.0):
        q, qd, qdd = path(t)
        np.testing.assert_array_equal(q, START)
        assert not qd.any() and not qdd.any()
    assert path.sample(0.1).q.shape == (1, 4)
    half = trapezoidal([0.0, 1.0], [1.0, 1.0], 1.0, 1.0)
    assert not half(0.3).qd[1] and half(0.3).qd[0]


# --- spline -------------------------------------------------------------------------------------------------------------------


def test_spline_passes_the_points_and_its_acceleration_has_no_jumps():
    path = PATHS["spline"]
    np.testing.assert_allclose(path(KNOTS).q, POINTS, atol=1e-14)
    inner, h = KNOTS[1:-1], 1e-9
    np.testing.assert_allclose(path(inner - h).qdd, path(inner + h).qdd, atol=1e-5)


def test_spline_is_that_of_scipy():
    interpolate = pytest.importorskip("scipy.interpolate")
    other, t = interpolate.CubicSpline(KNOTS, POINTS, bc_type="clamped"), np.linspace(0, 3.6, 300)
    for k, x in enumerate(PATHS["spline"](t)):
        np.testing.assert_allclose(x, other(t, k), atol=1e-11)


def test_spline_of_two_points_is_the_cubic():
    path, x = spline([0.0, 2.0], [START, GOAL]), 0.3
    np.testing.assert_allclose(path(2 * x).q, START + (3 * x**2 - 2 * x**3) * (GOAL - START), atol=1e-15)


def test_tridiagonal():
    lower, diagonal, upper = rng.uniform(-1, 1, 9), rng.uniform(3, 4, 9), rng.uniform(-1, 1, 9)
    A = np.diag(diagonal) + np.diag(lower[1:], -1) + np.diag(upper[:-1], 1)
    right = rng.normal(size=(2, 9, 3))
    np.testing.assert_allclose(A @ tridiagonal(lower, diagonal, upper, right), right, atol=1e-13)


# --- batches ------------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["quintic", "trapezoidal", "spline"])
def test_batches(kind):
    starts, goals = rng.uniform(-1, 1, (2, 3, 1, 4)), rng.uniform(-1, 1, (5, 4))

    def make(start, goal):
        if kind == "spline":
            return spline([0.0, 1.0, 2.0], np.stack(np.broadcast_arrays(start, 2 * goal, goal), axis=-2))
        return quintic(start, goal, 2.0) if kind == "quintic" else trapezoidal(start, goal, 1.0, 1.5)

    batch, t = make(starts, goals), np.linspace(0, 2, 7)
    assert batch(0.7).q.shape == (2, 3, 5, 4) and batch(t).q.shape == (2, 3, 5, 7, 4) and batch.n == 4
    one = make(starts[1, 2, 0], goals[3])
    if kind == "trapezoidal":  # the others wait for the slowest
        assert batch.duration == max(make(a, b).duration for a in starts.reshape(-1, 4) for b in goals)
        np.testing.assert_allclose(batch(t * batch.duration)[0][1, 2, 3], one(t * one.duration)[0], atol=1e-9)
    else:
        for x, y in zip(batch(t), one(t), strict=True):
            np.testing.assert_allclose(x[1, 2, 3], y, atol=1e-13)


# --- mistakes -----------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: quintic([0.0], [1.0], 0.0), "the duration of a path must be positive, got 0"),
        (lambda: quintic([0.0], [1.0], np.inf), "the duration of a path must be finite"),
        (lambda: quintic([0.0], [np.nan], 1.0), "the goal of a path must be finite"),
        (lambda: quintic(0.0, 1.0, 1.0), r"the start of a path must have positions along the last axis, \(..., n\), got 0.0"),
        (lambda: quintic([0.0, 1.0], [1.0], 1.0), r"a path from 2 to 1 positions: start \(2,\) and goal \(1,\)"),
        (lambda: quintic(np.zeros((2, 3)), np.zeros((4, 3)), 1.0), "do not broadcast"),
        (lambda: quintic(["a"], ["b"], 1.0), "the start of a path must be real numbers"),
        (lambda: quintic([0.0], [1.0], 1.0)("now"), "the time of a path must hold numbers, got 'now'"),
        (lambda: quintic([0.0], [1.0], 1.0).sample(-0.1), "the step of a path's samples must be positive, got -0.1"),
        (lambda: trapezoidal([0.0], [1.0], -1.0, 1.0), "velocity must be positive, got -1.0"),
        (lambda: trapezoidal([0.0], [1.0], 1.0, 0.0), "acceleration must be positive, got 0.0"),
        (lambda: trapezoidal([0.0], [1.0], np.inf, 1.0), "velocity must be finite"),
        (lambda: trapezoidal([0.0, 0.0], [1.0, 0.0], [1.0] * 3, 1.0), r"velocity must be one number .* \(2,\), got \(3,\)"),
        (lambda: spline([0.0, 1.0, 1.0], [[0.0]] * 3), r"must begin at 0 and increase, got times\[2\] = 1 after 1"),
        (lambda: spline([1.0, 2.0], [[0.0]] * 2), "must begin at 0 and increase, got 1 first"),
        (lambda: spline([0.0], [[0.0]]), "two or more numbers"),
        (lambda: spline([0.0, 1.0], [[0.0]] * 3), r"points at 2 times needs points \(..., 2, n\), got \(3, 1\)"),
        (lambda: spline([0.0, 1.0], [0.0, 1.0]), r"needs points \(..., 2, n\), got \(2,\)"),
        (lambda: spline([0.0, np.nan], [[0.0]] * 2), "the times of a spline must be finite"),
    ],
)
def test_mistakes(make, message):
    with pytest.raises(da.Error, match=message):
        make()
