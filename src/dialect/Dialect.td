#ifndef INGOT_DIALECT_TD
#define INGOT_DIALECT_TD

include "mlir/IR/OpBase.td"
include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/EnumAttr.td"

def Ingot_Dialect : Dialect {
  let name = "ingot";
  let cppNamespace = "::ingot";
  let summary = "PyTorch programs: exported nodes, and the operations they lower to";
  let description = [{
    Tensors are builtin ranked tensors. Signed integers are signless (`i64`), unsigned ones are
    `ui8` to `ui64`, booleans are `i1`. A size that is only known at run time is `?`. Symbolic numbers
    are plain `i64`, `f64` and `i1` values computed with the `arith` dialect.

    All operations are pure; tensors have value semantics. Element-wise operations broadcast
    as PyTorch does, and take operands of one element type: promotion is explicit, by `ingot.cast`.
    Weights are named, never stored in the IR.
  }];
  let useDefaultAttributePrinterParser = 1;
  let useDefaultTypePrinterParser = 1;
  let hasConstantMaterializer = 1;
  let dependentDialects = ["::mlir::arith::ArithDialect"];
}

#endif
