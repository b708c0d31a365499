"""The books' text for each step: title, number of the equation, formula, and the misprints that are corrected."""

from typing import NamedTuple


class Words(NamedTuple):
    """A step without its values; two remarks: for prismatic joints, and for axes that do not pass through the previous origin."""

    title: str
    equation: str
    formula: str
    remark: str = ""
    if_prismatic: str = ""
    if_offset: str = ""


LAGRANGE_EULER = (
    Words(
        "The links in their parents and in the base",
        "(3.2-5)",
        r"{}^{0}\mathbf{A}_i = {}^{0}\mathbf{A}_1 \, {}^{1}\mathbf{A}_2 \cdots {}^{i-1}\mathbf{A}_i",
        if_prismatic="Corrected: prismatic joints may have a length $a_i$, which (3.2-6) leaves out (E-F12).",
    ),
    Words(
        "How a joint moves its link",
        "(3.2-8), (3.2-9)",
        r"\frac{\partial\, {}^{i-1}\mathbf{A}_i}{\partial q_i} = \mathbf{Q}_i \, {}^{i-1}\mathbf{A}_i",
    ),
    Words(
        "First derivatives of the positions",
        "(3.2-11)",
        r"\mathbf{U}_{ij} = \frac{\partial\, {}^{0}\mathbf{A}_i}{\partial q_j} = "
        r"{}^{0}\mathbf{A}_{j-1} \mathbf{Q}_j \, {}^{j-1}\mathbf{A}_i, \quad j \le i",
    ),
    Words(
        "Second derivatives of the positions",
        "(3.2-13)",
        r"\mathbf{U}_{ijk} = \frac{\partial \mathbf{U}_{ij}}{\partial q_k} = {}^{0}\mathbf{A}_{j-1} \mathbf{Q}_j \, "
        r"{}^{j-1}\mathbf{A}_{k-1} \mathbf{Q}_k \, {}^{k-1}\mathbf{A}_i = \mathbf{U}_{ikj}, \quad j \le k \le i",
    ),
    Words(
        "Pseudo-inertias of the links",
        "(3.2-17)",
        r"\mathbf{J}_i = \int {}^{i}\mathbf{r}_i \, {}^{i}\mathbf{r}_i^T \, dm",
        "Corrected: (3.2-18) prints the products of inertia with the wrong sign (E-F1). A rod with its frame at the far end has "
        r"$\frac{1}{3} m l^2$ in the corner; the worked example 3.2.6 prints $\frac{1}{2} m l^2$ there, and wrong numbers "
        r"in $D_{11}$, $D_{12}$ and $D_{22}$ before its final result, which is right (E-F3).",
    ),
    Words(
        "Inertia coefficients",
        "(3.2-31)",
        r"D_{ik} = \sum_{j=\max(i,k)}^{n} \mathrm{Tr}\left(\mathbf{U}_{jk} \mathbf{J}_j \mathbf{U}_{ji}^T\right)",
    ),
    Words(
        "Coriolis and centrifugal coefficients",
        "(3.2-33), (3.2-32)",
        r"h_{ikm} = \sum_{j=\max(i,k,m)}^{n} \mathrm{Tr}\left(\mathbf{U}_{jkm} \mathbf{J}_j \mathbf{U}_{ji}^T\right), \quad "
        r"h_i = \sum_{k=1}^{n} \sum_{m=1}^{n} h_{ikm} \dot{q}_k \dot{q}_m",
    ),
    Words(
        "Gravity",
        "(3.2-34)",
        r"c_i = \sum_{j=i}^{n} -m_j \, \mathbf{g} \, \mathbf{U}_{ji} \, {}^{j}\bar{\mathbf{r}}_j",
        r"Corrected: nothing is transposed; in $\mathbf{U}_{ji}^T \mathbf{r}_j$ the T is a misprint for the $j$ of "
        r"${}^{j}\bar{\mathbf{r}}_j$ (E-F2).",
    ),
    Words(
        "The joint forces",
        "(3.2-26)",
        r"\boldsymbol{\tau} = \mathbf{D} \ddot{\mathbf{q}} + \mathbf{h} + \mathbf{c}",
    ),
)

