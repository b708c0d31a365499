"""Sine and cosine of vectors, as LLVM assembly.

x is reduced to r + tail in [-pi/4, pi/4] by subtracting k pi/2; then two polynomials, and the quadrant k mod 4 swaps and signs
them. Sine and cosine share everything up to the polynomials. For |x| < 2^20, pi/2 is the sum of three doubles: the first difference
is exact (it is a multiple of 2^-53 below 1), and the next two products enter with their rounding errors, so that even beside a
multiple of pi/2 all digits are right: the error stays below 1 ulp. Lanes with larger |x| are reduced one by one, in a block that is
almost never entered. No mathematical library is used, so that the results are the same everywhere.

The polynomial coefficients are those of the FreeBSD mathematical library (Sun Microsystems 1993).
"""

from dalembert.native import huge
from dalembert.native.assembly import Assembly

RARELY = '!0 = !{!"branch_weights", i32 1, i32 1000000}'
ROUND = 1.5 * 2.0**52  # adding it leaves the nearest integer in the low bits
HALF_PI = (1.5707963267948966, 6.123233995736766e-17, -1.4973849048591698e-33)
SIN = (
    1.58969099521155010221e-10,
    -2.50507602534068634195e-08,
    2.75573137070700676789e-06,
    -1.98412698298579493134e-04,
    8.33333333332248946124e-03,
    -1.66666666666666324348e-01,
)
COS = (
    -1.13596475577881948265e-11,
    2.08757232129817482790e-09,
    -2.75573143513906633035e-07,
    2.48015872894767294178e-05,
    -1.38888888888741095749e-03,
    4.16666666666666019037e-02,
)


def declarations(e: Assembly) -> list[str]:
    """Intrinsics, and the function for huge angles."""
    T, n = e.vector, e.lanes
    return [
        f"declare {T} @llvm.fma.v{n}f64({T}, {T}, {T})",
        f"declare {T} @llvm.fabs.v{n}f64({T})",
        f"declare {T} @llvm.sqrt.v{n}f64({T})",
        f"declare i1 @llvm.vector.reduce.or.v{n}i1({e.bits})",
        huge.ASSEMBLY,
    ]


def emit(e: Assembly, angles: list[str]) -> list[tuple[str, str]]:
    """(sine, cosine) of each angle; one branch for all of them leads to the slow block."""
    if not angles:
        return []
    near = [_reduced(e, x) for x in angles]
    T, n = e.vector, e.lanes
    far = None
    for x in angles:
        size = e.op(f"call {T} @llvm.fabs.v{n}f64({T} {x})")
        beyond = e.op(f"fcmp oge {T} {size}, {e.splat(huge.LIMIT)}")
        far = beyond if far is None else e.op(f"or {e.bits} {far}, {beyond}")
    some = e.op(f"call i1 @llvm.vector.reduce.or.v{n}i1({e.bits} {far})")
    here, slow, after = e.label(), e.label(), e.label()
    e.line(f"  br label %{here}\n{here}:\n  br i1 {some}, label %{slow}, label %{after}, !prof !0\n{slow}:")
    kinds = (T, T, e.integers)
    mended: list[list[str]] = []
    for x, parts in zip(angles, near, strict=True):
        at = [e.op(f"getelementptr {T}, ptr %scratch, i64 {k}") for k in range(4)]
        for kind, value, place in zip((T, *kinds), (x, *parts), at, strict=True):
            e.line(f"  store {kind} {value}, ptr {place}, align {8 * n}")
        e.line(f"  call void @huge(i64 {n}, {', '.join(f'ptr {place}' for place in at)})")
        mended.append([e.op(f"load {kind}, ptr {place}, align {8 * n}") for kind, place in zip(kinds, at[1:], strict=True)])
    e.line(f"  br label %{after}\n{after}:")
    joined = [
        [e.op(f"phi {kind} [{a}, %{here}], [{b}, %{slow}]") for kind, a, b in zip(kinds, fine, odd, strict=True)]
        for fine, odd in zip(near, mended, strict=True)
    ]
    return [_sine_and_cosine(e, *parts) for parts in joined]


def _reduced(e: Assembly, x: str) -> tuple[str, str, str]:
    """r, tail and the quadrant, right within the limit."""
    shifted = e.fma(x, e.splat(0.63661977236758134308), e.splat(ROUND))
    quadrant = e.op(f"bitcast {e.vector} {shifted} to {e.integers}")
    minus_k = e.do("fsub", e.splat(ROUND), shifted)
    first = e.fma(minus_k, e.splat(HALF_PI[0]), x)  # exact
    second = e.do("fmul", minus_k, e.splat(HALF_PI[1]))
    lost = e.fma(minus_k, e.splat(HALF_PI[1]), e.negative(second))  # what rounding the product lost
    r = e.do("fadd", first, second)
    tail = e.do("fadd", e.do("fadd", e.do("fsub", first, r), second), e.fma(minus_k, e.splat(HALF_PI[2]), lost))
    return r, tail, quadrant


def _sine_and_cosine(e: Assembly, r: str, tail: str, quadrant: str) -> tuple[str, str]:
    T, I = e.vector, e.integers

    def polynomial(coefficients: tuple[float, ...], z: str) -> str:
        result = e.splat(coefficients[0])
        for coefficient in coefficients[1:]:
            result = e.fma(result, z, e.splat(coefficient))
        return result

    z = e.do("fmul", r, r)
    s = e.do("fadd", r, e.fma(e.do("fmul", r, z), polynomial(SIN, z), tail))
    half = e.do("fmul", z, e.splat(0.5))
    w = e.do("fsub", e.splat(1.0), half)
    rest = e.fma(e.do("fmul", z, z), polynomial(COS, z), e.negative(e.do("fmul", r, tail)))
    c = e.do("fadd", w, e.do("fadd", e.do("fsub", e.do("fsub", e.splat(1.0), w), half), rest))
    odd = e.op(f"icmp slt {I} {e.op(f'shl {I} {quadrant}, {e.whole(63)}')}, {e.whole(0)}")
    swapped = e.op(f"select {e.bits} {odd}, {T} {c}, {T} {s}"), e.op(f"select {e.bits} {odd}, {T} {s}, {T} {c}")
    after = e.op(f"add {I} {quadrant}, {e.whole(1)}")
    signed = []
    for value, turn in zip(swapped, (quadrant, after), strict=True):
        sign = e.op(f"shl {I} {e.op(f'and {I} {turn}, {e.whole(2)}')}, {e.whole(62)}")
        bits = e.op(f"xor {I} {e.op(f'bitcast {T} {value} to {I}')}, {sign}")
        signed.append(e.op(f"bitcast {I} {bits} to {T}"))
    return signed[0], signed[1]
