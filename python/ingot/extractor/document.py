"""A graph as plain Python: `IR`, `OpNode`, `TensorMeta`. docs/graph_format.md says what their fields mean."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import torch

from ingot.errors import SerializationError
from ingot.extractor._constants import decode_constant, encode_constants, replacing, write_side_file
from ingot.extractor._values import decode, encode

FORMAT = "ingot.graph"
_TENSOR_KEYS = frozenset(
    [
        "name",
        "shape",
        "dtype",
        "producer_node",
        "producer_output_idx",
        "strides",
        "device",
        "kind",
        "persistent",
        "same_as",
    ]
)


@dataclass
class TensorMeta:
    """What is known of a tensor: all but its values."""

    name: str
    shape: tuple[int | str, ...]
    """A size, or the expression of one that varies: "s77"."""
    dtype: str
    producer_node: str | None = None
    producer_output_idx: int = 0
    strides: tuple[int | str, ...] | None = field(default=None, repr=False)
    device: str | None = field(default=None, repr=False)
    kind: str | None = field(default=None, repr=False)
    """Of a weight: "parameter", "buffer" or "constant"."""
    persistent: bool = field(default=True, repr=False)
    same_as: str | None = field(default=None, repr=False)
    """Of a tied weight: the entry that has its memory."""
    extra: dict[str, Any] = field(default_factory=dict, repr=False)
    """What else the document says of it."""

    def to_dict(self) -> dict[str, Any]:
        made: dict[str, Any] = {"name": self.name, "shape": list(self.shape), "dtype": self.dtype}
        if self.producer_node is not None:
            made["producer_node"] = self.producer_node
            made["producer_output_idx"] = self.producer_output_idx
        if self.strides is not None:
            made["strides"] = list(self.strides)
        for key in ("device", "kind", "same_as"):
            if getattr(self, key) is not None:
                made[key] = getattr(self, key)
        if not self.persistent:
            made["persistent"] = False
        return {**made, **self.extra}

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> TensorMeta:
        strides = data.get("strides")
        return cls(
            data["name"],
            tuple(data["shape"]),
            data["dtype"],
            data.get("producer_node"),
            data.get("producer_output_idx") or 0,
            None if strides is None else tuple(strides),
            data.get("device") or None,
            data.get("kind") or None,
            data.get("persistent", True),
            data.get("same_as") or None,
            {key: value for key, value in data.items() if key not in _TENSOR_KEYS},
        )


@dataclass
class Argument:
    """What one parameter of an operator's schema is given."""

    name: str
    kind: str
    """"tensor", "tensors", "symbol", "graph", "value" or "default"."""
    value: Any = None
    keyword: bool = False

    def to_dict(self) -> dict[str, Any]:
        made = {"name": self.name, "kind": self.kind}
        if self.kind != "default" or self.value is not None:
            made["value"] = encode(self.value) if self.kind == "value" else self.value
        return {**made, "keyword": True} if self.keyword else made

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> Argument:
        value = data.get("value")
        kind = data["kind"]
        return cls(data.get("name", ""), kind, decode(value) if kind == "value" else value, data.get("keyword", False))


@dataclass
class OpNode:
    """A call of an operator."""

    name: str
    op_type: str
    inputs: list[TensorMeta]
    outputs: list[TensorMeta]
    attrs: dict[str, Any] = field(default_factory=dict)
    args: list[Argument] | None = field(default=None, repr=False)
    """One for each parameter of the operator's schema. Without them, inputs and attributes are matched to it."""
    scalars: list[dict[str, Any]] = field(default_factory=list, repr=False)
    mutates: list[str] = field(default_factory=list, repr=False)
    module: str = field(default="", repr=False)
    module_type: str = field(default="", repr=False)
    source: dict[str, Any] | None = field(default=None, repr=False)
    """`file`, `line`, `function` and `code` in the user's Python."""

    def to_dict(self) -> dict[str, Any]:
        made: dict[str, Any] = {
            "name": self.name,
            "op_type": self.op_type,
            "inputs": [tensor.to_dict() for tensor in self.inputs],
            "outputs": [tensor.to_dict() for tensor in self.outputs],
            "attrs": self._encoded_attrs(),
        }
        if self.args is not None:
            made["args"] = [argument.to_dict() for argument in self.args]
        for key in ("scalars", "mutates", "module", "module_type", "source"):
            if getattr(self, key):
                made[key] = getattr(self, key)
        return made

    def _encoded_attrs(self) -> dict[str, Any]:
        made: dict[str, Any] = {}
        for key, value in self.attrs.items():
            try:
                made[key] = encode(value)
            except TypeError as error:
                raise SerializationError(f"attribute '{key}' of node '{self.name}': {error}") from error
        return made

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> OpNode:
        args = data.get("args")
        return cls(
            data["name"],
            data["op_type"],
            [TensorMeta.from_dict(tensor) for tensor in data["inputs"]],
            [TensorMeta.from_dict(tensor) for tensor in data["outputs"]],
            {key: decode(value) for key, value in (data.get("attrs") or {}).items()},
            None if args is None else [Argument.from_dict(argument) for argument in args],
            list(data.get("scalars", ())),
            list(data.get("mutates", ())),
            data.get("module", ""),
            data.get("module_type", ""),
            data.get("source"),
        )