NEWTON_EULER = (
    Words(
        "Rotations, lengths, centres of mass and moments of inertia, in the links' own axes",
        "(3.3-48), (3.3-49), (3.3-59)",
        r"\mathbf{p}^*_i = {}^{i}\mathbf{R}_0 (\mathbf{p}_i - \mathbf{p}_{i-1})",
        r"$\mathbf{p}^*_i$, the centre of mass $\bar{\mathbf{s}}_i$ and $\mathbf{I}_i$ about it stand for the book's "
        r"${}^{i}\mathbf{R}_0 \mathbf{p}^*_i$, ${}^{i}\mathbf{R}_0 \bar{\mathbf{s}}_i$ and "
        r"${}^{i}\mathbf{R}_0 \mathbf{I}_i {}^{0}\mathbf{R}_i$, and so do all vectors below.",
    ),
    Words(
        "Angular velocities",
        "(3.3-50)",
        r"\boldsymbol{\omega}_i = \begin{cases} "
        r"{}^{i}\mathbf{R}_{i-1} (\boldsymbol{\omega}_{i-1} + \mathbf{z}_0 \dot{q}_i) & \text{revolute joint} \\ "
        r"{}^{i}\mathbf{R}_{i-1} \boldsymbol{\omega}_{i-1} & \text{prismatic joint} \end{cases}",
        r"$\mathbf{z}_0$ is the axis of joint $i$ seen from the link before, $(0, 0, 1)$ in the book's frames. "
        "Corrected: the dots that (3.3-50) to (3.3-55) print on velocities do not belong there (E-F14).",
    ),
    Words(
        "Angular accelerations",
        "(3.3-51)",
        r"\dot{\boldsymbol{\omega}}_i = \begin{cases} {}^{i}\mathbf{R}_{i-1} [\dot{\boldsymbol{\omega}}_{i-1} + "
        r"\mathbf{z}_0 \ddot{q}_i + \boldsymbol{\omega}_{i-1} \times \mathbf{z}_0 \dot{q}_i] & \text{revolute joint} \\ "
        r"{}^{i}\mathbf{R}_{i-1} \dot{\boldsymbol{\omega}}_{i-1} & \text{prismatic joint} \end{cases}",
    ),
    Words(
        "Accelerations of the links' origins",
        "(3.3-52)",
        r"\dot{\mathbf{v}}_i = \dot{\boldsymbol{\omega}}_i \times \mathbf{p}^*_i + \boldsymbol{\omega}_i \times "
        r"(\boldsymbol{\omega}_i \times \mathbf{p}^*_i) + {}^{i}\mathbf{R}_{i-1} \dot{\mathbf{v}}_{i-1} + "
        r"\begin{cases} \mathbf{0} & \text{revolute joint} \\ {}^{i}\mathbf{R}_{i-1} \mathbf{z}_0 \ddot{q}_i + "
        r"2 \boldsymbol{\omega}_i \times ({}^{i}\mathbf{R}_{i-1} \mathbf{z}_0 \dot{q}_i) & \text{prismatic joint} \end{cases}",
        r"Corrected: the base starts with $\dot{\mathbf{v}}_0 = -\mathbf{g}$, minus the gravity vector (E-F4).",
    ),
    Words(
        "Accelerations of the centres of mass",
        "(3.3-53)",
        r"\bar{\mathbf{a}}_i = \dot{\boldsymbol{\omega}}_i \times \bar{\mathbf{s}}_i + \boldsymbol{\omega}_i \times "
        r"(\boldsymbol{\omega}_i \times \bar{\mathbf{s}}_i) + \dot{\mathbf{v}}_i",
    ),
    Words("Net forces", "(3.3-54)", r"\mathbf{F}_i = m_i \bar{\mathbf{a}}_i"),
    Words(
        "Net moments",
        "(3.3-55)",
        r"\mathbf{N}_i = \mathbf{I}_i \dot{\boldsymbol{\omega}}_i + "
        r"\boldsymbol{\omega}_i \times (\mathbf{I}_i \boldsymbol{\omega}_i)",
    ),
    Words(
        "Forces that the link before exerts",
        "(3.3-56)",
        r"\mathbf{f}_i = {}^{i}\mathbf{R}_{i+1} \mathbf{f}_{i+1} + \mathbf{F}_i",
        r"No load at the hand: $\mathbf{f}_{n+1} = \mathbf{n}_{n+1} = \mathbf{0}$.",
    ),
    Words(
        "Moments that the link before exerts, about its origin",
        "(3.3-57)",
        r"\mathbf{n}_i = {}^{i}\mathbf{R}_{i+1} \mathbf{n}_{i+1} + \mathbf{p}^*_i \times "
        r"({}^{i}\mathbf{R}_{i+1} \mathbf{f}_{i+1}) + (\mathbf{p}^*_i + \bar{\mathbf{s}}_i) \times \mathbf{F}_i + \mathbf{N}_i",
        r"Corrected: table 3.3 has $\mathbf{p}^*_{i+1}$ for $\mathbf{p}^*_i$ (E-F5) and $\mathbf{f}_i$ for $\mathbf{F}_i$ (E-F6).",
    ),
    Words(
        "The joint forces",
        "(3.3-58)",
        r"\tau_i = \begin{cases} \mathbf{n}_i^T ({}^{i}\mathbf{R}_{i-1} \mathbf{z}_0) & \text{revolute joint} \\ "
        r"\mathbf{f}_i^T ({}^{i}\mathbf{R}_{i-1} \mathbf{z}_0) & \text{prismatic joint} \end{cases}",
        "The last two lines of the worked example 3.3.7 have wrong numbers (E-F3); its vectors are right.",
        if_offset=r"Here a joint's axis does not pass through the origin of the link before, but through $\mathbf{b}_i$: the "
        r"moment is that of $\mathbf{n}_i - \mathbf{b}_i \times \mathbf{f}_i$.",
    ),
)

