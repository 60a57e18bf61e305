// Windows over images: pooling with indices, sampling grids, patches.
#ifndef INGOT_WINDOW_OPS_TD
#define INGOT_WINDOW_OPS_TD

include "OpBase.td"

//===------------------------------------------------------------------------------------------===//
// Pooling. The spatial dimensions are the last ones.
//===------------------------------------------------------------------------------------------===//

def Ingot_AdaptiveMaxPoolOp : Ingot_Op<"adaptive_max_pool"> {
  let summary = "largest element, and its flat position, of the windows that divide the spatial dimensions into `output` parts";
  let description = [{
    The windows are those of `adaptive_avg_pool`; kDynamic entries of `output` take the next operand. NaN wins.
    ```mlir
    %r, %i = ingot.adaptive_max_pool %x() {output = array<i64: 3, 3>} : (tensor<1x3x8x8xf32>) -> (tensor<1x3x3x3xf32>, tensor<1x3x3x3xi64>)
    ```
  }];
  let arguments = (ins Ingot_Tensor:$x, Variadic<I64>:$dynamic, DenseI64ArrayAttr:$output);
  let results = (outs Ingot_Tensor:$result, Ingot_Tensor:$indices);
  let assemblyFormat = "$x `(` $dynamic `)` attr-dict `:` functional-type(operands, results)";
}

def Ingot_FractionalMaxPoolOp : Ingot_Op<"fractional_max_pool"> {
  let summary = "max pooling with windows of size `kernel` whose places come from random samples in [0, 1)";
  let description = [{
    `samples` is [N, C, D] with a number for every one of the D spatial dimensions, the last dimension's first.
    ```mlir
    %r, %i = ingot.fractional_max_pool %x, %s {kernel = array<i64: 2, 2>, output = array<i64: 3, 3>} : (tensor<1x3x8x8xf32>, tensor<1x3x2xf32>) -> (tensor<1x3x3x3xf32>, tensor<1x3x3x3xi64>)
    ```
  }];
  let arguments = (ins Ingot_Tensor:$x, Ingot_Tensor:$samples, DenseI64ArrayAttr:$kernel, DenseI64ArrayAttr:$output);
  let results = (outs Ingot_Tensor:$result, Ingot_Tensor:$indices);
  let assemblyFormat = "operands attr-dict `:` functional-type(operands, results)";
}

def Ingot_PlaneScatterOp : Ingot_Op<"plane_scatter"> {
  let summary = "zeros [P, size] with values [P, K] written, or added, at positions of their plane: the inverse of pooling";
  let description = [{
    Of several writes to one place the last counts. `size` is kDynamic where it is the operand. Positions outside are run-time errors.
    ```mlir
    %r = ingot.plane_scatter %v, %i() {size = 16 : i64, accumulate = false} : (tensor<6x4xf32>, tensor<6x4xi64>) -> tensor<6x16xf32>
    ```
  }];
  let arguments = (ins Ingot_Tensor:$values, Ingot_Tensor:$indices, Variadic<I64>:$dynamic, I64Attr:$size, BoolAttr:$accumulate);
  let results = (outs Ingot_Tensor:$result);
  let assemblyFormat = "$values `,` $indices `(` $dynamic `)` attr-dict `:` functional-type(operands, results)";
}

//===------------------------------------------------------------------------------------------===//
// Patches and samples
//===------------------------------------------------------------------------------------------===//

def Ingot_FoldOp : Ingot_Op<"fold"> {
  let summary = "torch.col2im: patches [N, C * kernel, places] added up to images [N, C, H, W]";
  let description = [{
    kDynamic entries of `output` take the next operand.
    ```mlir
    %r = ingot.fold %x() {output = array<i64: 4, 4>, kernel = array<i64: 2, 2>, strides = array<i64: 2, 2>, padding = array<i64: 0, 0>, dilations = array<i64: 1, 1>} : (tensor<1x12x4xf32>) -> tensor<1x3x4x4xf32>
    ```
  }];
  let arguments = (ins Ingot_Tensor:$x, Variadic<I64>:$dynamic, DenseI64ArrayAttr:$output, DenseI64ArrayAttr:$kernel,
    DenseI64ArrayAttr:$strides, DenseI64ArrayAttr:$padding, DenseI64ArrayAttr:$dilations);
  let results = (outs Ingot_Tensor:$result);
  let assemblyFormat = "$x `(` $dynamic `)` attr-dict `:` functional-type(operands, results)";
}

