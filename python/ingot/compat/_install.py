"""Modules with the originals' names, whose attributes are looked up in Ingot when they are first used."""

from __future__ import annotations

import importlib
import importlib.machinery
import importlib.util
import os
import sys
import warnings
from types import ModuleType
from typing import Any

from ingot.compat._not_yet import not_yet
from ingot.compat._table import MODULES, Names

_SHADOW = "INGOT_COMPAT_SHADOW"


class AliasModule(ModuleType):
    """A module of the original. `names` says where its attributes are found."""

    def __init__(self, name: str, names: Names) -> None:
        super().__init__(name, f"`{name}`, over Ingot.")
        self.__path__: list[str] = []
        spec = importlib.machinery.ModuleSpec(name, loader=None, is_package=True)
        self.__spec__ = spec
        self._names = names

    def __getattr__(self, name: str) -> Any:
        value = self._find(name)
        setattr(self, name, value)
        return value

    def _find(self, name: str) -> Any:
        names = self._names
        if name == "__all__":
            return sorted(name for name in dir(self) if not name.startswith("_"))
        if name in names.values:
            return names.values[name]
        if name in names.places:
            module, _, attribute = names.places[name].partition(":")
            return self._get(module, attribute)
        if name in names.not_yet:
            return not_yet(f"{self.__name__}.{name}")
        if not name.startswith("__"):
            for module in names.modules:
                found = importlib.import_module(module)
                if hasattr(found, name):
                    return getattr(found, name)
        raise AttributeError(f"{self.__name__}.{name} of the original is not in ingot.compat yet")

    def _get(self, module: str, attribute: str) -> Any:
        try:
            found = importlib.import_module(module)
        except ImportError as error:
            raise AttributeError(f"{self.__name__}.{attribute}: {error}") from error
        return getattr(found, attribute) if attribute else found

    def __dir__(self) -> list[str]:
        found = set(super().__dir__()) | set(self._names.places) | set(self._names.not_yet) | set(self._names.values)
        for module in self._names.modules:
            public = vars(importlib.import_module(module))
            found |= set(public.get("__all__", [name for name in public if not name.startswith("_")]))
        return sorted(found)


def install() -> None:
    """Puts the modules where `import` finds them. Calling it again changes nothing."""
    for package in ("coreai_torch", "coreai"):
        if _may_install(package):
            _install_package(package)


def _install_package(package: str) -> None:
    for name, names in MODULES.items():
        if name.partition(".")[0] != package or isinstance(sys.modules.get(name), AliasModule):
            continue
        module = AliasModule(name, names)
        sys.modules[name] = module
        parent, _, child = name.rpartition(".")
        if parent:
            setattr(sys.modules[parent], child, module)


def _may_install(package: str) -> bool:
    present = sys.modules.get(package)
    if isinstance(present, AliasModule) or os.environ.get(_SHADOW) == "1":
        return True
    if present is None and importlib.util.find_spec(package) is None:
        return True
    warnings.warn(
        f"the package {package} is installed and stays in use; set {_SHADOW}=1 to let ingot.compat take its place",
        stacklevel=3,
    )
    return False
