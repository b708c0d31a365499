"""MJCF files: the same dynamics as MuJoCo's own, what is not understood is listed, and nothing that a file says is fatal."""

import sys
import warnings
from dataclasses import replace
from itertools import pairwise

import mjcf_models as models
import numpy as np
import pytest
from conftest import close
from mjcf_models import BALL, MODELS, mjcf

import dalembert as da

mujoco = pytest.importorskip("mujoco")
BITS = mujoco.mjtDisableBit
HOLDING = int(BITS.mjDSBL_CONTACT | BITS.mjDSBL_LIMIT | BITS.mjDSBL_FRICTIONLOSS | BITS.mjDSBL_ACTUATION)
OFF = HOLDING | int(BITS.mjDSBL_EQUALITY)


def load(tmp_path, text, suffix=".xml", quiet=True, **options):
    path = tmp_path / f"model{suffix}"
    path.write_text(text)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore" if quiet else "error", da.DataWarning)
        return da.load(path, **options)


def theirs(text, off=OFF):
    model = mujoco.MjModel.from_xml_string(text)
    model.opt.disableflags |= off
    return model, mujoco.MjData(model)


def place(data, state):
    data.qpos[:], data.qvel[:] = state.q, state.qd
    data.qacc[:] = 0 if state.qdd is None else state.qdd


# --- agreement ------------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", MODELS)
def test_inverse_and_forward_dynamics_are_those_of_mujoco(tmp_path, name):
    robot = load(tmp_path, MODELS[name], mimic=False).with_friction(coulomb=0.0)
    model, data = theirs(MODELS[name])
    assert (robot.n, robot.nq) == (model.nv, model.nq)
    rng = np.random.default_rng(1)
    for _ in range(3):
        q, qd, qdd = robot.random_configuration(rng), rng.normal(size=robot.n), rng.normal(size=robot.n)
        state = robot.to_mujoco(q, qd, qdd)
        place(data, state)
        mujoco.mj_inverse(model, data)
        tau = robot.from_mujoco(state.q, tau=data.qfrc_inverse.copy()).tau
        close(robot.inverse_dynamics(q, qd, qdd, backend="numpy"), tau, 1e-12)
        data.qfrc_applied[:] = data.qfrc_inverse + 1.0
        mujoco.mj_forward(model, data)
        tau = robot.from_mujoco(state.q, tau=data.qfrc_applied.copy()).tau
        found = robot.from_mujoco(state.q, state.qd, data.qacc.copy()).qdd
        close(robot.forward_dynamics(q, qd, tau, backend="numpy"), found, 1e-9)


@pytest.mark.parametrize("name", MODELS)
def test_bodies_and_sites_are_where_mujoco_has_them(tmp_path, name):
    robot = load(tmp_path, MODELS[name], mimic=False)
    model, data = theirs(MODELS[name])
    q = robot.random_configuration(2)
    place(data, robot.to_mujoco(q, np.zeros(robot.n)))
    mujoco.mj_kinematics(model, data)
    named = [(model.body(i).name, data.xpos[i], data.xmat[i]) for i in range(1, model.nbody)]
    named += [(model.site(i).name, data.site_xpos[i], data.site_xmat[i]) for i in range(model.nsite)]
    for link, point, turn in named:
        if link:
            T = robot.pose(q, link=link)
            close(T[:3, 3], point, 1e-12)
            close(T[:3, :3], turn.reshape(3, 3), 1e-12)


def test_the_coupling_is_what_a_hardened_equality_converges_to(tmp_path):
    """MuJoCo's equality gives way; the harder it is, the nearer its accelerations are to ours."""
    robot = load(tmp_path, models.GRIPPER)
    assert robot.joint_names == ("roll", "a")
    q, qd, tau = np.array([0.4, 0.02]), np.array([0.5, -0.3]), np.array([0.2, 0.7])
    ours = robot.coupling.rates(robot.forward_dynamics(q, qd, tau, backend="numpy"))
    far = []
    for hardness in (0.9, 0.99, 0.999, 0.9999):
        text = models.GRIPPER.replace('name="close"', f'name="close" solimp="{hardness} {hardness} 0.001"')
        model, data = theirs(text, HOLDING)
        model.opt.tolerance, model.opt.iterations = 0.0, 200
        data.qpos[:], data.qvel[:] = robot.to_uncoupled(q), robot.to_uncoupled(qd, rates=True)
        data.qfrc_applied[:] = np.linalg.pinv(robot.coupling.matrix.T) @ tau
        mujoco.mj_forward(model, data)
        assert abs(data.efc_pos).max() < 1e-15
        far.append(abs(data.qacc - ours).max() / abs(ours).max())
    assert far[-1] < 1e-3
    for soft, hard in pairwise(far):
        close(hard / soft, 0.1, 0.15)


