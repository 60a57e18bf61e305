// Kernels that the user has written: equal calls are one, unused ones are none.
// RUN: ingot-opt %s -cse -canonicalize -split-input-file -verify-diagnostics | FileCheck %s

// CHECK-LABEL: func @calls
func.func @calls(%x: tensor<?x4xf32>, %n: i64) -> (tensor<?x4xf32>, tensor<?x4xf32>) {
  // CHECK: %[[R:.*]] = ingot.custom %{{.*}}, %{{.*}} {inputs = 1 : i64, kernel = "twice"
  // CHECK-NOT: ingot.custom
  // CHECK: return %[[R]], %[[R]]
  %a = ingot.custom %x, %n {kernel = "twice", language = "c++", source = "s", inputs = 1 : i64, sizes = array<i64: -9223372036854775808, 4>, strided = false} : (tensor<?x4xf32>, i64) -> tensor<?x4xf32>
  %b = ingot.custom %x, %n {kernel = "twice", language = "c++", source = "s", inputs = 1 : i64, sizes = array<i64: -9223372036854775808, 4>, strided = false} : (tensor<?x4xf32>, i64) -> tensor<?x4xf32>
  %c:2 = ingot.custom {kernel = "none", language = "c++", source = "s", inputs = 0 : i64, sizes = array<i64: 3>, strided = true} : () -> (tensor<3xi64>, tensor<f32>)
  return %a, %b : tensor<?x4xf32>, tensor<?x4xf32>
}

// -----

func.func @f(%x: tensor<2xf32>) {
  // expected-error @+1 {{needs a result}}
  ingot.custom %x {kernel = "k", language = "c++", source = "", inputs = 1 : i64, sizes = array<i64>, strided = false} : (tensor<2xf32>) -> ()
  return
}

// -----

func.func @f(%x: tensor<2xf32>) {
  // expected-error @+1 {{has 1 values, fewer than its 2 inputs}}
  %r = ingot.custom %x {kernel = "k", language = "c++", source = "", inputs = 2 : i64, sizes = array<i64: 2>, strided = false} : (tensor<2xf32>) -> tensor<2xf32>
  return
}

// -----

func.func @f(%x: tensor<2xf32>) {
  // expected-error @+1 {{needs sizes that are i64}}
  %r = ingot.custom %x {kernel = "k", language = "c++", source = "", inputs = 0 : i64, sizes = array<i64: -9223372036854775808>, strided = false} : (tensor<2xf32>) -> tensor<?xf32>
  return
}

// -----

func.func @f(%x: tensor<2xf32>) {
  // expected-error @+1 {{needs 1 dynamic operands, has 0}}
  %r = ingot.custom %x {kernel = "k", language = "c++", source = "", inputs = 1 : i64, sizes = array<i64: -9223372036854775808>, strided = false} : (tensor<2xf32>) -> tensor<?xf32>
  return
}

// -----

func.func @f(%x: tensor<2xf32>) {
  // expected-error @+1 {{has sizes that are not those of its results}}
  %r = ingot.custom %x {kernel = "k", language = "c++", source = "", inputs = 1 : i64, sizes = array<i64: 3>, strided = false} : (tensor<2xf32>) -> tensor<2xf32>
  return
}

// -----

func.func @f(%x: tensor<2xf32>) {
  // expected-error @+1 {{has more sizes than its results}}
  %r = ingot.custom %x {kernel = "k", language = "c++", source = "", inputs = 1 : i64, sizes = array<i64: 2, 2>, strided = false} : (tensor<2xf32>) -> tensor<2xf32>
  return
}
