"""Compares a model in Ingot with eager PyTorch, node by node.

report = ingot.verify(model, inputs=(x,))
assert report, str(report)
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any

import torch
from torch.utils import _pytree as pytree

from ingot import _core
from ingot._eager import Eager, copied, plain, same_buffers, seeded
from ingot._external_ops import NAMESPACE
from ingot._progress import Progress, ProgressOption
from ingot._serialize import weight_ref
from ingot._tracing import tracing
from ingot.conversion import Origin, Part, export
from ingot.errors import UnsupportedError, UsageError
from ingot.program import Program

if TYPE_CHECKING:
    from ingot._lowering import LoweringFunction


@dataclass(frozen=True)
class Departure:
    """The first node whose value is another one in Ingot than in eager."""

    node: str
    op: str
    """As "aten.gelu.default"."""
    value: str
    """The result of the node that departs, and its element type and shape."""
    type: str
    file: str
    line: int
    function: str
    code: str
    """Where in Python it comes from."""
    module: str
    module_type: str
    problem: str
    """What is wrong other than elements: dtype or shape."""
    elements_beyond: int
    ratio: float | str
    """The largest difference in units of what is allowed."""
    largest_difference: float | str
    where: list[int]
    eager_there: str
    ingot_there: str
    eager: dict[str, Any]
    """Statistics: min, max, mean, nan, inf, first."""
    ingot: dict[str, Any]
    operands: list[dict[str, str]]
    call: str
    """The node as Python; tensors are `t[name]`, which `save_inputs` saves."""
    saved_to: str


@dataclass(frozen=True)
class Verification:
    """What `verify` found. True if nothing departs; `str()` tells people."""

    equal: bool
    verdict: str
    """"equal"; "lowering": a node alone departs; "company": only among others (fusion); "adds_up": rounding grew beyond
    reason; "outputs": nodes were not looked at; "export": the exported graph departs from the model itself."""
    departure: Departure | None
    also_departing: list[str]
    nodes: int
    compared: int
    """Nodes that were compared one by one."""
    runs: int
    """How often a program was converted and run."""
    rounding: float | str
    """Largest difference of the outputs, in units of what one operator is allowed."""
    left_out: list[dict[str, str]]
    notes: list[str]
    text: str

    def __bool__(self) -> bool:
        return self.equal

    def __str__(self) -> str:
        return self.text

    def to_dict(self) -> dict[str, Any]:
        """All of it as plain data, as `ingot verify --json` prints it."""
        described = {field.name: getattr(self, field.name) for field in fields(self) if field.name != "text"}
        return {**described, "departure": None if self.departure is None else dict(vars(self.departure))}


def verify(
    program: Any,
    model: torch.nn.Module | None = None,
    inputs: Any = None,
    kwargs: Mapping[str, Any] | None = None,
    *,
    per_node: bool = True,
    bisect: bool = False,
    entry: str = "",
    weights: Mapping[str, torch.Tensor] | None = None,
    rtol: float | None = None,
    atol: float | None = None,
    save_inputs: str | os.PathLike[str] | None = None,
    dynamic_shapes: Any = None,
    lowerings: Mapping[str, LoweringFunction] | None = None,
    plugins: Sequence[str | os.PathLike[str]] = (),
    fallback: bool = False,
    progress: ProgressOption = True,
) -> Verification:
    """Runs a model in Ingot and in eager, side by side, and names the first node that departs.

    `program` is what `ingot.convert` or a TorchConverter gave, an ExportedProgram, a module, a .pt2 file, or an IR
    from `ingot.extract_ir` (then `model` has the weights, or `weights` is a state dict). With `model`, the exported
    graph is compared with the model itself too. `inputs` and `kwargs` are the arguments of a call; without them the
    exported example is taken.

    Every node is run alone, fed with eager's values; then the whole program is. With `bisect`, the whole program is run
    a few times and looked at in a few places, which takes less memory. Without `per_node`, outputs alone are compared.
    Tolerances are those of `torch.testing.assert_close` by element type, plus rounding of the tensor's largest element,
    unless `rtol` and `atol` say otherwise. `save_inputs` is a folder for the operands of the node that departs.
    """
    if isinstance(inputs, torch.Tensor):
        inputs = (inputs,)
    how = _How(per_node, bisect, rtol, atol, os.fspath(save_inputs or ""), progress)
    if _is_ir(program):
        if lowerings:
            raise UsageError("lowerings in Python need FX nodes, which an IR has not; verify an ExportedProgram")
        return _verify_ir(program, model, weights, inputs, kwargs, plugins, how)
    options = {"fallback": fallback, "plugins": [os.fspath(path) for path in plugins]}
    origin = _origin(program, inputs, kwargs, dynamic_shapes, options, dict(lowerings or {}))
    staged = _only_entry(origin, entry).stage()
    exported = staged.parts[0].program
    args, named = _arguments(exported, inputs, kwargs)
    eager = Eager(exported, args, named)
    with staged.lowerings.errors():
        report = how.run(
            staged.given, staged.options, staged.lowerings.rows(), _tensors(exported, args, named), eager.look
        )
    if model is None or not report:
        return report
    results = list(eager.outputs())
    results = results[len(results) - len(exported.graph_signature.user_outputs) :]
    return _compared_with(report, model, args, named, results, how)


@dataclass(frozen=True)
class _How:
    per_node: bool
    bisect: bool
    rtol: float | None
    atol: float | None
    save_to: str
    progress: ProgressOption

    def run(
        self,
        parts: Sequence[tuple[bytes, Sequence[_core.WeightRef], str]],
        options: str,
        lowerings: Sequence[tuple[str, Any]],
        inputs: Mapping[str, torch.Tensor],
        eager: Any,
    ) -> Verification:
        refs = [weight_ref(name, tensor, False, False) for name, tensor in inputs.items()]
        asked = (self.per_node, self.bisect, self.rtol, self.atol, self.save_to)
        with Progress(self.progress, 1) as bar:
            report = json.loads(_core.verify(parts, options, lowerings, refs, eager, *asked, bar.set))
        departure = report.pop("departure")
        return Verification(**report, departure=None if departure is None else Departure(**departure))


def _is_ir(program: Any) -> bool:
    from ingot.extractor import IR

    return isinstance(program, IR)


def _verify_ir(
    ir: Any,
    model: torch.nn.Module | None,
    weights: Mapping[str, torch.Tensor] | None,
    inputs: Any,
    kwargs: Mapping[str, Any] | None,
    plugins: Sequence[str | os.PathLike[str]],
    how: _How,
) -> Verification:
    """Of a graph without weights; PyTorch's library runs its nodes one by one, as they stand there."""
    from ingot.extractor._native import python_calls, stage
    from ingot.extractor.executor import IRExecutor

    if weights is None and model is not None:
        weights = {**model.state_dict(), **dict(model.named_buffers())}
    if inputs is None and kwargs is None:
        raise UsageError("a graph without weights has no example inputs; pass some with inputs=")
    executor = IRExecutor(ir, weights or {})
    given = executor._inputs(inputs or (), kwargs)
    calls = python_calls(ir)
    part, options, kept = stage(ir, executor._tensors(), calls)
    options = json.dumps({**json.loads(options), "plugins": [os.fspath(path) for path in plugins]})
    report = how.run([part], options, [], {name: plain(tensor) for name, tensor in given.items()}, None)
    del kept, calls  # what the weights and the nodes in Python needed until here
    if model is None or not report:
        return report
    args = tuple(inputs or ())
    return _compared_with(report, model, args, dict(kwargs or {}), executor.execute(args, kwargs), how)


