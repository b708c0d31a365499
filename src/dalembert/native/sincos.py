"""Sine and cosine of vectors, as LLVM assembly.

x is reduced to r + tail in [-pi/4, pi/4] by subtracting k pi/2, with pi/2 as the sum of three doubles; then two polynomials, and
the quadrant k mod 4 swaps and signs them. Sine and cosine share everything up to the polynomials. For |x| <= 2^20 the first
difference is exact (it is a multiple of 2^-53 below 1), and the next two products enter with their rounding errors, so that even
beside a multiple of pi/2 all digits are right: the error stays below 1 ulp. Lanes with larger |x|, infinity or NaN are done by
the C library, one by one, in a block that is almost never entered.

The polynomial coefficients are those of the FreeBSD mathematical library (Sun Microsystems 1993).
"""

from dalembert.native.assembly import Assembly

LIMIT = 2.0**20
RARELY = '!0 = !{!"branch_weights", i32 1, i32 1000000}'
ROUND = 1.5 * 2.0**52  # adding it leaves the nearest whole number in the low bits
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
    """Intrinsics, and the function for huge angles: it overwrites the lanes of s and c whose |x| is beyond the limit."""
    T, n = e.vector, e.lanes
    return [
        f"declare {T} @llvm.fma.v{n}f64({T}, {T}, {T})",
        f"declare {T} @llvm.fabs.v{n}f64({T})",
        f"declare {T} @llvm.sqrt.v{n}f64({T})",
        "declare double @llvm.fabs.f64(double)",
        f"declare i1 @llvm.vector.reduce.or.v{n}i1({e.bits})",
        f"""define internal void @huge(ptr %x, ptr %s, ptr %c, ptr %library) noinline cold {{
entry:
  %cosp = getelementptr ptr, ptr %library, i64 1
  %sin = load ptr, ptr %library, align 8
  %cos = load ptr, ptr %cosp, align 8
  br label %lane
lane:
  %i = phi i64 [0, %entry], [%next, %done]
  %xp = getelementptr double, ptr %x, i64 %i
  %xi = load double, ptr %xp, align 8
  %size = call double @llvm.fabs.f64(double %xi)
  %fine = fcmp ole double %size, {LIMIT:.1f}
  br i1 %fine, label %done, label %call
call:
  %si = call double %sin(double %xi)
  %ci = call double %cos(double %xi)
  %sp = getelementptr double, ptr %s, i64 %i
  %cp = getelementptr double, ptr %c, i64 %i
  store double %si, ptr %sp, align 8
  store double %ci, ptr %cp, align 8
  br label %done
done:
  %next = add i64 %i, 1
  %more = icmp slt i64 %next, {n}
  br i1 %more, label %lane, label %end
end:
  ret void
}}""",
    ]


def emit(e: Assembly, angles: list[str]) -> list[tuple[str, str]]:
    """(sine, cosine) of each angle; one branch for all of them leads to the slow block."""
    if not angles:
        return []
    pairs = [_fast(e, x) for x in angles]
    T, n = e.vector, e.lanes
    far = None
    for x in angles:
        size = e.op(f"call {T} @llvm.fabs.v{n}f64({T} {x})")
        beyond = e.op(f"fcmp ugt {T} {size}, {e.splat(LIMIT)}")
        far = beyond if far is None else e.op(f"or {e.bits} {far}, {beyond}")
    some = e.op(f"call i1 @llvm.vector.reduce.or.v{n}i1({e.bits} {far})")
    here, slow, after = e.label(), e.label(), e.label()
    e.line(f"  br label %{here}\n{here}:\n  br i1 {some}, label %{slow}, label %{after}, !prof !0\n{slow}:")
    mended: list[tuple[str, str]] = []
    for x, (s, c) in zip(angles, pairs, strict=True):
        at = [e.op(f"getelementptr {T}, ptr %scratch, i64 {k}") for k in range(3)]
        for value, place in zip((x, s, c), at, strict=True):
            e.line(f"  store {T} {value}, ptr {place}, align {8 * n}")
        e.line(f"  call void @huge(ptr {at[0]}, ptr {at[1]}, ptr {at[2]}, ptr %data)")
        mended.append((e.op(f"load {T}, ptr {at[1]}, align {8 * n}"), e.op(f"load {T}, ptr {at[2]}, align {8 * n}")))
    e.line(f"  br label %{after}\n{after}:")
    joined: list[tuple[str, str]] = []
    for fine, odd in zip(pairs, mended, strict=True):
        s, c = (e.op(f"phi {T} [{a}, %{here}], [{b}, %{slow}]") for a, b in zip(fine, odd, strict=True))
        joined.append((s, c))
    return joined


def _fast(e: Assembly, x: str) -> tuple[str, str]:
    T, I = e.vector, e.integers

    def do(name: str, a: str, b: str) -> str:
        return e.op(f"{name} {T} {a}, {b}")

    def polynomial(coefficients: tuple[float, ...], z: str) -> str:
        result = e.splat(coefficients[0])
        for coefficient in coefficients[1:]:
            result = e.fma(result, z, e.splat(coefficient))
        return result

    shifted = e.fma(x, e.splat(0.63661977236758134308), e.splat(ROUND))
    quadrant = e.op(f"bitcast {T} {shifted} to {I}")
    minus_k = do("fsub", e.splat(ROUND), shifted)
    first = e.fma(minus_k, e.splat(HALF_PI[0]), x)  # exact
    second = do("fmul", minus_k, e.splat(HALF_PI[1]))
    lost = e.fma(minus_k, e.splat(HALF_PI[1]), e.op(f"fneg {T} {second}"))  # what rounding the product lost
    r = do("fadd", first, second)
    tail = do("fadd", do("fadd", do("fsub", first, r), second), e.fma(minus_k, e.splat(HALF_PI[2]), lost))
    z = do("fmul", r, r)
    s = do("fadd", r, e.fma(do("fmul", r, z), polynomial(SIN, z), tail))
    half = do("fmul", z, e.splat(0.5))
    w = do("fsub", e.splat(1.0), half)
    rest = e.fma(do("fmul", z, z), polynomial(COS, z), e.op(f"fneg {T} {do('fmul', r, tail)}"))
    c = do("fadd", w, do("fadd", do("fsub", do("fsub", e.splat(1.0), w), half), rest))
    odd = e.op(f"icmp slt {I} {e.op(f'shl {I} {quadrant}, {e.whole(63)}')}, {e.whole(0)}")
    swapped = e.op(f"select {e.bits} {odd}, {T} {c}, {T} {s}"), e.op(f"select {e.bits} {odd}, {T} {s}, {T} {c}")
    after = e.op(f"add {I} {quadrant}, {e.whole(1)}")
    signed = []
    for value, turn in zip(swapped, (quadrant, after), strict=True):
        sign = e.op(f"shl {I} {e.op(f'and {I} {turn}, {e.whole(2)}')}, {e.whole(62)}")
        bits = e.op(f"xor {I} {e.op(f'bitcast {T} {value} to {I}')}, {sign}")
        signed.append(e.op(f"bitcast {I} {bits} to {T}"))
    return signed[0], signed[1]
