"""What the lines of random graphs are made of: functions that write one expression, or several lines of a pattern.

An expression need not be valid for the shapes at hand: the generator tries it and takes what eager takes.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from property.generate import Generator

FLOATS = ("f32", "f64", "f16", "bf16")
INTS = ("i8", "i16", "i32", "i64", "u8")
REALS = (*FLOATS, *INTS)
COMPLEX = ("c64", "c128")
NUMBERS = (*REALS, *COMPLEX)
ANY = (*NUMBERS, "b1")

# Not signbit and copysign: NaN has a sign, which nobody defines.
UNARY = [
    "torch.sigmoid",
    "torch.tanh",
    "torch.exp",
    "torch.erf",
    "torch.sin",
    "torch.cos",
    "torch.sqrt",
    "torch.rsqrt",
    "torch.abs",
    "torch.neg",
    "torch.floor",
    "torch.ceil",
    "torch.round",
    "torch.trunc",
    "torch.sign",
    "torch.square",
    "torch.reciprocal",
    "torch.isnan",
    "torch.isinf",
    "torch.isfinite",
    "torch.exp2",
    "torch.expm1",
    "torch.log1p",
    "torch.log",
    "torch.relu",
    "F.gelu",
    "F.silu",
    "F.softplus",
    "F.hardswish",
    "F.hardsigmoid",
    "F.leaky_relu",
    "F.elu",
    "F.mish",
    "torch.frac",
    "torch.nan_to_num",
    "F.relu6",
    "F.hardtanh",
    "torch.atan",
    "torch.tan",
    "torch.asin",
    "torch.acos",
    "torch.sinh",
    "torch.cosh",
    "torch.asinh",
    "torch.atanh",
    "torch.log2",
    "torch.log10",
    "torch.erfc",
    "torch.logit",
    "torch.lgamma",
    "torch.digamma",
    "torch.sinc",
    "torch.deg2rad",
    "torch.logical_not",
    "torch.sgn",
    "torch.positive",
    "torch.isposinf",
    "torch.isreal",
    "torch.special.entr",
    "torch.special.i0",
    "F.selu",
    "F.celu",
    "F.hardshrink",
    "F.softshrink",
    "F.tanhshrink",
    "F.logsigmoid",
    "F.softsign",
]
BINARY = [
    "torch.add",
    "torch.sub",
    "torch.mul",
    "torch.maximum",
    "torch.minimum",
    "torch.div",
    "torch.fmod",
    "torch.remainder",
    "torch.atan2",
    "torch.eq",
    "torch.ne",
    "torch.lt",
    "torch.le",
    "torch.gt",
    "torch.ge",
    "torch.fmax",
    "torch.fmin",
    "torch.hypot",
    "torch.logical_and",
    "torch.logical_or",
    "torch.logical_xor",
    "torch.floor_divide",
    "torch.pow",
    "torch.float_power",
    "torch.xlogy",
    "torch.logaddexp",
    "torch.logaddexp2",
    "torch.rsub",
    "torch.ldexp",
    "torch.gcd",
    "torch.lcm",
    "torch.bitwise_and",
    "torch.bitwise_or",
    "torch.bitwise_xor",
    "torch.bitwise_left_shift",
    "torch.bitwise_right_shift",
]
REDUCE = [
    "torch.sum",
    "torch.mean",
    "torch.amax",
    "torch.amin",
    "torch.any",
    "torch.all",
    "torch.var",
    "torch.std",
    "torch.logsumexp",
    "torch.count_nonzero",
    "torch.norm",
    "torch.nansum",
    "torch.nanmean",
]
ALONG = [
    "torch.argmax({x}, {d})",
    "torch.argmin({x}, {d})",
    "torch.max({x}, {d})[0]",
    "torch.max({x}, {d})[1]",
    "torch.min({x}, {d})[0]",
    "torch.min({x}, {d})[1]",
    "torch.prod({x}, {d})",
    "torch.cumsum({x}, {d})",
    "torch.cumprod({x}, {d})",
    "torch.cummax({x}, {d})[0]",
    "torch.cummin({x}, {d})[0]",
    "torch.sort({x}, {d})[0]",
    "torch.median({x}, {d})[0]",
    "torch.sort({x}, stable=True, dim={d})[1]",
    "torch.argsort({x}, dim={d}, stable=True, descending=True)",
    "torch.softmax({x}, {d})",
    "torch.log_softmax({x}, {d})",
    "F.normalize({x}, dim={d})",
    "torch.topk({x}, 2, {d})[0]",
    "torch.argmax({x}, {d}, keepdim=True)",
    "torch.logcumsumexp({x}, {d})",
    "torch.diff({x}, dim={d})",
    "torch.argmax({x})",
    "torch.prod({x})",
    "torch.max({x})",
    "torch.min({x})",
    "torch.softmax({x}, {d}, dtype=f32)",
    "torch.cummax({x}, {d})[1]",
    "torch.cummin({x}, {d})[1]",
    "torch.sort({x}, {d}, descending=True)[0]",
    "torch.topk({x}, 1, {d}, largest=False)[0]",
    "torch.kthvalue({x}, 1, {d})[0]",
    "torch.mode(torch.nan_to_num({x}), {d})[0]",  # the order of NaN is not defined
    "torch.nanmedian({x}, {d})[0]",
    "torch.median({x})",
    "torch.msort({x})",
    "torch.aminmax({x}, dim={d})[0]",
    "torch.aminmax({x})[1]",
    "torch.argmin({x}, {d}, keepdim=True)",
    "torch.max({x}, {d}, keepdim=True)[0]",
    "torch.prod({x}, {d}, keepdim=True, dtype=f64)",
    "torch.sum({x}, {d}, dtype=f64)",
    "torch.sum({x}, {d}, dtype=i64)",
    "torch.cumsum({x}, {d}, dtype=f32)",
    "torch.var({x}, {d}, correction=0)",
    "torch.std({x}, {d}, correction=0, keepdim=True)",
    "torch.var_mean({x}, {d})[0]",
    "torch.std_mean({x}, {d})[1]",
    "torch.linalg.vector_norm({x}, 1, {d})",
    "torch.linalg.vector_norm({x}, float('inf'), {d})",
    "torch.linalg.vector_norm({x}, 0)",
    "torch.all({x}, {d}, keepdim=True)",
    "torch.any({x}, {d})",
    "torch.trapezoid({x}, dim={d})",
    "torch.renorm({x}, 2, {d}, 1.0)",
    "torch.cumulative_trapezoid({x}, dim={d})",
    "torch.quantile({x}, 0.5, dim={d})",
    "torch.trace({x})",
    "F.glu({x}, {d})",
    "F.softmin({x}, dim={d})",
    "torch.nanquantile({x}, 0.5, dim={d})",
]


def unary(g: Generator) -> str:
    return f"{g.choose(UNARY)}({g.value(FLOATS if g.chance(0.85) else ANY)})"


def integer(g: Generator) -> str:
    x, y = g.value((*INTS, "b1")), g.value((*INTS, "b1"))
    forms = (
        "{x} & {y}|torch.bitwise_or({x}, {y})|{x} ^ {y}|~{x}|{x} << 1|{x} >> 1|-{x}|{x}.bool()|{x} + {y}|{x} * {y}|"
        "torch.div({x}, 2, rounding_mode='trunc')|torch.div({x}, -3, rounding_mode='floor')|{x} + 1.5|{x} * True|"
        "{x} ** 3|{x} << 3|{x} - 200|{x} * 100|torch.fmod({x}, 3)|{x} & 5|5 ^ {x}|2 ** {x}.clamp(0, 3)|{x} > 0.5|"
        "torch.bitwise_not({x})|torch.sum({x})|torch.mean({x}, 0, dtype=f32)|{x} + torch.tensor(2.5)|{x} * {x}|"
        "{x} // 3|{x} % -3"
    )
    return g.choose(forms.split("|")).format(x=x, y=y)


def binary(g: Generator) -> str:
    x = g.value(NUMBERS if g.chance(0.7) else ANY)
    return f"{g.choose(BINARY)}({x}, {g.partner(x)})"


def scalar(g: Generator) -> str:
    x = g.value(NUMBERS)
    forms = (
        "{x} + 2|{x} * 0.5|1 - {x}|{x} ** 2|{x} // 2|{x} % 3|{x} / 4|{x} > 0|{x} == 1|{x} * 2|{x} - 1.5|2 / {x}|"
        "{x} + {x}|{x} ** 0.5|{x} ** -1|{x} ** 0|2 ** {x}|{x} * True|{x} * 1e-3|{x} // 0.5|{x} % -2.5|"
        "torch.sub({x}, 1, alpha=2)|torch.rsub({x}, 3)|torch.div({x}, 3, rounding_mode='floor')|"
        "torch.div({x}, 0.3, rounding_mode='trunc')|{x} + torch.tensor(1.5)|{x} * torch.tensor(2)|-{x}|{x} != 0|"
        "torch.fmod({x}, 1.5)|torch.true_divide({x}, 0)|{x} + torch.tensor([2.0])|{x} * torch.tensor(0.5, dtype=f64)|"
        "torch.pow(2.0, {x})|{x} - torch.tensor(True)|{x} * float('inf')|{x}.mul(0)|{x} > torch.tensor(1)|"
        "torch.add({x}, {x}, alpha=0.5)|{x} / torch.tensor(0.0)|{x} ** 3|{x} ** 1"
    )
    return g.choose(forms.split("|")).format(x=x)


def choice(g: Generator) -> str:
    """Choosing between values."""
    x = g.value(NUMBERS)
    forms = (
        "torch.where({m}, {x}, {y})|torch.where({x} > 0, {x}, {y})|torch.clamp({x}, -1, 1)|torch.clamp({x}, min=0)|"
        "torch.clamp({x}, {y}, None)|{x}.masked_fill({m}, 1)|{x}.masked_fill({m}, float('-inf'))|"
        "torch.lerp({x}, {y}, 0.5)|torch.addcmul({x}, {y}, {x})|torch.where({m}, {x}, 0)|torch.heaviside({x}, {y})|"
        "torch.where({x} != {x}, {y}, {x})|torch.clamp({x}, max={y})|torch.clamp({x}, 2, -2)|"
        "torch.where({m}, 1.5, {x})|"
        "torch.where({m}, {x}, True)|torch.where({m}, {x}, {z})|torch.addcdiv({x}, {y}, {x}.abs() + 1, value=0.5)|"
        "torch.lerp({x}, {y}, {x})|torch.where({m}, 1, 0)|torch.where({m}, {x}, torch.tensor(2.5))|"
        "{x}.masked_fill({m}, torch.tensor(2))|F.threshold({x}, 0.5, 2)|torch.nan_to_num({x}, 1.0, 2.0, -2.0)|"
        "{x}.clip(-0.5)|torch.masked_scatter({x}, {m}, {x} * 2)|torch.maximum({x}, {z})|torch.add({x}, {z})|"
        "torch.mul({z}, {x})|torch.div({x}, {z})|torch.copysign({x}.abs(), {y}.abs() + 1)|"
        "F.prelu({x}, torch.tensor(0.25))|"
        "torch.where({m}, {x}, float('nan'))|torch.eq({x}, {z})|torch.lt({x}, {z})|F.smooth_l1_loss({x}, {y})|"
        "torch.dist({x}, {y})|F.mse_loss({x}, {y}, reduction='none')"
    )
    return g.choose(forms.split("|")).format(x=x, y=g.partner(x), m=g.mask(x), z=g.value(ANY))


def view(g: Generator) -> str:
    x = g.value(ANY)
    a, b = g.axis(x), g.axis(x)
    forms = [
        "{x}.transpose({a}, {b})",
        "{x}.unsqueeze({a})",
        "{x}.squeeze({a})",
        "{x}.squeeze()",
        "{x}.flatten()",
        "{x}.flatten({a})",
        "{x}.reshape(-1)",
        "{x}.reshape({x}.shape[0], -1)",
        "{x}.reshape(-1, {x}.shape[-1])",
        "{x}.reshape(-1, 2)",
        "{x}.reshape(2, -1, 2)",
        "{x}.unsqueeze(0).expand(3, *{x}.shape)",
        "{x}.select({a}, {i})",
        "{x}.narrow({a}, {s}, 2)",
        "{x}.movedim({a}, {b})",
        "{x}.diagonal(dim1={a}, dim2={b})",
        "{x}.diagonal(1)",
        "{x}.unfold({a}, 2, 1).clone()",  # writes to overlapping views are refused
        "{x}.contiguous()",
        "{x}.clone()",
        "{x}.permute(*range({x}.dim())[::-1])",
        "{x}.mT",
        "{x}.expand_as({y})",
        "{x}{slice}",
        "{x}{slice}",
        "{x}[None]",
        "{x}[..., None]",
        "{x}[: {x}.shape[0] // 2]",
        "{x}[{x}.shape[0] // 2 :]",
        "{x}.view({x}.shape[0] * {x}.shape[1], -1)",
        "{x}.unflatten(0, (2, -1))",
        "{x}.chunk(2, {a})[{s}]",
        "{x}.split(2, {a})[{i}]",
        "{x}.unbind({a})[{i}]",
        "{x}.tensor_split(2, {a})[{s}]",
        "{x}.tensor_split((1, 2), {a})[{i}]",
        "{x}.split([1, {x}.shape[{a}] - 1], {a})[{s}]",
        "{x}.ravel()",
        "{x}.swapaxes({a}, {b})",
        "{x}.expand(2, *[-1] * {x}.dim())",
        "{x}.expand([-1] * {x}.dim())",
        "{x}.broadcast_to({x}.shape)",
        "{x}.narrow({a}, -1, 1)",
        "{x}.narrow({a}, {x}.shape[{a}] // 2, 1)",
        "{x}.unfold({a}, 2, 2)",
        "{x}.unfold({a}, 1, 3)",
        "{x}.as_strided((2,), (1,))",
        "{x}.as_strided((2, 2), (2, 1), 1)",
        "{x}.permute({order})",
        "{x}.permute({order}).flatten()",
        "{x}.transpose({a}, {b}).contiguous()",
        "{x}.transpose({a}, {b}).reshape(-1)",
        "torch.atleast_2d({x})",
        "torch.atleast_3d({x})",
        "{x}.view_as({x})",
        "{x}.squeeze(({a}, {b}))",
        "{x}.detach()",
        "{x}.to({x}.dtype)",
        "{x}.type_as({y})",
        "{x}.view({x}.shape)",
        "{x}.unflatten({a}, (1, -1))",
        "{x}.T",
        "torch.broadcast_tensors({x}, {y})[{s}]",
        "{x}[..., {s}:]",
        "{x}[:0]",
        "{x}.vsplit(2)[{s}]",
        "{x}.hsplit(2)[{s}]",
        "{x}.select({a}, -1).unsqueeze({s})",
        "{x}[-1:]",
        "{x}[:, ::3]",
        "{x}.view(u8)",
        "{x}.view(i16)",
        "{x}.view(i32)",
        "torch.real({x})",
    ]
    if not g.is_whole(x):
        forms = [form for form in forms if "as_strided" not in form]
    order = ", ".join(map(str, g.random.sample(range(g.value_of(x).dim()), g.value_of(x).dim())))
    names = {"a": a, "b": b, "i": g.number(-1, 1), "s": g.number(0, 1), "slice": g.slices(x), "order": order}
    return g.choose(forms).format(x=x, y=g.value(ANY), **names)


def move(g: Generator) -> str:
    """Copies in another order or size."""
    x = g.value(ANY)
    y = g.partner(x)
    forms = [
        "torch.cat([{x}, {y}], {a})",
        "torch.cat([{x}, {x}], {a})",
        "torch.cat([{x}, {y}, {x}], {a})",
        "torch.stack([{x}, {x}], {a})",
        "torch.stack([{x}, {y}], -1)",
        "F.pad({x}, ({p}, {q}))",
        "F.pad({x}, ({p}, {q}, 1, 0), value=1)",
        "F.pad({x}, ({p}, {q}), mode='replicate')",
        "F.pad({x}, (1, 1), mode='reflect')",
        "F.pad({x}, (1, 1), mode='circular')",
        "F.pad({x}, (-1, {q}))",
        "{x}.repeat(2, *[1] * ({x}.dim() - 1))",
        "{x}.repeat_interleave(2, {a})",
        "torch.tile({x}, (2,))",
        "torch.tril({x})",
        "torch.triu({x}, 1)",
        "torch.rot90({x}, 1, ({a}, {b}))",
        "torch.flip({x}, ({a},))",
        "torch.roll({x}, (1, -1), ({a}, {b}))",
        "torch.diag_embed({x})",
        "torch.zeros_like({x})",
        "torch.full_like({x}, 2)",
        "torch.arange({x}.shape[{a}])",
        "{x} * {x}.shape[{a}]",
        "{x}.new_ones({x}.shape[{a}])",
        "torch.meshgrid({x}, {x}, indexing='ij')[0]",
        "torch.meshgrid({x}, {y}, indexing='xy')[1]",
        "torch.cat([{x}, {z}], {a})",
        "torch.cat([{x}, {z}, {x}])",
        "torch.stack([{x}, {z}])",
        "torch.hstack([{x}, {y}])",
        "torch.vstack([{x}, {z}])",
        "torch.dstack([{x}, {x}])",
        "torch.column_stack([{x}, {x}])",
        "torch.block_diag({x}, {x})",
        "torch.roll({x}, 1)",
        "torch.roll({x}, -3, {a})",
        "torch.flip({x}, ({a}, {b}))",
        "torch.rot90({x}, {p}, ({a}, {b}))",
        "torch.tril({x}, -1)",
        "torch.triu({x}, -{p})",
        "torch.diag({x}, {p})",
        "torch.diagflat({x})",
        "{x}.repeat(2, 1, *[1] * ({x}.dim() - 1))",
        "{x}.repeat_interleave({p}, {a})",
        "{x}.repeat(*[{p}] * {x}.dim())",
        "F.pad({x}, ({p}, -1), value=float('-inf'))",
        "F.pad({x}, (0, 0))",
        "F.pad({x}, (0, 0, {p}, -{q}), value=2)",
        "torch.linspace(0, 1, {x}.shape[{a}])",
        "torch.eye({x}.shape[{a}], dtype=f32)",
        "torch.arange(0, {x}.shape[{a}], 2)",
        "torch.arange(1.0, 3.0, 0.5).to({x}.dtype)",
        "torch.arange({x}.shape[{a}] - 1, -1, -1)",
        "torch.full({x}.shape, 1.5)",
        "torch.full(({x}.shape[{a}], 2), True)",
        "torch.ones_like({x}, dtype=f32)",
        "{x}.new_zeros({x}.shape)",
        "{x}.new_full((2, {x}.shape[{a}]), 3)",
        "torch.empty_like({x}).fill_(2)",
        "torch.tensor([1.0, float('nan'), 2.0])",
        "torch.scalar_tensor(3.5)",
        "torch.tril_indices(3, 3)",
        "torch.cartesian_prod({x}, {x})",
        "torch.constant_pad_nd({x}, ({p}, {q}), 1)",
        "torch.diagonal_scatter({x}, {x}.diagonal() * 2)",
        "torch.vander({x})",
        "F.unfold({x}, 2)",
        "F.pixel_unshuffle({x}, 2)",
        "F.channel_shuffle({x}, 2)",
        "torch.combinations({x})",
        "torch.tensordot({x}, {x}, {x}.dim())",
    ]
    sizes = {"p": g.number(0, 2), "q": g.number(0, 2)}
    return g.choose(forms).format(x=x, y=y, z=g.value(ANY), a=g.axis(x), b=g.axis(x), **sizes)


def cast(g: Generator) -> str:
    if g.chance(0.3):
        return f"to_int({g.value(FLOATS)}, {g.choose(INTS)})"
    if g.chance(0.1):
        c = g.value(COMPLEX)
        return g.choose([f"{c}.real", f"{c}.imag", f"{c}.abs()", f"torch.view_as_real({c})", f"{c}.conj()"])
    x = g.value(ANY)
    if g.chance(0.05):
        return f"{g.value(('f32',))}.to(c64)"
    return f"{x}.to({g.choose(FLOATS)})" if g.chance(0.7) else f"{g.value((*INTS, 'b1'))}.to({g.choose(INTS)})"


def reduce(g: Generator) -> str:
    x = g.value(FLOATS if g.chance(0.6) else ANY)
    a, b = g.axis(x), g.axis(x)
    dims = g.choose(["", f", {a}", f", {a}, keepdim=True", f", ({a}, {b})", ", -1", ", 0"])
    name = g.choose(REDUCE)
    if name == "torch.norm":
        return f"torch.linalg.vector_norm({x}, 2{dims})"
    if name == "torch.logsumexp" and not dims:
        dims = ", -1"
    return f"{name}({x}{dims})"


def along(g: Generator) -> str:
    x = g.value(FLOATS if g.chance(0.6) else (*REALS, "b1"))
    return g.choose(ALONG).format(x=x, d=g.axis(x))


def index(g: Generator) -> str:
    x = g.value(ANY)
    places = g.constant((g.number(0, 4),), "i64", "indices")
    same = g.constant(tuple(g.value_of(x).shape), "i64", "indices")
    forms = [
        "torch.index_select({x}, {a}, {i})",
        "{x}[{i}]",
        "{x}[:, {i}]",
        "{x}[..., {i}]",
        "{x}[{i}, {i}]",
        "{x}[{i}, :, {i}]",
        "{x}[-{i}]",
        "torch.gather({x}, {a}, {j})",
        "torch.take_along_dim({x}, {j}, {a})",
        "torch.scatter({x}, {a}, {j}, 1)",
        "torch.scatter_add({x}, {a}, {j}, {x})",
        "torch.scatter_reduce({x}, {a}, {j}, {x}, 'amax')",
        "torch.index_add({x}, {a}, {i}, {x}.index_select({a}, {i}))",
        "torch.index_fill({x}, {a}, {i}, 1)",
        "F.embedding({i}, {x})",
        "F.one_hot({i}, 4)",
        "torch.index_put({x}, ({i},), torch.ones_like({x}[0]))",
        "torch.select_scatter({x}, torch.zeros_like({x}.select({a}, 0)), {a}, -1)",
        "torch.slice_scatter({x}, torch.ones_like({x}[1:]), 0, 1)",
        "torch.searchsorted(torch.sort({x})[0], {x}.contiguous())",
        "torch.take({x}, {i})",
        "torch.isin({x}, {i})",
        "torch.bucketize({x}, torch.arange(3.0))",
        "torch.bucketize({x}, torch.arange(3.0), right=True)",
        "torch.searchsorted(torch.sort({x}.flatten())[0], {x}.flatten(), side='right')",
        "torch.index_put({x}, ({i},), torch.ones_like({x}[0]), accumulate=True)",
        "torch.index_put({x}, ({i}, {i}), {x}[{i}, {i}] * 2, accumulate=True)",
        "torch.index_put({x}, ({x} > 0,), torch.tensor(3).to({x}.dtype))",
        "torch.index_put({x}, (None, {i}), {x}[:, {i}] + {x}[:, {i}], accumulate=True)",
        "torch.scatter({x}, {a}, {j}, {x})",
        "torch.scatter_reduce({x}, {a}, {j}, {x}, 'sum')",
        "torch.scatter_reduce({x}, {a}, {j}, {x}, 'prod', include_self=False)",
        "torch.scatter_reduce({x}, {a}, {j}, {x}, 'mean')",
        "torch.scatter_reduce({x}, {a}, {j}, {x}, 'amin', include_self=False)",
        "torch.scatter({x}, {a}, {j}, 2, reduce='multiply')",
        "torch.scatter({x}, {a}, {j}, {x}, reduce='add')",
        "torch.index_reduce({x}, {a}, {i}, {x}.index_select({a}, {i}), 'amax')",
        "torch.index_reduce({x}, {a}, {i}, {x}.index_select({a}, {i}), 'mean', include_self=False)",
        "torch.index_copy({x}, {a}, {i}[:1], {x}.index_select({a}, {i}[:1]) * 2)",
        "torch.index_add({x}, {a}, {i}, {x}.index_select({a}, {i}), alpha=2)",
        "torch.put({x}, {i}, {x}.flatten()[{i}])",
        "{x}[{i}, None]",
        "{x}[None, {i}]",
        "{x}[..., {i}, :]",
        "{x}[{i}[:, None], {i}]",
        "{x}[1:, {i}]",
        "{x}[{i}, ::2]",
        "{x}[-1 - {i}]",
        "{x}[[0, -1]]",
        "{x}[:, [1, 0]]",
        "{x}[torch.tensor(0)]",
        "{x}[{x} > 0].sum()",
        "torch.where({x} > 0)[0]",
        "torch.nonzero({x})",
        "torch.masked_select({x}, {x} > 0)",
        "torch.argwhere({x})",
        "torch.unique({x})",
        "torch.bincount({i})",
        "torch.take_along_dim({x}, torch.argsort({x}, {a}, stable=True), {a})",
        "torch.gather({x}, {a}, torch.argsort({x}, dim={a}, stable=True))",
        "F.embedding_bag({i}, {x}, torch.arange(1), mode='sum')",
        "torch.histc({x}, 4, -1, 1)",
        "F.cross_entropy({x}, torch.zeros_like({x}[:, 0]).long())",
        "F.nll_loss({x}, torch.zeros_like({x}[:, 0]).long(), reduction='none')",
    ]
    axis = g.axis(x)
    # Eager does not check everywhere that indices are in range.
    return g.choose(forms).format(x=x, a=axis, i=places, j=f"({same} % {x}.shape[{axis}])")


SINGLE: tuple[tuple[float, Callable[[Generator], str]], ...] = (
    (3, unary),
    (1, integer),
    (4, binary),
    (3, scalar),
    (2, choice),
    (6, view),
    (3, move),
    (2, cast),
    (3, reduce),
    (3, along),
    (2, index),
)