def Ingot_GridSampleOp : Ingot_Op<"grid_sample"> {
  let summary = "x at the places of a grid of coordinates in [-1, 1], as torch.grid_sampler";
  let description = [{
    x is [N, C, H, W] or [N, C, D, H, W]; the grid [N, H', W', 2] or [N, D', H', W', 3] lists the last dimension's coordinate first.
    `mode` is bilinear, nearest or bicubic; `padding` zeros, border or reflection.
    ```mlir
    %r = ingot.grid_sample %x, %g {mode = "bilinear", padding = "zeros", align_corners = false} : (tensor<1x3x8x8xf32>, tensor<1x4x4x2xf32>) -> tensor<1x3x4x4xf32>
    ```
  }];
  let arguments = (ins Ingot_Tensor:$x, Ingot_Tensor:$grid, StrAttr:$mode, StrAttr:$padding, BoolAttr:$align_corners);
  let results = (outs Ingot_Tensor:$result);
  let assemblyFormat = "operands attr-dict `:` functional-type(operands, results)";
}

def Ingot_ResizeFilteredOp : Ingot_Op<"resize_filtered"> {
  let summary = "interpolation of [N, C, H, W], one dimension after the other, with a filter that widens when the image shrinks";
  let description = [{
    Without `antialias` the filter keeps its width: so PyTorch resizes images of bytes. `mode` is linear or cubic, `scales` are the factors
    the user gave, 0 where sizes decide.
    ```mlir
    %r = ingot.resize_filtered %x() {mode = "linear", antialias = true, align_corners = false, scales = array<f64: 0.0, 0.0>, sizes = array<i64: 4, 4>} : (tensor<1x3x8x8xf32>) -> tensor<1x3x4x4xf32>
    ```
  }];
  let arguments = (ins Ingot_Tensor:$x, Variadic<I64>:$dynamic, StrAttr:$mode, BoolAttr:$antialias, BoolAttr:$align_corners, DenseF64ArrayAttr:$scales, DenseI64ArrayAttr:$sizes);
  let results = (outs Ingot_Tensor:$result);
  let assemblyFormat = "$x `(` $dynamic `)` attr-dict `:` functional-type(operands, results)";
}

//===------------------------------------------------------------------------------------------===//
// Detection
//===------------------------------------------------------------------------------------------===//

def Ingot_RoiAlignOp : Ingot_Op<"roi_align"> {
  let summary = "mean of bilinear samples in each of `output` parts of boxes, as torchvision.ops.roi_align";
  let description = [{
    `boxes` is [K, 5]: the image's number, then the corners (x, y), (x, y). `samples` 0 takes as many samples as a part is large.
    ```mlir
    %r = ingot.roi_align %x, %b {scale = 1.0 : f64, output = array<i64: 7, 7>, samples = 2 : i64, aligned = true} : (tensor<1x3x32x32xf32>, tensor<5x5xf32>) -> tensor<5x3x7x7xf32>
    ```
  }];
  let arguments = (ins Ingot_Tensor:$x, Ingot_Tensor:$boxes, F64Attr:$scale, DenseI64ArrayAttr:$output, I64Attr:$samples, BoolAttr:$aligned);
  let results = (outs Ingot_Tensor:$result);
  let assemblyFormat = "operands attr-dict `:` functional-type(operands, results)";
}

def Ingot_DeformColumnsOp : Ingot_Op<"deform_columns"> {
  let summary = "the patches [N, C * kernel, places] of a convolution whose window positions are shifted by offsets, as torchvision.ops.deform_conv2d";
  let description = [{
    `offset` is [N, 2 * groups * kernel, H', W'], `mask` [N, groups * kernel, H', W'].
    ```mlir
    %r = ingot.deform_columns %x, %o {kernel = array<i64: 3, 3>, strides = array<i64: 1, 1>, padding = array<i64: 1, 1>, dilations = array<i64: 1, 1>, groups = 1 : i64} : (tensor<1x4x8x8xf32>, tensor<1x18x8x8xf32>) -> tensor<1x36x64xf32>
    ```
  }];
  let arguments = (ins Ingot_Tensor:$x, Ingot_Tensor:$offset, Optional<Ingot_Tensor>:$mask, DenseI64ArrayAttr:$kernel, DenseI64ArrayAttr:$strides,
    DenseI64ArrayAttr:$padding, DenseI64ArrayAttr:$dilations, I64Attr:$groups);
  let results = (outs Ingot_Tensor:$result);
  let assemblyFormat = "$x `,` $offset (`mask` $mask^)? attr-dict `:` functional-type(operands, results)";
}

def Ingot_NmsOp : Ingot_Op<"nms"> {
  let summary = "numbers of the boxes that stay when those that overlap a better one are left out, best first";
  let description = [{
    `boxes` is [N, 4] with corners (x, y), (x, y). The number of results depends on the data.
    ```mlir
    %r = ingot.nms %b, %s {threshold = 5.0e-01 : f64} : (tensor<10x4xf32>, tensor<10xf32>) -> tensor<?xi64>
    ```
  }];
  let arguments = (ins Ingot_Tensor:$boxes, Ingot_Tensor:$scores, F64Attr:$threshold);
  let results = (outs Ingot_Tensor:$result);
  let assemblyFormat = "operands attr-dict `:` functional-type(operands, results)";
}

#endif
