// RUN: ingot-opt %s -form-clusters | FileCheck %s

// CHECK-LABEL: @chain
// CHECK-SAME: (%[[X:.*]]: tensor<2x3xf32>, %[[Y:.*]]: tensor<3xf32>)
// CHECK: %[[R:.*]] = ingot.cluster(%[[X]], %[[Y]]) {
// CHECK-NEXT: ^bb0(%[[A:.*]]: tensor<2x3xf32>, %[[B:.*]]: tensor<3xf32>):
// CHECK-NEXT: %[[S:.*]] = ingot.add %[[A]], %[[B]]
// CHECK-NEXT: %[[T:.*]] = ingot.relu %[[S]]
// CHECK-NEXT: ingot.yield %[[T]]
// CHECK: return %[[R]]
func.func @chain(%x: tensor<2x3xf32>, %y: tensor<3xf32>) -> tensor<2x3xf32> {
  %0 = ingot.add %x, %y : (tensor<2x3xf32>, tensor<3xf32>) -> tensor<2x3xf32>
  %1 = ingot.relu %0 : (tensor<2x3xf32>) -> tensor<2x3xf32>
  return %1 : tensor<2x3xf32>
}

// Constants of one element, and splats, move inside.
// CHECK-LABEL: @constants
// CHECK: ingot.cluster(%{{[a-z0-9]*}}) {
// CHECK-NEXT: ^bb0
// CHECK-NEXT: %[[C:.*]] = ingot.constant dense<2.0{{.*}}> : tensor<f32>
// CHECK-NEXT: ingot.mul %{{.*}}, %[[C]]
// CHECK-NEXT: ingot.add %{{.*}}, %[[C]] : (tensor<2x3xf32>, tensor<f32>)
func.func @constants(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %two = ingot.constant dense<2.0> : tensor<f32>
  %twos = ingot.constant dense<2.0> : tensor<2x3xf32>
  %0 = ingot.mul %x, %two : (tensor<2x3xf32>, tensor<f32>) -> tensor<2x3xf32>
  %1 = ingot.add %0, %twos : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  return %1 : tensor<2x3xf32>
}

