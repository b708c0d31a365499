"""Programs as functions of other libraries, none of which has to be installed until its bridge is crossed."""

import re
from collections.abc import Callable, Mapping, Sequence
from functools import cache, partial
from typing import TYPE_CHECKING, Any

import numpy as np

from dalembert.arguments import batch, by_name, choice
from dalembert.errors import Error, brief, optional
from dalembert.model.model import a_robot
from dalembert.trace.program import Program, Variable
from dalembert.trace.replay import checked, replay

if TYPE_CHECKING:
    from dalembert.robots import Robot


def casadi_function(program: Program, name: str = "program") -> Any:
    """The program as a CasADi Function whose inputs and outputs have the program's names; arrays are columns.

    >>> import dalembert as da
    >>> f = da.casadi_function(da.robot("two_link").program("inverse_dynamics"), "tau")
    >>> f
    Function(tau:(q[2],qd[2],qdd[2])->(tau[2]) SXFunction)
    >>> f([0, 0], [0, 0], [0, 0])
    DM([19.6124, 4.9031])
    """
    checked(program, "casadi_function")
    if not isinstance(name, str) or not re.fullmatch(r"[A-Za-z][A-Za-z0-9_]*", name) or "__" in name:
        raise Error(f"the name of a CasADi function must be a letter followed by letters, digits and single _, got {brief(name)}")
    casadi = optional("casadi")
    symbols = {v.name: casadi.SX.sym(v.name, *_matrix(v)) for v in program.inputs}
    outputs = [_casadi_matrix(casadi, v, array) for v, array in _outputs(program, symbols).items()]
    return casadi.Function(name, list(symbols.values()), outputs, list(symbols), [v.name for v in program.outputs])


def _casadi_matrix(casadi: Any, variable: Variable, array: Any) -> Any:
    rows, columns = _matrix(variable)
    return casadi.vertcat(*array.ravel()) if columns == 1 else casadi.reshape(casadi.vertcat(*array.T.ravel()), rows, columns)


def jax_function(program: Program) -> Callable[..., Any]:
    """The program as a function of JAX arrays, one per input and in their order; jit, grad, vmap and batches all work.

    JAX computes in float32 unless you call `jax.config.update("jax_enable_x64", True)`.

    On a CPU, give the outermost `jax.jit` the option below. Otherwise XLA merges operations into
    large loops that compute shared terms again and again, so that a batch takes 20 to 100 times as
    long and gradients may take minutes to compile.

        tau = da.jax_function(robot.program("inverse_dynamics"))
        options = {"xla_cpu_use_fusion_emitters": False}
        slope = jax.jit(jax.jacobian(tau), compiler_options=options)(q, qd, qdd)

    The function can be pickled.
    """
    checked(program, "jax_function")
    return _Bridge(_function(program, optional("jax").numpy.asarray), jax_function, program)


def torch_function(program: Program) -> Callable[..., Any]:
    """The program as a function of PyTorch tensors, one per input and in their order; autograd, torch.func and batches work.

    PyTorch computes in the type of the tensors, which is float32 unless they were made with `dtype=torch.float64`.

        tau = da.torch_function(robot.program("inverse_dynamics"))
        tau(q.requires_grad_(), qd, qdd).square().sum().backward()

    The function can be pickled, for example for the workers of a DataLoader.
    """
    checked(program, "torch_function")
    return _Bridge(_function(program, optional("torch").as_tensor), torch_function, program)


class _Bridge:
    """A function of another library's arrays. It pickles as the call that makes it."""

    def __init__(self, function: Callable[..., Any], maker: Callable[..., Any], *arguments: Any, **options: Any) -> None:
        self.__doc__ = function.__doc__
        self._function = function
        self._maker = partial(maker, *arguments, **options)

    def __call__(self, *arrays: Any, **named: Any) -> Any:
        return self._function(*arrays, **named)

    def __reduce__(self) -> tuple[Callable[..., Any], tuple[()]]:
        return self._maker, ()


