"""Buffers and arguments that programs write to, and entry points that share them, over both spellings (§8.2, §9)."""

from __future__ import annotations

import asyncio
import copy
import functools
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch
from acceptance import API, Api, Holder, Opened, both, close, export
from torch import Tensor

Forward = Callable[..., Any]
START = torch.arange(12.0).reshape(4, 3)


def _copy(buffer: Tensor, x: Tensor, at: Tensor) -> None:
    buffer.copy_(buffer * 2 + x)


def _add(buffer: Tensor, x: Tensor, at: Tensor) -> None:
    buffer.add_(x)


def _slice(buffer: Tensor, x: Tensor, at: Tensor) -> None:
    buffer[1:3] = x[1:3] + buffer[0]


def _strided(buffer: Tensor, x: Tensor, at: Tensor) -> None:
    buffer[::2, 1] = x[::2, 0]


def _index(buffer: Tensor, x: Tensor, at: Tensor) -> None:
    buffer[at] = x[:2]


def _index_copy(buffer: Tensor, x: Tensor, at: Tensor) -> None:
    buffer.index_copy_(0, at, x[:2])


def _twice(buffer: Tensor, x: Tensor, at: Tensor) -> None:
    buffer.mul_(0.5)
    buffer[0] = buffer[1] + 1
    buffer.add_(x)


def _view(buffer: Tensor, x: Tensor, at: Tensor) -> None:
    buffer.view(-1)[2:5].fill_(7.0)
    buffer.t()[0].add_(1)


# Each spelling with one form of program: they have nothing to do with each other.
forms = pytest.mark.parametrize(
    ("api", "decompose"), [(API["ingot"], False), (API["compat"], True)], ids=["as_exported", "decomposed"]
)
WRITES = [_copy, _add, _slice, _strided, _index, _index_copy, _twice, _view]


def arguments(step: int) -> tuple[Tensor, Tensor]:
    generator = torch.Generator().manual_seed(step)
    return torch.randn(4, 3, generator=generator), torch.tensor([step % 4, (step + 2) % 4])


@functools.cache
def written(write: Forward, kind: str, decompose: bool) -> tuple[torch.nn.Module, torch.export.ExportedProgram]:
    """A model that writes to a buffer, to an argument, or to both, and its export."""

    def buffer(model: Any, x: Tensor, at: Tensor) -> Tensor:
        write(model.cache, x, at)
        return model.cache.sum(0)

    def argument(model: Any, x: Tensor, at: Tensor, y: Tensor) -> Tensor:
        write(y, x, at)
        return y.sum(0)

    def both_kinds(model: Any, x: Tensor, at: Tensor, y: Tensor) -> tuple[Tensor, Tensor]:
        write(y, x, at)
        write(model.cache, x + y, at)
        return model.cache.sum(0), y * 2

    forward = {"buffer": buffer, "argument": argument, "both": both_kinds}[kind]
    model = Holder(forward, **({} if kind == "argument" else {"cache": START.clone()}))
    given = arguments(0) if kind == "buffer" else (*arguments(0), START.clone())
    return model, export(copy.deepcopy(model), *given, decompose=decompose)


@forms
def test_written_buffers(api: Api, decompose: bool) -> None:
    """A buffer for each way to write; together, because exporting is what takes the time."""

    def forward(model: Any, x: Tensor, at: Tensor) -> list[Tensor]:
        for write in WRITES:
            write(getattr(model, f"of{write.__name__}"), x, at)
        return [getattr(model, f"of{write.__name__}").sum(0) for write in WRITES]

    model = Holder(forward, **{f"of{write.__name__}": START.clone() for write in WRITES})
    eager = copy.deepcopy(model)
    opened = Opened(api, api.program(export(model, *arguments(0), decompose=decompose)))
    desc = opened.function().desc
    assert desc.input_names == ["x", "rest_0"]
    assert desc.state_names == [f"b_of{write.__name__}" for write in WRITES]
    mine = {name: START.clone() for name in desc.state_names}
    for step in range(3):
        x, at = arguments(step)
        results = opened({"x": x, "rest_0": at}, mine)
        for result, want in zip(results.values(), eager(x, at), strict=True):
            close(result, want)
        for name, state in mine.items():
            close(state, getattr(eager, name.removeprefix("b_")))
    assert all(torch.equal(buffer, START) for buffer in model.buffers()), "exporting and converting write nothing"


