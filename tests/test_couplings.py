"""Coupled joints and motors: every quantity against B^T (...) B of the tree, laws of motion, files, and what is refused."""

import warnings
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
from conftest import close, sweep, urdf_corpus

import dalembert as da
from dalembert.engine.registry import QUANTITIES
from dalembert.formulations import formulation
from dalembert.studies.proof import compare
from dalembert.trace.source import NumpyKernel

RNG = np.random.default_rng(21)
ROBOTS = {
    "gripper": lambda: da.random_robot(3, "RRPP", (-1, 0, 1, 1)).with_coupling(
        {"joint4": {"joint3": -0.5}}, offset={"joint4": 0.3}
    ),
    "chain": lambda: da.random_robot(4, "RRRR").with_coupling({"joint2": {"joint1": 2.0}, "joint4": {"joint2": -1.0}}),
    "differential": lambda: da.random_robot(5, "RRRH").with_coupling(
        [[1, 0, 0], [0, 0.5, 0.5], [0, 0.5, -0.5], [0, 1, 0.25]], offset=[0, 0.1, 0, -0.2], names=("joint1", "left", "right")
    ),
    "motors": lambda: da.random_robot(6, "RPR").with_transmission(
        [[20, 3, 0], [0, 30, 1], [0, -30, 5]], rotor_inertia=[1e-3, 2e-3, 0]
    ),
    "both": lambda: (
        da.random_robot(7, "RRRR", (-1, 0, 1, 1))
        .with_armature([0.1, 0, 0.2, 0.3])
        .with_coupling({"joint4": {"joint3": 1.5, "joint1": -1.0}})
        .with_transmission([[10, 0, 0], [0, 5, 5], [0, 5, -5]], rotor_inertia=2e-3)
    ),
}


def state(robot):
    return RNG.uniform(-1, 1, (3, robot.n))


def matrices(robot):
    """B and b, and the reflected inertia of the motors."""
    B, b = (np.eye(robot.n), np.zeros(robot.n)) if robot.coupling is None else (robot.coupling.matrix, robot.coupling.offset)
    R = np.zeros((robot.n, robot.n)) if robot.transmission is None else robot.transmission.inertia
    return B, b, R


def evaluated(robot, quantity, method, given, **options):
    return NumpyKernel(robot.program(quantity, method, **options))(*given.values())


OPTIONS = {
    "regressor": {"friction": True, "armature": True, "friction_offset": True},
    **{key: {"link": "link3"} for key in ("pose", "twist", "jacobian", "jacobian_rate")},
}
FOLLOWING = [name for name, quantity in QUANTITIES.items() if quantity.follows]
QUICK = [FOLLOWING.index(name) for name in ("inverse_dynamics", "kinetic_energy", "regressor", "poses")]


@pytest.mark.parametrize("which", sweep(ROBOTS, quick=(3,)))
@pytest.mark.parametrize("name", sweep(FOLLOWING, quick=QUICK))
def test_what_takes_motions_and_gives_forces_is_that_of_the_tree(which, name):
    """The tensor law, written with tensordot, for every quantity of the registry that the rule is for; by every method for two,
    and by three where programs are long."""
    robot, quantity = ROBOTS[which](), QUANTITIES[name]
    tree, (B, b, R) = robot.open, matrices(robot)
    given = {key: RNG.uniform(-1, 1, values.sized(robot)) for key, values in quantity.inputs.items()}
    spread = {key: B @ x + (b if key == "q" else 0) for key, x in given.items()}
    reflected = {  # what rotors behind a transmission add, by hand
        "inverse_dynamics": lambda: (R @ given["qdd"],),
        "mass_matrix": lambda: (R,),
        "kinetic_energy": lambda: (given["qd"] @ R @ given["qd"] / 2,),
        "inverse_dynamics_derivatives": lambda: (0.0, 0.0, R),
    }
    many = 3 if name in ("inverse_dynamics_hessian", "inverse_dynamics_second_derivatives") else len(quantity.methods)
    for method in quantity.methods[:many] if which in ("gripper", "motors") else (quantity.method,):
        ours, theirs = (evaluated(r, name, method, x, **OPTIONS.get(name, {})) for r, x in ((robot, given), (tree, spread)))
        if not isinstance(ours, tuple):
            ours, theirs = (ours,), (theirs,)
        more = reflected.get(name, lambda: (0.0,) * len(quantity.outputs))()
        for x, y, plus, values in zip(ours, theirs, more, quantity.outputs.values(), strict=True):
            for axis, kind in enumerate(values.shape):
                y = np.moveaxis(np.tensordot(y, B, (axis, 0)), -1, axis) if kind == "n" else y
            close(x, y + plus, 1e-12)


