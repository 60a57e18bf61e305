// Ops that write by index and that order elements: what they print is what they parse, and what they refuse.
// RUN: ingot-opt %s -split-input-file -verify-diagnostics | FileCheck %s

// CHECK-LABEL: func @scatters
func.func @scatters(%x: tensor<2x5xf32>, %i: tensor<2x3xi64>, %s: tensor<2x3xf32>, %p: tensor<3xi64>, %m: tensor<2x3xi1>, %n: i64) {
  // CHECK: ingot.scatter %{{.*}}, %{{.*}}, %{{.*}} {axis = 1 : i64, include_self = true, reduce = "add"}
  %0 = ingot.scatter %x, %i, %s {axis = 1 : i64, reduce = "add", include_self = true} : (tensor<2x5xf32>, tensor<2x3xi64>, tensor<2x3xf32>) -> tensor<2x5xf32>
  // CHECK: ingot.index_put
  %1 = ingot.index_put %x, %s, %p {axes = array<i64: 1>, reduce = "none", include_self = true} : (tensor<2x5xf32>, tensor<2x3xf32>, tensor<3xi64>) -> tensor<2x5xf32>
  // CHECK: ingot.nonzero
  %2 = ingot.nonzero %m : (tensor<2x3xi1>) -> tensor<?x2xi64>
  // CHECK: ingot.nonzero_static %{{.*}}(%{{.*}}) {
  %3 = ingot.nonzero_static %m(%n) {rows = array<i64: -9223372036854775808>, fill = -1 : i64} : (tensor<2x3xi1>, i64) -> tensor<?x2xi64>
  // CHECK: ingot.bitcast
  %4 = ingot.bitcast %s : (tensor<2x3xf32>) -> tensor<2x6xf16>
  return
}

// CHECK-LABEL: func @orders
func.func @orders(%x: tensor<2x5xf32>, %v: tensor<4xf32>, %q: tensor<7xf32>, %o: tensor<3xi64>, %i: tensor<5xi64>) {
  // CHECK: ingot.sort
  %0, %1 = ingot.sort %x {axis = 1 : i64, descending = true, stable = true} : (tensor<2x5xf32>) -> (tensor<2x5xf32>, tensor<2x5xi64>)
  // CHECK: ingot.topk
  %2, %3 = ingot.topk %x() {k = array<i64: 2>, axis = 1 : i64, largest = true, sorted = true} : (tensor<2x5xf32>) -> (tensor<2x2xf32>, tensor<2x2xi64>)
  // CHECK: ingot.kth_value
  %4, %5 = ingot.kth_value %x() {k = array<i64: 2>, axis = 0 : i64} : (tensor<2x5xf32>) -> (tensor<1x5xf32>, tensor<1x5xi64>)
  // CHECK: ingot.median
  %6, %7 = ingot.median %x {axis = 1 : i64, ignore_nan = false} : (tensor<2x5xf32>) -> (tensor<2x1xf32>, tensor<2x1xi64>)
  // CHECK: ingot.mode
  %8, %9 = ingot.mode %x {axis = 1 : i64} : (tensor<2x5xf32>) -> (tensor<2x1xf32>, tensor<2x1xi64>)
  // CHECK: ingot.cum_reduce
  %10 = ingot.cum_reduce %x {axis = 1 : i64, kind = "prod"} : (tensor<2x5xf32>) -> tensor<2x5xf32>
  // CHECK: ingot.cum_extreme
  %11, %12 = ingot.cum_extreme %x {axis = 1 : i64, minimum = true} : (tensor<2x5xf32>) -> (tensor<2x5xf32>, tensor<2x5xi64>)
  // CHECK: ingot.search_sorted
  %13 = ingot.search_sorted %q, %v {right = true} : (tensor<7xf32>, tensor<4xf32>) -> tensor<4xi64>
  // CHECK: ingot.segment_reduce
  %14 = ingot.segment_reduce %x, %o {axis = 0 : i64, kind = "max", initial = 0.0 : f64, has_initial = false} : (tensor<2x5xf32>, tensor<3xi64>) -> tensor<2x5xf32>
  // CHECK: ingot.unique
  %15, %16, %17 = ingot.unique %x {axis = 1 : i64, consecutive = false} : (tensor<2x5xf32>) -> (tensor<2x?xf32>, tensor<5xi64>, tensor<?xi64>)
  // CHECK: ingot.bincount
  %18 = ingot.bincount %i {minlength = 3 : i64} : (tensor<5xi64>) -> tensor<?xi64>
  // CHECK: ingot.repeat_index
  %19 = ingot.repeat_index %i : (tensor<5xi64>) -> tensor<?xi64>
  return
}

// -----

func.func @f(%x: tensor<2x5xf32>, %i: tensor<2x3xi64>, %s: tensor<2x3xf32>) {
  // expected-error @+1 {{does not know the reduction 'sub'}}
  %0 = ingot.scatter %x, %i, %s {axis = 1 : i64, reduce = "sub", include_self = true} : (tensor<2x5xf32>, tensor<2x3xi64>, tensor<2x3xf32>) -> tensor<2x5xf32>
  return
}

// -----

func.func @f(%x: tensor<2x5xf32>) {
  // expected-error @+1 {{the last dimension cannot be divided into elements of the result}}
  %0 = ingot.bitcast %x : (tensor<2x5xf32>) -> tensor<2x2xf64>
  return
}

// -----

func.func @f(%x: tensor<2x5xf32>) {
  // expected-error @+1 {{needs one k}}
  %0, %1 = ingot.topk %x() {k = array<i64: 2, 3>, axis = 1 : i64, largest = true, sorted = true} : (tensor<2x5xf32>) -> (tensor<2x2xf32>, tensor<2x2xi64>)
  return
}
