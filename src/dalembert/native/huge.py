"""Huge angles: how far x is from the nearest multiple of pi/2, exactly enough, and which multiple that is.

x = m 2^(exponent - 1075), with an integer m of 53 bits. Of the bits of 2/pi (Payne and Hanek 1983), those that make whole turns
are left out, and the next 192 are taken: what they lack is below 2^-129 of a quadrant, while no double comes closer to a multiple
of pi/2 than 2^-62. Their product with m modulo 2^192 is x in quadrants modulo 4: two bits before the point, and 190 after it.
"""

from dalembert.native.assembly import number

LIMIT = 2.0**20  # angles from here on are huge: those of exponents (as a double stores them) from 1043 on
TWO_OVER_PI = int(  # times 2^1163
    "517CC1B727220A94FE13ABE8FA9A6EE06DB14ACC9E21C820FF28B1D5EF5DE2B0DB92371D2126E9700324977504E8C90E7"
    "F0EF58E5894D39F74411AFA975DA24274CE38135A2FBF209CC8EB1CC1A99CFA4E422FC5DEFC941D8FFC4BFFEF02CC07F7"
    "9788C5AD05368FB69B3F6793E584DBA7A31FB34F2FF516BA93DD63F5F2F8BD9E839CFBC529497535FDAFD88FC6AE842B0",
    16,
)
HALF_PI = (1.5707963267948966, 6.123233995736766e-17)  # their sum is pi/2
NAME = {"double": "huge", "float": "huge_floats"}


# void huge(i64 lanes, double *x, double *r, double *tail, i64 *quadrant): overwrites the other three where x is huge
ASSEMBLY = f"""
@two_over_pi = internal constant [150 x i8] [{", ".join(f"i8 {byte}" for byte in TWO_OVER_PI.to_bytes(150, "little"))}]
define internal void @huge(i64 %lanes, ptr %x, ptr %r, ptr %tail, ptr %quadrant) noinline cold {{
entry:
  br label %lane
lane:
  %i = phi i64 [0, %entry], [%next, %done]
  %xp = getelementptr double, ptr %x, i64 %i
  %bits = load i64, ptr %xp, align 8
  %shifted = lshr i64 %bits, 52
  %exponent = and i64 %shifted, 2047
  %above = sub i64 %exponent, 1043
  %far = icmp ult i64 %above, 1004  ; infinity and NaN, whose exponent is 2047, have given NaN already
  br i1 %far, label %reduce, label %done
reduce:
  %fraction = and i64 %bits, {2**52 - 1}
  %size = or i64 %fraction, {2**52}
  %sign = ashr i64 %bits, 63  ; 0 or -1
  %flipped = xor i64 %size, %sign
  %signed = sub i64 %flipped, %sign
  %m = sext i64 %signed to i192
  %bytes = lshr i64 %exponent, 3
  %start = sub i64 256, %bytes
  %odd = and i64 %exponent, 7
  %by = zext i64 %odd to i192
  %place = getelementptr i8, ptr @two_over_pi, i64 %start
  %loaded = load i192, ptr %place, align 1
  %window = shl i192 %loaded, %by
  %product = mul i192 %window, %m
  %top = lshr i192 %product, 189  ; half quadrants
  %halves = trunc i192 %top to i64
  %rounded = add i64 %halves, 1
  %k = lshr i64 %rounded, 1
  %rest = shl i192 %product, 2  ; signed, times 2^-192: the distance in quadrants, from -1/2 to 1/2; now as three doubles
  %rest1 = ashr i192 %rest, 139
  %rest2 = lshr i192 %rest, 86
  %rest3 = lshr i192 %rest, 33
  %whole1 = trunc i192 %rest1 to i64
  %long2 = trunc i192 %rest2 to i64
  %long3 = trunc i192 %rest3 to i64
  %whole2 = and i64 %long2, {2**53 - 1}
  %whole3 = and i64 %long3, {2**53 - 1}
  %double1 = sitofp i64 %whole1 to double
  %double2 = sitofp i64 %whole2 to double
  %double3 = sitofp i64 %whole3 to double
  %part1 = fmul double %double1, {number(2.0**-53)}
  %part2 = fmul double %double2, {number(2.0**-106)}
  %part3 = fmul double %double3, {number(2.0**-159)}
  %high = fadd double %part1, %part2  ; and as two: high + low
  %high2 = fsub double %high, %part1
  %lost = fsub double %part2, %high2
  %low = fadd double %lost, %part3
  %p = fmul double %high, {number(HALF_PI[0])}  ; r + tail = (high + low) pi/2
  %minus_p = fneg double %p
  %q0 = call double @llvm.fma.f64(double %high, double {number(HALF_PI[0])}, double %minus_p)
  %q1 = call double @llvm.fma.f64(double %high, double {number(HALF_PI[1])}, double %q0)
  %q = call double @llvm.fma.f64(double %low, double {number(HALF_PI[0])}, double %q1)
  %r_ = fadd double %p, %q
  %off = fsub double %p, %r_
  %tail_ = fadd double %off, %q
  %rp = getelementptr double, ptr %r, i64 %i
  %tailp = getelementptr double, ptr %tail, i64 %i
  %quadrantp = getelementptr i64, ptr %quadrant, i64 %i
  store double %r_, ptr %rp, align 8
  store double %tail_, ptr %tailp, align 8
  store i64 %k, ptr %quadrantp, align 8
  br label %done
done:
  %next = add i64 %i, 1
  %more = icmp slt i64 %next, %lanes
  br i1 %more, label %lane, label %end
end:
  ret void
}}
"""

# the same of floats, by doubles
FLOATS = f"""
define internal void @huge_floats(i64 %lanes, ptr %x, ptr %r, ptr %tail, ptr %quadrant) noinline cold {{
entry:
  %wide = alloca [4 x double], align 8
  %wide1 = getelementptr double, ptr %wide, i64 1
  %wide2 = getelementptr double, ptr %wide, i64 2
  %wide3 = getelementptr double, ptr %wide, i64 3
  br label %lane
lane:
  %i = phi i64 [0, %entry], [%next, %done]
  %xp = getelementptr float, ptr %x, i64 %i
  %narrow = load float, ptr %xp, align 4
  %size = call float @llvm.fabs.f32(float %narrow)
  %beyond = fcmp oge float %size, {number(LIMIT)}
  %finite = fcmp olt float %size, 0x7FF0000000000000
  %far = and i1 %beyond, %finite
  br i1 %far, label %reduce, label %done
reduce:
  %long = fpext float %narrow to double
  store double %long, ptr %wide, align 8
  call void @huge(i64 1, ptr %wide, ptr %wide1, ptr %wide2, ptr %wide3)
  %r1 = load double, ptr %wide1, align 8
  %tail1 = load double, ptr %wide2, align 8
  %k = load i64, ptr %wide3, align 8
  %r2 = fptrunc double %r1 to float
  %r3 = fpext float %r2 to double
  %off = fsub double %r1, %r3
  %rest = fadd double %off, %tail1
  %tail2 = fptrunc double %rest to float
  %k2 = trunc i64 %k to i32
  %rp = getelementptr float, ptr %r, i64 %i
  %tailp = getelementptr float, ptr %tail, i64 %i
  %quadrantp = getelementptr i32, ptr %quadrant, i64 %i
  store float %r2, ptr %rp, align 4
  store float %tail2, ptr %tailp, align 4
  store i32 %k2, ptr %quadrantp, align 4
  br label %done
done:
  %next = add i64 %i, 1
  %more = icmp slt i64 %next, %lanes
  br i1 %more, label %lane, label %end
end:
  ret void
}}
"""
