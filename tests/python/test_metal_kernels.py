"""Kernels in Metal: their source is in the program, and their reference is what runs."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import ingot
import pytest
import torch
from ingot.kernels import MetalParameter, TorchMetalKernel
from torch import Tensor

GRID = MetalParameter("gid", "uint2", "thread_position_in_grid")
ONE = (1, 1, 1)


def scale_ref(x: Tensor, by: float) -> Tensor:
    return x * by


scale = TorchMetalKernel(
    "metal_scale",
    ["x", "by"],
    ["y"],
    "    T value = x[gid.x, gid.y];\n    y[gid.x, gid.y] = value * by;",
    scale_ref,
    metal_params=[GRID],
    helper_src="T twice(T x) { return x + x; }",
    template_dtypes={"x": "T"},
)


def call_scale(x: Tensor, by: float) -> Any:
    return scale(x, by, threads_per_grid=(*x.shape, 1), threads_per_thread_group=ONE, result_shapes=[x.shape])


def function(forward: Any) -> torch.nn.Module:
    class Model(torch.nn.Module):
        def forward(self, *args: Any) -> Any:
            return forward(*args)

    return Model()


def converted(
    model: torch.nn.Module, args: tuple[Any, ...], kernels: Sequence[TorchMetalKernel], shapes: Any = None
) -> ingot.Program:
    exported = torch.export.export(model, args, dynamic_shapes=None if shapes is None else (shapes,))
    targets = [str(node.target) for node in exported.graph.nodes]
    program = ingot.TorchConverter().register_custom_kernels(kernels).add_exported_program(exported).to_ingot()
    assert [str(node.target) for node in exported.graph.nodes] == targets  # the caller's program is as it was
    return program


def check(model: torch.nn.Module, args: tuple[Any, ...], *kernels: TorchMetalKernel) -> ingot.Program:
    program = converted(model, args, kernels)
    torch.testing.assert_close(program(*args), model(*args))
    return program


def test_runs_by_its_reference_and_keeps_its_source() -> None:
    program = check(function(lambda x: call_scale(x, 2.0)), (torch.randn(3, 4),), scale)
    text = str(program)
    assert "ingot.metal_kernel" in text
    assert "tensor<device const float, dextents<int32_t, 2>> x [[buffer(0)]]" in text
    assert "tensor<device const float, dextents<int32_t, 0>> by [[buffer(1)]]" in text
    assert "tensor<device float, dextents<int32_t, 2>> y [[buffer(2)]]" in text
    assert "uint2 gid [[thread_position_in_grid]]" in text
    assert "const float by = 2.0f;" in text
    assert "float twice(float x)" in text and "float value = x[gid.x, gid.y];" in text


def test_the_operator() -> None:
    exported = torch.export.export(function(lambda x: call_scale(x, 2.0)), (torch.randn(3, 4),))
    (node,) = [node for node in exported.graph.nodes if "metal_scale" in str(node.target)]
    assert node.target._schema.name == "coreai_metal_kernels::metal_scale"
    appended = [argument.meta["val"] for argument in node.args[2:]]
    assert [value.dtype for value in appended] == [torch.uint32] * 3
    assert [list(value.shape) for value in appended] == [[3], [3], [2]]


def test_two_call_sites_with_different_scalars() -> None:
    model = function(lambda x: call_scale(x, 2.0) + call_scale(x, 3.0) * call_scale(x + 1, 2.0))
    program = check(model, (torch.randn(3, 4),), scale)
    text = str(program)
    assert text.count("func.func private") == 2  # equal calls share one
    assert "by = 2.0f" in text and "by = 3.0f" in text


def test_template_types() -> None:
    model = function(lambda x: call_scale(x, 2.0) + call_scale(x.half(), 2.0).float())
    text = str(check(model, (torch.randn(3, 4),), scale))
    assert "half value = x[gid.x, gid.y];" in text and "float value" in text


def test_many_results_and_numbers() -> None:
    def ref(x: Tensor, count: int, flag: bool) -> tuple[Tensor, Tensor]:
        return x[:count] if flag else -x[:count], x.sum()

    kernel = TorchMetalKernel("metal_two", ["x", "count", "flag"], ["a", "b"], "a[0] = count;", ref)

    def call(x: Tensor) -> Any:
        a, b = kernel(x, 2, True, threads_per_grid=(4, 1, 1), threads_per_thread_group=ONE, result_shapes=[(2,), ()])
        return a, b + 1

    text = str(check(function(call), (torch.randn(4),), kernel))
    assert "const int count = 2;" in text and "const bool flag = true;" in text
    assert "tensor<device float, dextents<int32_t, 0>> b [[buffer(4)]]" in text


def test_the_same_tensor_twice() -> None:
    def ref(a: Tensor, b: Tensor) -> Tensor:
        return a - 2 * b

    kernel = TorchMetalKernel("metal_sub", ["a", "b"], ["y"], "", ref)

    def call(x: Tensor, y: Tensor) -> Any:
        options: dict[str, Any] = {"threads_per_grid": ONE, "threads_per_thread_group": ONE, "result_shapes": [(3,)]}
        return kernel(x, x, **options) + kernel(y, x, **options)

    check(function(call), (torch.randn(3), torch.randn(3)), kernel)


def test_dynamic_shapes() -> None:
    model = function(lambda x: call_scale(x, 2.0) + 1)
    rows = torch.export.Dim("rows", min=2, max=50)
    program = converted(model, (torch.randn(3, 4),), [scale], ({0: rows},))
    for count in (2, 7, 50):
        x = torch.randn(count, 4)
        torch.testing.assert_close(program(x), model(x))


def test_a_number_that_is_a_size() -> None:
    def ref(x: Tensor, rows: int) -> Tensor:
        return x / rows

    kernel = TorchMetalKernel("metal_mean", ["x", "rows"], ["y"], "", ref)

    def call(x: Tensor) -> Any:
        rows = x.shape[0]
        return kernel(x, rows, threads_per_grid=ONE, threads_per_thread_group=ONE, result_shapes=[(rows, 4)])

    rows = torch.export.Dim("rows", min=2, max=50)
    program = converted(function(call), (torch.randn(3, 4),), [kernel], ({0: rows},))
    for count in (2, 7, 50):
        x = torch.randn(count, 4)
        torch.testing.assert_close(program(x), x / count)


def test_in_a_branch_and_a_loop() -> None:
    def branch(x: Tensor) -> Tensor:
        return torch.cond(x.sum() > 0, lambda x: call_scale(x, 2.0), lambda x: call_scale(x, -1.0) + 1, (x,))

    program = check(function(branch), (torch.ones(2, 2),), scale)
    torch.testing.assert_close(program(-torch.ones(2, 2)), torch.full((2, 2), 2.0))

    def loop(x: Tensor) -> Tensor:
        def body(count: Tensor, x: Tensor) -> tuple[Tensor, Tensor]:
            return count + 1, call_scale(x, 2.0)

        return torch._higher_order_ops.while_loop(lambda count, x: count < 3, body, (torch.zeros((), dtype=int), x))[1]

    check(function(loop), (torch.randn(2, 2),), scale)


def test_in_an_externalized_module_and_decomposed() -> None:
    class Block(torch.nn.Module):
        def forward(self, x: Tensor) -> Tensor:
            return call_scale(x, 2.0) + 1

    class Model(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.block = Block()

        def forward(self, x: Tensor) -> Tensor:
            return self.block(x) * 2

    x = torch.randn(3, 4)
    converter = ingot.TorchConverter().register_custom_kernels([scale])
    converter.add_pytorch_module(
        Model(),
        export_fn=lambda model: torch.export.export(model, (x,)).run_decompositions(ingot.get_decomp_table()),
        externalize_modules=[Block],
    )
    program = converter.to_ingot()
    torch.testing.assert_close(program(x), Model()(x))
    assert "ingot.metal_kernel" in str(program)


def test_a_reference_with_constants_and_another_kernel() -> None:
    table = torch.randn(4)

    def ref(x: Tensor) -> Tensor:
        return call_scale(x, 3.0) + table

    kernel = TorchMetalKernel("metal_outer", ["x"], ["y"], "", ref)

    def call(x: Tensor) -> Any:
        return kernel(x, threads_per_grid=ONE, threads_per_thread_group=ONE, result_shapes=[x.shape])

    x = torch.randn(3, 4)
    program = converted(function(call), (x,), [kernel, scale])
    torch.testing.assert_close(program(x), x * 3 + table)
    assert str(program).count("ingot.metal_kernel") == 2


def test_saved_and_loaded_without_torch(tmp_path: Path) -> None:
    path = tmp_path / "m.ingot"
    converted(function(lambda x: call_scale(x, 2.0)), (torch.randn(2, 3),), [scale]).save_asset(path)
    code = """
