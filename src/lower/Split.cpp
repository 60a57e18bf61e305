// Slices, pieces, and their inverses.
#include "dialect/ControlOps.h"
#include "lower/Join.h"
#include "lower/Lowering.h"

using namespace mlir;

namespace ingot::lower {

//===------------------------------------------------------------------------------------------===//
// One slice
//===------------------------------------------------------------------------------------------===//

namespace {

struct Bounds {
  int64_t axis = 0;
  Size start, end;
  int64_t step = 1;
};

/// Of slice and slice_scatter; nullopt after refusing.
std::optional<Bounds> sliceBounds(LowerContext &ctx, Value x) {
  if (rankOf(x) == 0) {
    (void)ctx.refuse("a zero-dimensional tensor cannot be sliced");
    return std::nullopt;
  }
  Bounds bounds;
  bounds.axis = ctx.axis("dim", rankOf(x));
  bounds.step = ctx.integer("step");
  if (bounds.step <= 0) {
    (void)ctx.refuse("the step must be positive");
    return std::nullopt;
  }
  Size size = ctx.dim(x, bounds.axis);
  bounds.start = ctx.isNone("start") ? Size(0) : ctx.clampPosition(ctx.size("start"), size);
  bounds.end = ctx.isNone("end") ? size : ctx.clampPosition(ctx.size("end"), size);
  if (!bounds.start.is(0))
    bounds.end = ctx.larger(bounds.end, bounds.start);
  return bounds;
}

/// A position that counts from the end where negative, and is in range.
Size positionOf(LowerContext &ctx, Size index, Size size) {
  if (index.isStatic())
    return index.literal < 0 ? ctx.plus(index, size) : index;
  return ctx.clampPosition(index, size);
}

} // namespace

/// The number that a tensor of one element holds.
static Size itemOf(LowerContext &ctx, Value x) {
  return ctx.create<ItemOp>(ctx.i64(), ctx.reshape(ctx.cast(x, ctx.i64()), {})).getResult();
}

LogicalResult lowerSlice(LowerContext &ctx) {
  Value x = ctx.tensor("self");
  std::optional<Bounds> bounds = sliceBounds(ctx, x);
  if (!bounds)
    return failure(); // sliceBounds said why
  // All of a run-time size: no slice at all.
  if (bounds->start.is(0) && bounds->step == 1 && (ctx.isNone("end") || (ctx.size("end").is(INT64_MAX))))
    return ctx.replace(x);
  int64_t length = ctx.resultType().getRank() == rankOf(x) ? ctx.resultType().getShape()[bounds->axis] : kDynamicEntry;
  return ctx.replace(ctx.slice(x, bounds->axis, bounds->start, bounds->end, bounds->step, length));
}

LogicalResult lowerSliceScatter(LowerContext &ctx) {
  Value x = ctx.tensor("self"), src = ctx.cast(ctx.tensor("src"), dtypeOf(x));
  std::optional<Bounds> bounds = sliceBounds(ctx, x);
  if (!bounds)
    return failure(); // sliceBounds said why
  if (bounds->start.is(0) && bounds->step == 1 && tensorType(src) == tensorType(x) && tensorType(x).hasStaticShape())
    return ctx.replace(src);
  Sizes target = ctx.sizes(x);
  target[bounds->axis] = ctx.ceilDiv(ctx.minus(bounds->end, bounds->start), bounds->step);
  Value source = rankOf(src) == rankOf(x) ? src : ctx.expand(src, target);
  return ctx.replace(ctx.insertSlice(x, source, bounds->axis, bounds->start, bounds->end, bounds->step));
}

LogicalResult lowerSelect(LowerContext &ctx) {
  Value x = ctx.tensor("self");
  if (rankOf(x) == 0)
    return ctx.refuse("a zero-dimensional tensor has nothing to select");
  int64_t axis = ctx.axis("dim", rankOf(x));
  Size index = positionOf(ctx, ctx.size("index"), ctx.dim(x, axis));
  Value piece = ctx.slice(x, axis, index, ctx.plus(index, 1), 1, 1);
  return ctx.replace(ctx.dropDims(piece, axis));
}

LogicalResult lowerSelectScatter(LowerContext &ctx) {
  Value x = ctx.tensor("self"), src = ctx.cast(ctx.tensor("src"), dtypeOf(x));
  if (rankOf(x) == 0 || rankOf(src) != rankOf(x) - 1)
    return ctx.refuse("the source must have one dimension less");
  int64_t axis = ctx.axis("dim", rankOf(x));
  Size index = positionOf(ctx, ctx.size("index"), ctx.dim(x, axis));
  Value source = ctx.insertDim(src, axis);
  return ctx.replace(ctx.insertSlice(x, source, axis, index, ctx.plus(index, 1)));
}

LogicalResult lowerNarrow(LowerContext &ctx) {
  Value x = ctx.tensor("self");
  if (rankOf(x) == 0)
    return ctx.refuse("a zero-dimensional tensor cannot be narrowed");
  int64_t axis = ctx.axis("dim", rankOf(x));
  bool isTensor = ctx.operand("start").isTensor();
  Size given = isTensor ? itemOf(ctx, ctx.tensor("start")) : ctx.size("start");
  Size start = positionOf(ctx, given, ctx.dim(x, axis)), length = ctx.size("length");
  return ctx.replace(ctx.slice(x, axis, start, ctx.plus(start, length), 1, length.entry()));
}

//===------------------------------------------------------------------------------------------===//
// Several pieces
//===------------------------------------------------------------------------------------------===//

namespace {

/// Pieces nobody uses are not made: what writes to each of a thousand pieces cuts the tensor anew after every write.
bool isWanted(LowerContext &ctx, size_t piece) { return piece >= ctx.numResults() || ctx.isUsed(piece); }

/// Pieces of the given lengths, one after another.
LogicalResult cutByLengths(LowerContext &ctx, Value x, int64_t axis, ArrayRef<Size> lengths) {
  SmallVector<Value> pieces;
  Size start = 0;
  for (const auto &[i, length] : llvm::enumerate(lengths)) {
    Size end = ctx.plus(start, length);
    pieces.push_back(isWanted(ctx, i) ? ctx.slice(x, axis, start, end, 1, length.entry()) : Value());
    start = end;
  }
  return ctx.replace(pieces);
}

/// Pieces of one length, the last one what is left; as many as the carrier has results.
LogicalResult cutEvenly(LowerContext &ctx, Value x, int64_t axis, Size length) {
  SmallVector<Value> pieces;
  Size size = ctx.dim(x, axis);
  for (size_t i = 0; i < ctx.numResults(); ++i) {
    if (!isWanted(ctx, i)) {
      pieces.push_back(Value());
      continue;
    }
    int64_t number = static_cast<int64_t>(i);
    Size start = ctx.smaller(ctx.times(number, length), size);
    Size end = ctx.smaller(ctx.times(number + 1, length), size);
    pieces.push_back(ctx.slice(x, axis, start, end, 1, ctx.resultType(i).getShape()[axis]));
  }
  return ctx.replace(pieces);
}

/// The dimension to cut, or nullopt after refusing.
std::optional<int64_t> axisToCut(LowerContext &ctx, Value x) {
  for (size_t i = 0; i < ctx.numResults(); ++i)
    if (rankOf(x) == 0 || ctx.resultType(i).getRank() != rankOf(x)) {
      (void)ctx.refuse("results must have the operand's rank, at least 1");
      return std::nullopt;
    }
  return ctx.axis("dim", rankOf(x));
}

} // namespace

LogicalResult lowerSplit(LowerContext &ctx) {
  Value x = ctx.tensor("self");
  std::optional<int64_t> axis = axisToCut(ctx, x);
  return axis ? cutEvenly(ctx, x, *axis, ctx.size("split_size")) : failure();
}

LogicalResult lowerSplitWithSizes(LowerContext &ctx) {
  Value x = ctx.tensor("self");
  std::optional<int64_t> axis = axisToCut(ctx, x);
  if (!axis)
    return failure(); // axisToCut said why
  return cutByLengths(ctx, x, *axis, ctx.sizeList(ctx.has("split_sizes") ? "split_sizes" : "split_size"));
}

LogicalResult lowerChunk(LowerContext &ctx) {
  Value x = ctx.tensor("self");
  std::optional<int64_t> axis = axisToCut(ctx, x);
  if (!axis)
    return failure(); // axisToCut said why
  int64_t chunks = ctx.integer("chunks");
  if (chunks <= 0)
    return ctx.refuse("the number of chunks must be positive");
  return cutEvenly(ctx, x, *axis, ctx.ceilDiv(ctx.dim(x, *axis), chunks));
}

namespace {

/// Pieces between `positions`; the ends are the tensor's.
LogicalResult cutAt(LowerContext &ctx, Value x, int64_t axis, ArrayRef<Size> positions) {
  SmallVector<Value> pieces;
  Size size = ctx.dim(x, axis), start = 0;
  for (size_t i = 0; i <= positions.size(); ++i) {
    Size end = i < positions.size() ? ctx.clampPosition(positions[i], size) : size;
    pieces.push_back(isWanted(ctx, i) ? ctx.slice(x, axis, start, ctx.larger(start, end)) : Value());
    start = end;
  }
  return ctx.replace(pieces);
}

/// The first size % sections pieces are longer by one.
LogicalResult cutInSections(LowerContext &ctx, Value x, int64_t axis, int64_t sections) {
  Size size = ctx.dim(x, axis);
  if (sections <= 0 || static_cast<size_t>(sections) != ctx.numResults())
    return ctx.refuse("the number of sections must be that of the results");
  Sizes lengths;
  for (int64_t i = 0; i < sections; ++i)
    lengths.push_back(ctx.floorDiv(ctx.plus(size, sections - 1 - i), sections));
  return cutByLengths(ctx, x, axis, lengths);
}

/// hsplit cuts dimension 1, or 0 of vectors; vsplit 0; dsplit 2.
LogicalResult cutNamed(LowerContext &ctx, int64_t axis) {
  Value x = ctx.tensor("self");
  if (rankOf(x) <= axis)
    return ctx.refuse("the operand has too few dimensions");
  if (ctx.has("sections"))
    return cutInSections(ctx, x, axis, ctx.integer("sections"));
  return cutAt(ctx, x, axis, ctx.sizeList("indices"));
}

} // namespace

LogicalResult lowerTensorSplit(LowerContext &ctx) {
  Value x = ctx.tensor("self");
  std::optional<int64_t> axis = axisToCut(ctx, x);
  if (!axis)
    return failure(); // axisToCut said why
  return cutNamed(ctx, *axis);
}

/// Positions, or the number of sections, that a tensor holds.
LogicalResult lowerTensorSplitByTensor(LowerContext &ctx) {
  Value x = ctx.tensor("self"), given = ctx.cast(ctx.tensor("tensor_indices_or_sections"), ctx.i64());
  std::optional<int64_t> axis = axisToCut(ctx, x);
  if (!axis)
    return failure(); // axisToCut said why
  auto count = static_cast<int64_t>(ctx.numResults());
  if (rankOf(given) == 0)
    return cutInSections(ctx, x, *axis, count);
  if (rankOf(given) != 1 || shapeOf(given).front() != count - 1)
    return ctx.refuse("the number of positions must be known here");
  Sizes positions;
  for (int64_t i = 0; i + 1 < count; ++i)
    positions.push_back(itemOf(ctx, ctx.slice(given, 0, i, i + 1)));
  return cutAt(ctx, x, *axis, positions);
}

LogicalResult lowerHsplit(LowerContext &ctx) { return cutNamed(ctx, rankOf(ctx.tensor("self")) == 1 ? 0 : 1); }
LogicalResult lowerVsplit(LowerContext &ctx) { return cutNamed(ctx, 0); }
LogicalResult lowerDsplit(LowerContext &ctx) { return cutNamed(ctx, 2); }

LogicalResult lowerUnbind(LowerContext &ctx) {
  Value x = ctx.tensor("self");
  if (rankOf(x) == 0)
    return ctx.refuse("a zero-dimensional tensor cannot be taken apart");
  int64_t axis = ctx.axis("dim", rankOf(x));
  SmallVector<Value> pieces;
  for (size_t i = 0; i < ctx.numResults(); ++i) {
    int64_t start = static_cast<int64_t>(i);
    pieces.push_back(isWanted(ctx, i) ? ctx.dropDims(ctx.slice(x, axis, start, start + 1), axis) : Value());
  }
  return ctx.replace(pieces);
}

//===------------------------------------------------------------------------------------------===//
// Together again
//===------------------------------------------------------------------------------------------===//

namespace {

/// The tensors in their common type; empty after refusing.
SmallVector<Value> promoted(LowerContext &ctx, SmallVector<Value> values) {
  if (values.empty() || llvm::is_contained(values, Value())) {
    (void)ctx.refuse("there is no tensor to join");
    return {};
  }
  Type dtype = resultType(ctx.builder.getContext(), SmallVector<Operand>(values.begin(), values.end()));
  if (!dtype) {
    (void)ctx.refuse("PyTorch has no common type for these operands");
    return {};
  }
  for (Value &value : values)
    value = ctx.cast(value, dtype);
  return values;
}

bool haveOneRank(LowerContext &ctx, ArrayRef<Value> values) {
  for (Value value : values)
    if (rankOf(value) != rankOf(values.front())) {
      (void)ctx.refuse("the tensors have different ranks");
      return false;
    }
  return true;
}

} // namespace

LogicalResult lowerCat(LowerContext &ctx) {
  SmallVector<Value> values = promoted(ctx, ctx.tensors("tensors"));
  if (values.empty())
    return failure(); // promoted said why
  dropNothing(values);
  if (!haveOneRank(ctx, values))
    return failure(); // haveOneRank said why
  if (rankOf(values.front()) == 0)
    return ctx.refuse("zero-dimensional tensors cannot be joined");
  return ctx.replace(ctx.concat(values, ctx.axis("dim", rankOf(values.front()))));
}

LogicalResult lowerStack(LowerContext &ctx) {
  SmallVector<Value> values = promoted(ctx, ctx.tensors("tensors"));
  if (values.empty() || !haveOneRank(ctx, values))
    return failure(); // they said why
  int64_t axis = ctx.axis("dim", rankOf(values.front()) + 1);
  for (Value &value : values)
    value = ctx.insertDim(value, axis);
  return ctx.replace(ctx.concat(values, axis));
}

} // namespace ingot::lower
