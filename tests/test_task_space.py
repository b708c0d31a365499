"""Task-space dynamics against the references, the equation they belong to, and linear algebra on plain matrices."""

import warnings
from functools import cache

import numpy as np
import pytest
from conftest import REFERENCE, close, reference_robot, sweep

import dalembert as da
from dalembert.quantities.task_space import ROWS

FRAMES = ("body", "world_aligned", "world")
KINDS = {"mixed": "world_aligned", "body": "body", "space": "world"}
POINT = np.array([0.2, -0.1, 0.35])
TASKS = [(name, task) for name, ref in REFERENCE.items() for task in ref["task_space"]]
# a robot, a link, and rows of which it can follow all
ARMS = {
    "square": (lambda: da.robot("puma560"), None, ROWS),
    "redundant": (lambda: da.robot("panda"), "panda_hand_tcp", ROWS),
    "position": (lambda: da.random_robot(4, "RPHRR"), None, ("vx", "vy", "vz")),
    "tree": (lambda: da.random_robot(5, "RRPHRP", (-1, 0, 0, 2, 2, 1)).with_armature(0.3), "link5", (5, 0)),
    "rotors": (
        lambda: da.random_robot(6, "HRRPRR").with_armature((0.1, 0.4, 0.2, 0.3, 0.2, 0.1)).with_friction(0.5, 0.7),
        None,
        ROWS,
    ),
}


@cache
def made(name):
    make, link, rows = ARMS[name]
    return make(), link, rows


@pytest.fixture(params=sweep(ARMS, quick=(3,)))
def arm(request):
    return made(request.param)


def state(robot, *shape, seed=0):
    return np.random.default_rng(seed).uniform(-1, 1, (3, *shape, robot.n))


def indices(rows):
    return [ROWS.index(r) if isinstance(r, str) else r for r in rows]


def silent(robot):
    """Without what task_bias leaves out."""
    return robot.without_friction().with_gravity((0, 0, 0))


@pytest.mark.parametrize(("name", "task"), sweep(TASKS, quick=(0, 1)))
def test_references(name, task):
    ref, robot = REFERENCE[name], reference_robot(name)
    stored = ref["task_space"][task]
    options = {"frame": KINDS[stored["kind"]], "rows": tuple(stored["rows_of_6"])}
    Lambda, eta = robot.task_inertia(ref["q"], **options), robot.task_bias(ref["q"], ref["qd"], **options)
    gravity = robot.task_gravity(ref["q"], **options)
    close(Lambda, stored["Lambda"], 1e-12)
    close(eta + gravity, stored["eta"], 1e-12)  # theirs holds both
    F = Lambda @ stored["Vdot"] + eta + gravity
    close(F, stored["F"], 1e-12)
    close(np.array(stored["J"]).T @ F, ref["tau"], 1e-12)


@pytest.mark.parametrize("frame", FRAMES)
def test_definitions(arm, frame):
    """Every quantity from J, M and the joint forces, by NumPy's linear algebra."""
    robot, link, rows = arm
    q, qd, _ = state(robot)
    zero = np.zeros(robot.n)
    options = {"link": link, "frame": frame, "point": POINT, "backend": "numpy"}
    J = robot.jacobian(q, **options)[indices(rows)]
    rate = robot.jacobian_rate(q, qd, **options)[indices(rows)]
    inverse = np.linalg.inv(robot.mass_matrix(q))
    Lambda = np.linalg.inv(J @ inverse @ J.T)
    options |= {"rows": rows}
    close(robot.task_inertia(q, **options), Lambda, 1e-10)
    c = silent(robot).inverse_dynamics(q, qd, zero)
    close(robot.task_bias(q, qd, **options), Lambda @ (J @ inverse @ c - rate @ qd), 1e-10)
    g = robot.without_friction().inverse_dynamics(q, zero, zero)
    close(robot.task_gravity(q, **options), Lambda @ J @ inverse @ g, 1e-10)
    close(robot.dynamically_consistent_inverse(q, **options), inverse @ J.T @ Lambda, 1e-10)


