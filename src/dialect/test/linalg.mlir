// Factorisations and solvers: they parse, verify and print.
// RUN: ingot-opt %s | ingot-opt | FileCheck %s

// CHECK-LABEL: func @cholesky
func.func @cholesky(%x: tensor<3x3xf32>) {
  // CHECK: ingot.cholesky
  %f, %info = ingot.cholesky %x {upper = false, check = ""} : (tensor<3x3xf32>) -> (tensor<3x3xf32>, tensor<i32>)
  return
}

// CHECK-LABEL: func @lu
func.func @lu(%x: tensor<3x2xf32>) {
  // CHECK: ingot.lu
  %lu, %p, %info = ingot.lu %x {check = ""} : (tensor<3x2xf32>) -> (tensor<3x2xf32>, tensor<2xi32>, tensor<i32>)
  return
}

// CHECK-LABEL: func @lu_solve
func.func @lu_solve(%lu: tensor<3x3xf32>, %p: tensor<3xi32>, %b: tensor<3x2xf32>) {
  // CHECK: ingot.lu_solve
  %x = ingot.lu_solve %lu, %p, %b {adjoint = false} : (tensor<3x3xf32>, tensor<3xi32>, tensor<3x2xf32>) -> tensor<3x2xf32>
  return
}

// CHECK-LABEL: func @lu_det
func.func @lu_det(%lu: tensor<3x3xf32>, %p: tensor<3xi32>) {
  // CHECK: ingot.lu_det
  %d, %s, %l = ingot.lu_det %lu, %p : (tensor<3x3xf32>, tensor<3xi32>) -> (tensor<f32>, tensor<f32>, tensor<f32>)
  return
}

// CHECK-LABEL: func @lu_permutation
func.func @lu_permutation(%lu: tensor<3x2xf32>, %pivots: tensor<2xi32>) {
  // CHECK: ingot.lu_permutation
  %p = ingot.lu_permutation %lu, %pivots : (tensor<3x2xf32>, tensor<2xi32>) -> tensor<3x3xf32>
  return
}

// CHECK-LABEL: func @inverse
func.func @inverse(%x: tensor<3x3xf32>) {
  // CHECK: ingot.inverse
  %r, %info = ingot.inverse %x {check = "linalg.inv"} : (tensor<3x3xf32>) -> (tensor<3x3xf32>, tensor<i32>)
  return
}

// CHECK-LABEL: func @qr
func.func @qr(%x: tensor<3x2xf32>) {
  // CHECK: ingot.qr
  %a, %tau = ingot.qr %x : (tensor<3x2xf32>) -> (tensor<3x2xf32>, tensor<2xf32>)
  return
}

// CHECK-LABEL: func @householder
func.func @householder(%a: tensor<3x2xf32>, %tau: tensor<2xf32>) {
  // CHECK: ingot.householder
  %q = ingot.householder %a, %tau {full = false} : (tensor<3x2xf32>, tensor<2xf32>) -> tensor<3x2xf32>
  return
}

// CHECK-LABEL: func @reflect
func.func @reflect(%a: tensor<3x2xf32>, %tau: tensor<2xf32>, %c: tensor<3x4xf32>) {
  // CHECK: ingot.reflect
  %r = ingot.reflect %a, %tau, %c {left = true, adjoint = false} : (tensor<3x2xf32>, tensor<2xf32>, tensor<3x4xf32>) -> tensor<3x4xf32>
  return
}

// CHECK-LABEL: func @eigh
func.func @eigh(%x: tensor<3x3xf32>) {
  // CHECK: ingot.eigh
  %w, %v = ingot.eigh %x {upper = false} : (tensor<3x3xf32>) -> (tensor<3xf32>, tensor<3x3xf32>)
  return
}

// CHECK-LABEL: func @eig
func.func @eig(%x: tensor<3x3xf32>) {
  // CHECK: ingot.eig
  %w, %v = ingot.eig %x : (tensor<3x3xf32>) -> (tensor<3xcomplex<f32>>, tensor<3x3xcomplex<f32>>)
  return
}

// CHECK-LABEL: func @svd
func.func @svd(%x: tensor<3x2xf32>) {
  // CHECK: ingot.svd
  %u, %s, %v = ingot.svd %x {full = false} : (tensor<3x2xf32>) -> (tensor<3x2xf32>, tensor<2xf32>, tensor<2x2xf32>)
  return
}

// CHECK-LABEL: func @triangular_solve
func.func @triangular_solve(%a: tensor<3x3xf32>, %b: tensor<3x2xf32>) {
  // CHECK: ingot.triangular_solve
  %x = ingot.triangular_solve %a, %b {upper = true, unit = false} : (tensor<3x3xf32>, tensor<3x2xf32>) -> tensor<3x2xf32>
  return
}

// CHECK-LABEL: func @ldl
func.func @ldl(%x: tensor<3x3xf32>) {
  // CHECK: ingot.ldl
  %ld, %p, %info = ingot.ldl %x {hermitian = false, check = ""} : (tensor<3x3xf32>) -> (tensor<3x3xf32>, tensor<3xi32>, tensor<i32>)
  return
}

// CHECK-LABEL: func @ldl_solve
func.func @ldl_solve(%ld: tensor<3x3xf32>, %p: tensor<3xi32>, %b: tensor<3x2xf32>) {
  // CHECK: ingot.ldl_solve
  %x = ingot.ldl_solve %ld, %p, %b {hermitian = false} : (tensor<3x3xf32>, tensor<3xi32>, tensor<3x2xf32>) -> tensor<3x2xf32>
  return
}

// CHECK-LABEL: func @lstsq
func.func @lstsq(%a: tensor<3x2xf32>, %b: tensor<3x4xf32>) {
  // CHECK: ingot.lstsq
  %x, %rank, %s = ingot.lstsq %a, %b {rcond = 1.0e-6 : f64} : (tensor<3x2xf32>, tensor<3x4xf32>) -> (tensor<2x4xf32>, tensor<i64>, tensor<2xf32>)
  return
}

// CHECK-LABEL: func @matrix_exp
func.func @matrix_exp(%x: tensor<3x3xf32>) {
  // CHECK: ingot.matrix_exp
  %r = ingot.matrix_exp %x : (tensor<3x3xf32>) -> tensor<3x3xf32>
  return
}

// CHECK-LABEL: func @adjoint
func.func @adjoint(%x: tensor<3x2xcomplex<f32>>) {
  // CHECK: ingot.adjoint
  %r = ingot.adjoint %x : (tensor<3x2xcomplex<f32>>) -> tensor<2x3xcomplex<f32>>
  return
}

// CHECK-LABEL: func @check_info
func.func @check_info(%info: tensor<i32>) {
  // CHECK: ingot.check_info
  %r = ingot.check_info %info {name = "linalg.inv"} : (tensor<i32>) -> tensor<i32>
  return
}
