// random_poisson, random_binomial, random_multinomial: distributions that tensors describe.
#include "runtime/Random.h"
#include "runtime/kernels/elementwise/Checks.h"
#include "runtime/kernels/elementwise/Dispatch.h"
#include "runtime/kernels/elementwise/Scalar.h"
#include "runtime/threads/Pool.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

namespace ingot {
namespace {

constexpr int64_t kGrain = 256;
/// No draw needs more tries; the number only bounds the loops.
constexpr int kMaxTries = 100000;

template <typename T> double toDouble(T x) { return static_cast<double>(scalar::cast<scalar::Compute<T>>(x)); }
template <typename T> T fromDouble(double x) { return scalar::cast<T>(static_cast<scalar::Compute<T>>(x)); }

/// log(k!). Not std::lgamma, which writes to a global variable.
double logFactorial(double k) {
  int sign = 0;
  return lgamma_r(k + 1, &sign);
}

//===------------------------------------------------------------------------------------------===//
// Poisson
//===------------------------------------------------------------------------------------------===//

/// Transformed rejection (Hörmann, 1993, PTRS), for means of at least 10.
double poissonByRejection(double mean, RandomBits &bits) {
  const double logMean = std::log(mean);
  const double b = 0.931 + 2.53 * std::sqrt(mean), a = -0.059 + 0.02483 * b;
  const double inverseAlpha = 1.1239 + 1.1328 / (b - 3.4), bound = 0.9277 - 3.6224 / (b - 2);
  for (int i = 0; i < kMaxTries; ++i) {
    const double u = bits.uniform() - 0.5, v = bits.positiveUniform();
    const double rest = 0.5 - std::abs(u);
    const double k = std::floor((2 * a / rest + b) * u + mean + 0.43);
    if (rest >= 0.07 && v <= bound)
      return k;
    if (k < 0 || (rest < 0.013 && v > rest))
      continue;
    if (std::log(v) + std::log(inverseAlpha) - std::log(a / (rest * rest) + b) <= k * logMean - mean - logFactorial(k))
      return k;
  }
  return std::floor(mean);
}

double poisson(double mean, RandomBits &bits) {
  if (!(mean > 0))
    return mean == 0 ? 0 : std::numeric_limits<double>::quiet_NaN();
  if (mean >= 10)
    return poissonByRejection(mean, bits);
  const double limit = std::exp(-mean);
  double product = bits.uniform();
  int count = 0;
  for (; product > limit; ++count)
    product *= bits.uniform();
  return count;
}

//===------------------------------------------------------------------------------------------===//
// Binomial
//===------------------------------------------------------------------------------------------===//

/// Skips from success to success; for few expected successes.
double binomialBySkips(double count, double p, RandomBits &bits) {
  const double logFail = std::log1p(-p);
  double position = 0;
  for (double successes = 0;; ++successes) {
    position += std::ceil(std::log(bits.positiveUniform()) / logFail);
    if (position > count || !(successes < count))
      return std::min(successes, count);
  }
}

/// Transformed rejection (Hörmann, 1993, BTRS), where at least 10 successes are expected.
double binomialByRejection(double count, double p, RandomBits &bits) {
  const double deviation = std::sqrt(count * p * (1 - p));
  const double b = 1.15 + 2.53 * deviation, a = -0.0873 + 0.0248 * b + 0.01 * p, c = count * p + 0.5;
  const double bound = 0.92 - 4.2 / b, alpha = (2.83 + 5.1 / b) * deviation;
  const double mode = std::floor((count + 1) * p), odds = std::log(p / (1 - p));
  const double peak = logFactorial(mode) + logFactorial(count - mode);
  for (int i = 0; i < kMaxTries; ++i) {
    const double u = bits.uniform() - 0.5, v = bits.positiveUniform();
    const double rest = 0.5 - std::abs(u);
    const double k = std::floor((2 * a / rest + b) * u + c);
    if (k < 0 || k > count)
      continue;
    if (rest >= 0.07 && v <= bound)
      return k;
    if (std::log(v * alpha / (a / (rest * rest) + b)) <=
        peak - logFactorial(k) - logFactorial(count - k) + (k - mode) * odds)
      return k;
  }
  return mode;
}

double binomial(double count, double p, RandomBits &bits) {
  if (std::isnan(count) || std::isnan(p))
    return std::numeric_limits<double>::quiet_NaN();
  if (!(count > 0) || !(p > 0))
    return 0;
  if (p >= 1)
    return count;
  const bool isFlipped = p > 0.5;
  const double smaller = isFlipped ? 1 - p : p;
  const double drawn =
      count * smaller >= 10 ? binomialByRejection(count, smaller, bits) : binomialBySkips(count, smaller, bits);
  return isFlipped ? count - drawn : drawn;
}

//===------------------------------------------------------------------------------------------===//
// Kernels of one number an element
//===------------------------------------------------------------------------------------------===//

template <typename T, bool isBinomial> class DrawKernel final : public BoundKernel {
public:
  explicit DrawKernel(int64_t count) : count(count) {}

  Status run(const KernelArgs &args) const override {
    const auto *first = static_cast<const T *>(args.operands[0]);
    const auto *second = isBinomial ? static_cast<const T *>(args.operands[1]) : first;
    auto *result = static_cast<T *>(args.results[0]);
    const RandomCall call = RandomCall::next();
    parallelFor(0, count, kGrain, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) {
        RandomBits bits(call, static_cast<uint64_t>(i));
        const double a = toDouble(first[i]);
        result[i] = fromDouble<T>(isBinomial ? binomial(a, toDouble(second[i]), bits) : poisson(a, bits));
      }
    });
    return {};
  }

private:
  int64_t count;
};

