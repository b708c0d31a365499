"""The gradient of the effort |tau|^2 along a path, by PyTorch and by JAX, beside the derivatives of this library.

Needs PyTorch or JAX: pip install torch; pip install jax
"""

from importlib.util import find_spec

import numpy as np

import dalembert as da


def ours(arm, q, qd, qdd):
    """d/dq sum tau^2 = 2 sum tau d tau / d q."""
    tau, slope = arm.inverse_dynamics(q, qd, qdd), arm.inverse_dynamics_derivatives(q, qd, qdd)[0]
    return 2 * np.einsum("...i,...ij->...j", tau, slope)


def by_torch(arm, q, qd, qdd):
    """The same by autograd."""
    import torch

    inverse_dynamics = da.torch_function(arm.program("inverse_dynamics"))
    angles = torch.tensor(q, requires_grad=True)
    inverse_dynamics(angles, qd, qdd).square().sum().backward()
    return angles.grad.numpy()


def by_jax(arm, q, qd, qdd):
    """The same by jit, vmap and grad."""
    import jax

    inverse_dynamics = da.jax_function(arm.program("inverse_dynamics"))
    with jax.enable_x64(True):
        gradient = jax.vmap(jax.grad(lambda q, qd, qdd: (inverse_dynamics(q, qd, qdd) ** 2).sum()))
        options = {"xla_cpu_use_fusion_emitters": False}  # on a CPU, batches take 20 to 100 times as long without it
        gradient = jax.jit(gradient, compiler_options=options)
        return np.asarray(gradient(q, qd, qdd))


if __name__ == "__main__":
    arm = da.robot("two_link")
    t = np.linspace([0.0, 1.0], [1.0, 2.0], 5)
    path = (np.sin(t), np.cos(t), -np.sin(t))  # q, qd, qdd
    expected = ours(arm, *path)
    for name, gradient in (("torch", by_torch), ("jax", by_jax)):
        if find_spec(name) is None:
            print(f"{name} is not installed: pip install {name}")
            continue
        error = np.abs(gradient(arm, *path) - expected).max() / np.abs(expected).max()
        print(f"{name} differs from dalembert by {error:.1e}")
