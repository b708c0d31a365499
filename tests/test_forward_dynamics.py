"""Forward dynamics by every method against inverse dynamics, references, and each other; the mass matrix likewise."""

import warnings
from functools import cache

import numpy as np
import pytest
from conftest import REFERENCE, STRUCTURES, close, reference_robot, run, sweep

import dalembert as da
from dalembert.algebra.linalg import Pivots, inverse, solve, udu
from dalembert.engine import singular
from dalembert.formulations import formulation
from dalembert.model.reduce import reduced

METHODS = da.methods("forward_dynamics")
MASS = da.methods("mass_matrix")
some_methods = pytest.mark.parametrize("method", sweep(METHODS, quick=(0, 5, 8)))  # one of each kind


def state(robot, seed=0, batch=()):
    q, qd, tau = np.random.default_rng(seed).uniform(-1, 1, (3, *batch, robot.n))
    return q, qd, 10 * tau


def test_the_methods():
    assert METHODS[:3] == ("articulated_body", "brandl", "kalman")
    assert set(METHODS[3:]) == {f"walker_orin_{k}" for k in (1, 2, 3, 4)} | {
        "joint_acceleration",
        "diagonalized_normalized",
        "diagonalized_unnormalized",
    }
    assert set(MASS) == {
        "composite_body",
        "composite_body_world",
        "lagrange_euler",
        "generalized_dalembert",
        "body_jacobians",
        "stacked_operators",
        "lie_closed_form",
        "spatial_operator",
        "probing",
    }


@pytest.mark.parametrize("name", REFERENCE)
def test_references_on_floats(name):
    ref, tree = REFERENCE[name], reference_robot(name).tree
    q, qd, tau = (np.array(ref[k]) for k in ("q", "qd", "tau"))
    for method in METHODS:
        close(formulation("forward_dynamics", method)(tree, q, qd, tau), ref["qdd"], 1e-10)
    for method in MASS:
        close(formulation("mass_matrix", method)(tree, q), ref["M"], 1e-12)


@pytest.mark.parametrize("name", sweep(REFERENCE, quick=(0,)))
@pytest.mark.parametrize("method", METHODS)
def test_reference_accelerations(name, method):
    ref, robot = REFERENCE[name], reference_robot(name)
    close(robot.forward_dynamics(ref["q"], ref["qd"], ref["tau"], method=method), ref["qdd"], 1e-10)
    forward = ref["forward"]
    close(robot.forward_dynamics(ref["q"], ref["qd"], forward["tau_in"], method=method), forward["qdd"], 1e-10)


@pytest.mark.parametrize("name", sweep(REFERENCE, quick=(0,)))
@pytest.mark.parametrize("method", MASS)
def test_reference_mass_matrices(name, method):
    ref, robot = REFERENCE[name], reference_robot(name)
    M = robot.mass_matrix(ref["q"], method=method)
    close(M, ref["M"], 1e-12)
    close(M, M.T, 1e-14)
    for m in da.methods("inverse_mass_matrix"):
        close(robot.inverse_mass_matrix(ref["q"], method=m) @ M, np.eye(robot.n), 1e-10)


@cache
def geared(joints, parents):
    return da.random_robot(4, joints, parents).with_friction(damping=0.3, coulomb=0.2).with_armature(0.4)


@pytest.mark.parametrize(("joints", "parents"), sweep(STRUCTURES))
@some_methods
def test_undoes_inverse_dynamics(joints, parents, method):
    """With friction, rotors, wrenches and, where the method takes it, a moving base: reduced programs in NumPy, others natively."""
    robot = geared(joints, parents)
    q, qd, tau = state(robot, 1, (3,))
    rng = np.random.default_rng(2)
    options = {
        "wrenches": rng.uniform(-5, 5, (robot.n, 6)),
        "base_twist": rng.uniform(-1, 1, 6),
        "base_acceleration": rng.uniform(-1, 1, 6),
    }
    able = {k: v for k, v in options.items() if method in da.methods("forward_dynamics", taking=k)}
    assert "wrenches" in able
    for given, backend in (({}, "numpy"), (able, "native")):
        qdd = robot.forward_dynamics(q, qd, tau, method=method, backend=backend, **given)
        again = robot.inverse_dynamics(q, qd, qdd, **given)
        close(again, tau, 1e-11)


