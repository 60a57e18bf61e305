// RUN: ingot-opt %s -fold-resize -canonicalize | FileCheck-19 %s

// CHECK-LABEL: func.func @joined
func.func @joined(%a: tensor<1x2x8x8xf32>, %b: tensor<1x3x2x2xf32>) -> tensor<1x4x8x8xf32> {
  %w = ingot.weight "w" : tensor<4x5x1x1xf32>
  %bias = ingot.weight "bias" : tensor<4xf32>
  // CHECK-DAG: %[[WA:.*]] = ingot.slice %[[W:.*]]() {axis = 1 : i64, bounds = array<i64: 0, 2>
  // CHECK-DAG: %[[WB:.*]] = ingot.slice %[[W]]() {axis = 1 : i64, bounds = array<i64: 2, 5>
  // CHECK-DAG: %[[SMALL:.*]] = ingot.conv %arg1, %[[WB]] {
  // CHECK-DAG: %[[LARGE:.*]] = ingot.resize %[[SMALL]]() {{.*}} (tensor<1x4x2x2xf32>) -> tensor<1x4x8x8xf32>
  // CHECK-DAG: %[[PLAIN:.*]] = ingot.conv %arg0, %[[WA]] bias %{{.*}} {
  // CHECK: %[[SUM:.*]] = ingot.add %[[PLAIN]], %[[LARGE]]
  // CHECK-NEXT: return %[[SUM]]
  %r = ingot.resize %b() {mode = 2 : i32, align_corners = false, scales = array<f64: 0.0, 0.0>, sizes = array<i64: 8, 8>} : (tensor<1x3x2x2xf32>) -> tensor<1x3x8x8xf32>
  %c = ingot.concat %a, %r {axis = 1 : i64} : (tensor<1x2x8x8xf32>, tensor<1x3x8x8xf32>) -> tensor<1x5x8x8xf32>
  %v = ingot.conv %c, %w bias %bias {strides = array<i64: 1, 1>, pad_low = array<i64: 0, 0>, pad_high = array<i64: 0, 0>,
         dilations = array<i64: 1, 1>, output_padding = array<i64: 0, 0>, groups = 1 : i64, transposed = false,
         activation = 0 : i32} : (tensor<1x5x8x8xf32>, tensor<4x5x1x1xf32>, tensor<4xf32>) -> tensor<1x4x8x8xf32>
  return %v : tensor<1x4x8x8xf32>
}

// The bias is added at the end.
// CHECK-LABEL: func.func @alone
func.func @alone(%b: tensor<1x3x2x2xf32>) -> tensor<1x4x8x8xf32> {
  %w = ingot.weight "w" : tensor<4x3x1x1xf32>
  %bias = ingot.weight "bias" : tensor<4xf32>
  // CHECK: %[[SMALL:.*]] = ingot.conv %arg0, %{{[^ ]*}} {
  // CHECK: %[[LARGE:.*]] = ingot.resize %[[SMALL]]()
  // CHECK: %[[BIAS:.*]] = ingot.reshape %{{[^ ]*}}() {sizes = array<i64: 4, 1, 1>}
  // CHECK: ingot.add %[[LARGE]], %[[BIAS]]
  %r = ingot.resize %b() {mode = 2 : i32, align_corners = false, scales = array<f64: 0.0, 0.0>, sizes = array<i64: 8, 8>} : (tensor<1x3x2x2xf32>) -> tensor<1x3x8x8xf32>
  %v = ingot.conv %r, %w bias %bias {strides = array<i64: 1, 1>, pad_low = array<i64: 0, 0>, pad_high = array<i64: 0, 0>,
         dilations = array<i64: 1, 1>, output_padding = array<i64: 0, 0>, groups = 1 : i64, transposed = false,
         activation = 0 : i32} : (tensor<1x3x8x8xf32>, tensor<4x3x1x1xf32>, tensor<4xf32>) -> tensor<1x4x8x8xf32>
  return %v : tensor<1x4x8x8xf32>
}

// Images of the same size, results that are needed elsewhere, and more channels than before: nothing is won.
// CHECK-LABEL: func.func @others
func.func @others(%a: tensor<1x3x8x8xf32>, %b: tensor<1x3x2x2xf32>)
    -> (tensor<1x4x8x8xf32>, tensor<1x4x8x8xf32>, tensor<1x3x8x8xf32>, tensor<1x9x8x8xf32>) {
  %w = ingot.weight "w" : tensor<4x3x1x1xf32>
  %u = ingot.weight "u" : tensor<9x3x1x1xf32>
  // CHECK-COUNT-3: ingot.conv {{.*}} -> tensor<1x{{.}}x8x8xf32>
  %r = ingot.resize %a() {mode = 2 : i32, align_corners = false, scales = array<f64: 0.0, 0.0>, sizes = array<i64: 8, 8>} : (tensor<1x3x8x8xf32>) -> tensor<1x3x8x8xf32>
  %v = ingot.conv %r, %w {strides = array<i64: 1, 1>, pad_low = array<i64: 0, 0>, pad_high = array<i64: 0, 0>,
         dilations = array<i64: 1, 1>, output_padding = array<i64: 0, 0>, groups = 1 : i64, transposed = false,
         activation = 0 : i32} : (tensor<1x3x8x8xf32>, tensor<4x3x1x1xf32>) -> tensor<1x4x8x8xf32>
  %s = ingot.resize %b() {mode = 2 : i32, align_corners = false, scales = array<f64: 0.0, 0.0>, sizes = array<i64: 8, 8>} : (tensor<1x3x2x2xf32>) -> tensor<1x3x8x8xf32>
  %x = ingot.conv %s, %w {strides = array<i64: 1, 1>, pad_low = array<i64: 0, 0>, pad_high = array<i64: 0, 0>,
         dilations = array<i64: 1, 1>, output_padding = array<i64: 0, 0>, groups = 1 : i64, transposed = false,
         activation = 0 : i32} : (tensor<1x3x8x8xf32>, tensor<4x3x1x1xf32>) -> tensor<1x4x8x8xf32>
  %t = ingot.resize %b() {mode = 0 : i32, align_corners = false, scales = array<f64: 0.0, 0.0>, sizes = array<i64: 8, 8>} : (tensor<1x3x2x2xf32>) -> tensor<1x3x8x8xf32>
  %y = ingot.conv %t, %u {strides = array<i64: 1, 1>, pad_low = array<i64: 0, 0>, pad_high = array<i64: 0, 0>,
         dilations = array<i64: 1, 1>, output_padding = array<i64: 0, 0>, groups = 1 : i64, transposed = false,
         activation = 0 : i32} : (tensor<1x3x8x8xf32>, tensor<9x3x1x1xf32>) -> tensor<1x9x8x8xf32>
  return %v, %x, %s, %y : tensor<1x4x8x8xf32>, tensor<1x4x8x8xf32>, tensor<1x3x8x8xf32>, tensor<1x9x8x8xf32>
}
