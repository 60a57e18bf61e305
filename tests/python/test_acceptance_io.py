"""Names, order and structure of inputs and outputs, over both spellings of the converter (§8 of its specification)."""

from __future__ import annotations

import functools
from typing import Any

import ingot
import pytest
import torch
from acceptance import API, Api, Holder, Opened, both, close, export, run
from torch import Tensor

# What does not depend on the spelling takes one of them.
ingot_only, compat_only = (pytest.mark.parametrize("api", [api], ids=[name]) for name, api in API.items())
X = torch.arange(6.0).reshape(2, 3)
Y = X.flip(0) + 1


def output_nodes(exported: torch.export.ExportedProgram) -> list[str]:
    return [node.name for node in exported.graph.output_node().args[0]]


# ---- names


@both
def test_default_names_are_those_of_the_graph(api: Api) -> None:
    exported = export(Holder(lambda _, x, y: (x + y, torch.relu(x) * 2)), X, Y, decompose=True)
    opened = Opened(api, api.program(exported))
    desc = opened.function().desc
    assert desc.input_names == [node.name for node in exported.graph.nodes if node.op == "placeholder"]
    assert desc.output_names == output_nodes(exported)
    assert desc.state_names == []
    assert (desc.name, opened.model.function_names) == ("main", ["main"])


@both
@pytest.mark.parametrize("by_position", [False, True])
def test_names_are_in_order(api: Api, by_position: bool) -> None:
    exported = export(Holder(lambda _, x, y: (x - y, x * y)), X, Y)
    names = (["b", "a"], ["z", "difference"])
    keywords = dict(zip(("input_names", "output_names"), names, strict=True))
    converter = api.converter()
    staged = converter.add_exported_program(exported, *names) if by_position else None
    staged = staged or converter.add_exported_program(exported, **keywords)
    assert staged is converter
    opened = Opened(api, api.convert(converter))
    out = opened({"a": X, "b": X + 1})
    assert list(out) == ["z", "difference"]
    close(out["z"], torch.ones_like(X))
    close(out["difference"], (X + 1) * X)


@both
@pytest.mark.parametrize("empty", [None, [], ()])
def test_no_names_are_default_names(api: Api, empty: Any) -> None:
    exported = export(Holder(lambda _, x: x + 1), X)
    program = api.program(exported, input_names=empty, output_names=empty, state_names=empty)
    (entry,) = program.entry_points
    assert [port.name for port in (*entry.inputs, *entry.outputs)] == ["x", "add"]


