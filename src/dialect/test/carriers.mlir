// Exported nodes, sources of values and symbolic numbers: print and parse back.
// RUN: ingot-opt %s | ingot-opt | FileCheck %s

// CHECK-LABEL: func @carrier
func.func @carrier(%x: tensor<2xf32>, %n: i64) -> tensor<2xf32> {
  // CHECK: ingot.aten "aten::add.Tensor"(%{{.*}}, %{{.*}}) {args = {alpha = 1 : i64, other = #ingot.value<1>, self = #ingot.value<0>}} : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  %0 = ingot.aten "aten::add.Tensor"(%x, %x) {args = {alpha = 1 : i64, other = #ingot.value<1>, self = #ingot.value<0>}} : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  // CHECK: shape = [2, #ingot.value<1>]
  %1 = ingot.aten "aten::reshape"(%0, %n) {args = {self = #ingot.value<0>, shape = [2, #ingot.value<1>]}} : (tensor<2xf32>, i64) -> tensor<2x?xf32>
  // CHECK: ingot.aten "aten::_assert_scalar"(%{{.*}}) {args = {self = #ingot.value<0>}} : (i64) -> ()
  ingot.aten "aten::_assert_scalar"(%n) {args = {self = #ingot.value<0>}} : (i64) -> ()
  // CHECK: device = #ingot.tagged<"device", "cpu">, dtype = f32, memory_format
  %2 = ingot.aten "aten::to"(%0) {args = {device = #ingot.tagged<"device", "cpu">, dtype = f32, memory_format, self = #ingot.value<0>}} : (tensor<2xf32>) -> tensor<2xf32>
  return %2 : tensor<2xf32>
}

// CHECK-LABEL: func @subGraphs
func.func @subGraphs(%p: tensor<i1>, %x: tensor<2xf32>) -> tensor<2xf32> {
  // CHECK: ingot.aten "higher_order::cond"{{.*}} graphs {
  // CHECK: ingot.yield %{{.*}} : tensor<2xf32>
  // CHECK: }, {
  // CHECK: } : (tensor<i1>, tensor<2xf32>) -> tensor<2xf32>
  %0 = ingot.aten "higher_order::cond"(%p, %x) {args = {arg0 = #ingot.value<0>, arg1 = #ingot.region<0>, arg2 = #ingot.region<1>, arg3 = [#ingot.value<1>]}} graphs {
  ^bb0(%a: tensor<2xf32>):
    ingot.yield %a : tensor<2xf32>
  }, {
  ^bb0(%a: tensor<2xf32>):
    ingot.yield %a : tensor<2xf32>
  } : (tensor<i1>, tensor<2xf32>) -> tensor<2xf32>
  return %0 : tensor<2xf32>
}

// CHECK-LABEL: func @sources
func.func @sources(%x: tensor<?x4xf32>, %a: i64, %b: i64, %c: i64) {
  // CHECK: ingot.weight "encoder.weight" : tensor<8x8xf32>
  %w = ingot.weight "encoder.weight" : tensor<8x8xf32>
  // CHECK: ingot.constant dense<2.500000e+00> : tensor<f32>
  %k = ingot.constant dense<2.5> : tensor<f32>
  // CHECK: ingot.iota %{{.*}}, %{{.*}}, %{{.*}} : (i64, i64, i64) -> tensor<?xi64>
  %i = ingot.iota %a, %b, %c : (i64, i64, i64) -> tensor<?xi64>
  // CHECK: ingot.dim %{{.*}}, 0 : (tensor<?x4xf32>) -> i64
  %n = ingot.dim %x, 0 : (tensor<?x4xf32>) -> i64
  // CHECK: ingot.from_scalar %{{.*}} : (i64) -> tensor<i64>
  %t = ingot.from_scalar %n : (i64) -> tensor<i64>
  // CHECK: ingot.weight "scales" : tensor<4x!ingot.f8E8M0FNU>
  %e = ingot.weight "scales" : tensor<4x!ingot.f8E8M0FNU>
  return
}

// CHECK-LABEL: func @cluster
func.func @cluster(%x: tensor<2x3xf32>, %y: tensor<3xf32>) -> tensor<2x3xf32> {
  // CHECK: ingot.cluster(%{{.*}}, %{{.*}}) {
  // CHECK: ingot.yield
  // CHECK: } : (tensor<2x3xf32>, tensor<3xf32>) -> tensor<2x3xf32>
  %r = ingot.cluster(%x, %y) {
  ^bb0(%a: tensor<2x3xf32>, %b: tensor<3xf32>):
    %0 = ingot.add %a, %b : (tensor<2x3xf32>, tensor<3xf32>) -> tensor<2x3xf32>
    %1 = ingot.reduce %0 {kind = 0 : i32, dims = array<i64: 1>} : (tensor<2x3xf32>) -> tensor<2x1xf32>
    %2 = ingot.sub %0, %1 : (tensor<2x3xf32>, tensor<2x1xf32>) -> tensor<2x3xf32>
    ingot.yield %2 : tensor<2x3xf32>
  } : (tensor<2x3xf32>, tensor<3xf32>) -> tensor<2x3xf32>
  return %r : tensor<2x3xf32>
}
