"""From exported programs to converted ones."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, NamedTuple

from ingot import _core
from ingot._lowering import LoweringFunction, Lowerings, check_name
from ingot._names import dimension_names, rename_symbols
from ingot._paths import path_text
from ingot._tracing import tracing
from ingot.errors import UsageError
from ingot.program import Program

if TYPE_CHECKING:
    import torch
    from torch.export import ExportedProgram

    from ingot._serialize import KeptWeights


@dataclass(frozen=True)
class Part:
    """An exported program, and what it becomes: an entry point or the body of an operator."""

    program: ExportedProgram
    function: str
    role: Mapping[str, Any]
    """As runtime/CompilerApi.h has it."""
    dimensions: Mapping[str, str]
    """Names of sizes by the symbols that stand for them."""

    @staticmethod
    def entry(
        program: ExportedProgram,
        name: str = "main",
        dynamic_shapes: Any = None,
        input_names: Sequence[str] = (),
        output_names: Sequence[str] = (),
        state_names: Sequence[str] = (),
        placeholder_names: bool = False,
    ) -> Part:
        """`placeholder_names`: without `state_names`, states are called as the inputs of the graph, `b_cache` and not
        `cache`."""
        role = {
            "entry": name,
            "input_names": list(input_names),
            "output_names": list(output_names),
            "state_names": list(state_names),
            "placeholder_names": placeholder_names,
        }
        return Part(program, name, role, dimension_names(program, dynamic_shapes))

    @staticmethod
    def body(
        program: ExportedProgram, op: str, symbol: str, weight_prefix: str, declaration: str, metal_kernel: str = ""
    ) -> Part:
        role = {"body_of": op, "symbol": symbol, "weight_prefix": weight_prefix, "declaration": declaration}
        role["metal_kernel"] = metal_kernel
        return Part(program, symbol, role, {})


def convert_parts(
    parts: Sequence[Part], options: Mapping[str, Any], functions: Mapping[str, LoweringFunction] | None = None
) -> Program:
    """One program of all parts. They share weights that lie at one place, and states of one name."""
    origin = Origin(parts, options, functions or {})
    staged = origin.stage()
    with staged.lowerings.errors():
        converted = _core.Converted.convert(staged.given, staged.options, staged.lowerings.rows())
    return Program(
        converted,
        fallback=bool(options.get("fallback", False)),
        disable_passes=options.get("disable_passes", ()),
        _returns_torch=True,
        _kept=staged.kept,
        _origin=origin,
    )


class Staged(NamedTuple):
    """Parts as the compiler takes them."""

    parts: list[Part]
    given: list[tuple[bytes, list[_core.WeightRef], str]]
    options: str
    lowerings: Lowerings
    kept: list[KeptWeights]
    """What the weights point into."""


@dataclass(frozen=True)
class Origin:
    """What a program is converted from, and how."""

    parts: Sequence[Part]
    options: Mapping[str, Any]
    functions: Mapping[str, LoweringFunction]

    def stage(self) -> Staged:
        with tracing():
            return self._stage()

    def _stage(self) -> Staged:
        from ingot._serialize import copied_states, custom_schemas, serialize, without_transforms

        parts = [_without_compressed_ops(part, self.functions) for part in self.parts]
        parts = [replace(part, program=without_transforms(part.program)) for part in parts]
        copies = copied_states(part.program for part in parts)
        serialized = [serialize(part.program, copies) for part in parts]
        schemas = dict.fromkeys(schema for part in parts for schema in custom_schemas(part.program))
        given = [
            (rename_symbols(program.json, part.dimensions), program.weights, json.dumps(part.role))
            for part, program in zip(parts, serialized, strict=True)
        ]
        lowerings = Lowerings(self.functions, {part.function: part.program for part in parts})
        kept = [program.kept for program in serialized]
        return Staged(parts, given, json.dumps({**self.options, "schemas": list(schemas)}), lowerings, kept)


def _without_compressed_ops(part: Part, functions: Mapping[str, LoweringFunction]) -> Part:
    """Compressed weights as plain torch computes them, except for operators with a lowering of the caller's."""
    if "ingot.compression" not in sys.modules:  # which defines these operators
        return part
    from ingot.compression import inline_compressed_ops

    return replace(part, program=inline_compressed_ops(part.program, keep={check_name(name) for name in functions}))


def convert(
    model: torch.nn.Module | ExportedProgram | str | os.PathLike[str],
    args: Any = (),
    kwargs: Mapping[str, Any] | None = None,
    *,
    dynamic_shapes: Any = None,
    strict: bool = False,
    disable_passes: Sequence[str] = (),
    fallback: bool = False,
    lowerings: Mapping[str, LoweringFunction] | None = None,
    plugins: Sequence[str | os.PathLike[str]] = (),
    keep_paths: bool = False,
    program: str = "",
) -> Program:
    """Converts a module (exported with `args`, as it is, unchanged), an ExportedProgram or a .pt2 file.

    With `fallback`, operators without a native form stay and run with PyTorch; `Program.fallback_ops` lists them.
    `lowerings` are functions for operators by name ("acme::softclip"), asked before Ingot's own; see `ingot.lowering`.
    `plugins` are libraries with lowerings written in C or C++. Paths of source files become relative ones, unless
    `keep_paths`. `program` is the name of one in a .pt2 file with several.
    """
    options: dict[str, Any] = {"disable_passes": list(disable_passes), "fallback": fallback}
    options["keep_paths"] = keep_paths
    options["plugins"] = [os.fspath(path) for path in plugins]
    if isinstance(model, str | bytes | os.PathLike):
        if lowerings:
            raise UsageError("lowerings in Python need FX nodes, which a .pt2 file has not; load it with torch")
        if args or kwargs or dynamic_shapes or strict:
            raise UsageError("a .pt2 file has its arguments already: pass it alone")
        options["program"] = program
        return Program._made_in(
            lambda path: _core.convert_file(path_text(model), path, False, json.dumps(options)),
            fallback,
            disable_passes,
        )
    if program:
        raise UsageError("program= is for .pt2 files that hold several programs")
    exported = export(model, args, kwargs, dynamic_shapes, strict)
    return convert_parts([Part.entry(exported, dynamic_shapes=dynamic_shapes)], options, lowerings)


def export(model: Any, args: Any, kwargs: Mapping[str, Any] | None, dynamic_shapes: Any, strict: bool) -> Any:
    import torch

    if isinstance(model, torch.export.ExportedProgram):
        if args or kwargs or dynamic_shapes:
            raise UsageError("an ExportedProgram has its arguments already: pass it alone")
        return model
    if not isinstance(model, torch.nn.Module):
        raise UsageError(f"a module, an ExportedProgram or a .pt2 file is needed, not {type(model).__name__}")
    if isinstance(args, torch.Tensor):
        args = (args,)
    if not isinstance(args, Sequence):
        raise UsageError(f"args are the model's arguments as a tuple, not {type(args).__name__}")
    if not isinstance(kwargs, Mapping | None):
        raise UsageError(f"kwargs are the model's arguments by name, as a dict, not {type(kwargs).__name__}")
    with tracing(), torch.no_grad():
        return torch.export.export(model, tuple(args), dict(kwargs or {}), dynamic_shapes=dynamic_shapes, strict=strict)
