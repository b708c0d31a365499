"""The disk cache: whatever happens to its folder, results are right and nothing crashes."""

import os
import shutil
import stat
import subprocess
import sys
import tempfile
import time
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from conftest import close, run, sweep

import dalembert as da
from dalembert import imported
from dalembert.native import cache, direct, machine

X = np.full((3, 2), 0.25)


@pytest.fixture
def folder(tmp_path, monkeypatch):
    direct.code("double")  # what serves all programs is made once a process: it shall not be among the entries
    place = tmp_path / "cache"
    monkeypatch.setenv("DALEMBERT_CACHE", str(place))
    return place


@pytest.fixture
def compiled(monkeypatch):
    """How often code was really made."""
    calls = []
    real = machine.object_code
    monkeypatch.setattr(machine, "object_code", lambda *what: (calls.append(1), real(*what))[1])
    return calls


EXPECTED = da.robot("two_link").inverse_dynamics(*X, backend="numpy")


def use():
    close(da.robot("two_link").inverse_dynamics(*X), EXPECTED, 1e-13)


def entries(folder):
    """What is kept, longest first: the code of a program, and which program a quantity of a robot has."""
    return sorted(folder.glob("*.bin"), key=lambda path: -path.lstat().st_size)


def entry(folder):
    """The code; there is one."""
    code, _ = entries(folder)
    return code


def test_second_time_needs_no_compiler_and_no_tracing(folder, compiled, monkeypatch):
    use()
    assert len(compiled) == 1
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    from dalembert.engine import kernels

    monkeypatch.setattr(kernels, "program", None)
    use()
    assert len(compiled) == 1
    assert da.cache.info()["entries"] == 2  # which program, and its code
    assert da.cache.clear() == 2
    assert da.cache.info()["entries"] == 0


def test_another_process_needs_no_compiler_either(folder):
    """The key is the same in every process."""
    code = """
from dalembert.native import machine
real, made = machine.object_code, []
machine.object_code = lambda *what: (made.append(1), real(*what))[1]
import dalembert as da, numpy as np
da.robot("two_link").inverse_dynamics(*np.zeros((3, 2)))
da.compile_program(da.robot("rp").program("inverse_dynamics"))(*np.zeros((3, 5, 2)))
print(len(made))
"""
    assert [run(code)[0].strip() for _ in range(2)] == ["3", "0"]  # one state, a loop, and what calls them


