"""Run the fuzzers: `python tests/fuzz/run.py [--seconds 600] [--seed N] [--only calls] [--cases K]`.

Every case is a function of its seed, which is printed with each failure together with the command that runs it again.
"""

import argparse
import os
import random
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))  # as a script, and as part of the tests
from fuzz import calls, commands, entries, harness, meshes, robots, scales, states, tables

FUZZERS = {
    "calls": calls.case,
    "robots": robots.case,
    "meshes": meshes.case,
    "tables": tables.case,
    "states": states.case,
    "entries": entries.case,
    "commands": commands.case,
    "scales": scales.case,
}


def main() -> int:
    """Run them in turn, each for its share of the time; the exit code is 1 if anything failed."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seconds", type=float, default=60.0, help="in all")
    parser.add_argument("--seed", type=int, default=None, help="of the first case; a random one if left out")
    parser.add_argument("--only", choices=FUZZERS, action="append", help="one fuzzer; again for more")
    parser.add_argument("--cases", type=int, default=None, help="how many, whatever the time")
    given = parser.parse_args()
    chosen = given.only or list(FUZZERS)
    seed = random.SystemRandom().randrange(10**9) if given.seed is None else given.seed
    print(f"seed {seed}", flush=True)
    failed = 0
    with tempfile.TemporaryDirectory(prefix="dalembert-fuzz-") as cache:
        os.environ["DALEMBERT_CACHE"] = cache
        for name in chosen:
            count, found = harness.run(FUZZERS[name], seed, given.seconds / len(chosen), given.cases)
            print(f"{name}: {count} cases, {len(found)} failed", flush=True)
            for failure in found:
                print(f"  {failure.what}\n    again: python tests/fuzz/run.py --only {name} --seed {failure.seed} --cases 1")
            failed += len(found)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
