"""Kernels in Metal. Their source is kept in the program for a Metal target; here their reference runs, lowered."""

from __future__ import annotations

import hashlib
import math
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import torch

from ingot import _build, _kernel_ops
from ingot._kernel import Kernel, result_examples
from ingot._kernel_bodies import Reference, constant_sizes, differs
from ingot._kernel_source import NumberSlot, TensorSlot
from ingot._lowering import arguments_of
from ingot.errors import UsageError
from ingot.ir import Value

MAX_PARAMETERS = 31
"""As many buffers as a Metal function can be given."""

_METAL_TYPES: Mapping[torch.dtype, str] = {
    torch.bool: "bool",
    torch.int8: "char",
    torch.int16: "short",
    torch.int32: "int",
    torch.int64: "long",
    torch.uint8: "uchar",
    torch.uint16: "ushort",
    torch.uint32: "uint",
    torch.uint64: "ulong",
    torch.float16: "half",
    torch.bfloat16: "bfloat",
    torch.float32: "float",
}
_NUMBER_TYPES: Mapping[type, str] = {int: "int", float: "float", bool: "bool"}
_INT32 = range(-(2**31), 2**31)


@dataclass(frozen=True)
class MetalParameter:
    """A parameter that Metal itself fills: MetalParameter("gid", "uint2", "thread_position_in_grid")."""

    name: str
    dtype: str
    attribute: str

    def __str__(self) -> str:
        return f"{self.dtype} {self.name} [[{self.attribute}]]"


