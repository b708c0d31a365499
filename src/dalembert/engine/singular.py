"""Joints without inertia: where the mass matrix is singular, and the error for it."""

from cmath import isfinite
from collections.abc import Sequence
from functools import partial

import numpy as np

from dalembert.algebra.linalg import SingularError, udu
from dalembert.algebra.spatial import Array
from dalembert.derived.closing import independent_joints
from dalembert.derived.closure import closure
from dalembert.derived.joints import coupled_inertia, pivots
from dalembert.engine.quantity import Quantity
from dalembert.errors import Error, SingularWarning, warn
from dalembert.formulations.shared.filter import filtered, links
from dalembert.model.model import Model
from dalembert.model.positions import hidden
from dalembert.model.spread import spread
from dalembert.native import threads
from dalembert.trace.source import NumpyKernel

CHUNK = 4096  # states at a time
LARGE = 1 << 21  # bytes of results that are worth waking threads for
LOST = 1e-4  # of singular values, where a result is NaN
FEW = 64  # scalars that Python adds sooner than NumPy does
UNGUARDED = ("walker_orin_4",)  # methods that divide by something other than pivots: NaN does not mark every singular state


def without_inertia(model: Model, quantity: Quantity, joint: int, where: str = "") -> Error:
    """What is wrong with a joint that moves nothing."""
    if not model.is_tree:
        return Error(
            f"{quantity.name}: nothing that joint {model.joint_names[joint]!r} of {model.name} moves has inertia{where}, so the "
            "mass matrix is not positive definite; give one of these links mass, or their joints an armature (with_armature)"
        )
    model = spread(model)
    link = model.links[joint]
    while link.name in hidden(model):  # users know the body that its run carries
        link = next(x for x in model.links if x.parent == link.name)
    moved, link = link, model.links[joint]
    kind = "along" if link.joint.kind == "prismatic" else "about"
    cure = f"give link {moved.name!r} (or what it carries) {'mass' if kind == 'along' else 'inertia about that axis'}"
    cure += ", or the joint an armature (with_armature)" if quantity.rotors else "; rotors do not count here"
    return Error(
        f"{quantity.name}: joint {link.joint.name!r} of {model.name} has no positive inertia {kind} its axis{where}, so the mass "
        f"matrix is not positive definite; {cure}. robot.check() lists impossible inertias"
    )


