#ifndef INGOT_OPS_TD
#define INGOT_OPS_TD

include "OpBase.td"
include "ElementwiseOps.td"

//===------------------------------------------------------------------------------------------===//
// Exported nodes and sources of values
//===------------------------------------------------------------------------------------------===//

def Ingot_AtenOp : Op<Ingot_Dialect, "aten", []> {
  let summary = "a node of the exported program, as it was exported: the carrier op";
  let description = [{
    `target` is the schema name (`aten::conv2d`, `aten::add.Tensor`, `higher_order::cond`,
    `_operator::mul`). `args` holds every argument by its schema name, defaults filled in. Tensors and
    symbolic numbers are operands, referred to as `#ingot.value<N>`; sub-graphs are regions,
    `#ingot.region<N>`. Other kinds: integers (i64), floats (f64), booleans, strings, element types
    (type attributes), lists (arrays), None (unit), and `#ingot.tagged` for devices, layouts and
    memory formats.

    ```mlir
    %r = ingot.aten "aten::add.Tensor"(%x, %y) {args = {alpha = 1 : i64, other = #ingot.value<1>,
           self = #ingot.value<0>}} : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
    ```
  }];
  let arguments = (ins StrAttr:$target, Variadic<Ingot_Any>:$values, DictionaryAttr:$args);
  let results = (outs Variadic<Ingot_Any>:$results);
  let regions = (region VariadicRegion<AnyRegion>:$graphs);
  let assemblyFormat = [{
    $target `(` $values `)` attr-dict (`graphs` $graphs^)? `:` functional-type($values, $results)
  }];
  let hasVerifier = 1;
}

def Ingot_YieldOp : Op<Ingot_Dialect, "yield", [Pure, Terminator]> {
  let summary = "ends a region and gives its results";
  let description = "```mlir\ningot.yield %a, %b : tensor<2xf32>, tensor<3xi64>\n```";
  let arguments = (ins Variadic<Ingot_Any>:$values);
  let assemblyFormat = "($values^ `:` type($values))? attr-dict";
}

def Ingot_WeightOp : Ingot_Op<"weight"> {
  let summary = "a parameter, buffer or constant of the model, by its key in the weights file";
  let description = "```mlir\n%w = ingot.weight \"encoder.layer.0.weight\" : tensor<768x768xf32>\n```";
  let arguments = (ins StrAttr:$key);
  let results = (outs Ingot_Tensor:$result);
  let assemblyFormat = "$key attr-dict `:` type($result)";
}

def Ingot_ConstantOp : Ingot_Op<"constant", [ConstantLike, AllTypesMatch<["value", "result"]>]> {
  let summary = "a small tensor written in the program";
  let description = "```mlir\n%c = ingot.constant dense<2.5> : tensor<f32>\n```";
  let arguments = (ins ElementsAttr:$value);
  let results = (outs Ingot_Tensor:$result);
  let builders = [OpBuilder<(ins "::mlir::ElementsAttr":$value),
                            [{ build($_builder, $_state, value.getType(), value); }]>];
  let assemblyFormat = "attr-dict $value";
  let hasFolder = 1;
}

def Ingot_IotaOp : Ingot_Op<"iota"> {
  let summary = "start, start + step, … along the only dimension";
  let description = [{
    The scalars are computed in their own type and then converted.
    ```mlir
    %r = ingot.iota %start, %step, %count : (i64, i64, i64) -> tensor<10xi64>
    ```
  }];
  let arguments = (ins Ingot_Scalar:$start, Ingot_Scalar:$step, I64:$count);
  let results = (outs Ingot_Tensor:$result);
  let assemblyFormat = "operands attr-dict `:` functional-type(operands, results)";
}

//===------------------------------------------------------------------------------------------===//
// Symbolic numbers
//===------------------------------------------------------------------------------------------===//

