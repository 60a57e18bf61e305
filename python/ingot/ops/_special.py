"""Ops of the dialect: special.

Made by docs/ops_module.py from src/dialect/SpecialOps.td. Do not edit; run `make docs`.
"""

from __future__ import annotations

from collections.abc import Sequence

from ingot import _build as build
from ingot._build import Operand
from ingot.ir import Type, Value


def lgamma(x: Operand, *, result_type: Type | None = None, loc: object = None) -> Value:
    """logarithm of the gamma function's magnitude."""
    return build.elementwise("lgamma", (x,), result_type)


def digamma(x: Operand, *, result_type: Type | None = None, loc: object = None) -> Value:
    """derivative of lgamma."""
    return build.elementwise("digamma", (x,), result_type)


def erfinv(x: Operand, *, result_type: Type | None = None, loc: object = None) -> Value:
    """inverse of erf."""
    return build.elementwise("erfinv", (x,), result_type)


def erfcx(x: Operand, *, result_type: Type | None = None, loc: object = None) -> Value:
    """exp(x * x) * erfc(x)."""
    return build.elementwise("erfcx", (x,), result_type)


def log_ndtr(x: Operand, *, result_type: Type | None = None, loc: object = None) -> Value:
    """logarithm of the area under the normal distribution up to x."""
    return build.elementwise("log_ndtr", (x,), result_type)


def ndtri(x: Operand, *, result_type: Type | None = None, loc: object = None) -> Value:
    """where the area under the normal distribution up to there is x."""
    return build.elementwise("ndtri", (x,), result_type)


def entr(x: Operand, *, result_type: Type | None = None, loc: object = None) -> Value:
    """-x * log(x); 0 at 0, -infinity below."""
    return build.elementwise("entr", (x,), result_type)


def sinc(x: Operand, *, result_type: Type | None = None, loc: object = None) -> Value:
    """sin(pi * x) / (pi * x)."""
    return build.elementwise("sinc", (x,), result_type)


def i0(x: Operand, *, result_type: Type | None = None, loc: object = None) -> Value:
    """modified Bessel function of the first kind, order 0."""
    return build.elementwise("i0", (x,), result_type)


def i0e(x: Operand, *, result_type: Type | None = None, loc: object = None) -> Value:
    """exp(-abs(x)) * i0(x)."""
    return build.elementwise("i0e", (x,), result_type)


def i1(x: Operand, *, result_type: Type | None = None, loc: object = None) -> Value:
    """modified Bessel function of the first kind, order 1."""
    return build.elementwise("i1", (x,), result_type)


def i1e(x: Operand, *, result_type: Type | None = None, loc: object = None) -> Value:
    """exp(-abs(x)) * i1(x)."""
    return build.elementwise("i1e", (x,), result_type)


def bessel_j0(x: Operand, *, result_type: Type | None = None, loc: object = None) -> Value:
    """Bessel function of the first kind, order 0."""
    return build.elementwise("bessel_j0", (x,), result_type)


def bessel_j1(x: Operand, *, result_type: Type | None = None, loc: object = None) -> Value:
    """Bessel function of the first kind, order 1."""
    return build.elementwise("bessel_j1", (x,), result_type)


def bessel_y0(x: Operand, *, result_type: Type | None = None, loc: object = None) -> Value:
    """Bessel function of the second kind, order 0."""
    return build.elementwise("bessel_y0", (x,), result_type)


def bessel_y1(x: Operand, *, result_type: Type | None = None, loc: object = None) -> Value:
    """Bessel function of the second kind, order 1."""
    return build.elementwise("bessel_y1", (x,), result_type)


def bessel_k0(x: Operand, *, result_type: Type | None = None, loc: object = None) -> Value:
    """modified Bessel function of the second kind, order 0."""
    return build.elementwise("bessel_k0", (x,), result_type)


def bessel_k1(x: Operand, *, result_type: Type | None = None, loc: object = None) -> Value:
    """modified Bessel function of the second kind, order 1."""
    return build.elementwise("bessel_k1", (x,), result_type)


def bessel_k0e(x: Operand, *, result_type: Type | None = None, loc: object = None) -> Value:
    """exp(x) * bessel_k0(x)."""
    return build.elementwise("bessel_k0e", (x,), result_type)


def bessel_k1e(x: Operand, *, result_type: Type | None = None, loc: object = None) -> Value:
    """exp(x) * bessel_k1(x)."""
    return build.elementwise("bessel_k1e", (x,), result_type)


