// RUN: ingot-opt %s -expand-norms | FileCheck %s

// CHECK-LABEL: @softmax
// CHECK-SAME: (%[[X:.*]]: tensor<2x3xf32>)
// CHECK: %[[M:.*]] = ingot.reduce %[[X]] {dims = array<i64: 1>, kind = 2 : i32}
// CHECK: %[[D:.*]] = ingot.sub %[[X]], %[[M]]
// CHECK: %[[C:.*]] = ingot.maximum %[[D]]
// CHECK: %[[P:.*]] = ingot.exp %[[C]]
// CHECK: %[[L:.*]] = ingot.lt %[[D]]
// CHECK: %[[E:.*]] = ingot.select %[[L]], %{{.*}}, %[[P]]
// CHECK: %[[S:.*]] = ingot.reduce %[[E]] {dims = array<i64: 1>, kind = 0 : i32}
// CHECK: %[[I:.*]] = ingot.reciprocal %[[S]]
// CHECK: %[[R:.*]] = ingot.mul %[[E]], %[[I]]
// CHECK: return %[[R]]
func.func @softmax(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %r = ingot.softmax %x {axis = 1 : i64, log = false} : (tensor<2x3xf32>) -> tensor<2x3xf32>
  return %r : tensor<2x3xf32>
}

// CHECK-LABEL: @log_softmax_half
// CHECK: %[[X:.*]] = ingot.cast %{{.*}} : (tensor<2x?xf16>) -> tensor<2x?xf32>
// CHECK: %[[D:.*]] = ingot.sub %[[X]]
// CHECK: %[[L:.*]] = ingot.log
// CHECK: %[[R:.*]] = ingot.sub %[[D]], %[[L]]
// CHECK: ingot.cast %[[R]] : (tensor<2x?xf32>) -> tensor<2x?xf16>
func.func @log_softmax_half(%x: tensor<2x?xf16>) -> tensor<2x?xf16> {
  %r = ingot.softmax %x {axis = 1 : i64, log = true} : (tensor<2x?xf16>) -> tensor<2x?xf16>
  return %r : tensor<2x?xf16>
}

// Not over the last dimension: stays.
// CHECK-LABEL: @softmax_first
// CHECK: ingot.softmax
func.func @softmax_first(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %r = ingot.softmax %x {axis = 0 : i64, log = false} : (tensor<2x3xf32>) -> tensor<2x3xf32>
  return %r : tensor<2x3xf32>
}

// CHECK-LABEL: @layer_norm
// CHECK-SAME: (%[[X:.*]]: tensor<?x2x3xf32>, %[[W:.*]]: tensor<2x3xf32>, %[[B:.*]]: tensor<2x3xf32>)
// CHECK: %[[N:.*]] = ingot.constant dense<6.0{{.*}}> : tensor<f32>
// CHECK: %[[S:.*]] = ingot.reduce %[[X]] {dims = array<i64: 1, 2>, kind = 0 : i32} : (tensor<?x2x3xf32>) -> tensor<?x1x1xf32>
// CHECK: %[[MEAN:.*]] = ingot.div %[[S]], %[[N]]
// CHECK: %[[D:.*]] = ingot.sub %[[X]], %[[MEAN]]
// CHECK: %[[Q:.*]] = ingot.mul %[[D]], %[[D]]
// CHECK: ingot.reduce %[[Q]]
// CHECK: %[[R:.*]] = ingot.rsqrt
// CHECK: %[[Y:.*]] = ingot.mul %[[D]], %[[R]]
// CHECK: %[[Z:.*]] = ingot.mul %[[Y]], %[[W]]
// CHECK: ingot.add %[[Z]], %[[B]]
func.func @layer_norm(%x: tensor<?x2x3xf32>, %w: tensor<2x3xf32>, %b: tensor<2x3xf32>) -> tensor<?x2x3xf32> {
  %r = ingot.layer_norm %x, %w bias %b {rank = 2 : i64, eps = 1.0e-5 : f64, rms = false}
    : (tensor<?x2x3xf32>, tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<?x2x3xf32>
  return %r : tensor<?x2x3xf32>
}

// CHECK-LABEL: @rms_norm
// CHECK-NOT: ingot.sub
// CHECK: ingot.rsqrt
// CHECK-NOT: ingot.layer_norm
func.func @rms_norm(%x: tensor<4x8xf64>) -> tensor<4x8xf64> {
  %r = ingot.layer_norm %x {rank = 1 : i64, eps = 1.0e-5 : f64, rms = true} : (tensor<4x8xf64>) -> tensor<4x8xf64>
  return %r : tensor<4x8xf64>
}

// The number of elements is not known: stays.
// CHECK-LABEL: @dynamic_row
// CHECK: ingot.layer_norm
func.func @dynamic_row(%x: tensor<4x?xf32>) -> tensor<4x?xf32> {
  %r = ingot.layer_norm %x {rank = 1 : i64, eps = 1.0e-5 : f64, rms = false} : (tensor<4x?xf32>) -> tensor<4x?xf32>
  return %r : tensor<4x?xf32>
}

// The result knows more than the operand: stays.
// CHECK-LABEL: @known_result
// CHECK: ingot.layer_norm
// CHECK: ingot.softmax
func.func @known_result(%x: tensor<?x8xf32>) -> (tensor<1x8xf32>, tensor<1x8xf32>) {
  %r = ingot.layer_norm %x {rank = 1 : i64, eps = 1.0e-5 : f64, rms = false} : (tensor<?x8xf32>) -> tensor<1x8xf32>
  %s = ingot.softmax %x {axis = 1 : i64, log = false} : (tensor<?x8xf32>) -> tensor<1x8xf32>
  return %r, %s : tensor<1x8xf32>, tensor<1x8xf32>
}

// CHECK-LABEL: @group_norm
// CHECK: ingot.reshape %{{.*}} : (tensor<1x4x8xf32>) -> tensor<1x2x16xf32>
// CHECK: ingot.rsqrt
// CHECK: ingot.reshape %{{.*}} : (tensor<1x2x16xf32>) -> tensor<1x4x8xf32>
// CHECK: ingot.reshape %{{.*}} : (tensor<4xf32>) -> tensor<4x1xf32>
func.func @group_norm(%x: tensor<1x4x8xf32>, %w: tensor<4xf32>) -> tensor<1x4x8xf32> {
  %r = ingot.group_norm %x, %w {groups = 2 : i64, eps = 1.0e-5 : f64} : (tensor<1x4x8xf32>, tensor<4xf32>) -> tensor<1x4x8xf32>
  return %r : tensor<1x4x8xf32>
}

// Images stay.
// CHECK-LABEL: @group_norm_of_images
// CHECK: ingot.group_norm
func.func @group_norm_of_images(%x: tensor<1x4x8x8xf32>) -> tensor<1x4x8x8xf32> {
  %r = ingot.group_norm %x {groups = 2 : i64, eps = 1.0e-5 : f64} : (tensor<1x4x8x8xf32>) -> tensor<1x4x8x8xf32>
  return %r : tensor<1x4x8x8xf32>
}
