"""The converter's life cycle, errors, lowerings and assets, over both spellings (§3–§5, §7, §20 and §22)."""

from __future__ import annotations

import functools
import re
import warnings
from pathlib import Path
from typing import Any

import ingot
import numpy as np
import pytest
import torch
from acceptance import Api, Holder, Opened, both, close, export, run
from ingot import ops
from torch import Tensor

X = torch.randn(2, 3, generator=torch.Generator().manual_seed(0))


class Net(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        torch.manual_seed(0)
        self.encoder = torch.nn.Linear(3, 4)
        self.register_buffer("steps", torch.zeros(1))

    def forward(self, feats: Tensor) -> Tensor:
        self.steps.add_(1)
        return torch.tanh(self.encoder(feats)) + self.steps


@functools.cache
def net() -> torch.export.ExportedProgram:
    return export(Net(), X, decompose=True)


# ---- staging and converting


@both
def test_two_conversions_are_independent(api: Api) -> None:
    converter = api.converter().add_exported_program(net(), output_names=["y"])
    first, second = api.convert(converter), api.convert(converter)
    assert first is not second and str(first) == str(second)
    opened = Opened(api, first)
    for step in range(1, 3):
        close(opened({"feats": X})["y"], torch.tanh(Net().encoder(X)) + step)
    close(Opened(api, second)({"feats": X})["y"], torch.tanh(Net().encoder(X)) + 1)
    first.strip_debug_info()
    assert str(second) == str(first)


@both
def test_the_callers_program_and_model_are_not_changed(api: Api) -> None:
    def forward(model: Any, x: Tensor) -> Tensor:
        torch._check(x.shape[0] > 1)
        unused = x * 3
        model.total.add_(x.sum())
        return torch.cond(x.sum() > 0, lambda v: v + 1, lambda v: v - 1, (x,)) + model.linear(x) + unused.shape[0]

    model = Holder(forward, total=torch.zeros(()), linear=torch.nn.Linear(3, 3))
    rows = torch.export.Dim("rows", min=2, max=9)
    exported = export(model, X, dynamic_shapes=({0: rows},), decompose=True)

    def snapshot() -> Any:
        text = [str(part.graph) for part in exported.graph_module.modules() if hasattr(part, "graph")]
        metas = [sorted(map(str, node.meta)) for node in exported.graph.nodes]
        return text, metas, str(exported.graph_signature), str(exported.range_constraints), model.__dict__.keys()

    tensors = {name: value.clone() for name, value in exported.state_dict.items()}
    before = snapshot()
    converter = api.converter().add_exported_program(exported)
    api.convert(converter)(X)
    api.convert(converter).optimize()
    assert snapshot() == before
    for name, value in exported.state_dict.items():
        assert torch.equal(value, tensors[name])
    close(exported.module()(X), model(X))


@both
def test_life_of_a_converter(api: Api) -> None:
    converter = api.converter()
    assert "(none)" in repr(converter) and "custom_lowerings: []" in repr(converter)
    converter.add_exported_program(net(), input_names=["a"], output_names=["b"])
    converter.add_pytorch_module(
        Net(), export_fn=lambda _: net(), externalize_modules=[torch.nn.Linear], entrypoint_name="second"
    )
    converter.register_torch_lowering("acme::thing.default")(lambda values_map, node, loc: None)
    text = repr(converter)
    assert re.search(r"main: ExportedProgram \[.?a.?\] -> \[.?b.?\]", text)
    assert re.search(r"second: nn.Module .*externalize=\[Linear\]", text)
    assert "acme::thing.default" in text and "(none)" not in text
    assert converter.clear(entrypoints=["main"]) is None
    assert "main" not in repr(converter) and "second" in repr(converter)
    converter.add_exported_program(net())
    converter.clear(entrypoints="main")
    assert "main" not in repr(converter)
    converter.clear()
    assert "(none)" in repr(converter) and "acme::thing.default" in repr(converter), "lowerings stay"
    with pytest.raises(RuntimeError, match="No programs to convert"):
        api.convert(converter)
    api.convert(converter.add_exported_program(net()))


@both
def test_entry_points_that_are_not_there(api: Api) -> None:
    converter = api.converter()
    for entrypoints in (None, [], ["main"]):
        with pytest.raises(RuntimeError, match="No programs to convert"):
            api.convert(converter, entrypoints=entrypoints)
    converter.add_exported_program(net())
    with pytest.raises(RuntimeError, match=r"No programs to convert.*'decode'"):
        api.convert(converter, entrypoints=["decode"])
    with pytest.raises(ValueError, match="'decode'"):
        api.convert(converter, entrypoints=["main", "decode"])
    assert api.convert(converter, entrypoints=iter(["main"])).entry_points[0].name == "main"


@both
def test_an_entry_point_can_be_staged_once(api: Api) -> None:
    converter = api.converter().add_exported_program(net(), entrypoint_name="prefill")
    with pytest.raises(ValueError, match="'prefill' is already staged"):
        converter.add_exported_program(net(), entrypoint_name="prefill")
    with pytest.raises(ValueError, match="'prefill' is already staged"):
        converter.add_pytorch_module(Net(), export_fn=lambda _: net(), entrypoint_name="prefill")
    converter.clear(entrypoints=["prefill"])
    converter.add_exported_program(net(), entrypoint_name="prefill")


@both
def test_what_is_no_program(api: Api) -> None:
    with pytest.raises(TypeError, match="Holder"):
        api.converter().add_exported_program(Holder(lambda _, x: x))
    with pytest.raises(TypeError, match="Tensor"):
        api.converter().add_pytorch_module(Net(), export_fn=lambda _: X)
    with pytest.raises(TypeError):
        api.converter().add_pytorch_module(Net())
    with pytest.raises(TypeError):
        api.package.TorchConverter(api.package.TorchConverter.Mode.DEBUG)
    assert [mode.value for mode in api.package.TorchConverter.Mode] == ["debug", "release"]


@both
def test_modules_that_cannot_be_exported(api: Api) -> None:
    def fails(_: Any) -> Any:
        raise KeyError("no such weight")

    with pytest.raises(RuntimeError, match=r"Your model failed to export: .*no such weight") as caught:
        api.converter().add_pytorch_module(Net(), export_fn=fails)
    assert isinstance(caught.value.__cause__, KeyError)

    exported, seen = net(), []

    def fails_later(model: Any) -> Any:
        if "forward" in model.encoder.__dict__:
            seen.append(model)
            raise KeyError("marked")
        return exported

    model = Net()
    converter = api.converter().add_pytorch_module(model, export_fn=fails_later, externalize_modules=[torch.nn.Linear])
    assert seen == [], "the first export is of the model as it is"
    for _ in range(2):
        with pytest.raises(RuntimeError, match=r"Internal error: re-export .*bug.*marked"):
            api.convert(converter)
        assert "forward" not in model.encoder.__dict__, "the model is restored whatever happens"
    assert len(seen) == 2


@both
def test_export_fn_is_called_at_once_and_for_each_conversion(api: Api) -> None:
    calls = []

    def exported(model: torch.nn.Module) -> torch.export.ExportedProgram:
        calls.append(model)
        return export(model, X)

    plain = api.converter().add_pytorch_module(Net(), export_fn=exported)
    assert len(calls) == 1
    api.convert(plain)
    assert len(calls) == 1
    kept = api.converter().add_pytorch_module(Net(), export_fn=exported, externalize_modules=[torch.nn.Linear])
    assert len(calls) == 2
    for count in (3, 4):
        program = api.convert(kept)
        assert len(calls) == count
    close(program(X), Net()(X))


# ---- validation


class Unsupported(torch.nn.Module):
    """An operator that is to be decomposed, and one, in the model and in a branch, that nobody knows."""

    def forward(self, x: Tensor) -> tuple[Tensor, Tensor]:
        padded = torch.ops.aten._pad_circular(x[None], [1, 1])
        y = torch.cond(x.sum() > 0, self.count, lambda v: v * 2, (x,))
        return padded, self.count(y)

    def count(self, x: Tensor) -> Tensor:
        return x + torch.ops.aten._standard_gamma(x.abs() + 1)


@both
def test_everything_that_cannot_be_converted_is_in_one_report(api: Api) -> None:
    exported = export(Unsupported(), X)
    with pytest.raises(ValueError, match="unsupported ATen ops") as caught:
        api.converter().add_exported_program(exported)
    text = str(caught.value)
    assert "run_decompositions" in text and "aten._pad_circular.default, once" in text
    assert "register_torch_lowering" in text and "aten._standard_gamma.default, 2 times" in text
    assert Path(__file__).name in text and "Unsupported" in text
    assert "mul" not in text, "what can be converted is not in the report"
    with pytest.raises(ValueError, match=r"aten\._standard_gamma"):
        api.converter().add_pytorch_module(Unsupported(), export_fn=lambda _: exported)

    converter = api.converter()
    for name in ("aten::_standard_gamma", "aten::_pad_circular"):
        converter.register_torch_lowering(name, allow_override=True)(lambda values_map, node, loc: None)
    converter.add_exported_program(exported)


@both
def test_plain_decompositions_convert_too(api: Api) -> None:
    model = Holder(lambda _, x: torch.nn.functional.silu(x) + torch.nn.functional.hardswish(x))
    exported = export(model, X).run_decompositions()
    close(run(api, api.program(exported), X)[0], model(X))
    table = api.package.get_decomp_table()
    assert torch.ops.aten.silu.default not in table and torch.ops.aten.addcmul.default in table
    assert table is not api.package.get_decomp_table()


# ---- lowerings of the user


@torch.library.custom_op("acceptance::softclip", mutates_args=())
def softclip(x: Tensor, limit: float) -> Tensor:
    return limit * torch.tanh(x / limit)


@torch.library.custom_op("acceptance::halves", mutates_args=())
def halves(x: Tensor) -> tuple[Tensor, Tensor]:
    return x * 0.5, x * 2


softclip.register_fake(lambda x, limit: torch.empty_like(x))
halves.register_fake(lambda x: (torch.empty_like(x), torch.empty_like(x)))


def lower_softclip(values_map: Any, node: Any, loc: Any) -> Any:
    x = values_map[node.args[0].name]
    limit = ops.constant(node.args[1], dtype=x.type.element_type)
    return ops.mul(ops.tanh(ops.div(x, limit)), limit)


@functools.cache
def clipping() -> torch.export.ExportedProgram:
    return export(Holder(lambda _, x: softclip(x * 3, 2.0) + 1), X)


@both
@pytest.mark.parametrize(("name", "late"), [("acceptance::softclip.default", True), ("acceptance::softclip", False)])
def test_a_lowering_of_one_result(api: Api, name: str, late: bool) -> None:
    converter = api.converter()
    if late:
        converter.add_exported_program(clipping())
    assert converter.register_torch_lowering(name)(lower_softclip) is lower_softclip
    if not late:
        converter.add_exported_program(clipping())
    (result,) = run(api, api.convert(converter), X)
    close(result, softclip(X * 3, 2.0) + 1)


@both
def test_a_lowering_of_two_results(api: Api) -> None:
    converter = api.converter().add_exported_program(export(Holder(lambda _, x: halves(x)[::-1]), X))

    @converter.register_torch_lowering("acceptance::halves.default")
    def lower(values_map: Any, node: Any, loc: Any) -> Any:
        x = values_map[node.args[0].name]
        return ops.mul(x, 0.5), ops.add(x, x)

    double, half = run(api, api.convert(converter), X)
    close(double, X * 2)
    close(half, X * 0.5)


@both
def test_one_operator_on_two_converters(api: Api) -> None:
    exported, results = clipping(), []
    for shift in (1.0, 5.0):
        converter = api.converter().add_exported_program(exported)
        converter.register_torch_lowering("acceptance::softclip")(
            lambda values_map, node, loc, shift=shift: ops.add(values_map[node.args[0].name], shift)
        )
        results += run(api, api.convert(converter), X)
    close(results[0], X * 3 + 2)
    close(results[1], X * 3 + 6)
    with pytest.raises((ValueError, NotImplementedError), match="softclip"):
        api.convert(api.converter().add_exported_program(exported))


@both
def test_overriding_a_built_in(api: Api) -> None:
    converter = api.converter()

    def lower(values_map: Any, node: Any, loc: Any) -> Any:
        return ops.mul(values_map[node.args[0].name], 2.0)

    with pytest.raises(ValueError, match=r"already registered.*allow_override=True"):
        converter.register_torch_lowering("aten::tanh.default")
    converter.register_torch_lowering("aten::tanh.default", allow_override=True)(lower)
    with pytest.raises(ValueError, match="already registered"):
        converter.register_torch_lowering("aten::tanh.default")
    converter.register_torch_lowering("aten::tanh.default", allow_override=True)(lower)
    converter.add_exported_program(export(Holder(lambda _, x: torch.tanh(x) + torch.sigmoid(x)), X))
    close(run(api, api.convert(converter), X)[0], X * 2 + torch.sigmoid(X))


@both
@pytest.mark.parametrize("name", ["softclip", "a::b::c", "::b", "a::", "", "a:b"])
def test_names_of_operators(api: Api, name: str) -> None:
    with pytest.raises(ValueError, match="namespace::op_name"):
        api.converter().register_torch_lowering(name)


@both
def test_a_lowering_that_disagrees_with_the_program(api: Api) -> None:
    wrong = {
        "rank": lambda x: ops.reshape(x, [6]),
        "dtype": lambda x: ops.cast(x, torch.float16),
        "dim": lambda x: ops.permute(x, [1, 0]),
    }
    for what, make in wrong.items():
        converter = api.converter().add_exported_program(clipping())
        converter.register_torch_lowering("acceptance::softclip")(
            lambda values_map, node, loc, make=make: make(values_map[node.args[0].name])
        )
        with pytest.raises(ValueError, match=rf"softclip\[0\]: {what}"):
            api.convert(converter)


@both
def test_a_lowering_that_fails_names_node_and_line(api: Api) -> None:
    converter = api.converter().add_exported_program(clipping())

    @converter.register_torch_lowering("acceptance::softclip")
    def lower_wrongly(values_map: Any, node: Any, loc: Any) -> Any:
        raise ZeroDivisionError("on purpose")

    with pytest.raises(ValueError, match="on purpose") as caught:
        api.convert(converter)
    assert isinstance(caught.value.__cause__, ZeroDivisionError)
    assert "softclip" in str(caught.value) and Path(__file__).name in str(caught.value)


@both
def test_lowerings_inside_branches_and_externalized_bodies(api: Api) -> None:
    class Clip(torch.nn.Module):
        def forward(self, x: Tensor) -> Tensor:
            return softclip(x, 2.0)

    def forward(model: Any, x: Tensor) -> Tensor:
        return torch.cond(x.sum() > 0, lambda v: softclip(v, 1.0), lambda v: v - 1, (model.clip(x),))

    model = Holder(forward, clip=Clip())
    converter = api.converter().add_pytorch_module(
        model, export_fn=lambda m: export(m, X), externalize_modules=[api.package.ExternalizeSpec(Clip, "clip")]
    )
    converter.register_torch_lowering("acceptance::softclip")(lower_softclip)
    program = api.convert(converter)
    assert "clip_" in str(program)
    for x in (X.abs(), -X.abs()):
        close(program(x), model(x))


# ---- programs and assets


@both
@pytest.mark.parametrize("optimize", [False, True])
def test_save_load_print_run(api: Api, optimize: bool, tmp_path: Path) -> None:
    program = api.program(net(), output_names=["y"])
    if optimize:
        assert program.optimize() in (None, program)
    text = str(program)
    assert "@main" in text and "ingot." in text and text == str(program)
    assert "@main" in str(program.get_graph("main"))
    for path in (tmp_path / "a.aimodel", str(tmp_path / "b.aimodel")):
        asset = program.save_asset(path)
        assert isinstance(asset, api.asset) and asset.is_valid and Path(asset.path) == Path(path)
        loaded = api.asset.load(path)
        assert loaded.is_valid and loaded.program is not loaded.program
        assert str(loaded.program) == text
        close(ingot.load(path)(X), Net()(X))


@both
def test_an_asset_is_not_overwritten(api: Api, tmp_path: Path) -> None:
    program = api.program(net())
    program.save_asset(tmp_path / "a.aimodel", metadata={"author": "me"})
    assert api.asset.load(tmp_path / "a.aimodel").metadata == {"author": "me"}
    with pytest.raises((ValueError, OSError), match=r"a\.aimodel"):
        program.save_asset(tmp_path / "a.aimodel")
    with pytest.raises(OSError, match="nope"):
        api.asset.load(tmp_path / "nope.aimodel")


def leaks(opened: Opened, words: list[str]) -> list[str]:
    return [f"{file}: {word}" for file, data in opened.files().items() for word in words if word.encode() in data]


DEBUG_WORDS = ["encoder", "Linear", "addmm", "test_acceptance_converter", "forward", str(Path(__file__).parent)]


@both
@pytest.mark.parametrize("how", ["release", "strip"])
def test_nothing_tells_where_a_released_program_comes_from(api: Api, how: str) -> None:
    mode = api.package.TorchConverter.Mode.RELEASE if how == "release" else api.package.TorchConverter.Mode.DEBUG
    names = {"input_names": ["a"], "output_names": ["b"], "state_names": ["c"]}
    program = api.convert(api.converter(mode=mode).add_exported_program(net(), **names))
    if how == "strip":
        program.strip_debug_info()
    opened = Opened(api, program)
    # Weights have names, which the manifest and the file of weights need; lines, modules and nodes are gone.
    assert leaks(opened, [word for word in DEBUG_WORDS if word not in ("encoder",)]) == []
    close(opened({"a": X})["b"], Net()(X))


@both
def test_a_program_that_ran_can_still_be_stripped(api: Api) -> None:
    program = api.program(net())
    program(X)
    program.strip_debug_info()
    assert leaks(Opened(api, program), ["Linear", "test_acceptance_converter"]) == []


@both
def test_debug_information_has_no_absolute_paths(api: Api) -> None:
    opened = Opened(api, api.program(net()))
    assert leaks(opened, [str(Path(__file__).parent), str(Path(torch.__file__).parent), str(Path.home())]) == []
    assert leaks(opened, ["test_acceptance_converter.py"]) != [], "the name of the file stays"


@both
def test_nothing_is_printed_off_a_terminal(api: Api, capsys: pytest.CaptureFixture[str]) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        api.program(net()).optimize()
    assert capsys.readouterr().err == ""


@both
def test_functions_describe_themselves(api: Api) -> None:
    desc = Opened(api, api.program(net(), output_names=["y"])).function().desc
    assert desc.name == "main"
    assert desc.input_descriptor("feats").shape == (2, 3)
    assert desc.input_descriptor("feats").dtype == np.float32
    assert desc.output_descriptor("y").shape == (2, 4)
    assert desc.state_descriptor("b_steps").shape == (1,)
