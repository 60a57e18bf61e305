// Fourier transforms.
#ifndef INGOT_SPECTRAL_OPS_TD
#define INGOT_SPECTRAL_OPS_TD

include "OpBase.td"

def Ingot_FftOp : Ingot_Op<"fft"> {
  let summary = "discrete Fourier transform along `axis`: sum of x[j] exp(-2πi jk / length), with + unless `forward`, times `scale`";
  let description = [{
    The operand is cut or continued by zeros to what `length` points need. Where the operand is real, the result holds the
    first length / 2 + 1 frequencies; where the result is real, the operand holds those, and the rest are their conjugates.
    ```mlir
    %r = ingot.fft %x, %n {axis = 1 : i64, forward = true, scale = 1.0 : f64} : (tensor<2x8xf32>, i64) -> tensor<2x5xcomplex<f32>>
    ```
  }];
  let arguments = (ins Ingot_Tensor:$x, I64:$length, I64Attr:$axis, BoolAttr:$forward, F64Attr:$scale);
  let results = (outs Ingot_Tensor:$result);
  let assemblyFormat = "operands attr-dict `:` functional-type(operands, results)";
}

def Ingot_OverlapAddOp : Ingot_Op<"overlap_add"> {
  let summary = "sum of frames, each `hop` elements after the one before: [..., frames, width] becomes [..., (frames - 1) * hop + width]";
  let description = "```mlir\n%r = ingot.overlap_add %x {hop = 2 : i64} : (tensor<3x4xf32>) -> tensor<8xf32>\n```";
  let arguments = (ins Ingot_Tensor:$x, I64Attr:$hop);
  let results = (outs Ingot_Tensor:$result);
  let assemblyFormat = "$x attr-dict `:` functional-type(operands, results)";
}

#endif
