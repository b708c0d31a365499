"""The most floating-point operations a second that one core does: independent fused multiply-adds in registers."""

import ctypes
import time

import numpy as np

from dalembert.native import machine

CHAINS, TURNS = 12, 200_000


def peak_flops():
    """Operations a second, a fused multiply-add counted as two."""
    lanes = machine.host().lanes
    T = f"<{lanes} x double>"
    fma = f"@llvm.fma.v{lanes}f64"
    lines = [f"declare {T} {fma}({T}, {T}, {T})", "define void @loop(ptr %out) {", "entry:", "  br label %turn", "turn:"]
    lines += ["  %i = phi i64 [0, %entry], [%next, %turn]"]
    lines += [f"  %x{c} = phi {T} [splat (double {c}.0), %entry], [%y{c}, %turn]" for c in range(CHAINS)]
    factor, term = "splat (double 0x3FEFFFFFFFFFFFFF)", "splat (double 0x3CB0000000000000)"
    lines += [f"  %y{c} = call {T} {fma}({T} %x{c}, {T} {factor}, {T} {term})" for c in range(CHAINS)]
    lines += ["  %next = add i64 %i, 1", f"  %more = icmp slt i64 %next, {TURNS}", "  br i1 %more, label %turn, label %end", "end:"]
    lines += [f"  %p{c} = getelementptr {T}, ptr %out, i64 {c}\n  store {T} %y{c}, ptr %p{c}, align 8" for c in range(CHAINS)]
    code = machine.Code(machine.object_code("\n".join([*lines, "  ret void", "}"])))
    run = ctypes.CFUNCTYPE(None, ctypes.c_void_p)(code.address_of("loop"))
    out = np.zeros(CHAINS * lanes)
    times = []
    for _ in range(50):
        start = time.perf_counter()
        run(out.ctypes.data)
        times.append(time.perf_counter() - start)
    return 2 * lanes * CHAINS * TURNS / min(times)