def Ingot_DimOp : Ingot_Op<"dim"> {
  let summary = "size of dimension `axis`";
  let description = "```mlir\n%n = ingot.dim %x, 0 : (tensor<?x4xf32>) -> i64\n```";
  let arguments = (ins Ingot_Tensor:$x, I64Attr:$axis);
  let results = (outs I64:$result);
  let assemblyFormat = "$x `,` $axis attr-dict `:` functional-type(operands, results)";
  let hasFolder = 1;
}

def Ingot_FromScalarOp : Ingot_Op<"from_scalar"> {
  let summary = "a zero-dimensional tensor of a symbolic number";
  let description = "```mlir\n%t = ingot.from_scalar %n : (i64) -> tensor<i64>\n```";
  let arguments = (ins Ingot_Scalar:$x);
  let results = (outs Ingot_Tensor:$result);
  let assemblyFormat = "operands attr-dict `:` functional-type(operands, results)";
}

//===------------------------------------------------------------------------------------------===//
// Moving data. In lists of sizes and positions, kDynamic (-9223372036854775808) stands for the next
// of the op's dynamic operands.
//===------------------------------------------------------------------------------------------===//

def Ingot_ReshapeOp : Ingot_Op<"reshape"> {
  let summary = "the same elements in row-major order with other sizes";
  let description = "```mlir\n%r = ingot.reshape %x() {sizes = array<i64: 6>} : (tensor<2x3xf32>) -> tensor<6xf32>\n```";
  let arguments = (ins Ingot_Tensor:$x, Variadic<I64>:$dynamic, DenseI64ArrayAttr:$sizes);
  let results = (outs Ingot_Tensor:$result);
  let assemblyFormat = "$x `(` $dynamic `)` attr-dict `:` functional-type(operands, results)";
  let hasFolder = 1;
}

def Ingot_ExpandOp : Ingot_Op<"expand"> {
  let summary = "repeats dimensions of size 1, and adds leading ones";
  let description = "```mlir\n%r = ingot.expand %x() {sizes = array<i64: 2, 3>} : (tensor<1x3xf32>) -> tensor<2x3xf32>\n```";
  let arguments = (ins Ingot_Tensor:$x, Variadic<I64>:$dynamic, DenseI64ArrayAttr:$sizes);
  let results = (outs Ingot_Tensor:$result);
  let assemblyFormat = "$x `(` $dynamic `)` attr-dict `:` functional-type(operands, results)";
  let hasFolder = 1;
}

def Ingot_PermuteOp : Ingot_Op<"permute"> {
  let summary = "dimension i of the result is dimension dims[i] of x";
  let description = "```mlir\n%r = ingot.permute %x {dims = array<i64: 1, 0>} : (tensor<2x3xf32>) -> tensor<3x2xf32>\n```";
  let arguments = (ins Ingot_Tensor:$x, DenseI64ArrayAttr:$dims);
  let results = (outs Ingot_Tensor:$result);
  let assemblyFormat = "$x attr-dict `:` functional-type(operands, results)";
  let hasFolder = 1;
}

def Ingot_SliceOp : Ingot_Op<"slice"> {
  let summary = "elements start, start + step, … below end, of one dimension";
  let description = [{
    `bounds` holds start and end, already clamped to the dimension's size; kDynamic takes the next operand.
    ```mlir
    %r = ingot.slice %x() {axis = 1 : i64, bounds = array<i64: 0, 4>, step = 2 : i64} : (tensor<2x5xf32>) -> tensor<2x2xf32>
    ```
  }];
  let arguments = (ins Ingot_Tensor:$x, Variadic<I64>:$dynamic, I64Attr:$axis, DenseI64ArrayAttr:$bounds, I64Attr:$step);
  let results = (outs Ingot_Tensor:$result);
  let assemblyFormat = "$x `(` $dynamic `)` attr-dict `:` functional-type(operands, results)";
  let hasFolder = 1;
}