def test_the_rule_covers_what_it_should():
    """What the rule is not for: what takes forces or gives accelerations, laws of control and of tasks, and factors of M."""
    others = {name for name in QUANTITIES if name not in FOLLOWING}
    assert {name for name in others if QUANTITIES[name].coupled} == {
        "forward_dynamics", "inverse_mass_matrix", "forward_dynamics_derivatives", "gravity_compensation", "computed_torque",
        "impedance", "momentum_observer", "task_inertia", "task_bias", "task_gravity", "dynamically_consistent_inverse",
    }  # fmt: skip
    for name in others:
        if not QUANTITIES[name].coupled:
            with pytest.raises(da.Error, match=r"does not support the coupled joints of .*; robot\.uncoupled\(\) has none"):
                ROBOTS["gripper"]().program(name)
            with pytest.raises(da.Error, match=r"does not support the rotors .*; robot\.without_transmission\(\) has none"):
                ROBOTS["motors"]().program(name)


@pytest.mark.parametrize("which", sweep(ROBOTS, quick=(0, 3)))
def test_equations_of_motion(which):
    """Forward dynamics by every method it has inverts inverse dynamics; M, C and g; Mdot - 2 C is skew; the energy's rate."""
    robot = ROBOTS[which]()
    q, qd, qdd = state(robot)
    tau = robot.inverse_dynamics(q, qd, qdd, backend="numpy")
    M, C, g = (
        robot.mass_matrix(q, backend="numpy"),
        robot.coriolis_matrix(q, qd, backend="numpy"),
        robot.gravity_force(q, backend="numpy"),
    )
    close(M @ qdd + C @ qd + g, tau, 1e-12)
    for method in (None, "walker_orin_3", "joint_acceleration"):
        close(robot.forward_dynamics(q, qd, tau, method=method, backend="numpy"), qdd, 1e-10)
    with pytest.raises(da.Error, match="these methods do: walker_orin_3, joint_acceleration"):
        robot.forward_dynamics(q, qd, tau, method="articulated_body")
    close(robot.inverse_mass_matrix(q, backend="numpy") @ M, np.eye(robot.n), 1e-10)
    h = 1e-5
    Mdot = (robot.mass_matrix(q + h * qd, backend="numpy") - robot.mass_matrix(q - h * qd, backend="numpy")) / (2 * h)
    close(Mdot, C + C.T, 1e-7)
    close(robot.mass_matrix_rate(q, qd, backend="numpy"), C + C.T, 1e-12)
    close(robot.kinetic_energy(q, qd, backend="numpy"), qd @ M @ qd / 2, 1e-12)
    slopes = [
        (robot.potential_energy(q + h * e, backend="numpy") - robot.potential_energy(q - h * e, backend="numpy")) / (2 * h)
        for e in np.eye(robot.n)
    ]
    close(np.array(slopes), g, 1e-7)


@pytest.mark.parametrize("which", ("both", "differential"))
def test_derivatives_of_forward_dynamics(which):
    robot = ROBOTS[which]().with_friction(damping=0.3)
    state_ = list(state(robot))
    found, h = robot.forward_dynamics_derivatives(*state_, backend="numpy"), 1e-6
    for k, expected in enumerate(found):
        columns = []
        for e in h * np.eye(robot.n):
            ends = [
                robot.forward_dynamics(*(x + s * e if i == k else x for i, x in enumerate(state_)), backend="numpy")
                for s in (1, -1)
            ]
            columns.append((ends[0] - ends[1]) / (2 * h))
        close(np.stack(columns, axis=-1), expected, 1e-6)


@pytest.mark.parametrize("which", sweep(ROBOTS, quick=(0, 3)))
def test_friction_of_coupled_joints(which):
    """Each joint of the tree rubs at its own speed: damping is B^T D B, Coulomb friction B^T c sign(B qd)."""
    robot, (B, _, _) = ROBOTS[which](), matrices(ROBOTS[which]())
    rubbing = robot.with_friction(damping=(d := np.arange(1.0, len(B) + 1)), coulomb=(c := 0.5 * d), friction_offset=0.1 * d)
    q, qd, qdd = state(robot)
    friction = B.T @ (d * (B @ qd) + c * np.sign(B @ qd) + 0.1 * d)
    close(rubbing.friction_force(qd), friction, 1e-14)
    tau = rubbing.inverse_dynamics(q, qd, qdd, backend="numpy")
    close(tau, robot.inverse_dynamics(q, qd, qdd, backend="numpy") + friction, 1e-13)
    close(rubbing.forward_dynamics(q, qd, tau, backend="numpy"), qdd, 1e-10)
    p = rubbing.regressor_parameters(friction=True, armature=True, friction_offset=True)
    Y = rubbing.regressor(q, qd, qdd, friction=True, armature=True, friction_offset=True, backend="numpy")
    close(Y @ p.values + matrices(robot)[2] @ qdd, tau, 1e-12)
    base = robot.base_parameters()
    close(
        robot.base_regressor(q, qd, qdd, backend="numpy") @ base.values,
        robot.without_armature().inverse_dynamics(q, qd, qdd, backend="numpy"),
        1e-9,
    )
    assert base.rank <= robot.open.base_parameters().rank


