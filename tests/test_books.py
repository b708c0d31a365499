"""What the books derive their equations from: every function against differences, another formula or another formulation."""

import numpy as np
import pytest
from conftest import STRUCTURES, close, sweep, zoo

import dalembert as da
from dalembert import algebra as al

STEP = 1e-30


def state(robot, seed=0, batch=()):
    return np.random.default_rng(seed).normal(size=(3, *batch, robot.n))


def on_the_ground(seed, joints, parents):
    """A random robot whose base is the world: the functions here speak of base axes."""
    return da.random_robot(seed, joints, parents).with_base(np.eye(4))


def rate(f, *motions):
    """d f / dt by a complex step along (x, x_dot) of each argument."""
    found = f(*(x + 1j * STEP * xd for x, xd in motions))
    return [np.imag(x) / STEP for x in found] if isinstance(found, tuple) else np.imag(found) / STEP


def by(f, q, k):
    """d f / dq_k by a complex step."""
    return np.imag(f(q + 1j * STEP * np.eye(q.shape[-1])[k])) / STEP


def T(x):
    return np.swapaxes(x, -1, -2)


robots = pytest.mark.parametrize(("joints", "parents"), sweep(STRUCTURES, quick=(4, 7)))

# --- Silver ------------------------------------------------------------------------------------------------------------------


@robots
def test_partial_velocities(joints, parents):
    """(3.13) to (3.16) against Jacobians, and partials by q against complex steps."""
    robot = on_the_ground(5, joints, parents)
    q, qd, _ = state(robot, batch=(2,))
    p = robot.partial_velocities(q, qd)
    for i, link in enumerate(robot.links):
        J = robot.jacobian(q, link.name, "world_aligned", point=link.inertia.com, backend="numpy")
        close(np.moveaxis(p.domega_dqd[:, i], -1, -2), J[:, :3], 1e-12, scale=1.0)
        close(np.moveaxis(p.dv_dqd[:, i], -1, -2), J[:, 3:], 1e-12, scale=1.0)
        close(p.v[:, i], np.matvec(J[:, 3:], qd), 1e-12, scale=1.0)
    for j in range(robot.n):
        close(by(lambda x: robot.partial_velocities(x, qd).v, q, j), p.dv_dq[..., j, :], 1e-12, scale=1.0)
        close(by(lambda x: robot.partial_velocities(x, qd).omega, q, j), p.domega_dq[..., j, :], 1e-12, scale=1.0)
    close(rate(lambda x: robot.partial_velocities(x, qd).dv_dqd, (q, qd)), p.dv_dqd_rate, 1e-12, scale=1.0)
    close(rate(lambda x: robot.partial_velocities(x, qd).domega_dqd, (q, qd)), p.domega_dqd_rate, 1e-12, scale=1.0)


@robots
def test_commutation_identities(joints, parents):
    """(3.4) to (3.7) and (3.10), the last with the partial by qd (E-S2)."""
    robot = da.random_robot(6, joints, parents)
    q, qd, _ = state(robot)
    p = robot.partial_velocities(q, qd)
    close(p.dv_dqd_rate, p.dv_dq, 1e-12, scale=1.0)  # (3.4)
    close(p.domega_dqd_rate, p.domega_dq + np.cross(p.omega[:, None], p.domega_dqd), 1e-12, scale=1.0)  # (3.6)

    def tensor(x, i):
        R = robot.tree.poses(x)[i].rotation
        return R @ robot.tree.inertia[i] @ R.T

    for i in range(robot.n):
        I, w = tensor(q, i), p.omega[i]
        gyro = np.cross(w, I @ w)
        for j in range(robot.n):
            a = p.domega_dqd[i, j]
            dI = by(lambda x, i=i: tensor(x, i), q, j)
            close(dI, al.inertia_rate(I, a), 1e-12, scale=np.abs(I).max())
            close(w @ rate(lambda x, i=i: tensor(x, i), (q, qd)) @ a, gyro @ a, 1e-12, scale=np.abs(I).max())  # (3.5)
            close(w @ I @ np.cross(w, a), -gyro @ a, 1e-12, scale=np.abs(I).max())  # (3.7)
            close(w @ dI @ w / 2, -gyro @ a, 1e-12, scale=np.abs(I).max())  # (3.10)