def Ingot_InsertSliceOp : Ingot_Op<"insert_slice"> {
  let summary = "x with `source` written over the slice; the inverse of slice";
  let description = [{
    ```mlir
    %r = ingot.insert_slice %x, %s() {axis = 0 : i64, bounds = array<i64: 0, 2>, step = 1 : i64} : (tensor<4xf32>, tensor<2xf32>) -> tensor<4xf32>
    ```
  }];
  let arguments = (ins Ingot_Tensor:$x, Ingot_Tensor:$source, Variadic<I64>:$dynamic, I64Attr:$axis, DenseI64ArrayAttr:$bounds, I64Attr:$step);
  let results = (outs Ingot_Tensor:$result);
  let assemblyFormat = "$x `,` $source `(` $dynamic `)` attr-dict `:` functional-type(operands, results)";
}

def Ingot_AsStridedOp : Ingot_Op<"as_strided"> {
  let summary = "a view of x's row-major memory with given sizes, strides and offset";
  let description = "```mlir\n%r = ingot.as_strided %x {sizes = array<i64: 2>, strides = array<i64: 2>, offset = 1 : i64} : (tensor<4xf32>) -> tensor<2xf32>\n```";
  let arguments = (ins Ingot_Tensor:$x, DenseI64ArrayAttr:$sizes, DenseI64ArrayAttr:$strides, I64Attr:$offset);
  let results = (outs Ingot_Tensor:$result);
  let assemblyFormat = "$x attr-dict `:` functional-type(operands, results)";
}

def Ingot_ConcatOp : Ingot_Op<"concat"> {
  let summary = "tensors one after another along `axis`";
  let description = "```mlir\n%r = ingot.concat %a, %b {axis = 0 : i64} : (tensor<2xf32>, tensor<3xf32>) -> tensor<5xf32>\n```";
  let arguments = (ins Variadic<Ingot_Tensor>:$values, I64Attr:$axis);
  let results = (outs Ingot_Tensor:$result);
  let assemblyFormat = "$values attr-dict `:` functional-type(operands, results)";
}

def Ingot_PadOp : Ingot_Op<"pad"> {
  let summary = "adds (or, where negative, removes) elements at the ends of dimensions";
  let description = [{
    `low` and `high` have one entry a dimension. `value` is used by the constant mode.
    ```mlir
    %r = ingot.pad %x {low = array<i64: 0, 1>, high = array<i64: 0, 1>, mode = 0 : i32, value = 0.0 : f64} : (tensor<2x3xf32>) -> tensor<2x5xf32>
    ```
  }];
  let arguments = (ins Ingot_Tensor:$x, DenseI64ArrayAttr:$low, DenseI64ArrayAttr:$high, Ingot_PadMode:$mode, F64Attr:$value);
  let results = (outs Ingot_Tensor:$result);
  let assemblyFormat = "$x attr-dict `:` functional-type(operands, results)";
}

def Ingot_FlipOp : Ingot_Op<"flip"> {
  let summary = "reverses dimensions";
  let description = "```mlir\n%r = ingot.flip %x {dims = array<i64: 0>} : (tensor<2x3xf32>) -> tensor<2x3xf32>\n```";
  let arguments = (ins Ingot_Tensor:$x, DenseI64ArrayAttr:$dims);
  let results = (outs Ingot_Tensor:$result);
  let assemblyFormat = "$x attr-dict `:` functional-type(operands, results)";
}

//===------------------------------------------------------------------------------------------===//
// Picking by index. Negative indices count from the end; others out of range are run-time errors.
//===------------------------------------------------------------------------------------------===//

def Ingot_IndexSelectOp : Ingot_Op<"index_select"> {
  let summary = "slices of dimension `axis` at given positions; `index` may have any rank and takes the axis' place";
  let description = "```mlir\n%r = ingot.index_select %table, %ids {axis = 0 : i64} : (tensor<100x8xf32>, tensor<2x5xi64>) -> tensor<2x5x8xf32>\n```";
  let arguments = (ins Ingot_Tensor:$x, Ingot_Tensor:$index, I64Attr:$axis);
  let results = (outs Ingot_Tensor:$result);
  let assemblyFormat = "operands attr-dict `:` functional-type(operands, results)";
}

