// Verifiers of WindowOps.td.
#include "dialect/WindowOps.h"
#include "dialect/Types.h"
#include "dialect/VerifyHelpers.h"

using namespace mlir;

#define GET_OP_CLASSES
#include "dialect/WindowOps.cpp.inc"

namespace ingot {

static Type indexType(Operation *op) { return IntegerType::get(op->getContext(), 64); }

/// x with its last dimensions replaced; null where there is none before them.
static RankedTensorType withSpatial(RankedTensorType x, ShapeRef spatial) {
  if (spatial.empty() || static_cast<int64_t>(spatial.size()) >= x.getRank())
    return {};
  Shape shape(x.getShape().drop_back(spatial.size()));
  llvm::append_range(shape, spatial);
  return withShape(x, shape);
}

static LogicalResult verifyPoolResults(Operation *op, RankedTensorType expected, RankedTensorType values,
                                       RankedTensorType indices) {
  if (failed(verifyResultType(op, expected, values)))
    return failure();
  return verifyResultType(op, withElement(expected, indexType(op)), indices);
}

LogicalResult AdaptiveMaxPoolOp::verify() {
  if (failed(verifyDynamic(*this, getOutput(), getDynamic().size())))
    return failure();
  return verifyPoolResults(*this, withSpatial(getX().getType(), getOutput()), getResult().getType(),
                           getIndices().getType());
}

LogicalResult FractionalMaxPoolOp::verify() {
  if (getKernel().size() != getOutput().size() || getSamples().getType().getRank() != 3)
    return emitOpError("needs a kernel size for every output size, and samples [N, C, D]");
  return verifyPoolResults(*this, withSpatial(getX().getType(), getOutput()), getResult().getType(),
                           getIndices().getType());
}

LogicalResult PlaneScatterOp::verify() {
  RankedTensorType values = getValues().getType(), indices = getIndices().getType();
  if (values.getRank() != 2 || !shapesAgree(values.getShape(), indices.getShape()) ||
      indices.getElementType() != indexType(*this))
    return emitOpError("needs values [P, K], and int64 positions of their shape");
  auto size = static_cast<int64_t>(getSize());
  if (failed(verifyDynamic(*this, size, getDynamic().size())))
    return failure();
  return verifyResultType(*this, withShape(values, {values.getDimSize(0), size}), getType());
}

LogicalResult FoldOp::verify() {
  RankedTensorType x = getX().getType();
  auto isPair = [](ShapeRef list) { return list.size() == 2; };
  if (x.getRank() != 3 || !isPair(getOutput()) || !isPair(getKernel()) || !isPair(getStrides()) ||
      !isPair(getPadding()) || !isPair(getDilations()))
    return emitOpError("needs patches [N, C * kernel, places] and two entries in every list");
  int64_t window = getKernel()[0] * getKernel()[1], channels = x.getDimSize(1);
  if (window < 1 || (!x.isDynamicDim(1) && channels % window != 0))
    return emitOpError("the patches do not hold whole windows");
  if (failed(verifyDynamic(*this, getOutput(), getDynamic().size())))
    return failure();
  Shape shape = {x.getDimSize(0), x.isDynamicDim(1) ? ShapedType::kDynamic : channels / window};
  llvm::append_range(shape, getOutput());
  return verifyResultType(*this, withShape(x, shape), getType());
}

LogicalResult GridSampleOp::verify() {
  RankedTensorType x = getX().getType(), grid = getGrid().getType();
  int64_t rank = x.getRank();
  if ((rank != 4 && rank != 5) || grid.getRank() != rank ||
      !shapesAgree(grid.getShape().take_back(1), ShapeRef(rank - 2)) ||
      !shapesAgree(grid.getShape().take_front(1), x.getShape().take_front(1)) ||
      grid.getElementType() != x.getElementType())
    return emitOpError("needs an image [N, C, ...] and a grid [N, ..., 2 or 3] of its type");
  Shape shape(x.getShape().take_front(2));
  llvm::append_range(shape, grid.getShape().drop_front().drop_back());
  return verifyResultType(*this, withShape(x, shape), getType());
}

LogicalResult ResizeFilteredOp::verify() {
  RankedTensorType x = getX().getType();
  if (x.getRank() != 4 || getSizes().size() != 2 || getScales().size() != 2)
    return emitOpError("needs an image [N, C, H, W], two sizes and two scales");
  if (failed(verifyDynamic(*this, getSizes(), getDynamic().size())))
    return failure();
  return verifyResultType(*this, withSpatial(x, getSizes()), getType());
}

LogicalResult RoiAlignOp::verify() {
  RankedTensorType x = getX().getType(), boxes = getBoxes().getType();
  if (x.getRank() != 4 || getOutput().size() != 2 || boxes.getRank() != 2 ||
      !shapesAgree(boxes.getShape().take_back(1), ShapeRef(5)) || boxes.getElementType() != x.getElementType())
    return emitOpError("needs an image [N, C, H, W] and boxes [K, 5] of its type");
  Shape shape = {boxes.getDimSize(0), x.getDimSize(1), getOutput()[0], getOutput()[1]};
  return verifyResultType(*this, withShape(x, shape), getType());
}

LogicalResult DeformColumnsOp::verify() {
  RankedTensorType x = getX().getType(), offset = getOffset().getType();
  auto isPair = [](ShapeRef list) { return list.size() == 2; };
  if (x.getRank() != 4 || offset.getRank() != 4 || !isPair(getKernel()) || !isPair(getStrides()) ||
      !isPair(getPadding()) || !isPair(getDilations()) || getGroups() < 1)
    return emitOpError("needs an image and offsets of four dimensions, and two entries in every list");
  if (getType().getRank() != 3 || getType().getElementType() != x.getElementType())
    return emitOpError("gives patches [N, C * kernel, places] of the image's type");
  return success();
}

LogicalResult NmsOp::verify() {
  RankedTensorType boxes = getBoxes().getType(), scores = getScores().getType();
  if (boxes.getRank() != 2 || scores.getRank() != 1 || !shapesAgree(boxes.getShape().take_back(1), ShapeRef(4)))
    return emitOpError("needs boxes [N, 4] and scores [N]");
  if (getType().getRank() != 1 || getType().getElementType() != indexType(*this))
    return emitOpError("gives a list of int64");
  return success();
}

} // namespace ingot
