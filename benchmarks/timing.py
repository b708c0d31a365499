"""The best of many repetitions."""

import time


def _loops(function, least):
    loops = 1
    while True:
        start = time.perf_counter()
        for _ in range(loops):
            function()
        if time.perf_counter() - start >= least:
            return loops
        loops *= 2


def _time(function, loops):
    start = time.perf_counter()
    for _ in range(loops):
        function()
    return (time.perf_counter() - start) / loops


def best(function, rounds=200, least=2e-4):
    """Seconds of one call, the best of many rounds that each take at least `least` seconds."""
    loops = _loops(function, least)
    return min(_time(function, loops) for _ in range(rounds))


def best_pair(first, second, rounds=400, least=2e-4):
    """The same for two functions in turn, so that both meet the same weather."""
    loops = _loops(first, least), _loops(second, least)
    times = [(_time(first, loops[0]), _time(second, loops[1])) for _ in range(rounds)]
    return min(a for a, _ in times), min(b for _, b in times)
