"""Ops of the dialect: elementwise.

Made by docs/ops_module.py from src/dialect/ElementwiseOps.td. Do not edit; run `make docs`.
"""

from __future__ import annotations

from ingot import _build as build
from ingot._build import Operand
from ingot.ir import DTypeLike, Type, Value


def abs(x: Operand, *, result_type: Type | None = None, loc: object = None) -> Value:
    """absolute value."""
    return build.elementwise("abs", (x,), result_type)


def neg(x: Operand, *, result_type: Type | None = None, loc: object = None) -> Value:
    """negation; wraps for integers."""
    return build.elementwise("neg", (x,), result_type)


def sign(x: Operand, *, result_type: Type | None = None, loc: object = None) -> Value:
    """-1, 0 or 1; NaN gives 0 as in PyTorch."""
    return build.elementwise("sign", (x,), result_type)


def floor(x: Operand, *, result_type: Type | None = None, loc: object = None) -> Value:
    """largest integer not above."""
    return build.elementwise("floor", (x,), result_type)


def ceil(x: Operand, *, result_type: Type | None = None, loc: object = None) -> Value:
    """smallest integer not below."""
    return build.elementwise("ceil", (x,), result_type)


def round(x: Operand, *, result_type: Type | None = None, loc: object = None) -> Value:
    """nearest integer, ties to even."""
    return build.elementwise("round", (x,), result_type)


def trunc(x: Operand, *, result_type: Type | None = None, loc: object = None) -> Value:
    """integer part, towards zero."""
    return build.elementwise("trunc", (x,), result_type)


def exp(x: Operand, *, result_type: Type | None = None, loc: object = None) -> Value:
    """e to the power of x."""
    return build.elementwise("exp", (x,), result_type)


def exp2(x: Operand, *, result_type: Type | None = None, loc: object = None) -> Value:
    """2 to the power of x."""
    return build.elementwise("exp2", (x,), result_type)


def expm1(x: Operand, *, result_type: Type | None = None, loc: object = None) -> Value:
    """exp(x) - 1 without cancellation."""
    return build.elementwise("expm1", (x,), result_type)


def log(x: Operand, *, result_type: Type | None = None, loc: object = None) -> Value:
    """natural logarithm."""
    return build.elementwise("log", (x,), result_type)


def log2(x: Operand, *, result_type: Type | None = None, loc: object = None) -> Value:
    """logarithm to base 2."""
    return build.elementwise("log2", (x,), result_type)


def log10(x: Operand, *, result_type: Type | None = None, loc: object = None) -> Value:
    """logarithm to base 10."""
    return build.elementwise("log10", (x,), result_type)


def log1p(x: Operand, *, result_type: Type | None = None, loc: object = None) -> Value:
    """log(1 + x) without cancellation."""
    return build.elementwise("log1p", (x,), result_type)


def sqrt(x: Operand, *, result_type: Type | None = None, loc: object = None) -> Value:
    """square root."""
    return build.elementwise("sqrt", (x,), result_type)


def rsqrt(x: Operand, *, result_type: Type | None = None, loc: object = None) -> Value:
    """1 / sqrt(x)."""
    return build.elementwise("rsqrt", (x,), result_type)


def reciprocal(x: Operand, *, result_type: Type | None = None, loc: object = None) -> Value:
    """1 / x."""
    return build.elementwise("reciprocal", (x,), result_type)


def sin(x: Operand, *, result_type: Type | None = None, loc: object = None) -> Value:
    """sine."""
    return build.elementwise("sin", (x,), result_type)


def cos(x: Operand, *, result_type: Type | None = None, loc: object = None) -> Value:
    """cosine."""
    return build.elementwise("cos", (x,), result_type)


def tan(x: Operand, *, result_type: Type | None = None, loc: object = None) -> Value:
    """tangent."""
    return build.elementwise("tan", (x,), result_type)


def asin(x: Operand, *, result_type: Type | None = None, loc: object = None) -> Value:
    """inverse sine."""
    return build.elementwise("asin", (x,), result_type)


def acos(x: Operand, *, result_type: Type | None = None, loc: object = None) -> Value:
    """inverse cosine."""
    return build.elementwise("acos", (x,), result_type)


def atan(x: Operand, *, result_type: Type | None = None, loc: object = None) -> Value:
    """inverse tangent."""
    return build.elementwise("atan", (x,), result_type)


def sinh(x: Operand, *, result_type: Type | None = None, loc: object = None) -> Value:
    """hyperbolic sine."""
    return build.elementwise("sinh", (x,), result_type)


