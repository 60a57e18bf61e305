// RUN: ingot-opt %s -drop-asserts | FileCheck %s

// CHECK-LABEL: func @f
func.func @f(%x: tensor<?xf32>) -> i64 {
  // CHECK-NEXT: %[[N:.*]] = ingot.aten "aten::sym_size.int"
  // CHECK-NEXT: return %[[N]]
  %n = ingot.aten "aten::sym_size.int"(%x) {args = {dim = 0 : i64, self = #ingot.value<0>}} : (tensor<?xf32>) -> i64
  %ok = ingot.aten "_operator::ge"(%n) {args = {a = #ingot.value<0>, b = 2 : i64}} : (i64) -> i1
  ingot.aten "aten::_assert_scalar"(%ok) {args = {assert_msg = "too small", self = #ingot.value<0>}} : (i1) -> ()
  ingot.aten "aten::_assert_tensor_metadata"(%x) {args = {a = #ingot.value<0>, device, dtype = f32, layout, size, stride}} : (tensor<?xf32>) -> ()
  return %n : i64
}
