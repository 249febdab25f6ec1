"""Attributes that are computed when first used."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Generic, TypeVar

T = TypeVar("T")


class lazy(Generic[T]):  # noqa: N801 # a decorator
    """`functools.cached_property` without its lock, whose first use takes a microsecond longer."""

    def __init__(self, compute: Callable[[Any], T]) -> None:
        self.compute, self.name, self.__doc__ = compute, compute.__name__, compute.__doc__

    def __get__(self, instance: Any, owner: Any = None) -> T:
        if instance is None:
            return self  # type: ignore[return-value] # as a property of its class
        value = instance.__dict__[self.name] = self.compute(instance)
        return value
