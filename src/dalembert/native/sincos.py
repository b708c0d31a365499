"""Sine and cosine of vectors, as LLVM assembly.

x is reduced to r + tail in [-pi/4, pi/4] by subtracting k pi/2; then two polynomials, and the quadrant k mod 4 swaps and signs
them. Sine and cosine share everything up to the polynomials. For |x| < 2^20, pi/2 is the sum of three doubles: the first difference
is exact (it is a multiple of 2^-53 below 1), and the next two products enter with their rounding errors, so that even beside a
multiple of pi/2 all digits are right: the error stays below 1 ulp. Lanes with larger |x| are reduced one by one, in a block that is
almost never entered. No mathematical library is used, so that the results are the same everywhere.

Of floats the same, with their own constants: pi/2 as three floats, and the same limit. The polynomial coefficients are, for
doubles, those of the FreeBSD mathematical library (Sun Microsystems 1993); for floats they are minimax (Remez's exchange).
"""

from typing import NamedTuple

from dalembert.native import huge
from dalembert.native.assembly import Assembly

RARELY = '!0 = !{!"branch_weights", i32 1, i32 1000000}'
TWO_OVER_PI = 0.63661977236758134308


class Digits(NamedTuple):
    """What depends on how many digits a number has."""

    shift: float  # adding it leaves the nearest integer in the low bits
    half_pi: tuple[float, float, float]  # their sum is pi/2
    sin: tuple[float, ...]  # (sin r - r) / r^3 as a polynomial of r^2, highest power first
    cos: tuple[float, ...]  # (cos r - 1 + r^2 / 2) / r^4 likewise


DIGITS = {
    "double": Digits(
        1.5 * 2.0**52,
        (1.5707963267948966, 6.123233995736766e-17, -1.4973849048591698e-33),
        (
            1.58969099521155010221e-10,
            -2.50507602534068634195e-08,
            2.75573137070700676789e-06,
            -1.98412698298579493134e-04,
            8.33333333332248946124e-03,
            -1.66666666666666324348e-01,
        ),
        (
            -1.13596475577881948265e-11,
            2.08757232129817482790e-09,
            -2.75573143513906633035e-07,
            2.48015872894767294178e-05,
            -1.38888888888741095749e-03,
            4.16666666666666019037e-02,
        ),
    ),
    "float": Digits(
        1.5 * 2.0**23,
        (1.5707963705062866, -4.371138828673793e-08, -1.7151245100058819e-15),
        (-0.00019492290448397398, 0.008331992663443089, -0.16666652262210846),
        (2.4410395781160332e-05, -0.0013887123204767704, 0.04166664183139801),
    ),
}


def emit(e: Assembly, angles: list[str]) -> list[tuple[str, str]]:
    """(sine, cosine) of each angle; one branch for all of them leads to the slow block, which needs room at %scratch."""
    if not angles:
        return []
    near = [_reduced(e, x) for x in angles]
    T, n = e.vector, e.lanes
    far = None
    for x in angles:
        beyond = e.op(f"fcmp oge {T} {e.call('fabs', x)}, {e.splat(huge.LIMIT)}")
        far = beyond if far is None else e.op(f"or {e.bits} {far}, {beyond}")
    some = e.any(str(far))
    here, slow, after = e.label(), e.label(), e.label()
    e.line(f"  br label %{here}\n{here}:\n  br i1 {some}, label %{slow}, label %{after}, !prof !0\n{slow}:")
    kinds = (T, T, e.integers)
    mended: list[list[str]] = []
    for x, parts in zip(angles, near, strict=True):
        at = [e.at("%scratch", k, T) for k in range(4)]
        for kind, value, place in zip((T, *kinds), (x, *parts), at, strict=True):
            e.line(f"  store {kind} {value}, ptr {place}, align {e.size}")
        e.line(f"  call void @{huge.NAME[e.real]}(i64 {n}, {', '.join(f'ptr {place}' for place in at)})")
        mended.append([e.op(f"load {kind}, ptr {place}, align {e.size}") for kind, place in zip(kinds, at[1:], strict=True)])
    e.line(f"  br label %{after}\n{after}:")
    joined = [
        [e.op(f"phi {kind} [{a}, %{here}], [{b}, %{slow}]") for kind, a, b in zip(kinds, fine, odd, strict=True)]
        for fine, odd in zip(near, mended, strict=True)
    ]
    return [_sine_and_cosine(e, *parts) for parts in joined]


