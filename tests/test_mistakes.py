"""Mistakes of users, each explained by a `dalembert.Error` that names the thing and says what would be right."""

import numpy as np
import pytest

import dalembert as da

ARM = da.robot("puma560")
GOOD = np.zeros(6)
LONG = da.random_robot(0, "R" * 30)
ROD = da.Inertia.from_com(1.0, (0, 0, 0), 0.1)
MISTAKES = {
    "short q": (lambda: ARM.inverse_dynamics(np.zeros(5), GOOD, GOOD), "q has shape .5,., puma560 needs ...., 6.; joint order: joint1"),
    "scalar qd": (lambda: ARM.inverse_dynamics(GOOD, 1.0, GOOD), "qd has shape"),
    "batches": (lambda: ARM.inverse_dynamics(np.zeros((2, 6)), np.zeros((3, 6)), GOOD), "do not broadcast"),
    "strings": (lambda: ARM.inverse_dynamics(["a"] * 6, GOOD, GOOD), "must hold numbers"),
    "ragged": (lambda: ARM.inverse_dynamics([[1, 2], [3]], GOOD, GOOD), "q must hold numbers"),
    "method": (lambda: ARM.inverse_dynamics(GOOD, GOOD, GOOD, method="newton_eular"), "did you mean 'newton_euler'"),
    "backend": (lambda: ARM.inverse_dynamics(GOOD, GOOD, GOOD, backend="cuda"), "unknown backend 'cuda'"),
    "quantity": (lambda: ARM.program("inverse_kinematics"), "unknown quantity"),
    "methods": (lambda: da.methods("nothing"), "unknown quantity"),
    "wrench shape": (lambda: ARM.inverse_dynamics(GOOD, GOOD, GOOD, wrenches=np.zeros(6)), "wrenches has shape .6,., puma560 needs ...., 6, 6"),
    "wrench link": (lambda: ARM.inverse_dynamics(GOOD, GOOD, GOOD, wrenches={"lnk6": da.Wrench()}), "did you mean 'link6'"),
    "wrench type": (lambda: ARM.inverse_dynamics(GOOD, GOOD, GOOD, wrenches={"link6": [0] * 6}), "must be a dalembert.Wrench"),
    "wrench frame": (lambda: da.Wrench(frame="tool"), "unknown frame of a wrench"),
    "wrench force": (lambda: da.Wrench(force=(1, 2)), "the force of a wrench must be"),
    "base twist": (lambda: ARM.inverse_dynamics(GOOD, GOOD, GOOD, base_twist=np.zeros(3)), "base_twist has shape"),
    "out shape": (lambda: ARM.inverse_dynamics(GOOD, GOOD, GOOD, out=np.zeros(5)), "out has shape"),
    "out type": (lambda: ARM.inverse_dynamics(GOOD, GOOD, GOOD, out=[0] * 6), "out must be a numpy array"),
    "out integer": (lambda: ARM.inverse_dynamics(GOOD, GOOD, GOOD, out=np.zeros(6, int)), "out must be an array of floats"),
    "built-in": (lambda: da.robot("pumma560"), "did you mean 'puma560'"),
    "convention": (lambda: da.Robot.from_dh([], convention="craig"), "unknown Denavit-Hartenberg convention 'craig'"),
    "DH key": (lambda: da.Robot.from_dh([{"apha": 1.0}], convention="standard"), "DH row 1: .*did you mean 'alpha'"),
    "DH nan": (lambda: da.Robot.from_dh([{"a": float("nan")}], convention="standard"), "DH row 1: DH entry a must be finite"),
    "DH row": (lambda: da.Robot.from_dh([1.0], convention="standard"), "a DH row must be"),
    "DH joint": (lambda: da.Robot.from_dh([{"joint": "ball"}], convention="standard"), "kind of joint 'joint1'"),
    "screw length": (lambda: da.Robot.from_screws([[0, 0, 2.0, 0, 0, 0]], [np.eye(4)], [ROD]), "'joint1': the angular part must be a unit"),
    "screw shape": (lambda: da.Robot.from_screws([[0, 0, 1.0]], [np.eye(4)], [ROD]), "screws must be a 1 x 6"),
    "screw frame": (lambda: da.Robot.from_screws([[0, 0, 1, 0, 0, 0]], [np.eye(4)], [ROD], frame="tool"), "unknown frame of screws"),
    "screw inertias": (lambda: da.Robot.from_screws([[0, 0, 1, 0, 0, 0]], [np.eye(4)], []), "1 home poses but 0 inertias"),
    "screw parents": (lambda: da.Robot.from_screws([[0, 0, 1, 0, 0, 0]], [np.eye(4)], [ROD], parents=[0]), "earlier one"),
    "reflection": (lambda: da.Pose(np.diag([1, 1, -1]), (0, 0, 0)), "reflection"),
    "not a rotation": (lambda: da.Pose(np.ones((3, 3)), (0, 0, 0)), "not a rotation"),
    "pose shape": (lambda: ARM.with_base(np.eye(3)), "a pose must be a 4 x 4 matrix"),
    "pose row": (lambda: ARM.with_base(np.ones((4, 4))), "last row"),
    "negative mass": (lambda: da.Inertia.from_com(-1.0, (0, 0, 0)), "negative mass"),
    "negative moment": (lambda: da.Inertia.from_com(1.0, (0, 0, 0), (-1.0, 1, 1)), "must not be negative"),
    "triangle": (lambda: da.Inertia.from_com(1.0, (0, 0, 0), (1.0, 0.1, 0.1)), "exceeds the sum of the others"),
    "about origin": (lambda: da.Inertia.from_origin(1.0, (1, 0, 0), np.diag([0.0, 0.5, 0.5])), "must not be negative"),
    "parameters": (lambda: da.Inertia.from_parameters([0, 1, 0, 0, 0, 0, 0, 0, 0, 0]), "no first moment"),
    "asymmetric": (lambda: da.Inertia.from_com(1.0, (0, 0, 0), np.triu(np.ones((3, 3)))), "symmetric"),
    "mass text": (lambda: da.Inertia.from_com("1 kg", (0, 0, 0)), "a mass must be a number"),
    "com shape": (lambda: da.Inertia.from_com(1.0, (0, 0)), "a centre of mass must be 3 numbers"),
    "payload": (lambda: ARM.with_payload(-1.0), "negative mass"),
    "payload link": (lambda: ARM.with_payload(1.0, link="hand"), "unknown link or frame of puma560: 'hand'"),
    "gravity": (lambda: ARM.with_gravity(9.81), "gravity must be 3 numbers"),
    "friction size": (lambda: ARM.with_friction(damping=[1, 2]), "one number or 6"),
    "friction joint": (lambda: ARM.with_friction(damping={"elbow": 1}), "unknown joint of puma560: 'elbow'"),
    "friction sign": (lambda: ARM.with_friction(damping=-1), "damping must not be negative"),
    "armature sign": (lambda: ARM.with_armature(-1), "armature must not be negative"),
    "lock": (lambda: ARM.lock({"joint7": 0.0}), "unknown joint of puma560: 'joint7'"),
    "lock nan": (lambda: ARM.lock({"joint6": float("nan")}), "position of joint 'joint6' must be finite"),
    "snap": (lambda: ARM.snapped(1.0), "between 0 and 0.1"),
    "kind": (lambda: da.Joint("a", "spherical"), "kind of joint 'a'"),
    "pitch": (lambda: da.Joint("a", "helical"), "needs a nonzero pitch"),
    "limits": (lambda: da.Joint("a", lower=1, upper=0), "lower limit 1.0 is above"),
    "joint name": (lambda: da.Joint(""), "joint's name must be"),
    "two links": (lambda: da.Robot("a", (da.Link("l", "base", da.Joint("a")), da.Link("l", "l", da.Joint("b")))), "two links are named 'l'"),
    "two joints": (lambda: da.Robot("a", (da.Link("l", "base", da.Joint("a")), da.Link("m", "l", da.Joint("a")))), "two joints are named 'a'"),
    "parent": (lambda: da.Robot("a", (da.Link("l", "nobody", da.Joint("a")),)), "not an earlier link"),
    "frame link": (lambda: da.Robot("a", (), frames=(da.Frame("t", "nobody"),)), "link of frame 't'"),
    "frame name": (lambda: da.Robot("a", (), frames=(da.Frame("base", "base"),)), "same name as another"),
    "to_array": (lambda: ARM.to_array({"joint1": 0.0}), "no value for joint 'joint2'"),
    "to_array name": (lambda: ARM.to_array({"joint9": 0.0}), "unknown joint of puma560: 'joint9'"),
    "to_dict": (lambda: ARM.to_dict(np.zeros(5)), "needs 6 joint values"),
    "reorder size": (lambda: ARM.reorder(np.zeros(5), ARM.joint_names), r"from_names needs an array of size 6 .*got shape \(5,\)"),
    "reorder name": (lambda: ARM.reorder(np.zeros(1), ["joint1"]), "from_names has no 'joint2', 'joint3', 'joint4'"),
    "reorder to size": (lambda: ARM.reorder(np.zeros(5), to_names=["joint1"]), "puma560 needs an array of size 6 along"),
    "reorder to name": (lambda: ARM.reorder(np.zeros(6), to_names=["a", "joint1"]), "puma560 has no 'a'; to_names has no 'joint2'"),
    "reorder both ways": (lambda: ARM.reorder(np.zeros(6), ARM.joint_names, to_names=ARM.joint_names), "either from_names, .* or to_names"),
    "reorder no way": (lambda: ARM.reorder(np.zeros(6)), "either from_names, .* or to_names"),
    "reorder twice": (lambda: ARM.reorder(np.zeros(2), ["joint1", "joint1"]), "named twice"),
    "letters": (lambda: da.random_robot(0, "RXR"), "joint letter"),
    "random parents": (lambda: da.random_robot(0, "RR", (-1, 1)), "earlier one"),
    "optional of a compiled one": (lambda: ARM.compile("inverse_dynamics", optional=("foo",)), "unknown optional input"),
    "out read-only": (lambda: ARM.inverse_dynamics(GOOD, GOOD, GOOD, out=np.broadcast_to(0.0, (6,))), "out must be writable"),
    "too many axes": (lambda: ARM.inverse_dynamics(np.zeros((1,) * 62 + (6,)), GOOD, GOOD), "q has 63 axes"),
    "optional": (lambda: ARM.program("inverse_dynamics", optional=("wind",)), "unknown optional input"),
    "mode": (lambda: da.differentiate(ARM.program("inverse_dynamics"), mode="sideways"), "unknown mode of differentiation"),
    "wrt": (lambda: da.differentiate(ARM.program("inverse_dynamics"), ["tau"]), "unknown input of the program"),
    "link joint": (lambda: da.Link("l", "base", "revolute"), "the joint of link 'l' must be a dalembert.Joint"),
    "link inertia": (lambda: da.Link("l", "base", da.Joint("a"), inertia=None), "the inertia of link 'l' must be a dalembert.Inertia"),
    "link pose": (lambda: da.Link("l", "base", da.Joint("a"), before="here"), "a pose must be"),
    "mimic type": (lambda: da.Joint("a", mimic="b"), "must be a dalembert.Mimic"),
    "row inertia": (lambda: da.DHRow(inertia=3.0), "must be a dalembert.Inertia"),
    "row joint": (lambda: da.Robot.from_dh([{"joint": []}], convention="standard"), "DH row 1: joint1 must be"),
    "links type": (lambda: da.Robot("a", None), "links must be a list"),
    "links entry": (lambda: da.Robot("a", (1,)), "each of links must be"),
    "frames entry": (lambda: da.Robot("a", (), frames=("tool",)), "each of frames must be"),
    "base inertia": (lambda: da.Robot("a", (), base_inertia=None), "the inertia of the base"),
    "source": (lambda: da.Robot("a", (), source=3), "the source of a robot"),
    "surrogate": (lambda: da.Robot("a\ud800", ()), "printable"),
    "limit sign": (lambda: da.Joint("a", effort_limit=-5), "effort_limit must not be negative"),
    "limit infinite": (lambda: da.Joint("a", lower=np.inf), "lower limit inf"),
    "text numbers": (lambda: da.Inertia.from_com(1.0, ("1", "2", "3")), "a centre of mass must be 3 real numbers"),
    "complex com": (lambda: da.Inertia.from_com(1.0, np.array([1j, 0, 0])), "real numbers"),
    "tensor text": (lambda: da.Inertia.from_com(1.0, (0, 0, 0), "abc"), "an inertia tensor must be"),
    "tensor shape": (lambda: da.Inertia.from_com(1.0, (0, 0, 0), (1, 2)), "an inertia tensor must be a 3 x 3"),
    "origin mass": (lambda: da.Inertia.from_origin(None, (0, 0, 0), np.eye(3)), "a mass must be a number"),
    "friction text": (lambda: ARM.with_friction("abc"), "damping must be"),
    "lock list": (lambda: ARM.lock(["joint1"]), "lock needs positions by joint name"),
    "payload list": (lambda: ARM.with_payload(1.0, link=["a"]), "unknown link or frame"),
    "value text": (lambda: ARM.to_array({"joint1": "a"}, default=0.0), "the value of joint 'joint1'"),
    "value none": (lambda: ARM.to_array({"joint1": None}, default=0.0), "the value of joint 'joint1'"),
    "value shapes": (lambda: ARM.to_array({"joint1": [1, 2], "joint2": [1, 2, 3]}, default=0.0), "do not broadcast"),
    "seed": (lambda: da.random_robot(-1), "the seed of random_robot must be an integer from 0"),
    "letters type": (lambda: da.random_robot(0, 5), "letters such as"),
    "parents type": (lambda: da.random_robot(0, "RR", (-1, -0.5)), "integers"),
    "screws without homes": (lambda: da.Robot.from_screws([[0, 0, 1, 0, 0, 0]], [], []), "screws must be"),
    "bench": (lambda: da.bench("panda"), "bench takes a robot"),
    "bench states": (lambda: da.bench(ARM, states=0), "states must be"),
    "study": (lambda: da.study(3), "study takes a robot"),
    "live": (lambda: da.live(3), "live takes a robot"),
    "live everything": (lambda: da.live("two_link", everything="yes"), "everything"),
    "topic": (lambda: ARM.check().about("inertias"), "did you mean 'inertia'"),
    "load none": (lambda: da.load(None), "None: not a file name"),
    "load nul": (lambda: da.load("a\0.urdf"), "must not contain a null character"),
    "save suffix": (lambda: ARM.save("arm.urdf"), "must end in .toml"),
    "save folder": (lambda: ARM.save("no/such/folder/arm.toml"), "cannot be written"),
    "no q": (lambda: ARM.inverse_dynamics(None, GOOD, GOOD), "q must hold numbers, got None"),
    "world wrench short q": (lambda: ARM.inverse_dynamics([0.0], GOOD, GOOD, wrenches={"link6": da.Wrench(frame="world")}), "q has shape"),
    "world wrench no q": (lambda: ARM.inverse_dynamics(None, GOOD, GOOD, wrenches={"link6": da.Wrench(frame="world")}), "q must hold"),
    "wrench batches": (lambda: ARM.inverse_dynamics(GOOD, GOOD, GOOD, wrenches={"link6": da.Wrench(force=np.zeros((2, 3)), moment=np.zeros((3, 3)))}), "wrenches' leading"),
    "wrench ragged": (lambda: ARM.inverse_dynamics(GOOD, GOOD, GOOD, wrenches=[[1], [1, 2]]), "wrenches must hold numbers"),
    "wrench text": (lambda: da.Wrench(force="abc"), "the force of a wrench must be"),
    "wrench complex": (lambda: da.Wrench(force=np.ones(3) * 1j), "real numbers"),
    "complex out": (lambda: ARM.inverse_dynamics(GOOD + 0j, GOOD, GOOD, out=np.zeros(6)), "out must be an array of complex"),
    "complex native": (lambda: ARM.inverse_dynamics(GOOD + 0j, GOOD, GOOD, backend="native"), "native kernels compute with real"),
    "backend list": (lambda: ARM.inverse_dynamics(GOOD, GOOD, GOOD, backend=[]), "unknown backend"),
    "quantity list": (lambda: ARM.program([]), "unknown quantity"),
    "base twist order": (lambda: ARM.inverse_dynamics(GOOD, GOOD, GOOD, base_twist=np.zeros(5)), r"needs \(\.\.\., 6\)$"),
    "backend array": (lambda: ARM.inverse_dynamics(GOOD, GOOD, GOOD, backend=GOOD), "unknown backend array"),
    "backend of a compiled one": (lambda: ARM.compile("mass_matrix", backend=GOOD), "unknown backend array"),
    "method array": (lambda: ARM.mass_matrix(GOOD, method=GOOD), "unknown method for mass_matrix"),
    "method list": (lambda: ARM.compile("mass_matrix", []), "unknown method for mass_matrix"),
    "options list": (lambda: ARM.compile("jacobian", link={"a": 1}), "jacobian: link must be a name, a number, or a tuple of them, got"),
    "flag": (lambda: ARM.regressor(GOOD, GOOD, GOOD, friction=GOOD), "friction must be True or False"),
    "save none": (lambda: ARM.save(None), "None: not a file name"),
    "save surrogate": (lambda: ARM.save("a\ud800.toml"), "not a file name"),
    "probe batches": (lambda: ARM.probe(np.zeros((2, 6)), np.zeros((3, 6))), "probe: the leading .batch. axes do not broadcast"),
    "probe method": (lambda: ARM.probe(GOOD, GOOD, method="none"), "unknown method for inverse_dynamics"),
    "masked": (lambda: ARM.mass_matrix(np.ma.masked_array(GOOD, [0, 0, 1, 0, 0, 0])), "mass_matrix: q has masked elements; fill them"),
    "masked rows": (lambda: ARM.mass_matrix([np.ma.masked_array(GOOD, [0, 0, 1, 0, 0, 0])]), "q has masked elements"),
    "masked gravity": (lambda: ARM.with_gravity(np.ma.masked_array([0, 0, 1.0], [0, 0, 1])), "gravity has masked elements"),
    "masked number": (lambda: da.Inertia.from_com(np.ma.masked, (0, 0, 0)), "a mass must be a number"),
    "kernel masked": (lambda: ARM.compile("mass_matrix")(np.ma.masked_array(GOOD, [0, 0, 1, 0, 0, 0])), "q has masked elements"),
    "kernel count": (lambda: ARM.compile("mass_matrix", backend="numpy")(), "takes 1 arrays, got 0"),
    "kernel text": (lambda: ARM.compile("mass_matrix")("abc"), "q must hold numbers"),
    "kernel out": (lambda: ARM.compile("mass_matrix")(GOOD, out=[1]), "out must be a numpy array"),
    "program": (lambda: da.compile_program(None), "the program to compile must be a dalembert.Program, got None"),
    "rows": (lambda: da.Robot.from_dh(None, convention="standard"), "rows must be a list, got None"),
    "homes": (lambda: da.Robot.from_screws([], None, []), "homes must be a list, got None"),
    "rng": (lambda: ARM.random_configuration("abc"), "numpy Generator, must be an integer"),
    "many configurations": (lambda: ARM.random_configuration(0, 10**12), "random_configuration: this needs 144,000 GB of memory"),
    "many samples": (lambda: da.quintic([0.0], [1.0], 1e6).sample(1e-9), "sample: this needs 31,999,999 GB"),
    "memory": (lambda: ARM.simulate(GOOD, duration=1e9), "1,000,000,000,001 samples of puma560: this needs 152,000 GB of memory.*every=..."),
    "events": (lambda: ARM.simulate(GOOD, events=[1]), "an event must be a function"),
    "many joints": (lambda: da.random_robot(0, "R" * 10**6), "at most 1000 letters"),
    "large robot": (lambda: LONG.inverse_dynamics(*np.zeros((3, 30)), method="lagrange_euler"), "too large for the 30 joints of random.*use newton_euler or"),
    "large program": (lambda: LONG.program("mass_matrix_gradient", "lagrange_euler"), "grows as n.4; use composite_body or"),
    "large count": (lambda: LONG.operation_count("inverse_dynamics", "uicker_kahn", customized=False), "use newton_euler"),
    "large terms": (lambda: LONG.lagrange_euler_terms(np.zeros(30), np.zeros(30)), "robot.probe.q, qd. gives the same terms"),
    "large curvature": (lambda: LONG.riemann_curvature(np.zeros(30)), "there is no other method"),
    "large proof": (lambda: da.prove_equal("R" * 30, "lagrange_euler"), "use newton_euler"),
    "suffix": (lambda: da.load(__file__), "unknown file extension '.py'; known are .urdf, .xml, .mjcf, .xacro, .toml"),
    "xacro by number": (lambda: da.load("robot.xacro", xacro={"mass": [1]}), "xacro argument 'mass' must be a string or a number"),
    "xacro of URDF": (lambda: da.load("robot.urdf", xacro={"mass": 1}), "xacro arguments are for files that end in .xacro"),
    "folder": (lambda: da.load("."), ". is a folder: name a file in it"),
    "long name": (lambda: da.load("x" * 300), "cannot be read"),
    "missing file of any ending": (lambda: da.load("no/such/robot.step"), "robot.step: cannot be read: No such file"),
    "built-in robot as a file": (lambda: da.load("panda"), r"'panda' is a built-in robot: da.robot\(\"panda\"\)"),
    "file as a built-in robot": (lambda: da.robot("arm.urdf"), r"'arm.urdf' is a file: da.load\('arm.urdf'\)"),
    "missing file": (lambda: da.load("no/such/robot.urdf"), "robot.urdf: cannot be read"),
}  # fmt: skip


