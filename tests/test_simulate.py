"""Simulation: orders of convergence, energy, agreement of routes, and what users may get wrong."""

import subprocess
import sys
import threading
import warnings

import numpy as np
import pytest
from conftest import sweep

import dalembert as da
from dalembert.native import compile_program
from dalembert.native.ordered import ordered
from dalembert.simulation.integrators import INTEGRATORS
from dalembert.trace import trace
from dalembert.trace.source import NumpyKernel

TWO = da.robot("two_link")
PUMA = da.robot("puma560")
Q0 = np.array([0.0, -0.5, 0.5, 0.1, 0.2, 0.3])
ROUTES = ("joint", "quasi", "momentum")
FIXED = [(i, v) for i in INTEGRATORS for v in ROUTES if i != "semi_implicit_euler" or v == "joint"]


def exact(robot, q0, duration, **options):
    return robot.simulate(q0, duration=duration, step=duration, integrator="DOP853", rtol=1e-13, atol=1e-13, **options)


@pytest.mark.parametrize(("integrator", "velocities"), FIXED)
def test_order_of_convergence(integrator, velocities):
    arm = TWO.with_friction(damping=0.3)
    true = exact(arm, [0.3, -0.7], 0.5).q[-1]

    def error(h):
        return np.abs(
            arm.simulate([0.3, -0.7], duration=0.5, step=h, integrator=integrator, velocities=velocities).q[-1] - true
        ).max()

    order = INTEGRATORS[integrator].order
    coarse = 0.025 if order == 4 else 0.005
    ratios = [error(coarse / 2**k) / error(coarse / 2 ** (k + 1)) for k in range(3)]
    assert abs(np.log2(ratios[-1]) - order) < 0.25, ratios
    assert error(coarse) > 1e-12  # a ratio of rounding errors would say nothing


def test_euler_as_in_the_book():
    """Park and Lynch 9.5 (E-P8): N steps give N + 1 samples; a particle that falls from rest is too high by g h t / 2."""
    particle = da.Robot.from_screws([[0, 0, 0, 0, 0, 1]], [np.eye(4)], [da.Inertia.from_com(2.0, (0, 0, 0), 0.0)])
    fall = particle.simulate([0.0], duration=1.0, step=0.01, integrator="euler")
    assert len(fall) == 101
    np.testing.assert_allclose(fall.q[:, 0] + 9.81 / 2 * fall.time**2, 9.81 / 2 * 0.01 * fall.time, atol=1e-13)


def pendulum():
    """A rod of 1 m and 1 kg, swinging about the y axis of a level hinge."""
    return da.Robot.from_dh(
        [da.DHRow(alpha=0, a=1, d=0, inertia=da.Inertia.from_com(1.0, (-0.5, 0, 0), np.diag([1e-3, 1 / 12, 1 / 12])))],
        convention="standard",
        name="pendulum",
    ).with_gravity((0, -9.81, 0))


def test_pendulum_against_its_elliptic_integral():
    """theta(t) = 2 asin(k sn(K - w t)): the period of a released pendulum is 4 K(k) / w with w^2 = m g c / I."""
    from scipy.special import ellipj, ellipk

    amplitude = 2.0
    k, w = np.sin(amplitude / 2), np.sqrt(9.81 * 0.5 / (1 / 12 + 1 / 4))
    found = pendulum().simulate([-np.pi / 2 + amplitude], duration=3.0)
    sn = ellipj(ellipk(k**2) - w * found.time, k**2)[0]
    np.testing.assert_allclose(found.q[:, 0], -np.pi / 2 + 2 * np.arcsin(k * sn), atol=1e-9)


