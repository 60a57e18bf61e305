// RUN: ingot-opt %s -inline-regions -split-input-file -verify-diagnostics | FileCheck %s

// CHECK-LABEL: func @noGrad
func.func @noGrad(%x: tensor<2xf32>, %y: tensor<2xf32>) -> tensor<2xf32> {
  // CHECK-NEXT: %[[R:.*]] = ingot.aten "aten::sub.Tensor"(%arg1, %arg0)
  // CHECK-NEXT: return %[[R]]
  %0 = ingot.aten "higher_order::wrap_with_set_grad_enabled"(%x, %y) {args = {arg0 = false, arg1 = #ingot.region<0>, arg2 = #ingot.value<0>, arg3 = #ingot.value<1>}} graphs {
  ^bb0(%a: tensor<2xf32>, %b: tensor<2xf32>):
    %1 = ingot.aten "aten::sub.Tensor"(%b, %a) {args = {alpha = 1 : i64, other = #ingot.value<1>, self = #ingot.value<0>}} : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
    ingot.yield %1 : tensor<2xf32>
  } : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  return %0 : tensor<2xf32>
}

// -----

// CHECK-LABEL: func @autocastOff
func.func @autocastOff(%x: tensor<2xf32>) -> tensor<2xf32> {
  // CHECK-NEXT: return %arg0
  %0 = ingot.aten "higher_order::wrap_with_autocast"(%x) {args = {arg0 = "cpu", arg1, arg2 = false, arg3, arg4 = #ingot.region<0>, arg5 = #ingot.value<0>}} graphs {
  ^bb0(%a: tensor<2xf32>):
    ingot.yield %a : tensor<2xf32>
  } : (tensor<2xf32>) -> tensor<2xf32>
  return %0 : tensor<2xf32>
}

// -----

// Autocast of a GPU does nothing to tensors of a CPU.
// CHECK-LABEL: func @autocastElsewhere
func.func @autocastElsewhere(%x: tensor<2xf32>) -> tensor<2xf32> {
  // CHECK-NEXT: return %arg0
  %0 = ingot.aten "higher_order::wrap_with_autocast"(%x) {args = {arg0 = "cuda", arg1 = f16, arg2 = true, arg3, arg4 = #ingot.region<0>, arg5 = #ingot.value<0>}} graphs {
  ^bb0(%a: tensor<2xf32>):
    ingot.yield %a : tensor<2xf32>
  } : (tensor<2xf32>) -> tensor<2xf32>
  return %0 : tensor<2xf32>
}

// -----

// CHECK-LABEL: func @autocastOn
// CHECK:         %[[X:.*]] = ingot.aten "aten::_to_copy"(%{{.*}}) {{.*}} -> tensor<2x2xbf16>
// CHECK:         ingot.aten "aten::mm"(%[[X]], %{{.*}}) {{.*}} -> tensor<2x2xbf16>
func.func @autocastOn(%x: tensor<2x2xf32>) -> tensor<2x2xbf16> {
  %0 = ingot.aten "higher_order::wrap_with_autocast"(%x) {args = {arg0 = "cpu", arg1 = bf16, arg2 = true, arg3, arg4 = #ingot.region<0>, arg5 = #ingot.value<0>}} graphs {
  ^bb0(%a: tensor<2x2xf32>):
    %m = ingot.aten "aten::mm"(%a, %a) {args = {self = #ingot.value<0>, mat2 = #ingot.value<1>}} : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xbf16>
    ingot.yield %m : tensor<2x2xbf16>
  } : (tensor<2x2xf32>) -> tensor<2x2xbf16>
  return %0 : tensor<2x2xbf16>
}