# --- what is read ---------------------------------------------------------------------------------------------------------------


def test_joints(tmp_path):
    robot = load(tmp_path, models.PENDULUM)
    (pin,) = robot.joints
    assert (pin.name, pin.kind) == ("pin", "revolute")
    close([pin.lower, pin.upper], np.radians([-90, 120]), 1e-15)
    assert (pin.damping, pin.armature, pin.coulomb) == (0.3, 0.02, 0.1)
    assert (robot.name, robot.base_name, robot.source) == ("tester", "world", "MJCF model.xml")
    assert robot.gravity.tolist() == [0.3, -0.2, -9.5]
    assert not robot.check()
    assert load(tmp_path, models.PENDULUM, ".mjcf") == replace(robot, source="MJCF model.mjcf")


def test_links_between_the_joints_of_a_body_have_names_of_their_own(tmp_path):
    robot = load(tmp_path, models.STACK)
    assert robot.joint_names == ("x", "turn", "y", "stack_joint", "stack_joint_2", "after_joint")
    assert robot.link_names == ("stack.x", "stack.turn", "stack.y", "stack.stack_joint", "stack", "after")
    assert [link.inertia.mass for link in robot.links] == [0, 0, 0, 0, 0.7, 0.7]
    clash = f'<body name="a"><joint name="b"/><joint name="c" axis="1 0 0"/>{BALL}<site name="a"/><site name="a.b"/><body name="a.b"/></body>'
    robot = load(tmp_path, mjcf(clash))
    assert robot.link_names == ("a.b_3", "a")
    assert robot.frame_names == ("a_2", "a.b_2", "a.b")
    assert robot.locate("a_2")[0] == 1


def test_bodies_that_do_not_move_are_frames(tmp_path):
    robot = load(tmp_path, models.FIXED)
    assert robot.link_names == ("arm", "tool")
    assert set(robot.frame_names) == {"desk", "post", "bracket", "target", "on_bracket", "goal"}
    assert robot.total_mass == pytest.approx(8 + 1 + 3 * 0.7)
    assert robot.base_inertia.mass == 9


def test_equalities_of_joints_are_couplings(tmp_path):
    robot = load(tmp_path, models.GRIPPER)
    assert robot.coupling.names == ("roll", "a")
    close(robot.coupling.matrix, [[1, 0], [0, 1], [0, 1.5]], 1e-15)
    close(robot.coupling.offset, [0, 0, 0.03 + 0.005 - 1.5 * 0.01], 1e-15)  # between the distances from ref
    assert load(tmp_path, models.GRIPPER, mimic=False) == robot.uncoupled()
    off = models.GRIPPER.replace('name="close"', 'name="close" active="false"')
    assert load(tmp_path, off).n == 3
    held = load(tmp_path, models.GRIPPER.replace(' joint2="a"', ""))
    assert held.joint_names == ("roll", "a")
    close(held.to_uncoupled([0.1, 0.02]), [0.1, 0.02, 0.035], 1e-15)
    assert load(tmp_path, models.GRIPPER.replace("<option", '<option><flag equality="disable"/></option><option')).n == 3


def test_actuators_are_motors(tmp_path):
    robot = load(tmp_path, models.MOTORS)
    assert robot.transmission.names == ("m1", "m2", "pull")
    assert robot.transmission.matrix.tolist() == [[50, 0, 0], [0, -3, 0], [0, 20, -5]]
    assert robot.transmission.rotor_inertia.tolist() == [0, 0, 2e-4]
    j1, j2, j3 = robot.joints
    close([j1.armature, j1.damping], [2500 * 1e-4, 0.2 + 2500 * 2e-4], 1e-15)
    assert (j1.effort_limit, j2.effort_limit, j3.effort_limit) == (40, 15, np.inf)
    model, data = theirs(models.MOTORS, 0)
    data.ctrl[:] = 0.3, -0.7, 0.2
    mujoco.mj_forward(model, data)
    close(data.ctrl @ robot.transmission.matrix, data.qfrc_actuator, 1e-15)
    floating = load(tmp_path, models.MOTORS, free_base=True)
    assert floating.transmission.matrix.shape == (3, 9)
    geared = models.GRIPPER.replace("<worldbody>", '<actuator><motor name="m" joint="b" gear="7"/></actuator><worldbody>')
    assert load(tmp_path, geared).transmission.matrix.tolist() == [[0, 7 * 1.5]]