def test_only_the_diagonalized_methods_stand_still():
    moving = da.methods("forward_dynamics", taking="base_twist")
    assert set(METHODS) - set(moving) == {"diagonalized_normalized", "diagonalized_unnormalized"}


@pytest.mark.parametrize(("joints", "parents"), sweep(STRUCTURES))
def test_mass_matrix_is_the_same_by_every_method(joints, parents):
    robot = da.random_robot(6, joints, parents).with_armature(0.3)
    q = state(robot, 3, (2, 1))[0]
    expected = robot.mass_matrix(q)
    for method in MASS:
        for backend in ("numpy", "native"):
            close(robot.mass_matrix(q, method=method, backend=backend), expected, 1e-12)
    rest = robot.with_gravity((0, 0, 0))
    columns = rest.inverse_dynamics(q[..., None, :], np.zeros(robot.n), np.eye(robot.n))
    close(expected, np.swapaxes(columns, -1, -2), 1e-12)
    assert (np.linalg.eigvalsh(expected) > 0).all()


@pytest.mark.parametrize("part", sweep(range(6), quick=(0,)))
@pytest.mark.parametrize("method", ["articulated_body", "brandl", "kalman"])
def test_reduced_frames_change_nothing(method, part):
    for seed in range(part, 60, 6):
        rng = np.random.default_rng(seed)
        n = int(rng.integers(1, 8))
        parents = None if seed % 2 else tuple(int(rng.integers(-1, i)) if i else -1 for i in range(n))
        robot = da.random_robot(seed, "".join(rng.choice(list("RPH"), n)), parents)
        q, qd, tau = state(robot, seed)
        function = formulation("forward_dynamics", method)
        close(function(reduced(robot.tree), q, qd, tau), function(robot.tree, q, qd, tau), 1e-10)


@pytest.mark.parametrize("batch", [(), (1,), (3, 1, 2), (0, 4)])
@some_methods
def test_batch_shapes(batch, method):
    robot = da.random_robot(1, "RPH")
    q, qd, tau = state(robot, 0, batch)
    qdd = robot.forward_dynamics(q, qd, tau, method=method)
    assert qdd.shape == (*batch, 3)
    for index in np.ndindex(*batch):
        assert np.array_equal(qdd[index], robot.forward_dynamics(q[index], qd[index], tau[index], method=method))
    assert robot.mass_matrix(q).shape == robot.inverse_mass_matrix(q).shape == (*batch, 3, 3)


def test_no_joints():
    stone = da.Robot("stone", ())
    assert stone.forward_dynamics([], [], []).shape == (0,)
    assert stone.mass_matrix(np.zeros((2, 0))).shape == (2, 0, 0)
    assert stone.inverse_mass_matrix([]).shape == (0, 0)
    assert stone.joint_wrenches([], [], []).shape == (0, 6)
    assert stone.diagonalize([]).D.shape == (0,)
    assert stone.diagonalize(np.zeros((2, 0))).det.tolist() == [1.0, 1.0]


def test_out_and_complex_numbers():
    robot = da.random_robot(1, "RPR")
    q, qd, tau = state(robot, 0, (5,))
    out = np.empty((5, 3))
    assert robot.forward_dynamics(q, qd, tau, out=out) is out
    assert np.array_equal(out, robot.forward_dynamics(q, qd, tau))
    M = np.empty((5, 3, 3))
    assert robot.mass_matrix(q, out=M) is M
    step = robot.forward_dynamics(q, qd, tau + 1e-30j * np.eye(3)[0])
    close(step.imag / 1e-30, robot.inverse_mass_matrix(q)[..., 0], 1e-12)


