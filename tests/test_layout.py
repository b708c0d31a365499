"""The layout shows the architecture: each package says what it may import, and imports nothing else."""

import ast
import re
from collections import defaultdict
from functools import cache
from pathlib import Path

import pytest

import dalembert

ROOT = Path(dalembert.__file__).parent
PACKAGES = sorted(path.parent.name for path in ROOT.glob("*/__init__.py"))
# modules that all may import
GROUND = ("arguments", "cached", "errors", "foreign", "later", "progress", "imported", "text", "version")
TOP = ("__init__", "__main__", "groups", "interop", "robots")  # modules that only the top imports


def modules(package):
    return sorted((ROOT / package).rglob("*.py"))


def is_for_types(node):
    """Whether a statement is `if TYPE_CHECKING:`, which never runs."""
    return isinstance(node, ast.If) and isinstance(node.test, ast.Name) and node.test.id == "TYPE_CHECKING"


parsed = cache(lambda path: ast.parse(path.read_text()))


def imported(path, inside=True, types=False):
    """(module, line) of every import of the package in a file; those inside functions and conditions, too, but not of types."""
    tree = parsed(path)
    for_types = set() if types else {id(x) for node in tree.body if is_for_types(node) for x in ast.walk(node)}
    for node in ast.walk(tree) if inside else tree.body:
        if id(node) in for_types:
            continue
        if isinstance(node, ast.ImportFrom) and (node.module or "").partition(".")[0] == "dalembert":
            assert node.level == 0
            for name in node.names:
                whole = f"{node.module}.{name.name}"
                base = ROOT.parent / whole.replace(".", "/")
                yield whole if base.is_dir() or base.with_suffix(".py").exists() else node.module, node.lineno
        elif isinstance(node, ast.Import):
            yield from ((name.name, node.lineno) for name in node.names if name.name.partition(".")[0] == "dalembert")


def allowed(package):
    said = " ".join((ast.get_docstring(ast.parse((ROOT / package / "__init__.py").read_text())) or "").split())
    found = re.search(r"May import: ([^.]*)\.", said)
    assert found, f"{package}/__init__.py must say 'May import: ...'"
    if found[1] == "everything":
        return (*(other for other in PACKAGES if other != package), *TOP)
    return () if found[1] == "nothing" else tuple(re.findall(r"\w+", found[1]))


@pytest.mark.parametrize("package", PACKAGES)
def test_a_package_imports_what_it_says(package):
    may = allowed(package)
    assert set(may) <= {*PACKAGES, *TOP}, "names of packages"
    used = set()
    for path in modules(package):
        for module, line in imported(path):
            first = [*module.split("."), "__init__"][1]
            if first not in (package, *GROUND):
                assert first in may, f"{path.relative_to(ROOT)}:{line} imports {module}, which {package}/__init__.py does not say"
                used.add(first)
    unused = set(may) - used
    assert package == "cli" or not unused, f"{package}/__init__.py says that it may import {sorted(unused)}, and it does not"


def test_the_table_of_packages_says_the_same():
    page = Path(__file__).parent.parent.joinpath("CONTRIBUTING.md").read_text(encoding="utf-8")
    rows = {
        name: set(re.findall(r"\w+", may)) for name, may in re.findall(r"^\| `(\w+)` \| [^|]* \| ([^|]*) \|$", page, re.MULTILINE)
    }
    said = {package: set(allowed(package)) or {"nothing"} for package in PACKAGES} | {"cli": {"everything"}}
    assert rows == said, (
        f"the table of packages in CONTRIBUTING.md differs in {[name for name in said if rows.get(name) != said[name]]}"
    )


def test_the_ground_imports_only_itself():
    for name in GROUND:
        for module, line in imported((ROOT / name).with_suffix(".py")):
            assert module.split(".")[1] in GROUND, f"{name}.py:{line} imports {module}"
    assert {path.stem for path in ROOT.glob("*.py")} == {*GROUND, *TOP}


def test_packages_have_no_cycles():
    graph = {package: set(allowed(package)) for package in PACKAGES if package != "cli"}
    for name in ("interop", "robots"):
        graph[name] = {module.split(".")[1] for module, _ in imported(ROOT / f"{name}.py", types=True)} - {*GROUND}
    assert cycle(graph) == []


def test_modules_have_no_cycles():
    """Those of the top of a file: a form writes itself by a module that it loads when that happens."""
    graph = defaultdict(set)
    for path in ROOT.rglob("*.py"):
        if path.name != "__init__.py":
            name = ".".join(path.relative_to(ROOT.parent).with_suffix("").parts)
            graph[name] = {module for module, _ in imported(path, inside=False)} - {name}
    assert cycle(graph) == []


def cycle(graph):
    """The first cycle of a directed graph, or []."""
    done, way = set(), []

    def visit(node):
        if node in way:
            return way[way.index(node) :]
        if node in done:
            return []
        way.append(node)
        for other in sorted(graph.get(node, ())):
            if found := visit(other):
                return found
        way.pop()
        done.add(node)
        return []

    return next((found for node in sorted(graph) if (found := visit(node))), [])


def test_private_modules_stay_in_their_package():
    for path in ROOT.rglob("*.py"):
        for module, line in imported(path):
            for k, part in enumerate(parts := module.split(".")):
                if part.startswith("_") and part != "__init__":
                    home = ROOT.parent.joinpath(*parts[:k])
                    assert home in path.parents, f"{path.relative_to(ROOT)}:{line} imports {module}"


@pytest.mark.parametrize("name", ["robot", "study", "bench", "compare", "load", "methods", "equations", "derive"])
def test_what_users_call_is_no_module(name):
    import importlib

    for package in PACKAGES:
        importlib.import_module(f"dalembert.{package}")
    assert callable(getattr(dalembert, name))
