"""Generated files compute what the library computes, in every language, and notice when they do not."""

import ctypes
import json
import os
import re
import shutil
import subprocess
import sys
from functools import cache

import numpy as np
import pytest
from conftest import close, sweep

import dalembert as da
from dalembert.codegen import PRINTERS, Function
from dalembert.trace import trace

QUANTITIES = ("inverse_dynamics", "forward_dynamics", "mass_matrix", "coriolis_matrix", "jacobian")
MORE = (*QUANTITIES, "diagonalize", "christoffel", "kinetic_energy")
STRICT = ("-std=c99", "-O2", "-Wall", "-Wextra", "-Werror")
COMPILERS = ("gcc", "clang")
LAWS = {"coulomb": [[0.2, 0.3]], "static_friction": 0.4, "stribeck_speed": 0.5, "load_friction": 0.1}  # all there are
TREE = da.random_robot(3, "RPHR", (-1, 0, 1, 0)).with_friction(damping=0.3, **LAWS).with_armature(0.05)
LARGE = da.random_robot(3, "RPHRRH", (-1, 0, 1, 1, 0, 4)).with_friction(damping=0.3, coulomb=0.2).with_armature(0.05)
ROBOTS = {"tree": TREE, "puma560": da.robot("puma560"), "panda": da.robot("panda"), "large tree": LARGE}
OPTIONS = {"tree": {"jacobian": {"link": "link4"}}, "large tree": {"jacobian": {"link": "link6"}}}
STATES = 20


def needs(tool):
    return pytest.mark.skipif(not shutil.which(tool), reason=f"{tool} is not installed")


compilers = pytest.mark.parametrize(
    "compiler", [pytest.param("gcc", marks=needs("gcc")), pytest.param("clang", marks=[needs("clang"), pytest.mark.slow])]
)
robots = pytest.mark.parametrize("key", sweep(ROBOTS, quick=(0,)))


def test_compilers_are_there_in_ci():
    missing = [tool for tool in (*COMPILERS, "octave-cli", "node") if not shutil.which(tool)]
    assert not (os.environ.get("CI") and missing), f"CI must install {missing}: see .ci/run"


def samples(key, quantity, count=STATES):
    """Inputs of a quantity at random states, and the library's results."""
    robot, rng = ROBOTS[key], np.random.default_rng(5)
    options = OPTIONS.get(key, {}).get(quantity, {})
    inputs = {v.name: rng.uniform(-2, 2, (count, *v.shape)) for v in robot.program(quantity, **options).inputs}
    found = getattr(robot, quantity)(**inputs, **options)
    return list(inputs.values()), [np.asarray(x) for x in (found if isinstance(found, tuple) else (found,))]


def execute(*command, **options):
    return subprocess.run([str(x) for x in command], capture_output=True, text=True, timeout=900, **options)


def build(compiler, source, target, *flags):
    done = execute(compiler, *STRICT, *flags, source, "-o", target, *(() if "-c" in flags else ("-lm",)))
    assert done.returncode == 0, done.stderr[:2000]
    assert not done.stderr
    return target


def pointers(arrays):
    return [a.ctypes.data_as(ctypes.c_void_p) for a in arrays]


def spoiled(code, by=1e-9):
    """The same file with one expected number changed, in its tenth digit."""
    start = re.search(r"expected(\[\d+\])? = [\[({]", code).end()
    number = re.search(r"-?\d+\.\d+(e-?\d+)?", code[start:])
    wrong = repr(float(number[0]) * (1 + by))
    return code[: start + number.start()] + wrong + code[start + number.end() :]


# C


@robots
@compilers
def test_c_agrees(key, compiler, tmp_path):
    source = ROBOTS[key].generate("c", QUANTITIES, name="arm", options=OPTIONS.get(key)).save(tmp_path)
    library = ctypes.CDLL(str(build(compiler, source, tmp_path / "arm.so", "-shared", "-fPIC", "-DDALEMBERT_SELF_TEST")))
    assert library.main() == 0
    for quantity in QUANTITIES:
        given, (expected,) = samples(key, quantity)
        single, batch = np.empty((2, *expected.shape))
        for s in range(STATES):
            getattr(library, f"arm_{quantity}")(*pointers([*(a[s] for a in given), single[s]]))
        getattr(library, f"arm_{quantity}_batch")(ctypes.c_size_t(STATES), *pointers([*given, batch]))
        for s in range(STATES):
            close(single[s], expected[s], 1e-13)
        assert np.array_equal(single, batch)


