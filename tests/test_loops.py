"""Closed loops: multipliers beside independent joints and Pinocchio, laws of motion, singular positions, and what is refused."""

import json
import warnings
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from closed_robots import HOME, ROBOTS, closing_frame, coupled, free_joints, states, welded
from conftest import close, sweep

import dalembert as da
from dalembert.derived import closure
from dalembert.engine.registry import QUANTITIES
from dalembert.formulations import formulation
from dalembert.model.loop import Loop
from dalembert.studies.proof import compare
from dalembert.trace import differentiate, replay, trace

STORED = json.loads(Path(__file__).parent.joinpath("data", "pinocchio_loops.json").read_text())
ALL = {**ROBOTS, "coupled": coupled}
NUMPY = {"backend": "numpy"}


@pytest.mark.parametrize("name", sweep(sorted(STORED), quick=(0, 1, 2, 3, 4)))
def test_accelerations_are_pinocchios(name):
    robot = ROBOTS[name]()
    for state in STORED[name]:
        q, qd, tau, qdd = (np.array(state[key]) for key in ("q", "qd", "tau", "qdd"))
        for method in (None, "independent"):
            close(robot.forward_dynamics(q, qd, tau, method=method, **NUMPY), qdd, 1e-10)


@pytest.mark.parametrize("name", sweep(ALL, quick=(0, 1, 2, 3, 6)))
def test_multipliers_and_independent_joints_agree(name):
    """Also with the dense system of M, J and gamma, and with inverse dynamics, which is the inverse."""
    robot = ALL[name]()
    free = free_joints(robot)
    bound = [i for i in range(robot.n) if i not in free]
    for q, qd, tau in states(robot):
        qdd, force = robot.constraint_dynamics(q, qd, tau, **NUMPY)
        close(robot.forward_dynamics(q, qd, tau, method="independent", **NUMPY), qdd, 1e-12)
        close(robot.forward_dynamics(q, qd, tau, **NUMPY), qdd, 0)
        cut, J = robot.without_loops(), robot.loop_jacobian(q, **NUMPY)
        M, h, gamma = cut.mass_matrix(q, **NUMPY), cut.inverse_dynamics(q, qd, 0 * q, **NUMPY), -J @ qdd
        dense = np.block([[M, -J.T], [J, np.zeros((len(J), len(J)))]])
        expected = np.linalg.solve(dense, np.concatenate([tau - h, -gamma]))
        close(np.concatenate([qdd, force]), expected, 1e-10)
        back = robot.inverse_dynamics(q, qd, qdd, **NUMPY)
        G = robot.independent_jacobian(q, **NUMPY)
        close(back[free], G.T @ tau, 1e-10, scale=abs(tau).max())
        assert not back[bound].any()
        close(robot.forward_dynamics(q, qd, back, **NUMPY), qdd, 1e-10)
        close(J @ G, np.zeros((len(J), len(free))), 1e-13, scale=abs(J).max())


@pytest.mark.parametrize("name", sweep(ALL, quick=(0, 2, 3, 5)))
def test_equations_of_the_loops_and_their_derivatives(name):
    """J is the slope of the gap, J qdd + gamma its second derivative in time; motions of independent joints keep loops closed."""
    robot, h = ALL[name](), 1e-5
    for q, qd, tau in states(robot, 1):
        assert abs(robot.loop_gap(q, **NUMPY)).max() < 2e-15
        columns = [(robot.loop_gap(q + h * e, **NUMPY) - robot.loop_gap(q - h * e, **NUMPY)) / (2 * h) for e in np.eye(robot.n)]
        close(robot.loop_jacobian(q, **NUMPY), np.array(columns).T, 1e-8)
        assert abs(robot.loop_jacobian(q, **NUMPY) @ qd).max() < 1e-12
        qdd = robot.forward_dynamics(q, qd, tau, **NUMPY)
        at = robot.loop_jacobian(np.stack([q + h * qd, q - h * qd]), **NUMPY)
        assert abs((at[0] - at[1]) @ qd / (2 * h) + robot.loop_jacobian(q, **NUMPY) @ qdd).max() < 1e-7 * (1 + abs(qdd).max())
        close(robot.closed_motion(q, qd, qdd, **NUMPY).qdd, qdd, 1e-9)