@pytest.mark.parametrize("mistake", MISTAKES)
def test_mistakes_are_explained(mistake):
    action, message = MISTAKES[mistake]
    with pytest.raises(da.Error, match=message):
        action()
    assert issubclass(da.Error, ValueError)


def test_methods_asked_of_the_module():
    for name in ("simulate", "jacobian", "inverse_dynamics"):
        with pytest.raises(AttributeError, match=f"has no attribute '{name}': it is a method of a robot, robot.{name}$"):
            getattr(da, name)


def test_messages_are_one_readable_line():
    for junk in (
        "x" * 10**6,
        "a\nb",
        "a\ud800\x07",
        np.zeros((50, 50)),
        [0.0] * 10**6,
        dict.fromkeys(range(1000), "x" * 1000),
        10**5000,
        [10**5000],
    ):
        for action in (lambda x: da.robot(x), lambda x: ARM.locate(x), lambda x: da.Joint(x), lambda x: ARM.with_gravity(x)):
            with pytest.raises(da.Error) as found:
                action(junk)
            message = str(found.value)
            assert message.isprintable()
            assert 0 < len(message) <= 400


def test_masked_arrays_without_masked_elements_are_numbers():
    q = np.linspace(0, 1, 6)
    assert np.array_equal(ARM.mass_matrix(np.ma.masked_array(q)), ARM.mass_matrix(q))
    assert ARM.with_gravity(np.ma.masked_array([0, 0, -1.62])).gravity.tolist() == [0.0, 0.0, -1.62]


@pytest.mark.slow
def test_what_large_robots_are_for():
    """The methods that an error names do serve, and branches count by their depth."""
    q = np.full(30, 0.1)
    assert LONG.probe(q, q).H.shape == (30, 30, 30)
    star = da.random_robot(0, "R" * 30, [-1] * 30)
    assert star.inverse_dynamics(q, q, q, method="lagrange_euler", backend="numpy").shape == (30,)


@pytest.mark.parametrize("link", [[10**5000], 10**5000, {"a": 1}, [[1]]], ids=["list", "number", "dict", "nested"])
def test_options_are_short_values(link):
    """What names no program ends in an Error, not in Python's refusal to write or hash it."""
    arm, still = da.robot("two_link"), np.zeros(2)
    with pytest.raises(da.Error, match="impedance: link must be a name, a number, or a tuple of them, got "):
        arm.impedance(still, still, np.eye(4), np.ones(6), np.ones(6), still, link=link)
