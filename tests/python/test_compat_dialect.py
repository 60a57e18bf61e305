"""Every builder of the coreai dialect, in a lowering, against torch."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import ingot.compat
import ingot.compression._math as plain
import numpy as np
import pytest
import torch
from coreai._compiler.dialects import coreai as d
from support import export

F32, F16, I32, I64, BOOL = torch.float32, torch.float16, torch.int32, torch.int64, torch.bool


@dataclass
class Case:
    """The same computation by builders and by torch, on the same inputs."""

    build: Callable[..., Any]
    reference: Callable[..., torch.Tensor]
    inputs: tuple[torch.Tensor, ...]
    tolerance: float = 1e-5


CASES: dict[str, Case] = {}
library = torch.library.Library("compat_test", "FRAGMENT")
library.define("run(Tensor[] inputs, str case) -> Tensor")


def _reference(inputs: list[torch.Tensor], case: str) -> torch.Tensor:
    return CASES[case].reference(*inputs).clone()


library.impl("run", _reference, "CompositeExplicitAutograd")
torch.library.register_fake("compat_test::run", _reference, lib=library)


def case(
    name: str, build: Callable[..., Any], reference: Callable[..., Any], *inputs: torch.Tensor, **more: Any
) -> None:
    assert name not in CASES
    CASES[name] = Case(build, reference, inputs, **more)


class Runs(torch.nn.Module):
    def __init__(self, case: str) -> None:
        super().__init__()
        self.case = case

    def forward(self, inputs: list[torch.Tensor]) -> torch.Tensor:
        return torch.ops.compat_test.run(inputs, self.case)


def lower(values_map: dict[str, Any], node: torch.fx.Node, loc: Any) -> Any:
    inputs, name = node.args
    return CASES[name].build(*(values_map[item.name] for item in inputs))  # type: ignore[index, union-attr]


def convert(name: str, inputs: list[torch.Tensor], **options: Any) -> ingot.Program:
    program = export(Runs(name), (inputs,), **options)
    return ingot.convert(program, lowerings={"compat_test::run": lower})


torch.manual_seed(0)
x = torch.randn(2, 3, 4)
y = torch.randn(3, 1)
pos = torch.rand(2, 5) + 0.1
ints = torch.tensor([[7, -7, 3], [9, 4, -5]], dtype=I32)
divisors = torch.tensor([2, 2, -2], dtype=I32)
flags = torch.tensor([[True, False, True], [False, False, True]])
others = torch.tensor([True, True, False])
image = torch.randn(2, 4, 7, 6)

# Unary

_PLAIN = "abs exp erf round sin cos tan atan sinh cosh tanh asinh sigmoid relu neg floor ceil trunc sign"
_OF_POSITIVE = "log sqrt rsqrt reciprocal exp2 expm1 log2 log10 log1p"

for _name in _PLAIN.split():
    case(_name, getattr(d, _name), getattr(torch, _name), x)
for _name in _OF_POSITIVE.split():
    case(_name, getattr(d, _name), getattr(torch, _name), pos)
for _name in ("asin", "acos", "atanh"):
    case(_name, getattr(d, _name), getattr(torch, _name), pos / 2)
case("acosh", d.acosh, torch.acosh, pos + 1)
case("silu", d.silu, torch.nn.functional.silu, x)
case("not", d.not_, torch.logical_not, flags)
case("bitwise_not", d.bitwise_not, torch.bitwise_not, ints)
case("gelu", d.gelu, torch.nn.functional.gelu, x)
case("gelu_tanh", lambda a: d.gelu(a, approximate="tanh"), lambda a: torch.nn.functional.gelu(a, approximate="tanh"), x)
case("softmax", lambda a: d.softmax(a, axis=1), lambda a: a.softmax(1), x)
case("softmax_last", lambda a: d.softmax(a, d.constant(-1)), lambda a: a.softmax(-1), x)
case("is_nan", d.is_nan, torch.isnan, torch.tensor([1.0, float("nan")]))
case("is_inf", d.is_inf, torch.isinf, torch.tensor([1.0, float("inf")]))

# Binary

for _name, _torch in {"add": "add", "sub": "sub", "mul": "mul", "maximum": "maximum", "minimum": "minimum"}.items():
    case(_name, getattr(d, _name), getattr(torch, _torch), x, x.flip(0))
    case(f"broadcasting_{_name}", getattr(d, f"broadcasting_{_name}"), getattr(torch, _torch), x, y)
for _name, _torch in {"equal": "eq", "not_equal": "ne", "greater": "gt", "less": "lt"}.items():
    case(f"broadcasting_{_name}", getattr(d, f"broadcasting_{_name}"), getattr(torch, _torch), ints, divisors.abs() + 1)
for _name in ("bitwise_and", "bitwise_or", "bitwise_xor"):
    case(f"broadcasting_{_name}", getattr(d, f"broadcasting_{_name}"), getattr(torch, _name), ints, divisors)
for _name in ("and", "or", "xor"):
    case(
        f"broadcasting_{_name}", getattr(d, f"broadcasting_{_name}"), getattr(torch, f"logical_{_name}"), flags, others
    )
case("and_", d.and_, torch.logical_and, flags, flags.flip(0))
case("xor_ints", d.xor, torch.logical_xor, ints, divisors)
case("broadcasting_divide", d.broadcasting_divide, torch.div, x, y)
case("divide_ints", d.divide, lambda a, b: torch.div(a, b, rounding_mode="trunc"), ints, divisors)
case("broadcasting_floor_divide", d.broadcasting_floor_divide, torch.floor_divide, ints, divisors)
case("broadcasting_modulo", d.broadcasting_modulo, torch.fmod, ints, divisors)
case("broadcasting_pow", d.broadcasting_pow, torch.pow, pos, torch.tensor(2.5))
case("broadcasting_where", d.broadcasting_where, torch.where, flags, ints, divisors)
case("where_numbers", lambda c, a: d.where(c, a, 0), lambda c, a: torch.where(c, a, 0), flags, ints)
case("promotes", d.broadcasting_mul, torch.mul, ints, torch.tensor([0.5, 1.0, 2.0]))
case("number_takes_the_type", lambda a: d.broadcasting_mul(a, 2.5), lambda a: a * 2.5, x.half())
case("number_first", lambda a: d.sub(1, a), lambda a: 1 - a, x)
case("float_beside_ints", lambda a: d.mul(a, 0.5), lambda a: a * 0.5, ints)
case("batch_matmul", d.batch_matmul, torch.matmul, torch.randn(2, 3, 4), torch.randn(2, 4, 5))
case("broadcasting_batch_matmul", d.broadcasting_batch_matmul, torch.matmul, torch.randn(2, 3, 4), torch.randn(4, 5))
case("loc", lambda a: d.broadcasting_add(a, 1, loc=None), lambda a: a + 1, x)
case("keywords", lambda a, b: d.broadcasting_sub(lhs=a, rhs=b), torch.sub, x, y)

# Constants and casts

case("constant", lambda a: d.mul(a, d.constant(0.5, dtype=a.type.element_type)), lambda a: a * 0.5, x.half())
case("constant_array", lambda a: d.mul(a, d.constant(np.arange(4, dtype=np.float32))), lambda a: a * torch.arange(4), x)
case("constant_list", lambda a: d.add(a, d.constant([1, 2, 3])), lambda a: a + torch.tensor([1, 2, 3]), ints)
case("constant_torch", lambda a: d.mul(a, d.constant(torch.ones(4, dtype=torch.bfloat16))), lambda a: a, x)
case("cast_number", lambda a: d.divide(a, d.cast(4.0, a.type.element_type)), lambda a: a / 4, x)
case("cast", lambda a: d.cast(a, np.int32), lambda a: a.to(I32), x * 3)
case("cast_torch", lambda a: d.cast(a, torch.float16), lambda a: a.to(F16), x)
case("cast_half", lambda a: d.cast(d.cast(a, "bf16"), dtype=np.float32), lambda a: a.bfloat16().float(), x)

# Shapes

case("reshape", lambda a: d.reshape(a, [6, 4]), lambda a: a.reshape(6, 4), x)
case("reshape_rest", lambda a: d.reshape(a, np.array([2, -1], np.int32)), lambda a: a.reshape(2, -1), x)
case("get_shape", lambda a: d.cast(d.get_shape(a), np.int32), lambda a: torch.tensor(a.shape, dtype=I32), x)
case("transpose", lambda a: d.transpose(a, np.array([2, 0, 1], np.uint32)), lambda a: a.permute(2, 0, 1), x)
case("transpose_negative", lambda a: d.transpose(a, [0, -1, 1]), lambda a: a.permute(0, 2, 1), x)
case("expand_dims", lambda a: d.expand_dims(a, [0, -1]), lambda a: a[None, ..., None], x)
case("shrink_dims", lambda a: d.shrink_dims(d.expand_dims(a, [1]), [1]), lambda a: a, x)
case("shrink_all", d.shrink_dims, lambda a: a.squeeze(), torch.randn(1, 3, 1))
case("broadcast_to", lambda a: d.broadcast_to(a, [2, 3, 4]), lambda a: a.expand(2, 3, 4), y)
case("broadcast_keeps", lambda a: d.broadcast_to(a, [2, -1, 4]), lambda a: a.expand(2, -1, 4), y)
case("broadcast_in_dims", lambda a: d.broadcast_in_dims(a, [5], [1]), lambda a: a.expand(3, 5), y)
case(
    "broadcast_shapes",
    lambda a, b: d.broadcast_to(b, d.broadcast_shapes(d.get_shape(a), d.get_shape(b))),
    lambda a, b: b.expand(2, 3, 4),
    x,
    y,
)
case("slice", lambda a: d.slice(a, [0, 1, 0], [2, 3, 4], [1, 1, 2]), lambda a: a[:, 1:3, ::2], x)
case("slice_clamps", lambda a: d.slice(a, [0, -2, 1], [9, -1, 2**31 - 1]), lambda a: a[:, -2:-1, 1:], x)
case("slice_by_values", lambda a, s: d.slice(a, s, [2, 3, 4]), lambda a, s: a[0:, 1:, 2:], x, torch.tensor([0, 1, 2]))
case(
    "slice_update",
    lambda a, b: d.slice_update(a, b, [0, 1, 1], [2, 3, 4], [1, 1, 2]),
    lambda a, b: torch.slice_scatter(a, torch.slice_scatter(a[:, 1:3], b, 2, 1, 4, 2), 1, 1, 3),
    x,
    torch.randn(2, 2, 2),
)
case("slice_update_whole", lambda a: d.slice_update(a, 5.0, [0], [9]), lambda a: torch.full_like(a, 5), torch.randn(3))
case("concat", lambda a, b: d.concat(1, [a, b]), lambda a, b: torch.cat([a, b], 1), x, torch.randn(2, 2, 4))
case("concat_varargs", lambda a, b: d.concat(-1, a, b), lambda a, b: torch.cat([a, b], -1), x, x)
case("concat_list_first", lambda a, b: d.concat([a, b], axis=0), lambda a, b: torch.cat([a, b], 0), x, x)
case("split", lambda a: d.split(a, [1, 3], -1)[1], lambda a: a.split([1, 3], -1)[1], x)
case("tile", lambda a: d.tile(a, [2, 1, 3]), lambda a: a.tile(2, 1, 3), x)
case("tile_more", lambda a: d.tile(a, [2, 1, 3, 2]), lambda a: a.tile(2, 1, 3, 2), x)
case("reverse", lambda a: d.reverse(a, [0, -1]), lambda a: a.flip(0, 2), x)
case(
    "pad",
    lambda a: d.pad(a, np.array([0, 0, 1, 2, 0, 1], np.uint32), d.constant(-1.5), "constant"),
    lambda a: torch.nn.functional.pad(a, (0, 1, 1, 2), value=-1.5),
    x,
)
for _mode in ("reflect", "replicate"):
    case(
        f"pad_{_mode}",
        lambda a, mode=_mode: d.pad(a, [0, 0, 1, 1, 2, 0], mode=mode),
        lambda a, mode=_mode: torch.nn.functional.pad(a[None], (2, 0, 1, 1), mode=mode)[0],
        x,
    )
case("range", lambda a: d.add(a, d.range(1, 9, 2)), lambda a: a + torch.arange(1, 9, 2), x)
case("range_floats", lambda a: d.add(a, d.range(0.0, 1.0, 0.25)), lambda a: a + torch.arange(0, 1, 0.25), x)

# Reductions and order

for _name, _torch in {"reduce_sum": torch.sum, "reduce_max": torch.amax, "reduce_min": torch.amin}.items():
    case(_name, lambda a, n=_name: getattr(d, n)(a, [0, -1]), lambda a, f=_torch: f(a, (0, 2), keepdim=True), x)
case("reduce_product", lambda a: d.reduce_product(a, [1]), lambda a: a.prod(1, keepdim=True), x)
case("reduce_mean", lambda a: d.reduce_mean(a, axes=[1, 2]), lambda a: a.mean((1, 2), keepdim=True), x)
case("reduce_all", d.reduce_sum, lambda a: a.sum((0, 1, 2), keepdim=True), x)
case(
    "mean_of_halves",
    lambda a: d.reduce_mean(a, [0]),
    lambda a: a.mean(0, keepdim=True),
    torch.full((4096, 2), 100.0).half(),
)
case("any", lambda a: d.any(a, [1]), lambda a: a.any(1, keepdim=True), flags)
case("argmax", lambda a: d.cast(d.argmax(a, 1), np.int32), lambda a: a.argmax(1, keepdim=True).to(I32), x)
case("argmax_widened", lambda a: d.argmax(a, axis=1), lambda a: a.argmax(1, keepdim=True), x)
case("argmin", lambda a: d.argmin(a, 2), lambda a: a.argmin(2, keepdim=True), x)
case("scan", lambda a: d.scan(a, 1), lambda a: a.cumsum(1), x)
case("scan_reverse", lambda a: d.scan(a, 2, reverse=True), lambda a: a.flip(2).cumsum(2).flip(2), x)
case("scan_product", lambda a: d.scan(a, 0, combiner="product"), lambda a: a.cumprod(0), x)
case("scan_max", lambda a: d.scan(a, 1, combiner="max"), lambda a: a.cummax(1).values, x)
case("sort", lambda a: d.sort(a, 1, descending=True), lambda a: a.sort(1, descending=True).values, x)
case("argsort", lambda a: d.argsort(a, -1, False, True), lambda a: a.argsort(-1).to(I32), x)
case("non_zero", lambda a: d.reduce_sum(d.non_zero(a), [0]), lambda a: torch.tensor([[1, 4]], dtype=I32), flags)

# Indices

rows = torch.tensor([[2, 0], [1, 1]], dtype=I32)
case(
    "gather_nd",
    lambda a, i: d.gather_nd(a, i),
    lambda a, i: torch.stack([a[i[k, 0].long(), i[k, 1].long()] for k in (0, 1)]) if not is_fake(a) else a[:2, 0],
    torch.randn(3, 2, 4),
    rows,
)
case(
    "scatter_nd",
    lambda a, i, u: d.scatter_nd(a, i, u),
    lambda a, i, u: a.index_put((i[:, 0].long(), i[:, 1].long()), u),
    torch.randn(3, 2, 4),
    rows,
    torch.randn(2, 4),
)
case(
    "scatter_nd_add",
    lambda a, i, u: d.scatter_nd(a, i, u, mode="add"),
    lambda a, i, u: a.index_put((i[:, 0].long(), i[:, 1].long()), u, accumulate=True),
    torch.randn(3, 2, 4),
    torch.tensor([[1, 1], [1, 1]], dtype=I32),
    torch.randn(2, 4),
)
along = torch.randint(0, 3, (2, 2, 4), dtype=I32)
case("gather_along_axis", lambda a, i: d.gather_along_axis(a, i, 1), lambda a, i: a.gather(1, i.long()), x, along)
for _mode, _reduce in {"update": None, "add": "add", "mul": "multiply"}.items():
    case(
        f"scatter_along_axis_{_mode}",
        lambda a, i, u, mode=_mode: d.scatter_along_axis(a, i, u, axis=1, mode=mode),
        lambda a, i, u, r=_reduce: a.scatter(1, i.long(), u, **({"reduce": r} if r else {})),
        x,
        torch.tensor([0, 2]).reshape(1, 2, 1).expand(2, 2, 4).to(I32),
        torch.randn(2, 2, 4),
    )

# Images

case("conv2d", lambda a, w: d.conv2d(a, w), torch.conv2d, image, torch.randn(6, 4, 3, 3), tolerance=1e-4)
case(
    "conv2d_options",
    lambda a, w: d.conv2d(a, w, np.array([2, 1], np.uint32), [1, 2], 2),
    lambda a, w: torch.conv2d(a, w, None, (2, 1), 0, (1, 2), 2),
    image,
    torch.randn(6, 2, 3, 3),
    tolerance=1e-4,
)
case(
    "conv1d",
    lambda a, w: d.conv1d(a, w, stride=2),
    lambda a, w: torch.conv1d(a, w, None, 2),
    image[..., 0],
    torch.randn(5, 4, 3),
    tolerance=1e-4,
)
case(
    "conv3d",
    lambda a, w: d.conv3d(a, w),
    torch.conv3d,
    torch.randn(1, 2, 4, 5, 6),
    torch.randn(3, 2, 2, 2, 2),
    tolerance=1e-4,
)
case(
    "conv_transpose2d",
    lambda a, w: d.conv_transpose2d(a, w, strides=[2, 3], padding=[1, 0], output_pad=[1, 2]),
    lambda a, w: torch.conv_transpose2d(a, w, None, (2, 3), (1, 0), (1, 2)),
    image,
    torch.randn(4, 5, 3, 3),
    tolerance=1e-4,
)
case("max_pool_2d", lambda a: d.max_pool_2d(a, [3, 2], [2, 1]), lambda a: torch.max_pool2d(a, (3, 2), (2, 1)), image)
case(
    "sumpool2d",
    lambda a: d.sumpool2d(
        a,
        kernel_size=np.array([2, 2], dtype=np.uint32),
        strides=np.array([2, 1], dtype=np.uint32),
        dilation=d.constant([1, 1], dtype=np.uint32),
    ),
    lambda a: torch.nn.functional.avg_pool2d(a, 2, (2, 1), divisor_override=1),
    image,
)
case(
    "sum_pool_2d_dilated",
    lambda a: d.sum_pool_2d(a, [2, 2], [1, 2], [2, 3]),
    lambda a: torch.conv2d(a, torch.ones(4, 1, 2, 2), None, (1, 2), 0, (2, 3), 4),
    image,
)
case(
    "sum_pool_ints",
    lambda a: d.sum_pool_2d(a, 2),
    lambda a: (torch.nn.functional.avg_pool2d(a.float(), 2) * 4).round().to(I32),
    (image * 9).to(I32),
)
case(
    "sum_pool_3d",
    lambda a: d.sum_pool_3d(a, [1, 2, 3]),
    lambda a: torch.nn.functional.avg_pool3d(a, (1, 2, 3), divisor_override=1),
    image[None],
)
case(
    "interpolate",
    lambda a: d.interpolate(a, [14, 9], [2.0, 1.5], [0.0, 0.0], "linear"),
    lambda a: torch.nn.functional.interpolate(a, (14, 9), mode="bilinear"),
    image,
)
case(
    "interpolate_aligned",
    lambda a: d.interpolate(a, [2, 4, 13, 11], scale=[2.0, 2.0], offset=[-0.5, -0.5], mode="linear"),
    lambda a: torch.nn.functional.interpolate(a, (13, 11), mode="bilinear", align_corners=True),
    image,
)
case(
    "interpolate_nearest",
    lambda a: d.interpolate(a, d.constant([14, 12]), mode="nearest_neighbor"),
    lambda a: torch.nn.functional.interpolate(a, (14, 12)),
    image,
)

# Complex numbers and compression

case("create_complex", d.create_complex, torch.complex, x, x.flip(1))
case(
    "parts",
    lambda a: d.sub(d.real_part(a), d.imaginary_part(a)),
    lambda a: a.real - a.imag,
    torch.randn(3, 4, dtype=torch.complex64),
)
codes = torch.randint(0, 16, (4, 6)).to(torch.uint8)
for _axis in (0, 1):
    case(
        f"lut_to_dense_{_axis}",
        lambda i, t, axis=_axis: d.lut_to_dense(i, t, axis),
        lambda i, t, axis=_axis: plain.lut_to_dense(i, t, axis),
        codes,
        torch.randn(2, 3, 16, 2),
    )
small = torch.randint(-8, 8, (4, 6)).to(torch.int8)
case(
    "blockwise_shift_scale",
    lambda a, s, z: d.blockwise_shift_scale(a, s, z, 0),
    lambda a, s, z: plain.blockwise_shift_scale(a, s, z),
    small,
    torch.rand(2, 3) + 0.5,
    small[:2, :3],
)
case(
    "quantize",
    lambda a, s, z: d.quantize(a, s, z, 0.0, 1),
    lambda a, s, z: plain.quantize(a, s, torch.int8, z, axis=1),
    torch.randn(2, 3) * 9,
    torch.tensor([0.1, 0.2, 0.3]),
    torch.tensor([1, -2, 3], dtype=torch.int8),
)
case(
    "dequantize",
    lambda a, s, m: d.dequantize(a, s, d.constant(-128, np.int32), m, axis=0),
    lambda a, s, m: plain.dequantize(a, s, minval=m, input_dtype=torch.int8),
    small,
    torch.rand(4) + 0.5,
    torch.randn(4),
)
case(
    "sparse",
    lambda data, mask: d.sparse_with_bitmask_to_dense(d.build_sparse_with_bitmask(data, mask)),
    lambda data, mask: plain.sparse_to_dense(data, mask),
    torch.randn(3),
    flags.to(torch.uint8),
)


def is_fake(tensor: torch.Tensor) -> bool:
    return isinstance(tensor, torch._subclasses.FakeTensor)


class RunsMany(torch.nn.Module):
    def __init__(self, names: list[str]) -> None:
        super().__init__()
        self.parts = torch.nn.ModuleList(Runs(name) for name in names)

    def forward(self, inputs: list[list[torch.Tensor]]) -> list[torch.Tensor]:
        return [part(given) for part, given in zip(self.parts, inputs, strict=True)]


STATIC = list(CASES)
BATCH = 32


@pytest.mark.parametrize("first", range(0, len(STATIC), BATCH))
def test_against_torch(first: int) -> None:
    names = STATIC[first : first + BATCH]
    inputs = [[tensor.clone() for tensor in CASES[name].inputs] for name in names]
    program = ingot.convert(export(RunsMany(names), (inputs,)), lowerings={"compat_test::run": lower})
    problems = []
    for name, result in zip(names, program(inputs), strict=True):
        chosen = CASES[name]
        try:
            torch.testing.assert_close(
                result, chosen.reference(*chosen.inputs), rtol=chosen.tolerance, atol=chosen.tolerance
            )
        except AssertionError as error:
            problems.append(f"{name}: {error}")
    assert not problems, "\n".join(problems)


# Sizes that are known only at run time


def size_of(a: Any, axis: int) -> Any:
    """As lowerings of the original spell it."""
    return d.slice(d.cast(d.get_shape(a), np.int32), [axis], [axis + 1], [1])


DYNAMIC: dict[str, Case] = {
    "reshape": Case(
        lambda a: d.reshape(a, d.concat(0, [size_of(a, 0), d.constant([12])])), lambda a: a.reshape(-1, 12), (x,)
    ),
    "reshape_rest": Case(
        lambda a: d.reshape(a, d.concat(0, [size_of(a, 0), d.constant([-1, 2])])),
        lambda a: a.reshape(a.shape[0], -1, 2),
        (x,),
    ),
    "reshape_to_rest": Case(lambda a: d.reshape(a, [-1, 4]), lambda a: a.reshape(-1, 4), (x,)),
    "computed_sizes": Case(
        lambda a: d.reshape(a, d.concat(0, [d.mul(size_of(a, 0), 3), d.constant([4])])),
        lambda a: a.reshape(a.shape[0] * 3, 4),
        (x,),
    ),
    "broadcast_to": Case(lambda a, b: d.broadcast_to(b, d.get_shape(a)), lambda a, b: b.expand(a.shape), (x, y)),
    "arithmetic": Case(
        lambda a: d.reshape(a, d.concat(0, [d.floor_divide(d.add(size_of(a, 0), size_of(a, 0)), 2), [12]])),
        lambda a: a.reshape(-1, 12),
        (x,),
    ),
    "shape_less_one": Case(
        lambda a: d.slice(a, [0, 0, 0], d.sub(d.cast(d.get_shape(a), np.int32), [1, 0, 0])), lambda a: a[:-1], (x,)
    ),
    "slice": Case(lambda a: d.slice(a, [0, 0, 1], [2**31 - 1, 2, 9]), lambda a: a[:, :2, 1:], (x,)),
    "slice_of_dynamic": Case(lambda a: d.slice(a, [1, 0, 0], [-1, 3, 4]), lambda a: a[1:-1], (x,)),
    "reduce_mean": Case(lambda a: d.reduce_mean(a, [0]), lambda a: a.mean(0, keepdim=True), (x,)),
    "tile": Case(lambda a: d.tile(a, [2, 1, 1]), lambda a: a.tile(2, 1, 1), (x,)),
    "range": Case(
        lambda a: d.cast(d.range(0, size_of(a, 0), 1), np.float32), lambda a: torch.arange(a.shape[0]).float(), (x,)
    ),
    "range_step": Case(
        lambda a: d.range(d.constant([1]), size_of(a, 0), 2), lambda a: torch.arange(1, a.shape[0], 2).to(I32), (x,)
    ),
    "expand_dims": Case(lambda a: d.shrink_dims(d.expand_dims(a, [1]), [1]), lambda a: a * 1, (x,)),
}
CASES.update({f"dynamic_{name}": chosen for name, chosen in DYNAMIC.items()})


@pytest.mark.parametrize("name", list(DYNAMIC))
def test_dynamic_sizes(name: str) -> None:
    chosen = DYNAMIC[name]
    wide = torch.cat([x, x, x[:1]])
    given = [wide, *chosen.inputs[1:]]
    shapes = [[{0: torch.export.Dim("rows", min=4)}, *([None] * (len(given) - 1))]]
    program = convert(f"dynamic_{name}", given, dynamic_shapes=shapes)
    for first in (wide, torch.randn(4, 3, 4)):
        inputs = [first, *chosen.inputs[1:]]
        torch.testing.assert_close(program(inputs), chosen.reference(*inputs))


# Refusals


@pytest.mark.parametrize(
    ("build", "message"),
    [
        (lambda a: d.create_token(), "handles and tokens"),
        (lambda a: d.condition(a), "functions given to if_ and while_"),
        (lambda a: d.gelu(a, "sigmoid"), "'none' or 'tanh'"),
        (lambda a: d.softmax(a, 3), "out of range"),
        (lambda a: d.transpose(a, [0, 0, 1]), "no permutation"),
        (lambda a: d.shrink_dims(a, [1]), "not the size 1"),
        (lambda a: d.reshape(a, [-1, -1]), "only one size"),
        (lambda a: d.reshape(a, [-1, 7]), "no multiple"),
        (lambda a: d.slice(a, [0], [1]), "one for each dimension"),
        (lambda a: d.slice(a, [0, 0, 0], [1, 1, 1], [1, 1, -1]), "must be positive"),
        (lambda a: d.split(a, [1, 1], 1), "add up to 2"),
        (lambda a: d.tile(a, a), "constant"),
        (lambda a: d.pad(a, [1, 1]), "6 elements"),
        (lambda a: d.scan(a, 0, combiner="median"), "median"),
        (lambda a: d.conv2d(a, a), "4 dimensions"),
        (lambda a: d.nothing, "coreai._compiler.dialects.coreai.nothing of the original"),
    ],
)
def test_refusals(build: Callable[..., Any], message: str) -> None:
    CASES["refused"] = Case(build, lambda a: a, (x,))
    with pytest.raises(Exception, match=message):
        convert("refused", [x])


def test_builders_work_in_a_lowering_only() -> None:
    with pytest.raises(ingot.UsageError, match="inside a lowering"):
        d.constant(1.0)
