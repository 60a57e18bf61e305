"""Compressed weights and quantized activations: eager mathematics, checks, export, conversion."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import ingot
import ingot.ops
import numpy as np
import pytest
import torch
from ingot import compression as c
from support import export
from torch import Tensor, nn
from torch.nn.utils import parametrize

FP4 = torch.float4_e2m1fn_x2


def lut_by_hand(indices: Tensor, lut: Tensor, axis: int) -> Tensor:
    """Element by element, from the definition."""
    width = lut.shape[-1]
    shape = list(indices.shape)
    shape[axis] *= width
    out = torch.zeros(shape, dtype=lut.dtype)
    for at in np.ndindex(*indices.shape):
        block = tuple(i * groups // size for i, groups, size in zip(at, lut.shape[:-2], indices.shape, strict=True))
        for v in range(width):
            place = list(at)
            place[axis] = at[axis] * width + v
            out[tuple(place)] = lut[(*block, int(indices[at]), v)]
    return out


LUTS = [
    ((4, 6), (1, 1, 4, 1), 0),
    ((4, 6), (2, 1, 16, 1), 1),
    ((4, 6), (2, 3, 2, 1), 0),
    ((4, 6), (2, 3, 4, 2), 0),
    ((4, 6), (1, 1, 256, 3), -1),
    ((2, 3, 4), (1, 3, 2, 8, 2), 1),
]


@pytest.mark.parametrize(("shape", "lut_shape", "axis"), LUTS)
@pytest.mark.parametrize("dtype", [torch.float32, torch.float16, torch.int8])
def test_lut_to_dense(shape: tuple[int, ...], lut_shape: tuple[int, ...], axis: int, dtype: torch.dtype) -> None:
    torch.manual_seed(0)
    indices = torch.randint(0, lut_shape[-2], shape).to(torch.uint8)
    lut = (torch.randn(lut_shape) * 50).to(dtype)
    torch.testing.assert_close(c.lut_to_dense(indices, lut, axis), lut_by_hand(indices, lut, axis), rtol=0, atol=0)


def test_lut_of_other_types() -> None:
    indices = torch.tensor([[0, 1], [1, 0]])
    for dtype in (torch.float8_e4m3fn, torch.float8_e5m2, torch.bfloat16):
        out = c.lut_to_dense(indices, torch.tensor([1.5, -2.0]).to(dtype).reshape(1, 1, 2, 1), 0)
        assert out.dtype == dtype
        assert out.float().tolist() == [[1.5, -2], [-2, 1.5]]
    assert c.lut_to_dense(indices, torch.zeros(1, 1, 2, 1, dtype=torch.float64), 0).dtype == torch.float32


BYTES = torch.zeros(4, 4, dtype=torch.uint8)


@pytest.mark.parametrize(
    ("indices", "lut", "axis", "message"),
    [
        (BYTES.long() + 256, torch.zeros(1, 1, 256, 1), 0, "uint8"),
        (BYTES.long() - 1, torch.zeros(1, 1, 256, 1), 0, "uint8"),
        (BYTES + 4, torch.zeros(1, 1, 4, 1), 0, "less than 4"),
        (BYTES, torch.zeros(1, 4, 1), 0, "two dimensions more"),
        (BYTES, torch.zeros(1, 1, 3, 1), 0, "power of two"),
        (BYTES, torch.zeros(3, 1, 4, 1), 0, "divide dimension 0"),
        (BYTES, torch.zeros(1, 1, 4, 1, dtype=torch.int32), 0, "element type"),
        (BYTES, torch.zeros(1, 1, 4, 2), None, "axis"),
        (BYTES, torch.zeros(1, 1, 4, 2), 2, "out of range"),
        (BYTES.float(), torch.zeros(1, 1, 4, 1), 0, "integers"),
    ],
)
def test_lut_checks(indices: Tensor, lut: Tensor, axis: int | None, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        c.lut_to_dense(indices, lut, axis)


def test_blockwise_by_hand() -> None:
    x = torch.tensor([[127, -128, 3, 4], [5, 6, 7, 8]], dtype=torch.int8)
    scale = torch.tensor([[0.5, 2.0]])
    zero = torch.tensor([[-128, 4]], dtype=torch.int8)
    out = c.constexpr_blockwise_shift_scale(x, scale, zero)
    assert out.tolist() == [[127.5, 0, -2, 0], [66.5, 67, 6, 8]]
    assert c.constexpr_blockwise_shift_scale(x, scale).tolist() == [[63.5, -64, 6, 8], [2.5, 3, 14, 16]]
    small = torch.tensor([[-8, 7]], dtype=torch.int8)
    out = c.constexpr_blockwise_shift_scale(
        small, torch.tensor([[0.5]]), minval=torch.tensor([[-1.0]]), input_dtype=torch.int4
    )
    assert out.tolist() == [[-1, 6.5]]


def test_blockwise_floats() -> None:
    x = torch.tensor([[1.5, -2.0, 3.0, 4.0]]).to(torch.float8_e4m3fn)
    out = c.constexpr_blockwise_shift_scale(x, torch.tensor([[2.0, 10.0]], dtype=torch.float16))
    assert out.dtype == torch.float16 and out.tolist() == [[3, -4, 30, 40]]
    power = torch.tensor([[4.0]]).to(torch.float8_e8m0fnu)
    out = c.constexpr_blockwise_shift_scale(x, power, output_dtype=torch.bfloat16)
    assert out.dtype == torch.bfloat16 and out.tolist() == [[6, -8, 12, 16]]
    with pytest.raises(ValueError, match="output_dtype"):
        c.constexpr_blockwise_shift_scale(x, power)


def test_fp4_codes() -> None:
    codes = torch.tensor([[0x10, 0x32, 0x54, 0x76, 0x98, 0xBA, 0xDC, 0xFE]], dtype=torch.uint8)
    positive = [0, 0.5, 1, 1.5, 2, 3, 4, 6]
    scale = torch.tensor([[2.0]])
    for packed, named in ((codes, FP4), (codes.view(FP4), None)):
        out = c.constexpr_blockwise_shift_scale(packed, scale, input_dtype=named)
        assert out.tolist() == [[2 * value for value in positive] + [-2 * value for value in positive]]


INT8 = torch.zeros(4, 4, dtype=torch.int8)
ONE = torch.ones(1, 1)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: c.constexpr_blockwise_shift_scale(INT8, ONE, INT8[:1, :1], ONE), "exclude"),
        (lambda: c.constexpr_blockwise_shift_scale(INT8, ONE, torch.zeros(1, 1, dtype=torch.uint8)), "zero_point"),
        (lambda: c.constexpr_blockwise_shift_scale(INT8, ONE, INT8), "shape of scale"),
        (lambda: c.constexpr_blockwise_shift_scale(INT8, ONE, None, ONE), "input_dtype"),
        (lambda: c.constexpr_blockwise_shift_scale(INT8, ONE, None, ONE.half(), torch.int8), "minval"),
        (lambda: c.constexpr_blockwise_shift_scale(INT8, torch.ones(1)), "2 dimensions"),
        (lambda: c.constexpr_blockwise_shift_scale(INT8, torch.ones(3, 1)), "divide dimension 0"),
        (lambda: c.constexpr_blockwise_shift_scale(ONE.to(torch.float8_e5m2), ONE, ONE), "neither"),
        (lambda: c.quantize(ONE, torch.ones(3), torch.int8), "one element, or 1"),
        (lambda: c.quantize(ONE, torch.ones(1, 1, 1), torch.int8), "0, 1 or 2 dimensions"),
        (lambda: c.quantize(ONE, ONE, torch.int8, axis=2), "axis 2"),
        (lambda: c.quantize(ONE, ONE, FP4), "fp4"),
        (lambda: c.quantize(INT8, ONE, torch.int8), "floating-point"),
        (lambda: c.dequantize(INT8, ONE, INT8[:1, :1], ONE), "exclude"),
        (lambda: c.sparse_to_dense(ONE, ONE), "one dimension"),
        (lambda: c.sparse_to_dense(torch.ones(2), ONE), "1 ones, but nonzero_data has 2"),
        (lambda: c.sparse_to_dense(torch.ones(1), ONE * 2), "zeros and ones"),
    ],
)
def test_checks(call: Callable[[], Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        call()


def test_quantize_by_hand() -> None:
    x = torch.tensor([[0.5, 1.5, -0.5], [2.5, 100, -100]])
    assert c.quantize(x, torch.tensor(1.0), torch.int4).tolist() == [[0, 2, 0], [2, 7, -8]]
    out = c.quantize(x, torch.tensor([1.0, 2.0]), torch.uint8, torch.tensor([10, 20], dtype=torch.uint8))
    assert out.dtype == torch.uint8 and out.tolist() == [[10, 12, 10], [21, 70, 0]]
    out = c.quantize(x, torch.tensor([0.5]), torch.int8, minval=torch.tensor([-1.0]))
    assert out.tolist() == [[-125, -123, -127], [-121, 74, -128]]
    out = c.quantize(x * 100, torch.tensor(1.0), torch.float8_e4m3fn)
    assert out.dtype == torch.float8_e4m3fn and out.float().max() == 448
    per_column = c.quantize(x, torch.tensor([[1.0, 2.0, 4.0]]), torch.int8, axis=1)
    assert per_column.tolist() == [[0, 1, 0], [2, 50, -25]]


@pytest.mark.parametrize("offset", ["none", "zero_point", "minval"])
def test_quantize_pairs(offset: str) -> None:
    torch.manual_seed(0)
    x = torch.rand(3, 8) * 2 - 1
    scale = torch.tensor([0.02, 0.03, 0.04])
    options: dict[str, Any] = {}
    if offset == "zero_point":
        options["zero_point"] = torch.tensor([3, -4, 5], dtype=torch.int8)
    if offset == "minval":
        options["minval"] = torch.tensor([-1.0, -1.1, -1.2])
    small = c.quantize(x, scale, torch.int8, **options)
    back = c.dequantize(small, scale, **options, input_dtype=torch.int8)
    assert small.dtype == torch.int8
    assert ((back - x).abs() <= scale[:, None] * 0.5001).all()


def test_sparse() -> None:
    mask = torch.tensor([[1, 0, 1], [0, 1, 0]], dtype=torch.uint8)
    assert c.sparse_to_dense(torch.tensor([1.0, 2.0, 3.0]), mask).tolist() == [[1, 0, 2], [0, 3, 0]]


# Export and conversion


def weights() -> dict[str, nn.Module]:
    torch.manual_seed(0)
    bits = torch.randint(0, 16, (8, 4)).to(torch.uint8)
    scale = torch.rand(4, 2) + 0.5
    mask = (torch.rand(8, 4) > 0.5).to(torch.uint8)
    signed = torch.randint(-8, 8, (8, 4)).to(torch.int8)
    return {
        "palette": c.PalettizeModule(bits, torch.randn(2, 1, 16, 1)),
        "vectors": c.PalettizeModule(bits[:, :2], torch.randn(1, 1, 16, 2), 1),
        "scaled": c.ScaledPalettizeModule(bits, torch.randint(-9, 9, (1, 1, 16, 1)).to(torch.int8), scale),
        "blocks": c.WeightDequantizeModule(bits, scale),
        "zero_point": c.WeightDequantizeModule(signed, scale, torch.randint(-8, 8, (4, 2)).to(torch.int8)),
        "minval": c.WeightDequantizeModule(signed, scale, minval=-scale, input_dtype=torch.int4),
        "fp8": c.WeightDequantizeModule(torch.randn(8, 4).to(torch.float8_e4m3fn), scale),
        "fp4": c.WeightDequantizeModule(bits[:, :2] * 17, scale, input_dtype=FP4),
        "sparse": c.SparseModule(torch.randn(int(mask.sum())), mask),
    }


class Uses(nn.Module):
    def __init__(self, weight: nn.Module) -> None:
        super().__init__()
        self.weight = weight

    def forward(self, x: Tensor) -> Tensor:
        return x @ self.weight().t()


def convert(module: nn.Module, args: tuple[Any, ...], **options: Any) -> ingot.Program:
    program = export(module, args, **options)
    before = str(program.graph)
    assert c.has_compressed_ops(program)
    plain = c.inline_compressed_ops(program)
    assert str(program.graph) == before
    assert not c.has_compressed_ops(plain)
    return ingot.convert(plain)


@pytest.mark.parametrize("kind", list(weights()))
def test_weights_convert(kind: str) -> None:
    model = Uses(weights()[kind])
    x = torch.randn(3, 4)
    torch.testing.assert_close(convert(model, (x,))(x), model(x))


@pytest.mark.parametrize("dtype", [torch.int8, torch.int4, torch.uint8, torch.float8_e4m3fn])
def test_activations_convert(dtype: torch.dtype) -> None:
    class Pair(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            scale = torch.tensor([0.1, 0.2, 0.3])
            self.down = c.ActivationQuantizeModule(scale, dtype, axis=1)
            self.up = c.ActivationDequantizeModule(scale, axis=1)

        def forward(self, x: Tensor) -> tuple[Tensor, Tensor]:
            small = self.down(x)
            return self.up(small) + 1, small.float()

    rows = torch.export.Dim("rows")
    program = convert(Pair(), (torch.randn(2, 3),), dynamic_shapes=({0: rows},))
    for count in (2, 5):
        x = torch.randn(count, 3) * 3
        torch.testing.assert_close(program(x), Pair()(x))


def test_names_of_other_nodes_stay() -> None:
    class Small(nn.Module):
        def forward(self, x: Tensor) -> tuple[Tensor, Tensor]:
            return x * 2, c.quantize(x, torch.tensor(0.5), torch.int8)

    program = export(Small(), (torch.randn(2, 3),))
    plain = c.inline_compressed_ops(program)

    def outputs(program: torch.export.ExportedProgram) -> list[str]:
        return [node.name for node in program.graph.output_node().args[0]]

    assert outputs(plain) == outputs(program)
    kept = c.inline_compressed_ops(program, keep={"coreai::quantize.default"})
    assert kept is program


def test_parametrized_weight_converts() -> None:
    model = nn.Linear(4, 8)
    wrapped = c.wrap_for_parametrization(c.WeightDequantizeModule)
    data = torch.randint(-8, 8, (8, 4)).to(torch.int8)
    parametrize.register_parametrization(model, "weight", wrapped(data, torch.full((8, 1), 0.25)), unsafe=True)
    x = torch.randn(2, 4)
    torch.testing.assert_close(model(x), x @ (data * 0.25).t() + model.bias)
    torch.testing.assert_close(convert(model, (x,))(x), model(x))


def test_decomposed_programs_convert() -> None:
    model = Uses(weights()["blocks"])
    x = torch.randn(3, 4)
    program = export(model, (x,)).run_decompositions()
    assert c.has_compressed_ops(program)
    torch.testing.assert_close(ingot.convert(program)(x), model(x))


def test_a_lowering_of_the_caller_wins() -> None:
    model = Uses(weights()["blocks"])
    x = torch.randn(3, 4)

    def lower(values_map: dict[str, Any], node: Any, loc: Any) -> Any:
        return ingot.ops.constant(torch.ones(8, 4))

    program = ingot.convert(model, (x,), lowerings={"coreai::constexpr_blockwise_shift_scale": lower})
    torch.testing.assert_close(program(x), x @ torch.ones(4, 8))
