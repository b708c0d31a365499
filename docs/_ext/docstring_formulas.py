"""Formulas of docstrings, which are plain text for a terminal, as pages typeset them; a test finds each in some docstring."""

import re

FORMULAS = {
    # on lines of their own
    "tau = M(q) qdd + C(q, qd) qd + g(q) + friction(qd) - sum J^T w": (
        r"\tau = M(q)\,\ddot q + C(q,\dot q)\,\dot q + g(q) + \text{friction}(\dot q) - \sum J\T w"
    ),
    "qdd = M(q)^-1 (tau + sum J^T w - C(q, qd) qd - g(q) - friction(qd))": (
        r"\ddot q = M(q)^{-1}\bigl(\tau + \sum J\T w - C(q,\dot q)\,\dot q - g(q) - \text{friction}(\dot q)\bigr)"
    ),
    "tau = ID(q, qd, qdd_d + kd (qd_d - qd) + kp (q_d - q)),   ID = M(q) a + C(q, qd) qd + g(q) + friction(qd)": (
        r"\begin{aligned}\tau &= \operatorname{ID}\bigl(q, \dot q, \ddot q_d + k_d(\dot q_d - \dot q) + k_p(q_d - q)\bigr)\\"
        r"\operatorname{ID}(q, \dot q, a) &= M(q)\,a + C(q,\dot q)\,\dot q + g(q) + \text{friction}(\dot q)\end{aligned}"
    ),
    "tau = g(q) + assistance friction(qd) - damping qd": (
        r"\tau = g(q) + \text{assistance}\;\text{friction}(\dot q) - \text{damping}\;\dot q"
    ),
    "tau = J^T W + g(q) - joint_damping qd": r"\tau = J\T W + g(q) - \text{joint\_damping}\;\dot q",
    "residual = gain (M qd - next_integral),   next_integral = integral + dt (tau - friction + C^T qd - g + residual)": (
        r"\begin{aligned}\text{residual} &= \text{gain}\,(M\dot q - \text{next\_integral})\\"
        r"\text{next\_integral} &= \text{integral} + dt\,(\tau - \text{friction} + C\T\dot q - g + \text{residual})\end{aligned}"
    ),
    "tau = kp (target - q) - kd qd + g(q)": r"\tau = k_p(\text{target} - q) - k_d\,\dot q + g(q)",
    "c = A^T L^T (-G L ad_{A qd} Gamma - ad_V^T G) L A qd": (
        r"c = A\T L\T\bigl(-G L \operatorname{ad}_{A\dot q}\Gamma - \operatorname{ad}_V\T G\bigr) L A\,\dot q"
    ),
    "g = A^T L^T G L Vd_base": r"g = A\T L\T G L\,\dot V_\text{base}",
    "s = qd - qd_r,   qd_r = qd_d + slope (q_d - q),   qdd_r = qd_r'": (
        r"s = \dot q - \dot q_r, \qquad \dot q_r = \dot q_d + \text{slope}\,(q_d - q), \qquad \ddot q_r = \tfrac{d}{dt}\dot q_r"
    ),
    "tau = Y(q, qd, qd_r, qdd_r) p - gain s,    p' = -rate Y^T s": (
        r"\tau = Y(q, \dot q, \dot q_r, \ddot q_r)\,p - \text{gain}\,s, \qquad \dot p = -\text{rate}\,Y\T s"
    ),
    "a = x_d'' + kd (x_d' - x') + kp (x_d - x)": r"a = \ddot x_d + k_d(\dot x_d - \dot x) + k_p(x_d - x)",
    "tau = J^T (Lambda a + mu + p) + (1 - J^T Jbar^T) (g - null_damping M qd) + friction(qd)": (
        r"\tau = J\T(\Lambda a + \mu + p) + (1 - J\T\bar J\T)(g - \text{null\_damping}\,M\dot q) + \text{friction}(\dot q)"
    ),
    "q(t) = start + (10 x^3 - 15 x^4 + 6 x^5) (goal - start),  x = t / duration": (
        r"q(t) = \text{start} + (10x^3 - 15x^4 + 6x^5)(\text{goal} - \text{start}), \qquad x = t/\text{duration}"
    ),
    "x = x0 + s (x1 - x0),  R = exp(s [w]) R0  with  exp([w]) = R1 R0^T,  s = 10 u^3 - 15 u^4 + 6 u^5,  u = t / duration": (
        r"x = x_0 + s\,(x_1 - x_0), \qquad R = e^{s[w]} R_0 \ \text{ with } \ e^{[w]} = R_1 R_0\T, "
        r"\qquad s = 10u^3 - 15u^4 + 6u^5, \qquad u = t/\text{duration}"
    ),
    "d2r/dt2 = d*2r/dt2 + 2 omega x d*r/dt + omega x (omega x r) + domega/dt x r + d2h/dt2": (
        r"\frac{d^2r}{dt^2} = \frac{d^{*2}r}{dt^2} + 2\,\omega\times\frac{d^*r}{dt} + \omega\times(\omega\times r)"
        r" + \frac{d\omega}{dt}\times r + \frac{d^2h}{dt^2}"
    ),
    "tau = tau* - K [q - q*, qd - qd*]": r"\tau = \tau^* - K\begin{bmatrix}q - q^*\\ \dot q - \dot q^*\end{bmatrix}",
    # within sentences
    "qd . M qd / 2": r"\tfrac12\,\dot q\T M\dot q",
    "qd . M(q) qd / 2": r"\tfrac12\,\dot q\T M(q)\,\dot q",
    "M(q)^-1": r"M(q)^{-1}",
    "M = U D U^T": r"M = U D U\T",
    "C_ij = sum_k Gamma_ijk qd_k": r"C_{ij} = \sum_k \Gamma_{ijk}\,\dot q_k",
    "Mdot - 2 C": r"\dot M - 2C",
    "Mdot = C + C^T": r"\dot M = C + C\T",
    "C(q, qd) qd + g(q)": r"C(q,\dot q)\,\dot q + g(q)",
    "C(q, qd) qd": r"C(q,\dot q)\,\dot q",
    "C qd": r"C\dot q",
    "g(q)": r"g(q)",
    "M(q)": r"M(q)",
    "Gamma_ijk = (dM_ij/dq_k + dM_ik/dq_j - dM_jk/dq_i) / 2": (
        r"\Gamma_{ijk} = \tfrac12\Bigl(\frac{\partial M_{ij}}{\partial q_k} + \frac{\partial M_{ik}}{\partial q_j}"
        r" - \frac{\partial M_{jk}}{\partial q_i}\Bigr)"
    ),
    "sum_jk Gamma_ijk qd_j qd_k": r"\sum_{jk}\Gamma_{ijk}\,\dot q_j\dot q_k",
    "-sum m gravity . r": r"-\sum m\,\text{gravity}\cdot r",
    "qd . tau": r"\dot q\T\tau",
    "(omega, v) = J(q) qd": r"(\omega, v) = J(q)\,\dot q",
    "J qd = (omega, v)": r"J\dot q = (\omega, v)",
    "J^T w": r"J\T w",
    "J qdd + J' qd": r"J\ddot q + \dot J\dot q",
    "Lambda = (J M^-1 J^T)^-1": r"\Lambda = (J M^{-1} J\T)^{-1}",
    "(J M^-1 J^T + d^2 1)^-1": r"(J M^{-1} J\T + d^2\,1)^{-1}",
    "J^-T M J^-1": r"J^{-\mathsf T} M J^{-1}",
    "Lambda V' + eta + gravity = F": r"\Lambda\dot V + \eta + \text{gravity} = F",
    "Lambda (J M^-1 c - J' qd)": r"\Lambda\,(J M^{-1} c - \dot J\dot q)",
    "Lambda J M^-1 g": r"\Lambda J M^{-1} g",
    "J^-T g": r"J^{-\mathsf T} g",
    "Jbar = M^-1 J^T Lambda": r"\bar J = M^{-1} J\T\Lambda",
    "J Jbar = 1": r"J\bar J = 1",
    "(1 - J^T Jbar^T) tau": r"(1 - J\T\bar J\T)\,\tau",
    "d tau / d qdd": r"\partial\tau/\partial\ddot q",
    "d tau / d qd": r"\partial\tau/\partial\dot q",
    "d tau / d q": r"\partial\tau/\partial q",
    "d qdd / d tau": r"\partial\ddot q/\partial\tau",
    "d qdd / d qd": r"\partial\ddot q/\partial\dot q",
    "d qdd / d q": r"\partial\ddot q/\partial q",
    "-M^-1": r"-M^{-1}",
    "M^-1": r"M^{-1}",
    "sum_i weights_i d2 tau_i / dx dy": r"\sum_i w_i\,\frac{\partial^2\tau_i}{\partial x\,\partial y}",
    "A = [[0, 1], [dqdd/dq, dqdd/dqd]], B = [[0], [M^-1]]": (
        r"A = \begin{pmatrix}0 & 1\\ \partial\ddot q/\partial q & \partial\ddot q/\partial\dot q\end{pmatrix},\;"
        r" B = \begin{pmatrix}0\\ M^{-1}\end{pmatrix}"
    ),
    "x[k+1] = A x[k] + B tau[k]": r"x_{k+1} = A x_k + B\tau_k",
    "sum M^ik M^jl R_ijkl": r"\sum M^{ik} M^{jl} R_{ijkl}",
    "tau = D qdd + h + c, h_i = qd^T H_i qd": r"\tau = D\ddot q + h + c,\; h_i = \dot q\T H_i\dot q",
    "M = A^T L^T G L A": r"M = A\T L\T G L A",
    "M = L^T L, L = dQ/dq": r"M = L\T L,\; L = \partial Q/\partial q",
}  # fmt: skip
WITHIN = re.compile(r"(?<![\w(.^-])(" + "|".join(map(re.escape, sorted(FORMULAS, key=len, reverse=True))) + r")(?![\w^(\[])")


def displayed(lines: list[str]) -> list[str] | None:
    """Lines that are all formulas, as a block of mathematics; None if one is not known."""
    if not all(line.strip() in FORMULAS for line in lines):
        return None
    found = [FORMULAS[line.strip()] for line in lines]
    return [".. math::", "", "    " + found[0], *(x for line in found[1:] for x in ("", ".. math::", "", "    " + line))]
