// RUN: ingot-opt %s -lower-aten | FileCheck %s

// CHECK-LABEL: func @embedding
// CHECK-NEXT: ingot.index_select %arg0, %arg1 {axis = 0 : i64, ingot.non_negative = true} : (tensor<10x4xf32>, tensor<2x3xi64>) -> tensor<2x3x4xf32>
func.func @embedding(%w: tensor<10x4xf32>, %i: tensor<2x3xi64>) -> tensor<2x3x4xf32> {
  %0 = ingot.aten "aten::embedding"(%w, %i) {args = {indices = #ingot.value<1>, padding_idx = -1 : i64, scale_grad_by_freq = false, sparse = false, weight = #ingot.value<0>}} : (tensor<10x4xf32>, tensor<2x3xi64>) -> tensor<2x3x4xf32>
  return %0 : tensor<2x3x4xf32>
}

// Dimensions picked apart from each other come first.
// CHECK-LABEL: func @apart
// CHECK-NEXT: %[[P:.*]] = ingot.permute %arg0 {dims = array<i64: 0, 2, 1>}
// CHECK-NEXT: ingot.index %[[P]], %arg1, %arg1 {axes = array<i64: 0, 1>} {{.*}} -> tensor<6x5xf32>
func.func @apart(%x: tensor<4x5x4xf32>, %i: tensor<6xi64>) -> tensor<6x5xf32> {
  %0 = ingot.aten "aten::index.Tensor"(%x, %i) {args = {indices = [#ingot.value<1>, unit, #ingot.value<1>], self = #ingot.value<0>}} : (tensor<4x5x4xf32>, tensor<6xi64>) -> tensor<6x5xf32>
  return %0 : tensor<6x5xf32>
}

// CHECK-LABEL: func @mask
// CHECK-NEXT: %[[N:.*]] = ingot.nonzero %arg1 : (tensor<4xi1>) -> tensor<?x1xi64>
// CHECK: ingot.index_select %arg0, {{.*}} {axis = 0 : i64}
func.func @mask(%x: tensor<4xf32>, %m: tensor<4xi1>) -> tensor<?xf32> {
  %0 = ingot.aten "aten::index.Tensor"(%x, %m) {args = {indices = [#ingot.value<1>], self = #ingot.value<0>}} : (tensor<4xf32>, tensor<4xi1>) -> tensor<?xf32>
  return %0 : tensor<?xf32>
}
