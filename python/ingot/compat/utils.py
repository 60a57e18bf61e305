"""`coreai_torch._utils`: the helpers of `ingot.lowering`, with sizes as the original has them.

A symbolic size is a vector of one int32 there. The builders of the dialect know what such vectors hold, so that shapes
made from them need not be read from tensors when the program runs.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from ingot import lowering
from ingot.compat import _emit as emit
from ingot.ir import Value
from ingot.lowering import (
    get_output_element_type_from_node,
    get_promoted_type,
    get_result_types,
    get_tensor_type,
    print_graph,
    to_uint32_perm,
)

if TYPE_CHECKING:
    import torch

__all__ = [
    "build_shape_tensor",
    "get_dim_size_int32",
    "get_operand",
    "get_operands",
    "get_output_element_type_from_node",
    "get_promoted_type",
    "get_result_types",
    "get_tensor_type",
    "print_graph",
    "to_rank1_int32",
    "to_uint32_perm",
]


def get_operand(values_map: Mapping[str, Value], node: torch.fx.Node, idx: int, loc: object = None) -> Any:
    """Positional argument number `idx` as a value; lists of sizes, and symbolic ones, as vectors of int32."""
    assert -len(node.args) <= idx < len(node.args), f"node '{node.name}' has no positional argument {idx}"
    argument = node.args[idx]
    if isinstance(argument, list | tuple) and any(hasattr(item, "users") for item in argument):
        found = [_find(values_map, item) for item in argument]
        if all(not isinstance(item, Value) or item.is_scalar for item in found):
            return build_shape_tensor(values_map, argument)
    value = lowering.get_operand(values_map, node, idx, loc)
    return emit.vector([value]) if emit.is_number(value) else value


def get_operands(
    values_map: Mapping[str, Value], node: torch.fx.Node, indices: Sequence[int], loc: object = None
) -> list[Any]:
    """`get_operand` for each of `indices`."""
    return [get_operand(values_map, node, idx, loc) for idx in indices]


def to_rank1_int32(v: Value | int) -> Value:
    """A size, however it is given, as a vector of one int32."""
    sizes = emit.known_vector(v) if isinstance(v, Value) else [int(v)]
    if sizes is not None or emit.is_number(v):
        return emit.vector([v] if sizes is None else sizes)
    return lowering.to_rank1_int32(v)


def get_dim_size_int32(x: Value, d: int) -> Value:
    """The size of dimension `d` as a vector of one int32."""
    return emit.vector([emit.size_at(x, d % emit.rank_of(x))])


def build_shape_tensor(values_map: Mapping[str, Value], dims: Sequence[Any]) -> Value:
    """Sizes, numbers or nodes or values, as a vector of int32."""
    return emit.vector([emit.size_of_item(_find(values_map, item)) for item in dims])


def _find(values_map: Mapping[str, Value], item: Any) -> Any:
    return values_map[item.name] if hasattr(item, "users") else item