def test_load_friction_of_a_joint_that_is_not_coupled():
    """Inverse and forward dynamics are inverse to each other; what is coupled may not have it."""
    robot = ROBOTS["gripper"]().with_friction(damping=0.1, load_friction={"joint1": 0.2})
    q, qd, qdd = state(robot)
    tau = robot.inverse_dynamics(q, qd, qdd, backend="numpy")
    close(robot.forward_dynamics(q, qd, tau, backend="numpy"), qdd, 1e-10)
    with pytest.raises(da.Error, match="'joint3' is coupled"):
        robot.with_friction(load_friction=0.2)


def test_reflected_joints():
    """Limits are intersected through the multiplier, friction is that of all joints that follow."""
    joint = da.Joint(
        "joint2",
        lower=-2.0,
        upper=1.0,
        velocity_limit=3.0,
        damping=1.0,
        coulomb=2.0,
        armature=0.5,
        static_friction=3.0,
        stribeck_speed=0.4,
    )
    tree = da.random_robot(1, "RR").with_friction(damping=0.1, coulomb=0.2).with_armature(0.3)
    tree = replace(tree, links=(tree.links[0], replace(tree.links[1], joint=joint)))
    robot = tree.with_coupling({"joint2": {"joint1": -2.0}}, offset={"joint2": 0.5})
    (found,) = robot.joints
    assert (found.lower, found.upper, found.velocity_limit) == (-0.25, 1.25, 1.5)
    assert (found.damping, found.coulomb, found.armature) == (4.1, 4.2, 2.3)
    assert (found.static_friction, found.stribeck_speed) == (pytest.approx(6.2), 0.2)
    close(robot.friction_force([0.7]), robot.coupling.matrix.T @ tree.friction_force([0.7, -1.4]), 1e-15)
    q = robot.random_configuration(0, 50)
    assert ((tree.lower <= robot.to_uncoupled(q)) & (robot.to_uncoupled(q) <= tree.upper)).all()


@pytest.mark.slow
@pytest.mark.parametrize("which", ("gripper", "both"))
def test_tasks_and_control(which):
    """Task space and control laws from M, J and g of the coupled robot."""
    robot = ROBOTS[which]()
    q, qd, qdd = state(robot)
    M, J = robot.mass_matrix(q), robot.jacobian(q, "link3", "world_aligned")[3:5]
    task = {"link": "link3", "frame": "world_aligned", "rows": ("vx", "vy")}
    Lambda = np.linalg.inv(J @ np.linalg.inv(M) @ J.T)
    close(robot.task_inertia(q, **task), Lambda, 1e-9)
    close(robot.task_gravity(q, **task), Lambda @ J @ np.linalg.inv(M) @ robot.gravity_force(q), 1e-9)
    Jd = robot.jacobian_rate(q, qd, "link3", "world_aligned")[3:5]
    close(robot.task_bias(q, qd, **task), Lambda @ (J @ np.linalg.inv(M) @ robot.coriolis_force(q, qd) - Jd @ qd), 1e-9)
    close(J @ robot.dynamically_consistent_inverse(q, **task), np.eye(2), 1e-9)
    gains = np.full((2, robot.n), 4.0)
    close(robot.computed_torque(q, qd, q, qd, qdd, *gains), robot.inverse_dynamics(q, qd, qdd), 1e-12)
    target = robot.pose(q, "link3")
    close(robot.impedance(q, 0 * qd, target, np.ones(6), np.ones(6), np.ones(robot.n), "link3"), robot.gravity_force(q), 1e-9)
    target[:3, 3] += 0.1
    full = robot.jacobian(q, "link3", "world_aligned")[3:]
    pulled = robot.gravity_force(q) + full.T @ np.full(3, 10.0)
    close(robot.impedance(q, 0 * qd, target, np.full(6, 100.0), np.ones(6), np.ones(robot.n), "link3"), pulled, 1e-9)
    observer = da.MomentumObserver(robot, gain=50.0, dt=1e-3)
    fall = robot.simulate(q, duration=0.2)
    assert abs(observer.along(fall.q, fall.qd, fall.tau)).max() < 0.1 * abs(robot.gravity_force(q)).max()


