// Operators that repeat, turn, shuffle and pad.
#include "lower/Complex.h"
#include "lower/Lowering.h"

using namespace mlir;

namespace ingot::lower {

//===------------------------------------------------------------------------------------------===//
// Repeating and turning
//===------------------------------------------------------------------------------------------===//

/// [d0, d1] -> [1, d0, 1, d1] -> [r0, d0, r1, d1] -> [r0 * d0, r1 * d1]
static Value repeat(LowerContext &ctx, Value x, ArrayRef<Size> repeats) {
  Sizes sizes = ctx.sizes(x);
  sizes.insert(sizes.begin(), repeats.size() - sizes.size(), Size(1));
  Sizes split, repeated, merged;
  for (auto [size, count] : llvm::zip_equal(sizes, repeats)) {
    merged.push_back(ctx.times(count, size));
    if (!count.is(1)) {
      split.push_back(1);
      repeated.push_back(count);
    }
    split.push_back(size);
    repeated.push_back(size);
  }
  return ctx.reshape(ctx.expand(ctx.reshape(x, split), repeated), merged);
}

LogicalResult lowerRepeat(LowerContext &ctx) {
  Value x = ctx.tensor("self");
  Sizes repeats = ctx.sizeList("repeats");
  if (static_cast<int64_t>(repeats.size()) < rankOf(x))
    return ctx.refuse("fewer repeats than dimensions");
  return ctx.replace(repeat(ctx, x, repeats));
}

LogicalResult lowerTile(LowerContext &ctx) {
  Value x = ctx.tensor("self");
  Sizes repeats = ctx.sizeList("dims");
  int64_t missing = rankOf(x) - static_cast<int64_t>(repeats.size());
  if (missing > 0)
    repeats.insert(repeats.begin(), missing, Size(1));
  return ctx.replace(repeat(ctx, x, repeats));
}

LogicalResult lowerRepeatInterleave(LowerContext &ctx) {
  Value x = ctx.tensor("self");
  Size count = ctx.size("repeats");
  if (ctx.isNone("dim") || rankOf(x) == 0)
    x = ctx.flatten(x);
  int64_t axis = ctx.isNone("dim") ? 0 : ctx.axis("dim", rankOf(x));
  Sizes expanded = ctx.sizes(x), merged = expanded;
  merged[axis] = ctx.times(merged[axis], count);
  expanded.insert(expanded.begin() + axis + 1, count);
  return ctx.replace(ctx.reshape(ctx.expand(ctx.insertDim(x, axis + 1), expanded), merged));
}

/// Moves elements by `shift` places; those that fall out come in at the other end.
static Value rollOne(LowerContext &ctx, Value x, int64_t axis, Size shift) {
  Size size = ctx.dim(x, axis);
  if (size.is(0) || shift.is(0))
    return x;
  // The first element of the result is at -shift, counted modulo the size, which may turn out to be 0.
  Size back = ctx.minus(0, shift), period = ctx.larger(size, 1);
  Size start = ctx.minus(back, ctx.times(ctx.floorDiv(back, period), period));
  if (start.is(0))
    return x;
  return ctx.concat({ctx.slice(x, axis, start, size), ctx.slice(x, axis, 0, start)}, axis);
}

LogicalResult lowerRoll(LowerContext &ctx) {
  Value x = ctx.tensor("self");
  Sizes shifts = ctx.sizeList("shifts");
  SmallVector<int64_t> dims = ctx.integers("dims");
  if (shifts.empty() || rankOf(x) == 0)
    return rankOf(x) ? ctx.refuse("needs a shift") : ctx.replace(x);
  if (dims.empty()) {
    Sizes shape = ctx.sizes(x);
    return ctx.replace(ctx.reshape(rollOne(ctx, ctx.flatten(x), 0, shifts.front()), shape));
  }
  if (dims.size() != shifts.size())
    return ctx.refuse("shifts and dims have different lengths");
  for (auto [shift, dim] : llvm::zip_equal(shifts, dims))
    x = rollOne(ctx, x, ctx.normalizeAxis(dim, rankOf(x)), shift);
  return ctx.replace(x);
}

static LogicalResult flipDims(LowerContext &ctx, Value x, ArrayRef<int64_t> dims) {
  if (dims.empty() || rankOf(x) == 0)
    return ctx.replace(x);
  return ctx.replace(ctx.create<FlipOp>(x.getType(), x, dims).getResult());
}

LogicalResult lowerFlip(LowerContext &ctx) {
  Value x = ctx.tensor("self");
  bool isNone = ctx.integers("dims").empty();
  return flipDims(ctx, x, isNone ? SmallVector<int64_t>() : ctx.axes("dims", rankOf(x)));
}

LogicalResult lowerFliplr(LowerContext &ctx) {
  Value x = ctx.tensor("self");
  return rankOf(x) < 2 ? ctx.refuse("needs two dimensions") : flipDims(ctx, x, {1});
}

LogicalResult lowerFlipud(LowerContext &ctx) { return flipDims(ctx, ctx.tensor("self"), {0}); }

/// Quarter turns from the first dimension towards the second.
LogicalResult lowerRot90(LowerContext &ctx) {
  Value x = ctx.tensor("self");
  SmallVector<int64_t> dims = ctx.integers("dims");
  int64_t turns = ((ctx.integer("k") % 4) + 4) % 4;
  if (dims.size() != 2 || rankOf(x) < 2)
    return ctx.refuse("turns in two dimensions");
  int64_t a = ctx.normalizeAxis(dims[0], rankOf(x)), b = ctx.normalizeAxis(dims[1], rankOf(x));
  if (turns == 2)
    return flipDims(ctx, x, {std::min(a, b), std::max(a, b)});
  if (turns == 1)
    return flipDims(ctx, ctx.transpose(x, a, b), {a});
  return turns == 0 ? ctx.replace(x) : flipDims(ctx, ctx.transpose(x, a, b), {b});
}

//===------------------------------------------------------------------------------------------===//
// Shuffles of channels and pixels: a reshape, a permutation, a reshape
//===------------------------------------------------------------------------------------------===//

namespace {

/// The permutation that keeps the first `lead` dimensions and then takes `order`, relative to them.
SmallVector<int64_t> permutation(int64_t lead, ArrayRef<int64_t> order) {
  SmallVector<int64_t> dims = axisRange(0, lead);
  for (int64_t dim : order)
    dims.push_back(lead + dim);
  return dims;
}

Sizes leading(LowerContext &ctx, Value x, int64_t count) {
  Sizes sizes = ctx.sizes(x);
  sizes.truncate(count);
  return sizes;
}

Sizes joined(Sizes lead, ArrayRef<Size> rest) {
  llvm::append_range(lead, rest);
  return lead;
}

} // namespace

LogicalResult lowerPixelShuffle(LowerContext &ctx) {
  Value x = ctx.tensor("self");
  int64_t lead = rankOf(x) - 3;
  Size r = ctx.integer("upscale_factor");
  if (lead < 0 || r.literal <= 0)
    return ctx.refuse("needs three dimensions and a positive factor");
  Sizes batch = leading(ctx, x, lead);
  Size c = ctx.floorDiv(ctx.dim(x, lead), ctx.times(r, r));
  Size h = ctx.dim(x, lead + 1), w = ctx.dim(x, lead + 2);
  Value split = ctx.reshape(x, joined(batch, {c, r, r, h, w}));
  Value turned = ctx.permute(split, permutation(lead, {0, 3, 1, 4, 2}));
  return ctx.replace(ctx.reshape(turned, joined(batch, {c, ctx.times(h, r), ctx.times(w, r)})));
}

LogicalResult lowerPixelUnshuffle(LowerContext &ctx) {
  Value x = ctx.tensor("self");
  int64_t lead = rankOf(x) - 3;
  Size r = ctx.integer("downscale_factor");
  if (lead < 0 || r.literal <= 0)
    return ctx.refuse("needs three dimensions and a positive factor");
  Sizes batch = leading(ctx, x, lead);
  Size c = ctx.dim(x, lead), h = ctx.floorDiv(ctx.dim(x, lead + 1), r);
  Size w = ctx.floorDiv(ctx.dim(x, lead + 2), r);
  Value split = ctx.reshape(x, joined(batch, {c, h, r, w, r}));
  Value turned = ctx.permute(split, permutation(lead, {0, 2, 4, 1, 3}));
  return ctx.replace(ctx.reshape(turned, joined(batch, {ctx.times(c, ctx.times(r, r)), h, w})));
}

LogicalResult lowerChannelShuffle(LowerContext &ctx) {
  Value x = ctx.tensor("self");
  int64_t groups = ctx.integer("groups");
  if (rankOf(x) < 3 || groups <= 0)
    return ctx.refuse("needs three dimensions and a positive number of groups");
  Sizes whole = ctx.sizes(x), split = whole;
  split[1] = ctx.floorDiv(whole[1], groups);
  split.insert(split.begin() + 1, Size(groups));
  return ctx.replace(ctx.reshape(ctx.transpose(ctx.reshape(x, split), 1, 2), whole));
}

//===------------------------------------------------------------------------------------------===//
// Padding
//===------------------------------------------------------------------------------------------===//

namespace {

/// What is added before and after each dimension.
struct Margins {
  Sizes low, high;