def _function(program: Program, array: Callable[[Any], Any]) -> Callable[..., Any]:
    names = [v.name for v in program.inputs]

    def function(*arrays: Any) -> Any:
        if len(arrays) != len(names):
            raise Error(f"the program takes {len(names)} arrays, got {len(arrays)}: {program.signature}")
        return replay(program, {name: _array(name, x, array) for name, x in zip(names, arrays, strict=True)})

    function.__doc__ = f"{program.signature}, with any axes before these."
    return function


def _array(name: str, x: Any, array: Callable[[Any], Any]) -> Any:
    if isinstance(x, str | None):
        raise Error(f"{name} must be an array, got {brief(x)}")
    return array(x)


def torch_rollout(robot: "Robot", duration: float, **options: Any) -> Callable[..., Any]:
    """`robot.rollout` as a function of PyTorch tensors, with exact gradients in native code; autograd and torch.func work.

    f(q0, qd0, torque) returns q and qd (..., T, n), and f(q0, qd0, torque, parameters) takes inertial parameters (..., 10 links),
    too. `options` are those of `rollout`: step, integrator, slip_speed, backend. The computation is in double precision on the
    CPU, the results have the type of q0. `torch.func.grad`, `vmap` and `jacrev` work; gradients have no gradients of their own,
    and there is no forward mode. The function can be pickled, for example for the workers of a DataLoader.

        fall = da.torch_rollout(robot, 0.5)
        q, qd = fall(q0.requires_grad_(), qd0, torque)
        q[..., -1, :].square().sum().backward()
    """
    torch = optional("torch")
    run = _Rolled(robot, duration, options, "torch_rollout")
    rollout_of = _torch_autograd(torch)

    def function(q0: Any, qd0: Any, torque: Any, parameters: Any = None) -> Any:
        """(n), (n), (steps, n) or (n), (10 links) -> (T, n), (T, n), with any axes before these."""
        arrays = (q0, qd0, torque) if parameters is None else (q0, qd0, torque, parameters)
        tensors = [torch.as_tensor(x) for x in arrays]
        tensors = [x if x.is_floating_point() or x.is_complex() else x.to(torch.get_default_dtype()) for x in tensors]
        return rollout_of.apply(run, *run.broadcast(torch, tensors))[:2]

    return _Bridge(function, torch_rollout, robot, duration, **options)


@cache
def _torch_autograd(torch: Any) -> Any:
    """The autograd.Function of rollouts: of a `_Rolled` and its tensors, all with the same leading axes.

    It also returns the rollout itself, whose points the gradient needs. The gradient is a Function
    of its own, because torch.func hands tensors without numbers to whatever has no rule for vmap.
    """

    def as_numpy(tensor: Any) -> Any:
        return tensor.detach().cpu().double().numpy()

    def batched(count: int, axes: tuple[int | None, ...], tensors: tuple[Any, ...]) -> list[Any]:
        """The tensors with the axis of vmap in front, where rollouts have their leading axes."""
        return [
            x.expand(count, *x.shape) if axis is None else x.movedim(axis, 0)
            for x, axis in zip(tensors, axes, strict=True)
        ]  # fmt: skip

    class RolloutFunction(torch.autograd.Function):
        @staticmethod
        def forward(run: Any, *tensors: Any) -> Any:
            rollout = run(*map(as_numpy, tensors))
            q, qd = (torch.as_tensor(x).to(tensors[0]) for x in (rollout.q, rollout.qd))
            return q, qd, rollout

        @staticmethod
        def setup_context(ctx: Any, inputs: Any, output: Any) -> None:
            ctx.run, *tensors = inputs
            ctx.rollout = output[2]
            ctx.save_for_backward(*tensors)

        @staticmethod
        def backward(ctx: Any, by_q: Any, by_qd: Any, _: Any) -> Any:
            return None, *GradientFunction.apply(ctx.run, ctx.rollout, by_q, by_qd, *ctx.saved_tensors)

        @staticmethod
        def vmap(info: Any, axes: Any, run: Any, *tensors: Any) -> Any:
            return RolloutFunction.apply(run, *batched(info.batch_size, axes[1:], tensors)), (0, 0, None)

    class GradientFunction(torch.autograd.Function):
        @staticmethod
        def forward(run: Any, rollout: Any, by_q: Any, by_qd: Any, *tensors: Any) -> Any:
            if rollout.q.shape != by_q.shape:  # jacrev asks for many gradients of one rollout
                rollout = run(*map(as_numpy, tensors))
            gradients = rollout.gradient(as_numpy(by_q), as_numpy(by_qd))
            return tuple(torch.as_tensor(x).to(tensor) for x, tensor in zip(gradients, tensors, strict=False))

        @staticmethod
        def setup_context(ctx: Any, inputs: Any, output: Any) -> None:
            pass

        @staticmethod
        def backward(ctx: Any, *_: Any) -> Any:
            raise Error("torch_rollout: gradients have no gradients of their own; use one derivative only")

        @staticmethod
        def vmap(info: Any, axes: Any, run: Any, rollout: Any, *tensors: Any) -> Any:
            gradients = GradientFunction.apply(run, rollout, *batched(info.batch_size, axes[2:], tensors))
            return gradients, (0,) * len(gradients)

    return RolloutFunction