@robots
def test_partials_of_kinetic_energy(joints, parents):
    robot = da.random_robot(7, joints, parents)
    q, qd, qdd = state(robot, batch=(2,))
    p = robot.kinetic_energy_partials(q, qd, qdd)
    close(p.K, robot.kinetic_energy(q, qd, backend="numpy"), 1e-13)  # (3.1)
    M = robot.mass_matrix(q, backend="numpy")
    close(p.dK_dqd, np.matvec(M, qd), 1e-12)  # (3.2)
    energy = lambda x: np.einsum("...i,...ij,...j->...", qd, robot.mass_matrix(x, backend="numpy"), qd) / 2  # noqa: E731
    close(p.dK_dq, np.stack([by(energy, q, k) for k in range(robot.n)], axis=-1), 1e-11, scale=np.abs(M).max())  # (3.9)
    momentum = lambda x, v: robot.kinetic_energy_partials(x, v, qdd).dK_dqd  # noqa: E731
    close(p.dK_dqd_rate, rate(momentum, (q, qd), (qd, qdd)), 1e-12)  # (3.8)
    free = robot.with_gravity((0, 0, 0)).inverse_dynamics(q, qd, qdd, backend="numpy")
    close(p.dK_dqd_rate - p.dK_dq, free, 1e-11)  # (1.1)


@robots
def test_suffix_sums(joints, parents):
    robot = on_the_ground(8, joints, parents)
    q, qd, qdd = state(robot, batch=(2,))
    sums = robot.suffix_sums(q, qd, qdd)
    close(sums.tau, robot.inverse_dynamics(q, qd, qdd, backend="numpy"), 1e-12)
    wrenches = robot.joint_wrenches(q, qd, qdd, backend="numpy")  # in link axes
    turned = np.stack(
        [np.matvec(robot.poses(q, backend="numpy")[:, i, :3, :3], wrenches[:, i, 3:]) for i in range(robot.n)], axis=-2
    )
    close(sums.force, turned, 1e-12)


def test_tip_load_as_a_fictitious_link():
    """Silver, section 3.2: a link behind the last one that moves so as to exert the load."""
    arm = zoo("puma560")
    q, qd, qdd = state(arm)
    load = np.array([0.3, -0.2, 0.5, 4.0, -3.0, 2.0])  # moment and force ON the arm, in the axes of the last link
    wrenches = np.zeros((6, 6))
    wrenches[-1] = load
    J, Jd = arm.jacobian(q), arm.jacobian_rate(q, qd)
    for body in (da.Inertia.sphere(2.0, 0.1, center=(0, 0, 0.3)), da.Inertia.box(0.1, (1, 2, 3))):
        V = J @ qd
        Vd = al.body_acceleration(body.spatial, V, -load)  # the arm exerts minus the load on it
        assert np.abs(Vd - (J @ qdd + Jd @ qd)).max() > 1  # it does not stay on the arm
        F = al.body_wrench(body.spatial, V, Vd)
        close(arm.inverse_dynamics(q, qd, qdd) + J.T @ F, arm.inverse_dynamics(q, qd, qdd, wrenches=wrenches), 1e-12)


def test_massless_links_make_joints_of_several_degrees_of_freedom():
    """Silver, section 1.1: a ball joint is three rotations with two links without mass between them."""
    body = da.Inertia.box(2.0, (0.3, 0.2, 0.5), center=(0.1, 0.2, -0.4))
    rows = [da.DHRow(alpha=-np.pi / 2), da.DHRow(alpha=np.pi / 2), da.DHRow(inertia=body)]
    ball = da.Robot.from_dh(rows, convention="standard", name="ball")
    q, qd, qdd = state(ball)
    tau = ball.inverse_dynamics(q, qd, qdd)
    for method in da.methods("inverse_dynamics"):
        close(ball.inverse_dynamics(q, qd, qdd, method=method, backend="numpy"), tau, 1e-12)
    close(ball.forward_dynamics(q, qd, tau), qdd, 1e-11)
    R = ball.pose(q, "link3")[:3, :3]  # one rigid body about a fixed point: Euler's equation there
    J, Jd = ball.jacobian(q, "link3")[:3], ball.jacobian_rate(q, qd, "link3")[:3]
    w, wd = J @ qd, J @ qdd + Jd @ qd
    moment = al.euler_moment(body.about_origin, w, wd) - np.cross(body.com, R.T @ (body.mass * ball.gravity))
    close(J.T @ moment, tau, 1e-12)