GENERALIZED_DALEMBERT = (
    Words(
        "Rotations and moments of inertia of the links",
        "(3.4-2)",
        r"{}^{0}\mathbf{R}_s = ({}^{s}\mathbf{R}_0)^T",
    ),
    Words(
        "Joint axes, points on them, links' origins and centres of mass, in base axes",
        "(3.4-3)",
        r"\bar{\mathbf{r}}_s = \mathbf{p}_s + {}^{0}\mathbf{R}_s \bar{\mathbf{s}}_s",
        r"$\mathbf{z}_{i-1}$ is the axis of joint $i$ and $\mathbf{o}_i$ a point on it, "
        r"$\mathbf{p}_{i-1}$ in the book's frames.",
    ),
    Words(
        "Effect of joint i on the centre of mass of link s",
        "(3.4-7)",
        r"\mathbf{b}_{is} = \frac{\partial \mathbf{v}_s}{\partial \dot{q}_i} = \begin{cases} \mathbf{z}_{i-1} \times "
        r"(\bar{\mathbf{r}}_s - \mathbf{o}_i) & \text{revolute joint} \\ \mathbf{z}_{i-1} & \text{prismatic joint} \end{cases}",
        if_prismatic="The book treats revolute joints only.",
    ),
    Words(
        "Effect of joint i on the rotation of link s, in its axes",
        "(3.4-2)",
        r"\boldsymbol{\zeta}_{is} = \begin{cases} {}^{s}\mathbf{R}_0 \mathbf{z}_{i-1} & \text{revolute joint} \\ "
        r"\mathbf{0} & \text{prismatic joint} \end{cases}",
    ),
    Words(
        "Inertia coefficients",
        "(3.4-25)",
        r"D_{ij} = D^{\text{rot}}_{ij} + D^{\text{tran}}_{ij} = \sum_{s} \boldsymbol{\zeta}_{is}^T "
        r"\mathbf{I}_s \boldsymbol{\zeta}_{js} + \sum_{s} m_s \, \mathbf{b}_{js} \cdot \mathbf{b}_{is}, \quad s \ge \max(i, j)",
    ),
    Words(
        "Coriolis and centrifugal forces of the translations",
        "(3.4-26)",
        r"h^{\text{tran}}_i = \sum_{s \ge i} m_s \left.\dot{\mathbf{v}}_s\right|_{\ddot{q} = 0} \cdot \mathbf{b}_{is}",
        "The velocity-dependent acceleration of the centre of mass is the long bracket of (3.4-26). Corrected: the "
        "indices of (3.4-23) clash; those of (3.4-26) are right (E-F9).",
    ),
    Words(
        "Coriolis and centrifugal forces of the rotations",
        "(3.4-27)",
        r"h^{\text{rot}}_i = \sum_{s \ge i} \left\{ \boldsymbol{\zeta}_{is}^T \mathbf{I}_s \sum_{j \le s} \left[\dot{q}_j "
        r"\boldsymbol{\zeta}_{js} \times \sum_{k=j+1}^{s} \dot{q}_k \boldsymbol{\zeta}_{ks}\right] + \left[\boldsymbol{\zeta}_{is} "
        r"\times \sum_{p \le s} \dot{q}_p \boldsymbol{\zeta}_{ps}\right]^T \mathbf{I}_s \sum_{p \le s} \dot{q}_p "
        r"\boldsymbol{\zeta}_{ps} \right\}",
        "Corrected: the second term is inside the sum over $s$ (E-F10). An arm that moves in a plane has no such force.",
    ),
    Words(
        "Gravity",
        "(3.4-28)",
        r"c_i = -\mathbf{g} \cdot \sum_{s \ge i} m_s \, \mathbf{b}_{is}",
        "Corrected: gravity enters as plus the derivative of the potential energy; (3.4-22) has the opposite sign (E-F8).",
    ),
    Words(
        "The joint forces",
        "(3.4-24)",
        r"\tau_i = \sum_{j=1}^{n} D_{ij} \ddot{q}_j + h^{\text{tran}}_i + h^{\text{rot}}_i + c_i",
    ),
)

