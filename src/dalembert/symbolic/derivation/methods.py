"""The steps of each method for one robot: the formulations' own functions, run on letters."""

from typing import Any

import numpy as np

from dalembert.algebra.linalg import PLAIN
from dalembert.algebra.spatial import congruent, dot, homogeneous, outer, rotate, rotate_back, symmetric
from dalembert.formulations import (
    angular_velocity_lagrange,
    generalized_dalembert,
    lagrange_euler,
    lie_closed_form,
    lie_group,
    newton_euler,
    stacked_operators,
)
from dalembert.formulations.shared.axes import free_axis, gain
from dalembert.formulations.shared.filter import Filter, Links, bias, force_cross, handed_on, inertia_rates, links
from dalembert.formulations.shared.homogeneous import first_partials, kinematics, second_partials
from dalembert.symbolic.derivation import words
from dalembert.symbolic.derivation.letters import Lettered
from dalembert.symbolic.derivation.steps import Entries, Entry, Method, each, one, own


def lagrange_euler_steps(x: Lettered) -> list[Entries]:
    """A, Q, U, J, D, h, c: Fu, Gonzalez and Lee, section 3.2."""
    tree = x.tree
    k = kinematics(tree, x.q)
    second = {key: value for key, value in second_partials(tree, k).items() if key[1] <= key[2]}
    D, H, h, c = lagrange_euler.lagrange_euler_terms(tree, x.q, x.qd)
    W = {i: W for i, W in enumerate(k.W) if tree.parents[i] >= 0}
    return [
        each("A", k.A, r"{}^{<parent>}\mathbf{A}_{<>}", tree.parents) | each("W", W, r"{}^{0}\mathbf{A}_{<>}"),
        each("Q", k.Q, r"\mathbf{Q}_{<>}"),
        each("U", first_partials(tree, k), r"\mathbf{U}_{<>}"),
        each("U", second, r"\mathbf{U}_{<>}"),
        each("J", k.J, r"\mathbf{J}_{<>}"),
        one("D", D, r"\mathbf{D}"),
        each("H", H, r"\left[h_{<>km}\right]") | one("h", h, r"\mathbf{h}"),
        one("c", c, r"\mathbf{c}"),
        each("tau", lagrange_euler.inverse_dynamics(tree, x.q, x.qd, x.qdd), r"\tau_{<>}"),
    ]


def newton_euler_steps(x: Lettered) -> list[Entries]:
    """omega, v-dot, F, N, f, n: Fu, Gonzalez and Lee, table 3.3."""
    tree = x.tree
    poses = [tree.pose(i, x.q[i]) for i in range(len(tree.parents))]
    passed = newton_euler.newton_euler_pass(tree, x.q, x.qd, x.qdd)
    constants = (
        each("R", [pose.rotation for pose in poses], r"{}^{<parent>}\mathbf{R}_{<>}", tree.parents)
        | each("p", [rotate_back(pose.rotation, pose.translation) for pose in poses], r"\mathbf{p}^*_{<>}")
        | each("s", tree.com, r"\bar{\mathbf{s}}_{<>}")
        | each("I", tree.inertia, r"\mathbf{I}_{<>}")
    )
    latex = (
        r"\boldsymbol{\omega}", r"\dot{\boldsymbol{\omega}}", r"\dot{\mathbf{v}}", r"\bar{\mathbf{a}}",
        r"\mathbf{F}", r"\mathbf{N}", r"\mathbf{f}", r"\mathbf{n}",
    )  # fmt: skip
    vectors = [each(name, getattr(passed, name), letter + "_{<>}") for name, letter in zip(passed._fields, latex, strict=True)]
    return [constants, *vectors, each("tau", newton_euler.inverse_dynamics(tree, x.q, x.qd, x.qdd), r"\tau_{<>}")]


