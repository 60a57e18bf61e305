// What the verifiers refuse.
// RUN: ingot-opt %s -split-input-file -verify-diagnostics

func.func @f(%x: tensor<2xf32>) {
  // expected-error @+1 {{has no operand number 1}}
  ingot.aten "aten::relu"(%x) {args = {self = #ingot.value<1>}} : (tensor<2xf32>) -> ()
  return
}

// -----

func.func @f() {
  // expected-error @+1 {{has no region number 0}}
  ingot.aten "higher_order::cond"() {args = {arg0 = #ingot.region<0>}} : () -> ()
  return
}

// -----

func.func @f() {
  // expected-error @+1 {{target must be 'namespace::name', not 'relu'}}
  ingot.aten "relu"() {args = {}} : () -> ()
  return
}

// -----

func.func @f() {
  // expected-error @+1 {{sub-graphs have one block that ends in ingot.yield}}
  ingot.aten "higher_order::wrap"() {args = {}} graphs {
  } : () -> ()
  return
}

// -----

func.func @f() {
  // expected-error @+1 {{needs a key}}
  %w = ingot.weight "" : tensor<2xf32>
  return
}

// -----

func.func @f() {
  // expected-error @+1 {{the sizes of a weight are known}}
  %w = ingot.weight "w" : tensor<?xf32>
  return
}

// -----

func.func @f(%a: i64, %b: f64) {
  // expected-error @+1 {{start and step have different types}}
  %r = ingot.iota %a, %b, %a : (i64, f64, i64) -> tensor<?xf32>
  return
}

// -----

func.func @f(%x: tensor<2xf32>) {
  // expected-error @+1 {{axis 1 is out of range for rank 1}}
  %n = ingot.dim %x, 1 : (tensor<2xf32>) -> i64
  return
}

// -----

func.func @f(%n: i64) {
  // expected-error @+1 {{result must be a zero-dimensional tensor of 'i64'}}
  %t = ingot.from_scalar %n : (i64) -> tensor<f32>
  return
}

// -----

func.func @f(%x: tensor<2xf32>, %y: tensor<2xf64>) {
  // expected-error @+1 {{operands have different element types 'f32' and 'f64'; promote them by ingot.cast}}
  %r = ingot.add %x, %y : (tensor<2xf32>, tensor<2xf64>) -> tensor<2xf32>
  return
}

// -----

func.func @f(%x: tensor<2xf32>, %y: tensor<3xf32>) {
  // expected-error @+1 {{operands do not broadcast together}}
  %r = ingot.add %x, %y : (tensor<2xf32>, tensor<3xf32>) -> tensor<2xf32>
  return
}

// -----

func.func @f(%x: tensor<2x1xf32>, %y: tensor<3xf32>) {
  // expected-error @+1 {{operands broadcast to 2x3, but the result is 2x2}}
  %r = ingot.add %x, %y : (tensor<2x1xf32>, tensor<3xf32>) -> tensor<2x2xf32>
  return
}

// -----

func.func @f(%x: tensor<2xf32>) {
  // expected-error @+1 {{result must be of i1, not 'f32'}}
  %r = ingot.lt %x, %x : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  return
}

// -----

func.func @f(%x: tensor<2xf32>) {
  // expected-error @+1 {{result must be of 'f32' as the operands are, not 'f64'}}
  %r = ingot.exp %x : (tensor<2xf32>) -> tensor<2xf64>
  return
}

// -----

func.func @f(%x: tensor<2xf32>) {
  // expected-error @+1 {{condition must be of i1}}
  %r = ingot.select %x, %x, %x : (tensor<2xf32>, tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  return
}

// -----

func.func @f(%x: tensor<2x3xf32>) {
  // expected-error @+1 {{cannot make 5 elements of 6}}
  %r = ingot.reshape %x() {sizes = array<i64: 5>} : (tensor<2x3xf32>) -> tensor<5xf32>
  return
}

// -----

func.func @f(%x: tensor<2x3xf32>) {
  // expected-error @+1 {{needs 1 dynamic operands, has 0}}
  %r = ingot.reshape %x() {sizes = array<i64: -9223372036854775808>} : (tensor<2x3xf32>) -> tensor<?xf32>
  return
}

// -----

func.func @f(%x: tensor<2x3xf32>) {
  // expected-error @+1 {{cannot expand size 2 to 4}}
  %r = ingot.expand %x() {sizes = array<i64: 4, 3>} : (tensor<2x3xf32>) -> tensor<4x3xf32>
  return
}

// -----

func.func @f(%x: tensor<2x3xf32>) {
  // expected-error @+1 {{operands and attributes do not fit together}}
  %r = ingot.permute %x {dims = array<i64: 0, 0>} : (tensor<2x3xf32>) -> tensor<2x2xf32>
  return
}

// -----

func.func @f(%x: tensor<5xf32>) {
  // expected-error @+1 {{result must have shape 2, not 3}}
  %r = ingot.slice %x() {axis = 0 : i64, bounds = array<i64: 0, 4>, step = 2 : i64} : (tensor<5xf32>) -> tensor<3xf32>
  return
}

// -----

func.func @f(%x: tensor<5xf32>, %s: tensor<3xf32>) {
  // expected-error @+1 {{source does not fit the slice}}
  %r = ingot.insert_slice %x, %s() {axis = 0 : i64, bounds = array<i64: 0, 2>, step = 1 : i64} : (tensor<5xf32>, tensor<3xf32>) -> tensor<5xf32>
  return
}

// -----

func.func @f(%x: tensor<4xf32>) {
  // expected-error @+1 {{reaches beyond the operand's elements}}
  %r = ingot.as_strided %x {sizes = array<i64: 3>, strides = array<i64: 2>, offset = 1 : i64} : (tensor<4xf32>) -> tensor<3xf32>
  return
}

// -----

func.func @f(%x: tensor<2xf32>, %y: tensor<3xf32>) {
  // expected-error @+1 {{result must have shape 5, not 6}}
  %r = ingot.concat %x, %y {axis = 0 : i64} : (tensor<2xf32>, tensor<3xf32>) -> tensor<6xf32>
  return
}

// -----

func.func @f(%x: tensor<2xf32>) {
  // expected-error @+1 {{result must have shape 4, not 3}}
  %r = ingot.pad %x {low = array<i64: 1>, high = array<i64: 1>, mode = 0 : i32, value = 0.0 : f64} : (tensor<2xf32>) -> tensor<3xf32>
  return
}

// -----

func.func @f(%x: tensor<2xf32>) {
  // expected-error @+1 {{dims are not distinct dimensions of the operand}}
  %r = ingot.flip %x {dims = array<i64: 1>} : (tensor<2xf32>) -> tensor<2xf32>
  return
}

// -----

func.func @f(%x: tensor<2xf32>, %i: tensor<3xf32>) {
  // expected-error @+1 {{index must be of integers, not 'f32'}}
  %r = ingot.index_select %x, %i {axis = 0 : i64} : (tensor<2xf32>, tensor<3xf32>) -> tensor<3xf32>
  return
}

// -----

func.func @f(%x: tensor<2x2xf32>, %i: tensor<3x2xi64>) {
  // expected-error @+1 {{index is larger than the operand in dimension 0}}
  %r = ingot.gather %x, %i {axis = 1 : i64} : (tensor<2x2xf32>, tensor<3x2xi64>) -> tensor<3x2xf32>
  return
}

// -----

func.func @f(%x: tensor<2x2x2xf32>, %i: tensor<3xi64>) {
  // expected-error @+1 {{operands and attributes do not fit together}}
  %r = ingot.index %x, %i, %i {axes = array<i64: 0, 2>} : (tensor<2x2x2xf32>, tensor<3xi64>, tensor<3xi64>) -> tensor<3x2xf32>
  return
}

// -----

func.func @f(%x: tensor<2x3xf32>) {
  // expected-error @+1 {{result must be of 'i1', not 'f32'}}
  %r = ingot.reduce %x {kind = 4 : i32, dims = array<i64: 1>} : (tensor<2x3xf32>) -> tensor<2x1xf32>
  return
}

// -----

func.func @f(%x: tensor<2x3xi64>) {
  // expected-error @+1 {{operand must be of floating-point numbers}}
  %r = ingot.softmax %x {axis = 1 : i64, log = false} : (tensor<2x3xi64>) -> tensor<2x3xi64>
  return
}

// -----

func.func @f(%x: tensor<2x3xf32>, %w: tensor<2xf32>) {
  // expected-error @+1 {{weight must have shape 3 and a floating-point type}}
  %r = ingot.layer_norm %x, %w {rank = 1 : i64, eps = 1.0e-5 : f64, rms = false} : (tensor<2x3xf32>, tensor<2xf32>) -> tensor<2x3xf32>
  return
}

// -----

func.func @f(%x: tensor<2x3xf32>) {
  // expected-error @+1 {{channels cannot be divided into 2 groups}}
  %r = ingot.group_norm %x {groups = 2 : i64, eps = 1.0e-5 : f64} : (tensor<2x3xf32>) -> tensor<2x3xf32>
  return
}

// -----

func.func @f(%a: tensor<2x3xf32>, %b: tensor<4x5xf32>) {
  // expected-error @+1 {{operands and attributes do not fit together}}
  %r = ingot.matmul %a, %b {activation = 0 : i32} : (tensor<2x3xf32>, tensor<4x5xf32>) -> tensor<2x5xf32>
  return
}

// -----

func.func @f(%a: tensor<2x3xf32>, %b: tensor<3x5xf32>, %c: tensor<4xf32>) {
  // expected-error @+1 {{bias does not broadcast to the result}}
  %r = ingot.matmul %a, %b bias %c {activation = 0 : i32} : (tensor<2x3xf32>, tensor<3x5xf32>, tensor<4xf32>) -> tensor<2x5xf32>
  return
}

// -----

func.func @f(%x: tensor<1x3x8x8xf32>, %w: tensor<4x2x3x3xf32>) {
  // expected-error @+1 {{operands and attributes do not fit together}}
  %r = ingot.conv %x, %w {strides = array<i64: 1, 1>, pad_low = array<i64: 0, 0>, pad_high = array<i64: 0, 0>, dilations = array<i64: 1, 1>, output_padding = array<i64: 0, 0>, groups = 1 : i64, transposed = false, activation = 0 : i32} : (tensor<1x3x8x8xf32>, tensor<4x2x3x3xf32>) -> tensor<1x4x6x6xf32>
  return
}

// -----

func.func @f(%q: tensor<1x3x4x8xf32>, %k: tensor<1x2x4x8xf32>) {
  // expected-error @+1 {{the heads of q must be a multiple of those of k and v}}
  %r = ingot.attention %q, %k, %k {scale = 1.0 : f64, causal = false} : (tensor<1x3x4x8xf32>, tensor<1x2x4x8xf32>, tensor<1x2x4x8xf32>) -> tensor<1x3x4x8xf32>
  return
}

// -----

func.func @f(%x: tensor<1x3x8x8xf32>) {
  // expected-error @+1 {{result must have shape 1x3x4x4, not 1x3x5x5}}
  %0, %1 = ingot.max_pool %x {kernel = array<i64: 2, 2>, strides = array<i64: 2, 2>, padding = array<i64: 0, 0>, dilations = array<i64: 1, 1>, ceil_mode = false} : (tensor<1x3x8x8xf32>) -> (tensor<1x3x5x5xf32>, tensor<1x3x5x5xi64>)
  return
}

// -----

func.func @f(%x: tensor<1x3x8xf32>) {
  // expected-error @+1 {{needs a size and a scale for every dimension after the second}}
  %r = ingot.resize %x() {mode = 0 : i32, align_corners = false, scales = array<f64>, sizes = array<i64: 4>} : (tensor<1x3x8xf32>) -> tensor<1x3x4xf32>
  return
}

// -----

func.func @f(%x: tensor<2x3xf32>) {
  %r = ingot.cluster(%x) {
  ^bb0(%a: tensor<2x3xf32>):
    // expected-error @+1 {{cannot be in a cluster}}
    %0 = ingot.flip %a {dims = array<i64: 0>} : (tensor<2x3xf32>) -> tensor<2x3xf32>
    ingot.yield %0 : tensor<2x3xf32>
  } : (tensor<2x3xf32>) -> tensor<2x3xf32>
  return
}