@robots
def test_forces_in_link_axes_with_motion_in_base_axes(joints, parents):
    """Silver, section 1.3: Orin refers forces to the links, Stepanenko and Vukobratovic all to the base, Luh all to the links."""
    robot = da.random_robot(9, joints, parents)
    q, qd, qdd = state(robot)
    fixed = robot.inverse_dynamics(q, qd, qdd, method="newton_euler_base", backend="numpy")
    close(fixed, robot.inverse_dynamics(q, qd, qdd, method="newton_euler", backend="numpy"), 1e-12)
    sums, tree, poses = robot.suffix_sums(q, qd, qdd), robot.tree, robot.tree.poses(q)
    links = robot.newton_euler_pass(q, qd, qdd, backend="numpy")
    moments = []
    force, moment = np.zeros((robot.n, 3)), np.zeros((robot.n, 3))
    for i in reversed(range(robot.n)):  # forces and moments about the joint, in the axes of link i; motion turned from the base
        _, after, rho, sigma = tree.joint(i)
        r = tree.com[i] + after.rotation.T @ after.translation
        force[i] += links.F[i]
        moment[i] += links.N[i] + np.cross(r, links.F[i])
        z = after.rotation.T @ [0, 0, 1]
        moments.append(rho * z @ moment[i] + sigma * z @ force[i])
        if (parent := tree.parents[i]) >= 0:
            R = poses[parent].rotation.T @ poses[i].rotation
            o = [
                p.translation - p.rotation @ tree.joint(k)[1].rotation.T @ tree.joint(k)[1].translation for k, p in enumerate(poses)
            ]
            lever = poses[parent].rotation.T @ (o[i] - o[parent])
            force[parent] += R @ force[i]
            moment[parent] += R @ moment[i] + np.cross(lever, R @ force[i])
    close(moments[::-1], fixed, 1e-12)
    close(np.stack([T.rotation @ f for T, f in zip(poses, force, strict=True)]), sums.force, 1e-12)


# --- Fu, Gonzalez and Lee ----------------------------------------------------------------------------------------------------


@robots
def test_matrices_of_lagrange_and_euler(joints, parents):
    robot = on_the_ground(10, joints, parents)
    q, qd, _ = state(robot, batch=(2,))
    m = robot.lagrange_euler_matrices(q)
    close(m.T, robot.poses(q, backend="numpy"), 1e-13)
    for k in range(robot.n):
        close(by(lambda x: robot.lagrange_euler_matrices(x).A, q, k)[:, k], (m.Q @ m.A)[:, k], 1e-13)  # (3.2-9)
        close(by(lambda x: robot.lagrange_euler_matrices(x).T, q, k), m.U[:, :, k], 1e-12, scale=1.0)  # (3.2-11)
        close(by(lambda x: robot.lagrange_euler_matrices(x).U, q, k), m.U2[:, :, :, k], 1e-12, scale=1.0)  # (3.2-13)
    assert np.array_equal(m.U2, np.swapaxes(m.U2, -3, -4))
    r = np.array([0.3, -0.2, 0.5, 1.0])
    velocity = (m.U * qd[:, None, :, None, None]).sum(-3) @ r  # (3.2-12)
    for i, link in enumerate(robot.links):
        close(
            velocity[:, i, :3],
            robot.twist(q, qd, link.name, "world_aligned", point=r[:3], backend="numpy")[:, 3:],
            1e-12,
            scale=1.0,
        )
        close(m.J[i], link.inertia.pseudo_inertia, 1e-14)
    D = np.einsum("bkjxy,kyz,bkixz->bij", m.U, m.J, m.U)
    close(D, robot.mass_matrix(q, backend="numpy"), 1e-12)  # (3.2-31)


def test_q_matrices_of_the_book():
    """(3.2-8): in the book's own frames they have two entries, or one."""
    rows = [da.DHRow(a=0.3, d=0.1, alpha=0.4), da.DHRow(joint="P", a=0.2, alpha=-0.7)]
    Q = da.Robot.from_dh(rows, convention="standard").lagrange_euler_matrices([0.3, 0.5]).Q
    turn, slide = np.zeros((2, 4, 4))
    turn[0, 1], turn[1, 0], slide[2, 3] = -1, 1, 1
    assert np.array_equal(Q[0], turn) and np.array_equal(Q[1], slide)


