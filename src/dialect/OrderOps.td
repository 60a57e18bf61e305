// Order among elements: sorting, searching, running results, distinct elements.
#ifndef INGOT_ORDER_OPS_TD
#define INGOT_ORDER_OPS_TD

include "DataDependent.td"
include "OpBase.td"

def Ingot_SortOp : Ingot_Op<"sort"> {
  let summary = "the elements along `axis` in order, and where they were; NaN is the largest";
  let description = [{
    With `stable`, equal elements keep their order; else it is the one that PyTorch's CPU kernel gives them.
    ```mlir
    %v, %i = ingot.sort %x {axis = 0 : i64, descending = false, stable = true} : (tensor<5xf32>) -> (tensor<5xf32>, tensor<5xi64>)
    ```
  }];
  let arguments = (ins Ingot_Tensor:$x, I64Attr:$axis, BoolAttr:$descending, BoolAttr:$stable);
  let results = (outs Ingot_Tensor:$values, Ingot_Tensor:$indices);
  let assemblyFormat = "$x attr-dict `:` functional-type(operands, results)";
}

def Ingot_TopkOp : Ingot_Op<"topk"> {
  let summary = "the k largest (or smallest) elements along `axis`, and where they are";
  let description = [{
    Which of equal elements are taken, and the order without `sorted`, are those of PyTorch's CPU kernel.
    ```mlir
    %v, %i = ingot.topk %x() {k = array<i64: 2>, axis = 0 : i64, largest = true, sorted = true} : (tensor<5xf32>) -> (tensor<2xf32>, tensor<2xi64>)
    ```
  }];
  let arguments = (ins Ingot_Tensor:$x, Variadic<I64>:$dynamic, DenseI64ArrayAttr:$k, I64Attr:$axis, BoolAttr:$largest, BoolAttr:$sorted);
  let results = (outs Ingot_Tensor:$values, Ingot_Tensor:$indices);
  let assemblyFormat = "$x `(` $dynamic `)` attr-dict `:` functional-type(operands, results)";
}

def Ingot_KthValueOp : Ingot_Op<"kth_value"> {
  let summary = "the k-th smallest element along `axis`, counted from 1, and where it is; the axis stays with size 1";
  let description = "```mlir\n%v, %i = ingot.kth_value %x() {k = array<i64: 2>, axis = 0 : i64} : (tensor<5xf32>) -> (tensor<1xf32>, tensor<1xi64>)\n```";
  let arguments = (ins Ingot_Tensor:$x, Variadic<I64>:$dynamic, DenseI64ArrayAttr:$k, I64Attr:$axis);
  let results = (outs Ingot_Tensor:$values, Ingot_Tensor:$indices);
  let assemblyFormat = "$x `(` $dynamic `)` attr-dict `:` functional-type(operands, results)";
}

def Ingot_MedianOp : Ingot_Op<"median"> {
  let summary = "the lower median along `axis`, and where it is; the axis stays with size 1";
  let description = [{
    NaN is the median of a line that has one, unless `ignore_nan`.
    ```mlir
    %v, %i = ingot.median %x {axis = 0 : i64, ignore_nan = false} : (tensor<5xf32>) -> (tensor<1xf32>, tensor<1xi64>)
    ```
  }];
  let arguments = (ins Ingot_Tensor:$x, I64Attr:$axis, BoolAttr:$ignore_nan);
  let results = (outs Ingot_Tensor:$values, Ingot_Tensor:$indices);
  let assemblyFormat = "$x attr-dict `:` functional-type(operands, results)";
}

def Ingot_ModeOp : Ingot_Op<"mode"> {
  let summary = "the most frequent element along `axis`, the smallest of several, and where one is; the axis stays with size 1";
  let description = "```mlir\n%v, %i = ingot.mode %x {axis = 0 : i64} : (tensor<5xf32>) -> (tensor<1xf32>, tensor<1xi64>)\n```";
  let arguments = (ins Ingot_Tensor:$x, I64Attr:$axis);
  let results = (outs Ingot_Tensor:$values, Ingot_Tensor:$indices);
  let assemblyFormat = "$x attr-dict `:` functional-type(operands, results)";
}

def Ingot_CumReduceOp : Ingot_Op<"cum_reduce"> {
  let summary = "running product (`prod`) or running log(sum(exp(x))) (`logsumexp`) along `axis`";
  let description = "```mlir\n%r = ingot.cum_reduce %x {axis = 1 : i64, kind = \"prod\"} : (tensor<2x3xi64>) -> tensor<2x3xi64>\n```";
  let arguments = (ins Ingot_Tensor:$x, I64Attr:$axis, StrAttr:$kind);
  let results = (outs Ingot_Tensor:$result);
  let assemblyFormat = "$x attr-dict `:` functional-type(operands, results)";
}

