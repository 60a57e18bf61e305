"""Code written for coreai_torch and coreai finds its names."""

from __future__ import annotations

import importlib
import subprocess
import sys
from pathlib import Path
from typing import Any

import ingot.compat
import pytest
from ingot.compat._install import AliasModule
from ingot.compat._table import MODULES
from ingot.errors import UnsupportedError


def run_python(*arguments: str, cwd: Path, **env: str) -> subprocess.CompletedProcess[str]:
    import os

    return subprocess.run(
        [sys.executable, *arguments], cwd=cwd, env=os.environ | env, capture_output=True, text=True, timeout=120
    )


@pytest.mark.parametrize("name", list(MODULES))
def test_modules_are_importable(name: str) -> None:
    module = importlib.import_module(name)
    assert isinstance(module, AliasModule) and module.__name__ == name
    parent, _, child = name.rpartition(".")
    if parent:
        assert getattr(importlib.import_module(parent), child) is module


def places() -> list[tuple[str, str, str]]:
    return [(module, name, place) for module, names in MODULES.items() for name, place in names.places.items()]


@pytest.mark.parametrize(("module", "name", "place"), places())
def test_names_are_ours(module: str, name: str, place: str) -> None:
    home, _, attribute = place.partition(":")
    assert getattr(importlib.import_module(module), name) is getattr(importlib.import_module(home), attribute)


@pytest.mark.parametrize("module", [module for names in MODULES.values() for module in names.modules])
def test_whole_modules_are_there(module: str) -> None:
    importlib.import_module(module)


def test_runtime_names() -> None:
    from coreai.authoring import AIModelAsset, AIProgram
    from coreai.runtime import (
        AIModel,
        CompileIdentifiers,
        ComputeUnitKind,
        InferenceFunction,
        IntermediateLogger,
        NDArray,
        Profiler,
        SpecializationOptions,
        StorageKind,
    )

    assert AIModel is ingot.runtime.Model and AIProgram is ingot.Program
    assert AIModelAsset is ingot.asset.Asset
    assert SpecializationOptions.from_preferred_compute_unit_kind(ComputeUnitKind.gpu())
    assert NDArray([1.0], backing=StorageKind.BYTES).shape == (1,)
    assert CompileIdentifiers and InferenceFunction and IntermediateLogger and Profiler


def test_compression_names() -> None:
    import torch
    from coreai_torch import _compression

    module = _compression.PalettizeModule(torch.zeros(2, 2, dtype=torch.uint8), torch.ones(1, 1, 2, 1))
    assert module().tolist() == [[1, 1], [1, 1]]


def test_unknown_names_say_so() -> None:
    import coreai_torch

    with pytest.raises(AttributeError, match=r"coreai_torch\.nothing of the original is not in ingot\.compat yet"):
        _ = coreai_torch.nothing
    assert not hasattr(coreai_torch, "nothing")
    with pytest.raises(ImportError, match="nothing"):
        from coreai_torch import nothing  # noqa: F401
    with pytest.raises(ModuleNotFoundError):
        importlib.import_module("coreai_torch.nothing")


def test_what_is_not_there_yet_can_be_imported_only() -> None:
    from coreai_torch.debugging.comparator import Comparator, create_comparator_for_programs

    with pytest.raises(UnsupportedError, match="create_comparator_for_programs is not available"):
        create_comparator_for_programs(1, target_entry_point="main")
    with pytest.raises(NotImplementedError, match=r"Comparator\.Status"):
        _ = Comparator.Status

    def annotated(_: Comparator) -> Any: ...


def test_installing_twice_changes_nothing() -> None:
    import coreai_torch

    ingot.compat.install()
    assert sys.modules["coreai_torch"] is coreai_torch


def test_star_imports() -> None:
    import coreai.runtime

    assert {"AIModel", "NDArray"} <= set(coreai.runtime.__all__) <= set(dir(coreai.runtime))


def test_scripts(tmp_path: Path) -> None:
    (tmp_path / "beside.py").write_text("VALUE = 3\n")
    (tmp_path / "script.py").write_text(
        "import sys\n"
        "from coreai.runtime import NDArray\n"
        "import beside\n"
        "if __name__ == '__main__':\n"
        "    print(sys.argv, NDArray([1, 2]).shape, beside.VALUE)\n"
    )
    done = run_python("-m", "ingot.compat", str(tmp_path / "script.py"), "a", "b", cwd=Path("/"))
    assert done.stdout.strip() == f"['{tmp_path}/script.py', 'a', 'b'] (2,) 3", done.stderr
    done = run_python("-m", "ingot.compat", "-m", "script", "c", cwd=tmp_path)
    assert "'c'] (2,) 3" in done.stdout, done.stderr
    assert run_python("-m", "ingot.compat", cwd=tmp_path).returncode == 2


def test_the_originals_are_left_alone(tmp_path: Path) -> None:
    (tmp_path / "coreai_torch.py").write_text("ORIGINAL = True\n")
    code = "import ingot.compat, coreai_torch, coreai; print(getattr(coreai_torch, 'ORIGINAL', False))"
    done = run_python("-c", code, cwd=tmp_path)
    assert done.stdout.strip() == "True" and "coreai_torch is installed and stays in use" in done.stderr
    done = run_python("-c", code, cwd=tmp_path, INGOT_COMPAT_SHADOW="1")
    assert done.stdout.strip() == "False" and "stays in use" not in done.stderr
