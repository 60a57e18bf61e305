// RUN: ingot-opt %s -form-blocks | FileCheck %s

// CHECK-LABEL: @whole
// CHECK-SAME: (%[[X:.*]]: tensor<?x16x8x8xf32>)
// CHECK: %[[D:.*]], %[[M:.*]] = ingot.depthwise_block %[[X]], %{{.*}} bias %{{.*}} expand %{{.*}} {activation = 5 : i32
// CHECK-SAME: expand_activation = 1 : i32
// CHECK: return %[[D]], %[[M]]
func.func @whole(%x: tensor<?x16x8x8xf32>) -> (tensor<?x96x4x4xf32>, tensor<?x96x1x1xf32>) {
  %v = ingot.weight "v" : tensor<96x16x1x1xf32>
  %w = ingot.weight "w" : tensor<96x1x3x3xf32>
  %b = ingot.weight "b" : tensor<96xf32>
  %e = ingot.conv %x, %v {strides = array<i64: 1, 1>, pad_low = array<i64: 0, 0>, pad_high = array<i64: 0, 0>,
         dilations = array<i64: 1, 1>, output_padding = array<i64: 0, 0>, groups = 1 : i64, transposed = false,
         activation = 1 : i32} : (tensor<?x16x8x8xf32>, tensor<96x16x1x1xf32>) -> tensor<?x96x8x8xf32>
  %d = ingot.conv %e, %w bias %b {strides = array<i64: 2, 2>, pad_low = array<i64: 0, 0>, pad_high = array<i64: 1, 1>,
         dilations = array<i64: 1, 1>, output_padding = array<i64: 0, 0>, groups = 96 : i64, transposed = false,
         activation = 5 : i32} : (tensor<?x96x8x8xf32>, tensor<96x1x3x3xf32>, tensor<96xf32>) -> tensor<?x96x4x4xf32>
  %m = ingot.adaptive_avg_pool %d {output = array<i64: 1, 1>} : (tensor<?x96x4x4xf32>) -> tensor<?x96x1x1xf32>
  return %d, %m : tensor<?x96x4x4xf32>, tensor<?x96x1x1xf32>
}

// A mean as sums and a division; without a convolution before it.
// CHECK-LABEL: @mean
// CHECK: %[[D:.*]], %[[M:.*]] = ingot.depthwise_block %{{.*}}, %{{.*}} {activation = 0 : i32
// CHECK-NOT: ingot.div
// CHECK: return %[[D]], %[[M]]
func.func @mean(%x: tensor<1x96x8x8xf32>) -> (tensor<1x96x8x8xf32>, tensor<1x96x1x1xf32>) {
  %w = ingot.weight "w" : tensor<96x1x3x3xf32>
  %n = ingot.constant dense<64.0> : tensor<f32>
  %d = ingot.conv %x, %w {strides = array<i64: 1, 1>, pad_low = array<i64: 1, 1>, pad_high = array<i64: 1, 1>,
         dilations = array<i64: 1, 1>, output_padding = array<i64: 0, 0>, groups = 96 : i64, transposed = false,
         activation = 0 : i32} : (tensor<1x96x8x8xf32>, tensor<96x1x3x3xf32>) -> tensor<1x96x8x8xf32>
  %s = ingot.reduce %d {kind = 0 : i32, dims = array<i64: 2, 3>} : (tensor<1x96x8x8xf32>) -> tensor<1x96x1x1xf32>
  %m = ingot.div %s, %n : (tensor<1x96x1x1xf32>, tensor<f32>) -> tensor<1x96x1x1xf32>
  return %d, %m : tensor<1x96x8x8xf32>, tensor<1x96x1x1xf32>
}

// The image before the depthwise convolution is an output, too; nothing is left to join.
// CHECK-LABEL: @needed
// CHECK-NOT: ingot.depthwise_block
func.func @needed(%x: tensor<1x16x8x8xf32>) -> (tensor<1x96x8x8xf32>, tensor<1x96x8x8xf32>) {
  %v = ingot.weight "v" : tensor<96x16x1x1xf32>
  %w = ingot.weight "w" : tensor<96x1x3x3xf32>
  %e = ingot.conv %x, %v {strides = array<i64: 1, 1>, pad_low = array<i64: 0, 0>, pad_high = array<i64: 0, 0>,
         dilations = array<i64: 1, 1>, output_padding = array<i64: 0, 0>, groups = 1 : i64, transposed = false,
         activation = 1 : i32} : (tensor<1x16x8x8xf32>, tensor<96x16x1x1xf32>) -> tensor<1x96x8x8xf32>
  %d = ingot.conv %e, %w {strides = array<i64: 1, 1>, pad_low = array<i64: 1, 1>, pad_high = array<i64: 1, 1>,
         dilations = array<i64: 1, 1>, output_padding = array<i64: 0, 0>, groups = 96 : i64, transposed = false,
         activation = 0 : i32} : (tensor<1x96x8x8xf32>, tensor<96x1x3x3xf32>) -> tensor<1x96x8x8xf32>
  return %e, %d : tensor<1x96x8x8xf32>, tensor<1x96x8x8xf32>
}
