"""Every URDF of the corpus against stored results of Pinocchio (tools/pinocchio_values.py made them)."""

import json
import warnings
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from conftest import MOVING, RECURSIVE, close, directly, sweep, urdf_corpus
from states import KINDS, base_motion, free_state, joint_states, link_wrenches

import dalembert as da
from dalembert.formulations import formulation

DATA = json.loads((Path(__file__).parent / "data/pinocchio.json").read_text())
STORED, COUPLED = DATA["robots"], DATA["coupled"]
FILES, REASON = urdf_corpus()


def methods_for(n):
    """All methods for arms, the recursive ones for robots with many joints."""
    return () if n == 0 else da.methods("inverse_dynamics") if n <= 9 else RECURSIVE


def load(key, mimic=False, **options):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", da.DataWarning)
        return da.load(FILES[key], mimic=mimic, **options)


@pytest.mark.skipif(not FILES, reason=REASON)
@pytest.mark.parametrize("key", sweep(STORED, quick=(18, 20)))
def test_urdf_agrees_with_pinocchio(key):
    stored, robot = STORED[key], load(key).without_friction()
    assert sorted(robot.joint_names) == stored["joints"]
    n = robot.n
    for s, expected in enumerate(stored["tau"]):
        state = [robot.reorder(x, stored["joints"]) for x in joint_states(n, s)]
        for method in methods_for(n)[: None if s == 0 else 1]:
            close(directly(robot, method, *state), robot.reorder(expected, stored["joints"]), 1e-11)
    close(robot.inverse_dynamics(*state), robot.reorder(expected, stored["joints"]), 1e-11)  # native
    forward(robot, state, robot.reorder(expected, stored["joints"]))
    twist, acceleration = base_motion()
    wrenches = np.moveaxis(robot.reorder(np.moveaxis(link_wrenches(n), 0, -1), stored["joints"]), -1, 0)
    state = [robot.reorder(x, stored["joints"]) for x in joint_states(n, 2)]
    options = {"wrenches": wrenches, "base_twist": twist, "base_acceleration": acceleration}
    for method in MOVING if n else ():
        moving = directly(robot, method, *state, **options)
        close(moving, robot.reorder(stored["moving"], stored["joints"]), 1e-11)


@pytest.mark.skipif(not FILES, reason=REASON)
@pytest.mark.parametrize("key", sweep(COUPLED, quick=(1,)))
def test_mimic_joints_agree_with_pinocchio(key):
    """Where its leader is loaded first, Pinocchio lets a joint follow: inverse dynamics and M; its forward dynamics refuses."""
    stored, robot = COUPLED[key], load(key, mimic=True).without_friction()
    assert sorted(robot.joint_names) == stored["joints"]
    order = [stored["joints"].index(name) for name in robot.joint_names]
    for s, expected in enumerate(stored["tau"]):
        state = [robot.reorder(x, stored["joints"]) for x in joint_states(robot.n, s)]
        tau = robot.reorder(expected, stored["joints"])
        close(robot.inverse_dynamics(*state, backend="numpy"), tau, 1e-12)
        close(robot.forward_dynamics(*state[:2], tau, backend="numpy"), state[2], 1e-8)
    M = np.zeros((robot.n, robot.n))
    M[np.triu_indices(robot.n)] = stored["M"]
    M = (M + np.triu(M, 1).T)[np.ix_(order, order)]
    q = robot.reorder(joint_states(robot.n, 0)[0], stored["joints"])
    scale = np.sqrt(np.diag(M))
    close(robot.mass_matrix(q, backend="numpy") / np.outer(scale, scale), M / np.outer(scale, scale), 1e-11)


# --- Pinocchio's own arrays -----------------------------------------------------------------------------------------------