# --- joint wrenches -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("joints", "parents"), sweep(STRUCTURES))
def test_joint_wrenches_hold_the_links(joints, parents):
    """Along the axes they are the joint forces; on every link they balance inertia, weight, wrenches and the children."""
    robot = da.random_robot(7, joints, parents)
    q, qd, qdd = state(robot, 2)
    wrenches = np.random.default_rng(1).uniform(-3, 3, (robot.n, 6))
    found = robot.joint_wrenches(q, qd, qdd, wrenches=wrenches)
    tau = robot.inverse_dynamics(q, qd, qdd, wrenches=wrenches)
    for i, link in enumerate(robot.links):
        R, p = link.after.rotation, link.after.translation
        force = R @ found[i, 3:]
        moment = R @ found[i, :3] + np.cross(p, force)
        rho, sigma = robot.tree.screw[i]
        close(rho * moment[2] + sigma * force[2], tau[i], 1e-12, scale=np.abs(tau).max())
    total = np.zeros(6)  # of all links: momentum's rate less weight and wrenches, about the base's origin
    poses = robot.tree.poses(q)
    for i, (R, p) in enumerate(poses):
        r = p + R @ robot.tree.com[i]
        _, w = velocities(robot, i, q, qd)
        ahead, behind = (velocities(robot, i, q + s * qd + s * s / 2 * qdd, qd + s * qdd) for s in (STEP_SIZE, -STEP_SIZE))
        a, wd = ((x - y) / (2 * STEP_SIZE) for x, y in zip(ahead, behind, strict=True))
        I = R @ robot.tree.inertia[i] @ R.T
        force = robot.tree.mass[i] * (a - robot.tree.gravity)
        moment = I @ wd + np.cross(w, I @ w) + np.cross(r, force)
        outside = np.concatenate([R @ wrenches[i, :3] + np.cross(p, R @ wrenches[i, 3:]), R @ wrenches[i, 3:]])
        total += np.concatenate([moment, force]) - outside
    for i, parent in enumerate(robot.parents):  # what the base bears
        if parent < 0:
            R, p = poses[i]
            force = R @ found[i, 3:]
            total -= np.concatenate([R @ found[i, :3] + np.cross(p, force), force])
    assert np.abs(total).max() < 1e-5 * np.abs(found).max()


STEP_SIZE = 1e-5


def velocities(robot, i, q, qd):
    """Velocity of the centre of mass of link i and its angular velocity, in base axes, by a complex step."""
    now, later = robot.tree.poses(q)[i], robot.tree.poses(q + 1e-30j * qd)[i]
    turning = later.rotation.imag / 1e-30 @ now.rotation.T
    v = later.translation.imag / 1e-30 + later.rotation.imag / 1e-30 @ robot.tree.com[i]
    return v, np.array([turning[2, 1], turning[0, 2], turning[1, 0]])


def test_the_base_bears_the_weight():
    arm = da.robot("puma560")
    q = arm.random_configuration(3)
    zero = np.zeros(6)
    first = arm.joint_wrenches(q, zero, zero)[0, 3:]
    close(np.linalg.norm(first), sum(link.inertia.mass for link in arm.links) * 9.81, 1e-12)


# --- what is singular ---------------------------------------------------------------------------------------------------


def tip_without_inertia(**changes):
    return [
        da.Link("arm", "base", da.Joint("shoulder"), inertia=da.Inertia.from_com(1.0, (0.5, 0, 0), (0.05, 0.1, 0.1))),
        da.Link("tip", "arm", da.Joint("wrist", **changes), before=da.Pose.of((1.0, 0, 0)), inertia=da.Inertia.zero()),
    ]


@some_methods
def test_a_massless_tip_is_named(method):
    """While tracing, by all methods but conjugate gradients, which have no pivots."""
    robot = da.Robot("limp", tuple(tip_without_inertia()))
    if method != "walker_orin_4":
        with pytest.raises(da.Error, match=r"joint 'wrist' of limp has no positive inertia about its axis, .*link 'tip'"):
            robot.program("forward_dynamics", method)
    with pytest.raises(da.Error, match=r"'wrist'.*with_armature"):
        robot.forward_dynamics(np.zeros((4, 2)), [0, 0], [0, 0], method=method)
    geared = robot.with_armature({"wrist": 0.1})
    assert np.isfinite(geared.forward_dynamics([0.1, 0.2], [0.3, 0.4], [0.5, 0.6], method=method)).all()
    slide = da.Robot("limp", tuple(tip_without_inertia(kind="prismatic")))
    with pytest.raises(da.Error, match=r"no positive inertia along its axis.*mass"):
        slide.forward_dynamics([0, 0], [0, 0], [0, 0], method=method)