@robots
def test_parts_of_kinetic_energy(joints, parents):
    robot = da.random_robot(11, joints, parents)
    q, qd, _ = state(robot, batch=(2,))
    tran, rot, trace = robot.kinetic_energy_parts(q, qd)
    close(tran + rot, trace, 1e-12)
    terms = robot.dalembert_terms(q, qd, backend="numpy")
    for part, D in ((tran, terms.D_tran), (rot, terms.D_rot)):
        close(part.sum(-1), np.einsum("bi,bij,bj->b", qd, D, qd) / 2, 1e-12, scale=np.abs(trace).max())
    for i, link in enumerate(robot.links):
        V = robot.twist(q, qd, link.name, backend="numpy")
        close(trace[:, i], al.kinetic_energy(link.inertia.spatial, V), 1e-12)


@robots
def test_four_terms_of_the_translational_velocity_forces(joints, parents):
    robot = da.random_robot(12, joints, parents)
    q, qd, _ = state(robot, batch=(2,))
    parts = robot.dalembert_velocity_terms(q, qd)
    close(sum(parts), robot.dalembert_terms(q, qd, backend="numpy").h_tran, 1e-11, scale=1.0)


def test_four_terms_of_the_two_link_arm():
    """Section 3.4.2: rods of length l; the Coriolis terms vanish, since all axes are parallel."""
    arm, (a, b), s2, c2 = zoo("two_link"), (1.3, -0.7), np.sin(0.5), np.cos(0.5)
    parts = arm.dalembert_velocity_terms([0.2, 0.5], [a, b])
    close(parts.coriolis_before, [0, 0], 1e-15, scale=1.0)
    close(parts.coriolis_own, [0, 0], 1e-15, scale=1.0)
    before = s2 / 2 * a**2  # minus a^2 of the elbow along link 1, projected on b_i
    close(parts.centrifugal_before, [before, before], 1e-14)
    close(parts.centrifugal_own, [-s2 / 2 * (a + b) ** 2, 0], 1e-14)
    assert abs(c2) > 0


def test_structurally_zero_couplings():
    zero = zoo("two_link").zero_couplings()
    assert all(zero.H[i, i, i] for i in range(2)) and not zero.D.any()
    puma = zoo("puma560").zero_couplings()
    assert puma.D[4, 5] and puma.D[1, 5] == puma.D[5, 1] and not puma.D[0, 1]
    assert all(puma.H[i, i, i] for i in range(6))
    q = np.random.default_rng(3).uniform(-3, 3, (20, 6))
    M, H = zoo("puma560").mass_matrix(q), zoo("puma560").christoffel(q)
    assert np.abs(M[:, puma.D]).max() < 1e-12 and (np.abs(M[:, ~puma.D]).max(axis=0) > 1e-9).all()
    assert np.abs(H[:, puma.H]).max() < 1e-12 and (np.abs(H[:, ~puma.H]).max(axis=0) > 1e-9).all()
    gantry = da.random_robot(1, "PPP").zero_couplings()
    assert gantry.H.all() and not gantry.D.any()


def test_model_without_coriolis_forces():
    arm = zoo("puma560").with_friction(damping=0.1)
    q, qd, qdd = state(arm, batch=(3,))
    slow = arm.inverse_dynamics_without_coriolis(q, qd, qdd)
    close(arm.inverse_dynamics(q, qd, qdd) - slow, arm.coriolis_force(q, qd), 1e-12)
    s = arm.speed_limit(q, qd, 0.5)
    assert s.shape == (3,)
    close(np.abs(arm.coriolis_force(q, s[:, None] * qd)).max(axis=-1), np.full(3, 0.5), 1e-12)
    limits = np.array([5.0, 5, 5, 0.1, 0.1, 0.1])
    s = arm.speed_limit(q, qd, limits)
    close((np.abs(arm.coriolis_force(q, s[:, None] * qd)) / limits).max(axis=-1), np.ones(3), 1e-12)
    assert np.isinf(arm.speed_limit(q[0], 0 * qd[0], 0.5))
    with pytest.raises(da.Error, match="tolerance must be one joint force or 6 of them, not negative"):
        arm.speed_limit(q, qd, [1.0, 2.0])


