"""The misprints of the five sources, and what differs between them: what is printed, what is right, and the test that shows it.

The page of misprints in the documentation is made from this list. Every entry has one test in `tests/errata`, which evaluates the
printed form as it is printed, the right form, and an independent result; `off` is the error of the printed form that the test
finds, relative to the largest entry of the result.
"""

from typing import NamedTuple

DOCUMENTS = {
    "silver": "Silver 1981",
    "fu": "Fu, Gonzalez and Lee 1987, chapter 3",
    "park_lynch": "Park and Lynch, chapter 9",
    "kozlowski": "Kozlowski 1995",
    "park": "Park, Bobrow and Ploen 1995",
    "traps": "Between the sources",
}
_LETTERS = {"S": "silver", "F": "fu", "T": "fu", "P": "park_lynch", "K": "kozlowski", "B": "park"}


class Erratum(NamedTuple):
    """One misprint (E-...) or trap (T...): where it is, what is printed, what is right, and how far off the printed form is.

    `off` is None where the printed form cannot be evaluated at all, or is a statement in words.
    """

    id: str
    place: str
    printed: str
    right: str
    off: float | None

    @property
    def document(self) -> str:
        """Its key in DOCUMENTS."""
        return _LETTERS[self.id[2]] if self.id.startswith("E-") else "traps"

    @property
    def test(self) -> str:
        """The test that shows it, as pytest names it."""
        return f"tests/errata/test_{self.document}.py::test_{self.id.replace('-', '_')}"