@pytest.mark.parametrize("call", ["inverse_mass_matrix", "diagonalize", "spatial_operators"])
def test_other_quantities_name_it_too(call):
    with pytest.raises(da.Error, match="'wrist'"):
        getattr(da.Robot("limp", tuple(tip_without_inertia())), call)([0.0, 0.0])


def elbow():
    """A point mass on two massless rods: singular when stretched, M_11 - M_12^2 / M_22 = m l^2 sin^2 q2."""
    return da.Robot(
        "elbow",
        (
            da.Link("upper", "base", da.Joint("shoulder"), inertia=da.Inertia.zero()),
            da.Link(
                "fore", "upper", da.Joint("elbow"), before=da.Pose.of((1.0, 0, 0)), inertia=da.Inertia.from_com(2.0, (0.7, 0, 0))
            ),
        ),
    )


@some_methods
def test_singular_states(method):
    robot = elbow()
    q = np.array([[0.3, 0.8], [0.1, 0.0], [0.2, np.pi], [0.5, 1e-9], [0.0, -1.2]])
    with pytest.warns(da.SingularWarning, match=r"singular at 3 of 5 states.*first is state 1, where joint 'shoulder'") as said:
        found = robot.forward_dynamics(q, [1.0, -1.0], [0.5, 0.2], method=method)
    assert len(said) == 1
    assert np.isnan(found[1:4]).any(axis=-1).all()
    good = found[[0, 4]]
    close(robot.inverse_dynamics(q[[0, 4]], [1.0, -1.0], good), [[0.5, 0.2]] * 2, 1e-9)
    for k in (1, 2, 3):
        with pytest.raises(da.Error, match=r"joint 'shoulder' of elbow has no positive inertia about its axis at q = \["):
            robot.forward_dynamics(q[k], [1.0, -1.0], [0.5, 0.2], method=method)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        robot.forward_dynamics(q[[0, 4]], [1.0, -1.0], [0.5, 0.2], method=method)
        robot.forward_dynamics(q[0], [1.0, -1.0], [0.5, 0.2], method=method)


def test_singular_quantities_in_batches():
    robot, q = elbow(), np.array([[0.3, 0.8], [0.1, 0.0]])
    for call in (robot.inverse_mass_matrix, lambda x: robot.diagonalize(x).m, lambda x: robot.quasi_velocity(x, [1.0, 1.0])):
        with pytest.warns(da.SingularWarning, match="1 of 2 states"):
            found = call(q)
        assert np.isfinite(found[0]).all()
        assert np.isnan(found[1]).any()
    assert np.isfinite(robot.mass_matrix(q)).all()


def test_nan_inputs_are_not_called_singular():
    arm = da.robot("puma560")
    q = arm.random_configuration(0, 4)
    q[2, 3] = np.nan
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = arm.forward_dynamics(q, q, q)
        arm.forward_dynamics(q[2], q[0], q[0])
    assert np.isfinite(found[[0, 1, 3]]).all()
    assert np.isnan(found[2]).any()


def test_branches_are_all_looked_at():
    """Two arms on one base: only one of them is singular."""
    a, b = elbow().links
    second = da.Link("other", "base", da.Joint("other"), inertia=da.Inertia.from_com(1.0, (0.1, 0, 0), (0.1, 0.1, 0.1)))
    robot = da.Robot("pair", (second, a, b))
    with pytest.raises(da.Error, match="'shoulder'"):
        robot.forward_dynamics([0.0, 0.1, 0.0], np.zeros(3), np.ones(3))
    with pytest.raises(da.Error, match="'shoulder'"):
        robot.forward_dynamics([0.0, 0.1, 0.0], np.zeros(3), np.ones(3))  # the short way


def lifted():
    """The elbow on a lift, which it does not feel: only two of three joints are singular."""
    lift = da.Link("lift", "base", da.Joint("lift", "prismatic"), inertia=da.Inertia.from_com(3.0, (0, 0, 0), (0.1, 0.1, 0.1)))
    upper, fore = elbow().links
    return da.Robot("scara", (lift, da.Link("upper", "lift", upper.joint, inertia=upper.inertia), fore))


