"""What each parameter of an operator's schema is given, for nodes that don't say it or were changed since."""

from __future__ import annotations

import copy
import re
from collections.abc import Iterator
from typing import Any

import torch

from ingot.extractor._values import dtype_of, operator_of
from ingot.extractor.document import Argument, OpNode

_LISTS = ("List[Tensor]", "List[Optional[Tensor]]", "Optional[List[Tensor]]")
_NAMED_OBJECTS = ("dtype", "device", "layout", "memory_format")


def find_operator(op_type: str) -> Any:
    """The operator that PyTorch runs for an op type; an unknown overload is the default one."""
    found = operator_of(op_type)
    if found is None and op_type.startswith("aten."):
        found = operator_of(".".join(op_type.split(".")[:2]))
    return found if isinstance(found, torch._ops.OpOverload) else None


def arguments_of(node: OpNode) -> list[Argument] | None:
    """A record for each parameter. Inputs and attributes are what people edit, so they count where they differ from the
    records that the node has. None for nodes that are no calls of an operator with a schema."""
    operator = find_operator(node.op_type)
    if operator is None:
        return node.args
    if node.args is None:
        return list(_matched(node, operator._schema))
    names = [tensor.name for tensor in node.inputs]
    recorded = [name for argument in node.args for name in _references(argument)]
    if len(names) != len(recorded):
        return list(_matched(node, operator._schema))
    places = iter(names)
    made = []
    for argument in copy.deepcopy(node.args):
        if argument.kind in ("tensor", "tensors"):
            argument.value = _filled(argument.value, places)
        elif argument.kind in ("value", "default") and argument.name in node.attrs:
            argument.kind, argument.value = "value", node.attrs[argument.name]
        made.append(argument)
    return made


def _references(argument: Argument) -> Iterator[str]:
    if argument.kind in ("tensor", "tensors"):
        yield from _names(argument.value)


def _names(value: Any) -> Iterator[str]:
    if isinstance(value, list):
        for item in value:
            yield from _names(item)
    elif value is not None:
        yield value


def _filled(value: Any, names: Iterator[str]) -> Any:
    if isinstance(value, list):
        return [_filled(item, names) for item in value]
    return None if value is None else next(names)


def _matched(node: OpNode, schema: Any) -> Iterator[Argument]:
    """Inputs and attributes in the places of the schema, as far as they tell."""
    inputs = [tensor.name for tensor in node.inputs]
    sizes = list(node.attrs.get("_tensor_list_sizes", ()))
    masks = list(node.attrs.get("_tensor_list_none_masks", ()))
    parameters = list(schema.arguments)
    lists = sum(str(parameter.type) in _LISTS for parameter in parameters)
    for index, parameter in enumerate(parameters):
        kind = str(parameter.type)
        later = parameters[index + 1 :]

        def made(kind: str, value: Any = None, parameter: Any = parameter) -> Argument:
            return Argument(parameter.name, kind, value, parameter.kwarg_only)

        if parameter.name in node.attrs:
            yield made("value", _object(parameter.name, node.attrs[parameter.name]))
        elif kind in _LISTS:
            size = sizes.pop(0) if sizes else max(0, len(node.inputs) - _plain_tensors(parameters, node)) // lists
            taken, inputs = inputs[:size], inputs[size:]
            yield made("tensors", _with_nones(taken, masks))
        elif (kind == "Tensor" and inputs) or _is_optional_for(kind, inputs, later, node):
            yield made("tensor", inputs.pop(0))
        elif parameter.has_default_value():
            yield made("default")
        elif kind.startswith("Optional"):
            yield made("value", None)
        else:
            raise ValueError(
                f"parameter '{parameter.name}' of {node.op_type} is given neither as input nor as attribute"
            )
    if inputs:
        raise ValueError(f"{node.op_type} takes fewer tensors than the node has inputs: '{inputs[0]}' has no place")


def _plain_tensors(parameters: list[Any], node: OpNode) -> int:
    """How many inputs the parameters need that are single tensors."""
    return sum(str(parameter.type) == "Tensor" and parameter.name not in node.attrs for parameter in parameters)


def _is_optional_for(kind: str, inputs: list[str], later: list[Any], node: OpNode) -> bool:
    """Whether an optional tensor is the next input: more are left than are needed, and its name is no other's."""
    if kind != "Optional[Tensor]" or len(inputs) <= _plain_tensors(later, node):
        return False
    return not _is_meant(inputs[0], later)


def _is_meant(name: str, parameters: list[Any]) -> bool:
    """Whether a tensor has the name of one of these optional parameters, as `p_norm_bias` has."""
    word = re.split(r"[._]", name)[-1]
    return any(word == parameter.name for parameter in parameters if str(parameter.type) == "Optional[Tensor]")


def _with_nones(names: list[str], masks: list[list[bool]]) -> list[str | None]:
    if not masks or sum(not none for none in masks[0]) != len(names):
        return list(names)
    remaining = iter(names)
    return [None if none else next(remaining) for none in masks.pop(0)]


def _object(name: str, value: Any) -> Any:
    """Graphs of other tools may have dtypes and devices as plain strings."""
    if not isinstance(value, str) or name not in _NAMED_OBJECTS:
        return value
    plain = value.removeprefix("torch.")
    if name == "device":
        return torch.device(plain)
    return dtype_of(plain) if name == "dtype" else getattr(torch, plain)