def jax_rollout(robot: "Robot", duration: float, **options: Any) -> Callable[..., Any]:
    """`robot.rollout` as a function of JAX arrays, with exact gradients in native code; jit, grad and vmap work.

    f(q0, qd0, torque) returns q and qd (..., T, n), and f(q0, qd0, torque, parameters) takes inertial parameters (..., 10 links),
    too. `options` are those of `rollout`: step, integrator, slip_speed, backend. The computation is in double precision on the
    CPU, through a callback; the results have the type of q0: float32 unless you call
    `jax.config.update("jax_enable_x64", True)`. The backward pass repeats the rollout. Gradients have no gradients of their own.
    The function can be pickled.

        fall = da.jax_rollout(robot, 0.5)
        slope = jax.jit(jax.grad(lambda q0: (fall(q0, qd0, torque)[0][-1] ** 2).sum()))(q0)
    """
    jax = optional("jax")
    jnp = jax.numpy
    run = _Rolled(robot, duration, options, "jax_rollout")

    def called(function: Callable[..., Any], shapes: Any, *given: Any) -> Any:
        return jax.pure_callback(function, shapes, *given, vmap_method="broadcast_all")

    def rolled(*given: Any) -> Any:
        found = run(*(np.asarray(x, dtype=float) for x in given))
        return tuple(np.asarray(x, dtype=given[0].dtype) for x in (found.q, found.qd))

    def slopes(by_q: Any, by_qd: Any, *given: Any) -> Any:
        found = run(*(np.asarray(x, dtype=float) for x in given)).gradient(np.asarray(by_q, float), np.asarray(by_qd, float))
        return tuple(np.asarray(g, dtype=x.dtype) for g, x in zip(found, given, strict=False))

    @jax.custom_vjp
    def core(*given: Any) -> Any:  # all with the same leading axes: a callback under vmap has one more before them
        shape = jax.ShapeDtypeStruct((*given[0].shape[:-1], run.samples, robot.n), given[0].dtype)
        return called(rolled, (shape, shape), *given)

    def back(given: Any, by: Any) -> Any:
        return called(slopes, tuple(jax.ShapeDtypeStruct(x.shape, x.dtype) for x in given), *by, *given)

    core.defvjp(lambda *given: (core(*given), given), back)

    def function(q0: Any, qd0: Any, torque: Any, parameters: Any = None) -> Any:
        """(n), (n), (steps, n) or (n), (10 links) -> (T, n), (T, n), with any axes before these."""
        arrays = (q0, qd0, torque) if parameters is None else (q0, qd0, torque, parameters)
        given = [jnp.asarray(x, dtype=float) if jnp.asarray(x).dtype.kind in "iub" else jnp.asarray(x) for x in arrays]
        return core(*run.broadcast(jnp, given))

    return _Bridge(function, jax_rollout, robot, duration, **options)