def packed(e: Assembly, angles: list[str]) -> list[tuple[str, str]]:
    """The same for plain doubles, several at a time: a lane gives the same bits as a double alone."""
    wide, vectors, pairs = e.wide(), list[str](), list[tuple[str, str]]()
    lanes = wide.lanes
    for k in range(0, len(angles), lanes):
        vector = "zeroinitializer"
        for lane, x in enumerate(angles[k : k + lanes]):
            vector = e.op(f"insertelement {wide.vector} {vector}, {e.real} {x}, i32 {lane}")
        vectors.append(vector)
    for k, both in enumerate(emit(wide, vectors)):
        for lane in range(min(lanes, len(angles) - k * lanes)):
            sine, cosine = (e.op(f"extractelement {wide.vector} {x}, i32 {lane}") for x in both)
            pairs.append((sine, cosine))
    return pairs


def _reduced(e: Assembly, x: str) -> tuple[str, str, str]:
    """r, tail and the quadrant, right within the limit."""
    shift, half_pi = DIGITS[e.real].shift, DIGITS[e.real].half_pi
    shifted = e.fma(x, e.splat(TWO_OVER_PI), e.splat(shift))
    quadrant = e.op(f"bitcast {e.vector} {shifted} to {e.integers}")
    minus_k = e.do("fsub", e.splat(shift), shifted)
    first = e.fma(minus_k, e.splat(half_pi[0]), x)  # exact
    second = e.do("fmul", minus_k, e.splat(half_pi[1]))
    lost = e.fma(minus_k, e.splat(half_pi[1]), e.negative(second))  # what rounding the product lost
    r = e.do("fadd", first, second)
    tail = e.do("fadd", e.do("fadd", e.do("fsub", first, r), second), e.fma(minus_k, e.splat(half_pi[2]), lost))
    return r, tail, quadrant


def _sine_and_cosine(e: Assembly, r: str, tail: str, quadrant: str) -> tuple[str, str]:
    T, I, digits, top = e.vector, e.integers, DIGITS[e.real], 8 * e.bytes - 1

    def polynomial(coefficients: tuple[float, ...], z: str) -> str:
        result = e.splat(coefficients[0])
        for coefficient in coefficients[1:]:
            result = e.fma(result, z, e.splat(coefficient))
        return result

    z = e.do("fmul", r, r)
    s = e.do("fadd", r, e.fma(e.do("fmul", r, z), polynomial(digits.sin, z), tail))
    half = e.do("fmul", z, e.splat(0.5))
    w = e.do("fsub", e.splat(1.0), half)
    rest = e.fma(e.do("fmul", z, z), polynomial(digits.cos, z), e.negative(e.do("fmul", r, tail)))
    c = e.do("fadd", w, e.do("fadd", e.do("fsub", e.do("fsub", e.splat(1.0), w), half), rest))
    odd = e.op(f"icmp slt {I} {e.op(f'shl {I} {quadrant}, {e.whole(top)}')}, {e.whole(0)}")
    swapped = e.op(f"select {e.bits} {odd}, {T} {c}, {T} {s}"), e.op(f"select {e.bits} {odd}, {T} {s}, {T} {c}")
    after = e.op(f"add {I} {quadrant}, {e.whole(1)}")
    signed = []
    for value, turn in zip(swapped, (quadrant, after), strict=True):
        sign = e.op(f"shl {I} {e.op(f'and {I} {turn}, {e.whole(2)}')}, {e.whole(top - 1)}")
        bits = e.op(f"xor {I} {e.op(f'bitcast {T} {value} to {I}')}, {sign}")
        signed.append(e.op(f"bitcast {I} {bits} to {T}"))
    return signed[0], signed[1]