def model_there(key, free_base=False, following=()):
    """What conversions read of Pinocchio's model of a file."""
    stored = STORED[key]
    names = [stored["joints"][k] for k in stored["order"]]
    nqs = [0 if x in following else 2 if x in stored["circles"] else 1 for x in names]
    root = [("root_joint", 7, 6)] if free_base else []
    rows = [("universe", 0, 0), *root, *zip(names, nqs, np.minimum(nqs, 1).tolist(), strict=True)]
    return SimpleNamespace(**dict(zip(("names", "nqs", "nvs"), zip(*rows, strict=True), strict=True)))


def states_there(key, model, state):
    """Positions, velocities and accelerations, of a free base as we have it and then by sorted names, in Pinocchio's arrays."""
    joints = STORED[key]["joints"]
    base, *rates = (x[: len(x) - len(joints)] for x in state)
    q, *others = (dict(zip(joints, x[len(x) - len(joints) :], strict=True)) for x in state)
    unit = base[:4] / np.linalg.norm(base[:4]) if base.size else base
    positions = [*base[4:], *unit[1:], *unit[:1]]
    for name, nq in zip(model.names, model.nqs, strict=True):
        if name in q:
            positions += [np.cos(q[name]), np.sin(q[name])] if nq == 2 else [q[name]]
    moving = [name for name in model.names if name in q]
    return positions, *([*v[3:], *v[:3], *(x[name] for name in moving)] for v, x in zip(rates, others, strict=True))


@pytest.mark.skipif(not FILES, reason=REASON)
@pytest.mark.parametrize("free_base", [False, True])
@pytest.mark.parametrize("key", sweep(STORED, quick=(0, 33)))
def test_conversions_have_the_order_of_pinocchio(key, free_base):
    """The order of model.names, cosine and sine of continuous joints, and the free flyer: of every file, both ways."""
    robot, model, joints = load(key, free_base=free_base), model_there(key, free_base), STORED[key]["joints"]
    state = free_state(len(joints))[:3] if free_base else joint_states(len(joints), 0)
    expected = states_there(key, model, state)
    ours = [robot.reorder(x, ["base", *joints] if free_base else joints) for x in state]
    for names in (model.names, model):
        there = robot.to_pinocchio(*ours, tau=ours[1], names=names)
        close(there.q, expected[0], 1e-15)
        for x, y in zip(there[1:], (*expected[1:], expected[1]), strict=True):
            assert x.tolist() == y
        here = robot.from_pinocchio(*expected, tau=expected[1], names=names)
        close(robot.difference(ours[0], here.q), np.zeros(robot.n), 1e-14, scale=1.0)
        for x, y in zip(here[1:], (*ours[1:], ours[1]), strict=True):
            assert x.tolist() == y.tolist()


def kinds(tmp_path):
    """Our robot with all kinds of joints, and Pinocchio's: names and numbers of joints, a state and its forces."""
    stored = DATA["kinds"]
    (tmp_path / "kinds.urdf").write_text(KINDS)
    robot = da.load(tmp_path / "kinds.urdf", free_base=True)
    body = da.Inertia.from_com(1.5, (0.1, 0.2, 0.3), (0.2, 0.3, 0.4))
    ball = da.Link("ball", "c", da.Joint("ball", "ball"), inertia=body)
    return replace(robot, links=(*robot.links, ball)), SimpleNamespace(**stored)


@pytest.mark.parametrize("known", ["names", "model"])
def test_states_of_all_kinds_of_joints(tmp_path, known):
    """Floating, planar, ball and continuous joints, and joints behind a fixed one, which Pinocchio sorts by the name of that."""
    robot, there = kinds(tmp_path)
    names = there if known == "model" else there.names
    assert [name for name in there.names if name in robot.joint_names] == ["zoom", "lift", "turn", "wheel"]
    assert [name for name in robot.joint_names if "." not in name] == ["wheel", "turn", "lift", "zoom"]
    here = robot.from_pinocchio(there.q, there.v, there.a, there.tau, names=names)
    close(robot.inverse_dynamics(*here[:3], backend="numpy"), here.tau, 1e-13)
    for x, y in zip(robot.to_pinocchio(*here, names=names), (there.q, there.v, there.a, there.tau), strict=True):
        close(x, y, 1e-14)
    close(here.tau @ here.qd, np.dot(there.tau, there.v), 1e-14)  # power does not depend on the axes