@pytest.mark.parametrize("frame", FRAMES)
def test_the_equation_of_motion(arm, frame):
    """Joint forces tau = J^T F move the link so that Lambda V' + eta + gravity = F, redundant or not."""
    robot, link, rows = arm
    robot = robot.without_friction()
    q, qd, _ = state(robot, seed=1)
    F = np.cos(np.arange(len(rows)))
    options = {"link": link, "frame": frame, "backend": "numpy"}
    J = robot.jacobian(q, **options)[indices(rows)]
    qdd = robot.forward_dynamics(q, qd, J.T @ F)
    Vdot = J @ qdd + robot.jacobian_rate(q, qd, **options)[indices(rows)] @ qd
    options |= {"rows": rows}
    parts = robot.task_inertia(q, **options) @ Vdot, robot.task_bias(q, qd, **options), robot.task_gravity(q, **options)
    close(sum(parts), F, 1e-10, scale=float(np.abs(parts).max()))


def test_square_jacobians_give_back_the_joint_forces():
    """J^-T tau of any motion, (9.96)."""
    robot = da.robot("puma560").without_friction()
    q, qd, qdd = state(robot, seed=2)
    J = robot.jacobian(q)
    Vdot = J @ qdd + robot.jacobian_rate(q, qd) @ qd
    F = np.linalg.solve(J.T, robot.inverse_dynamics(q, qd, qdd))
    found = robot.task_inertia(q) @ Vdot + robot.task_bias(q, qd) + robot.task_gravity(q)
    close(found, F, 1e-11)
    zero = np.zeros(6)
    close(robot.task_gravity(q), np.linalg.solve(J.T, robot.inverse_dynamics(q, zero, zero)), 1e-11)


def test_kinetic_energy_is_that_of_the_task():
    robot = da.robot("puma560")
    q, qd, _ = state(robot, 5)
    for frame in FRAMES:
        V = robot.twist(q, qd, frame=frame)
        energy = np.vecdot(V, np.matvec(robot.task_inertia(q, frame=frame), V))
        close(energy, np.vecdot(qd, np.matvec(robot.mass_matrix(q), qd)), 1e-11)


def test_consistent_inverse():
    robot = da.robot("panda")
    q, qd, tau = state(robot, 4)
    J, Jbar = robot.jacobian(q), robot.dynamically_consistent_inverse(q)
    close(J @ Jbar, np.broadcast_to(np.eye(6), (4, 6, 6)), 1e-11)
    free = tau - np.matvec(J.swapaxes(-1, -2), np.matvec(Jbar.swapaxes(-1, -2), tau))
    moved = robot.forward_dynamics(q, qd, free) - robot.forward_dynamics(q, qd, np.zeros(7))
    assert np.abs(moved).max() > 0.1
    close(np.matvec(J, moved), np.zeros((4, 6)), 1e-11, scale=float(np.abs(moved).max()))


@pytest.mark.parametrize("shape", sweep([((),), ((3, 1, 2),), ((0,),)], quick=(1,)))
def test_batches_and_backends(shape):
    robot = da.random_robot(4, "RPHRR")
    q, qd, _ = state(robot, *shape)
    options = {"rows": ("vx", "vy", "vz"), "frame": "world_aligned"}
    for call in (
        lambda q, qd, **o: robot.task_inertia(q, **o),
        robot.task_bias,
        lambda q, qd, **o: robot.task_gravity(q, **o),
        lambda q, qd, **o: robot.dynamically_consistent_inverse(q, **o),
    ):
        found = call(q, qd, **options)
        assert found.shape[: len(shape)] == shape
        close(call(q, qd, backend="numpy", **options), found, 1e-11)
        out = np.empty_like(found)
        assert call(q, qd, out=out, **options) is out and np.array_equal(out, found)
        for index in np.ndindex(*shape):
            assert np.array_equal(call(q[index], qd[index], **options), found[index])


def test_derivatives_by_complex_step():
    robot = da.robot("puma560")
    q, qd, _ = state(robot)
    h = 1e-6
    exact = np.imag(robot.task_inertia(q + 1e-30j * qd)) / 1e-30
    close(exact, (robot.task_inertia(q + h * qd) - robot.task_inertia(q - h * qd)) / (2 * h), 1e-7)


# --- singularities ------------------------------------------------------------------------------------------------------

XY = {"frame": "world_aligned", "rows": ("vx", "vy")}


