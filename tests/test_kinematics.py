"""Poses, twists and Jacobians against derivatives of the poses, each other, and the laws of momentum."""

from dataclasses import replace
from functools import partial

import numpy as np
import pytest
from conftest import REFERENCE, STRUCTURES, close, reference_robot, sweep

import dalembert as da
from dalembert.algebra.spatial import Ad, Ad_matrix, Transform, hat
from dalembert.engine.kernels import kernels_of
from dalembert.trace.source import NumpyKernel

FRAMES = ("body", "world_aligned", "world")
POINT = np.array([0.2, -0.1, 0.35])
H = 1e-30  # of a complex step


def robots():
    yield from (da.random_robot(3 + k, joints, parents) for k, (joints, parents) in enumerate(STRUCTURES))
    yield from (da.robot(name) for name in ("panda", "puma560", "stanford", "two_link"))


ROBOTS = {robot.name: robot for robot in robots()}


@pytest.fixture(params=sweep(ROBOTS, quick=(1, 7)))
def robot(request):
    return ROBOTS[request.param]


def state(robot, *shape, seed=0):
    return np.random.default_rng(seed).uniform(-1, 1, (2, *shape, robot.n))


def links(robot):
    """A link at an end, one in the middle, and every kind of named frame."""
    return {robot.link_names[-1], robot.link_names[robot.n // 2], *robot.frame_names[-1:]}


def transform(matrix):
    return Transform(matrix[..., :3, :3], matrix[..., :3, 3])


def along(function, q, qd):
    """The derivative of a function of q in the direction qd, exact to rounding."""
    return np.imag(function(q + 1j * H * qd)) / H


def by_hand(robot, q, name):
    """A pose, product by product, from the robot's links and frames."""
    index, pose = robot.locate(name)
    T = pose
    while index >= 0:
        link = robot.links[index]
        T, index = link.pose(float(q[index])) @ T, robot.parents[index]
    return (robot.base @ T).matrix


# --- poses --------------------------------------------------------------------------------------------------------------


def test_pose_is_the_product_of_the_steps(robot):
    q, _ = state(robot)
    for name in (robot.base_name, *robot.link_names, *robot.frame_names):
        close(robot.pose(q, name), by_hand(robot, q, name), 1e-14)
    assert robot.poses(q).shape == (robot.n, 4, 4)
    for i, name in enumerate(robot.link_names):
        close(robot.poses(q)[i], robot.pose(q, name), 1e-14)


@pytest.mark.parametrize("name", REFERENCE)
def test_poses_of_the_references(name):
    ref, robot = REFERENCE[name], reference_robot(name)
    close(robot.poses(ref["q"]), ref["link_frames_T0i"], 1e-14)


def test_a_point_moves_the_origin_only():
    arm = da.robot("panda")
    q, _ = state(arm)
    for name in ("panda_link4", "panda_hand"):  # the hand's axes are not those of its link
        plain, moved = arm.pose(q, name), arm.pose(q, name, point=POINT)
        close(moved[:3, :3], plain[:3, :3], 1e-15)
        close(moved[:, 3], plain @ [*POINT, 1], 1e-15)


def test_the_mounting_counts():
    arm = da.robot("panda")
    mount = da.Pose.of((1, 2, 3), (0.1, 0.2, 0.3))
    q, qd = state(arm)
    mounted = arm.with_base(mount)
    close(mounted.poses(q), mount.matrix @ arm.poses(q), 1e-14)
    close(mounted.center_of_mass(q), mount.rotation @ arm.center_of_mass(q) + mount.translation, 1e-14)
    close(mounted.twist(q, qd), arm.twist(q, qd), 1e-14)
    close(mounted.twist(q, qd, frame="world"), Ad(mount.transform, arm.twist(q, qd, frame="world")), 1e-14)


def test_robots_that_differ_in_the_base_alone_share_no_kernel():
    arm = da.robot("two_link").with_gravity((0, 0, 0))
    lifted = arm.with_base(da.Pose.of((0, 0, 1.5)))
    q = np.zeros(2)
    close(arm.poses(q)[:, 2, 3], [0, 0], 1e-15)
    close(lifted.poses(q)[:, 2, 3], [1.5, 1.5], 1e-15)
    close(lifted.center_of_mass(q), [1, 0, 1.5], 1e-15)
    anchored = arm.with_payload(2.0, (0, 0, -1), link=arm.base_name)
    close(anchored.center_of_mass(q), [0.5, 0, -0.5], 1e-15)


# --- Jacobians ----------------------------------------------------------------------------------------------------------


def test_jacobian_is_the_derivative_of_the_pose(robot):
    """T' T^-1 is the hat of the world's twist, T^-1 T' that of the body's."""
    q, qd = state(robot)
    for name in links(robot):
        for point in (None, POINT):
            T = robot.pose(q, name, point=point)
            rate = along(lambda x, name=name, point=point: robot.pose(x, name, point=point), q, qd)
            inverse = np.linalg.inv(T)
            V = {f: robot.twist(q, qd, name, f, point=point, backend="numpy") for f in FRAMES}
            close(hat(V["world"]), rate @ inverse, 1e-13)
            close(hat(V["body"]), inverse @ rate, 1e-13)
            close(V["world_aligned"], [*V["world"][:3], *rate[:3, 3]], 1e-13)
            for f in FRAMES:
                close(robot.jacobian(q, name, f, point=point, backend="numpy") @ qd, V[f], 1e-14)


def test_frames_are_related_by_the_adjoint(robot):
    q, _ = state(robot, seed=1)
    for name in links(robot):
        T = transform(robot.pose(q, name, point=POINT))
        J = {f: robot.jacobian(q, name, f, point=POINT) for f in FRAMES}
        close(J["world"], Ad_matrix(T) @ J["body"], 1e-14)
        close(J["world_aligned"], Ad_matrix(Transform(T.rotation, np.zeros(3))) @ J["body"], 1e-14)
        close(J["world"], robot.jacobian(q, name, "world"), 1e-15)  # the point does not matter


@pytest.mark.parametrize("frame", FRAMES)
def test_rate_is_the_derivative_of_the_jacobian(robot, frame):
    q, qd = state(robot, seed=2)
    for name in links(robot):
        for point in (None, POINT):
            expected = along(lambda x, name=name, point=point: robot.jacobian(x, name, frame, point=point), q, qd)
            close(robot.jacobian_rate(q, qd, name, frame, point=point, backend="numpy"), expected, 1e-13, scale=1.0)


def test_joints_elsewhere_do_not_move_a_link():
    tree = da.random_robot(5, "RRPHRP", (-1, 0, 0, 2, 2, 1))
    q, qd = state(tree)
    for i, name in enumerate(tree.link_names):
        for frame in FRAMES:
            J, rate = (f(name, frame, backend="numpy") for f in (partial(tree.jacobian, q), partial(tree.jacobian_rate, q, qd)))
            off = [j for j in range(tree.n) if j not in tree.tree.path(i)]
            assert not J[:, off].any() and not rate[:, off].any()
            assert all(J[:, j].any() for j in tree.tree.path(i))
    assert not tree.jacobian(q, "base").any() and tree.jacobian(q, "base", point=POINT).shape == (6, 6)
    assert not tree.jacobian_rate(q, qd, "base", "world_aligned").any() and not tree.twist(q, qd, "base").any()
    close(tree.pose(q, "base"), tree.base.matrix, 1e-15)


def test_named_frames_are_links_too():
    arm = da.robot("panda")
    q, _ = state(arm)
    index, pose = arm.locate("panda_hand_tcp")
    close(arm.pose(q, "panda_hand_tcp"), arm.poses(q)[index] @ pose.matrix, 1e-15)
    at = arm.jacobian(q, "panda_link7", "world_aligned", point=pose.translation)
    close(arm.jacobian(q, "panda_hand_tcp", "world_aligned"), at, 1e-15)
    close(arm.jacobian(q), arm.jacobian(q, "panda_link7"), 1e-15)  # the default


@pytest.mark.parametrize("frame", sweep(FRAMES, quick=(1,)))
def test_transposed_jacobian_gives_the_joint_forces_of_a_wrench(frame):
    tree = da.random_robot(6, "RRPHRP", (-1, 0, 0, 2, 2, 1)).with_gravity((0, 0, 0))
    q, _ = state(tree)
    moment, force, zero = np.array([0.3, 1, -2]), np.array([5, 0.1, 2.0]), np.zeros(6)
    point = np.zeros(3) if frame == "world" else POINT
    wrench = da.Wrench(force=force, moment=moment, point=point, frame=frame)
    for name in tree.link_names:
        tau = tree.inverse_dynamics(q, zero, zero, wrenches={name: wrench})
        close(-tau, tree.jacobian(q, name, frame, point=point).T @ [*moment, *force], 1e-14)


@pytest.mark.parametrize("name", REFERENCE)
def test_jacobians_of_the_references(name):
    ref, robot = REFERENCE[name], reference_robot(name)
    kinds = {"mixed": "world_aligned", "body": "body", "space": "world"}
    for task in ref["task_space"].values():
        rows, frame = task["rows_of_6"], kinds[task["kind"]]
        close(robot.jacobian(ref["q"], frame=frame)[rows], task["J"], 1e-14)
        close(robot.jacobian_rate(ref["q"], ref["qd"], frame=frame)[rows], task["Jdot"], 1e-13)
        close(robot.twist(ref["q"], ref["qd"], frame=frame)[rows], task["V"], 1e-14)


GROWING = ("pose", "twist", "jacobian", "jacobian_rate", "center_of_mass", "com_jacobian", "momentum")


@pytest.mark.parametrize("quantity", sweep(GROWING, quick=(0, 2)))
def test_operations_grow_with_the_length_of_the_chain(quantity):
    a, b, c = (da.random_robot(1, "R" * n).operation_count(quantity).total for n in (10, 20, 30))
    assert c - b == pytest.approx(b - a, rel=0.02)


# --- mass and momentum --------------------------------------------------------------------------------------------------


def test_kinetic_energy_is_the_sum_over_the_links(robot):
    robot = robot.without_armature()
    q, _ = state(robot)
    M = np.zeros((robot.n, robot.n))
    for link in robot.links:
        J = robot.jacobian(q, link.name, point=link.inertia.com)
        M += J[:3].T @ link.inertia.tensor @ J[:3] + link.inertia.mass * J[3:].T @ J[3:]
    close(M, robot.mass_matrix(q), 1e-13)


def test_momentum_is_the_sum_over_the_links(robot):
    q, qd = state(robot)
    angular, linear, center = (
        np.zeros(3),
        np.zeros(3),
        robot.base_inertia.mass * (robot.base.matrix @ [*robot.base_inertia.com, 1])[:3],
    )
    for link in robot.links:
        T = robot.pose(q, link.name, point=link.inertia.com)
        w, v = np.split(robot.twist(q, qd, link.name, "world_aligned", point=link.inertia.com), 2)
        p = link.inertia.mass * v
        linear += p
        angular += T[:3, :3] @ link.inertia.tensor @ T[:3, :3].T @ w + np.cross(T[:3, 3], p)
        center += link.inertia.mass * T[:3, 3]
    scale = float(np.abs(angular).max() + np.abs(linear).max())
    close(robot.momentum(q, qd), [*angular, *linear], 1e-13, scale)
    center = center / robot.total_mass
    close(robot.center_of_mass(q), center, 1e-13)
    close(robot.momentum(q, qd, about="com"), [*(angular - np.cross(center, linear)), *linear], 1e-13, scale)


def test_com_jacobian_is_a_derivative_and_gives_the_linear_momentum(robot):
    q, qd = state(robot, seed=3)
    expected = along(robot.center_of_mass, q, qd)
    close(robot.com_jacobian(q) @ qd, expected, 1e-13, scale=1.0)
    close(robot.total_mass * expected, robot.momentum(q, qd)[3:], 1e-13, scale=robot.total_mass)


def test_momentum_changes_by_gravity_and_the_force_at_the_base(robot):
    """Newton and Euler for the whole robot: what the first joints exert on their links, and the weight at the centre of mass."""
    q, qd = state(robot, seed=4)
    qdd = np.cos(np.arange(robot.n))
    carried = robot.joint_wrenches(q, qd, qdd)
    weight = sum(link.inertia.mass for link in robot.links) * robot.gravity
    moving = robot.total_mass * robot.center_of_mass(q)
    moving = moving - robot.base_inertia.mass * (robot.base.matrix @ [*robot.base_inertia.com, 1])[:3]
    total = np.array([*np.cross(moving, robot.gravity), *weight])
    for i, parent in enumerate(robot.parents):
        if parent < 0:
            R, p = transform(robot.poses(q)[i])
            force = R @ carried[i, 3:]
            total += [*(R @ carried[i, :3] + np.cross(p, force)), *force]

    def along_the_motion(t):
        return robot.momentum(q + qd * t + qdd * t * t / 2, qd + qdd * t)

    close(np.imag(along_the_motion(1j * H)) / H, total, 1e-12, scale=float(np.abs(carried).max()))


# --- far away -----------------------------------------------------------------------------------------------------------

FAR = (6.4e6, -1.3e6, 2.7e5)  # metres: a robot on the Earth, seen from its centre
TILT = (0.4, -1.1, 2.3)
NOWHERE = {
    **{f"{name} {frame}": (name, {"frame": frame}) for name in ("jacobian", "jacobian_rate", "twist") for frame in FRAMES[:2]},
    "jacobian at a point": ("jacobian", {"frame": "world_aligned", "optional": ("point",)}),
    "com_jacobian": ("com_jacobian", {}),
    "momentum about com": ("momentum", {"about": "com"}),
    **{name: (name, {}) for name in ("kinetic_energy", "potential_energy")},
}


@pytest.mark.parametrize("case", NOWHERE)
def test_what_does_not_depend_on_the_place_of_the_base_is_computed_without_it(robot, case):
    """The programs of a far robot and of one at the origin of the world are the same, and so are all bits of the results."""
    quantity, options = NOWHERE[case]
    if "frame" in options:
        options = {"link": robot.link_names[-1], **options}
    for tilt in ((0, 0, 0), TILT):
        here, there = (robot.with_base(da.Pose.of(at, tilt)).program(quantity, **options) for at in ((0, 0, 0), FAR))
        assert here.digest == there.digest


@pytest.mark.slow
def test_a_far_base_costs_no_digits():
    arm = da.robot("panda")
    q, qd = state(arm, 5)
    here, there = (arm.with_base(da.Pose.of(at, TILT)) for at in ((0, 0, 0), FAR))
    for frame in FRAMES[:2]:
        for name in ("jacobian", "task_inertia", "task_gravity", "dynamically_consistent_inverse"):
            far, near = (getattr(robot, name)(q, frame=frame, backend="numpy") for robot in (there, here))
            assert np.array_equal(far, near)
        for name in ("twist", "jacobian_rate", "task_bias"):
            far, near = (getattr(robot, name)(q, qd, frame=frame, backend="numpy") for robot in (there, here))
            assert np.array_equal(far, near)
    assert np.array_equal(there.com_jacobian(q), here.com_jacobian(q))
    assert np.array_equal(there.momentum(q, qd, about="com"), here.momentum(q, qd, about="com"))
    assert np.array_equal(there.momentum(q, qd)[..., 3:], here.momentum(q, qd)[..., 3:])
    close(there.pose(q)[..., :3, 3] - FAR, here.pose(q)[..., :3, 3], 1e-8)


def test_a_far_base_feels_the_same_wrenches():
    arm = da.robot("panda")
    q, qd = state(arm, 5)
    here, there = (arm.with_base(da.Pose.of(at, TILT)) for at in ((0, 0, 0), FAR))
    forces = {"force": (5, 0.1, 2.0), "moment": (0.3, 1, -2)}
    for frame in FRAMES:
        point = np.array([0.25, -0.5, 0.75])
        near = {"panda_hand": da.Wrench(**forces, point=point, frame=frame)}
        far = {"panda_hand": da.Wrench(**forces, point=point + FAR if frame == "world" else point, frame=frame)}
        expected = here.inverse_dynamics(q, qd, qd, wrenches=near)
        close(there.inverse_dynamics(q, qd, qd, wrenches=far), expected, 1e-15)


def test_a_base_far_from_the_root_of_a_file_costs_no_digits():
    """The same where the distance stands between the root link and the first joint, as behind a fixed joint of a URDF."""
    arm = da.robot("panda")
    q, qd = state(arm, 5)
    first, *rest = arm.links
    pose = da.Pose(first.before.rotation, first.before.translation + FAR)
    there = replace(arm, links=(replace(first, before=pose), *rest), base_inertia=da.Inertia.zero())
    here = replace(arm, base_inertia=da.Inertia.zero())
    for frame in FRAMES[:2]:
        assert np.array_equal(there.jacobian(q, frame=frame), here.jacobian(q, frame=frame))
    assert np.array_equal(there.com_jacobian(q), here.com_jacobian(q))
    assert np.array_equal(there.momentum(q, qd, about="com"), here.momentum(q, qd, about="com"))


# --- evaluation ---------------------------------------------------------------------------------------------------------

CALLS = {
    "pose": lambda r, q, qd, **o: r.pose(q, **o),
    "poses": lambda r, q, qd, **o: r.poses(q, **o),
    "twist": lambda r, q, qd, **o: r.twist(q, qd, frame="world", **o),
    "jacobian": lambda r, q, qd, **o: r.jacobian(q, frame="world_aligned", **o),
    "jacobian_rate": lambda r, q, qd, **o: r.jacobian_rate(q, qd, **o),
    "center_of_mass": lambda r, q, qd, **o: r.center_of_mass(q, **o),
    "com_jacobian": lambda r, q, qd, **o: r.com_jacobian(q, **o),
    "momentum": lambda r, q, qd, **o: r.momentum(q, qd, about="com", **o),
}


@pytest.mark.parametrize("name", CALLS)
@pytest.mark.parametrize("shape", sweep([((),), ((1,),), ((3, 1, 2),), ((0,),), ((300,),)], quick=(0, 2)))
def test_batches_and_backends(name, shape):
    arm, call = da.random_robot(2, "RPHR"), CALLS[name]
    q, qd = state(arm, *shape)
    found = call(arm, q, qd)
    assert found.shape[: len(shape)] == shape
    close(call(arm, q, qd, backend="numpy"), found, 1e-14)
    out = np.empty_like(found)
    assert call(arm, q, qd, out=out) is out and np.array_equal(out, found)
    for index in np.ndindex(*shape):
        assert np.array_equal(call(arm, q[index], qd[index]), found[index])


def test_points_broadcast_with_the_states_and_compile_once():
    arm = da.random_robot(2, "RPHR")
    q, qd = state(arm, 3, 1)
    points = np.random.default_rng(5).uniform(-1, 1, (4, 3))
    J, rate = arm.jacobian(q, point=points), arm.jacobian_rate(q, qd, point=points)
    assert J.shape == rate.shape == (3, 4, 6, 4)
    kernels = len(kernels_of(arm))
    for i, k in np.ndindex(3, 4):
        close(arm.jacobian(q[i, 0], point=points[k]), J[i, k], 1e-15)
    assert len(kernels_of(arm)) == kernels
    for i, k in np.ndindex(3, 4):
        close(arm.pose(q[i, 0], point=points[k]), arm.pose(q, point=points)[i, k], 1e-15)


def test_a_robot_without_joints_has_poses():
    frame = da.Frame("tool0", "base", da.Pose.of((0, 0, 1)))
    stand = da.Robot("stand", (), frames=(frame,), base=da.Pose.of((1, 0, 0)), base_inertia=da.Inertia.from_com(2.0, (0, 0, 0.5)))
    q = np.zeros(0)
    close(stand.pose(q, "tool0"), da.Pose.of((1, 0, 1)).matrix, 1e-15)
    close(stand.pose(np.zeros((5, 0)), "tool0", point=(0, 1, 0))[4, :3, 3], [1, 1, 1], 1e-15)
    assert stand.poses(q).shape == (0, 4, 4)
    assert stand.jacobian(q, "tool0").shape == stand.jacobian_rate(q, q, "base", "world").shape == (6, 0)
    assert not stand.twist(q, q, "tool0").any() and not stand.momentum(q, q, about="com").any()
    close(stand.center_of_mass(q), [1, 0, 0.5], 1e-15)
    assert stand.com_jacobian(np.zeros((2, 0))).shape == (2, 3, 0)
    with pytest.raises(da.Error, match="0 end links"):
        stand.pose(q)


def test_programs_take_the_same_options():
    arm = da.robot("panda")
    program = arm.program("jacobian", link="panda_hand", frame="world", optional=("point",))
    assert [v.name for v in program.inputs] == ["q", "point"] and program.outputs[0].shape == (6, 7)
    q, _ = state(arm)
    close(NumpyKernel(program)(q, POINT), arm.jacobian(q, "panda_hand", "world"), 1e-15)
    assert arm.compile("jacobian", link="panda_hand").backend == "native"


def test_wrong_names_are_explained():
    arm = da.robot("panda")
    q = np.zeros(7)
    arm.jacobian(q)
    with pytest.raises(da.Error, match="unknown link or frame of panda: 'panda_hnd'; did you mean 'panda_hand'"):
        arm.jacobian(q, "panda_hnd")
    with pytest.raises(da.Error, match=r"unknown link or frame of panda: \['panda_hand'\]"):
        arm.pose(q, ["panda_hand"])
    with pytest.raises(da.Error, match="unknown frame of a twist: 'bodi'; did you mean 'body'"):
        arm.twist(q, q, frame="bodi")
    with pytest.raises(da.Error, match="unknown frame of a twist: None"):
        arm.jacobian_rate(q, q, frame=None)
    with pytest.raises(da.Error, match="unknown point of reference of momentum: 'base'"):
        arm.momentum(q, q, about="base")
    with pytest.raises(da.Error, match=r"jacobian: q has shape \(6,\), panda needs \(..., 7\)"):
        arm.jacobian(np.zeros(6))
    with pytest.raises(da.Error, match=r"pose: point has shape \(2,\)"):
        arm.pose(q, point=(1, 2))
    with pytest.raises(da.Error, match="2 end links"):
        da.random_robot(1, "RRR", (-1, 0, 0)).jacobian(np.zeros(3))
    ghost = da.Robot("ghost", (da.Link("a", "base", da.Joint("j")),))
    with pytest.raises(da.Error, match="ghost has no mass"):
        ghost.center_of_mass([0.0])
    with pytest.raises(da.Error, match="unknown option of jacobian: 'lnk'; did you mean 'link'"):
        arm.program("jacobian", lnk="panda_hand")
