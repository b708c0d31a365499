"""`da.algebra` and the inertias of simple bodies: laws of the groups, and values computed otherwise."""

from itertools import product

import numpy as np
import pytest
from conftest import close

import dalembert as da
from dalembert import algebra as al

RNG = np.random.default_rng(11)
STEP = 1e-30


def some(*shape):
    return RNG.normal(size=shape)


def expm(X):
    """By squaring: 20 terms of the series at 2^-5."""
    Y, total = X / 2**5, np.eye(X.shape[-1])
    term = np.eye(X.shape[-1])
    for k in range(1, 20):
        term = term @ Y / k
        total = total + term
    for _ in range(5):
        total = total @ total
    return total


def rate(f, t=0.3):
    """d f / dt by a complex step."""
    return np.imag(f(t + 1j * STEP)) / STEP


def spun(t):
    """A rotation that tumbles."""
    t = np.asarray(t)
    return al.rodrigues([0, 0, 1], t * t) @ al.rodrigues([0.6, 0, 0.8], 2 * t)


def moved(t):
    """A pose that moves in every way."""
    return al.exp_se3(np.array([1, 2, 3, 4, 5, 6.0]) * t) @ al.exp_se3(np.array([-1, 0.5, 0, 0, 1, 0]) * t * t)


# --- rotations -------------------------------------------------------------------------------------------------------------


def test_levi_civita_identities():
    e, d = al.EPSILON, np.eye(3)
    assert np.array_equal(np.einsum("ijk,ijl->kl", e, e), 2 * d)  # (2.3)
    assert np.array_equal(
        np.einsum("ijk,ilm->jklm", e, e), np.einsum("jl,km->jklm", d, d) - np.einsum("jm,kl->jklm", d, d)
    )  # (2.4)
    assert np.array_equal(e, -np.swapaxes(e, 0, 1)) and np.array_equal(e, np.moveaxis(e, 0, 2))
    a, b = some(2, 3)
    close(np.einsum("ijk,j,k->i", e, a, b), np.cross(a, b), 1e-15)
    with pytest.raises(ValueError, match="read-only"):
        e[0, 0, 0] = 1


def test_angular_velocity_and_rotation_rates():
    W, Wd = spun(0.3), rate(spun)
    w = al.angular_velocity(W, Wd)
    close(w, np.einsum("ijk,jl,kl->i", al.EPSILON, W, Wd) / 2, 1e-14)  # (2.6)
    close(al.rotation_rate(w, W), Wd, 1e-14)  # (2.5)
    close(al.rotation_rate(w, W), np.einsum("ikl,k,lj->ij", al.EPSILON, w, W), 1e-14)
    wd = rate(lambda t: al.angular_velocity(spun(t), al.rotation_rate(omega(t), spun(t))))
    Wdd = al.rotation_acceleration(w, wd, W)
    h = 1e-5
    close(Wdd, (spun(0.3 + h) - 2 * W + spun(0.3 - h)) / h**2, 1e-5)
    close(al.angular_velocity(W, Wdd), wd, 1e-13)  # the symmetric part drops


def omega(t):
    """The angular velocity of `spun`, by hand."""
    return np.array([0, 0, 1]) * 2 * t + al.rodrigues([0, 0, 1], t * t) @ np.array([0.6, 0, 0.8]) * 2


@pytest.mark.parametrize("angle", [0.0, 1e-12, 1e-7, 1e-3, 0.4999, 0.5001, 1.0, 3.0, np.pi - 1e-9, np.pi])
def test_exponentials_and_logarithms(angle):
    for axis in (np.array([0.6, 0.0, 0.8]), np.array([0, 1.0, 0]), some(3)):
        w = axis / np.linalg.norm(axis) * angle
        R = al.exp_so3(w)
        close(R, expm(al.skew(w)), 1e-13)
        close(R @ R.T, np.eye(3), 1e-14)
        back = al.log_so3(R)
        assert min(np.abs(back - w).max(), np.abs(back + w).max() if angle > 3.14 else np.inf) < 2e-8 * max(angle, 1e-8) + 1e-15
        close(al.exp_so3(back), R, 1e-14)
        V = np.concatenate([w, some(3)])
        T = al.exp_se3(V)
        close(T, expm(al.hat(V)), 1e-12)
        close(al.exp_se3(al.log_se3(T)), T, 1e-13)
        if angle < 3:
            close(al.log_se3(T), V, 1e-11)