@forms
def test_written_arguments(api: Api, decompose: bool) -> None:
    def forward(model: Any, x: Tensor, at: Tensor, *written: Tensor) -> list[Tensor]:
        for write, y in zip(WRITES, written, strict=True):
            write(y, x, at)
        return [y.sum(0) for y in written]

    model, names = Holder(forward), [write.__name__ for write in WRITES]
    exported = export(model, *arguments(0), *(START.clone() for _ in WRITES), decompose=decompose)
    opened = Opened(
        api,
        api.program(
            exported, state_names=names, input_names=["x", "at"], output_names=[f"sum{name}" for name in names]
        ),
    )
    mine, eager = {name: START.clone() for name in names}, [START.clone() for _ in names]
    addresses = [state.data_ptr() for state in mine.values()]
    for step in range(3):
        x, at = arguments(step)
        out = opened({"x": x, "at": at}, mine)
        for result, want in zip(out.values(), model(x, at, *eager), strict=True):
            close(result, want)
        for state, want in zip(mine.values(), eager, strict=True):
            close(state, want)
    assert [state.data_ptr() for state in mine.values()] == addresses


@forms
def test_buffers_come_before_arguments(api: Api, decompose: bool) -> None:
    model, exported = written(_add, "both", decompose)
    assert Opened(api, api.program(exported)).function().desc.state_names == ["b_cache", "rest_1"]
    opened = Opened(api, api.program(exported, state_names=["buffer", "argument"]))
    eager, eager_y = copy.deepcopy(model), START + 1
    cache, y = START.clone(), START + 1
    for step in range(2):
        x, at = arguments(step)
        results = list(opened({"x": x, "rest_0": at}, {"argument": y, "buffer": cache}).values())
        for result, want in zip(results, eager(x, at, eager_y), strict=True):
            close(result, want)
    close(cache, eager.cache)
    close(y, eager_y)


@forms
def test_states_are_in_the_order_of_the_buffers(api: Api, decompose: bool) -> None:
    def forward(model: Any, x: Tensor, first: Tensor, second: Tensor) -> Tensor:
        second.add_(1)
        model.last.add_(x)
        first.add_(2)
        model.start.add_(model.last)
        return model.start + model.between

    zeros = torch.zeros(3)
    model = Holder(forward, start=zeros + 1, between=zeros + 2, last=zeros + 3)
    exported = export(model, zeros, zeros.clone(), zeros.clone(), decompose=decompose)
    names = Opened(api, api.program(exported)).function().desc.state_names
    assert names == ["b_start", "b_last", "rest_0", "rest_1"]
    named = Opened(api, api.program(exported, state_names=["start", "last", "first", "second"]))
    states = {name: torch.zeros(3) for name in ("second", "first", "last", "start")}
    named({"x": torch.ones(3)}, states)
    assert {name: value[0].item() for name, value in states.items()} == {
        "second": 1.0,
        "first": 2.0,
        "last": 1.0,
        "start": 1.0,
    }


@both
def test_initial_values_are_kept_in_the_asset(api: Api) -> None:
    model, exported = written(_add, "buffer", True)
    opened, eager = Opened(api, api.program(exported)), copy.deepcopy(model)
    for step in range(3):
        x, at = arguments(step)
        (result,) = opened({"x": x, "rest_0": at}).values()
        close(result, eager(x, at))
    again = Opened(api, api.program(exported))
    (first,) = again({"x": arguments(0)[0], "rest_0": arguments(0)[1]}).values()
    close(first, copy.deepcopy(model)(*arguments(0)))


@both
def test_a_state_that_is_returned(api: Api) -> None:
    def forward(model: Any, x: Tensor, y: Tensor) -> tuple[Tensor, ...]:
        model.cache.add_(x)
        y.mul_(2)
        return model.cache, y, model.cache

    exported = export(Holder(forward, cache=START.clone()), START, START.clone(), decompose=True)
    program = api.program(exported, output_names=["a", "b", "c"], state_names=["cache", "y"])
    opened = Opened(api, program)
    cache, y = torch.ones(4, 3), torch.ones(4, 3)
    out = opened({"x": START}, {"cache": cache, "y": y})
    assert list(out) == ["a", "b", "c"], "every position is there"
    close(out["a"], START + 1)
    close(out["c"], START + 1)
    close(out["b"], torch.full((4, 3), 2.0))
    close(cache, START + 1)
    close(y, torch.full((4, 3), 2.0))


@both
def test_a_program_that_only_writes(api: Api) -> None:
    exported = export(Holder(lambda m, x: m.cache.add_(x) is None or None, cache=START.clone()), START)
    opened, cache = Opened(api, api.program(exported)), torch.zeros(4, 3)
    assert opened({"x": START}, {"b_cache": cache}) == {}
    close(cache, START)