@compilers
def test_c_program(compiler, tmp_path):
    """The command of the file's head, and a file that is wrong."""
    code = da.robot("two_link").generate("c", ["inverse_dynamics", "diagonalize"])
    source = code.save(tmp_path)
    done = execute(build(compiler, source, tmp_path / "right", "-DDALEMBERT_SELF_TEST"))
    assert (done.returncode, done.stdout) == (0, "ok\n")
    build(compiler, source, tmp_path / "object.o", "-c", "-Wpedantic", "-Wshadow", "-Wmissing-prototypes", "-Wconversion")
    source.write_text(spoiled(code))
    done = execute(build(compiler, source, tmp_path / "wrong", "-DDALEMBERT_SELF_TEST"))
    assert done.returncode == 1
    assert "inverse_dynamics: tau differs" in done.stdout


@needs("g++")
def test_c_is_cpp(tmp_path):
    source = TREE.generate("c", name="arm").save(tmp_path)
    done = execute("g++", "-x", "c++", "-Wall", "-Wextra", "-Werror", "-DDALEMBERT_SELF_TEST", source, "-o", tmp_path / "arm")
    assert done.returncode == 0, done.stderr[:2000]
    assert execute(tmp_path / "arm").stdout == "ok\n"


@compilers
def test_c_singular(compiler, tmp_path):
    """What the library calls NaN is NaN."""
    odd = trace(lambda x: np.array([x[0].above(1.0, np.nan), x[0] + np.inf, x[0].where(1.0, -np.inf)]), {"x": (1,)}, outputs=("y",))
    text = PRINTERS["c"][1]("odd", [], [Function("f", odd, [], [[0.0]], [[0.0] * 3])])
    (tmp_path / "odd.c").write_text(text)
    library = ctypes.CDLL(str(build(compiler, tmp_path / "odd.c", tmp_path / "odd.so", "-shared", "-fPIC")))
    y = np.empty(3)
    library.odd_f(*pointers([np.zeros(1), y]))
    assert np.array_equal(y, [np.nan, np.inf, -np.inf], equal_nan=True)


# Python


@robots
def test_python_agrees(key, tmp_path):
    code = ROBOTS[key].generate("python", MORE, name="arm", options=OPTIONS.get(key))
    done = execute(sys.executable, "-I", "-S", code.save(tmp_path), cwd=tmp_path)
    assert (done.returncode, done.stdout, done.stderr) == (0, "ok\n", "")
    scope = {"__name__": "arm"}
    exec(code, scope)
    for quantity in MORE:
        given, expected = samples(key, quantity)
        for s in range(STATES):
            found = scope[quantity](*(a[s].tolist() for a in given))
            assert isinstance(found, tuple) == (len(expected) > 1)
            for x, y in zip(found if isinstance(found, tuple) else (found,), expected, strict=True):
                close(x, y[s], 1e-12 if quantity == "diagonalize" else 1e-13)
    assert set(re.findall(r"^ *(?:import|from) .*", code, re.M)) == {"import math"}


def test_python_notices(tmp_path):
    path = tmp_path / "wrong.py"
    path.write_text(spoiled(da.robot("two_link").generate("python")))
    done = execute(sys.executable, "-I", "-S", path)
    assert done.returncode == 1
    assert "inverse_dynamics: tau differs" in done.stderr


# MATLAB


def octave(command, folder):
    return execute("octave-cli", "--no-init-file", "--eval", command, cwd=folder)


@needs("octave-cli")
@robots
def test_octave_agrees(key, tmp_path):
    ROBOTS[key].generate("matlab", MORE, name="arm", options=OPTIONS.get(key)).save(tmp_path)
    script, wanted = ["arm('selftest');"], []
    for quantity in MORE:
        given, expected = samples(key, quantity, 2)
        arrays = ", ".join(f"[{' '.join(map(repr, a[1].tolist()))}]" for a in given)
        names = [f"y{k}" for k in range(len(expected))]
        script.append(f"[{', '.join(names)}] = arm('{quantity}', {arrays});")
        for name, y in zip(names, expected, strict=True):  # reversed axes in column-major order are row-major
            script.append(f"disp(size({name})); printf('%.17g ', permute({name}, ndims({name}):-1:1)); disp('');")
            wanted.append((quantity, y[1]))
    done = octave("\n".join(script), tmp_path)
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    assert lines[0] == "ok"
    for (quantity, y), size, numbers in zip(wanted, lines[1::2], lines[2::2], strict=True):
        shape = (*y.shape, *(1,) * (2 - y.ndim))
        assert tuple(map(int, size.split())) == shape
        close(np.array(numbers.split(), float).reshape(y.shape), y, 1e-12 if quantity == "diagonalize" else 1e-13)