def test_rotation_matrix_of_two_sets_of_axes():
    """It takes the components of a vector along the rotated axes to those along the fixed ones."""
    fixed, rotated = al.exp_so3(some(3)), al.exp_so3(some(4, 3))
    W, vector = al.rotation_matrix(fixed, rotated), some(3)
    close(np.matvec(W, rotated @ vector), np.broadcast_to(fixed @ vector, (4, 3)), 1e-14)
    close(W @ np.swapaxes(W, -1, -2), np.broadcast_to(np.eye(3), (4, 3, 3)), 1e-14)
    close(al.rotation_matrix(np.eye(3), al.exp_so3([0, 0, 0.3]).T), al.rodrigues([0, 0, 1], 0.3), 1e-15)


def test_functions_take_batches():
    w, V = some(4, 1, 3), some(5, 6)
    assert al.exp_so3(w).shape == (4, 1, 3, 3) and al.log_so3(al.exp_so3(w)).shape == (4, 1, 3)
    close(al.exp_so3(w)[2, 0], al.exp_so3(w[2, 0]), 1e-15)
    close(al.log_se3(al.exp_se3(V / 3)), V / 3, 1e-12)
    assert al.vector_rate(V, V, w).shape == (4, 5, 6)
    assert al.screw_of(V).pitch.shape == (5,)


def test_moving_frames():
    """(3.3-13) to (3.3-19) against differences of the point in the fixed frame."""

    def inside(t):
        return np.array([np.sin(t), t * t, 1 - t])

    def origin(t):
        return np.array([t**3, np.cos(t), 2 * t])

    t, h = 0.3, 1e-4
    W, w = spun(t), omega(t)
    wd = rate(omega)
    r = W @ inside(t)
    v, a = W @ rate(inside), W @ np.array([-np.sin(t), 2, 0])
    space = lambda t: spun(t) @ inside(t)  # noqa: E731
    close(al.moving_velocity(r, v, w), rate(space), 1e-14)  # (3.3-13)
    close(al.moving_velocity(r, v, w, rate(origin)), rate(lambda t: space(t) + origin(t)), 1e-14)  # (3.3-17)
    close(al.moving_velocity(r, np.zeros(3), w), al.rotation_rate(w, W) @ inside(t), 1e-14)  # (3.3-8)
    numerical = (space(t + h) - 2 * space(t) + space(t - h)) / h**2
    close(al.moving_acceleration(r, v, a, w, wd), numerical, 1e-6)  # (3.3-14)
    origin_acceleration = np.array([6 * t, -np.cos(t), 0])
    close(al.moving_acceleration(r, v, a, w, wd, origin_acceleration), numerical + origin_acceleration, 1e-6)  # (3.3-19)


# --- rigid motions -----------------------------------------------------------------------------------------------------------


def test_adjoint_maps():
    X, Y = al.exp_se3(some(2, 6))
    V, U, Z = some(3, 6)
    close(al.Ad(X) @ V, al.unhat(X @ al.hat(V) @ np.linalg.inv(X)), 1e-12)  # (2), (3)
    close(al.Ad(X @ Y), al.Ad(X) @ al.Ad(Y), 1e-13)
    close(al.Ad(al.inverse(X)) @ al.Ad(X), np.eye(6), 1e-13)
    close(al.bracket(V, U), al.unhat(al.hat(V) @ al.hat(U) - al.hat(U) @ al.hat(V)), 1e-13)  # (1)
    close(al.ad(V) @ U, al.bracket(V, U), 1e-14)  # (6)
    jacobi = al.bracket(V, al.bracket(U, Z)) + al.bracket(U, al.bracket(Z, V)) + al.bracket(Z, al.bracket(V, U))
    close(jacobi, np.zeros(6), 1e-13, scale=1.0)
    close(al.Ad(X) @ al.bracket(V, U), al.bracket(al.Ad(X) @ V, al.Ad(X) @ U), 1e-12)
    F = some(6)
    close((al.Ad_dual(X) @ F) @ V, F @ (al.Ad(X) @ V), 1e-12)  # (4), (11): the same power
    close((al.ad_dual(V) @ F) @ U, F @ (al.ad(V) @ U), 1e-12)  # (7)
    m, f = F[:3], F[3:]
    R, b = X[:3, :3], X[:3, 3]
    close(al.Ad_dual(X) @ F, [*(R.T @ m - R.T @ np.cross(b, f)), *(R.T @ f)], 1e-12)  # (11)
    close(rate(lambda t: al.Ad(al.exp_se3(V * t)) @ U, 0.0), al.bracket(V, U), 1e-12)


