// RUN: ingot-opt %s -fold-attention -canonicalize | FileCheck-19 %s

// CHECK-LABEL: func.func @masked
func.func @masked(%q: tensor<2x4x8x16xf32>, %k: tensor<2x4x9x16xf32>, %v: tensor<2x4x9x5xf32>, %mask: tensor<1x4x8x9xf32>) -> tensor<2x4x8x5xf32> {
  // CHECK-NEXT: %[[R:.*]] = ingot.attention %arg0, %arg1, %arg2, %arg3 {causal = false, nan_rows = true, scale = 2.500000e-01 : f64}
  // CHECK-NEXT: return %[[R]]
  %c = ingot.constant dense<4.0> : tensor<f32>
  %t = ingot.permute %k {dims = array<i64: 0, 1, 3, 2>} : (tensor<2x4x9x16xf32>) -> tensor<2x4x16x9xf32>
  %s = ingot.matmul %q, %t {activation = 0 : i32} : (tensor<2x4x8x16xf32>, tensor<2x4x16x9xf32>) -> tensor<2x4x8x9xf32>
  %d = ingot.div %s, %c : (tensor<2x4x8x9xf32>, tensor<f32>) -> tensor<2x4x8x9xf32>
  %m = ingot.add %d, %mask : (tensor<2x4x8x9xf32>, tensor<1x4x8x9xf32>) -> tensor<2x4x8x9xf32>
  %p = ingot.softmax %m {axis = 3 : i64, log = false} : (tensor<2x4x8x9xf32>) -> tensor<2x4x8x9xf32>
  %r = ingot.matmul %p, %v {activation = 0 : i32} : (tensor<2x4x8x9xf32>, tensor<2x4x9x5xf32>) -> tensor<2x4x8x5xf32>
  return %r : tensor<2x4x8x5xf32>
}

// A mask of windows: images and windows are one dimension before and after it is added.
// CHECK-LABEL: func.func @windows
func.func @windows(%q: tensor<6x4x8x16xf32>, %t: tensor<6x4x16x8xf32>, %v: tensor<6x4x8x5xf32>, %mask: tensor<1x3x1x8x8xf32>) -> tensor<6x4x8x5xf32> {
  // CHECK-DAG: %[[K:.*]] = ingot.permute %arg1
  // CHECK-DAG: %[[E:.*]] = ingot.expand %arg3() {sizes = array<i64: 2, 3, 1, 8, 8>}
  // CHECK-DAG: %[[M:.*]] = ingot.reshape %[[E]]() {sizes = array<i64: 6, 1, 8, 8>}
  // CHECK: ingot.attention %arg0, %[[K]], %arg2, %[[M]] {causal = false, nan_rows = true, scale = 1.000000e+00 : f64}
  %s = ingot.matmul %q, %t {activation = 0 : i32} : (tensor<6x4x8x16xf32>, tensor<6x4x16x8xf32>) -> tensor<6x4x8x8xf32>
  %i = ingot.reshape %s() {sizes = array<i64: 2, 3, 4, 8, 8>} : (tensor<6x4x8x8xf32>) -> tensor<2x3x4x8x8xf32>
  %m = ingot.add %i, %mask : (tensor<2x3x4x8x8xf32>, tensor<1x3x1x8x8xf32>) -> tensor<2x3x4x8x8xf32>
  %o = ingot.reshape %m() {sizes = array<i64: 6, 4, 8, 8>} : (tensor<2x3x4x8x8xf32>) -> tensor<6x4x8x8xf32>
  %p = ingot.softmax %o {axis = 3 : i64, log = false} : (tensor<6x4x8x8xf32>) -> tensor<6x4x8x8xf32>
  %r = ingot.matmul %p, %v {activation = 0 : i32} : (tensor<6x4x8x8xf32>, tensor<6x4x8x5xf32>) -> tensor<6x4x8x5xf32>
  return %r : tensor<6x4x8x5xf32>
}

// The factor multiplies the mask, too.
// CHECK-LABEL: func.func @scaled_mask
func.func @scaled_mask(%q: tensor<4x8x16xf32>, %t: tensor<4x16x8xf32>, %v: tensor<4x8x5xf32>, %mask: tensor<8x8xf32>) -> tensor<4x8x5xf32> {
  // CHECK-NOT: ingot.attention
  %c = ingot.constant dense<4.0> : tensor<f32>
  %s = ingot.matmul %q, %t {activation = 0 : i32} : (tensor<4x8x16xf32>, tensor<4x16x8xf32>) -> tensor<4x8x8xf32>
  %m = ingot.add %s, %mask : (tensor<4x8x8xf32>, tensor<8x8xf32>) -> tensor<4x8x8xf32>
  %d = ingot.mul %m, %c : (tensor<4x8x8xf32>, tensor<f32>) -> tensor<4x8x8xf32>
  %p = ingot.softmax %d {axis = 2 : i64, log = false} : (tensor<4x8x8xf32>) -> tensor<4x8x8xf32>
  %r = ingot.matmul %p, %v {activation = 0 : i32} : (tensor<4x8x8xf32>, tensor<4x8x5xf32>) -> tensor<4x8x5xf32>
  return %r : tensor<4x8x5xf32>
}

// Somebody else wants the weights.
// CHECK-LABEL: func.func @seen
func.func @seen(%q: tensor<4x8x16xf32>, %t: tensor<4x16x8xf32>, %v: tensor<4x8x5xf32>) -> (tensor<4x8x5xf32>, tensor<4x8x8xf32>) {
  // CHECK-NOT: ingot.attention
  %s = ingot.matmul %q, %t {activation = 0 : i32} : (tensor<4x8x16xf32>, tensor<4x16x8xf32>) -> tensor<4x8x8xf32>
  %p = ingot.softmax %s {axis = 2 : i64, log = false} : (tensor<4x8x8xf32>) -> tensor<4x8x8xf32>
  %r = ingot.matmul %p, %v {activation = 0 : i32} : (tensor<4x8x8xf32>, tensor<4x8x5xf32>) -> tensor<4x8x5xf32>
  return %r, %p : tensor<4x8x5xf32>, tensor<4x8x8xf32>
}
