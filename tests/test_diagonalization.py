"""Quasi-velocities, quasi-forces and the operators behind them: Kozlowski 1995."""

import numpy as np
import pytest
from conftest import REFERENCE, STRUCTURES, close, reference_robot, sweep

import dalembert as da
from dalembert.algebra.linalg import udu
from dalembert.algebra.spatial import compose
from dalembert.formulations import formulation
from dalembert.formulations.shared.axes import joint_frames

STEP = 1e-30


def robots():
    for joints, parents in STRUCTURES:
        robot = da.random_robot(9, joints, parents)
        yield robot
        yield robot.with_armature(np.random.default_rng(0).uniform(0.1, 1.0, robot.n))


ROBOTS = list(robots())
IDS = [f"{r.structure}-{r.parents}-{'geared' if k % 2 else 'plain'}" for k, r in enumerate(ROBOTS)]


@pytest.fixture(params=sweep(ROBOTS, quick=(2, 15)), ids=IDS)
def robot(request):
    return request.param


def motion(robot, seed=0):
    return np.random.default_rng(seed).uniform(-1, 1, (3, 4, robot.n))


@pytest.mark.parametrize("name", sweep(REFERENCE, quick=(0,)))
def test_reference(name):
    ref, robot = REFERENCE[name], reference_robot(name)
    d, q, qd = ref["diagonalized"], ref["q"], ref["qd"]
    found = robot.diagonalize(q)
    close(found.D, d["D"], 1e-12)
    close(found.U, d["U_unit_upper_M_eq_U_D_Ut"], 1e-12)
    close(robot.quasi_velocity(q, qd), d["nu"], 1e-12)
    close(robot.quasi_velocity(q, qd, normalized=False), d["xi"], 1e-12)
    close(robot.quasi_force(q, ref["tau"]), d["epsilon"], 1e-11)
    close(robot.quasi_force(q, ref["tau"], normalized=False), d["kappa"], 1e-11)
    close(robot.spatial_operator_rates(q, qd).D, d["Ddot"], 1e-12, scale=np.abs(d["D"]).max())
    rest = robot.with_gravity((0, 0, 0))
    for normalized, key, velocity in ((True, "C_theta_nu", d["nu"]), (False, "C_theta_xi", d["xi"])):
        C = robot.quasi_coriolis(q, velocity, normalized=normalized)
        close(C, d[f"{key}_no_gravity"], 1e-11)
        weight = robot.inverse_dynamics(q, 0 * np.array(qd), 0 * np.array(qd))
        close(C + robot.quasi_force(q, weight, normalized=normalized), d[f"{key}_with_gravity"], 1e-11)
        assert np.array_equal(C, rest.quasi_coriolis(q, velocity, normalized=normalized))


def test_the_unique_factor(robot):
    """U D U^T of the mass matrix needs no articulated bodies."""
    q = motion(robot)[0]
    M = robot.mass_matrix(q)
    U, D = udu(M)
    found = robot.diagonalize(q)
    close(found.D, D, 1e-11)
    close(found.U, U, 1e-11)
    close(found.m @ np.swapaxes(found.m, -1, -2), M, 1e-12)
    close(found.l @ found.m, np.broadcast_to(np.eye(robot.n), M.shape), 1e-12)
    close(found.det, np.linalg.det(M), 1e-10)
    close(robot.inverse_mass_matrix(q, method="spatial_operator"), robot.inverse_mass_matrix(q), 1e-10)


@pytest.mark.parametrize("backend", sweep(["numpy", "native"], quick=(1,)))
def test_velocities_and_forces(robot, backend):
    q, qd, tau = motion(robot, 1)
    M, d = robot.mass_matrix(q), robot.diagonalize(q)
    for normalized, factor in ((True, d.m), (False, d.U)):
        options = {"normalized": normalized, "backend": backend}
        nu = robot.quasi_velocity(q, qd, **options)
        close(nu, np.matvec(np.swapaxes(factor, -1, -2), qd), 1e-11)
        close(robot.joint_velocity(q, nu, **options), qd, 1e-11)
        epsilon = robot.quasi_force(q, tau, **options)
        close(np.matvec(factor, epsilon), tau, 1e-11)
        close(robot.joint_force(q, epsilon, **options), tau, 1e-11)
        close(np.vecdot(nu, epsilon), np.vecdot(qd, tau), 1e-10)  # power
        energy = np.vecdot(nu, nu) if normalized else np.vecdot(nu, d.D * nu)
        close(energy, np.vecdot(qd, np.matvec(M, qd)), 1e-12)


def test_coriolis_does_no_work(robot):
    q, qd, _ = motion(robot, 2)
    nu = robot.quasi_velocity(q, qd)
    C = robot.quasi_coriolis(q, nu)
    assert np.abs(np.vecdot(nu, C)).max() <= 1e-12 * max(np.abs(nu * C).max(), 1e-3)