def cosh(x: Operand, *, result_type: Type | None = None, loc: object = None) -> Value:
    """hyperbolic cosine."""
    return build.elementwise("cosh", (x,), result_type)


def tanh(x: Operand, *, result_type: Type | None = None, loc: object = None) -> Value:
    """hyperbolic tangent."""
    return build.elementwise("tanh", (x,), result_type)


def asinh(x: Operand, *, result_type: Type | None = None, loc: object = None) -> Value:
    """inverse hyperbolic sine."""
    return build.elementwise("asinh", (x,), result_type)


def acosh(x: Operand, *, result_type: Type | None = None, loc: object = None) -> Value:
    """inverse hyperbolic cosine."""
    return build.elementwise("acosh", (x,), result_type)


def atanh(x: Operand, *, result_type: Type | None = None, loc: object = None) -> Value:
    """inverse hyperbolic tangent."""
    return build.elementwise("atanh", (x,), result_type)


def erf(x: Operand, *, result_type: Type | None = None, loc: object = None) -> Value:
    """error function."""
    return build.elementwise("erf", (x,), result_type)


def erfc(x: Operand, *, result_type: Type | None = None, loc: object = None) -> Value:
    """1 - erf(x) without cancellation."""
    return build.elementwise("erfc", (x,), result_type)


def relu(x: Operand, *, result_type: Type | None = None, loc: object = None) -> Value:
    """max(x, 0); NaN stays NaN."""
    return build.elementwise("relu", (x,), result_type)


def sigmoid(x: Operand, *, result_type: Type | None = None, loc: object = None) -> Value:
    """1 / (1 + exp(-x))."""
    return build.elementwise("sigmoid", (x,), result_type)


def silu(x: Operand, *, result_type: Type | None = None, loc: object = None) -> Value:
    """x * sigmoid(x)."""
    return build.elementwise("silu", (x,), result_type)


def gelu(x: Operand, *, result_type: Type | None = None, loc: object = None) -> Value:
    """x * Phi(x), exact, by erf."""
    return build.elementwise("gelu", (x,), result_type)


def gelu_tanh(x: Operand, *, result_type: Type | None = None, loc: object = None) -> Value:
    """the tanh approximation of gelu."""
    return build.elementwise("gelu_tanh", (x,), result_type)


def hard_swish(x: Operand, *, result_type: Type | None = None, loc: object = None) -> Value:
    """x * min(max(x + 3, 0), 6) / 6."""
    return build.elementwise("hard_swish", (x,), result_type)


def hard_sigmoid(x: Operand, *, result_type: Type | None = None, loc: object = None) -> Value:
    """min(max(x + 3, 0), 6) / 6."""
    return build.elementwise("hard_sigmoid", (x,), result_type)


def mish(x: Operand, *, result_type: Type | None = None, loc: object = None) -> Value:
    """x * tanh(log(1 + exp(x)))."""
    return build.elementwise("mish", (x,), result_type)


def bitwise_not(x: Operand, *, result_type: Type | None = None, loc: object = None) -> Value:
    """complement of every bit; logical for booleans."""
    return build.elementwise("bitwise_not", (x,), result_type)


def logical_not(x: Operand, *, result_type: Type | None = None, loc: object = None) -> Value:
    """true where x is zero."""
    return build.elementwise("logical_not", (x,), result_type)


def isnan(x: Operand, *, result_type: Type | None = None, loc: object = None) -> Value:
    """true where x is NaN."""
    return build.elementwise("isnan", (x,), result_type)


def isinf(x: Operand, *, result_type: Type | None = None, loc: object = None) -> Value:
    """true where x is an infinity."""
    return build.elementwise("isinf", (x,), result_type)


def add(a: Operand, b: Operand, *, result_type: Type | None = None, loc: object = None) -> Value:
    """sum; logical or for booleans."""
    return build.elementwise("add", (a, b), result_type)


def sub(a: Operand, b: Operand, *, result_type: Type | None = None, loc: object = None) -> Value:
    """difference."""
    return build.elementwise("sub", (a, b), result_type)


def mul(a: Operand, b: Operand, *, result_type: Type | None = None, loc: object = None) -> Value:
    """product; logical and for booleans."""
    return build.elementwise("mul", (a, b), result_type)


def div(a: Operand, b: Operand, *, result_type: Type | None = None, loc: object = None) -> Value:
    """quotient of floating-point numbers."""
    return build.elementwise("div", (a, b), result_type)