LIE_GROUP = (
    Words("Poses of the links in their parents", "(23)", r"f_{i-1,i} = M_i \, e^{S_i x_i}"),
    Words(
        "Joint screws in the links' own frames",
        "(23)",
        r"S_i = (\boldsymbol{\omega}, \mathbf{v})",
        "The angular part comes first in all six-vectors.",
    ),
    Words(
        "Inertias about the links' origins",
        "(21)",
        r"J_i = \begin{bmatrix} I_i - m_i [r_i]^2 & m_i [r_i] \\ -m_i [r_i] & m_i 1 \end{bmatrix}",
    ),
    Words(
        "Twists, from the base outwards",
        "(24)",
        r"V_i = \mathrm{Ad}_{f_{i-1,i}^{-1}}(V_{i-1}) + S_i \dot{x}_i, \quad V_0 = 0",
        "Corrected: the inverses in (24) to (26) are missing in print (E-B1).",
    ),
    Words(
        "Rates of the twists",
        "(25)",
        r"\dot{V}_i = S_i \ddot{x}_i + \mathrm{Ad}_{f_{i-1,i}^{-1}}(\dot{V}_{i-1}) + "
        r"\left[\mathrm{Ad}_{f_{i-1,i}^{-1}}(V_{i-1}),\, S_i \dot{x}_i\right]",
        r"Gravity enters through the base, $\dot{V}_0 = (0, -\mathbf{g})$; (22) has none (E-B10).",
    ),
    Words(
        "Wrenches, from the tips inwards",
        "(26)",
        r"F_i = \mathrm{Ad}^*_{f_{i,i+1}^{-1}}(F_{i+1}) + J_i \dot{V}_i - \mathrm{ad}^*_{V_i}(J_i V_i), \quad F_{n+1} = 0",
        "The moment comes first, about the link's own origin.",
    ),
    Words("The joint forces", "(27)", r"\tau_i = S_i^T F_i"),
)