ERRATA = (
    # --- Silver
    Erratum(
        "E-S1",
        "section 2.4, table of generalized forces",
        "tr(dW/dq J Wdot^T), with the first derivative of W",
        "tr(dW/dq J Wddot^T), with the second",
        0.41,
    ),
    Erratum("E-S2", "(3.10)", "projection on d omega_i / dq_j", "on d omega_i / dqd_j, as in the proof in appendix A", 1.07),
    Erratum(
        "E-S3",
        "appendix A, first line of the proof of (3.5)",
        "omega . I . d omega/dqd on the left",
        "omega . Idot . d omega/dqd, with the time derivative of I, as in (3.5)",
        10.7,
    ),
    Erratum("E-S4", "section 3.2, gravity", "the base accelerates as gravity does: +g", "-g, where g is the gravity vector", 1.78),
    Erratum(
        "E-S5",
        "section 3.2, the iteration; appendix A, first sentence",
        "iterate to compute pdot_i, omega_i and omegadot_i; appendix A refers to section 2.1",
        "vdot_i, the acceleration of the centre of mass; the derivation is in section 3.1",
        1.02,
    ),
    Erratum(
        "E-S6",
        "(A.3)",
        "dz_k/dq_j = z_j x z_k for j <= k",
        "for revolute joints j only; 0 for prismatic ones (the paper then sets z_j = 0)",
        0.813,
    ),
    # --- Fu, Gonzalez and Lee
    Erratum(
        "E-F1",
        "(3.2-18)",
        "products of inertia +I_xy, +I_xz, +I_yz in J, with I_ij defined as the tensor's entries",
        "-I_xy, -I_xz, -I_yz; (3.2-17) is right",
        0.471,
    ),
    Erratum(
        "E-F2",
        "(3.2-23), (3.2-24), (3.2-34), table 3.1",
        "U_ji transposed, times the centre of mass",
        "U_ji times the centre of mass: the T is a left superscript, the frame j of the vector",
        1.15,
    ),
    Erratum(
        "E-F3",
        "sections 3.2.6 and 3.3.7, two-link arm",
        "one half in J(1,1), in the inertia terms of D11, D12 and D22, and in those of tau1 and tau2",
        "one third in J(1,1); D11 = m1/3 + 4 m2/3 + m2 C2, D12 = 1/3 + C2/2, D22 = 1/3, and so in tau; the last matrices are right",
        0.274,
    ),
    Erratum(
        "E-F4", "(3.3-46), tables 3.2 and 3.3, algorithm 3.1", "vdot_0 = g", "vdot_0 = -g with the gravity vector of (3.2-22)", 1.95
    ),
    Erratum(
        "E-F5",
        "table 3.3, moment",
        "p*_{i+1} x f_{i+1}",
        "p*_i x f_{i+1}, as in (3.3-57): p*_{n+1} is not even defined",
        0.155,
    ),
    Erratum("E-F6", "table 3.3, moment", "(p*_i + s_i) x f_i", "(p*_i + s_i) x F_i with F_i = m_i a_i, as in (3.3-57)", 0.42),
    Erratum(
        "E-F7",
        "(3.4-8)",
        "d/dt (dv/dqd_i) = d vdot/dqd_i, and that = dv/dq_i",
        "d/dt (dv/dqd_i) = dv/dq_i, but d vdot/dqd_i is twice that; (3.4-9) is right",
        1.0,
    ),
    Erratum(
        "E-F8",
        "(3.4-21), (3.4-22) and the sentence before (3.4-23)",
        "gravity enters the sum as (3.4-22), -dP/dq",
        "as +dP/dq; (3.4-23) and (3.4-28) have the right sign",
        2.0,
    ),
    Erratum(
        "E-F9",
        "(3.4-23), third group",
        "the outer sum runs over p, so that k is free and q is used twice; the error is that of the best choice of k",
        "outer sum over k = 1 to s-1, inner ones over p and q up to k, as in (3.4-26)",
        0.199,
    ),
    Erratum(
        "E-F10",
        "(3.4-27)",
        "the second term stands outside the sum over s (evaluated with s = n)",
        "inside the sum, as in (3.4-23)",
        0.511,
    ),
    Erratum(
        "E-F11",
        "section 3.4.1",
        "D45 and D56 are dominated by translation; in the next sentence those parts are round-off, citing figure 3.11",
        "neither dominates: for the PUMA 560 both parts of D45 and D56 vanish up to rounding; the figure is 3.10",
        None,
    ),
    Erratum(
        "E-F12",
        "(3.2-6)",
        "the matrix of a prismatic joint has no a_i",
        "a_i along x_i, as for a revolute joint; the algorithms hold for it",
        0.335,
    ),
    Erratum(
        "E-F13",
        "problem 3.3",
        "a particle at rest in a frame that only rotates with omega = (0, 0, 1) has r(t) = (3t, 2t, 4)",
        "a particle at rest there has rdot = omega x r, which this one has not",
        1.67,
    ),
    Erratum(
        "E-F14",
        "(3.3-50) to (3.3-53), (3.3-55)",
        "omegadot where velocities are meant, and omegadot_i in its own equation (3.3-51)",
        "omega in velocity terms, omegadot_{i-1} in (3.3-51), as in table 3.3",
        0.0654,
    ),
    Erratum(
        "E-F15",
        "algorithm 3.1 N2; (3.4-7); U_22 in section 3.2.6",
        "omegaddot_i and a_i; the derivative of c_s in (3.4-7); a superscript t on A_2 in U_22",
        "vdot_i and the acceleration of the centre of mass; c_s itself; 1A_2",
        0.859,
    ),
    Erratum(
        "E-F16",
        "cross references in sections 3.4 and 3.4.1 and problem 3.13",
        "(3.3-24) and (3.3-25) for the Lagrange-Euler equations; (3.3-12) for the rotating frame; (3.3-22) for the gravity vector",
        "(3.2-24) and (3.2-25); (3.3-13); (3.2-22)",
        2.24,
    ),
    Erratum(
        "E-T1",
        "table 3.5, multiplications of Lagrange-Euler",
        "112/3 n^3 and 169/3 n",
        "512/3 n^3 and 160/3 n: table 3.1 without its gravity row (and n^2 more)",
        0.284,
    ),
    Erratum(
        "E-T2", "table 3.5, multiplications of d'Alembert", "105/12 n^2", "105/2 n^2: the printed one gives no whole numbers", 0.532
    ),
    Erratum(
        "E-T3",
        "tables 3.1, 3.4 and 3.5",
        "two different counts of Lagrange-Euler and of Newton-Euler",
        "each for what it counts: 3.5 leaves out gravity in Lagrange-Euler, and counts tau and the turned p* in Newton-Euler",
        0.0103,
    ),
    # --- Park and Lynch
    Erratum(
        "E-P1",
        "section 9.1.1, two-link arm",
        "m2 on the first term of K2 only; cos theta1 in tau1; -theta1dot theta2dot and -g in tau2",
        "m2 on all of K2; cos theta2; +theta1dot^2 and +g",
        0.355,
    ),
    Erratum(
        "E-P2",
        "(9.51), and the text at (9.35)",
        "A_i = Ad of the inverse of M_{i-1} (S_i), in frame i-1",
        "of M_i, in frame i, as in (9.40)",
        0.847,
    ),
    Erratum("E-P3", "section 9.3, initialization", "Vdot_0 = (0, g)", "(0, -g), as the text says", 2.03),
    Erratum(
        "E-P4",
        "(9.47), (9.58)",
        "the bracket with Ad of T_{i-1,i} (V_{i-1})",
        "Ad of T_{i,i-1}; (9.48) and (9.55) are right",
        0.0116,
    ),
    Erratum(
        "E-P5",
        "section 9.3, (9.71), (9.81)",
        "F_tip is applied to the final link; and it is both a 6-vector and a stack of 6n",
        "F_tip is exerted by the final link: (9.81) has + J^T F_tip",
        0.933,
    ),
    Erratum("E-P6", "(9.73), (9.78), (9.83)", "+ [ad of A qd] (Gamma V + V_base)", "minus", 0.579),
    Erratum(
        "E-P7",
        "section 9.5, GetJointAccel",
        "inverse dynamics at zero acceleration, and then minus tau_ext",
        "inverse dynamics without F_tip, or the wrench is subtracted twice",
        2.28,
    ),
    Erratum(
        "E-P8",
        "section 9.5, Euler integration",
        "for k = 1 to N",
        "for k = 0 to N - 1: theta[1] is what the first step gives",
        None,
    ),
    Erratum("E-P9", "(9.95)", "+ J^-T b", "+ b; the factor comes with (9.96)", 1.6),
    Erratum(
        "E-P10",
        "(9.82) to (9.84)",
        "M, c and g of an arm whose base has a velocity",
        "only for a base at rest; otherwise keep the V_base terms of (9.77) and (9.78)",
        0.0997,
    ),
    Erratum(
        "E-P11",
        "(9.10); section 9.1.1; J_bi after (9.59)",
        "K(theta); f^T q is work; J_bi beside J_ib",
        "K(theta, thetadot); work is the integral of f^T dq; J_ib",
        6.71,
    ),
    # --- Kozlowski
    Erratum("E-K1", "nomenclature, l(k, k-1)", "from O_{k-1} to O_k", "from O_k to O_{k-1}", 0.323),
    Erratum("E-K2", "nomenclature, b(k)", "m p x v in the second row", "m omega x v; then b = V x M V", 1.03),
    Erratum(
        "E-K3",
        "nomenclature, a(k)",
        "a(k) for both kinds of joints; read with accelerations of points it is wrong",
        "right with component rates in the moving frame, and with the displacement of a prismatic joint in l(k+1, k)",
        0.855,
    ),
    Erratum(
        "E-K4",
        "nomenclature, H, O_k and r(k)",
        "H = diag H(k) in R^{6N x N}; O_k on the inboard side; a lower-case r(k) among the matrices",
        "N x 6N; O_k on the outboard side, fixed in link k; r(k) is a 6 x 6 matrix",
        None,
    ),
    Erratum(
        "E-K5",
        "(3), (4)",
        "Omega_delta = diag(h~, h~) thetadot for rotation and translation",
        "for revolute joints; a prismatic one has h~ thetadot in the upper right block, and -P Omega_delta is +P Omega_delta^*",
        1.31,
    ),
    Erratum(
        "E-K6",
        "(16), (18) to (21)",
        "P for its rate inside (16); one symbol for two derivatives in (18) and (19); no dots in (21)",
        "Pdot inside (16); (18) to (21) give lambdadot = Pdot + Omega_delta P + P Omega_delta^*",
        2.87,
    ),
    Erratum("E-K7", "table 1, row 1", "E_Phi Omega_delta Phi", "E_Phi Omega_delta", 1.24),
    Erratum(
        "E-K8",
        "(34), (35), (38), (43), (44)",
        "theta for its rate in (34) and (38); 1 + H Phi K on thetaddot in (35); xidot in (43) and xi in (44)",
        "thetadot, thetaddot; (1 + H Phi K)^*; xi in (43) and xidot in (44)",
        1.22,
    ),
    Erratum(
        "E-K9",
        "(31), (42), (47)",
        "the commutator of E_Psi and lambdadot",
        "E_Psi lambdadot - lambdadot E_Psi^*",
        6.36,
    ),
    Erratum("E-K10", "(36)", "Pdot together with Phi~ = Phi - 1", "Pdot with Phi, or lambdadot with Phi~", 0.439),
    Erratum(
        "E-K11",
        "recursion for C(theta, nu)",
        "- lambdadot(k) Psi^*(k+1, k) V(k+1): easily taken for V(k); D without its k",
        "k+1 is right: velocities must be known before this sweep; D(k)",
        0.317,
    ),
    Erratum("E-K12", "recursion for C(theta, xi)", "Psi lambdadot(k, k-1) Psi^*", "lambdadot(k-1)", 1.18),
    Erratum("E-K13", "(48)", "P(m) Omega_delta(m)", "P(m) Omega_delta^*(m), for k > i, and then c_ki = -c_ik", 2.0),
    Erratum(
        "E-K14", "section 6, thetadot from nu", "(1 - H Psi K) D^-1/2 nu", "its transpose; the recursion below it is right", 1.42
    ),
    Erratum(
        "E-K15",
        "after (46); section 5",
        "half H Pdot H^* D^-1/2 without nu; -Omega_delta V = V Omega_delta^*",
        "half Ddot xi; the bias acceleration is Omega_delta^* V",
        0.263,
    ),
    Erratum("E-K16", "(47) with gravity in b", "nu^* C = 0", "nu^* C = thetadot^T g(theta): zero without gravity only", 1.0),
    Erratum(
        "E-K17",
        "remark after (13)",
        "the shortcut Psi P Phi^* of the articulated inertia, used for its rate",
        "the rate is Psi lambdadot Psi^*",
        0.183,
    ),
    Erratum(
        "E-K18",
        "table 2",
        "354 N in the subtotal of additions; 43 N in z+ of the unnormalized form, special axes",
        "345 N and 13 N: the sums of the rows, and what the printed totals need",
        0.0952,
    ),
    Erratum(
        "E-K19", "table 3, third method of Walker and Orin", "N^3 / 6", "N^3 / 3, which gives the printed 2882 and 7857", 0.0367
    ),
    Erratum(
        "E-K20",
        "table 3, fourth method of Walker and Orin",
        "132 1/2 N^2 + 207 N - 31 beside 5967 and 21537",
        "132 1/2 N^2 + 210 N - 63 gives both, but no whole number for odd N: the row has another misprint, and is not compared",
        0.00065,
    ),
    # --- Park, Bobrow and Ploen
    Erratum(
        "E-B1",
        "(24), (25), (26), and before (80)",
        "Ad of f_{i-1,i}, Ad^* of f_{i,i+1}",
        "of their inverses, as in (70) and (80)",
        0.237,
    ),
    Erratum(
        "E-B2",
        "(32), (38), (39), and T_i after (36)",
        "kinetic energy without one half; (38) without the velocities",
        "one half in all three, and xdot_j in (38); (40) is right",
        1.0,
    ),
    Erratum(
        "E-B3",
        "(50)",
        "Q = Diag[Ad of M_i] with the M_i of section 3",
        "the cumulative M_1, M_1 M_2, ...; M_i has three meanings in the paper",
        0.811,
    ),
    Erratum(
        "E-B4",
        "(54)",
        "the conditions of the two cases",
        "exchanged: the first formula holds for k <= l, the second for l <= k",
        1.59,
    ),
    Erratum("E-B5", "(58), (59)", "U = sum <m g, f r>", "minus, for a gravity vector that points down", 2.0),
    Erratum(
        "E-B6",
        "(61) to (64)",
        "c11 = a x1dot x2dot, c12 = a x1dot x2dot + b x2dot^2, c21 = a x1dot^2",
        "C = [[a x2dot, a x1dot + b x2dot], [-a x1dot, 0]]: one velocity less, and the other sign of c21",
        1.45,
    ),
    Erratum("E-B7", "(73)", "the bracket with V_i", "with V_{i-1}", 0.569),
    Erratum(
        "E-B8",
        "(83) and the text below",
        "+ m [omega][r]^2 omega; -m [r]^2 omegadot = m [r][omega]^2 r",
        "- m [omega][r]^2 omega, which is m [r][omega]^2 r; and -m [r]^2 omegadot = m [r][omegadot] r",
        0.0349,
    ),
    Erratum(
        "E-B9",
        "section 4.4; section 4.3",
        "the product metric with tensor products; <., .> a norm",
        "a direct sum, Diag[D_1, ...]; an inner product",
        None,
    ),
    Erratum("E-B10", "(22)", "Vdot_0 = 0", "(0, -g)", 0.899),
    Erratum(
        "E-B11",
        "(31), (34), (2), section 2.4",
        "a comma before M_i, commas in the exponents, hats for bars, x for X",
        "f_i = e^{A_1 x_1} ... e^{A_i x_i} M_i, products in the exponents, one symbol for the velocity",
        1.74,
    ),
    # --- traps
    Erratum(
        "T1",
        "the start of every recursion",
        "the base accelerates with g",
        "with minus the gravity vector; four of the five sources start from plus or from nothing",
        1.6,
    ),
    Erratum(
        "T2",
        "symbols",
        "c of one source in an equation of another",
        "c is gravity in Fu et al. and Coriolis in Park and Lynch; h, b, D, G, J, M, K and P change their meanings, too",
        0.812,
    ),
    Erratum(
        "T3",
        "Christoffel symbols",
        "Gamma_ijk of Park and Lynch, force index first, in (29) of Park et al.",
        "there the force index is the last",
        1.0,
    ),
    Erratum(
        "T4",
        "link frames",
        "a table of standard Denavit-Hartenberg rows read as modified ones",
        "Fu et al. use standard rows, Kozlowski modified ones numbered from the tip, the Lie-group papers other frames",
        0.725,
    ),
    Erratum(
        "T5",
        "inertia",
        "the tensor of (3.3-55) about the link's frame, as problem 3.14 says",
        "about the centre of mass; pseudo-inertias and spatial inertias are about the origin of their frame",
        0.0042,
    ),
    Erratum(
        "T6",
        "accelerations",
        "the acceleration of a point for the rate of a body twist",
        "they differ by omega x v: a = vdot + omega x v",
        0.565,
    ),
    Erratum("T7", "six-vectors", "linear part first, as in Pinocchio", "angular part first in all five sources", 0.487),
    Erratum(
        "T8",
        "wrenches at the tip",
        "f_{n+1}, n_{n+1} and F_tip as what the environment does to the arm",
        "what the arm does to the environment",
        0.164,
    ),
    Erratum(
        "T9",
        "a last link without inertia about its axis",
        "G = P s / D",
        "D = 0: the gain is undefined; links without inertia elsewhere are harmless",
        None,
    ),
    Erratum(
        "T10",
        "quasi-velocities",
        "one absolute tolerance for all components",
        "they scale with the root of D, which spans five orders of magnitude on the PUMA 560: compare each with its own size",
        0.01,
    ),
)
