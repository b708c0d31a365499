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
