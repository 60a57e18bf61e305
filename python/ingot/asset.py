"""Saved programs as files: what is in them, and running them."""

from __future__ import annotations

import json
import os
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any

from ingot import _core
from ingot._paths import path_text
from ingot.errors import AssetIOError, IngotError
from ingot.options import SpecializationOptions
from ingot.runtime import Model

if TYPE_CHECKING:
    from ingot.program import Program

_MANIFEST = "manifest.json"


class MissingAssetError(AssetIOError, FileNotFoundError):
    """There is no asset at that path."""


class Asset:
    """A saved program. `load` reads its header only."""

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self._path = Path(path_text(path))
        self._manifest = _read_manifest(self._path)

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Asset:
        return cls(path)

    @property
    def path(self) -> Path:
        return self._path

    @property
    def is_valid(self) -> bool:
        """Whether all its files are there with their recorded sizes; their content is checked when it is opened."""
        try:
            files = _read_manifest(self._path)["files"]
            return all((self._path / name).stat().st_size == entry["size"] for name, entry in files.items())
        except (OSError, IngotError):
            return False

    @property
    def metadata(self) -> dict[str, Any]:
        """What was given to `save_asset`."""
        return dict(self._manifest.get("metadata", {}))

    @property
    def function_names(self) -> list[str]:
        return [entry["name"] for entry in self._manifest["entry_points"]]

    @property
    def program(self) -> Program:
        """A program of its own at each access."""
        from ingot.program import Program

        return Program(self._path)

    def executable(self, specialization_options: SpecializationOptions | None = None) -> Executable:
        """The model, open within a block: `with asset.executable() as model`, or `async with`."""
        return Executable(self._path, specialization_options)

    def __fspath__(self) -> str:
        return os.fspath(self._path)

    def __repr__(self) -> str:
        return f"<ingot.Asset {self._path}>"


class Executable:
    """Opens a model at the block's beginning and closes it at its end."""

    def __init__(self, path: Path, options: SpecializationOptions | None) -> None:
        self._path = path
        self._options = options
        self._model: Model | None = None

    def __enter__(self) -> Model:
        self._model = Model.open(self._path, self._options)
        return self._model

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, _: TracebackType | None) -> None:
        if self._model is not None:
            self._model.close()
            self._model = None

    async def __aenter__(self) -> Model:
        return self.__enter__()

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.__exit__(kind, error, trace)


def _read_manifest(path: Path) -> dict[str, Any]:
    if not os.path.lexists(path / _MANIFEST):
        raise MissingAssetError(f"{path} is no asset: it has no {_MANIFEST}")
    manifest: dict[str, Any] = json.loads(_core.read_manifest(str(path)))
    return manifest