def Ingot_GatherOp : Ingot_Op<"gather"> {
  let summary = "torch.gather: result[i][j] = x[index[i][j]][j] for axis 0";
  let description = "```mlir\n%r = ingot.gather %x, %i {axis = 1 : i64} : (tensor<2x5xf32>, tensor<2x3xi64>) -> tensor<2x3xf32>\n```";
  let arguments = (ins Ingot_Tensor:$x, Ingot_Tensor:$index, I64Attr:$axis);
  let results = (outs Ingot_Tensor:$result);
  let assemblyFormat = "operands attr-dict `:` functional-type(operands, results)";
}

def Ingot_IndexOp : Ingot_Op<"index"> {
  let summary = "x[..., i0, i1, ...]: the indexed dimensions are `axes`, consecutive; the indices broadcast together";
  let description = "```mlir\n%r = ingot.index %x, %i, %j {axes = array<i64: 0, 1>} : (tensor<4x5x6xf32>, tensor<3xi64>, tensor<3xi64>) -> tensor<3x6xf32>\n```";
  let arguments = (ins Ingot_Tensor:$x, Variadic<Ingot_Tensor>:$indices, DenseI64ArrayAttr:$axes);
  let results = (outs Ingot_Tensor:$result);
  let assemblyFormat = "operands attr-dict `:` functional-type(operands, results)";
}

//===------------------------------------------------------------------------------------------===//
// Reductions and normalisations
//===------------------------------------------------------------------------------------------===//

def Ingot_ReduceOp : Ingot_Op<"reduce"> {
  let summary = "sum, product, maximum, minimum, any or all over dimensions, which stay with size 1";
  let description = "```mlir\n%r = ingot.reduce %x {kind = 0 : i32, dims = array<i64: 1>} : (tensor<2x3xf32>) -> tensor<2x1xf32>\n```";
  let arguments = (ins Ingot_Tensor:$x, Ingot_ReduceKind:$kind, DenseI64ArrayAttr:$dims);
  let results = (outs Ingot_Tensor:$result);
  let assemblyFormat = "$x attr-dict `:` functional-type(operands, results)";
}

def Ingot_ArgReduceOp : Ingot_Op<"arg_reduce"> {
  let summary = "position of the first maximum (or minimum) along `axis`, which stays with size 1; NaN counts as extreme";
  let description = "```mlir\n%r = ingot.arg_reduce %x {axis = 1 : i64, minimum = false} : (tensor<2x3xf32>) -> tensor<2x1xi64>\n```";
  let arguments = (ins Ingot_Tensor:$x, I64Attr:$axis, BoolAttr:$minimum);
  let results = (outs Ingot_Tensor:$result);
  let assemblyFormat = "$x attr-dict `:` functional-type(operands, results)";
}

def Ingot_CumsumOp : Ingot_Op<"cumsum"> {
  let summary = "running sum along `axis`";
  let description = "```mlir\n%r = ingot.cumsum %x {axis = 1 : i64} : (tensor<2x3xi64>) -> tensor<2x3xi64>\n```";
  let arguments = (ins Ingot_Tensor:$x, I64Attr:$axis);
  let results = (outs Ingot_Tensor:$result);
  let assemblyFormat = "$x attr-dict `:` functional-type(operands, results)";
}

def Ingot_SoftmaxOp : Ingot_Op<"softmax"> {
  let summary = "exp(x) / sum(exp(x)) along `axis`, or its logarithm";
  let description = "```mlir\n%r = ingot.softmax %x {axis = 1 : i64, log = false} : (tensor<2x3xf32>) -> tensor<2x3xf32>\n```";
  let arguments = (ins Ingot_Tensor:$x, I64Attr:$axis, BoolAttr:$log);
  let results = (outs Ingot_Tensor:$result);
  let assemblyFormat = "$x attr-dict `:` functional-type(operands, results)";
}

