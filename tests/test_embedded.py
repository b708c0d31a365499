"""C for microcontrollers: single precision with its stated error, headers, one state at a time, on the processors themselves."""

import ctypes
import os
import re
import shutil
from dataclasses import replace
from functools import cache

import instructions
import numpy as np
import pytest
from conftest import sweep
from pages import blocks, read
from test_generate import LARGE, TREE, build, execute, needs, pointers, spoiled

import dalembert as da
from dalembert.codegen import precision
from dalembert.engine.registry import QUANTITIES
from dalembert.trace import operation_count, trace

LAWS = ("gravity_compensation", "computed_torque", "impedance", "momentum_observer")
CHOSEN = ("inverse_dynamics", "forward_dynamics", "mass_matrix", "gravity_force", *LAWS)
RUBBING = da.robot("two_link").with_friction(damping=0.3, coulomb=0.2)
ROBOTS = {"two_link": RUBBING, "tree": TREE, "puma560": da.robot("puma560"), "panda": da.robot("panda"), "large tree": LARGE}
OPTIONS = {"tree": {"impedance": {"link": "link4"}}, "large tree": {"impedance": {"link": "link6"}}}
SMALL = {"dtype": "float", "header": True, "batch": False}
CAREFUL = ("-Wpedantic", "-Wshadow", "-Wmissing-prototypes", "-Wconversion", "-Wdouble-promotion", "-Wunsuffixed-float-constants")
ARM = "arm-linux-gnueabihf-gcc"
robots = pytest.mark.parametrize("key", sweep(ROBOTS, quick=(0,)))
cross = pytest.mark.skipif(not instructions.available(), reason="gcc-arm-none-eabi is not installed")


def test_tools_are_there_in_ci():
    wanted = (instructions.COMPILER, instructions.DISASSEMBLER, ARM, "qemu-arm")
    missing = [tool for tool in wanted if not shutil.which(tool)]
    assert not (os.environ.get("CI") and missing), f"CI must install {missing}: see .ci/run"


@cache
def generated(key):
    return ROBOTS[key].generate("c", CHOSEN, name="arm", options=OPTIONS.get(key), **SMALL)


def programs(key, quantity):
    """The programs whose results are compared: of the snapped robot, and of the robot."""
    options = OPTIONS.get(key, {}).get(quantity, {})
    return [robot.program(quantity, **options) for robot in (ROBOTS[key].snapped(precision.UNIT), ROBOTS[key])]


# --- single precision


@needs("gcc")
@robots
def test_errors_of_single_precision_are_what_the_header_states(key, tmp_path, monkeypatch):
    """At other states than those measured: below the bound of each state, and nearly all below the figure of the header."""
    code = generated(key)
    flags = ("-shared", "-fPIC", "-O1", "-DDALEMBERT_SELF_TEST", *CAREFUL)
    library = ctypes.CDLL(str(build("gcc", code.save(tmp_path), tmp_path / "arm.so", *flags)))
    assert library.main() == 0
    monkeypatch.setattr(precision, "SEED", 7)
    monkeypatch.setattr(precision, "STATES", precision.CHUNK)
    for quantity in CHOSEN:
        snapped, made = programs(key, quantity)
        lines = re.search(rf"^// {quantity} by .*?^void", code.header, re.M | re.S)[0].replace("\n//  ", "")
        stated = re.findall(r"error of \w+ in [^:]*: (\S+) measured", lines)
        assert len(stated) == len(made.outputs)
        for states in precision._states(ROBOTS[key], made, QUANTITIES[quantity].arrays()):
            exact, bound = precision.against(snapped, made, states)
            found = np.empty(exact.shape, np.float32)
            for s in range(exact.shape[1]):
                given = [np.ascontiguousarray(x[:, s], np.float32) for x in states]
                results = [np.empty(v.size, np.float32) for v in made.outputs]
                getattr(library, f"arm_{quantity}")(*pointers([*given, *results]))
                found[:, s] = np.concatenate(results)
            good = np.isfinite(bound)
            error = np.abs(found - exact)
            assert (error[good] <= bound[good]).all(), quantity
            for nodes, figure in zip(precision.places(made), stated, strict=True):
                assert (error[nodes] <= float(figure)).mean() > 0.99
                assert (error[nodes] > float(figure) / 100).any()