template <bool isBinomial> Result<std::vector<ResultDesc>> inferDraw(const StepContext &context) {
  INGOT_CHECK(checkCounts(context, isBinomial ? 2 : 1, isBinomial ? 2 : 1));
  INGOT_TRY(const TensorDesc *x, tensorAt(context, 0));
  if (isBinomial) {
    INGOT_TRY(const TensorDesc *p, tensorAt(context, 1));
    if (p->dtype != x->dtype || p->sizes != x->sizes)
      return badShapes(context, "the operands must have one type and one shape");
  }
  if (context.resultTypes[0].dtype != x->dtype)
    return badStep(context, "the result has another type than the operands");
  return denseResult(context, TensorDesc::contiguous(x->dtype, x->sizes));
}

template <bool isBinomial>
Result<std::unique_ptr<BoundKernel>> bindDraw(const StepContext &context, std::span<const TensorDesc> results) {
  const int64_t count = results[0].numel();
  auto make = [&]<typename T>() { return makeKernel<DrawKernel<T, isBinomial>>(count); };
  return dispatchType<FloatTypes>(context.step.kernel, results[0].dtype, make);
}

//===------------------------------------------------------------------------------------------===//
// random_multinomial
//===------------------------------------------------------------------------------------------===//

struct Rows {
  int64_t count = 1, width = 0, samples = 0;
  bool isReplacing = false;
  std::vector<int64_t> sizes;
};

Result<Rows> readRows(const StepContext &context) {
  INGOT_CHECK(checkCounts(context, 2, 2));
  INGOT_TRY(const TensorDesc *weights, tensorAt(context, 0));
  const int64_t *samples = context.operands[1].scalar ? std::get_if<int64_t>(&*context.operands[1].scalar) : nullptr;
  if (!samples || weights->sizes.empty() || weights->sizes.size() > 2)
    return badStep(context, "needs a vector or a matrix, and a number of samples");
  Rows rows;
  INGOT_TRY(rows.isReplacing, requiredAttr<bool>(context, "replacement"));
  rows.width = weights->sizes.back();
  rows.count = weights->sizes.size() == 2 ? weights->sizes[0] : 1;
  rows.samples = *samples;
  if (*samples < 1 || *samples > kMaxExtent || (!rows.isReplacing && *samples > rows.width))
    return badShapes(context,
                     "cannot sample n_sample > prob_dist.size(-1) samples without replacement, nor fewer than 1");
  rows.sizes = weights->sizes;
  rows.sizes.back() = *samples;
  return rows;
}

