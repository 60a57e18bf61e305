// Fourier transforms: they parse, verify and print.
// RUN: ingot-opt %s | ingot-opt | FileCheck %s

// CHECK-LABEL: func @fft
func.func @fft(%x: tensor<2x8xf32>, %n: i64) {
  // CHECK: ingot.fft
  %r = ingot.fft %x, %n {axis = 1 : i64, forward = true, scale = 1.0 : f64} : (tensor<2x8xf32>, i64) -> tensor<2x5xcomplex<f32>>
  return
}

// CHECK-LABEL: func @overlap_add
func.func @overlap_add(%x: tensor<3x4xf32>) {
  // CHECK: ingot.overlap_add
  %r = ingot.overlap_add %x {hop = 2 : i64} : (tensor<3x4xf32>) -> tensor<8xf32>
  return
}
