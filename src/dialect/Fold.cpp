// Folders: constants, known sizes, and data movement that changes nothing.
#include "dialect/InferShape.h"
#include "dialect/Ops.h"

using namespace mlir;

namespace ingot {

OpFoldResult ConstantOp::fold(FoldAdaptor) { return getValue(); }

/// The operand that gives entry `position` of a list of sizes; null when the entry is a number.
static Value dynamicEntry(ShapeRef list, OperandRange dynamic, int64_t position) {
  if (list[position] != ShapedType::kDynamic)
    return {};
  return dynamic[llvm::count(list.take_front(position), ShapedType::kDynamic)];
}

OpFoldResult DimOp::fold(FoldAdaptor) {
  int64_t axis = getAxis();
  RankedTensorType type = getX().getType();
  if (!type.isDynamicDim(axis))
    return IntegerAttr::get(IntegerType::get(getContext(), 64), type.getDimSize(axis));
  if (auto reshape = getX().getDefiningOp<ReshapeOp>())
    return dynamicEntry(reshape.getSizes(), reshape.getDynamic(), axis);
  if (auto expand = getX().getDefiningOp<ExpandOp>())
    return dynamicEntry(expand.getSizes(), expand.getDynamic(), axis);
  return {};
}

/// Every entry of `sizes` is certainly the size of that dimension of x.
static bool areSizesOf(Value x, ShapeRef sizes, OperandRange dynamic) {
  ShapeRef shape = cast<RankedTensorType>(x.getType()).getShape();
  if (shape.size() != sizes.size())
    return false;
  for (int64_t i = 0, rank = shape.size(); i < rank; ++i) {
    Value entry = dynamicEntry(sizes, dynamic, i);
    if (!entry && sizes[i] == shape[i])
      continue;
    auto dim = entry ? entry.getDefiningOp<DimOp>() : DimOp();
    if (!dim || dim.getX() != x || static_cast<int64_t>(dim.getAxis()) != i)
      return false;
  }
  return true;
}

OpFoldResult ReshapeOp::fold(FoldAdaptor) {
  ShapeRef shape = getType().getShape();
  // With one unknown size, equal element counts leave it no choice, unless they are zero.
  bool forced = llvm::count(shape, ShapedType::kDynamic) <= 1 && !llvm::is_contained(shape, 0);
  if (getX().getType() == getType() && (forced || areSizesOf(getX(), getSizes(), getDynamic())))
    return getX();
  if (auto before = getX().getDefiningOp<ReshapeOp>()) {
    getXMutable().assign(before.getX());
    return getResult();
  }
  return {};
}

OpFoldResult ExpandOp::fold(FoldAdaptor) {
  if (getX().getType() == getType() && areSizesOf(getX(), getSizes(), getDynamic()))
    return getX();
  return {};
}

OpFoldResult PermuteOp::fold(FoldAdaptor) {
  ShapeRef dims = getDims();
  if (getX().getType() == getType() && llvm::equal(dims, llvm::seq<int64_t>(0, dims.size())))
    return getX();
  if (auto before = getX().getDefiningOp<PermuteOp>()) {
    Shape composed;
    for (int64_t dim : dims)
      composed.push_back(before.getDims()[dim]);
    getXMutable().assign(before.getX());
    setDims(composed);
    return getResult();
  }
  return {};
}

OpFoldResult SliceOp::fold(FoldAdaptor) {
  int64_t size = getX().getType().getDimSize(getAxis());
  if (getX().getType() == getType() && getStep() == 1 && getBounds()[0] == 0 && getBounds()[1] == size &&
      size != ShapedType::kDynamic)
    return getX();
  return {};
}

OpFoldResult CastOp::fold(FoldAdaptor) {
  if (getX().getType() == getType())
    return getX();
  return {};
}

} // namespace ingot
