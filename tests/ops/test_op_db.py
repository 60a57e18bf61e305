"""Sample inputs of PyTorch's own operator tests, for the operators of aten_ops.inc."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import Any

import pytest
import torch
from ops import harness
from torch.testing._internal.common_methods_invocations import op_db
from torch.utils import _pytree as pytree

SAMPLES = 4
GROUPS = 24
DTYPES = (torch.float32, torch.int64, torch.bool)


def is_candidate(name: str) -> bool:
    """By name, before anything is exported: an operator of the table, or a functional form of one."""
    stem = name.rpartition(".")[2]
    return stem in STEMS


STEMS = {row.partition("::")[2].partition(".")[0].lstrip("_") for row in harness.table_rows()}
ENTRIES = [entry for entry in op_db if is_candidate(entry.name)]


def make_case(label: str, call: Any, arguments: Any) -> harness.Case:
    """Tensors among the arguments become inputs; the rest stays as it is."""
    leaves, spec = pytree.tree_flatten(arguments)
    places = [index for index, leaf in enumerate(leaves) if isinstance(leaf, torch.Tensor)]

    def run(*tensors: torch.Tensor) -> Any:
        filled = list(leaves)
        for place, value in zip(places, tensors, strict=True):
            filled[place] = value
        args, kwargs = pytree.tree_unflatten(filled, spec)
        return call(*args, **kwargs)

    inputs = [leaves[place].detach().contiguous() for place in places]
    return harness.Case(label, run, inputs, tolerance=harness.Tolerance(rtol=1e-5, atol=1e-5))


def entry_cases(entry: Any) -> Iterator[harness.Case]:
    for dtype in DTYPES:
        if dtype not in entry.supported_dtypes("cpu"):
            continue
        torch.manual_seed(0)
        samples = itertools.islice(entry.sample_inputs("cpu", dtype), SAMPLES)
        for number, sample in enumerate(samples):
            label = f"{entry.formatted_name} {str(dtype).partition('.')[2]} sample {number}"
            yield make_case(label, entry.op, ((sample.input, *sample.args), sample.kwargs))


def is_in_table(case: harness.Case) -> bool:
    """Whether the case exports, and to operators with a lowering only."""
    try:
        found = harness.operators([harness.export_bundle([case])])
    except Exception:  # what PyTorch cannot export is not our matter
        return False
    return bool(found) and found <= harness.table_rows()


@pytest.mark.slow
@pytest.mark.parametrize("group", range(GROUPS))
def test_samples(group: int) -> None:
    cases = [case for entry in ENTRIES[group::GROUPS] for case in entry_cases(entry)]
    cases = [case for case in cases if is_in_table(case)]
    assert cases, "no case of this group is in the table"
    found = harness.failures(cases)
    assert not found, f"{len(found)} failures in {len(cases)} cases:\n" + "\n".join(found)
