"""Gradients of rollouts: against complex steps through integrators written here, and through PyTorch and JAX."""

import pickle
from importlib.util import find_spec

import numpy as np
import pytest
from conftest import close, in_another_process, sweep

import dalembert as da
from dalembert.simulation.integrators import INTEGRATORS

H, STEPS = 5e-3, 12


def robots():
    yield da.robot("two_link").with_friction(damping=0.2)
    yield da.random_robot(3, "RPHR", (-1, -1, 0, 0)).with_friction(damping=0.1).with_armature(0.1)
    yield da.robot("panda").without_friction()
    yield da.robot("puma560").without_friction().with_armature(0.2)


def accelerations(robot, q, qd, tau, change):
    """Forward dynamics on complex numbers, its parameters changed by an infinitesimal (10 n,)."""
    qdd = robot.forward_dynamics(q, qd, tau, backend="numpy")
    if change is None:
        return qdd
    more = robot.regressor(q, qd, qdd, backend="numpy") @ change
    return robot.forward_dynamics(q, qd, tau - more, backend="numpy")


def steps_of(kind, f, q, v, h):
    """One step as the textbooks have it."""
    if kind == "euler":
        return q + h * v, v + h * f(q, v)
    if kind == "semi_implicit_euler":
        v = v + h * f(q, v)
        return q + h * v, v
    if kind == "implicit_midpoint":
        at, speed = q, v
        for _ in range(30):
            at, speed = q + h / 2 * speed, v + h / 2 * f(at, speed)
        return q + h * speed, v + h * f(at, speed)
    a = f(q, v)
    b = f(q + h / 2 * v, v + h / 2 * a)
    c = f(q + h / 2 * (v + h / 2 * a), v + h / 2 * b)
    d = f(q + h * (v + h / 2 * b), v + h * c)
    return q + h * v + h * h / 6 * (a + b + c), v + h / 6 * (a + 2 * b + 2 * c + d)


def weighed(robot, kind, start, forces, weights, change=None):
    """The sum of weights times the samples."""
    (q, v), found = start, 0
    for k in range(STEPS + 1):
        found = found + (weights[0][k] * q).sum() + (weights[1][k] * v).sum()
        if k < STEPS:
            q, v = steps_of(kind, lambda q, v, tau=forces[k]: accelerations(robot, q, v, tau, change), q, v, H)
    return found


@pytest.mark.parametrize("kind", INTEGRATORS)
@pytest.mark.parametrize("robot", sweep(robots(), quick=(0,)), ids=lambda robot: robot.name)
def test_gradients_are_those_of_complex_steps(robot, kind):
    rng, n = np.random.default_rng(0), robot.n
    start, forces, weights = rng.uniform(-1, 1, (2, n)), rng.uniform(-1, 1, (STEPS, n)), rng.uniform(-1, 1, (2, STEPS + 1, n))
    given = {"duration": STEPS * H, "torque": forces, "step": H, "integrator": kind}
    plain, found = robot.rollout(*start, **given), robot.rollout(*start, **given, parameters=robot.parameters())
    gradient = found.gradient(*weights)
    for a, b in zip(plain.gradient(*weights)[:3], gradient[:3], strict=True):
        close(a, b, 1e-11)
    e = 1e-30j
    by = rng.uniform(-1, 1, (2, n)), rng.uniform(-1, 1, (STEPS, n)), 0.1 * rng.uniform(-1, 1, 10 * n)
    slopes = (
        weighed(robot, kind, start + e * by[0] * [[1], [0]], forces, weights),
        weighed(robot, kind, start + e * by[0] * [[0], [1]], forces, weights),
        weighed(robot, kind, start, forces + e * by[1], weights),
        weighed(robot, kind, start, forces, weights, e * by[2]),
    )
    along = (*by[0], by[1], by[2])
    for slope, direction, part in zip(slopes, along, gradient, strict=True):
        assert abs((part * direction).sum() - slope.imag / 1e-30) < 1e-12 * np.abs(part * direction).sum()


