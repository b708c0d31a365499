"""Programs as functions of other libraries, none of which has to be installed until its bridge is crossed."""

import re
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from dalembert.arguments import by_name
from dalembert.errors import Error, brief, optional, unknown
from dalembert.trace.program import Program, Variable
from dalembert.trace.replay import checked, replay


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

        tau = da.jax_function(robot.program("inverse_dynamics"))
        slope = jax.jit(jax.jacobian(tau))(q, qd, qdd)
    """
    return _function(checked(program, "jax_function"), optional("jax").numpy.asarray)


def torch_function(program: Program) -> Callable[..., Any]:
    """The program as a function of PyTorch tensors, one per input and in their order; autograd, torch.func and batches work.

    PyTorch computes in the type of the tensors, which is float32 unless they were made with `dtype=torch.float64`.

        tau = da.torch_function(robot.program("inverse_dynamics"))
        tau(q.requires_grad_(), qd, qdd).square().sum().backward()
    """
    return _function(checked(program, "torch_function"), optional("torch").as_tensor)


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
        if name not in [v.name for v in program.inputs]:
            raise unknown("input of the program:", name, [v.name for v in program.inputs])
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