  bool areStatic() const {
    auto isStatic = [](const Size &size) { return size.isStatic(); };
    return llvm::all_of(low, isStatic) && llvm::all_of(high, isStatic);
  }
};

/// Of known numbers.
Value staticPad(LowerContext &ctx, Value x, ArrayRef<int64_t> low, ArrayRef<int64_t> high, PadMode mode, double value) {
  auto isZero = [](int64_t entry) { return entry == 0; };
  if (llvm::all_of(low, isZero) && llvm::all_of(high, isZero))
    return x;
  SmallVector<int64_t> shape(shapeOf(x));
  for (auto [i, size] : llvm::enumerate(shape))
    if (size != kDynamicEntry)
      size += low[i] + high[i];
  auto type = withShape(tensorType(x), shape);
  return ctx.create<PadOp>(type, x, low, high, mode, llvm::APFloat(value)).getResult();
}

/// A circle closes after what negative numbers cut off is gone.
Value padKnown(LowerContext &ctx, Value x, const Margins &margins, PadMode mode, double value) {
  SmallVector<int64_t> low, high, cutLow, cutHigh;
  for (auto [before, after] : llvm::zip_equal(margins.low, margins.high)) {
    bool isCut = mode == PadMode::Circular;
    cutLow.push_back(isCut ? std::min<int64_t>(before.literal, 0) : 0);
    cutHigh.push_back(isCut ? std::min<int64_t>(after.literal, 0) : 0);
    low.push_back(before.literal - cutLow.back());
    high.push_back(after.literal - cutHigh.back());
  }
  Value cut = staticPad(ctx, x, cutLow, cutHigh, PadMode::Constant, 0);
  return staticPad(ctx, cut, low, high, mode, value);
}

/// The position of x that each position of the padded dimension shows.
Value sourcePositions(LowerContext &ctx, Size size, Size low, Size padded, PadMode mode) {
  Value position = ctx.binary<SubOp>(ctx.iota(padded), ctx.constant(Number::of(low), ctx.i64()));
  Value last = ctx.constant(Number::of(ctx.minus(size, 1)), ctx.i64());
  if (mode == PadMode::Circular)
    return ctx.binary<RemainderOp>(position, ctx.constant(Number::of(size), ctx.i64()));
  if (mode == PadMode::Reflect) {
    Value folded = ctx.unary<AbsOp>(ctx.binary<SubOp>(last, ctx.unary<AbsOp>(position)));
    return ctx.binary<SubOp>(last, folded);
  }
  return ctx.binary<MaximumOp>(ctx.binary<MinimumOp>(position, last), 0);
}

/// Of numbers that the program computes: dimension by dimension, by position.
Value padByPosition(LowerContext &ctx, Value x, const Margins &margins, PadMode mode, const Number &value) {
  for (int64_t axis = 0; axis < rankOf(x); ++axis) {
    Size low = margins.low[axis], high = margins.high[axis], size = ctx.dim(x, axis);
    if (low.is(0) && high.is(0))
      continue;
    Size padded = ctx.plus(size, ctx.plus(low, high));
    Value positions = sourcePositions(ctx, size, low, padded, mode);
    x = ctx.indexSelect(x, positions, axis);
    if (mode != PadMode::Constant)
      continue;
    Value wanted = ctx.binary<SubOp>(ctx.iota(padded), ctx.constant(Number::of(low), ctx.i64()));
    Sizes shape(rankOf(x), Size(1));
    shape[axis] = padded;
    Value isInside = ctx.reshape(ctx.compare<EqOp>(positions, wanted), shape);
    x = ctx.select(isInside, x, ctx.constant(value, dtypeOf(x)));
  }
  return x;
}

} // namespace

/// PyTorch lists (low, high) from the last dimension on.
static LogicalResult pad(LowerContext &ctx, StringRef listName, PadMode mode, const Number &value) {
  Value x = ctx.tensor("self");
  int64_t rank = rankOf(x);
  Sizes list = ctx.sizeList(listName);
  if (list.size() % 2 != 0 || static_cast<int64_t>(list.size()) > 2 * rank)
    return ctx.refuse("the padding list does not fit the operand's rank");
  Margins margins{Sizes(rank, Size(0)), Sizes(rank, Size(0))};
  for (size_t i = 0; i < list.size() / 2; ++i) {
    int64_t axis = rank - 1 - static_cast<int64_t>(i);
    margins.low[axis] = list[2 * i];
    margins.high[axis] = list[2 * i + 1];
  }
  auto padded = [&](Value part, const Number &fill) {
    // The attribute of the op is a double, in which not every integer fits.
    bool fits = fill.isStatic() && !(isIntegral(dtypeOf(part)) && std::abs(fill.asDouble()) > 0x1p53);
    if (margins.areStatic() && fits)
      return padKnown(ctx, part, margins, mode, fill.asDouble());
    return padByPosition(ctx, part, margins, mode, fill);
  };
  if (value.imaginary == 0)
    return ctx.replace(padded(x, value));
  Value real = padded(realPart(ctx, x), Number::of(value.real));
  return ctx.replace(makeComplex(ctx, real, padded(imagPart(ctx, x), Number::of(value.imaginary))));
}

LogicalResult lowerConstantPad(LowerContext &ctx) { return pad(ctx, "pad", PadMode::Constant, ctx.number("value")); }

LogicalResult lowerPad(LowerContext &ctx) {
  StringRef name = ctx.string("mode");
  std::optional<PadMode> mode = symbolizePadMode(name);
  if (!mode)
    return ctx.refuse("padding mode '" + name + "' is unknown");
  return pad(ctx, "pad", *mode, Number::of(ctx.optionalReal("value").value_or(0)));
}

LogicalResult lowerReflectionPad(LowerContext &ctx) { return pad(ctx, "padding", PadMode::Reflect, Number::of(0.0)); }

LogicalResult lowerReplicationPad(LowerContext &ctx) {
  return pad(ctx, "padding", PadMode::Replicate, Number::of(0.0));
}

} // namespace ingot::lower
