"""Joint forces are linear in the inertial parameters; which of these matter; and robots made of them."""

import numpy as np
import pytest
from conftest import REFERENCE, STRUCTURES, close, directly, reference_robot, sweep

import dalembert as da
from dalembert.algebra.spatial import dot, outer
from dalembert.formulations import formulation
from dalembert.studies.proof import compare

PARAMETERS = ("m", "mx", "my", "mz", "Ixx", "Ixy", "Ixz", "Iyy", "Iyz", "Izz")


def motion(robot, *shape, seed=1):
    return np.random.default_rng(seed).uniform(-1, 1, (3, *shape, robot.n))


# --- regressor ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("joints", "parents"), sweep(STRUCTURES))
def test_joint_forces_are_linear_in_the_parameters(joints, parents):
    robot = da.random_robot(5, joints, parents)
    state = motion(robot, 6)
    expected = robot.inverse_dynamics(*state)
    for backend in ("native", "numpy"):
        Y = robot.regressor(*state, backend=backend)
        assert Y.shape == (6, robot.n, 10 * robot.n)
        close(Y @ robot.parameters(), expected, 1e-12)
    other = da.random_robot(6, joints, parents).parameters()  # the regressor does not depend on the parameters
    close(
        Y @ (robot.parameters() + 3 * other), robot.with_parameters(robot.parameters() + 3 * other).inverse_dynamics(*state), 1e-12
    )


@pytest.mark.parametrize(("joints", "parents"), sweep(STRUCTURES))
def test_friction_and_rotors_have_columns(joints, parents):
    robot = da.random_robot(5, joints, parents)
    n, rng = robot.n, np.random.default_rng(0)
    robot = robot.with_friction(rng.uniform(1, 2, n), rng.uniform(1, 2, n)).with_armature(rng.uniform(1, 2, n))
    state = motion(robot, 4)
    sizes = {(False, False): 10, (True, False): 12, (False, True): 11, (True, True): 13}
    for (friction, armature), size in sizes.items():
        options = {"friction": friction, "armature": armature}
        Y, (names, values) = robot.regressor(*state, backend="numpy", **options), robot.regressor_parameters(**options)
        assert Y.shape == (4, n, size * n)
        assert len(set(names)) == len(values) == size * n
        same = robot if friction else robot.without_friction()
        same = same if armature else same.without_armature()
        close(Y @ values, same.inverse_dynamics(*state, backend="numpy"), 1e-12)
    assert names[10 * n : 10 * n + 2] == (f"damping[{robot.joint_names[0]}]", f"coulomb[{robot.joint_names[0]}]")
    assert names[-1] == f"armature[{robot.joint_names[-1]}]"


def test_columns_of_friction_and_rotors_in_native_code():
    arm = da.robot("puma560")
    q, qd, qdd = motion(arm, 5)
    Y = arm.regressor(q, qd, qdd, friction=True, armature=True)
    assert (Y[:, :, :60] == arm.regressor(q, qd, qdd)).all()
    wanted, i = np.zeros((5, 6, 18)), np.arange(6)
    wanted[:, i, 2 * i], wanted[:, i, 2 * i + 1], wanted[:, i, 12 + i] = qd, np.sign(qd), qdd
    assert (Y[:, :, 60:] == wanted).all()


def linear(tree, q, qd, qdd, wrenches):
    """Newton-Euler as regressor times parameters, for any scalar."""
    m, c, I = tree.mass, tree.com, tree.inertia
    origin = I + m[:, None, None] * (dot(c, c)[:, None, None] * np.eye(3, dtype=int) - outer(c, c))
    phi = np.concatenate([m[:, None], m[:, None] * c, origin[:, *np.triu_indices(3)]], axis=-1)
    return formulation("regressor", "regressor")(tree, q, qd, qdd) @ phi.ravel()


def recursive(tree, q, qd, qdd, wrenches):
    return formulation("inverse_dynamics", "newton_euler")(tree, q, qd, qdd)


@pytest.mark.parametrize(("joints", "parents"), [("R", None), ("P", None), ("H", None), ("RPH", None), ("HRPR", (-1, 0, 0, 1))])
def test_regressor_is_exact_modulo_a_prime(joints, parents):
    assert compare(joints, [linear, recursive], ("regressor", "newton_euler"), parents=parents, moving=False)


def test_gravity_base_and_batches():
    arm = da.robot("puma560").with_gravity((1.0, -2.0, 3.0)).with_base(da.Pose.of((1, 2, 3), rpy=(0.1, 0.2, 0.3)))
    q, qd, qdd = motion(arm, 3, 2)
    close(arm.regressor(q, qd, qdd) @ arm.parameters(), arm.inverse_dynamics(q, qd, qdd), 1e-12)
    one = arm.regressor(q[0, 0], qd[0, 0], qdd[0, 0])
    assert one.shape == (6, 60)
    assert (arm.regressor(q, qd, qdd)[0, 0] == one).all()
    wide = arm.regressor(q[:, :1], qd[0], qdd[0, 0])
    assert (wide[2, 1] == arm.regressor(q[2, 0], qd[0, 1], qdd[0, 0])).all()
    assert arm.regressor(q[:0], qd[:0], qdd[:0]).shape == (0, 2, 6, 60)
    out = np.empty((3, 2, 6, 78))
    assert arm.regressor(q, qd, qdd, friction=True, armature=True, out=out) is out
    with pytest.raises(da.Error, match=r"out has shape \(3, 2, 6, 60\), the result has \(3, 2, 6, 78\)"):
        arm.regressor(q, qd, qdd, friction=True, armature=True, out=np.empty((3, 2, 6, 60)))
    with pytest.raises(da.Error, match=r"regressor: qd has shape \(5,\)"):
        arm.regressor(q, np.zeros(5), qdd)