# --- Park and Lynch ------------------------------------------------------------------------------------------------------------


@robots
def test_stacked_terms(joints, parents):
    robot = da.random_robot(13, joints, parents)
    q, qd, qdd = state(robot, batch=(2,))
    A, G, Gamma, L = robot.stacked_operators(q)
    n, one = robot.n, np.eye(6 * robot.n)
    assert not np.linalg.matrix_power(Gamma, n).any()
    close(L @ (one - Gamma), np.broadcast_to(one, L.shape), 1e-11)
    t = robot.stacked_terms(q, qd)
    close(t.c, robot.coriolis_force(q, qd, backend="numpy"), 1e-10, scale=1.0)
    close(t.g, robot.gravity_force(q, backend="numpy"), 1e-11)
    left = T(A) @ T(L) @ (-G @ L @ t.ad_Aqd @ Gamma - T(t.ad_V) @ G) @ L @ A  # (9.83), with the corrected sign
    close(np.matvec(left, qd), t.c, 1e-11, scale=1.0)
    for i, link in enumerate(robot.links):
        close(t.V[:, 6 * i : 6 * i + 6], robot.twist(q, qd, link.name, backend="numpy"), 1e-12, scale=1.0)
    base, rising = np.random.default_rng(4).normal(size=(2, 6))
    moved = robot.stacked_terms(q, qd, base_twist=base, base_acceleration=rising)
    tau = np.matvec(robot.mass_matrix(q, backend="numpy"), qdd) + moved.c + moved.g
    exact = robot.inverse_dynamics(q, qd, qdd, base_twist=base, base_acceleration=rising, backend="numpy")
    close(tau, exact, 1e-11)


def test_the_printed_sign_of_the_closed_form_is_wrong():
    """E-P6: plus ad_{A qd}."""
    robot = da.random_robot(13, "RRR")
    q, qd, _ = state(robot)
    (A, G, Gamma, L), t = robot.stacked_operators(q), robot.stacked_terms(q, qd)
    printed = A.T @ L.T @ (G @ L @ t.ad_Aqd @ Gamma - t.ad_V.T @ G) @ L @ A @ qd
    assert np.abs(printed - robot.coriolis_force(q, qd, backend="numpy")).max() > 1e-2


# --- Park, Bobrow and Ploen ----------------------------------------------------------------------------------------------------


@robots
def test_factors_at_the_zero_position(joints, parents):
    robot = da.random_robot(14, joints, parents)
    q = state(robot, batch=(2,))[0]
    f, M = robot.zero_pose_factors(q), robot.mass_matrix(q, backend="numpy")
    close(T(f.A) @ T(f.L) @ f.D @ f.L @ f.A, M, 1e-11)  # (46)
    close(T(f.S) @ T(f.G) @ f.J @ f.G @ f.S, M, 1e-11)  # (51)
    back = np.linalg.inv(f.Q)
    close(f.Q @ f.S, f.A, 1e-12)  # (50), cumulative (E-B3)
    close(f.Q @ f.G @ back, f.L, 1e-11)
    close(back.T @ f.J @ back, f.D, 1e-11)
    other = robot.zero_pose_factors(q + 1.0)
    for name in ("A", "D", "S", "J", "Q"):
        assert np.array_equal(getattr(f, name), getattr(other, name)), name
    ten = f.D[:6, :6]  # one link: symmetric, ten parameters (44)
    close(ten, ten.T, 1e-13)
    assert abs(ten[3, 3] - robot.links[0].inertia.mass) < 1e-14
    close(ten[:3, 3:], al.skew(al.unskew(ten[:3, 3:])), 1e-13)