@pytest.mark.parametrize(("integrator", "velocities"), FIXED)
@pytest.mark.filterwarnings("ignore:the energy balance of two_link is off by 0.0:dalembert.AccuracyWarning")  # explicit Euler
def test_energy_drift(integrator, velocities):
    """Explicit Euler gains energy steadily; the others hold it as their order says; symmetric ones do not drift."""
    duration = 2.0 if integrator == "euler" else 40.0
    arm, q0 = (pendulum(), [0.3]) if integrator == "semi_implicit_euler" else (TWO, [0.3, 0.2])  # symplectic if M is constant
    swing = arm.simulate(q0, duration=duration, step=2e-3, integrator=integrator, velocities=velocities, every=10)
    drift = np.abs(swing.energy - swing.energy[0]).max() / 20
    bound = {"euler": 10.0, "semi_implicit_euler": 5e-2, "rk4": 1e-5, "implicit_midpoint": 1e-3}[integrator]
    assert drift < bound
    if integrator in ("implicit_midpoint", "semi_implicit_euler"):  # no more in the second half than in the first
        e = np.abs(swing.energy - swing.energy[0])
        assert e[len(e) // 2 :].max() < 3 * e[: len(e) // 2].max() + 1e-9
    if integrator == "euler" and velocities == "joint":
        assert drift > 1e-2


def test_midpoint_with_momenta_is_symplectic():
    """The map (q, p) -> (q', p') of one step keeps dq ^ dp: A^T J A = J. In joint velocities it does not."""
    h, n = 0.02, 2

    def step(x, velocities):
        q, p = x[..., :n], x[..., n:]
        qd = np.linalg.solve(TWO.mass_matrix(q), p[..., None])[..., 0]
        end = TWO.simulate(q, qd, duration=h, step=h, integrator="implicit_midpoint", velocities=velocities)
        q, qd = end.q[..., -1, :], end.qd[..., -1, :]
        return np.concatenate([q, (TWO.mass_matrix(q) @ qd[..., None])[..., 0]], axis=-1)

    J = np.block([[np.zeros((n, n)), np.eye(n)], [-np.eye(n), np.zeros((n, n))]])
    x, d = np.array([0.3, 0.9, 1.0, -0.5]), 1e-4
    apart = {}
    for velocities in ("momentum", "joint"):
        A = ((step(x + d * np.eye(4), velocities) - step(x - d * np.eye(4), velocities)) / (2 * d)).T
        apart[velocities] = np.abs(A.T @ J @ A - J).max()
    assert apart["momentum"] < 1e-7 < apart["joint"]


@pytest.mark.parametrize("name", sweep(["rp", "planar_3r", "stanford", "panda"], quick=(0,)))
def test_routes_agree(name):
    """With forces, wrenches and damping that suit the inertia which each joint feels; Coulomb friction would make steps uneven."""
    arm = da.robot(name).without_friction()
    rng = np.random.default_rng(1)
    q0, qd0, torque = rng.uniform(-0.4, 0.4, (3, arm.n))
    felt = arm.diagonalize(q0).D
    arm, push = arm.with_friction(damping=felt.tolist()), 0.1 * felt[:, None] * rng.uniform(-1, 1, (arm.n, 6))
    motions = [arm.simulate(q0, qd0, 0.1, torque=torque * felt, wrenches=push, velocities=v, step=5e-4) for v in ROUTES]
    assert np.abs(motions[0].q[-1] - q0).max() > 0.01
    for other in motions[1:]:
        np.testing.assert_allclose(other.q[-1], motions[0].q[-1], atol=1e-8)
        np.testing.assert_allclose(other.qd[-1], motions[0].qd[-1], atol=1e-6)


@pytest.mark.parametrize("method", sweep(da.methods("forward_dynamics"), quick=(0, 5, 8)))
def test_methods_of_forward_dynamics(method):
    np.testing.assert_allclose(
        TWO.simulate([0.1, 0.2], duration=0.2, method=method).q, TWO.simulate([0.1, 0.2], duration=0.2).q, atol=1e-10
    )


GIVEN = ("nothing", "a force", "forces", "a function", "a wrench of the link", "a wrench of the world")


@pytest.mark.parametrize(("name", "given"), sweep([(name, x) for name in ("planar_3r", "puma560") for x in GIVEN], quick=(2, 4)))
def test_energy_balance_with_work_friction_and_wrenches(name, given):
    robot = da.robot(name)
    n, last = robot.n, robot.link_names[-1]
    felt = robot.diagonalize(Q0[:n]).D
    arm = robot.without_friction().with_friction(damping=(0.5 * felt).tolist())
    options = {
        "nothing": {},
        "a force": {"torque": 3 * felt},
        "forces": {"torque": felt * np.random.default_rng(0).uniform(-5, 5, (1000, n))},
        "a function": {"torque": lambda t, q, qd: felt * (5 * np.sin(3 * t) - q)},
        "a wrench of the link": {"wrenches": {last: da.Wrench(force=(1, 2, 3), moment=(0.1, 0, 0))}},
        "a wrench of the world": {"wrenches": {last: da.Wrench(force=(0, -20, -20), frame="world_aligned")}},
    }[given]
    found = arm.simulate(Q0[:n], duration=1.0, **options)
    assert np.abs(found.work).max() > 0.1 or not options
    assert np.abs(found.dissipated).max() > 0.1
    assert np.abs(found.balance).max() < (1e-4 if given == "forces" else 1e-6)


def test_one_force_for_all_joints():
    one, all_of_them = lambda t, q, qd: 0.5, lambda t, q, qd: np.full_like(q, 0.5)
    for integrator in ("rk4", "RK45"):
        a, b = (TWO.simulate([0.5, 0.0], duration=0.1, torque=torque, integrator=integrator) for torque in (one, all_of_them))
        assert (a.q == b.q).all() and (a.tau == b.tau).all()


def test_weight_as_a_world_wrench_is_gravity():
    """A force m g at the centre of mass of a massless-gravity arm moves it as gravity does: the wrench turns with the link."""
    still = TWO.with_gravity((0, 0, 0))
    pull = {
        link.name: da.Wrench(force=link.inertia.mass * np.array(TWO.gravity), point=link.inertia.com, frame="world_aligned")
        for link in TWO.links
    }
    np.testing.assert_allclose(
        still.simulate([0.2, 0.4], duration=0.3, wrenches=pull).q, TWO.simulate([0.2, 0.4], duration=0.3).q, atol=1e-11
    )


def test_rollouts_are_the_bits_of_single_ones():
    rng = np.random.default_rng(3)
    q0, torque = rng.uniform(-1, 1, (300, 6)), rng.uniform(-1, 1, (300, 50, 6))
    many = PUMA.simulate(q0, duration=0.05, torque=torque)
    for k in (0, 1, 127, 128, 299):
        one = PUMA.simulate(q0[k], duration=0.05, torque=torque[k])
        assert (one.q == many.q[k]).all() and (one.tau == many.tau[k]).all() and (many[k].qdd == many.qdd[k]).all()
    few = PUMA.simulate(q0[:6].reshape(2, 3, 6), duration=0.05, torque=torque[:6].reshape(2, 3, 50, 6), every=5)
    assert few.q.shape == (2, 3, 11, 6) and (few.q[1, 2] == many.q[5, ::5]).all()
    da.set_threads(1)
    try:
        assert (PUMA.simulate(q0, duration=0.05, torque=torque).q == many.q).all()
    finally:
        da.set_threads(None)


@pytest.mark.parametrize("integrator", INTEGRATORS)
def test_functions_give_what_arrays_give(integrator):
    torque = np.array([0.5, -0.3])
    native = TWO.simulate([0.1, 0.2], duration=0.1, torque=torque, integrator=integrator)
    python = TWO.simulate([0.1, 0.2], duration=0.1, torque=lambda t, q, qd: torque, integrator=integrator)
    np.testing.assert_allclose(python.q, native.q, atol=1e-13)
    np.testing.assert_array_equal(python.tau, native.tau)
    slow = TWO.simulate([0.1, 0.2], duration=0.1, torque=torque, integrator=integrator, backend="numpy")
    np.testing.assert_allclose(slow.q, native.q, atol=1e-13)


def test_time_of_stages():
    """A force that changes with time keeps the order of the integrator only if each stage sees its own time."""
    arm = TWO.with_gravity((0, 0, 0))

    def force(t, q, qd):
        return np.stack([np.sin(8 * t) + 0 * q[..., 0], np.cos(5 * t) + 0 * q[..., 0]], axis=-1)

    true = exact(arm, [0.1, 0.2], 0.5, torque=force).q[-1]
    errors = [
        np.abs(arm.simulate([0.1, 0.2], duration=0.5, step=h, torque=force).q[-1] - true).max() for h in (0.05, 0.025, 0.0125)
    ]
    assert np.log2(errors[1] / errors[2]) > 3.7, errors


@pytest.mark.parametrize("memory", [0.0, "much", [[1.0]]])
def test_memory_is_a_row_of_numbers(memory):
    class Wrong:
        def __call__(self, t, q, qd, memory):
            return 0 * q, memory

    Wrong.memory = memory
    with pytest.raises(da.Error, match=r"memory must"):
        TWO.simulate([0.0, 0.0], duration=0.1, torque=Wrong())


def test_memory_moves_with_the_state():
    """A controller whose memory is the integral of q: with q' = 1 and no forces it becomes t^2 / 2."""

    class Integral:
        memory = np.zeros(2)

        def __call__(self, t, q, qd, memory):
            return np.zeros_like(q), q

    still = TWO.with_gravity((0, 0, 0))
    found = still.simulate([[0.0, 0.0], [0.1, 0.0]], duration=0.5, torque=Integral())
    assert found.memory.shape == (2, 501, 2)
    np.testing.assert_allclose(found.memory[1, :, 0], 0.1 * found.time, atol=1e-12)
    moving = pendulum().with_gravity((0, 0, 0))
    Integral.memory = np.zeros(1)
    found = moving.simulate([0.0], [1.0], 0.5, torque=Integral())
    np.testing.assert_allclose(found.memory[:, 0], found.time**2 / 2, atol=1e-12)


def test_torques_along_a_path_move_it_along():
    """Held at the middle of each step, the forces of inverse dynamics drive the arm along the path."""
    path = da.quintic([0.1, 0.2], [0.8, -0.4], duration=1.0)
    move = TWO.torques_along(path, step=1e-2)
    assert (move.qdd == path(move.time).qdd).all() and abs(move.balance).max() < 1e-5
    forces = TWO.inverse_dynamics(*path((np.arange(1000) + 0.5) / 1000))
    driven = TWO.simulate([0.1, 0.2], duration=1.0, torque=forces)
    np.testing.assert_allclose(driven.q[-1], [0.8, -0.4], atol=5e-5)
    heavy = TWO.with_payload(mass=2.0, com=(0, 0, 0))
    assert (heavy.torques_along(move).tau == heavy.inverse_dynamics(move.q, move.qd, move.qdd)).all()
    for wrong in (da.quintic([0.0], [1.0], 1.0), [1.0, 2.0], None):
        with pytest.raises(da.Error, match="path of 2 coordinates"):
            TWO.torques_along(wrong)


@pytest.mark.slow
def test_events_and_the_curve_between():
    ball = pendulum()

    def bottom(t, q, qd):
        return q[0] + np.pi / 2

    bottom.terminal = True
    found = ball.simulate([0.0], duration=3.0, integrator="RK45", rtol=1e-10, events=bottom)
    assert abs(found.q[-1, 0] + np.pi / 2) < 1e-8 and found.time[-1] == found.events[0][0] < 3
    k = (found.time[-1] - 0.123) / 2
    fine = ball.simulate([0.0], duration=3.0, step=1e-3)
    np.testing.assert_allclose(found.at(k)[0], fine.at(k)[0], atol=1e-7)
    np.testing.assert_allclose(fine.at([0.1, 0.2345678])[1].shape, (2, 1))
    for solver in ("Radau", "BDF", "LSODA"):
        assert np.abs(ball.simulate([0.0], duration=0.5, integrator=solver, step=0.1).q - fine.q[:501:100]).max() < 1e-4
    held = np.random.default_rng(0).uniform(-3, 3, (500, 1))
    a, b = (ball.simulate([0.0], duration=0.5, torque=held, integrator=x) for x in ("rk4", "DOP853"))
    np.testing.assert_allclose(a.q, b.q, atol=1e-6)


def test_files(tmp_path):
    swing = PUMA.simulate(Q0, duration=0.1, torque=[1.0] * 5 + [0.0])
    for write, name in ((swing.to_csv, "a.csv"), (swing.to_npz, "a.npz")):
        back = da.Trajectory.load(write(tmp_path / name), PUMA)
        for kind in ("time", "q", "qd", "qdd", "tau"):
            assert (getattr(back, kind) == getattr(swing, kind)).all()
    pushed = TWO.simulate([0.0, 0.0], duration=0.5, torque=np.random.default_rng(0).uniform(-3, 3, (500, 2)))
    back = da.Trajectory.load(pushed.to_npz(tmp_path / "held.npz"), TWO)
    assert (back.work == pushed.work).all() and abs(back.balance).max() < 1e-8
    with pytest.raises(da.Error, match="joints"):
        da.Trajectory.load(tmp_path / "a.npz", TWO)
    with pytest.raises(da.Error, match="joints"):
        da.Trajectory.load(tmp_path / "a.csv", TWO)
    (tmp_path / "c.csv").write_text(",".join(["t", *(f"q_{j}" for j in TWO.joint_names)]) + "\n0,0,0\n")
    with pytest.raises(da.Error, match="no column qd_joint1"):
        da.Trajectory.load(tmp_path / "c.csv", TWO)
    np.savez(tmp_path / "d.npz", q=swing.q)
    with pytest.raises(da.Error, match="no array 'time';"):
        da.Trajectory.load(tmp_path / "d.npz", PUMA)
    with pytest.raises(da.Error, match="cannot be read"):
        da.Trajectory.load(tmp_path / "none.csv", PUMA)
    with pytest.raises(da.Error, match="cannot be written"):
        swing.to_csv(tmp_path / "none" / "a.csv")
    with pytest.raises(da.Error, match="cannot be written"):
        swing.to_npz(tmp_path / "none" / "a.npz")
    (tmp_path / "b.npz").write_bytes(b"nonsense")
    with pytest.raises(da.Error, match="not an NPZ file"):
        da.Trajectory.load(tmp_path / "b.npz", PUMA)


def test_long_tables_are_written_in_pieces():
    """The text of a motion is never there as a whole."""
    swing = TWO.simulate([0.5, 0.0], duration=25.0)
    pieces: list[str] = []

    class File:
        write = pieces.append

    swing.to_csv(File())
    text = "".join(pieces)
    assert max(map(len, pieces)) < len(text) / 2
    lines = text.splitlines()
    assert len(lines) == 1 + len(swing)
    numbers = np.array([line.split(",") for line in lines[1:]], dtype=float)
    assert (numbers[:, 0] == swing.time).all() and (numbers[:, 1:3] == swing.q).all()


def test_frames_and_figures():
    pandas, xarray = pytest.importorskip("pandas"), pytest.importorskip("xarray")
    swing = PUMA.simulate([Q0, Q0 + 0.1], duration=0.1)
    assert isinstance(swing.to_xarray(), xarray.Dataset) and swing.to_xarray()["q"].shape == (2, 101, 6)
    table = swing[1].to_pandas()
    assert isinstance(table, pandas.DataFrame) and (table[f"tau_{PUMA.joint_names[2]}"] == 0).all()
    with pytest.raises(da.Error, match="one rollout"):
        swing.to_pandas()
    with pytest.raises(da.Error, match="no rollout"):
        swing[5]
    pytest.importorskip("matplotlib")
    figure = swing[0].plot()
    assert figure._repr_png_().startswith(b"\x89PNG")
    assert [len(a.lines) for a in figure.axes] == [6, 6, 6, 3] and "time" in figure.axes[3].get_xlabel()


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"duration": 0}, "duration"),
        ({"duration": "long"}, "duration"),
        ({"step": np.nan}, "step"),
        ({"step": 0.3}, "duration must be a multiple of step"),
        ({"step": 1e-308, "duration": 1e308}, "more than 1e.12 steps"),
        ({"every": 3}, "does not divide"),
        ({"every": 0.5}, "every"),
        ({"integrator": "rk5"}, "did you mean 'rk4'"),
        ({"velocities": "quasy"}, "did you mean 'quasi'"),
        ({"velocities": "quasi", "integrator": "semi_implicit_euler"}, "joint"),
        ({"velocities": "quasi", "integrator": "RK45"}, "joint"),
        ({"velocities": "quasi", "method": "kalman"}, "method"),
        ({"method": "newton"}, "method for forward_dynamics"),
        ({"method": "rk4"}, "integrator='rk4'"),
        ({"integrator": "RK4"}, "did you mean 'rk4'"),
        ({"torque": np.zeros((7, 2))}, "one force per step"),
        ({"torque": np.zeros(3)}, "torque"),
        ({"torque": TWO.simulate([0.0, 0.0], duration=0.01)}, "one per step"),
        ({"torque": np.zeros((4, 1, 2)), "q0": np.zeros((3, 2))}, "broadcast"),
        ({"torque": lambda t, q, qd: np.zeros(3)}, "must return forces"),
        ({"torque": lambda t, q, qd: "much"}, "must return forces"),
        ({"torque": lambda t, q, qd: None}, "must return forces"),
        ({"torque": lambda t, q, qd: None, "integrator": "RK45"}, "must return forces"),
        ({"torque": lambda t, q, qd: np.zeros(3), "integrator": "RK45"}, "must return forces"),
        ({"q0": [0.0]}, "q0"),
        ({"q0": [0.0, 1j]}, "real"),
        ({"q0": [0.0, np.nan]}, "since q0 or qd0 is not"),
        ({"qd0": np.zeros((3, 2)), "q0": np.zeros((4, 2))}, "broadcast"),
        ({"wrenches": np.zeros((3, 6))}, "wrenches"),
        ({"events": lambda t, q, qd: 0.0}, "events"),
        ({"integrator": ["rk4"]}, "unknown integrator"),
        ({"integrator": "RK45", "rtol": -1.0}, "rtol"),
    ],
)
def test_mistakes(options, says):
    given = {"q0": [0.0, 0.0], "duration": 0.5, **options}
    with pytest.raises(da.Error, match=says):
        TWO.simulate(**given)


