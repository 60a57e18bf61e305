"""Comparing a graph with its model: by dtype, with NaN, exactly for integers, nested in any way."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import ingot
import pytest
import torch
from extracting import Call
from ingot.extractor.verifier import compare
from safetensors.torch import save_file

NAN = float("nan")


def verify(function: Any, *args: Any) -> ingot.VerificationReport:
    model = function if isinstance(function, torch.nn.Module) else Call(function)
    ir = ingot.extract_ir(model, args, strict=False)
    is_valid, report = ingot.verify_ir_with_state_dict(ir, model.state_dict(), model, args)
    assert is_valid == report.is_valid
    return report


def test_passes_with_numbers(tmp_path: Path) -> None:
    model, x = torch.nn.Linear(3, 2), torch.randn(4, 3)
    ir = ingot.extract_ir(model, (x,), strict=False)
    save_file(model.state_dict(), tmp_path / "w.safetensors")
    is_valid, report = ingot.verify_ir(ir, tmp_path / "w.safetensors", model, (x,))
    assert is_valid and report.is_valid and report.num_outputs == 1 and report.error_message is None
    assert report.max_diff < 1e-5 and report.mean_diff <= report.max_diff
    assert set(report.output_details[0]) >= {"index", "shape", "is_close", "max_diff", "mean_diff"}
    assert "PASSED" in str(report)


def test_other_weights_fail() -> None:
    model, x = torch.nn.Linear(3, 2), torch.randn(4, 3)
    ir = ingot.extract_ir(model, (x,), strict=False)
    is_valid, report = ingot.verify_ir_with_state_dict(ir, torch.nn.Linear(3, 2).state_dict(), model, (x,))
    assert not is_valid and report.error_message == "Output tensors do not match within tolerance"
    assert "FAILED" in str(report) and "max_diff" in str(report) and report.max_diff > 1e-3


def test_problems_are_reported_and_not_raised(tmp_path: Path) -> None:
    model, x = torch.nn.Linear(3, 2), torch.randn(4, 3)
    ir = ingot.extract_ir(model, (x,), strict=False)
    is_valid, report = ingot.verify_ir_with_state_dict(ir, {}, model, (x,))
    assert not is_valid and (report.error_message or "").startswith("Verification error: ")
    assert not ingot.verify_ir(ir, tmp_path / "none.pt", model, (x,))[0]


@pytest.mark.parametrize(
    ("left", "right", "is_close"),
    [
        (torch.tensor([1.0, NAN]), torch.tensor([1.0, NAN]), True),
        (torch.tensor([1.0, 2.0]), torch.tensor([1.0, NAN]), False),
        (torch.tensor([float("inf")]), torch.tensor([float("inf")]), True),
        (torch.tensor([float("inf")]), torch.tensor([-float("inf")]), False),
        (torch.tensor([2**40]), torch.tensor([2**40 + 1]), False),
        (torch.tensor([True]), torch.tensor([True]), True),
        (torch.tensor([1.0]), torch.tensor([1.0]).double(), False),
        (torch.tensor([1.0]), torch.tensor([[1.0]]), False),
        (torch.zeros(0), torch.zeros(0), True),
        (torch.tensor([1 + 1j]), torch.tensor([1 + 1j]), True),
        (torch.tensor([1 + 1j]), torch.tensor([1 - 1j]), False),
    ],
)
def test_pairs(left: torch.Tensor, right: torch.Tensor, is_close: bool) -> None:
    report = compare(left, right)
    assert report.is_valid == is_close and (report.max_diff > 0) == (not is_close)


def test_counts() -> None:
    x = torch.zeros(1)
    assert compare((x, x), x).error_message == "Output count mismatch: original=2, ir=1"


def test_nested_results() -> None:
    assert verify(torch.nn.LSTM(3, 4), torch.randn(2, 1, 3)).num_outputs == 3
    assert verify(lambda x: {"a": x + 1, "b": (None, [x * 2], 7)}, torch.randn(3)).num_outputs == 2


def test_dtypes_count() -> None:
    report = verify(lambda x: x.sum(1, dtype=torch.float64), torch.randn(2, 3))
    assert report.is_valid and report.output_details[0]["dtype"] == "float64"


def test_both_runs_start_from_the_same_state() -> None:
    model = torch.nn.BatchNorm1d(3).eval()

    class Counting(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.register_buffer("count", torch.zeros(()))

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            self.count.add_(1)
            return x * self.count

    assert verify(model, torch.randn(4, 3)).is_valid
    counting = Counting()
    assert verify(counting, torch.randn(3)).is_valid
    assert counting.count.item() == 0


def test_the_mode_of_the_model_is_restored() -> None:
    model = torch.nn.Dropout(0.5).eval()
    ir = ingot.extract_ir(model, (torch.randn(3),), strict=False)
    model.train()
    assert ingot.verify_ir_with_state_dict(ir, {}, model, (torch.randn(3),))[0]
    assert model.training