def test_flags_switch_off(tmp_path):
    flags = '<flag gravity="disable" damper="disable" limit="disable" frictionloss="disable" spring="disable"/>'
    text = models.PENDULUM.replace("<option", f"<option>{flags}</option><option").replace("armature=", 'stiffness="3" armature=')
    (pin,) = (robot := load(tmp_path, text, quiet=False)).joints
    assert not robot.gravity.any()
    assert (pin.damping, pin.coulomb, pin.lower, pin.upper) == (0, 0, -np.inf, np.inf)


def test_the_command_line_shows_it(tmp_path, capsys):
    from dalembert.cli import main

    path = tmp_path / "machine.xml"
    free = models.FREE.split("<worldbody>")[1].split("</worldbody>")[0]
    path.write_text(models.GRIPPER.replace("<worldbody>", f"<worldbody>{free}"))
    main(["info", str(path)])
    told = capsys.readouterr().out
    assert "coupled joints: b = 1.5 a + 0.02" in told
    assert "free bodies: thing" in told


# --- what is not read -----------------------------------------------------------------------------------------------------------

UNREAD = {
    "spring": (models.PENDULUM.replace("armature=", 'stiffness="3" armature='), "rod", "joint 'pin': its spring of stiffness 3"),
    "damping": (models.PENDULUM.replace('damping="0.3"', 'damping="0.3 0.1"'), "rod", "its damping is linear here"),
    "ball range": (models.BALLS.replace('name="elbow"', 'name="elbow" range="0 50"'), "lower", "range of a ball"),
    "ball friction": (models.BALLS.replace('name="elbow"', 'name="elbow" frictionloss="2"'), "lower", "'elbow': its frictionloss 2"),
    "free armature": (models.FREE.replace('name="root"', 'name="root" armature="2"'), "thing", "'root': its armature 2"),
    "gravcomp": (models.FREE.replace('name="thing"', 'name="thing" gravcomp="0.5"'), "thing", "gravcomp 0.5"),
    "fluid": (models.FREE.replace("<option", '<option density="1000"/><option'), "world", "a fluid"),
    "tendon": (models.MOTORS.replace('name="belt"', 'name="belt" stiffness="3" damping="1"'), "world", "'belt': its stiffness, damping"),
    "polynomial": (models.GRIPPER.replace("1.5 0 0 0", "1.5 2 0 0"), "right", "'close': joint 'b' follows a polynomial"),
    "twice": (models.GRIPPER.replace("</equality>", '<joint name="more" joint1="b" joint2="roll"/></equality>'), "right", "'more' is ignored"),
    "in circles": (models.GRIPPER.replace("</equality>", '<joint joint1="a" joint2="b"/></equality>'), "world", "follows itself"),
    "plugin": (models.FREE.replace(BALL, f'{BALL}<plugin plugin="some.cable"/>'), "world", "plugin 'some.cable'"),
    "flexible": (models.FREE.replace(BALL, f'{BALL}<flexcomp name="soft" type="grid" count="3 3 3" spacing="1 1 1"/>'), "world", "flexible bodies"),
    "distance": (models.MOTORS.replace("<actuator>", '<equality><tendon name="taut" tendon1="belt"/></equality><actuator>'), "world", "'taut' of kind tendon"),
}  # fmt: skip


@pytest.mark.parametrize("what", UNREAD)
def test_what_is_not_understood_is_listed(tmp_path, what):
    text, link, told = UNREAD[what]
    (tmp_path / "model.xml").write_text(text)
    with pytest.warns(da.DataWarning, match="model.xml: "):
        robot = da.load(tmp_path / "model.xml")
    (found,) = robot.check().about("unread")
    assert found.link == link
    assert told in found.message
    robot.save(tmp_path / "again.toml")
    with pytest.warns(da.DataWarning):
        assert da.load(tmp_path / "again.toml") == robot