def test_complex_steps_and_programs():
    arm = da.robot("two_link")
    q, qd, qdd = motion(arm)
    step = arm.regressor(q + 1e-30j * np.array([0, 1]), qd, qdd).imag / 1e-30
    h = 1e-6 * np.array([0, 1])
    close(step, (arm.regressor(q + h, qd, qdd) - arm.regressor(q - h, qd, qdd)) / 2e-6, 1e-8)
    assert arm.program("regressor", friction=True).outputs[0].shape == (2, 24)
    assert da.methods("regressor") == ("regressor",)
    stone = da.Robot("stone", ())
    assert stone.parameters().shape == (0,)
    assert stone.regressor([], [], []).shape == stone.base_regressor([], [], [], backend="numpy").shape == (0, 0)


# --- parameters ---------------------------------------------------------------------------------------------------------


def test_names_and_values():
    arm = da.robot("puma560")
    assert arm.parameter_names() == tuple(f"{name}[{link}]" for link in arm.link_names for name in PARAMETERS)
    by_name = dict(zip(arm.parameter_names(), arm.parameters(), strict=True))
    body = arm.links[2].inertia
    assert by_name["m[link3]"] == body.mass
    assert by_name["my[link3]"] == body.mass * body.com[1]
    assert by_name["Ixy[link3]"] == body.about_origin[0, 1]
    assert arm.regressor_parameters().names == arm.parameter_names()
    arm.parameters()[:] = 0  # a copy
    assert arm.total_mass > 1


@pytest.mark.parametrize(("joints", "parents"), STRUCTURES[3:])
def test_round_trip(joints, parents):
    robot, other = da.random_robot(8, joints, parents), da.random_robot(9, joints, parents)
    made = other.with_parameters(robot.parameters())
    close(made.parameters(), robot.parameters(), 1e-15)
    for a, b in zip(made.links, robot.links, strict=True):
        close(a.inertia.tensor, b.inertia.tensor, 1e-14)
    assert made.name == other.name
    assert made.links[0].before == other.links[0].before


def test_unchanged_links_stay_as_they_are(zoo_robot):
    """Also the ones that no body can have, such as the first link of the PUMA 560."""
    assert zoo_robot.with_parameters(zoo_robot.parameters()) == zoo_robot


def test_impossible_parameters_are_explained():
    arm = da.robot("panda")
    with pytest.raises(da.Error, match=r"parameters of panda \(10 a link\) must be 70 numbers, got an array of shape \(69,\)"):
        arm.with_parameters(arm.parameters()[1:])
    names = list(arm.parameter_names())

    def changed(name, value):
        return arm.with_parameters(np.where(np.arange(70) == names.index(name), value, arm.parameters()))

    with pytest.raises(da.Error, match=r"link 'panda_link2': impossible inertia: negative mass.*check=False"):
        changed("m[panda_link2]", -1.0)
    with pytest.raises(da.Error, match=r"link 'panda_link3': impossible inertia: principal moments.*check=False"):
        changed("Izz[panda_link3]", 100.0)
    with pytest.raises(da.Error, match="link 'panda_link4': a body without mass has no first moment"):
        changed("m[panda_link4]", 0.0)
    for absurd in (np.nan, 1e-320):
        with pytest.raises(da.Error, match="finite"):
            changed("m[panda_link4]", absurd)


def test_impossible_parameters_can_be_insisted_on():
    arm = da.robot("puma560")
    with pytest.raises(da.Error, match=r"link1.*check=False"):
        arm.with_parameters(2 * arm.parameters())
    twice, state = arm.with_parameters(2 * arm.parameters(), check=False), motion(arm, 3)
    close(twice.inverse_dynamics(*state), arm.regressor(*state) @ (2 * arm.parameters()), 1e-12)
    with pytest.raises(da.Error, match="without mass"):
        arm.with_parameters(np.r_[0.0, 1.0, arm.parameters()[2:]], check=False)


# --- identification -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", sweep(["puma560", "panda"], quick=(0,)))
def test_identification_of_a_payload(name):
    """Torques of the loaded arm tell its base parameters, and these all its torques."""
    arm = da.robot(name).without_friction().without_armature()
    loaded = arm.with_payload(2.0, (0.1, -0.05, 0.2), (0.01, 0.02, 0.015))
    state = 2 * motion(arm, 60)
    found = np.linalg.lstsq(np.concatenate(arm.base_regressor(*state)), loaded.inverse_dynamics(*state).ravel(), rcond=None)[0]
    base = loaded.base_parameters()
    assert base.names == arm.base_parameters().names
    close(found, base.values, 1e-9)
    assert np.abs(found - arm.base_parameters().values).max() > 0.01
    fresh = motion(arm, 5, seed=2)
    close(arm.base_regressor(*fresh) @ found, loaded.inverse_dynamics(*fresh), 1e-9)