def test_motions_that_run_away():
    stiff = TWO.with_friction(damping=5000.0)
    with pytest.raises(da.Error, match="not finite from t ="):
        stiff.simulate([0.0, 0.0], [1.0, 1.0], 1.0, integrator="euler")
    with pytest.warns(da.SingularWarning, match="1 of 2 rollouts"):
        many = stiff.simulate(
            np.zeros((2, 2)), [[0.0, 0.0], [1.0, 1.0]], 1.0, integrator="euler", torque=stiff.gravity_force([0.0, 0.0])
        )
    assert np.isfinite(many.q[0]).all()
    with pytest.raises(da.Error, match="not finite"):
        stiff.simulate([0.0, 0.0], [1.0, 1.0], 0.1, integrator="implicit_midpoint")
    fast = np.linalg.norm(TWO.inverse_mass_matrix([0.0, 0.0]), 2) / 2  # of the iteration, per step and damping
    slow = TWO.with_friction(damping=0.9 / (1e-3 * fast))
    with pytest.raises(da.Error, match="do not converge"):
        slow.simulate([0.0, 0.0], [1.0, 1.0], 0.01, integrator="implicit_midpoint")
    with pytest.raises(da.Error, match="do not converge"):
        slow.simulate([0.0, 0.0], [1.0, 1.0], 0.01, integrator="implicit_midpoint", torque=lambda t, q, qd: 0 * q)
    assert np.isfinite(stiff.simulate([0.0, 0.0], [1.0, 1.0], 0.1, integrator="Radau").q).all()