def div_trunc(a: Operand, b: Operand, *, result_type: Type | None = None, loc: object = None) -> Value:
    """quotient rounded towards zero."""
    return build.elementwise("div_trunc", (a, b), result_type)


def div_floor(a: Operand, b: Operand, *, result_type: Type | None = None, loc: object = None) -> Value:
    """quotient rounded down, Python's //."""
    return build.elementwise("div_floor", (a, b), result_type)


def remainder(a: Operand, b: Operand, *, result_type: Type | None = None, loc: object = None) -> Value:
    """remainder with the divisor's sign, Python's %."""
    return build.elementwise("remainder", (a, b), result_type)


def fmod(a: Operand, b: Operand, *, result_type: Type | None = None, loc: object = None) -> Value:
    """remainder with the dividend's sign, C's fmod."""
    return build.elementwise("fmod", (a, b), result_type)


def pow(a: Operand, b: Operand, *, result_type: Type | None = None, loc: object = None) -> Value:
    """a to the power of b."""
    return build.elementwise("pow", (a, b), result_type)


def maximum(a: Operand, b: Operand, *, result_type: Type | None = None, loc: object = None) -> Value:
    """the larger; NaN wins."""
    return build.elementwise("maximum", (a, b), result_type)


def minimum(a: Operand, b: Operand, *, result_type: Type | None = None, loc: object = None) -> Value:
    """the smaller; NaN wins."""
    return build.elementwise("minimum", (a, b), result_type)


def fmax(a: Operand, b: Operand, *, result_type: Type | None = None, loc: object = None) -> Value:
    """the larger; a number wins over NaN."""
    return build.elementwise("fmax", (a, b), result_type)


def fmin(a: Operand, b: Operand, *, result_type: Type | None = None, loc: object = None) -> Value:
    """the smaller; a number wins over NaN."""
    return build.elementwise("fmin", (a, b), result_type)


def atan2(a: Operand, b: Operand, *, result_type: Type | None = None, loc: object = None) -> Value:
    """angle of the point (b, a)."""
    return build.elementwise("atan2", (a, b), result_type)


def hypot(a: Operand, b: Operand, *, result_type: Type | None = None, loc: object = None) -> Value:
    """sqrt(a * a + b * b) without overflow on the way."""
    return build.elementwise("hypot", (a, b), result_type)


def bitwise_and(a: Operand, b: Operand, *, result_type: Type | None = None, loc: object = None) -> Value:
    """and of every bit."""
    return build.elementwise("bitwise_and", (a, b), result_type)


def bitwise_or(a: Operand, b: Operand, *, result_type: Type | None = None, loc: object = None) -> Value:
    """or of every bit."""
    return build.elementwise("bitwise_or", (a, b), result_type)


def bitwise_xor(a: Operand, b: Operand, *, result_type: Type | None = None, loc: object = None) -> Value:
    """exclusive or of every bit."""
    return build.elementwise("bitwise_xor", (a, b), result_type)


def eq(a: Operand, b: Operand, *, result_type: Type | None = None, loc: object = None) -> Value:
    """a equals b."""
    return build.elementwise("eq", (a, b), result_type)


def ne(a: Operand, b: Operand, *, result_type: Type | None = None, loc: object = None) -> Value:
    """a differs from b."""
    return build.elementwise("ne", (a, b), result_type)


def lt(a: Operand, b: Operand, *, result_type: Type | None = None, loc: object = None) -> Value:
    """a is less than b."""
    return build.elementwise("lt", (a, b), result_type)


def le(a: Operand, b: Operand, *, result_type: Type | None = None, loc: object = None) -> Value:
    """a is at most b."""
    return build.elementwise("le", (a, b), result_type)


def gt(a: Operand, b: Operand, *, result_type: Type | None = None, loc: object = None) -> Value:
    """a is greater than b."""
    return build.elementwise("gt", (a, b), result_type)


def ge(a: Operand, b: Operand, *, result_type: Type | None = None, loc: object = None) -> Value:
    """a is at least b."""
    return build.elementwise("ge", (a, b), result_type)


def select(condition: Operand, a: Operand, b: Operand, *, result_type: Type | None = None, loc: object = None) -> Value:
    """a where the condition holds, else b."""
    return build.elementwise("select", (condition, a, b), result_type, skip=1)


def cast(x: Operand, dtype: DTypeLike, *, result_type: Type | None = None, loc: object = None) -> Value:
    """conversion to the result's element type, as `Tensor.to` does."""
    x = build.tensor(x)
    return build.single("cast", [x], {}, dtype=dtype, result_type=result_type)
