"""Random graphs agree with eager, optimised and not; more of them: make property COUNT=20000."""

from __future__ import annotations

import logging
import runpy
from pathlib import Path

import ingot
import pytest
import torch
from property.case import Case, Input
from property.check import PASSES, check
from property.evaluate import UndeterminedError, check_determined
from property.generate import generate
from property.shrink import shrink

COUNT, PARTS = 150, 6
REGRESSIONS = sorted((Path(__file__).parent / "regressions").glob("*.py"))


@pytest.fixture(autouse=True)
def _quiet_and_single() -> object:
    logging.disable(logging.WARNING)
    threads = torch.get_num_threads(), ingot.get_num_threads()
    torch.set_num_threads(1)
    ingot.set_num_threads(1)
    yield
    logging.disable(logging.NOTSET)
    torch.set_num_threads(threads[0])
    ingot.set_num_threads(threads[1])


@pytest.mark.parametrize("part", range(PARTS))
def test_random_graphs_agree_with_eager(part: int) -> None:
    for seed in range(part, COUNT, PARTS):
        verdict = check(generate(seed), seed)
        assert not verdict.is_bad, f"python -m property --seed {seed} --count 1\n{verdict.detail}"


@pytest.mark.parametrize("path", REGRESSIONS, ids=lambda path: path.stem)
def test_counter_examples_stay_right(path: Path) -> None:
    case = runpy.run_path(str(path))["CASE"]
    verdict = check(case)
    assert verdict.status == "right", verdict.detail


def test_the_same_seed_gives_the_same_graph() -> None:
    assert all(generate(seed) == generate(seed) for seed in range(20))


def test_every_optional_pass_is_known() -> None:
    assert {"canonicalize", "cse", "fold-bias", "form-clusters"} <= set(PASSES)
    assert "functionalise" not in PASSES


def test_what_depends_on_rounding_is_not_compared() -> None:
    x = Input("v0", (64,), "f32", "normal")
    with pytest.raises(UndeterminedError):
        check_determined(
            Case((x,), ("v1 = torch.sin(v0)", "v2 = v1 - torch.sin(v0 + 1e-7)", "v3 = v2 > 0"), ("v3",)), {}, 1
        )
    check_determined(Case((x,), ("v1 = torch.sort(v0)[0]", "v2 = v1 * 2"), ("v2",)), {}, 1)


def test_a_wrong_result_is_found_and_made_small(monkeypatch: pytest.MonkeyPatch) -> None:
    """With a compiler that forgets what it was to add."""
    original = ingot.convert

    class Wrong:
        def __init__(self, program: object) -> None:
            self.program = program

        def session(self) -> object:
            return lambda *inputs: [value + 1 for value in self.program(*inputs)]

    monkeypatch.setattr(ingot, "convert", lambda *args, **kwargs: Wrong(original(*args, **kwargs)))
    lines = ("v1 = torch.relu(v0)", "v2 = v1 * 2", "v3 = v2.sum(0)", "v4 = v0.exp()")
    case = Case((Input("v0", (4, 6), "f32", "normal"),), lines, ("v3", "v4"))
    smallest, verdict = shrink(case, 0, check)
    assert verdict.status == "wrong"
    assert len(smallest.lines) == 1 and smallest.inputs[0].shape == (1, 1)