@needs("octave-cli")
def test_octave_matrices_as_inputs(tmp_path):
    """Wrenches are a matrix: entries must not change places; friction has a sign and pivots have a floor."""
    arm = TREE.generate("matlab", ["inverse_dynamics"], name="arm", options={"inverse_dynamics": {"optional": ["wrenches"]}})
    arm.save(tmp_path)
    rng = np.random.default_rng(1)
    q, qd, qdd, wrenches = *rng.normal(size=(3, TREE.n)), rng.normal(size=(TREE.n, 6))
    rows = "; ".join(" ".join(map(repr, row)) for row in wrenches.tolist())
    given = ", ".join(f"[{' '.join(map(repr, x.tolist()))}]" for x in (q, qd, qdd))
    done = octave(f"arm('selftest'); printf('%.17g ', arm('inverse_dynamics', {given}, [{rows}]));", tmp_path)
    assert done.returncode == 0, done.stderr
    numbers = done.stdout.split()
    assert numbers[0] == "ok"
    close(np.array(numbers[1:], float), TREE.inverse_dynamics(q, qd, qdd, wrenches=wrenches), 1e-13)


@needs("octave-cli")
@pytest.mark.parametrize(
    ("call", "message"),
    [
        ("arm('selftest')", "tau differs"),
        ("arm('mass')", "unknown quantity mass"),
        ("arm('inverse_dynamics', 1)", "needs: q, qd, qdd"),
    ],
)
def test_octave_notices(call, message, tmp_path):
    (tmp_path / "arm.m").write_text(spoiled(da.robot("two_link").generate("matlab", name="arm")))
    done = octave(call, tmp_path)
    assert done.returncode == 1
    assert message in done.stderr


# Julia


class OneBased:
    """An array whose indices begin with 1."""

    def __init__(self, array):
        self.array = array

    def __getitem__(self, index):
        return self.array[tuple(k - 1 for k in (index if isinstance(index, tuple) else (index,)))]


JULIA = {
    "sin": np.sin, "cos": np.cos, "sqrt": np.sqrt, "sign": np.sign, "NaN": np.nan, "Inf": np.inf,
    "ifelse": lambda condition, a, b: a if condition else b,
    "reshape": lambda array, shape: np.reshape(array, shape, order="F"),
    "permutedims": lambda array, axes: np.transpose(array, [k - 1 for k in axes]),
}  # fmt: skip


def julia_functions(code):
    """The functions of a Julia file, run by Python: their statements mean the same once indices and shapes are Julia's."""
    scope = dict(JULIA)
    for name, arguments, body in re.findall(r"^function ([a-z]\w*)\(([^)\n]*)\)\n(.*?)^end$", code, re.M | re.S):
        if name != "selftest":
            exec(f"def {name}({arguments}):\n{body}", scope)
    return scope


@robots
def test_julia_means_the_same(key):
    scope = julia_functions(ROBOTS[key].generate("julia", MORE, options=OPTIONS.get(key)))
    for quantity in MORE:
        given, expected = samples(key, quantity, 3)
        for s in range(3):
            found = scope[quantity](*(OneBased(a[s]) for a in given))
            for x, y in zip(found if isinstance(found, tuple) else (found,), expected, strict=True):
                close(x, y[s], 1e-12 if quantity == "diagonalize" else 1e-13)


def test_julia_syntax():
    """What a look at the words can tell where there is no Julia: blocks and brackets close, and nothing is Python's."""
    code = TREE.generate("julia", ["inverse_dynamics", "forward_dynamics", "diagonalize", "christoffel"])
    bare = re.sub(r'"[^"]*"', '""', re.sub(r"#.*", "", code))
    words = re.findall(r"[A-Za-z_]\w*", bare)
    opened = sum(words.count(w) for w in ("module", "function", "if", "for", "while", "let", "begin", "try", "struct"))
    assert opened == words.count("end") == 1 + 4 + 3  # a module, four functions, the check with its if, the self-test
    for left, right in ("()", "[]"):
        assert bare.count(left) == bare.count(right)
    assert not set(words) & {"def", "math", "None", "True", "False", "elif", "lambda", "and", "or", "not", "import", "inf", "nan"}
    assert "**" not in bare
    assert "[0]" not in bare


