// cum_reduce and cum_extreme: results that run along a dimension.
#include "runtime/kernels/order/Lines.h"

#include <array>

namespace ingot {
namespace {

//===------------------------------------------------------------------------------------------===//
// cum_reduce
//===------------------------------------------------------------------------------------------===//

/// float is accumulated in double, as PyTorch does; integers wrap.
template <typename T> struct ScanAccumulator {
  using Type = scalar::Compute<T>;
};
template <> struct ScanAccumulator<float> {
  using Type = double;
};
template <> struct ScanAccumulator<std::complex<float>> {
  using Type = std::complex<double>;
};

struct Product {
  template <typename A> static A first() { return A(1); }
  template <typename A> static A step(A sum, A x) { return scalar::mul(sum, x); }
};

/// log(exp(a) + exp(b)) without overflow.
struct LogSumExp {
  template <typename A> static A first() {
    if constexpr (scalar::isComplex<A>)
      return A(-std::numeric_limits<typename A::value_type>::infinity(), 0);
    else
      return -std::numeric_limits<A>::infinity();
  }

  template <scalar::Float A> static A step(A a, A b) {
    const A low = b != b ? b : std::min(a, b), high = b != b ? b : std::max(a, b);
    if (low == high && !std::isfinite(low)) // infinity minus itself would be NaN
      return a;
    return std::log1p(std::exp(low - high)) + high;
  }

  template <scalar::Complex A> static A step(A a, A b) {
    using R = typename A::value_type;
    auto isNan = [](A x) { return scalar::isnan(x); };
    if (isNan(a) || isNan(b))
      return {std::numeric_limits<R>::quiet_NaN(), std::numeric_limits<R>::quiet_NaN()};
    const A low = a.real() < b.real() ? a : b, high = a.real() < b.real() ? b : a;
    if (!std::isfinite(low.real()) && low.real() == high.real())
      return low.real() < 0 ? low : std::log(std::exp(low) + std::exp(high));
    const A difference = low - high;
    const A part = std::isfinite(difference.real()) ? std::exp(difference) : A(0);
    return log1p(part) + high;
  }

private:
  template <typename A> static A log1p(A z) {
    using R = typename A::value_type;
    const R x = z.real(), y = z.imag();
    // |1 + z|² - 1, which keeps what a small z has.
    return {R(0.5) * std::log1p(x * (R(2) + x) + y * y), std::atan2(y, R(1) + x)};
  }
};

template <typename T, typename Op> class Scan final : public BoundKernel {
public:
  explicit Scan(Lines lines) : lines(std::move(lines)) {}

  Status run(const KernelArgs &args) const override {
    using A = typename ScanAccumulator<T>::Type;
    lines.run([&](int64_t line) {
      const int64_t start = lines.start(line, lines.length);
      const T *x = static_cast<const T *>(args.operands[0]) + start;
      T *result = static_cast<T *>(args.results[0]) + start;
      A sum = Op::template first<A>();
      for (int64_t i = 0; i < lines.length; ++i) {
        sum = Op::step(sum, scalar::cast<A>(x[i * lines.inner]));
        result[i * lines.inner] = scalar::cast<T>(sum);
      }
    });
    return {};
  }

private:
  Lines lines;
};

constexpr std::array<std::string_view, 2> kScanKinds = {"prod", "logsumexp"};

Result<std::unique_ptr<BoundKernel>> makeScan(const StepContext &context) {
  INGOT_TRY(Lines lines, linesOf(context));
  INGOT_TRY(size_t kind, keywordAttr(context, "kind", kScanKinds));
  const std::string &name = context.step.kernel;
  const DType dtype = context.operands[0].desc.dtype;
  if (kind == 0)
    return dispatchType < RealTypes |
           ComplexTypes > (name, dtype, [&]<typename T>() { return makeKernel<Scan<T, Product>>(lines); });
  return dispatchType < FloatTypes |
         ComplexTypes > (name, dtype, [&]<typename T>() { return makeKernel<Scan<T, LogSumExp>>(lines); });
}

Result<std::vector<ResultDesc>> inferScan(const StepContext &context) {
  INGOT_CHECK(checkCounts(context, 1, 1));
  INGOT_TRY(auto kernel, makeScan(context)); // refuses types that do not fit
  (void)kernel;
  const TensorDesc &x = context.operands[0].desc;
  if (context.resultTypes[0].dtype != x.dtype)
    return badStep(context, "the result has the wrong element type");
  return denseResult(context, TensorDesc::contiguous(x.dtype, x.sizes));
}

Result<std::unique_ptr<BoundKernel>> bindScan(const StepContext &context, std::span<const TensorDesc>) {
  return makeScan(context);
}

//===------------------------------------------------------------------------------------------===//
// cum_extreme
//===------------------------------------------------------------------------------------------===//

template <typename T> class CumExtreme final : public BoundKernel {
public:
  CumExtreme(Lines lines, bool isMinimum) : lines(std::move(lines)), isMinimum(isMinimum) {}

  Status run(const KernelArgs &args) const override {
    lines.run([&](int64_t line) {
      const int64_t start = lines.start(line, lines.length);
      walk(static_cast<const T *>(args.operands[0]) + start, static_cast<T *>(args.results[0]) + start,
           static_cast<int64_t *>(args.results[1]) + start);
    });
    return {};
  }

private:
  void walk(const T *x, T *values, int64_t *positions) const {
    using C = scalar::Compute<T>;
    int64_t position = 0;
    for (int64_t i = 0; i < lines.length; ++i) {
      const C best = scalar::cast<C>(x[position * lines.inner]), value = scalar::cast<C>(x[i * lines.inner]);
      // Of equal ones the last counts; nothing but another NaN comes after a NaN.
      if (value != value || (best == best && (isMinimum ? value <= best : value >= best)))
        position = i;
      values[i * lines.inner] = x[position * lines.inner];
      positions[i * lines.inner] = position;
    }
  }

  Lines lines;
  bool isMinimum;
};

Result<std::vector<ResultDesc>> inferCumExtreme(const StepContext &context) {
  INGOT_CHECK(checkCounts(context, 1, 1, 2));
  INGOT_TRY(Lines lines, linesOf(context));
  INGOT_TRY(bool isMinimum, requiredAttr<bool>(context, "minimum"));
  (void)isMinimum;
  return valuesAndPositions(context, lines.sizes);
}

Result<std::unique_ptr<BoundKernel>> bindCumExtreme(const StepContext &context, std::span<const TensorDesc>) {
  INGOT_TRY(Lines lines, linesOf(context));
  INGOT_TRY(bool isMinimum, requiredAttr<bool>(context, "minimum"));
  return dispatchType<RealTypes>(context.step.kernel, context.operands[0].desc.dtype,
                                 [&]<typename T>() { return makeKernel<CumExtreme<T>>(lines, isMinimum); });
}

} // namespace

extern const KernelDef kernelDef_cum_reduce = {"cum_reduce", inferScan, bindScan, false};
extern const KernelDef kernelDef_cum_extreme = {"cum_extreme", inferCumExtreme, bindCumExtreme, false};

} // namespace ingot
