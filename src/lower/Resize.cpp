// Interpolation of images.
#include "dialect/WindowOps.h"
#include "lower/Lowering.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

#include <cmath>

using namespace mlir;

namespace ingot::lower {

namespace {

/// floor(size * factor)
Size scaledSize(LowerContext &ctx, Size size, double factor) {
  if (size.isStatic())
    return static_cast<int64_t>(std::floor(static_cast<double>(size.literal) * factor));
  Type f64 = ctx.builder.getF64Type();
  Value real = ctx.create<arith::SIToFPOp>(f64, size.dynamic);
  Value by = ctx.create<arith::ConstantOp>(ctx.builder.getF64FloatAttr(factor));
  Value product = ctx.create<arith::MulFOp>(real, by);
  // Sizes are not negative, so that rounding towards zero is rounding down.
  return Size(ctx.create<arith::FPToSIOp>(ctx.i64(), product).getResult());
}

/// The factors that the overloads without lists name one by one; 0 where absent.
SmallVector<double> namedScales(LowerContext &ctx, size_t spatial) {
  static constexpr const char *kNames[] = {"scales_d", "scales_h", "scales_w"};
  SmallVector<double> scales;
  if (spatial == 1)
    return {ctx.optionalReal("scales").value_or(0)};
  for (size_t i = 3 - spatial; i < 3; ++i)
    scales.push_back(ctx.optionalReal(kNames[i]).value_or(0));
  return scales;
}

LogicalResult resize(LowerContext &ctx, ResizeMode mode, bool antialias = false) {
  bool isList = ctx.has("input");
  Value x = ctx.tensor(isList ? "input" : "self");
  if (rankOf(x) < 3 || rankOf(x) > 5)
    return ctx.refuse("only one to three spatial dimensions are supported");
  size_t spatial = rankOf(x) - 2;
  Sizes sizes = ctx.sizeList("output_size");
  SmallVector<double> scales(spatial, 0);
  if (!isList)
    scales = namedScales(ctx, spatial);
  else if (!ctx.isNone("scale_factors"))
    scales = ctx.reals("scale_factors");
  if (scales.size() != spatial)
    return ctx.refuse("needs a scale for every spatial dimension");
  if (sizes.empty())
    for (size_t i = 0; i < spatial; ++i)
      sizes.push_back(scaledSize(ctx, ctx.dim(x, static_cast<int64_t>(i) + 2), scales[i]));
  if (sizes.size() != spatial)
    return ctx.refuse("needs a size for every spatial dimension");
  SmallVector<int64_t> shape(shapeOf(x).take_front(2)), entries;
  SmallVector<Value> dynamic;
  for (const Size &size : sizes) {
    entries.push_back(size.entry());
    if (!size.isStatic())
      dynamic.push_back(size.dynamic);
  }
  llvm::append_range(shape, entries);
  bool alignCorners = ctx.has("align_corners") && ctx.flag("align_corners");
  bool interpolates = mode == ResizeMode::Linear || mode == ResizeMode::Cubic;
  if (antialias || (interpolates && spatial == 2 && dtypeOf(x).isUnsignedInteger(8)))
    return ctx.replace(ctx.create<ResizeFilteredOp>(withShape(tensorType(x), shape), x, dynamic,
                                                    mode == ResizeMode::Cubic ? "cubic" : "linear", antialias,
                                                    alignCorners, scales, entries)
                           .getResult());
  return ctx.replace(
      ctx.create<ResizeOp>(withShape(tensorType(x), shape), x, dynamic, mode, alignCorners, scales, entries)
          .getResult());
}

} // namespace

LogicalResult lowerNearest(LowerContext &ctx) { return resize(ctx, ResizeMode::Nearest); }
LogicalResult lowerNearestExact(LowerContext &ctx) { return resize(ctx, ResizeMode::NearestExact); }
LogicalResult lowerLinearResize(LowerContext &ctx) { return resize(ctx, ResizeMode::Linear); }
LogicalResult lowerCubicResize(LowerContext &ctx) { return resize(ctx, ResizeMode::Cubic); }
LogicalResult lowerLinearAntialias(LowerContext &ctx) { return resize(ctx, ResizeMode::Linear, /*antialias=*/true); }
LogicalResult lowerCubicAntialias(LowerContext &ctx) { return resize(ctx, ResizeMode::Cubic, /*antialias=*/true); }

} // namespace ingot::lower
