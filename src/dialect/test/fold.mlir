// RUN: ingot-opt %s -canonicalize | FileCheck %s

// CHECK-LABEL: func @dims
func.func @dims(%x: tensor<?x4xf32>, %n: i64) -> (i64, i64) {
  // CHECK: %[[FOUR:.*]] = arith.constant 4 : i64
  %a = ingot.dim %x, 1 : (tensor<?x4xf32>) -> i64
  %y = ingot.reshape %x(%n) {sizes = array<i64: 2, -9223372036854775808>} : (tensor<?x4xf32>, i64) -> tensor<2x?xf32>
  %b = ingot.dim %y, 1 : (tensor<2x?xf32>) -> i64
  // CHECK: return %[[FOUR]], %arg1
  return %a, %b : i64, i64
}

// CHECK-LABEL: func @nothingChanges
func.func @nothingChanges(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %0 = ingot.reshape %x() {sizes = array<i64: 2, 3>} : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %1 = ingot.expand %0() {sizes = array<i64: 2, 3>} : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %2 = ingot.permute %1 {dims = array<i64: 0, 1>} : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %3 = ingot.slice %2() {axis = 0 : i64, bounds = array<i64: 0, 2>, step = 1 : i64} : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %4 = ingot.cast %3 : (tensor<2x3xf32>) -> tensor<2x3xf32>
  // CHECK-NEXT: return %arg0
  return %4 : tensor<2x3xf32>
}

// CHECK-LABEL: func @chains
func.func @chains(%x: tensor<2x3x4xf32>) -> (tensor<24xf32>, tensor<2x3x4xf32>) {
  // CHECK-NEXT: %[[R:.*]] = ingot.reshape %arg0() {sizes = array<i64: 24>} : (tensor<2x3x4xf32>) -> tensor<24xf32>
  %0 = ingot.reshape %x() {sizes = array<i64: 6, 4>} : (tensor<2x3x4xf32>) -> tensor<6x4xf32>
  %1 = ingot.reshape %0() {sizes = array<i64: 24>} : (tensor<6x4xf32>) -> tensor<24xf32>
  %2 = ingot.permute %x {dims = array<i64: 2, 0, 1>} : (tensor<2x3x4xf32>) -> tensor<4x2x3xf32>
  %3 = ingot.permute %2 {dims = array<i64: 1, 2, 0>} : (tensor<4x2x3xf32>) -> tensor<2x3x4xf32>
  // CHECK-NEXT: return %[[R]], %arg0
  return %1, %3 : tensor<24xf32>, tensor<2x3x4xf32>
}

// Two unknown sizes may be another two: 4x3 as 3x4.
// CHECK-LABEL: func @mayChange
func.func @mayChange(%x: tensor<?x?xf32>, %a: i64, %b: i64) -> tensor<?x?xf32> {
  // CHECK-NEXT: ingot.reshape
  %0 = ingot.reshape %x(%a, %b) {sizes = array<i64: -9223372036854775808, -9223372036854775808>} : (tensor<?x?xf32>, i64, i64) -> tensor<?x?xf32>
  return %0 : tensor<?x?xf32>
}
