"""The built-in robots, one TOML file each."""

from importlib.resources import files
from typing import TypeVar

from dalembert.arguments import choice
from dalembert.errors import Error, brief
from dalembert.model.files import SUFFIXES, parse_toml
from dalembert.model.model import Model

M = TypeVar("M", bound=Model)


def robot_names() -> tuple[str, ...]:
    """Names of the built-in robots."""
    return tuple(sorted(f.name.removesuffix(".toml") for f in files(__name__).iterdir() if f.name.endswith(".toml")))


def robot(cls: type[M], name: str) -> M:
    """A built-in robot by name."""
    if isinstance(name, str) and name.lower().endswith(SUFFIXES):
        raise Error(f"{brief(name)} is a file: da.load({brief(name)})")
    choice(name, "built-in robot", robot_names())
    return parse_toml(cls, files(__name__).joinpath(f"{name}.toml").read_bytes(), f"{name}.toml")