// The splat gives the result its sizes, so it stays outside.
// CHECK-LABEL: @splat_with_sizes
// CHECK: ingot.cluster(%{{.*}}, %{{.*}}) {
func.func @splat_with_sizes(%x: tensor<3xf32>) -> tensor<2x3xf32> {
  %twos = ingot.constant dense<2.0> : tensor<2x3xf32>
  %0 = ingot.add %x, %twos : (tensor<3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  return %0 : tensor<2x3xf32>
}

// A value needed outside is a second result; the loop through the product keeps the clusters apart.
// CHECK-LABEL: @cycle
// CHECK: %[[A:.*]] = ingot.cluster
// CHECK-NEXT: ^bb0
// CHECK-NEXT: ingot.relu
// CHECK-NEXT: ingot.yield
// CHECK: %[[P:.*]] = ingot.matmul %[[A]]
// CHECK: ingot.cluster(%[[A]], %[[P]])
// CHECK-NEXT: ^bb0
// CHECK-NEXT: ingot.add
// CHECK-NEXT: ingot.gelu
func.func @cycle(%x: tensor<4x4xf32>, %w: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %0 = ingot.relu %x : (tensor<4x4xf32>) -> tensor<4x4xf32>
  %1 = ingot.matmul %0, %w {activation = 0 : i32} : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %2 = ingot.add %0, %1 : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %3 = ingot.gelu %2 : (tensor<4x4xf32>) -> tensor<4x4xf32>
  return %3 : tensor<4x4xf32>
}

// CHECK-LABEL: @two_results
// CHECK: %[[R:.*]]:2 = ingot.cluster
// CHECK: ingot.matmul %[[R]]#0
// CHECK: return %{{.*}}, %[[R]]#1
func.func @two_results(%x: tensor<4x4xf32>, %w: tensor<4x4xf32>) -> (tensor<4x4xf32>, tensor<4x4xf32>) {
  %0 = ingot.relu %x : (tensor<4x4xf32>) -> tensor<4x4xf32>
  %1 = ingot.matmul %0, %w {activation = 0 : i32} : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %2 = ingot.exp %0 : (tensor<4x4xf32>) -> tensor<4x4xf32>
  return %1, %2 : tensor<4x4xf32>, tensor<4x4xf32>
}

// CHECK-LABEL: @softmax
// CHECK-COUNT-1: ingot.cluster
// CHECK: ingot.reduce
// CHECK: ingot.reduce
// CHECK: ingot.div
// CHECK-NEXT: ingot.yield
// CHECK-NOT: ingot.cluster
func.func @softmax(%x: tensor<2x3xf32>, %mask: tensor<3xf32>) -> tensor<2x3xf32> {
  %0 = ingot.add %x, %mask : (tensor<2x3xf32>, tensor<3xf32>) -> tensor<2x3xf32>
  %1 = ingot.reduce %0 {kind = 2 : i32, dims = array<i64: 1>} : (tensor<2x3xf32>) -> tensor<2x1xf32>
  %2 = ingot.sub %0, %1 : (tensor<2x3xf32>, tensor<2x1xf32>) -> tensor<2x3xf32>
  %3 = ingot.exp %2 : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %4 = ingot.reduce %3 {kind = 0 : i32, dims = array<i64: 1>} : (tensor<2x3xf32>) -> tensor<2x1xf32>
  %5 = ingot.div %3, %4 : (tensor<2x3xf32>, tensor<2x1xf32>) -> tensor<2x3xf32>
  return %5 : tensor<2x3xf32>
}

// Ops on the reduced shape follow the reduction; ones on another shape do not.
// CHECK-LABEL: @mean
// CHECK: %[[M:.*]] = ingot.cluster
// CHECK: ingot.reduce
// CHECK: ingot.div
// CHECK: ingot.yield
// CHECK: ingot.reshape %[[M]]
// CHECK: ingot.cluster
// CHECK-NEXT: ^bb0
// CHECK-NEXT: ingot.relu
func.func @mean(%x: tensor<2x3xf32>) -> tensor<2xf32> {
  %n = ingot.constant dense<3.0> : tensor<f32>
  %0 = ingot.reduce %x {kind = 0 : i32, dims = array<i64: 1>} : (tensor<2x3xf32>) -> tensor<2x1xf32>
  %1 = ingot.div %0, %n : (tensor<2x1xf32>, tensor<f32>) -> tensor<2x1xf32>
  %2 = ingot.reshape %1() {sizes = array<i64: 2>} : (tensor<2x1xf32>) -> tensor<2xf32>
  %3 = ingot.relu %2 : (tensor<2xf32>) -> tensor<2xf32>
  return %3 : tensor<2xf32>
}

// Not over the last dimensions: stays an op.
// CHECK-LABEL: @reduce_first
// CHECK-NOT: ingot.cluster
func.func @reduce_first(%x: tensor<2x3xf32>) -> tensor<1x3xf32> {
  %0 = ingot.reduce %x {kind = 0 : i32, dims = array<i64: 0>} : (tensor<2x3xf32>) -> tensor<1x3xf32>
  return %0 : tensor<1x3xf32>
}

// What depends on weights only is computed once, so it is not mixed with the rest.
// CHECK-LABEL: @weights
// CHECK: %[[W:.*]] = ingot.weight
// CHECK: %[[E:.*]] = ingot.cluster(%[[W]])
// CHECK: ingot.cluster(%{{.*}}, %[[E]])
func.func @weights(%x: tensor<3xf32>) -> tensor<3xf32> {
  %w = ingot.weight "w" : tensor<3xf32>
  %0 = ingot.exp %w : (tensor<3xf32>) -> tensor<3xf32>
  %1 = ingot.mul %x, %0 : (tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32>
  return %1 : tensor<3xf32>
}

// CHECK-LABEL: @complex
// CHECK-NOT: ingot.cluster
func.func @complex(%x: tensor<3xcomplex<f32>>) -> tensor<3xcomplex<f32>> {
  %0 = ingot.neg %x : (tensor<3xcomplex<f32>>) -> tensor<3xcomplex<f32>>
  return %0 : tensor<3xcomplex<f32>>
}

// Sizes of one name are equal, as are those that come from them.
// CHECK-LABEL: @dynamic
// CHECK: ingot.cluster
// CHECK: ingot.relu
// CHECK: ingot.add
// CHECK: ingot.exp
// CHECK-NOT: ingot.cluster
func.func @dynamic(%x: tensor<?x4xf32> {ingot.dims = ["s0", "4"]}, %y: tensor<?x4xf32> {ingot.dims = ["s0", "4"]}) -> tensor<?x4xf32> {
  %0 = ingot.relu %x : (tensor<?x4xf32>) -> tensor<?x4xf32>
  %1 = ingot.add %0, %y : (tensor<?x4xf32>, tensor<?x4xf32>) -> tensor<?x4xf32>
  %2 = ingot.exp %1 : (tensor<?x4xf32>) -> tensor<?x4xf32>
  return %2 : tensor<?x4xf32>
}

// One of the sizes could be 1: the ops before the broadcast stay apart.
// CHECK-LABEL: @unknown_broadcast
// CHECK: ingot.cluster
// CHECK: ingot.relu
// CHECK: ingot.cluster
// CHECK: ingot.add
func.func @unknown_broadcast(%x: tensor<?xf32>, %y: tensor<?xf32>) -> tensor<?xf32> {
  %0 = ingot.relu %x : (tensor<?xf32>) -> tensor<?xf32>
  %1 = ingot.add %0, %y : (tensor<?xf32>, tensor<?xf32>) -> tensor<?xf32>
  return %1 : tensor<?xf32>
}

// Sizes survive a reshape that is given them.
// CHECK-LABEL: @dynamic_reshape
// CHECK: ingot.reshape
// CHECK: ingot.cluster
// CHECK: ingot.relu
// CHECK: ingot.add
// CHECK-NOT: ingot.cluster
func.func @dynamic_reshape(%x: tensor<?x4xf32>, %y: tensor<?x2x2xf32>) -> tensor<?x4xf32> {
  %n = ingot.dim %x, 0 : (tensor<?x4xf32>) -> i64
  %0 = ingot.reshape %y(%n) {sizes = array<i64: -9223372036854775808, 4>} : (tensor<?x2x2xf32>, i64) -> tensor<?x4xf32>
  %1 = ingot.relu %0 : (tensor<?x4xf32>) -> tensor<?x4xf32>
  %2 = ingot.add %1, %x : (tensor<?x4xf32>, tensor<?x4xf32>) -> tensor<?x4xf32>
  return %2 : tensor<?x4xf32>
}