ANGULAR_VELOCITY_LAGRANGE = (
    Words(
        "Joint axes, points on them, centres of mass and inertia tensors, in base axes",
        "(2.1), (2.9)",
        r"\mathbf{p}_{ji} = \mathbf{c}_i - \mathbf{o}_j, \quad "
        r"\mathbf{I}_i = {}^{0}\mathbf{R}_i \, {}^{i}\mathbf{I}_i \, {}^{0}\mathbf{R}_i^T",
        r"$\mathbf{z}_j$ is the axis of joint $j$, $\mathbf{o}_j$ a point on it, $\mathbf{c}_i$ the centre of mass of link $i$ and "
        r"$\mathbf{I}_i$ the tensor about it.",
    ),
    Words(
        "Angular velocities",
        "(3.14)",
        r"\boldsymbol{\omega}_i = \sum_{j \le i} \begin{cases} \mathbf{z}_j \dot{q}_j & \text{revolute joint} \\ "
        r"\mathbf{0} & \text{prismatic joint} \end{cases}",
    ),
    Words(
        "Velocities of the centres of mass",
        "(3.13)",
        r"\mathbf{v}_i = \sum_{j \le i} \begin{cases} \mathbf{z}_j \times \mathbf{p}_{ji} \dot{q}_j & \text{revolute joint} \\ "
        r"\mathbf{z}_j \dot{q}_j & \text{prismatic joint} \end{cases}",
    ),
    Words(
        "Partial velocities",
        "(3.15), (3.16)",
        r"\mathbf{v}_{ij} = \frac{\partial \mathbf{v}_i}{\partial \dot{q}_j} = "
        r"\begin{cases} \mathbf{z}_j \times \mathbf{p}_{ji} \\ \mathbf{z}_j \end{cases} \quad "
        r"\boldsymbol{\omega}_{ij} = \frac{\partial \boldsymbol{\omega}_i}{\partial \dot{q}_j} = "
        r"\begin{cases} \mathbf{z}_j & \text{revolute joint} \\ \mathbf{0} & \text{prismatic joint} \end{cases}",
    ),
    Words(
        "The kinetic energy",
        "(3.1)",
        r"K = \frac{1}{2} \sum_{i} \left( m_i \mathbf{v}_i \cdot \mathbf{v}_i + "
        r"\boldsymbol{\omega}_i \cdot \mathbf{I}_i \boldsymbol{\omega}_i \right)",
    ),
    Words(
        "Its partials",
        "(3.2), (3.9)",
        r"\frac{\partial K}{\partial \dot{q}_j} = \sum_{i} \left( m_i \mathbf{v}_i \cdot \mathbf{v}_{ij} + "
        r"\mathbf{I}_i \boldsymbol{\omega}_i \cdot \boldsymbol{\omega}_{ij} \right)",
        r"Both are taken from $K$ as it stands above. (3.9) uses $\frac{1}{2} \boldsymbol{\omega}_i \cdot "
        r"\frac{\partial \mathbf{I}_i}{\partial q_j} \boldsymbol{\omega}_i = -\boldsymbol{\omega}_i \times \mathbf{I}_i "
        r"\boldsymbol{\omega}_i \cdot \boldsymbol{\omega}_{ij}$, which (3.10) prints with a partial by $q_j$ on the right (E-S2).",
    ),
    Words(
        "Lagrange's equation without gravity",
        "(1.1)",
        r"L_j = \frac{d}{dt} \frac{\partial K}{\partial \dot{q}_j} - \frac{\partial K}{\partial q_j}",
        "The rest of the derivation finds these expressions again, plus gravity, without a derivative.",
    ),
    Words(
        "Forces and moments of the links",
        "(3.11)",
        r"\mathbf{F}_i = m_i \dot{\mathbf{v}}_i, \quad \mathbf{N}_i = \mathbf{I}_i \dot{\boldsymbol{\omega}}_i + "
        r"\boldsymbol{\omega}_i \times (\mathbf{I}_i \boldsymbol{\omega}_i)",
        "Gravity is an acceleration of the base, minus the gravity vector (E-S4).",
    ),
    Words(
        "The joint forces",
        "(3.12)",
        r"\tau_j = \sum_{i \ge j} \left( \mathbf{F}_i \cdot \mathbf{v}_{ij} + \mathbf{N}_i \cdot \boldsymbol{\omega}_{ij} \right)",
        "Summed from the tip to the base, this is the inward half of Newton-Euler.",
    ),
)

