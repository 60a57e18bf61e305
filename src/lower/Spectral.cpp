// Fourier transforms and their relatives.
#include "dialect/SpectralOps.h"
#include "lower/ComplexConstant.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

#include <cmath>

using namespace mlir;

namespace ingot::lower {

namespace {

enum class Scaling : uint8_t { None, ByRoot, ByCount };

Type complexOf(Type dtype) { return isComplex(dtype) ? dtype : ComplexType::get(computeType(floatType(dtype))); }
Type partOf(Type dtype) { return cast<ComplexType>(complexOf(dtype)).getElementType(); }

Value toComplex(LowerContext &ctx, Value x) { return ctx.cast(x, complexOf(dtypeOf(x))); }

/// The operand of a transform of real numbers.
Value toReal(LowerContext &ctx, Value x) {
  if (isComplex(dtypeOf(x)))
    (void)ctx.refuse("PyTorch transforms real tensors only here");
  return ctx.cast(x, partOf(dtypeOf(x)));
}

/// PyTorch's names: without one, the inverse transforms divide by the number of points.
Scaling scalingOf(LowerContext &ctx, bool isForward) {
  StringRef norm = ctx.string("norm");
  if (norm == "ortho")
    return Scaling::ByRoot;
  return (norm == "forward") == isForward ? Scaling::ByCount : Scaling::None;
}

struct Line {
  int64_t axis;
  Size length; ///< points of the transform
  bool isForward;
  Scaling scaling;
};

/// What a length that is only known at run time scales by.
Value scaleBy(LowerContext &ctx, Value x, const Line &line) {
  Value count = ctx.constant(Number::of(line.length), partOf(dtypeOf(x)));
  Value divisor = line.scaling == Scaling::ByRoot ? ctx.unary<SqrtOp>(count) : count;
  return ctx.binary<DivOp>(x, ctx.cast(divisor, dtypeOf(x)));
}

/// One transform; whether operand and result are real is in their types.
Value transform(LowerContext &ctx, Value x, Type dtype, const Line &line) {
  SmallVector<int64_t> shape(shapeOf(x));
  Size size = isComplex(dtypeOf(x)) ? line.length : ctx.plus(ctx.floorDiv(line.length, 2), 1);
  shape[line.axis] = size.entry();
  double scale = 1;
  bool isKnown = line.length.isStatic();
  if (isKnown && line.scaling != Scaling::None && line.length.literal > 0) {
    auto count = static_cast<double>(line.length.literal);
    scale = 1 / (line.scaling == Scaling::ByRoot ? std::sqrt(count) : count);
  }
  Value length = ctx.asValue(line.length);
  Value result =
      ctx.create<FftOp>(RankedTensorType::get(shape, dtype), x, length, line.axis, line.isForward, APFloat(scale))
          .getResult();
  return isKnown || line.scaling == Scaling::None ? result : scaleBy(ctx, result, line);
}

Value complexToComplex(LowerContext &ctx, Value x, const Line &line) { return transform(ctx, x, dtypeOf(x), line); }
Value realToComplex(LowerContext &ctx, Value x, const Line &line) {
  return transform(ctx, x, complexOf(dtypeOf(x)), line);
}
Value complexToReal(LowerContext &ctx, Value x, const Line &line) {
  return transform(ctx, x, partOf(dtypeOf(x)), line);
}

/// 2 (n - 1): the points of a real signal whose first n frequencies are given.
Size realPoints(LowerContext &ctx, Value x, int64_t axis) { return ctx.times(ctx.minus(ctx.dim(x, axis), 1), 2); }

bool hasDimensions(LowerContext &ctx, Value x) {
  if (rankOf(x) > 0)
    return true;
  (void)ctx.refuse("a zero-dimensional tensor has nothing to transform along");
  return false;
}

//===------------------------------------------------------------------------------------------===//
// One dimension
//===------------------------------------------------------------------------------------------===//

enum class Kind : uint8_t { ComplexToComplex, RealToComplex, ComplexToReal };

LogicalResult oneDimension(LowerContext &ctx, Kind kind, bool isForward) {
  Value x = ctx.tensor("self");
  if (!hasDimensions(ctx, x))
    return failure(); // hasDimensions said why
  int64_t axis = ctx.axis("dim", rankOf(x));
  Size points = kind == Kind::ComplexToReal ? realPoints(ctx, x, axis) : ctx.dim(x, axis);
  Line line{axis, ctx.isNone("n") ? points : ctx.size("n"), isForward, scalingOf(ctx, isForward)};
  if (kind == Kind::RealToComplex)
    return ctx.replace(realToComplex(ctx, toReal(ctx, x), line));
  x = toComplex(ctx, x);
  return ctx.replace(kind == Kind::ComplexToReal ? complexToReal(ctx, x, line) : complexToComplex(ctx, x, line));
}

} // namespace

LogicalResult lowerFft(LowerContext &ctx) { return oneDimension(ctx, Kind::ComplexToComplex, true); }
LogicalResult lowerIfft(LowerContext &ctx) { return oneDimension(ctx, Kind::ComplexToComplex, false); }
LogicalResult lowerRfft(LowerContext &ctx) { return oneDimension(ctx, Kind::RealToComplex, true); }
LogicalResult lowerIrfft(LowerContext &ctx) { return oneDimension(ctx, Kind::ComplexToReal, false); }
LogicalResult lowerHfft(LowerContext &ctx) { return oneDimension(ctx, Kind::ComplexToReal, true); }
LogicalResult lowerIhfft(LowerContext &ctx) { return oneDimension(ctx, Kind::RealToComplex, false); }

//===------------------------------------------------------------------------------------------===//
// Several dimensions
//===------------------------------------------------------------------------------------------===//

namespace {

struct Lines {
  SmallVector<Line> lines;
  bool hasLastSize = false; ///< the size of the last one is given
};

/// The dimensions given, or as many last ones as there are sizes, or all.
Lines linesOf(LowerContext &ctx, Value x, bool isForward) {
  Sizes sizes = ctx.sizeList("s");
  SmallVector<int64_t> dims;
  for (int64_t dim : ctx.integers("dim"))
    dims.push_back(ctx.normalizeAxis(dim, rankOf(x)));
  bool hasSizes = !ctx.isNone("s");
  if (ctx.isNone("dim"))
    dims = axisRange(hasSizes ? rankOf(x) - static_cast<int64_t>(sizes.size()) : 0, rankOf(x));
  Lines result;
  if (hasSizes && sizes.size() != dims.size()) {
    (void)ctx.refuse("there must be a size for every dimension");
    return result;
  }
  for (auto [i, dim] : llvm::enumerate(dims)) {
    bool isGiven = hasSizes && !sizes[i].is(-1);
    result.lines.push_back({dim, isGiven ? sizes[i] : ctx.dim(x, dim), isForward, scalingOf(ctx, isForward)});
    result.hasLastSize = isGiven;
  }
  return result;
}

LogicalResult manyDimensions(LowerContext &ctx, Kind kind, bool isForward) {
  Value x = ctx.tensor("self");
  Lines found = linesOf(ctx, x, isForward);
  if (ctx.isRefused() || (kind != Kind::ComplexToComplex && found.lines.empty()))
    return ctx.refuse("needs a dimension to transform along");
  if (kind == Kind::ComplexToComplex) {
    x = toComplex(ctx, x);
    for (const Line &line : llvm::reverse(found.lines))
      x = complexToComplex(ctx, x, line);
    return ctx.replace(x);
  }
  Line last = found.lines.pop_back_val();
  if (kind == Kind::RealToComplex) {
    x = realToComplex(ctx, toReal(ctx, x), last);
    for (const Line &line : llvm::reverse(found.lines))
      x = complexToComplex(ctx, x, line);
    return ctx.replace(x);
  }
  if (!found.hasLastSize)
    last.length = realPoints(ctx, x, last.axis);
  x = toComplex(ctx, x);
  for (const Line &line : found.lines)
    x = complexToComplex(ctx, x, line);
  return ctx.replace(complexToReal(ctx, x, last));
}

} // namespace

LogicalResult lowerFftn(LowerContext &ctx) { return manyDimensions(ctx, Kind::ComplexToComplex, true); }
LogicalResult lowerIfftn(LowerContext &ctx) { return manyDimensions(ctx, Kind::ComplexToComplex, false); }
LogicalResult lowerRfftn(LowerContext &ctx) { return manyDimensions(ctx, Kind::RealToComplex, true); }
LogicalResult lowerIrfftn(LowerContext &ctx) { return manyDimensions(ctx, Kind::ComplexToReal, false); }
LogicalResult lowerHfftn(LowerContext &ctx) { return manyDimensions(ctx, Kind::ComplexToReal, true); }
LogicalResult lowerIhfftn(LowerContext &ctx) { return manyDimensions(ctx, Kind::RealToComplex, false); }

//===------------------------------------------------------------------------------------------===//
// The forms that decomposition leaves
//===------------------------------------------------------------------------------------------===//

namespace {

SmallVector<Line> plainLines(LowerContext &ctx, Value x, bool isForward) {
  auto scaling = ctx.has("normalization") ? static_cast<Scaling>(ctx.integer("normalization")) : Scaling::None;
  SmallVector<Line> lines;
  for (int64_t dim : ctx.integers("dim")) {
    int64_t axis = ctx.normalizeAxis(dim, rankOf(x));
    lines.push_back({axis, ctx.dim(x, axis), isForward, scaling});
  }
  return lines;
}

} // namespace

LogicalResult lowerFftC2c(LowerContext &ctx) {
  Value x = ctx.tensor("self");
  if (!isComplex(dtypeOf(x)))
    return ctx.refuse("needs complex numbers");
  for (const Line &line : plainLines(ctx, x, ctx.flag("forward")))
    x = complexToComplex(ctx, x, line);
  return ctx.replace(x);
}

LogicalResult lowerFftR2c(LowerContext &ctx) {
  Value x = ctx.tensor("self");
  SmallVector<Line> lines = plainLines(ctx, x, true);
  if (isComplex(dtypeOf(x)) || lines.empty())
    return ctx.refuse("needs real numbers, and a dimension");
  if (!ctx.flag("onesided"))
    x = toComplex(ctx, x);
  for (const Line &line : llvm::reverse(lines))
    x = isComplex(dtypeOf(x)) ? complexToComplex(ctx, x, line) : realToComplex(ctx, x, line);
  return ctx.replace(x);
}

LogicalResult lowerFftC2r(LowerContext &ctx) {
  Value x = ctx.tensor("self");
  SmallVector<Line> lines = plainLines(ctx, x, false);
  if (!isComplex(dtypeOf(x)) || lines.empty())
    return ctx.refuse("needs complex numbers, and a dimension");
  Line last = lines.pop_back_val();
  last.length = ctx.size("last_dim_size");
  for (const Line &line : lines)
    x = complexToComplex(ctx, x, line);
  return ctx.replace(complexToReal(ctx, x, last));
}

//===------------------------------------------------------------------------------------------===//
// Shifts
//===------------------------------------------------------------------------------------------===//

static LogicalResult shifted(LowerContext &ctx, bool isInverse) {
  Value x = ctx.tensor("self");
  SmallVector<int64_t> dims = ctx.axes("dim", rankOf(x));
  for (int64_t dim : dims) {
    Size size = ctx.dim(x, dim), half = ctx.floorDiv(size, 2);
    Size start = isInverse ? half : ctx.minus(size, half); // what comes first afterwards
    Value behind = ctx.slice(x, dim, start, size);
    x = ctx.concat({behind, ctx.slice(x, dim, 0, start)}, dim);
  }
  return ctx.replace(x);
}

LogicalResult lowerFftshift(LowerContext &ctx) { return shifted(ctx, false); }
LogicalResult lowerIfftshift(LowerContext &ctx) { return shifted(ctx, true); }

//===------------------------------------------------------------------------------------------===//
// Short-time transforms
//===------------------------------------------------------------------------------------------===//

namespace {

struct Frames {
  int64_t points, hop, width;
  Value window; ///< of `points` elements, or null
};

/// The window is put in the middle of a frame.
Frames framesOf(LowerContext &ctx, Type dtype) {
  Frames frames{ctx.integer("n_fft"), 0, 0, {}};
  frames.hop = ctx.isNone("hop_length") ? frames.points / 4 : ctx.integer("hop_length");
  frames.width = ctx.isNone("win_length") ? frames.points : ctx.integer("win_length");
  if (frames.points < 1 || frames.hop < 1 || frames.width < 1 || frames.width > frames.points) {
    (void)ctx.refuse("the lengths of frames, hops and windows do not fit together");
    return frames;
  }
  frames.window = ctx.optionalTensor("window");
  if (!frames.window && frames.width < frames.points)
    frames.window = ctx.full(Number::of(int64_t{1}), {Size(frames.width)}, dtype);
  if (!frames.window || frames.width == frames.points)
    return frames;
  int64_t before = (frames.points - frames.width) / 2, behind = frames.points - frames.width - before;
  auto zeros = [&](int64_t count) { return ctx.full(Number::of(int64_t{0}), {Size(count)}, dtypeOf(frames.window)); };
  SmallVector<Value> parts;
  if (before > 0)
    parts.push_back(zeros(before));
  parts.push_back(frames.window);
  if (behind > 0)
    parts.push_back(zeros(behind));
  frames.window = ctx.concat(parts, 0);
  return frames;
}

/// Real and imaginary parts along a new last dimension.
Value asPairs(LowerContext &ctx, Value x) {
  Type part = partOf(dtypeOf(x));
  Value quarter = complexConstant(ctx, 0, -1, dtypeOf(x));
  Value real = ctx.cast(x, part), imaginary = ctx.cast(ctx.binary<MulOp>(x, quarter), part);
  return ctx.concat({ctx.insertDim(real, rankOf(x)), ctx.insertDim(imaginary, rankOf(x))}, rankOf(x));
}

} // namespace

LogicalResult lowerStft(LowerContext &ctx) {
  Value x = ctx.tensor("self");
  if (ctx.has("center") && ctx.flag("center"))
    return ctx.refuse("centred frames are padded before, in torch.stft");
  Frames frames = framesOf(ctx, dtypeOf(x));
  if (ctx.isRefused() || rankOf(x) < 1 || rankOf(x) > 2)
    return ctx.refuse("needs a signal or a batch of them");
  int64_t axis = rankOf(x) - 1;
  Size count = ctx.plus(ctx.floorDiv(ctx.minus(ctx.dim(x, axis), frames.points), frames.hop), 1);
  Value starts = ctx.iota(Number::of(int64_t{0}), Number::of(frames.hop), count, ctx.i64());
  Value positions = ctx.binary<AddOp>(ctx.insertDim(starts, 1), ctx.iota(Size(frames.points)));
  Value pieces = ctx.indexSelect(x, positions, axis);
  if (frames.window) {
    Type common = promoteTypes(dtypeOf(x), dtypeOf(frames.window));
    pieces = ctx.binary<MulOp>(ctx.cast(pieces, common), ctx.cast(frames.window, common));
  }
  bool isOneSided = ctx.isNone("onesided") ? !isComplex(dtypeOf(pieces)) : ctx.flag("onesided");
  Line line{axis + 1, frames.points, true, ctx.flag("normalized") ? Scaling::ByRoot : Scaling::None};
  Value spectrum =
      isOneSided ? realToComplex(ctx, toReal(ctx, pieces), line) : complexToComplex(ctx, toComplex(ctx, pieces), line);
  spectrum = ctx.transpose(spectrum, axis, axis + 1);
  return ctx.replace(isComplex(ctx.resultDtype()) ? spectrum : asPairs(ctx, spectrum));
}

/// Frames are transformed back and added; what the windows have done to the sum is divided out.
LogicalResult lowerIstft(LowerContext &ctx) {
  Value x = ctx.tensor("self");
  if (!isComplex(dtypeOf(x)) || rankOf(x) < 2 || rankOf(x) > 3)
    return ctx.refuse("needs complex spectra of frames");
  Type part = partOf(dtypeOf(x));
  Frames frames = framesOf(ctx, part);
  if (ctx.isRefused())
    return failure(); // framesOf said why
  bool isComplexResult = isComplex(ctx.resultDtype());
  int64_t axis = rankOf(x) - 1;
  x = ctx.transpose(x, axis - 1, axis);
  // PyTorch reads a real signal from the first half of its spectrum, whatever the rest holds.
  Size half = ctx.smaller(ctx.dim(x, axis), frames.points / 2 + 1);
  if (!isComplexResult)
    x = ctx.slice(x, axis, 0, half);
  Line line{axis, frames.points, false, ctx.flag("normalized") ? Scaling::ByRoot : Scaling::ByCount};
  Value pieces = isComplexResult ? complexToComplex(ctx, x, line) : ctx.cast(complexToReal(ctx, x, line), part);
  Value window = frames.window ? frames.window : ctx.full(Number::of(int64_t{1}), {Size(frames.points)}, part);
  pieces = ctx.binary<MulOp>(pieces, ctx.cast(window, dtypeOf(pieces)));
  Size count = ctx.dim(pieces, axis - 1);
  Size total = ctx.plus(ctx.times(ctx.minus(count, 1), frames.hop), frames.points);
  auto added = [&](Value value) {
    SmallVector<int64_t> shape(shapeOf(value).drop_back());
    shape.back() = total.entry();
    return ctx.create<OverlapAddOp>(tensorType(value).clone(ArrayRef<int64_t>(shape)), value, frames.hop).getResult();
  };
  Value squares = ctx.binary<MulOp>(window, window);
  squares = ctx.cast(squares, isComplex(dtypeOf(squares)) ? dtypeOf(pieces) : part);
  Value envelope = added(ctx.expand(squares, {count, Size(frames.points)}));
  Value sum = ctx.binary<DivOp>(added(pieces), ctx.cast(envelope, dtypeOf(pieces)));
  Size start = ctx.flag("center") ? frames.points / 2 : 0;
  bool hasLength = !ctx.isNone("length");
  Size wanted = hasLength ? ctx.plus(start, ctx.size("length")) : ctx.minus(total, start);
  Size end = ctx.smaller(wanted, total);
  int64_t last = rankOf(sum) - 1;
  Value result = ctx.slice(sum, last, start, end);
  if (hasLength && wanted.isStatic() && end.isStatic() && wanted.literal > end.literal) {
    Sizes rest = ctx.sizes(result);
    rest[last] = wanted.literal - end.literal;
    result = ctx.concat({result, ctx.full(Number::of(int64_t{0}), rest, dtypeOf(result))}, last);
  }
  return ctx.replace(result);
}

} // namespace ingot::lower
