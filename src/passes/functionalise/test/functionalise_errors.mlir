// Every write that cannot be expressed is reported, not only the first.
// RUN: ingot-opt %s -functionalise -split-input-file -verify-diagnostics

func.func @all(%x: tensor<4xf32>, %y: tensor<1xf32>) -> tensor<4xf32> {
  %0 = ingot.aten "aten::clone"(%x) {args = {memory_format, self = #ingot.value<0>}} : (tensor<4xf32>) -> tensor<4xf32>
  // expected-note @+1 {{the view is made here}}
  %1 = ingot.aten "aten::unfold"(%0) {args = {dimension = 0 : i64, self = #ingot.value<0>, size = 2 : i64, step = 1 : i64}} : (tensor<4xf32>) -> tensor<3x2xf32>
  // expected-error @+1 {{'aten::relu_' writes to a view that 'aten::unfold' made}}
  %2 = ingot.aten "aten::relu_"(%1) {args = {self = #ingot.value<0>}} : (tensor<3x2xf32>) -> tensor<3x2xf32>
  // expected-note @+1 {{the view is made here}}
  %3 = ingot.aten "aten::expand"(%y) {args = {implicit = false, self = #ingot.value<0>, size = [4]}} : (tensor<1xf32>) -> tensor<4xf32>
  // expected-error @+1 {{several of its elements are one place in memory}}
  %4 = ingot.aten "aten::relu_"(%3) {args = {self = #ingot.value<0>}} : (tensor<4xf32>) -> tensor<4xf32>
  // expected-error @+1 {{'aten::set_.source_Tensor' writes to its operands and is not supported}}
  %5 = ingot.aten "aten::set_.source_Tensor"(%0, %y) {args = {self = #ingot.value<0>, source = #ingot.value<1>}} : (tensor<4xf32>, tensor<1xf32>) -> tensor<1xf32>
  return %0 : tensor<4xf32>
}

// -----

func.func @body(%p: tensor<i1>, %x: tensor<2xf32>) -> tensor<2xf32> {
  // expected-error @+1 {{a sub-graph of 'higher_order::cond' changes its operand number 0 in place}}
  %0 = ingot.aten "higher_order::cond"(%p, %x) {args = {arg0 = #ingot.value<0>, arg1 = #ingot.region<0>, arg2 = #ingot.region<1>, arg3 = [#ingot.value<1>]}} graphs {
  ^bb0(%a: tensor<2xf32>):
    %1 = ingot.aten "aten::relu_"(%a) {args = {self = #ingot.value<0>}} : (tensor<2xf32>) -> tensor<2xf32>
    ingot.yield %1 : tensor<2xf32>
  }, {
  ^bb0(%a: tensor<2xf32>):
    ingot.yield %a : tensor<2xf32>
  } : (tensor<i1>, tensor<2xf32>) -> tensor<2xf32>
  return %0 : tensor<2xf32>
}

// -----

// Whether %1 is a copy of %0 follows from the sizes of a call.
func.func @varies(%x: tensor<?x?xf32>) -> (tensor<?x?xf32>, tensor<?xf32>) {
  %0 = ingot.aten "aten::clone"(%x) {args = {memory_format, self = #ingot.value<0>}} : (tensor<?x?xf32>) -> tensor<?x?xf32>
  %1 = ingot.aten "aten::reshape"(%0) {args = {self = #ingot.value<0>, shape = [-1]}, ingot.shares} : (tensor<?x?xf32>) -> tensor<?xf32>
  // expected-error @+1 {{'aten::relu_' writes to a tensor of which another is a view or a copy, as the sizes are}}
  %2 = ingot.aten "aten::relu_"(%1) {args = {self = #ingot.value<0>}} : (tensor<?xf32>) -> tensor<?xf32>
  return %0, %1 : tensor<?x?xf32>, tensor<?xf32>
}