DAMAGES = {
    "emptied": lambda data: b"",
    "truncated": lambda data: data[: len(data) // 2],
    "one bit": lambda data: data[:-100] + bytes([data[-100] ^ 1]) + data[-99:],
    "header": lambda data: b"x" + data[1:],
    "checksum": lambda data: data[:60] + bytes([data[60] ^ 1]) + data[61:],
    "longer": lambda data: data + b"more",
    "noise": lambda data: os.urandom(len(data)),
}


@pytest.mark.parametrize("damage", sweep(DAMAGES, quick=(1, 2, 4)))
@pytest.mark.parametrize("which", ["code", "program"])
def test_damaged_entries_are_made_again(folder, compiled, damage, which):
    """Without its code a program is compiled again; without its name it is traced again, and then found."""
    use()
    path = entries(folder)[which == "program"]
    path.write_bytes(DAMAGES[damage](sound := path.read_bytes()))
    use()
    assert len(compiled) == (1 if which == "program" else 2)
    assert path.read_bytes() == sound
    use()
    assert len(compiled) == (1 if which == "program" else 2)


def test_an_entry_under_another_name_is_not_used(folder, compiled):
    use()
    path = entry(folder)
    da.robot("rp").inverse_dynamics(*X)
    for other in entries(folder)[:2]:
        if other != path:
            other.write_bytes(path.read_bytes())
    arm = da.robot("rp")
    close(arm.inverse_dynamics(*X), arm.inverse_dynamics(*X, backend="numpy"), 1e-13)
    assert len(compiled) == 3


def test_another_machine_has_other_entries(folder, compiled, monkeypatch):
    use()
    here, target = machine.host(), machine.llvm().Target.from_triple(machine.host().triple)
    options = {"opt": 2, "cpu": here.cpu, "features": here.features, "codemodel": "jitdefault", "jit": True}
    monkeypatch.setattr(
        machine, "_target", lambda *_: target.create_target_machine(**options)
    )  # compile for this machine all the same
    others = [
        here._replace(cpu="another"),
        here._replace(features=here.features + ",+other"),
        here._replace(llvm="1.0"),
        here._replace(lanes=2 if here.lanes > 2 else 4),
    ]
    for k, other in enumerate(others, 2):
        monkeypatch.setattr(machine, "host", lambda other=other: other)
        use()
        assert len(compiled) == len(list(folder.glob("*.bin"))) - 1 == k


def test_other_source_has_other_entries(folder, compiled, monkeypatch):
    """The code of a program depends on the engine's source, the program of a quantity on that of models and formulations."""
    real, edited = imported.digest, set()
    monkeypatch.setattr(imported, "digest", lambda *parts: f"{real(*parts)} {edited & {*parts}}")
    use()
    edited.add("native")
    use()
    assert len(compiled) == 2
    edited.add("formulations")
    use()
    assert len(compiled) == 2  # traced again, to the same program
    monkeypatch.setattr(imported, "digest", lambda *_: "")  # nothing to read: no caching
    use()
    use()
    assert len(compiled) == 4


def test_what_edited_source_makes_is_not_kept(folder, compiled, monkeypatch):
    """The names of entries are those of the source as imported, and a module may be imported after it was edited."""
    monkeypatch.setattr(imported, "unchanged", lambda: False)
    use()
    use()
    assert len(compiled) == 2
    assert da.cache.info()["entries"] == 0


def test_equal_programs_share_their_code(folder, compiled):
    """Whatever robots they come from: neither names nor limits nor the base's place matter to a Jacobian in world axes."""
    arm = da.robot("rp")
    other = replace(arm, name="another", links=tuple(replace(x, joint=replace(x.joint, lower=-1.0)) for x in arm.links))
    for robot in (arm, other, other.with_base(da.Pose.of((1.0, 2.0, 3.0)))):
        robot.jacobian([0.1, 0.2], frame="world_aligned")
    assert len(compiled) == 1


def test_a_name_that_has_lost_its_code_finds_it_again(folder, compiled):
    use()
    code = max(folder.glob("*.bin"), key=lambda path: path.stat().st_size)
    code.unlink()
    use()
    assert len(compiled) == 2
    assert code.exists()


def test_the_source_is_all_of_it():
    from dalembert.engine.kernels import PARTS

    given = [(), ("native", "trace"), PARTS, ("native",), ("robots.py",), ("nothing",)]
    hashes = [imported.digest(*parts) for parts in given]
    assert [len(x) for x in hashes] == [0, 64, 64, 64, 64, 0]
    assert len(set(hashes)) == 5


def test_source_has_no_name_once_it_is_edited(tmp_path, monkeypatch):
    (tmp_path / "native" / "__pycache__").mkdir(parents=True)
    file = tmp_path / "native" / "a.py"
    file.write_text("x = 1")
    monkeypatch.setattr(imported, "_FOLDER", str(tmp_path))
    monkeypatch.setattr(imported, "_AS_IMPORTED", imported._files(str(tmp_path)))
    digest = imported.digest.__wrapped__  # not remembered
    first = digest("native")
    assert len(first) == 64
    (tmp_path / "native" / "__pycache__" / "b.py").write_text("")
    (tmp_path / "native" / "data.txt").write_text("")
    assert imported.unchanged() and digest("native") == first
    os.utime(file, (1, 1))
    assert not imported.unchanged() and digest("native") == ""
    monkeypatch.setattr(imported, "_AS_IMPORTED", imported._files(str(tmp_path)))
    assert digest("native") == first
    (tmp_path / "new.py").write_text("")
    assert not imported.unchanged()
    shutil.rmtree(tmp_path / "native")
    assert digest("native") == ""
    monkeypatch.setattr(imported, "_AS_IMPORTED", imported._files(str(tmp_path / "none")))  # as in a zip archive
    assert not imported.unchanged() and digest("native") == ""


def test_edits_while_the_tests_run_change_nothing():
    """Names of entries and other processes have a copy of the source that nobody edits."""
    live = Path(da.__file__).parent
    copy = Path(imported._FOLDER)
    assert copy != live
    assert Path(run("import dalembert; print(dalembert.__file__)")[0].strip()).parent == copy


def test_an_interpreter_with_other_objects_makes_the_same_code(folder, compiled, monkeypatch):
    from dalembert.native import direct

    monkeypatch.setattr(direct, "PLAIN", False)
    use()
    monkeypatch.setattr(direct, "PLAIN", True)
    use()
    assert len(compiled) == 1


def variants():
    """Robots that differ in one thing each."""
    base = da.random_robot(1, "RPH")
    link = base.links[1]
    yield "base", base, {}
    yield "parents", da.Robot("r", (*base.links[:2], replace(base.links[2], parent="link1")), base.gravity, base.base), {}
    for field, value in {
        "before": link.before @ da.Pose.of((0, 0, 0.1)), "after": link.after @ da.Pose.of((0, 0, 0.1)),
        "before_R": link.before @ da.Pose.of(rpy=(0.1, 0, 0)), "after_R": link.after @ da.Pose.of(rpy=(0.1, 0, 0)),
    }.items():  # fmt: skip
        changed = replace(link, **{field.removesuffix("_R"): value})
        yield field, replace(base, links=(base.links[0], changed, base.links[2])), {}
    yield "kind", replace(base, links=(replace(base.links[0], joint=da.Joint("joint1", "prismatic")), *base.links[1:])), {}
    yield (
        "pitch",
        replace(base, links=(*base.links[:2], replace(base.links[2], joint=da.Joint("joint3", "helical", pitch=0.5)))),
        {},
    )
    for field, change in {
        "mass": lambda i: da.Inertia(i.mass + 1, i.com, i.tensor), "com": lambda i: da.Inertia(i.mass, i.com + 1, i.tensor),
        "inertia": lambda i: da.Inertia(i.mass, i.com, i.tensor + np.eye(3)),
    }.items():  # fmt: skip
        yield field, replace(base, links=(*base.links[:2], replace(base.links[2], inertia=change(base.links[2].inertia)))), {}
    yield "gravity", base.with_gravity((0, 0, -1)), {}
    yield "base pose", base.with_base(np.eye(4)), {}
    yield "armature", base.with_armature(0.1), {}
    yield "damping", base.with_friction(damping=0.1), {}
    yield "coulomb", base.with_friction(coulomb=0.1), {}
    yield "friction_offset", base.with_friction(friction_offset=0.1), {}
    yield "static_friction", base.with_friction(static_friction=0.1, stribeck_speed=0.1), {}
    yield "stribeck_speed", base.with_friction(static_friction=0.1, stribeck_speed=0.2), {}
    yield "load_friction", base.with_friction(load_friction=0.1), {}
    yield "method", base, {"method": "lie_group"}
    yield "wrenches", base, {"optional": ("wrenches",)}
    yield "base twist", base, {"optional": ("base_twist",)}
    yield "quantity", base, {"quantity": "newton_euler_pass"}


@pytest.mark.slow
def test_whatever_changes_the_program_changes_the_key(folder, compiled):
    for count, (name, robot, given) in enumerate(variants(), 1):
        options = {"quantity": "inverse_dynamics"} | given
        robot.compile(**options)
        assert len(list(folder.glob("*.bin"))) == 2 * count, name
        replace(robot).compile(**options)
        assert len(compiled) == count, name


def test_names_and_limits_do_not_change_the_key(folder, compiled):
    base = da.random_robot(1, "R")
    renamed = da.Robot(
        "other", (replace(base.links[0], name="x", joint=da.Joint("y", lower=-1, upper=1)),), base.gravity, base.base
    )
    base.compile("inverse_dynamics")
    renamed.compile("inverse_dynamics")
    assert len(compiled) == 1


@pytest.mark.skipif(os.name == "nt", reason="modes are POSIX")
@pytest.mark.parametrize("mode", [0o777, 0o750, 0o705, 0o710])
def test_a_folder_open_to_others_is_not_used(folder, compiled, mode):
    folder.mkdir()
    folder.chmod(mode)
    use()
    use()
    assert len(compiled) == 2
    assert not list(folder.iterdir())
    assert da.cache.info()["usable"] is False


@pytest.mark.skipif(os.name == "nt", reason="owners are POSIX")
def test_a_folder_of_somebody_else_is_not_used(folder, compiled, monkeypatch):
    use()
    monkeypatch.setattr(cache.os, "getuid", lambda: 12345)
    use()
    assert len(compiled) == 2


@pytest.mark.skipif(os.name == "nt", reason="links and modes are POSIX")
def test_entries_that_others_could_have_written_are_not_used(folder, compiled, tmp_path):
    use()
    path = entry(folder)
    path.chmod(0o666)
    use()
    assert len(compiled) == 2
    path.rename(tmp_path / "elsewhere")
    path.symlink_to(tmp_path / "elsewhere")
    use()
    assert len(compiled) == 3
    path.unlink()
    os.mkfifo(path)
    use()
    assert len(compiled) == 4


def test_odd_things_in_the_folder(folder, compiled):
    use()
    (folder / "a.bin").mkdir()
    assert da.cache.info()["entries"] == 2
    assert da.cache.clear() == 2
    (folder / "a.bin").rmdir()
    folder.rmdir()
    assert da.cache.info()["entries"] == 0
    assert da.cache.clear() == 0
    use()
    assert len(compiled) == 2


def test_where_the_folder_is(monkeypatch, tmp_path):
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("DALEMBERT_CACHE", "~/mine")
    assert cache.folder() == tmp_path / "mine"
    monkeypatch.delenv("DALEMBERT_CACHE")
    monkeypatch.setenv("XDG_CACHE_HOME", "relative")
    assert cache.folder() == tmp_path / ".cache/dalembert"
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "xdg"))
    assert cache.folder() == tmp_path / "xdg/dalembert"


