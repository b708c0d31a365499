"""Forms with rational coefficients: what is left of rounding goes, and other floats become the fractions they are.

Numbers are compared with those before the same powers of symbols only: others have other units.
"""

from collections.abc import Mapping
from math import lcm, sqrt
from typing import Any

import numpy as np

from dalembert.symbolic.closed_form.form import Form, reduced
from dalembert.symbolic.closed_form.rational import meant
from dalembert.symbolic.closed_form.terms import largest_of, sizes_of

LEFT_OF_ZERO = 1e-14  # of the largest number: less is what rounding has left of a zero


def settled(forms: Any) -> Any:
    """An array of forms whose numbers have one size: what is far below the largest of them goes."""
    sizes = largest_of(*map(sizes_of, forms.flat))
    result = np.empty(forms.size, dtype=object)
    result[:] = [_settled(f, sizes) for f in forms.flat]
    return result.reshape(forms.shape)


def settled_mass_matrix(M: Any) -> Any:
    """The same for a mass matrix, whose numbers may differ by any factor: those of M_ij are compared with sqrt(M_ii M_jj).

    That is their bound, so the inertia of a small finger stays, beside that of the large arm that carries it. Numbers before
    symbols are lengths and their like, which do not differ that much, and may be zero on the diagonal.
    """
    sizes = largest_of(*map(sizes_of, M.flat))
    diagonal = [sizes_of(M[i, i]).get(0, 0.0) for i in range(len(M))]
    result = np.empty(M.shape, dtype=object)
    for i, j in np.ndindex(M.shape):
        result[i, j] = _settled(M[i, j], sizes | {0: sqrt(diagonal[i] * diagonal[j]) or sizes.get(0, 0.0)})
    return result


def _settled(form: Form, sizes: Mapping[int, float]) -> Form:
    if all(isinstance(x, int) for x in form.terms.values()):
        return form
    kept = {k: meant(x / form.over) for k, x in form.terms.items() if abs(x) > LEFT_OF_ZERO * sizes[k[1]] * form.over}
    over = lcm(*(x.denominator for x in kept.values()))
    return reduced(form.symbols, {k: int(x * over) for k, x in kept.items()}, over, form.degree)