template <typename T> class Multinomial final : public BoundKernel {
public:
  explicit Multinomial(Rows rows) : rows(std::move(rows)) {}

  Status run(const KernelArgs &args) const override {
    const auto *weights = static_cast<const T *>(args.operands[0]);
    auto *result = static_cast<int64_t *>(args.results[0]);
    const RandomCall call = RandomCall::next();
    for (int64_t i = 0; i < rows.count; ++i) {
      std::vector<double> row;
      for (int64_t j = 0; j < rows.width; ++j)
        row.push_back(toDouble(weights[i * rows.width + j]));
      INGOT_CHECK(check(row));
      RandomBits bits(call, static_cast<uint64_t>(i));
      rows.isReplacing ? drawAgain(row, bits, result + i * rows.samples)
                       : drawOnce(row, bits, result + i * rows.samples);
    }
    return {};
  }

private:
  static Status check(const std::vector<double> &row) {
    double sum = 0;
    for (double weight : row) {
      if (!(weight >= 0) || std::isinf(weight))
        return usageError("probability tensor contains either `inf`, `nan` or element < 0");
      sum += weight;
    }
    if (!(sum > 0))
      return usageError("invalid multinomial distribution (sum of probabilities <= 0)");
    return {};
  }

  void drawAgain(std::vector<double> &row, RandomBits &bits, int64_t *result) const {
    std::partial_sum(row.begin(), row.end(), row.begin());
    for (int64_t j = 0; j < rows.samples; ++j) {
      auto found = std::ranges::upper_bound(row, bits.uniform() * row.back());
      result[j] = std::min<int64_t>(found - row.begin(), rows.width - 1);
    }
  }

  /// The first of exponentially distributed times, whose rates are the weights.
  void drawOnce(std::vector<double> &row, RandomBits &bits, int64_t *result) const {
    std::vector<int64_t> order(row.size());
    std::iota(order.begin(), order.end(), 0);
    for (double &weight : row)
      weight /= -std::log(bits.positiveUniform());
    std::partial_sort(order.begin(), order.begin() + rows.samples, order.end(), [&](int64_t a, int64_t b) {
      const double left = row[static_cast<size_t>(a)], right = row[static_cast<size_t>(b)];
      return left != right ? left > right : a < b;
    });
    std::copy_n(order.begin(), rows.samples, result);
  }

  Rows rows;
};

Result<std::vector<ResultDesc>> inferMultinomial(const StepContext &context) {
  INGOT_TRY(Rows rows, readRows(context));
  if (context.resultTypes[0].dtype != DType::Int64)
    return badStep(context, "the result is not int64");
  return denseResult(context, TensorDesc::contiguous(DType::Int64, rows.sizes));
}

Result<std::unique_ptr<BoundKernel>> bindMultinomial(const StepContext &context, std::span<const TensorDesc>) {
  INGOT_TRY(Rows rows, readRows(context));
  INGOT_TRY(const TensorDesc *weights, tensorAt(context, 0));
  auto make = [&]<typename T>() { return makeKernel<Multinomial<T>>(rows); };
  return dispatchType<FloatTypes>(context.step.kernel, weights->dtype, make);
}

} // namespace

extern const KernelDef kernelDef_random_poisson = {"random_poisson", inferDraw<false>, bindDraw<false>, false};
extern const KernelDef kernelDef_random_binomial = {"random_binomial", inferDraw<true>, bindDraw<true>, false};
extern const KernelDef kernelDef_random_multinomial = {"random_multinomial", inferMultinomial, bindMultinomial, false};

} // namespace ingot
