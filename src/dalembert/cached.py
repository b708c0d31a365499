"""Cached properties without a lock."""

import functools
from typing import Any, TypeVar, overload

T = TypeVar("T", covariant=True)


class cached_property(functools.cached_property[T]):  # noqa: N801
    """`functools.cached_property` as it is from Python 3.12 on: Python 3.11 holds a lock, which a forked child may find taken.

    Threads that come at once each compute the value, and all of them get the same one.
    """

    @overload
    def __get__(self, instance: None, owner: type[Any] | None = None) -> "cached_property[T]": ...
    @overload
    def __get__(self, instance: object, owner: type[Any] | None = None) -> T: ...
    def __get__(self, instance: object, owner: type[Any] | None = None) -> Any:
        return self if instance is None else vars(instance).setdefault(str(self.attrname), self.func(instance))