def airy_ai(x: Operand, *, result_type: Type | None = None, loc: object = None) -> Value:
    """Airy's function Ai."""
    return build.elementwise("airy_ai", (x,), result_type)


def spherical_bessel_j0(x: Operand, *, result_type: Type | None = None, loc: object = None) -> Value:
    """sin(x) / x."""
    return build.elementwise("spherical_bessel_j0", (x,), result_type)


def frexp_mantissa(x: Operand, *, result_type: Type | None = None, loc: object = None) -> Value:
    """x without its power of two, in [0.5, 1)."""
    return build.elementwise("frexp_mantissa", (x,), result_type)


def conj(x: Operand, *, result_type: Type | None = None, loc: object = None) -> Value:
    """complex conjugate."""
    return build.elementwise("conj", (x,), result_type)


def signbit(x: Operand, *, result_type: Type | None = None, loc: object = None) -> Value:
    """true where the sign is negative, -0 too."""
    return build.elementwise("signbit", (x,), result_type)


def polygamma(a: Operand, b: Operand, *, result_type: Type | None = None, loc: object = None) -> Value:
    """derivative number a of digamma, at b."""
    return build.elementwise("polygamma", (a, b), result_type)


def zeta(a: Operand, b: Operand, *, result_type: Type | None = None, loc: object = None) -> Value:
    """Hurwitz zeta function: the sum of (b + k)^-a."""
    return build.elementwise("zeta", (a, b), result_type)


def igamma(a: Operand, b: Operand, *, result_type: Type | None = None, loc: object = None) -> Value:
    """regularised lower incomplete gamma function of (a, b)."""
    return build.elementwise("igamma", (a, b), result_type)


def igammac(a: Operand, b: Operand, *, result_type: Type | None = None, loc: object = None) -> Value:
    """regularised upper incomplete gamma function of (a, b)."""
    return build.elementwise("igammac", (a, b), result_type)


def xlogy(a: Operand, b: Operand, *, result_type: Type | None = None, loc: object = None) -> Value:
    """a * log(b); 0 where a is 0."""
    return build.elementwise("xlogy", (a, b), result_type)


def xlog1py(a: Operand, b: Operand, *, result_type: Type | None = None, loc: object = None) -> Value:
    """a * log1p(b); 0 where a is 0."""
    return build.elementwise("xlog1py", (a, b), result_type)


def logaddexp(a: Operand, b: Operand, *, result_type: Type | None = None, loc: object = None) -> Value:
    """log(exp(a) + exp(b)) without overflow."""
    return build.elementwise("logaddexp", (a, b), result_type)


def logaddexp2(a: Operand, b: Operand, *, result_type: Type | None = None, loc: object = None) -> Value:
    """log2(2^a + 2^b) without overflow."""
    return build.elementwise("logaddexp2", (a, b), result_type)


def copysign(a: Operand, b: Operand, *, result_type: Type | None = None, loc: object = None) -> Value:
    """a with the sign of b."""
    return build.elementwise("copysign", (a, b), result_type)


def nextafter(a: Operand, b: Operand, *, result_type: Type | None = None, loc: object = None) -> Value:
    """the neighbour of a towards b."""
    return build.elementwise("nextafter", (a, b), result_type)


def heaviside(a: Operand, b: Operand, *, result_type: Type | None = None, loc: object = None) -> Value:
    """0 below zero, 1 above, b at zero."""
    return build.elementwise("heaviside", (a, b), result_type)


def gcd(a: Operand, b: Operand, *, result_type: Type | None = None, loc: object = None) -> Value:
    """greatest common divisor."""
    return build.elementwise("gcd", (a, b), result_type)


def lcm(a: Operand, b: Operand, *, result_type: Type | None = None, loc: object = None) -> Value:
    """least common multiple."""
    return build.elementwise("lcm", (a, b), result_type)


def shift_left(a: Operand, b: Operand, *, result_type: Type | None = None, loc: object = None) -> Value:
    """a * 2^b; 0 where b is no position of a bit."""
    return build.elementwise("shift_left", (a, b), result_type)


def shift_right(a: Operand, b: Operand, *, result_type: Type | None = None, loc: object = None) -> Value:
    """a / 2^b rounded down, whatever b is."""
    return build.elementwise("shift_right", (a, b), result_type)


