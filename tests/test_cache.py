"""The disk cache: whatever happens to its folder, results are right and nothing crashes."""

import os
import stat
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest
from conftest import close

import dalembert as da
from dalembert.native import cache, machine

X = np.full((3, 6), 0.25)


@pytest.fixture
def folder(tmp_path, monkeypatch):
    place = tmp_path / "cache"
    monkeypatch.setenv("DALEMBERT_CACHE", str(place))
    return place


@pytest.fixture
def compiled(monkeypatch):
    """How often code was really made."""
    calls = []
    real = machine.object_code
    monkeypatch.setattr(machine, "object_code", lambda text: (calls.append(1), real(text))[1])
    return calls


EXPECTED = da.robot("ur5").inverse_dynamics(*X, backend="numpy")


def use():
    close(da.robot("ur5").inverse_dynamics(*X), EXPECTED, 1e-13)


def entry(folder):
    (found,) = folder.glob("*.bin")
    return found


def test_second_time_needs_no_compiler_and_no_tracing(folder, compiled, monkeypatch):
    use()
    assert len(compiled) == 1
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    from dalembert.quantities import quantity

    monkeypatch.setattr(quantity, "trace", None)
    use()
    assert len(compiled) == 1
    assert da.cache.info()["entries"] == 1
    assert da.cache.clear() == 1
    assert da.cache.info()["entries"] == 0


DAMAGES = {
    "emptied": lambda data: b"",
    "truncated": lambda data: data[: len(data) // 2],
    "one bit": lambda data: data[:-100] + bytes([data[-100] ^ 1]) + data[-99:],
    "header": lambda data: b"x" + data[1:],
    "checksum": lambda data: data[:60] + bytes([data[60] ^ 1]) + data[61:],
    "longer": lambda data: data + b"more",
    "noise": lambda data: os.urandom(len(data)),
}


@pytest.mark.parametrize("damage", DAMAGES)
def test_damaged_entries_are_made_again(folder, compiled, damage):
    use()
    path = entry(folder)
    path.write_bytes(DAMAGES[damage](path.read_bytes()))
    use()
    assert len(compiled) == 2
    use()
    assert len(compiled) == 2


def test_an_entry_under_another_name_is_not_used(folder, compiled):
    use()
    path = entry(folder)
    da.robot("puma560").inverse_dynamics(*X)
    for other in folder.glob("*.bin"):
        if other != path:
            other.write_bytes(path.read_bytes())
    arm = da.robot("puma560")
    close(arm.inverse_dynamics(*X), arm.inverse_dynamics(*X, backend="numpy"), 1e-13)
    assert len(compiled) == 3


def test_another_machine_has_other_entries(folder, compiled, monkeypatch):
    use()
    here = machine.host()
    for other in (here._replace(cpu="another"), here._replace(features=here.features + ",+other"), here._replace(llvm="1.0")):
        with monkeypatch.context() as patch:
            patch.setattr(machine, "host", lambda other=other: other)
            patch.setattr(machine, "_target", machine._target)
            key_before = len(list(folder.glob("*.bin")))
            try:
                use()
            except RuntimeError:  # LLVM may refuse a machine that does not exist; what matters is that no entry was reused
                assert len(compiled) > 1
                continue
            assert len(list(folder.glob("*.bin"))) == key_before + 1


def test_other_source_has_other_entries(folder, compiled, monkeypatch):
    from dalembert.native import kernel

    use()
    monkeypatch.setattr(kernel, "source_digest", lambda: "changed")
    use()
    assert len(compiled) == 2


@pytest.mark.skipif(os.name == "nt", reason="modes are POSIX")
def test_a_folder_open_to_others_is_not_used(folder, compiled):
    folder.mkdir(mode=0o777)
    folder.chmod(0o777)
    use()
    use()
    assert len(compiled) == 2
    assert not list(folder.iterdir())


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

    monkeypatch.setattr(cache.tempfile, "mkstemp", refuse)  # root ignores modes, so the refusal is simulated
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
    assert da.cache.info() == {"folder": None, "entries": 0, "bytes": 0}


def test_oldest_entries_go_first(folder, monkeypatch):
    for k in range(5):
        cache.put(str(k).encode(), bytes(1000))
        os.utime(folder / cache._name(str(k).encode()), (k, k))
    monkeypatch.setattr(cache, "LIMIT", 3500)
    cache.put(b"new", bytes(1000))
    kept = [k for k in range(5) if cache.get(str(k).encode()) is not None]
    assert kept == [3, 4]
    assert cache.get(b"new") == bytes(1000)


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
    for p in running:
        out, _ = p.communicate(timeout=100)
        assert p.returncode == 0
        assert out.strip() == "fine"