def _origin(
    program: Any,
    inputs: Any,
    kwargs: Mapping[str, Any] | None,
    dynamic_shapes: Any,
    options: Mapping[str, Any],
    functions: Mapping[str, LoweringFunction],
) -> Origin:
    if isinstance(program, Program):
        if program._origin is None:
            raise UsageError("a program that was loaded does not say what it was converted from; pass its .pt2 file")
        if functions or options["plugins"] or options["fallback"]:
            raise UsageError("a program has its lowerings already")
        return program._origin
    if isinstance(program, str | os.PathLike):
        program = torch.export.load(os.fspath(program))
    if isinstance(program, torch.nn.Module):
        if inputs is None and kwargs is None:
            raise UsageError("a module needs inputs to be exported with")
        program = export(program, tuple(inputs or ()), kwargs, dynamic_shapes, strict=False)
    if not isinstance(program, torch.export.ExportedProgram):
        raise UsageError(
            f"a Program, an ExportedProgram, a module, an IR or a .pt2 file is needed, not {type(program).__name__}"
        )
    return Origin([Part.entry(program, dynamic_shapes=dynamic_shapes)], options, functions)


def _only_entry(origin: Origin, name: str) -> Origin:
    """One entry point, called as exported, and the bodies that it may use."""
    entries = {part.function: part for part in origin.parts if "entry" in part.role}
    if name not in entries and (name or len(entries) != 1):
        problem = f"there is no entry point '{name}'" if name else "there are several entry points"
        raise UsageError(f"{problem}; choose one with entry=: {', '.join(entries)}")
    part = entries[name] if name else next(iter(entries.values()))
    bodies = [body for body in origin.parts if not body.role.get("body_of", NAMESPACE).startswith(NAMESPACE)]
    schemas = (getattr(node.target, "_schema", None) for node in part.program.graph.nodes)
    if any(schema is not None and schema.name.startswith(NAMESPACE + "::") for schema in schemas):
        raise UnsupportedError(
            "modules that are kept whole exist in eager only while they are converted; verify the model converted "
            "without externalizing them"
        )
    chosen = Part(part.program, part.function, {"entry": part.function}, part.dimensions)
    return Origin([chosen, *bodies], origin.options, origin.functions)


