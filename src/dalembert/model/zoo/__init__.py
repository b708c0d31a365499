"""The built-in robots, one TOML file each."""

from importlib.resources import files
from typing import TypeVar

from dalembert.arguments import choice
from dalembert.model.files import parse_toml
from dalembert.model.model import Model

M = TypeVar("M", bound=Model)


def robot_names() -> tuple[str, ...]:
    """Names of the built-in robots."""
    return tuple(sorted(f.name.removesuffix(".toml") for f in files(__name__).iterdir() if f.name.endswith(".toml")))


def robot(cls: type[M], name: str) -> M:
    """A built-in robot by name."""
    choice(name, "built-in robot", robot_names())
    return parse_toml(cls, files(__name__).joinpath(f"{name}.toml").read_bytes(), f"{name}.toml")