def test_adaptive_control_of_a_coupled_robot():
    from dalembert.control.controllers import slotine_li_regressor

    robot = ROBOTS["both"]().with_friction(damping=0.2, coulomb=0.3)
    (q, qd, qdd_r), qd_r = state(robot), state(robot)[0]
    p = robot.regressor_parameters(friction=True, armature=True).values
    expected = (
        robot.mass_matrix(q) @ qdd_r + robot.coriolis_matrix(q, qd) @ qd_r + robot.gravity_force(q) + robot.friction_force(qd_r)
    )
    close(slotine_li_regressor(robot, q, qd, qd_r, qdd_r) @ p, expected - matrices(robot)[2] @ qdd_r, 1e-10)


def test_forward_dynamics_is_the_inverse_modulo_a_prime():
    """For every arm of revolute and two prismatic joints, the second of which follows the first: as rational functions."""
    coupling = da.Coupling(("joint1", "joint2"), [[1, 0], [0, 1], [0, -3]], [0, 0, 0.5])

    def inverse(tree, q, qd, qdd, wrenches, method="newton_euler"):
        spread = coupling.positions(q), coupling.rates(qd), coupling.rates(qdd)
        return coupling.forces(formulation("inverse_dynamics", method)(tree, *spread, wrenches))

    def mass(tree, q):
        M = formulation("mass_matrix", "composite_body")(tree, coupling.positions(q))
        return coupling.pulled_back(coupling.pulled_back(M, 0), 1)

    def there_and_back(tree, q, qd, qdd, wrenches):
        q, qd, qdd = (x[:2] for x in (q, qd, qdd))
        tau = inverse(tree, q, qd, qdd, wrenches)
        parts = {
            "inverse_dynamics": lambda tree, q, qd, qdd, wrenches, *_: inverse(tree, q, qd, qdd, wrenches),
            "mass_matrix": mass,
        }
        return formulation("forward_dynamics", "walker_orin_3")(tree, q, qd, tau, wrenches, **parts)

    def same(tree, q, qd, qdd, wrenches):
        return qdd[:2]

    def by(method):
        return lambda tree, q, qd, qdd, wrenches: inverse(tree, q[:2], qd[:2], qdd[:2], wrenches, method)

    assert compare("RPP", [there_and_back, same], ("forward of inverse", "itself"), moving=False)
    assert compare("RPP", [by("newton_euler"), by("lagrange_euler")], ("newton_euler", "lagrange_euler"), moving=False)


# --- motion -------------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("which", sweep(ROBOTS, quick=(0, 3)))
def test_energy_is_kept(which):
    robot = ROBOTS[which]()
    assert robot.simulate(np.zeros(robot.n), duration=0.3).drift < 1e-6


def test_the_tree_moves_alike_when_forces_hold_it_to_its_coupling():
    """Constraint forces that do no work: the tree under the forces that inverse dynamics gives follows the coupled motion."""
    robot = ROBOTS["differential"]()
    motion = robot.simulate([0.1, 0.2, -0.3], duration=0.2)
    tree, (B, _, _) = robot.open, matrices(robot)
    q, qd, qdd = robot.to_uncoupled(motion.q), robot.to_uncoupled(motion.qd, rates=True), robot.to_uncoupled(motion.qdd, rates=True)
    forces = tree.inverse_dynamics(q, qd, qdd)
    close(forces @ B, np.zeros(motion.q.shape), 1e-9, scale=abs(forces).max())


def test_friction_and_stops_of_a_gripper():
    """Followers' friction holds the leader, up to the sum of their levels; stops are those of whichever comes first."""
    inertia = da.Inertia.from_com(1.0, (0, 0, 0), 0.0)
    links = [
        da.Link(f"finger{k}", "base", da.Joint(f"slide{k}", "prismatic", lower=-0.5, upper=0.1 * k, coulomb=1.0), inertia=inertia)
        for k in (1, 2)
    ]
    gripper = da.Robot("gripper", tuple(links), gravity=(0, 0, 0)).with_coupling({"slide2": {"slide1": 2.0}})
    assert gripper.upper.tolist() == [0.1]
    held = gripper.forward_dynamics([0.0], [0.0], [2.9], sticking=True)
    assert (held.qdd.tolist(), held.friction.tolist()) == ([0.0], [2.9])
    moving = gripper.forward_dynamics([0.0], [0.0], [8.0], sticking=True)
    close(moving.qdd, [(8.0 - 3.0) / 5.0], 1e-12)
    motion = gripper.simulate([0.0], duration=1.0, torque=[8.0], restitution=0.0)
    assert motion.q[-1, 0] == 0.1
    assert motion.drift < 1e-6
    still = gripper.simulate([0.0], duration=0.1, torque=[2.9])
    assert not still.qd.any()
    smooth = gripper.simulate([0.0], duration=0.1, torque=[8.0], slip_speed=1e-3)
    assert smooth.drift < 1e-4