def regular(*results: Array) -> bool:
    """Whether results are free of NaN; of few numbers it may be False for infinities, too.

    Of large batches each thread looks at the part that it has computed, which is in its cache.
    """
    count = threads.get_threads() if sum(x.nbytes for x in results) >= LARGE else 1
    if count == 1:
        return all(map(_known, results))
    found: list[bool] = []

    def look(k: int) -> None:
        found.append(all(_known(x[len(x) * k // count : len(x) * (k + 1) // count]) for x in results))

    threads.run([partial(look, k) for k in range(count)])
    return all(found)


def _known(result: Array) -> bool:
    if result.ndim == 1 and result.size < FEW:
        return isfinite(sum(result.tolist()))  # in a third of the time, and without warnings
    return not np.isnan(np.maximum.reduce(result, axis=None, initial=0.0))  # which takes half the time of a sum


def check_regular(
    model: Model, quantity: Quantity, method: str, results: Sequence[Array], inputs: Sequence[Array], batch: tuple[int, ...]
) -> None:
    """Raise for one state, warn for a batch, where NaN comes from a singular mass matrix and not from the inputs, q first."""
    q = inputs[0]
    if model.loops:
        check_closed(model, quantity, results, q, batch)
        return
    weak = singular_states(model, quantity, method, results, q, batch)
    if weak is None:
        if method in UNGUARDED:
            check_reached(model, quantity, method, results[0], inputs)
        return
    state = int(np.argmax(weak >= 0))
    at = _states(model, q, batch)[state]
    where, joint, count = f" {_place(at)}", int(weak[state]), f"{int((weak >= 0).sum())} of {len(weak)} states"
    name, default = model.joint_names[joint], quantity.method_of(model)
    if method != default and has_inertia(model, at, quantity.rotors):
        why = f"{quantity.name}: {method} cannot tell the inertia of joint {name!r} of {model.name} from rounding errors{where}"
        advice = f'method="{default}", the default, can'
        if batch == ():
            raise Error(f"{why}; {advice}")
        warn(f"{why}, the first of {count} where the result is NaN; {advice}", SingularWarning)
        return
    if batch == ():
        raise without_inertia(model, quantity, joint, where)
    warn(
        f"{quantity.name}: the mass matrix of {model.name} is singular at {count}, the "
        f"result is NaN there; the first is state {state}, where joint {name!r} has no positive inertia{where}",
        SingularWarning,
    )


def has_inertia(model: Model, q: Array, rotors: bool) -> bool:
    """Whether articulated bodies tell the inertias of all joints from rounding errors, which factors of M may not."""
    whole = spread(model)
    if not whole.is_tree or whole.runs:
        return False
    try:
        with np.errstate(all="ignore"):
            D = filtered(whole.tree, links(whole.tree, q), pivots(whole, rotors)).D
    except SingularError:
        return False
    return bool(np.isfinite(np.array(D, float)).all())


def check_reached(model: Model, quantity: Quantity, method: str, result: Array, inputs: Sequence[Array]) -> None:
    """Raise for one state, warn for a batch, where a method that iterates has not reached the solution and says NaN."""
    missed = np.isnan(result).any(axis=-1)
    if not missed.any() or not all(np.isfinite(x).all() for x in inputs):
        return
    default = quantity.method_of(model)
    what = f"{quantity.name}: {method} does not converge for {model.name}"
    if missed.ndim == 0:
        raise Error(f'{what} in this state; method="{default}", the default, does not iterate')
    warn(
        f"{what} at {int(missed.sum())} of {missed.size} states, the result is NaN there; "
        f'method="{default}", the default, does not iterate',
        SingularWarning,
    )


def check_closed(model: Model, quantity: Quantity, results: Sequence[Array], q: Array, batch: tuple[int, ...]) -> None:
    """The same for a robot with loops, which may lose a direction, or leave its independent joints unable to move the others."""
    if regular(*results):
        return
    q = _states(model, q, batch)
    bad = np.isfinite(q).all(axis=-1) & _unknown(results, len(q))
    if not bad.any():
        return
    at = q[int(np.argmax(bad))]
    why = _stuck(model, at)
    if not why:
        return
    where = _place(at)
    if batch == ():
        raise Error(f"{quantity.name}: {why} {where}")
    warn(f"{quantity.name}: the result is NaN at {int(bad.sum())} of {len(q)} states; {why} {where}, the first", SingularWarning)


def _states(model: Model, q: Array, batch: tuple[int, ...]) -> Array:
    """Positions (states, nq) of a batch."""
    return np.broadcast_to(np.real(q), (*batch, model.nq)).reshape(-1, model.nq)


def _unknown(results: Sequence[Array], states: int) -> Array:
    """In which states there is NaN among the results."""
    return np.logical_or.reduce([np.isnan(np.reshape(x, (states, -1))).any(axis=-1) for x in results])


def _place(q: Array) -> str:
    return f"at q = {np.array2string(q, precision=6, separator=', ')}"


def _stuck(model: Model, q: Array) -> str:
    """Why a robot with loops has no single motion at a position; empty where it has one."""
    weak = int(weak_joints(model.cut, q[None], True)[0])
    if weak >= 0:
        return f"nothing that joint {model.joint_names[weak]!r} of {model.name} moves has inertia"
    J = NumpyKernel(closure(model).jacobian)(q)
    free = independent_joints(model)
    rank = int(np.linalg.matrix_rank(J, tol=LOST * np.linalg.norm(J)))
    if rank < len(J):
        return f"the loops of {model.name} are singular, only {rank} of their {len(J)} equations are independent"
    bound = [i for i in range(model.n) if i not in free]
    if np.linalg.matrix_rank(J[:, bound], tol=LOST * np.linalg.norm(J)) < len(J):
        names = ", ".join(model.joint_names[i] for i in free)
        return f"the joints {names} do not determine the motion of {model.name}, others do (with_independent),"
    return ""


def singular_states(
    model: Model, quantity: Quantity, method: str, results: Sequence[Array], q: Array, batch: tuple[int, ...]
) -> Array | None:
    """For each state of a batch the joint without inertia, or -1, and NaN in the results there; None where there is none."""
    if method not in UNGUARDED and regular(*results):
        return None
    q = _states(model, q, batch)
    bad = np.isfinite(q).all(axis=-1)
    if method not in UNGUARDED:
        bad &= _unknown(results, len(q))
    suspects = np.flatnonzero(bad)
    weak = np.full(len(q), -1)
    try:
        for start in range(0, len(suspects), CHUNK):
            some = suspects[start : start + CHUNK]
            weak[some] = weak_joints(model, q[some], quantity.rotors)
    except SingularError as singular:
        raise without_inertia(model, quantity, singular.index) from None
    if not (weak >= 0).any():
        return None
    if method in UNGUARDED:
        for x in results:
            x[(weak >= 0).reshape(batch)] = np.nan
    return weak


def weak_joints(model: Model, q: Array, rotors: bool) -> Array:
    """For each state of (m, n), the joint nearest the tips without inertia, or -1: by articulated bodies and by factors of M."""
    whole = spread(model)
    guard = pivots(whole, rotors)
    with np.errstate(all="ignore"):
        if whole.runs:
            weak = np.stack([np.isnan(udu(coupled_inertia(whole, x, whole.open.tree).astype(float), guard).D) for x in q])
        else:
            weak = np.isnan(udu(coupled_inertia(whole, q, whole.tree), guard).D)
        if whole.is_tree and not whole.runs:
            D = filtered(whole.tree, links(whole.tree, q), guard).D
            weak = weak | np.isnan(np.stack(np.broadcast_arrays(*D), axis=-1))
    weak = np.broadcast_to(weak, (len(q), model.n))  # inertias that do not depend on q have one state
    return np.where(weak, np.arange(model.n), -1).max(axis=-1)
