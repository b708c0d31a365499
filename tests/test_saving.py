"""Saving and opening: a file is there as a whole or the old one still is, and what is no file, or too much of one, is refused."""

import contextlib
import io
import os
import subprocess
import sys
import threading
import tomllib
import tracemalloc
import warnings
import zipfile
from pathlib import Path

import numpy as np
import pytest
from conftest import run

import dalembert as da
from dalembert.files import load_states, read_states, write_states
from dalembert.model.files import _check_toml
from dalembert.quantities.states import evaluate_states
from dalembert.storage import limits
from dalembert.storage.saving import save_text, saving

ARM = da.robot("two_link")
linux = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="needs files of Linux")

KINDS = """
import os, resource, stat, sys, tempfile
from pathlib import Path
import numpy as np
import dalembert as da
from dalembert.cli import main
from dalembert.files import write_states
from dalembert.studies.report import write as report

report.SECTIONS = ()  # they take seconds, and make the page no different to write
arm = da.robot("two_link")
motion = arm.simulate([0.1, 0.2], duration=0.1, backend="numpy")
equations = da.equations(arm)
states = {"q": motion.q, "qd": motion.qd}
def command(path):
    if main(["equations", "two_link", "--format", "sympy", "-o", str(path)]):
        raise da.Error("told")
saves = {
    "motion.csv": motion.to_csv, "motion.npz": motion.to_npz, "arm.toml": arm.save, "arm.c": arm.generate("c").save,
    **{f"states.{x}": lambda path: write_states(arm, path, [states]) for x in ("csv", "npy", "npz")},
    **{f"equations.{x}": equations.save for x in ("tex", "md", "txt")}, "shared.md": equations.shared().save,
    "lie.tex": da.lie_two_joint(arm).save, "derivation.md": da.derive(arm).save, "command.txt": command,
    "report.html": lambda path: report.study(arm, Path(path).parent, progress=False),
}
unlimited = resource.getrlimit(resource.RLIMIT_FSIZE)
for name, save in saves.items():
    with tempfile.TemporaryDirectory() as folder:
        old, link = Path(folder) / "old", Path(folder) / "links" / name
        old.write_bytes(b"precious")
        old.chmod(0o640)
        link.parent.mkdir()
        link.symlink_to(Path("..") / "old")
        resource.setrlimit(resource.RLIMIT_FSIZE, (100, unlimited[1]))
        try:
            save(link)
            raise AssertionError(f"{name} fits into 100 bytes")
        except da.Error as error:
            assert name == "command.txt" or str(error) == f"{link}: cannot be written: File too large", str(error)
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, unlimited)
        assert old.read_bytes() == b"precious", name
        for _ in range(2):
            assert link.is_symlink() and stat.S_IMODE(old.stat().st_mode) == 0o640, name
            beside = {"motion.csv"} if name == "report.html" else set()  # the motion of the report
            assert sorted(os.listdir(folder)) == ["links", "old"] and {*os.listdir(link.parent)} - beside == {name}, name
            save(link)
        assert len(old.read_bytes()) > 100, name
print("saved", len(saves))
"""


@pytest.mark.slow
@linux
def test_a_full_disk_takes_nothing_away():
    """Every kind of file, through a link, where the system refuses to write more than 100 bytes."""
    out, err = run(KINDS, DALEMBERT_CACHE="off")
    assert out.endswith("saved 15\n")
    assert "Traceback" not in err and "ignored" not in err
    assert "command.txt: cannot be written: File too large" in err