@needs("gcc")
def test_self_test_notices(tmp_path):
    """A number that is off by more than rounding makes it fail."""
    code = generated("two_link")
    source = code.save(tmp_path)
    assert execute(build("gcc", source, tmp_path / "right", "-DDALEMBERT_SELF_TEST", *CAREFUL)).stdout == "ok\n"
    source.write_text(spoiled(code, 1e-4))
    done = execute(build("gcc", source, tmp_path / "wrong", "-DDALEMBERT_SELF_TEST"))
    assert (done.returncode, "inverse_dynamics: tau differs" in done.stdout) == (1, True)


def test_bounds_are_bounds_and_no_more_than_needed():
    """Rounding analysis against fractions: exact inputs, constants that are not floats, every operation."""
    rng = np.random.default_rng(2)

    def function(x):
        a, b, c = x
        return np.array(
            [
                a * b + 0.1,
                (a - b) / (c * c + 1),
                (a * a + b * b + 0.3).sqrt() - c,
                (a * b).sin() + (b / 3).cos(),
                -a * 1e-3,
                c.where(a * b, b * 0.1),
            ]
        )

    made = trace(function, {"x": (3,)})
    x = rng.uniform(-2, 2, (3, 400)).astype(np.float32).astype(float)
    exact, bound = precision.bounded(made, [x])
    error = np.abs(precision._computed(precision.in_single(made), [x]) - exact)
    assert (error <= bound).all()
    assert (error.max(axis=1) > bound.max(axis=1) / 20).all()
    assert (bound.max(axis=1) < 1e-5).all()


def test_bounds_where_signs_and_floors_are_unsure():
    made = trace(
        lambda x: np.array([(y := x[0] - 0.1).sign(), y.where(3.0, x[0]), y.above(0.0, 5.0), 1 / y]),
        {"x": (1,)},
    )
    near, far = float(np.float32(0.1)), 2.0
    _, bound = precision.bounded(made, [np.array([[near, far]])])
    assert bound[0].tolist() == [2.0, 0.0] and bound[1].tolist() == [3.0 - near, 0.0]
    assert np.isinf(bound[2:, 0]).all() and (bound[:, 1] < 1e-6).all()


def test_angles_that_are_right_in_single_precision_are_right():
    """The file of such a robot is as short as that of the exact one, and says what the angle costs, which is next to nothing."""
    rod = da.Inertia.from_com(1.0, (-0.1, 0.02, 0.03), (0.01, 0.02, 0.03))
    arms = [
        da.Robot.from_dh([da.DHRow(alpha=np.pi / 2 + off, a=0.3, inertia=rod), da.DHRow(a=0.2, inertia=rod)], convention="standard")
        for off in (0.0, 1e-9, 1e-5)
    ]
    right, almost, off = (arm.generate("c", dtype="float") for arm in arms)
    counts = [re.search(r"by newton_euler: (.*)", code)[1] for code in (right, almost, off)]
    assert counts[0] == counts[1] != counts[2]
    assert operation_count(arms[1].program("inverse_dynamics")).total > operation_count(arms[0].program("inverse_dynamics")).total
    figures = [float(re.search(r"(\S+) measured", code)[1]) for code in (right, almost)]
    assert figures[1] < 3 * figures[0]


def test_constants_of_32_bits_are_written_shortest():
    made = trace(lambda x: np.array([x[0] * 0.1, x[0] + 1e-30, x[0] * np.inf, x[0] * 1.00000000001]), {"x": (1,)}, outputs=("y",))
    from dalembert.codegen.c import c_file
    from dalembert.codegen.common import Function

    text = c_file("f", [], [Function("g", precision.in_single(made), [], [[0.0]], [[0.0] * 4])], dtype="float", batch=False)
    assert "0.1f * x[0]" in text.replace("x[0] * 0.1f", "0.1f * x[0]") and "1e-30f" in text and "INFINITY" in text
    assert "y[3] = x[0];" in text


@pytest.mark.slow
@needs("gcc")
def test_every_quantity(tmp_path):
    """In single precision, with optional inputs of one of them."""
    tasks = ("task_inertia", "task_bias", "task_gravity", "dynamically_consistent_inverse")
    robot = da.random_robot(1, "RP").with_friction(coulomb=0.1)
    options = {task: {"rows": (3, 4)} for task in tasks}
    options["inverse_dynamics"] = {"optional": ["wrenches", "base_twist", "base_acceleration"]}
    code = robot.generate("c", list(QUANTITIES), name="arm", options=options, **SMALL)
    assert execute(build("gcc", code.save(tmp_path), tmp_path / "arm", "-O0", "-DDALEMBERT_SELF_TEST", *CAREFUL)).stdout == "ok\n"
    for quantity, described in QUANTITIES.items():
        lines = re.search(rf"^// {quantity} by .*?^void", code.header, re.M | re.S)[0].replace("\n//  ", "")
        assert len(re.findall(r"error of \w+ in |\w+ is 0 at all states", lines)) == len(described.outputs), quantity