def test_a_link_is_not_followed(folder, compiled, tmp_path):
    (tmp_path / "elsewhere").mkdir(mode=0o700)
    folder.symlink_to(tmp_path / "elsewhere")
    use()
    assert not list((tmp_path / "elsewhere").iterdir())


def test_a_file_in_place_of_the_folder(folder, compiled):
    folder.write_text("in the way")
    use()
    assert da.cache.info()["entries"] == 0


def test_read_only_folder(folder, compiled, monkeypatch):
    folder.mkdir(mode=0o700)

    def refuse(*_, **__):
        raise PermissionError("read-only")

    monkeypatch.setattr(tempfile, "mkstemp", refuse)  # root ignores modes, so the refusal is simulated
    use()
    use()
    assert len(compiled) == 2


def test_full_disk(folder, compiled, monkeypatch):
    class Full:
        def __enter__(self):
            return self

        def __exit__(self, *_):
            return False

        def write(self, _):
            raise OSError(28, "No space left on device")

    real = os.fdopen
    monkeypatch.setattr(cache.os, "fdopen", lambda handle, mode: (real(handle, mode).close(), Full())[1])
    use()
    assert not list(folder.glob("*"))


def test_off(folder, compiled, monkeypatch):
    monkeypatch.setenv("DALEMBERT_CACHE", "off")
    use()
    use()
    assert len(compiled) == 2
    assert da.cache.info() == {"folder": None, "usable": False, "entries": 0, "bytes": 0}