def Ingot_LayerNormOp : Ingot_Op<"layer_norm", [AttrSizedOperandSegments]> {
  let summary = "(x - mean) / sqrt(var + eps) * weight + bias over the last `rank` dimensions";
  let description = [{
    With `rms`, the mean is not subtracted: x / sqrt(mean(x²) + eps).
    ```mlir
    %r = ingot.layer_norm %x, %w bias %b {rank = 1 : i64, eps = 1.0e-5 : f64, rms = false} : (tensor<2x3xf32>, tensor<3xf32>, tensor<3xf32>) -> tensor<2x3xf32>
    ```
  }];
  let arguments = (ins Ingot_Tensor:$x, Optional<Ingot_Tensor>:$weight, Optional<Ingot_Tensor>:$bias, I64Attr:$rank, F64Attr:$eps, BoolAttr:$rms);
  let results = (outs Ingot_Tensor:$result);
  let assemblyFormat = "$x (`,` $weight^)? (`bias` $bias^)? attr-dict `:` functional-type(operands, results)";
}

def Ingot_GroupNormOp : Ingot_Op<"group_norm", [AttrSizedOperandSegments]> {
  let summary = "layer norm over groups of channels (dimension 1) and all later dimensions; weight and bias per channel";
  let description = "```mlir\n%r = ingot.group_norm %x, %w bias %b {groups = 2 : i64, eps = 1.0e-5 : f64} : (tensor<1x4x8xf32>, tensor<4xf32>, tensor<4xf32>) -> tensor<1x4x8xf32>\n```";
  let arguments = (ins Ingot_Tensor:$x, Optional<Ingot_Tensor>:$weight, Optional<Ingot_Tensor>:$bias, I64Attr:$groups, F64Attr:$eps);
  let results = (outs Ingot_Tensor:$result);
  let assemblyFormat = "$x (`,` $weight^)? (`bias` $bias^)? attr-dict `:` functional-type(operands, results)";
}

//===------------------------------------------------------------------------------------------===//
// Products
//===------------------------------------------------------------------------------------------===//

def Ingot_MatmulOp : Ingot_Op<"matmul", [AttrSizedOperandSegments]> {
  let summary = "batched matrix product [..., M, K] x [..., K, N], then bias and activation";
  let description = [{
    Both have rank 2 or more; leading dimensions broadcast. `bias` broadcasts to the result; `residual` has the
    result's shape and is added after the activation.
    ```mlir
    %r = ingot.matmul %a, %b {activation = 0 : i32} : (tensor<2x3xf32>, tensor<3x4xf32>) -> tensor<2x4xf32>
    ```
  }];
  let arguments = (ins Ingot_Tensor:$a, Ingot_Tensor:$b, Optional<Ingot_Tensor>:$bias, Optional<Ingot_Tensor>:$residual, Ingot_Activation:$activation);
  let results = (outs Ingot_Tensor:$result);
  let assemblyFormat = "$a `,` $b (`bias` $bias^)? (`residual` $residual^)? attr-dict `:` functional-type(operands, results)";
}

def Ingot_GatherMatmulOp : Ingot_Op<"gather_matmul"> {
  let summary = "batched matrix product with the matrices of a table that indices name: matmul(a, table[indices])";
  let description = [{
    a is [..., M, K] and the table [R, K, N], both of type f32; the indices' shape broadcasts against the leading dimensions of a. No
    matrix is copied, so experts chosen for a token cost what reading them costs.
    ```mlir
    %r = ingot.gather_matmul %a, %t, %i : (tensor<8x1x16xf32>, tensor<32x16x4xf32>, tensor<8xi64>) -> tensor<8x1x4xf32>
    ```
  }];
  let arguments = (ins Ingot_Tensor:$a, Ingot_Tensor:$table, Ingot_Tensor:$indices);
  let results = (outs Ingot_Tensor:$result);
  let assemblyFormat = "operands attr-dict `:` functional-type(operands, results)";
}