# --- the header, and one state at a time


def test_size_and_operations_are_in_the_header():
    code = generated("two_link")
    made = RUBBING.program("inverse_dynamics")
    said = re.search(
        r"inverse_dynamics by newton_euler: (.*)\n// size: (\d+) statements, (\d+) constants \((\d+) bytes\)", code.header
    )
    assert said[1] == str(operation_count(made))
    assert int(said[2]) == sum(node[0] not in ("input", "const") for node in made.nodes)
    assert int(said[4]) == 4 * int(said[3])
    body = code[code.index("void arm_inverse_dynamics") :].partition("}")[0]
    assert len(re.findall(r"const float v\d+ =", body)) == int(said[2])


def test_no_batches_and_no_loops():
    code = generated("two_link")
    before = code.partition("#if defined(DALEMBERT_SELF_TEST)")[0]
    for word in ("_batch", "for (", "DALEMBERT_SIMD", "double"):
        assert word not in before and word not in code.header.replace("double precision", "")
    assert code.count("#include") == 4 and '#include "arm.h"' in code
    whole = da.robot("two_link").generate("c", dtype="float")
    assert whole.header is None and "two_link_inverse_dynamics_batch(" in whole


@pytest.mark.parametrize("compiler", [pytest.param(c, marks=needs(c)) for c in ("gcc", "g++")])
def test_the_header_is_all_that_a_caller_needs(compiler, tmp_path):
    """Someone else's file, in C or C++, includes it twice, calls a function, and gets the library's result."""
    arm = da.robot("two_link")
    build(
        "gcc", arm.generate("c", "gravity_force", header=True, batch=False).save(tmp_path), tmp_path / "arm.o", "-c", *CAREFUL[:4]
    )
    main = tmp_path / ("main.c" if compiler == "gcc" else "main.cpp")
    main.write_text(
        '#include "two_link.h"\n#include "two_link.h"\n#include <stdio.h>\n'
        "int main(void) { const double q[2] = {0.3, 0.4}; double tau[2]; two_link_gravity_force(q, tau);"
        ' printf("%.17g %.17g\\n", tau[0], tau[1]); return 0; }\n'
    )
    flags = ("-std=c99",) if compiler == "gcc" else ()
    done = execute(
        compiler, *flags, "-Wall", "-Wextra", "-Wpedantic", "-Werror", main, tmp_path / "arm.o", "-o", tmp_path / "a", "-lm"
    )
    assert done.returncode == 0, done.stderr
    np.testing.assert_allclose([*map(float, execute(tmp_path / "a").stdout.split())], arm.gravity_force([0.3, 0.4]), rtol=1e-13)


def test_both_files_or_none(tmp_path):
    code = da.robot("two_link").generate("c", "gravity_force", header=True)
    assert code.save(tmp_path) == tmp_path / "two_link.c"
    assert (tmp_path / "two_link.h").read_text() == code.header and (tmp_path / "two_link.c").read_text() == code
    (tmp_path / "two_link.c").write_text("old")
    (tmp_path / "two_link.h").unlink()
    (tmp_path / "two_link.h").mkdir()
    with pytest.raises(da.Error, match=r"two_link\.h: cannot be written"):
        code.save(tmp_path)
    assert (tmp_path / "two_link.c").read_text() == "old" and len([*tmp_path.iterdir()]) == 2
    with pytest.raises(da.Error, match=r"two_link\.c and two_link\.h belong together: give a folder"):
        code.save(tmp_path / "other.c")
    assert code.save(tmp_path / "new" / "folder") == tmp_path / "new" / "folder" / "two_link.c"
    with pytest.raises(da.Error, match="give a folder"):
        (tmp_path / "file").touch()
        code.save(tmp_path / "file")


@pytest.mark.parametrize(
    ("language", "options", "message"),
    [
        ("c", {"dtype": "half"}, "unknown dtype 'half'"),
        ("c", {"dtype": np.float32}, "dtype"),
        ("c", {"header": 1.5}, "header"),
        ("c", {"batch": "no"}, "batch"),
        ("python", {"dtype": "float"}, "dtype is for C only; leave out for python"),
        ("julia", {"header": True, "batch": False}, "header, batch are for C only"),
    ],
)
def test_mistakes(language, options, message):
    with pytest.raises(da.Error, match=message):
        da.robot("two_link").generate(language, **options)


