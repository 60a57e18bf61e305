"""Running saved models by names: arrays, descriptors, states, options, and what is refused."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import ingot
import numpy as np
import pytest
import torch
from ingot.asset import Asset
from ingot.errors import CorruptFileError, UnsupportedError, UsageError
from ingot.runtime import (
    ComputeUnitKind,
    IntermediateLogger,
    LogEvent,
    Model,
    NDArray,
    Profiler,
    SpecializationOptions,
    StorageKind,
)


class Scaled(torch.nn.Module):
    def forward(self, x: torch.Tensor, ids: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        return x * 2, ids + 1


class Wide(torch.nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x * 2


class Writes(torch.nn.Module):
    def forward(self, x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        y.add_(x)
        return x + y


class Cache(torch.nn.Module):
    """Two written buffers and a written argument."""

    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("kv_cache", torch.full((2, 4), 0.5))
        self.register_buffer("pos_idx", torch.zeros(1, dtype=torch.int64))

    def forward(self, x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        self.kv_cache.index_copy_(1, self.pos_idx, x)
        self.pos_idx.add_(1)
        y.add_(x)
        return self.kv_cache.sum() + y


def save(module: torch.nn.Module, args: tuple[Any, ...], path: Path, **options: Any) -> Asset:
    ingot.convert(module, args, **options).save_asset(path)
    return Asset.load(path)


@pytest.fixture(scope="module")
def scaled(tmp_path_factory: pytest.TempPathFactory) -> Asset:
    dims = ({0: torch.export.Dim("rows", max=64)}, None)
    args = (torch.zeros(3, 4), torch.zeros(2, dtype=torch.int64))
    return save(Scaled(), args, tmp_path_factory.mktemp("scaled") / "m.aimodel", dynamic_shapes=dims)


@pytest.fixture(scope="module")
def writes(tmp_path_factory: pytest.TempPathFactory) -> Asset:
    args = (torch.zeros(4, dtype=torch.int64), torch.zeros(4, dtype=torch.int64))
    return save(Writes(), args, tmp_path_factory.mktemp("writes") / "m.aimodel")


# Arrays


def test_arrays_are_wrapped_without_copying() -> None:
    plain = np.zeros((2, 3), np.float16)
    tensor = torch.zeros(2, 3)
    assert NDArray(plain).numpy() is plain
    NDArray(tensor).numpy()[0, 0] = 5
    assert tensor[0, 0] == 5
    assert NDArray(NDArray(plain)).numpy() is plain
    assert np.asarray(NDArray(plain)) is plain


def test_arrays_describe_themselves() -> None:
    array = NDArray(torch.zeros(2, 3).t())
    assert (array.shape, array.dtype, array.strides) == ((3, 2), np.dtype(np.float32), (4, 12))
    assert array.strides == array.numpy().strides
    assert NDArray(np.zeros((2, 3), np.complex64)).strides == (24, 8)
    assert repr(array) == "NDArray(shape=[3, 2], dtype=float32)"


@pytest.mark.parametrize(
    ("data", "dtype"),
    [
        ([[1.5, 2.0]], np.float32),
        ([1, 2], np.int32),
        ([2**40], np.int64),
        ([True, False], np.bool_),
        ([1j], np.complex64),
        (3.0, np.float32),
        (7, np.int32),
        ([], np.float32),
    ],
)
def test_lists_become_the_usual_types(data: Any, dtype: type) -> None:
    array = NDArray(data)
    assert array.dtype == dtype
    np.testing.assert_array_equal(array.numpy(), np.asarray(data))


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float8_e4m3fn])
def test_types_that_numpy_lacks(dtype: torch.dtype) -> None:
    ml_dtypes = pytest.importorskip("ml_dtypes")
    tensor = torch.tensor([1.5, -2.0]).to(dtype)
    array = NDArray(tensor)
    assert array.dtype == getattr(ml_dtypes, array.element_type)
    np.testing.assert_array_equal(array.numpy().astype(np.float32), [1.5, -2.0])
    back = NDArray(array.numpy()).torch()
    assert back.dtype == dtype and back.data_ptr() == tensor.data_ptr()


def test_arrays_refuse_what_they_cannot_hold() -> None:
    with pytest.raises(UsageError, match="not dict"):
        NDArray({})
    with pytest.raises((UsageError, ValueError)):
        NDArray([[1], [1, 2]])
    with pytest.raises(UsageError, match="numbers"):
        NDArray(["a"])
    with pytest.raises(UnsupportedError, match="METAL"):
        NDArray([1], StorageKind.METAL)


# Calling


def test_runs_by_name(scaled: Asset) -> None:
    async def main() -> None:
        async with scaled.executable() as model:
            assert model.function_names == ["main"]
            function = model.load_function("main")
            x = torch.randn(5, 4)
            out = await function({"x": NDArray(x), "ids": NDArray(np.array([1, 2]))})
            assert list(out) == function.desc.output_names
            first, second = out.values()
            torch.testing.assert_close(first.torch(), x * 2)
            np.testing.assert_array_equal(second.numpy(), [2, 3])
            again = await function(inputs={"x": x, "ids": [1, 2]}, state={})
            np.testing.assert_array_equal(next(iter(again.values())).numpy(), first.numpy())
        with pytest.raises(RuntimeError, match="closed"):
            await function({"x": x, "ids": [1, 2]})

    asyncio.run(main())


def test_runs_without_await(scaled: Asset) -> None:
    function = Model.open(scaled.path).load_function("main")
    out = function.call({"x": np.ones((1, 4), np.float32), "ids": np.zeros(2, np.int64)})
    np.testing.assert_array_equal(next(iter(out.values())).numpy(), np.full((1, 4), 2))
    with scaled.executable() as model:
        assert model.load_function("main").name == "main"
    assert asyncio.run(Model.load(scaled.path)).function_names == ["main"]


def test_descriptors(scaled: Asset) -> None:
    desc = Model.open(scaled.path).load_function("main").desc
    assert (desc.name, desc.input_names, desc.state_names) == ("main", ["x", "ids"], [])
    assert len(desc.output_names) == 2
    x = desc.input_descriptor("x")
    assert (x.shape, x.dtype) == ((-1, 4), np.dtype(np.float32))
    assert desc["ids"] == desc.input_descriptors["ids"] == desc.input_descriptors("ids")
    assert desc["ids"].dtype == np.int64
    allocated = NDArray.from_descriptor(desc["ids"])
    assert (allocated.shape, allocated.dtype) == ((2,), np.int64)
    with pytest.raises(UsageError, match="vary"):
        NDArray.from_descriptor(x)
    with pytest.raises(KeyError, match="nothing"):
        desc["nothing"]


def test_narrow_arrays_are_widened(tmp_path: Path) -> None:
    asset = save(Wide(), (torch.zeros(2, dtype=torch.float64),), tmp_path / "m.aimodel")
    function = Model.open(asset.path).load_function("main")
    (out,) = function.call({"x": np.array([1.5, 2], np.float32)}).values()
    assert out.dtype == np.float64
    np.testing.assert_array_equal(out.numpy(), [3, 4])
    (out,) = function.call({"x": torch.tensor([1.5, 2])}).values()
    np.testing.assert_array_equal(out.numpy(), [3, 4])
    with pytest.raises(RuntimeError, match="int32"):
        function.call({"x": np.array([1, 2], np.int32)})


def test_foreign_order_of_bytes(writes: Asset) -> None:
    function = Model.open(writes.path).load_function("main")
    state = np.zeros(4, ">i8")
    (out,) = function.call({"x": np.arange(4).astype(">i4")}, {"y": state}).values()
    np.testing.assert_array_equal(state, np.arange(4))
    np.testing.assert_array_equal(out.numpy(), 2 * np.arange(4))


def test_outputs_can_be_written_to(tmp_path: Path) -> None:
    class Constant(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.weight = torch.nn.Parameter(torch.ones(3, 2).t())

        def forward(self, x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
            return self.weight, x, x.t()

    asset = save(Constant(), (torch.zeros(2, 3),), tmp_path / "m.aimodel")
    function = Model.open(asset.path).load_function("main")
    given = np.ones((2, 3), np.float32)
    for _ in range(2):
        for out in function.call({"x": given}).values():
            np.testing.assert_array_equal(out.numpy(), 1)
            out.numpy()[:] = 7
    np.testing.assert_array_equal(given, 1)


def test_bfloat16_in_and_out(tmp_path: Path) -> None:
    ml_dtypes = pytest.importorskip("ml_dtypes")
    asset = save(Wide(), (torch.zeros(2, dtype=torch.bfloat16),), tmp_path / "m.aimodel")
    function = Model.open(asset.path).load_function("main")
    for given in (torch.tensor([1, 2], dtype=torch.bfloat16), np.array([1, 2], ml_dtypes.bfloat16)):
        (out,) = function.call({"x": NDArray(given)}).values()
        assert out.dtype == ml_dtypes.bfloat16
        np.testing.assert_array_equal(out.numpy().astype(np.float32), [2, 4])


GOOD = {"x": np.zeros((2, 4), np.float32), "ids": np.zeros(2, np.int64)}


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"x": None}, "input 'x' is missing"),
        ({"z": np.zeros(1)}, "no input 'z'"),
        ({"x": np.zeros((2, 4))}, "'x' has the element type float64, but float32"),
        ({"ids": np.zeros(2, np.float32)}, "'ids' has the element type float32, but int64"),
        ({"x": np.zeros((2, 5), np.float32)}, r"'x' has the shape \[2, 5\], but \['rows', 4\]"),
        ({"x": np.zeros(4, np.float32)}, r"'x' has the shape \[4\]"),
        ({"x": np.zeros((65, 4), np.float32)}, "rows"),
    ],
)
def test_wrong_arrays_are_named(scaled: Asset, change: dict[str, Any], message: str) -> None:
    function = Model.open(scaled.path).load_function("main")
    inputs = {name: value for name, value in (GOOD | change).items() if value is not None}
    with pytest.raises(RuntimeError, match=message):
        function.call(inputs)


def test_what_is_not_a_call(scaled: Asset) -> None:
    model = Model.open(scaled.path)
    with pytest.raises(KeyError, match="decode"):
        model.load_function("decode")
    function = model.load_function("main")
    with pytest.raises(RuntimeError, match="by name"):
        function.call([np.zeros(2)])  # type: ignore[arg-type]
    with pytest.raises(RuntimeError, match="no state 'x'; it is an input"):
        function.call(GOOD, {"x": np.zeros(2)})


# States


def test_a_written_input_is_a_state(writes: Asset) -> None:
    function = Model.open(writes.path).load_function("main")
    assert (function.desc.input_names, function.desc.state_names) == (["x"], ["y"])
    state = NDArray(torch.zeros(4, dtype=torch.int64))
    x = np.arange(4)
    for step in (1, 2, 3):
        out = function.call({"x": x}, {"y": state})
        assert "y" not in out
        np.testing.assert_array_equal(state.numpy(), step * x)
        np.testing.assert_array_equal(next(iter(out.values())).numpy(), (step + 1) * x)


@pytest.mark.parametrize("make", [lambda: np.zeros(4, np.int32), lambda: np.zeros(8, np.int64)[::2]])
def test_states_in_another_form_are_written_back(writes: Asset, make: Any) -> None:
    function = Model.open(writes.path).load_function("main")
    state = make()
    for _ in range(2):
        function.call({"x": np.arange(4, dtype=np.int32)}, {"y": NDArray(state)})
    np.testing.assert_array_equal(state, [0, 2, 4, 6])


def test_buffers_are_states(tmp_path: Path) -> None:
    asset = save(Cache(), (torch.zeros(2, 1), torch.zeros(2, 1)), tmp_path / "m.aimodel")
    function = Model.open(asset.path).load_function("main")
    names = function.desc.state_names
    assert len(names) == 3 and function.desc.input_names == ["x"]
    cache, position, y = (NDArray.from_descriptor(function.desc.state_descriptors[name]) for name in names)
    narrow = NDArray(np.zeros(1, np.int32))
    eager, eager_y = Cache(), torch.zeros(2, 1)
    eager.kv_cache.zero_()
    for step in range(1, 4):
        x = torch.randn(2, 1)
        (out,) = function.call({"x": x}, dict(zip(names, (cache, narrow, y), strict=True))).values()
        torch.testing.assert_close(out.torch(), eager(x, eager_y))
        torch.testing.assert_close(cache.torch(), eager.kv_cache)
        torch.testing.assert_close(y.torch(), eager_y)
        assert narrow.numpy().tolist() == [step]
    assert position.dtype == np.int64 and position.numpy().tolist() == [0]


def test_buffers_that_are_not_given_keep_their_values(tmp_path: Path) -> None:
    asset = save(Cache(), (torch.zeros(2, 1), torch.zeros(2, 1)), tmp_path / "m.aimodel")
    function = Model.open(asset.path).load_function("main")
    eager, eager_y, y = Cache(), torch.zeros(2, 1), torch.zeros(2, 1)
    argument = function.desc.state_names[-1]
    for _ in range(3):
        x = torch.randn(2, 1)
        (out,) = function.call({"x": x}, {argument: y}).values()
        torch.testing.assert_close(out.torch(), eager(x, eager_y))


def test_wrong_states_are_named(writes: Asset) -> None:
    function = Model.open(writes.path).load_function("main")
    x = {"x": np.zeros(4, np.int64)}
    frozen = np.zeros(4, np.int64)
    frozen.flags.writeable = False
    for state, message in [
        ({}, "state 'y' is missing"),
        ({"y": np.zeros(5, np.int64)}, "state 'y' has the shape"),
        ({"y": np.zeros(4, np.float32)}, "state 'y' has the element type float32"),
        ({"y": frozen}, "read-only"),
        ({"z": np.zeros(4)}, "no state 'z'"),
    ]:
        with pytest.raises(RuntimeError, match=message):
            function.call(x, state)
    with pytest.raises(RuntimeError, match="no input 'y'; it is a state"):
        function.call(x | {"y": np.zeros(4, np.int64)})


# Options, profiling, assets


def test_options() -> None:
    assert SpecializationOptions.default() == SpecializationOptions()
    assert list(SpecializationOptions.cpu_only().allowed_compute_unit_kinds) == [ComputeUnitKind.cpu()]
    preferred = SpecializationOptions.from_preferred_compute_unit_kind(ComputeUnitKind.gpu())
    assert preferred.preferred_compute_unit_kind == ComputeUnitKind.gpu() != ComputeUnitKind.neural_engine()
    assert preferred.with_debug(enabled=True).debug and not preferred.debug


def test_options_at_opening(scaled: Asset) -> None:
    preferred = SpecializationOptions.from_preferred_compute_unit_kind(ComputeUnitKind.gpu())
    for options in (SpecializationOptions.cpu_only(), preferred):
        with scaled.executable(specialization_options=options) as model:
            assert model.function_names == ["main"]
    preferred.allowed_compute_unit_kinds = [ComputeUnitKind.gpu()]
    with pytest.raises(UnsupportedError, match="gpu only"):
        Model.open(scaled.path, preferred)


def test_profiler_and_logger(scaled: Asset) -> None:
    events: list[tuple[str, str]] = []

    def note(kind: str) -> Any:
        def callback(event: LogEvent) -> None:
            assert event.compile_identifiers.function_name == "main"
            events.append((kind, event.phase))

        return callback

    model = Model.open(scaled.path)
    function = model.load_function("main", profiler=Profiler(note("begin"), note("end")))
    function.call(GOOD)
    assert events == [(kind, phase) for phase in ("load", "inference") for kind in ("begin", "end")]
    model.load_function("main", intermediate_logger=IntermediateLogger(["add"], print, is_enabled=False))
    with pytest.raises(UnsupportedError, match="cannot be logged yet"):
        model.load_function("main", intermediate_logger=IntermediateLogger(["add"], print))


def test_assets(scaled: Asset, tmp_path: Path) -> None:
    assert scaled.is_valid and scaled.path.name == "m.aimodel" and scaled.metadata == {}
    assert scaled.function_names == ["main"]
    assert scaled.program is not scaled.program
    with pytest.raises(FileNotFoundError, match="no asset"):
        Asset.load(tmp_path / "absent.aimodel")
    for text in ("{", json.dumps({"format": "other"})):
        (tmp_path / "manifest.json").write_text(text)
        with pytest.raises(CorruptFileError):
            Asset.load(tmp_path)


def test_an_incomplete_asset_is_not_valid(tmp_path: Path) -> None:
    asset = save(Wide(), (torch.zeros(2),), tmp_path / "m.aimodel")
    assert asset.is_valid
    (asset.path / "program.mlirbc").unlink()
    assert not asset.is_valid