def test_friction_that_holds_no_joint_by_itself():
    robot = ROBOTS["differential"]().with_friction(coulomb=0.5)
    with pytest.raises(da.Error, match="moved by several coordinates, so friction cannot hold one joint after the other"):
        robot.simulate(np.zeros(3), duration=0.1)
    assert robot.simulate(np.zeros(3), duration=0.1, slip_speed=1e-2).drift < 1e-3


# --- motors -------------------------------------------------------------------------------------------------------------------


def test_motors():
    """Power is the same at joints and motors, and tau = G^T f; a rotor behind a plain gearbox is an armature."""
    robot = ROBOTS["both"]()
    q, qd, qdd = state(robot)
    tau, G = robot.inverse_dynamics(q, qd, qdd), robot.transmission.matrix
    speed, force = robot.to_motors(qd, tau)
    close(speed @ force, qd @ tau, 1e-12)
    close(G.T @ force, tau, 1e-12)
    batch = robot.to_motors(np.stack([qd, 2 * qd]), tau)
    assert batch.speed.shape == (2, 3)
    arm = da.robot("two_link")
    geared, plain = arm.with_transmission([50.0, 30.0], rotor_inertia=[1e-4, 2e-4]), arm.with_armature([0.25, 0.18])
    close(geared.mass_matrix([0.1, 0.2]), plain.mass_matrix([0.1, 0.2]), 1e-14)
    close(geared.forward_dynamics([0.1, 0.2], [1, 2], [3, 4]), plain.forward_dynamics([0.1, 0.2], [1, 2], [3, 4]), 1e-12)
    assert geared.without_armature().mass_matrix([0.1, 0.2]).tolist() == arm.mass_matrix([0.1, 0.2]).tolist()
    still = arm.with_transmission([50.0, 30.0])
    assert still.is_tree and still.program("forward_dynamics", "articulated_body")
    with pytest.raises(da.Error, match="1 motors of two_link cannot make these forces"):
        arm.with_transmission([[1.0, 2.0]]).to_motors([0, 0], [1, 0])


# --- making, changing, keeping ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("which", sweep(ROBOTS, quick=(0, 3)))
def test_files_values_and_changes(which, tmp_path):
    robot = ROBOTS[which]()
    robot.save(tmp_path / "robot.toml")
    again = da.load(tmp_path / "robot.toml")
    assert again == robot and hash(again) == hash(robot)
    assert robot != robot.open and "coupl" not in repr(robot.open)
    assert da.load(tmp_path / "robot.toml", mimic=False).n == len(robot.links)
    q, qd, qdd = state(robot)
    for other in (robot.with_gravity((0, 0, -1.0)).with_gravity(robot.gravity), robot.snapped(0.0), robot.with_base(robot.base)):
        close(other.inverse_dynamics(q, qd, qdd, backend="numpy"), robot.inverse_dynamics(q, qd, qdd, backend="numpy"), 1e-12)
    heavy = robot.with_payload(2.0, (0, 0, 0.1), link="link2")
    assert heavy.coupling == robot.coupling and heavy.transmission == robot.transmission
    close(robot.with_parameters(robot.parameters()).mass_matrix(q, backend="numpy"), robot.mass_matrix(q, backend="numpy"), 0)
    name = robot.joint_names[0]
    held = robot.lock({name: q[0]})
    assert held.joint_names == robot.joint_names[1:]
    close(held.mass_matrix(q[1:], backend="numpy"), robot.mass_matrix(q, backend="numpy")[1:, 1:], 1e-12)
    close(held.gravity_force(q[1:], backend="numpy"), robot.gravity_force(q, backend="numpy")[1:], 1e-12)


def test_joints_that_follow_may_be_locked_where_they_are():
    robot = ROBOTS["gripper"]()
    alone = robot.lock({"joint3": 0.2})
    assert robot.lock({"joint4": 0.3 - 0.5 * 0.2 + 1e-12, "joint3": 0.2}) == alone
    for wrong in ({"joint3": 0.2, "joint4": 0.2 + 1e-6}, {"joint4": 0.3}):
        with pytest.raises(da.Error, match="lock: 'joint4' follows 'joint3' "):
            robot.lock(wrong)


