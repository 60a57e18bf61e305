"""Names of dynamic dimensions: `Dim("seq")` is the symbol `s23` in what torch.export gives; users know it as `seq`."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from torch.export import ExportedProgram

_RANGES = b'"range_constraints": {'
_AFTER_RANGES = b'"schema_version"'
# Words with a meaning in expressions of sizes, and torch's own symbols.
_TAKEN = re.compile(r"Max|Min|Mod|FloorDiv|CeilDiv|[a-z]\d+")


def dimension_names(program: ExportedProgram, dynamic_shapes: Any) -> dict[str, str]:
    """The symbol of every named dimension of a tensor argument, and its name. Derived dimensions need none."""
    placeholders = {node.name: node for node in program.graph.nodes if node.op == "placeholder"}
    names: dict[str, str] = {}
    for argument, spec in _by_argument(program, dynamic_shapes):
        value = placeholders[argument].meta.get("val") if argument in placeholders else None
        for axis, dim in _dims(spec):
            name = getattr(dim, "__name__", "")
            size = value.shape[axis] if value is not None and axis < getattr(value, "ndim", 0) else None
            symbol = str(getattr(getattr(size, "node", None), "expr", ""))
            if _TAKEN.fullmatch(symbol) and name.isidentifier() and not _TAKEN.fullmatch(name):
                names.setdefault(symbol, name)
    return names if len(set(names.values())) == len(names) else {}


def rename_symbols(json: bytes, names: Mapping[str, str]) -> bytes:
    """The program's JSON with other names for symbols."""
    for symbol, name in names.items():
        json = json.replace(f"Symbol('{symbol}'".encode(), f"Symbol('{name}'".encode())
    start = json.find(_RANGES)
    end = json.find(_AFTER_RANGES, start)
    if not names or start < 0 or end < 0:
        return json
    ranges = json[start + len(_RANGES) : end]
    for symbol, name in names.items():
        ranges = re.sub(rb"\b" + symbol.encode() + rb"\b", name.encode(), ranges)
    return json[: start + len(_RANGES)] + ranges + json[end:]


def _by_argument(program: ExportedProgram, dynamic_shapes: Any) -> Iterable[tuple[str, Any]]:
    if isinstance(dynamic_shapes, Mapping):
        return dynamic_shapes.items()
    if isinstance(dynamic_shapes, list | tuple):
        return zip(program.graph_signature.user_inputs, dynamic_shapes, strict=False)
    return ()


def _dims(spec: Any) -> Iterable[tuple[int, Any]]:
    if isinstance(spec, Mapping):
        return [(axis, dim) for axis, dim in spec.items() if isinstance(axis, int)]
    return enumerate(spec) if isinstance(spec, list | tuple) else ()