_SECTIONS = ("subgraphs", "symbols", "expressions", "guards", "signature")


@dataclass(repr=False, eq=False)
class IR:
    """The graph of a model without its weights. Nodes are in the order in which they run."""

    nodes: list[OpNode]
    graph_inputs: list[TensorMeta]
    graph_outputs: list[TensorMeta]
    weights: list[TensorMeta]
    weight_name_mapping: dict[str, str] = field(default_factory=dict)
    """The name of a value inside the graph, and the key of its weight."""
    constants: dict[str, torch.Tensor] = field(default_factory=dict)
    model_name: str = ""
    pytorch_version: str = ""
    subgraphs: dict[str, Any] = field(default_factory=dict)
    symbols: dict[str, Any] = field(default_factory=dict)
    expressions: dict[str, str] = field(default_factory=dict)
    guards: list[str] = field(default_factory=list)
    signature: dict[str, Any] | None = None
    format_version: str = ""
    """Empty for graphs that other tools or people made."""

    def to_dict(self) -> dict[str, Any]:
        """The document as JSON has it, with constants of any size in it."""
        return self._to_dict("")[0]

    def _to_dict(self, side_file: str) -> tuple[dict[str, Any], dict[str, torch.Tensor]]:
        made: dict[str, Any] = {}
        if self.format_version:
            made |= {"format": FORMAT, "format_version": self.format_version}
        made |= {"model_name": self.model_name, "pytorch_version": self.pytorch_version}
        for key in ("graph_inputs", "graph_outputs", "weights"):
            made[key] = [tensor.to_dict() for tensor in getattr(self, key)]
        made["weight_name_mapping"] = dict(self.weight_name_mapping)
        made["nodes"] = [node.to_dict() for node in self.nodes]
        entries, large = encode_constants(self.constants, side_file)
        if entries:
            made["constants"] = entries
        return made | {key: getattr(self, key) for key in _SECTIONS if getattr(self, key)}, large

    @classmethod
    def from_dict(cls, data: dict[str, Any], *, folder: str | os.PathLike[str] | None = None) -> IR:
        """`folder` is where the document lies, if large constants lie beside it."""
        place = None if folder is None else Path(folder)
        if not isinstance(data.get("signature"), dict | None):
            raise SerializationError("'signature' of a graph is an object")
        return cls(
            nodes=[OpNode.from_dict(node) for node in data["nodes"]],
            graph_inputs=_tensors(data["graph_inputs"]),
            graph_outputs=_tensors(data["graph_outputs"]),
            weights=_tensors(data["weights"]),
            weight_name_mapping=dict(data.get("weight_name_mapping") or {}),
            constants={
                name: decode_constant(name, entry, place) for name, entry in (data.get("constants") or {}).items()
            },
            model_name=data.get("model_name", ""),
            pytorch_version=data.get("pytorch_version", ""),
            format_version=data.get("format_version", "") if data.get("format") == FORMAT else "",
            **{key: data[key] for key in _SECTIONS if key in data},
        )

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes the document, whole or not at all."""
        path = Path(path)
        side = path.with_name(f"{path.name}.constants.safetensors")
        data, large = self._to_dict(side.name)
        text = json.dumps(data, indent=2, ensure_ascii=False)
        if large:
            write_side_file(side, large)
        with replacing(path) as temporary:
            temporary.write_text(text, encoding="utf-8")

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> IR:
        path = Path(path)
        return cls.from_dict(json.loads(path.read_text(encoding="utf-8")), folder=path.parent)

    def num_parameters(self) -> int:
        """Elements of all parameters; tied ones count once. In documents without kinds, every weight is a parameter."""
        return sum(
            _elements(weight.shape)
            for weight in self.weights
            if weight.kind in (None, "parameter") and weight.same_as is None
        )

    def __eq__(self, other: object) -> bool:
        return self.to_dict() == other.to_dict() if isinstance(other, IR) else NotImplemented

    __hash__ = None  # type: ignore[assignment]  # it can be changed

    def __repr__(self) -> str:
        return (
            f"IR(model_name={self.model_name!r}, nodes={len(self.nodes)}, inputs={len(self.graph_inputs)}, "
            f"outputs={len(self.graph_outputs)}, weights={len(self.weights)})"
        )


def _tensors(entries: Iterable[dict[str, Any]]) -> list[TensorMeta]:
    return [TensorMeta.from_dict(entry) for entry in entries]


def _elements(shape: Iterable[int | str]) -> int:
    count = 1
    for size in shape:
        count *= int(size)
    return count