def test_batches_and_complex_steps_are_converted(tmp_path):
    robot, there = kinds(tmp_path)
    q, v, a = (np.array(x) for x in (there.q, there.v, there.a))
    here = robot.from_pinocchio(q, v, a, names=there)
    batch = robot.from_pinocchio(q, np.tile(v, (2, 3, 1)), a, names=there)
    assert batch.q.shape == (2, 3, robot.nq)
    assert (batch.qdd == here.qdd).all()
    way = np.cos(np.arange(len(q)))
    step = robot.from_pinocchio(q + 1e-200j * way, names=there).q.imag / 1e-200
    rate = (robot.from_pinocchio(q + 1e-6 * way, names=there).q - robot.from_pinocchio(q - 1e-6 * way, names=there).q) / 2e-6
    close(step, rate, 1e-9)
    back = robot.to_pinocchio(here.q + 1e-200j * step, names=there).q.imag / 1e-200
    assert back.shape == q.shape
    assert np.isfinite(back).all()


@pytest.mark.skipif(not FILES, reason=REASON)
@pytest.mark.parametrize("key", sweep(COUPLED, quick=(1,)))
def test_joints_that_follow_on_both_sides(key):
    """Names do not tell whether joints follow in Pinocchio's model, so only the model itself will do."""
    robot, joints = load(key, mimic=True), COUPLED[key]["joints"]
    model = model_there(key, following=set(STORED[key]["joints"]) - set(joints))
    state = [robot.reorder(x, joints) for x in joint_states(robot.n, 0)]
    there, here = robot.to_pinocchio(*state, names=model), dict(zip(joints, joint_states(robot.n, 0)[1], strict=True))
    assert there.qd.tolist() == [here[name] for name in model.names if name in here]
    for x, y in zip(robot.from_pinocchio(*there[:3], names=model)[:3], state, strict=True):
        close(x, y, 1e-15)
    with pytest.raises(da.Error, match=r"follows others, and names do not tell .* give names=model, or .* mimic=False"):
        robot.to_pinocchio(*state, names=model.names)
    with pytest.raises(da.Error, match=r"follows others, but is independent in Pinocchio's model; load .* mimic=False"):
        robot.to_pinocchio(*state, names=model_there(key))
    free = load(key)
    with pytest.raises(da.Error, match=r"is independent, but follows another in Pinocchio's model"):
        free.to_pinocchio(free.neutral(), names=model)


@pytest.mark.slow
@pytest.mark.skipif(not FILES, reason=REASON)
@pytest.mark.parametrize("free_base", [False, True])
def test_forces_beside_pinocchio_itself(free_base):
    pin = pytest.importorskip("pinocchio")
    root = [pin.JointModelFreeFlyer()] if free_base else []
    for key in STORED:
        model = pin.buildModelFromUrdf(str(FILES[key]), *root)
        robot = load(key, free_base=free_base).without_friction()
        q = robot.random_configuration(1)
        qd, qdd = np.random.default_rng(2).normal(size=(2, robot.n))
        expected = robot.inverse_dynamics(q, qd, qdd, backend="numpy")
        for names in (model.names, model):
            there = robot.to_pinocchio(q, qd, qdd, names=names)[:3]
            tau = pin.rnea(model, model.createData(), *there)
            close(robot.from_pinocchio(*there, tau, names=names).tau, expected, 1e-13)


def test_a_chain_has_one_order():
    """Without names: nothing but the numbers of single joints can differ."""
    arm = da.robot("panda").with_free_base()
    q, names = arm.random_configuration(1), ["universe", "root_joint", *arm.joint_names[6:]]
    assert (arm.to_pinocchio(q).q == arm.to_pinocchio(q, names=names).q).all()
    assert (arm.to_pinocchio(q).q[7:] == q[7:]).all()


