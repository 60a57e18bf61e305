// Element-wise functions that fused loops do not inline: special functions, and those of complex numbers. One line an
// op: its meaning is in src/runtime/kernels/special/Special.h, its types in special_ops.inc beside it.
#ifndef INGOT_SPECIAL_OPS_TD
#define INGOT_SPECIAL_OPS_TD

include "OpBase.td"

def Ingot_LgammaOp : Ingot_Unary<"lgamma", "logarithm of the gamma function's magnitude">;
def Ingot_DigammaOp : Ingot_Unary<"digamma", "derivative of lgamma">;
def Ingot_ErfinvOp : Ingot_Unary<"erfinv", "inverse of erf">;
def Ingot_ErfcxOp : Ingot_Unary<"erfcx", "exp(x * x) * erfc(x)">;
def Ingot_LogNdtrOp : Ingot_Unary<"log_ndtr", "logarithm of the area under the normal distribution up to x">;
def Ingot_NdtriOp : Ingot_Unary<"ndtri", "where the area under the normal distribution up to there is x">;
def Ingot_EntrOp : Ingot_Unary<"entr", "-x * log(x); 0 at 0, -infinity below">;
def Ingot_SincOp : Ingot_Unary<"sinc", "sin(pi * x) / (pi * x)">;
def Ingot_I0Op : Ingot_Unary<"i0", "modified Bessel function of the first kind, order 0">;
def Ingot_I0eOp : Ingot_Unary<"i0e", "exp(-abs(x)) * i0(x)">;
def Ingot_I1Op : Ingot_Unary<"i1", "modified Bessel function of the first kind, order 1">;
def Ingot_I1eOp : Ingot_Unary<"i1e", "exp(-abs(x)) * i1(x)">;
def Ingot_BesselJ0Op : Ingot_Unary<"bessel_j0", "Bessel function of the first kind, order 0">;
def Ingot_BesselJ1Op : Ingot_Unary<"bessel_j1", "Bessel function of the first kind, order 1">;
def Ingot_BesselY0Op : Ingot_Unary<"bessel_y0", "Bessel function of the second kind, order 0">;
def Ingot_BesselY1Op : Ingot_Unary<"bessel_y1", "Bessel function of the second kind, order 1">;
def Ingot_BesselK0Op : Ingot_Unary<"bessel_k0", "modified Bessel function of the second kind, order 0">;
def Ingot_BesselK1Op : Ingot_Unary<"bessel_k1", "modified Bessel function of the second kind, order 1">;
def Ingot_BesselK0eOp : Ingot_Unary<"bessel_k0e", "exp(x) * bessel_k0(x)">;
def Ingot_BesselK1eOp : Ingot_Unary<"bessel_k1e", "exp(x) * bessel_k1(x)">;
def Ingot_AiryAiOp : Ingot_Unary<"airy_ai", "Airy's function Ai">;
def Ingot_SphericalBesselJ0Op : Ingot_Unary<"spherical_bessel_j0", "sin(x) / x">;
def Ingot_FrexpMantissaOp : Ingot_Unary<"frexp_mantissa", "x without its power of two, in [0.5, 1)">;
def Ingot_ConjOp : Ingot_Unary<"conj", "complex conjugate">;

def Ingot_SignbitOp : Ingot_Test<"signbit", "true where the sign is negative, -0 too">;