def test_a_run_that_ran_away_ends_early():
    asked = []

    def torque(t, q, qd):
        asked.append(t)
        return np.full_like(q, np.nan) if t > 0.01 else 0 * q

    with pytest.raises(da.Error, match=r"not finite from t = 0\.01"):
        TWO.simulate([0.0, 0.0], duration=1.0, torque=torque)
    assert max(asked) < 0.02


def test_no_joints_and_progress(capsys):
    nothing = PUMA.lock(dict.fromkeys(PUMA.joint_names, 0.0))
    assert nothing.simulate(np.zeros((4, 0)), duration=0.1).q.shape == (4, 101, 0)
    seen = []
    PUMA.simulate(np.tile(Q0, (500, 1)), duration=0.2, progress=lambda done, total: seen.append((done, total)))
    assert seen[-1][0] == seen[-1][1] and [x for x, _ in seen] == sorted(x for x, _ in seen)
    TWO.simulate([0.0, 0.0], duration=0.1, progress=True)
    assert capsys.readouterr().err == ""  # short work shows no bar


def test_bar(capsys, monkeypatch):
    from dalembert import progress

    monkeypatch.setattr(progress, "PATIENCE", 0.0)
    bar = progress.chosen(True, "working")
    bar(1, 2)
    bar(2, 2)
    shown = capsys.readouterr().err
    assert "working" in shown and "100%" in shown and shown.endswith("\n")


