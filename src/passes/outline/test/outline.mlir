// RUN: ingot-opt %s --outline | FileCheck %s

// CHECK-LABEL: func.func private @number.0(
// CHECK:         ingot.reduce
// CHECK-LABEL: func.func private @number.1(
// CHECK:         ingot.weight "w"
// CHECK-LABEL: func.func @number(
// CHECK:         ingot.invoke {{.*}}functions = ["number.0"]
// CHECK:         ingot.item
// CHECK:         ingot.invoke {{.*}}functions = ["number.1"]
func.func @number(%x: tensor<4xi64>) -> tensor<i64> {
  %s = ingot.reduce %x {kind = 0 : i32, dims = array<i64: 0>} : (tensor<4xi64>) -> tensor<1xi64>
  %n = ingot.item %s : (tensor<1xi64>) -> i64
  %t = ingot.from_scalar %n : (i64) -> tensor<i64>
  %w = ingot.weight "w" : tensor<i64>
  %r = ingot.add %t, %w : (tensor<i64>, tensor<i64>) -> tensor<i64>
  return %r : tensor<i64>
}

// CHECK-LABEL: func.func private @branch.body0(
// CHECK-LABEL: func.func private @branch.body1(
// CHECK-LABEL: func.func @branch(
// CHECK:         ingot.invoke {{.*}}functions = ["branch.body0", "branch.body1"]{{.*}} kind = "if"
func.func @branch(%c: tensor<i1>, %x: tensor<2xf32>) -> tensor<2xf32> {
  %r = ingot.if %c(%x) {
  ^bb0(%a: tensor<2xf32>):
    ingot.yield %a : tensor<2xf32>
  }, {
  ^bb0(%a: tensor<2xf32>):
    %n = ingot.neg %a : (tensor<2xf32>) -> tensor<2xf32>
    ingot.yield %n : tensor<2xf32>
  } : (tensor<i1>, tensor<2xf32>) -> tensor<2xf32>
  return %r : tensor<2xf32>
}

// CHECK-LABEL: func.func @straight(
// CHECK-NOT:     ingot.invoke
func.func @straight(%x: tensor<2xf32>) -> tensor<2xf32> {
  %n = ingot.neg %x : (tensor<2xf32>) -> tensor<2xf32>
  return %n : tensor<2xf32>
}

// What PyTorch runs keeps its order: the second one needs nothing of the first, and still comes after it.
// CHECK-LABEL: func.func @effects(
// CHECK:         ingot.aten "a::first"
// CHECK:         ingot.aten "a::second"
// CHECK:         ingot.aten "a::third"
func.func @effects(%x: tensor<2xf32>) -> (tensor<2xf32>, tensor<2xf32>) {
  %a = ingot.aten "a::first"(%x) {args = {x = #ingot.value<0>}} : (tensor<2xf32>) -> tensor<2xf32>
  %n = ingot.neg %a : (tensor<2xf32>) -> tensor<2xf32>
  %b = ingot.aten "a::second"(%n) {args = {x = #ingot.value<0>}} : (tensor<2xf32>) -> tensor<2xf32>
  %c = ingot.aten "a::third"(%x) {args = {x = #ingot.value<0>}} : (tensor<2xf32>) -> tensor<2xf32>
  return %b, %c : tensor<2xf32>, tensor<2xf32>
}