@pytest.mark.filterwarnings("ignore::dalembert.AccuracyWarning")  # of Euler's method
@pytest.mark.parametrize("kind", INTEGRATORS)
def test_the_motion_is_the_simulators(kind):
    robot, rng = da.robot("puma560").without_friction(), np.random.default_rng(1)
    q0, forces = rng.uniform(-0.5, 0.5, (5, 6)), rng.uniform(-1, 1, (5, 20, 6))
    given = {"duration": 0.02, "torque": forces, "step": 1e-3, "integrator": kind}
    run, motion = robot.rollout(q0, **given), robot.simulate(q0, **given)
    if kind == "implicit_midpoint":
        close(run.q, motion.q, 1e-11)
    else:
        assert (run.q == motion.q).all() and (run.qd == motion.qd).all()
    close(run.trajectory.tau, motion.tau, 0)
    close(run.trajectory.energy, motion.energy, 1e-11)


def test_gradients_have_the_shapes_of_what_was_given():
    robot, rng = da.robot("two_link"), np.random.default_rng(2)
    q0, qd0, forces = rng.uniform(-1, 1, (3, 1, 2)), rng.uniform(-1, 1, 2), rng.uniform(-1, 1, (4, 1, 2))
    parameters = np.tile(robot.parameters(), (4, 1))
    run = robot.rollout(q0, qd0, 0.05, torque=forces, step=H, parameters=parameters)
    assert run.q.shape == (3, 4, 11, 2)
    whole = run.gradient(by_qd=1.0)
    assert [x.shape for x in whole] == [q0.shape, qd0.shape, forces.shape, parameters.shape]
    alone = [
        robot.rollout(q0[i, 0], qd0, 0.05, torque=forces[j, 0], step=H, parameters=parameters[j]).gradient(by_qd=np.ones((11, 2)))
        for i in range(3)
        for j in range(4)
    ]
    close(whole.qd0, sum(x.qd0 for x in alone), 1e-12)
    close(whole.q0[1, 0], sum(x.q0 for x in alone[4:8]), 1e-12)
    close(whole.tau[2, 0], sum(x.tau for x in alone[2::4]), 1e-12)
    close(whole.parameters[3], sum(x.parameters for x in alone[3::4]), 1e-12)


def test_more_rollouts_than_a_block():
    robot = da.robot("two_link")
    q0 = np.random.default_rng(3).uniform(-1, 1, (300, 2))
    gradient = robot.rollout(q0, duration=0.02).gradient(1.0)
    close(gradient.q0[299], robot.rollout(q0[299], duration=0.02).gradient(1.0).q0, 1e-12)


def test_smooth_friction():
    robot = da.robot("two_link").with_friction(coulomb=0.5, damping=0.1)
    with pytest.raises(da.Error, match="slip_speed"):
        robot.rollout([0.0, 0.0])
    weights, e = np.ones((51, 2)), 1e-6
    run = lambda q0: robot.rollout(q0, [0.1, 0.0], 0.05, slip_speed=0.1)  # noqa: E731
    slope = run([0.0, 0.3]).gradient(weights).q0
    for i, unit in enumerate(np.eye(2)):
        far, near = (run([0.0, 0.3] + s * e * unit).q.sum() for s in (1, -1))
        assert abs((far - near) / (2 * e) - slope[i]) < 1e-6 * abs(slope[i])


def test_coupled_joints():
    robot = da.random_robot(1, "RPR").with_coupling({"joint3": {"joint1": 0.5}})
    run = lambda q0: robot.rollout(q0, duration=0.05)  # noqa: E731
    slope = run(np.array([0.2, 0.1])).gradient(1.0).q0
    far, near = (run(np.array([0.2 + e, 0.1])).q.sum() for e in (1e-6, -1e-6))
    assert abs((far - near) / 2e-6 - slope[0]) < 1e-6 * abs(slope[0])
    with pytest.raises(da.Error, match="rollout: parameters= does not support coupled joints"):
        robot.rollout([0.2, 0.1], duration=0.05, parameters=robot.parameters())


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"integrator": "moreau"}, "integrator of a rollout"),
        ({"duration": 0.0015}, "multiple of step"),
        ({"torque": np.zeros((3, 2))}, "one force per step"),
        ({"parameters": np.zeros(7)}, "ten for each link"),
        ({"slip_speed": 0.0}, "must be positive"),
    ],
)
def test_what_is_refused(change, says):
    with pytest.raises(da.Error, match=says):
        da.robot("two_link").rollout(**({"q0": [0.0, 0.0], "duration": 0.05} | change))
    with pytest.raises(da.Error, match="shape of q"):
        da.robot("two_link").rollout([0.0, 0.0], duration=0.05).gradient(np.zeros((3, 2)))


