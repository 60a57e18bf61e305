"""Names of the original that can be imported but not used yet."""

from __future__ import annotations

from typing import Any, NoReturn

from ingot.errors import UnsupportedError


class _NotYet(type):
    """A class that can be named in annotations, and says what is missing when it is called or looked into."""

    def __call__(cls, *_: Any, **__: Any) -> NoReturn:
        raise UnsupportedError(f"{cls.__module__}.{cls.__qualname__} is not available in ingot.compat yet")

    def __getattr__(cls, name: str) -> NoReturn:
        if name.startswith("__"):
            raise AttributeError(name)
        raise UnsupportedError(f"{cls.__module__}.{cls.__qualname__}.{name} is not available in ingot.compat yet")


def not_yet(qualified_name: str) -> type:
    module, _, name = qualified_name.rpartition(".")
    return _NotYet(name, (), {"__module__": module, "__qualname__": name})