def test_what_is_free_is_not_set_free_again(tmp_path):
    with pytest.raises(da.Error, match="is free already: the free joint 'root' carries 'thing'"):
        load(tmp_path, models.FREE, free_base=True)


def test_contacts_and_feedback_are_hints(tmp_path):
    robot = load(tmp_path, models.QUADRUPED, quiet=False)
    assert "9 geoms can touch" in robot.check().about("contact")[0].message
    text = models.MOTORS.replace('<motor name="m2"', '<position name="m2"')
    assert "feedback are taken as plain motors, which give tau: 'm2'" in str(load(tmp_path, text, quiet=False).check())
    text = models.FREE.replace(BALL, f'{BALL}<site name="nozzle"/>').replace(
        "<worldbody>", '<actuator><motor name="jet" site="nozzle"/></actuator><worldbody>'
    )
    assert "on no joint or fixed tendon are ignored: 'jet'" in str(load(tmp_path, text, quiet=False).check())


LOOPS = {
    "connect": '<connect name="pin" body1="b" body2="a" anchor="0.1 0.2 0.3"/>',
    "weld": '<weld name="pin" body1="b" body2="a" relpose="0.1 0.2 0.3 0.8 0.1 0.2 -0.1" anchor="0.05 0.06 0.07"/>',
}


@pytest.mark.parametrize("kind", LOOPS)
def test_loops_have_frames_that_meet_where_the_equality_holds(tmp_path, kind):
    two = "".join(
        f'<body name="{name}" pos="{x} 0 0" euler="10 {x} 30"><freejoint name="{name}"/>{BALL}</body>'
        for name, x in (("a", 0), ("b", 1))
    )
    text = mjcf(two, more=f"<equality>{LOOPS[kind]}</equality>")
    robot = load(tmp_path, text)
    assert {"pin_1", "pin_2"} <= set(robot.frame_names)
    model, data = theirs(text, HOLDING)
    bare = load(tmp_path, mjcf(two))
    q = bare.random_configuration(3)
    place(data, bare.to_mujoco(q, np.zeros(12)))
    mujoco.mj_forward(model, data)
    first, second = (bare.pose(q, link="b" if k == 1 else "a") @ robot.locate(f"pin_{k}")[1].matrix for k in (1, 2))
    close(data.efc_pos[:3], first[:3, 3] - second[:3, 3], 1e-12)
    if kind == "weld":  # the rotation that is left, in MuJoCo's measure: the vector part of its quaternion
        left = first[:3, :3].T @ second[:3, :3]
        size = np.sqrt(np.clip((3 - np.trace(left)) / 4, 0, None))  # sine of half the angle
        close(np.linalg.norm(data.efc_pos[3:6]), size, 1e-9)


FOUR_BAR = mjcf(
    models.nested(
        ('name="crank"', f'<joint name="q1" axis="0 1 0" ref="10"/>{BALL}'),
        ('name="coupler" pos="0 0 0.2"', f'<joint name="q2" axis="0 1 0"/>{BALL}'),
        ('name="rocker" pos="0.5 0 0"', f'<joint name="q3" axis="0 1 0"/>{BALL}<site name="end" pos="0 0 -0.2"/>'),
    )
    + '<site name="ground" pos="0.5 0 0"/>',
    more='<equality><connect name="shut" site1="end" site2="ground"/></equality>',
)


def test_loops_are_closed_or_listed(tmp_path, monkeypatch):
    robot = load(tmp_path, FOUR_BAR)
    assert robot.loops
    assert not load(tmp_path, FOUR_BAR, mimic=False).check().about("unread")
    asked = []

    def with_loop(robot, *frames, **more):
        asked.append((frames, more))
        raise da.Error("it stays open")

    monkeypatch.setattr(da.Robot, "with_loop", with_loop)
    assert "it stays open" in str(load(tmp_path, FOUR_BAR).check().about("unread"))
    assert asked == [(("end", "ground"), {"kind": "point", "near": [np.radians(10), 0, 0]})]


LONG = [f"a_joint_with_a_long_name_{k}" for k in range(6)]
CHAIN = models.nested(
    *((f'name="{name}_link"', f'<joint name="{name}" axis="0 1 0" range="-60 60" limited="true"/>{BALL}') for name in LONG)
)