def Ingot_CumExtremeOp : Ingot_Op<"cum_extreme"> {
  let summary = "running maximum (or minimum) along `axis`, and where its last occurrence is; NaN wins";
  let description = "```mlir\n%v, %i = ingot.cum_extreme %x {axis = 1 : i64, minimum = false} : (tensor<2x3xf32>) -> (tensor<2x3xf32>, tensor<2x3xi64>)\n```";
  let arguments = (ins Ingot_Tensor:$x, I64Attr:$axis, BoolAttr:$minimum);
  let results = (outs Ingot_Tensor:$values, Ingot_Tensor:$indices);
  let assemblyFormat = "$x attr-dict `:` functional-type(operands, results)";
}

def Ingot_SearchSortedOp : Ingot_Op<"search_sorted"> {
  let summary = "where values would be inserted into sorted rows, before equal elements or (`right`) after them";
  let description = [{
    `sequence` is one row for all values, or has one for each of their rows. `sorter` gives the order of its elements.
    ```mlir
    %r = ingot.search_sorted %s, %v {right = false} : (tensor<5xf32>, tensor<2x3xf32>) -> tensor<2x3xi64>
    ```
  }];
  let arguments = (ins Ingot_Tensor:$sequence, Ingot_Tensor:$values, Optional<Ingot_Tensor>:$sorter, BoolAttr:$right);
  let results = (outs Ingot_Tensor:$result);
  let assemblyFormat = "$sequence `,` $values (`sorter` $sorter^)? attr-dict `:` functional-type(operands, results)";
}

def Ingot_SegmentReduceOp : Ingot_Op<"segment_reduce"> {
  let summary = "sum, mean, max, min or prod of pieces of dimension `axis` that lie between consecutive offsets";
  let description = [{
    The offsets have the dimensions of x up to `axis`, the last of them one longer than the number of pieces. Without
    `has_initial`, a piece without elements has the neutral element, and NaN as mean.
    ```mlir
    %r = ingot.segment_reduce %x, %o {axis = 0 : i64, kind = "sum", initial = 0.0 : f64, has_initial = false} : (tensor<5x2xf32>, tensor<4xi64>) -> tensor<3x2xf32>
    ```
  }];
  let arguments = (ins Ingot_Tensor:$x, Ingot_Tensor:$offsets, I64Attr:$axis, StrAttr:$kind, F64Attr:$initial, BoolAttr:$has_initial);
  let results = (outs Ingot_Tensor:$result);
  let assemblyFormat = "operands attr-dict `:` functional-type(operands, results)";
}

def Ingot_UniqueOp : Ingot_Op<"unique", [Ingot_DataDependentTrait]> {
  let summary = "distinct elements or slices, which one each was, and how often each is; how many depends on the data";
  let description = [{
    `axis` is the dimension whose slices are compared, -1 for single elements of a one-dimensional tensor. With
    `consecutive`, only neighbours are compared; else the result is sorted.
    ```mlir
    %v, %i, %c = ingot.unique %x {axis = -1 : i64, consecutive = false} : (tensor<5xf32>) -> (tensor<?xf32>, tensor<5xi64>, tensor<?xi64>)
    ```
  }];
  let arguments = (ins Ingot_Tensor:$x, I64Attr:$axis, BoolAttr:$consecutive);
  let results = (outs Ingot_Tensor:$values, Ingot_Tensor:$inverse, Ingot_Tensor:$counts);
  let assemblyFormat = "$x attr-dict `:` functional-type(operands, results)";
}

def Ingot_BincountOp : Ingot_Op<"bincount", [Ingot_DataDependentTrait]> {
  let summary = "how often (or with which weight) each number from 0 to the largest occurs";
  let description = "```mlir\n%r = ingot.bincount %x {minlength = 0 : i64} : (tensor<5xi64>) -> tensor<?xi64>\n```";
  let arguments = (ins Ingot_Tensor:$x, Optional<Ingot_Tensor>:$weights, I64Attr:$minlength);
  let results = (outs Ingot_Tensor:$result);
  let assemblyFormat = "$x (`,` $weights^)? attr-dict `:` functional-type(operands, results)";
}

def Ingot_RepeatIndexOp : Ingot_Op<"repeat_index", [Ingot_DataDependentTrait]> {
  let summary = "each position as often as `repeats` says there";
  let description = "```mlir\n%r = ingot.repeat_index %repeats : (tensor<3xi64>) -> tensor<?xi64>\n```";
  let arguments = (ins Ingot_Tensor:$repeats);
  let results = (outs Ingot_Tensor:$result);
  let assemblyFormat = "operands attr-dict `:` functional-type(operands, results)";
}

#endif
