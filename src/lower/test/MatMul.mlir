// RUN: ingot-opt %s -lower-aten | FileCheck %s

// CHECK-LABEL: func @linear
// CHECK-NEXT: %[[T:.*]] = ingot.permute %arg1 {dims = array<i64: 1, 0>}
// CHECK-NEXT: ingot.matmul %arg0, %[[T]] bias %arg2 {activation = 0 : i32} : (tensor<2x3x4xf32>, tensor<4x5xf32>, tensor<5xf32>) -> tensor<2x3x5xf32>
func.func @linear(%x: tensor<2x3x4xf32>, %w: tensor<5x4xf32>, %b: tensor<5xf32>) -> tensor<2x3x5xf32> {
  %0 = ingot.aten "aten::linear"(%x, %w, %b) {args = {bias = #ingot.value<2>, input = #ingot.value<0>, weight = #ingot.value<1>}} : (tensor<2x3x4xf32>, tensor<5x4xf32>, tensor<5xf32>) -> tensor<2x3x5xf32>
  return %0 : tensor<2x3x5xf32>
}

// CHECK-LABEL: func @vector_by_batch
// CHECK-NEXT: %[[ROW:.*]] = ingot.reshape %arg0() {sizes = array<i64: 1, 4>}
// CHECK-NEXT: %[[P:.*]] = ingot.matmul %[[ROW]], %arg1 {{.*}} -> tensor<2x1x5xf32>
// CHECK-NEXT: ingot.reshape %[[P]]() {sizes = array<i64: 2, 5>}
func.func @vector_by_batch(%x: tensor<4xf32>, %y: tensor<2x4x5xf32>) -> tensor<2x5xf32> {
  %0 = ingot.aten "aten::matmul"(%x, %y) {args = {other = #ingot.value<1>, self = #ingot.value<0>}} : (tensor<4xf32>, tensor<2x4x5xf32>) -> tensor<2x5xf32>
  return %0 : tensor<2x5xf32>
}

// CHECK-LABEL: func @addmm
// CHECK-NEXT: ingot.matmul %arg1, %arg2 bias %arg0
func.func @addmm(%s: tensor<5xf32>, %x: tensor<3x4xf32>, %y: tensor<4x5xf32>) -> tensor<3x5xf32> {
  %0 = ingot.aten "aten::addmm"(%s, %x, %y) {args = {alpha = 1 : i64, beta = 1 : i64, mat1 = #ingot.value<1>, mat2 = #ingot.value<2>, self = #ingot.value<0>}} : (tensor<5xf32>, tensor<3x4xf32>, tensor<4x5xf32>) -> tensor<3x5xf32>
  return %0 : tensor<3x5xf32>
}

// CHECK-LABEL: func @einsum
// CHECK: ingot.matmul {{.*}} : (tensor<2x3x4xf32>, tensor<2x4x5xf32>) -> tensor<2x3x5xf32>
func.func @einsum(%x: tensor<2x3x4xf32>, %y: tensor<2x5x4xf32>) -> tensor<2x3x5xf32> {
  %0 = ingot.aten "aten::einsum"(%x, %y) {args = {equation = "bld,bsd->bls", path, tensors = [#ingot.value<0>, #ingot.value<1>]}} : (tensor<2x3x4xf32>, tensor<2x5x4xf32>) -> tensor<2x3x5xf32>
  return %0 : tensor<2x3x5xf32>
}

// CHECK-LABEL: func @attention
// CHECK-NEXT: ingot.attention %arg0, %arg1, %arg1 {causal = true, scale = 2.500000e-01 : f64}
func.func @attention(%q: tensor<1x4x5x16xf32>, %k: tensor<1x2x6x16xf32>) -> tensor<1x4x5x16xf32> {
  %0 = ingot.aten "aten::scaled_dot_product_attention"(%q, %k) {args = {attn_mask, dropout_p = 0.0 : f64, enable_gqa = true, is_causal = true, key = #ingot.value<1>, query = #ingot.value<0>, scale, value = #ingot.value<1>}} : (tensor<1x4x5x16xf32>, tensor<1x2x6x16xf32>) -> tensor<1x4x5x16xf32>
  return %0 : tensor<1x4x5x16xf32>
}
