"""ATen operators that are composites by themselves: the declaration of each, made from a node of an export."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import torch

from ingot.composite import CompositeDecl, generate_composite_decl

Arguments = Mapping[str, Any]
"""What a node passes, by the names of the operator's schema, defaults included; tensors are nodes."""


@dataclass(frozen=True)
class AtenComposite:
    """A declaration, and which argument of the ATen operator is which input."""

    declaration: CompositeDecl
    arguments: Mapping[str, str]
    """Input names to the operator's argument names, in order. An optional tensor that is None is among them: it stands
    for the neutral element."""


@dataclass(frozen=True)
class _Row:
    name: str
    inputs: Mapping[str, str]
    """Names of inputs to names of arguments."""
    attributes: Callable[[Arguments, int], dict[str, Any]] = lambda given, rank: {}
    """From the arguments and the rank of the first."""
    applies: Callable[[Arguments], bool] = lambda given: True


def _axes(given: Any, rank: int) -> list[int]:
    axes = range(rank) if given is None or given == [] else [given] if isinstance(given, int) else given
    return [axis % rank for axis in axes]


def _eps(given: Arguments, rank: int) -> dict[str, Any]:
    return {"eps": float(given["eps"])}


def _layer_norm(given: Arguments, rank: int) -> dict[str, Any]:
    return _eps(given, rank) | {"axes": list(range(rank - len(given["normalized_shape"]), rank))}


def _vector_norm(given: Arguments, rank: int) -> dict[str, Any]:
    return {"ord": float(given["ord"]), "keep_dim": given["keepdim"], "axes": _axes(given["dim"], rank)}


def _attention(given: Arguments, rank: int) -> dict[str, Any]:
    # Torch's causal mask is aligned otherwise than the composite's: it is passed as a mask.
    scale = given["scale"]
    return {"is_causal": False, "window_size": 0} | ({} if scale is None else {"scale": float(scale)})


def _group_norm(given: Arguments, rank: int) -> dict[str, Any]:
    return {"num_groups": given["group"], "num_channels": given["C"], "eps": float(given["eps"])}


_NORM = {"input": "input", "gamma": "weight", "beta": "bias"}
_POOL = {
    "input": "self",
    **{
        name: name
        for name in ("kernel_size", "stride", "padding", "ceil_mode", "count_include_pad", "divisor_override")
    },
}

_TABLE: Mapping[str, _Row] = {
    "_native_batch_norm_legit_no_training.default": _Row(
        "batch_norm", _NORM | {"mean": "running_mean", "variance": "running_var"}, _eps
    ),
    "native_group_norm.default": _Row(
        "group_norm", {"input": "input", "weight": "weight", "bias": "bias"}, _group_norm
    ),
    "native_layer_norm.default": _Row("layer_norm", _NORM, _layer_norm),
    "layer_norm.default": _Row("layer_norm", _NORM, _layer_norm),
    # With running statistics it is a few multiplications.
    "instance_norm.default": _Row("instance_norm", _NORM, _eps, lambda given: bool(given["use_input_stats"])),
    "hardsigmoid.default": _Row("hard_sigmoid", {"input": "self"}),
    "_log_softmax.default": _Row(
        "log_softmax", {"input": "self"}, lambda given, rank: {"axis": _axes(given["dim"], max(rank, 1))[0]}
    ),
    "pixel_shuffle.default": _Row(
        "pixel_shuffle", {"input": "self"}, lambda given, rank: {"upscale_factor": given["upscale_factor"]}
    ),
    "linalg_vector_norm.default": _Row("linalg_vector_norm", {"input": "self"}, _vector_norm),
    "avg_pool2d.default": _Row("avg_pool_2d", _POOL),
    "avg_pool3d.default": _Row("avg_pool_3d", _POOL),
    "scaled_dot_product_attention.default": _Row(
        "scaled_dot_product_attention",
        {"query": "query", "key": "key", "value": "value", "attn_mask": "attn_mask"},
        _attention,
    ),
}


def aten_composite(node: torch.fx.Node) -> AtenComposite | None:
    """The composite that a node of an export is, or None."""
    target = node.target
    if not isinstance(target, torch._ops.OpOverload) or target.namespace != "aten":
        return None
    row = _TABLE.get(str(target).removeprefix("aten."))
    if row is None:
        return None
    given = {
        argument.name: node.args[index]
        if index < len(node.args)
        else node.kwargs.get(argument.name, argument.default_value)
        for index, argument in enumerate(target._schema.arguments)
    }
    if not row.applies(given):
        return None
    inputs = dict(row.inputs)
    if "attn_mask" in inputs and given["attn_mask"] is None and not given["is_causal"]:
        del inputs["attn_mask"]
    first = given[next(iter(inputs.values()))]
    attributes = row.attributes(given, first.meta["val"].dim())
    declaration = generate_composite_decl(None, row.name, list(inputs), ["output"], attributes)
    return AtenComposite(declaration, inputs)
