// RUN: ingot-opt %s -lower-aten | FileCheck %s

// CHECK-LABEL: func @full
// CHECK-NEXT: %[[C:.*]] = ingot.constant dense<7> : tensor<i64>
// CHECK-NEXT: ingot.expand %[[C]](%arg0) {sizes = array<i64: -9223372036854775808, 3>}
func.func @full(%n: i64) -> tensor<?x3xi64> {
  %0 = ingot.aten "aten::full"(%n) {args = {device, dtype, fill_value = 7 : i64, layout, pin_memory, size = [#ingot.value<0>, 3]}} : (i64) -> tensor<?x3xi64>
  return %0 : tensor<?x3xi64>
}

// CHECK-LABEL: func @arange
// CHECK-DAG: %[[START:.*]] = arith.constant 2 : i64
// CHECK-DAG: %[[STEP:.*]] = arith.constant 3 : i64
// CHECK-DAG: %[[COUNT:.*]] = arith.constant 4 : i64
// CHECK: ingot.iota
func.func @arange() -> tensor<4xi64> {
  %0 = ingot.aten "aten::arange.start_step"() {args = {device, dtype, end = 12 : i64, layout, pin_memory, start = 2 : i64, step = 3 : i64}} : () -> tensor<4xi64>
  return %0 : tensor<4xi64>
}

// CHECK-LABEL: func @tril
// CHECK: %[[D:.*]] = ingot.sub {{.*}} : (tensor<4xi64>, tensor<3x1xi64>) -> tensor<3x4xi64>
// CHECK: %[[BELOW:.*]] = ingot.le %[[D]],
// CHECK: ingot.select %[[BELOW]], %arg0,
func.func @tril(%x: tensor<3x4xf32>) -> tensor<3x4xf32> {
  %0 = ingot.aten "aten::tril"(%x) {args = {diagonal = 0 : i64, self = #ingot.value<0>}} : (tensor<3x4xf32>) -> tensor<3x4xf32>
  return %0 : tensor<3x4xf32>
}

// CHECK-LABEL: func @cast
// CHECK-NEXT: ingot.cast %arg0 : (tensor<2xf32>) -> tensor<2xui8>
// CHECK-NEXT: return
func.func @cast(%x: tensor<2xf32>) -> (tensor<2xui8>, tensor<2xf32>) {
  %0 = ingot.aten "aten::to.dtype"(%x) {args = {copy = false, dtype = ui8, memory_format, non_blocking = false, self = #ingot.value<0>}} : (tensor<2xf32>) -> tensor<2xui8>
  %1 = ingot.aten "aten::_to_copy"(%x) {args = {device = #ingot.tagged<"device", "cpu">, dtype, layout, memory_format, non_blocking = false, pin_memory, self = #ingot.value<0>}} : (tensor<2xf32>) -> tensor<2xf32>
  return %0, %1 : tensor<2xui8>, tensor<2xf32>
}
