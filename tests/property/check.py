"""Compares a case in Ingot with eager: all passes, no passes, and each pass alone in turn."""

from __future__ import annotations

import ast
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import ingot
import torch
from conformance.compare import difference
from conformance.exact import is_near
from property.case import Case, build, target
from property.evaluate import (
    MANY_SHADOWS,
    SCOPE,
    UndeterminedError,
    check_determined,
    execute,
    is_inexact,
    quiet,
    start,
    wide_outputs,
)
from torch.export import Dim

PASS_TABLE = Path(__file__).parents[2] / "src" / "pipeline" / "PassRunner.cpp"
# A symbol of a size takes these on top of the size it was exported with.
OTHER_SIZES = (2, 3, 5, 9)


def optional_passes() -> list[str]:
    """The passes that can be left out, from the table of the pipeline."""
    rows = re.findall(r'\{Phase::\w+, (?:"([\w-]+)"|kDeclareComposites), (true|false)', PASS_TABLE.read_text())
    return [name for name, required in rows if name and required == "false"]


PASSES = optional_passes()


@dataclass(frozen=True)
class Verdict:
    """`status` is right, wrong, refused (no native form), failed (another error), or void (nothing to compare)."""

    status: str
    detail: str = ""

    @property
    def is_bad(self) -> bool:
        return self.status in ("wrong", "failed", "refused")


def variants(seed: int) -> dict[str, list[str]]:
    """The passes to leave out, by what is then tested."""
    alone = PASSES[seed % len(PASSES)]
    return {
        "optimised": [],
        "unoptimised": PASSES,
        f"only {alone}": [name for name in PASSES if name != alone],
    }


def export(case: Case, is_decomposed: bool = False) -> torch.export.ExportedProgram:
    """`is_decomposed`: as many tools want it, functional and of fewer operators."""
    shapes = {given.name: {axis: Dim.AUTO for axis in given.dynamic} for given in case.inputs}
    is_dynamic = any(given.dynamic for given in case.inputs)
    with quiet():
        inputs = tuple(given.make() for given in case.inputs)
        made = torch.export.export(build(case), inputs, dynamic_shapes=shapes if is_dynamic else None, strict=False)
        return made.run_decompositions() if is_decomposed else made


def symbolic_shapes(program: torch.export.ExportedProgram, case: Case) -> dict[str, Sequence[Any]]:
    found = {node.name: node.meta.get("val") for node in program.graph.nodes if node.op == "placeholder"}
    return {given.name: found[given.name].shape for given in case.inputs if given.name in found}


def other_shapes(program: torch.export.ExportedProgram, case: Case, step: int) -> dict[str, tuple[int, ...]] | None:
    """The inputs' shapes with other sizes for symbols; none where there are no symbols of their own."""
    sizes: dict[str, int] = {}
    shapes = {}
    for given in case.inputs:
        shape = []
        for size, old in zip(symbolic_shapes(program, case).get(given.name, given.shape), given.shape, strict=True):
            expression = size.node.expr if isinstance(size, torch.SymInt) else None
            if expression is None or not expression.is_Symbol:
                shape.append(old)
                continue
            bounds = program.range_constraints[expression]
            wanted = min(max(OTHER_SIZES[(step + len(sizes)) % len(OTHER_SIZES)], int(bounds.lower)), 40)
            shape.append(sizes.setdefault(str(expression), wanted))
        shapes[given.name] = tuple(shape)
    return shapes if sizes else None


def is_stateful(case: Case) -> bool:
    return any(target(line)[0] == "w" for line in case.lines)


def call(function: Any, case: Case, shapes: Mapping[str, tuple[int, ...]], calls: int) -> list[Any]:
    """The results of so many calls, and the inputs after the last."""
    results: list[Any] = []
    for _ in range(calls):
        inputs = [given.make(shapes.get(given.name)) for given in case.inputs]
        with quiet():
            results += [value.clone() for value in function(*inputs)]
    # The caller's tensors keep their shapes (docs/robustness.md): what `transpose_` makes of them is turned back.
    shown = [given.make(shapes.get(given.name)) for given in case.inputs]
    return results + [now.as_strided(was.shape, was.stride()) for now, was in zip(inputs, shown, strict=True)]