def _arguments(program: Any, inputs: Any, kwargs: Mapping[str, Any] | None) -> tuple[tuple[Any, ...], dict[str, Any]]:
    if inputs is not None or kwargs is not None:
        return tuple(inputs or ()), dict(kwargs or {})
    if program.example_inputs is None:
        raise UsageError("the program has no example inputs; pass some with inputs=")
    args, named = program.example_inputs
    return tuple(args), dict(named)


def _tensors(program: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> dict[str, torch.Tensor]:
    """The user's inputs by their names in the graph; numbers are tensors too."""
    values = pytree.arg_tree_leaves(*args, **kwargs)
    return {
        name: plain(value if isinstance(value, torch.Tensor) else torch.tensor(value))
        for name, value in zip(program.graph_signature.user_inputs, values, strict=True)
        if isinstance(name, str) and isinstance(value, torch.Tensor | bool | int | float)
    }


def _compared_with(
    report: Verification,
    model: torch.nn.Module,
    args: tuple[Any, ...],
    kwargs: dict[str, Any],
    results: Sequence[Any],
    how: _How,
) -> Verification:
    """The report, or another one if the model's own results are not those of the graph."""
    with tracing(), torch.no_grad(), seeded(), same_buffers(model):
        own = model(*copied(args), **copied(kwargs))
    problem = _difference(_leaves(own), _leaves(results), how) or _other_difference(own, results)
    if not problem:
        return report
    text = f"departs: the exported graph is another one than the model: {problem}\n"
    values = {field.name: getattr(report, field.name) for field in fields(report)}
    changed = {"equal": False, "verdict": "export", "text": text, "notes": [*report.notes, problem]}
    return Verification(**{**values, **changed})


def _leaves(results: Any) -> list[torch.Tensor]:
    return [plain(leaf) for leaf in pytree.tree_leaves(results) if isinstance(leaf, torch.Tensor)]


def _other_difference(own: Any, results: Any) -> str:
    """Of results that are no tensors. A graph without weights does not give them."""
    expected, actual = (
        [leaf for leaf in pytree.tree_leaves(each) if isinstance(leaf, bool | int | float | str)]
        for each in (own, results)
    )
    for left, right in zip(expected, actual, strict=False):
        if left != right and not (left != left and right != right):
            return f"the model gives {left!r}, the graph {right!r}"
    return (
        f"the model gives {len(expected)} numbers and texts, the graph {len(actual)}"
        if (actual and len(expected) != len(actual))
        else ""
    )


def _difference(expected: list[torch.Tensor], actual: list[torch.Tensor], how: _How) -> str:
    if len(expected) != len(actual):
        return f"the model gives {len(expected)} tensors, the graph {len(actual)}"
    for i, pair in enumerate(zip(expected, actual, strict=True)):
        left, right = (weight_ref(str(i), tensor, False, False) for tensor in pair)
        if problem := _core.compare_tensors(left, right, how.rtol, how.atol):
            return f"output {i}: the graph gives {problem}"
    return ""