def Ingot_ConvOp : Ingot_Op<"conv", [AttrSizedOperandSegments]> {
  let summary = "convolution over 1 to 3 spatial dimensions, then bias and activation";
  let description = [{
    x is [N, C, ...]; weight [O, C/groups, ...], or [C, O/groups, ...] when `transposed`. `pad_low` and `pad_high` are zeros
    before and after each spatial dimension. `residual` has the result's shape and is added before the activation.
    ```mlir
    %r = ingot.conv %x, %w {strides = array<i64: 1, 1>, pad_low = array<i64: 0, 0>, pad_high = array<i64: 0, 0>,
           dilations = array<i64: 1, 1>, output_padding = array<i64: 0, 0>, groups = 1 : i64, transposed = false,
           activation = 0 : i32} : (tensor<1x3x8x8xf32>, tensor<4x3x3x3xf32>) -> tensor<1x4x6x6xf32>
    ```
  }];
  let arguments = (ins Ingot_Tensor:$x, Ingot_Tensor:$weight, Optional<Ingot_Tensor>:$bias, Optional<Ingot_Tensor>:$residual,
    DenseI64ArrayAttr:$strides, DenseI64ArrayAttr:$pad_low, DenseI64ArrayAttr:$pad_high, DenseI64ArrayAttr:$dilations,
    DenseI64ArrayAttr:$output_padding, I64Attr:$groups, BoolAttr:$transposed, Ingot_Activation:$activation);
  let results = (outs Ingot_Tensor:$result);
  let assemblyFormat = "$x `,` $weight (`bias` $bias^)? (`residual` $residual^)? attr-dict `:` functional-type(operands, results)";
}

def Ingot_ScaledPointwiseOp : Ingot_Op<"scaled_pointwise", [AttrSizedOperandSegments]> {
  let summary = "convolution with 1x1 filters of an image whose channels are multiplied by factors first";
  let description = [{
    x is [N, C, H, W] of type f32, the factors [N, C, 1, 1] or [1, C, 1, 1], the weight [O, C, 1, 1]. Bias, residual and activation are
    those of `conv`. Made by `fold-factors`.
    ```mlir
    %r = ingot.scaled_pointwise %x, %w factors %f {activation = 0 : i32}
         : (tensor<1x3x8x8xf32>, tensor<4x3x1x1xf32>, tensor<1x3x1x1xf32>) -> tensor<1x4x8x8xf32>
    ```
  }];
  let arguments = (ins Ingot_Tensor:$x, Ingot_Tensor:$weight, Optional<Ingot_Tensor>:$bias, Optional<Ingot_Tensor>:$residual,
    Ingot_Tensor:$factors, Ingot_Activation:$activation);
  let results = (outs Ingot_Tensor:$result);
  let assemblyFormat = "$x `,` $weight (`bias` $bias^)? (`residual` $residual^)? `factors` $factors attr-dict `:` functional-type(operands, results)";
}