def chebyshev_t(a: Operand, b: Operand, *, result_type: Type | None = None, loc: object = None) -> Value:
    """Chebyshev polynomial of the first kind, degree b, at a."""
    return build.elementwise("chebyshev_t", (a, b), result_type)


def chebyshev_u(a: Operand, b: Operand, *, result_type: Type | None = None, loc: object = None) -> Value:
    """Chebyshev polynomial of the second kind, degree b, at a."""
    return build.elementwise("chebyshev_u", (a, b), result_type)


def chebyshev_v(a: Operand, b: Operand, *, result_type: Type | None = None, loc: object = None) -> Value:
    """Chebyshev polynomial of the third kind, degree b, at a."""
    return build.elementwise("chebyshev_v", (a, b), result_type)


def chebyshev_w(a: Operand, b: Operand, *, result_type: Type | None = None, loc: object = None) -> Value:
    """Chebyshev polynomial of the fourth kind, degree b, at a."""
    return build.elementwise("chebyshev_w", (a, b), result_type)


def shifted_chebyshev_t(a: Operand, b: Operand, *, result_type: Type | None = None, loc: object = None) -> Value:
    """chebyshev_t for arguments in [0, 1]."""
    return build.elementwise("shifted_chebyshev_t", (a, b), result_type)


def shifted_chebyshev_u(a: Operand, b: Operand, *, result_type: Type | None = None, loc: object = None) -> Value:
    """chebyshev_u for arguments in [0, 1]."""
    return build.elementwise("shifted_chebyshev_u", (a, b), result_type)


def shifted_chebyshev_v(a: Operand, b: Operand, *, result_type: Type | None = None, loc: object = None) -> Value:
    """chebyshev_v for arguments in [0, 1]."""
    return build.elementwise("shifted_chebyshev_v", (a, b), result_type)


def shifted_chebyshev_w(a: Operand, b: Operand, *, result_type: Type | None = None, loc: object = None) -> Value:
    """chebyshev_w for arguments in [0, 1]."""
    return build.elementwise("shifted_chebyshev_w", (a, b), result_type)


def hermite_h(a: Operand, b: Operand, *, result_type: Type | None = None, loc: object = None) -> Value:
    """physicists' Hermite polynomial of degree b at a."""
    return build.elementwise("hermite_h", (a, b), result_type)


def hermite_he(a: Operand, b: Operand, *, result_type: Type | None = None, loc: object = None) -> Value:
    """probabilists' Hermite polynomial of degree b at a."""
    return build.elementwise("hermite_he", (a, b), result_type)


def laguerre_l(a: Operand, b: Operand, *, result_type: Type | None = None, loc: object = None) -> Value:
    """Laguerre polynomial of degree b at a."""
    return build.elementwise("laguerre_l", (a, b), result_type)


def legendre_p(a: Operand, b: Operand, *, result_type: Type | None = None, loc: object = None) -> Value:
    """Legendre polynomial of degree b at a."""
    return build.elementwise("legendre_p", (a, b), result_type)


def real(x: Operand, *, result_type: Type | None = None, loc: object = None) -> Value:
    """real part of complex numbers.

    Element-wise, operands broadcast as in PyTorch.
    """
    x = build.tensor(x)
    return build.single("real", [x], {}, result_type=result_type)


def imag(x: Operand, *, result_type: Type | None = None, loc: object = None) -> Value:
    """imaginary part of complex numbers.

    Element-wise, operands broadcast as in PyTorch.
    """
    x = build.tensor(x)
    return build.single("imag", [x], {}, result_type=result_type)


def complex(a: Operand, b: Operand, *, result_type: Type | None = None, loc: object = None) -> Value:
    """complex numbers from their real and imaginary parts.

    Element-wise, operands broadcast as in PyTorch.
    """
    a = build.tensor(a)
    b = build.tensor(b)
    return build.single("complex", [a, b], {}, result_type=result_type)


def frexp_exponent(x: Operand, *, result_type: Type | None = None, loc: object = None) -> Value:
    """the power of two of x, where its mantissa is in [0.5, 1).

    Element-wise, operands broadcast as in PyTorch.
    """
    x = build.tensor(x)
    return build.single("frexp_exponent", [x], {}, result_type=result_type)


def hash(x: Operand, dims: int | Sequence[int], *, result_type: Type | None = None, loc: object = None) -> Value:
    """exclusive or of the elements' bits along dimensions, which keep size 1."""
    x = build.tensor(x)
    return build.single("hash", [x], {"dims": build.axes(dims, x)}, result_type=result_type)
