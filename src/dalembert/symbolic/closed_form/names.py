"""What symbols are called on paper, and which names they cannot have."""

import re
from collections.abc import Sequence
from itertools import product

from dalembert.errors import Error
from dalembert.symbolic.closed_form.symbols import Symbols

GREEK = (
    *("alpha", "beta", "gamma", "delta", "epsilon", "zeta", "eta", "theta", "kappa", "lambda", "mu", "nu", "xi", "pi", "rho"),
    *("sigma", "tau", "phi", "chi", "psi", "omega"),
)

_GREEK = {"tau": "\\tau", "phi": "\\varphi", "gamma": "\\gamma"}  # parts of the equations that are not in bold


def braced(text: str) -> str:
    """A subscript or superscript."""
    return text if len(text) == 1 else f"{{{text}}}"


def entry_name(part: str, index: Sequence[int]) -> str:
    r"""An entry of the equations, in bold: C_{12} is a cosine. With commas where one digit is not enough.

    >>> print(entry_name("M", (0, 1)), entry_name("tau", (9,)))
    \mathbf{M}_{12} \tau_{10}
    """
    head = _GREEK.get(part) or f"\\mathbf{{{part}}}"
    return f"{head}_{braced((',' if max(index) > 8 else '').join(str(i + 1) for i in index))}"


def label(part: str, index: Sequence[int]) -> str:
    """The same as plain text: M12; M_1_12 where one digit is not enough."""
    apart = "_" if max(index) > 8 else ""
    return part + apart + apart.join(str(i + 1) for i in index)


def latex_name(name: str, symbols: Symbols) -> str:
    r"""A symbol: m_1, I_{zz1}, \dot{\theta}_1, d_2, \alpha, r_{c1}."""
    if name not in symbols.parameters:
        dots, joint = (name.count("d")), int(name.lstrip("qd"))
        letter = "d" if symbols.joints[joint - 1] == "P" else "\\theta"
        accent = ("", "\\dot", "\\ddot")[dots]
        return f"{accent}{{{letter}}}_{braced(str(joint))}" if dots else f"{letter}_{braced(str(joint))}"
    match = re.fullmatch(r"([A-Za-z]+?)(?:_?(\d*)|_([A-Za-z]+\d*))", name)
    if not match:
        return "\\mathit{" + name.replace("_", "\\_") + "}"
    word, index = match[1], match[2] or match[3] or ""
    axes = re.fullmatch(r"([A-Za-z])([xyz]{1,2})", word)
    head, sub = (axes[1], axes[2] + index) if axes else (word, index)
    head = f"\\{head}" if head in GREEK else head if len(head) == 1 else f"\\mathit{{{head}}}"
    return f"{head}_{braced(sub)}" if sub else head


def check_names(symbols: Symbols, closed: bool = False) -> None:
    """Refuse parameters that a reader would take for something else."""
    n, own = len(symbols.joints), symbols.names[len(symbols.parameters) :]
    entries = [(part, i) for part in ("M", "C", *(("J", "G") if closed else ())) for i in product(range(n), repeat=2)]
    entries += [(part, (i,)) for part in ("g", "tau", *(("phi", "gamma") if closed else ())) for i in range(n)]
    text = {label(part, i) for part, i in entries}
    taken = {entry_name(part, i): label(part, i) for part, i in entries}
    taken |= {latex_name(name, Symbols((), symbols.joints)): name for name in own}
    for name in symbols.parameters:
        if name in own or name in ("sin", "cos"):
            raise Error("sin, cos, and the joints' own names q1, qd1, qdd1, ... cannot be names of parameters")
        shown = latex_name(name, symbols)
        if re.fullmatch(r"[CS]_(\d|\{\d+\})", shown):
            raise Error(f"the name {name!r} would be read as a cosine or a sine, which are written C_1 and S_12; choose another")
        if name in text:
            raise Error(f"the name {name!r} would be read as an entry of the equations; choose another")
        if shown in taken:
            raise Error(f"the names {name!r} and {taken[shown]!r} would both be written {shown}; choose another")
        taken[shown] = name
