// Windows and frequencies: their lengths are numbers of the program, so that their values are known here.
#include "lower/Bounds.h"
#include "lower/Lowering.h"

#include <cmath>
#include <limits>
#include <numbers>

using namespace mlir;

namespace ingot::lower {

namespace {

/// A constant of the result's type, or a refusal.
LogicalResult replaceByValues(LowerContext &ctx, int64_t count, llvm::function_ref<double(int64_t)> valueAt) {
  auto dtype = dyn_cast<FloatType>(ctx.resultDtype());
  if (!dtype || count < 0 || count > kMaxTableElements)
    return ctx.refuse("needs a floating-point type and a length that is not negative");
  SmallVector<APFloat> values;
  for (int64_t i = 0; i < count; ++i) {
    APFloat value(valueAt(i));
    bool losesInfo = false;
    value.convert(dtype.getFloatSemantics(), APFloat::rmNearestTiesToEven, &losesInfo);
    values.push_back(value);
  }
  auto elements = DenseElementsAttr::get(RankedTensorType::get({count}, dtype), values);
  return ctx.replace(ctx.create<ConstantOp>(elements.getType(), elements).getResult());
}

/// `valueAt(place)` with places from 0 to 1; a periodic window leaves the last one out.
LogicalResult replaceByWindow(LowerContext &ctx, llvm::function_ref<double(double)> valueAt) {
  int64_t count = ctx.integer("window_length");
  bool isPeriodic = !ctx.has("periodic") || ctx.flag("periodic");
  double last = static_cast<double>(isPeriodic ? count : count - 1);
  return replaceByValues(ctx, count,
                         [&](int64_t i) { return count == 1 ? 1.0 : valueAt(static_cast<double>(i) / last); });
}

LogicalResult cosineWindow(LowerContext &ctx, double alpha, double beta) {
  return replaceByWindow(ctx, [&](double x) { return alpha - beta * std::cos(2 * std::numbers::pi * x); });
}

} // namespace

LogicalResult lowerHannWindow(LowerContext &ctx) { return cosineWindow(ctx, 0.5, 0.5); }

LogicalResult lowerHammingWindow(LowerContext &ctx) {
  double alpha = ctx.has("alpha") ? ctx.real("alpha") : 0.54;
  return cosineWindow(ctx, alpha, ctx.has("beta") ? ctx.real("beta") : 0.46);
}

LogicalResult lowerBlackmanWindow(LowerContext &ctx) {
  return replaceByWindow(ctx, [](double x) {
    double angle = 2 * std::numbers::pi * x;
    return 0.42 - 0.5 * std::cos(angle) + 0.08 * std::cos(2 * angle);
  });
}

LogicalResult lowerBartlettWindow(LowerContext &ctx) {
  return replaceByWindow(ctx, [](double x) { return 1 - std::abs(2 * x - 1); });
}

/// The modified Bessel function of order 0. The library's raises an exception where the result is out of range.
static double besselI0(double x) {
  constexpr double kLargest = 713;
  return x > kLargest ? std::numeric_limits<double>::infinity() : std::cyl_bessel_i(0.0, x);
}

LogicalResult lowerKaiserWindow(LowerContext &ctx) {
  double beta = ctx.has("beta") ? ctx.real("beta") : 12;
  return replaceByWindow(ctx, [beta](double x) {
    double place = 2 * x - 1;
    double inner = std::abs(beta) * std::sqrt(std::max(0.0, 1 - place * place));
    return besselI0(inner) / besselI0(std::abs(beta));
  });
}

LogicalResult lowerFftfreq(LowerContext &ctx) {
  int64_t n = ctx.integer("n");
  double scale = 1 / (static_cast<double>(n) * ctx.real("d"));
  return replaceByValues(ctx, n, [&](int64_t i) { return static_cast<double>(i < (n + 1) / 2 ? i : i - n) * scale; });
}

LogicalResult lowerRfftfreq(LowerContext &ctx) {
  int64_t n = ctx.integer("n");
  double scale = 1 / (static_cast<double>(n) * ctx.real("d"));
  return replaceByValues(ctx, n / 2 + 1, [&](int64_t i) { return static_cast<double>(i) * scale; });
}

} // namespace ingot::lower
