"""Both spellings of the converter's interface, and running what it makes: what the acceptance tests share."""

from __future__ import annotations

import asyncio
import shutil
import tempfile
import warnings
import weakref
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

import ingot
import ingot.compat
import numpy as np
import pytest
import torch
from ingot import asset, composite_ops, externalize, runtime
from torch.export import ExportedProgram

import coreai.authoring  # isort: skip
import coreai.runtime  # isort: skip
import coreai_torch  # isort: skip
import coreai_torch.composite_ops  # isort: skip

F32_TOLERANCE = 1e-5


@dataclass(frozen=True)
class Api:
    """The same things under the names that one kind of user knows."""

    name: str
    package: Any
    finish: str
    """The converter's method that converts."""
    composites: ModuleType
    externalize: ModuleType
    array: type[runtime.NDArray]
    asset: type[asset.Asset]
    model: type[runtime.Model]

    def converter(self, **options: Any) -> Any:
        return self.package.TorchConverter(**options)

    def convert(self, converter: Any, **options: Any) -> ingot.Program:
        return getattr(converter, self.finish)(**options)

    def program(self, exported: ExportedProgram, **names: Any) -> ingot.Program:
        """Of one exported program."""
        return self.convert(self.converter().add_exported_program(exported, **names))


API = {
    "ingot": Api("ingot", ingot, "to_ingot", composite_ops, externalize, runtime.NDArray, asset.Asset, runtime.Model),
    "compat": Api(
        "compat",
        coreai_torch,
        "to_coreai",
        coreai_torch.composite_ops,
        coreai_torch.externalize,
        coreai.runtime.NDArray,
        coreai.authoring.AIModelAsset,
        coreai.runtime.AIModel,
    ),
}

both = pytest.mark.parametrize("api", API.values(), ids=list(API))


class Holder(torch.nn.Module):
    """A model of a function, with tensors as its buffers and modules as its parts."""

    def __init__(self, run: Callable[..., Any], **members: Any) -> None:
        super().__init__()
        self.run = run
        for name, member in members.items():
            if isinstance(member, torch.nn.Module):
                self.add_module(name, member)
            elif isinstance(member, torch.nn.Parameter):
                self.register_parameter(name, member)
            else:
                self.register_buffer(name, member)

    def forward(self, x: torch.Tensor, *rest: torch.Tensor) -> Any:
        return self.run(self, x, *rest)


def export(model: torch.nn.Module, *args: Any, decompose: bool = False, **options: Any) -> ExportedProgram:
    """Decomposing takes most of the time, and both forms are the same to the converter; tests of states have both."""
    with torch.no_grad(), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        exported = torch.export.export(model.eval(), args, **options)
        return exported.run_decompositions(ingot.get_decomp_table()) if decompose else exported


class Opened:
    """A program that was saved, loaded and opened; its functions take and give arrays by name."""

    def __init__(self, api: Api, program: ingot.Program, optimize: bool = False) -> None:
        folder = tempfile.mkdtemp()
        weakref.finalize(self, shutil.rmtree, folder, ignore_errors=True)
        if optimize:
            program.optimize()
        self.path = Path(folder) / "model.aimodel"
        program.save_asset(self.path)
        self.api = api
        self.model = asyncio.run(api.model.load(self.path))

    def function(self, name: str = "main") -> runtime.InferenceFunction:
        return self.model.load_function(name)

    def __call__(
        self, inputs: Mapping[str, Any], state: Mapping[str, Any] | None = None, function: str = "main"
    ) -> dict[str, torch.Tensor]:
        async def call() -> dict[str, Any]:
            given = {name: self.api.array(value) for name, value in inputs.items()}
            states = {name: self.api.array(value) for name, value in (state or {}).items()}
            return await self.function(function)(inputs=given, state=states)

        return {name: array.torch().clone() for name, array in asyncio.run(call()).items()}

    def files(self) -> dict[str, bytes]:
        return {str(path.relative_to(self.path)): path.read_bytes() for path in self.path.rglob("*") if path.is_file()}


def run(api: Api, program: ingot.Program, *inputs: Any, function: str = "main", **state: Any) -> list[torch.Tensor]:
    """Saves, loads, opens and calls; inputs by the order of their names."""
    opened = Opened(api, program)
    names = opened.function(function).desc.input_names
    return list(opened(dict(zip(names, inputs, strict=True)), state, function).values())


def close(actual: Any, expected: Any, tolerance: float = F32_TOLERANCE) -> None:
    """Equal to `tolerance` of the largest value, of the same type and shape."""
    actual, expected = torch.as_tensor(np.asarray(actual) if not torch.is_tensor(actual) else actual), expected.detach()
    assert (actual.dtype, actual.shape) == (expected.dtype, expected.shape)
    scale = max(expected.double().abs().max().item(), 1e-6) if expected.numel() else 1.0
    torch.testing.assert_close(actual.double(), expected.double(), rtol=0, atol=tolerance * scale, equal_nan=True)
