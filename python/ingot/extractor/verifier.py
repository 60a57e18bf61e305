"""Is a graph the model? Both are run, and their outputs compared."""

from __future__ import annotations

import contextlib
import operator
import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import torch
from torch.utils import _pytree as pytree

from ingot.extractor._values import dtype_name
from ingot.extractor.document import IR
from ingot.extractor.executor import IRExecutor
from ingot.extractor.weights import fitted_to, load_weights


@dataclass
class VerificationReport:
    """What the comparison found. Differences are the largest over all outputs."""

    is_valid: bool
    max_diff: float = 0.0
    mean_diff: float = 0.0
    num_outputs: int = 0
    output_details: list[dict[str, Any]] = field(default_factory=list)
    """Of each output: index, shape, dtype, is_close, max_diff, mean_diff, and why it is not close."""
    error_message: str | None = None

    def __str__(self) -> str:
        if self.is_valid:
            differences = f"max_diff={self.max_diff:.2e}, mean_diff={self.mean_diff:.2e}"
            return f"Verification PASSED: {self.num_outputs} outputs, {differences}"
        lines = [f"Verification FAILED: {self.error_message}"]
        for detail in self.output_details:
            if not detail["is_close"]:
                why = detail.get("reason") or f"max_diff={detail['max_diff']:.2e}, mean_diff={detail['mean_diff']:.2e}"
                lines.append(f"  output {detail['index']} {detail['shape']}: {why}")
        return "\n".join(lines)


def verify_ir(
    ir: IR,
    weights_path: str | os.PathLike[str],
    original_model: torch.nn.Module,
    test_inputs: tuple[Any, ...],
    rtol: float = 1e-5,
    atol: float = 1e-5,
    constants: Mapping[str, torch.Tensor] | None = None,
    *,
    kwargs: Mapping[str, Any] | None = None,
) -> tuple[bool, VerificationReport]:
    """Runs the model and its graph, with weights from a checkpoint, and compares what they give."""
    try:
        weights = load_weights(weights_path)
    except Exception as error:
        return _failed(f"Verification error: {error}")
    return verify_ir_with_state_dict(ir, weights, original_model, test_inputs, rtol, atol, constants, kwargs=kwargs)


def verify_ir_with_state_dict(
    ir: IR,
    state_dict: Mapping[str, torch.Tensor],
    original_model: torch.nn.Module,
    test_inputs: tuple[Any, ...],
    rtol: float = 1e-5,
    atol: float = 1e-5,
    constants: Mapping[str, torch.Tensor] | None = None,
    *,
    kwargs: Mapping[str, Any] | None = None,
) -> tuple[bool, VerificationReport]:
    """Like `verify_ir`, with weights by name.

    Shapes and dtypes must be the same, integers equal, NaN where the model has NaN. Neither run changes the weights,
    the model or the inputs. Values that no checkpoint holds (constants, buffers that are not persistent) are taken from
    the model.
    """
    try:
        if isinstance(test_inputs, torch.Tensor):
            test_inputs = (test_inputs,)
        known = {**_values_of_model(ir, state_dict, original_model), **(constants or {})}
        expected = _run_model(original_model, test_inputs, dict(kwargs or {}))
        actual = IRExecutor(ir, state_dict, known).execute(test_inputs, kwargs)
        report = compare(expected, actual, rtol, atol)
    except Exception as error:
        return _failed(f"Verification error: {error}")
    return report.is_valid, report


