"""Tests with every Python that is found, each with the oldest and the newest NumPy and llvmlite that pyproject.toml allows.

    python tools/matrix.py [PYTHON ...]        # default: python3.11, python3.12, ... of PATH

Environments are kept below build/matrix. What does not start, or cannot be installed (no wheel), is reported.
"""

import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path
from shutil import which

ROOT = Path(__file__).parent.parent
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
TESTS = [f"tests/test_{name}.py" for name in ("native", "native_objects", "native_threads", "cache", "model", "same_answers")]
HELPERS = [r for r in PROJECT["optional-dependencies"]["test"] if r.startswith(("pytest", "hypothesis"))]
HELPERS += PROJECT["optional-dependencies"]["mpmath"]


def pythons() -> list[str]:
    """Those of PATH, from the oldest allowed on."""
    first = int(re.fullmatch(r">=3\.(\d+)", PROJECT["requires-python"])[1])
    return [path for minor in range(first, first + 20) if (path := which(f"python3.{minor}"))]


def oldest(requirement: str) -> str:
    """The first release that "name>=1.2" allows: "name==1.2.0"."""
    name, version = re.fullmatch(r"([\w-]+)>=([\d.]+)", requirement).groups()
    return f"{name}=={version}" + ".0" * (2 - version.count("."))


def said(python: object, code: str) -> str | None:
    """What a Python prints; None if it fails."""
    done = subprocess.run([python, "-c", code], capture_output=True, text=True)
    return None if done.returncode else done.stdout.strip()


def tried(python: str, age: str) -> str:
    """What came of one environment."""
    version = said(python, "import ensurepip, sys, venv; print(*sys.version_info[:2], sep='.')")
    if version is None:
        return "NOT RUN: it does not start, or has no venv"
    place = ROOT / "build/matrix" / f"{version}-{age}"
    inside = place / ("Scripts" if os.name == "nt" else "bin") / "python"
    if not inside.exists():
        subprocess.run([python, "-m", "venv", place], check=True)
    wanted = [oldest(r) if age == "oldest" else r for r in PROJECT["dependencies"]]
    pip = [inside, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--only-binary=:all:", "--upgrade"]
    if subprocess.run([*pip, *wanted, *HELPERS]).returncode:
        return f"NOT RUN: {', '.join(wanted)} cannot be installed"
    versions = said(inside, "import numpy, llvmlite; print(f'NumPy {numpy.__version__}, llvmlite {llvmlite.__version__}')")
    print(f"--- Python {version}, {versions}", flush=True)
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "src")}
    done = subprocess.run([inside, "-m", "pytest", "-q", "-n", "auto", "--dist", "worksteal", *TESTS], cwd=ROOT, env=environment)
    return f"{'FAILED' if done.returncode else 'passed'} with {versions}"


def main() -> int:
    """Try all; the exit code is 1 if any failed, or none could be tried."""
    outcome = {f"{python}, {age}": tried(python, age) for python in sys.argv[1:] or pythons() for age in ("oldest", "newest")}
    print(*(f"{name}: {result}" for name, result in outcome.items()), sep="\n")
    results = outcome.values()
    return int(any(r.startswith("FAILED") for r in results) or not any(r.startswith("passed") for r in results))


if __name__ == "__main__":
    sys.exit(main())