@pytest.mark.parametrize("name", sweep(("four_bar", "palletizer", "tilted", "delta", "coupled"), quick=(0, 1)))
def test_equations_of_motion_in_independent_joints(name):
    """M, C and g; M' - 2 C is skew; gravity is the gradient of potential energy along the loops; derivatives are slopes."""
    robot, h = ALL[name](), 1e-6
    free = free_joints(robot)
    q, qd, tau = next(states(robot, 1))
    qdd = robot.forward_dynamics(q, qd, tau, **NUMPY)
    M, C, g = (
        getattr(robot, x)(q, *v, **NUMPY) for x, v in (("mass_matrix", ()), ("coriolis_matrix", (qd,)), ("gravity_force", ()))
    )
    found = M @ qdd[free] + C @ qd[free] + g[free]
    close(robot.inverse_dynamics(q, qd, qdd, **NUMPY)[free], found, 1e-10)
    close(robot.coriolis_force(q, qd, **NUMPY)[free], C @ qd[free], 1e-10, scale=abs(found).max())
    close(robot.bias_force(q, qd, **NUMPY)[free], C @ qd[free] + g[free], 1e-10, scale=abs(found).max())
    close(robot.kinetic_energy(q, qd, **NUMPY), qd[free] @ M @ qd[free] / 2, 1e-12)
    close(robot.inverse_mass_matrix(q, **NUMPY) @ M, np.eye(len(free)), 1e-9)
    rate = robot.mass_matrix_rate(q, qd, **NUMPY)
    close(rate, C + C.T, 1e-12)

    def moved(k, s):
        x = q.copy()
        x[free[k]] += s * h
        return robot.settle(x, hold=robot.independent_names())

    ends = [[moved(k, s) for s in (1, -1)] for k in range(len(free))]
    along = [(robot.mass_matrix(a, **NUMPY) - robot.mass_matrix(b, **NUMPY)) / (2 * h) for a, b in ends]
    close(sum(x * v for x, v in zip(along, qd[free], strict=True)), rate, 1e-6, scale=abs(M).max() * (1 + abs(qd).max()))
    slopes = [(robot.potential_energy(a, **NUMPY) - robot.potential_energy(b, **NUMPY)) / (2 * h) for a, b in ends]
    close(np.array(slopes), g[free], 1e-6, scale=abs(g).max() + 1)

    def forces(x, yd, ydd):
        return robot.inverse_dynamics(x, yd, ydd, **NUMPY)[free]

    d = robot.inverse_dynamics_derivatives(q, qd, qdd, **NUMPY)
    close(d.dqdd, M, 1e-10)
    close(d.dq, np.stack([(forces(a, qd, qdd) - forces(b, qd, qdd)) / (2 * h) for a, b in ends], -1), 1e-5)
    unit = h * np.eye(robot.n)[free]
    close(
        d.dqd,
        np.stack([(forces(q, qd + e, qdd) - forces(q, qd - e, qdd)) / (2 * h) for e in unit], -1),
        1e-5,
        scale=abs(d.dq).max(),
    )

    def accelerations(x, yd, force):
        return robot.forward_dynamics(x, robot.closed_motion(x, yd, yd, **NUMPY).qd, force, **NUMPY)[free]

    d = robot.forward_dynamics_derivatives(q, qd, tau, **NUMPY)
    close(d.dq, np.stack([(accelerations(a, qd, tau) - accelerations(b, qd, tau)) / (2 * h) for a, b in ends], -1), 1e-4)
    close(d.dtau, np.stack([(accelerations(q, qd, tau + e) - accelerations(q, qd, tau - e)) / (2 * h) for e in unit], -1), 1e-5)
    A, B = robot.linearize(q, qd, tau, **NUMPY)
    k = len(free)
    assert A.shape == (2 * k, 2 * k) and B.shape == (2 * k, k)
    close(A[k:, :k], d.dq, 0)