def test_body_and_space_twists():
    T, Td = moved(0.3), rate(moved)
    body, space = al.body_twist(T, Td), al.space_twist(T, Td)
    close(space, al.Ad(T) @ body, 1e-12)
    W, Wd, p = T[:3, :3], Td[:3, :3], T[:3, 3]
    close(space[:3], al.angular_velocity(W, Wd), 1e-12)
    close(space[3:], Td[:3, 3] - np.cross(space[:3], p), 1e-12)
    close(body[3:], W.T @ Td[:3, 3], 1e-12)
    A = al.exp_se3(some(6))
    close(al.body_twist(T @ A, Td @ A), np.linalg.solve(al.Ad(A), body), 1e-12)  # right translation


def test_screws():
    s, p, pitch = some(3), some(3), 0.37
    V = al.screw(s, p, pitch)
    axis, point, found, size = al.screw_of(2.5 * V)
    close(axis, s / np.linalg.norm(s), 1e-14)
    close(found, pitch, 1e-13)
    close(size, 2.5, 1e-14)
    close(np.cross(point - p, axis), np.zeros(3), 1e-13, scale=1.0)
    assert abs(point @ axis) < 1e-14
    close(al.screw(axis, point, found), V, 1e-13)
    T = al.exp_se3(0.8 * V)  # rotates about the axis and moves along it
    close(T @ [*p, 1], [*(p + 0.8 * pitch * axis), 1], 1e-13)
    slide = al.screw([0, 3, 0], p, np.inf)
    assert al.screw_of(slide).axis.tolist() == [0, 1, 0] and np.isinf(al.screw_of(slide).pitch)


def test_rates_in_moving_frames():
    """Kozlowski (1) and (6): turn the components into fixed axes, differentiate, turn back."""
    t = 0.3
    x = lambda t: np.array([t, t * t, np.sin(t), 1, np.cos(t), t**3])  # noqa: E731
    X = lambda t: np.outer(x(t), x(2 * t)) + np.diag(x(3 * t))  # noqa: E731

    def turn(t):
        A = np.zeros((6, 6), complex)
        A[:3, :3] = A[3:, 3:] = spun(t)
        return A

    A, w = turn(t).real, spun(t).T @ omega(t)
    close(al.vector_rate(rate(x), x(t), w), A.T @ rate(lambda t: turn(t) @ x(t)), 1e-13)
    close(al.matrix_rate(rate(X), X(t), w), A.T @ rate(lambda t: turn(t) @ X(t) @ turn(t).T) @ A, 1e-13)


# --- bodies --------------------------------------------------------------------------------------------------------------------


def cloud(count=20):
    m, r = RNG.uniform(0.1, 1, count), RNG.normal(size=(count, 3))
    return m, r, da.Inertia.from_particles(m, r)