@both
def test_wide_states_take_narrow_arrays(api: Api) -> None:
    def forward(model: Any, x: Tensor) -> Tensor:
        model.count.add_(1)
        return x + model.count

    exported = export(Holder(forward, count=torch.zeros(1, dtype=torch.int64)), START)
    opened, count = Opened(api, api.program(exported)), np.zeros(1, np.int32)
    for step in range(1, 4):
        (result,) = opened({"x": START}, {"b_count": count}).values()
        close(result, START + step)
    assert count.tolist() == [3]


@both
def test_wrong_states(api: Api) -> None:
    _, exported = written(_add, "argument", True)
    opened = Opened(api, api.program(exported))
    inputs = dict(zip(("x", "rest_0"), arguments(0), strict=True))
    for state in ({}, {"nope": START}, {"rest_1": START.double()}, {"rest_1": START[0]}):
        with pytest.raises(RuntimeError, match=r"rest_1|nope"):
            opened(inputs, state)


# ---- the model of a KV cache with every name


class Attention(torch.nn.Module):
    """Two written buffers and one written argument, in no helpful order."""

    def __init__(self) -> None:
        super().__init__()
        self.scale = torch.nn.Parameter(torch.tensor(0.5))
        self.register_buffer("kv_cache", torch.zeros(1, 8, 4))
        self.register_buffer("bias", torch.randn(4, generator=torch.Generator().manual_seed(1)))
        self.register_buffer("pos_idx", torch.zeros(1, dtype=torch.int64))

    def forward(self, query: Tensor, y: Tensor, context: Tensor) -> tuple[Tensor, Tensor]:
        self.kv_cache.index_copy_(1, self.pos_idx, context.unsqueeze(1) + self.bias)
        self.pos_idx.add_(1)
        y.add_(query)
        weights = torch.softmax(query @ self.kv_cache[0].t() * self.scale, dim=-1)
        return weights @ self.kv_cache[0], y * self.scale


@forms
def test_a_cache_with_all_names(api: Api, decompose: bool) -> None:
    exported = export(Attention(), torch.zeros(1, 4), torch.zeros(1, 4), torch.zeros(1, 4), decompose=decompose)
    program = api.program(
        exported,
        input_names=["query", "context"],
        output_names=["attn_out", "scaled"],
        state_names=["kv_cache", "pos_idx", "y_state"],
    )
    opened, eager = Opened(api, program, optimize=decompose), Attention()
    desc = opened.function().desc
    assert desc.input_names == ["query", "context"]
    assert desc.output_names == ["attn_out", "scaled"]
    assert desc.state_names == ["kv_cache", "pos_idx", "y_state"]
    assert desc.state_descriptor("kv_cache").shape == (1, 8, 4)
    state = {"kv_cache": torch.zeros(1, 8, 4), "pos_idx": np.zeros(1, np.int32), "y_state": torch.ones(1, 4)}
    eager_y = torch.ones(1, 4)
    with torch.no_grad():
        for _ in range(5):
            query, context = torch.randn(1, 4), torch.randn(1, 4)
            out = opened({"query": query, "context": context}, state)
            attention, scaled = eager(query, eager_y, context)
            close(out["attn_out"], attention)
            close(out["scaled"], scaled)
    close(state["kv_cache"], eager.kv_cache)
    close(state["y_state"], eager_y)
    assert state["pos_idx"].tolist() == [5]


# ---- several entry points


class Chat(torch.nn.Module):
    """One cache that prefill fills and decode goes on with."""

    def __init__(self) -> None:
        super().__init__()
        torch.manual_seed(0)
        self.table = torch.nn.Embedding(64, 32)
        self.head = torch.nn.Linear(32, 64)
        self.register_buffer("cache", torch.zeros(1, 16, 32))

    def forward(self, tokens: Tensor, positions: Tensor) -> Tensor:
        hidden = self.table(tokens)
        self.cache.index_copy_(1, positions, hidden)
        mask = torch.arange(16) <= positions.unsqueeze(-1)
        return self.head(torch.nn.functional.scaled_dot_product_attention(hidden, self.cache, self.cache, mask))


@functools.cache
def chat() -> dict[str, tuple[torch.export.ExportedProgram, tuple[Tensor, Tensor]]]:
    model = Chat()
    calls = {
        "prefill": (torch.tensor([[5, 7, 11]]), torch.arange(3)),
        "decode": (torch.tensor([[1]]), torch.tensor([3])),
    }
    return {name: (export(model, *call, decompose=True), call) for name, call in calls.items()}


