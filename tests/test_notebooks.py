"""What notebooks show: robots as HTML, drawings, bars of progress, and completion."""

import sys
from types import SimpleNamespace
from xml.etree import ElementTree

import numpy as np
import pytest
from conftest import sweep

import dalembert as da
from dalembert import groups, progress
from dalembert.quantities.drawing import skeleton

STONE = da.Robot("stone", ())


@pytest.mark.parametrize("name", da.robot_names())
def test_robots_show_themselves(name):
    """Well-formed, a row for each joint and a point for each joint of the drawing."""
    robot = da.robot(name)
    page = ElementTree.fromstring(f"<div>{robot._repr_html_()}</div>")
    rows = [[cell.text for cell in row] for row in page.findall(".//tbody/tr")]
    joints = [link.joint for link in robot.links]
    assert [row[0] for row in rows] == [joint.name for joint in joints]
    assert len(page.findall(".//circle")) == sum(joint.kind != "free" for joint in joints)
    width, height = (float(page.find(".//svg").get(x)) for x in ("width", "height"))
    for line in page.findall(".//polyline"):
        for point in line.get("points").split():
            x, y = map(float, point.split(","))
            assert 0 <= x <= width and 0 <= y <= height


def test_hostile_names_stay_text():
    link = da.Link("<script>alert(1)</script>", "base", da.Joint("a&b"), inertia=da.Inertia.from_com(1.0, (0, 0, 0)))
    page = da.Robot("<b>", (link,))._repr_html_()
    assert "<script" not in page and "&lt;script&gt;" in page and "&lt;b&gt;" in page and "a&amp;b" in page
    assert "0 joints" in STONE._repr_html_()
    assert "<svg" not in da.Robot("far", (da.Link("l", "base", da.Joint("j"), before=da.Pose.of((1e300, 0, 0))),))._repr_html_()


@pytest.mark.parametrize("seed", sweep(range(20)))
def test_drawings_are_at_the_poses_of_the_links(seed):
    """Against the kinematics: every line ends at the origin of its link, joints lie on their axes."""
    robot = da.random_robot(seed, "RPHRP", (-1, 0, 1, 0, -1)).with_base(da.Pose.of((1, 2, 3), rpy=(0.1, 0.2, 0.3)))
    q = robot.random_configuration(seed)
    drawn, poses = skeleton(robot, q), robot.poses(q)
    np.testing.assert_allclose([line[-1] for line in drawn.lines], poses[:, :3, 3], atol=1e-12)
    for i, link in enumerate(robot.links):
        start = poses[robot.parents[i]] if robot.parents[i] >= 0 else robot.base.matrix
        np.testing.assert_allclose(drawn.joints[i], (start @ link.before.matrix)[:3, 3], atol=1e-12)
        np.testing.assert_allclose(drawn.axes[i], (start @ link.before.matrix)[:3, 2], atol=1e-12)
    mass = np.array([link.inertia.mass for link in robot.links])
    np.testing.assert_allclose(mass @ drawn.masses / mass.sum(), robot.center_of_mass(q), atol=1e-12)


def test_plots():
    pytest.importorskip("matplotlib")
    arm = da.robot("panda")
    one, two = arm.plot(), arm.plot(np.stack([arm.neutral()] * 2))
    assert one._repr_png_().startswith(b"\x89PNG")
    assert len(two.axes[0].lines) == 2 * len(one.axes[0].lines) > 2 * arm.n
    assert STONE.plot()._repr_png_()
    for wrong in (np.zeros(6), np.zeros((2, 2, 7)), np.zeros((0, 7)), np.full(7, np.nan), "abc", np.zeros((10**4, 7))):
        with pytest.raises(da.Error):
            arm.plot(wrong)


def test_completion_is_in_groups():
    """What is not offered after `arm.` is offered after one of the groups, and is the same function."""
    arm = da.robot("two_link")
    offered, every = set(dir(arm)), {name for name in vars(da.Robot) if not name.startswith("_")}
    grouped = {name for group in groups.GROUPS for name in group.names}
    assert every - offered == grouped and grouped <= every
    for name in ("books", "diagonalized", "curvature", "simplified"):
        group = getattr(arm, name)
        for member in getattr(da.Robot, name).names:
            assert member in dir(group) and member in repr(group)
            assert getattr(group, member) == getattr(arm, member)
        with pytest.raises(AttributeError, match="it has"):
            group.mass_matrix  # noqa: B018
    assert arm.books.probe([0.0, 0.0], [1.0, 1.0]).c.shape == (2,)


def test_bars_of_notebooks(monkeypatch):
    """A kernel's cell gets one output, which is changed and is empty in the end; other shells get nothing."""
    seen = []

    class Handle:
        def update(self, shown):
            seen.append(shown)

    def display(shown, display_id):
        seen.append(shown)
        return Handle()

    shell = SimpleNamespace(kernel=object())
    monkeypatch.setitem(sys.modules, "IPython", SimpleNamespace(get_ipython=lambda: shell))
    monkeypatch.setitem(sys.modules, "IPython.display", SimpleNamespace(HTML=str, display=display))
    monkeypatch.setattr(progress, "PATIENCE", 0.0)
    bar = progress.chosen(None, "a <robot>")
    assert isinstance(bar, progress.NotebookBar)
    bar(1, 4)
    bar.shown = 0.0
    bar(2, 4)
    bar(4, 4)
    assert 'value="0.2500"' in seen[0] and "a &lt;robot&gt; 25%" in seen[0] and 'value="0.5000"' in seen[1] and seen[2] == ""
    assert not isinstance(progress.chosen(True, "x"), type(lambda: 0)) and len(seen) == 3
    del shell.kernel
    assert not progress.in_notebook()
