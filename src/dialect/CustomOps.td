// Kernels that the user has written.
#ifndef INGOT_CUSTOM_OPS_TD
#define INGOT_CUSTOM_OPS_TD

include "OpBase.td"

def Ingot_CustomOp : Ingot_Op<"custom"> {
  let summary = "a kernel that the user has written: source code that is compiled when the program is specialised";
  let description = [{
    The first `inputs` values are the kernel's tensors and numbers; the others are the sizes that are kDynamic in `sizes`,
    which lists those of all results, one result after the other. `source` is a whole translation unit in `language` with
    the one function that `docs/kernels.md` describes. Inputs are row-major unless the kernel is `strided`; results always
    are. The function must be pure.
    ```mlir
    %r = ingot.custom %x, %n {kernel = "twice", language = "c++", source = "...", inputs = 1 : i64, sizes = array<i64: -9223372036854775808, 4>, strided = false} : (tensor<?x4xf32>, i64) -> tensor<?x4xf32>
    ```
  }];
  let arguments = (ins Variadic<Ingot_Any>:$values, StrAttr:$kernel, StrAttr:$language, StrAttr:$source, I64Attr:$inputs,
      DenseI64ArrayAttr:$sizes, BoolAttr:$strided);
  let results = (outs Variadic<Ingot_Tensor>:$results);
  let assemblyFormat = "$values attr-dict `:` functional-type(operands, results)";
}

#endif