@pytest.mark.slow
@linux
def test_full_devices(tmp_path):
    motion = ARM.simulate([0.1, 0.2], duration=0.1, backend="numpy")
    for save in (motion.to_csv, motion.to_npz, ARM.generate("c").save):
        with pytest.raises(da.Error, match="/dev/full: cannot be written: No space left on device"):
            save("/dev/full")
    full = Path("/dev/full").open("w")  # noqa: SIM115 - closing it fails, too
    with pytest.raises(da.Error, match="/dev/full: cannot be written"):
        motion.to_csv(full)
    with contextlib.suppress(OSError):
        full.close()
    motion.to_csv("/dev/null")
    (tmp_path / "a.csv").write_text("1,2,3,4,5,6\n")
    buffered = {**os.environ, "PYTHONUNBUFFERED": ""}
    for arguments in (["inverse", "two_link", str(tmp_path / "a.csv")], ["robots"]):
        with Path("/dev/full").open("w") as full:
            command = [sys.executable, "-m", "dalembert", *arguments]
            done = subprocess.run(command, stdout=full, stderr=subprocess.PIPE, text=True, env=buffered)
        assert done.returncode == 2
        assert done.stderr.startswith("dalembert: ") and done.stderr.endswith("No space left on device\n")
        assert done.stderr.count("\n") == 1


def test_new_files_have_ordinary_permissions(tmp_path, monkeypatch):
    monkeypatch.setattr(os, "umask", None)  # it belongs to the whole process
    (tmp_path / "ordinary").write_text("")
    assert save_text(tmp_path / "new", "new").stat().st_mode == (tmp_path / "ordinary").stat().st_mode
    write_states(ARM, tmp_path / "new.npz", [{"q": np.zeros((1, 2))}])
    assert (tmp_path / "new.npz").stat().st_mode == (tmp_path / "ordinary").stat().st_mode


def test_what_is_interrupted_leaves_nothing(tmp_path):
    (tmp_path / "a").write_text("old")
    for name in "ab":
        with pytest.raises(KeyboardInterrupt), saving(tmp_path / name) as file:
            file.write(b"new")
            raise KeyboardInterrupt
    assert [x.name for x in tmp_path.iterdir()] == ["a"]
    assert (tmp_path / "a").read_text() == "old"


def test_protected_files_and_wrong_places(tmp_path, monkeypatch):
    (tmp_path / "a").write_text("old")
    for wrong, why in ((tmp_path / "no" / "b", "there is no folder"), (tmp_path / "a" / "b", "Not a dir"), (tmp_path, "directory")):
        with pytest.raises(da.Error, match=f"cannot be written: .*{why}"):
            save_text(wrong, "new")
    for wrong in (None, 3, "a\0b", b"a", "\ud800"):
        with pytest.raises(da.Error, match="file name"):
            save_text(wrong, "new")
    (tmp_path / "loop").symlink_to("loop")
    with pytest.raises(da.Error, match="cannot be written"):
        save_text(tmp_path / "loop", "new")
    monkeypatch.setattr(os, "access", lambda *_: False)  # a test may be run by root, who may do all
    with pytest.raises(da.Error, match="cannot be written: Permission denied"):
        save_text(tmp_path / "a", "new")
    assert (tmp_path / "a").read_text() == "old" and len(list(tmp_path.iterdir())) == 2


def test_a_link_to_nothing_stays_a_link(tmp_path):
    (tmp_path / "link").symlink_to("target")
    save_text(tmp_path / "link", "new")
    assert (tmp_path / "link").is_symlink() and (tmp_path / "target").read_text() == "new"


@linux
def test_standard_output_by_name_is_added_to(tmp_path):
    (tmp_path / "log").write_text("old\n")
    with (tmp_path / "log").open("a") as log:
        subprocess.run(
            [sys.executable, "-m", "dalembert", "generate", "two_link", "c", "-o", "/dev/stdout"], stdout=log, check=True
        )
    assert (tmp_path / "log").read_text().startswith("old\n// two_link")


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs named pipes")
def test_pipes_and_devices_are_no_files(tmp_path):
    """And none of them waits for another end."""
    for name in ("a.urdf", "a.toml", "a.csv", "a.npz"):
        os.mkfifo(tmp_path / name)
        (tmp_path / f"device-{name}").symlink_to("/dev/zero")
        for path in (tmp_path / name, tmp_path / f"device-{name}"):
            with pytest.raises(da.Error, match="must be a regular file, not a pipe or a device"):
                da.load(path) if path.suffix in (".urdf", ".toml") else da.Trajectory.load(path, ARM)
        (tmp_path / f"folder-{name}").mkdir()
        with pytest.raises(da.Error, match=r"Is a directory|is a folder"):
            da.load(tmp_path / f"folder-{name}") if "t" in name else da.Trajectory.load(tmp_path / f"folder-{name}", ARM)
    with pytest.raises(da.Error, match="closed by its reader"):
        ARM.save(tmp_path / "a.toml")


