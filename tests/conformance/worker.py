"""Runs conformance cases in a process of its own, so that a crash takes one case with it and no more.

Reads one JSON job a line: {"entry", "dtype", "first", "limit"}, or {"dynamic": line of dynamic_cases.txt}. Writes one
JSON line when a case starts, one when eager has run it, one when it ends, and {"done": true} after the last.
"""

from __future__ import annotations

import io
import itertools
import json
import os
import sys
import warnings
from typing import Any

import ingot
import torch
from conformance.cases import Sample, Unit
from conformance.compare import mismatch, without_gauge
from conformance.dynamic import DynamicCase
from conformance.exact import is_as_exact
from conformance.exceptions import Kind, find
from conformance.sampling import other_seeds, random_mismatch
from torch.utils import _pytree as pytree

SEED = 42  # also what the database's own wrapper of random operators sets


def tensors_of(value: Any) -> list[Any]:
    return [leaf for leaf in pytree.tree_leaves(value) if leaf is not None]


def quietly(call: Any, *args: Any, **kwargs: Any) -> Any:
    with torch.no_grad(), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return call(*args, **kwargs)


def export(module: Sample) -> torch.export.ExportedProgram:
    return quietly(torch.export.export, module, module.fresh_inputs(), strict=False)


def convert(exported: torch.export.ExportedProgram) -> tuple[Any, str, str]:
    """The program, the status it will have when its results are right, and why it is not native."""
    try:
        return ingot.convert(exported), "native", ""
    except ingot.UnsupportedError as error:
        reason = str(error)
    try:
        return ingot.convert(exported, fallback=True), "fallback", reason
    except ingot.UnsupportedError as error:
        return None, "refused", str(error)


def is_saveable(exported: torch.export.ExportedProgram) -> bool:
    """Whether torch itself can write the program down: it has no form for sparse inputs, for one."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            torch.export.save(exported, io.BytesIO())
    except Exception:
        return False
    return True


def compared(unit: Unit, module: Sample, program: Any, expected: list[Any], draws_like_eager: bool) -> str:
    """What is wrong with the results; empty when nothing is. Operators that PyTorch runs draw eager's numbers."""

    def run() -> list[Any]:
        return tensors_of(program(*module.fresh_inputs()))

    def eager() -> list[Any]:
        return tensors_of(quietly(module, *module.fresh_inputs()))

    is_random = find(Kind.RANDOM, unit.name) or (find(Kind.SOMETIMES_RANDOM, unit.name) and differs(eager))
    if is_random and not draws_like_eager:
        return random_mismatch(lambda: without_gauge(unit.name, run()), lambda: without_gauge(unit.name, eager()))
    torch.manual_seed(SEED)
    actual = run()
    found = mismatch(unit.name, actual, expected)
    return "" if found and quietly(is_as_exact, unit.name, module, actual, expected) else found


def differs(call: Any) -> bool:
    """Whether one of several calls gives something else: small results are the same by chance now and then."""
    with other_seeds():
        first = call()
        return any(not torch.equal(left, right) for _ in range(12) for left, right in zip(first, call(), strict=True))


def outcome(unit: Unit, module: Sample, say: Any) -> tuple[str, str]:
    """Status and detail of one case. Says when eager has survived it: on some CPUs it does not."""
    try:
        torch.manual_seed(SEED)
        expected = quietly(module, *module.fresh_inputs())
    except Exception as error:
        return "eager", f"{type(error).__name__}: {error}"
    say({"survived": True})
    if any(isinstance(leaf, torch.Tensor) and leaf.layout != torch.strided for leaf in tensors_of(expected)):
        return "export", "the result is sparse, which no program can hold"
    try:
        exported = export(module)
    except Exception as error:
        return "export", f"{type(error).__name__}: {str(error)[:300]}"
    if not exported.graph_signature.output_specs:
        return "export", "torch.export.save fails for programs without results"
    try:
        program, status, detail = convert(exported)
        if program is None:
            return status if is_saveable(exported) else "export", detail
        found = compared(unit, module, program, tensors_of(expected), draws_like_eager=status == "fallback")
    except Exception as error:
        status = "wrong" if is_saveable(exported) else "export"
        return status, f"{type(error).__name__}: {error}"
    return ("wrong", found) if found else (status, detail)


def dynamic_outcome(case: DynamicCase) -> tuple[str, str]:
    module = case.module()
    try:
        exported = quietly(
            torch.export.export, module, case.inputs(0), dynamic_shapes=case.dynamic_shapes(), strict=False
        )
    except Exception as error:
        return "export", f"{type(error).__name__}: {str(error)[:300]}"
    try:
        program, status, detail = convert(exported)
        if program is None:
            return status, detail
        for turn in range(3):
            inputs = case.inputs(turn)
            expected = quietly(module, *[value.clone() for value in inputs])
            if found := mismatch(case.name, tensors_of(program(*inputs)), tensors_of(expected)):
                return "wrong", f"sizes {[list(value.shape) for value in inputs]}: {found}"
    except Exception as error:
        return "wrong", f"{type(error).__name__}: {error}"
    return status, detail


def run_job(job: dict[str, Any], say: Any) -> None:
    if "dynamic" in job:
        say({"start": 0})
        say({"survived": True})
        status, detail = dynamic_outcome(DynamicCase(job["dynamic"]))
        say({"end": 0, "status": status, "detail": detail})
        say({"done": True})
        return
    unit = Unit(job["entry"], job["dtype"])
    last = job["first"] + job["limit"] if job.get("limit") else None
    try:
        for number, sample in enumerate(itertools.islice(unit.samples(), last)):
            if number < job["first"]:
                continue
            say({"start": number})
            status, detail = outcome(unit, unit.module(sample), say)
            say({"end": number, "status": status, "detail": detail})
    except Exception as error:
        say({"start": -1})
        say({"end": -1, "status": "eager", "detail": f"no samples: {type(error).__name__}: {error}"})
    say({"done": True})


def main() -> None:
    # What libraries print must not get between the messages.
    messages = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    torch.set_num_threads(1)
    ingot.set_num_threads(1)

    def say(message: dict[str, Any]) -> None:
        print(json.dumps(message), file=messages, flush=True)

    for line in sys.stdin:
        run_job(json.loads(line), say)


if __name__ == "__main__":
    main()