def test_equations_of_motion_along_a_path(robot):
    """nu' + C + l g = epsilon and D xi' + C + U^-1 g = kappa, with the rates by a complex step along the motion."""
    q, qd, tau = motion(robot, 3)
    weight = robot.inverse_dynamics(q, 0 * q, 0 * q)
    for normalized, method in ((True, "diagonalized_normalized"), (False, "diagonalized_unnormalized")):
        qdd = robot.forward_dynamics(q, qd, tau, method=method, backend="numpy")
        later = q + 1j * STEP * qd, qd + 1j * STEP * qdd
        nu = robot.quasi_velocity(q, qd, normalized=normalized)
        rate = robot.quasi_velocity(*later, normalized=normalized).imag / STEP
        C = robot.quasi_coriolis(q, nu, normalized=normalized)
        left = (rate if normalized else robot.diagonalize(q).D * rate) + C
        close(left, robot.quasi_force(q, tau - weight, normalized=normalized), 1e-10)


def test_relation_of_the_two_forms(robot):
    """C(q, xi) = D^1/2 C(q, nu) + Ddot xi / 2 (46)."""
    q, qd, _ = motion(robot, 4)
    D = robot.diagonalize(q).D
    D_dot = robot.diagonalize(q + 1j * STEP * qd).D.imag / STEP
    xi = robot.quasi_velocity(q, qd, normalized=False)
    C_nu = robot.quasi_coriolis(q, np.sqrt(D) * xi)
    close(robot.quasi_coriolis(q, xi, normalized=False), np.sqrt(D) * C_nu + D_dot * xi / 2, 1e-11)


PLAIN = ROBOTS[::2]
LONG = [k for k, robot in enumerate(PLAIN) if max(len(robot.tree.path(i)) for i in range(robot.n)) > 2]  # else c_ki = 0


def test_component_form_is_skew(robot):
    q, qd, _ = motion(robot, 5)
    c = robot.quasi_coriolis_matrix(q, robot.quasi_velocity(q, qd))
    assert np.array_equal(c, -np.swapaxes(c, -1, -2))


@pytest.mark.parametrize("robot", sweep(PLAIN, quick=LONG[:2]), ids=IDS[::2])
def test_component_form(robot):
    """What c_ki of (48) lacks of C is D^-1/2 H Psi (V x M V); E-K13 would change its sign."""
    q, qd, _ = motion(robot, 5)
    nu = robot.quasi_velocity(q, qd)
    c = robot.quasi_coriolis_matrix(q, nu)
    assert c.any() == (robot in [PLAIN[k] for k in LONG])
    o = robot.spatial_operators(q)
    V = np.matvec(np.swapaxes(o.H @ o.Phi, -1, -2), qd)
    MV = np.matvec(o.M, V).reshape(4, -1, 2, 3)
    w, v = np.moveaxis(V.reshape(4, -1, 2, 3), -2, 0)
    moment, force = MV[..., 0, :], MV[..., 1, :]
    b = np.concatenate([np.cross(w, moment) + np.cross(v, force), np.cross(w, force)], axis=-1).reshape(4, -1)
    close(np.matvec(c, nu) + np.matvec(o.H @ o.Psi, b) / np.sqrt(o.D), robot.quasi_coriolis(q, nu), 1e-11)


@pytest.mark.parametrize("robot", sweep(PLAIN), ids=IDS[::2])
def test_operators(robot):
    """(22)-(26) and what defines the operators."""
    q = motion(robot)[0]
    o, M = robot.spatial_operators(q), robot.mass_matrix(q)
    one, n = np.eye(6 * robot.n), robot.n
    T = lambda x: np.swapaxes(x, -1, -2)  # noqa: E731
    close(o.H @ o.Phi @ o.M @ T(o.Phi) @ T(o.H), M, 1e-12)
    close(o.Phi @ (one - o.E_Phi), np.broadcast_to(one, o.Phi.shape), 1e-11)
    close(o.Psi @ (one - o.E_Psi), np.broadcast_to(one, o.Psi.shape), 1e-11)
    close(o.E_Psi, o.E_Phi @ o.tau_bar, 1e-12)
    close(o.P, o.M + np.stack([np.zeros_like(o.P[0])] * 4) + diagonal_blocks(o.E_Psi @ o.P @ T(o.E_Psi)), 1e-11)  # (12)
    close(np.linalg.diagonal(o.H @ o.P @ T(o.H)), o.D, 1e-12)
    close(o.G, o.P @ T(o.H) / o.D[..., None, :], 1e-12)
    U = np.eye(n) + o.H @ o.Phi @ o.K
    close((U * o.D[..., None, :]) @ T(U), M, 1e-11)  # (23)
    close((np.eye(n) - o.H @ o.Psi @ o.K) @ U, np.broadcast_to(np.eye(n), M.shape), 1e-11)  # (24)


