"""xacro files, expanded by the package xacro. They are programs: what they compute and which files they read is theirs to say."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from dalembert.arguments import by_name
from dalembert.errors import Error, brief, optional, unknown
from dalembert.storage.opening import opened


def expanded(path: Path, given: Any) -> bytes:
    """What a xacro file expands to, with arguments by name for its <xacro:arg>."""
    arguments = xacro_arguments(given)
    with opened(path):
        pass  # that it is there, and a file, is said as for all files
    xacro, values = optional("xacro", "xacro"), _Values(arguments)
    try:
        text = xacro.process_file(str(path), mappings=values).toxml(encoding="utf-8")
    except Exception as error:  # any: expressions in the file are Python
        told = str(error) or type(error).__name__
        hint = "; $(find ...) looks for packages of ROS, which is not installed here" if "ament_index" in told else ""
        raise Error(f"{path.name}: xacro: {told}{hint}") from None
    for name in arguments:
        if name not in values.asked:
            raise unknown(f"xacro argument of {path.name}:", name, values.asked)
    return text


class _Values(dict[str, str]):
    """Arguments by name, which remembers those that the file asks for, in order."""

    def __init__(self, given: Mapping[str, str]) -> None:
        super().__init__(given)
        self.asked: dict[str, None] = {}

    def __contains__(self, name: Any) -> bool:
        self.asked[name] = None
        return super().__contains__(name)

    def __getitem__(self, name: str) -> str:
        self.asked[name] = None
        return super().__getitem__(name)


def xacro_arguments(given: Any) -> Mapping[str, str]:
    """Values by name; numbers and truth values as xacro writes them."""
    values = by_name({} if given is None else given, "load: xacro", "{'prefix': 'left_'}")
    for name, value in values.items():
        if not isinstance(value, str | int | float):
            raise Error(f"load: the xacro argument {name!r} must be a string or a number, got {brief(value)}")
    return {name: str(value).lower() if isinstance(value, bool) else str(value) for name, value in values.items()}