def test_kernels_of_different_couplings_are_different():
    """The key of stored code has the coupling in it."""
    from dalembert.engine.kernels import _content
    from dalembert.engine.registry import quantity_named

    tree, quantity = da.random_robot(1, "RR"), quantity_named("inverse_dynamics")
    made = [tree, *(tree.with_coupling({"joint2": {"joint1": x}}, offset={"joint2": y}) for x, y in ((1, 0), (2, 0), (1, 1)))]
    made += [tree.with_transmission([[1.0, x], [0.0, 1.0]], rotor_inertia=1e-3) for x in (1.0, 2.0)]
    assert len({_content(robot, quantity) for robot in made}) == len(made)
    taus = [robot.inverse_dynamics(*np.ones((3, robot.n)))[0] for robot in made]
    assert len(set(taus)) == len(made)


def test_chains_and_composition():
    """A coupling of a coupled robot is the product of both; dict and matrix say the same."""
    tree = da.random_robot(2, "RRRR")
    once = tree.with_coupling(
        {"joint2": {"joint1": 2.0}, "joint4": {"joint2": 3.0, "joint3": 1.0}}, offset={"joint2": 0.1, "joint4": 0.2}
    )
    twice = tree.with_coupling({"joint4": {"joint2": 3.0, "joint3": 1.0}}, offset={"joint4": 0.2}).with_coupling(
        {"joint2": {"joint1": 2.0}}, offset={"joint2": 0.1}
    )
    by_matrix = tree.with_coupling([[1, 0], [2, 0], [0, 1], [6, 1]], offset=[0, 0.1, 0, 0.5], names=("joint1", "joint3"))
    for other in (twice, by_matrix):
        assert other.joint_names == once.joint_names
        close(other.coupling.matrix, once.coupling.matrix, 0)
        close(other.coupling.offset, once.coupling.offset, 1e-15)
    q = np.array([[0.3, 0.4], [1.0, -1.0]])
    close(once.from_uncoupled(once.to_uncoupled(q)), q, 1e-15)
    assert once.to_uncoupled([1, 2]).dtype == float
    close(once.from_uncoupled(once.to_uncoupled(q, rates=True), rates=True), q, 1e-15)
    named = tree.with_coupling([[0.5, 0.5], [0.5, -0.5], [0, 0], [0, 0]], names=("left", "right"))
    close(named.from_uncoupled(named.to_uncoupled(q)), q, 1e-14)
    with pytest.raises(da.Error, match=r"joint 'joint2' is 0.6 off what its coupling says"):
        once.from_uncoupled([0.0, 0.7, 0.0, 2.3])


def joints(**mimics):
    links = [
        da.Link(
            f"l_{name}", "base", da.Joint(name, lower=-1.0, upper=2.0, mimic=m), inertia=da.Inertia.from_com(1.0, (1, 0, 0), 1.0)
        )
        for name, m in mimics.items()
    ]
    return da.Robot("mimics", tuple(links))


def test_mimics():
    robot = joints(a=da.Mimic("b", -1.0), b=da.Mimic("c", 2.0, 0.5), c=None)
    assert robot.joint_names == ("c",)
    assert robot.coupling.told([x.joint for x in robot.links]) == ["a = -2 c - 0.5", "b = 2 c + 0.5"]
    assert (robot.lower.tolist(), robot.upper.tolist()) == ([-0.75], [0.25])
    for told, mimics in {
        "joint 'a' follows itself: a -> b -> a; da.load(..., mimic=False) keeps all joints independent": {
            "a": da.Mimic("b"),
            "b": da.Mimic("a"),
        },
        "joint 'a' follows itself: a -> a; ": {"a": da.Mimic("a"), "b": None},
        "joint 'a' has no position within the limits of all that are coupled to it (a, b): 2.5 .. 2; ": {
            "a": None,
            "b": da.Mimic("a", 2.0, -6.0),
        },
    }.items():
        with pytest.raises(da.Error) as error:
            joints(**mimics)
        assert str(error.value).startswith(told)