def test_the_free_joint_keeps_its_name_where_pinocchio_has_it():
    arm = da.robot("panda").with_free_base(joint="flyer")
    q = arm.random_configuration(1)
    for name in ("flyer", "root_joint"):
        there = arm.to_pinocchio(q, names=[name, *arm.joint_names[6:]])
        close(there.q[:3], q[4:7], 1e-15)


def test_a_base_pose_that_pinocchio_does_not_have():
    """It has none for the root of a URDF file: a free base that stands on one would be elsewhere there."""
    arm = da.robot("panda").with_free_base()
    tilted = arm.with_base(da.Pose.of((0, 0, 1), (0, 0.5, 0)))
    with pytest.raises(da.Error, match="panda has a free joint on a base pose, which Pinocchio's model does not have"):
        tilted.to_pinocchio(tilted.neutral())
    with pytest.raises(da.Error, match=r"from_pinocchio: .* on a base pose"):
        tilted.from_pinocchio(arm.neutral())


MISTAKES = {
    "no positions": (lambda r, m: r.from_pinocchio(None, tau=m.tau, names=m.names), "from_pinocchio: q must be given"),
    "order": (lambda r, m: r.to_pinocchio(r.neutral()), "needs names=model.names for kinds: several joints are carried by 'a'"),
    "missing here": (
        lambda r, m: r.to_pinocchio(r.neutral(), names=[*m.names, "x", "y"]),
        "kinds has no joint 'x', 'y'; robot.lock.* fixes joints here, pin.buildReducedModel.* there",
    ),
    "missing there": (
        lambda r, m: r.from_pinocchio(m.q, names=[x for x in m.names if x not in ("lift", "wheel")]),
        "Pinocchio's model has no joint 'wheel', 'lift'",
    ),
    "both": (
        lambda r, m: r.to_pinocchio(r.neutral(), names=[x.replace("lift", "raise") for x in m.names]),
        "Pinocchio's model has no joint 'lift'; kinds has no joint 'raise'",
    ),
    "base there": (
        lambda r, m: r.to_pinocchio(r.neutral(), names=[x for x in m.names if x != "root_joint"]),
        "Pinocchio's model has no joint 'base'; pin.JointModelFreeFlyer.. gives",
    ),
    "another base": (
        lambda r, m: r.to_pinocchio(r.neutral(), names=[x.replace("root_joint", "torso") for x in m.names]),
        "kinds has no joint 'torso'; .*; if it has one by another name, with_free_base.joint='torso'. gives it that name here",
    ),
    "base here": (
        lambda r, m: da.robot("panda").to_pinocchio(np.zeros(7), names=["root_joint", *da.robot("panda").joint_names]),
        "panda has no joint 'root_joint'; with_free_base.. adds",
    ),
    "twice": (lambda r, m: r.to_pinocchio(r.neutral(), names=[*m.names, "lift"]), "joint 'lift' is named twice in names"),
    "names": (
        lambda r, m: r.to_pinocchio(r.neutral(), names="lift"),
        r"names \(model.names of Pinocchio, or model\) must be a list",
    ),
    "a name": (lambda r, m: r.to_pinocchio(r.neutral(), names=[1]), "each of .* names .* must be a non-empty string"),
    "size": (
        lambda r, m: r.to_pinocchio(r.neutral(), names=SimpleNamespace(names=m.names, nqs=[*m.nqs[:-1], 3], nvs=m.nvs)),
        "joint 'ball' of kinds is ball; that of Pinocchio's model, with 3 positions and 3 velocities, is of another kind",
    ),
    "length": (lambda r, m: r.from_pinocchio(m.q[1:], names=m), r"q must have the shape \(..., 28\), got \(27,\)"),
    "no angle": (
        lambda r, m: r.from_pinocchio([*m.q[:7], 0.0, 0.0, *m.q[9:]], names=m),
        "cosine and sine of joint 'zoom' are both zero",
    ),
    "velocities": (
        lambda r, m: r.to_pinocchio(r.neutral(), qdd=np.ones(r.n), names=m),
        "accelerations of planar joints depend on velocities; give qd as well",
    ),
    "angle or circle": (
        lambda r, m: da.robot("two_link").to_pinocchio([0.1, 0.2]),
        "joint 'joint1' of two_link has no limits, and names do not tell .*; give names=model",
    ),
    "coordinates": (
        lambda r, m: da.random_robot(1, "RR").with_coupling(np.eye(2), names=("a", "b")).to_pinocchio(np.ones(2)),
        "'a', 'b' of .* are coordinates of its coupling and no joints; convert the values of robot.uncoupled",
    ),
}