@pytest.mark.parametrize("name", sweep(("palletizer", "coupled"), quick=(0,)))
def test_what_acts_from_outside(name):
    """Friction, rotors, wrenches and a moving base enter the accelerations as they enter inverse dynamics."""
    robot = ALL[name]().with_friction(damping=0.1).with_armature(0.05)
    q, qd, tau = next(states(robot, 1))
    rng = np.random.default_rng(1)
    outside = {
        "wrenches": rng.normal(size=(len(robot.links), 6)),
        "base_twist": rng.normal(size=6),
        "base_acceleration": rng.normal(size=6),
    }
    qdd = robot.forward_dynamics(q, qd, tau, **outside, **NUMPY)
    close(robot.forward_dynamics(q, qd, tau, method="independent", **outside, **NUMPY), qdd, 1e-10)
    back, G, free = (
        robot.inverse_dynamics(q, qd, qdd, **outside, **NUMPY),
        robot.independent_jacobian(q, **NUMPY),
        free_joints(robot),
    )
    close(back[free], G.T @ tau, 1e-10, scale=abs(tau).max())
    Y = robot.regressor(q, qd, qdd, friction=True, armature=True, **NUMPY)
    p = robot.regressor_parameters(friction=True, armature=True).values
    close(Y @ p, robot.inverse_dynamics(q, qd, qdd, **NUMPY)[free], 1e-10, scale=abs(tau).max())
    link = robot.link_names[-1]
    close(robot.jacobian(q, link, **NUMPY) @ qd[free], robot.twist(q, qd, link, **NUMPY), 1e-12)


def test_native_code_and_batches():
    """Batches broadcast, and have the numbers of NumPy's path."""
    robot = ROBOTS["delta"]()
    (q, qd, tau), (other, *_) = states(robot)
    both = np.stack([q, other])
    found = robot.constraint_dynamics(both[:, None], np.zeros((3, 12)), tau)
    assert found.qdd.shape == (2, 3, 12) and found.multipliers.shape == (2, 3, 9)
    close(found.qdd[1, 2], robot.constraint_dynamics(other, np.zeros(12), tau, **NUMPY).qdd, 1e-12)
    close(robot.forward_dynamics(q, qd, tau), robot.forward_dynamics(q, qd, tau, **NUMPY), 1e-12)


# --- the two routes as rational functions -------------------------------------------------------------------------------------


def test_both_routes_are_equal_modulo_a_prime():
    """For every tree of the four-bar's structure, every pair of points on it, and every state whose velocity keeps J qd = 0."""
    parents, free, names = (-1, 0, -1), (0,), ("before_R", "before_p", "after_R", "after_p")
    shapes = {"q": (3,), "before_R": (3, 3, 3), "before_p": (3, 3), "after_R": (3, 3, 3), "after_p": (3, 3)}

    def gap(q, *parts):
        from dalembert.algebra.spatial import Transform
        from dalembert.model.tree import Tree

        tree = Tree(parents, Transform(*parts[:2]), Transform(*parts[2:]), [(1, 0)] * 3, *[None] * 4)
        poses = tree.poses(q)
        return (poses[1].translation - poses[2].translation)[:2]

    J = differentiate(trace(gap, shapes), ["q"], mode="forward")
    moved = trace(
        lambda q, *rest: replay(J, dict(zip(shapes, (q, *rest[1:]), strict=True))) @ rest[0],
        {"q": (3,), "qd": (3,), **dict(list(shapes.items())[1:])},
    )
    slope = differentiate(moved, ["q"], mode="forward")

    def pieces(tree, q, qd, tau, wrenches):
        parts = dict(zip(names, (*tree.before, *tree.after), strict=True))
        at = closure.embedding(free, replay(J, {"q": q, **parts}), lambda v: replay(slope, {"q": q, "qd": v, **parts}) @ v, qd)
        M = formulation("mass_matrix", "composite_body")(tree, q)
        return (
            at,
            M,
            replay(J, {"q": q, **parts}),
            lambda qdd: formulation("inverse_dynamics", "newton_euler")(tree, q, at.qd, qdd, wrenches),
        )

    def by_multipliers(tree, q, qd, tau, wrenches):
        at, M, jacobian, forces = pieces(tree, q, qd, tau, wrenches)
        return closure.held(M, jacobian).back(tau - forces(np.zeros(3, int)), jacobian @ at.k)[0]

    def by_independent(tree, q, qd, tau, wrenches):
        at, M, _, forces = pieces(tree, q, qd, tau, wrenches)
        return at.G @ (at.G.T @ (tau - forces(at.k)) / (at.G.T @ M @ at.G)[0]) + at.k

    assert ROBOTS["four_bar"]().operation_count("forward_dynamics", customized=False).mul > 500
    certificate = compare(
        "RRR",
        [by_multipliers, by_independent],
        ("multipliers", "independent"),
        quantity="forward_dynamics",
        parents=parents,
        moving=False,
    )
    assert certificate and certificate.log2_probability < -400


