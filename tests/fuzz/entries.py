"""Damaged entries of the cache on disk: they are made again, and results stay the same."""

import os
import random
import tempfile
from pathlib import Path

import numpy as np

import dalembert as da
from fuzz.harness import Failure, shown
from fuzz.mutate import mutated

Q = np.array([0.3, -0.4])


def case(seed: int) -> None:
    """Fill a cache, damage some of its entries, and compute again."""
    rng = random.Random(seed)
    before = os.environ.get(da.cache.VARIABLE)
    with tempfile.TemporaryDirectory() as folder:
        os.environ[da.cache.VARIABLE] = folder
        try:
            expected = da.robot("two_link").gravity_force(Q, backend="native")
            entries = {x: x.read_bytes() for x in sorted(Path(folder).rglob("*")) if x.is_file()}
            for path in rng.sample(list(entries), rng.randint(1, len(entries))):
                _damage(path, rng.choice(list(entries.values())), rng)
            found = da.robot("two_link").gravity_force(Q, backend="native")
        except Exception as error:
            raise Failure(f"a damaged cache: {shown(error)}") from error
        finally:
            if before is None:
                del os.environ[da.cache.VARIABLE]
            else:
                os.environ[da.cache.VARIABLE] = before
    if not np.array_equal(found, expected):
        raise Failure(f"a damaged cache gives {found.tolist()} instead of {expected.tolist()}")


def _damage(path: Path, other: bytes, rng: random.Random) -> None:
    kind = rng.randrange(5)
    if kind == 0:
        path.write_bytes(other)
    elif kind == 1:
        path.unlink()
        path.mkdir()
    elif kind == 2:
        path.unlink()
        path.symlink_to(path)
    else:
        path.write_bytes(mutated(path.read_bytes(), rng))
