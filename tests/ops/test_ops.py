"""Every line of the case files against eager; and every row of aten_ops.inc has a line."""

from __future__ import annotations

import functools

import pytest
import torch
from ops import cases, harness

CHUNK = 48
# Rows for programs of other exporters: torch.export folds these away or writes another operator.
UNREACHABLE = {
    "_operator::pos",
    "aten::_functional_assert_async.msg",
    "aten::is_nonzero",
    "aten::_thnn_fused_gru_cell",
    "aten::_thnn_fused_lstm_cell",
    "aten::gru.data",
    "aten::lift_fresh",
    "aten::lstm.data",
    "aten::rnn_relu.data",
    "aten::rnn_tanh.data",
    "aten::narrow.Tensor",
    "aten::promote_types",  # of the kinds of numbers in `torch.tensor([n, 2.5])`, if they are symbols
    "aten::result_type.Scalar_Scalar",
    "aten::linalg_lstsq",  # it exports to no graph: the sizes of its results depend on data
    "aten::random.from",  # an argument of that name is no Python
    "aten::sym_constrain_range",
    "aten::sym_constrain_range_for_size",
    "aten::unique_dim_consecutive",
    "torch::sym_int",
    "torchvision::nms",
}
# What gives no result; tests/control has these.
NO_RESULT = {"aten::_assert_scalar", "aten::_assert_async", "aten::_assert_async.msg"}


@functools.cache
def family_cases(family: str) -> list[harness.Case]:
    return cases.read(family)


@functools.cache
def exported(family: str, start: int) -> torch.export.ExportedProgram:
    return harness.export_bundle(family_cases(family)[start : start + CHUNK])


def chunks() -> list[tuple[str, int]]:
    return [(family, start) for family in cases.families() for start in range(0, len(family_cases(family)), CHUNK)]


@pytest.mark.parametrize(("family", "start"), chunks())
def test_cases(family: str, start: int) -> None:
    found = harness.failures(family_cases(family)[start : start + CHUNK], exported(family, start))
    assert not found, f"{len(found)} failures:\n" + "\n".join(found)


@pytest.mark.parametrize("family", cases.families())
def test_cases_are_distinct(family: str) -> None:
    labels = [case.label for case in family_cases(family)]
    assert len(labels) == len(set(labels)), sorted(label for label in labels if labels.count(label) > 1)


def test_every_row_has_a_case() -> None:
    found = harness.operators(exported(family, start) for family, start in chunks())
    rows = {row for row in harness.table_rows() if not row.startswith("higher_order::")}  # tests/control has these
    missing = rows - found - UNREACHABLE - NO_RESULT
    assert not missing, f"rows of aten_ops.inc without a case: {sorted(missing)}"
