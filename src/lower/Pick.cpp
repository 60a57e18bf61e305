#include "lower/Pick.h"

#include "dialect/ScatterOps.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;

namespace ingot::lower {

bool isMask(Value index) { return isBool(dtypeOf(index)) || dtypeOf(index).isUnsignedInteger(8); }

Value atLeastVector(LowerContext &ctx, Value x) { return rankOf(x) == 0 ? ctx.reshape(x, {Size(1)}) : x; }

/// Either of two sizes may turn out to be 1.
static Size broadcastSize(LowerContext &ctx, Value a, Value b) {
  Value one = ctx.create<arith::ConstantOp>(ctx.builder.getI64IntegerAttr(1)).getResult();
  Value isOne = ctx.create<arith::CmpIOp>(arith::CmpIPredicate::eq, a, one).getResult();
  return ctx.create<arith::SelectOp>(isOne, b, a).getResult();
}

Sizes broadcastSizes(LowerContext &ctx, ArrayRef<Value> values) {
  int64_t rank = 0;
  for (Value value : values)
    rank = std::max(rank, rankOf(value));
  Sizes sizes(rank, Size(1));
  for (Value value : values) {
    int64_t lead = rank - rankOf(value);
    for (int64_t i = 0; i < rankOf(value); ++i) {
      int64_t size = shapeOf(value)[i];
      Size &common = sizes[lead + i];
      if (size == 1)
        continue;
      if (common.is(1) || size != kDynamicEntry)
        common = ctx.dim(value, i);
      else if (!common.isStatic())
        common = broadcastSize(ctx, common.dynamic, ctx.dim(value, i).dynamic);
    }
  }
  return sizes;
}

/// One index tensor for each dimension of the mask.
static void addMaskPositions(LowerContext &ctx, Value mask, int64_t axis, Picks &picks) {
  mask = ctx.cast(mask, ctx.i1());
  auto type = RankedTensorType::get({ShapedType::kDynamic, rankOf(mask)}, ctx.i64());
  Value positions = ctx.create<NonzeroOp>(type, mask).getResult();
  for (int64_t i = 0; i < rankOf(mask); ++i) {
    picks.indices.push_back(ctx.dropDims(ctx.slice(positions, 1, i, i + 1), {1}));
    picks.axes.push_back(axis + i);
  }
}

std::optional<Picks> collectPicks(LowerContext &ctx, Value x, ArrayRef<Value> indices) {
  Picks picks{x, {}, {}, {}};
  int64_t axis = 0;
  for (Value index : indices) {
    if (!index) {
      ++axis;
      continue;
    }
    if (isMask(index) && rankOf(index) == 0) { // a new dimension of size 0 or 1
      picks.x = ctx.insertDim(picks.x, axis);
      index = ctx.reshape(index, {Size(1)});
    }
    if (isMask(index)) {
      addMaskPositions(ctx, index, axis, picks);
      axis += rankOf(index);
      continue;
    }
    if (!isIntegral(dtypeOf(index))) {
      (void)ctx.refuse("an index must be of integers or booleans");
      return std::nullopt;
    }
    picks.indices.push_back(ctx.cast(index, ctx.i64()));
    picks.axes.push_back(axis++);
  }
  if (!picks.axes.empty() && picks.axes.back() >= rankOf(picks.x)) {
    (void)ctx.refuse("the indices do not fit the operand's rank");
    return std::nullopt;
  }
  picks.order = axisRange(0, rankOf(picks.x));
  bool isConsecutive =
      picks.isEmpty() || picks.axes.back() - picks.axes.front() + 1 == static_cast<int64_t>(picks.axes.size());
  if (!isConsecutive) { // then the picked dimensions come first, as in NumPy
    picks.order = picks.axes;
    for (int64_t i = 0; i < rankOf(picks.x); ++i)
      if (!llvm::is_contained(picks.axes, i))
        picks.order.push_back(i);
    picks.x = ctx.permute(picks.x, picks.order);
    picks.axes = axisRange(0, picks.indices.size());
  }
  return picks;
}

Value refusingNegative(Value made) {
  Operation *op = made.getDefiningOp();
  op->setAttr("ingot.non_negative", BoolAttr::get(op->getContext(), true));
  return made;
}

Value pick(LowerContext &ctx, const Picks &picks) {
  if (picks.isEmpty())
    return picks.x;
  if (picks.indices.size() == 1)
    return ctx.indexSelect(picks.x, picks.indices.front(), picks.axes.front());
  RankedTensorType type = indexType(tensorType(picks.x), ValueRange(picks.indices).getTypes(), picks.axes);
  if (!type) {
    (void)ctx.refuse("the indices do not broadcast together");
    return {};
  }
  return ctx.create<IndexOp>(type, picks.x, ValueRange(picks.indices), picks.axes).getResult();
}

Value put(LowerContext &ctx, const Picks &picks, Value source, StringRef reduce, bool includeSelf) {
  Sizes xSizes = ctx.sizes(picks.x), sizes(xSizes.begin(), xSizes.begin() + picks.axes.front());
  llvm::append_range(sizes, broadcastSizes(ctx, picks.indices));
  sizes.append(xSizes.begin() + picks.axes.back() + 1, xSizes.end());
  source = ctx.cast(source, dtypeOf(picks.x));
  // As in assignments, leading dimensions of size 1 may be too many.
  while (rankOf(source) > static_cast<int64_t>(sizes.size()) && shapeOf(source).front() == 1)
    source = ctx.dropDims(source, {0});
  if (rankOf(source) > static_cast<int64_t>(sizes.size())) {
    (void)ctx.refuse("the values have more dimensions than the positions they go to");
    return {};
  }
  source = ctx.expand(source, sizes);
  Value result = ctx.create<IndexPutOp>(picks.x.getType(), picks.x, source, ValueRange(picks.indices), picks.axes,
                                        reduce, includeSelf)
                     .getResult();
  if (picks.refusesNegative)
    result = refusingNegative(result);
  SmallVector<int64_t> back(picks.order.size());
  for (auto [i, axis] : llvm::enumerate(picks.order))
    back[axis] = static_cast<int64_t>(i);
  return ctx.permute(result, back);
}

} // namespace ingot::lower