@pytest.mark.skipif(not shutil.which("julia"), reason="julia is not installed; its files are checked by Python above")
def test_julia_runs(tmp_path):
    code = TREE.generate("julia", ["inverse_dynamics", "forward_dynamics", "diagonalize", "christoffel"], name="Arm")
    code.save(tmp_path)
    done = execute("julia", "-e", 'include("Arm.jl"); Arm.selftest()', cwd=tmp_path)
    assert (done.returncode, done.stdout) == (0, "ok\n"), done.stderr
    (tmp_path / "Arm.jl").write_text(spoiled(code))
    assert "differs" in execute("julia", "-e", 'include("Arm.jl"); Arm.selftest()', cwd=tmp_path).stderr


# JavaScript and WebAssembly

scripts = pytest.mark.parametrize("language", ["javascript", "wasm"])


def node(source, folder):
    return execute("node", "-e", source, cwd=folder)


@needs("node")
@scripts
@robots
def test_scripts_agree(key, language, tmp_path):
    code = ROBOTS[key].generate(language, MORE, name="arm", options=OPTIONS.get(key))
    path = code.save(tmp_path)
    done = execute("node", path, cwd=tmp_path)  # the command of the file's head
    assert (done.returncode, done.stdout, done.stderr) == (0, "ok\n", "")
    cases = {quantity: samples(key, quantity, 3) for quantity in MORE}
    (tmp_path / "cases.json").write_text(
        json.dumps({q: [a.reshape(3, -1).tolist() for a in given] for q, (given, _) in cases.items()})
    )
    source = f"""
      const arm = require("./{path.name}"), cases = require("./cases.json"), flat = (x) => Array.from(x.length === undefined ? [x] : x);
      const found = Object.entries(cases).map(([name, given]) => [name, [0, 1, 2].map((s) => {{
        const result = arm[name](...given.map((a) => (s ? Float64Array.from(a[s]) : a[s])));
        return Array.isArray(result) && result[0].length !== undefined ? result.map(flat) : [flat(result)];
      }})]);
      console.log(JSON.stringify(Object.fromEntries(found)));"""
    done = node(source, tmp_path)
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    for quantity, (_, expected) in cases.items():
        for s in range(3):
            assert len(found[quantity][s]) == len(expected)
            for x, y in zip(found[quantity][s], expected, strict=True):
                close(np.reshape(x, y[s].shape), y[s], 1e-12 if quantity == "diagonalize" else 1e-13)


@needs("node")
@scripts
def test_scripts_notice(language, tmp_path):
    code = da.robot("two_link").generate(language)
    (tmp_path / "wrong.js").write_text(spoiled(code))
    done = execute("node", tmp_path / "wrong.js")
    assert done.returncode == 1
    assert "inverse_dynamics: tau differs" in done.stderr


@needs("node")
@scripts
def test_scripts_keep_what_is_not_finite(language, tmp_path):
    """NaN where the library has it, infinities, signs of zero, and numbers as inputs and results."""

    def odd(x, y):
        chosen = [x[0].where(y[()], 7.0), (x[0] + 1).where(y[()], 7.0)]
        return np.array([x[0].above(1.0, np.nan), x[0] + np.inf, x[0] - np.inf, (x[0] - 1).sign(), x[0].sign(), *chosen]), 2 * y[()]

    made = trace(odd, {"x": (1,), "y": ()}, outputs=("z", "twice"))
    text = PRINTERS[language][1]("odd", [], [Function("f", made, [], [[0.0], [0.0]], [[0.0] * 7, [0.0]])])
    (tmp_path / "odd.js").write_text(text)
    done = node('const [z, twice] = require("./odd.js").f([0], 1.5); console.log(Array.from(z, String).join(), twice)', tmp_path)
    assert done.stdout == "NaN,Infinity,-Infinity,-1,0,7,1.5 3\n", done.stderr


@needs("node")
def test_a_module_of_many_operations(tmp_path):
    """Local variables are used again, and addresses need several bytes."""
    size = 3000
    made = trace(lambda x: np.array([(x * x).sum(), *(x[1:] * x[:-1] - x[0])]), {"x": (size,)}, outputs=("y",))
    x = np.linspace(-1.0, 1.0, size)
    wanted = np.array([(x * x).sum(), *(x[1:] * x[:-1] - x[0])])
    text = PRINTERS["wasm"][1]("big", [], [Function("f", made, [], [x.tolist()], [wanted.tolist()])])
    (tmp_path / "big.js").write_text(text)
    assert execute("node", tmp_path / "big.js").stdout == "ok\n"


