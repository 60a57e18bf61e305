// With fallback, nodes that write and have no pure form stay; PyTorch runs them on copies.
// RUN: ingot-opt %s -functionalise | FileCheck %s

module attributes {ingot.fallback} {

// CHECK-LABEL: func @window
// CHECK: %[[C:.*]] = ingot.aten "aten::clone"
// CHECK: %[[V:.*]] = ingot.aten "aten::unfold"(%[[C]])
// CHECK: %[[W:.*]] = ingot.aten "aten::relu"(%[[V]])
// CHECK: %[[R:.*]] = ingot.aten "aten::unfold"(%[[C]], %[[W]]) {{.*}}ingot.into = 0 : i64, ingot.returns = [], ingot.writes = ["self"]
// CHECK: return %[[R]]
func.func @window(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = ingot.aten "aten::clone"(%x) {args = {memory_format, self = #ingot.value<0>}} : (tensor<4xf32>) -> tensor<4xf32>
  %1 = ingot.aten "aten::unfold"(%0) {args = {dimension = 0 : i64, self = #ingot.value<0>, size = 2 : i64, step = 1 : i64}} : (tensor<4xf32>) -> tensor<3x2xf32>
  %2 = ingot.aten "aten::relu_"(%1) {args = {self = #ingot.value<0>}} : (tensor<3x2xf32>) -> tensor<3x2xf32>
  return %0 : tensor<4xf32>
}

}