@linux
def test_errors_of_the_system_while_reading(tmp_path):
    """The memory of a process is a file whose first byte cannot be read."""

    class Broken(io.RawIOBase):
        def readable(self):
            return True

        def readinto(self, _):
            raise OSError(5, "Input/output error")

    for name in ("a.urdf", "a.toml", "a.csv", "a.npz"):
        (tmp_path / name).symlink_to("/proc/self/mem")
        with pytest.raises(da.Error, match=r"cannot be read: Input/output error|not an NPZ file"):
            da.load(tmp_path / name) if "t" in name else da.Trajectory.load(tmp_path / name, ARM)
    for source in (tmp_path / "a.csv", Broken()):
        with pytest.raises(da.Error, match="cannot be read: Input/output error"):
            load_states(ARM, source)


def test_reading_touches_no_global_state(tmp_path, monkeypatch):
    """Filters of warnings belong to all threads: whoever sets them and puts them back undoes what another does meanwhile."""
    good, odd = tmp_path / "good.csv", tmp_path / "odd.csv"
    good.write_text("1,2,3,4,5,6\n" * 2000)
    odd.write_text("1,2,3,4,5,6\n# a remark\n" * 1000)
    before, problems = [*warnings.filters], []

    def read(path):
        try:
            for _ in range(5):
                load_states(ARM, path)
                evaluate_states(ARM, "forward_dynamics", path.with_name("forces.csv"), tmp_path / f"{threading.get_ident()}.csv")
                evaluate_states(ARM, "inverse_dynamics", path, tmp_path / f"{threading.get_ident()}.npz")
        except BaseException as error:
            problems.append(error)

    (tmp_path / "forces.csv").write_text("q1,q2,qd1,qd2,tau1,tau2\n" + "1,2,3,4,5,6\n" * 100)
    monkeypatch.setattr(warnings, "catch_warnings", None)
    monkeypatch.setattr(warnings, "simplefilter", None)
    threads = [threading.Thread(target=read, args=(path,)) for path in (good, odd) * 3]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not problems
    assert warnings.filters == before


# --- more than memory -----------------------------------------------------------------------------------------------------


def peak(work):
    """The most bytes that Python and NumPy hold for a call that ends in an Error, and what that says."""
    tracemalloc.start()
    try:
        with pytest.raises(da.Error) as caught:
            work()
        return tracemalloc.get_traced_memory()[1], str(caught.value)
    finally:
        tracemalloc.stop()


def motion(rows, arm=ARM):
    numbers = np.random.default_rng(0).normal(size=(4, rows, arm.n))
    return da.Trajectory(arm, np.arange(rows) / 1000, *numbers[:2], numbers[3], accelerations=numbers[2])


def test_headers_of_gigabytes(tmp_path):
    """Four bytes hold the length of a header, and NumPy reads so many before it looks."""
    start = b"\x93NUMPY\x02\x00" + (1 << 31).to_bytes(4, "little")
    data = start + b" " * 20_000_000
    (tmp_path / "a.npy").write_bytes(data)
    motion(3).to_npz(tmp_path / "a.npz")
    with zipfile.ZipFile(tmp_path / "a.npz") as held, zipfile.ZipFile(tmp_path / "b.npz", "w", zipfile.ZIP_DEFLATED) as bomb:
        for name in held.namelist():
            bomb.writestr(name, data if name == "q.npy" else held.read(name))
    for work in (
        lambda: load_states(ARM, tmp_path / "a.npy", ["q"]),
        lambda: load_states(ARM, tmp_path / "b.npz", ["q"]),
        lambda: da.Trajectory.load(tmp_path / "b.npz", ARM),
    ):
        size, message = peak(work)
        assert "a header of 2147483648 bytes" in message
        assert size < 2_000_000


