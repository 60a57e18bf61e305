// One line an op. Adding one: a line here, its scalar function in
// src/runtime/kernels/elementwise/Scalar.h, a row in src/lower/aten_ops.inc, a test case.
#ifndef INGOT_ELEMENTWISE_OPS_TD
#define INGOT_ELEMENTWISE_OPS_TD

include "OpBase.td"

def Ingot_AbsOp : Ingot_Unary<"abs", "absolute value">;
def Ingot_NegOp : Ingot_Unary<"neg", "negation; wraps for integers">;
def Ingot_SignOp : Ingot_Unary<"sign", "-1, 0 or 1; NaN gives 0 as in PyTorch">;
def Ingot_FloorOp : Ingot_Unary<"floor", "largest integer not above">;
def Ingot_CeilOp : Ingot_Unary<"ceil", "smallest integer not below">;
def Ingot_RoundOp : Ingot_Unary<"round", "nearest integer, ties to even">;
def Ingot_TruncOp : Ingot_Unary<"trunc", "integer part, towards zero">;
def Ingot_ExpOp : Ingot_Unary<"exp", "e to the power of x">;
def Ingot_Exp2Op : Ingot_Unary<"exp2", "2 to the power of x">;
def Ingot_Expm1Op : Ingot_Unary<"expm1", "exp(x) - 1 without cancellation">;
def Ingot_LogOp : Ingot_Unary<"log", "natural logarithm">;
def Ingot_Log2Op : Ingot_Unary<"log2", "logarithm to base 2">;
def Ingot_Log10Op : Ingot_Unary<"log10", "logarithm to base 10">;
def Ingot_Log1pOp : Ingot_Unary<"log1p", "log(1 + x) without cancellation">;
def Ingot_SqrtOp : Ingot_Unary<"sqrt", "square root">;
def Ingot_RsqrtOp : Ingot_Unary<"rsqrt", "1 / sqrt(x)">;
def Ingot_ReciprocalOp : Ingot_Unary<"reciprocal", "1 / x">;
def Ingot_SinOp : Ingot_Unary<"sin", "sine">;
def Ingot_CosOp : Ingot_Unary<"cos", "cosine">;
def Ingot_TanOp : Ingot_Unary<"tan", "tangent">;
def Ingot_AsinOp : Ingot_Unary<"asin", "inverse sine">;
def Ingot_AcosOp : Ingot_Unary<"acos", "inverse cosine">;
def Ingot_AtanOp : Ingot_Unary<"atan", "inverse tangent">;
def Ingot_SinhOp : Ingot_Unary<"sinh", "hyperbolic sine">;
def Ingot_CoshOp : Ingot_Unary<"cosh", "hyperbolic cosine">;
def Ingot_TanhOp : Ingot_Unary<"tanh", "hyperbolic tangent">;
def Ingot_AsinhOp : Ingot_Unary<"asinh", "inverse hyperbolic sine">;
def Ingot_AcoshOp : Ingot_Unary<"acosh", "inverse hyperbolic cosine">;
def Ingot_AtanhOp : Ingot_Unary<"atanh", "inverse hyperbolic tangent">;
def Ingot_ErfOp : Ingot_Unary<"erf", "error function">;
def Ingot_ErfcOp : Ingot_Unary<"erfc", "1 - erf(x) without cancellation">;
def Ingot_ReluOp : Ingot_Unary<"relu", "max(x, 0); NaN stays NaN">;
def Ingot_SigmoidOp : Ingot_Unary<"sigmoid", "1 / (1 + exp(-x))">;
def Ingot_SiluOp : Ingot_Unary<"silu", "x * sigmoid(x)">;
def Ingot_GeluOp : Ingot_Unary<"gelu", "x * Phi(x), exact, by erf">;
def Ingot_GeluTanhOp : Ingot_Unary<"gelu_tanh", "the tanh approximation of gelu">;
def Ingot_HardSwishOp : Ingot_Unary<"hard_swish", "x * min(max(x + 3, 0), 6) / 6">;
def Ingot_HardSigmoidOp : Ingot_Unary<"hard_sigmoid", "min(max(x + 3, 0), 6) / 6">;
def Ingot_MishOp : Ingot_Unary<"mish", "x * tanh(log(1 + exp(x)))">;
def Ingot_BitwiseNotOp : Ingot_Unary<"bitwise_not", "complement of every bit; logical for booleans">;

