// RUN: ingot-opt %s -functionalise -split-input-file | FileCheck %s

// A fresh tensor: the node only loses its underscore.
// CHECK-LABEL: func @fresh
func.func @fresh(%x: tensor<2xf32>) -> tensor<2xf32> {
  // CHECK-NEXT: %[[C:.*]] = ingot.aten "aten::clone"(%arg0)
  // CHECK-NEXT: %[[R:.*]] = ingot.aten "aten::relu"(%[[C]]) {args = {self = #ingot.value<0>}}
  // CHECK-NEXT: return %[[R]]
  %0 = ingot.aten "aten::clone"(%x) {args = {memory_format, self = #ingot.value<0>}} : (tensor<2xf32>) -> tensor<2xf32>
  %1 = ingot.aten "aten::relu_"(%0) {args = {self = #ingot.value<0>}} : (tensor<2xf32>) -> tensor<2xf32>
  return %0 : tensor<2xf32>
}

// -----

// A written input is one more result.
// CHECK-LABEL: func @input
// CHECK-SAME: -> (tensor<2xf32>, tensor<2xf32> {ingot.mutates = "x", ingot.name = "x"})
func.func @input(%x: tensor<2xf32> {ingot.name = "x"}) -> tensor<2xf32> {
  // CHECK-NEXT: %[[A:.*]] = ingot.aten "aten::add.Tensor"(%arg0) {args = {alpha = 1 : i64, other = 1 : i64, self = #ingot.value<0>}}
  // CHECK-NEXT: %[[M:.*]] = ingot.aten "aten::neg"(%[[A]])
  // CHECK-NEXT: return %[[M]], %[[A]]
  %0 = ingot.aten "aten::add_.Tensor"(%x) {args = {alpha = 1 : i64, other = 1 : i64, self = #ingot.value<0>}} : (tensor<2xf32>) -> tensor<2xf32>
  %1 = ingot.aten "aten::neg"(%x) {args = {self = #ingot.value<0>}} : (tensor<2xf32>) -> tensor<2xf32>
  return %1 : tensor<2xf32>
}

// -----

// A written weight is a state.
// CHECK-LABEL: func @state
// CHECK-SAME: (%arg0: tensor<2xf32>, %arg1: tensor<2xf32> {ingot.initial = "cache", ingot.name = "cache", ingot.state = "cache"})
// CHECK-SAME: -> (tensor<2xf32>, tensor<2xf32> {ingot.state = "cache"})
func.func @state(%x: tensor<2xf32>) -> tensor<2xf32> {
  %w = ingot.weight "cache" : tensor<2xf32>
  // CHECK-NEXT: %[[C:.*]] = ingot.aten "aten::copy"(%arg1, %arg0)
  // CHECK-NEXT: return %arg0, %[[C]]
  %0 = ingot.aten "aten::copy_"(%w, %x) {args = {non_blocking = false, self = #ingot.value<0>, src = #ingot.value<1>}} : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  return %x : tensor<2xf32>
}

// -----

// A write to a view changes its base and every other view, those made before included.
// CHECK-LABEL: func @views
func.func @views(%x: tensor<2x3xf32>, %y: tensor<3xf32>) -> (tensor<2x3xf32>, tensor<6xf32>, tensor<3xf32>) {
  // CHECK-NEXT: %[[C:.*]] = ingot.aten "aten::clone"
  %0 = ingot.aten "aten::clone"(%x) {args = {memory_format, self = #ingot.value<0>}} : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %1 = ingot.aten "aten::view"(%0) {args = {self = #ingot.value<0>, size = [6]}} : (tensor<2x3xf32>) -> tensor<6xf32>
  // CHECK-NEXT: %[[S:.*]] = ingot.aten "aten::select.int"(%[[C]])
  %2 = ingot.aten "aten::select.int"(%0) {args = {dim = 0 : i64, index = 1 : i64, self = #ingot.value<0>}} : (tensor<2x3xf32>) -> tensor<3xf32>
  // CHECK-NEXT: %[[M:.*]] = ingot.aten "aten::mul.Tensor"(%[[S]], %arg1)
  // CHECK-NEXT: %[[B:.*]] = ingot.aten "aten::select_scatter"(%[[C]], %[[M]]) {args = {dim = 0 : i64, index = 1 : i64, self = #ingot.value<0>, src = #ingot.value<1>}}
  %3 = ingot.aten "aten::mul_.Tensor"(%2, %y) {args = {other = #ingot.value<1>, self = #ingot.value<0>}} : (tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32>
  // CHECK-NEXT: %[[V:.*]] = ingot.aten "aten::view"(%[[B]])
  // CHECK-NEXT: return %[[B]], %[[V]], %[[M]]
  return %0, %1, %3 : tensor<2x3xf32>, tensor<6xf32>, tensor<3xf32>
}

// -----

// Sizes that are not known are asked for.
// CHECK-LABEL: func @unknownSize
func.func @unknownSize(%x: tensor<?x3xf32>) -> tensor<?x3xf32> {
  // CHECK-NEXT: %[[C:.*]] = ingot.aten "aten::clone"
  // CHECK-NEXT: %[[V:.*]] = ingot.aten "aten::view"(%[[C]])
  // CHECK-NEXT: %[[W:.*]] = ingot.aten "aten::relu"(%[[V]])
  // CHECK-NEXT: %[[N:.*]] = ingot.aten "aten::sym_size.int"(%[[C]]) {args = {dim = 0 : i64, self = #ingot.value<0>}}
  // CHECK-NEXT: %[[R:.*]] = ingot.aten "aten::reshape"(%[[W]], %[[N]]) {args = {self = #ingot.value<0>, shape = [#ingot.value<1>, 3]}}
  // CHECK-NEXT: return %[[R]]
  %0 = ingot.aten "aten::clone"(%x) {args = {memory_format, self = #ingot.value<0>}} : (tensor<?x3xf32>) -> tensor<?x3xf32>
  %1 = ingot.aten "aten::view"(%0) {args = {self = #ingot.value<0>, size = [-1]}} : (tensor<?x3xf32>) -> tensor<?xf32>
  %2 = ingot.aten "aten::relu_"(%1) {args = {self = #ingot.value<0>}} : (tensor<?xf32>) -> tensor<?xf32>
  return %0 : tensor<?x3xf32>
}

// -----

// The pure form computes in the promoted type; the tensor keeps its own.
// CHECK-LABEL: func @promotion
func.func @promotion(%x: tensor<2xf16>, %y: tensor<2xf32>) -> tensor<2xf16> {
  // CHECK-NEXT: %[[C:.*]] = ingot.aten "aten::clone"
  // CHECK-NEXT: %[[A:.*]] = ingot.aten "aten::add.Tensor"(%[[C]], %arg1) {{.*}} -> tensor<2xf32>
  // CHECK-NEXT: %[[R:.*]] = ingot.aten "aten::_to_copy"(%[[A]]) {{.*}}dtype = f16{{.*}} -> tensor<2xf16>
  // CHECK-NEXT: return %[[R]]
  %0 = ingot.aten "aten::clone"(%x) {args = {memory_format, self = #ingot.value<0>}} : (tensor<2xf16>) -> tensor<2xf16>
  %1 = ingot.aten "aten::add_.Tensor"(%0, %y) {args = {alpha = 1 : i64, other = #ingot.value<1>, self = #ingot.value<0>}} : (tensor<2xf16>, tensor<2xf32>) -> tensor<2xf16>
  return %1 : tensor<2xf16>
}

// -----

// The third piece begins after the first two.
// CHECK-LABEL: func @pieces
func.func @pieces(%x: tensor<6xf32>) -> tensor<6xf32> {
  // CHECK-NEXT: %[[C:.*]] = ingot.aten "aten::clone"
  // CHECK-NEXT: %[[P:.*]]:3 = ingot.aten "aten::split_with_sizes"
  // CHECK-NEXT: %[[W:.*]] = ingot.aten "aten::neg"(%[[P]]#2)
  // CHECK-NEXT: ingot.aten "aten::slice_scatter"(%[[C]], %[[W]]) {args = {dim = 0 : i64, end = 6 : i64, self = #ingot.value<0>, src = #ingot.value<1>, start = 3 : i64, step = 1 : i64}}
  %0 = ingot.aten "aten::clone"(%x) {args = {memory_format, self = #ingot.value<0>}} : (tensor<6xf32>) -> tensor<6xf32>
  %1:3 = ingot.aten "aten::split_with_sizes"(%0) {args = {dim = 0 : i64, self = #ingot.value<0>, split_sizes = [1, 2, 3]}} : (tensor<6xf32>) -> (tensor<1xf32>, tensor<2xf32>, tensor<3xf32>)
  %2 = ingot.aten "aten::neg_"(%1#2) {args = {self = #ingot.value<0>}} : (tensor<3xf32>) -> tensor<3xf32>
  return %0 : tensor<6xf32>
}

// -----

// transpose_ changes how the tensor itself is seen.
// CHECK-LABEL: func @metadata
func.func @metadata(%x: tensor<2x3xf32>) -> tensor<3x2xf32> {
  // CHECK-NEXT: %[[C:.*]] = ingot.aten "aten::clone"
  // CHECK-NEXT: %[[T:.*]] = ingot.aten "aten::transpose.int"(%[[C]])
  // CHECK-NEXT: return %[[T]]
  %0 = ingot.aten "aten::clone"(%x) {args = {memory_format, self = #ingot.value<0>}} : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %1 = ingot.aten "aten::transpose_"(%0) {args = {dim0 = 0 : i64, dim1 = 1 : i64, self = #ingot.value<0>}} : (tensor<2x3xf32>) -> tensor<3x2xf32>
  return %1 : tensor<3x2xf32>
}

// -----

// Nothing is written: nothing changes, not even views that nobody reads.
// CHECK-LABEL: func @pure
func.func @pure(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
  // CHECK-NEXT: ingot.aten "aten::t"
  // CHECK-NEXT: return %arg0
  %0 = ingot.aten "aten::t"(%x) {args = {self = #ingot.value<0>}} : (tensor<2x3xf32>) -> tensor<3x2xf32>
  return %x : tensor<2x3xf32>
}

// -----

// A batch norm in training mode gives its new statistics as results.
// CHECK-LABEL: func @statistics
// CHECK-SAME: tensor<3xf32> {ingot.mutates = "m", ingot.name = "m"}, tensor<3xf32> {ingot.mutates = "v", ingot.name = "v"})
func.func @statistics(%x: tensor<2x3xf32> {ingot.name = "x"}, %m: tensor<3xf32> {ingot.name = "m"}, %v: tensor<3xf32> {ingot.name = "v"}) -> tensor<2x3xf32> {
  // CHECK-NEXT: %[[R:.*]]:5 = ingot.aten "aten::_native_batch_norm_legit_functional"(%arg0, %arg1, %arg2)
  // CHECK-NEXT: return %[[R]]#0, %[[R]]#3, %[[R]]#4
  %0 = ingot.aten "aten::batch_norm"(%x, %m, %v) {args = {bias, cudnn_enabled = true, eps = 1.0e-5 : f64, input = #ingot.value<0>, momentum = 0.1 : f64, running_mean = #ingot.value<1>, running_var = #ingot.value<2>, training = true, weight}} : (tensor<2x3xf32>, tensor<3xf32>, tensor<3xf32>) -> tensor<2x3xf32>
  return %0 : tensor<2x3xf32>
}

// -----

// By its strides, flattening this transposed tensor is no copy: the write reaches %0.
// CHECK-LABEL: func @flatten_view
// CHECK: %[[W:.*]] = ingot.aten "aten::relu"
// CHECK: %[[B:.*]] = ingot.aten "aten::reshape"(%[[W]])
// CHECK: %[[R:.*]] = ingot.aten "aten::transpose.int"(%[[B]])
// CHECK: return %[[R]]
func.func @flatten_view(%x: tensor<1x4xf32>) -> tensor<1x4xf32> {
  %0 = ingot.aten "aten::clone"(%x) {args = {memory_format, self = #ingot.value<0>}} : (tensor<1x4xf32>) -> tensor<1x4xf32>
  %1 = ingot.aten "aten::transpose.int"(%0) {args = {dim0 = 0 : i64, dim1 = 1 : i64, self = #ingot.value<0>}} : (tensor<1x4xf32>) -> tensor<4x1xf32>
  %2 = ingot.aten "aten::reshape"(%1) {args = {self = #ingot.value<0>, shape = [-1]}, ingot.shares = true} : (tensor<4x1xf32>) -> tensor<4xf32>
  %3 = ingot.aten "aten::relu_"(%2) {args = {self = #ingot.value<0>}} : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<1x4xf32>
}

// -----

// Here it is a copy, and %0 stays as it was.
// CHECK-LABEL: func @flatten_copy
// CHECK: %[[C:.*]] = ingot.aten "aten::clone"
// CHECK: return %[[C]]
func.func @flatten_copy(%x: tensor<2x4xf32>) -> tensor<2x4xf32> {
  %0 = ingot.aten "aten::clone"(%x) {args = {memory_format, self = #ingot.value<0>}} : (tensor<2x4xf32>) -> tensor<2x4xf32>
  %1 = ingot.aten "aten::transpose.int"(%0) {args = {dim0 = 0 : i64, dim1 = 1 : i64, self = #ingot.value<0>}} : (tensor<2x4xf32>) -> tensor<4x2xf32>
  %2 = ingot.aten "aten::reshape"(%1) {args = {self = #ingot.value<0>, shape = [-1]}, ingot.shares = false} : (tensor<4x2xf32>) -> tensor<8xf32>
  %3 = ingot.aten "aten::relu_"(%2) {args = {self = #ingot.value<0>}} : (tensor<8xf32>) -> tensor<8xf32>
  return %0 : tensor<2x4xf32>
}

// -----

// A copy that is none where s0 is 1: such sizes are refused, since %0 is seen after the write.
// CHECK-LABEL: func @not_one
// CHECK-SAME: ingot.symbols = {"(2 // (s0 + 1)) % 2" = [0, 0], s0 = [2, 9]}
func.func @not_one(%x: tensor<?x4xf32>) -> (tensor<?x4xf32>, tensor<?xf32>) attributes {ingot.symbols = {s0 = [2, 9]}} {
  %0 = ingot.aten "aten::clone"(%x) {args = {memory_format, self = #ingot.value<0>}} : (tensor<?x4xf32>) -> tensor<?x4xf32>
  %1 = ingot.aten "aten::t"(%0) {args = {self = #ingot.value<0>}} : (tensor<?x4xf32>) -> tensor<4x?xf32>
  %2 = ingot.aten "aten::reshape"(%1) {args = {self = #ingot.value<0>, shape = [-1]}, ingot.not_one = ["s0"], ingot.shares = false} : (tensor<4x?xf32>) -> tensor<?xf32>
  %3 = ingot.aten "aten::relu_"(%2) {args = {self = #ingot.value<0>}} : (tensor<?xf32>) -> tensor<?xf32>
  return %0, %2 : tensor<?x4xf32>, tensor<?xf32>
}

// -----

// Nobody sees %0 after the write, so any size will do.
// CHECK-LABEL: func @unseen
// CHECK-SAME: ingot.symbols = {s0 = [2, 9]}
func.func @unseen(%x: tensor<?x4xf32>) -> tensor<?xf32> attributes {ingot.symbols = {s0 = [2, 9]}} {
  %0 = ingot.aten "aten::clone"(%x) {args = {memory_format, self = #ingot.value<0>}} : (tensor<?x4xf32>) -> tensor<?x4xf32>
  %1 = ingot.aten "aten::t"(%0) {args = {self = #ingot.value<0>}} : (tensor<?x4xf32>) -> tensor<4x?xf32>
  %2 = ingot.aten "aten::reshape"(%1) {args = {self = #ingot.value<0>, shape = [-1]}, ingot.not_one = ["s0"], ingot.shares = false} : (tensor<4x?xf32>) -> tensor<?xf32>
  %3 = ingot.aten "aten::relu_"(%2) {args = {self = #ingot.value<0>}} : (tensor<?xf32>) -> tensor<?xf32>
  return %2 : tensor<?xf32>
}