LIE_CLOSED_FORM = (
    Words(
        "Joint screws at the zero position, in base axes",
        "(13)",
        r"A_i = (\boldsymbol{\omega}, \mathbf{v})",
        "The angular part comes first in all six-vectors.",
    ),
    Words("Motions away from the zero position", "(31)", r"E_i = e^{A_1 x_1} \cdots e^{A_i x_i}"),
    Words(
        "Inertias at the zero position, about the base's origin",
        "(44)",
        r"\mathcal{D}_i = \begin{bmatrix} I_i & m_i [b_i] \\ m_i [b_i]^T & m_i 1 \end{bmatrix}",
        r"$\langle X, Y \rangle_k = X^T \mathcal{D}_k Y$.",
    ),
    Words(
        "Screws carried to the links behind them",
        "(37)",
        r"X_{ki} = \mathrm{Ad}_k^{i+1}(A_i) = \mathrm{Ad}_{E_k^{-1} E_i}(A_i), \quad i \le k",
    ),
    Words(
        "The mass matrix",
        "(40)",
        r"m_{ij} = \sum_{k \ge \max(i, j)} \langle X_{ki}, X_{kj} \rangle_k",
        "Corrected: the kinetic energy has a factor of one half (E-B2); (40) is right.",
    ),
    Words(
        "Derivatives of the carried screws: brackets",
        "(53)",
        r"X_{kij} = \frac{\partial X_{ki}}{\partial x_j} = "
        r"\mathrm{Ad}_k^j \left( \left[ \mathrm{Ad}_{j-1}^{i+1}(A_i), A_j \right] \right), \quad i + 1 \le j \le k",
    ),
    Words(
        "Christoffel symbols",
        "(52), (55) to (57)",
        r"\Gamma_{ijk} = \frac{1}{2} \left( \frac{\partial m_{kj}}{\partial x_i} + \frac{\partial m_{ki}}{\partial x_j} - "
        r"\frac{\partial m_{ij}}{\partial x_k} \right), \quad \frac{\partial m_{ij}}{\partial x_k} = \sum_{l} "
        r"\left( \langle X_{lik}, X_{lj} \rangle_l + \langle X_{li}, X_{ljk} \rangle_l \right)",
        r"The force index $k$ comes last. The cases (55) to (57) are those in which some of the brackets vanish.",
    ),
    Words(
        "Gravity",
        "(59)",
        r"\phi_k = -\sum_{i \ge k} m_i \, \mathbf{g} \cdot R_i "
        r"\left( \mathbf{v} + \boldsymbol{\omega} \times \mathbf{b}_i \right), \quad (\boldsymbol{\omega}, \mathbf{v}) = X_{ik}",
        r"$R_i$ is the rotation in $E_i$. Corrected: the minus, for a gravity vector that points down (E-B5).",
    ),
    Words(
        "The joint forces",
        "(29)",
        r"\tau_k = \sum_{j} m_{kj} \ddot{x}_j + \sum_{i, j} \Gamma_{ijk} \dot{x}_i \dot{x}_j + \phi_k",
    ),
)