def compare(case: Case, actual: list[Any], expected: list[Any], shapes: Mapping[str, tuple[int, ...]]) -> str:
    names = list(case.outputs) * ((len(expected) - len(case.inputs)) // len(case.outputs))
    names += [f"{given.name} after the call" for given in case.inputs]
    wide = None
    for number, (ours, theirs) in enumerate(zip(actual, expected, strict=True)):
        found = difference(ours, theirs, shape_only=False)
        if not found:
            continue
        if is_inexact(theirs) and number < len(case.outputs) and ours.shape == theirs.shape:
            wide = wide or wide_outputs(case, shapes)
            if wide and wide[number].shape == theirs.shape and is_near(ours, theirs, wide[number]):
                continue
        return f"{names[number]}: {found}\nIngot {describe(ours)}\neager {describe(theirs)}"
    return ""


def describe(value: torch.Tensor) -> str:
    return f"{list(value.shape)} {value.flatten()[:12].tolist()}"


def check(case: Case, seed: int = 0, only: Sequence[str] = ()) -> Verdict:
    """`only` names the variants to run; by default all of this seed."""
    calls = 2 if is_stateful(case) else 1
    shapes: dict[str, tuple[int, ...]] = {given.name: given.shape for given in case.inputs}
    try:
        check_determined(case, shapes, calls)
        program = export(case, is_decomposed := seed % 5 == 4)
    except Exception as error:  # torch.export has limits of its own
        return Verdict("void", f"{type(error).__name__}: {error}")
    runs = [shapes] + [other for step in range(2) if (other := other_shapes(program, case, step))]
    expectations = [(run, expectation(case, run, calls)) for run in runs]
    for name, left_out in variants(seed).items():
        if only and name not in only:
            continue
        verdict = check_variant(case, program, left_out, expectations, calls)
        if verdict.is_bad and (excuse := excuse_of(verdict, case, program, is_decomposed, expectations, calls)):
            return Verdict("void", excuse)
        if verdict.is_bad:
            return Verdict(verdict.status, f"{name}: {verdict.detail}")
    return Verdict("right")


def excuse_of(verdict: Verdict, case: Case, program: Any, is_decomposed: bool, runs: Sequence[Any], calls: int) -> str:
    """Why nobody could do better with what PyTorch has exported; empty where there is no such reason."""
    if not is_exported_well(case, is_decomposed, runs, calls):
        return "the program that PyTorch exported gives other results than eager"
    if not all(keeps_promises(case, shapes) for shapes, _ in runs):
        return "the export promises other ranks or strides than eager has"
    compared = [shapes for shapes, expected in runs if expected is not None]
    if verdict.status == "wrong" and any(follows_from_rounding(case, shapes, calls) for shapes in compared):
        return "the result follows from how numbers are rounded"
    if "as the sizes are" in verdict.detail and not shares_alike(case, program):
        return "whether something is a view follows from the sizes"
    return ""


def follows_from_rounding(case: Case, shapes: Mapping[str, tuple[int, ...]], calls: int) -> bool:
    """Whether one of many shadows of eager differs from it."""
    try:
        check_determined(case, shapes, calls, MANY_SHADOWS)
    except UndeterminedError:
        return True
    return False


class BrokenPromiseError(Exception):
    """A value is not as the export says."""


class PromiseCheck(torch.fx.Interpreter):
    def run_node(self, n: torch.fx.Node) -> Any:
        value, promised = super().run_node(n), n.meta.get("val")
        if not isinstance(value, torch.Tensor) or not isinstance(promised, torch.Tensor):
            return value
        if value.dim() != promised.dim():
            raise BrokenPromiseError(f"{n.name} has another rank")
        is_seen_as_memory = any(user.target is torch.ops.aten.as_strided.default for user in n.users)
        if is_seen_as_memory and value.stride() != promised.stride():
            raise BrokenPromiseError(f"{n.name} has other strides")
        return value


def keeps_promises(case: Case, shapes: Mapping[str, tuple[int, ...]]) -> bool:
    """Whether values have the ranks that the export says, and the strides where something looks at them.

    It takes sizes that follow from values not to be 1, and the strides of `pow(2.0, x.mT)` are others in eager.
    """
    program = PromiseCheck(export(case).module())
    try:
        with quiet():
            program.run(*[given.make(shapes.get(given.name)) for given in case.inputs])
    except BrokenPromiseError:
        return False
    except (AssertionError, RuntimeError):
        pass
    return True


def shares_alike(case: Case, program: Any) -> bool:
    """Whether the same values share memory whatever the sizes are."""
    sizes = [{}, *(other_shapes(program, case, step) or {} for step in range(len(OTHER_SIZES)))]
    return len({sharing(case, shapes) for shapes in sizes} - {None}) == 1


def sharing(case: Case, shapes: Mapping[str, tuple[int, ...]]) -> tuple[str, ...] | None:
    """For every value the first one in the same memory; none where eager does not take these sizes."""
    values = start(case, shapes).values
    try:
        with quiet():
            for number, line in enumerate(case.lines):
                if written := receiver(line):
                    values[f"line {number}"] = eval(written, dict(SCOPE), values)
                execute(line, values, SCOPE)
    except (RuntimeError, IndexError):
        return None
    places: dict[int, str] = {}
    return tuple(places.setdefault(value.untyped_storage().data_ptr(), name) for name, value in values.items())


def receiver(line: str) -> str:
    """What a line writes to, which may be a view or a copy without a name; empty where it defines a value."""
    match ast.parse(line).body[0]:
        case ast.Assign(targets=[ast.Subscript(value=written)]) | ast.AugAssign(target=ast.Subscript(value=written)):
            return ast.unparse(written)
        case ast.Expr(value=ast.Call(func=ast.Attribute(value=written))):
            return ast.unparse(written)
    return ""


def is_exported_well(case: Case, is_decomposed: bool, runs: Sequence[Any], calls: int) -> bool:
    """Whether PyTorch itself gets eager's results from the exported program."""
    for shapes, expected in runs:
        try:
            actual = call(export(case, is_decomposed).module(), case, shapes, calls)
        except (AssertionError, RuntimeError, NameError):  # torch writes complex numbers without NaN only
            if is_decomposed:
                return False
            continue  # it may be for fewer sizes than its symbols say
        if expected is not None and compare(case, actual, expected, shapes):
            return False
    return True


def is_allowed(case: Case, shapes: Mapping[str, tuple[int, ...]]) -> bool:
    """Whether the exported program takes these sizes: it may be for fewer than its symbols say, or than numbers of
    results that follow from values. Then Ingot may refuse them; what it computes must be right all the same."""
    try:
        call(export(case).module(), case, shapes, 1)  # an export of its own: the call changes its buffers
    except (AssertionError, RuntimeError):
        return False
    return True


def expectation(case: Case, shapes: Mapping[str, tuple[int, ...]], calls: int) -> list[Any] | None:
    """Eager's results; none where they are not to be compared."""
    try:
        check_determined(case, shapes, calls)
        return call(build(case), case, shapes, calls)
    except UndeterminedError:
        return None


def check_variant(case: Case, program: Any, left_out: Sequence[str], runs: Sequence[Any], calls: int) -> Verdict:
    try:
        converted = ingot.convert(program, disable_passes=left_out)
        for shapes, expected in runs:
            if expected is None:
                continue
            try:
                actual = call(converted.session(), case, shapes, calls)
            except ingot.IngotError:
                if is_allowed(case, shapes):
                    raise
                continue
            if found := compare(case, actual, expected, shapes):
                return Verdict("wrong", f"{dict(shapes)}: {found}")
    except ingot.UnsupportedError as error:
        return Verdict("refused", str(error))
    except ingot.IngotError as error:
        return Verdict("failed", f"{type(error).__name__}: {error}")
    return Verdict("right")