def test_planar_joints_of_pinocchio_have_no_axis(tmp_path):
    """It moves them in x and y of the joint's frame, whatever their <axis> is: another robot than ours unless that is z."""
    before, _, after = KINDS.partition('<axis xyz="0 0 1"/></joint><joint name="lift"')
    assert before.endswith('rpy="0.1 0.2 0.3"/>')
    (tmp_path / "turned.urdf").write_text(before + '<axis xyz="0 1 0"/></joint><joint name="lift"' + after)
    robot = da.load(tmp_path / "turned.urdf", free_base=True)
    with pytest.raises(da.Error, match="'skid' of kinds moves in a plane whose normal is not z"):
        robot.to_pinocchio(robot.neutral(), names=[name for name in DATA["kinds"]["names"] if name != "ball"])


@pytest.mark.parametrize("what", MISTAKES)
def test_what_cannot_be_converted_is_refused(what, tmp_path):
    call, message = MISTAKES[what]
    with pytest.raises(da.Error, match=message):
        call(*kinds(tmp_path))


MASSLESS = ("RThumb3", "r_gripper_joint")  # of Romeo's two files: links without inertia


def forward(robot, state, tau):
    """Pinocchio's forces give the accelerations back, unless some link has no inertia."""
    q, qd, qdd = state
    if not robot.n:
        return
    try:
        close(robot.forward_dynamics(q, qd, tau, backend="native" if robot.n <= 9 else "numpy"), qdd, 1e-9)
        for method in ("brandl", "kalman", "walker_orin_3", "diagonalized_normalized") if robot.n <= 9 else ():
            close(formulation("forward_dynamics", method)(robot.tree, q, qd, tau), qdd, 1e-9)
    except da.Error as singular:
        assert any(f"joint {name!r}" in str(singular) for name in MASSLESS)


@pytest.mark.slow
@pytest.mark.skipif(not FILES, reason=REASON)
def test_every_file_loads_and_round_trips(tmp_path):
    mimics = impossible = almost = rubbing = 0
    unread: list[str] = []
    nobody: list[str] = []
    for key in STORED:
        robot = load(key, mimic=True)
        robot.save(tmp_path / "robot.toml")
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", da.DataWarning)
            assert da.load(tmp_path / "robot.toml") == robot
        found = robot.check()
        mimics += robot.coupling is not None
        nobody += [key] if found.about("mimic") else []
        impossible += bool(found.about("inertia"))
        almost += bool(found.about("angle"))
        assert not found.about("degrees")
        rubbing += robot.without_friction() != robot
        unread += [key] if found.about("unread") else []
    assert len(FILES) >= 69
    assert mimics == 8  # four more files have <mimic> on fixed joints, where it says nothing
    assert nobody == ["alex_description/urdf/alex_psyonic_hands.urdf"]  # its joints mimic some that are not there
    assert (impossible, rubbing) == (16, 32)
    assert almost > 30
    assert unread == [
        "panda_description/urdf/panda.urdf",  # K, D, mu_viscous
        "panda_description/urdf/panda_collision.urdf",
        "pr2_description/urdf/pr2.urdf",  # links without gravity, and the loops of its grippers
        "tiago_description/robots/tiago.urdf",  # fingers that follow others by plugins
        "tiago_description/robots/tiago_dual.urdf",
    ]


def test_corpus_is_there_in_ci():
    import os

    if os.environ.get("CI"):
        assert FILES, "CI must install the corpus: " + REASON
