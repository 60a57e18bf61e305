"""The composite modules against formulas written down once more, plainly; exported, converted and externalized."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from typing import Any

import ingot
import numpy as np
import pytest
import torch
from bodies import evaluate
from ingot.composite_ops import SDPA, CompositeVersion, GatedDeltaUpdate, GatherMM, RMSNorm, RMSNormImpl, RoPE
from ingot.decompositions import get_decomp_table
from ingot.externalize import ExternalizeSpec, externalize
from torch.export import Dim

F32, F16, BF16 = torch.float32, torch.float16, torch.bfloat16
DTYPES = [F32, F16, BF16]
TOLERANCE = {F32: 2e-5, F16: 4e-3, BF16: 3e-2}


def randn(*shape: int, dtype: torch.dtype = F32, seed: int = 0) -> torch.Tensor:
    return torch.randn(shape, generator=torch.Generator().manual_seed(seed)).to(dtype)


def f64(tensor: torch.Tensor) -> np.ndarray:
    return tensor.detach().to(torch.float64).numpy()


def check(actual: torch.Tensor, expected: np.ndarray, dtype: torch.dtype) -> None:
    assert actual.dtype == dtype
    assert tuple(actual.shape) == expected.shape
    torch.testing.assert_close(
        actual.to(torch.float64), torch.from_numpy(expected), rtol=TOLERANCE[dtype], atol=TOLERANCE[dtype]
    )


# ---- RMSNorm


@pytest.mark.parametrize(("dtype", "scale_dtype"), [*((d, d) for d in DTYPES), (F16, F32), (BF16, F32)])
def test_rms_norm(dtype: torch.dtype, scale_dtype: torch.dtype) -> None:
    x, scale = randn(2, 3, 8, dtype=dtype), randn(8, dtype=scale_dtype, seed=1)
    rows = f64(x)
    expected = rows / np.sqrt((rows**2).mean(-1, keepdims=True) + 1e-3) * f64(scale)
    check(RMSNormImpl(eps=1e-3)(x, scale), expected, dtype)


def test_rms_norm_rounds_where_it_should() -> None:
    x, scale = randn(4, 64, dtype=F16) * 20, randn(64, seed=1) * 20
    root = torch.rsqrt(x.float().square().mean(-1, keepdim=True) + 1e-5)
    assert torch.equal(RMSNormImpl()(x, scale), (x.float() * root * scale).half())
    assert torch.equal(RMSNormImpl()(x, scale.half()), (x.float() * root).half() * scale.half())


def test_rms_norm_owns_its_weight() -> None:
    assert RMSNorm(6).weight.shape == (6,)
    norm = RMSNorm(6, eps=0.5, n_heads=3)
    assert norm.weight.shape == (3, 1, 6)
    with torch.no_grad():
        norm.weight.copy_(randn(3, 1, 6, seed=3))
    x = randn(2, 3, 5, 6)
    expected = f64(x) / np.sqrt((f64(x) ** 2).mean(-1, keepdims=True) + 0.5) * f64(norm.weight)
    check(norm(x), expected, F32)
    (inner,) = [module for module in norm.modules() if isinstance(module, RMSNormImpl)]
    assert (inner.axes, inner.eps) == (-1, 0.5)


# ---- RoPE


def rope_reference(x: torch.Tensor, angles: np.ndarray, width: int, interleaved: bool) -> np.ndarray:
    """One pair of lanes after the other; `angles` has all axes of x but the last, and then half the width."""
    result = f64(x).copy()
    for lane in range(width // 2):
        a, b = (2 * lane, 2 * lane + 1) if interleaved else (lane, lane + width // 2)
        cos, sin = np.cos(angles[..., lane]), np.sin(angles[..., lane])
        first, second = f64(x)[..., a], f64(x)[..., b]
        result[..., a], result[..., b] = cos * first - sin * second, sin * first + cos * second
    return result


ROPE_SHAPES = [(2, 5, 8), (2, 3, 5, 8), (2, 1, 3, 5, 8)]


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("shape", ROPE_SHAPES)
def test_rope(shape: tuple[int, ...], dtype: torch.dtype) -> None:
    batch, length, lanes = shape[0], shape[-2], shape[-1]
    x = randn(*shape, dtype=dtype)
    ids = torch.tensor([[3, 1, 4, 1, 5], [9, 2, 6, 5, 3]])
    offset = torch.tensor([7, 2])
    own = torch.rand(lanes // 2, generator=torch.Generator().manual_seed(1))
    cases = itertools.product((None, 4), (False, True), (False, True), ("none", "ids", "offset", "scalar"))
    for dims, interleaved, with_freqs, where in cases:
        width = dims or lanes
        freqs = own[: width // 2] if with_freqs else None
        plain = f64(freqs) if freqs is not None else 100.0 ** -(np.arange(width // 2) / (width // 2))
        steps = np.arange(length)[None].repeat(batch, 0)
        steps = {"ids": ids.numpy(), "offset": steps + offset.numpy()[:, None], "scalar": steps + 6}.get(where, steps)
        given = {"ids": {"position_ids": ids}, "offset": {"offset": offset}, "scalar": {"offset": torch.tensor(6)}}
        module = RoPE(scale=0.5, base=100.0, dims=dims, interleaved=interleaved)
        angles = steps[:, :, None] * plain * 0.5
        full = np.broadcast_to(
            angles.reshape(batch, *[1] * (len(shape) - 3), length, width // 2), (*shape[:-1], width // 2)
        )
        actual = module(x, freqs=freqs, **given.get(where, {}))
        check(actual, rope_reference(x, full, width, interleaved), dtype)


@pytest.mark.parametrize("dtype", DTYPES)
def test_rope_with_its_own_cosines(dtype: torch.dtype) -> None:
    x = randn(2, 3, 5, 8, dtype=dtype)
    for dims, interleaved in itertools.product((None, 6), (False, True)):
        half = (dims or 8) // 2
        angles = randn(2, 1, 5, half, seed=2).double()
        actual = RoPE(dims=dims, interleaved=interleaved)(x, angles.cos().to(dtype), angles.sin().to(dtype))
        expected = rope_reference(x, np.broadcast_to(angles.numpy(), (2, 3, 5, half)), 2 * half, interleaved)
        check(actual, expected, dtype)


def test_rope_can_round_frequencies_first() -> None:
    x = randn(1, 1, 200, 8, dtype=BF16)
    freqs = 1e4 ** (-torch.arange(4, dtype=F32) / 4)
    angles = torch.arange(200)[:, None] * freqs.to(BF16).double()
    check(RoPE(_use_hf_impl=True)(x), rope_reference(x, angles[None, None].numpy(), 8, False), BF16)


def test_rope_checks() -> None:
    x = randn(2, 3, 5, 7)
    with pytest.raises(RuntimeError, match="even"):
        RoPE()(x)
    with pytest.raises(RuntimeError, match="even"):
        RoPE(dims=0)(x)
    with pytest.raises(RuntimeError, match="rank"):
        RoPE()(x[0, 0])
    with pytest.raises(RuntimeError, match="float32"):
        RoPE(dims=4)(x, freqs=torch.ones(2, dtype=torch.float64))
    with pytest.raises(RuntimeError, match="together"):
        RoPE(dims=4)(x, cos=torch.ones(5, 2))
    assert RoPE(dims=100)(randn(1, 1, 2, 4)).shape == (1, 1, 2, 4)


# ---- SDPA


def sdpa_reference(
    query: torch.Tensor,
    key: torch.Tensor,
    value: torch.Tensor,
    allowed: Callable[[int, int, int, int], float],
    scale: float,
    sinks: torch.Tensor | None = None,
) -> np.ndarray:
    """Row by row. `allowed(batch, head, i, j)` is added to a score; -inf hides it."""
    q, k, v = f64(query), f64(key), f64(value)
    result = np.zeros((*q.shape[:3], v.shape[-1]))
    for b, h, i in itertools.product(*(range(n) for n in q.shape[:3])):
        kh, vh = h * k.shape[1] // q.shape[1], h * v.shape[1] // q.shape[1]
        scores = [q[b, h, i] @ k[b, kh, j] * scale + allowed(b, h, i, j) for j in range(k.shape[2])]
        weights = np.array([math.exp(score) for score in scores])
        total = weights.sum() + (math.exp(float(sinks[h])) if sinks is not None else 0.0)
        if total > 0:
            result[b, h, i] = weights @ v[b, vh] / total
    return result


def qkv(queries: int, keys: int, heads: tuple[int, int, int], dtype: torch.dtype) -> tuple[torch.Tensor, ...]:
    sizes = (heads[0], queries, 8), (heads[1], keys, 8), (heads[2], keys, 6)
    return tuple(randn(2, *size, dtype=dtype, seed=seed) for seed, size in enumerate(sizes))


def hidden(causal: bool, window: int, past: int) -> Callable[[int, int, int, int], float]:
    def allowed(b: int, h: int, i: int, j: int) -> float:
        distance = i + past - j
        seen = distance >= 0 if causal else True
        if window:
            seen = seen and abs(distance) < window
        return 0.0 if seen else -math.inf

    return allowed


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("heads", [(4, 4, 4), (4, 2, 2), (4, 1, 1), (4, 2, 1)])
def test_sdpa(heads: tuple[int, int, int], dtype: torch.dtype) -> None:
    sinks = randn(4, dtype=dtype, seed=9)
    for keys, causal, window, with_sinks in itertools.product((3, 6), (False, True), (0, 2), (False, True)):
        query, key, value = qkv(3, keys, heads, dtype)
        extra = {"sinks": sinks} if with_sinks else {}
        expected = sdpa_reference(query, key, value, hidden(causal, window, keys - 3), 8**-0.5, extra.get("sinks"))
        check(SDPA(is_causal=causal, window_size=window)(query, key, value, **extra), expected, dtype)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("hf", [False, True])
def test_sdpa_with_a_mask(hf: bool, dtype: torch.dtype) -> None:
    query, key, value = qkv(3, 6, (4, 2, 2), dtype)
    keep = torch.rand(2, 1, 3, 6, generator=torch.Generator().manual_seed(5)) > 0.4
    keep[0, 0, 1] = False  # a query that sees nothing
    added = randn(2, 4, 3, 6, dtype=dtype, seed=6)
    masks: dict[str, tuple[torch.Tensor, Callable[[int, int, int, int], float]]] = {
        "bool": (keep, lambda b, h, i, j: 0.0 if keep[b, 0, i, j] else -math.inf),
        "int": (keep.to(torch.int32), lambda b, h, i, j: 0.0 if keep[b, 0, i, j] else -math.inf),
        "float": (added, lambda b, h, i, j: float(added[b, h, i, j])),
        "float32": (added.float(), lambda b, h, i, j: float(added[b, h, i, j])),
        "inf": (torch.where(keep, 0.0, -math.inf).to(dtype), lambda b, h, i, j: 0.0 if keep[b, 0, i, j] else -math.inf),
    }
    for (mask, allowed), with_sinks in itertools.product(masks.values(), (False, True)):
        if hf and with_sinks:
            continue
        sinks = randn(4, dtype=dtype, seed=9) if with_sinks else None
        # The mask that is given replaces what the attributes say.
        module = SDPA(scale=0.3, is_causal=True, window_size=1, _use_hf_impl=hf)
        actual = module(query, key, value, mask, sinks)
        check(actual, sdpa_reference(query, key, value, allowed, 0.3, sinks), dtype)


def test_sdpa_scale_of_zero_is_a_scale() -> None:
    query, key, value = qkv(3, 6, (2, 2, 2), F32)
    check(SDPA(scale=0.0)(query, key, value), f64(value.mean(2, keepdim=True).expand(2, 2, 3, 6)), F32)


def test_sdpa_checks() -> None:
    query, key, value = qkv(3, 6, (4, 3, 4), F32)
    with pytest.raises(RuntimeError, match="multiple"):
        SDPA()(query, key, value)
    with pytest.raises(RuntimeError, match="rank 4"):
        SDPA()(query[0], query[0], query[0])
    with pytest.raises(RuntimeError, match="causal"):
        SDPA(is_causal=True)(value, query, query)
    with pytest.raises(RuntimeError, match="sinks"):
        SDPA()(query, query, query, sinks=torch.ones(3))
    with pytest.raises(NotImplementedError, match="sinks"):
        SDPA(_use_hf_impl=True)(query, query, query, sinks=torch.ones(4))


# ---- GatherMM


@pytest.mark.parametrize("dtype", DTYPES)
def test_gather_mm(dtype: torch.dtype) -> None:
    lhs, rhs = randn(5, 3, 4, dtype=dtype), randn(5, 4, 2, dtype=dtype, seed=1)
    left, right = torch.tensor([[4, 0], [2, 2]]), torch.tensor([[1, 3], [0, 4]], dtype=torch.int32)
    module = GatherMM()
    check(module(lhs, rhs), f64(lhs) @ f64(rhs), dtype)
    check(module(lhs, rhs[0], left), f64(lhs)[left.numpy()] @ f64(rhs)[0], dtype)
    check(module(lhs[0], rhs, rhs_indices=right), f64(lhs)[0] @ f64(rhs)[right.numpy()], dtype)
    check(module(lhs, rhs, left, right), f64(lhs)[left.numpy()] @ f64(rhs)[right.numpy()], dtype)


def test_gather_mm_after_batch_axes() -> None:
    lhs, rhs = randn(2, 3, 6, 4), randn(2, 5, 4, 2, seed=1)
    indices = torch.tensor([4, 0, 4])
    check(GatherMM(num_batch_axes=1)(lhs, rhs, rhs_indices=indices), f64(lhs) @ f64(rhs)[:, indices.numpy()], F32)


# ---- GatedDeltaUpdate


def delta_args(steps: int, dtype: torch.dtype, heads: int = 3) -> tuple[torch.Tensor, ...]:
    random = torch.Generator().manual_seed(4)
    beta, decay = torch.rand(2, 3, steps, generator=random), -torch.rand(2, 3, steps, generator=random)
    wide = randn(2, heads, steps, 4, dtype=dtype), randn(2, heads, steps, 4, dtype=dtype, seed=1)
    return (
        *wide,
        randn(2, 3, steps, 6, dtype=dtype, seed=2),
        decay.to(dtype),
        beta.to(dtype),
        randn(2, 3, 4, 6, dtype=dtype),
    )


def delta_reference(args: tuple[torch.Tensor, ...], norm: bool) -> tuple[np.ndarray, np.ndarray]:
    q, k, v, g, beta, initial = (f64(x) for x in args)
    q, k = (x.repeat(v.shape[1] // x.shape[1], 1) for x in (q, k))
    if norm:
        q, k = (x / np.sqrt((x * x).sum(-1, keepdims=True) + 1e-6) for x in (q, k))
    state = initial.copy()
    output = np.zeros((v.shape[0], v.shape[2], v.shape[1], v.shape[3]))
    for b, h in itertools.product(range(v.shape[0]), range(v.shape[1])):
        for t in range(v.shape[2]):
            state[b, h] *= math.exp(g[b, h, t])
            delta = (v[b, h, t] - k[b, h, t] @ state[b, h]) * beta[b, h, t]
            state[b, h] += np.outer(k[b, h, t], delta)
            output[b, t, h] = q[b, h, t] @ state[b, h] / math.sqrt(q.shape[-1])
    return output, state


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("norm", [False, True])
def test_gated_delta_update(norm: bool, dtype: torch.dtype) -> None:
    for steps, heads in ((1, 3), (5, 3), (5, 1)):
        args = delta_args(steps, dtype, heads)
        expected = delta_reference(args, norm)
        for actual, wanted in zip(GatedDeltaUpdate(norm)(*args), expected, strict=True):
            check(actual, wanted, dtype)


def test_gated_delta_update_leaves_its_arguments_alone() -> None:
    args = delta_args(3, F32)
    before = [x.clone() for x in args]
    GatedDeltaUpdate()(*args)
    assert all(torch.equal(a, b) for a, b in zip(args, before, strict=True))


# ---- exported, converted, externalized

N = Dim("n", min=2, max=64)
EVERY: dict[str, tuple[torch.nn.Module, Callable[[int], tuple[torch.Tensor, ...]], Any]] = {
    "rms_norm": (RMSNorm(8), lambda n: (randn(2, n, 8),), ({1: N},)),
    "rms_norm_f16": (RMSNormImpl(), lambda n: (randn(2, n, 8, dtype=F16), randn(8)), ({1: N}, None)),
    "rope": (RoPE(dims=4), lambda n: (randn(2, 3, n, 8),), ({2: N},)),
    "rope_cos": (
        RoPE(interleaved=True),
        lambda n: (randn(2, 3, n, 8), randn(n, 4, seed=1), randn(n, 4, seed=2)),
        ({2: N}, {0: N}, {0: N}),
    ),
    "rope_ids": (
        RoPE(interleaved=True),
        lambda n: (randn(2, n, 8), None, None, torch.arange(2 * n).reshape(2, n)),
        ({1: N}, None, None, {1: N}),
    ),
    "rope_offset": (
        RoPE(),
        lambda n: (randn(2, 3, n, 8), None, None, None, randn(4, seed=1), torch.tensor([3, 5])),
        ({2: N}, None, None, None, None, None),
    ),
    "sdpa": (SDPA(), lambda n: qkv(n, n + 3, (4, 2, 2), F32), ({2: N}, {2: N + 3}, {2: N + 3})),
    "sdpa_causal": (SDPA(is_causal=True), lambda n: qkv(n, n, (4, 1, 1), F32), ({2: N}, {2: N}, {2: N})),
    "sdpa_past": (SDPA(is_causal=True), lambda n: qkv(n, n + 3, (2, 2, 2), F32), ({2: N}, {2: N + 3}, {2: N + 3})),
    "sdpa_window": (
        SDPA(is_causal=True, window_size=2),
        lambda n: (*qkv(n, n + 3, (4, 2, 2), F32), None, randn(4)),
        ({2: N}, {2: N + 3}, {2: N + 3}, None, None),
    ),
    "sdpa_mask": (
        SDPA(),
        lambda n: (*qkv(n, n, (4, 2, 2), F32), randn(n, n) > 0),
        ({2: N}, {2: N}, {2: N}, {0: N, 1: N}),
    ),
    "gather_mm": (
        GatherMM(),
        lambda n: (randn(3, 4), randn(5, 4, 2), None, torch.arange(n) % 5),
        (None, None, None, {0: N}),
    ),
    "gated_delta_update": (
        GatedDeltaUpdate(),
        lambda n: delta_args(n, F32),
        (*({2: N},) * 5, None),
    ),
}


@pytest.mark.parametrize("name", list(EVERY))
@pytest.mark.parametrize("dynamic", [False, True])
def test_converts_as_it_is(name: str, dynamic: bool) -> None:
    module, args, shapes = EVERY[name]
    program = ingot.convert(module, args(5), dynamic_shapes=shapes if dynamic else None)
    with torch.no_grad():
        for n in (5, 9) if dynamic else (5,):
            values = args(n)
            torch.testing.assert_close(program(*values), module(*values), rtol=1e-4, atol=1e-4)


class Model(torch.nn.Module):
    def __init__(self, part: torch.nn.Module) -> None:
        super().__init__()
        self.part = part

    def forward(self, *args: torch.Tensor | None) -> Any:
        return self.part(*args)


OPS = {
    RMSNormImpl: ("rms_norm", ["axes", "eps"]),
    RoPE: ("rope", ["scale", "base", "dims", "interleaved"]),
    SDPA: ("scaled_dot_product_attention", ["scale", "is_causal", "window_size"]),
    GatherMM: ("gather_mm", ["num_batch_axes"]),
    GatedDeltaUpdate: ("gated_delta_update", ["use_qk_l2_norm"]),
}


@pytest.mark.parametrize("name", ["rms_norm_f16", "rope_offset", "sdpa_window", "gather_mm", "gated_delta_update"])
def test_externalizes(name: str) -> None:
    module, args, shapes = EVERY[name]
    op_name, attrs = OPS[type(module)]
    spec = ExternalizeSpec(type(module), op_name, [*attrs, "version"])
    values = args(5)

    def export(model: torch.nn.Module) -> torch.export.ExportedProgram:
        exported = torch.export.export(model, values, dynamic_shapes=(shapes,), strict=False)
        return exported.run_decompositions(get_decomp_table())

    model = Model(module)
    result = externalize(model, export, [spec])
    (body,) = result.bodies
    assert body.attrs["version"] == 1
    assert all(body.attrs.get(attr) == getattr(module, attr) for attr in attrs)
    assert f'"{op_name}"' in str(body.declaration)
    with torch.no_grad():
        values = args(9)
        given = [value for value in values if value is not None]
        torch.testing.assert_close(evaluate(result.program, result.bodies, *values), module(*values))
        torch.testing.assert_close(evaluate(body.program, (), *given), module(*values))


def test_declared_names_of_optional_arguments() -> None:
    module, args, shapes = EVERY["rope_offset"]
    model = Model(module)
    result = externalize(
        model,
        lambda m: torch.export.export(m, args(5), dynamic_shapes=(shapes,)),
        [ExternalizeSpec(RoPE, "rope", ["scale", "base", "dims", "interleaved"])],
    )
    assert str(result.bodies[0].declaration) == (
        '#ingot.composite_declaration<"rope" = {input_names = ["input", "freqs", "offset"], op_attrs = {base = '
        "1.000000e+04 : f32, interleaved = false, scale = 1.000000e+00 : f32, version = 1 : si64}, "
        'output_names = ["output"]}>'
    )


@pytest.mark.parametrize("kind", [RMSNormImpl, RoPE, SDPA, GatherMM, GatedDeltaUpdate])
def test_versions(kind: type[torch.nn.Module]) -> None:
    assert kind().version is CompositeVersion.V1
    assert kind().version.value == 1