# --- motion -------------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", sweep(("four_bar", "delta", "five_bar"), quick=(0,)))
def test_loops_stay_closed_and_energy_is_kept(name):
    robot = ROBOTS[name]()
    q, qd, _ = next(states(robot, 1))
    motion = robot.simulate(q, qd, duration=1.0, step=5e-4)
    assert motion.drift < 1e-6
    size = 1 + abs(robot.poses(q)[:, :3, 3]).max()
    assert abs(robot.loop_gap(motion.q)).max() < 1e-15 * size
    assert abs(np.matvec(robot.loop_jacobian(motion.q), motion.qd)).max() < 1e-12 * (1 + abs(motion.qd).max())


@pytest.mark.parametrize(("integrator", "order"), [("rk4", 4), ("implicit_midpoint", 2), ("semi_implicit_euler", 1), ("euler", 1)])
def test_the_projection_keeps_the_order_of_an_integrator(integrator, order):
    robot = ROBOTS["four_bar"]()
    q, qd, _ = next(states(robot, 1))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", da.AccuracyWarning)
        ends = [robot.simulate(q, qd, duration=0.64, step=h, integrator=integrator).q[-1] for h in (0.02, 0.01, 0.000625)]
    ratio = abs(ends[0] - ends[2]).max() / abs(ends[1] - ends[2]).max()
    assert 0.75 * 2**order < ratio < 1.6 * 2**order


def test_driven_motions_and_rollouts():
    """Forces as arrays and as functions; work is in balance; torques along a path come back as that path."""
    robot = ROBOTS["five_bar"]()
    q, qd, _ = next(states(robot, 1))
    tau = np.array([1e-3, 0, -2e-3, 0])
    held = robot.simulate(np.stack([q, q]), qd, duration=0.1, torque=tau)
    asked = robot.simulate(q, qd, duration=0.1, torque=lambda t, q, qd: tau)
    close(held.q[1], asked.q, 1e-9)
    assert held.drift.max() < 1e-6
    path = da.quintic(np.zeros(4), robot.settle([0.3, 0, -0.2, 0], hold=("motor1", "motor2")), duration=0.5)
    plan = robot.torques_along(path, step=1e-3)
    assert not plan.tau[:, [1, 3]].any() and abs(robot.loop_gap(plan.q)).max() < 1e-15
    done = robot.simulate(plan.q[0], plan.qd[0], duration=0.5, step=1e-3, torque=plan.tau[:-1])
    close(done.q[-1], plan.q[-1], 2e-2)
    control = da.ComputedTorque(robot, path, kp=400.0, kd=40.0)
    close(robot.simulate(plan.q[0], duration=0.5, torque=control).q[-1], plan.q[-1], 1e-3)


def test_smooth_friction():
    robot = ROBOTS["palletizer"]().with_friction(damping=0.02, coulomb=0.02)
    motion = robot.simulate(np.zeros(5), duration=0.05, slip_speed=1e-2)
    assert motion.drift < 1e-5 and motion.dissipated[-1] > 0


# --- making and closing -------------------------------------------------------------------------------------------------------


def test_equations_that_count():
    """Those across a plane do not, whether recording knows it or rounding hides it; of a weld in space all do."""
    assert ROBOTS["four_bar"]().loops[0].rows == (2, 3)
    assert len(ROBOTS["tilted"]().loops[0].rows) == 2
    bar = ROBOTS["four_bar"]().without_loops()
    assert bar.with_loop("coupler_end", "rocker_end").loops[0].rows == (0, 1)
    assert welded().loops[0].rows == tuple(range(6)) and len(ROBOTS["hinged"]().loops[0].rows) == 5
    close(bar.with_loop("coupler_end", "rocker_end").mass_matrix([0] * 3), ROBOTS["four_bar"]().mass_matrix([0] * 3), 1e-12)
    with pytest.raises(da.Error, match="adds nothing to what holds already"):
        ROBOTS["four_bar"]().with_loop("coupler_end", "rocker_end", "point")
    with pytest.raises(da.Error, match="leave none of its 3 joints free"):
        closing_frame(da.random_robot(1, "RRR"), HOME[:3], "link3").with_loop("link3", "goal", "weld", near=HOME[:3])


