#ifndef INGOT_OPBASE_TD
#define INGOT_OPBASE_TD

include "Dialect.td"
include "Attrs.td"
include "Types.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

def Ingot_Tensor : Type<CPred<"::mlir::isa<::mlir::RankedTensorType>($_self)">,
                        "ranked tensor", "::mlir::RankedTensorType">;
def Ingot_Scalar : AnyTypeOf<[I64, F64, I1], "symbolic number (i64, f64 or i1)">;
def Ingot_Any : AnyTypeOf<[Ingot_Tensor, Ingot_Scalar]>;

class Ingot_Op<string mnemonic, list<Trait> traits = []> : Op<Ingot_Dialect, mnemonic, traits # [Pure]> {
  let hasVerifier = 1;
}

/// The same scalar function at every element, operands broadcast. The scalar function of an op is
/// `ingot::scalar::<mnemonic>` in src/runtime/kernels/elementwise/Scalar.h.
def Ingot_ElementwiseTrait : NativeOpTrait<"Elementwise"> { let cppNamespace = "::ingot"; }

/// An element-wise op whose result is of booleans, whatever its operands are.
def Ingot_BooleanResultTrait : NativeOpTrait<"BooleanResult"> { let cppNamespace = "::ingot"; }

class Ingot_Elementwise<string mnemonic, string what, string example, dag args, list<Trait> traits = []>
  : Op<Ingot_Dialect, mnemonic, traits # [Pure, Ingot_ElementwiseTrait]> {
  let summary = what;
  let description = "Element-wise, operands broadcast as in PyTorch.\n\n```mlir\n" # example # "\n```";
  let arguments = args;
  let results = (outs Ingot_Tensor:$result);
  let assemblyFormat = "operands attr-dict `:` functional-type(operands, results)";
}

class Ingot_Unary<string mnemonic, string what>
  : Ingot_Elementwise<mnemonic, what,
      "%r = ingot." # mnemonic # " %x : (tensor<2x3xf32>) -> tensor<2x3xf32>", (ins Ingot_Tensor:$x)>;
class Ingot_Test<string mnemonic, string what>
  : Ingot_Elementwise<mnemonic, what,
      "%r = ingot." # mnemonic # " %x : (tensor<2x3xf32>) -> tensor<2x3xi1>", (ins Ingot_Tensor:$x),
      [Ingot_BooleanResultTrait]>;
class Ingot_Binary<string mnemonic, string what>
  : Ingot_Elementwise<mnemonic, what,
      "%r = ingot." # mnemonic # " %a, %b : (tensor<2x3xf32>, tensor<3xf32>) -> tensor<2x3xf32>",
      (ins Ingot_Tensor:$a, Ingot_Tensor:$b)>;
class Ingot_Compare<string mnemonic, string what>
  : Ingot_Elementwise<mnemonic, what,
      "%r = ingot." # mnemonic # " %a, %b : (tensor<2x3xf32>, tensor<f32>) -> tensor<2x3xi1>",
      (ins Ingot_Tensor:$a, Ingot_Tensor:$b), [Ingot_BooleanResultTrait]>;

#endif