@some_methods
def test_decoupled_joints_are_looked_at(method):
    robot, one = lifted(), np.ones(3)
    assert np.isfinite(robot.forward_dynamics([0.2, 0.1, 0.7], one, one, method=method)).all()
    for _ in range(2):  # the long way, and the short one
        with pytest.raises(da.Error, match="'shoulder'"):
            robot.forward_dynamics(np.array([0.2, 0.1, 0.0]), one, one, method=method)


@pytest.mark.parametrize("method", METHODS)
def test_results_written_over_the_positions(method):
    q = np.array([0.1, 0.0])
    with pytest.raises(da.Error, match="'shoulder'"):
        elbow().forward_dynamics(q, np.ones(2), np.ones(2), out=q, method=method)
    q = np.array([[0.1, 0.7], [0.1, 0.0]])
    with pytest.warns(da.SingularWarning, match="1 of 2"):
        elbow().forward_dynamics(q, np.ones(2), np.ones(2), out=q, method=method)
    assert np.isnan(q[1]).any()


@some_methods
def test_always_singular_never_answers(method):
    """A point mass at the tip of three massless rods in a plane: rank 2 of 3, whatever the state."""
    links = [
        da.Link(f"rod{k}", f"rod{k - 1}" if k else "base", da.Joint(f"j{k}"), before=da.Pose.of((float(k > 0), 0, 0)))
        for k in range(2)
    ]
    links.append(
        da.Link("tip", "rod1", da.Joint("j2"), before=da.Pose.of((1.0, 0, 0)), inertia=da.Inertia.from_com(1.0, (1.0, 0, 0)))
    )
    robot = da.Robot("floppy", tuple(links))
    q = np.random.default_rng(0).uniform(-np.pi, np.pi, (20_000, 3))
    q[0] = [-0.357737072, 2.72754296, -6.25117874e-4]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", da.SingularWarning)
        found = robot.forward_dynamics(q, np.ones(3), np.ones(3), method=method)
    assert not np.isfinite(found).all(axis=-1).any()


def test_operators_are_guarded_without_rotors():
    for robot in (elbow(), elbow().with_armature(0.1)):
        for q2 in (0.0, np.pi, 1e-9):
            with pytest.raises(da.Error, match=r"'shoulder'.*rotors do not count here"):
                robot.spatial_operators([0.1, q2])
            with pytest.raises(da.Error, match="'shoulder'"):
                robot.spatial_operator_rates([0.1, q2], [1.0, 1.0])
        with pytest.warns(da.SingularWarning):
            assert np.isnan(robot.spatial_operators([[0.1, 0.0], [0.1, 1.0]]).G[0]).any()


@pytest.mark.slow
def test_conjugate_gradients():
    """No residual, tiny forces, and inertias over nine decades: an error within the condition number times rounding."""
    arm = da.robot("puma560").with_gravity((0, 0, 0))
    q, zero = arm.random_configuration(1), np.zeros(6)
    assert np.array_equal(arm.forward_dynamics(q, zero, zero, method="walker_orin_4"), zero)
    for size in (1e-100, 1e-154, 1e-200):
        tiny = size * np.arange(1.0, 7.0)
        close(arm.forward_dynamics(q, zero, tiny, method="walker_orin_4"), arm.forward_dynamics(q, zero, tiny), 1e-9, scale=1e-90)
    light = arm.with_payload(1e-9, (0.01, 0, 0)).with_armature([1e3, 1.0, 1.0, 1e-3, 1e-4, 1e-6])
    q, qd, tau = arm.random_configuration(2, 20), np.ones(6), np.arange(6.0)
    condition = np.linalg.cond(light.mass_matrix(q)).max()
    assert condition > 1e6
    exact = light.forward_dynamics(q, qd, tau)
    close(light.forward_dynamics(q, qd, tau, method="walker_orin_4"), exact, 1e-15 * condition)


