"""Simplified models (Fu, Gonzalez and Lee, 3.4.1): which parts go, what is left, and what that costs."""

import numpy as np
import pytest
from conftest import STRUCTURES, close, sweep

import dalembert as da


def quintic(robot, seed=0, points=31):
    """From rest to rest in one second between two random positions."""
    t = np.linspace(0, 1, points)[:, None]
    start, way = np.random.default_rng(seed).uniform(-2, 2, (2, robot.n))
    rise = 10 * t**3 - 15 * t**4 + 6 * t**5, 30 * t**2 * (1 - t) ** 2, 60 * t * (1 - t) * (1 - 2 * t)
    return start + way * rise[0], way * rise[1], way * rise[2]


def parts(robot, path):
    """Largest magnitudes of D_tran, D_rot, h_tran, h_rot along the path."""
    return [np.abs(x).max(axis=0) for x in robot.dalembert_terms(*path[:2], backend="numpy")[:4]]


@pytest.mark.parametrize("seed", sweep(range(3), quick=(0,)))
def test_puma_along_quintic_paths(seed):
    arm = da.robot("puma560")
    path = quintic(arm, seed)
    D_tran, D_rot, _, _ = parts(arm, path)
    assert (D_tran[0, 1:3] > 1e3 * D_rot[0, 1:3]).all()
    simple = arm.dominance(*path)
    assert simple.keep.D_tran[0, 1:3].all()
    assert not simple.keep.D_rot[0, 1:3].any()
    assert (simple.largest.D_tran[5] == 0).all()  # the centre of mass of link 6 lies on its axis
    assert not simple.keep.D_tran[5, [0, 1, 2, 3, 5]].any()
    assert (simple.largest.D_tran[4, 5], simple.largest.D_rot[4, 5]) == (0, 0)
    assert simple.operation_count().total < simple.full_operation_count().total
    assert simple.operation_count().mul < simple.full_operation_count().mul


@pytest.mark.parametrize("threshold", [1.0, 2.0, 10.0, 1e3])
def test_masks_follow_from_the_threshold(threshold):
    arm = da.random_robot(3, "RRPR")
    path = quintic(arm)
    D_tran, D_rot, h_tran, h_rot = parts(arm, path)
    keep = arm.dominance(*path, threshold=threshold).keep
    for tran, rot, keep_tran, keep_rot in ((D_tran, D_rot, keep.D_tran, keep.D_rot), (h_tran, h_rot, keep.h_tran, keep.h_rot)):
        assert (keep_tran == (tran >= rot / threshold)).all()
        assert (keep_rot == (rot > tran / threshold)).all()
        assert (keep_tran | keep_rot).all()
    assert (keep.D_tran == keep.D_tran.T).all()


def test_one_part_of_each_entry():
    arm = da.robot("puma560")
    keep = arm.dominance(*quintic(arm), threshold=1).keep
    assert (keep.D_tran ^ keep.D_rot).all()
    assert (keep.h_tran ^ keep.h_rot).all()


@pytest.mark.parametrize(("joints", "parents"), sweep(STRUCTURES[:6] + STRUCTURES[7:], quick=(1, 5, 6)))
def test_all_parts_are_the_full_model(joints, parents):
    arm = da.random_robot(4, joints, parents).with_friction(0.2, 0.3).with_armature(0.1)
    path = quintic(arm)
    whole = arm.dominance(*path, threshold=np.inf)
    assert all(mask.all() for mask in whole.keep)
    close(whole.inverse_dynamics(*path, backend="numpy"), arm.inverse_dynamics(*path, backend="numpy"), 1e-12)
    assert whole.operation_count() == whole.full_operation_count()


@pytest.mark.parametrize(("joints", "parents"), sweep(STRUCTURES))
def test_only_the_kept_parts_are_there(joints, parents):
    """The simplified model is the sum of the kept parts; what it lacks is at most 1/threshold of what it has."""
    arm = da.random_robot(4, joints, parents).with_friction(0.2, 0.3).with_armature(0.1)
    path = q, qd, qdd = quintic(arm)
    simple = arm.dominance(*path, threshold=3)
    terms = arm.dalembert_terms(q, qd, backend="numpy")
    D_tran, D_rot, h_tran, h_rot = (np.where(mask, x, 0) for mask, x in zip(simple.keep, terms, strict=False))
    expected = np.matvec(D_tran + D_rot, qdd) + h_tran + h_rot + terms.c + 0.2 * qd + 0.3 * np.sign(qd) + 0.1 * qdd
    found = simple.inverse_dynamics(*path, backend="numpy")
    close(found, expected, 1e-12)
    D, h = (np.maximum(*simple.largest[k : k + 2]) / 3 for k in (0, 2))
    full = arm.inverse_dynamics(*path, backend="numpy")
    assert (np.abs(found - full) <= np.abs(qdd) @ D + h + 1e-12 * np.abs(full).max()).all()


