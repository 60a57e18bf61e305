"""Ops of the dialect: spectral.

Made by docs/ops_module.py from src/dialect/SpectralOps.td. Do not edit; run `make docs`.
"""

from __future__ import annotations

from ingot import _build as build
from ingot._build import Number, Operand
from ingot.ir import Type, Value


def fft(
    x: Operand,
    length: Number,
    axis: int,
    forward: bool,
    scale: float,
    *,
    result_type: Type | None = None,
    loc: object = None,
) -> Value:
    """discrete Fourier transform along `axis`: sum of x[j] exp(-2πi jk / length), with + unless `forward`, times
    `scale`.

    The operand is cut or continued by zeros to what `length` points need. Where the operand is real, the result
    holds the
    first length / 2 + 1 frequencies; where the result is real, the operand holds those, and the rest are their
    conjugates.
    """
    x = build.tensor(x)
    length = build.number(length)
    attributes = {
        "axis": build.axis(axis, x),
        "forward": build.boolean(forward),
        "scale": build.real(scale),
    }
    return build.single("fft", [x, length], attributes, result_type=result_type)


def overlap_add(x: Operand, hop: int, *, result_type: Type | None = None, loc: object = None) -> Value:
    """sum of frames, each `hop` elements after the one before: [..., frames, width] becomes [..., (frames - 1) *
    hop + width].
    """
    x = build.tensor(x)
    return build.single("overlap_add", [x], {"hop": build.integer(hop)}, result_type=result_type)
