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


def test_importing_defines_the_compression_ops(tmp_path: Path) -> None:
    code = "import ingot.compat, coreai_torch, torch; print(torch.ops.coreai.quantize.default)"
    done = run_python("-c", code, cwd=tmp_path)
    assert done.stdout.strip() == "coreai.quantize.default", done.stderr


def test_the_runtime_does_not_need_torch(tmp_path: Path) -> None:
    code = "import ingot.compat, coreai.runtime, sys; print(coreai.runtime.NDArray([1]), 'torch' in sys.modules)"
    done = run_python("-c", code, cwd=tmp_path)
    assert done.stdout.strip() == "NDArray(shape=[1], dtype=int32) False", done.stderr


def test_submodules_are_attributes(tmp_path: Path) -> None:
    code = "import ingot.compat, coreai; print(coreai._compiler.ir.F32Type.get(), coreai.dialects.coreai.add.__name__)"
    done = run_python("-c", code, cwd=tmp_path)
    assert done.stdout.strip() == "f32 add", done.stderr


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


# Names of coreai._compiler.ir


def test_types() -> None:
    from coreai._compiler import ir

    given = ir.RankedTensorType.get([2, None, ir.ShapedType.get_dynamic_size()], ir.F32Type.get())
    assert str(given) == "tensor<2x?x?xf32>"
    assert isinstance(given, ir.RankedTensorType) and isinstance(given, ir.Type)
    assert isinstance(given.element_type, ir.F32Type) and not isinstance(given.element_type, ir.F16Type)
    assert ir.RankedTensorType(given) is given
    with pytest.raises(ValueError, match="RankedTensorType"):
        ir.RankedTensorType(given.element_type)
    assert ir.Type.parse("tensor<4xui8>") == ir.RankedTensorType.get([4], ir.IntegerType.get_unsigned(8))
    assert ir.IntegerType.get_signless(1).name == "bool" and ir.IntegerType.get_signed(32).name == "int32"
    assert ir.ComplexType.get(ir.F32Type.get()).name == "complex64"
    with ir.Context(), ir.Location.unknown():
        assert str(ir.Location.file("m.py", 3)) == "loc(m.py:3:0)"


OPS = """
graph output invoke constant if while condition yield create_token read_handle write_handle
cast reshape get_shape transpose expand_dims shrink_dims broadcast_to broadcast_in_dims broadcast_shapes slice
slice_update concat split tile reverse pad range reduce_sum reduce_mean reduce_max reduce_min reduce_product any
argmax scan sort argsort non_zero gather_nd gather_along_axis scatter_nd scatter_along_axis
abs exp log sqrt rsqrt erf round not sin cos tan asin acos atan sinh cosh tanh asinh acosh atanh sigmoid relu silu
gelu softmax conv2d conv3d conv_transpose2d max_pool_2d sum_pool_2d sum_pool_3d interpolate
create_complex real_part imaginary_part lut_to_dense blockwise_shift_scale quantize dequantize
build_sparse_with_bitmask sparse_with_bitmask_to_dense metal4_kernel sumpool2d sumpool3d maxpool2d not_ and_ or_
"""
BINARY = """
add sub mul divide floor_divide modulo pow maximum minimum equal not_equal greater and or xor
bitwise_and bitwise_or bitwise_xor where batch_matmul
"""


@pytest.mark.parametrize("dialect", ["coreai.dialects.coreai", "coreai._compiler.dialects.coreai"])
def test_every_op_of_the_original_has_a_builder(dialect: str) -> None:
    module = importlib.import_module(dialect)
    binary = BINARY.split()
    wanted = [*OPS.split(), *binary, *(f"broadcasting_{name}" for name in binary)]
    assert [name for name in wanted if not hasattr(module, name)] == []
    assert all(getattr(module, name).__doc__ for name in wanted)