# the file and its names


def test_the_command_of_the_self_test_names_the_file(tmp_path):
    code = da.robot("two_link").generate("c", "gravity_force")
    assert "-DDALEMBERT_SELF_TEST gravity.c -lm" in code.save(tmp_path / "gravity.c").read_text()
    assert code.save(tmp_path).read_text() == code and "-DDALEMBERT_SELF_TEST two_link.c -lm" in code


def test_head():
    arm = da.robot("panda")
    options = {"jacobian": {"link": "panda_hand", "frame": "world"}}
    code = arm.generate("c", ["inverse_dynamics", "jacobian"], {"inverse_dynamics": "lie_group"}, options=options)
    head = code.partition("#include")[0]
    count = da.trace.operation_count(arm.program("inverse_dynamics", "lie_group"))
    for said in (
        "panda: inverse_dynamics, jacobian", f"dalembert {da.__version__}", "panda_joint1, panda_joint2", "rad", "angular part first",
        f"inverse_dynamics by lie_group: {count}", "takes q (7), qd (7), qdd (7)", "gives tau (7)",
        "jacobian by recursive with link='panda_hand', frame='world'", "gives jacobian (6 x 7)", "-DDALEMBERT_SELF_TEST panda.c",
    ):  # fmt: skip
        assert said in head
    outside = {"inverse_dynamics": {"optional": ("wrenches", "base_twist", "base_acceleration")}}
    text = str(arm.generate("python", options=outside))
    for said in ("in its link's axes at its origin", "in the axes of the base", "without gravity"):
        assert said in text and said not in head
    assert "joint1, joint2 (prismatic)\n" in da.robot("rp").generate("c")  # whose position is in metres
    scope = {}
    exec(arm.generate("python", "jacobian", options=options), scope)
    q = np.linspace(-1, 1, 7)
    close(scope["jacobian"](q), arm.jacobian(q, "panda_hand", frame="world"), 1e-13)


@pytest.fixture(scope="module")
def everything():
    """Every quantity of a robot with two joints and no weight, in a language."""
    from dalembert.engine.registry import QUANTITIES as known

    tasks = ("task_inertia", "task_bias", "task_gravity", "dynamically_consistent_inverse")
    robot = da.random_robot(1, "RP").with_friction(coulomb=0.1).with_gravity((0.0, 0.0, 0.0))
    return cache(lambda language: robot.generate(language, list(known), name="arm", options={t: {"rows": (3, 4)} for t in tasks}))


def test_every_quantity_in_python(everything, tmp_path):
    assert execute(sys.executable, "-I", "-S", everything("python").save(tmp_path)).stdout == "ok\n"


@pytest.mark.slow
@compilers
def test_every_quantity_in_c(everything, compiler, tmp_path):
    source = everything("c").save(tmp_path)
    assert "(void)q;" in source.read_text()
    assert execute(build(compiler, source, tmp_path / "arm", "-DDALEMBERT_SELF_TEST", "-O0")).stdout == "ok\n"


@pytest.mark.slow
@needs("octave-cli")
def test_every_quantity_in_octave(everything, tmp_path):
    everything("matlab").save(tmp_path)
    assert octave("arm('selftest')", tmp_path).stdout == "ok\n"


@pytest.mark.slow
@needs("node")
@scripts
def test_every_quantity_in_scripts(everything, language, tmp_path):
    assert execute("node", everything(language).save(tmp_path)).stdout == "ok\n"


@pytest.mark.parametrize("language", PRINTERS)
def test_the_link_is_said(language):
    """A Jacobian is that of a link: the file says of which, also where none was named."""
    arm = da.robot("xarm7")
    code = " ".join(arm.generate(language, ["pose", "mass_matrix"]).split())
    assert "of the link link7" in code
    assert "of the link" not in " ".join(arm.generate(language, "mass_matrix").split())
    code = " ".join(arm.generate(language, "pose", options={"pose": {"link": "link_eef"}}).split())
    assert "of the frame link_eef, which is fixed to link7" in code
    single = da.robot("two_link").generate("c", "jacobian", header=True, batch=False, dtype="float")
    assert "// of the link link2" in single.header


def test_the_load_is_said():
    arm = da.robot("two_link")
    assert "Moving mass: 2 kg, payloads included." in arm.generate("c")
    assert "Moving mass: 2.5 kg, payloads included." in arm.with_payload(0.5).generate("c", header=True).header


