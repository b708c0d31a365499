"""What closed forms are made of: named parameters, and joints with their positions, velocities and accelerations."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

import numpy as np

from dalembert.cached import cached_property
from dalembert.errors import unknown
from dalembert.symbolic.closed_form.form import Form
from dalembert.symbolic.closed_form.rational import ratio
from dalembert.symbolic.closed_form.terms import FINER, POWER, TRIG
from dalembert.trace.exact import Angle

MOST_TERMS = 20_000


@dataclass(frozen=True)
class Symbols:
    """What forms are made of: parameters by name, and joints by letter, R revolute, P prismatic, H helical.

    The symbols are the parameters, then q1, ..., qd1, ..., qdd1, ...; angles q are inside cosines and sines. A harmonic k of joint
    i means k (q_i + offset_i) / divisor_i, where these are given: a joint that follows by a half has cosines of q1/2.

    >>> s = Symbols(("m1", "l1"), "RR")
    >>> c1, s2 = s.angle(0).cos(), s.angle(1).sin()
    >>> print(s["m1"] * c1 * s2 * 2)
    m1*(sin(q1 + q2) - sin(q1 - q2))
    """

    parameters: tuple[str, ...]
    joints: str
    robot: str = field(default="this robot", compare=False)  # for messages
    most: int = field(default=MOST_TERMS, compare=False)  # terms of a form
    divisors: tuple[int, ...] = ()  # of harmonics, by joint; all 1 where there are none
    offsets: tuple[float, ...] = ()  # of angles inside cosines and sines, by joint; all 0 where there are none

    @cached_property
    def names(self) -> tuple[str, ...]:
        """All symbols in the order of the exponents."""
        rates = (f"{x}{i + 1}" for x in ("q", "qd", "qdd") for i in range(len(self.joints)))
        return (*self.parameters, *rates)

    @cached_property
    def units(self) -> dict[str, int]:
        """The exponents of each symbol alone."""
        return {name: 1 << POWER * i for i, name in enumerate(reversed(self.names))}

    def turn(self, i: int) -> int:
        """The harmonic of joint i alone."""
        return 1 << TRIG * (len(self.joints) - 1 - i)

    def divisor(self, i: int) -> int:
        """Of joint i."""
        return self.divisors[i] if self.divisors else 1

    def factors(self, harmonic: Sequence[int]) -> tuple[Fraction, ...]:
        """How often each joint's position is in an angle, (n,)."""
        return tuple(Fraction(k, self.divisor(i)) for i, k in enumerate(harmonic))

    def offset(self, harmonic: Sequence[int]) -> float:
        """What an angle has beside multiples of positions, in rad."""
        parts = zip(self.factors(harmonic), self.offsets, strict=True) if self.offsets else ()
        total = sum(float(k) * offset for k, offset in parts)
        return total if abs(total) > 1e-14 else 0.0  # angles of one loop that add up to nothing

    def __getitem__(self, name: str) -> Form:
        if not isinstance(name, str) or name not in self.units:
            raise unknown("symbol", name, self.names)
        return Form(self, {(0, self.units[name]): 1}, 1, 1)

    def number(self, x: Any) -> Form:
        """A number as a form."""
        n, d = ratio(x)
        return Form(self, {(0, 0): n} if n else {}, d, 0)

    def angle(self, i: int) -> Angle:
        """The position of a joint that turns: its cosine and sine, and its value where it enters outside of them."""
        return self.combined({i: self.divisor(i)}, self[f"q{i + 1}"])

    def combined(self, harmonic: Mapping[int, int], value: Form) -> Angle:
        """The angle with so much of each joint's harmonic, and its value outside of cosines and sines."""
        k = sum(times * self.turn(i) for i, times in harmonic.items())
        if not k:
            return Angle(value, self.number(1), self.number(0))
        degree = max(-(-abs(times) // FINER) for times in harmonic.values())
        cosine, sine = (Form(self, {(2 * abs(k) + s, 0): 1}, 1, degree) for s in (0, 1))
        return Angle(value, cosine, sine if k > 0 else -sine)

    def positions(self) -> Any:
        """q, as formulations take it."""
        q = np.empty(len(self.joints), dtype=object)
        q[:] = [self[f"q{i + 1}"] if letter == "P" else self.angle(i) for i, letter in enumerate(self.joints)]
        return q

    def rates(self, name: str) -> Any:
        """qd or qdd, as formulations take them."""
        return np.array([self[f"{name}{i + 1}"] for i in range(len(self.joints))], dtype=object)

    def forms(self, array: Any) -> Any:
        """An array of forms; numbers become forms."""
        array = np.asarray(array, dtype=object)
        forms = np.empty(array.size, dtype=object)
        forms[:] = [x if isinstance(x, Form) else self.number(x) for x in array.flat]
        return forms.reshape(array.shape)