def test_a_singular_state_is_an_error():
    arm = da.robot("two_link")
    for call in (arm.task_inertia, arm.task_gravity, arm.dynamically_consistent_inverse, lambda q, **o: arm.task_bias(q, q, **o)):
        with pytest.raises(da.Error, match=r"J M\^-1 J\^T of 'link2' of two_link is singular: condition number .* at q = \[0.3, 0"):
            call([0.3, 0.0], **XY)
    with pytest.raises(da.Error, match="condition number inf"):
        arm.task_inertia([0.0, 0.0], **XY)  # the row vx is 0
    for q in ([0.3, 0.001], [0.3, np.pi - 0.001]):
        assert np.isfinite(arm.task_inertia(q, **XY)).all()
    with pytest.raises(da.Error, match="singular"):
        arm.task_inertia([0.3, np.pi], **XY)
    wrist = da.robot("puma560")
    with pytest.raises(da.Error, match=r"task_inertia: .* singular"):
        wrist.task_inertia([0.1, 0.2, 0.3, 0.4, 0.0, 0.6])
    assert np.isfinite(wrist.task_inertia([0.1, 0.2, 0.3, 0.4, 0.0, 0.6], rows=("vx", "vy", "vz"))).all()


def test_a_batch_gives_nan_there_and_one_warning():
    arm = da.robot("two_link")
    q = np.array([[[0.3, 1.0], [0.3, 0.0], [np.nan, 1.0]], [[0.1, -1.0], [0.7, 0.0], [0.2, 0.5]]])
    with pytest.warns(
        da.SingularWarning, match="singular at 2 of 6 states, the result is NaN there; the first is state 1"
    ) as caught:
        found = arm.task_inertia(q, **XY)
    assert len(caught) == 1 and caught[0].filename == __file__
    bad = np.array([[False, True, True], [False, True, False]])
    assert np.array_equal(np.isnan(found).all(axis=(-2, -1)), bad) and np.array_equal(np.isnan(found).any(axis=(-2, -1)), bad)
    assert np.array_equal(found[0, 0], arm.task_inertia(q[0, 0], **XY))
    assert np.isnan(arm.task_inertia(q[0, 2], **XY)).all()  # what is unknown is no singularity


def test_units_do_not_make_a_singularity():
    """Rows are judged in their own units: heavier, or a thousandth of the size, an arm is no nearer to one."""

    def arm(mass, length):
        inertia = da.Inertia.from_com(mass, (-length / 2, 0, 0), mass * length**2 / 12)
        return da.Robot.from_dh([da.DHRow(a=length, inertia=inertia)] * 3, convention="standard")

    q, options = [0.1, 0.7, -1.1], {"rows": ("wz", "vx", "vy"), "backend": "numpy"}
    expected = arm(1.0, 1.0).task_inertia(q, **options)
    for mass, length in ((1e18, 1.0), (1e-18, 1.0), (1.0, 1e-6), (1e-3, 1e6)):
        unit = np.array([length, 1, 1])
        close(arm(mass, length).task_inertia(q, **options) / (mass * np.outer(unit, unit)), expected, 1e-12)


def test_damping_is_tikhonov():
    arm = da.robot("two_link")
    q, d = np.array([0.3, 0.0]), np.array([0.01, 0.1, 1.0])
    J, inverse = arm.jacobian(q, frame="world_aligned")[3:5], np.linalg.inv(arm.mass_matrix(q))
    expected = np.linalg.inv(J @ inverse @ J.T + d[:, None, None] ** 2 * np.eye(2))
    close(arm.task_inertia(q, damping=d, **XY), expected, 1e-10)
    close(arm.task_inertia(q, damping=0.1, **XY), expected[1], 1e-12)
    close(arm.dynamically_consistent_inverse(q, damping=0.1, **XY), inverse @ J.T @ expected[1], 1e-12)
    with pytest.raises(da.Error, match=r"singular.*damping"):
        arm.task_inertia(q, damping=0.0, **XY)
    # more rows than joints, and rows that nothing moves
    J = arm.jacobian(q)
    close(arm.task_inertia(q, damping=0.5), np.linalg.inv(J @ inverse @ J.T + 0.25 * np.eye(6)), 1e-12)
    close(arm.task_inertia(q, "base", damping=0.5), 4 * np.eye(6), 1e-15)