def generalized_dalembert_steps(x: Lettered) -> list[Entries]:
    """z, r, b, D_rot, D_tran, h_tran, h_rot, c: Fu, Gonzalez and Lee, section 3.4."""
    tree = x.tree
    g = generalized_dalembert.geometry(tree, x.q)
    b, turn = generalized_dalembert.partials(tree, g)
    t = generalized_dalembert.dalembert_terms(tree, x.q, x.qd)
    axes = {f"z{i}": Entry(rf"\mathbf{{z}}_{{{i}}}", z) for i, z in enumerate(g.z)}  # the axis of joint i is z_{i-1}
    return [
        each("R", g.R, r"{}^{0}\mathbf{R}_{<>}") | each("I", tree.inertia, r"\mathbf{I}_{<>}"),
        axes | each("o", g.o, r"\mathbf{o}_{<>}") | each("p", g.p, r"\mathbf{p}_{<>}") | each("r", g.r, r"\bar{\mathbf{r}}_{<>}"),
        each("b", b, r"\mathbf{b}_{<>}"),
        each("zeta", turn, r"\boldsymbol{\zeta}_{<>}"),
        one("D_rot", t.D_rot, r"\mathbf{D}^{\text{rot}}")
        | one("D_tran", t.D_tran, r"\mathbf{D}^{\text{tran}}")
        | one("D", t.D_rot + t.D_tran, r"\mathbf{D}"),
        one("h_tran", t.h_tran, r"\mathbf{h}^{\text{tran}}"),
        one("h_rot", t.h_rot, r"\mathbf{h}^{\text{rot}}"),
        one("c", t.c, r"\mathbf{c}"),
        each("tau", generalized_dalembert.inverse_dynamics(tree, x.q, x.qd, x.qdd), r"\tau_{<>}"),
    ]


def lie_group_steps(x: Lettered) -> list[Entries]:
    """f, S, J, V, V-dot, F: Park, Bobrow and Ploen, section 3."""
    tree = x.tree
    r = lie_group.recursion(tree, x.q, x.qd, x.qdd)
    return [
        each("f", [homogeneous(f) for f in r.f], "f_{<parent>,<>}", tree.parents),
        each("S", r.S, "S_{<>}"),
        each("J", r.J, "J_{<>}"),
        each("V", r.V, "V_{<>}"),
        each("Vd", r.Vd, r"\dot{V}_{<>}"),
        each("F", r.F, "F_{<>}"),
        each("tau", lie_group.inverse_dynamics(tree, x.q, x.qd, x.qdd), r"\tau_{<>}"),
    ]


def angular_velocity_lagrange_steps(x: Lettered) -> list[Entries]:
    """z, omega, v, their partials, K, Lagrange's equation, F, N: Silver, section 3."""
    tree, n = x.tree, len(x.tree.parents)
    poses = tree.poses(x.q)
    chain = angular_velocity_lagrange.outward(tree, poses, x.qd, x.qdd, None)
    partial = {(i, j): angular_velocity_lagrange.partial_velocity(tree, chain, i, j) for i in range(n) for j in tree.path(i)}
    tensor = [congruent(pose.rotation, I) for pose, I in zip(poses, tree.inertia, strict=True)]
    omega = [link.w for link in chain]
    v = [sum(partial[i, j][0] * x.qd[j] for j in tree.path(i)) for i in range(n)]
    K = sum(tree.mass[i] * dot(v[i], v[i]) + dot(omega[i], rotate(tensor[i], omega[i])) for i in range(n)) / 2
    K = x.symbols.forms(K)[()]
    by_qd, by_q = ([K.diff(f"{name}{j + 1}") for j in range(n)] for name in ("qd", "q"))

    def rate(form: Any) -> Any:
        """The derivative by time."""
        return sum(form.diff(f"q{k + 1}") * x.qd[k] + form.diff(f"qd{k + 1}") * x.qdd[k] for k in range(n))

    return [
        each("z", [link.z for link in chain], r"\mathbf{z}_{<>}")
        | each("o", [link.o for link in chain], r"\mathbf{o}_{<>}")
        | each("c", [link.c for link in chain], r"\mathbf{c}_{<>}")
        | each("I", tensor, r"\mathbf{I}_{<>}"),
        each("omega", omega, r"\boldsymbol{\omega}_{<>}"),
        each("v", v, r"\mathbf{v}_{<>}"),
        each("v", {pair: dv for pair, (dv, _) in partial.items()}, r"\mathbf{v}_{<>}")
        | each("omega", {pair: dw for pair, (_, dw) in partial.items()}, r"\boldsymbol{\omega}_{<>}"),
        one("K", K, "K"),
        each("dK_dqd", by_qd, r"\frac{\partial K}{\partial \dot{q}_{<>}}")
        | each("dK_dq", by_q, r"\frac{\partial K}{\partial q_{<>}}"),
        each("L", [rate(p) - by_q[j] for j, p in enumerate(by_qd)], "L_{<>}"),
        each("F", [link.F for link in chain], r"\mathbf{F}_{<>}") | each("N", [link.N for link in chain], r"\mathbf{N}_{<>}"),
        each("tau", angular_velocity_lagrange.project(tree, chain), r"\tau_{<>}"),
    ]