MISTAKES = {
    "names at least one joint": lambda r: r.with_coupling({}),
    "did you mean 'joint2'": lambda r: r.with_coupling({"joint2x": {"joint1": 1.0}}),
    "must be given by name": lambda r: r.with_coupling({"joint2": 1.0}),
    "follows itself: joint2 -> joint2": lambda r: r.with_coupling({"joint2": {"joint2": 1.0}}),
    "with names=": lambda r: r.with_coupling(np.eye(3)),
    "a row for each of the 3 joints": lambda r: r.with_coupling(np.eye(2), names=("a", "b")),
    "rank is 1": lambda r: r.with_coupling([[1, 1], [1, 1], [0, 0]], names=("a", "b")),
    "two coordinates are named 'a'": lambda r: r.with_coupling(np.eye(3)[:, :2], names=("a", "a")),
    "has the name of a joint whose position it is not": lambda r: r.with_coupling([[2], [1], [1]], names=("joint1",)),
    "names are for a coupling by a matrix": lambda r: r.with_coupling({"joint2": {"joint1": 1.0}}, names=("a",)),
    "joint with an offset": lambda r: r.with_coupling({"joint2": {"joint1": 1.0}}, offset={"joint1": 1.0}),
    "follows others already": lambda r: r.with_coupling({"joint2": {"joint1": 1.0}}).with_coupling({"joint3": {"joint2": 1.0}}),
    "couple them first": lambda r: r.with_transmission([1, 1, 1]).with_coupling({"joint2": {"joint1": 1.0}}),
    "robot.without_transmission().uncoupled()": lambda r: r.with_coupling({"joint2": {"joint1": 1.0}}).with_transmission([1, 1]).uncoupled(),
    "load is not determined": lambda r: r.with_friction(load_friction=0.1).with_coupling({"joint2": {"joint1": 1.0}}),
    "does not go with rotors": lambda r: r.with_friction(load_friction=0.1).with_transmission([1, 1, 1], rotor_inertia=1.0),
    "which the other 1 follow (see from_uncoupled)": lambda r: r.with_coupling({"joint2": {"joint1": 1.0}}).gravity_force(np.zeros(3)),
    "a column for each of the 3 joints": lambda r: r.with_transmission([1.0, 2.0]),
    "rotor_inertia must not be negative": lambda r: r.with_transmission([1, 2, 3], rotor_inertia=-1.0),
    "has no motors": lambda r: r.to_motors(np.zeros(3), np.zeros(3)),
    "closed forms take couplings by simple fractions": lambda r: da.equations(r.with_coupling({"joint2": {"joint1": 0.8162345}})),
    "by 3.14159265359": lambda r: da.equations(r.with_coupling({"joint2": {"joint1": np.pi}})),
    "follows 'joint1' by 300": lambda r: da.equations(r.with_coupling({"joint2": {"joint1": 300}})),
    "equations(robot) has closed forms": lambda r: da.derive(r.with_coupling({"joint2": {"joint1": 1.0}})),
    "'joint2' follows 'joint1' (mimic); lock that one alone": lambda r: r.with_coupling({"joint2": {"joint1": 1.0}}).lock({"joint2": 0.0}),
    "'joint3' follows 'joint1', 'joint2' (a coupling); lock only": lambda r: r.with_coupling(
        {"joint3": {"joint1": 1.0, "joint2": 2.0}}
    ).lock({"joint1": 1.0, "joint2": 1.0, "joint3": 0.0}),
    "unknown joint of": lambda r: r.with_coupling({"joint2": {"joint1": 1.0}}).lock({"joint4": 0.0}),
}  # fmt: skip


@pytest.mark.parametrize("told", MISTAKES)
def test_mistakes_are_told(told):
    with pytest.raises(da.Error) as error:
        MISTAKES[told](da.random_robot(1, "RRR"))
    assert told in str(error.value) and "\n" not in str(error.value)


def test_words_about_couplings():
    robot = ROBOTS["both"]()
    text = robot.summary()
    assert "coupled joints: joint4 = -joint1 + 1.5 joint3" in text
    assert "motors: motor1 = 10 joint1, motor2 = 5 joint2 + 5 joint3" in text
    assert "rotor inertias: motor1 0.002" in text
    assert repr(robot) == "<Robot 'random_RRRR_7': 3 joints RRR, 4 coupled links>"
    mixed = da.Robot(
        "mixed", tuple(replace(x, joint=replace(x.joint, lower=-1.0, upper=1.0)) for x in robot.links), coupling=robot.coupling
    )
    assert [f.link for f in mixed.check().about("limit")] == ["link4"]
    assert "Coupled joints: joint4" in str(robot.generate("c", ["gravity_force"]))


@pytest.mark.slow
def test_comparison_and_derived_pages(tmp_path):
    robot = ROBOTS["gripper"]()
    compared = da.compare(robot, ("forward_dynamics", "mass_matrix"), states=10)
    assert max(row.error for row in compared.rows) < 1e-12
    assert {row.method for row in compared.rows if row.quantity == "forward_dynamics"} == {"walker_orin_3", "joint_acceleration"}
    assert "walker_orin_3" in da.complexity(robot, "forward_dynamics")


