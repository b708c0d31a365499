"""Methods whose modules are imported on first use."""

from importlib import import_module
from typing import Any


class Later:
    """A module, or a function of one, that is imported on first use.

    What is read from a module is a function to come. Bound to a class, it is a descriptor: whoever reads it, from the class or
    from an instance, makes it import its module and leave its place in the class to the function itself. So `help`,
    `inspect.signature` and completion find the function, and from the second call on nothing is slower than without this.

    >>> class Circle:
    ...     area = Later("math").fabs
    >>> Circle.area(-1.0), vars(Circle)["area"]
    (1.0, <built-in function fabs>)
    """

    def __init__(self, path: str) -> None:
        self._path = path

    def __getattr__(self, name: str) -> "Later":
        if name.startswith("__"):  # tools ask objects for more than they have
            raise AttributeError(name)
        return Later(f"{self._path}.{name}")

    def __set_name__(self, owner: type, name: str) -> None:
        self._owner, self._name = owner, name

    def __get__(self, instance: object, owner: type) -> Any:
        module, _, function = self._path.rpartition(".")
        setattr(self._owner, self._name, getattr(import_module(module), function))
        return getattr(owner if instance is None else instance, self._name)