def test_motions_have_a_limit(tmp_path, monkeypatch):
    """Ten megabytes of zeros are ten kilobytes of an archive."""
    monkeypatch.setattr("dalembert.files.text.BLOCK", 1 << 17)
    zeros, rows = np.zeros((300_000, 2)), 300_000
    arrays = {"time": zeros[:, 0], **dict.fromkeys(("q", "qd", "qdd", "tau"), zeros), "joints": np.array(ARM.joint_names)}
    np.savez_compressed(tmp_path / "a.npz", **arrays)
    size, message = peak(lambda: da.Trajectory.load(tmp_path / "a.npz", ARM, limit=1_000_000))
    assert "a.npz: its arrays exceed 1000000 bytes; raise limit=" in message and size < 2_000_000
    assert len(da.Trajectory.load(tmp_path / "a.npz", ARM, limit=9 * 8 * rows)) == rows
    (tmp_path / "a.csv").write_text("t,q1,q2\n" + "0,0,0\n" * rows)
    size, message = peak(lambda: load_states(ARM, tmp_path / "a.csv", ["q"], limit=1_000_000))
    assert "limit" in message and size < 4_000_000
    assert limits.ARRAYS == 1 << 30  # what the documentation says


@pytest.mark.slow
def test_shapes_are_looked_at_before_memory_is_taken(tmp_path):
    arrays = {"time": np.zeros(10**6), **dict.fromkeys(("q", "qd", "qdd", "tau"), np.zeros((10**6, 2)))}
    for k, wrong in enumerate(
        ({"tau": np.zeros((10, 2))}, {"q": np.zeros((10**6, 3))}, {"worked": np.zeros(3)}, {"memory": np.zeros(())})
    ):
        np.savez_compressed(tmp_path / f"{k}.npz", **arrays | wrong, joints=np.array(ARM.joint_names))
        size, message = peak(lambda k=k: da.Trajectory.load(tmp_path / f"{k}.npz", ARM))
        assert "shape" in message or "should be" in message
        assert size < 2_000_000


def test_long_motions_take_little_more_than_their_arrays(tmp_path, monkeypatch):
    monkeypatch.setattr("dalembert.files.text.BLOCK", 1 << 16)
    long = motion(20_000)
    size = 8 * 9 * len(long)
    for load in (da.Trajectory.load(path, ARM) for path in (long.to_csv(tmp_path / "a.csv"), long.to_npz(tmp_path / "a.npz"))):
        for part in ("time", "q", "qd", "qdd", "tau"):
            np.testing.assert_array_equal(getattr(load, part), getattr(long, part))
    for name in ("a.csv", "a.npz"):
        tracemalloc.start()
        da.Trajectory.load(tmp_path / name, ARM)
        assert tracemalloc.get_traced_memory()[1] < 2.5 * size
        tracemalloc.stop()


def test_lists_of_contents(tmp_path):
    """An archive of very many members is refused before there is an object for each."""
    with zipfile.ZipFile(tmp_path / "a.npz", "w") as held:
        for k in range(12_000):
            held.writestr(zipfile.ZipInfo(f"a name that is quite long, so that fewer will do, {k}.npy"), b"")
    size, message = peak(lambda: da.Trajectory.load(tmp_path / "a.npz", ARM))
    assert "not an NPZ file" in message and size < 20_000_000


def test_columns_without_end():
    size, message = peak(lambda: load_states(ARM, io.BytesIO(b"," * 8_000_000 + b"\n"), ["q"]))
    assert "more than 131072 columns" in message and size < 80_000_000