def Ingot_PolygammaOp : Ingot_Binary<"polygamma", "derivative number a of digamma, at b">;
def Ingot_ZetaOp : Ingot_Binary<"zeta", "Hurwitz zeta function: the sum of (b + k)^-a">;
def Ingot_IgammaOp : Ingot_Binary<"igamma", "regularised lower incomplete gamma function of (a, b)">;
def Ingot_IgammacOp : Ingot_Binary<"igammac", "regularised upper incomplete gamma function of (a, b)">;
def Ingot_XlogyOp : Ingot_Binary<"xlogy", "a * log(b); 0 where a is 0">;
def Ingot_Xlog1pyOp : Ingot_Binary<"xlog1py", "a * log1p(b); 0 where a is 0">;
def Ingot_LogaddexpOp : Ingot_Binary<"logaddexp", "log(exp(a) + exp(b)) without overflow">;
def Ingot_Logaddexp2Op : Ingot_Binary<"logaddexp2", "log2(2^a + 2^b) without overflow">;
def Ingot_CopysignOp : Ingot_Binary<"copysign", "a with the sign of b">;
def Ingot_NextafterOp : Ingot_Binary<"nextafter", "the neighbour of a towards b">;
def Ingot_HeavisideOp : Ingot_Binary<"heaviside", "0 below zero, 1 above, b at zero">;
def Ingot_GcdOp : Ingot_Binary<"gcd", "greatest common divisor">;
def Ingot_LcmOp : Ingot_Binary<"lcm", "least common multiple">;
def Ingot_ShiftLeftOp : Ingot_Binary<"shift_left", "a * 2^b; 0 where b is no position of a bit">;
def Ingot_ShiftRightOp : Ingot_Binary<"shift_right", "a / 2^b rounded down, whatever b is">;
def Ingot_ChebyshevTOp : Ingot_Binary<"chebyshev_t", "Chebyshev polynomial of the first kind, degree b, at a">;
def Ingot_ChebyshevUOp : Ingot_Binary<"chebyshev_u", "Chebyshev polynomial of the second kind, degree b, at a">;
def Ingot_ChebyshevVOp : Ingot_Binary<"chebyshev_v", "Chebyshev polynomial of the third kind, degree b, at a">;
def Ingot_ChebyshevWOp : Ingot_Binary<"chebyshev_w", "Chebyshev polynomial of the fourth kind, degree b, at a">;
def Ingot_ShiftedChebyshevTOp : Ingot_Binary<"shifted_chebyshev_t", "chebyshev_t for arguments in [0, 1]">;
def Ingot_ShiftedChebyshevUOp : Ingot_Binary<"shifted_chebyshev_u", "chebyshev_u for arguments in [0, 1]">;
def Ingot_ShiftedChebyshevVOp : Ingot_Binary<"shifted_chebyshev_v", "chebyshev_v for arguments in [0, 1]">;
def Ingot_ShiftedChebyshevWOp : Ingot_Binary<"shifted_chebyshev_w", "chebyshev_w for arguments in [0, 1]">;
def Ingot_HermiteHOp : Ingot_Binary<"hermite_h", "physicists' Hermite polynomial of degree b at a">;
def Ingot_HermiteHeOp : Ingot_Binary<"hermite_he", "probabilists' Hermite polynomial of degree b at a">;
def Ingot_LaguerreLOp : Ingot_Binary<"laguerre_l", "Laguerre polynomial of degree b at a">;
def Ingot_LegendrePOp : Ingot_Binary<"legendre_p", "Legendre polynomial of degree b at a">;

/// Element-wise with a result of another type than the operands, which verifiers know.
class Ingot_Part<string mnemonic, string what, string example, dag args> : Ingot_Op<mnemonic> {
  let summary = what;
  let description = "Element-wise, operands broadcast as in PyTorch.\n\n```mlir\n" # example # "\n```";
  let arguments = args;
  let results = (outs Ingot_Tensor:$result);
  let assemblyFormat = "operands attr-dict `:` functional-type(operands, results)";
}

def Ingot_RealOp : Ingot_Part<"real", "real part of complex numbers",
    "%r = ingot.real %x : (tensor<3xcomplex<f32>>) -> tensor<3xf32>", (ins Ingot_Tensor:$x)>;
def Ingot_ImagOp : Ingot_Part<"imag", "imaginary part of complex numbers",
    "%r = ingot.imag %x : (tensor<3xcomplex<f32>>) -> tensor<3xf32>", (ins Ingot_Tensor:$x)>;
def Ingot_ComplexOp : Ingot_Part<"complex", "complex numbers from their real and imaginary parts",
    "%r = ingot.complex %a, %b : (tensor<3xf32>, tensor<3xf32>) -> tensor<3xcomplex<f32>>",
    (ins Ingot_Tensor:$a, Ingot_Tensor:$b)>;
def Ingot_FrexpExponentOp : Ingot_Part<"frexp_exponent", "the power of two of x, where its mantissa is in [0.5, 1)",
    "%r = ingot.frexp_exponent %x : (tensor<3xf32>) -> tensor<3xi32>", (ins Ingot_Tensor:$x)>;

def Ingot_HashOp : Ingot_Op<"hash"> {
  let summary = "exclusive or of the elements' bits along dimensions, which keep size 1";
  let description = [{
    ```mlir
    %r = ingot.hash %x {dims = array<i64: 1>} : (tensor<2x3xf64>) -> tensor<2x1xui64>
    ```
  }];
  let arguments = (ins Ingot_Tensor:$x, DenseI64ArrayAttr:$dims);
  let results = (outs Ingot_Tensor:$result);
  let assemblyFormat = "$x attr-dict `:` functional-type(operands, results)";
}

#endif