def Ingot_LogicalNotOp : Ingot_Test<"logical_not", "true where x is zero">;
def Ingot_IsnanOp : Ingot_Test<"isnan", "true where x is NaN">;
def Ingot_IsinfOp : Ingot_Test<"isinf", "true where x is an infinity">;

def Ingot_AddOp : Ingot_Binary<"add", "sum; logical or for booleans">;
def Ingot_SubOp : Ingot_Binary<"sub", "difference">;
def Ingot_MulOp : Ingot_Binary<"mul", "product; logical and for booleans">;
def Ingot_DivOp : Ingot_Binary<"div", "quotient of floating-point numbers">;
def Ingot_DivTruncOp : Ingot_Binary<"div_trunc", "quotient rounded towards zero">;
def Ingot_DivFloorOp : Ingot_Binary<"div_floor", "quotient rounded down, Python's //">;
def Ingot_RemainderOp : Ingot_Binary<"remainder", "remainder with the divisor's sign, Python's %">;
def Ingot_FmodOp : Ingot_Binary<"fmod", "remainder with the dividend's sign, C's fmod">;
def Ingot_PowOp : Ingot_Binary<"pow", "a to the power of b">;
def Ingot_MaximumOp : Ingot_Binary<"maximum", "the larger; NaN wins">;
def Ingot_MinimumOp : Ingot_Binary<"minimum", "the smaller; NaN wins">;
def Ingot_FmaxOp : Ingot_Binary<"fmax", "the larger; a number wins over NaN">;
def Ingot_FminOp : Ingot_Binary<"fmin", "the smaller; a number wins over NaN">;
def Ingot_Atan2Op : Ingot_Binary<"atan2", "angle of the point (b, a)">;
def Ingot_HypotOp : Ingot_Binary<"hypot", "sqrt(a * a + b * b) without overflow on the way">;
def Ingot_BitwiseAndOp : Ingot_Binary<"bitwise_and", "and of every bit">;
def Ingot_BitwiseOrOp : Ingot_Binary<"bitwise_or", "or of every bit">;
def Ingot_BitwiseXorOp : Ingot_Binary<"bitwise_xor", "exclusive or of every bit">;

def Ingot_EqOp : Ingot_Compare<"eq", "a equals b">;
def Ingot_NeOp : Ingot_Compare<"ne", "a differs from b">;
def Ingot_LtOp : Ingot_Compare<"lt", "a is less than b">;
def Ingot_LeOp : Ingot_Compare<"le", "a is at most b">;
def Ingot_GtOp : Ingot_Compare<"gt", "a is greater than b">;
def Ingot_GeOp : Ingot_Compare<"ge", "a is at least b">;

def Ingot_SelectOp : Ingot_Elementwise<"select", "a where the condition holds, else b",
    "%r = ingot.select %c, %a, %b : (tensor<2x3xi1>, tensor<2x3xf32>, tensor<f32>) -> tensor<2x3xf32>",
    (ins Ingot_Tensor:$condition, Ingot_Tensor:$a, Ingot_Tensor:$b)>;

def Ingot_CastOp : Ingot_Elementwise<"cast", "conversion to the result's element type, as `Tensor.to` does",
    "%r = ingot.cast %x : (tensor<2x3xi64>) -> tensor<2x3xf32>", (ins Ingot_Tensor:$x)> {
  let hasFolder = 1;
}

#endif