class Counted(io.BytesIO):
    """A file that counts what is read of it."""

    total = 0

    def read(self, size=-1):
        found = super().read(size)
        self.total += len(found)
        return found

    def readinto(self, buffer):
        size = super().readinto(buffer)
        self.total += size
        return size


@pytest.mark.parametrize("save", [np.savez, np.savez_compressed])
def test_fortran_order_is_read_once(tmp_path, monkeypatch, save):
    monkeypatch.setattr("dalembert.files.binary.ROWS", 1000)
    q = np.random.default_rng(0).normal(size=(50_000, 2))
    save(tmp_path / "a.npz", q=np.asfortranarray(q))
    file = Counted((tmp_path / "a.npz").read_bytes())
    np.testing.assert_array_equal(np.concatenate([x["q"] for x in read_states(ARM, file, ["q"])]), q)
    assert file.total < 1.5 * len(file.getvalue())
    long = motion(3000)
    arrays = {part: np.asfortranarray(getattr(long, part)) for part in ("time", "q", "qd", "qdd", "tau")}
    save(tmp_path / "b.npz", **arrays, joints=np.array(ARM.joint_names))
    back = da.Trajectory.load(tmp_path / "b.npz", ARM)
    assert (back.q == long.q).all() and (back.tau == long.tau).all() and back.q.flags.c_contiguous


def test_damaged_motions(tmp_path):
    """Bytes are changed anywhere: it is loaded, or an Error says why not."""
    rng, whole = np.random.default_rng(2), motion(40).to_npz(tmp_path / "a.npz").read_bytes()
    refused = 0
    for k in range(400):
        data = bytearray(whole if k % 4 else whole[: rng.integers(len(whole))])
        for at in rng.integers(0, max(len(data), 1), 3):
            data[at : at + 1] = bytes([rng.integers(256)])
        (tmp_path / "b.npz").write_bytes(data)
        try:
            da.Trajectory.load(tmp_path / "b.npz", ARM)
        except da.Error:
            refused += 1
    assert refused > 300


HEAD = 'format = "dalembert robot 1"\n'
BOMBS = {
    "elements.urdf": ("<robot name='r'><link name='l'/>" + "<a/>" * 100_000 + "</robot>", "elements and attributes"),
    "attributes.urdf": ("<robot name='r'><link name='l'/>" + "<a b='' c=''/>" * 50_000 + "</robot>", "elements and attributes"),
    "tag.urdf": ("<robot name='r'><a " + " ".join(f"a{k}=''" for k in range(200_000)) + "/></robot>", "a tag or comment is longer"),
    "dots.toml": (HEAD + ".".join("a" * 20_000) + " = 1\n[end]\n", "dots in keys"),
    "quoted dots.toml": (HEAD + ' . '.join(["'a'", '"b"'] * 10_000) + " = 1\n[end]\n", "dots in keys"),
    "table.toml": (HEAD + "[" + ".".join("a" * 20_000) + "]\n[end]\n", "dots in keys"),
    "inline.toml": (HEAD + "a = { b = 1, " + ".".join("a" * 20_000) + " = 1 }\n[end]\n", "dots in keys"),
    "many dots.toml": (HEAD + "".join(f"a.b{k} = 1\n" for k in range(60_000)) + "[end]\n", "dots in keys"),
    "tables.toml": (HEAD + "  [[a]]\n" * 50_000 + "[end]\n", "20000 tables"),
    "keys.toml": (HEAD + "".join(f"a{k} = 1\n" for k in range(25_000)) + "[end]\n", "keys and tables"),
    "lines.toml": (HEAD + "#\n" * 200_000 + "[end]\n", "lines"),
    "digits.toml": (HEAD + "a = 1." + "9" * 100_000 + "\n[end]\n", "65536 characters"),
    "values.toml": (HEAD + "a = [" + "1.5," * 100_000 + "]\n[end]\n", "values"),
    "escapes.toml": (HEAD + 'a = """' + '\\"x' * 100_000 + '"""\n[end]\n', "backslashes"),
    "no end.toml": (HEAD + 'a = """' + 'x\\"' * 10_000 + "\n[end]\n", "not valid TOML"),
}  # fmt: skip