def stage(api: Api, names: list[str]) -> Any:
    converter = api.converter()
    for name in names:
        converter.add_exported_program(
            chat()[name][0],
            entrypoint_name=name,
            input_names=["tokens", "positions"],
            output_names=["logits"],
            state_names=["kv"],
        )
    return converter


@both
@pytest.mark.parametrize("given", [True, False], ids=["the_callers", "the_models"])
def test_prefill_and_decode_share_a_cache(api: Api, given: bool) -> None:
    opened, eager = Opened(api, api.convert(stage(api, ["prefill", "decode"]))), Chat()
    assert opened.model.function_names == ["prefill", "decode"]
    state = {"kv": torch.zeros(1, 16, 32)} if given else {}
    for step in range(-1, 4):
        name = "prefill" if step < 0 else "decode"
        tokens, positions = chat()[name][1]
        positions = positions + max(step, 0)
        out = opened({"tokens": tokens, "positions": positions}, state, name)
        close(out["logits"], eager(tokens, positions))
    if given:
        close(state["kv"], eager.cache)


@both
def test_entry_points_share_weights_in_the_asset(api: Api) -> None:
    sizes = [
        len(Opened(api, api.convert(stage(api, names))).files()["weights.safetensors"])
        for names in (["prefill"], ["prefill", "decode"])
    ]
    weights = sum(p.numel() for p in Chat().parameters()) * 4
    assert weights <= sizes[0] < 2 * weights
    assert sizes[1] - sizes[0] < 512, "weights and states of the second entry point are those of the first"


def counters(api: Api, *starts: Tensor) -> Any:
    """Programs of models that have nothing in common but the name of a buffer."""
    converter = api.converter()
    for name, start in zip("abc", starts, strict=False):
        model = Holder(lambda m, x: m.count.add_(x) * 1, count=start)
        converter.add_exported_program(export(model, torch.zeros_like(start)), entrypoint_name=name)
    return converter


@both
def test_states_of_one_name_are_one(api: Api) -> None:
    opened = Opened(api, api.convert(counters(api, torch.zeros(3), torch.zeros(3))))
    assert [opened.function(name).desc.state_names for name in "ab"] == [["b_count"], ["b_count"]]
    totals = [opened({"x": torch.ones(3)}, None, name) for name in "aba"]
    assert [next(iter(total.values()))[0].item() for total in totals] == [1.0, 2.0, 3.0]
    separate = {name: torch.zeros(3) for name in "ab"}
    for name in "aba":
        opened({"x": torch.ones(3)}, {"b_count": separate[name]}, name)
    assert [state[0].item() for state in separate.values()] == [2.0, 1.0]


@both
@pytest.mark.parametrize("other", [torch.zeros(4), torch.zeros(3, dtype=torch.float64), torch.ones(3)])
def test_states_of_one_name_must_be_alike(api: Api, other: Tensor) -> None:
    with pytest.raises(ValueError, match=r"(?s)'a' and 'b' both have a state 'b_count', with different .*state_names"):
        api.convert(counters(api, torch.zeros(3), other))


@both
def test_chosen_entry_points(api: Api) -> None:
    converter = stage(api, ["prefill", "decode"])
    assert Opened(api, api.convert(converter, entrypoints=["decode"])).model.function_names == ["decode"]
    assert Opened(api, api.convert(converter)).model.function_names == ["prefill", "decode"]


@both
def test_functions_of_one_executable_share_a_cache(api: Api) -> None:
    """As the original's users write it: everything inside one block."""
    program = api.convert(stage(api, ["prefill", "decode"]))
    opened, eager = Opened(api, program), Chat()

    async def talk() -> None:
        array = api.array
        cache = array(torch.zeros(1, 16, 32))
        async with api.asset.load(opened.path).executable() as model:
            prefill, decode = model.load_function("prefill"), model.load_function("decode")
            tokens, positions = chat()["prefill"][1]
            out = await prefill({"tokens": array(tokens), "positions": array(positions)}, state={"kv": cache})
            close(out["logits"].numpy().copy(), eager(tokens, positions))
            tokens, positions = chat()["decode"][1]
            out = await decode({"tokens": array(tokens), "positions": array(positions)}, state={"kv": cache})
            close(out["logits"].numpy().copy(), eager(tokens, positions))

    asyncio.run(talk())
