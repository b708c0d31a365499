"""One rigid body: its inertia in every form of the books, its kinetic energy and its equations of motion.

Mass m, centre of mass c and tensor I about it describe the body in some frame. From them: the pseudo-inertia, the 4x4 matrix of
second moments (Fu, Gonzalez and Lee, section 3.2), whose 3x3 part is Silver's J when the origin is at the centre of mass; and the
spatial inertia, 6x6 (Park, Bobrow and Ploen (21)). `da.Inertia` holds them for a link. Any leading axes, complex numbers too.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from dalembert.algebra import spatial
from dalembert.algebra.spatial import Array, cross, dot, join, rotate, skew, split
from dalembert.arguments import arrays, numbers
from dalembert.errors import Error

V3, V6, M3, M4, M6 = (3,), (6,), (3, 3), (4, 4), (6, 6)


class Body(NamedTuple):
    """Mass, centre of mass and inertia tensor about it."""

    mass: Array
    com: Array
    tensor: Array


# --- inertia --------------------------------------------------------------------------------------------------------------


def second_moments(tensor: ArrayLike) -> Array:
    """J = tr(I) / 2 - I, the integral of r r^T dm about the same point: Silver (2.7), (2.11). Signature (3,3)->(3,3).

    >>> second_moments(np.diag([5.0, 4.0, 3.0])).tolist()
    [[1.0, 0.0, 0.0], [0.0, 2.0, 0.0], [0.0, 0.0, 3.0]]
    """
    (I,) = arrays("second_moments", tensor=(tensor, M3))
    return spatial.second_moments(I)


def inertia_tensor(moments: ArrayLike) -> Array:
    """I = tr(J) - J, the inverse of `second_moments`: Silver (2.9), (2.11). Signature (3,3)->(3,3).

    >>> inertia_tensor(np.diag([1.0, 2.0, 3.0])).tolist()
    [[5.0, 0.0, 0.0], [0.0, 4.0, 0.0], [0.0, 0.0, 3.0]]
    """
    (J,) = arrays("inertia_tensor", moments=(moments, M3))
    return np.trace(J, axis1=-2, axis2=-1)[..., None, None] * np.eye(3) - J  # (2.9), (2.11)


@np.errstate(all="ignore")
def steiner(mass: ArrayLike, offset: ArrayLike, tensor: ArrayLike) -> Array:
    """I - m [d]^2: the tensor about a point at d from the centre of mass (parallel axes). Signature (),(3),(3,3)->(3,3).

    >>> steiner(2.0, [1.0, 0.0, 0.0], np.eye(3)).tolist()
    [[1.0, 0.0, 0.0], [0.0, 3.0, 0.0], [0.0, 0.0, 3.0]]
    """
    m, d, I = arrays("steiner", mass=(mass, ()), offset=(offset, V3), tensor=(tensor, M3))
    D = skew(d)
    return I - m[..., None, None] * (D @ D)


@np.errstate(all="ignore")
def pseudo_inertia(mass: ArrayLike, com: ArrayLike, tensor: ArrayLike) -> Array:
    """The 4x4 integral of r r^T dm, r = (x, y, z, 1), about the frame's origin: Fu, Gonzalez and Lee (3.2-17), (3.2-18).

    Signature (),(3),(3,3)->(4,4). The tensor is about the centre of mass (problem 3.14 has this relation); off the diagonal
    stands minus its entries (E-F1).

    >>> pseudo_inertia(1.0, [-0.5, 0, 0], np.diag([0, 1 / 12, 1 / 12]))[0].round(6).tolist()
    [0.333333, 0.0, 0.0, -0.5]
    """
    m, c, I = arrays("pseudo_inertia", mass=(mass, ()), com=(com, V3), tensor=(tensor, M3))
    first = m[..., None] * c
    second = spatial.second_moments(I) + spatial.outer(first, c)  # (3.2-17), (3.2-18)
    last = join(first, m[..., None])[..., None, :]
    return np.concatenate([np.concatenate([second, first[..., None]], axis=-1), last], axis=-2)


@np.errstate(all="ignore")
def pseudo_inertia_by_radii(mass: ArrayLike, com: ArrayLike, squares: ArrayLike) -> Array:
    """The pseudo-inertia from squared radii of gyration about the frame's origin: Fu, Gonzalez and Lee (3.2-19).

    Signature (),(3),(3,3)->(4,4). On the diagonal of `squares` are k_11^2 = Ixx / m and so on; off it k_12^2, the integral of xy dm
    over m, which may be negative (E-F1).

    >>> pseudo_inertia_by_radii(2.0, [0, 0, 0], np.diag([5.0, 4.0, 3.0])).diagonal().tolist()
    [2.0, 4.0, 6.0, 2.0]
    """
    m, c, k = arrays("pseudo_inertia_by_radii", mass=(mass, ()), com=(com, V3), squares=(squares, M3))
    diagonal = k * np.eye(3)
    tensor = m[..., None, None] * (2 * diagonal - k)  # (3.2-19); off the diagonal minus the product integral
    return pseudo_inertia(m, c, tensor + m[..., None, None] * (skew(c) @ skew(c)))


@np.errstate(all="ignore")
def body_of_pseudo_inertia(pseudo: ArrayLike) -> Body:
    """Mass, centre of mass and the tensor about it of a pseudo-inertia: Fu, Gonzalez and Lee, problem 3.14.

    Signature (4,4)->(),(3),(3,3). I = tr(J3) - J3 - m (c.c - c c^T), J3 being the 3x3 part.

    >>> body_of_pseudo_inertia(pseudo_inertia(2.0, [1, 2, 3], np.diag([5.0, 4.0, 3.0]))).tensor.round(12).tolist()
    [[5.0, 0.0, 0.0], [0.0, 4.0, 0.0], [0.0, 0.0, 3.0]]
    """
    (J,) = arrays("body_of_pseudo_inertia", pseudo=(pseudo, M4))
    m = J[..., 3, 3]
    c = J[..., :3, 3] / m[..., None]
    return Body(m, c, inertia_tensor(J[..., :3, :3]) + m[..., None, None] * (skew(c) @ skew(c)))


@np.errstate(all="ignore")
def spatial_inertia(mass: ArrayLike, com: ArrayLike, tensor: ArrayLike) -> Array:
    """The 6x6 inertia about the frame's origin: Park, Bobrow and Ploen (21), Park and Lynch (9.23) for com = 0.

    Signature (),(3),(3,3)->(6,6): [[I - m [c]^2, m [c]], [-m [c], m 1]], the tensor being about the centre of mass.

    >>> spatial_inertia(2.0, [0, 0, 1], np.eye(3))[0].tolist()
    [3.0, 0.0, 0.0, 0.0, -2.0, 0.0]
    """
    m, c, I = arrays("spatial_inertia", mass=(mass, ()), com=(com, V3), tensor=(tensor, M3))
    return spatial.spatial_inertia(m, c, I)  # Park-Bobrow-Ploen (21), (9.23)


def featherstone_inertia(inertia: ArrayLike) -> Array:
    """Featherstone's layout of a spatial inertia, its two rows of blocks exchanged: Park, Bobrow and Ploen (28).

    Signature (6,6)->(6,6). Twists have the same layout, while his forces are (force, moment); so his spatial inner product
    `featherstone_product` is the usual one here. The map is its own inverse.

    >>> featherstone_inertia(spatial_inertia(2.0, [0, 0, 0], np.eye(3)))[0, 3:].tolist()
    [2.0, 0.0, 0.0]
    """
    (J,) = arrays("featherstone_inertia", inertia=(inertia, M6))
    return np.roll(J, 3, axis=-2)


def featherstone_product(a: ArrayLike, b: ArrayLike) -> Array:
    """(a, b) . (c, d) = a.d + b.c, Featherstone's spatial inner product: Park, Bobrow and Ploen, after (28). Signature (6),(6)->().

    >>> float(featherstone_product([1, 0, 0, 0, 0, 0], [0, 0, 0, 5, 0, 0]))
    5.0
    """
    a, b = arrays("featherstone_product", a=(a, V6), b=(b, V6))
    return dot(a, np.roll(b, 3, axis=-1))


# --- motion ---------------------------------------------------------------------------------------------------------------


def inertia_rate(tensor: ArrayLike, omega: ArrayLike) -> Array:
    """I-dot = omega x I - I x omega of a rotating body's tensor in fixed axes: Silver, appendix A. Signature (3,3),(3)->(3,3).

    With a partial angular velocity in place of omega it is a partial of I; projections of both are Silver's (3.5) and (3.10).

    >>> inertia_rate(np.diag([1.0, 2.0, 3.0]), [0.0, 0.0, 1.0])[0].tolist()
    [0.0, -1.0, 0.0]
    """
    I, w = arrays("inertia_rate", tensor=(tensor, M3), omega=(omega, V3))
    W = skew(w)
    return W @ I - I @ W


def euler_moment(tensor: ArrayLike, omega: ArrayLike, omega_dot: ArrayLike) -> Array:
    """N = I omega-dot + omega x I omega about the centre of mass: Silver (1.3), Park and Lynch (9.20).

    Signature (3,3),(3),(3)->(3). In fixed axes with the tensor there, or in body axes with the rates of the components.

    >>> euler_moment(np.diag([1.0, 2.0, 3.0]), [1.0, 1.0, 0.0], [0.0, 0.0, 1.0]).tolist()
    [0.0, 0.0, 4.0]
    """
    I, w, wd = arrays("euler_moment", tensor=(tensor, M3), omega=(omega, V3), omega_dot=(omega_dot, V3))
    return rotate(I, wd) + cross(w, rotate(I, w))


@np.errstate(all="ignore")
def newton_euler(mass: ArrayLike, com: ArrayLike, tensor: ArrayLike, twist: ArrayLike, twist_rate: ArrayLike) -> Array:
    """The wrench that moves a body, by Newton's and Euler's equations in three-vectors. Signature (),(3),(3,3),(6),(6)->(6).

    f = m a_c and n = I omega-dot + omega x I omega + c x f about the frame's origin, with the acceleration of the centre of mass
    a_c = v-dot + omega x v + omega-dot x c + omega x (omega x c): Park, Bobrow and Ploen (74) to (79), Park and Lynch (9.14) to
    (9.21) for com = 0. Twist and rates are the components in body axes.

    >>> newton_euler(2.0, [0, 0, 0], np.eye(3), [0, 0, 1, 3, 0, 0], np.zeros(6)).tolist()
    [0.0, 0.0, 0.0, 0.0, 6.0, 0.0]
    """
    m, c, I, V, Vd = arrays(
        "newton_euler", mass=(mass, ()), com=(com, V3), tensor=(tensor, M3), twist=(twist, V6), twist_rate=(twist_rate, V6)
    )
    (w, v), (wd, vd) = split(V), split(Vd)
    acceleration = vd + cross(w, v) + cross(wd, c) + cross(w, cross(w, c))  # (76), (77)
    force = m[..., None] * acceleration  # (74)
    return join(rotate(I, wd) + cross(w, rotate(I, w)) + cross(c, force), force)  # (75)


def body_wrench(inertia: ArrayLike, twist: ArrayLike, twist_rate: ArrayLike) -> Array:
    """F = G V-dot - ad*_V (G V), the same for any frame of the body: Park and Lynch (9.32) to (9.34). Signature (6,6),(6),(6)->(6).

    `inertia` is the 6x6 one in the frame of the twist; written out it is Park, Bobrow and Ploen (81) to (83).

    >>> body_wrench(spatial_inertia(2.0, [0, 0, 0], np.eye(3)), [0, 0, 1, 3, 0, 0], np.zeros(6)).tolist()
    [0.0, 0.0, 0.0, 0.0, 6.0, 0.0]
    """
    G, V, Vd = arrays("body_wrench", inertia=(inertia, M6), twist=(twist, V6), twist_rate=(twist_rate, V6))
    return rotate(G, Vd) - spatial.ad_dual(V, rotate(G, V))


def body_acceleration(inertia: ArrayLike, twist: ArrayLike, wrench: ArrayLike) -> Array:
    """V-dot of a body on which a wrench acts: (9.33) solved. Signature (6,6),(6),(6)->(6).

    It gives the motion of the fictitious link that exerts a load on the tip (Silver, section 3.2).

    >>> body_acceleration(spatial_inertia(2.0, [0, 0, 0], np.eye(3)), np.zeros(6), [0, 0, 0, 0, 0, 6]).tolist()
    [0.0, 0.0, 0.0, 0.0, 0.0, 3.0]
    """
    G, V, F = arrays("body_acceleration", inertia=(inertia, M6), twist=(twist, V6), wrench=(wrench, V6))
    return _solved("body_acceleration", G, F + spatial.ad_dual(V, rotate(G, V)))


def kinetic_energy(inertia: ArrayLike, twist: ArrayLike) -> Array:
    """V . G V / 2: Park and Lynch (9.24), Silver (2.10) and (3.1). Signature (6,6),(6)->().

    >>> float(kinetic_energy(spatial_inertia(2.0, [0, 0, 0], np.eye(3)), [0, 0, 1, 3, 0, 0]))
    9.5
    """
    G, V = arrays("kinetic_energy", inertia=(inertia, M6), twist=(twist, V6))
    return dot(V, rotate(G, V)) / 2


def kinetic_energy_by_trace(moments: ArrayLike, rate: ArrayLike) -> Array:
    """tr(W-dot J W-dot^T) / 2: Silver (2.8) with 3x3 matrices, Fu, Gonzalez and Lee (3.2-16) with 4x4 ones.

    Signature (k,k),(k,k)->(). 3x3: second moments about the centre of mass and the rate of the rotation, giving the energy of the
    rotation; 4x4: pseudo-inertia and the rate of the pose, giving all of it.

    >>> float(kinetic_energy_by_trace(np.diag([1.0, 2.0, 3.0]), [[0, -2, 0], [2, 0, 0], [0, 0, 0]]))
    6.0
    """
    core = _core(rate, "kinetic_energy_by_trace: rate")
    J, Wd = arrays("kinetic_energy_by_trace", moments=(moments, core), rate=(rate, core))
    return ((Wd @ J) * Wd).sum(axis=(-2, -1)) / 2


def force_by_trace(partial: ArrayLike, moments: ArrayLike, acceleration: ArrayLike) -> Array:
    """tr(dW/dq J W-ddot^T): the generalized force of a body by matrices, Silver's table in section 2.4 (E-S1: W-ddot).

    Signature (k,k),(k,k),(k,k)->(), k = 3 for rotation alone, 4 for pose and pseudo-inertia: a term of (1.2).

    >>> float(force_by_trace(np.eye(3), np.eye(3), 2 * np.eye(3)))
    6.0
    """
    core = _core(acceleration, "force_by_trace: acceleration")
    P, J, A = arrays("force_by_trace", partial=(partial, core), moments=(moments, core), acceleration=(acceleration, core))
    return ((P @ J) * A).sum(axis=(-2, -1))


def _core(given: ArrayLike, what: str) -> tuple[int, int]:
    """3x3 or 4x4 matrices, as given."""
    return M4 if numbers(given, what, complex_=True).shape[-2:] == M4 else M3


def _solved(function: str, G: Array, F: Array) -> Array:
    try:
        return np.linalg.solve(G, F[..., None])[..., 0]
    except np.linalg.LinAlgError:
        raise Error(f"{function}: inertia must be invertible: a body with mass and extent") from None