def test_what_can_never_be_followed_is_refused_before_any_state():
    arm = da.robot("two_link")
    with pytest.raises(da.Error, match="of the joints of two_link, 2 can move 'link2', too few for 6 independent velocities"):
        arm.task_inertia([0.1, 0.2])
    with pytest.raises(da.Error, match="row vz of the body Jacobian of 'link2' is zero"):
        arm.task_inertia([0.1, 0.2], rows=("vx", "vz"))
    with pytest.raises(da.Error, match="0 can move 'base'"):
        arm.task_gravity([0.1, 0.2], "base", rows=("vx",))
    stand = da.Robot("stand", ())
    with pytest.raises(da.Error, match="0 can move 'base'"):
        stand.task_inertia([], "base", damping=1.0)


def test_joints_without_inertia_are_named():
    ghost = da.Robot("ghost", (da.Link("a", "base", da.Joint("j")),))
    with pytest.raises(da.Error, match="joint 'j' of ghost has no positive inertia"):
        ghost.task_inertia([0.0], rows=("wz",))
    # a point mass that the second joint turns through the first axis
    rows = [da.DHRow(a=1.0), da.DHRow(a=1.0, inertia=da.Inertia.from_com(1.0, (0, 0, 0)))]
    arm = da.Robot.from_dh(rows, convention="standard", name="point")
    with pytest.raises(da.Error, match="joint 'joint1' of point has no positive inertia about its axis at q"):
        arm.task_inertia([0.0, 0.0], rows=("wz",))
    with pytest.warns(da.SingularWarning, match="the mass matrix of point is singular at 1 of 2") as caught:
        arm.task_inertia([[0.0, 0.0], [0.0, 1.0]], rows=("wz",))
    assert len(caught) == 1 and caught[0].filename == __file__


def test_wrong_arguments_are_explained():
    arm = da.robot("panda")
    q = np.full(7, 0.3)
    for rows, message in (
        (("vx", "vw"), "unknown row of a twist .* 'vw'"),
        ((3, 6), "unknown row of a twist .* 6"),
        ((), "one or more different rows"),
        ((3, "vx"), "one or more different rows"),
        ("vx", "rows must be a tuple"),
        (None, "rows must be a list"),
    ):
        with pytest.raises(da.Error, match=message):
            arm.task_inertia(q, rows=rows)
    with pytest.raises(da.Error, match="unknown link or frame of panda"):
        arm.task_inertia(q, "nowhere")
    with pytest.raises(da.Error, match="unknown frame of a twist"):
        arm.task_bias(q, q, frame="space")
    with pytest.raises(da.Error, match=r"out has shape \(6, 6\), the result has \(2, 2\)"):
        arm.task_inertia(q, rows=("vx", "vy"), out=np.empty((6, 6)))
    with pytest.raises(da.Error, match="task_inertia: damping must hold numbers"):
        arm.task_inertia(q, damping="much")
    assert arm.program("task_inertia", rows=("vx", "vy")).outputs[0].shape == (2, 2)


def test_nothing_is_said_about_what_is_regular():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        arm = da.robot("panda")
        assert np.isfinite(arm.task_inertia(arm.random_configuration(0, 2000), "panda_hand")).all()


def test_where_the_limit_is():
    """An elbow nearly stretched: J M^-1 J^T has digits left at q2 = 1e-3, and too few at 1e-6."""
    arm = da.robot("two_link")
    options = {"frame": "world_aligned", "rows": ("vx", "vy")}
    near = np.array([0.3, 1e-3])
    L = arm.task_inertia(near, **options)
    J = arm.jacobian(near, frame="world_aligned")[3:5]
    close(L @ (J @ arm.inverse_mass_matrix(near) @ J.T), np.eye(2), 1e-7)
    for q2 in (1e-6, 1e-9):
        with pytest.raises(da.Error, match="condition number"):
            arm.task_inertia([0.3, q2], **options)
    q = np.array([0.3, 0.0])
    with pytest.raises(da.Error, match="condition number"):
        arm.task_gravity(q, out=q, **options)