def test_loops_in_order():
    program = trace(lambda x, a: (x + a, 2 * x), {"x": (2,), "a": ()}, outputs=("sum", "twice"))
    for kernel in (compile_program(program), NumpyKernel(program)):
        x, a = np.zeros((1, 1, 1, 3, 2)), np.arange(24.0).reshape(2, 3, 4, 1)
        kept = np.zeros((2, 3, 1, 3, 2))
        run = ordered(kernel, [x, a], [x, kept], (2, 3, 4))
        run()
        assert (x == 276).all() and kept[0, 0, 0, 0, 0] == 2 * (0 + 1 + 2) and kept[-1, -1, 0, 2, 1] == 2 * (276 - 23)
        run()
        assert (x == 552).all()
        for bad in (x[..., :1], x.astype(np.float32), x[0], np.zeros((3, 1, 1, 3, 2))):
            with pytest.raises(ValueError, match="does not fit"):
                ordered(kernel, [bad, a], [x, kept], (2, 3, 4))
        for counts in ((2, 3), (2, -3, 4), (2**31, 2**31, 4)):
            with pytest.raises(ValueError, match="three nonnegative lengths"):
                ordered(kernel, [x, a], [x, kept], counts)
        frozen = np.broadcast_to(np.zeros(2), kept.shape)
        with pytest.raises(ValueError, match="does not fit"):
            ordered(kernel, [x, a], [x, frozen], (2, 3, 4))


