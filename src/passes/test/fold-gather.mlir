// RUN: ingot-opt %s -fold-gather -canonicalize | FileCheck-19 %s

// CHECK-LABEL: func.func @chosen
func.func @chosen(%a: tensor<8x1x16xf32>, %t: tensor<32x16x4xf32>, %i: tensor<8xi64>) -> tensor<8x1x4xf32> {
  // CHECK-NEXT: %[[R:.*]] = ingot.gather_matmul %arg0, %arg1, %arg2 :
  // CHECK-NEXT: return %[[R]]
  %c = ingot.index_select %t, %i {axis = 0 : i64} : (tensor<32x16x4xf32>, tensor<8xi64>) -> tensor<8x16x4xf32>
  %r = ingot.matmul %a, %c {activation = 0 : i32} : (tensor<8x1x16xf32>, tensor<8x16x4xf32>) -> tensor<8x1x4xf32>
  return %r : tensor<8x1x4xf32>
}

// Indices of several dimensions come as one list, and the result is shaped afterwards.
// CHECK-LABEL: func.func @shaped
func.func @shaped(%a: tensor<2x1x1x16xf32>, %t: tensor<32x16x4xf32>, %i: tensor<8xi64>) -> tensor<2x4x1x4xf32> {
  // CHECK-NEXT: %[[I:.*]] = ingot.reshape %arg2() {sizes = array<i64: 2, 4>}
  // CHECK-NEXT: ingot.gather_matmul %arg0, %arg1, %[[I]]
  %c = ingot.index_select %t, %i {axis = 0 : i64} : (tensor<32x16x4xf32>, tensor<8xi64>) -> tensor<8x16x4xf32>
  %s = ingot.reshape %c() {sizes = array<i64: 2, 4, 16, 4>} : (tensor<8x16x4xf32>) -> tensor<2x4x16x4xf32>
  %r = ingot.matmul %a, %s {activation = 0 : i32} : (tensor<2x1x1x16xf32>, tensor<2x4x16x4xf32>) -> tensor<2x4x1x4xf32>
  return %r : tensor<2x4x1x4xf32>
}

// A reshape that cuts matrices is no choice of them.
// CHECK-LABEL: func.func @cut
func.func @cut(%a: tensor<16x1x8xf32>, %t: tensor<32x16x4xf32>, %i: tensor<8xi64>) -> tensor<16x1x4xf32> {
  // CHECK: ingot.matmul
  %c = ingot.index_select %t, %i {axis = 0 : i64} : (tensor<32x16x4xf32>, tensor<8xi64>) -> tensor<8x16x4xf32>
  %s = ingot.reshape %c() {sizes = array<i64: 16, 8, 4>} : (tensor<8x16x4xf32>) -> tensor<16x8x4xf32>
  %r = ingot.matmul %a, %s {activation = 0 : i32} : (tensor<16x1x8xf32>, tensor<16x8x4xf32>) -> tensor<16x1x4xf32>
  return %r : tensor<16x1x4xf32>
}

// Weights that constants choose are chosen once, and packed.
// CHECK-LABEL: func.func @constant
func.func @constant(%a: tensor<2x1x16xf32>) -> tensor<2x1x4xf32> {
  // CHECK: ingot.matmul
  %t = ingot.weight "table" : tensor<32x16x4xf32>
  %i = ingot.constant dense<[3, 5]> : tensor<2xi64>
  %c = ingot.index_select %t, %i {axis = 0 : i64} : (tensor<32x16x4xf32>, tensor<2xi64>) -> tensor<2x16x4xf32>
  %r = ingot.matmul %a, %c {activation = 0 : i32} : (tensor<2x1x16xf32>, tensor<2x16x4xf32>) -> tensor<2x1x4xf32>
  return %r : tensor<2x1x4xf32>
}