def test_independent_joints_are_found_or_chosen():
    bar = ROBOTS["four_bar"]()
    found = da.Robot(bar.name, bar.links, bar.gravity, frames=bar.frames, loops=bar.loops)
    assert len(found.independent_names()) == 1
    q, qd, tau = next(states(bar, 1))
    close(found.forward_dynamics(q, qd, tau, method="independent"), bar.forward_dynamics(q, qd, tau), 1e-12)
    G = bar.independent_jacobian(q)
    for i, name in enumerate(bar.joint_names):
        close(bar.with_independent(name).mass_matrix(q), bar.mass_matrix(q) / G[i, 0] ** 2, 1e-10)


def test_a_function_is_a_loop():
    """The four-bar's equations by hand, and a rack that moves as a wheel turns."""
    bar, lean = ROBOTS["four_bar"](), np.arctan(np.sqrt(15))
    q, qd, tau = next(states(bar, 1))

    def meets(q):
        a, b, c = np.pi - lean + q[0], q[0] + q[1], lean + q[2]
        return [4 * np.cos(a) + 4 * np.cos(b) - 2 - 4 * np.cos(c), 4 * np.sin(a) + 4 * np.sin(b) - 4 * np.sin(c)]

    by_hand = bar.without_loops().with_loop(kind=meets, independent="crank")
    close(by_hand.constraint_dynamics(q, qd, tau).qdd, bar.forward_dynamics(q, qd, tau), 1e-12)
    assert by_hand.loops[0].told == "meets(q) = 0" and by_hand == da.Robot(
        bar.name, bar.links, bar.gravity, frames=bar.frames, source=bar.source, loops=by_hand.loops, independent=("crank",)
    )
    links = da.random_robot(3, "RP", (-1, -1))
    rack = links.with_loop(kind=lambda q: [q[1] - 0.1 * q[0]])
    like = links.with_coupling({"joint2": {"joint1": 0.1}})
    ydd = like.forward_dynamics([0.3], [0.5], like.coupling.matrix.T @ [1.0, 2.0])
    close(rack.forward_dynamics([0.3, 0.03], [0.5, 0.05], [1.0, 2.0]), like.coupling.matrix @ ydd, 1e-12)
    with pytest.raises(da.Error, match="is a function, which a file cannot hold"):
        by_hand.save("unsaved.toml")


def test_settling():
    bar = ROBOTS["four_bar"]()
    guess = np.random.default_rng(0).uniform(-0.5, 0.5, (20, 3))
    q = bar.settle(guess, hold="crank")
    assert (q[:, 0] == guess[:, 0]).all() and abs(bar.loop_gap(q)).max() < 4e-15
    assert abs(bar.settle(q) - q).max() < 1e-14
    impossible = bar.without_loops().with_loop("coupler_end", "rocker_end").with_independent("rocker")
    apart = impossible.settle([0.0, 0.0, 0.0])
    with pytest.raises(
        da.Error, match=r"settle: the loops of four_bar stay open by [0-9.]+ \(m or rad\) from q = .*hold fewer joints"
    ):
        impossible.settle(apart + np.array([1.0, 0, 0]), hold=("crank", "coupler"))
    with pytest.warns(da.SingularWarning, match="at 1 of 2 states, which are NaN"):
        some = impossible.settle(np.stack([apart, apart + np.array([1.0, 0, 0])]), hold=("crank", "coupler"))
    assert np.isnan(some[1]).all() and np.isfinite(some[0]).all()
    for odd in (np.inf, np.nan):
        with pytest.raises(da.Error, match="settle: the loops of four_bar stay open"):
            bar.settle([odd, 0.0, 0.0])
        with pytest.warns(da.SingularWarning, match="at 1 of 2 states, which are NaN"):
            assert np.isnan(bar.settle([[0.0, 0.0, 0.0], [odd, 0.0, 0.0]])).all(axis=-1).tolist() == [False, True]
    with pytest.raises(da.Error, match="no position was found at which the loops of far are closed"):
        far = da.Robot("far", bar.links, frames=(da.Frame("away", "base", da.Pose.of((99, 0, 0))),))
        far.with_loop("coupler", "away")
    flipped = bar.settle(guess[0])
    assert bar.loops[0].facing(bar, flipped.astype(object)) > 0.99