def follows(first, second, polynomial):
    return f'<joint joint1="{first}" joint2="{second}" polycoef="{polynomial}"/>'


WORDY = {
    "with a loop": FOUR_BAR.replace("shut", "shut_" * 10).replace("</equality>", follows("q3", "q1", "0.1 -1 0 0 0") + "</equality>"),
    "in circles": mjcf(CHAIN, more=f"<equality>{''.join(follows(a, b, '0 1 0 0 0') for a, b in pairwise([*LONG, LONG[0]]))}</equality>"),
    "out of range": mjcf(CHAIN, more=f"<equality>{follows(*LONG[:2], '5 1 0 0 0')}</equality>"),
}  # fmt: skip


@pytest.mark.parametrize("what", WORDY)
def test_long_reasons_are_shortened(tmp_path, what):
    (found,) = load(tmp_path, WORDY[what]).check().about("unread")
    assert "ignored: " in found.message


# --- files ----------------------------------------------------------------------------------------------------------------------

MESH = mjcf(
    f'<geom type="mesh" mesh="floor"/><body name="a"><joint/>{BALL}<geom class="looks" mesh="cover" material="red"/></body>',
    more='<compiler meshdir="meshes"/><asset><texture name="t" type="2d" file="no.png"/><material name="red" texture="t"/>'
    '<mesh file="cover.stl"/><mesh name="floor" file="floor.obj"/><hfield name="h" file="no.png" size="1 1 1 1"/></asset>'
    '<default><default class="looks"><geom type="mesh" contype="0" conaffinity="0"/></default></default>',
)  # fmt: skip
TETRAHEDRON = "v 0 0 0\nv 0.2 0 0\nv 0 0.3 0\nv 0 0 0.1\nf 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 3 4\n"


def test_meshes_are_needed_only_for_inertias(tmp_path, monkeypatch):
    robot = load(tmp_path, MESH, quiet=False)
    assert robot.links[0].inertia.mass == 0.7
    without = MESH.replace(BALL, "").replace("cover.stl", "cover.obj")
    with pytest.raises(
        da.Error, match=r"model.xml: the inertia of body 'a' comes from the mesh 'cover.obj': .*cannot be read.*<inertial>"
    ):
        load(tmp_path, without)
    (tmp_path / "meshes").mkdir()
    (tmp_path / "meshes" / "cover.obj").write_text(TETRAHEDRON)
    monkeypatch.chdir("/")  # files are looked for beside the model
    assert load(tmp_path, without).links[0].inertia.mass == pytest.approx(0.2 * 0.3 * 0.1 / 6 * 1000)
    (tmp_path / "meshes" / "broken.obj").write_text("nonsense")
    with pytest.raises(da.Error, match=r"model\.xml: MuJoCo: "):
        load(tmp_path, without.replace("cover", "broken"))


def test_meshes_of_inertias_are_limited_together(tmp_path):
    """MuJoCo takes 150 MB for a file of 10 MB, once for each mesh made of it."""
    with (tmp_path / "large.stl").open("wb") as file:
        file.truncate(30 << 20)
    (tmp_path / "small.obj").write_text(TETRAHEDRON)

    def body(k):
        return f'<body name="b{k}"><joint/><geom type="mesh" mesh="m{k}"/></body>'

    for count, name, message in (
        (3, "large.stl", "larger than 64 MiB in all"),
        (301, "small.obj", "more than 300 meshes that inertias"),
    ):
        assets = "".join(f'<mesh name="m{k}" file="{name}"/>' for k in range(count))
        with pytest.raises(da.Error, match=message):
            load(tmp_path, mjcf("".join(map(body, range(count))), more=f"<asset>{assets}</asset>"))


