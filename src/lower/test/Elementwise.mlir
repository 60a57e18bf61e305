// RUN: ingot-opt %s -lower-aten | FileCheck %s

// CHECK-LABEL: func @one_op
// CHECK-NEXT: ingot.exp %arg0 : (tensor<2xf32>) -> tensor<2xf32>
func.func @one_op(%x: tensor<2xf32>) -> tensor<2xf32> {
  %0 = ingot.aten "aten::exp"(%x) {args = {self = #ingot.value<0>}} : (tensor<2xf32>) -> tensor<2xf32>
  return %0 : tensor<2xf32>
}

// CHECK-LABEL: func @integers_become_float
// CHECK-NEXT: %[[F:.*]] = ingot.cast %arg0 : (tensor<2xi64>) -> tensor<2xf32>
// CHECK-NEXT: ingot.sin %[[F]]
func.func @integers_become_float(%x: tensor<2xi64>) -> tensor<2xf32> {
  %0 = ingot.aten "aten::sin"(%x) {args = {self = #ingot.value<0>}} : (tensor<2xi64>) -> tensor<2xf32>
  return %0 : tensor<2xf32>
}

// CHECK-LABEL: func @floor_of_integers
// CHECK-NEXT: return %arg0
func.func @floor_of_integers(%x: tensor<2xi64>) -> tensor<2xi64> {
  %0 = ingot.aten "aten::floor"(%x) {args = {self = #ingot.value<0>}} : (tensor<2xi64>) -> tensor<2xi64>
  return %0 : tensor<2xi64>
}

// A number does not change the tensor's type, unless it is of a higher kind.
// CHECK-LABEL: func @numbers
// CHECK-NEXT: %[[C:.*]] = ingot.constant dense<2.500000e+00> : tensor<f16>
// CHECK-NEXT: ingot.add %arg0, %[[C]] : (tensor<2xf16>, tensor<f16>) -> tensor<2xf16>
// CHECK-NEXT: %[[I:.*]] = ingot.cast %arg1 : (tensor<2xi64>) -> tensor<2xf32>
// CHECK-NEXT: %[[D:.*]] = ingot.constant dense<2.500000e+00> : tensor<f32>
// CHECK-NEXT: ingot.add %[[I]], %[[D]]
func.func @numbers(%x: tensor<2xf16>, %y: tensor<2xi64>) -> (tensor<2xf16>, tensor<2xf32>) {
  %0 = ingot.aten "aten::add.Tensor"(%x) {args = {alpha = 1 : i64, other = 2.5 : f64, self = #ingot.value<0>}} : (tensor<2xf16>) -> tensor<2xf16>
  %1 = ingot.aten "aten::add.Tensor"(%y) {args = {alpha = 1 : i64, other = 2.5 : f64, self = #ingot.value<0>}} : (tensor<2xi64>) -> tensor<2xf32>
  return %0, %1 : tensor<2xf16>, tensor<2xf32>
}

// mul keeps the number in float32 for small floats.
// CHECK-LABEL: func @scaled_small_float
// CHECK: %[[C:.*]] = ingot.constant dense<1.100000e+00> : tensor<f32>
// CHECK: %[[P:.*]] = ingot.mul {{.*}}, %[[C]] : (tensor<2xf32>, tensor<f32>) -> tensor<2xf32>
// CHECK: ingot.cast %[[P]] : (tensor<2xf32>) -> tensor<2xbf16>
func.func @scaled_small_float(%x: tensor<2xbf16>) -> tensor<2xbf16> {
  %0 = ingot.aten "aten::mul.Scalar"(%x) {args = {other = 1.1 : f64, self = #ingot.value<0>}} : (tensor<2xbf16>) -> tensor<2xbf16>
  return %0 : tensor<2xbf16>
}

// CHECK-LABEL: func @large_integers_stay_exact
// CHECK-NEXT: ingot.constant dense<9007199254740993> : tensor<i64>
func.func @large_integers_stay_exact(%x: tensor<2xi64>) -> tensor<2xi64> {
  %0 = ingot.aten "aten::add.Tensor"(%x) {args = {alpha = 1 : i64, other = 9007199254740993 : i64, self = #ingot.value<0>}} : (tensor<2xi64>) -> tensor<2xi64>
  return %0 : tensor<2xi64>
}

// CHECK-LABEL: func @symbolic_number
// CHECK-NEXT: %[[T:.*]] = ingot.from_scalar %arg1 : (i64) -> tensor<i64>
// CHECK-NEXT: %[[F:.*]] = ingot.cast %[[T]] : (tensor<i64>) -> tensor<f32>
// CHECK-NEXT: ingot.mul %arg0, %[[F]]
func.func @symbolic_number(%x: tensor<?xf32>, %n: i64) -> tensor<?xf32> {
  %0 = ingot.aten "aten::mul.Tensor"(%x, %n) {args = {other = #ingot.value<1>, self = #ingot.value<0>}} : (tensor<?xf32>, i64) -> tensor<?xf32>
  return %0 : tensor<?xf32>
}

// CHECK-LABEL: func @divisions
// CHECK-DAG: ingot.div {{.*}} : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
// CHECK-DAG: ingot.div_floor %arg0, %arg1 : (tensor<2xi64>, tensor<2xi64>) -> tensor<2xi64>
func.func @divisions(%x: tensor<2xi64>, %y: tensor<2xi64>) -> (tensor<2xf32>, tensor<2xi64>) {
  %0 = ingot.aten "aten::div.Tensor"(%x, %y) {args = {other = #ingot.value<1>, self = #ingot.value<0>}} : (tensor<2xi64>, tensor<2xi64>) -> tensor<2xf32>
  %1 = ingot.aten "aten::div.Tensor_mode"(%x, %y) {args = {other = #ingot.value<1>, rounding_mode = "floor", self = #ingot.value<0>}} : (tensor<2xi64>, tensor<2xi64>) -> tensor<2xi64>
  return %0, %1 : tensor<2xf32>, tensor<2xi64>
}

// CHECK-LABEL: func @compare_promotes
// CHECK-NEXT: %[[F:.*]] = ingot.cast %arg0 : (tensor<2xi32>) -> tensor<2xf32>
// CHECK-NEXT: %[[C:.*]] = ingot.constant dense<5.000000e-01> : tensor<f32>
// CHECK-NEXT: ingot.lt %[[F]], %[[C]] : (tensor<2xf32>, tensor<f32>) -> tensor<2xi1>
func.func @compare_promotes(%x: tensor<2xi32>) -> tensor<2xi1> {
  %0 = ingot.aten "aten::lt.Scalar"(%x) {args = {other = 0.5 : f64, self = #ingot.value<0>}} : (tensor<2xi32>) -> tensor<2xi1>
  return %0 : tensor<2xi1>
}

// CHECK-LABEL: func @powers
// CHECK-NEXT: ingot.mul %arg0, %arg0
// CHECK-NEXT: ingot.sqrt %arg0
// CHECK-NEXT: %[[C:.*]] = ingot.constant dense<2.500000e+00> : tensor<f32>
// CHECK-NEXT: ingot.pow %arg0, %[[C]]
func.func @powers(%x: tensor<2xf32>) -> (tensor<2xf32>, tensor<2xf32>, tensor<2xf32>) {
  %0 = ingot.aten "aten::pow.Tensor_Scalar"(%x) {args = {exponent = 2 : i64, self = #ingot.value<0>}} : (tensor<2xf32>) -> tensor<2xf32>
  %1 = ingot.aten "aten::pow.Tensor_Scalar"(%x) {args = {exponent = 0.5 : f64, self = #ingot.value<0>}} : (tensor<2xf32>) -> tensor<2xf32>
  %2 = ingot.aten "aten::pow.Tensor_Scalar"(%x) {args = {exponent = 2.5 : f64, self = #ingot.value<0>}} : (tensor<2xf32>) -> tensor<2xf32>
  return %0, %1, %2 : tensor<2xf32>, tensor<2xf32>, tensor<2xf32>
}