def parallelogram():
    """Bars of 1 m on pins 1 m apart: flat where the crank lies on the base line."""
    rod = da.Inertia.box(1.0, (1.0, 0.1, 0.1), center=(0.5, 0, 0))
    link = lambda name, parent, x, turn: da.Link(name, parent, da.Joint(name), da.Pose.of((x, 0, 0), (0, 0, turn)), inertia=rod)  # noqa: E731
    links = link("a", "base", 0.0, np.pi / 2), link("b", "a", 1.0, -np.pi / 2), link("c", "base", 1.0, np.pi / 2)
    ends = (da.Frame(f"end_{x}", x, da.Pose.of((1, 0, 0))) for x in "bc")
    return da.Robot("parallelogram", links, frames=tuple(ends)).with_loop("end_b", "end_c", near=np.zeros(3), independent="a")


def test_singular_positions_are_told():
    robot = parallelogram()
    flat, fine = np.array([-np.pi / 2, np.pi / 2, -np.pi / 2]), np.zeros(3)
    assert abs(robot.loop_gap(flat)).max() < 1e-15
    for ask in (robot.forward_dynamics, lambda *x, **y: robot.constraint_dynamics(*x, **y).qdd):
        with pytest.raises(
            da.Error, match=r"loops of parallelogram are singular, only 1 of their 2 equations are independent at q = "
        ):
            ask(flat, fine, fine)
        with pytest.warns(da.SingularWarning, match="the result is NaN at 1 of 2 states; the loops of parallelogram are singular"):
            found = ask(np.stack([fine, flat]), fine, fine)
        assert np.isfinite(found[0]).all() and np.isnan(found[1]).all()
    with pytest.raises(da.Error, match="q0 is a singular position of the loops"):
        robot.simulate(flat, duration=0.1)
    with pytest.warns(da.SingularWarning, match="nearly singular at t = "):
        robot.with_gravity((0, -9.81, 0)).simulate(fine, [-2.0, 2.0, -2.0], duration=1.0)
    assert np.isnan(robot.forward_dynamics([np.nan, 0, 0], fine, fine)).any()


def test_joints_that_do_not_determine_the_motion_are_told():
    """A crank at its dead point moves, the rocker stands: the rocker cannot lead there, the crank can."""
    rods = {"crank": 0.3, "coupler": 0.9, "rocker": 0.6}
    link = lambda name, parent, x: da.Link(  # noqa: E731
        name,
        parent,
        da.Joint(name),
        da.Pose.of((x, 0, 0)),
        inertia=da.Inertia.box(1.0, (rods[name], 0.1, 0.1), center=(rods[name] / 2, 0, 0)),
    )
    links = link("crank", "base", 0), link("coupler", "crank", 0.3), link("rocker", "base", 0.8)
    ends = tuple(da.Frame(f"{x}_end", x, da.Pose.of((rods[x], 0, 0))) for x in ("coupler", "rocker"))
    bar = da.Robot("bar", links, frames=ends).with_loop("coupler_end", "rocker_end", independent="rocker")
    lean = np.arccos((1.2**2 + 0.8**2 - 0.6**2) / (2 * 1.2 * 0.8))
    end = 1.2 * np.array([np.cos(lean), np.sin(lean)]) - [0.8, 0.0]
    dead = np.array([lean, 0.0, np.arctan2(end[1], end[0])])
    assert abs(bar.loop_gap(dead)).max() < 1e-15
    with pytest.raises(
        da.Error, match=r"the joints rocker do not determine the motion of bar, others do \(with_independent\), at q = "
    ):
        bar.mass_matrix(dead)
    assert bar.with_independent("crank").mass_matrix(dead)[0, 0] > 0
    assert np.isfinite(bar.forward_dynamics(dead, [0] * 3, [0] * 3)).all()


# --- no function passes over a loop -------------------------------------------------------------------------------------------

TAUGHT = {
    "forward_dynamics", "inverse_mass_matrix", "coriolis_matrix", "coriolis_force", "bias_force", "mass_matrix_rate",
    "inverse_dynamics_derivatives", "forward_dynamics_derivatives", "computed_torque", "inverse_dynamics", "mass_matrix", "gravity_force",
    "kinetic_energy", "potential_energy", "pose", "poses", "twist", "jacobian", "center_of_mass", "com_jacobian", "momentum", "regressor",
}  # fmt: skip