def test_cold_and_hostile_states():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        many = TWO.simulate([[np.nan, 0.0], [0.0, 0.0]], duration=0.1)
    assert (many.q[1] == TWO.simulate([0.0, 0.0], duration=0.1).q).all()


@pytest.mark.parametrize(
    ("integrator", "every", "frame", "atol"),
    sweep(
        [
            ("rk4", 1, None, 1e-6),
            ("rk4", 10, None, 1e-6),
            ("implicit_midpoint", 10, None, 1e-5),
            ("DOP853", 1, None, 1e-6),
            ("DOP853", 10, None, 1e-6),
            ("rk4", 1, "body", 1e-4),  # what wrenches do is found by quadrature of a velocity with kinks
            ("rk4", 1, "world_aligned", 1e-4),
        ],
        quick=(1, 2, 6),
    ),
)
def test_work_of_forces_that_jump(integrator, every, frame, atol):
    """What forces do that differ from step to step is known exactly, also if only some of the steps are kept."""
    torque = np.random.default_rng(0).normal(size=(3, 40, 2)) * 5
    push = frame and {"link2": da.Wrench(force=(1.0, 2.0, 0.0), frame=frame)}
    given = {"duration": 0.04, "wrenches": push}
    many = TWO.simulate([0.3, 0.2], torque=torque, every=every, integrator=integrator, **given)
    one = TWO.simulate([0.3, 0.2], torque=torque[1], every=every, integrator=integrator, **given)
    fine = TWO.simulate([0.3, 0.2], torque=np.repeat(torque, 5, axis=1), step=2e-4, **given)
    np.testing.assert_allclose(many.work, fine.work[:, :: 5 * every], atol=atol)
    np.testing.assert_allclose(one.work, many.work[1], atol=1e-12)
    np.testing.assert_array_equal(many[1].work, many.work[1])
    assert abs(many.balance).max() < atol < abs(many.work).max() / 100


@pytest.mark.parametrize("frame", ["body", "world_aligned"])
def test_every_rollout_has_its_own_wrench(frame):
    """As many rollouts as samples: axes that are mixed up would still broadcast."""
    forces = np.array([[1.0, 2.0, 0.0], [0.0, 0.0, 0.0], [-1.0, 2.0, 0.0]])
    many = TWO.simulate(np.zeros((3, 2)), duration=0.002, wrenches={"link2": da.Wrench(force=forces, frame=frame)})
    for k, force in enumerate(forces):
        one = TWO.simulate([0.0, 0.0], duration=0.002, wrenches={"link2": da.Wrench(force=force, frame=frame)})
        for kind in ("q", "qdd", "work"):
            np.testing.assert_allclose(getattr(many, kind)[k], getattr(one, kind), atol=1e-12)
    with pytest.raises(da.Error, match="wrenches of their own"):
        many[0]
    with pytest.raises(da.Error, match="do not broadcast"):
        TWO.simulate([0.0, 0.0], duration=0.002, wrenches={"link2": da.Wrench(force=forces, frame=frame)})


