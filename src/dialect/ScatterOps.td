// Writing and adding at positions given by index.
#ifndef INGOT_SCATTER_OPS_TD
#define INGOT_SCATTER_OPS_TD

include "DataDependent.td"
include "OpBase.td"

def Ingot_ScatterOp : Ingot_Op<"scatter"> {
  let summary = "torch.scatter_reduce: result[index[i][j]][j] is combined with source[i][j] for axis 0";
  let description = [{
    `reduce` is `none` (the last one written stays), `add`, `prod`, `mean`, `amax` or `amin`. Without `include_self` the
    elements of x that are written to do not take part. The source may be larger than the index.
    ```mlir
    %r = ingot.scatter %x, %i, %s {axis = 1 : i64, reduce = "add", include_self = true} : (tensor<2x5xf32>, tensor<2x3xi64>, tensor<2x3xf32>) -> tensor<2x5xf32>
    ```
  }];
  let arguments = (ins Ingot_Tensor:$x, Ingot_Tensor:$index, Ingot_Tensor:$source, I64Attr:$axis, StrAttr:$reduce, BoolAttr:$include_self);
  let results = (outs Ingot_Tensor:$result);
  let assemblyFormat = "operands attr-dict `:` functional-type(operands, results)";
}

def Ingot_IndexPutOp : Ingot_Op<"index_put"> {
  let summary = "x with `source` combined into x[..., i0, i1, ...]; the inverse of index";
  let description = [{
    The indexed dimensions are `axes`, consecutive; the indices broadcast together. `source` has the sizes that index
    would give. `reduce` and `include_self` are those of scatter.
    ```mlir
    %r = ingot.index_put %x, %s, %i {axes = array<i64: 0>, reduce = "add", include_self = true} : (tensor<4x5xf32>, tensor<3x5xf32>, tensor<3xi64>) -> tensor<4x5xf32>
    ```
  }];
  let arguments = (ins Ingot_Tensor:$x, Ingot_Tensor:$source, Variadic<Ingot_Tensor>:$indices, DenseI64ArrayAttr:$axes, StrAttr:$reduce, BoolAttr:$include_self);
  let results = (outs Ingot_Tensor:$result);
  let assemblyFormat = "operands attr-dict `:` functional-type(operands, results)";
}

def Ingot_NonzeroOp : Ingot_Op<"nonzero", [Ingot_DataDependentTrait]> {
  let summary = "positions of the elements that are not zero, one row each; how many there are depends on the data";
  let description = "```mlir\n%r = ingot.nonzero %x : (tensor<2x3xi1>) -> tensor<?x2xi64>\n```";
  let arguments = (ins Ingot_Tensor:$x);
  let results = (outs Ingot_Tensor:$result);
  let assemblyFormat = "operands attr-dict `:` functional-type(operands, results)";
}

def Ingot_NonzeroStaticOp : Ingot_Op<"nonzero_static"> {
  let summary = "the first positions of elements that are not zero; rows that are left hold `fill`";
  let description = "```mlir\n%r = ingot.nonzero_static %x() {rows = array<i64: 4>, fill = -1 : i64} : (tensor<2x3xi1>) -> tensor<4x2xi64>\n```";
  let arguments = (ins Ingot_Tensor:$x, Variadic<I64>:$dynamic, DenseI64ArrayAttr:$rows, I64Attr:$fill);
  let results = (outs Ingot_Tensor:$result);
  let assemblyFormat = "$x `(` $dynamic `)` attr-dict `:` functional-type(operands, results)";
}

def Ingot_BitcastOp : Ingot_Op<"bitcast"> {
  let summary = "the same bytes as elements of another type; the last dimension grows or shrinks with their width";
  let description = "```mlir\n%r = ingot.bitcast %x : (tensor<2x4xi8>) -> tensor<2x1xf32>\n```";
  let arguments = (ins Ingot_Tensor:$x);
  let results = (outs Ingot_Tensor:$result);
  let assemblyFormat = "operands attr-dict `:` functional-type(operands, results)";
}

#endif
