"""Kernels in C++: they compute what their reference does, compiled into the program."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import ingot
import pytest
import torch
from ingot.kernels import Kernel, TorchKernel, TorchMetalKernel
from torch import Tensor

SCALE = "for (int64_t i = 0; i < x_numel; ++i) y[i] = static_cast<T>(x[i] * static_cast<T>(by));"


def scale_ref(x: Tensor, by: float) -> Tensor:
    return x * by


scale = TorchKernel("scale", ["x", "by"], ["y"], SCALE, scale_ref, template_dtypes={"x": "T"})


def split_ref(x: Tensor, at: int) -> tuple[Tensor, Tensor]:
    return x[:, :at], x[:, at:].to(torch.float64)


split = TorchKernel(
    "split",
    ["x", "at"],
    ["left", "right"],
    """
    for (int64_t row = 0; row < x_sizes[0]; ++row)
      for (int64_t column = 0; column < x_sizes[1]; ++column) {
        float value = x[row * x_sizes[1] + column];
        if (column < at)
          left[row * left_strides[0] + column] = value;
        else
          right[row * right_sizes[1] + column - at] = value;
      }
    """,
    split_ref,
)


def function(forward: Any) -> torch.nn.Module:
    class Model(torch.nn.Module):
        def forward(self, *args: Any) -> Any:
            return forward(*args)

    return Model()


def converted(
    model: torch.nn.Module, args: tuple[Any, ...], kernels: Sequence[Kernel], shapes: Any = None
) -> ingot.Program:
    exported = torch.export.export(model, args, dynamic_shapes=None if shapes is None else (shapes,))
    return ingot.TorchConverter().register_custom_kernels(kernels).add_exported_program(exported).to_ingot()


def check(model: torch.nn.Module, args: tuple[Any, ...], *kernels: Kernel, shapes: Any = None) -> ingot.Program:
    program = converted(model, args, kernels, shapes)
    torch.testing.assert_close(program(*args), model(*args))
    return program


def test_scalars_and_two_call_sites() -> None:
    program = check(function(lambda x: scale(x, 2.0) + scale(x + 1, -0.5)), (torch.randn(3, 4),), scale)
    assert str(program).count("ingot.custom") == 2


def test_template_types() -> None:
    def twice(x: Tensor) -> Tensor:
        return x + x

    source = "for (int64_t i = 0; i < x_numel; ++i) y[i] = x[i] + x[i];"
    kernel = TorchKernel("twice", ["x"], ["y"], source, twice, template_dtypes={"x": "T"})
    types = [torch.float64, torch.float16, torch.bfloat16, torch.int32, torch.int64, torch.uint8, torch.complex64]
    inputs = tuple(torch.arange(12).reshape(3, 4).to(dtype) for dtype in types)
    check(function(lambda *inputs: tuple(map(kernel, inputs))), inputs, kernel)


def test_one_kernel_with_two_types() -> None:
    check(function(lambda x: scale(x, 2.0) + scale(x.double(), 3.0).float()), (torch.randn(5),), scale)


def test_many_results() -> None:
    program = check(function(lambda x: split(x, 3)), (torch.randn(4, 7),), split)
    assert program(torch.zeros(4, 7))[1].dtype == torch.float64


def test_list_and_one_tuple() -> None:
    def parts(x: Tensor) -> list[Tensor]:
        return [x, -x]

    def single(x: Tensor) -> tuple[Tensor]:
        return (-x,)

    two = TorchKernel("parts", ["x"], ["a", "b"], "for (int i = 0; i < x_numel; ++i) a[i] = x[i], b[i] = -x[i];", parts)
    one = TorchKernel("single", ["x"], ["a"], "for (int i = 0; i < x_numel; ++i) a[i] = -x[i];", single)
    x = torch.randn(3)
    assert isinstance(two(x), list) and isinstance(one(x), tuple)
    check(function(lambda x: two(x)[0] + two(x)[1] * one(x)[0]), (x,), two, one)


def test_booleans_and_integers() -> None:
    def pick(x: Tensor, index: int, negate: bool) -> Tensor:
        return -x[index] if negate else x[index].clone()

    source = "*y = negate ? -x[index] : x[index];"
    kernel = TorchKernel("pick", ["x", "index", "negate"], ["y"], source, pick)
    check(function(lambda x: kernel(x, 2, True) + kernel(x, 1, False)), (torch.randn(4),), kernel)


def test_dynamic_shapes() -> None:
    def interleave(a: Tensor, b: Tensor) -> Tensor:
        return torch.stack([a, b], 1).reshape(-1)

    source = "for (int64_t i = 0; i < a_numel; ++i) y[2 * i] = a[i], y[2 * i + 1] = b[i];"
    kernel = TorchKernel("interleave", ["a", "b"], ["y"], source, interleave)
    size = torch.export.Dim("size", min=2, max=100)
    model = function(lambda a, b: kernel(a, b * 2) + 1)
    program = converted(model, (torch.randn(5), torch.randn(5)), [kernel], ({0: size}, {0: size}))
    for count in (2, 9, 64):
        a, b = torch.randn(count), torch.randn(count)
        torch.testing.assert_close(program(a, b), model(a, b))


def test_a_number_that_is_a_size() -> None:
    def head(x: Tensor, count: int) -> Tensor:
        return x[torch.arange(count)]

    kernel = TorchKernel("head", ["x", "count"], ["y"], "for (int64_t i = 0; i < count; ++i) y[i] = x[i];", head)
    size = torch.export.Dim("size", min=4, max=100)
    model = function(lambda x: kernel(x, x.shape[0] // 2))
    program = converted(model, (torch.randn(8),), [kernel], ({0: size},))
    for count in (4, 7, 31):
        x = torch.randn(count)
        torch.testing.assert_close(program(x), model(x))


def test_sizes_that_are_computed() -> None:
    def window(x: Tensor, step: int) -> Tensor:
        rows = (x.shape[0] - 1) // step
        return x[torch.arange(rows)[:, None] * step + torch.arange(step)].sum(1)

    source = """
    for (int64_t i = 0; i < y_sizes[0]; ++i) {
      y[i] = 0;
      for (int64_t j = 0; j < step; ++j)
        y[i] += x[i * step + j];
    }
    """
    kernel = TorchKernel("window", ["x", "step"], ["y"], source, window)
    size = torch.export.Dim("size", min=8, max=100)
    model = function(lambda x: kernel(x, 3))
    program = converted(model, (torch.randn(20),), [kernel], ({0: size},))
    for count in (8, 9, 10, 50):
        x = torch.randn(count)
        torch.testing.assert_close(program(x), model(x))


def test_row_major_unless_strided() -> None:
    x = torch.randn(3, 5, 4)
    check(
        function(lambda x: scale(x.permute(2, 0, 1), 2.0) + scale(x[:1].expand(3, 5, 4), 0.5).permute(2, 0, 1)),
        (x,),
        scale,
    )

    def transposed(x: Tensor) -> Tensor:
        return x.t().contiguous()

    source = """
    static_assert(x_rank == 2);
    for (int64_t i = 0; i < y_sizes[0]; ++i)
      for (int64_t j = 0; j < y_sizes[1]; ++j)
        y[i * y_strides[0] + j * y_strides[1]] = x[j * x_strides[0] + i * x_strides[1]];
    """
    kernel = TorchKernel("transposed", ["x"], ["y"], source, transposed, strided=True)
    check(
        function(lambda x: kernel(x) + kernel(x[:, :2].repeat(1, 2)) + kernel(x[1].expand(4, 4))),
        (x[0, :4, :4],),
        kernel,
    )
    check(function(lambda x: kernel(x.t())), (torch.randn(3, 4),), kernel)


def test_helpers_with_includes() -> None:
    def largest(x: Tensor) -> Tensor:
        return x.max()

    helper = """
    #include <algorithm>
    #include <vector>
    template <typename T> T best(std::vector<T> list) { return *std::max_element(list.begin(), list.end()); }
    """
    source = "*y = best(std::vector<float>(x, x + x_numel));"
    kernel = TorchKernel("largest", ["x"], ["y"], source, largest, helper_src=helper)
    # Two ranks, two translation units with the same helpers.
    check(function(lambda x: kernel(x) + kernel(x[0])), (torch.randn(4, 3),), kernel)


def test_without_inputs_and_without_elements() -> None:
    def ramp() -> Tensor:
        return torch.arange(5.0)

    kernel = TorchKernel("ramp", [], ["y"], "for (int i = 0; i < 5; ++i) y[i] = i;", ramp)
    check(function(lambda x: kernel() + x), (torch.randn(5),), kernel)
    check(function(lambda x: scale(x, 2.0)), (torch.randn(0, 3),), scale)


def test_in_a_branch_and_a_loop() -> None:
    def branch(x: Tensor) -> Tensor:
        return torch.cond(x.sum() > 0, lambda x: scale(x, 2.0), lambda x: scale(x, -1.0) + 1, (x,))

    program = check(function(branch), (torch.ones(4),), scale)
    torch.testing.assert_close(program(-torch.ones(4)), torch.full((4,), 2.0))

    def loop(x: Tensor) -> Tensor:
        def body(count: Tensor, x: Tensor) -> tuple[Tensor, Tensor]:
            return count + 1, scale(x, 2.0)

        return torch._higher_order_ops.while_loop(lambda count, x: count < 3, body, (torch.zeros((), dtype=int), x))[1]

    check(function(loop), (torch.randn(4),), scale)


def test_with_state() -> None:
    class Counter(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.register_buffer("total", torch.zeros(3))

        def forward(self, x: Tensor) -> Tensor:
            self.total.add_(scale(x, 2.0))
            return self.total * 1

    program = converted(Counter(), (torch.ones(3),), [scale])
    session = program.session()
    session(torch.ones(3))
    torch.testing.assert_close(session(torch.ones(3)), torch.full((3,), 4.0))


def test_a_state_that_a_kernel_reads_and_gives() -> None:
    def ref(x: Tensor) -> Tensor:
        return x.flip(0)

    # Wrong if the result were written over the input.
    source = "for (int64_t i = 0; i < x_numel; ++i) y[i] = x[x_numel - 1 - i];"
    reverse = TorchKernel("reverse", ["x"], ["y"], source, ref)

    class Turning(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.register_buffer("order", torch.arange(6.0))

        def forward(self, x: Tensor) -> Tensor:
            self.order.copy_(reverse(self.order))
            return self.order + x

    session = converted(Turning(), (torch.zeros(6),), [reverse]).session()
    torch.testing.assert_close(session(torch.zeros(6)), torch.arange(6.0).flip(0))
    torch.testing.assert_close(session(torch.zeros(6)), torch.arange(6.0))


def test_strict_and_decomposed_exports() -> None:
    x = torch.randn(3, 4)
    model = function(lambda x: scale(x, 2.0) + 1)
    exported = torch.export.export(model, (x,), strict=True)
    for program in (exported, exported.run_decompositions(ingot.get_decomp_table())):
        converter = ingot.TorchConverter().register_custom_kernels([scale]).add_exported_program(program)
        torch.testing.assert_close(converter.to_ingot()(x), x * 2 + 1)


def test_of_constants() -> None:
    class Weighted(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.weight = torch.nn.Parameter(torch.randn(4))

        def forward(self, x: Tensor) -> Tensor:
            return x + scale(self.weight, 3.0)

    check(Weighted().eval().requires_grad_(False), (torch.randn(4),), scale)


def test_several_threads() -> None:
    program = converted(function(lambda x: scale(x, 2.0)), (torch.randn(1000),), [scale])
    inputs = [torch.randn(1000) for _ in range(8)]
    results: list[Any] = [None] * len(inputs)

    def run(index: int) -> None:
        for _ in range(50):
            results[index] = program(inputs[index])

    threads = [threading.Thread(target=run, args=(index,)) for index in range(len(inputs))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for x, y in zip(inputs, results, strict=True):
        torch.testing.assert_close(y, x * 2)


# Saved programs.

LOAD = """
import sys
sys.modules["torch"] = None  # importing it fails
import ingot, numpy
print(ingot.load(sys.argv[1])(numpy.arange(6, dtype=numpy.float32).reshape(2, 3)).tolist())
"""


def load(path: Path, **environment: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-c", LOAD, str(path)]
    return subprocess.run(command, capture_output=True, text=True, check=False, env={**os.environ, **environment})


def test_saved_and_loaded_without_torch(tmp_path: Path) -> None:
    def branch(x: Tensor) -> Tensor:
        return torch.cond(x.sum() > 0, lambda x: scale(x, 2.0), lambda x: -x, (x,))

    path = tmp_path / "m.ingot"
    converted(function(branch), (torch.randn(2, 3),), [scale]).save_asset(path)
    done = load(path)
    assert done.returncode == 0, done.stderr
    assert eval(done.stdout) == [[0, 2, 4], [6, 8, 10]]
    # The first process has compiled it; the second one needs no compiler.
    done = load(path, INGOT_CLANG="/nowhere/clang++")
    assert done.returncode == 0, done.stderr


def test_without_a_compiler(tmp_path: Path) -> None:
    path = tmp_path / "m.ingot"
    converted(function(lambda x: scale(x, 2.0)), (torch.randn(2, 3),), [scale]).save_asset(path)
    done = load(path, INGOT_CLANG="/nowhere/clang++")
    assert done.returncode != 0
    assert "INGOT_CLANG names '/nowhere/clang++'" in done.stderr
    done = load(path, PATH="/nowhere", INGOT_CLANG="")
    assert done.returncode != 0
    assert "custom kernel in C++ ('scale')" in done.stderr
    assert "apt install clang-19" in done.stderr


# What goes wrong in the source.


def negate_ref(x: Tensor) -> Tensor:
    return -x


def test_errors_of_the_source_have_its_lines() -> None:
    kernel = TorchKernel("wrong", ["x"], ["y"], "int64_t n = x_numel;\ny[0] = undefined_name;", negate_ref)
    program = converted(function(kernel), (torch.randn(3),), [kernel])
    with pytest.raises(
        ingot.UsageError, match=r"(?s)kernel 'wrong' does not compile.*wrong.src:2:8: error.*undefined_name"
    ):
        program(torch.randn(3))
    helped = TorchKernel("wrong2", ["x"], ["y"], "y[0] = 1;", negate_ref, helper_src="#include <cmath>\n\nint f( {}")
    with pytest.raises(ingot.UsageError, match=r"wrong2.helper_src:3:"):
        converted(function(helped), (torch.randn(3),), [helped])(torch.randn(3))


def test_what_is_missing_at_link_time() -> None:
    helper = 'extern "C" void somewhere_else();'
    kernel = TorchKernel("linkless", ["x"], ["y"], "somewhere_else();", negate_ref, helper_src=helper)
    with pytest.raises(ingot.UsageError, match=r"(?s)do not link.*somewhere_else"):
        converted(function(kernel), (torch.randn(3),), [kernel])(torch.randn(3))


def test_exceptions_reach_the_caller() -> None:
    helper = "#include <stdexcept>"
    source = 'if (x[0] < 0) throw std::invalid_argument("x must not be negative");\ny[0] = -x[0];'
    kernel = TorchKernel("careful", ["x"], ["y"], source, negate_ref, helper_src=helper)
    program = check(function(kernel), (torch.ones(1),), kernel)
    with pytest.raises(ingot.UsageError, match="kernel 'careful' failed: x must not be negative"):
        program(-torch.ones(1))
    torch.testing.assert_close(program(torch.ones(1)), -torch.ones(1))


def test_types_without_a_spelling() -> None:
    x = torch.randn(3).to(torch.float8_e4m3fn)

    def copy(x: Tensor) -> Tensor:
        return x.clone()

    kernel = TorchKernel("copy8", ["x"], ["y"], "y[0] = x[0];", copy)
    with pytest.raises(TypeError, match="float8_e4m3fn"):
        converted(function(kernel), (x,), [kernel])


# Construction, of both kinds.


def no_annotation(x, by: float) -> Tensor:  # type: ignore[no-untyped-def]
    return x


def wrong_annotation(x: Tensor, by: str) -> Tensor:
    return x


def variadic(*x: Tensor) -> Tensor:
    return x[0]


def keywords(x: Tensor, **by: float) -> Tensor:
    return x


def no_return(x: Tensor, by: float):  # type: ignore[no-untyped-def]
    return x


def wrong_return(x: Tensor, by: float) -> int:
    return 1


def two(x: Tensor, by: float) -> tuple[Tensor, Tensor]:
    return x, x


def unknown_count(x: Tensor, by: float) -> tuple[Tensor, ...]:
    return (x,)


def mixed(x: Tensor, by: float) -> tuple[Tensor, int]:
    return x, 1


GOOD: dict[str, Any] = {
    "name": "checked",
    "input_names": ["x", "by"],
    "result_names": ["y"],
    "src": "",
    "torch_defn": scale_ref,
}


@pytest.mark.parametrize("kind", [TorchKernel, TorchMetalKernel])
@pytest.mark.parametrize(
    ("changes", "error"),
    [
        ({"name": ""}, ValueError),
        ({"name": "a b"}, ValueError),
        ({"result_names": []}, ValueError),
        ({"input_names": ["x", "x"]}, ValueError),
        ({"result_names": ["y", "y"], "torch_defn": two}, ValueError),
        ({"result_names": ["x"]}, ValueError),
        ({"input_names": ["x"]}, ValueError),
        ({"input_names": ["x", "by", "z"]}, ValueError),
        ({"torch_defn": 3}, TypeError),
        ({"torch_defn": no_annotation}, TypeError),
        ({"torch_defn": wrong_annotation}, TypeError),
        ({"torch_defn": variadic}, TypeError),
        ({"torch_defn": keywords}, TypeError),
        ({"torch_defn": no_return}, TypeError),
        ({"torch_defn": wrong_return}, TypeError),
        ({"torch_defn": unknown_count}, TypeError),
        ({"torch_defn": mixed}, TypeError),
        ({"torch_defn": two}, ValueError),
        ({"result_names": ["y", "z"]}, ValueError),
        ({"result_names": ["a", "b", "c"], "torch_defn": two}, ValueError),
        ({"template_dtypes": {"z": "T"}}, ValueError),
        ({"template_dtypes": {"by": "T"}}, ValueError),
        ({"input_names": ["x", "z"], "template_dtypes": {"x": "T", "z": "T"}}, ValueError),
    ],
)
def test_constructor_errors(kind: type[Kernel], changes: dict[str, Any], error: type[Exception]) -> None:
    with pytest.raises(error):
        kind(**{**GOOD, **changes})


@pytest.mark.parametrize("kind", [TorchKernel, TorchMetalKernel])
def test_two_templates_with_one_placeholder(kind: type[Kernel]) -> None:
    def add(a: Tensor, b: Tensor) -> Tensor:
        return a + b

    with pytest.raises(ValueError, match="placeholder"):
        kind("add_ab", ["a", "b"], ["y"], "", add, template_dtypes={"a": "T", "b": "T"})


def test_postponed_annotations_are_resolved() -> None:
    # This file postpones all of them; here one is a name of an inner scope.
    alias = Tensor

    def inner(x: alias) -> alias:
        assert alias is Tensor
        return x + 1

    kernel = TorchKernel("inner", ["x"], ["y"], "for (int i = 0; i < x_numel; ++i) y[i] = x[i] + 1;", inner)
    check(function(kernel), (torch.randn(3),), kernel)


def test_wrong_calls() -> None:
    with pytest.raises(TypeError, match="takes 2 inputs"):
        scale(torch.randn(3))

    def wrong_count(x: Tensor) -> list[Tensor]:
        return [x]

    kernel = TorchKernel("wrong_count", ["x"], ["a", "b"], "", wrong_count)
    with pytest.raises(ValueError, match="gives 1 results"):
        kernel(torch.randn(3))


def test_registered_twice() -> None:
    converter = ingot.TorchConverter().register_custom_kernels([scale])
    with pytest.raises(ValueError, match="already registered"):
        converter.register_custom_kernels([scale])
    assert "ingot_kernels::scale.default" in repr(converter)


def test_a_lowering_instead_of_a_kernel() -> None:
    from ingot import ops

    x = torch.randn(3)
    converter = ingot.TorchConverter().register_custom_kernels([scale])
    lower = converter.register_torch_lowering(scale.op_name, allow_override=True)
    lower(lambda values_map, node, loc: ops.neg(values_map[node.args[0].name]))
    exported = torch.export.export(function(lambda x: scale(x, 2.0)), (x,))
    torch.testing.assert_close(converter.add_exported_program(exported).to_ingot()(x), -x)


def test_only_kernels_are_registered() -> None:
    with pytest.raises(TypeError, match="TorchKernel"):
        ingot.TorchConverter().register_custom_kernels([scale_ref])  # type: ignore[list-item]


def test_sizes_that_depend_on_data_are_refused() -> None:
    def ref(x: Tensor) -> Tensor:
        return x.nonzero()

    kernel = TorchKernel("places", ["x"], ["y"], "", ref)
    with pytest.raises(ingot.LoweringError, match="cannot be computed from the kernel's inputs"):
        converted(function(kernel), (torch.randn(3),), [kernel])


def test_a_name_used_again_means_the_later_kernel() -> None:
    def plus(x: Tensor) -> Tensor:
        return x + 1

    def minus(x: Tensor, by: float) -> Tensor:
        return x - by

    TorchKernel("again", ["x"], ["y"], "for (int i = 0; i < x_numel; ++i) y[i] = x[i] + 1;", plus)
    later = TorchKernel("again", ["x", "by"], ["y"], "for (int i = 0; i < x_numel; ++i) y[i] = x[i] - by;", minus)
    check(function(lambda x: later(x, 2.0)), (torch.randn(3),), later)


def test_a_kernel_that_is_not_registered_is_named() -> None:
    with pytest.raises(ingot.UnsupportedError, match="ingot_kernels::scale"):
        converted(function(lambda x: scale(x, 2.0)), (torch.randn(3),), [])
