// Numbers that nobody would write: refused at once, not tried.
// RUN: ingot-opt %s -lower-aten | FileCheck %s

// CHECK-LABEL: func @tril_indices
// CHECK: ingot.refused = "the numbers of rows and columns are negative or too large"
// CHECK: ingot.refused = "there are too many elements"
// CHECK: dense<{{\[\[}}0, 0, 1, 1, 1, 2, 2, 2, 2], [0, 1, 0, 1, 2, 0, 1, 2, 3]]>
func.func @tril_indices() -> (tensor<2x9xi64>, tensor<2x9xi64>, tensor<2x9xi64>) {
  %0 = ingot.aten "aten::tril_indices"() {args = {col = 1099511627776 : i64, device, dtype, layout, offset = 1 : i64, pin_memory, row = 3 : i64}} : () -> tensor<2x9xi64>
  %1 = ingot.aten "aten::tril_indices"() {args = {col = 65536 : i64, device, dtype, layout, offset = 9223372036854775807 : i64, pin_memory, row = 65536 : i64}} : () -> tensor<2x9xi64>
  %2 = ingot.aten "aten::tril_indices"() {args = {col = 4 : i64, device, dtype, layout, offset = 1 : i64, pin_memory, row = 3 : i64}} : () -> tensor<2x9xi64>
  return %0, %1, %2 : tensor<2x9xi64>, tensor<2x9xi64>, tensor<2x9xi64>
}

// CHECK-LABEL: func @triu_indices
// CHECK: dense<{{\[\[}}0, 0, 0, 1, 1, 2], [1, 2, 3, 2, 3, 3]]>
func.func @triu_indices() -> tensor<2x6xi64> {
  %0 = ingot.aten "aten::triu_indices"() {args = {col = 4 : i64, device, dtype, layout, offset = 1 : i64, pin_memory, row = 3 : i64}} : () -> tensor<2x6xi64>
  return %0 : tensor<2x6xi64>
}

// CHECK-LABEL: func @combinations
// CHECK: ingot.refused = "there are too many combinations"
// CHECK: ingot.refused = "takes a vector of known size"
func.func @combinations(%x: tensor<1000000xf32>, %y: tensor<4xf32>) -> (tensor<3x2xf32>, tensor<3x2xf32>) {
  %0 = ingot.aten "aten::combinations"(%x) {args = {r = 2 : i64, self = #ingot.value<0>, with_replacement = false}} : (tensor<1000000xf32>) -> tensor<3x2xf32>
  %1 = ingot.aten "aten::combinations"(%y) {args = {r = 1099511627776 : i64, self = #ingot.value<0>, with_replacement = false}} : (tensor<4xf32>) -> tensor<3x2xf32>
  return %0, %1 : tensor<3x2xf32>, tensor<3x2xf32>
}

// CHECK-LABEL: func @pdist
// CHECK: ingot.refused = "there are too many pairs of rows"
func.func @pdist(%x: tensor<4294967296x2xf32>) -> tensor<3xf32> {
  %0 = ingot.aten "aten::pdist"(%x) {args = {p = 2.0 : f64, self = #ingot.value<0>}} : (tensor<4294967296x2xf32>) -> tensor<3xf32>
  return %0 : tensor<3xf32>
}

// CHECK-LABEL: func @diff
// CHECK: ingot.refused = "n must be from 0 to 4096"
func.func @diff(%x: tensor<1099511627776xf32>) -> tensor<3xf32> {
  %0 = ingot.aten "aten::diff"(%x) {args = {append, dim = 0 : i64, n = 1000000000 : i64, prepend, self = #ingot.value<0>}} : (tensor<1099511627776xf32>) -> tensor<3xf32>
  return %0 : tensor<3xf32>
}

// CHECK-LABEL: func @mvlgamma
// CHECK: ingot.refused = "p must be from 1 to 4096"
func.func @mvlgamma(%x: tensor<3xf32>) -> tensor<3xf32> {
  %0 = ingot.aten "aten::mvlgamma"(%x) {args = {p = 1000000000 : i64, self = #ingot.value<0>}} : (tensor<3xf32>) -> tensor<3xf32>
  return %0 : tensor<3xf32>
}

// CHECK-LABEL: func @tensor_split
// CHECK: ingot.refused = "the number of sections must be that of the results"
func.func @tensor_split(%x: tensor<4xf32>) -> (tensor<2xf32>, tensor<2xf32>) {
  %0:2 = ingot.aten "aten::tensor_split.sections"(%x) {args = {dim = 0 : i64, sections = 1000000000 : i64, self = #ingot.value<0>}} : (tensor<4xf32>) -> (tensor<2xf32>, tensor<2xf32>)
  return %0#0, %0#1 : tensor<2xf32>, tensor<2xf32>
}

// CHECK-LABEL: func @histogramdd
// CHECK: ingot.refused = "needs edges for every dimension of the points"
// CHECK: ingot.refused = "takes floating-point points of a known number of dimensions"
func.func @histogramdd(%x: tensor<4x2xf32>, %y: tensor<4x1000000000xf32>) -> (tensor<2xf32>, tensor<2xf32>) {
  %0 = ingot.aten "aten::_histogramdd_bin_edges"(%x) {args = {bins = [], density = false, range, self = #ingot.value<0>, weight}} : (tensor<4x2xf32>) -> tensor<2xf32>
  %1 = ingot.aten "aten::_histogramdd_bin_edges"(%y) {args = {bins = [2], density = false, range, self = #ingot.value<0>, weight}} : (tensor<4x1000000000xf32>) -> tensor<2xf32>
  return %0, %1 : tensor<2xf32>, tensor<2xf32>
}

// CHECK-LABEL: func @gru
// CHECK: ingot.refused = "the states or parameters do not fit the number of layers"
func.func @gru(%x: tensor<4x2x3xf32>, %h: tensor<1x2x3xf32>) -> (tensor<4x2x3xf32>, tensor<1x2x3xf32>) {
  %0:2 = ingot.aten "aten::gru.input"(%x, %h) {args = {batch_first = false, bidirectional = true, dropout = 0.0 : f64, has_biases = false, hx = #ingot.value<1>, input = #ingot.value<0>, num_layers = 9223372036854775807 : i64, params = [#ingot.value<0>, #ingot.value<0>], train = false}} : (tensor<4x2x3xf32>, tensor<1x2x3xf32>) -> (tensor<4x2x3xf32>, tensor<1x2x3xf32>)
  return %0#0, %0#1 : tensor<4x2x3xf32>, tensor<1x2x3xf32>
}
