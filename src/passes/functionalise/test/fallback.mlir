// With fallback, nodes that write and have no pure form stay; PyTorch runs them on copies.
// RUN: ingot-opt %s -functionalise | FileCheck %s

module attributes {ingot.fallback} {

// CHECK-LABEL: func @batchNorm
// CHECK: %[[R:.*]]:3 = ingot.aten "aten::batch_norm"
// CHECK-SAME: ingot.writes = ["running_mean", "running_var"]
// CHECK: return %[[R]]#0, %[[R]]#1, %[[R]]#2
func.func @batchNorm(%x: tensor<2x3xf32>, %m: tensor<3xf32> {ingot.name = "m"}, %v: tensor<3xf32> {ingot.name = "v"}) -> tensor<2x3xf32> {
  %0 = ingot.aten "aten::batch_norm"(%x, %m, %v) {args = {bias, cudnn_enabled = true, eps = 1.0e-5 : f64, input = #ingot.value<0>, momentum = 0.1 : f64, running_mean = #ingot.value<1>, running_var = #ingot.value<2>, training = true, weight}} : (tensor<2x3xf32>, tensor<3xf32>, tensor<3xf32>) -> tensor<2x3xf32>
  return %0 : tensor<2x3xf32>
}

// CHECK-LABEL: func @window
// CHECK: %[[C:.*]] = ingot.aten "aten::clone"
// CHECK: %[[V:.*]] = ingot.aten "aten::unfold"(%[[C]])
// CHECK: %[[W:.*]] = ingot.aten "aten::relu"(%[[V]])
// CHECK: %[[R:.*]] = ingot.aten "aten::unfold"(%[[C]], %[[W]]) {{.*}}ingot.into = 0 : i64, ingot.returns = [], ingot.writes = ["self"]
// CHECK: return %[[R]]
func.func @window(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = ingot.aten "aten::clone"(%x) {args = {memory_format, self = #ingot.value<0>}} : (tensor<4xf32>) -> tensor<4xf32>
  %1 = ingot.aten "aten::unfold"(%0) {args = {dimension = 0 : i64, self = #ingot.value<0>, size = 2 : i64, step = 2 : i64}} : (tensor<4xf32>) -> tensor<2x2xf32>
  %2 = ingot.aten "aten::relu_"(%1) {args = {self = #ingot.value<0>}} : (tensor<2x2xf32>) -> tensor<2x2xf32>
  return %0 : tensor<4xf32>
}

// CHECK-LABEL: func @resize
// CHECK: %[[R:.*]] = ingot.aten "aten::resize_"
// CHECK-SAME: ingot.returns = [unit], ingot.writes = ["self"]
// CHECK-SAME: -> tensor<2xf32>
// CHECK: return %[[R]]
func.func @resize(%x: tensor<4xf32>) -> tensor<2xf32> {
  %0 = ingot.aten "aten::clone"(%x) {args = {memory_format, self = #ingot.value<0>}} : (tensor<4xf32>) -> tensor<4xf32>
  %1 = ingot.aten "aten::resize_"(%0) {args = {memory_format, self = #ingot.value<0>, size = [2]}} : (tensor<4xf32>) -> tensor<2xf32>
  return %1 : tensor<2xf32>
}

}
