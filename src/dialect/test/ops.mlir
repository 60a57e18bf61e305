// The operations that compute and move data: print and parse back.
// RUN: ingot-opt %s | ingot-opt | FileCheck %s

// CHECK-LABEL: func @elementwise
func.func @elementwise(%x: tensor<2x3xf32>, %y: tensor<?x1xf32>, %i: tensor<3xi64>, %z: tensor<2xcomplex<f32>>) {
  // CHECK: ingot.exp %{{.*}} : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %0 = ingot.exp %x : (tensor<2x3xf32>) -> tensor<2x3xf32>
  // CHECK: ingot.add %{{.*}}, %{{.*}} : (tensor<2x3xf32>, tensor<?x1xf32>) -> tensor<2x3xf32>
  %1 = ingot.add %x, %y : (tensor<2x3xf32>, tensor<?x1xf32>) -> tensor<2x3xf32>
  // CHECK: ingot.lt
  %2 = ingot.lt %x, %y : (tensor<2x3xf32>, tensor<?x1xf32>) -> tensor<2x3xi1>
  // CHECK: ingot.select
  %3 = ingot.select %2, %x, %y : (tensor<2x3xi1>, tensor<2x3xf32>, tensor<?x1xf32>) -> tensor<2x3xf32>
  // CHECK: ingot.isnan
  %4 = ingot.isnan %x : (tensor<2x3xf32>) -> tensor<2x3xi1>
  // CHECK: ingot.cast %{{.*}} : (tensor<3xi64>) -> tensor<3xbf16>
  %5 = ingot.cast %i : (tensor<3xi64>) -> tensor<3xbf16>
  // CHECK: ingot.abs %{{.*}} : (tensor<2xcomplex<f32>>) -> tensor<2xf32>
  %6 = ingot.abs %z : (tensor<2xcomplex<f32>>) -> tensor<2xf32>
  return
}

// CHECK-LABEL: func @moving
func.func @moving(%x: tensor<2x3xf32>, %d: tensor<?x3xf32>, %n: i64) {
  // CHECK: ingot.reshape %{{.*}}() {sizes = array<i64: 6>}
  %0 = ingot.reshape %x() {sizes = array<i64: 6>} : (tensor<2x3xf32>) -> tensor<6xf32>
  // CHECK: ingot.reshape %{{.*}}(%{{.*}}) {sizes = array<i64: 3, -9223372036854775808>}
  %1 = ingot.reshape %d(%n) {sizes = array<i64: 3, -9223372036854775808>} : (tensor<?x3xf32>, i64) -> tensor<3x?xf32>
  // CHECK: ingot.expand
  %2 = ingot.expand %x() {sizes = array<i64: 4, 2, 3>} : (tensor<2x3xf32>) -> tensor<4x2x3xf32>
  // CHECK: ingot.permute
  %3 = ingot.permute %x {dims = array<i64: 1, 0>} : (tensor<2x3xf32>) -> tensor<3x2xf32>
  // CHECK: ingot.slice
  %4 = ingot.slice %x() {axis = 1 : i64, bounds = array<i64: 0, 3>, step = 2 : i64} : (tensor<2x3xf32>) -> tensor<2x2xf32>
  // CHECK: ingot.insert_slice
  %5 = ingot.insert_slice %x, %4() {axis = 1 : i64, bounds = array<i64: 0, 3>, step = 2 : i64} : (tensor<2x3xf32>, tensor<2x2xf32>) -> tensor<2x3xf32>
  // CHECK: ingot.as_strided
  %6 = ingot.as_strided %x {sizes = array<i64: 2>, strides = array<i64: 2>, offset = 1 : i64} : (tensor<2x3xf32>) -> tensor<2xf32>
  // CHECK: ingot.concat
  %7 = ingot.concat %x, %d {axis = 0 : i64} : (tensor<2x3xf32>, tensor<?x3xf32>) -> tensor<?x3xf32>
  // CHECK: ingot.pad
  %8 = ingot.pad %x {low = array<i64: 0, 1>, high = array<i64: 0, -1>, mode = 0 : i32, value = 0.0 : f64} : (tensor<2x3xf32>) -> tensor<2x3xf32>
  // CHECK: ingot.flip
  %9 = ingot.flip %x {dims = array<i64: 0>} : (tensor<2x3xf32>) -> tensor<2x3xf32>
  return
}

// CHECK-LABEL: func @picking
func.func @picking(%x: tensor<4x5x6xf32>, %i: tensor<3xi64>, %j: tensor<2x1xi64>, %g: tensor<4x2x6xi64>) {
  // CHECK: ingot.index_select
  %0 = ingot.index_select %x, %j {axis = 1 : i64} : (tensor<4x5x6xf32>, tensor<2x1xi64>) -> tensor<4x2x1x6xf32>
  // CHECK: ingot.gather
  %1 = ingot.gather %x, %g {axis = 1 : i64} : (tensor<4x5x6xf32>, tensor<4x2x6xi64>) -> tensor<4x2x6xf32>
  // CHECK: ingot.index
  %2 = ingot.index %x, %i, %j {axes = array<i64: 0, 1>} : (tensor<4x5x6xf32>, tensor<3xi64>, tensor<2x1xi64>) -> tensor<2x3x6xf32>
  return
}

