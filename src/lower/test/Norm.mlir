// RUN: ingot-opt %s -lower-aten | FileCheck %s

// A product and a sum, which fold into a convolution before it.
// CHECK-LABEL: func @batch_norm
// CHECK: %[[R:.*]] = ingot.rsqrt
// CHECK-NEXT: %[[SCALE:.*]] = ingot.mul %arg1, %[[R]] : (tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32>
// CHECK-NEXT: %[[MS:.*]] = ingot.mul %arg3, %[[SCALE]]
// CHECK-NEXT: %[[SHIFT:.*]] = ingot.sub %arg2, %[[MS]]
// CHECK: %[[P:.*]] = ingot.mul %arg0, {{.*}} : (tensor<1x3x4x4xf32>, tensor<3x1x1xf32>) -> tensor<1x3x4x4xf32>
// CHECK: ingot.add %[[P]],
func.func @batch_norm(%x: tensor<1x3x4x4xf32>, %w: tensor<3xf32>, %b: tensor<3xf32>, %m: tensor<3xf32>, %v: tensor<3xf32>) -> tensor<1x3x4x4xf32> {
  %0 = ingot.aten "aten::batch_norm"(%x, %w, %b, %m, %v) {args = {bias = #ingot.value<2>, cudnn_enabled = true, eps = 1.0e-5 : f64, input = #ingot.value<0>, momentum = 0.1 : f64, running_mean = #ingot.value<3>, running_var = #ingot.value<4>, training = false, weight = #ingot.value<1>}} : (tensor<1x3x4x4xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>) -> tensor<1x3x4x4xf32>
  return %0 : tensor<1x3x4x4xf32>
}

// The statistics that nobody uses are not computed.
// CHECK-LABEL: func @native_layer_norm
// CHECK-NEXT: ingot.layer_norm %arg0, %arg1 bias %arg2 {eps = 1.000000e-05 : f64, rank = 1 : i64, rms = false}
// CHECK-NEXT: return
func.func @native_layer_norm(%x: tensor<2x3xf32>, %w: tensor<3xf32>, %b: tensor<3xf32>) -> tensor<2x3xf32> {
  %0:3 = ingot.aten "aten::native_layer_norm"(%x, %w, %b) {args = {bias = #ingot.value<2>, eps = 1.0e-5 : f64, input = #ingot.value<0>, normalized_shape = [3], weight = #ingot.value<1>}} : (tensor<2x3xf32>, tensor<3xf32>, tensor<3xf32>) -> (tensor<2x3xf32>, tensor<2x1xf32>, tensor<2x1xf32>)
  return %0#0 : tensor<2x3xf32>
}

// CHECK-LABEL: func @softmax_in_f32
// CHECK-NEXT: ingot.cast %arg0 : (tensor<2x3xf16>) -> tensor<2x3xf32>
// CHECK-NEXT: ingot.softmax {{.*}} {axis = 1 : i64, log = false}
// CHECK-NEXT: ingot.cast {{.*}} -> tensor<2x3xf16>
func.func @softmax_in_f32(%x: tensor<2x3xf16>) -> tensor<2x3xf16> {
  %0 = ingot.aten "aten::softmax.int"(%x) {args = {dim = -1 : i64, dtype, self = #ingot.value<0>}} : (tensor<2x3xf16>) -> tensor<2x3xf16>
  return %0 : tensor<2x3xf16>
}