def test_inertia_and_second_moments():
    m, r, body = cloud()
    com = m @ r / m.sum()
    d = r - com
    J = np.einsum("k,ki,kj->ij", m, d, d)
    I = np.einsum("k,kij->ij", m, np.einsum("k,ij->kij", (d * d).sum(-1), np.eye(3)) - np.einsum("ki,kj->kij", d, d))
    close(body.mass, m.sum(), 1e-14)
    close(body.com, com, 1e-14)
    close(body.tensor, I, 1e-13)
    close(al.second_moments(I), J, 1e-13)  # (2.11)
    close(al.inertia_tensor(J), I, 1e-13)
    close(al.inertia_tensor(al.second_moments(I)), I, 1e-15)
    close(al.steiner(m.sum(), com, I), body.about_origin, 1e-13)
    four = np.concatenate([r, np.ones((20, 1))], axis=1)
    pseudo = np.einsum("k,ki,kj->ij", m, four, four)  # (3.2-17)
    close(al.pseudo_inertia(body.mass, body.com, body.tensor), pseudo, 1e-13)
    close(body.pseudo_inertia, pseudo, 1e-13)
    for got, want in zip(al.body_of_pseudo_inertia(pseudo), (body.mass, body.com, body.tensor), strict=True):
        close(got, want, 1e-12)  # problem 3.14
    close(da.Inertia.from_pseudo_inertia(pseudo).tensor, body.tensor, 1e-12)
    k = np.diag(np.diag(body.about_origin)) / body.mass + (pseudo[:3, :3] - np.diag(np.diag(pseudo[:3, :3]))) / body.mass
    close(al.pseudo_inertia_by_radii(body.mass, body.com, k), pseudo, 1e-12)  # (3.2-19)


def test_spatial_inertia_and_featherstones_layout():
    m, r, body = cloud()
    G = al.spatial_inertia(body.mass, body.com, body.tensor)
    direct = sum(mk * (J := np.concatenate([-al.skew(rk), np.eye(3)], axis=1)).T @ J for mk, rk in zip(m, r, strict=True))
    close(G, direct, 1e-12)  # (21)
    close(body.spatial, G, 1e-15)
    F = al.featherstone_inertia(G)
    c, I, one = al.skew(body.com), body.tensor, np.eye(3)
    close(F, np.block([[-body.mass * c, body.mass * one], [I - body.mass * c @ c, body.mass * c]]), 1e-13)  # (28)
    close(al.featherstone_inertia(F), G, 1e-15)
    V = some(6)
    close(al.featherstone_product(V, F @ V) / 2, al.kinetic_energy(G, V), 1e-13)


def test_kinetic_energy_in_all_forms():
    m, r, body = cloud()
    T, Td = moved(0.3), rate(moved)
    true = sum(mk * ((Td @ [*rk, 1])[:3] ** 2).sum() for mk, rk in zip(m, r, strict=True)) / 2
    close(al.kinetic_energy(body.spatial, al.body_twist(T, Td)), true, 1e-13)
    close(al.kinetic_energy_by_trace(body.pseudo_inertia, Td), true, 1e-13)  # (3.2-16)
    W, Wd = T[:3, :3], Td[:3, :3]
    w = al.angular_velocity(W, Wd)
    rotation = w @ (W @ body.tensor @ W.T) @ w / 2
    close(al.kinetic_energy_by_trace(al.second_moments(body.tensor), Wd), rotation, 1e-13)  # (2.8), (2.10)
    with pytest.raises(da.Error, match=r"kinetic_energy_by_trace: rate must have the shape \(\.\.\., 3, 3\), got \(2, 2\)"):
        al.kinetic_energy_by_trace(np.eye(3), np.eye(2))


def test_generalized_force_in_both_representations():
    """Silver's table in section 2.4, as corrected (E-S1): a body that turns about two axes by q(t)."""
    body = cloud()[2]
    W = lambda a, b: al.rodrigues([0, 0, 1], a) @ al.rodrigues([0.6, 0, 0.8], b)  # noqa: E731
    q = lambda t: (t * t, 2 * t)  # noqa: E731
    t, J, I = 0.3, al.second_moments(body.tensor), W(*q(0.3)) @ body.tensor @ W(*q(0.3)).T
    partial = np.imag(W(q(t)[0], q(t)[1] + 1j * STEP)) / STEP
    w, wd = omega(t), rate(omega)
    axis = al.angular_velocity(W(*q(t)), partial)  # d omega / d qd
    Wdd = al.rotation_acceleration(w, wd, W(*q(t)))
    close(al.force_by_trace(partial, J, Wdd), al.euler_moment(I, w, wd) @ axis, 1e-13)
    printed = al.force_by_trace(partial, J, al.rotation_rate(w, W(*q(t))))
    assert abs(printed - al.euler_moment(I, w, wd) @ axis) > 0.1