def test_files_that_are_included_or_attached(tmp_path):
    whole = load(tmp_path, models.PENDULUM)
    (tmp_path / "parts").mkdir()
    body = models.PENDULUM.split("<worldbody>")[1].split("</worldbody>")[0]
    (tmp_path / "parts" / "inner.xml").write_text(f"<mujocoinclude>{body}</mujocoinclude>")
    (tmp_path / "parts" / "outer.xml").write_text('<mujocoinclude><include file="parts/inner.xml"/></mujocoinclude>')
    assert load(tmp_path, mjcf('<include file="parts/outer.xml"/>')) == whole
    with pytest.raises(da.Error, match=r"'parts/outer\.xml' twice"):
        load(tmp_path, mjcf('<include file="parts/outer.xml"/>' * 2))
    with pytest.raises(da.Error, match=r"model.xml: .*gone.xml: cannot be read"):
        load(tmp_path, mjcf('<include file="gone.xml"/>'))
    with pytest.raises(da.Error, match="an MJCF file has <mujoco>"):
        da.load(tmp_path / "parts" / "inner.xml")
    (tmp_path / "parts" / "arm.xml").write_text(models.PENDULUM)
    arm = load(
        tmp_path,
        mjcf('<attach model="arm" body="rod" prefix="left_"/>', more='<asset><model name="arm" file="parts/arm.xml"/></asset>'),
    )
    assert arm.joint_names == ("left_pin",)
    close(arm.inverse_dynamics([0.3], [0.4], [0.5]), whole.inverse_dynamics([0.3], [0.4], [0.5]), 1e-15)


BAD = {
    "attribute": (mjcf('<body name="a"><joint stifness="1"/></body>'), "unrecognized attribute: 'stifness'.*joint"),
    "no mass": (mjcf('<body name="a"><joint/></body>'), "mass and inertia of moving bodies.*'a'"),
    "inertia": (mjcf('<body name="a"><joint/><inertial pos="0 0 0" mass="1" diaginertia="1 1 9"/></body>'), "A . B >= C.*'a'"),
    "nan": (mjcf(f'<body name="a" pos="0 nan 0"><joint/>{BALL}</body>'), "<body> 'a': pos must be finite numbers"),
    "huge": (mjcf(f'<body name="a" pos="0 1e999 0"><joint/>{BALL}</body>'), "too large in attribute 'pos'"),
    "copies": (mjcf(f'<replicate count="100000"><replicate count="100000"><body><joint/>{BALL}</body></replicate></replicate>'), "too large"),
    "some copies": (mjcf(f'<replicate count="7000"><body><joint/>{BALL}</body></replicate>'), "more than 20000 elements"),
    "many copies": (mjcf(f'<replicate count="999999999999"><body><joint/>{BALL}</body></replicate>'), "model.xml"),
    "deep": (mjcf("<body>" * 10_000 + "</body>" * 10_000), "nested deeper"),
    "entity": ('<!DOCTYPE m [<!ENTITY a "b">]><mujoco/>', "entities are not allowed"),
    "mesh parameters": (mjcf('<body><joint/><geom type="mesh" mesh="m"/></body>', more='<asset><mesh name="m" builtin="sphere" params="1e9"/></asset>'), "params must be numbers up to"),
    "include itself": (mjcf('<include file="model.xml"/>'), "twice|nested"),
    "no include": (mjcf("<include/>"), 'needs file="..."'),
    "pipe": (mjcf('<include file="/dev/zero"/>'), "regular file"),
    "long name": (mjcf(f'<body name="{"x" * 300}"><joint/>{BALL}</body>'), "200 printable characters"),
}  # fmt: skip


@pytest.mark.parametrize("mistake", BAD)
def test_mistakes_are_told_in_one_line(tmp_path, mistake, capfd, monkeypatch):
    monkeypatch.chdir(tmp_path)
    text, message = BAD[mistake]
    with pytest.raises(da.Error, match=message) as found:
        load(tmp_path, text)
    assert str(found.value).startswith("model.xml: ")
    assert capfd.readouterr() == ("", "")
    assert [path.name for path in tmp_path.iterdir()] == ["model.xml"]  # MuJoCo writes no log


def test_huge_sizes_take_no_memory(tmp_path):
    sizes = '<size memory="100G" nuserdata="2000000000" nuser_body="2000000"/><keyframe><key name="k"/></keyframe>'
    texture = '<asset><texture name="t" type="2d" builtin="flat" width="100000" height="100000"/></asset>'
    assert load(tmp_path, models.FREE.replace("<worldbody>", f"{sizes}{texture}<worldbody>")).n == 6


def test_without_the_package(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "mujoco", None)
    with pytest.raises(
        da.Error, match=r"^model.xml: this needs mujoco, which is not installed: pip install 'dalembert\[mujoco\]'$"
    ):
        load(tmp_path, models.FREE)