@pytest.mark.parametrize("integrator", ["rk4", "implicit_midpoint"])
def test_a_motion_that_runs_away_is_told(integrator):
    stiff = da.robot("puma560").with_friction(damping=1.0)
    with pytest.raises(
        da.Error, match=r"rollout: .* not finite from t = 0.00\d s on: damping stops a joint within .* shorter one$"
    ):
        stiff.rollout([0.3] * 6, [0.5] * 6, duration=0.05, integrator=integrator)
    with pytest.warns(da.SingularWarning, match="2 of 2 rollouts"):
        stiff.rollout(np.full((2, 6), 0.3), [0.5] * 6, duration=0.05, integrator=integrator)


def test_it_plots_itself():
    pyplot = pytest.importorskip("matplotlib.pyplot")
    figure = da.robot("two_link").rollout([0.3, 0.1], duration=0.05).plot()
    assert len(figure.axes) >= 3
    pyplot.close(figure)


def given():
    robot, rng = da.robot("two_link"), np.random.default_rng(4)
    return robot, (rng.uniform(-1, 1, (3, 2)), rng.uniform(-1, 1, 2), rng.uniform(-1, 1, (20, 2)), robot.parameters())


@pytest.mark.skipif(find_spec("torch") is None, reason="PyTorch is not installed")
@pytest.mark.slow
def test_torch():
    import torch

    robot, arrays = given()
    function = da.torch_rollout(robot, 0.1, step=5e-3)
    tensors = [torch.tensor(x, requires_grad=True) for x in arrays]
    assert torch.autograd.gradcheck(function, tuple(tensors))
    assert torch.autograd.gradcheck(function, (*tensors[:2], torch.tensor([1.0, 2.0], dtype=torch.float64, requires_grad=True)))
    single = function(*(x.detach().float() for x in tensors[:3]))
    assert single[0].dtype == torch.float32 and single[0].shape == (3, 21, 2)
    with pytest.raises(da.Error, match="option of torch_rollout"):
        da.torch_rollout(robot, 0.1, every=2)


@pytest.mark.skipif(find_spec("torch") is None, reason="PyTorch is not installed")
def test_torch_func():
    """grad, vmap, jacrev and their compositions, against `rollout.gradient` and one rollout at a time."""
    import torch
    from torch.func import grad, jacrev, vmap

    robot, arrays = given()
    tensors = [torch.tensor(x) for x in arrays]
    function = da.torch_rollout(robot, 0.1, step=5e-3)

    def loss(q0, qd0, torque, parameters):
        q, qd = function(q0, qd0, torque, parameters)
        return (q[..., -1, :] ** 2).sum() + qd.sum()

    run = robot.rollout(*arrays[:2], 0.1, torque=arrays[2], step=5e-3, parameters=arrays[3])
    by_q = np.zeros_like(run.q)
    by_q[..., -1, :] = 2 * run.q[..., -1, :]
    expected = run.gradient(by_q, 1.0)
    for gradient, value in zip(grad(loss, argnums=(0, 1, 2, 3))(*tensors), expected, strict=True):
        close(gradient, value, 1e-12)

    each = vmap(grad(loss, argnums=(0, 2)), in_dims=(0, None, None, None))(*tensors)
    close(each[0], expected.q0, 1e-12)
    close(each[1].sum(0), expected.tau, 1e-12)
    close(vmap(function, in_dims=(1, None, None, None))(tensors[0].T, *tensors[1:])[1], run.qd, 1e-12)

    def end(q0):
        return function(q0, *tensors[1:])[0][..., -1, :]

    slopes = vmap(jacrev(end))(tensors[0])
    assert slopes.shape == (3, 2, 2)
    for j in range(2):
        by_q[...] = 0
        by_q[:, -1, j] = 1
        close(slopes[:, j], run.gradient(by_q).q0, 1e-12)
    close(jacrev(end)(tensors[0][1]), slopes[1], 1e-12)


@pytest.mark.skipif(find_spec("torch") is None, reason="PyTorch is not installed")
def test_torch_refuses_second_derivatives():
    import torch

    robot, (q0, qd0, torque, _) = given()
    function = da.torch_rollout(robot, 0.1, step=5e-3)
    total = lambda q: function(q, qd0, torque)[0].sum()  # noqa: E731
    with pytest.raises(da.Error, match="torch_rollout: gradients have no gradients of their own"):
        torch.func.jacrev(torch.func.grad(total))(torch.tensor(q0))