import sys
sys.modules["torch"] = None  # importing it fails
import ingot, numpy
print(ingot.load(sys.argv[1])(numpy.ones((2, 3), numpy.float32)).tolist())
"""
    done = subprocess.run([sys.executable, "-c", code, str(path)], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert eval(done.stdout) == [[2, 2, 2], [2, 2, 2]]


# Errors.


@pytest.mark.parametrize(
    "changes",
    [
        {"threads_per_grid": (1, 1)},
        {"threads_per_grid": 4},
        {"threads_per_thread_group": (1, 1, 1, 1)},
        {"result_shapes": []},
        {"result_shapes": [(3, 4), (3, 4)]},
    ],
)
def test_call_errors(changes: dict[str, Any]) -> None:
    good: dict[str, Any] = {"threads_per_grid": ONE, "threads_per_thread_group": ONE, "result_shapes": [(3, 4)]}
    x = torch.randn(3, 4)
    torch.testing.assert_close(scale(x, 2.0, **good), x * 2)
    with pytest.raises(ValueError):
        scale(x, 2.0, **{**good, **changes})


def test_types_without_a_spelling() -> None:
    with pytest.raises(TypeError, match="float64"):
        converted(function(lambda x: call_scale(x, 2.0)), (torch.randn(3, 4).double(),), [scale])


@pytest.mark.parametrize(
    ("kind", "value", "is_right"),
    [
        (int, 2**31 - 1, True),
        (int, -(2**31), True),
        (int, 2**31, False),
        (int, -(2**31) - 1, False),
        (float, 1e30, True),
        (float, float("inf"), False),
        (float, float("nan"), False),
    ],
)
def test_numbers_that_metal_cannot_hold(kind: type, value: Any, is_right: bool) -> None:
    def ref(x, value):  # type: ignore[no-untyped-def]
        return x + value

    ref.__annotations__ = {"x": Tensor, "value": kind, "return": Tensor}
    kernel = TorchMetalKernel("metal_number", ["x", "value"], ["y"], "", ref)

    def call(x: Tensor) -> Any:
        return kernel(x, value, threads_per_grid=ONE, threads_per_thread_group=ONE, result_shapes=[x.shape])

    if is_right:
        check(function(call), (torch.randn(3),), kernel)
        return
    with pytest.raises(ValueError, match="value"):
        converted(function(call), (torch.randn(3),), [kernel])


def test_too_many_parameters() -> None:
    def ref(x: Tensor) -> Tensor:
        return x + 1

    def build(count: int) -> TorchMetalKernel:
        params = [MetalParameter(f"p{i}", "uint", "thread_index_in_threadgroup") for i in range(count)]
        return TorchMetalKernel("metal_many", ["x"], ["y"], "", ref, metal_params=params)

    def convert(kernel: TorchMetalKernel) -> None:
        options: dict[str, Any] = {"threads_per_grid": ONE, "threads_per_thread_group": ONE, "result_shapes": [(3,)]}
        converted(function(lambda x: kernel(x, **options)), (torch.randn(3),), [kernel])

    convert(build(29))
    with pytest.raises(ValueError, match="31"):
        convert(build(30))


def test_result_shapes_are_those_of_the_reference() -> None:
    def call(shape: Any) -> Any:
        return lambda x: scale(x, 2.0, threads_per_grid=ONE, threads_per_thread_group=ONE, result_shapes=[shape(x)])

    x = torch.randn(3, 4)
    rows = torch.export.Dim("rows", min=2, max=50)
    converted(function(call(lambda x: (x.shape[0], 4))), (x,), [scale], ({0: rows},))
    for wrong in (lambda x: (3, 5), lambda x: (12,)):
        with pytest.raises(ValueError, match="torch_defn gives"):
            converted(function(call(wrong)), (x,), [scale])
    for wrong in (lambda x: (3, 4), lambda x: (x.shape[0] + 1, 4)):
        with pytest.raises(ValueError, match="torch_defn gives"):
            converted(function(call(wrong)), (x,), [scale], ({0: rows},))


def test_registered_twice() -> None:
    converter = ingot.TorchConverter().register_custom_kernels([scale])
    with pytest.raises(ValueError, match="already registered"):
        converter.register_custom_kernels([scale])


def test_compat() -> None:
    import ingot.compat  # noqa: F401
    from coreai_torch import MetalParameter as Parameter  # type: ignore[import-not-found]
    from coreai_torch import TorchMetalKernel as Original

    assert Original is TorchMetalKernel and Parameter is MetalParameter
