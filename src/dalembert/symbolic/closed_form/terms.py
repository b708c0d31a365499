"""Terms with harmonics and exponents packed into integers: (2 k for a cosine, 2 k + 1 for a sine; exponents) -> coefficient."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from dalembert.symbolic.closed_form.form import Form

TRIG, POWER = 12, 8  # bits for a digit of k, and for an exponent
HIGHEST = 127  # exponent that fits
FINER = 16  # times as large harmonics fit

Key = tuple[int, int]


def product(a: dict[Key, Any], b: dict[Key, Any]) -> dict[Key, Any]:
    """Twice the product: products of cosines and sines are halves of sums."""
    total: dict[Key, Any] = {}
    get = total.get
    for (s, m), x in a.items():
        h, sine = s >> 1, s & 1
        for (t, n), y in b.items():
            c, p = x * y, m + n
            if s == 0 or t == 0:
                key = s + t, p
                total[key] = get(key, 0) + 2 * c
                continue
            k = t >> 1
            other = (h - k if h > k else k - h) << 1
            if sine == t & 1:  # cos cos = (cos(h-k) + cos(h+k))/2, sin sin = (cos(h-k) - cos(h+k))/2
                key = (h + k) << 1, p
                total[key] = get(key, 0) + (-c if sine else c)
                key = other, p
                total[key] = get(key, 0) + c
            else:  # sin h cos k = (sin(h+k) + sin(h-k))/2
                key = ((h + k) << 1) + 1, p
                total[key] = get(key, 0) + c
                if other:
                    key = other + 1, p
                    total[key] = get(key, 0) + (c if (h > k) == bool(sine) else -c)
    return total


def digit(x: int, unit: int, bits: int) -> int:
    """One balanced digit: what is below it is rounded away."""
    half = 1 << bits - 1
    return ((2 * x + unit) // (2 * unit) + half) % (2 * half) - half


def digits(x: int, bits: int, count: int) -> tuple[int, ...]:
    """Balanced digits, the most significant first."""
    values: list[int] = []
    base = 1 << bits
    for _ in range(count):
        digit = x & (base - 1)
        digit -= base if digit >= base // 2 else 0
        values.append(digit)
        x = (x - digit) >> bits
    return tuple(reversed(values))


def sizes_of(form: "Form") -> dict[int, float]:
    """The largest coefficient before each product of symbols."""
    sizes: dict[int, float] = {}
    over = form.over
    for (_, m), x in form.terms.items():
        size = abs(x) / over
        if size > sizes.get(m, 0.0):
            sizes[m] = size
    return sizes


def largest_of(*sizes: Mapping[int, float]) -> dict[int, float]:
    """The largest of several, for each product of symbols."""
    largest: dict[int, float] = {}
    for some in sizes:
        for m, x in some.items():
            if x > largest.get(m, 0.0):
                largest[m] = x
    return largest


def sizes_of_product(a: "Form", b: "Form") -> dict[int, float]:
    """Of what was added up in a product: what is far below it has cancelled but for rounding."""
    sizes: dict[int, float] = {}
    right = sizes_of(b)
    for m, x in sizes_of(a).items():
        for n, y in right.items():
            if x * y > sizes.get(m + n, 0.0):
                sizes[m + n] = x * y
    return sizes
