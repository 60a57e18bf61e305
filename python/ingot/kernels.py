"""Kernels of your own: operators whose code you write.

    source = "for (int64_t i = 0; i < x_numel; ++i) y[i] = x[i] * by;"
    scale = TorchKernel("scale", ["x", "by"], ["y"], source, scale_ref)

`scale(x, 2.0)` in a model is one node of its export; a converter that knows the kernel compiles the source into the
program. `scale_ref` is the same in torch: eager calls and shapes come from it. docs/kernels.md tells all.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import torch

from ingot import _build, _kernel_ops
from ingot._kernel import Kernel, result_examples
from ingot._kernel_sizes import KnownSizes
from ingot._kernel_source import cpp_source
from ingot._lowering import arguments_of
from ingot._metal import MetalParameter, TorchMetalKernel
from ingot.ir import Value
from ingot.lowering import get_result_types

__all__ = ["Kernel", "MetalParameter", "TorchKernel", "TorchMetalKernel"]


class TorchKernel(Kernel):
    """A kernel in C++, compiled when a program is specialised for the machine that it runs on.

    In `src` an input tensor `x` is a pointer, with `x_sizes`, `x_strides`, `x_rank` and `x_numel` beside it; so is a
    result, to be written; numbers are int64_t, double and bool. Tensors are row-major, except that the inputs of a
    `strided` kernel may lie in any order. The kernel must be a pure function: several threads may run it at once.
    """

    language = "c++"
    namespace = "ingot_kernels"

    def __init__(
        self,
        name: str,
        input_names: Sequence[str],
        result_names: Sequence[str],
        src: str,
        torch_defn: Callable[..., Any],
        helper_src: str | None = None,
        template_dtypes: Mapping[str, str] | None = None,
        *,
        strided: bool = False,
    ) -> None:
        super().__init__(name, input_names, result_names, src, torch_defn, helper_src, template_dtypes)
        for placeholder in self.template_dtypes.values():
            if not placeholder.isidentifier():
                raise ValueError(f"kernel '{name}' has the placeholder {placeholder!r}, which is no name of a C++ type")
        self.strided = strided
        self._op = _kernel_ops.define(self.op_name, self.signature.schema(), self.run_reference)

    def __call__(self, *args: Any) -> Any:
        self._check_inputs(args)
        return self._call(self._op, args)

    def source(self, node: torch.fx.Node) -> str:
        """The translation unit for one call."""
        inputs, results = self._slots(node)
        return cpp_source(self.name, inputs, results, self.src, self.helper_src, self.template_dtypes)

    def check_call(self, node: torch.fx.Node) -> None:
        self.source(node)

    def reference(self, node: torch.fx.Node) -> None:
        return None

    def lower(self, values_map: dict[str, Value], node: torch.fx.Node, loc: object) -> list[Value]:
        given = arguments_of(node)
        known = KnownSizes()
        inputs: list[Value] = []
        for name, kind in self.signature.inputs.items():
            value = _operand(values_map, given[name], kind)
            example = given[name].meta.get("val") if isinstance(given[name], torch.fx.Node) else None
            if kind is torch.Tensor:
                known.add_tensor(value, example)
            else:
                known.add_number(value, example)
            inputs.append(value)
        dynamic: list[Value] = []
        sizes = [known.number(size) for result in result_examples(node) for size in result.shape]
        attributes = {
            "kernel": _build.string(self.name),
            "language": _build.string(self.language),
            "source": _build.string(self.source(node)),
            "inputs": _build.integer(len(inputs)),
            "sizes": _build.entries(sizes, dynamic),
            "strided": _build.boolean(self.strided),
        }
        operands = [*inputs, *dynamic]
        return list(_build.several("custom", operands, attributes, result_types=get_result_types(node)))


def _operand(values_map: Mapping[str, Value], argument: Any, kind: type) -> Value:
    if not isinstance(argument, torch.fx.Node):
        return _build.number(kind(argument))
    value = values_map[argument.name]
    if kind is torch.Tensor:
        return _build.tensor(value)
    number = _build.number(value)
    if kind is float and not number.type.element_type.is_float:
        return _build.single("arith.sitofp", [number], {}, dtype="float64")
    return number
