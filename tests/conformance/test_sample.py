"""A sample of the conformance run that every `make test` makes: each operator once, in float32.

Cut into parts so that workers can share them; every part is a process of its own that crashes alone.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from conformance.cases import Unit, all_units
from conformance.dynamic import WITHOUT_CASE, DynamicCase, core_operators, dynamic_cases
from conformance.pool import run_units
from conformance.report import Tally, failures_text

PARTS = 4


@pytest.fixture(autouse=True)
def any_cpu(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("INGOT_CONFORMANCE_ANY_CPU", "1")


def check(units: Sequence[Unit | DynamicCase]) -> Tally:
    tally = Tally()
    run_units(units, jobs=1, limit=1, tally=tally)
    problems = failures_text(tally, ["wrong", "crash", "refused"], width=300)
    assert not problems, problems
    return tally


def test_every_core_operator_has_a_dynamic_case() -> None:
    with_case = {case.name for case in dynamic_cases()}
    missing = [name for name in core_operators() if name not in with_case | WITHOUT_CASE.keys()]
    assert not missing
    assert WITHOUT_CASE.keys() <= set(core_operators())


def test_core_operators_at_other_sizes() -> None:
    check(dynamic_cases())


@pytest.mark.parametrize("part", range(PARTS))
def test_every_operator_once(part: int) -> None:
    units = all_units(re.compile(".*"), ["f32"])[part::PARTS]
    tally = check(units)
    assert tally.count("native") > 0.8 * len(units)