def test_euler_moment_is_the_rate_of_momentum():
    body = cloud()[2]
    turned = lambda t: spun(t) @ body.tensor @ spun(t).T  # noqa: E731
    momentum = lambda t: turned(t) @ omega(t)  # noqa: E731
    w, wd = omega(0.3), rate(omega)
    close(al.inertia_rate(turned(0.3), w), rate(turned), 1e-13)  # appendix A
    close(al.euler_moment(turned(0.3), w, wd), rate(momentum), 1e-13)  # (1.3)
    W = spun(0.3)
    close(al.euler_moment(body.tensor, W.T @ w, W.T @ wd), W.T @ rate(momentum), 1e-13)  # (9.20)


def test_one_body_by_newton_and_euler():
    """Three forms of the equations, and the rate of momentum of the particles themselves."""
    m, r, body = cloud()
    V, Vd = some(2, 6)
    F = al.newton_euler(body.mass, body.com, body.tensor, V, Vd)
    close(al.body_wrench(body.spatial, V, Vd), F, 1e-13)  # (9.33)
    close(al.body_acceleration(body.spatial, V, F), Vd, 1e-11)
    (w, v), (wd, vd) = np.split(V, 2), np.split(Vd, 2)
    a = vd + np.cross(w, v) + np.cross(wd, r) + np.cross(w, np.cross(w, r))
    f = m[:, None] * a
    close(F, [*np.cross(r, f).sum(0), *f.sum(0)], 1e-13)
    A = al.exp_se3(some(6))  # in another frame of the body: the wrench transforms by Ad*
    moved_body = body.seen_from(da.Pose.coerce(al.inverse(A)))
    inner = np.linalg.inv(al.Ad(A))
    close(al.body_wrench(moved_body.spatial, inner @ V, inner @ Vd), al.Ad_dual(A) @ F, 1e-12)


def test_appendix_of_park_bobrow_and_ploen():
    """(82) and (83) with the corrected sign (E-B8), and the two uses of the Jacobi identity."""
    body = cloud()[2]
    V, Vd = some(2, 6)
    w, v, wd, vd = V[:3], V[3:], Vd[:3], Vd[3:]
    r, M, I = al.skew(body.com), body.mass, body.tensor
    W = al.skew(w)

    def sign(s):
        return (
            I @ wd - M * r @ r @ wd + M * r @ vd + W @ I @ w + s * M * W @ r @ r @ w + M * (W @ r @ v + al.skew(v) @ W @ body.com)
        )

    true = al.newton_euler(M, body.com, I, V, Vd)[:3]
    close(sign(-1), true, 1e-13)
    close(al.body_wrench(body.spatial, V, Vd)[:3], true, 1e-13)
    assert np.abs(sign(1) - true).max() > 1e-3
    close(-r @ r @ wd, r @ al.skew(wd) @ body.com, 1e-13)
    close(-W @ r @ r @ w, r @ W @ W @ body.com, 1e-13)
    close(W @ r @ v + al.skew(v) @ W @ body.com, r @ W @ v, 1e-13)


# --- shapes ----------------------------------------------------------------------------------------------------------------------


def sampled(inside, density=1.0, cells=60):
    """A body as particles on a grid in [-1, 1]^3."""
    x = (np.arange(cells) + 0.5) / cells * 2 - 1
    points = np.array(list(product(x, x, x)))
    points = points[inside(points)]
    return da.Inertia.from_particles(np.full(len(points), density * (2 / cells) ** 3), points)


