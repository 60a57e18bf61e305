"""Helpers for lowerings written in Python.

A lowering turns one node of an exported program into ops:

    def lower_softclip(values_map, node, loc):
        x = get_operand(values_map, node, 0, loc)
        limit = ops.constant(node.args[1], dtype=x.type.element_type)
        return ops.mul(ops.tanh(ops.div(x, limit)), limit)

    program = ingot.convert(model, (x,), lowerings={"acme::softclip": lower_softclip})

`values_map` holds the values of the nodes among the arguments, by name; `node` is the FX node; `loc` says where it
comes from. It returns a value, or a list with one for each result, of the shapes and element types that the program
says; int32 for int64 and float32 for float64 are widened. It serves nodes inside `cond` and `while_loop` as well.
"""

from __future__ import annotations

import operator
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ingot import ops
from ingot._lowering import LoweringFunction
from ingot.errors import UsageError
from ingot.ir import DYNAMIC, DTypeLike, ElementType, TensorType, Value

if TYPE_CHECKING:
    import torch
    from torch.export import ExportedProgram

__all__ = [
    "LoweringFunction",
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
    "to_sizes",
    "to_uint32_perm",
]


def _is_node(argument: Any) -> bool:
    return hasattr(argument, "op") and hasattr(argument, "name") and hasattr(argument, "users")


def _look_up(values_map: Mapping[str, Value], argument: torch.fx.Node) -> Value:
    if argument.name in values_map:
        return values_map[argument.name]
    if argument.op == "call_function" and argument.target is operator.getitem:
        name = f"{argument.args[0].name}#{argument.args[1]}"  # type: ignore[union-attr]
        if name in values_map:
            return values_map[name]
    raise UsageError(f"there is no value '{argument.name}'; there are {', '.join(values_map) or 'none'}")


def _float_type(values_map: Mapping[str, Value], node: torch.fx.Node, number: float) -> ElementType:
    """float16 beside float16 tensors alone, if the number survives it; float64 beside float64; else float32."""
    operands = [_look_up(values_map, each) for each in node.all_input_nodes if each.name in values_map]
    types = {value.type.element_type.name for value in operands if value.type.element_type.is_float}
    if types == {"float16"}:
        with np.errstate(over="ignore"):
            narrow = float(np.float16(number))
        if narrow == number or abs(narrow - number) <= np.finfo(np.float16).eps * abs(number):
            return ElementType("float16")
    return ElementType("float64" if "float64" in types else "float32")


def get_operand(values_map: Mapping[str, Value], node: torch.fx.Node, idx: int, loc: object = None) -> Any:
    """Positional argument number `idx` as a value.

    A node is looked up; a list of sizes becomes a vector of int32, also where the program computes some of them;
    numbers, lists and tensors become constants: whole numbers int32 where they fit. A list of tensors gives a list.
    """
    assert -len(node.args) <= idx < len(node.args), f"node '{node.name}' has no positional argument {idx}"
    return _to_value(values_map, node, node.args[idx], idx)


def _to_value(values_map: Mapping[str, Value], node: torch.fx.Node, argument: Any, idx: int) -> Any:
    import torch

    if _is_node(argument):
        return _look_up(values_map, argument)
    if isinstance(argument, list | tuple) and any(_is_node(entry) for entry in argument):
        values = [_look_up(values_map, entry) if _is_node(entry) else entry for entry in argument]
        if any(isinstance(value, Value) and not value.is_scalar for value in values):
            return [None if value is None else value for value in values]
        return build_shape_tensor(values_map, argument)
    if isinstance(argument, float):
        return ops.constant(argument, dtype=_float_type(values_map, node, argument))
    if isinstance(argument, bool | int | list | tuple | torch.Tensor | np.ndarray):
        return ops.constant(argument)
    raise ValueError(f"argument {idx} of node '{node.name}' is a {type(argument).__name__}, which is no value")


def get_operands(
    values_map: Mapping[str, Value], node: torch.fx.Node, indices: Sequence[int], loc: object = None
) -> list[Any]:
    """`get_operand` for each of `indices`."""
    return [get_operand(values_map, node, idx, loc) for idx in indices]


# Types.


def get_tensor_type(tensor: torch.Tensor, loc: object = None, dtype: DTypeLike | None = None) -> TensorType:
    """The type of a (fake) tensor; sizes that are symbols are dynamic."""
    shape = [size if isinstance(size, int) else DYNAMIC for size in tensor.shape]
    return TensorType(shape, tensor.dtype if dtype is None else dtype)


def _outputs(node: torch.fx.Node) -> list[Any]:
    value = node.meta["val"]
    return list(value) if isinstance(value, list | tuple) else [value]


