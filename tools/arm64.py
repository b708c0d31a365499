"""Tests on aarch64, emulated: Debian's Python for it, wheels for it, and qemu. It takes half an hour.

    python tools/arm64.py

It needs apt-get with Debian's sources, dpkg-deb and qemu-aarch64-static (packages apt, dpkg, qemu-user-static), and no privileges:
packages are only unpacked, below build/arm64. At the end, results are compared bit by bit with those of this machine.
"""

import os
import subprocess
import sys
from pathlib import Path

from matrix import HELPERS, PROJECT, ROOT, TESTS

PLACE = ROOT / "build/arm64"
SYSTEM, PACKAGES = PLACE / "root", PLACE / "packages"
PYTHON = SYSTEM / "usr/bin/python"


def fetch_python() -> None:
    """Debian's python3 for arm64 with all that it depends on, as if on an empty machine, unpacked."""
    state = PLACE / "apt"
    for folder in ("lists/partial", "cache/archives/partial"):
        (state / folder).mkdir(parents=True, exist_ok=True)
    (state / "status").touch()
    options = {
        "APT::Architecture": "arm64",
        "APT::Architectures": "arm64",
        "Dir::State": state,
        "Dir::State::status": state / "status",
        "Dir::Cache": state / "cache",
    }
    apt = ["apt-get", "-qq", *(f"-o{name}={value}" for name, value in options.items())]
    subprocess.run([*apt, "update"], check=True)
    subprocess.run([*apt, "install", "--download-only", "-y", "--no-install-recommends", "python3", "libstdc++6"], check=True)
    for package in sorted((state / "cache/archives").glob("*.deb")):
        subprocess.run(["dpkg-deb", "-x", package, SYSTEM], check=True)


def make_python() -> str:
    """A command beside the real one, so that Python finds its library and starts other Pythons like itself; returns its version."""
    (real,) = (SYSTEM / "usr/bin").glob("python3.[0-9]*[0-9]")
    PYTHON.write_text(f'#!/bin/sh\nexec qemu-aarch64-static -0 "$0" -L "{SYSTEM}" "{real}" "$@"\n')
    PYTHON.chmod(0o755)
    return real.name.removeprefix("python")


def fetch_packages(version: str) -> None:
    """NumPy, llvmlite and what tests need, as wheels for aarch64."""
    platforms = [f"--platform=manylinux{old}_aarch64" for old in ("_2_28", "_2_27", "_2_17", "2014")]
    pip = [sys.executable, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-compile", "--no-warn-conflicts"]
    where = ["--upgrade", "--target", PACKAGES, "--only-binary=:all:", *platforms, f"--python-version={version}"]
    subprocess.run([*pip, *where, *PROJECT["dependencies"], *HELPERS], check=True)


def results(python: Path, environment: dict[str, str]) -> list[str]:
    """Digests of what tests/test_same_answers.py computes."""
    code = "import runpy; exec(runpy.run_path('tests/test_same_answers.py')['CODE'])"
    done = subprocess.run([python, "-c", code], cwd=ROOT, env=environment, check=True, stdout=subprocess.PIPE, text=True)
    return done.stdout.splitlines()[1:]


def main() -> int:
    """Fetch what is missing, test, compare."""
    here = {**os.environ, "PYTHONPATH": f"{ROOT / 'src'}:{ROOT / 'tests'}", "DALEMBERT_CACHE": "off"}
    there = {**here, "PYTHONPATH": f"{ROOT / 'src'}:{ROOT / 'tests'}:{PACKAGES}", "PYTHONDONTWRITEBYTECODE": "1"}
    if not (PLACE / "ready").exists():
        fetch_python()
        fetch_packages(make_python())
        (PLACE / "ready").touch()
    make_python()
    if subprocess.run(
        [PYTHON, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-m", "not slow", *TESTS], cwd=ROOT, env=there
    ).returncode:
        return 1
    same = results(PYTHON, there) == results(Path(sys.executable), here)
    print("the same bits as on this machine" if same else "OTHER BITS than on this machine")
    return int(not same)


if __name__ == "__main__":
    sys.exit(main())
