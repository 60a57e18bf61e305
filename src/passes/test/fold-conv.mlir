// RUN: ingot-opt %s -fold-conv-scale -fold-bias -fold-residual -fold-activation -canonicalize | FileCheck-19 %s

// A batch norm after a convolution, a shortcut and a relu all end up in the convolution.
// CHECK-LABEL: func.func @batch_norm
func.func @batch_norm(%x: tensor<1x3x8x8xf32>, %shortcut: tensor<1x4x6x6xf32>) -> tensor<1x4x6x6xf32> {
  %w = ingot.weight "w" : tensor<4x3x3x3xf32>
  %scale = ingot.weight "scale" : tensor<4x1x1xf32>
  %shift = ingot.weight "shift" : tensor<4x1x1xf32>
  %c = ingot.conv %x, %w {strides = array<i64: 1, 1>, pad_low = array<i64: 0, 0>, pad_high = array<i64: 0, 0>,
         dilations = array<i64: 1, 1>, output_padding = array<i64: 0, 0>, groups = 1 : i64, transposed = false,
         activation = 0 : i32} : (tensor<1x3x8x8xf32>, tensor<4x3x3x3xf32>) -> tensor<1x4x6x6xf32>
  %s = ingot.mul %c, %scale : (tensor<1x4x6x6xf32>, tensor<4x1x1xf32>) -> tensor<1x4x6x6xf32>
  %b = ingot.add %s, %shift : (tensor<1x4x6x6xf32>, tensor<4x1x1xf32>) -> tensor<1x4x6x6xf32>
  %r = ingot.add %b, %shortcut : (tensor<1x4x6x6xf32>, tensor<1x4x6x6xf32>) -> tensor<1x4x6x6xf32>
  %a = ingot.relu %r : (tensor<1x4x6x6xf32>) -> tensor<1x4x6x6xf32>
  // CHECK: %[[W:.*]] = ingot.mul %{{.*}}, %{{.*}} : (tensor<4x3x3x3xf32>, tensor<4x1x1x1xf32>)
  // CHECK: %[[R:.*]] = ingot.conv %arg0, %[[W]] bias %{{.*}} residual %arg1 {activation = 1 : i32
  // CHECK-NEXT: return %[[R]]
  return %a : tensor<1x4x6x6xf32>
}

// The convolution's own result is an output too, so it must stay as it is.
// CHECK-LABEL: func.func @shared
func.func @shared(%x: tensor<1x3x8x8xf32>) -> (tensor<1x4x6x6xf32>, tensor<1x4x6x6xf32>) {
  %w = ingot.weight "w" : tensor<4x3x3x3xf32>
  %c = ingot.conv %x, %w {strides = array<i64: 1, 1>, pad_low = array<i64: 0, 0>, pad_high = array<i64: 0, 0>,
         dilations = array<i64: 1, 1>, output_padding = array<i64: 0, 0>, groups = 1 : i64, transposed = false,
         activation = 0 : i32} : (tensor<1x3x8x8xf32>, tensor<4x3x3x3xf32>) -> tensor<1x4x6x6xf32>
  // CHECK: ingot.conv {{.*}}activation = 0 : i32
  // CHECK: ingot.relu
  %a = ingot.relu %c : (tensor<1x4x6x6xf32>) -> tensor<1x4x6x6xf32>
  return %c, %a : tensor<1x4x6x6xf32>, tensor<1x4x6x6xf32>
}