def Ingot_DepthwiseBlockOp : Ingot_Op<"depthwise_block", [AttrSizedOperandSegments]> {
  let summary = "convolution with one filter a channel, a convolution with 1x1 filters before it, and the means of its result";
  let description = [{
    x is [N, C, H, W] of type f32. With `expand_weight` [D, C, 1, 1] it becomes [N, D, H, W] first; the weight is [D, 1, h, w]. A second
    result, where there is one, has the means of the first over the last two dimensions, [N, D, 1, 1]. Made by `form-blocks`.
    ```mlir
    %r, %m = ingot.depthwise_block %x, %w expand %e {strides = array<i64: 1, 1>, pad_low = array<i64: 1, 1>,
             pad_high = array<i64: 1, 1>, dilations = array<i64: 1, 1>, activation = 5 : i32, expand_activation = 5 : i32}
             : (tensor<1x3x8x8xf32>, tensor<6x1x3x3xf32>, tensor<6x3x1x1xf32>) -> (tensor<1x6x8x8xf32>, tensor<1x6x1x1xf32>)
    ```
  }];
  let arguments = (ins Ingot_Tensor:$x, Ingot_Tensor:$weight, Optional<Ingot_Tensor>:$bias, Optional<Ingot_Tensor>:$expand_weight,
    Optional<Ingot_Tensor>:$expand_bias, DenseI64ArrayAttr:$strides, DenseI64ArrayAttr:$pad_low, DenseI64ArrayAttr:$pad_high,
    DenseI64ArrayAttr:$dilations, Ingot_Activation:$activation, Ingot_Activation:$expand_activation);
  let results = (outs Ingot_Tensor:$result, Variadic<Ingot_Tensor>:$means);
  let assemblyFormat = "$x `,` $weight (`bias` $bias^)? (`expand` $expand_weight^)? (`expand_bias` $expand_bias^)? attr-dict `:` functional-type(operands, results)";
}

def Ingot_AttentionOp : Ingot_Op<"attention"> {
  let summary = "softmax(q kᵀ * scale + mask) v";
  let description = [{
    q is [..., H, L, E], k [..., G, S, E], v [..., G, S, F]; H is a multiple of G (grouped heads). The mask broadcasts to
    [..., H, L, S]; a boolean one keeps where true. `causal` keeps s <= l. A row with nothing kept gives zeros, as in PyTorch; with
    `nan_rows` NaN, as softmax does.
    ```mlir
    %r = ingot.attention %q, %k, %v {scale = 0.125 : f64, causal = false} : (tensor<1x8x4x64xf32>, tensor<1x8x6x64xf32>, tensor<1x8x6x64xf32>) -> tensor<1x8x4x64xf32>
    ```
  }];
  let arguments = (ins Ingot_Tensor:$q, Ingot_Tensor:$k, Ingot_Tensor:$v, Optional<Ingot_Tensor>:$mask, F64Attr:$scale, BoolAttr:$causal, DefaultValuedAttr<BoolAttr, "false">:$nan_rows);
  let results = (outs Ingot_Tensor:$result);
  let assemblyFormat = "operands attr-dict `:` functional-type(operands, results)";
}

//===------------------------------------------------------------------------------------------===//
// Windows over images. The spatial dimensions are the last ones; strides, kernel … have an entry for each.
//===------------------------------------------------------------------------------------------===//

def Ingot_MaxPoolOp : Ingot_Op<"max_pool"> {
  let summary = "largest element of each window, and its flat position in the spatial dimensions; NaN wins";
  let description = "```mlir\n%r, %i = ingot.max_pool %x {kernel = array<i64: 2, 2>, strides = array<i64: 2, 2>, padding = array<i64: 0, 0>, dilations = array<i64: 1, 1>, ceil_mode = false} : (tensor<1x3x8x8xf32>) -> (tensor<1x3x4x4xf32>, tensor<1x3x4x4xi64>)\n```";
  let arguments = (ins Ingot_Tensor:$x, DenseI64ArrayAttr:$kernel, DenseI64ArrayAttr:$strides, DenseI64ArrayAttr:$padding, DenseI64ArrayAttr:$dilations, BoolAttr:$ceil_mode);
  let results = (outs Ingot_Tensor:$result, Ingot_Tensor:$indices);
  let assemblyFormat = "$x attr-dict `:` functional-type(operands, results)";
}