def test_oldest_entries_go_first(folder, monkeypatch):
    for k in range(5):
        cache.put(str(k).encode(), bytes(1000))
        os.utime(folder / cache._name(str(k).encode()), (k, k))
    monkeypatch.setattr(cache, "LIMIT", 3500)
    cache.put(b"new", bytes(1000))
    kept = [k for k in range(5) if cache.get(str(k).encode()) is not None]
    assert kept == [3, 4]
    assert cache.get(b"new") == bytes(1000)


def test_few_writes_count_the_entries(folder, monkeypatch):
    """A look at all of them for each would take longer than compiling where there are thousands."""
    counted = []
    monkeypatch.setattr(cache, "_trim", counted.append)
    monkeypatch.setattr(cache, "_written", float("inf"))  # as in a new process
    for k in range(50):
        cache.put(str(k).encode(), bytes(1000))
    assert len(counted) == 1
    monkeypatch.setattr(cache, "LIMIT", 64 * 10_000)
    for k in range(50):
        cache.put(str(k).encode(), bytes(1000))
    assert 3 < len(counted) <= 10


PROCESS = """
import numpy as np, dalembert as da, sys
arm = da.robot("ur5")
x = np.full((3, 6), 0.25)
expected = arm.inverse_dynamics(*x, backend="numpy")
for k in range(6):
    loaded = arm.with_payload(1.0 + k)
    tau, want = loaded.inverse_dynamics(*x), loaded.inverse_dynamics(*x, backend="numpy")
    assert np.abs(tau - want).max() < 1e-11, (tau, want)
assert np.abs(arm.inverse_dynamics(*x) - expected).max() < 1e-11
print("fine")
"""


@pytest.mark.slow
def test_eight_processes_share_the_folder_while_it_is_deleted(folder):
    environment = {**os.environ, "DALEMBERT_CACHE": str(folder)}
    running = [
        subprocess.Popen([sys.executable, "-c", PROCESS], env=environment, stdout=subprocess.PIPE, text=True) for _ in range(8)
    ]
    deadline = time.monotonic() + 100
    while any(p.poll() is None for p in running) and time.monotonic() < deadline:
        for path in list(folder.glob("*.bin"))[:2] if folder.exists() else []:
            Path(path).unlink(missing_ok=True)
        time.sleep(0.05)
        if time.monotonic() % 1 < 0.1:
            shutil.rmtree(folder, ignore_errors=True)
    for p in running:
        out, _ = p.communicate(timeout=900)
        assert p.returncode == 0
        assert out.strip() == "fine"