def compare(expected: Any, actual: Any, rtol: float = 1e-5, atol: float = 1e-5) -> VerificationReport:
    """Compares the tensors of two results, nested in any way."""
    left = [leaf for leaf in pytree.tree_leaves(expected) if isinstance(leaf, torch.Tensor)]
    right = [leaf for leaf in pytree.tree_leaves(actual) if isinstance(leaf, torch.Tensor)]
    if len(left) != len(right):
        return _failed(f"Output count mismatch: original={len(left)}, ir={len(right)}")[1]
    details = [
        {"index": index, **_compare(a, b, rtol, atol)} for index, (a, b) in enumerate(zip(left, right, strict=True))
    ]
    is_valid = all(detail["is_close"] for detail in details)
    return VerificationReport(
        is_valid=is_valid,
        max_diff=max((detail["max_diff"] for detail in details), default=0.0),
        mean_diff=max((detail["mean_diff"] for detail in details), default=0.0),
        num_outputs=len(details),
        output_details=details,
        error_message=None if is_valid else "Output tensors do not match within tolerance",
    )


def _failed(message: str) -> tuple[bool, VerificationReport]:
    return False, VerificationReport(False, float("inf"), float("inf"), error_message=message)


def _compare(expected: torch.Tensor, actual: torch.Tensor, rtol: float, atol: float) -> dict[str, Any]:
    made: dict[str, Any] = {"shape": tuple(expected.shape), "dtype": dtype_name(expected.dtype)}
    infinite = {"max_diff": float("inf"), "mean_diff": float("inf"), "is_close": False}
    if expected.shape != actual.shape:
        return {**made, **infinite, "reason": f"shape {tuple(actual.shape)} instead of {tuple(expected.shape)}"}
    if expected.dtype != actual.dtype:
        return {
            **made,
            **infinite,
            "reason": f"dtype {dtype_name(actual.dtype)} instead of {dtype_name(expected.dtype)}",
        }
    if expected.numel() == 0:
        return {**made, "is_close": True, "max_diff": 0.0, "mean_diff": 0.0}
    a, b = expected.detach().cpu(), actual.detach().cpu()
    if not (a.is_floating_point() or a.is_complex()):
        is_close = torch.equal(a, b)
    else:
        wide = torch.complex128 if a.is_complex() else torch.float64
        a, b = a.to(wide), b.to(wide)
        is_close = torch.allclose(b, a, rtol=rtol, atol=atol, equal_nan=True)
    return {**made, "is_close": is_close, **_differences(a, b)}


def _differences(a: torch.Tensor, b: torch.Tensor) -> dict[str, float]:
    """Infinite where only one of them is NaN, nothing where both are the same, be it NaN or an infinity."""
    same = (a == b) | (a.isnan() & b.isnan())
    if a.is_complex() or a.is_floating_point():
        difference = (a - b).abs()
        difference = torch.where(difference.isnan(), float("inf"), difference)
    else:
        difference = (a.double() - b.double()).abs()
    difference = torch.where(same, 0.0, difference)
    return {"max_diff": difference.max().item(), "mean_diff": difference.mean().item()}


def _run_model(model: torch.nn.Module, inputs: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    def copied(value: Any) -> Any:
        return value.clone() if isinstance(value, torch.Tensor) else value

    inputs, kwargs = pytree.tree_map(copied, (tuple(inputs), kwargs))
    buffers = {name: buffer.clone() for name, buffer in model.named_buffers()}
    with torch.no_grad(), _evaluating(model):
        return torch.func.functional_call(model, buffers, inputs, kwargs)


@contextlib.contextmanager
def _evaluating(model: torch.nn.Module) -> Iterator[None]:
    modes = [(module, module.training) for module in model.modules()]
    model.eval()
    try:
        yield
    finally:
        for module, training in modes:
            module.training = training


def _values_of_model(ir: IR, state_dict: Mapping[str, torch.Tensor], model: torch.nn.Module) -> dict[str, torch.Tensor]:
    """What neither the checkpoint nor the graph has a value for, by its path in the model."""
    fitted = fitted_to(state_dict, ir)
    found: dict[str, torch.Tensor] = {}
    for weight in ir.weights:
        if weight.name not in fitted and weight.name not in ir.constants and weight.kind != "parameter":
            with contextlib.suppress(AttributeError):
                value = operator.attrgetter(weight.name)(model)
                if isinstance(value, torch.Tensor):
                    found[weight.name] = value.detach().clone()
    return found