class Remembers:
    """No force, and a memory with a rate that is given."""

    memory = np.array([2.0])

    def __init__(self, rate):
        self.rate = rate

    def __call__(self, t, q, qd, memory):
        found = self.rate(memory)
        memory[...] = 99.0  # its own copy
        return np.zeros_like(q), found


def test_implicit_steps_of_a_memory_meet():
    """m' = -a (m - 1) is multiplied by (1 - a h/2) / (1 + a h/2); where iterations do not meet that is said, though q does."""
    found = TWO.simulate([0.0, 0.0], duration=0.01, torque=Remembers(lambda m: -50 * (m - 1)), integrator="implicit_midpoint")
    np.testing.assert_allclose(found.memory[:, 0] - 1, (0.975 / 1.025) ** np.arange(11), rtol=1e-9)
    with pytest.raises(da.Error, match="do not converge"):
        TWO.simulate([0.0, 0.0], duration=0.01, torque=Remembers(lambda m: -1800 * (m - 1)), integrator="implicit_midpoint")
    for wrong in (lambda m: np.zeros((5, 3)), lambda m: "fast"):
        with pytest.raises(da.Error, match="rate of its memory"):
            TWO.simulate([0.0, 0.0], duration=0.01, torque=Remembers(wrong))


@pytest.mark.parametrize("integrator", ["rk4", "RK45", "LSODA"])
def test_what_users_do_to_their_arguments(integrator):
    """Functions of forces and events get copies."""

    def torque(t, q, qd):
        q[:], qd[:] = 99.0, 99.0
        return np.zeros(2)

    events = torque if integrator != "rk4" else ()
    if events:
        events = lambda t, q, qd: float(torque(t, q, qd)[0] + 1)  # noqa: E731
    found = TWO.simulate([0.1, 0.2], duration=0.01, torque=torque, events=events, integrator=integrator)
    np.testing.assert_allclose(found.q, TWO.simulate([0.1, 0.2], duration=0.01).q, atol=1e-6)
    with pytest.raises(da.Error, match="must return forces"):
        TWO.simulate([0.1, 0.2], duration=0.01, torque=lambda t, q, qd: 1j * q, integrator=integrator)
    assert TWO.simulate(np.zeros((0, 2)), duration=0.01, integrator=integrator).energy.shape == (0, 11)


def test_progress_may_start_other_work():
    """A function that is told of progress, and itself runs something on all threads: it is called here, and nothing waits forever."""
    from dalembert.native import threads

    before, seen = threads.get_threads(), []
    threads.set_threads(2)
    try:

        def told(done, total):
            seen.append((threading.get_ident(), done, total))
            TWO.simulate(np.zeros((300, 2)), duration=0.002)

        run = threading.Thread(target=lambda: TWO.simulate(np.zeros((600, 2)), duration=0.002, progress=told), daemon=True)
        run.start()
        run.join(60)
        assert not run.is_alive()
        assert {who for who, _, _ in seen} == {run.ident} and seen[-1][1] == seen[-1][2]
    finally:
        threads.set_threads(before)


