"""The fuzzers for some seconds, in CI longer, with seeds that are always the same unless DALEMBERT_FUZZ_SEED is set.

`python tests/fuzz/run.py` runs them as long as one likes. A time only limits how many cases run: no test depends on it.
"""

import os
import random

import pytest

from fuzz import calls, harness
from fuzz.run import FUZZERS

QUICK, LONG = 0.7, 4.0  # seconds of each fuzzer
SEED = int(os.environ.get("DALEMBERT_FUZZ_SEED", "1000"))  # 0: new seeds every time
SEED = SEED or random.SystemRandom().randrange(1, 10**9)


def check(name: str, seed: int, seconds: float) -> None:
    count, found = harness.run(FUZZERS[name], seed, seconds)
    again = [f"{x.what}\n  again: python tests/fuzz/run.py --only {name} --seed {x.seed} --cases 1" for x in found[:10]]
    assert not found, f"{len(found)} of {count} cases from seed {seed} on:\n" + "\n".join(again)


@pytest.mark.parametrize("name", FUZZERS)
def test_some_cases(name):
    check(name, 1, QUICK)


@pytest.mark.slow
@pytest.mark.parametrize("name", FUZZERS)
def test_many_cases(name):
    check(name, SEED, LONG)


@pytest.mark.slow
def test_the_calls_that_are_changed_are_good_ones():
    calls.valid_calls()