def test_simple_bodies():
    ball = sampled(lambda x: (x * x).sum(-1) <= 0.81)
    close(da.Inertia.sphere(ball.mass, 0.9).tensor, ball.tensor, 5e-3)
    can = sampled(lambda x: (x[:, 0] ** 2 + x[:, 2] ** 2 <= 0.49) & (abs(x[:, 1]) <= 0.8))
    close(da.Inertia.cylinder(can.mass, 0.7, 1.6, axis="y").tensor, can.tensor, 1e-2)
    block = sampled(lambda x: (abs(x) <= [0.5, 0.8, 0.2]).all(-1))
    close(da.Inertia.box(block.mass, (1.0, 1.6, 0.4)).tensor, block.tensor, 5e-2)
    start, end = some(2, 3)
    t = (np.arange(400) + 0.5)[:, None] / 400
    beads = da.Inertia.from_particles(np.full(400, 3.0 / 400), start + t * (end - start))
    rod = da.Inertia.rod(3.0, start, end)
    close(rod.tensor, beads.tensor, 1e-5)
    close(rod.com, beads.com, 1e-12)
    assert da.Inertia.point(2.0, (1, 2, 3)) == da.Inertia.from_com(2.0, (1, 2, 3))
    assert da.Inertia.from_radii(2.0, (0.5, 0, 0), (1, 2, 2)).about_origin.diagonal().tolist() == [2, 8, 8]


CUBE = np.array(list(product((0.0, 1.0), repeat=3)))
SIDES = [(0, 1, 3, 2), (4, 6, 7, 5), (0, 4, 5, 1), (2, 3, 7, 6), (0, 2, 6, 4), (1, 5, 7, 3)]
FACES = np.array([t for a, b, c, d in SIDES for t in ((a, b, c), (a, c, d))])


def test_bodies_inside_a_mesh():
    sizes, shift = np.array([0.2, 0.5, 0.3]), np.array([1.0, -2.0, 0.4])
    box = da.Inertia.from_mesh(CUBE * sizes + shift, FACES, density=1000.0)
    expected = da.Inertia.box(1000 * sizes.prod(), sizes, center=shift + sizes / 2)
    close(box.mass, expected.mass, 1e-14)
    close(box.com, expected.com, 1e-14)
    close(box.tensor, expected.tensor, 1e-13)
    R = al.exp_so3([0.3, 0.7, -0.2])
    turned = da.Inertia.from_mesh((CUBE * sizes + shift) @ R.T, FACES, density=1000.0)
    close(turned.tensor, R @ expected.tensor @ R.T, 1e-12)
    close(turned.com, R @ expected.com, 1e-13)


def test_mistakes():
    with pytest.raises(da.Error, match=r"exp_so3: rotation_vector must have the shape \(\.\.\., 3\), got \(2,\)"):
        al.exp_so3([1, 2])
    with pytest.raises(da.Error, match=r"bracket: the leading \(batch\) axes do not broadcast: a \(2,\), b \(3,\)"):
        al.bracket(np.zeros((2, 6)), np.zeros((3, 6)))
    with pytest.raises(da.Error, match="body_acceleration: inertia must be invertible"):
        al.body_acceleration(np.zeros((6, 6)), np.zeros(6), np.zeros(6))
    with pytest.raises(da.Error, match="a mesh must be closed: every edge in two faces"):
        da.Inertia.from_mesh(CUBE, FACES[1:], 1.0)
    with pytest.raises(da.Error, match="faces counterclockwise seen from outside; got -1 m"):
        da.Inertia.from_mesh(CUBE, FACES[:, ::-1], 1.0)
    with pytest.raises(da.Error, match="must be indices of its 8 vertices, got 0 to 8"):
        da.Inertia.from_mesh(CUBE, np.where(FACES == 7, 8, FACES), 1.0)
    with pytest.raises(da.Error, match="particles need k masses and k points"):
        da.Inertia.from_particles([1.0, 2.0], [[0, 0, 0]])
    with pytest.raises(da.Error, match="the masses of particles must not be negative"):
        da.Inertia.from_particles([1.0, -2.0], np.zeros((2, 3)))
    with pytest.raises(da.Error, match="sizes of a box must not be negative"):
        da.Inertia.box(1.0, (1, -1, 1))
    with pytest.raises(da.Error, match=r"axis of a cylinder:.*'w'.*known: x, y, z"):
        da.Inertia.cylinder(1.0, 1.0, 1.0, axis="w")
    with pytest.raises(da.Error, match="must have a positive mass"):
        da.Inertia.from_pseudo_inertia(np.zeros((4, 4)))
