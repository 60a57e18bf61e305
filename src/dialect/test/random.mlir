// Random numbers, which are neither merged nor dropped.
// RUN: ingot-opt %s -cse -canonicalize | FileCheck %s

// CHECK-LABEL: func @random_uniform
func.func @random_uniform() {
  // CHECK: ingot.random_uniform
  %r = ingot.random_uniform {sizes = array<i64: 2, 3>} : () -> tensor<2x3xf32>
  return
}

// CHECK-LABEL: func @twice
func.func @twice() -> (tensor<2x3xf32>, tensor<2x3xf32>) {
  // CHECK: ingot.random_uniform
  // CHECK: ingot.random_uniform
  %a = ingot.random_uniform {sizes = array<i64: 2, 3>} : () -> tensor<2x3xf32>
  %b = ingot.random_uniform {sizes = array<i64: 2, 3>} : () -> tensor<2x3xf32>
  return %a, %b : tensor<2x3xf32>, tensor<2x3xf32>
}

// CHECK-LABEL: func @random_normal
func.func @random_normal() {
  // CHECK: ingot.random_normal
  %r = ingot.random_normal {sizes = array<i64: 2, 3>} : () -> tensor<2x3xf32>
  return
}

// CHECK-LABEL: func @random_integer
func.func @random_integer(%low: i64, %high: i64) {
  // CHECK: ingot.random_integer
  %r = ingot.random_integer %low, %high {sizes = array<i64: 2, 3>} : (i64, i64) -> tensor<2x3xi64>
  return
}

// CHECK-LABEL: func @random_permutation
func.func @random_permutation(%n: i64) {
  // CHECK: ingot.random_permutation
  %r = ingot.random_permutation %n : (i64) -> tensor<10xi64>
  return
}

// CHECK-LABEL: func @random_poisson
func.func @random_poisson(%mean: tensor<3xf32>) {
  // CHECK: ingot.random_poisson
  %r = ingot.random_poisson %mean : (tensor<3xf32>) -> tensor<3xf32>
  return
}

// CHECK-LABEL: func @random_binomial
func.func @random_binomial(%n: tensor<3xf32>, %p: tensor<3xf32>) {
  // CHECK: ingot.random_binomial
  %r = ingot.random_binomial %n, %p : (tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32>
  return
}

// CHECK-LABEL: func @random_multinomial
func.func @random_multinomial(%w: tensor<2x3xf32>, %n: i64) {
  // CHECK: ingot.random_multinomial
  %r = ingot.random_multinomial %w, %n {replacement = true} : (tensor<2x3xf32>, i64) -> tensor<2x5xi64>
  return
}