def lie_closed_form_steps(x: Lettered) -> list[Entries]:
    """A, E, D, carried screws, M, brackets, Gamma, phi: Park, Bobrow and Ploen, section 4."""
    tree, n = x.tree, len(x.tree.parents)
    s = lie_closed_form.screws(tree, x.q)
    rest = np.zeros(n, dtype=int)
    carried = {(l, i): X for l in range(n) for i, X in lie_closed_form.seen_from(tree, s, l)[1].items()}
    bracket = {(l, *pair): X for l in range(n) for pair, X in lie_closed_form.brackets(s, l, tree.path(l)).items()}
    return [
        each("A", s.A, "A_{<>}"),
        each("E", [homogeneous(E) for E in s.E], "E_{<>}"),
        each("D", s.D, r"\mathcal{D}_{<>}"),
        each("X", carried, "X_{<>}"),
        one("M", lie_closed_form.mass_matrix(tree, x.q), "M"),
        each("X", bracket, "X_{<>}"),
        each("Gamma", lie_closed_form.christoffel(tree, x.q), r"\left[\Gamma_{ij<>}\right]"),
        one("phi", lie_closed_form.inverse_dynamics(tree, x.q, rest, rest), r"\phi"),
        each("tau", lie_closed_form.inverse_dynamics(tree, x.q, x.qd, x.qdd), r"\tau_{<>}"),
    ]


def stacked_operators_steps(x: Lettered) -> list[Entries]:
    """The blocks of A, G, Gamma and L, then V, M, c, g: Park and Lynch, section 9.4."""
    tree, n = x.tree, len(x.tree.parents)
    A, G, Gamma, L = stacked_operators.stacked_operators(tree, x.q)
    terms = stacked_operators.stacked_terms(tree, x.q, x.qd)
    at = [slice(6 * i, 6 * i + 6) for i in range(n)]
    M = stacked_operators.mass_matrix(tree, x.q)
    return [
        each("A", [A[at[i], i] for i in range(n)], r"\mathcal{A}_{<>}"),
        each("G", [G[at[i], at[i]] for i in range(n)], r"\mathcal{G}_{<>}"),
        each("Gamma", {(i, p): Gamma[at[i], at[p]] for i, p in enumerate(tree.parents) if p >= 0}, r"\Gamma_{<>}"),
        each("L", {(i, j): L[at[i], at[j]] for i in range(n) for j in tree.path(i)[:-2]}, r"\mathcal{L}_{<>}"),
        each("V", [terms.V[at[i]] for i in range(n)], r"\mathcal{V}_{<>}"),
        one("M", M, "M"),
        one("c", terms.c, "c"),
        one("g", terms.g, "g"),
        each("tau", stacked_operators.inverse_dynamics(tree, x.q, x.qd, x.qdd), r"\tau_{<>}"),
    ]


