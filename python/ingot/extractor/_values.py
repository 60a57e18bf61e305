"""Arguments of operators as JSON: docs/graph_format.md, "Values"."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import torch


@dataclass(frozen=True)
class Symbol:
    """A number that the graph computes, such as a size; `name` is that of its value."""

    name: str


@dataclass(frozen=True)
class Tagged:
    """What has no form in Python, as the document has it: `{"$tensor": name}` inside a dict, say."""

    tag: str
    content: Any


def dtype_name(dtype: torch.dtype) -> str:
    return str(dtype).removeprefix("torch.")


def dtype_of(name: str) -> torch.dtype:
    found = getattr(torch, name, None)
    if not isinstance(found, torch.dtype):
        raise ValueError(f"unknown dtype '{name}'")
    return found


def operator_of(name: str) -> Any:
    """The operator of an op type such as "aten.add.Tensor"; None if torch does not know it."""
    namespace, _, rest = name.partition(".")
    op_name, _, overload = rest.partition(".")
    packet = getattr(getattr(torch.ops, namespace, None), op_name, None) if op_name else None
    if not isinstance(packet, torch._ops.OpOverloadPacket):
        return None
    return getattr(packet, overload or "default", None)


def encode(value: Any) -> Any:
    """JSON for a value; `TypeError` if there is none."""
    if value is None or isinstance(value, bool | int | str):
        return value
    if isinstance(value, float):
        return value if math.isfinite(value) else {"$float": "nan" if math.isnan(value) else str(value)}
    if isinstance(value, complex):
        return {"$complex": [encode(value.real), encode(value.imag)]}
    if isinstance(value, list | tuple):
        return [encode(item) for item in value]
    if isinstance(value, Mapping):
        return {"$dict": {str(key): encode(item) for key, item in value.items()}}
    return _encode_object(value)


def _encode_object(value: Any) -> Any:
    if isinstance(value, Symbol):
        return {"$symbol": value.name}
    if isinstance(value, Tagged):
        return {value.tag: value.content}
    if isinstance(value, torch.dtype):
        return {"$dtype": dtype_name(value)}
    if isinstance(value, torch.device):
        return {"$device": str(value)}
    if isinstance(value, torch.layout):
        return {"$layout": str(value).removeprefix("torch.")}
    if isinstance(value, torch.memory_format):
        return {"$memory_format": str(value).removeprefix("torch.")}
    if isinstance(value, torch._ops.OpOverload):
        return {"$operator": str(value)}
    if isinstance(value, torch.SymInt | torch.SymFloat | torch.SymBool):
        return {"$symbol": str(value)}
    if type(value).__module__ == "numpy" and hasattr(value, "item") and getattr(value, "ndim", 1) == 0:
        return encode(value.item())
    raise TypeError(f"a {type(value).__name__} cannot be written into a graph document")


def _named(kind: type) -> Callable[[str], Any]:
    def find(name: str) -> Any:
        found = getattr(torch, name, None)
        if not isinstance(found, kind):
            raise ValueError(f"unknown {kind.__name__} '{name}'")
        return found

    return find


_DECODERS: dict[str, Callable[[Any], Any]] = {
    "$dtype": dtype_of,
    "$device": torch.device,
    "$layout": _named(torch.layout),
    "$memory_format": _named(torch.memory_format),
    "$complex": lambda pair: complex(decode(pair[0]), decode(pair[1])),
    "$float": float,
    "$operator": lambda name: operator_of(name) or name,
    "$symbol": Symbol,
    "$dict": lambda items: {key: decode(item) for key, item in items.items()},
}


def decode(value: Any) -> Any:
    """What `encode` was given; tuples come back as lists."""
    if isinstance(value, list):
        return [decode(item) for item in value]
    if isinstance(value, dict):
        if len(value) == 1:
            ((tag, content),) = value.items()
            if tag in _DECODERS:
                return _DECODERS[tag](content)
            if tag.startswith("$"):
                return Tagged(tag, content)
        return {key: decode(item) for key, item in value.items()}
    return value