# --- files of others ----------------------------------------------------------------------------------------------------------

FILES, REASON = urdf_corpus()
MIMICS = (
    *("panda_description/urdf/panda.urdf", "baxter_description/urdf/baxter.urdf", "tiago_pro_description/robots/tiago_pro.urdf"),
    *("talos_data/robots/talos_full_v2.urdf", "pr2_description/urdf/pr2.urdf", "romeo_description/urdf/romeo.urdf"),
)


@pytest.mark.skipif(not FILES, reason=REASON)
@pytest.mark.parametrize("key", sweep(MIMICS, quick=(0,)))
def test_mimic_joints_of_files(key):
    """Inverse dynamics and M are B^T (...) B of all joints, forward dynamics is the inverse."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", da.DataWarning)
        robot, tree = (da.load(FILES[key], mimic=x).without_friction() for x in (True, False))
    assert robot.open == tree
    B, b, _ = matrices(robot)
    q, qd, qdd = state(robot)
    spread = B @ q + b, B @ qd, B @ qdd
    tau = robot.inverse_dynamics(q, qd, qdd, backend="numpy")
    close(tau, B.T @ tree.inverse_dynamics(*spread, backend="numpy"), 1e-12)
    close(robot.mass_matrix(q, backend="numpy"), B.T @ tree.mass_matrix(spread[0], backend="numpy") @ B, 1e-12)
    if "romeo" not in key:  # whose fingers have no inertia
        close(robot.forward_dynamics(q, qd, tau, backend="numpy"), qdd, 1e-8)


# --- giant ones ---------------------------------------------------------------------------------------------------------------


def test_giant_couplings_and_transmissions_are_refused_before_the_work(tmp_path, monkeypatch):
    """Nothing is computed, and names are compared in one go."""
    monkeypatch.setattr(np.linalg, "matrix_rank", lambda matrix: pytest.fail("the rank of a giant matrix"))
    many = [f"a{k}" for k in range(1500)]
    for names, rows, message in ((many, 1, "more than 1006 coordinates"), (["a"], 1500, "more than 1006 coupled joints")):
        matrix = np.ones((rows, len(names)))
        with pytest.raises(da.Error, match=message):
            da.Coupling(names, matrix, np.zeros(rows))
        text = f"names = {names}\nmatrix = {matrix.tolist()}\noffset = {[0.0] * rows}\n"
        (tmp_path / "a.toml").write_text(f'format = "dalembert robot 1"\nname = "a"\n[coupling]\n{text}[end]\n')
        with pytest.raises(da.Error, match=f"^a.toml: {message}"):
            da.load(tmp_path / "a.toml")
    for names, columns, message in ((many, 1, "more than 1006 motors"), (["a"], 1500, "1006 joints behind a transmission")):
        with pytest.raises(da.Error, match=message):
            da.Transmission(names, np.ones((len(names), columns)), 0.0)


class Name(str):
    """A name that counts how often names are compared."""

    compared = 0
    __hash__ = str.__hash__

    def __eq__(self, other):
        Name.compared += 1
        return str.__eq__(self, other)


def test_names_are_compared_in_proportion_to_their_number(monkeypatch):
    from dalembert.model.consistency import check_loops
    from dalembert.model.coupling import of_mimics

    monkeypatch.setattr(Name, "compared", 0)
    count = 300
    joints = [da.Joint(Name(f"j{k}"), mimic=da.Mimic(Name(f"j{k + 1}"), 1.0, 0.0) if k % 2 == 0 else None) for k in range(count)]
    assert len(of_mimics(joints).names) == count // 2
    da.Coupling([Name(f"a{k}") for k in range(count)], np.eye(count), np.zeros(count))
    names = [tuple(Name(f"j{k}") for k in range(count)) for _ in range(2)]
    arm = SimpleNamespace(name="r", loops=[SimpleNamespace(check=lambda model: None)], several=(), n=count, closures=0, joints=())
    check_loops(SimpleNamespace(**vars(arm), independent=names[0], joint_names=names[1]))
    assert Name.compared < 10 * count


def test_what_no_method_takes_is_said_without_a_method_that_refuses():
    robot = da.robot("two_link").with_coupling({"joint2": {"joint1": 0.5}})
    one = np.zeros(1)
    with pytest.raises(
        da.Error, match=r"forward_dynamics_derivatives by .* does not accept wrenches; no method that two_link has does"
    ):
        robot.forward_dynamics_derivatives(one, one, one, wrenches=np.zeros((2, 6)))
