// RUN: ingot-opt %s -fold-bias -fold-residual -fold-activation -canonicalize | FileCheck-19 %s

// CHECK-LABEL: func.func @linear_gelu
func.func @linear_gelu(%x: tensor<2x3xf32>) -> tensor<2x4xf32> {
  %w = ingot.weight "w" : tensor<3x4xf32>
  %b = ingot.weight "b" : tensor<4xf32>
  %m = ingot.matmul %x, %w {activation = 0 : i32} : (tensor<2x3xf32>, tensor<3x4xf32>) -> tensor<2x4xf32>
  %s = ingot.add %m, %b : (tensor<2x4xf32>, tensor<4xf32>) -> tensor<2x4xf32>
  // CHECK: ingot.matmul %arg0, %{{.*}} bias %{{.*}} {activation = 3 : i32
  // CHECK-NOT: ingot.gelu
  %r = ingot.gelu %s : (tensor<2x4xf32>) -> tensor<2x4xf32>
  return %r : tensor<2x4xf32>
}

// A product adds its residual after the activation: relu(m + x) must not become relu(m) + x.
// CHECK-LABEL: func.func @residual_then_relu
func.func @residual_then_relu(%x: tensor<2x3xf32>, %y: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %w = ingot.weight "w" : tensor<3x3xf32>
  %m = ingot.matmul %x, %w {activation = 0 : i32} : (tensor<2x3xf32>, tensor<3x3xf32>) -> tensor<2x3xf32>
  // CHECK: ingot.matmul %arg0, %{{.*}} residual %arg1 {activation = 0 : i32
  %s = ingot.add %m, %y : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  // CHECK: ingot.relu
  %r = ingot.relu %s : (tensor<2x3xf32>) -> tensor<2x3xf32>
  return %r : tensor<2x3xf32>
}
