// RUN: ingot-opt %s -lower-aten | FileCheck %s

// CHECK-LABEL: func @sizes
// CHECK-NEXT: %[[N:.*]] = ingot.dim %arg0, 0
// CHECK-NEXT: %[[C:.*]] = arith.constant 4 : i64
// CHECK-NEXT: arith.muli %[[N]], %[[C]]
func.func @sizes(%x: tensor<?x4xf32>) -> i64 {
  %0 = ingot.aten "aten::sym_size.int"(%x) {args = {dim = 0 : i64, self = #ingot.value<0>}} : (tensor<?x4xf32>) -> i64
  %1 = ingot.aten "aten::sym_size.int"(%x) {args = {dim = -1 : i64, self = #ingot.value<0>}} : (tensor<?x4xf32>) -> i64
  %2 = ingot.aten "_operator::mul"(%0, %1) {args = {a = #ingot.value<0>, b = #ingot.value<1>}} : (i64, i64) -> i64
  return %2 : i64
}

// Python rounds quotients down, and remainders take the divisor's sign.
// CHECK-LABEL: func @python_division
// CHECK: arith.floordivsi
// CHECK: %[[Q:.*]] = arith.floordivsi
// CHECK-NEXT: %[[M:.*]] = arith.muli %[[Q]],
// CHECK-NEXT: arith.subi %arg0, %[[M]]
func.func @python_division(%n: i64) -> (i64, i64) {
  %0 = ingot.aten "_operator::floordiv"(%n) {args = {a = #ingot.value<0>, b = 3 : i64}} : (i64) -> i64
  %1 = ingot.aten "_operator::mod"(%n) {args = {a = #ingot.value<0>, b = 3 : i64}} : (i64) -> i64
  return %0, %1 : i64, i64
}

// CHECK-LABEL: func @mixed
// CHECK: %[[F:.*]] = arith.sitofp %arg0 : i64 to f64
// CHECK: arith.mulf %[[F]],
func.func @mixed(%n: i64) -> f64 {
  %0 = ingot.aten "_operator::mul"(%n) {args = {a = #ingot.value<0>, b = 0.5 : f64}} : (i64) -> f64
  return %0 : f64
}

// CHECK-LABEL: func @choose
// CHECK: %[[B:.*]] = arith.cmpi sgt, %arg0,
// CHECK: arith.select %[[B]], %arg0,
func.func @choose(%n: i64) -> i64 {
  %0 = ingot.aten "_operator::gt"(%n) {args = {a = #ingot.value<0>, b = 3 : i64}} : (i64) -> i1
  %1 = ingot.aten "torch::sym_ite"(%0, %n) {args = {b = #ingot.value<0>, f = 3 : i64, t = #ingot.value<1>}} : (i1, i64) -> i64
  return %1 : i64
}