@robots
def test_mass_matrix_is_a_pullback(joints, parents):
    """(65): the metric of the product of the groups, on the derivatives of the poses of all links."""
    robot = da.random_robot(15, joints, parents)
    q = state(robot)[0]
    poses = robot.tree.poses
    total = np.zeros((robot.n, robot.n))
    for i, link in enumerate(robot.links):
        pose = lambda x, i=i: al.exp_se3(np.zeros(6)) * 0 + _matrix(poses(x)[i])  # noqa: E731
        twists = np.stack([al.body_twist(pose(q), by(pose, q, k)) for k in range(robot.n)], axis=-1)
        total += twists.T @ link.inertia.spatial @ twists
    f = robot.zero_pose_factors(q)
    close(total, (f.L @ f.A).T @ f.D @ f.L @ f.A, 1e-12)
    close(total, robot.mass_matrix(q, backend="numpy"), 1e-12)


def _matrix(pose):
    M = np.zeros((4, 4), complex)
    M[:3, :3], M[:3, 3], M[3, 3] = pose.rotation, pose.translation, 1
    return M if np.iscomplexobj(pose.rotation) else M.real


def test_recursion_of_the_appendix():
    """(67) to (73): V_i = Ad_f^-1 V_{i-1} + S_i xd, and its rate with the bracket of V_{i-1} (E-B7)."""
    robot = da.random_robot(16, "RPR")
    q, qd, qdd = state(robot)
    f = robot.zero_pose_factors(q)
    n = robot.n
    twist = lambda x, v: robot.stacked_terms(x, v).V  # noqa: E731
    V, Vd = twist(q, qd), rate(twist, (q, qd), (qd, qdd))
    for i in range(1, n):
        step = f.G[6 * i : 6 * i + 6, 6 * i - 6 : 6 * i]  # Ad_f^-1
        S = f.S[6 * i : 6 * i + 6, i]
        before, own = slice(6 * i - 6, 6 * i), slice(6 * i, 6 * i + 6)
        close(V[own], step @ V[before] + S * qd[i], 1e-12)  # (70)
        bracket = al.bracket(step @ V[before], S * qd[i])
        close(Vd[own], step @ Vd[before] + bracket + S * qdd[i], 1e-11)  # (73)
    wrench = [J @ a - al.ad(v).T @ J @ v for J, v, a in zip(blocks_of(f.J), V.reshape(n, 6), Vd.reshape(n, 6), strict=True)]
    free = robot.with_gravity((0, 0, 0)).inverse_dynamics(q, qd, qdd, method="lie_group")
    close(f.S.T @ f.G.T @ np.concatenate(wrench), free, 1e-11)  # (26), (27)


def blocks_of(J):
    return [J[i : i + 6, i : i + 6] for i in range(0, len(J), 6)]


# --- Kozlowski -------------------------------------------------------------------------------------------------------------------


@robots
def test_operator_formulas(joints, parents):
    robot = da.random_robot(17, joints, parents)
    q, qd, qdd = state(robot, batch=(2,))
    t = robot.diagonalized_terms(q, qd, qdd)
    d, n = robot.diagonalize(q, backend="numpy"), robot.n
    scale = np.abs(d.m).max() + 1
    m_dot, D_dot = (rate(lambda x, k=k: getattr(robot.diagonalize(x, backend="numpy"), k), (q, qd)) for k in ("m", "D"))
    nu, xi = (robot.quasi_velocity(q, qd, normalized=x, backend="numpy") for x in (True, False))
    close(t.m_dot, m_dot, 1e-11, scale=scale)  # (30)
    close(t.m_dot_nu, np.matvec(m_dot, nu), 1e-11, scale=scale)  # (31)
    slope = robot.mass_matrix_gradient(q, backend="numpy")
    gradient = np.einsum("...ijk,...i,...j->...k", slope, qd, qd)
    close(t.energy_gradient, gradient, 1e-11, scale=np.abs(slope).max() + 1)  # (32)
    close(np.matvec(d.l, t.m_dot_nu - t.energy_gradient / 2), t.C_nu, 1e-10, scale=scale)  # (41)
    quasi = lambda x, v: robot.quasi_velocity(x, v, normalized=False, backend="numpy")  # noqa: E731
    close(t.xi_dot, rate(quasi, (q, qd), (qd, qdd)), 1e-11, scale=scale)  # (36)
    close(t.C_nu, robot.quasi_coriolis(q, nu, backend="numpy"), 1e-10, scale=scale)  # (42)
    close(t.C_xi, robot.quasi_coriolis(q, xi, normalized=False, backend="numpy"), 1e-10, scale=scale)  # (45)
    o = robot.spatial_operators(q)
    close(t.V, np.matvec(T(o.H @ o.Phi), qd), 1e-11)  # (49)
    c = robot.quasi_coriolis_matrix(q, nu, backend="numpy")
    root = np.sqrt(d.D)
    whole = root[..., :, None] * c * root[..., None, :] + np.eye(n) * D_dot[..., None] / 2
    close(t.C_xi_matrix, whole, 1e-10, scale=scale)  # (48), and the diagonal of the unnormalized matrix
    b = t.C_xi - np.matvec(t.C_xi_matrix, xi)  # the rest is that of the bias forces V x M V
    close(b, root * (t.C_nu - np.matvec(c, nu)), 1e-10, scale=scale)


