// Random numbers. These ops are not pure: two of them never give the same numbers, so they must be neither merged nor
// computed ahead of time, and they keep their order.
#ifndef INGOT_RANDOM_OPS_TD
#define INGOT_RANDOM_OPS_TD

include "OpBase.td"

class Ingot_RandomOp<string mnemonic, string what, string example, dag args> : Op<Ingot_Dialect, mnemonic, []> {
  let summary = what;
  let description = "```mlir\n" # example # "\n```";
  let arguments = args;
  let results = (outs Ingot_Tensor:$result);
  let assemblyFormat = "operands attr-dict `:` functional-type(operands, results)";
  let hasVerifier = 1;
}

def Ingot_RandomUniformOp : Ingot_RandomOp<"random_uniform",
    "numbers, evenly spread over [0, 1), of the given sizes; complex ones have such parts",
    "%r = ingot.random_uniform {sizes = array<i64: 2, 3>} : () -> tensor<2x3xf32>",
    (ins Variadic<I64>:$dynamic, DenseI64ArrayAttr:$sizes)>;

def Ingot_RandomNormalOp : Ingot_RandomOp<"random_normal",
    "normally distributed numbers with mean 0 and standard deviation 1 (complex ones: of real and imaginary part together)",
    "%r = ingot.random_normal {sizes = array<i64: 2, 3>} : () -> tensor<2x3xf32>",
    (ins Variadic<I64>:$dynamic, DenseI64ArrayAttr:$sizes)>;

def Ingot_RandomIntegerOp : Ingot_RandomOp<"random_integer",
    "integers, evenly spread from `low` to below `high`, converted to the result's type",
    "%r = ingot.random_integer %low, %high {sizes = array<i64: 2, 3>} : (i64, i64) -> tensor<2x3xi64>",
    (ins I64:$low, I64:$high, Variadic<I64>:$dynamic, DenseI64ArrayAttr:$sizes)>;

def Ingot_RandomPermutationOp : Ingot_RandomOp<"random_permutation",
    "0 to below `count` in random order",
    "%r = ingot.random_permutation %n : (i64) -> tensor<10xi64>", (ins I64:$count)>;

def Ingot_RandomPoissonOp : Ingot_RandomOp<"random_poisson",
    "Poisson distributed numbers with the given means",
    "%r = ingot.random_poisson %mean : (tensor<3xf32>) -> tensor<3xf32>", (ins Ingot_Tensor:$mean)>;

def Ingot_RandomBinomialOp : Ingot_RandomOp<"random_binomial",
    "successes in `count` trials, each of which succeeds with `probability`; both of one shape",
    "%r = ingot.random_binomial %n, %p : (tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32>",
    (ins Ingot_Tensor:$count, Ingot_Tensor:$probability)>;

def Ingot_RandomMultinomialOp : Ingot_RandomOp<"random_multinomial",
    "for every row of `weights`, `samples` positions drawn in proportion to them, with or without `replacement`",
    "%r = ingot.random_multinomial %w, %n {replacement = true} : (tensor<2x3xf32>, i64) -> tensor<2x5xi64>",
    (ins Ingot_Tensor:$weights, I64:$samples, BoolAttr:$replacement)>;

#endif