// CHECK-LABEL: func @reducing
func.func @reducing(%x: tensor<2x4x8xf32>, %w: tensor<8xf32>, %c: tensor<4xf32>) {
  // CHECK: ingot.reduce
  %0 = ingot.reduce %x {kind = 2 : i32, dims = array<i64: 0, 2>} : (tensor<2x4x8xf32>) -> tensor<1x4x1xf32>
  // CHECK: ingot.arg_reduce
  %1 = ingot.arg_reduce %x {axis = 1 : i64, minimum = false} : (tensor<2x4x8xf32>) -> tensor<2x1x8xi64>
  // CHECK: ingot.cumsum
  %2 = ingot.cumsum %x {axis = 1 : i64} : (tensor<2x4x8xf32>) -> tensor<2x4x8xf32>
  // CHECK: ingot.softmax
  %3 = ingot.softmax %x {axis = 2 : i64, log = false} : (tensor<2x4x8xf32>) -> tensor<2x4x8xf32>
  // CHECK: ingot.layer_norm %{{.*}}, %{{.*}} bias %{{.*}} {
  %4 = ingot.layer_norm %x, %w bias %w {rank = 1 : i64, eps = 1.0e-5 : f64, rms = false} : (tensor<2x4x8xf32>, tensor<8xf32>, tensor<8xf32>) -> tensor<2x4x8xf32>
  // CHECK: ingot.layer_norm %{{.*}} {
  %5 = ingot.layer_norm %x {rank = 2 : i64, eps = 1.0e-5 : f64, rms = true} : (tensor<2x4x8xf32>) -> tensor<2x4x8xf32>
  // CHECK: ingot.group_norm
  %6 = ingot.group_norm %x, %c bias %c {groups = 2 : i64, eps = 1.0e-5 : f64} : (tensor<2x4x8xf32>, tensor<4xf32>, tensor<4xf32>) -> tensor<2x4x8xf32>
  return
}

// CHECK-LABEL: func @products
func.func @products(%a: tensor<5x2x3xf32>, %b: tensor<3x4xf32>, %v: tensor<4xf32>, %r: tensor<5x2x4xf32>, %q: tensor<1x8x4x64xf32>, %k: tensor<1x2x6x64xf32>, %m: tensor<4x6xi1>, %x: tensor<1x3x8x8xf32>, %w: tensor<4x3x3x3xf32>, %t: tensor<3x4x2x2xf32>) {
  // CHECK: ingot.matmul %{{.*}}, %{{.*}} bias %{{.*}} residual %{{.*}} {
  %0 = ingot.matmul %a, %b bias %v residual %r {activation = 1 : i32} : (tensor<5x2x3xf32>, tensor<3x4xf32>, tensor<4xf32>, tensor<5x2x4xf32>) -> tensor<5x2x4xf32>
  // CHECK: ingot.conv
  %1 = ingot.conv %x, %w bias %v {strides = array<i64: 2, 2>, pad_low = array<i64: 1, 1>, pad_high = array<i64: 1, 1>, dilations = array<i64: 1, 1>, output_padding = array<i64: 0, 0>, groups = 1 : i64, transposed = false, activation = 0 : i32} : (tensor<1x3x8x8xf32>, tensor<4x3x3x3xf32>, tensor<4xf32>) -> tensor<1x4x4x4xf32>
  // CHECK: transposed = true
  %2 = ingot.conv %x, %t {strides = array<i64: 2, 2>, pad_low = array<i64: 0, 0>, pad_high = array<i64: 0, 0>, dilations = array<i64: 1, 1>, output_padding = array<i64: 1, 1>, groups = 1 : i64, transposed = true, activation = 0 : i32} : (tensor<1x3x8x8xf32>, tensor<3x4x2x2xf32>) -> tensor<1x4x17x17xf32>
  // CHECK: ingot.attention %{{.*}}, %{{.*}}, %{{.*}} {
  %3 = ingot.attention %q, %k, %k {scale = 0.125 : f64, causal = true} : (tensor<1x8x4x64xf32>, tensor<1x2x6x64xf32>, tensor<1x2x6x64xf32>) -> tensor<1x8x4x64xf32>
  // CHECK: ingot.attention %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}} {
  %4 = ingot.attention %q, %k, %k, %m {scale = 0.125 : f64, causal = false} : (tensor<1x8x4x64xf32>, tensor<1x2x6x64xf32>, tensor<1x2x6x64xf32>, tensor<4x6xi1>) -> tensor<1x8x4x64xf32>
  return
}

// CHECK-LABEL: func @windows
func.func @windows(%x: tensor<1x3x9x9xf32>, %d: tensor<?x3x8x8xf32>, %n: i64) {
  // CHECK: ingot.max_pool
  %0, %1 = ingot.max_pool %x {kernel = array<i64: 2, 2>, strides = array<i64: 2, 2>, padding = array<i64: 0, 0>, dilations = array<i64: 1, 1>, ceil_mode = true} : (tensor<1x3x9x9xf32>) -> (tensor<1x3x5x5xf32>, tensor<1x3x5x5xi64>)
  // CHECK: ingot.avg_pool
  %2 = ingot.avg_pool %d {kernel = array<i64: 2, 2>, strides = array<i64: 2, 2>, padding = array<i64: 0, 0>, ceil_mode = false, count_include_pad = true, divisor = 0 : i64} : (tensor<?x3x8x8xf32>) -> tensor<?x3x4x4xf32>
  // CHECK: ingot.adaptive_avg_pool
  %3 = ingot.adaptive_avg_pool %x {output = array<i64: 1, 1>} : (tensor<1x3x9x9xf32>) -> tensor<1x3x1x1xf32>
  // CHECK: ingot.resize
  %4 = ingot.resize %x(%n) {mode = 2 : i32, align_corners = false, scales = array<f64: 0.0, 0.0>, sizes = array<i64: 16, -9223372036854775808>} : (tensor<1x3x9x9xf32>, i64) -> tensor<1x3x16x?xf32>
  return
}