def Ingot_AvgPoolOp : Ingot_Op<"avg_pool"> {
  let summary = "mean of each window; `divisor` 0 means the window's size";
  let description = "```mlir\n%r = ingot.avg_pool %x {kernel = array<i64: 2, 2>, strides = array<i64: 2, 2>, padding = array<i64: 0, 0>, ceil_mode = false, count_include_pad = true, divisor = 0 : i64} : (tensor<1x3x8x8xf32>) -> tensor<1x3x4x4xf32>\n```";
  let arguments = (ins Ingot_Tensor:$x, DenseI64ArrayAttr:$kernel, DenseI64ArrayAttr:$strides, DenseI64ArrayAttr:$padding, BoolAttr:$ceil_mode, BoolAttr:$count_include_pad, I64Attr:$divisor);
  let results = (outs Ingot_Tensor:$result);
  let assemblyFormat = "$x attr-dict `:` functional-type(operands, results)";
}

def Ingot_AdaptiveAvgPoolOp : Ingot_Op<"adaptive_avg_pool"> {
  let summary = "mean over windows that divide the spatial dimensions into `output` parts, as PyTorch divides them";
  let description = "```mlir\n%r = ingot.adaptive_avg_pool %x {output = array<i64: 1, 1>} : (tensor<1x3x8x8xf32>) -> tensor<1x3x1x1xf32>\n```";
  let arguments = (ins Ingot_Tensor:$x, DenseI64ArrayAttr:$output);
  let results = (outs Ingot_Tensor:$result);
  let assemblyFormat = "$x attr-dict `:` functional-type(operands, results)";
}

def Ingot_ResizeOp : Ingot_Op<"resize"> {
  let summary = "interpolation of the spatial dimensions (all but the first two) to the result's sizes";
  let description = [{
    `scales` are the factors the user gave, 0 where sizes decide, as in PyTorch.
    ```mlir
    %r = ingot.resize %x() {mode = 2 : i32, align_corners = false, scales = array<f64: 0.0, 0.0>, sizes = array<i64: 16, 16>} : (tensor<1x3x8x8xf32>) -> tensor<1x3x16x16xf32>
    ```
  }];
  let arguments = (ins Ingot_Tensor:$x, Variadic<I64>:$dynamic, Ingot_ResizeMode:$mode, BoolAttr:$align_corners, DenseF64ArrayAttr:$scales, DenseI64ArrayAttr:$sizes);
  let results = (outs Ingot_Tensor:$result);
  let assemblyFormat = "$x `(` $dynamic `)` attr-dict `:` functional-type(operands, results)";
}

//===------------------------------------------------------------------------------------------===//
// Made by passes
//===------------------------------------------------------------------------------------------===//

def Ingot_ClusterOp : Op<Ingot_Dialect, "cluster", [Pure, IsolatedFromAbove, SingleBlock]> {
  let summary = "element-wise ops, and reductions over the last dimensions, that become one loop nest";
  let description = [{
    The body holds element-wise ops, `ingot.constant`s of one element, and `ingot.reduce`s, over tensors that broadcast to one common
    iteration shape. It is compiled by codegen; `symbol` then names the function in the kernel library.
    ```mlir
    %r = ingot.cluster(%x, %y) {
    ^bb0(%a: tensor<2x3xf32>, %b: tensor<3xf32>):
      %0 = ingot.add %a, %b : (tensor<2x3xf32>, tensor<3xf32>) -> tensor<2x3xf32>
      %1 = ingot.relu %0 : (tensor<2x3xf32>) -> tensor<2x3xf32>
      ingot.yield %1 : tensor<2x3xf32>
    } : (tensor<2x3xf32>, tensor<3xf32>) -> tensor<2x3xf32>
    ```
  }];
  let arguments = (ins Variadic<Ingot_Tensor>:$values, OptionalAttr<StrAttr>:$symbol);
  let results = (outs Variadic<Ingot_Tensor>:$results);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = "`(` $values `)` attr-dict-with-keyword $body `:` functional-type($values, $results)";
  let hasVerifier = 1;
}

#endif
