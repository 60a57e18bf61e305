"""Graph documents as text and files."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

from ingot import _core
from ingot.errors import SerializationError
from ingot.extractor.document import IR


def serialize_ir(ir: IR) -> str:
    """The document as text, with constants of any size in it."""
    return json.dumps(ir.to_dict(), indent=2, ensure_ascii=False)


def deserialize_ir(text: str) -> IR:
    """The graph of a document. One in Ingot's format is validated."""
    return _read(text, None)


def save_ir(ir: IR, path: str | os.PathLike[str]) -> None:
    """Writes the document, whole or not at all, and the folders that it needs."""
    Path(path).parent.mkdir(parents=True, exist_ok=True)
    ir.save(path)


def load_ir(path: str | os.PathLike[str]) -> IR:
    """The graph of a saved document. One in Ingot's format is validated."""
    path = Path(path)
    if not path.exists():
        raise FileNotFoundError(f"IR file not found: {path}")
    if not path.is_file():  # reading a pipe might never end
        raise SerializationError(f"IR file is no plain file: {path}")
    try:
        text = path.read_text(encoding="utf-8")
    except UnicodeDecodeError as error:
        raise SerializationError(f"Invalid JSON: {error}") from error
    return _read(text, path.parent)


def validate_ir(ir: IR, *, references: bool | None = None) -> bool:
    """True, or a `SerializationError` that lists every problem.

    `references` checks producers, order, indices, weights and arguments as well; by default where the graph was
    extracted by Ingot, since graphs of other tools may leave them out.
    """
    problems = _missing_fields(ir)
    if not problems and (ir.format_version if references is None else references):
        problems = list(_core.validate_document(_for_validation(ir)))
    _raise_if(problems)
    return True


def _for_validation(ir: IR) -> str:
    try:
        return json.dumps(ir.to_dict())
    except (TypeError, ValueError) as error:
        raise SerializationError(f"IR validation failed with 1 errors:\n  - {error}") from error


def _raise_if(problems: list[str]) -> None:
    if problems:
        lines = "\n".join(f"  - {problem}" for problem in problems)
        raise SerializationError(f"IR validation failed with {len(problems)} errors:\n{lines}")


def _missing_fields(ir: IR) -> list[str]:
    problems: list[str] = []
    seen: set[str] = set()
    for index, node in enumerate(ir.nodes):
        if not node.name:
            problems.append(f"Node {index} has no name")
        elif node.name in seen:
            problems.append(f"Duplicate node name: '{node.name}'")
        seen.add(node.name)
        if not node.op_type:
            problems.append(f"Node '{node.name}' has no op_type")
    groups = {"Graph input": ir.graph_inputs, "Graph output": ir.graph_outputs, "Weight": ir.weights}
    for what, tensors in groups.items():
        for index, tensor in enumerate(tensors):
            called = f"{what} '{tensor.name}'" if tensor.name else f"{what} {index}"
            if not tensor.name:
                problems.append(f"{called} has no name")
            if tensor.shape is None:
                problems.append(f"{called} has no shape")
            if not tensor.dtype:
                problems.append(f"{called} has no dtype")
    return problems


def _read(text: str, folder: Path | None) -> IR:
    try:
        data = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise SerializationError(f"Invalid JSON: {error}") from error
    _check_kind(data)
    try:
        if data.get("format") is not None:
            _raise_if(list(_core.validate_document(_without_files(text, data))))
        return IR.from_dict(data, folder=folder)
    except SerializationError:
        raise
    except KeyError as error:
        raise SerializationError(f"Invalid IR format: {error} is missing") from error
    except (TypeError, ValueError, AttributeError, IndexError, RuntimeError, RecursionError) as error:
        raise SerializationError(f"Invalid IR format: {error}") from error


def _without_files(text: str, data: dict[str, Any]) -> str:
    """The document without constants that lie beside it, which are checked when they are read."""
    constants = data.get("constants")
    if not isinstance(constants, dict) or not any("file" in entry for entry in constants.values()):
        return text
    return json.dumps({**data, "constants": {key: entry for key, entry in constants.items() if "file" not in entry}})


def _check_kind(data: Any) -> None:
    if not isinstance(data, dict):
        raise SerializationError(f"Invalid IR format: an object is needed, not a {type(data).__name__}")
    missing = [key for key in ("graph_inputs", "graph_outputs", "weights", "nodes") if key not in data]
    if missing:
        raise SerializationError(f"Invalid IR format: missing {', '.join(map(repr, missing))}")