def diagonal_blocks(x):
    """The 6x6 blocks on the diagonal, the rest zero."""
    mask = np.kron(np.eye(x.shape[-1] // 6), np.ones((6, 6)))
    return x * mask


@pytest.mark.parametrize("robot", sweep(PLAIN), ids=IDS[::2])
def test_table_1_local_rows(robot):
    q, qd, _ = motion(robot, 6)
    rates = robot.spatial_operator_rates(q, qd)
    later = robot.spatial_operators(q + 1j * STEP * qd)
    for name in rates._fields:
        if name not in ("lambda_dot", "m"):
            expected = getattr(later, name).imag / STEP
            close(getattr(rates, name), expected, 1e-11, scale=max(np.abs(getattr(later, name).real).max(), 1.0))
    close(rates.m, robot.diagonalize(q + 1j * STEP * qd).m.imag / STEP, 1e-11, scale=1.0)  # (29)
    o, n = robot.spatial_operators(q), robot.n
    O = np.zeros((4, 6 * n, 6 * n))  # Omega_delta of every joint's own twist
    for i in range(n):
        rho, sigma = robot.tree.screw[i]
        for row, column, rate in ((0, 0, rho), (3, 3, rho), (0, 3, sigma)):
            O[:, 6 * i + row, 6 * i + column + 1] = -rate * qd[:, i]
            O[:, 6 * i + row + 1, 6 * i + column] = rate * qd[:, i]
    driving = O @ o.P + o.P @ np.swapaxes(O, -1, -2)
    handed = diagonal_blocks(o.E_Psi @ rates.lambda_dot @ np.swapaxes(o.E_Psi, -1, -2))
    close(rates.lambda_dot, handed + driving, 1e-11, scale=np.abs(o.P).max())  # (18)
    close(rates.lambda_dot, rates.P + driving, 1e-11, scale=np.abs(o.P).max())


@pytest.mark.parametrize("robot", sweep(PLAIN), ids=IDS[::2])
def test_table_1_inertial_rows(robot):
    """In base axes the inertial derivative is the plain one."""
    q, qd, _ = motion(robot, 7)
    rates = robot.spatial_operator_rates(q, qd, frame="inertial")

    def turned(x, name, W):
        x = x if name in ("H", "D") else W @ x
        return x if name in ("G", "D") else x @ np.swapaxes(W, -1, -2)

    def axes(at):
        found = []
        frames = joint_frames(robot.tree, at)
        for i, parent in enumerate(robot.parents):
            found.append(frames[i] if parent < 0 else compose(found[parent], frames[i]))
        W = np.zeros((4, 6 * robot.n, 6 * robot.n), complex)
        for i, T in enumerate(found):
            for k in (6 * i, 6 * i + 3):
                W[:, k : k + 3, k : k + 3] = T.rotation
        return W

    W, later = axes(q).real, robot.spatial_operators(q + 1j * STEP * qd)
    moving = axes(q + 1j * STEP * qd)
    for name in ("H", "M", "E_Phi", "Phi", "P", "D", "G", "tau_bar", "E_Psi"):
        expected = turned(getattr(later, name), name, moving).imag / STEP
        close(turned(getattr(rates, name), name, W), expected, 1e-11, scale=max(np.abs(getattr(later, name).real).max(), 1.0))


def test_sweeps_are_linear_in_n():
    """The general counts of the recursions grow with n; the factors, which have n^2 entries, with n^2."""
    for quantity, order in (
        ("quasi_velocity", 1),
        ("quasi_force", 1),
        ("joint_velocity", 1),
        ("quasi_coriolis", 1),
        ("diagonalize", 2),
    ):
        totals = [da.random_robot(1, "R" * n).operation_count(quantity, customized=False).total for n in range(3, 8)]
        assert not np.diff(totals, order + 1).any()
        assert np.diff(totals, order).all()


def test_out():
    arm, q = da.robot("puma560"), np.full((3, 6), 0.3)
    out = tuple(np.empty((3, *shape)) for shape in ((6,), (6, 6), (6, 6), (6, 6), ()))
    assert arm.diagonalize(q, out=out).m is out[2]
    assert np.array_equal(out[0], arm.diagonalize(q).D)
    for wrong in (np.empty((3, 6)), out[:2], list(out)):
        with pytest.raises(da.Error, match=r"out must be a tuple of 5 arrays \(D, U, m, l, det\)"):
            arm.diagonalize(q, out=wrong)


def test_mistakes():
    arm = da.robot("two_link")
    with pytest.raises(da.Error, match="normalized must be True or False"):
        arm.quasi_velocity([0, 0], [0, 0], normalized="false")
    with pytest.raises(da.Error, match=r"frame of the rates: 'global'.*known: local, inertial"):
        arm.spatial_operator_rates([0, 0], [0, 0], frame="global")
    with pytest.raises(da.Error, match=r"quasi_velocity: qd has shape \(3,\), two_link needs \(\.\.\., 2\)"):
        arm.quasi_velocity([0, 0], [0, 0, 0])
    with pytest.raises(TypeError):
        formulation("quasi_velocity", "diagonalized_normalized")(arm.tree)
