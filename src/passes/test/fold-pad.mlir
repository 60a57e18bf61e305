// RUN: ingot-opt %s -fold-pad -canonicalize | FileCheck-19 %s

// CHECK-LABEL: func.func @zeros
func.func @zeros(%x: tensor<1x3x8x?xf32>, %w: tensor<4x3x3x3xf32>) -> tensor<1x4x4x?xf32> {
  // CHECK-NEXT: %[[R:.*]] = ingot.conv %arg0, %arg1 {{.*}}pad_high = array<i64: 1, 2>, pad_low = array<i64: 0, 1>
  // CHECK-NEXT: return %[[R]]
  %p = ingot.pad %x {low = array<i64: 0, 0, 0, 0>, high = array<i64: 0, 0, 1, 1>, mode = 0 : i32, value = 0.0 : f64} : (tensor<1x3x8x?xf32>) -> tensor<1x3x9x?xf32>
  %c = ingot.conv %p, %w {strides = array<i64: 2, 2>, pad_low = array<i64: 0, 1>, pad_high = array<i64: 0, 1>,
         dilations = array<i64: 1, 1>, output_padding = array<i64: 0, 0>, groups = 1 : i64, transposed = false,
         activation = 0 : i32} : (tensor<1x3x9x?xf32>, tensor<4x3x3x3xf32>) -> tensor<1x4x4x?xf32>
  return %c : tensor<1x4x4x?xf32>
}

// Other values, and zeros around channels, stay.
// CHECK-LABEL: func.func @others
func.func @others(%x: tensor<1x3x8x8xf32>, %w: tensor<4x3x3x3xf32>, %v: tensor<4x5x3x3xf32>) -> (tensor<1x4x8x8xf32>, tensor<1x4x6x6xf32>) {
  // CHECK-COUNT-2: ingot.pad
  %p = ingot.pad %x {low = array<i64: 0, 0, 1, 1>, high = array<i64: 0, 0, 1, 1>, mode = 0 : i32, value = 1.0 : f64} : (tensor<1x3x8x8xf32>) -> tensor<1x3x10x10xf32>
  %c = ingot.conv %p, %w {strides = array<i64: 1, 1>, pad_low = array<i64: 0, 0>, pad_high = array<i64: 0, 0>,
         dilations = array<i64: 1, 1>, output_padding = array<i64: 0, 0>, groups = 1 : i64, transposed = false,
         activation = 0 : i32} : (tensor<1x3x10x10xf32>, tensor<4x3x3x3xf32>) -> tensor<1x4x8x8xf32>
  %q = ingot.pad %x {low = array<i64: 0, 1, 0, 0>, high = array<i64: 0, 1, 0, 0>, mode = 0 : i32, value = 0.0 : f64} : (tensor<1x3x8x8xf32>) -> tensor<1x5x8x8xf32>
  %d = ingot.conv %q, %v {strides = array<i64: 1, 1>, pad_low = array<i64: 0, 0>, pad_high = array<i64: 0, 0>,
         dilations = array<i64: 1, 1>, output_padding = array<i64: 0, 0>, groups = 1 : i64, transposed = false,
         activation = 0 : i32} : (tensor<1x5x8x8xf32>, tensor<4x5x3x3xf32>) -> tensor<1x4x6x6xf32>
  return %c, %d : tensor<1x4x8x8xf32>, tensor<1x4x6x6xf32>
}