def test_files_that_are_no_trajectories(tmp_path):
    swing = TWO.simulate([0.0, 0.0], duration=0.01)
    swing.to_npz(tmp_path / "a.npz")
    with np.load(tmp_path / "a.npz") as held:
        given = dict(held)
    whole = (tmp_path / "a.npz").read_bytes()
    for k, change in enumerate(
        (
            {"time": np.array(0.0)},
            {"time": given["time"][:, None]},
            {"joints": np.array("a")},
            {"q": given["q"].astype(str)},
            {"q": given["q"] * 1j},
            {"q": given["q"].astype(object)},
        )
    ):
        np.savez(tmp_path / f"{k}.npz", **(given | change))
    np.save(tmp_path / "one.npy", given["q"])
    (tmp_path / "damaged.npz").write_bytes(whole[:700] + bytes([whole[700] ^ 255]) + whole[701:])
    (tmp_path / "cut.npz").write_bytes(whole[: len(whole) // 2])
    (tmp_path / "latin.csv").write_bytes(b"\xff\xfe")
    (tmp_path / "long.csv").write_bytes(b"x" * 200_000)
    wrong = [place for place in tmp_path.iterdir() if place.name != "a.npz"]
    assert len(wrong) == 11
    for place in wrong:
        with pytest.raises(da.Error):
            da.Trajectory.load(place, TWO)


@pytest.mark.parametrize("kind", ["csv", "npz"])
def test_motions_with_nan_are_read_where_that_is_allowed(tmp_path, kind):
    motion = TWO.torques_along(da.quintic([0.0, 0.0], [1.0, 0.5], 1.0))
    q = motion.q.copy()
    q[4, 1] = np.nan
    broken = da.Trajectory(TWO, motion.time, q, motion.qd, motion.tau, accelerations=motion.qdd)
    path = getattr(broken, f"to_{kind}")(tmp_path / f"broken.{kind}")
    place = r"line 6, column 3 \(q_joint2\)" if kind == "csv" else "row 5, column 2 of q"
    with pytest.raises(da.Error, match=f"broken.{kind}, {place}: nan is not a finite number; allow_nan=True"):
        da.Trajectory.load(path, TWO)
    assert np.array_equal(da.Trajectory.load(path, TWO, allow_nan=True).q, q, equal_nan=True)
    many = da.Trajectory(TWO, motion.time, np.stack([motion.q, q]), *(np.stack([x, x]) for x in (motion.qd, motion.tau)))
    with pytest.raises(da.Error, match="rollout \\[1\\], row 5, column 2 of q: nan"):
        da.Trajectory.load(many.to_npz(tmp_path / "many.npz"), TWO)


def test_all_threads_stop_when_one_does(monkeypatch):
    """Ctrl-C reaches the thread that called; the others would otherwise work on to their ends."""
    from dalembert.native import threads
    from dalembert.simulation import fixed

    calls, prepared, before = [], fixed.Stages.prepared, threads.get_threads()
    caller, failed = threading.get_ident(), threading.Event()
    monkeypatch.setattr(fixed, "WORK", 100_000)  # 195 steps of 128 rollouts
    monkeypatch.setattr(fixed, "Event", lambda: failed)

    def counted(self, *given):
        if threading.get_ident() != caller:  # however slow the thread that called is
            assert failed.wait(600)
        calls.append(1)
        return prepared(self, *given)

    def stop(done, total):
        raise KeyboardInterrupt

    monkeypatch.setattr(fixed.Stages, "prepared", counted)
    threads.set_threads(2)
    try:
        with pytest.raises(KeyboardInterrupt):
            TWO.simulate(np.zeros((256, 2)), duration=50.0, every=100, progress=stop)
    finally:
        threads.set_threads(before)
    assert len(calls) == 2  # of 502: one each


FIRST = """
import threading
import numpy as np
from dalembert.native import compile_program, ordered
from dalembert.trace import trace

kernel = compile_program(trace(lambda x: x + x, {"x": (1,)}, outputs=("y",)))
made, found = threading.Barrier(8), []
driver = ordered._driver.__wrapped__


def slowly():  # all of them find that there is none yet
    made.wait()
    return driver()


ordered._driver = ordered.cache(slowly)


def work():
    x = np.ones((1, 1, 1, 1, 1))
    run = ordered.ordered(kernel, [x], [x], (50, 1, 1))
    for _ in range(10):
        x[...] = 1.0
        run()
    found.append(x.item())


threads = [threading.Thread(target=work) for _ in range(8)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
assert found == [2.0**50] * 8
"""


def test_threads_that_begin_at_once():
    """The code that runs the loops is made on first use; a thread that comes second must not run code that was freed."""
    done = subprocess.run([sys.executable, "-c", FIRST], capture_output=True, text=True, check=False, timeout=900)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("every", [1, 4])
def test_pieces_of_a_long_run(monkeypatch, every):
    """Native calls are cut so that Ctrl-C gets its turn; forces, samples and work go on where the last piece ended."""
    from dalembert.simulation import fixed

    torque = np.random.default_rng(0).normal(size=(2, 40, 2))
    whole = TWO.simulate([0.1, 0.2], duration=0.04, torque=torque, every=every)
    monkeypatch.setattr(fixed, "WORK", 100)  # 12 steps of two rollouts
    pieces = TWO.simulate([0.1, 0.2], duration=0.04, torque=torque, every=every)
    for kind in ("q", "qd", "tau"):
        np.testing.assert_array_equal(getattr(pieces, kind), getattr(whole, kind))
    np.testing.assert_allclose(pieces.work, whole.work, atol=1e-15)


@pytest.mark.parametrize("integrator", [*INTEGRATORS, "RK45"])
def test_forces_at_the_samples(integrator):
    """`tau` is what the function gives at the time and state of each sample, not in the middle of a step."""

    def torque(t, q, qd):
        return np.array([np.sin(30 * t) + q[0], 2 * qd[1]])

    found = TWO.simulate([0.1, 0.2], [1.0, -1.0], 0.02, torque=torque, integrator=integrator, every=2)
    expected = [torque(t, q, qd) for t, q, qd in zip(found.time, found.q, found.qd, strict=True)]
    np.testing.assert_allclose(found.tau, expected, atol=1e-12)


def test_direction_of_events():
    """A pendulum that swings passes its lowest point in both directions."""

    def bottom(t, q, qd):
        return q[0] + np.pi / 2

    both = pendulum().simulate([-1.0], duration=3.0, integrator="RK45", step=0.01, events=bottom).events[0]
    bottom.direction = 1
    up = pendulum().simulate([-1.0], duration=3.0, integrator="RK45", step=0.01, events=bottom).events[0]
    assert len(both) > len(up) > 0
    np.testing.assert_allclose(up, both[1::2], atol=1e-9)