def get_result_types(node: torch.fx.Node) -> list[TensorType]:
    """The types that the program says the results of a node have; numbers are tensors without dimensions here."""
    import torch

    return [
        get_tensor_type(value) if isinstance(value, torch.Tensor) else TensorType([], _element_type(value))
        for value in _outputs(node)
        if value is not None
    ]


def _element_type(value: Any) -> ElementType:
    import torch

    if isinstance(value, torch.Tensor):
        return ElementType.of(value.dtype)
    for types, name in (
        ((bool, torch.SymBool), "bool"),
        ((int, torch.SymInt), "int32"),
        ((float, torch.SymFloat), "float32"),
    ):
        if isinstance(value, types):
            return ElementType(name)
    raise UsageError(f"a {type(value).__name__} has no element type")


def get_output_element_type_from_node(node: torch.fx.Node, index: int | None = None) -> ElementType:
    """Of the node's result, or of result number `index`; symbolic sizes are int32, other symbolic numbers float32."""
    outputs = _outputs(node)
    if index is None and len(outputs) != 1:
        raise UsageError(f"node '{node.name}' has {len(outputs)} results; say which one is meant")
    return _element_type(outputs[index or 0])


def get_promoted_type(t1: DTypeLike | TensorType, t2: DTypeLike | TensorType) -> ElementType:
    """The element type that torch promotes two to."""
    import torch

    first, second = (
        ElementType.of(each.element_type if isinstance(each, TensorType) else each).torch for each in (t1, t2)
    )
    return ElementType.of(torch.promote_types(first, second))


# Sizes as tensors.


def to_rank1_int32(v: Value | int) -> Value:
    """A size, however it is given, as a vector of one int32."""
    if not isinstance(v, Value):
        return ops.constant([int(v)], dtype="int32")
    tensor = ops.from_scalar(v) if v.is_scalar else v
    if tensor.type.element_type.name != "int32":
        tensor = ops.cast(tensor, "int32")
    vector = tensor if tensor.type.shape == [1] else ops.reshape(tensor, [1])
    vector._sizes = vector._sizes or ([v] if v.is_scalar else v._sizes)
    return vector


def to_sizes(v: Value) -> list[int | Value]:
    """The entries of a vector of sizes, as `ops.reshape` and others take them: numbers where they are known."""
    known = v.constant_value
    if known is not None:
        return [int(entry) for entry in known.reshape(-1)]
    if v._sizes is not None:
        return list(v._sizes)
    if v.type.rank > 1 or not v.type.has_static_shape:
        raise UsageError(f"{v!r} is no vector of sizes")
    flat = ops.reshape(v, [-1])
    # Sizes that are data: the program stops to look at them.
    return [ops.item(ops.cast(ops.slice(flat, 0, [i, i + 1]), "int64")) for i in range(flat.type.shape[0])]


def get_dim_size_int32(x: Value, d: int) -> Value:
    """The size of dimension `d` as a vector of one int32."""
    size = x.type.shape[d]
    return to_rank1_int32(ops.dim(x, d) if size == DYNAMIC else size)


def build_shape_tensor(values_map: Mapping[str, Value], dims: Sequence[Any]) -> Value:
    """Sizes, numbers or nodes or values, as a vector of int32."""
    if all(isinstance(entry, int) for entry in dims):
        return ops.constant(np.array(dims, dtype=np.int32))
    values = [_look_up(values_map, entry) if _is_node(entry) else entry for entry in dims]
    vectors = [to_rank1_int32(value) for value in values]
    shape = ops.concat(vectors, 0)
    shape._sizes = [size for vector in vectors for size in to_sizes(vector)]
    return shape


def to_uint32_perm(perm: Sequence[int], rank: int) -> np.ndarray[Any, np.dtype[np.uint32]]:
    """A permutation of `rank` dimensions, those that count from the end brought to the front."""
    wrapped = [int(dim) + rank if dim < 0 else int(dim) for dim in perm]
    if sorted(wrapped) != list(range(rank)):
        raise UsageError(f"{list(perm)} is no permutation of {rank} dimensions")
    return np.array(wrapped, dtype=np.uint32)


def _describe(value: Any) -> str:
    import torch

    if isinstance(value, torch.Tensor):
        return f"{str(value.dtype).removeprefix('torch.')}[{', '.join(map(str, value.shape))}]"
    if isinstance(value, list | tuple):
        return "(" + ", ".join(_describe(entry) for entry in value) + ")"
    return "" if value is None else f"{type(value).__name__} {value}"


def print_graph(ep: ExportedProgram) -> None:
    """Prints every node: kind, name, arguments, and the element type and sizes of what it gives."""
    for node in ep.graph_module.graph.nodes:
        target = "" if node.op in ("placeholder", "output") else f" {node.target}"
        print(f"{node.op:14}{node.name}{target} {node.args} {_describe(node.meta.get('val'))}".rstrip())
