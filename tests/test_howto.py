"""The pages for those who know Pinocchio or Robotics Toolbox: what their tables call the same is the same."""

import ast
import inspect
import re
from importlib.util import find_spec

import numpy as np
import pytest
from pages import URDF, read

import dalembert as da
from dalembert.foreign import FOREIGN

ANGULAR_FIRST = [3, 4, 5, 0, 1, 2]


def table(name, title):
    """The rows of the table below a heading: their code, ours, and what is said of a difference."""
    text = read(f"howto/{name}").partition(f"## {title}\n")[2].partition("\n## ")[0]
    rows = [[cell.strip() for cell in line.strip("|").split(" | ")] for line in text.splitlines() if line.startswith("| `")]
    return [(re.findall("`([^`]*)`", a), re.findall("`([^`]*)`", b), b.partition(", [")[2]) for a, b in rows]


REGRESSOR = [0, 1, 2, 3, 4, 5, 7, 6, 8, 9]  # from Pinocchio's order of the ten parameters to ours


@pytest.mark.slow
def test_names_of_pinocchio(tmp_path):
    (tmp_path / "small.urdf").write_text(URDF)
    arm = da.load(tmp_path / "small.urdf")
    q, v, a = np.random.default_rng(0).uniform(-0.2, 0.3, (3, 3))
    scope = {"arm": arm, "q": q, "v": v, "a": a, "qd": v, "qdd": a, "tau": a, "link": "hand"}
    rows = table("from_pinocchio", "Computing")
    assert len(rows) == 18
    pin = pytest.importorskip("pinocchio") if find_spec("pinocchio") else None
    if pin:
        model = pin.buildModelFromXML(URDF)
        scope |= {"pin": pin, "model": model, "data": model.createData(), "id": model.getFrameId("hand")}
    for (theirs, *_), (ours, *_), different in rows:
        found = eval(ours, scope)
        name = re.match(r"pin\.(\w+)\(", theirs)[1]
        assert name in FOREIGN, f"{name} has no hint"
        if not pin or name == "forwardKinematics":
            continue
        expected = eval(theirs, scope)
        if "Jacobian(" in theirs:
            assert "angular" in different or "LOCAL)" not in theirs
            expected = expected[ANGULAR_FIRST]
        if "Regressor" in theirs:
            expected = expected.reshape(3, 3, 10)[..., REGRESSOR].reshape(3, 30)
        for x, y in zip(found, expected, strict=True) if isinstance(found, tuple) else [(found, expected)]:
            np.testing.assert_allclose(x, y, atol=1e-12, err_msg=theirs)


@pytest.mark.slow
def test_names_of_robotics_toolbox():
    half = np.pi / 2
    geometry = [(half, 0.1, 0.4), (0.0, 0.5, 0.1), (-half, 0.02, 0.1), (half, 0.0, 0.4), (-half, 0.0, 0.0), (0.0, 0.0, 0.1)]
    bodies = [(4.0 / (k + 1), (0.1, 0.02, 0.03 * k), (0.2, 0.3, 0.25)) for k in range(6)]
    rows = [
        da.DHRow(alpha=alpha, a=a, d=d, inertia=da.Inertia.from_com(*body))
        for (alpha, a, d), body in zip(geometry, bodies, strict=True)
    ]
    arm = da.Robot.from_dh(rows, convention="standard")
    q, qd, qdd = np.random.default_rng(0).uniform(0.2, 1.0, (3, 6))
    given = {
        "arm": arm,
        "da": da,
        "inv": np.linalg.inv,
        "q": q,
        "qd": qd,
        "qdd": qdd,
        "tau": qdd,
        "m": 2.0,
        "p": (0, 0, 0.1),
        "q0": q,
        "q1": qd,
        "T": 0.01,
    }
    compared = table("from_robotics_toolbox", "Computing")
    assert len(compared) == 15
    rtb = pytest.importorskip("roboticstoolbox") if find_spec("roboticstoolbox") else None
    if rtb:
        links = [
            rtb.RevoluteDH(alpha=alpha, a=a, d=d, m=m, r=r, I=np.diag(I), G=0, Jm=0, B=0, Tc=[0, 0])
            for (alpha, a, d), (m, r, I) in zip(geometry, bodies, strict=True)
        ]
        given["robot"] = rtb.DHRobot(links, gravity=[0, 0, -9.81])
    changing = ("nofriction", "payload", "fdyn", "jtraj")  # what is not an array, or not the same samples
    for (theirs, *_), (ours, *_), different in compared:
        name = re.match(r"\w+\.(\w+)\(", theirs)[1]
        assert name in FOREIGN or name == "jtraj", f"{name} has no hint"
        found = eval(ours, given | {"duration": 0.01})
        if not rtb or name in changing:
            continue
        expected = np.asarray(eval(theirs, given))
        if "jacob" in name:
            expected = expected[ANGULAR_FIRST]
        if name == "inertia_x":
            expected = expected[np.ix_(ANGULAR_FIRST, ANGULAR_FIRST)]
        if name == "coriolis":
            assert "the same force" in different
            found, expected = found @ qd, expected @ qd
        np.testing.assert_allclose(found, expected, atol=1e-6 * np.abs(expected).max(), err_msg=theirs)


@pytest.mark.parametrize(
    ("page", "title", "count"),
    [
        ("from_pinocchio", "Getting a robot", 12),
        ("from_pinocchio", "More functions", 8),
        ("from_robotics_toolbox", "Getting a robot", 12),
        ("from_robotics_toolbox", "More functions", 8),
    ],
)
def test_names_of_other_tables(page, title, count):
    """Every name of ours in them exists, and takes the keywords that it is given."""
    rows = table(page, title)
    assert len(rows) == count
    scope = {"da": da, "arm": da.robot("two_link")}
    for _, ours, _ in rows:
        for holder, name in re.findall(r"\b(da|arm|da\.Robot|da\.Inertia)\.(\w+)", " ".join(ours)):
            assert hasattr(eval(holder, scope), name), f"{page}: there is no {holder}.{name}"
        for code in ours:
            if not code.startswith(("da.", "arm.")):
                continue
            tree = ast.parse(code.replace(", ...)", ")"))
            for call in (node for node in ast.walk(tree) if isinstance(node, ast.Call)):
                taken = inspect.signature(eval(ast.unparse(call.func), scope)).parameters
                assert {keyword.arg for keyword in call.keywords} <= set(taken), f"{page}: {ast.unparse(call)}"


def test_completion_offers_what_works():
    """Names of other libraries raise what to use instead; completion leaves them out, of the class as of a robot."""
    arm = da.robot("two_link")
    assert FOREIGN.isdisjoint(dir(da.Robot)) and FOREIGN.isdisjoint(dir(arm))
    assert {"from_dh", "inverse_dynamics", "with_payload"} <= set(dir(da.Robot))
    for name in dir(arm):
        getattr(arm, name)
    with pytest.raises(AttributeError, match="Robot has no attribute 'from_urdf'; load a robot"):
        da.Robot.from_urdf("arm.urdf")