def test_identification_of_friction():
    arm = da.robot("puma560").with_friction(0.3, 0.7).with_armature(0.2)
    state = 2 * motion(arm, 60)
    Y = arm.regressor(*state, friction=True, armature=True)
    names, values = arm.regressor_parameters(friction=True, armature=True)
    known = [k for k, name in enumerate(names) if "[link" in name]
    rest = [k for k in range(len(names)) if k not in known]
    tau = arm.inverse_dynamics(*state) - Y[..., known] @ values[known]
    found = np.linalg.lstsq(np.concatenate(Y[..., rest]), tau.ravel(), rcond=None)[0]
    close(found, [0.3, 0.7] * 6 + [0.2] * 6, 1e-10)


# --- base parameters ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("name", "rank"), [("FGL_2R", 6), ("PUMA560", 36), ("RPRRP_random", 24)])
def test_ranks_of_the_references(name, rank):
    robot = reference_robot(name)
    assert str(rank) in str(REFERENCE[name]["minimal_parameter_count_rank_of_regressor"])
    assert robot.base_parameters().rank == rank


def test_ranks_of_the_zoo():
    assert da.robot("two_link").base_parameters().rank == 6
    assert da.robot("puma560").base_parameters().rank == 36


@pytest.mark.parametrize(("joints", "parents"), sweep(STRUCTURES))
def test_base_parameters_say_everything(joints, parents):
    """The regressor times all parameters, and its leading columns times the combinations, are the joint forces."""
    robot = da.random_robot(7, joints, parents)
    q, qd, qdd = np.random.default_rng(1).uniform(-1, 1, (3, 5, robot.n))
    Y = formulation("regressor", "regressor")(robot.tree, q, qd, qdd)
    expected = directly(robot, "newton_euler", q, qd, qdd)
    close(Y @ robot.parameters(), expected, 1e-12)
    base = robot.base_parameters()
    assert tuple(base.all_names[k] for k in base.columns) == base.names
    leading = robot.base_regressor(q, qd, qdd, backend="numpy")
    close(leading, Y[..., base.columns], 1e-13)
    close(leading @ base.values, expected, 1e-10)
    close(base.matrix @ robot.parameters(), base.values, 1e-14)
    assert base.matrix.shape == (base.rank, 10 * robot.n)


def test_moving_mass_along_an_axis_changes_nothing():
    """What the internal reduction does to inertias leaves the base parameters as they are."""
    from dalembert.algebra.precise import decimal, decimals, rounded
    from dalembert.algebra.spatial import tensor_of
    from dalembert.model.reduce import on_axes, reframed, regrouped

    robot = da.random_robot(3, "RRR")
    q, qd, qdd = np.random.default_rng(1).uniform(-1, 1, (3, 5, 3))
    with decimals():
        framed, _ = reframed(on_axes(robot.tree.mapped(decimal)))
        tree, after = framed.mapped(rounded), regrouped(framed).mapped(rounded)
    before, after = tree, after._replace(inertia=tensor_of(after.inertia))

    def parameters(t):
        found = []
        for m, c, I in zip(t.mass, t.com, t.inertia, strict=True):
            origin = I + m * (c @ c * np.eye(3) - np.outer(c, c))
            found += [m, *(m * c), *origin[np.triu_indices(3)]]
        return np.array(found)

    Y = formulation("regressor", "regressor")(tree, q, qd, qdd)
    close(Y @ parameters(after), Y @ parameters(before), 1e-12)
    assert np.abs(parameters(after) - parameters(before)).max() > 0.01


def test_names():
    base = da.robot("two_link").base_parameters()
    assert "Izz[link1]" in base.names
    assert "6 base parameters of 20" in repr(base)
    assert "m[link2]" in str(base)
    assert da.Robot("stone", ()).base_parameters().rank == 0


@pytest.mark.parametrize("size", [1e-5, 1.0, 1e3])
def test_small_and_large_robots(size):
    rows = [
        da.DHRow(
            alpha=a,
            a=0.3 * size,
            d=0.2 * size,
            inertia=da.Inertia.from_com(1, (0.1 * size, 0.2 * size, 0.05 * size), size * size * 0.01),
        )
        for a in (0.5, 0.7, 1.1, 0.3)
    ]
    robot = da.Robot.from_dh(rows, convention="standard")
    q, qd, qdd = np.random.default_rng(1).uniform(-1, 1, (3, 5, 4))
    base = robot.base_parameters()
    leading = [base.all_names.index(name) for name in base.names]
    close(
        formulation("regressor", "regressor")(robot.tree, q, qd, qdd)[..., leading] @ base.values,
        directly(robot, "newton_euler", q, qd, qdd),
        1e-10,
    )