class TorchMetalKernel(Kernel):
    """A kernel whose body is Metal. Programs keep the generated source, and compute it by `torch_defn` here."""

    language = "metal"
    namespace = "coreai_metal_kernels"

    def __init__(
        self,
        name: str,
        input_names: Sequence[str],
        result_names: Sequence[str],
        src: str,
        torch_defn: Callable[..., Any],
        metal_params: Sequence[MetalParameter] | None = None,
        helper_src: str | None = None,
        template_dtypes: Mapping[str, str] | None = None,
    ) -> None:
        super().__init__(name, input_names, result_names, src, torch_defn, helper_src, template_dtypes)
        self.metal_params = list(metal_params or ())
        self._op = _kernel_ops.define(self.op_name, self.schema, self.run_reference)

    @property
    def schema(self) -> str:
        names = ["threads_per_grid", "threads_per_thread_group", *(f"{each}_shape" for each in self.signature.results)]
        return self.signature.schema(_free_names(self.signature.inputs, names))

    def __call__(
        self,
        *args: Any,
        threads_per_grid: Sequence[Any],
        threads_per_thread_group: Sequence[Any],
        result_shapes: Sequence[Sequence[Any]],
    ) -> Any:
        """`result_shapes` has a shape for every result."""
        self._check_inputs(args)
        for what, threads in (
            ("threads_per_grid", threads_per_grid),
            ("threads_per_thread_group", threads_per_thread_group),
        ):
            if not isinstance(threads, tuple | list) or len(threads) != 3:
                raise ValueError(f"{what} of kernel '{self.name}' must be a tuple of 3 numbers, not {threads!r}")
        if len(result_shapes) != len(self.signature.results):
            raise ValueError(
                f"kernel '{self.name}' has {len(self.signature.results)} results, and is given {len(result_shapes)} "
                "result_shapes"
            )
        lists = [threads_per_grid, threads_per_thread_group, *result_shapes]
        return self._call(self._op, [*args, *(_uint32(values) for values in lists)])

    def check_call(self, node: torch.fx.Node) -> None:
        self.metal_source(node)
        rows = zip(self.signature.results, self._given_shapes(node), result_examples(node), strict=True)
        for name, given, result in rows:
            if given is not None and (len(given) != result.dim() or any(map(differs, given, result.shape))):
                raise ValueError(
                    f"the call '{node.name}' of kernel '{self.name}' says that its result '{name}' has the shape "
                    f"{tuple(given)}, but its torch_defn gives {tuple(result.shape)}"
                )

    def _given_shapes(self, node: torch.fx.Node) -> list[list[Any] | None]:
        """The shapes that the call says its results have; None where they cannot be told."""
        arguments = list(arguments_of(node).values())
        return [constant_sizes(argument) for argument in arguments[-len(self.signature.results) :]]

    def metal_source(self, node: torch.fx.Node) -> str:
        """The Metal for one call. INGOT_KERNEL in it stands for the name of the function."""
        inputs, results = self._slots(node)
        count = len(inputs) + len(results) + len(self.metal_params)
        if count > MAX_PARAMETERS:
            raise ValueError(f"kernel '{self.name}' has {count} parameters; Metal allows {MAX_PARAMETERS}")
        given = arguments_of(node)
        types = {slot.name: self._type(slot) for slot in (*inputs, *results)}
        parameters, literals = [], []
        for slot in (*inputs, *results):
            place = f"[[buffer({len(parameters)})]]"
            rank = slot.rank if isinstance(slot, TensorSlot) else 0
            element = ("const " if slot.name in self.signature.inputs else "") + types[slot.name]
            parameters.append(f"tensor<device {element}, dextents<int32_t, {rank}>> {slot.name} {place}")
            if isinstance(slot, NumberSlot) and not isinstance(given[slot.name], torch.fx.Node):
                literal = self._literal(slot, given[slot.name])
                # A tensor without dimensions cannot be read by value: in the body the number takes its name.
                literals.append(f"    const {types[slot.name]} {slot.name} = {literal};")
        parameters += map(str, self.metal_params)
        src, helpers = (self._with_types(text, types) for text in (self.src, self.helper_src))
        head = ["#include <metal_stdlib>", "#include <metal_tensor>", "using namespace metal;", helpers]
        head.append("kernel void INGOT_KERNEL(\n    " + ",\n    ".join(parameters) + ") {")
        return "\n".join([*head, "  {", *literals, src, "  }", "}", ""])

    def _type(self, slot: TensorSlot | NumberSlot) -> str:
        if isinstance(slot, NumberSlot):
            return _NUMBER_TYPES[slot.kind]
        if slot.dtype not in _METAL_TYPES:
            raise TypeError(f"'{slot.name}' of kernel '{self.name}' is of {slot.dtype}, which Metal has no type for")
        return _METAL_TYPES[slot.dtype]

    def _literal(self, slot: NumberSlot, value: Any) -> str:
        if slot.kind is bool:
            return "true" if value else "false"
        if slot.kind is int:
            if int(value) not in _INT32:
                raise ValueError(f"'{slot.name}' of kernel '{self.name}' is {value}, which does not fit 32 bits")
            # The smallest one has no literal: it is the negation of a number that does not fit.
            return str(value) if value != _INT32.start else f"({_INT32.start + 1} - 1)"
        if not math.isfinite(value):
            raise ValueError(f"'{slot.name}' of kernel '{self.name}' is {value}; a finite number is needed")
        return f"{float(value)!r}f"

    def _with_types(self, text: str, types: Mapping[str, str]) -> str:
        for name, placeholder in self.template_dtypes.items():
            pattern = rf"\b{placeholder}\b" if placeholder.isidentifier() else re.escape(placeholder)
            text = re.sub(pattern, types[name], text)
        return text

    def reference(self, node: torch.fx.Node) -> Reference:
        source = self.metal_source(node)
        symbol = f"{self.name}_{hashlib.sha256(source.encode()).hexdigest()[:8]}"
        fields = {
            "name": self.name,
            "symbol": symbol,
            "source": source.replace("INGOT_KERNEL", symbol),
            "input_names": list(self.signature.inputs),
            "result_names": list(self.signature.results),
        }
        return Reference(self, self.schema, _attribute(fields))

    def lower(self, values_map: dict[str, Value], node: torch.fx.Node, loc: object) -> list[Value]:
        raise UsageError(
            f"kernel '{self.name}' is written in Metal and runs here by its torch_defn: register it with "
            "TorchConverter.register_custom_kernels"
        )


def _free_names(taken: Mapping[str, Any], names: Sequence[str]) -> list[str]:
    """Argument names that no input has."""
    free: list[str] = []
    for name in names:
        while name in taken or name in free:
            name += "_"
        free.append(name)
    return free


def _uint32(values: Sequence[Any]) -> torch.Tensor:
    """Numbers of which some may be symbolic, and stay so. Stacked, since torch would take them for constants."""
    if not values:
        return torch.zeros(0, dtype=torch.uint32)
    return torch.stack([torch.scalar_tensor(value, dtype=torch.int64) for value in values]).to(torch.uint32)


def _attribute(fields: Mapping[str, str | list[str]]) -> str:
    def text(value: str | list[str]) -> str:
        return _build.string(value) if isinstance(value, str) else f"[{', '.join(map(_build.string, value))}]"

    return "{" + ", ".join(f"{key} = {text(value)}" for key, value in fields.items()) + "}"
