// What is left over, and why.
// RUN: ingot-opt %s -lower-aten | FileCheck %s

// No row: the carrier stays as it is, and so does what depends on it.
// CHECK-LABEL: func @unknown
// CHECK-NEXT: %[[N:.*]] = ingot.aten "aten::_values_copy"(%arg0) {args = {self = #ingot.value<0>}}
// CHECK-NEXT: ingot.neg %[[N]]
func.func @unknown(%x: tensor<4xf32>) -> tensor<?x1xi64> {
  %0 = ingot.aten "aten::_values_copy"(%x) {args = {self = #ingot.value<0>}} : (tensor<4xf32>) -> tensor<?x1xi64>
  %1 = ingot.aten "aten::neg"(%0) {args = {self = #ingot.value<0>}} : (tensor<?x1xi64>) -> tensor<?x1xi64>
  return %1 : tensor<?x1xi64>
}

// CHECK-LABEL: func @refused
// CHECK-NEXT: ingot.aten "aten::mean"
// CHECK-SAME: ingot.refused = "PyTorch gives means of floating-point tensors only"
func.func @refused(%x: tensor<4xi64>) -> tensor<f32> {
  %0 = ingot.aten "aten::mean"(%x) {args = {dtype, self = #ingot.value<0>}} : (tensor<4xi64>) -> tensor<f32>
  return %0 : tensor<f32>
}

// CHECK-LABEL: func @missing_argument
// CHECK: ingot.refused = "argument `alpha` is missing"
func.func @missing_argument(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = ingot.aten "aten::add.Tensor"(%x) {args = {other = 1 : i64, self = #ingot.value<0>}} : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// CHECK-LABEL: func @wrong_argument
// CHECK: ingot.refused = "argument `self` is no Tensor"
func.func @wrong_argument(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = ingot.aten "aten::relu"(%x) {args = {self = "x"}} : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// A result of another type than the program says is a mistake of ours, and nothing is built.
// CHECK-LABEL: func @wrong_result
// CHECK-NEXT: ingot.aten "aten::relu"
// CHECK-SAME: ingot.refused = "bug in Ingot: the lowering of aten::relu made tensor<4xf32> of result 0, where the program says tensor<5xf32>"
func.func @wrong_result(%x: tensor<4xf32>) -> tensor<5xf32> {
  %0 = ingot.aten "aten::relu"(%x) {args = {self = #ingot.value<0>}} : (tensor<4xf32>) -> tensor<5xf32>
  return %0 : tensor<5xf32>
}

// So is an op that does not verify.
// CHECK-LABEL: func @wrong_shapes
// CHECK-NEXT: ingot.aten "aten::add.Tensor"
// CHECK-SAME: ingot.refused = "bug in Ingot: the lowering of aten::add.Tensor made an op that is not valid
func.func @wrong_shapes(%x: tensor<4xf32>, %y: tensor<3xf32>) -> tensor<4xf32> {
  %0 = ingot.aten "aten::add.Tensor"(%x, %y) {args = {alpha = 1 : i64, other = #ingot.value<1>, self = #ingot.value<0>}} : (tensor<4xf32>, tensor<3xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// Sub-graphs are lowered too.
// CHECK-LABEL: func @cond
// CHECK: ingot.aten "higher_order::cond"
// CHECK: ingot.relu
func.func @cond(%p: tensor<i1>, %x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = ingot.aten "higher_order::cond"(%p, %x) {args = {operands = [#ingot.value<1>], pred = #ingot.value<0>, true_graph = #ingot.region<0>}} graphs {
  ^bb0(%a: tensor<4xf32>):
    %1 = ingot.aten "aten::relu"(%a) {args = {self = #ingot.value<0>}} : (tensor<4xf32>) -> tensor<4xf32>
    ingot.yield %1 : tensor<4xf32>
  } : (tensor<i1>, tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}
