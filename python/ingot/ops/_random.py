"""Ops of the dialect: random.

Made by docs/ops_module.py from src/dialect/RandomOps.td. Do not edit; run `make docs`.
"""

from __future__ import annotations

from collections.abc import Sequence

from ingot import _build as build
from ingot._build import Number, Operand
from ingot.ir import DTypeLike, Type, Value


def random_uniform(
    sizes: Sequence[Number], dtype: DTypeLike = "float32", *, result_type: Type | None = None, loc: object = None
) -> Value:
    """numbers, evenly spread over [0, 1), of the given sizes; complex ones have such parts."""
    dynamic: list[Value] = []
    sizes_text = build.entries(sizes, dynamic)
    return build.single("random_uniform", [dynamic], {"sizes": sizes_text}, dtype=dtype, result_type=result_type)


def random_normal(
    sizes: Sequence[Number], dtype: DTypeLike = "float32", *, result_type: Type | None = None, loc: object = None
) -> Value:
    """normally distributed numbers with mean 0 and standard deviation 1 (complex ones: of real and imaginary part
    together).
    """
    dynamic: list[Value] = []
    sizes_text = build.entries(sizes, dynamic)
    return build.single("random_normal", [dynamic], {"sizes": sizes_text}, dtype=dtype, result_type=result_type)


def random_integer(
    low: Number,
    high: Number,
    sizes: Sequence[Number],
    dtype: DTypeLike = "int64",
    *,
    result_type: Type | None = None,
    loc: object = None,
) -> Value:
    """integers, evenly spread from `low` to below `high`, converted to the result's type."""
    low = build.number(low)
    high = build.number(high)
    dynamic: list[Value] = []
    sizes_text = build.entries(sizes, dynamic)
    attributes = {
        "sizes": sizes_text,
    }
    return build.single("random_integer", [low, high, dynamic], attributes, dtype=dtype, result_type=result_type)


def random_permutation(count: Number, *, result_type: Type | None = None, loc: object = None) -> Value:
    """0 to below `count` in random order."""
    count = build.number(count)
    return build.single("random_permutation", [count], {}, result_type=result_type)


def random_poisson(mean: Operand, *, result_type: Type | None = None, loc: object = None) -> Value:
    """Poisson distributed numbers with the given means."""
    mean = build.tensor(mean)
    return build.single("random_poisson", [mean], {}, result_type=result_type)


def random_binomial(
    count: Operand, probability: Operand, *, result_type: Type | None = None, loc: object = None
) -> Value:
    """successes in `count` trials, each of which succeeds with `probability`; both of one shape."""
    count = build.tensor(count)
    probability = build.tensor(probability)
    return build.single("random_binomial", [count, probability], {}, result_type=result_type)


def random_multinomial(
    weights: Operand, samples: Number, replacement: bool, *, result_type: Type | None = None, loc: object = None
) -> Value:
    """for every row of `weights`, `samples` positions drawn in proportion to them, with or without `replacement`."""
    weights = build.tensor(weights)
    samples = build.number(samples)
    attributes = {
        "replacement": build.boolean(replacement),
    }
    return build.single("random_multinomial", [weights, samples], attributes, result_type=result_type)
