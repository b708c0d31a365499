"""Limits have the same names and forms everywhere, and are read in one place."""

from dataclasses import replace

import numpy as np
import pytest

import dalembert as da
from dalembert.model.limits import LIMITS, both_sides, each_joint, limits_of, own_limit


def two(**limits):
    """Two joints of which the second one has limits."""
    robot = da.robot("two_link")
    first, second = robot.links
    return replace(robot, links=(first, replace(second, joint=replace(second.joint, **limits))))


def test_the_robots_own():
    robot = two(lower=-1.0, upper=2.0, velocity_limit=3.0, effort_limit=4.0)
    found = {name: own_limit(robot, name)[1] for name in LIMITS}
    assert found == {"lower": -1.0, "upper": 2.0, "velocity": 3.0, "acceleration": np.inf, "torque": 4.0}
    assert [own_limit(robot, name)[0] for name in LIMITS] == [-np.inf, *[np.inf] * 4]


def test_files_write_0_for_a_limit_that_they_do_not_know():
    robot = two(velocity_limit=0.0, effort_limit=0.0)
    assert np.isinf([own_limit(robot, name) for name in ("velocity", "torque")]).all()
    with pytest.raises(da.Error, match="saturate needs torque limits, and two_link has none"):
        robot.simulate([0.1, 0.2], duration=0.1, saturate=True)
    one = replace(robot, links=(replace(robot.links[0], joint=replace(robot.links[0].joint, effort_limit=2.0)), robot.links[1]))
    least = one.simulate([0.1, 0.2], duration=0.1, torque=[2.0, 5.0])
    assert (one.simulate([0.1, 0.2], duration=0.1, torque=[3.0, 5.0], saturate=True).q == least.q).all()
    with pytest.raises(da.Error, match="qd of 'joint2' needs a finite range"):
        robot.sweep(over={"q": 0.0, "qd": {"joint1": 1.0}, "qdd": 0.0}, samples=10)


def test_forms():
    robot = two(effort_limit=4.0)
    assert each_joint(robot, 2.0, "x").tolist() == each_joint(robot, [2.0, 2.0], "x").tolist() == [2.0, 2.0]
    np.testing.assert_array_equal(each_joint(robot, {"joint1": 1.0}, "x"), [1.0, np.nan])
    np.testing.assert_array_equal(each_joint(robot, None, "x"), [np.nan, np.nan])
    assert both_sides(robot, [[-1.0, -2.0], [3.0, 4.0]], "x").tolist() == [[-1.0, -2.0], [3.0, 4.0]]
    assert limits_of(robot, {"torque": {"joint1": 9.0}})["torque"].tolist() == [[-9.0, -4.0], [9.0, 4.0]]


@pytest.mark.parametrize(
    "name, new", {"qd": "velocity", "speed": "velocity", "qdd": "acceleration", "tau": "torque", "effort": "torque"}.items()
)
def test_other_names_are_told(name, new):
    robot = da.robot("two_link")
    for call in (
        lambda given: robot.least_effort([0.0, 0.0], [1.0, 0.0], 1.0, limits=given),
        lambda given: da.excitation(robot, given),
    ):
        with pytest.raises(da.Error, match=f"limits: '{name}' is called '{new}'"):
            call({name: 1.0})


@pytest.mark.parametrize(
    "given, words",
    [
        ({"torque": [1.0, 2.0, 3.0]}, r"limits: torque must be one number, or 2 \(one for each joint of two_link\), or the least"),
        ({"lower": [[1.0, 2.0]]}, r"limits: lower must be one number, or 2 \(one for each joint of two_link\), got"),
        ({"torque": np.nan}, "limits: torque must be one number"),
        ({"torque": [[np.nan, -1.0], [1.0, 1.0]]}, "torque of joint 'joint1' must be the least below the greatest, got nan to 1"),
        ({"velocity": [1.0, 0.0]}, "limits: velocity of joint 'joint2' must be above 0, got 0"),
        ({"velocity": {"elbow": 1.0}}, "unknown joint of two_link: 'elbow'"),
        ({"velocity": {"joint1": "fast"}}, "limits: velocity of joint 'joint1' must be a number, got 'fast'"),
        ({"jerk": 1.0}, "unknown limit: 'jerk'"),
        (5.0, "limits must be given by name"),
    ],
)  # fmt: skip
def test_mistakes(given, words):
    with pytest.raises(da.Error, match=words):
        limits_of(da.robot("two_link"), given)


def test_the_same_forms_in_all_functions():
    robot, ends = da.robot("two_link"), ([-1.5, 0.0], [0.4, 0.6])
    by_joint, rows = {"joint1": 40.0, "joint2": 20.0}, [[-40.0, -20.0], [40.0, 20.0]]
    motions = [robot.fastest(ends, torque=x).duration for x in ([40.0, 20.0], by_joint, rows)]
    swings = [
        robot.optimal_control(*ends, 0.5, limits=x).cost for x in ([40.0, 20.0], {"torque": by_joint}, {"torque": rows}, rows)
    ]
    assert len(set(motions)) == 1 and len({float(x) for x in swings}) == 1


def test_limits_on_one_side_of_0():
    robot, up = da.robot("two_link"), [[0.0, 1.0], [2.0, 2.0]]
    with pytest.raises(da.Error, match="fastest: velocity of joint 'joint1' must be from below 0 to above 0, got 0 to 2"):
        robot.fastest([[0.0, 0.0], [1.0, 0.0]], torque=90.0, velocity=up)
    with pytest.raises(da.Error, match="limits: torque of joint 'joint1' must be from below 0 to above 0, got 0 to 2"):
        da.excitation(robot, {"torque": up})


def test_no_limits_of_inverse_kinematics():
    robot = da.robot("puma560")
    pose = robot.pose(robot.upper + 0.3)
    found = [robot.inverse_kinematics(pose, q0=robot.upper + 0.3, limits=x, starts=1).q for x in (False, None)]
    assert (found[0] == found[1]).all()
