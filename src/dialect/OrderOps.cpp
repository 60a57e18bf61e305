// Verifiers of OrderOps.td.
#include "dialect/OrderOps.h"
#include "dialect/Types.h"
#include "dialect/VerifyHelpers.h"

using namespace mlir;

#define GET_OP_CLASSES
#include "dialect/OrderOps.cpp.inc"

namespace ingot {

static RankedTensorType positions(RankedTensorType type) {
  return withElement(type, IntegerType::get(type.getContext(), 64));
}

/// Values of the operand's type, and int64 positions, of one shape.
template <typename Op> static LogicalResult verifyPair(Op op, RankedTensorType expected) {
  if (failed(verifyAxis(op, op.getAxis(), op.getX().getType().getRank())) ||
      failed(verifyResultType(op, expected, op.getValues().getType())))
    return failure();
  return verifyResultType(op, positions(expected), op.getIndices().getType());
}

template <typename Op> static RankedTensorType reducedAlong(Op op) {
  return reduceType(op.getX().getType(), {static_cast<int64_t>(op.getAxis())});
}

template <typename Op> static LogicalResult verifyCount(Op op) {
  if (op.getK().size() != 1)
    return op.emitOpError("needs one k");
  return verifyDynamic(op, op.getK(), op.getDynamic().size());
}

LogicalResult SortOp::verify() { return verifyPair(*this, getX().getType()); }

LogicalResult TopkOp::verify() {
  RankedTensorType type = getX().getType();
  if (failed(verifyCount(*this)) || failed(verifyAxis(*this, getAxis(), type.getRank())))
    return failure();
  Shape shape(type.getShape());
  shape[getAxis()] = getK().front();
  return verifyPair(*this, withShape(type, shape));
}

LogicalResult KthValueOp::verify() {
  return failed(verifyCount(*this)) ? failure() : verifyPair(*this, reducedAlong(*this));
}

LogicalResult MedianOp::verify() { return verifyPair(*this, reducedAlong(*this)); }
LogicalResult ModeOp::verify() { return verifyPair(*this, reducedAlong(*this)); }
LogicalResult CumExtremeOp::verify() { return verifyPair(*this, getX().getType()); }

LogicalResult CumReduceOp::verify() {
  if (getKind() != "prod" && getKind() != "logsumexp")
    return emitOpError("does not know the kind '") << getKind() << "'";
  if (failed(verifyAxis(*this, getAxis(), getX().getType().getRank())))
    return failure();
  return verifyResultType(*this, getX().getType(), getType());
}

LogicalResult SearchSortedOp::verify() {
  RankedTensorType sequence = getSequence().getType(), values = getValues().getType();
  if (sequence.getElementType() != values.getElementType())
    return emitOpError("sequence and values must be of one element type");
  bool isShared = sequence.getRank() == 1;
  bool fits = isShared || (sequence.getRank() == values.getRank() && sequence.getRank() > 0 &&
                           shapesAgree(sequence.getShape().drop_back(), values.getShape().drop_back()));
  if (!fits)
    return emitOpError("the sequence is neither one row nor one for each row of values");
  if (Value sorter = getSorter(); sorter && !shapesAgree(getSorter().getType().getShape(), sequence.getShape()))
    return emitOpError("sorter must have the sequence's shape");
  return verifyResultType(*this, positions(values), getType());
}

LogicalResult SegmentReduceOp::verify() {
  static constexpr StringRef known[] = {"sum", "mean", "max", "min", "prod"};
  if (!llvm::is_contained(known, getKind()))
    return emitOpError("does not know the kind '") << getKind() << "'";
  RankedTensorType x = getX().getType(), offsets = getOffsets().getType();
  auto axis = static_cast<int64_t>(getAxis());
  if (failed(verifyAxis(*this, axis, x.getRank())))
    return failure();
  if (offsets.getRank() != axis + 1 || !isInteger(offsets.getElementType()) ||
      !shapesAgree(offsets.getShape().drop_back(), x.getShape().take_front(axis)))
    return emitOpError("offsets must have the operand's dimensions up to the axis");
  Shape shape(x.getShape());
  shape[axis] = ShapedType::isDynamic(offsets.getShape().back()) ? ShapedType::kDynamic : offsets.getShape().back() - 1;
  return verifyResultType(*this, withShape(x, shape), getType());
}

LogicalResult UniqueOp::verify() {
  RankedTensorType x = getX().getType();
  auto axis = static_cast<int64_t>(getAxis());
  if (axis < 0 ? axis != -1 || x.getRank() != 1 : axis >= x.getRank())
    return emitOpError("axis ") << axis << " does not fit rank " << x.getRank();
  int64_t compared = std::max<int64_t>(axis, 0);
  Shape shape(x.getShape());
  shape[compared] = ShapedType::kDynamic;
  RankedTensorType found = RankedTensorType::get({ShapedType::kDynamic}, IntegerType::get(getContext(), 64));
  RankedTensorType each = positions(withShape(x, x.getShape().slice(compared, 1)));
  if (failed(verifyResultType(*this, withShape(x, shape), getValues().getType())) ||
      failed(verifyResultType(*this, each, getInverse().getType())))
    return failure();
  return verifyResultType(*this, found, getCounts().getType());
}

LogicalResult BincountOp::verify() {
  if (getX().getType().getRank() != 1 || !isInteger(getX().getType().getElementType()))
    return emitOpError("operand must be a vector of integers");
  if (Value weights = getWeights();
      weights && !shapesAgree(getWeights().getType().getShape(), getX().getType().getShape()))
    return emitOpError("weights must have the operand's shape");
  Type element = getWeights() ? getWeights().getType().getElementType() : IntegerType::get(getContext(), 64);
  return verifyResultType(*this, RankedTensorType::get({ShapedType::kDynamic}, element), getType());
}

LogicalResult RepeatIndexOp::verify() {
  RankedTensorType repeats = getRepeats().getType();
  if (repeats.getRank() != 1 || !isInteger(repeats.getElementType()))
    return emitOpError("repeats must be a vector of integers");
  Type element = IntegerType::get(getContext(), 64);
  return verifyResultType(*this, RankedTensorType::get({ShapedType::kDynamic}, element), getType());
}

} // namespace ingot