def kalman_steps(x: Lettered) -> list[Entries]:
    """X, s, M, the filter P, D, G, then V, a, b, z, e and the accelerations: Kozlowski, (12) and table 3.

    Closed forms do not divide by sums, so each D_i is a letter once it is found, and so are e_i and qdd_i, which keeps them short.
    """
    tree, k, inward = x.tree, links(x.tree, x.q), range(len(x.q) - 1, -1, -1)
    D, e, tau = (own(x, name) for name in ("D", "e", "tau"))
    P, G, filtered = _filter(x, k, D)
    V: list[Any] = []
    a: list[Any] = []
    for i, s in enumerate(k.s):
        V.append(handed_on(tree, k, V, i) + s * x.qd[i])
        a.append(rotate_back(force_cross(s * x.qd[i]), V[i]))
    b = bias(tree, k, V, None)
    z = [rotate(P[i], a[i]) + b[i] for i in range(len(b))]
    innovations: Entries = {}
    for i in inward:
        innovations |= each("z", {i: z[i]}, "z_{<>}") | each("e", {i: tau[i] - dot(k.s[i], z[i])}, "e_{<>}")
        if (parent := tree.parents[i]) >= 0:
            z[parent] = z[parent] + rotate(k.X[i], z[i] + G[i] * e[i])
    alpha: list[Any] = []
    qdd: list[Any] = []
    for i, s in enumerate(k.s):
        carried = handed_on(tree, k, alpha, i)
        qdd.append(e[i] / D[i] - dot(G[i], carried))
        alpha.append(carried + s * x.qdd[i] + a[i])
    return [
        each("X", k.X, "X_{<>}"),
        each("s", k.s, "s_{<>}") | each("M", k.M, "M_{<>}"),
        filtered,
        each("V", V, "V_{<>}"),
        each("a", a, "a_{<>}"),
        each("b", b, "b_{<>}"),
        innovations,
        each("alpha", alpha, r"\alpha_{<>}"),
        each("qdd", qdd, r"\ddot{q}_{<>}"),
    ]


def diagonalized_steps(x: Lettered) -> list[Entries]:
    """X, s, M, the filter, then V and xi, lambda, b, y and c, z and kappa, the rates of xi, and those of qd: Kozlowski, section 4.

    D_i, xi_i, c_i and kappa_i are letters once they are found.
    """
    tree, k, n = x.tree, links(x.tree, x.q), len(x.q)
    D, xi, c, kappa, tau = (own(x, name) for name in ("D", "xi", "c", "kappa", "tau"))
    P, G, filtered = _filter(x, k, D)
    Psi = [k.X[i] @ (np.eye(6, dtype=int) - outer(G[i], k.s[i])) for i in range(n)]
    V: list[Any] = []
    quasi: Entries = {}
    for i, s in enumerate(k.s):
        carried = handed_on(tree, k, V, i)
        V.append(carried + s * x.qd[i])
        quasi |= each("V", {i: V[i]}, "V_{<>}") | each("xi", {i: x.qd[i] + dot(G[i], carried)}, r"\xi_{<>}")
    O = [force_cross(k.s[i] * x.qd[i]) for i in range(n)]
    rates = inertia_rates(tree, Filter(P, D, G, Psi), O)
    b = bias(tree, k, V, None)
    y = [rotate(rates[i], k.s[i] * xi[i]) + b[i] - rotate(O[i], rotate(P[i], V[i])) for i in range(n)]
    z: list[Any] = [x.symbols.forms(0 * s) for s in k.s]
    coriolis: Entries = {}
    forces: Entries = {}
    for i in reversed(range(n)):
        coriolis |= each("y", {i: y[i]}, "y_{<>}") | each("c", {i: dot(k.s[i], y[i])}, "c_{<>}")
        forces |= each("z", {i: z[i]}, "z_{<>}") | each("kappa", {i: tau[i] - dot(k.s[i], z[i])}, r"\kappa_{<>}")
        if (parent := tree.parents[i]) >= 0:
            y[parent] = y[parent] + rotate(Psi[i], y[i])
            z[parent] = z[parent] + rotate(k.X[i], z[i] + G[i] * kappa[i])
    xi_dot = [(kappa[i] - c[i]) / D[i] for i in range(n)]
    A: list[Any] = []
    qdd: list[Any] = []
    for i, s in enumerate(k.s):
        before, carried = handed_on(tree, k, V, i), handed_on(tree, k, A, i)
        free = before if tree.parents[i] < 0 else before - s * (xi[i] - x.qd[i])
        qdd.append(xi_dot[i] - dot(rotate(rates[i], s), free) / D[i] - dot(G[i], carried))
        A.append(carried + rotate_back(O[i], V[i]) + s * x.qdd[i])
    return [
        each("X", k.X, "X_{<>}"),
        each("s", k.s, "s_{<>}") | each("M", k.M, "M_{<>}"),
        filtered,
        quasi,
        each("lambda", rates, r"\dot{\lambda}_{<>}"),
        each("b", b, "b_{<>}"),
        coriolis,
        forces,
        each("xi_dot", xi_dot, r"\dot{\xi}_{<>}"),
        each("qdd", qdd, r"\ddot{q}_{<>}"),
    ]