STACKED_OPERATORS = (
    Words(
        r"Joint screws in the links' own frames: the blocks of A",
        "(9.64)",
        r"\mathcal{A} = \mathrm{diag}(\mathcal{A}_1, \ldots, \mathcal{A}_n)",
        r"$\mathcal{A}$ has $6n$ rows and $n$ columns. The angular part comes first in all six-vectors.",
    ),
    Words(
        "Inertias about the links' origins: the blocks of G",
        "(9.65)",
        r"\mathcal{G} = \mathrm{diag}(\mathcal{G}_1, \ldots, \mathcal{G}_n)",
    ),
    Words(
        "The step from each link to the next",
        "(9.68)",
        r"\Gamma = \begin{bmatrix} 0 & & \\ \mathrm{Ad}_{T_{21}} & 0 & \\ & \ddots & \ddots \end{bmatrix}, \quad "
        r"\Gamma_{i,i-1} = \mathrm{Ad}_{T_{i,i-1}}, \quad \Gamma^n = 0",
    ),
    Words(
        "The reach from each link to all behind it",
        "(9.76)",
        r"\mathcal{L} = (1 - \Gamma)^{-1} = 1 + \Gamma + \cdots + \Gamma^{n-1}, \quad \mathcal{L}_{ij} = \mathrm{Ad}_{T_{ij}}",
        r"The blocks on the diagonal are 1, those above are 0, those beside the diagonal are those of $\Gamma$.",
    ),
    Words("Twists of all links", "(9.77)", r"\mathcal{V} = \mathcal{L} \mathcal{A} \dot{\theta}"),
    Words(
        "The mass matrix",
        "(9.82)",
        r"M = \mathcal{A}^T \mathcal{L}^T \mathcal{G} \mathcal{L} \mathcal{A}",
    ),
    Words(
        "Coriolis and centrifugal forces",
        "(9.83)",
        r"c = \mathcal{A}^T \mathcal{L}^T \left( -\mathcal{G} \mathcal{L} [\mathrm{ad}_{\mathcal{A} \dot{\theta}}] \Gamma - "
        r"[\mathrm{ad}_{\mathcal{V}}]^T \mathcal{G} \right) \mathcal{L} \mathcal{A} \dot{\theta}",
        "Corrected: the first term has a minus (E-P6).",
    ),
    Words(
        "Gravity",
        "(9.84)",
        r"g = \mathcal{A}^T \mathcal{L}^T \mathcal{G} \mathcal{L} \dot{\mathcal{V}}_{\text{base}}",
        r"$\dot{\mathcal{V}}_{\text{base}}$ carries $(0, -\mathbf{g})$ from the base to the first link; "
        r"the book has $(0, \mathbf{g})$ (E-P3).",
    ),
    Words("The joint forces", "(9.81)", r"\tau = M \ddot{\theta} + c + g"),
)

KALMAN = (
    Words(
        "The step of wrenches from each link to the one before",
        "(nomenclature)",
        r"X_i = \begin{bmatrix} R & [l] R \\ 0 & R \end{bmatrix}",
        "The paper counts links from the tip; here the base comes first, and frames stand on the joint axes. $(R, l)$ is the "
        r"pose of frame $i$ in the one before, with $l$ from its origin to that of frame $i$ (E-K1). "
        "$X_i^T$ carries twists outwards.",
    ),
    Words(
        "Joint axes and inertias about the frames' origins",
        "(nomenclature)",
        r"M_i = \begin{bmatrix} I_i & m_i [p_i] \\ -m_i [p_i] & m_i 1 \end{bmatrix}",
        r"$s_i$ is the paper's $H^*(k)$.",
    ),
    Words(
        "The filter: articulated inertias and gains, from the tips to the base",
        "(12)",
        r"D_i = s_i^T P_i s_i, \quad G_i = \frac{P_i s_i}{D_i}, \quad "
        r"P_{i-1} = M_{i-1} + X_i (1 - G_i s_i^T) P_i X_i^T",
        "Once found, $D_i$ is a letter in all that follows.",
    ),
    Words(
        "Twists, from the base outwards",
        "(nomenclature)",
        r"V_i = X_i^T V_{i-1} + s_i \dot{q}_i",
    ),
    Words(
        "Bias accelerations",
        "(nomenclature)",
        r"a_i = \Omega_i^T V_i, \quad \Omega_i = [s_i \dot{q}_i \times]",
        r"Corrected: $\Omega_i$ is the product of the joint's twist with wrenches, for prismatic joints too (E-K5).",
    ),
    Words(
        "Bias forces",
        "(nomenclature)",
        r"b_i = V_i \times M_i V_i - M_i \, (0, \mathbf{g}_i)",
        r"With the weight; $\mathbf{g}_i$ is gravity in the axes of frame $i$. "
        r"Corrected: $m \, \omega \times v$ in the second row (E-K2).",
    ),
    Words(
        "Innovations, from the tips to the base",
        "(table 3)",
        r"z_i = X_{i+1} (z_{i+1} + G_{i+1} e_{i+1}) + P_i a_i + b_i, \quad e_i = \tau_i - s_i \cdot z_i",
        "Once found, $e_i$ is a letter, too.",
    ),
    Words(
        "The smoother: twist rates, from the base outwards",
        "(table 3)",
        r"\alpha_i = X_i^T \alpha_{i-1} + s_i \ddot{q}_i + a_i",
        r"The accelerations $\ddot{q}_i$ follow, each from $\alpha_{i-1}$.",
    ),
    Words(
        "The joint accelerations",
        "(table 3)",
        r"\ddot{q}_i = \frac{e_i}{D_i} - G_i \cdot X_i^T \alpha_{i-1}",
        r"With $D_i$ and $e_i$ from above, and $\ddot{q}_j$ of the joints before.",
    ),
)