@pytest.mark.parametrize("name", BOMBS)
def test_robots_that_would_fill_memory(tmp_path, monkeypatch, name):
    """With limits a tenth or less of what they are, so that small files show it."""
    for limit, value in {
        "XML_ITEMS": 10_000,
        "XML_TOKEN": 1 << 18,
        "TOML_KEYS": 20_000,
        "TOML_TABLES": 20_000,
        "TOML_LINES": 150_000,
        "TOML_VALUES": 80_000,
        "TOML_DOTTED": 50_000,
    }.items():
        if not (limit == "TOML_KEYS" and "dots" in name):
            monkeypatch.setattr(limits, limit, value)
    monkeypatch.setattr(limits, "TOML_ESCAPES", 50_000)
    text, message = BOMBS[name]
    (tmp_path / name).write_text(text)
    size, found = peak(lambda: da.load(tmp_path / name))
    assert message in found and found.startswith(name)
    assert size < 12 * len(text) + 4_000_000


def test_strings_may_hold_what_keys_may_not():
    dots = "." * 500
    for text in (f'"{dots} \\" = [ {{ #"', f"'{dots} \" = ['", f'"""{dots}\n[a]\n"quoted"""""', f"'''{dots}\n[a] = '''''"):
        content = f"a = {text} # {dots} = 'don't\nb.c = [1.0, 2.0]\n[d.'{dots}']\n"
        assert tomllib.loads(content)["a"].startswith(dots)
        _check_toml(content)
        with pytest.raises(da.Error, match="dots in keys"):
            _check_toml(content + "a.b.c.d.e.f = 1\n")


@linux
@pytest.mark.slow
def test_bombs_of_full_size(tmp_path):
    """64 MB of elements or tables: less than 700 MB, where it was 3.4 GB.

    A robot of 20,000 joints is no bomb: one of 500 is none under a fortieth of the limits."""
    (tmp_path / "a.urdf").write_text("<robot name='r'><link name='l'/>" + "<a/>" * ((64 << 18) - 20) + "</robot>")
    (tmp_path / "a.toml").write_text(HEAD + "[[a]]\n" * ((64 << 20) // 6 - 10) + "[end]\n")
    link = '<link name="l{}"><inertial><origin xyz="0 0 1"/><mass value="1"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial></link>'
    joint = '<joint name="j{0}" type="revolute"><parent link="l{1}"/><child link="l{0}"/><axis xyz="0 0 1"/><limit lower="-1" upper="1"/></joint>'
    text = '<link name="l0"/>' + "".join(link.format(k) + joint.format(k, k - 1 if k % 50 else 0) for k in range(1, 501))
    (tmp_path / "b.urdf").write_text(f"<robot name='r'>{text}</robot>")
    code = f"""
import dalembert as da
for name in ("a.urdf", "a.toml"):
    try: da.load({str(tmp_path)!r} + "/" + name)
    except da.Error as error: print(error)
status = open("/proc/self/status").read()  # not getrusage, in which the process that started this one counts, too
print(int(status.split("VmHWM:")[1].split()[0]) // 1024)
from dalembert.model.files import _check_toml, to_toml
from dalembert.storage import limits
for name in ("XML_ITEMS", "TOML_KEYS", "TOML_TABLES", "TOML_VALUES", "TOML_DOTTED"): setattr(limits, name, getattr(limits, name) // 40)
robot = da.load({str(tmp_path / "b.urdf")!r})
assert robot.n == 500
_check_toml(to_toml(robot))
"""
    *refused, size = run(code)[0].splitlines()
    assert len(refused) == 2 and int(size) < 700