def test_save(tmp_path):
    code = da.robot("two_link").generate("julia")
    assert code.filename == "two_link.jl"
    assert code.save(tmp_path) == tmp_path / "two_link.jl"
    assert code.save(tmp_path / "other.jl").read_text() == code
    with pytest.raises(da.Error, match="cannot be written"):
        code.save(tmp_path / "no" / "folder.jl")
    with pytest.raises(da.Error, match=r"two_link\.jl: cannot be written: there is no folder"):
        code.save(f"{tmp_path}/missing/")  # a folder, by its last sign
    assert not (tmp_path / "missing").exists()
    with pytest.raises(da.Error, match="not a file name"):
        code.save(3)


def test_one_name_or_several():
    robot = da.robot("two_link")
    one, several = (robot.generate("c", options={"inverse_dynamics": {"optional": x}}) for x in ("wrenches", ["wrenches"]))
    assert one == several
    assert "wrenches (2 x 6)" in one
    assert robot.program("inverse_dynamics", optional="wrenches").signature == "q(2), qd(2), qdd(2), wrenches(2,6) -> tau(2)"
    assert robot.compile("inverse_dynamics", optional="wrenches") is robot.compile("inverse_dynamics", optional=["wrenches"])
    with pytest.raises(da.Error, match="optional must be a name"):
        robot.program("inverse_dynamics", optional=3)


@pytest.mark.parametrize(
    ("name", "identifier"),
    [
        ("UR-5 (left)", "UR_5_left_"),
        ("7dof", "robot_7dof"),
        ("end", "robot_end"),
        ("jacobian", "robot_jacobian"),
        ("ä*/", "robot_"),
    ],
)
def test_names(name, identifier, tmp_path):
    from dataclasses import replace

    robot = replace(da.robot("two_link"), name=name)
    assert robot.generate("c").filename == identifier + ".c"
    assert execute(sys.executable, "-I", "-S", robot.generate("python").save(tmp_path)).stdout == "ok\n"


@pytest.mark.parametrize(
    ("arguments", "options", "message"),
    [
        (("fortran",), {}, "unknown language 'fortran'"),
        (("c", "inverse_dynamic"), {}, "did you mean 'inverse_dynamics'"),
        (("c", []), {}, "at least one quantity"),
        (("c", ["mass_matrix", "mass_matrix"]), {}, "mass_matrix is named twice"),
        (("c", "mass_matrix", "lagrange"), {}, "unknown method for mass_matrix"),
        (("c", "mass_matrix", {"jacobian": "x"}), {}, "unknown quantity with a method 'jacobian'"),
        (("c", "mass_matrix"), {"options": {"jacobian": {}}}, "unknown quantity with options 'jacobian'"),
        (("c", "jacobian"), {"options": {"jacobian": {"joint": 1}}}, "unknown option of jacobian: 'joint'"),
        (("c", 3), {}, "quantities must be a name or a list of names, got 3"),
        (("c", ["mass_matrix", 3]), {}, "quantities must be a name"),
        (("c", "jacobian"), {"options": 3}, "options must be given by name"),
        (("c", "jacobian"), {"options": {"jacobian": 3}}, "options of jacobian must be given by name"),
        (("c",), {"options": {"inverse_dynamics": {"optional": 3}}}, "optional must be a name"),
        (("c", "mass_matrix", ["composite_body"]), {}, "method must be a name"),
        (("c",), {"name": "for"}, "must begin with a letter"),
        (("c",), {"name": "a b"}, "must begin with a letter"),
        (("c",), {"name": "a" * 64}, "at most 63"),
    ],
)
def test_mistakes(arguments, options, message):
    with pytest.raises(da.Error, match=re.escape(message)):
        da.robot("two_link").generate(*arguments, **options)


def test_robot_without_joints():
    arm = da.robot("two_link")
    with pytest.raises(da.Error, match="has no moving joints"):
        arm.lock(dict.fromkeys(arm.joint_names, 0.0)).generate("c")


@pytest.mark.parametrize("name", ["BRANCHES", "KNOWN", "size", "max", "nargin", "dalembert_check"])
def test_names_that_the_templates_use(name):
    """The file's own words cannot be taken, or do no harm."""
    arm = da.robot("two_link")
    if name in ("BRANCHES", "KNOWN"):
        text = arm.generate("matlab", "gravity_force", name=name)
        assert f"function varargout = {name}(quantity" in text
        assert "case 'gravity_force'" in text
    else:
        with pytest.raises(da.Error, match="name"):
            arm.generate("matlab", "gravity_force", name=name)
