// torchvision's operators.
#include "dialect/WindowOps.h"
#include "lower/Lowering.h"

using namespace mlir;

namespace ingot::lower {

LogicalResult lowerNms(LowerContext &ctx) {
  Value boxes = ctx.tensor("dets"), scores = ctx.tensor("scores");
  if (rankOf(boxes) != 2 || rankOf(scores) != 1 || !isFloat(dtypeOf(boxes)))
    return ctx.refuse("needs boxes [N, 4] and scores [N]");
  return ctx.replace(
      ctx.create<NmsOp>(ctx.resultType(), boxes, ctx.cast(scores, dtypeOf(boxes)), APFloat(ctx.real("iou_threshold")))
          .getResult());
}

LogicalResult lowerRoiAlign(LowerContext &ctx) {
  Value x = ctx.tensor("input"), boxes = ctx.tensor("rois");
  if (rankOf(x) != 4 || rankOf(boxes) != 2 || !isFloat(dtypeOf(x)))
    return ctx.refuse("needs images [N, C, H, W] and boxes [K, 5]");
  SmallVector<int64_t> output = {ctx.integer("pooled_height"), ctx.integer("pooled_width")};
  auto type = withShape(tensorType(x), {shapeOf(boxes)[0], shapeOf(x)[1], output[0], output[1]});
  return ctx.replace(ctx.create<RoiAlignOp>(type, x, ctx.cast(boxes, dtypeOf(x)), APFloat(ctx.real("spatial_scale")),
                                            output, ctx.integer("sampling_ratio"), ctx.flag("aligned"))
                         .getResult());
}

/// Patches at shifted places, then the product that a convolution is.
LogicalResult lowerDeformConv(LowerContext &ctx) {
  Value x = ctx.tensor("input"), weight = ctx.tensor("weight"), offset = ctx.tensor("offset");
  if (rankOf(x) != 4 || rankOf(weight) != 4 || !tensorType(weight).hasStaticShape() || !isFloat(dtypeOf(x)))
    return ctx.refuse("needs images, and a weight of known shape");
  auto pair = [&](StringRef first, StringRef second) {
    return SmallVector<int64_t>{ctx.integer(first), ctx.integer(second)};
  };
  SmallVector<int64_t> strides = pair("stride_h", "stride_w"), padding = pair("pad_h", "pad_w");
  SmallVector<int64_t> dilations = pair("dilation_h", "dilation_w");
  SmallVector<int64_t> kernel(shapeOf(weight).take_back(2));
  int64_t groups = ctx.integer("groups"), outputs = shapeOf(weight)[0], window = kernel[0] * kernel[1];
  int64_t inner = shapeOf(weight)[1] * window;
  if (groups < 1 || outputs % groups != 0 || ctx.isRefused())
    return ctx.refuse("the groups do not divide the channels");
  Size places = ctx.times(ctx.dim(offset, 2), ctx.dim(offset, 3));
  Value mask = ctx.flag("use_mask") ? ctx.tensor("mask") : Value();
  auto type = withShape(tensorType(x), {shapeOf(x)[0], inner * groups, places.entry()});
  Value columns = ctx.create<DeformColumnsOp>(type, x, offset, mask, kernel, strides, padding, dilations,
                                              ctx.integer("offset_groups"))
                      .getResult();
  Size batch = ctx.dim(x, 0);
  columns = ctx.reshape(columns, {batch, Size(groups), Size(inner), places});
  Value matrix = ctx.reshape(weight, {Size(1), Size(groups), Size(outputs / groups), Size(inner)});
  Value result = ctx.matmul(matrix, columns);
  result = ctx.reshape(result, {batch, Size(outputs), ctx.dim(offset, 2), ctx.dim(offset, 3)});
  Value bias = ctx.reshape(ctx.tensor("bias"), {Size(outputs), Size(1), Size(1)});
  return ctx.replace(ctx.binary<AddOp>(result, bias));
}

} // namespace ingot::lower
