// RUN: ingot-opt %s -fold-select-row -canonicalize | FileCheck-19 %s

// CHECK-LABEL: func.func @one_row
func.func @one_row(%x: tensor<2x8x4xf32>, %row: tensor<2x1x4xf32>) -> tensor<2x8x4xf32> {
  %zero = arith.constant 0 : i64
  %one = arith.constant 1 : i64
  %count = arith.constant 8 : i64
  %p = ingot.constant dense<5> : tensor<i64>
  %i = ingot.iota %zero, %one, %count : (i64, i64, i64) -> tensor<8xi64>
  %v = ingot.reshape %i() {sizes = array<i64: 1, 8, 1>} : (tensor<8xi64>) -> tensor<1x8x1xi64>
  %m = ingot.eq %v, %p : (tensor<1x8x1xi64>, tensor<i64>) -> tensor<1x8x1xi1>
  %a = ingot.expand %row() {sizes = array<i64: 2, 8, 4>} : (tensor<2x1x4xf32>) -> tensor<2x8x4xf32>
  // CHECK: %[[R:.*]] = ingot.insert_slice %arg0, %arg1() {axis = 1 : i64, bounds = array<i64: 5, 6>, step = 1 : i64}
  // CHECK-NEXT: return %[[R]]
  %r = ingot.select %m, %a, %x : (tensor<1x8x1xi1>, tensor<2x8x4xf32>, tensor<2x8x4xf32>) -> tensor<2x8x4xf32>
  return %r : tensor<2x8x4xf32>
}

// The other tensor's own row, where it is no repeated one.
// CHECK-LABEL: func.func @row_of_another
func.func @row_of_another(%x: tensor<8x4xf32>, %y: tensor<8x4xf32>) -> tensor<8x4xf32> {
  %zero = arith.constant 0 : i64
  %one = arith.constant 1 : i64
  %count = arith.constant 4 : i64
  %p = ingot.constant dense<3> : tensor<1x1xi64>
  %i = ingot.iota %zero, %one, %count : (i64, i64, i64) -> tensor<4xi64>
  %m = ingot.eq %i, %p : (tensor<4xi64>, tensor<1x1xi64>) -> tensor<1x4xi1>
  // CHECK: %[[S:.*]] = ingot.slice %arg1() {axis = 1 : i64, bounds = array<i64: 3, 4>, step = 1 : i64}
  // CHECK: ingot.insert_slice %arg0, %[[S]]() {axis = 1 : i64, bounds = array<i64: 3, 4>, step = 1 : i64}
  %r = ingot.select %m, %y, %x : (tensor<1x4xi1>, tensor<8x4xf32>, tensor<8x4xf32>) -> tensor<8x4xf32>
  return %r : tensor<8x4xf32>
}

// A dimension of size 1 is written as a whole.
// CHECK-LABEL: func.func @only_row
// CHECK-NEXT: return %arg1
func.func @only_row(%x: tensor<1x4xf32>, %y: tensor<1x4xf32>) -> tensor<1x4xf32> {
  %zero = arith.constant 0 : i64
  %one = arith.constant 1 : i64
  %p = ingot.constant dense<0> : tensor<i64>
  %i = ingot.iota %zero, %one, %one : (i64, i64, i64) -> tensor<1xi64>
  %v = ingot.reshape %i() {sizes = array<i64: 1, 1>} : (tensor<1xi64>) -> tensor<1x1xi64>
  %m = ingot.eq %v, %p : (tensor<1x1xi64>, tensor<i64>) -> tensor<1x1xi1>
  %r = ingot.select %m, %y, %x : (tensor<1x1xi1>, tensor<1x4xf32>, tensor<1x4xf32>) -> tensor<1x4xf32>
  return %r : tensor<1x4xf32>
}

// Positions that do not exist, and steps that are not one, stay a choice.
// CHECK-LABEL: func.func @no_row
func.func @no_row(%x: tensor<8xf32>, %y: tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>) {
  %zero = arith.constant 0 : i64
  %one = arith.constant 1 : i64
  %two = arith.constant 2 : i64
  %count = arith.constant 8 : i64
  %outside = ingot.constant dense<9> : tensor<i64>
  %inside = ingot.constant dense<4> : tensor<i64>
  %i = ingot.iota %zero, %one, %count : (i64, i64, i64) -> tensor<8xi64>
  %j = ingot.iota %zero, %two, %count : (i64, i64, i64) -> tensor<8xi64>
  %m = ingot.eq %i, %outside : (tensor<8xi64>, tensor<i64>) -> tensor<8xi1>
  %n = ingot.eq %j, %inside : (tensor<8xi64>, tensor<i64>) -> tensor<8xi1>
  // CHECK: ingot.select
  // CHECK: ingot.select
  // CHECK-NOT: ingot.insert_slice
  %r = ingot.select %m, %y, %x : (tensor<8xi1>, tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
  %s = ingot.select %n, %y, %x : (tensor<8xi1>, tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
  return %r, %s : tensor<8xf32>, tensor<8xf32>
}
