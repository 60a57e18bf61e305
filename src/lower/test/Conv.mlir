// RUN: ingot-opt %s -lower-aten | FileCheck %s

// The odd zero of "same" goes to the end.
// CHECK-LABEL: func @same
// CHECK-NEXT: ingot.conv %arg0, %arg1
// CHECK-SAME: pad_high = array<i64: 2>, pad_low = array<i64: 1>
func.func @same(%x: tensor<1x2x8xf32>, %w: tensor<3x2x4xf32>) -> tensor<1x3x8xf32> {
  %0 = ingot.aten "aten::conv1d.padding"(%x, %w) {args = {bias, dilation = [1], groups = 1 : i64, input = #ingot.value<0>, padding = "same", stride = [1], weight = #ingot.value<1>}} : (tensor<1x2x8xf32>, tensor<3x2x4xf32>) -> tensor<1x3x8xf32>
  return %0 : tensor<1x3x8xf32>
}

// CHECK-LABEL: func @unbatched
// CHECK-NEXT: %[[X:.*]] = ingot.reshape %arg0() {sizes = array<i64: 1, 2, 8, 8>}
// CHECK-NEXT: %[[R:.*]] = ingot.conv %[[X]], %arg1 bias %arg2
// CHECK-NEXT: ingot.reshape %[[R]]() {sizes = array<i64: 3, 6, 6>}
func.func @unbatched(%x: tensor<2x8x8xf32>, %w: tensor<3x2x3x3xf32>, %b: tensor<3xf32>) -> tensor<3x6x6xf32> {
  %0 = ingot.aten "aten::conv2d"(%x, %w, %b) {args = {bias = #ingot.value<2>, dilation = [1, 1], groups = 1 : i64, input = #ingot.value<0>, padding = [0, 0], stride = [1, 1], weight = #ingot.value<1>}} : (tensor<2x8x8xf32>, tensor<3x2x3x3xf32>, tensor<3xf32>) -> tensor<3x6x6xf32>
  return %0 : tensor<3x6x6xf32>
}

// CHECK-LABEL: func @max_pool
// CHECK-NEXT: ingot.max_pool %arg0 {ceil_mode = false, dilations = array<i64: 1, 1>, kernel = array<i64: 2, 2>, padding = array<i64: 0, 0>, strides = array<i64: 2, 2>}
func.func @max_pool(%x: tensor<1x2x8x8xf32>) -> tensor<1x2x4x4xf32> {
  %0 = ingot.aten "aten::max_pool2d"(%x) {args = {ceil_mode = false, dilation = [1, 1], kernel_size = [2, 2], padding = [0, 0], self = #ingot.value<0>, stride = []}} : (tensor<1x2x8x8xf32>) -> tensor<1x2x4x4xf32>
  return %0 : tensor<1x2x4x4xf32>
}

// CHECK-LABEL: func @window_larger_than_image
// CHECK-NEXT: ingot.avg_pool %arg0 {{.*}} kernel = array<i64: 7, 7>
func.func @window_larger_than_image(%x: tensor<1x2x7x7xf32>) -> tensor<1x2x1x1xf32> {
  %0 = ingot.aten "aten::avg_pool2d"(%x) {args = {ceil_mode = true, count_include_pad = true, divisor_override, kernel_size = [64, 64], padding = [0, 0], self = #ingot.value<0>, stride = [64, 64]}} : (tensor<1x2x7x7xf32>) -> tensor<1x2x1x1xf32>
  return %0 : tensor<1x2x1x1xf32>
}

// CHECK-LABEL: func @upsample
// CHECK-NEXT: ingot.resize %arg0() {align_corners = false, mode = 2 : i32, scales = array<f64: 2.000000e+00, 2.000000e+00>, sizes = array<i64: 6, 8>}
func.func @upsample(%x: tensor<1x2x3x4xf32>) -> tensor<1x2x6x8xf32> {
  %0 = ingot.aten "aten::upsample_bilinear2d.vec"(%x) {args = {align_corners = false, input = #ingot.value<0>, output_size, scale_factors = [2.0, 2.0]}} : (tensor<1x2x3x4xf32>) -> tensor<1x2x6x8xf32>
  return %0 : tensor<1x2x6x8xf32>
}
