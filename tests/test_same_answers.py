"""The same bits on every machine: with vectors of any length, alone or in a batch, whatever the processor has."""

import pytest
from conftest import run, sweep

from dalembert.native import machine

# results of six programs over 1,000 states, some with huge angles or none that is a number; all NaN are alike
CODE = """
import hashlib
import numpy as np
import dalembert as da
from dalembert.native import machine

print(machine.host().lanes)
rng = np.random.default_rng(3)
for name in ("panda", "puma560"):
    arm = da.robot(name)
    x = rng.uniform(-3, 3, (3, 1000, arm.n))
    x[0, ::7] = np.ldexp(x[0, ::7], rng.integers(18, 1022, (143, arm.n)))
    x[:, ::50] *= 2.0**-500
    x[0, 11:1000:100, 0] = np.nan
    x[1, 13:1000:100, 1] = np.inf
    for quantity in ("inverse_dynamics", "forward_dynamics", "inverse_dynamics_derivatives"):
        kernel = arm.compile(quantity, backend="native")

        def compute(*arrays):
            results = kernel(*arrays)
            return [np.where(np.isnan(r), np.nan, r) for r in (results if isinstance(results, tuple) else (results,))]

        together = compute(*x)
        assert all(np.isfinite(r).mean() > 0.9 for r in together)
        for i in (*range(30), 500, 999):
            for alone, whole in zip(compute(*x[:, i]), together, strict=True):
                assert alone.tobytes() == whole[i].tobytes(), (name, quantity, i)
        print(name, quantity, hashlib.sha256(b"".join(r.tobytes() for r in together)).hexdigest())
"""


@pytest.mark.slow
def test_vectors_of_any_length_give_the_same_bits():
    printed = {lanes: run(CODE, DALEMBERT_LANES=str(lanes))[0].splitlines() for lanes in (2, 4, 8)}
    assert {lanes: int(lines[0]) for lanes, lines in printed.items()} == {2: 2, 4: 4, 8: 8}
    assert len(printed[2]) == 7
    assert printed[2][1:] == printed[4][1:] == printed[8][1:]


@pytest.mark.parametrize("wrong", sweep(["3", "", "avx", "4.0"], quick=(0,)))
def test_other_vectors_are_refused(wrong):
    code = "import dalembert as da; da.robot('rp').compile('inverse_dynamics')"
    out, _ = run(f"try:\n  {code}\nexcept da.Error as error:\n  print(error)", DALEMBERT_LANES=wrong)
    assert out.startswith("DALEMBERT_LANES must be 2, 4 or 8")


def test_shorter_vectors_are_of_a_plainer_processor():
    """2 lanes on x86 are SSE2 without fused multiply-adds, 4 are AVX2; what a machine has already, it keeps."""
    wide = machine.Host("x86_64-pc-linux", "best", "+avx512f", "20", 8)
    assert machine._with_lanes(wide, "8") == wide
    assert machine._with_lanes(wide, "4") == wide._replace(cpu="x86-64-v3", features="", lanes=4)
    assert machine._with_lanes(wide, "2") == wide._replace(cpu="x86-64", features="", lanes=2)
    other = machine.Host("arm64-apple-darwin", "m1", "+neon", "20", 2)
    assert machine._with_lanes(other, "4") == other._replace(lanes=4)
    assert (wide.processor, other.processor) == ("x86_64", "aarch64")
