"""Modules with the originals' names, whose attributes are looked up in Ingot when they are first used."""

from __future__ import annotations

import importlib
import importlib.abc
import importlib.machinery
import importlib.util
import os
import sys
import warnings
from collections.abc import Sequence
from types import ModuleType
from typing import Any

from ingot.compat._not_yet import not_yet
from ingot.compat._table import MODULES, PACKAGES, Names

_SHADOW = "INGOT_COMPAT_SHADOW"


class AliasModule(ModuleType):
    """A module of the original. `names` says where its attributes are found."""

    def __init__(self, name: str, names: Names) -> None:
        super().__init__(name, f"`{name}`, over Ingot.")
        self._names = names

    def __getattr__(self, name: str) -> Any:
        value = self._find(name)
        setattr(self, name, value)
        return value

    def _find(self, name: str) -> Any:
        names = self._names
        if name == "__all__":
            return sorted(name for name in dir(self) if not name.startswith("_"))
        if f"{self.__name__}.{name}" in MODULES:
            return importlib.import_module(f"{self.__name__}.{name}")
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


class _Finder(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Makes the modules when they are imported."""

    def __init__(self, packages: Sequence[str]) -> None:
        self.packages = list(packages)

    def find_spec(self, fullname: str, path: Any, target: Any = None) -> importlib.machinery.ModuleSpec | None:
        if fullname not in MODULES or fullname.partition(".")[0] not in self.packages:
            return None
        is_script = fullname.endswith(".__main__")
        return importlib.machinery.ModuleSpec(fullname, self, origin="ingot.compat", is_package=not is_script)

    def create_module(self, spec: importlib.machinery.ModuleSpec) -> ModuleType:
        return AliasModule(spec.name, MODULES[spec.name])

    def exec_module(self, module: ModuleType) -> None:
        for needed in MODULES[module.__name__].needs:
            importlib.import_module(needed)

    def get_code(self, fullname: str) -> Any:
        """What `python -m` runs."""
        text = f"import sys, importlib\nsys.exit(importlib.import_module({fullname!r}).main())\n"
        return compile(text, f"<{fullname}>", "exec")


def install() -> None:
    """Lets `import` find the modules. Calling it again changes nothing."""
    if any(isinstance(finder, _Finder) for finder in sys.meta_path):
        return
    packages = [package for package in PACKAGES if _may_install(package)]
    for name in [name for name in sys.modules if name.partition(".")[0] in packages]:
        del sys.modules[name]
    sys.meta_path.insert(0, _Finder(packages))


def _may_install(package: str) -> bool:
    if os.environ.get(_SHADOW) == "1" or (package not in sys.modules and importlib.util.find_spec(package) is None):
        return True
    warnings.warn(
        f"the package {package} is installed and stays in use; set {_SHADOW}=1 to let ingot.compat take its place",
        stacklevel=3,
    )
    return False
