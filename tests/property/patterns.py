"""Lines that passes rewrite together: products and convolutions with what follows, norms, attention, writes."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from property.ops import ANY, FLOATS

if TYPE_CHECKING:
    from property.generate import Generator

ACTIVATIONS = [
    "torch.relu({x})",
    "F.gelu({x})",
    "F.gelu({x}, approximate='tanh')",
    "F.silu({x})",
    "torch.sigmoid({x})",
    "torch.tanh({x})",
    "F.hardswish({x})",
    "F.hardsigmoid({x})",
    "F.relu6({x})",
    "{x} * torch.sigmoid({x})",
    "torch.clamp({x}, 0, 6)",
    "{x}",
]


def sizes(g: Generator, name: str) -> tuple[int, ...]:
    return tuple(g.value_of(name).shape)


def linear(g: Generator) -> None:
    """A product, and some of: bias, scale, residual, activation."""
    x = g.value(FLOATS, rank=(1, 4))
    dtype, inner = g.dtype_of(x), sizes(g, x)[-1]
    outer = g.choose([1, 2, 5, 8, 16, 33, inner])
    weight = g.constant((outer, inner), dtype)
    forms = [
        "F.linear({x}, {w})",
        "F.linear({x}, {w}, {b})",
        "{x} @ {w}.mT",
        "torch.matmul({x}, {w}.T)",
        "{w} @ {x}.mT",
    ]
    y = g.add(g.choose(forms).format(x=x, w=weight, b=g.constant((outer,), dtype)))
    tails(g, y, x, -1)


def tails(g: Generator, y: str, x: str, axis: int) -> None:
    """What follows a product or a convolution with channels along `axis`."""
    dtype, shape = g.dtype_of(y), sizes(g, y)
    channel = [1] * len(shape)
    channel[axis] = shape[axis]
    per_channel = tuple(channel) if g.chance(0.5) or axis != -1 else (shape[-1],)
    for form in g.some(
        ["{y} + {c}", "{y} * {c}", "{y} + {r}", "{r} + {y}", "{y} * 2", "{y} - {c}", "{c} + {y}", "{y} * 0.5 + {c}"], 3
    ):
        constant = g.constant(per_channel if g.chance(0.8) else (), dtype)
        residual = x if sizes(g, x) == shape else g.partner(y)
        y = g.add(form.format(y=y, c=constant, r=residual))
    if g.chance(0.7):
        y = g.add(g.choose(ACTIVATIONS).format(x=y))
    if g.chance(0.3):
        g.add(g.choose(["{y} + {r}", "torch.relu({y} + {r})", "{y}[:, -1]", "{y}[0]", "{y}.sum(-1)"]).format(y=y, r=x))


def product(g: Generator) -> None:
    x = g.value(FLOATS if g.chance(0.8) else ANY, rank=(1, 4))
    forms = (
        "{x} @ {x}.mT|{x}.mT @ {x}|torch.einsum('...ij,...kj->...ik', {x}, {x})|torch.bmm({x}, {x}.mT)|{x} @ {y}|"
        "torch.outer({x}, {x})|{x} @ {x}[0]|torch.addmm({y}, {x}, {x}.T)|torch.baddbmm({y}, {x}, {x}.mT)|"
        "torch.matmul({x}, {y}.mT)|torch.einsum('...i,...i->...', {x}, {x})|({x} * {x}).sum(-1)|torch.dot({x}, {x})|"
        "torch.mv({x}, {x}[0])|torch.addmm({y}, {x}, {x}.T, beta=0.5, alpha=2)|torch.kron({x}, {x}[:1])"
    )
    y = g.add(g.choose(forms.split("|")).format(x=x, y=g.partner(x)))
    if g.chance(0.5):
        g.add(g.choose(ACTIVATIONS).format(x=y))


def convolution(g: Generator) -> None:
    x = g.value(FLOATS, rank=(3, 4))
    dims, channels, dtype = len(sizes(g, x)) - 2, sizes(g, x)[1], g.dtype_of(x)
    if channels == 0:  # export writes other shapes than eager has
        raise g.no_value
    groups = g.choose([1, 1, 1, channels, 2])
    groups = 1 if channels % groups else groups
    outer, kernel = groups * g.number(1, 4), g.number(1, 3)
    if g.chance(0.25):
        x = g.add(f"F.pad({x}, {g.choose([(1, 1), (0, 1), (2, 0)]) * dims})")
    settings = f"stride={g.number(1, 2)}, padding={g.number(0, 2)}, dilation={g.number(1, 2)}, groups={groups}"
    bias = g.constant((outer,), dtype) if g.chance(0.5) else None
    if g.chance(0.2):
        weight = g.constant((channels, outer // groups, *[kernel] * dims), dtype)
        y = g.add(f"F.conv_transpose{dims}d({x}, {weight}, {bias}, {settings})")
    else:
        weight = g.constant((outer, channels // groups, *[kernel] * dims), dtype)
        y = g.add(f"F.conv{dims}d({x}, {weight}, {bias}, {settings})")
    if g.chance(0.4):
        mean, scale, shift = (g.constant((outer,), dtype) for _ in range(3))
        y = g.add(f"F.batch_norm({y}, {mean}, {g.positive((outer,), dtype)}, {scale}, {shift})")
    tails(g, y, x, 1)


def block(g: Generator) -> None:
    """What mobile networks are made of: more channels, a filter for each, factors from the means, fewer channels."""
    x = g.value(FLOATS, rank=(4, 4))
    channels, dtype = sizes(g, x)[1], g.dtype_of(x)
    if channels == 0:  # export writes other shapes than eager has
        raise g.no_value
    y, kernel = x, g.choose([3, 3, 5])
    if g.chance(0.7):
        wide = g.choose([2, 16, 17, 33, 48])
        y = g.add(f"F.conv2d({x}, {g.constant((wide, channels, 1, 1), dtype)}, {g.constant((wide,), dtype)})")
        y, channels = g.add(g.choose(ACTIVATIONS).format(x=y)), wide
    settings = f"stride={g.number(1, 2)}, padding={g.number(1, 2)}, groups={channels}"
    bias = g.constant((channels,), dtype) if g.chance(0.5) else None
    y = g.add(f"F.conv2d({y}, {g.constant((channels, 1, kernel, kernel), dtype)}, {bias}, {settings})")
    y = g.add(g.choose(ACTIVATIONS).format(x=y))
    if g.chance(0.7):
        means = ["F.adaptive_avg_pool2d({y}, 1)", "{y}.mean((2, 3), keepdim=True)", "{y}.mean((-1, -2), True)"]
        factors = g.add(g.choose(means).format(y=y))
        factors = g.add(g.choose(["torch.sigmoid({f})", "F.hardsigmoid({f})", "{f}"]).format(f=factors))
        y = g.add(g.choose(["{y} * {f}", "{f} * {y}", "{y} * {f}[:1]"]).format(y=y, f=factors))
    y = g.add(f"F.conv2d({y}, {g.constant((g.choose([1, 7, 32, 40]), channels, 1, 1), dtype)})")
    tails(g, y, x, 1)


def norm(g: Generator) -> None:
    x = g.value(FLOATS, rank=(1, 4))
    shape, dtype = sizes(g, x), g.dtype_of(x)
    last = (shape[-1],)
    names = {"x": x, "w": g.constant(last, dtype), "b": g.constant(last, dtype), "n": last[0]}
    if len(shape) > 1:
        channels = (shape[1],)
        names |= {
            "cw": g.constant(channels, dtype),
            "cb": g.constant(channels, dtype),
            "cv": g.positive(channels, dtype),
        }
    forms = [
        "F.layer_norm({x}, ({n},), {w}, {b})",
        "F.layer_norm({x}, ({n},))",
        "F.layer_norm({x}, {x}.shape[1:])",
        "F.rms_norm({x}, ({n},), {w})",
        "{x} * torch.rsqrt({x}.pow(2).mean(-1, keepdim=True) + 1e-3) * {w}",
        "({x} - {x}.mean(-1, keepdim=True)) / ({x}.var(-1, keepdim=True, unbiased=False) + 1e-3).sqrt()",
        "torch.softmax({x} * 0.5, -1)",
        "torch.exp({x} - {x}.amax(-1, keepdim=True)) / torch.exp({x} - {x}.amax(-1, True)).sum(-1, True)",
    ]
    if len(shape) > 1:
        forms += [
            "F.batch_norm({x}, {cb}, {cv}, {cw}, {cb})",
            "F.group_norm({x}, 1, {cw}, {cb})",
            "F.group_norm({x}, 2)",
            "F.local_response_norm({x}, 2)",
        ]
    if len(shape) > 2:
        forms.append("F.instance_norm({x})")
    y = g.add(g.choose(forms).format(**names))
    if g.chance(0.5):
        g.add(g.choose(ACTIVATIONS).format(x=y))


def pool(g: Generator) -> None:
    x = g.value(FLOATS, rank=(3, 4))
    dims = len(sizes(g, x)) - 2
    forms = [
        "F.max_pool{d}d({x}, 2)",
        "F.max_pool{d}d({x}, 3, stride=1, padding=1)",
        "F.avg_pool{d}d({x}, 2)",
        "F.avg_pool{d}d({x}, 3, stride=2, padding=1, count_include_pad=False)",
        "F.adaptive_avg_pool{d}d({x}, 1)",
        "F.adaptive_avg_pool{d}d({x}, 2)",
        "F.adaptive_max_pool{d}d({x}, 2)",
        "F.interpolate({x}, scale_factor=2)",
        "F.interpolate({x}, size=4, mode='nearest')",
        "F.pixel_shuffle({x}, 2)",
        "F.max_pool{d}d({x}, 2, ceil_mode=True)",
    ]
    g.add(g.choose(forms).format(x=x, d=dims))


def attention(g: Generator) -> None:
    x = g.value(FLOATS, rank=(2, 4))
    width, dtype = sizes(g, x)[-1], g.dtype_of(x)
    q, k, v = (g.add(f"F.linear({x}, {g.constant((width, width), dtype)})") for _ in range(3))
    if g.chance(0.5):
        options = g.choose(["", ", is_causal=True", ", scale=0.5", f", attn_mask={g.mask_like_scores(x)}"])
        if width == 0:  # eager takes any mask then
            options = ""
        g.add(f"F.scaled_dot_product_attention({q}, {k}, {v}{options})")
        return
    scores = g.add(f"{q} @ {k}.mT{g.choose(['', ' * 0.5', ' / 2'])}")
    if g.chance(0.3):
        scores = g.add(f"{scores} + {g.constant(sizes(g, scores)[-2:], dtype)}")
    g.add(f"torch.softmax({scores}, -1) @ {v}")


PLACES = [
    "",
    "[0]",
    "[:, 0]",
    "[..., 1:]",
    "[1:]",
    ".transpose(0, 1)",
    ".mT",
    ".diagonal()",
    "[::2]",
    ".unsqueeze(0)",
    ".select(-1, 0)",
    "[:, 1:]",
    "[..., -1]",
    ".view(-1)[1:]",
    ".flatten()",
    "[0][1:]",
    ".transpose(0, -1)[0]",
    ".squeeze(0)",
    ".T[1:]",
    ".chunk(2)[1]",
    ".chunk(2, -1)[0]",
    ".split(2)[0]",
    ".split(1, -1)[-1]",
    ".split([1, 1], -1)[1]",
    ".tensor_split(3)[1]",
    ".unbind(0)[-1]",
    ".unbind(-1)[0]",
    ".narrow(0, 1, 1)",
    ".narrow(-1, -1, 1)",
    ".unfold(0, 2, 2)",
    ".unfold(-1, 1, 2)",
    ".as_strided((2,), (1,))",
    ".as_strided((2,), (2,), 1)",
    ".expand(1, -1, -1)",
    ".permute(1, 0, 2)",
    ".movedim(0, -1)",
    ".reshape(-1)",
    ".contiguous()",
    ".view(-1, 1)",
    ".unflatten(-1, (2, -1))",
    ".diagonal(1)",
    ".detach()",
    "[..., None]",
    "[None, ..., 0]",
    "[-1]",
    "[1::2]",
    "[:, -1:]",
    "[:-1, 1:]",
    ".transpose(0, 1).flatten()",
    ".transpose(-1, -2).reshape(-1)",
    ".mT.contiguous()",
    ".real",
]
WRITES = [
    "add_(1)",
    "mul_(2)",
    "zero_()",
    "fill_(1)",
    "relu_()",
    "clamp_(min=0)",
    "neg_()",
    "sub_({s})",
    "copy_({s})",
    "mul_({s})",
    "masked_fill_({m}, 2)",
    "add_({s}, alpha=2)",
    "sigmoid_()",
    "add_({s}.mean())",
    "square_()",
    "abs_()",
    "clamp_(-1, 1)",
    "div_(2)",
    "div_({s})",
    "floor_divide_(2)",
    "remainder_(3)",
    "pow_(2)",
    "add_(True)",
    "mul_(-1)",
    "lerp_({s}, 0.25)",
    "addcmul_({s}, {s}, value=0.5)",
    "copy_({o})",
    "add_({o})",
    "mul_({o})",
    "logical_not_()",
    "bitwise_and_(3)",
    "bitwise_xor_({s})",
    "eq_({s})",
    "gt_(0)",
    "tril_()",
    "triu_(1)",
    "cumsum_(0)",
    "cumsum_(-1)",
    "fill_diagonal_(1)",
    "index_fill_(0, torch.tensor([0]), 3)",
    "scatter_(0, torch.zeros_like({b}, dtype=i64), 2)",
    "scatter_add_(-1, torch.zeros_like({b}, dtype=i64), {b}.clone())",
    "scatter_reduce_(0, torch.zeros_like({b}, dtype=i64), {b}.clone(), 'amax')",
    "index_put_((torch.tensor([0, 0]),), {b}[:1].clone(), accumulate=True)",
    "index_copy_(0, torch.tensor([0]), {b}[-1:] * 2)",
    "masked_scatter_({m}, {b} * 3)",
    "masked_fill_({m}, float('nan'))",
    "t_().add_(1)",
    "unsqueeze_(0).mul_(2)",
    "squeeze_().sub_(1)",
    "transpose_(0, -1).add_(2)",
    "swapaxes_(0, 1)",
    "exp_()",
    "sqrt_()",
    "round_()",
    "sign_()",
    "nan_to_num_()",
    "reciprocal_()",
    "clip_(max=1)",
    "sin_().cos_()",
    "add_(1).mul_(2)",
    "baddbmm_({b}, {b}.mT)",
    "addmm_({b}, {b}.T)",
    "ne_(1)",
    "floor_()",
    "put_(torch.tensor([0, -1]), torch.tensor([1, 2]).to({b}.dtype))",
    "copy_({b}.flip(0))",
]
# Other ways to write. Of many pieces a few: torch.export takes minutes over a thousand writes to pieces of one tensor.
STATEMENTS = [
    "{p} += 1",
    "{p} -= {s}",
    "{p} *= 2",
    "{p} /= 2",
    "{p} //= 2",
    "{p} **= 2",
    "{p} %= 3",
    "torch.add({p}, 1, out={p})",
    "torch.mul({p}, 3, out={p})",
    "torch.nn.functional.relu({p}, inplace=True)",
    "F.silu({p}, inplace=True)",
    "F.hardswish({p}, inplace=True)",
    "F.leaky_relu({p}, 0.1, inplace=True)",
    "F.elu({p}, inplace=True)",
    "F.dropout({p}, 0.5, False, inplace=True)",
    "torch.relu_({p})",
    "[part.mul_(2) for part in {p}.unbind(0)[:8]]",
    "[part.add_(1) for part in {p}.chunk(2)]",
    "[part.zero_() for part in {p}.split(1)[:16:2]]",
    "{p}[{p} > 0] = 2",
    "{p}[{p} < 0] *= 2",
    "{p}[..., 0] += {p}[..., -1]",
    "{p}[0], {p}[-1] = {p}[-1].clone(), {p}[0].clone()",
    "{p}[torch.tensor([0, 0])] = {p}[:2].clone()",
    "{p}[torch.tensor([0, -1])] += 1",
    "{p}[:, torch.tensor([0])] *= 3",
    "{p}[..., ::2][1:] = 4",
    "{p}.diagonal()[:] = 5",
    "{p}[0, ...] = {p}.sum(0)",
    "{p}[1:] = {p}[:-1].clone()",
    "{p}[0] = float('inf')",
]


def write(g: Generator) -> None:
    """A change in place through a view, sometimes of something that was viewed before."""
    base = g.writable()
    if 0 in g.value_of(base).stride() and g.value_of(base).numel():  # several elements are one place
        raise g.no_value
    places = [place for place in PLACES if "as_strided" not in place or g.is_whole(base)]
    for _ in range(2):
        if g.chance(0.3):
            base = g.add(f"{base}{g.choose(places)}")
            places = [place for place in places if "as_strided" not in place]
    place = g.choose(places)
    if g.chance(0.2):
        value = g.choose(["1", "0.5", f"{base}{place} * 2", f"{base}{place}.flip(0)", g.apart(base)])
        g.change(f"{base}{place}{'' if place.endswith(']') else '[...]'} = {value}")
    elif g.chance(0.25):
        names = {"s": g.apart(base), "p": base if g.chance(0.6) else f"{base}{place}"}
        form = g.choose([form for form in STATEMENTS if names["p"] == base or "{p} " not in form[:5]])
        g.change(form.format(**names))
    elif g.chance(0.15):
        positions = g.constant((2,), "i64", "indices")
        form = g.choose(
            [
                "[{i}] = 1",
                ".index_fill_(0, {i}, 2)",
                ".index_add_(0, {i}, {b}[:2].clone())",
                "[:, {i}] += 1",
                "[{b} > 0] = 1",
            ]
        )
        g.change(f"{base}{form.format(i=positions, b=base)}")
    else:
        names = {"s": g.apart(base), "o": f"{g.value(ANY)}.clone()", "m": f"({base}{place} > 0)", "b": f"{base}{place}"}
        g.change(f"{base}{place}.{g.choose(WRITES).format(**names)}")
    if g.chance(0.5):
        g.add(g.choose(["{b} + 1", "{b} * 2", "{b}.sum()", "{b}.clone()"]).format(b=base))


def branch(g: Generator) -> None:
    x = g.value(FLOATS)
    bodies = ["lambda a: a + 1", "lambda a: torch.relu(a)", "lambda a: a * 2 - 1", "lambda a: a.sin()", "lambda a: -a"]
    g.add(f"cond({x}.sum() > {g.number(-2, 2)}, {g.choose(bodies)}, {g.choose(bodies)}, {x})")


PATTERNS: tuple[tuple[float, Callable[[Generator], None]], ...] = (
    (3, linear),
    (2, product),
    (3, convolution),
    (1, block),
    (3, norm),
    (1, pool),
    (2, attention),
    (6, write),
    (0.3, branch),
)
