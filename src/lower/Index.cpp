// Picking by index tensors.
#include "lower/Lowering.h"

using namespace mlir;

namespace ingot::lower {

LogicalResult lowerEmbedding(LowerContext &ctx) {
  Value table = ctx.tensor("weight");
  if (rankOf(table) == 0)
    return ctx.refuse("the table has no rows");
  return ctx.replace(ctx.indexSelect(table, ctx.tensor("indices"), 0));
}

LogicalResult lowerIndexSelect(LowerContext &ctx) {
  Value x = ctx.tensor("self"), index = ctx.flatten(ctx.tensor("index"));
  if (rankOf(x) == 0) // the only element, once
    return ctx.replace(ctx.reshape(x, {}));
  return ctx.replace(ctx.indexSelect(x, index, ctx.axis("dim", rankOf(x))));
}

LogicalResult lowerGather(LowerContext &ctx) {
  Value x = ctx.tensor("self"), index = ctx.cast(ctx.tensor("index"), ctx.i64());
  if (rankOf(x) == 0 || rankOf(index) != rankOf(x))
    return ctx.refuse("operand and index must have one rank, at least 1");
  auto type = withShape(tensorType(x), shapeOf(index));
  int64_t axis = ctx.axis("dim", rankOf(x));
  return ctx.replace(ctx.create<GatherOp>(type, x, index, axis).getResult());
}

//===------------------------------------------------------------------------------------------===//
// x[:, i, None, j]
//===------------------------------------------------------------------------------------------===//

namespace {

struct Indices {
  SmallVector<Value> values;
  SmallVector<int64_t> axes;

  bool areConsecutive() const { return axes.back() - axes.front() + 1 == std::ssize(axes); }
};

/// The index tensors and the dimensions they pick from; nullopt after refusing.
std::optional<Indices> collectIndices(LowerContext &ctx, Value x) {
  Indices indices;
  for (auto [axis, index] : llvm::enumerate(ctx.tensors("indices"))) {
    if (!index)
      continue;
    if (isBool(dtypeOf(index)) || !isIntegral(dtypeOf(index)) || dtypeOf(index).isUnsignedInteger(8)) {
      (void)ctx.refuse("a boolean mask gives a size that depends on the data");
      return std::nullopt;
    }
    indices.values.push_back(ctx.cast(index, ctx.i64()));
    indices.axes.push_back(static_cast<int64_t>(axis));
  }
  if (indices.axes.empty() || indices.axes.back() >= rankOf(x)) {
    (void)ctx.refuse("the indices do not fit the operand's rank");
    return std::nullopt;
  }
  return indices;
}

} // namespace

LogicalResult lowerIndex(LowerContext &ctx) {
  Value x = ctx.tensor("self");
  std::optional<Indices> indices = collectIndices(ctx, x);
  if (!indices)
    return failure(); // collectIndices said why
  if (indices->values.size() == 1)
    return ctx.replace(ctx.indexSelect(x, indices->values.front(), indices->axes.front()));
  if (!indices->areConsecutive()) { // then the picked dimensions come first, as in NumPy
    SmallVector<int64_t> order = indices->axes;
    for (int64_t axis = 0; axis < rankOf(x); ++axis)
      if (!llvm::is_contained(indices->axes, axis))
        order.push_back(axis);
    x = ctx.permute(x, order);
    indices->axes = axisRange(0, std::ssize(indices->values));
  }
  RankedTensorType type = indexType(tensorType(x), ValueRange(indices->values).getTypes(), indices->axes);
  if (!type)
    return ctx.refuse("the indices do not broadcast together");
  return ctx.replace(ctx.create<IndexOp>(type, x, ValueRange(indices->values), indices->axes).getResult());
}

} // namespace ingot::lower