@pytest.mark.parametrize("name", QUANTITIES)
def test_every_quantity_is_taught_or_refused(name):
    robot, options = ROBOTS["four_bar"](), {"link": "coupler"} if "link" in QUANTITIES[name].options else {}
    if name in TAUGHT:
        program, quantity = robot.program(name, **options), QUANTITIES[name].of(robot)
        assert [v.shape for v in program.outputs] == [
            v.sized(robot, quantity.check_options(options)) for v in quantity.outputs.values()
        ]
        return
    for ask in (robot.program, robot.compile, robot.operation_count):
        with pytest.raises(
            da.Error, match=rf"{name} does not support closed loops, which four_bar has; robot\.without_loops\(\) leaves them open"
        ):
            ask(name, **options)


REFUSED = {
    "base_parameters does not support": lambda r: r.base_parameters(),
    "base_parameters does not": lambda r: r.base_regressor([0] * 3, [0] * 3, [0] * 3),
    "probe does not support": lambda r: r.probe([0] * 3, [0] * 3),
    "without_coriolis does not support": lambda r: r.inverse_dynamics_without_coriolis([0] * 3, [0] * 3, [0] * 3),
    "random positions leave the loops": lambda r: r.random_configuration(),
    "dominance needs a tree of independent joints": lambda r: r.dominance([0] * 3, [0] * 3, [0] * 3),
    "derivations need a tree": lambda r: da.derive(r),
    "symbolic needs a tree": lambda r: r.symbolic(),
    "the Lie-group form needs a tree": lambda r: da.lie_two_joint(r),
    "without_loops() is one": lambda r: da.derive(r),
    "stops and sticking friction do not support": lambda r: r.simulate([0] * 3, restitution=0.5),
    "joints cannot stick": lambda r: r.with_friction(coulomb=0.1).simulate([0] * 3),
    "closed again after every step": lambda r: r.simulate([0] * 3, integrator="RK45"),
    'must be "joint"': lambda r: r.simulate([0] * 3, velocities="momentum"),
    "q0 leaves the loops of four_bar open by": lambda r: r.simulate([1.0, 0, 0]),
    "qd0 would open the loops": lambda r: r.simulate([0] * 3, [1.0, 0, 0]),
    "sticking_dynamics does not support": lambda r: r.forward_dynamics([0] * 3, [0] * 3, [0] * 3, sticking=True),
    "SlotineLi does not support": lambda r: da.SlotineLi(r, da.quintic([0] * 3, [0] * 3, duration=1.0), 1.0, 1.0, 1.0),
    "Impedance does not support": lambda r: da.Impedance(r, np.eye(4), 1.0, 1.0, link="crank"),
    "TaskSpaceControl does not support": lambda r: da.TaskSpaceControl(r, [0.0] * 3, 1.0, 1.0, link="crank"),
    "MomentumObserver does not support": lambda r: da.MomentumObserver(r, 1.0, 1e-3),
    "these methods do: multipliers, independent": lambda r: r.forward_dynamics([0] * 3, [0] * 3, [0] * 3, method="articulated_body"),
    "couple these first": lambda r: r.with_coupling({"rocker": {"crank": 1.0}}),
    "the loops of four_bar depend on all joints": lambda r: r.lock({"crank": 0.0}),
    "has no loops; with_loop": lambda r: r.without_loops().settle([0] * 3),
    "has no loops, so all": lambda r: da.Robot("x", r.links, independent=("crank",)),
    "has 1 independent joint, got 2": lambda r: r.with_independent("crank", "rocker"),
    "is named twice among": lambda r: replace(r, independent=("crank", "crank")),
    "joint of four_bar: [1]": lambda r: replace(r, independent=([1],)),
    "unknown joint of four_bar": lambda r: r.with_independent("crnk"),
    "unknown link or frame": lambda r: r.with_loop("coupler_end", "nowhere"),
    "unknown kind of a loop": lambda r: r.with_loop("coupler_end", "rocker_end", "ball"),
    "two frames of one link": lambda r: r.with_loop("coupler_end", "coupler"),
    "got 'crank' twice": lambda r: r.with_loop("crank", "crank"),
    "has no frames": lambda r: r.with_loop("crank", "base", lambda q: q),
    "the function of a loop failed": lambda r: r.with_loop(kind=lambda q: q["x"]),
    "must return one array of equations": lambda r: r.with_loop(kind=lambda q: [[q[0]]]),
    "at least one, in order and each once": lambda r: Loop("a", "b", rows=(1, 0)),
    "an integer from 0 to 2": lambda r: Loop("a", "b", rows=(3,)),
    "does not go with loops": lambda r: r.with_friction(load_friction=0.1),
    "near must be one position": lambda r: r.with_loop("coupler", "base", near=[[0] * 3]),
    "is open by": lambda r: da.Robot("x", (*r.links[:2], da.Link("rocker", "base", da.Joint("rocker"))), frames=r.frames, loops=r.loops).neutral(),
}  # fmt: skip