def test_terms_of_the_last_row():
    """Figure 1: five joints; the last row of the paper, joint 1 from the base, gets a term from every link outboard of both joints."""
    robot = da.random_robot(18, "RRRRR")
    q, qd, _ = state(robot)
    parts = robot.diagonalized_terms(q, qd, 0 * q).parts[0]  # by i and m
    present = np.abs(parts) > 1e-12
    assert np.array_equal(present, np.triu(np.ones((5, 5), bool), 1)), "link m adds to c_1i only behind joint i"
    o = robot.spatial_operators(q)
    PO = o.P[24:, 24:] @ -al.ad(np.array([0, 0, 1, 0, 0, 0]) * qd[4])
    close(parts[3, 4], (o.H @ o.Psi)[0, 24:] @ PO @ (o.H @ o.Psi)[3, 24:], 1e-12)


@robots
def test_components_of_joint_forces(joints, parents):
    robot = da.random_robot(19, joints, parents)
    q, qd, qdd = state(robot, batch=(2,))
    parts = robot.torque_components(q, qd, qdd)
    close(sum(parts).sum(-1), robot.inverse_dynamics(q, qd, qdd, backend="numpy"), 1e-11)
    close(parts.acceleration, robot.mass_matrix(q, backend="numpy") * qdd[:, None, :], 1e-11)


def test_middle_joint_of_three():
    """(39), term by term: links from the tip, so joint 2 is the middle one either way."""
    robot = da.random_robot(20, "RPR")
    q, qd, qdd = state(robot)
    parts = robot.torque_components(q, qd, qdd)
    o = robot.spatial_operators(q)
    H = [o.H[i, 6 * i : 6 * i + 6] for i in range(3)]
    M1 = o.M[12:, 12:]
    X21 = o.E_Phi[6:12, 12:]  # Phi(2, 1) A(1)
    X32 = o.E_Phi[:6, 6:12]
    r2 = o.M[6:12, 6:12] + X21 @ M1 @ X21.T  # composite body
    V = np.split((o.H @ o.Phi).T @ qd, 3)
    a = [al.bracket(V[i], H[i] * qd[i]) for i in range(3)]
    acceleration = [H[1] @ r2 @ X32.T @ H[0] * qdd[0], H[1] @ r2 @ H[1] * qdd[1], H[1] @ X21 @ M1 @ H[2] * qdd[2]]
    close(parts.acceleration[1], acceleration, 1e-12)
    close(parts.bias_acceleration[1], [H[1] @ r2 @ X32.T @ a[0], H[1] @ r2 @ a[1], H[1] @ X21 @ M1 @ a[2]], 1e-12, scale=1.0)
    assert parts.bias_force[1, 0] == 0  # only links behind the joint


# --- canonical coordinates and paths ---------------------------------------------------------------------------------------------


def polar(mass=2.0):
    """A particle that slides along a massless arm which rotates: the plane in polar coordinates."""
    rows = [da.DHRow(alpha=np.pi / 2, theta=np.pi / 2), da.DHRow(joint="P", inertia=da.Inertia.point(mass))]
    return da.Robot.from_dh(rows, convention="standard", gravity=(0, 0, 0), name="polar")


