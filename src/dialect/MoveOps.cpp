// Verifiers of operations that move data or pick it by index.
#include "dialect/Ops.h"
#include "dialect/Types.h"
#include "dialect/VerifyHelpers.h"

using namespace mlir;

namespace ingot {

LogicalResult ReshapeOp::verify() {
  if (failed(verifyDynamic(*this, getSizes(), getDynamic().size())) ||
      failed(verifyResultType(*this, withShape(getX().getType(), getSizes()), getType())))
    return failure();
  int64_t before = elementCount(getX().getType().getShape());
  int64_t after = elementCount(getType().getShape());
  if (before != after && before != ShapedType::kDynamic && after != ShapedType::kDynamic)
    return emitOpError("cannot make ") << after << " elements of " << before;
  return success();
}

LogicalResult ExpandOp::verify() {
  if (failed(verifyDynamic(*this, getSizes(), getDynamic().size())) ||
      failed(verifyResultType(*this, withShape(getX().getType(), getSizes()), getType())))
    return failure();
  ShapeRef from = getX().getType().getShape();
  if (from.size() > getSizes().size())
    return emitOpError("result has fewer dimensions than the operand");
  for (auto [have, want] : llvm::zip_equal(from, getSizes().take_back(from.size())))
    if (have != 1 && !shapesAgree(have, want))
      return emitOpError("cannot expand size ") << have << " to " << want;
  return success();
}

LogicalResult PermuteOp::verify() {
  return verifyResultType(*this, permuteType(getX().getType(), getDims()), getType());
}

LogicalResult SliceOp::verify() {
  if (failed(verifyDynamic(*this, getBounds(), getDynamic().size())))
    return failure();
  return verifyResultType(*this, sliceType(getX().getType(), getAxis(), getBounds(), getStep()), getType());
}

LogicalResult InsertSliceOp::verify() {
  if (failed(verifyDynamic(*this, getBounds(), getDynamic().size())))
    return failure();
  RankedTensorType slice = sliceType(getX().getType(), getAxis(), getBounds(), getStep());
  if (!slice || !shapesAgree(slice.getShape(), getSource().getType().getShape()) ||
      slice.getElementType() != getSource().getType().getElementType())
    return emitOpError("source does not fit the slice");
  return verifyResultType(*this, getX().getType(), getType());
}

/// Position just after the last element that the view reaches; nullopt when it overflows.
static std::optional<int64_t> stridedEnd(ShapeRef sizes, ShapeRef strides, int64_t offset) {
  int64_t end = offset;
  for (auto [size, stride] : llvm::zip_equal(sizes, strides)) {
    if (size == 0)
      return 0;
    int64_t reach;
    if (llvm::MulOverflow(size - 1, stride, reach) || llvm::AddOverflow(end, reach, end))
      return std::nullopt;
  }
  return end + 1;
}

LogicalResult AsStridedOp::verify() {
  auto isNegative = [](int64_t number) { return number < 0; };
  if (getSizes().size() != getStrides().size() || getOffset() < 0 || llvm::any_of(getSizes(), isNegative) ||
      llvm::any_of(getStrides(), isNegative))
    return emitOpError("needs as many sizes as strides, none of them negative");
  std::optional<int64_t> end = stridedEnd(getSizes(), getStrides(), getOffset());
  int64_t count = elementCount(getX().getType().getShape());
  if (!end || (count != ShapedType::kDynamic && *end > count))
    return emitOpError("reaches beyond the operand's elements");
  return verifyResultType(*this, withShape(getX().getType(), getSizes()), getType());
}

LogicalResult ConcatOp::verify() {
  return verifyResultType(*this, concatType(getValues().getTypes(), getAxis()), getType());
}

LogicalResult PadOp::verify() {
  return verifyResultType(*this, padType(getX().getType(), getLow(), getHigh()), getType());
}

LogicalResult FlipOp::verify() {
  RankedTensorType type = getX().getType();
  // Being a valid list of dimensions is what a reduction asks for too.
  if (!reduceType(type, getDims()))
    return emitOpError("dims are not distinct dimensions of the operand");
  return verifyResultType(*this, type, getType());
}

static LogicalResult verifyIndexElement(Operation *op, Value index) {
  Type element = cast<RankedTensorType>(index.getType()).getElementType();
  if (!isInteger(element))
    return op->emitOpError("index must be of integers, not ") << element;
  return success();
}

LogicalResult IndexSelectOp::verify() {
  if (failed(verifyIndexElement(*this, getIndex())))
    return failure();
  return verifyResultType(*this, indexSelectType(getX().getType(), getIndex().getType(), getAxis()), getType());
}

LogicalResult GatherOp::verify() {
  RankedTensorType x = getX().getType(), index = getIndex().getType();
  if (failed(verifyIndexElement(*this, getIndex())) || failed(verifyAxis(*this, getAxis(), x.getRank())))
    return failure();
  if (x.getRank() != index.getRank())
    return emitOpError("operand and index have different ranks");
  for (int64_t i = 0; i < x.getRank(); ++i)
    if (i != static_cast<int64_t>(getAxis()) && !x.isDynamicDim(i) && index.getDimSize(i) > x.getDimSize(i))
      return emitOpError("index is larger than the operand in dimension ") << i;
  return verifyResultType(*this, withShape(x, index.getShape()), getType());
}

LogicalResult IndexOp::verify() {
  for (Value index : getIndices())
    if (failed(verifyIndexElement(*this, index)))
      return failure();
  return verifyResultType(*this, indexType(getX().getType(), getIndices().getTypes(), getAxes()), getType());
}

} // namespace ingot
