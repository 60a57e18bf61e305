// RUN: ingot-opt %s -fold-factors | FileCheck %s

// CHECK-LABEL: @excite
// CHECK-SAME: (%[[X:.*]]: tensor<1x32x8x8xf32>, %[[F:.*]]: tensor<1x32x1x1xf32>, %[[S:.*]]: tensor<1x16x8x8xf32>)
// CHECK-NOT: ingot.mul
// CHECK: %[[R:.*]] = ingot.scaled_pointwise %[[X]], %{{.*}} residual %[[S]] factors %[[F]] {activation = 1 : i32}
// CHECK: return %[[R]]
func.func @excite(%x: tensor<1x32x8x8xf32>, %f: tensor<1x32x1x1xf32>, %s: tensor<1x16x8x8xf32>) -> tensor<1x16x8x8xf32> {
  %w = ingot.weight "w" : tensor<16x32x1x1xf32>
  %m = ingot.mul %f, %x : (tensor<1x32x1x1xf32>, tensor<1x32x8x8xf32>) -> tensor<1x32x8x8xf32>
  %r = ingot.conv %m, %w residual %s {strides = array<i64: 1, 1>, pad_low = array<i64: 0, 0>, pad_high = array<i64: 0, 0>,
         dilations = array<i64: 1, 1>, output_padding = array<i64: 0, 0>, groups = 1 : i64, transposed = false,
         activation = 1 : i32} : (tensor<1x32x8x8xf32>, tensor<16x32x1x1xf32>, tensor<1x16x8x8xf32>) -> tensor<1x16x8x8xf32>
  return %r : tensor<1x16x8x8xf32>
}

// Factors of pixels, a product that somebody else needs, filters of more than a pixel, an image that a loop writes anyway.
// CHECK-LABEL: @others
// CHECK-COUNT-4: ingot.mul
// CHECK-NOT: ingot.scaled_pointwise
func.func @others(%x: tensor<1x32x8x8xf32>, %p: tensor<1x1x8x8xf32>, %f: tensor<1x32x1x1xf32>)
    -> (tensor<1x32x8x8xf32>, tensor<1x32x8x8xf32>, tensor<1x32x8x8xf32>, tensor<1x32x8x8xf32>, tensor<1x32x8x8xf32>) {
  %w = ingot.weight "w" : tensor<32x32x1x1xf32>
  %v = ingot.weight "v" : tensor<32x32x3x3xf32>
  %0 = ingot.mul %x, %p : (tensor<1x32x8x8xf32>, tensor<1x1x8x8xf32>) -> tensor<1x32x8x8xf32>
  %1 = ingot.mul %x, %f : (tensor<1x32x8x8xf32>, tensor<1x32x1x1xf32>) -> tensor<1x32x8x8xf32>
  %2 = ingot.mul %x, %f : (tensor<1x32x8x8xf32>, tensor<1x32x1x1xf32>) -> tensor<1x32x8x8xf32>
  %3 = ingot.exp %x : (tensor<1x32x8x8xf32>) -> tensor<1x32x8x8xf32>
  %4 = ingot.mul %3, %f : (tensor<1x32x8x8xf32>, tensor<1x32x1x1xf32>) -> tensor<1x32x8x8xf32>
  %a = ingot.conv %0, %w {strides = array<i64: 1, 1>, pad_low = array<i64: 0, 0>, pad_high = array<i64: 0, 0>,
         dilations = array<i64: 1, 1>, output_padding = array<i64: 0, 0>, groups = 1 : i64, transposed = false,
         activation = 0 : i32} : (tensor<1x32x8x8xf32>, tensor<32x32x1x1xf32>) -> tensor<1x32x8x8xf32>
  %b = ingot.conv %1, %w {strides = array<i64: 1, 1>, pad_low = array<i64: 0, 0>, pad_high = array<i64: 0, 0>,
         dilations = array<i64: 1, 1>, output_padding = array<i64: 0, 0>, groups = 1 : i64, transposed = false,
         activation = 0 : i32} : (tensor<1x32x8x8xf32>, tensor<32x32x1x1xf32>) -> tensor<1x32x8x8xf32>
  %c = ingot.conv %2, %v {strides = array<i64: 1, 1>, pad_low = array<i64: 1, 1>, pad_high = array<i64: 1, 1>,
         dilations = array<i64: 1, 1>, output_padding = array<i64: 0, 0>, groups = 1 : i64, transposed = false,
         activation = 0 : i32} : (tensor<1x32x8x8xf32>, tensor<32x32x3x3xf32>) -> tensor<1x32x8x8xf32>
  %d = ingot.conv %4, %w {strides = array<i64: 1, 1>, pad_low = array<i64: 0, 0>, pad_high = array<i64: 0, 0>,
         dilations = array<i64: 1, 1>, output_padding = array<i64: 0, 0>, groups = 1 : i64, transposed = false,
         activation = 0 : i32} : (tensor<1x32x8x8xf32>, tensor<32x32x1x1xf32>) -> tensor<1x32x8x8xf32>
  return %a, %b, %1, %c, %d : tensor<1x32x8x8xf32>, tensor<1x32x8x8xf32>, tensor<1x32x8x8xf32>, tensor<1x32x8x8xf32>, tensor<1x32x8x8xf32>
}