def test_canonical_coordinates_of_flat_arms():
    arm, origin = polar(), np.array([0.0, 1.0])
    q = np.array([[0.7, 1.5], [-1.2, 0.4]])
    Q, L = arm.canonical_coordinates(q, origin, steps=80)
    close(T(L) @ L, arm.mass_matrix(q), 1e-7)
    x = np.sqrt(2) * q[:, 1, None] * np.stack([np.sin(q[:, 0]), np.cos(q[:, 0])], axis=-1) - [0, np.sqrt(2)]
    close(Q, x, 1e-7)  # Cartesian coordinates, times the root of the mass
    free = arm.simulate(q[0], [0.3, -0.2], duration=0.5, step=1e-3)
    ends = [arm.canonical_coordinates(free.q[k], origin, steps=80).L @ free.qd[k] for k in (0, -1)]
    close(ends[1], ends[0], 1e-8)  # momenta stay
    with pytest.raises(da.Error, match="the metric of two_link is not flat"):
        zoo("two_link").canonical_coordinates([0.3, 0.5])


def test_energy_of_paths():
    arm = zoo("two_link")
    x = np.random.default_rng(2).normal(size=(6, 2))
    J, gradient = arm.path_energy(x, 1.5)
    h = 1e-6
    for k in np.ndindex(*x.shape):
        step = np.zeros(x.shape)
        step[k] = h
        close((arm.path_energy(x + step, 1.5).J - arm.path_energy(x - step, 1.5).J) / (2 * h), gradient[k], 1e-8, scale=J)
    free = arm.with_gravity((0, 0, 0)).simulate([0.0, 0.5], [1.0, -0.5], duration=1.0, step=1e-3)
    energies = [arm.path_energy(free.q[::every], 1.0) for every in (20, 10)]  # motion without forces is a geodesic
    inner = [np.abs(e.gradient[1:-1]).max() for e in energies]
    assert inner[1] < inner[0] / 3 < 0.02  # its gradient vanishes as the points come closer
    close(energies[1].J, 2 * free.kinetic_energy[0], 1e-3)
    for wrong in ([[0, 0]], [0, 0], np.full((3, 2), np.nan)):
        with pytest.raises(da.Error, match=r"path_energy: points must be finite and of the shape \(k, 2\)"):
            arm.path_energy(wrong, 1.0)


def test_robots_without_joints_are_refused():
    post = da.Robot("post", ())
    with pytest.raises(da.Error, match="zero_pose_factors needs a robot with joints, post has none"):
        post.zero_pose_factors([])


# --- rows of the inventory that nothing else states by itself -----------------------------------------------------------------------


@robots
def test_first_and_last_joint_of_the_diagonal(joints, parents):
    """The base joints' quasi-velocities are their velocities; at a tip D is the link's own inertia about the axis, a constant."""
    robot = da.random_robot(21, joints, parents)
    q, qd, _ = state(robot)
    xi = robot.quasi_velocity(q, qd, normalized=False, backend="numpy")
    D, later = (robot.diagonalize(x, backend="numpy").D for x in (q, q + 1.0))
    tips = set(range(robot.n)) - set(robot.parents)
    for i, parent in enumerate(robot.parents):
        if parent < 0:
            assert xi[i] == qd[i]
        if i in tips:
            _, after, _, _ = robot.tree.joint(i)
            S = np.linalg.solve(al.Ad(_matrix(after)), robot.tree.axis(i))
            close(D[i], S @ robot.links[i].inertia.spatial @ S, 1e-12)
            close(later[i], D[i], 1e-12)


@pytest.mark.parametrize("kind", ["R", "P"])
def test_origin_of_a_link_in_its_own_frame(kind):
    """(3.3-59): p* = (a, d sin alpha, d cos alpha), d being the position of a sliding joint."""
    a, d, alpha = 0.3, 0.4, 0.7
    arm = da.Robot.from_dh([da.DHRow(joint=kind, a=a, d=d, alpha=alpha)], convention="standard")
    q = 0.25
    A = arm.lagrange_euler_matrices([q]).A[0]
    d = d + q if kind == "P" else d
    close(A[:3, :3].T @ A[:3, 3], [a, d * np.sin(alpha), d * np.cos(alpha)], 1e-15)


def test_vertical_particle():
    """Park and Lynch (9.4) to (9.6): f = m x'' + m g."""
    lift = da.Robot.from_dh([da.DHRow(joint="P", inertia=da.Inertia.point(3.0))], convention="standard", gravity=(0, 0, -9.81))
    close(lift.inverse_dynamics([0.5], [2.0], [1.5]), [3.0 * 1.5 + 3.0 * 9.81], 1e-15)