@pytest.mark.parametrize("told", REFUSED)
def test_what_is_refused_in_one_line(told):
    with pytest.raises(da.Error) as error:
        REFUSED[told](ROBOTS["four_bar"]())
    assert told in str(error.value) and "\n" not in str(error.value)


# --- files, words, code -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ("delta", "welded", "coupled"))
def test_files_values_and_changes(name, tmp_path):
    robot = ALL[name]()
    robot.save(tmp_path / "robot.toml")
    again = da.load(tmp_path / "robot.toml")
    assert again == robot and hash(again) == hash(robot) and again.loops == robot.loops
    assert robot != robot.without_loops() and "loop" not in repr(robot.without_loops())
    assert robot.without_loops().without_loops() == robot.without_loops()
    heavy = robot.with_payload(1.0, link=robot.link_names[0])
    assert heavy.loops == robot.loops and heavy.independent == robot.independent
    q, qd, tau = next(states(robot, 1))
    moved = robot.with_base(robot.base @ da.Pose.of((1, 2, 3))).with_gravity(robot.gravity)
    close(moved.forward_dynamics(q, qd, tau, **NUMPY), robot.forward_dynamics(q, qd, tau, **NUMPY), 1e-12)


def test_kernels_of_different_loops_are_different():
    from dalembert.engine.kernels import _content
    from dalembert.engine.registry import quantity_named

    bar = ROBOTS["four_bar"]()
    cut, quantity = bar.without_loops(), quantity_named("mass_matrix")
    made = [cut, bar, bar.with_independent("rocker"), cut.with_loop("coupler_end", "base")]
    assert len({_content(robot, quantity) for robot in made}) == len(made)


def test_words_about_loops():
    bar = ROBOTS["four_bar"]()
    assert repr(bar) == "<Robot 'four_bar': 3 joints RRR, 1 loop>"
    text = bar.summary()
    for words in (
        "1 of them independent",
        "loops: coupler_end - rocker_end (revolute)",
        "2 for 3 joints",
        "independent joints: crank",
    ):
        assert words in text
    assert "Loops: coupler_end - rocker_end (revolute)" in str(bar.generate("c", ["forward_dynamics"]))


def test_a_page_plays_a_closed_motion(tmp_path):
    from dalembert.studies.report import motion_sections
    from dalembert.studies.report.analysis import torques
    from dalembert.studies.report.header import header
    from dalembert.studies.report.motion import follow

    robot = ROBOTS["four_bar"]()
    motion = follow(robot, samples=21)
    assert abs(robot.loop_gap(motion.q)).max() < 4e-15 and np.ptp(motion.q[:, 0]) > 0.5
    assert torques(robot, motion).defect < 1e-12
    assert [panel.title for panel in motion_sections.torques(robot, motion).figures[0].panels] == ["crank"]
    assert "3 joints (RRR, 1 independent in 1 loop)" in (head := header(robot, motion, "report"))
    assert "at crank" in head and "at coupler" not in head
    page = da.live("four_bar", tmp_path / "bar.html").read_text(encoding="utf-8")
    assert "This robot has closed loops: the page plays its motion" in page


@pytest.mark.slow
def test_comparison():
    compared = da.compare(ROBOTS["five_bar"](), ("forward_dynamics", "inverse_dynamics"), states=5)
    assert {row.method for row in compared.rows if row.quantity == "forward_dynamics"} == {"multipliers", "independent"}
    assert max(row.error for row in compared.rows) < 1e-9
