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
NUMBERS = (*REALS, "c64")
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
]


def unary(g: Generator) -> str:
    return f"{g.choose(UNARY)}({g.value(FLOATS if g.chance(0.85) else ANY)})"


def integer(g: Generator) -> str:
    x, y = g.value((*INTS, "b1")), g.value((*INTS, "b1"))
    form = g.choose(["{x} & {y}", "{x} | {y}", "{x} ^ {y}", "~{x}", "{x} << 1", "{x} >> 1", "-{x}", "{x}.bool()"])
    return form.format(x=x, y=y)


def binary(g: Generator) -> str:
    x = g.value(NUMBERS if g.chance(0.7) else ANY)
    return f"{g.choose(BINARY)}({x}, {g.partner(x)})"


def scalar(g: Generator) -> str:
    x = g.value(NUMBERS)
    forms = (
        "{x} + 2|{x} * 0.5|1 - {x}|{x} ** 2|{x} // 2|{x} % 3|{x} / 4|{x} > 0|{x} == 1|{x} * 2|{x} - 1.5|2 / {x}|"
        "{x} + {x}"
    )
    return g.choose(forms.split("|")).format(x=x)


def choice(g: Generator) -> str:
    """Choosing between values."""
    x = g.value(NUMBERS)
    forms = (
        "torch.where({m}, {x}, {y})|torch.where({x} > 0, {x}, {y})|torch.clamp({x}, -1, 1)|torch.clamp({x}, min=0)|"
        "torch.clamp({x}, {y}, None)|{x}.masked_fill({m}, 1)|{x}.masked_fill({m}, float('-inf'))|"
        "torch.lerp({x}, {y}, 0.5)|torch.addcmul({x}, {y}, {x})|torch.where({m}, {x}, 0)|torch.heaviside({x}, {y})|"
        "torch.where({x} != {x}, {y}, {x})"
    )
    return g.choose(forms.split("|")).format(x=x, y=g.partner(x), m=g.mask(x))


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
    ]
    return g.choose(forms).format(x=x, y=g.value(ANY), a=a, b=b, i=g.number(-1, 1), s=g.number(0, 1), slice=g.slices(x))


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
    ]
    sizes = {"p": g.number(0, 2), "q": g.number(0, 2)}
    return g.choose(forms).format(x=x, y=y, a=g.axis(x), b=g.axis(x), **sizes)


def cast(g: Generator) -> str:
    if g.chance(0.3):
        return f"to_int({g.value(FLOATS)}, {g.choose(INTS)})"
    if g.chance(0.1):
        c = g.value(("c64",))
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
