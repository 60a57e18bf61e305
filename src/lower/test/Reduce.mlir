// RUN: ingot-opt %s -lower-aten | FileCheck %s

// CHECK-LABEL: func @mean
// CHECK-DAG: %[[N:.*]] = ingot.constant dense<3.000000e+00> : tensor<f32>
// CHECK-DAG: %[[S:.*]] = ingot.reduce %arg0 {dims = array<i64: 1>, kind = 0 : i32} : (tensor<2x3xf32>) -> tensor<2x1xf32>
// CHECK: %[[M:.*]] = ingot.div %[[S]], %[[N]]
// CHECK-NEXT: ingot.reshape %[[M]]() {sizes = array<i64: 2>}
func.func @mean(%x: tensor<2x3xf32>) -> tensor<2xf32> {
  %0 = ingot.aten "aten::mean.dim"(%x) {args = {dim = [-1], dtype, keepdim = false, self = #ingot.value<0>}} : (tensor<2x3xf32>) -> tensor<2xf32>
  return %0 : tensor<2xf32>
}

// Small floats are summed in float32 and rounded once.
// CHECK-LABEL: func @sum_bf16
// CHECK-NEXT: %[[W:.*]] = ingot.cast %arg0 : (tensor<2x3xbf16>) -> tensor<2x3xf32>
// CHECK-NEXT: %[[S:.*]] = ingot.reduce %[[W]]
// CHECK-NEXT: ingot.cast %[[S]] : (tensor<2x1xf32>) -> tensor<2x1xbf16>
func.func @sum_bf16(%x: tensor<2x3xbf16>) -> tensor<2x1xbf16> {
  %0 = ingot.aten "aten::sum.dim_IntList"(%x) {args = {dim = [1], dtype, keepdim = true, self = #ingot.value<0>}} : (tensor<2x3xbf16>) -> tensor<2x1xbf16>
  return %0 : tensor<2x1xbf16>
}

// Sums of booleans are int64.
// CHECK-LABEL: func @sum_bool
// CHECK: ingot.reduce {{.*}} : (tensor<2x3xi64>) -> tensor<1x1xi64>
func.func @sum_bool(%x: tensor<2x3xi1>) -> tensor<i64> {
  %0 = ingot.aten "aten::sum"(%x) {args = {dtype, self = #ingot.value<0>}} : (tensor<2x3xi1>) -> tensor<i64>
  return %0 : tensor<i64>
}

// CHECK-LABEL: func @max_dim
// CHECK-DAG: ingot.reduce %arg0 {dims = array<i64: 1>, kind = 2 : i32}
// CHECK-DAG: ingot.arg_reduce %arg0 {axis = 1 : i64, minimum = false}
func.func @max_dim(%x: tensor<2x3xf32>) -> (tensor<2xf32>, tensor<2xi64>) {
  %0:2 = ingot.aten "aten::max.dim"(%x) {args = {dim = 1 : i64, keepdim = false, self = #ingot.value<0>}} : (tensor<2x3xf32>) -> (tensor<2xf32>, tensor<2xi64>)
  return %0#0, %0#1 : tensor<2xf32>, tensor<2xi64>
}

// CHECK-LABEL: func @mean_of_unknown_size
// CHECK-DAG: %[[N:.*]] = ingot.dim %arg0, 0
// CHECK-DAG: ingot.from_scalar %[[N]]
func.func @mean_of_unknown_size(%x: tensor<?xf32>) -> tensor<f32> {
  %0 = ingot.aten "aten::mean"(%x) {args = {dtype, self = #ingot.value<0>}} : (tensor<?xf32>) -> tensor<f32>
  return %0 : tensor<f32>
}
