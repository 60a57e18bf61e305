"""The generator of random operators: seeds, calls and threads."""

from __future__ import annotations

import ingot
import pytest
import torch


class Draws(torch.nn.Module):
    def forward(self, x: torch.Tensor) -> tuple[torch.Tensor, ...]:
        noise = torch.rand(5000)
        return noise, torch.randn_like(x), torch.randperm(100), torch.nn.functional.dropout(x, 0.5, True)


@pytest.fixture(scope="module")
def program() -> ingot.Program:
    return ingot.convert(torch.export.export(Draws(), (torch.ones(100, 100),), strict=False))


def run(program: ingot.Program) -> list[torch.Tensor]:
    return [tensor.clone() for tensor in program(torch.ones(100, 100))]


def same(left: list[torch.Tensor], right: list[torch.Tensor]) -> list[bool]:
    return [torch.equal(a, b) for a, b in zip(left, right, strict=True)]


def test_a_seed_repeats_and_calls_differ(program: ingot.Program) -> None:
    ingot.manual_seed(5)
    first, second = run(program), run(program)
    assert same(first, second) == [False] * 4
    ingot.manual_seed(5)
    assert all(same(first, run(program)))
    ingot.manual_seed(6)
    assert same(first, run(program)) == [False] * 4


def test_the_number_of_threads_does_not_matter(program: ingot.Program) -> None:
    before = ingot.get_num_threads()
    draws = []
    try:
        for threads in (1, 3):
            ingot.set_num_threads(threads)
            ingot.manual_seed(5)
            draws.append(run(program))
    finally:
        ingot.set_num_threads(before)
    assert all(same(*draws))


def test_two_draws_of_one_call_differ() -> None:
    class Twice(torch.nn.Module):
        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return torch.rand(3, 4) - torch.rand(3, 4) + x

    program = ingot.convert(torch.export.export(Twice(), (torch.zeros(3, 4),), strict=False))
    assert bool((program(torch.zeros(3, 4)) != 0).all())
