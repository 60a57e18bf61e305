// RUN: ingot-opt %s -lower-aten | FileCheck %s

// CHECK-LABEL: func @view_static
// CHECK-NEXT: ingot.reshape %arg0() {sizes = array<i64: 2, 12>}
func.func @view_static(%x: tensor<2x3x4xf32>) -> tensor<2x12xf32> {
  %0 = ingot.aten "aten::view"(%x) {args = {self = #ingot.value<0>, size = [2, -1]}} : (tensor<2x3x4xf32>) -> tensor<2x12xf32>
  return %0 : tensor<2x12xf32>
}

// CHECK-LABEL: func @view_dynamic
// CHECK: ingot.reshape %arg0(%arg1) {sizes = array<i64: -9223372036854775808, 12>} : (tensor<?x3x4xf32>, i64) -> tensor<?x12xf32>
func.func @view_dynamic(%x: tensor<?x3x4xf32>, %n: i64) -> tensor<?x12xf32> {
  %0 = ingot.aten "aten::view"(%x, %n) {args = {self = #ingot.value<0>, size = [#ingot.value<1>, -1]}} : (tensor<?x3x4xf32>, i64) -> tensor<?x12xf32>
  return %0 : tensor<?x12xf32>
}

// CHECK-LABEL: func @open_size
// CHECK: %[[N:.*]] = ingot.dim %arg0, 0
// CHECK: %[[ALL:.*]] = arith.muli %[[N]],
// CHECK: %[[ROWS:.*]] = arith.floordivsi %[[ALL]],
// CHECK: ingot.reshape %arg0(%[[ROWS]])
func.func @open_size(%x: tensor<?x4xf32>) -> tensor<?x2xf32> {
  %0 = ingot.aten "aten::reshape"(%x) {args = {self = #ingot.value<0>, shape = [-1, 2]}} : (tensor<?x4xf32>) -> tensor<?x2xf32>
  return %0 : tensor<?x2xf32>
}

// CHECK-LABEL: func @slices
// CHECK-NEXT: ingot.slice %arg0() {axis = 1 : i64, bounds = array<i64: 3, 5>, step = 1 : i64}
// CHECK-NEXT: return {{.*}}, %arg0
func.func @slices(%x: tensor<2x5xf32>) -> (tensor<2x2xf32>, tensor<2x5xf32>) {
  %0 = ingot.aten "aten::slice.Tensor"(%x) {args = {dim = -1 : i64, end = 9223372036854775807 : i64, self = #ingot.value<0>, start = -2 : i64, step = 1 : i64}} : (tensor<2x5xf32>) -> tensor<2x2xf32>
  %1 = ingot.aten "aten::slice.Tensor"(%x) {args = {dim = 0 : i64, end, self = #ingot.value<0>, start, step = 1 : i64}} : (tensor<2x5xf32>) -> tensor<2x5xf32>
  return %0, %1 : tensor<2x2xf32>, tensor<2x5xf32>
}

// CHECK-LABEL: func @slice_dynamic
// CHECK: %[[N:.*]] = ingot.dim %arg0, 0
// CHECK: %[[END:.*]] = arith.addi
// CHECK: %[[CLAMPED:.*]] = arith.maxsi
// CHECK: ingot.slice %arg0(%[[CLAMPED]]) {axis = 0 : i64, bounds = array<i64: 0, -9223372036854775808>
func.func @slice_dynamic(%x: tensor<?xf32>) -> tensor<?xf32> {
  %0 = ingot.aten "aten::slice.Tensor"(%x) {args = {dim = 0 : i64, end = -1 : i64, self = #ingot.value<0>, start = 0 : i64, step = 1 : i64}} : (tensor<?xf32>) -> tensor<?xf32>
  return %0 : tensor<?xf32>
}

// CHECK-LABEL: func @select
// CHECK-NEXT: %[[S:.*]] = ingot.slice %arg0() {axis = 0 : i64, bounds = array<i64: 1, 2>, step = 1 : i64}
// CHECK-NEXT: ingot.reshape %[[S]]() {sizes = array<i64: 3>}
func.func @select(%x: tensor<2x3xf32>) -> tensor<3xf32> {
  %0 = ingot.aten "aten::select.int"(%x) {args = {dim = 0 : i64, index = -1 : i64, self = #ingot.value<0>}} : (tensor<2x3xf32>) -> tensor<3xf32>
  return %0 : tensor<3xf32>
}

// CHECK-LABEL: func @split
// CHECK-NEXT: bounds = array<i64: 0, 2>
// CHECK-NEXT: bounds = array<i64: 2, 4>
// CHECK-NEXT: bounds = array<i64: 4, 5>
func.func @split(%x: tensor<5xf32>) -> (tensor<2xf32>, tensor<2xf32>, tensor<1xf32>) {
  %0:3 = ingot.aten "aten::split.Tensor"(%x) {args = {dim = 0 : i64, self = #ingot.value<0>, split_size = 2 : i64}} : (tensor<5xf32>) -> (tensor<2xf32>, tensor<2xf32>, tensor<1xf32>)
  return %0#0, %0#1, %0#2 : tensor<2xf32>, tensor<2xf32>, tensor<1xf32>
}

// Only the piece that is used is made.
// CHECK-LABEL: func @split_used
// CHECK-NEXT: bounds = array<i64: 4, 5>
// CHECK-NEXT: return
func.func @split_used(%x: tensor<5xf32>) -> tensor<1xf32> {
  %0:3 = ingot.aten "aten::split.Tensor"(%x) {args = {dim = 0 : i64, self = #ingot.value<0>, split_size = 2 : i64}} : (tensor<5xf32>) -> (tensor<2xf32>, tensor<2xf32>, tensor<1xf32>)
  return %0#2 : tensor<1xf32>
}

// CHECK-LABEL: func @roll
// CHECK-NEXT: %[[A:.*]] = ingot.slice %arg0() {axis = 0 : i64, bounds = array<i64: 4, 5>
// CHECK-NEXT: %[[B:.*]] = ingot.slice %arg0() {axis = 0 : i64, bounds = array<i64: 0, 4>
// CHECK-NEXT: ingot.concat %[[A]], %[[B]] {axis = 0 : i64}
func.func @roll(%x: tensor<5xf32>) -> tensor<5xf32> {
  %0 = ingot.aten "aten::roll"(%x) {args = {dims = [0], self = #ingot.value<0>, shifts = [1]}} : (tensor<5xf32>) -> tensor<5xf32>
  return %0 : tensor<5xf32>
}

// CHECK-LABEL: func @copies_are_nothing
// CHECK-NEXT: return %arg0
func.func @copies_are_nothing(%x: tensor<2xf32>) -> tensor<2xf32> {
  %0 = ingot.aten "aten::clone"(%x) {args = {memory_format, self = #ingot.value<0>}} : (tensor<2xf32>) -> tensor<2xf32>
  %1 = ingot.aten "aten::dropout"(%0) {args = {input = #ingot.value<0>, p = 0.5 : f64, train = false}} : (tensor<2xf32>) -> tensor<2xf32>
  %2 = ingot.aten "aten::permute"(%1) {args = {dims = [0], self = #ingot.value<0>}} : (tensor<2xf32>) -> tensor<2xf32>
  return %2 : tensor<2xf32>
}