@pytest.mark.parametrize("library", ["torch", "jax"])
def test_bridges_refuse_what_rollouts_cannot_take(library):
    """An imaginary part would be lost, and with it what a complex step asks for."""
    pytest.importorskip(library)
    rolled = getattr(da, f"{library}_rollout")(da.robot("two_link"), 0.01)
    zero = np.zeros(2)
    with pytest.raises(da.Error, match=r"rollout: q0 must be real, got .*complex(64|128)"):
        rolled(zero + 1e-20j, zero, zero)
    with pytest.raises(da.Error, match=r"rollout: torque must have the shape \(..., 2\), got \(3,\)"):
        rolled(zero, zero, np.zeros(3))


def test_torch_integers_become_floats():
    torch = pytest.importorskip("torch")
    robot = da.robot("two_link")
    q, _ = da.torch_rollout(robot, 0.1, step=5e-3)([0, 1], [0, 0], [1, 2])
    assert q.dtype == torch.get_default_dtype()
    close(q, robot.rollout([0, 1], [0, 0], 0.1, torque=[1, 2], step=5e-3).q, 1e-6)


@pytest.mark.parametrize("library", ["torch", "jax"])
def test_vmap_over_constant_forces(library):
    """As many rollouts as steps: the axis of vmap is not taken for that of the steps."""
    framework = pytest.importorskip(library)
    robot = da.robot("two_link")
    function = getattr(da, f"{library}_rollout")(robot, 0.05, step=5e-3)
    q0, torque = np.random.default_rng(4).uniform(-1, 1, (2, 10, 2))
    as_array = framework.tensor if library == "torch" else framework.numpy.asarray
    q, _ = framework.vmap(function)(*map(as_array, (q0, 0 * q0, torque)))
    close(q, robot.rollout(q0, duration=0.05, torque=torque[:, None], step=5e-3).q, 1e-5)


@pytest.mark.parametrize("library", ["torch", "jax"])
def test_functions_can_be_pickled(library):
    pytest.importorskip(library)
    robot, arrays = given()
    function = getattr(da, f"{library}_rollout")(robot, 0.1, step=5e-3)
    copy = pickle.loads(pickle.dumps(function))
    for a, b in zip(copy(*arrays), function(*arrays), strict=True):
        np.testing.assert_array_equal(a, b)


@pytest.mark.slow
@pytest.mark.parametrize("library", ["torch", "jax"])
def test_pickled_functions_in_another_process(library):
    pytest.importorskip(library)
    robot, arrays = given()
    function = getattr(da, f"{library}_rollout")(robot, 0.1, step=5e-3)
    for a, b in zip(in_another_process(function, *arrays), function(*arrays), strict=True):
        np.testing.assert_array_equal(a, b)


@pytest.mark.skipif(find_spec("jax") is None, reason="JAX is not installed")
@pytest.mark.slow
def test_jax():
    import jax

    robot, arrays = given()
    with jax.enable_x64(True):
        function = da.jax_rollout(robot, 0.1, step=5e-3)
        loss = lambda *x: (function(*x)[0][..., -1, :] ** 2).sum() + function(*x)[1].sum()  # noqa: E731
        found = jax.jit(jax.grad(loss, argnums=(0, 1, 2, 3)))(*arrays)
        run = robot.rollout(*arrays[:2], 0.1, torque=arrays[2], step=5e-3, parameters=arrays[3])
        wanted = np.zeros_like(run.q)
        wanted[..., -1, :] = 2 * run.q[..., -1, :]
        for a, b in zip(found, run.gradient(wanted, 1.0), strict=True):
            close(np.asarray(a), b, 1e-12)
        many = jax.vmap(jax.grad(loss, argnums=(0, 2)), in_axes=(0, None, None, None))(*arrays)
        close(np.asarray(many[0]), np.asarray(found[0]), 1e-12)
        close(np.asarray(many[1]).sum(axis=0), np.asarray(found[2]), 1e-12)
        by_constant = jax.grad(lambda u: function(arrays[0], arrays[1], u)[0].sum())(np.array([1.0, 2.0]))
        close(np.asarray(by_constant), robot.rollout(*arrays[:2], 0.1, torque=[1.0, 2.0], step=5e-3).gradient(1.0).tau, 1e-12)
