"""CasADi's generated C of the same quantities, compiled with gcc for this machine and called in a loop over a batch.

This is the strongest peer that a user can have without writing C. CasADi gets our own recorded programs, in which the zeros and
constants of this very robot are folded already: what it would record from Pinocchio's templates (whose wheels have no CasADi) has
more operations. Derivatives are those of our program or CasADi's own of the function itself, whichever runs faster.
"""

import ctypes
import shutil
import subprocess
import tempfile
from pathlib import Path

import casadi
import numpy as np
from timing import best

import dalembert as da

STATES = 1000
QUANTITIES = (
    *("inverse_dynamics", "forward_dynamics", "mass_matrix"),
    *("inverse_dynamics_derivatives", "forward_dynamics_derivatives"),
)
LOOP = """
void loop(long long states, const double** given, double** results) {{
  const double* arg[{sz_arg}]; double* res[{sz_res}]; casadi_int iw[{sz_iw} + 1]; double w[{sz_w} + 1];
  for (long long k = 0; k < states; ++k) {{
    {arguments}
    {results}
    program(arg, res, iw, w, 0);
  }}
}}
"""


def generated(function):
    """A CasADi function as C, with a loop over states; every array of a state is one row."""
    maker = casadi.CodeGenerator("program.c")
    maker.add(function)
    sizes = {name: getattr(function, name)() for name in ("sz_arg", "sz_res", "sz_iw", "sz_w")}
    arguments = "".join(f"arg[{i}] = given[{i}] + k * {function.nnz_in(i)}; " for i in range(function.n_in()))
    results = "".join(f"res[{i}] = results[{i}] + k * {function.nnz_out(i)}; " for i in range(function.n_out()))
    return maker.dump() + LOOP.format(**sizes, arguments=arguments, results=results)


def compiled(function):
    """(arrays, arrays to write into), a state a row; CasADi keeps matrices by columns."""
    with tempfile.TemporaryDirectory() as folder:
        source, library = Path(folder) / "program.c", Path(folder) / "program.so"
        source.write_text(generated(function))
        subprocess.run(["gcc", "-O3", "-march=native", "-shared", "-fPIC", "-o", library, source, "-lm"], check=True)
        loop = ctypes.CDLL(str(library)).loop

    def run(arrays, out):
        addresses = ((ctypes.c_void_p * len(group))(*(x.ctypes.data for x in group)) for group in (arrays, out))
        loop(ctypes.c_longlong(len(arrays[0])), *addresses)

    return run


def candidates(arm, quantity):
    """The program as a CasADi function, and for derivatives CasADi's own of the function itself; all entries of all results."""
    base = quantity.removesuffix("_derivatives")
    program, function = (da.casadi_function(arm.program(name)) for name in (quantity, base))
    symbols = [casadi.SX.sym(name, arm.n) for name in program.name_in()]
    results = [program.call(symbols)]
    if base != quantity:
        results.append([casadi.jacobian(function(*symbols), x) for x in symbols])
    return [casadi.Function("program", symbols, [casadi.densify(x) for x in each]) for each in results]


def peer(arm, states=STATES, rounds=50):
    """{quantity: nanoseconds of a state in a batch}, the results compared with ours; None where there is no gcc."""
    if shutil.which("gcc") is None:
        return None
    rng, times = np.random.default_rng(0), {}
    for quantity in QUANTITIES:
        kernel = arm.compile(quantity)
        arrays = [rng.uniform(-1, 1, (states, *v.shape)) for v in kernel.inputs]
        out = [np.empty((states, *v.shape)) for v in kernel.outputs]
        expected = kernel(*arrays)
        for function in candidates(arm, quantity):
            run = compiled(function)
            run(arrays, out)
            for ours, theirs in zip(expected if isinstance(expected, tuple) else (expected,), out, strict=True):
                by_rows = np.swapaxes(theirs, -1, -2) if theirs.ndim == 3 else theirs
                assert np.abs(ours - by_rows).max() <= 1e-11 * np.abs(ours).max(), quantity
            ns = best(lambda run=run, arrays=arrays, out=out: run(arrays, out), rounds=rounds) / states * 1e9
            times[quantity] = min(ns, times.get(quantity, np.inf))
    return times


if __name__ == "__main__":
    panda = da.robot("panda").without_friction()
    da.set_threads(1)
    for quantity, ns in (peer(panda) or {}).items():
        kernel = panda.compile(quantity)
        inputs = [np.random.default_rng(0).uniform(-1, 1, (STATES, *v.shape)) for v in kernel.inputs]
        out = kernel(*inputs)
        ours = best(lambda kernel=kernel, inputs=inputs, out=out: kernel(*inputs, out=out), rounds=50) / STATES * 1e9
        print(f"{quantity:32} CasADi's C {ns:8.1f} ns, dalembert {ours:7.1f} ns, ratio {ns / ours:5.2f}")