def test_from_the_command_line(tmp_path):
    from dalembert.cli import main

    given = ["generate", "two_link", "c", "-q", "impedance", "-q", "gravity_force", "--dtype", "float", "--header", "--no-batch"]
    assert main([*given, "-o", str(tmp_path)]) == 0
    expected = da.robot("two_link").generate("c", ["impedance", "gravity_force"], **SMALL)
    assert (tmp_path / "two_link.c").read_text() == expected and (tmp_path / "two_link.h").read_text() == expected.header
    assert main(given) == 2


# --- the processors


@cross
@robots
def test_on_a_cortex_m4f(key, tmp_path):
    """It compiles without a warning to code without loops that has the operations that are counted, and no doubles are emulated."""
    found = instructions.counted(instructions.compiled(generated(key).save(tmp_path), tmp_path / "arm.o"))
    assert {*found} == {f"arm_{quantity}" for quantity in CHOSEN}
    for quantity in CHOSEN:
        one, operations = found[f"arm_{quantity}"], operation_count(precision.in_single(programs(key, quantity)[0]))
        assert {*one.calls} <= {"sinf", "cosf", "sqrtf"}
        assert len(one.calls) <= 2 * operations.sincos + operations.sqrt
        assert 0.9 * operations.total <= one.arithmetic <= 1.05 * operations.total + 5, quantity
        assert operations.total < one.most < 2 * operations.total + 100


@needs(ARM)
@needs("qemu-arm")
@robots
def test_self_test_on_an_arm(key, tmp_path):
    """In user mode, with the floating-point unit of a Cortex-M4F; the C library there is another than here."""
    code = generated(key)
    source, flags = (
        code.save(tmp_path),
        ("-mcpu=cortex-a7", "-mfpu=fpv4-sp-d16", "-mfloat-abi=hard", "-static", "-DDALEMBERT_SELF_TEST"),
    )
    done = execute("qemu-arm", build(ARM, source, tmp_path / "right", *flags))
    assert (done.returncode, done.stdout) == (0, "ok\n"), done.stderr


@cross
def test_loops_are_noticed(tmp_path):
    source = tmp_path / "loop.c"
    source.write_text(
        "float f(const float *x, int n);\nfloat f(const float *x, int n) { float s = 0.0f; while (n--) s += *x++; return s; }\n"
    )
    with pytest.raises(ValueError, match="loop"):
        instructions.counted(instructions.compiled(source, tmp_path / "loop.o"))


@cross
def test_a_robot_of_any_name_compiles(tmp_path):
    code = replace(da.robot("two_link"), name="UR-5 (left)").generate("c", "gravity_force", **SMALL)
    assert instructions.counted(instructions.compiled(code.save(tmp_path), tmp_path / "a.o"))["UR_5_left__gravity_force"].most


# --- the pages


@pytest.mark.slow
@needs("gcc")
def test_the_loop_of_the_page_compiles(tmp_path, monkeypatch):
    """With the header that the page saves."""
    monkeypatch.chdir(tmp_path)
    page = read("howto/microcontroller")
    exec(compile(blocks(page, "python")[0], "microcontroller.md", "exec"), {})
    (loop,) = blocks(page, "c")
    (tmp_path / "loop.c").write_text(loop)
    done = execute("gcc", "-std=c99", "-Wall", "-Wextra", "-Werror", "-c", tmp_path / "loop.c", "-o", tmp_path / "loop.o")
    assert done.returncode == 0, done.stderr


def test_the_table_of_instructions():
    """As many as the operations of the programs need; where the compiler is there, nearly those of this version of it."""
    (table,) = blocks(read("howto/microcontroller"), "{instructions}")
    stated = {tuple(line.split()[:2]): int(line.split()[2]) for line in table.splitlines()}
    assert len(stated) == 3 * len(instructions.LAWS)
    for (name, quantity), most in stated.items():
        count = operation_count(da.robot(name).program(quantity)).total
        assert count < most < 2 * count + 60
    if instructions.available():
        for name, quantity, _, most, *_ in instructions.rows(da.robot("two_link")):
            assert abs(int(most) - stated[name, quantity]) <= 0.25 * stated[name, quantity]