@both
@pytest.mark.parametrize(
    ("names", "message"),
    [
        ({"input_names": ["a"]}, r"2 live inputs \(x, rest_0\), but input_names has 1 entries \(a\)"),
        ({"input_names": ["a", "b", "c"]}, "2 live inputs"),
        ({"output_names": ["a"]}, r"2 live outputs \(.*, .*\), but output_names has 1 entries \(a\)"),
        ({"output_names": ["a", "b", "c"]}, "2 live outputs"),
        ({"state_names": ["a", "b"]}, r"1 stateful inputs \(b_total\), but state_names has 2 entries \(a, b\)"),
        ({"input_names": ["a", "a"]}, "'a' is given twice"),
        ({"output_names": ["a", "a"]}, "'a' is given twice"),
        ({"input_names": ["a", "b"], "state_names": ["a"]}, "'a' is given twice"),
        ({"output_names": ["a", "b"], "state_names": ["a"]}, "'a' is given twice"),
        ({"input_names": ["a", ""]}, "empty name"),
        ({"input_names": "ab"}, "must be a list of names"),
        ({"output_names": "ab"}, "must be a list of names"),
        ({"input_names": [1, 2]}, "must be a list of names"),
    ],
)
def test_wrong_names(api: Api, names: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        api.program(summing(), **names)


@functools.cache
def summing() -> torch.export.ExportedProgram:
    def forward(self: Any, x: Tensor, y: Tensor) -> Any:
        self.total.add_(x)
        return x + y, x * y

    return export(Holder(forward, total=torch.zeros(2, 3)), X, Y)


@compat_only
def test_names_need_not_be_identifiers(api: Api) -> None:
    program = api.program(export(Holder(lambda _, x: x + 1), X), input_names=["my input"], output_names=["logits/0.b"])
    close(Opened(api, program)({"my input": X})["logits/0.b"], X + 1)


@ingot_only
def test_an_input_may_be_called_as_an_output(api: Api) -> None:
    program = api.program(export(Holder(lambda _, x: x + 1), X), input_names=["x"], output_names=["x"])
    close(Opened(api, program)({"x": X})["x"], X + 1)


# ---- every position of the output


@both
def test_repeated_outputs(api: Api) -> None:
    def forward(_: Any, x: Tensor) -> Any:
        y = x + 1
        return y, x * 2, y, y

    exported = export(Holder(forward), X)
    out = Opened(api, api.program(exported))({"x": X})
    assert len(out) == 4 and list(out)[:2] == ["add", "mul"]
    for value, want in zip(out.values(), forward(None, X), strict=True):
        close(value, want)
    named = Opened(api, api.program(exported, output_names=["a", "b", "c", "d"]))({"x": X})
    assert list(named) == ["a", "b", "c", "d"]
    close(named["d"], X + 1)


@both
def test_numbers_strings_and_none_in_the_output(api: Api) -> None:
    exported = export(Holder(lambda _, x: (None, x + 1, 3, 2.5, "text", True)), X)
    program = api.program(exported, output_names=["sum"])
    assert list(Opened(api, program)({"x": X})) == ["sum"]
    results = program(X)
    close(results[1], X + 1)
    assert (results[0], *results[2:]) == (None, 3, 2.5, "text", True)


@compat_only
def test_nothing_but_none(api: Api) -> None:
    program = api.program(export(Holder(lambda _, x: None), X))
    assert Opened(api, program)({"x": X}) == {}
    assert program(X) is None


@ingot_only
def test_constants_and_weights_in_the_output(api: Api) -> None:
    weight = torch.nn.Parameter(torch.randn(2))
    model = Holder(lambda m, x: (torch.ones(3), m.table, m.weight, x + 1), table=torch.full((2,), 4.0), weight=weight)
    program = api.program(export(model, X), output_names=["ones", "table", "weight", "sum"])
    for value, want in zip(Opened(api, program)({"x": X}).values(), model(X), strict=True):
        close(value, want)


@both
def test_inputs_in_the_output(api: Api) -> None:
    program = api.program(export(Holder(lambda _, x, y: (y, x, x)), X, Y))
    out = Opened(api, program)({"x": X, "rest_0": X + 1})
    assert list(out)[:2] == ["rest_0", "x"], "an input that is returned keeps its name"
    for value, want in zip(out.values(), (X + 1, X, X), strict=True):
        close(value, want)


@compat_only
def test_views_of_inputs_in_the_output(api: Api) -> None:
    program = api.program(export(Holder(lambda _, x: (x.t(), x[0], x.reshape(3, 2))), X))
    for value, want in zip(run(api, program, X), (X.t(), X[0], X.reshape(3, 2)), strict=True):
        close(value, want)


# ---- structure


@both
def test_nested_outputs_are_flat_by_name_and_nested_when_called(api: Api) -> None:
    model = Holder(lambda _, x: {"z": x + 1, "a": [x * 2, (x - 1, None)]})
    program = api.program(export(model, X), output_names=["first", "second", "third"])
    opened = Opened(api, program)
    out = opened({"x": X})
    assert list(out) == ["first", "second", "third"]
    close(out["first"], X + 1)
    result = ingot.load(opened.path)(X)
    assert list(result) == ["z", "a"] and isinstance(result["a"], list) and result["a"][1][1] is None
    close(result["a"][1][0], X - 1)


class Keywords(torch.nn.Module):
    def forward(self, x: Tensor, pair: dict[str, Tensor], *, scale: Tensor, power: int = 2) -> Tensor:
        return (x * pair["w"] + pair["b"]) * scale**power


@ingot_only
def test_nested_inputs_and_keywords(api: Api) -> None:
    pair, scale = {"w": X + 1, "b": X + 2}, torch.tensor(3.0)
    exported = export(Keywords(), X, pair, kwargs={"scale": scale, "power": 3})
    names = [spec.arg.name for spec in exported.graph_signature.input_specs if hasattr(spec.arg, "name")]
    program = api.program(exported)
    opened = Opened(api, program)
    assert opened.function().desc.input_names == [name for name in names if name != "power"]
    want = Keywords()(X, pair, scale=scale, power=3)
    values = dict(zip(opened.function().desc.input_names, (X, pair["w"], pair["b"], scale), strict=True))
    close(next(iter(opened(values).values())), want)
    close(program(X, pair, scale=scale, power=3), want)


class WithDefaults(torch.nn.Module):
    def forward(self, x: Tensor, count: int, ratio: float, flag: bool, nothing: Tensor | None) -> Tensor:
        assert flag and nothing is None
        return x.repeat(count, 1) * ratio


@compat_only
def test_inputs_that_are_no_tensors_are_baked_in(api: Api) -> None:
    program = api.program(export(WithDefaults(), X, 2, 0.5, True, None), input_names=["x"])
    (result,) = run(api, program, X)
    close(result, X.repeat(2, 1) * 0.5)
    close(program(X, 2, 0.5, True, None), X.repeat(2, 1) * 0.5)


# ---- element types


@both
@pytest.mark.parametrize("optimize", [False, True])
def test_narrow_arrays_for_wide_inputs(api: Api, optimize: bool) -> None:
    model = Holder(lambda _, i, f: (i + 2**40, f / 3))
    indices, values = torch.tensor([1, 2]), torch.tensor([1.0, 2.0], dtype=torch.float64)
    opened = Opened(api, api.program(export(model, indices, values), input_names=["i", "f"]), optimize)
    wide = opened({"i": indices, "f": values})
    narrow = opened({"i": indices.int(), "f": values.float()})
    for value, other, want in zip(wide.values(), narrow.values(), model(indices, values), strict=True):
        assert value.dtype == want.dtype, "64 bits stay 64 bits"
        assert torch.equal(value, want) and torch.equal(other, want)


@both
def test_wrong_arrays(api: Api) -> None:
    opened = Opened(api, api.program(export(Holder(lambda _, x: x + 1), X)))
    for inputs in ({"x": X.double()}, {"x": X[0]}, {"x": torch.zeros(3, 3)}, {}, {"x": X, "y": X}):
        with pytest.raises(RuntimeError, match=r"'x'|'y'"):
            opened(inputs)
    with pytest.raises(KeyError, match="nope"):
        opened.function("nope")


@ingot_only
def test_element_types(api: Api) -> None:
    types = [torch.float16, torch.bfloat16, torch.int8, torch.uint8, torch.bool, torch.complex64]
    args = [torch.tensor([[0, 1, 1], [1, 0, 1]]).to(dtype) for dtype in types]
    model = Holder(lambda _, *tensors: [(torch.cat([x, x]), x == x) for x in tensors])
    wanted = [value for pair in model(*args) for value in pair]
    for value, want in zip(run(api, api.program(export(model, *args)), *args), wanted, strict=True):
        assert value.dtype == want.dtype and torch.equal(value, want)


@compat_only
def test_dynamic_sizes(api: Api) -> None:
    rows = torch.export.Dim("rows", min=2, max=8)
    exported = export(Holder(lambda _, x: x.sum(0) + x.shape[0]), X, dynamic_shapes=({0: rows},))
    opened = Opened(api, api.program(exported))
    assert opened.function().desc.input_descriptor("x").shape == (-1, 3)
    for count in (2, 5, 8):
        x = torch.randn(count, 3)
        close(next(iter(opened({"x": x}).values())), x.sum(0) + count)
    with pytest.raises(RuntimeError, match="x"):
        opened({"x": torch.randn(9, 3)})
