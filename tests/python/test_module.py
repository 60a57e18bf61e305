"""Graphs written by hand: declared by annotations, checked, called, saved and run."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import ingot
import numpy as np
import pytest
from ingot import Module, TensorSpec, Value, ops

Rows = Annotated[Value, TensorSpec([None, 4], np.float32)]


def scaled() -> Module:
    module = Module.create()
    with module:

        @ops.graph
        def scale(v: Rows) -> Annotated[Value, TensorSpec([None, 4], np.float32, name="w")]:
            return ops.mul(v, ops.constant(0.5))

    return module


def test_one_graph(tmp_path: Path) -> None:
    module = scaled()
    module.verify()
    assert "func.func @scale(%arg0: tensor<?x4xf32>" in module.as_string()
    assert 'ingot.name = "w"' in str(module)
    module.save_asset(tmp_path / "scale.ingot")
    program = ingot.load(tmp_path / "scale.ingot")
    entry = program.entry_points[0]
    assert (entry.name, [port.name for port in entry.inputs], [port.name for port in entry.outputs]) == (
        "scale",
        ["v"],
        ["w"],
    )
    for rows in (1, 5):
        x = np.random.rand(rows, 4).astype(np.float32)
        np.testing.assert_allclose(program(x), x / 2)
    with pytest.raises(ingot.UsageError, match="already exists"):
        module.save_asset(tmp_path / "scale.ingot")
    module.save_asset(tmp_path / "scale.ingot", overwrite=True)


def test_bytecode_is_mlirs() -> None:
    assert scaled().bytecode()[:4] == b"ML\xefR"


def test_dump(capsys: pytest.CaptureFixture[str]) -> None:
    scaled().dump()
    assert "func.func @scale" in capsys.readouterr().out


def test_calls_and_several_results() -> None:
    module = Module.create()
    with module:

        @ops.graph(private=True, no_inline=True, composite_decl="acme.affine")
        def affine(x: Rows, b: Annotated[Value, TensorSpec([4], "float32")]) -> Rows:
            return ops.add(ops.mul(x, 2.0), b)

        @ops.graph
        def main(
            x: Annotated[Value, TensorSpec(["n", 4], np.float32)],
        ) -> tuple[
            Annotated[Value, TensorSpec(["n", 4], np.float32, name="twice")],
            Annotated[Value, TensorSpec([], np.int64, name="rows")],
        ]:
            y = affine(affine(x, [1.0, 1.0, 1.0, 1.0]), b=np.zeros(4, np.float32))
            return y, ops.from_scalar(ops.dim(y, 0))

    module.verify()
    text = module.as_string()
    assert text.count("call @affine") == 2
    assert "func.func private @affine" in text
    assert 'composite_decl = "acme.affine"' in text
    assert "ingot.no_inline" in text
    x = np.random.rand(3, 4).astype(np.float32)
    twice, rows = module.program()(x)
    np.testing.assert_allclose(twice, (x * 2 + 1) * 2, rtol=1e-6)
    assert rows == 3


def test_several_entry_points() -> None:
    module = scaled()
    with module:

        @ops.graph(name="negate")
        def anything(v: Rows) -> Rows:
            return ops.neg(v)

    program = module.program()
    x = np.ones((2, 4), np.float32)
    np.testing.assert_allclose(program.run_entry("negate", x), -x)
    np.testing.assert_allclose(program.run_entry("scale", x), x / 2)


def test_narrow_results_are_widened_and_sizes_declared() -> None:
    module = Module.create()
    with module:

        @ops.graph
        def main(x: Annotated[Value, TensorSpec([3], "int32")]) -> Annotated[Value, TensorSpec([3], "int64")]:
            return ops.add(x, 1)

    result = module.program()(np.arange(3, dtype=np.int32))
    assert result.dtype == np.int64
    assert result.tolist() == [1, 2, 3]


def refused(work: Any, text: str) -> None:
    module = Module.create()
    with module, pytest.raises(ValueError, match=text):
        work(module)
    module.verify()  # nothing of it is left
    assert "func.func" not in module.as_string()


def test_mistakes() -> None:
    def wrong_rank(module: Module) -> None:
        @ops.graph
        def main(x: Rows) -> Annotated[Value, TensorSpec([4], np.float32)]:
            return x

    def wrong_type(module: Module) -> None:
        @ops.graph
        def main(x: Rows) -> Annotated[Value, TensorSpec([None, 4], np.int32)]:
            return x

    def wrong_size(module: Module) -> None:
        @ops.graph
        def main(x: Rows) -> Annotated[Value, TensorSpec([None, 5], np.float32)]:
            return x

    def wrong_count(module: Module) -> None:
        @ops.graph
        def main(x: Rows) -> Rows:
            return x, x

    def nothing(module: Module) -> None:
        @ops.graph
        def main(x: Rows) -> Rows:
            pass

    def no_annotation(module: Module) -> None:
        @ops.graph
        def main(x: Value) -> Rows:
            return x

    def same_names(module: Module) -> None:
        @ops.graph
        def main(
            x: Annotated[Value, TensorSpec([4], "f32", name="y")], y: Annotated[Value, TensorSpec([4], "f32")]
        ) -> Rows:
            return x

    refused(wrong_rank, r"main\[0\]: rank 2 vs 1")
    refused(wrong_type, r"main\[0\]: dtype f32 vs i32")
    refused(wrong_size, r"main\[0\]: dim\[1\] 4 vs 5")
    refused(wrong_count, "gives 2 results and declares 1")
    refused(nothing, "returns None")
    refused(no_annotation, "parameter 'x' of 'main' needs an annotation")
    refused(same_names, "each input needs a name of its own")


def test_graphs_have_names_of_their_own_and_a_module() -> None:
    module = scaled()
    with module, pytest.raises(ValueError, match="has a graph 'scale' already"):

        @ops.graph
        def scale(v: Rows) -> Rows:
            return v

    with pytest.raises(ValueError, match="belongs to a module"):

        @ops.graph
        def lonely(v: Rows) -> Rows:
            return v


def test_a_graph_is_called_in_a_graph() -> None:
    module = scaled()
    with pytest.raises(ValueError, match="only inside"):
        module.graphs["scale"](np.ones((1, 4), np.float32))
    with module, pytest.raises(ValueError, match="takes v"):

        @ops.graph
        def main(v: Rows) -> Rows:
            return module.graphs["scale"](v, v)