DIAGONALIZED = (
    *KALMAN[:3],
    Words(
        "Twists and quasi-velocities, from the base outwards",
        "(34)",
        r"V_i = X_i^T V_{i-1} + s_i \dot{q}_i, \quad \xi_i = \dot{q}_i + G_i \cdot X_i^T V_{i-1}",
        r"The kinetic energy is $\frac{1}{2} \sum_i D_i \xi_i^2$; normalized quasi-velocities are $\nu_i = \sqrt{D_i} \, \xi_i$. "
        r"Corrected: (34) prints $\theta$ for its rate, (43) $\dot{\xi}$ for $\xi$ (E-K8). Once found, $\xi_i$ is a letter.",
    ),
    Words(
        "Rates of the articulated inertias, from the tips to the base",
        "(18), (21)",
        r"\dot{\lambda}_i = \Omega_i P_i + P_i \Omega_i^T + \Psi_{i+1} \dot{\lambda}_{i+1} \Psi_{i+1}^T, \quad "
        r"\Omega_i = [s_i \dot{q}_i \times], \quad \Psi_i = X_i (1 - G_i s_i^T)",
        r"As the link before sees them. Corrected: $\Omega_i$ is the product of the joint's twist with wrenches, for prismatic "
        r"joints too (E-K5), and (21) lacks its dots (E-K6).",
    ),
    KALMAN[5],
    Words(
        "Coriolis forces, from the tips to the base",
        "(after (46))",
        r"y_i = \Psi_{i+1} y_{i+1} + \dot{\lambda}_i s_i \xi_i + b_i - \Omega_i P_i V_i, \quad c_i = s_i \cdot y_i",
        r"$c_i$ is the paper's $C(\theta, \xi)$, with the weight in it. Corrected: the index of $\dot{\lambda}$ (E-K12). "
        "Once found, $c_i$ is a letter.",
    ),
    Words(
        "Quasi-forces, from the tips to the base",
        "(44)",
        r"z_i = X_{i+1} (z_{i+1} + G_{i+1} \kappa_{i+1}), \quad \kappa_i = \tau_i - s_i \cdot z_i",
        r"Once found, $\kappa_i$ is a letter.",
    ),
    Words(
        "The diagonal equations of motion",
        "(44)",
        r"D_i \dot{\xi}_i + c_i = \kappa_i",
        r"One for each joint: no matrix is inverted. Corrected: (44) prints $\xi$ for its rate (E-K8).",
    ),
    Words(
        "The joint accelerations",
        "(36)",
        r"\ddot{q}_i = \dot{\xi}_i - \frac{1}{D_i} (\dot{\lambda}_i s_i) \cdot (1 - s_i G_i^T) X_i^T V_{i-1} - "
        r"G_i \cdot X_i^T A_{i-1}, \quad A_i = X_i^T A_{i-1} + \Omega_i^T V_i + s_i \ddot{q}_i",
        r"The rate of $\xi_i$, solved for $\ddot{q}_i$, with $\ddot{q}_j$ of the joints before. A simulation in "
        r"$(q, \xi)$ does without this step.",
    ),
)