def _filter(x: Lettered, k: Links, D: list[Any]) -> tuple[list[Any], list[Any], Entries]:
    """P and G from the tips to the base, and these with D as entries; D are letters."""
    P, G = list(k.M), [x.symbols.forms(s) for s in k.s]
    entries: Entries = {}
    for i in reversed(range(len(D))):
        Ps, free, known = rotate(P[i], k.s[i]), free_axis(x.tree, i, PLAIN), np.array(P[i], dtype=object)
        if free is not None:
            known[free, free] = D[i]  # so that what cancels does
        G[i] = gain(Ps, 1 / D[i], free)
        entries |= each("P", {i: P[i]}, "P_{<>}") | each("D", {i: dot(k.s[i], Ps)}, "D_{<>}") | each("G", {i: G[i]}, "G_{<>}")
        if (parent := x.tree.parents[i]) >= 0:
            P[parent] = P[parent] + symmetric(k.X[i] @ (known - outer(G[i], rotate(known, k.s[i]))) @ k.X[i].T)
    return P, G, entries


_BOOK = "Fu, Gonzalez and Lee, Robotics: Control, Sensing, Vision, and Intelligence, section "
_PAPER = "Park, Bobrow and Ploen, A Lie Group Formulation of Robot Dynamics, 1995, section "
_MEMO = (
    "Silver, On the Representation of Angular Velocity and its Effect on the Efficiency of Manipulator Dynamics Computation, 1981"
)
_DRAFT = "Park and Lynch, Introduction to Robotics (draft), section 9.4"
_DIAGONAL = "Kozlowski, Robot dynamics models in terms of generalized and quasi-coordinates, 1995"
METHODS: dict[str, Method] = {
    "lagrange_euler": Method("Lagrange-Euler", _BOOK + "3.2", words.LAGRANGE_EULER, lagrange_euler_steps),
    "newton_euler": Method("Newton-Euler", _BOOK + "3.3", words.NEWTON_EULER, newton_euler_steps),
    "generalized_dalembert": Method(
        "Generalized d'Alembert", _BOOK + "3.4", words.GENERALIZED_DALEMBERT, generalized_dalembert_steps
    ),
    "angular_velocity_lagrange": Method(
        "Silver's Lagrangian with angular velocities", _MEMO, words.ANGULAR_VELOCITY_LAGRANGE, angular_velocity_lagrange_steps
    ),
    "lie_group": Method("The recursion on the Lie group SE(3)", _PAPER + "3", words.LIE_GROUP, lie_group_steps),
    "lie_closed_form": Method("The closed form on the Lie group SE(3)", _PAPER + "4", words.LIE_CLOSED_FORM, lie_closed_form_steps),
    "stacked_operators": Method("Stacked operators", _DRAFT, words.STACKED_OPERATORS, stacked_operators_steps),
    "kalman": Method("Kalman filter and smoother", _DIAGONAL, words.KALMAN, kalman_steps, ("D", "e", "tau"), forward=True),
    "diagonalized_unnormalized": Method(
        "Diagonalized equations in quasi-velocities",
        _DIAGONAL,
        words.DIAGONALIZED,
        diagonalized_steps,
        ("D", "xi", "c", "kappa", "tau"),
        forward=True,
    ),
}

#: The formulations that have no derivation of their own, and the one that derives what they evaluate.
FAMILIES = {
    "lagrange_euler": ("uicker_kahn", "recursive_lagrange_4x4", "recursive_lagrange_3x3"),
    "newton_euler": ("newton_euler_base", "probing", "walker_orin_1", "walker_orin_2", "walker_orin_4", "regressor"),
    "lie_group": ("lie_group_com",),
    "stacked_operators": ("body_jacobians", "composite_body", "composite_body_world", "walker_orin_3", "joint_acceleration"),
    "kalman": ("articulated_body", "brandl", "spatial_operator"),
    "diagonalized_unnormalized": ("diagonalized_normalized",),
}