def test_nan_costs_no_more_than_its_state(monkeypatch):
    """Only states whose result is NaN for no reason in q are looked at for joints without inertia."""
    arm, seen, real = da.robot("panda"), [], singular.weak_joints
    monkeypatch.setattr(singular, "weak_joints", lambda model, q, rotors: (seen.append(len(q)), real(model, q, rotors))[1])
    q = arm.random_configuration(0, 10_000)
    for given, looked_at in (("q", 0), ("qd", 1), ("tau", 1)):
        state = {"q": q.copy(), "qd": q.copy(), "tau": q.copy()}
        state[given][5, 3] = np.nan
        assert np.flatnonzero(np.isnan(arm.forward_dynamics(**state)).any(axis=-1)).tolist() == [5]
        assert sum(seen) == looked_at
        seen.clear()


def test_slender_links_are_not_singular():
    """Inertias of a real wrist are millions of times smaller than the arm's."""
    for name in ("puma560", "panda", "ur5", "xarm7"):
        arm = da.robot(name)
        q = arm.random_configuration(0, 500)
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            assert np.isfinite(arm.forward_dynamics(q, 0 * q, 0 * q)).all()


# --- factors ------------------------------------------------------------------------------------------------------------


def test_factors_of_a_random_matrix():
    A = np.random.default_rng(0).normal(size=(3, 5, 5))
    M = A @ np.swapaxes(A, -1, -2) + np.eye(5)
    U, D = factors = udu(M)
    close(U * D[:, None, :] @ np.swapaxes(U, -1, -2), M, 1e-13)
    assert np.array_equal(np.tril(U), np.broadcast_to(np.eye(5), U.shape))
    close(np.matvec(M, solve(factors, A[..., 0])), A[..., 0], 1e-12)
    close(inverse(factors) @ M, np.broadcast_to(np.eye(5), M.shape), 1e-12)
    close(udu(M, Pivots(armature=np.arange(5.0))).D, udu(M + np.diag(np.arange(5.0))).D, 1e-12)


# --- long arms ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("n", sweep([10, 20, 50], quick=(0,)))
def test_long_arms_are_compiled(n):
    arm = da.random_robot(n, "R" * n)
    kernel = arm.compile("forward_dynamics")
    assert kernel.backend == "native"
    assert kernel.size < 520 * n  # in proportion to n
    q, qd, tau = state(arm, n, (3,))
    qdd = arm.forward_dynamics(q, qd, tau)
    close(arm.inverse_dynamics(q, qd, qdd, method="lie_group"), tau, 1e-9)


@pytest.mark.slow
def test_kernels_come_back_from_the_cache(tmp_path):
    code = "import numpy as np, dalembert as da; x = np.full(6, 0.3); print(da.robot('puma560').forward_dynamics(x, x, x).tolist())"
    first, second = (run(code, DALEMBERT_CACHE=str(tmp_path))[0] for _ in range(2))
    assert first == second


@some_methods
def test_rotors_of_balls_and_free_bodies(method):
    """Their armature takes moments in proportion to the rates of velocities, in forward dynamics as in inverse dynamics."""
    body = da.Inertia.from_com(1.3, (0.1, 0.2, -0.1), (0.02, 0.03, 0.04))
    joints = da.Joint("root", "free", armature=0.3), da.Joint("ball", "ball", armature=0.2)
    ahead = da.Pose.of((0.3, 0, 0.1), (0.2, 0.3, 0.4))
    robot = da.Robot("rotors", (da.Link("a", "base", joints[0], inertia=body), da.Link("b", "a", joints[1], ahead, inertia=body)))
    rng = np.random.default_rng(3)
    q, qd, qdd = robot.random_configuration(rng), rng.normal(size=9), rng.normal(size=9)
    tau = robot.inverse_dynamics(q, qd, qdd, backend="numpy")
    close(robot.forward_dynamics(q, qd, tau, method=method, backend="numpy"), qdd, 1e-11)


@pytest.mark.parametrize("threads", [1, 2, 5])
def test_one_singular_state_of_a_large_batch_is_found_by_any_number_of_threads(threads):
    """Each thread looks at its part of the results."""
    from dalembert.engine.singular import LARGE, regular

    results = [np.zeros((LARGE // 64, 8)), np.full((LARGE // 64, 1), -np.inf)]
    da.set_threads(threads)
    try:
        assert regular(*results)
        for state in (0, LARGE // 128, LARGE // 64 - 1):
            results[0][state, 3] = np.nan
            assert not regular(*results)
            results[0][state, 3] = np.inf
            assert regular(*results)
    finally:
        da.set_threads(None)
