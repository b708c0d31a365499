"""Odd states: what native code computes is what NumPy computes, whatever the layout, and no state changes another one's result."""

import random
from functools import cache, partial

import numpy as np

import dalembert as da
from fuzz.harness import Failure, shown

QUANTITIES = {
    "inverse_dynamics": ("q", "qd", "qdd"), "forward_dynamics": ("q", "qd", "tau"), "mass_matrix": ("q",), "gravity_force": ("q",),
    "coriolis_matrix": ("q", "qd"), "jacobian": ("q",), "pose": ("q",), "kinetic_energy": ("q", "qd"),
}  # fmt: skip
ODD = (np.nan, np.inf, -np.inf, 5e-324, -0.0, 1e-310, 1e22, -1e300, 1.7976931348623157e308, 2.0**53, np.pi, 1e6)
BATCHES = ((), (0,), (1,), (5,), (17,), (2, 3), (3, 0, 2), (1, 1, 1, 4))


@cache
def arms():
    return (
        da.robot("two_link").with_friction(damping=0.1, coulomb=0.2),
        da.random_robot(3, "RPH", (-1, 0, 0)),
        da.random_robot(4, "RRRR"),
    )


def case(seed: int) -> None:
    """One call by both backends."""
    rng, numbers = random.Random(seed), np.random.default_rng(seed)
    arm, quantity = rng.choice(arms()), rng.choice(list(QUANTITIES))
    batch = rng.choice(BATCHES)
    given = [_array(rng, numbers, batch, arm.n) for _ in QUANTITIES[quantity]]
    more = {"link": arm.link_names[-1]} if quantity in ("pose", "jacobian") else {}
    function = partial(getattr(arm, quantity), **more)
    what = f"{quantity} of {arm.name} on {', '.join(f'{x.dtype}{x.shape}' for x in given)}"
    kept = [x.copy() for x in given]
    try:
        native, numpy = (function(*given, backend=backend) for backend in ("native", "numpy"))
    except Exception as error:
        if _singular(error, given):
            return
        raise Failure(f"{what}: {shown(error)}") from error
    if not all(np.array_equal(a, b, equal_nan=True) for a, b in zip(given, kept, strict=True)):
        raise Failure(f"{what}: the inputs were changed")
    shape = np.broadcast_shapes(*(x.shape[:-1] for x in given))
    if native.shape != numpy.shape or native.shape[: len(shape)] != shape:
        raise Failure(f"{what}: shapes {native.shape} and {numpy.shape}")
    floats = all(x.dtype == np.float32 for x in given)
    kind, most, tolerance = (np.float32, 1e3, 1e-2) if floats else (np.float64, 1e9, 1e-9)
    if (native.dtype, numpy.dtype) != (kind, kind):
        raise Failure(f"{what}: results are {native.dtype} and {numpy.dtype}")
    wide = [np.broadcast_to(x, (*shape, arm.n)) for x in given]
    for index in np.ndindex(*shape):
        state = [np.array(x[index], dtype=kind) for x in wide]
        try:
            alone = function(*state, backend="native")
        except da.Error as error:
            if _singular(error, state):
                continue
            raise
        if not np.array_equal(alone, native[index], equal_nan=True):
            raise Failure(f"{what}: state {index} alone gives {alone.tolist()}, in the batch {native[index].tolist()}")
        if all(np.isfinite(x).all() and np.abs(x).max(initial=0) < most for x in state):
            _close(native[index], numpy[index], f"{what} at {index}", tolerance)


def _singular(error: Exception, given) -> bool:
    """Inertias overflow where a joint is absurdly far away: one state raises."""
    far = any(np.nanmax(np.abs(x.astype(float)), initial=0.0) > 1e9 for x in given)
    return isinstance(error, da.Error) and "no positive inertia" in str(error) and far


def _close(a, b, what: str, tolerance: float) -> None:
    if not (np.isfinite(a).all() and np.isfinite(b).all()):
        raise Failure(f"{what}: not finite, native {a.tolist()}, numpy {b.tolist()}")
    if np.abs(a - b).max(initial=0.0) > tolerance * max(np.abs(b).max(initial=0.0), 1e-300):
        raise Failure(f"{what}: native {a.tolist()}, numpy {b.tolist()}")


def _array(rng: random.Random, numbers, batch: tuple[int, ...], n: int):
    """An array (..., n) of some layout, whose batch broadcasts with the others."""
    shape = tuple(1 if rng.random() < 0.2 and d else d for d in batch[rng.choice((0, 0, 0, len(batch))) :])
    array = numbers.uniform(-3, 3, (*shape, n))
    if array.size and rng.random() < 0.4:
        for _ in range(rng.randint(1, 3)):
            array.flat[rng.randrange(array.size)] = rng.choice(ODD)
    kind = rng.randrange(8)
    if kind == 0:
        return np.asfortranarray(array)
    if kind == 1:
        array.setflags(write=False)
    if kind == 2:
        return array.astype(array.dtype.newbyteorder())
    if kind == 3:
        doubled = np.repeat(array, 2, axis=-1)
        return doubled[..., ::2]
    if kind == 4:
        return array[..., ::-1]
    if kind == 5:
        raw = np.zeros(array.nbytes + 1, np.uint8)
        moved = raw[1:].view(float).reshape(array.shape)
        moved[...] = array
        return moved
    if kind == 6:
        with np.errstate(all="ignore"):
            return array.astype(np.float32)
    return array
