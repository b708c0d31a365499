"""The wheel and the sdist of dist/: what is in them, and whether the wheel works where there is nothing else.

    python tools/dist.py        # after `make dist`

The wheel is installed into an empty environment in a temporary folder. The quick tests run there, in what the sdist holds beside
the source, which is removed. With CI set, which runs all tests on the source, only some of them do.
"""

import os
import subprocess
import sys
import tarfile
import tempfile
import venv
from email import message_from_bytes
from pathlib import Path
from runpy import run_path
from shutil import rmtree
from zipfile import ZipFile

from matrix import HELPERS, ROOT

NAME = f"dalembert-{run_path(str(ROOT / 'src/dalembert/version.py'))['__version__']}"
SOME = [f"tests/test_{name}.py" for name in ("model", "native_objects", "files")]
ALL = ["tests", "--ignore=tests/test_docs.py"]  # which is about lines of the source


def packaged() -> set[str]:
    """The files of the package: modules, robots, what reports are made of, the mark of types."""
    found = {path.relative_to(ROOT / "src") for path in (ROOT / "src/dalembert").rglob("*") if path.is_file()}
    return {path.as_posix() for path in found if "__pycache__" not in path.parts}


def check_wheel(wheel: Path) -> None:
    """All of the package is in it, its licence and its metadata, and nothing else."""
    with ZipFile(wheel) as archive:
        names = set(archive.namelist())
        metadata = message_from_bytes(archive.read(f"{NAME}.dist-info/METADATA"))
    about = {name for name in names if name.startswith(f"{NAME}.dist-info/")}
    missing, more = packaged() - names, names - packaged() - about
    assert not missing, f"{wheel.name} lacks {sorted(missing)}"
    assert not more, f"{wheel.name} has what is not of the package: {sorted(more)}"
    kinds = {Path(name).suffix for name in packaged()}
    assert kinds >= {".py", ".toml", ".css", ".js", ".typed"}, kinds
    assert f"{NAME}.dist-info/licenses/LICENSE" in about, sorted(about)
    for field in ("Summary", "Author", "License-Expression", "License-File", "Keywords", "Classifier", "Requires-Python"):
        assert metadata[field], f"{wheel.name}: the metadata have no {field}"
    assert metadata["Description-Content-Type"] == "text/markdown"
    assert metadata.get_payload().startswith("# dalembert")


def check_sdist(sdist: Path) -> None:
    """What is needed to build and to test is in it."""
    with tarfile.open(sdist) as archive:
        names = set(archive.getnames())
    wanted = {f"src/{name}" for name in packaged()} | {"pyproject.toml", "LICENSE", "README.md", "tests/conftest.py", "Makefile"}
    wanted |= {f"tests/data/{path.name}" for path in (ROOT / "tests/data").iterdir()}
    missing = {name for name in wanted if f"{NAME}/{name}" not in names}
    assert not missing, f"{sdist.name} lacks {sorted(missing)}"


def try_wheel(wheel: Path, sdist: Path, place: Path) -> None:
    """Install it into an empty environment below a folder; run tests and a study there."""
    venv.create(place / "venv", with_pip=True)
    scripts = place / "venv" / ("Scripts" if os.name == "nt" else "bin")
    elsewhere = place / "elsewhere"
    environment = {k: v for k, v in os.environ.items() if not k.startswith("PYTHON")}
    environment |= {"DALEMBERT_CACHE": str(place / "cache"), "PIP_DISABLE_PIP_VERSION_CHECK": "1"}

    def run(*command: object) -> str:
        done = subprocess.run(
            list(map(str, command)),
            cwd=elsewhere if elsewhere.exists() else place,
            env=environment,
            stdout=subprocess.PIPE,
            text=True,
        )
        assert done.returncode == 0, f"{' '.join(map(str, command))} failed:\n{done.stdout}"
        return done.stdout

    extras, needed, tests = ("study", HELPERS, SOME) if os.environ.get("CI") else ("test", [], ALL)
    run(scripts / "python", "-m", "pip", "install", "--quiet", "--no-compile", f"{wheel}[{extras}]", *needed)
    with tarfile.open(sdist) as archive:
        archive.extractall(place, filter="data")
    (place / NAME).rename(elsewhere)
    rmtree(elsewhere / "src")
    found = run(scripts / "python", "-c", "import dalembert; print(dalembert.__file__)").strip()
    assert Path(found).is_relative_to(place / "venv"), f"dalembert is imported from {found}"
    print(run(scripts / "python", "-m", "pytest", "-q", "-n", "auto", "-m", "not slow", *tests).splitlines()[-1])
    run(scripts / "dalembert", "study", "two_link")
    (page,) = elsewhere.glob("study-*/report.html")
    for part in ("report.css", "mechanics.js", "orbit.js", "scene.js", "visuals.js", "charts.js", "panels.js", "live.js"):
        content = (ROOT / "src/dalembert/studies/report" / part).read_text().strip()
        assert content in page.read_text(), f"the report has no {part}"


def main() -> int:
    """Check the one wheel and the one sdist that are there."""
    (wheel,), (sdist,) = ROOT.glob("dist/*.whl"), ROOT.glob("dist/*.tar.gz")
    assert wheel.name.startswith(f"{NAME}-"), wheel
    assert sdist.name == f"{NAME}.tar.gz", sdist
    check_wheel(wheel)
    check_sdist(sdist)
    with tempfile.TemporaryDirectory(prefix="dalembert-dist-") as place:
        try_wheel(wheel, sdist, Path(place).resolve())
    print(f"{wheel.name} and {sdist.name}: complete, and the wheel works in an empty environment")
    return 0


if __name__ == "__main__":
    sys.exit(main())