class _Rolled:
    """A rollout as a function of its arrays."""

    OPTIONS = ("step", "integrator", "slip_speed", "backend")

    def __init__(self, robot: Any, duration: Any, options: Mapping[str, Any], function: str) -> None:
        for name in options:
            choice(name, f"option of {function}:", self.OPTIONS)
        self.robot, self.duration, self.options = a_robot(robot, function), duration, dict(options)
        zero = np.zeros(robot.n)
        self.samples = len(robot.rollout(zero, zero, duration, **options).time)  # and what is wrong is told now

    def __call__(self, q0: Any, qd0: Any, torque: Any, parameters: Any = None) -> Any:
        return self.robot.rollout(q0, qd0, self.duration, torque=torque, parameters=parameters, **self.options)

    def broadcast(self, library: Any, arrays: Sequence[Any]) -> list[Any]:
        """q0, qd0 (..., n), torque (..., steps or 1, n) and parameters, all with the same leading axes.

        A constant torque (n,) gets its axis of steps here, because the axis that vmap adds later would be taken for it.
        """
        for name, x in zip(("q0", "qd0", "torque", "parameters"), arrays, strict=False):
            if "complex" in str(x.dtype):
                raise Error(f"rollout: {name} must be real, got {x.dtype}")
            if name != "parameters" and (x.ndim == 0 or x.shape[-1] != self.robot.n):
                raise Error(f"rollout: {name} must have the shape (..., {self.robot.n}), got {tuple(x.shape)}")
        q0, qd0, torque, *parameters = arrays
        if torque.ndim == 1:
            torque = torque[None]
        parameter_axes = 1
        if parameters and tuple(parameters[0].shape[-2:]) == (len(self.robot.links), 10):
            parameter_axes = 2

        axes = {"q0": (q0, 1), "qd0": (qd0, 1), "torque": (torque, 2)}
        if parameters:
            axes["parameters"] = (parameters[0], parameter_axes)
        leading = {name: tuple(x.shape[: max(x.ndim - count, 0)]) for name, (x, count) in axes.items()}
        shared = batch(leading, "rollout")
        return [library.broadcast_to(x, (*shared, *x.shape[len(leading[name]) :])) for name, (x, _) in axes.items()]


def sympy_expressions(program: Program, inputs: Mapping[str, Any] | None = None) -> tuple[dict[str, Any], dict[str, Any]]:
    """Inputs and outputs of the program as SymPy matrices, by name: input q holds the real symbols q1, q2, ...

    Give some inputs yourself, numbers or symbols, to have them in the place of those.

    >>> import dalembert as da
    >>> program = da.robot("two_link").program("inverse_dynamics")
    >>> x, y = da.sympy_expressions(program, {"qd": [0, 0], "qdd": [0, 0]})
    >>> y["tau"][1]
    -4.9031*sin(q1)*sin(q2) + 4.9031*cos(q1)*cos(q2)
    >>> y["tau"].jacobian(x["q"]).shape
    (2, 2)
    """
    checked(program, "sympy_expressions")
    sympy = optional("sympy")
    given = dict(by_name({} if inputs is None else inputs, "inputs", "{'qd': [0, 0]}"))
    for name in given:
        choice(name, "input of the program:", [v.name for v in program.inputs])
    for v in program.inputs:
        rows, columns = _matrix(v)
        names = [v.name + "_".join(str(i + 1) for i in index) for index in np.ndindex(*v.shape)]
        symbols = [sympy.Symbol(name, real=True) for name in names]
        entries = list(np.ravel(given[v.name])) if v.name in given else symbols
        if len(entries) != v.size:
            raise Error(f"input {v.name!r} has {v.size} entries, got {brief(given[v.name])}")
        given[v.name] = sympy.Matrix(rows, columns, entries)
    ordered = {v.name: given[v.name] for v in program.inputs}
    shaped = {v.name: ordered[v.name] if v.shape else ordered[v.name][0] for v in program.inputs}
    outputs = {v.name: sympy.Matrix(*_matrix(v), list(array.ravel())) for v, array in _outputs(program, shaped).items()}
    return ordered, outputs


def _matrix(variable: Variable) -> tuple[int, int]:
    """Its shape where everything is a matrix."""
    if len(variable.shape) > 2:
        raise Error(f"{variable.name!r} has shape {variable.shape}, which is not a matrix; use replay")
    rows, columns = (*variable.shape, 1, 1)[:2]
    return rows, columns


def _outputs(program: Program, inputs: Mapping[str, Any]) -> dict[Variable, Any]:
    values = replay(program, inputs)
    return dict(zip(program.outputs, values if isinstance(values, tuple) else (values,), strict=True))