def test_sliding_joints_have_no_rotational_part():
    arm = da.random_robot(1, "PPP")
    simple = arm.dominance(*quintic(arm))
    assert not simple.keep.D_rot.any()
    assert (simple.largest.D_rot == 0).all()
    close(simple.torque_error().max, np.zeros(3), 1e-12, 1.0)


def test_native_code_and_batches():
    arm = da.robot("puma560")
    simple = arm.dominance(*quintic(arm))
    q, qd, qdd = np.random.default_rng(0).uniform(-1, 1, (3, 4, 2, 6))
    found = simple.inverse_dynamics(q, qd, qdd)
    close(found, simple.inverse_dynamics(q, qd, qdd, backend="numpy"), 1e-13)
    assert (simple.inverse_dynamics(q[1, 1], qd[1, 1], qdd[1, 1]) == found[1, 1]).all()
    out = np.empty((4, 2, 6))
    assert simple.inverse_dynamics(q, qd, qdd, out=out) is out
    assert simple.program().outputs[0].name == "tau"
    with pytest.raises(da.Error, match="qd has shape"):
        simple.inverse_dynamics(q, qd[..., :5], qdd)


def test_torque_errors():
    arm = da.robot("puma560").with_friction(1.0, 2.0)
    path = quintic(arm)
    simple = arm.dominance(*path)
    tau = arm.inverse_dynamics(*path)
    wrong, size = simple.inverse_dynamics(*path) - tau, np.abs(tau).max(axis=0)
    error = simple.torque_error()
    assert 0 < error.relative_max.max() < 0.1
    close(error.max, np.abs(wrong).max(axis=0), 1e-15)
    close(error.rms, np.linalg.norm(wrong, axis=0) / np.sqrt(31), 1e-14)
    close(error.relative_max, error.max / size, 1e-14)
    close(error.relative_rms, error.rms / size, 1e-14)
    elsewhere = simple.torque_error(*quintic(arm, 5))
    assert (elsewhere.max != error.max).any()
    still = arm.with_gravity((0, 0, 0)).without_friction().dominance(np.zeros(6), np.zeros(6), np.zeros(6))
    assert (still.torque_error().relative_max == 0).all()


def test_it_prints_as_a_table():
    arm = da.robot("puma560")
    simple = arm.dominance(*quintic(arm))
    lines = str(simple).splitlines()
    assert repr(simple) == str(simple)
    assert lines[0] == "puma560: parts kept along 31 states, threshold 10"
    assert lines[2].split() == ["D", "joint1", "both", "tran", "tran", "both", "both", "rot"]
    assert lines[6].split()[-1] == "0"  # D_56 vanishes
    assert lines[8].startswith("h ")
    assert str(simple.operation_count()) in lines[-1]


def test_mistakes():
    arm = da.robot("two_link")
    path = quintic(arm)
    for wrong in (0.5, -1, 0):
        with pytest.raises(da.Error, match=r"threshold of dominance\(\) must be at least 1"):
            arm.dominance(*path, threshold=wrong)
    with pytest.raises(da.Error, match="must be a number"):
        arm.dominance(*path, threshold=np.nan)
    with pytest.raises(da.Error, match=r"qdd has shape \(31, 3\)"):
        arm.dominance(path[0], path[1], np.zeros((31, 3)))
    with pytest.raises(da.Error, match="do not broadcast"):
        arm.dominance(path[0], path[1], np.zeros((30, 2)))
    for bad in (path[0][:0], np.full((31, 2), np.nan), path[0] + 0j):
        with pytest.raises(da.Error, match="at least one state, with real and finite numbers"):
            arm.dominance(bad, path[1][: len(bad)], path[2][: len(bad)])
    with pytest.raises(da.Error, match="a robot with joints"):
        da.Robot("stone", ()).dominance([], [], [])
