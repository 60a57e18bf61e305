// fft and overlap_add. Everything is computed in double precision and rounded once.
#include "runtime/kernels/elementwise/Checks.h"
#include "runtime/kernels/elementwise/Dispatch.h"
#include "runtime/kernels/elementwise/Scalar.h"
#include "runtime/kernels/spectral/Fft.h"
#include "runtime/threads/Pool.h"

#include <algorithm>

namespace ingot {
namespace spectral {
namespace {

bool isComplexType(DType dtype) { return dtype == DType::Complex64 || dtype == DType::Complex128; }

struct Problem {
  DType from, to;
  int64_t outer = 1, inner = 1; ///< lines before and behind the axis
  int64_t inCount = 0, outCount = 0, length = 0;
  bool isForward = true;
  double scale = 1;
  std::vector<int64_t> sizes; ///< of the result

  bool isFromReal() const { return !isComplexType(from); }
  bool isToReal() const { return !isComplexType(to); }
};

Result<Problem> readProblem(const StepContext &context) {
  INGOT_CHECK(checkCounts(context, 2, 2));
  INGOT_TRY(const TensorDesc *x, tensorAt(context, 0));
  INGOT_TRY(int64_t axis, axisAttr(context, "axis", x->sizes.size()));
  const auto place = static_cast<size_t>(axis);
  const int64_t *length = context.operands[1].scalar ? std::get_if<int64_t>(&*context.operands[1].scalar) : nullptr;
  if (!length)
    return badStep(context, "the length is no number");
  if (*length < 1 || *length > kMaxTable)
    return badShapes(context, "invalid number of data points (" + std::to_string(*length) + ") specified");
  Problem problem;
  problem.from = x->dtype;
  problem.to = context.resultTypes[0].dtype;
  if (problem.isFromReal() && problem.isToReal())
    return badType(context, problem.from);
  for (size_t i = 0; i < x->sizes.size(); ++i)
    (i < place ? problem.outer : problem.inner) *= i == place ? 1 : x->sizes[i];
  problem.length = *length;
  problem.inCount = std::min(x->sizes[place], problem.isToReal() ? *length / 2 + 1 : *length);
  problem.outCount = problem.isFromReal() ? *length / 2 + 1 : *length;
  problem.sizes = x->sizes;
  problem.sizes[place] = problem.outCount;
  INGOT_TRY(problem.isForward, requiredAttr<bool>(context, "forward"));
  INGOT_TRY(problem.scale, requiredAttr<double>(context, "scale"));
  return problem;
}

template <typename T> Complex read(T x) {
  if constexpr (scalar::isComplex<T>)
    return {x.real(), x.imag()};
  else
    return static_cast<double>(scalar::cast<scalar::Compute<T>>(x));
}

template <typename T> T write(Complex x) {
  if constexpr (scalar::isComplex<T>)
    return {static_cast<typename T::value_type>(x.real()), static_cast<typename T::value_type>(x.imag())};
  else
    return scalar::cast<T>(static_cast<scalar::Compute<T>>(x.real()));
}

template <typename From, typename To> class FftKernel final : public BoundKernel {
public:
  FftKernel(Problem given, int64_t stride)
      : problem(std::move(given)), inStride(stride), transform(problem.length, problem.isForward) {}

  Status run(const KernelArgs &args) const override {
    const auto *x = static_cast<const From *>(args.operands[0]);
    auto *result = static_cast<To *>(args.results[0]);
    const int64_t grain = std::max<int64_t>(1, 2048 / problem.length);
    parallelFor(0, problem.outer * problem.inner, grain, [&](int64_t begin, int64_t end) {
      std::vector<Complex> line(static_cast<size_t>(problem.length)), work;
      for (int64_t i = begin; i < end; ++i) {
        const int64_t before = i / problem.inner, behind = i % problem.inner;
        load(x + before * inStride * problem.inner + behind, line);
        transform.run(line.data(), work);
        To *to = result + before * problem.outCount * problem.inner + behind;
        for (int64_t k = 0; k < problem.outCount; ++k)
          to[k * problem.inner] = write<To>(line[static_cast<size_t>(k)] * problem.scale);
      }
    });
    return {};
  }

private:
  void load(const From *x, std::vector<Complex> &line) const {
    std::fill(line.begin(), line.end(), Complex(0));
    for (int64_t k = 0; k < problem.inCount; ++k)
      line[static_cast<size_t>(k)] = read(x[k * problem.inner]);
    if (!problem.isToReal())
      return;
    // A spectrum of real numbers: the rest is conjugate, and the first and the middle one are real.
    line[0] = line[0].real();
    if (problem.length % 2 == 0)
      line[static_cast<size_t>(problem.length / 2)] = line[static_cast<size_t>(problem.length / 2)].real();
    for (int64_t k = 1; k <= (problem.length - 1) / 2; ++k)
      line[static_cast<size_t>(problem.length - k)] = std::conj(line[static_cast<size_t>(k)]);
  }

  Problem problem;
  int64_t inStride; ///< the operand's size along the axis
  Transform transform;
};

Result<std::vector<ResultDesc>> inferFft(const StepContext &context) {
  INGOT_TRY(Problem problem, readProblem(context));
  return denseResult(context, TensorDesc::contiguous(problem.to, problem.sizes));
}

Result<std::unique_ptr<BoundKernel>> bindFft(const StepContext &context, std::span<const TensorDesc>) {
  INGOT_TRY(Problem problem, readProblem(context));
  INGOT_TRY(const TensorDesc *x, tensorAt(context, 0));
  INGOT_TRY(int64_t axis, axisAttr(context, "axis", x->sizes.size()));
  const int64_t stride = x->sizes[static_cast<size_t>(axis)];
  const std::string &name = context.step.kernel;
  using Made = Result<std::unique_ptr<BoundKernel>>;
  if (problem.isFromReal())
    return dispatchType<FloatTypes>(name, problem.from, [&]<typename From>() -> Made {
      if (problem.to == DType::Complex64)
        return makeKernel<FftKernel<From, std::complex<float>>>(problem, stride);
      return makeKernel<FftKernel<From, Complex>>(problem, stride);
    });
  auto make = [&]<typename To>() -> Made {
    if (problem.from == DType::Complex64)
      return makeKernel<FftKernel<std::complex<float>, To>>(problem, stride);
    return makeKernel<FftKernel<Complex, To>>(problem, stride);
  };
  return dispatchType < FloatTypes | ComplexTypes > (name, problem.to, make);
}

//===------------------------------------------------------------------------------------------===//
// overlap_add
//===------------------------------------------------------------------------------------------===//

struct Frames {
  int64_t batch = 1, count = 0, width = 0, hop = 1, length = 0;
  std::vector<int64_t> sizes;
};

Result<Frames> readFrames(const StepContext &context) {
  INGOT_CHECK(checkCounts(context, 1, 1));
  INGOT_TRY(const TensorDesc *x, tensorAt(context, 0));
  INGOT_TRY(int64_t hop, requiredAttr<int64_t>(context, "hop"));
  const size_t rank = x->sizes.size();
  if (rank < 2 || hop < 1 || hop > kMaxExtent || x->sizes[rank - 2] > kMaxExtent || x->sizes[rank - 1] > kMaxExtent)
    return badShapes(context, "needs frames in two dimensions, and a hop of at least 1");
  Frames frames;
  frames.sizes.assign(x->sizes.begin(), x->sizes.end() - 1);
  for (size_t i = 0; i + 2 < rank; ++i)
    frames.batch *= x->sizes[i];
  frames.count = x->sizes[rank - 2];
  frames.width = x->sizes[rank - 1];
  frames.hop = hop;
  frames.length = frames.count > 0 ? (frames.count - 1) * hop + frames.width : 0;
  frames.sizes.back() = frames.length;
  return frames;
}

template <typename T> class OverlapAdd final : public BoundKernel {
public:
  explicit OverlapAdd(Frames frames) : frames(std::move(frames)) {}

  Status run(const KernelArgs &args) const override {
    const auto *x = static_cast<const T *>(args.operands[0]);
    auto *result = static_cast<T *>(args.results[0]);
    parallelFor(0, frames.batch, 1, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i)
        addOne(x + i * frames.count * frames.width, result + i * frames.length);
    });
    return {};
  }

private:
  void addOne(const T *x, T *result) const {
    std::fill(result, result + frames.length, T(0));
    for (int64_t i = 0; i < frames.count; ++i)
      for (int64_t j = 0; j < frames.width; ++j)
        result[i * frames.hop + j] += x[i * frames.width + j];
  }

  Frames frames;
};

Result<std::vector<ResultDesc>> inferOverlapAdd(const StepContext &context) {
  INGOT_TRY(Frames frames, readFrames(context));
  INGOT_TRY(const TensorDesc *x, tensorAt(context, 0));
  return denseResult(context, TensorDesc::contiguous(x->dtype, frames.sizes));
}

Result<std::unique_ptr<BoundKernel>> bindOverlapAdd(const StepContext &context, std::span<const TensorDesc> results) {
  INGOT_TRY(Frames frames, readFrames(context));
  switch (results[0].dtype) {
  case DType::Float32:
    return makeKernel<OverlapAdd<float>>(std::move(frames));
  case DType::Float64:
    return makeKernel<OverlapAdd<double>>(std::move(frames));
  case DType::Complex64:
    return makeKernel<OverlapAdd<std::complex<float>>>(std::move(frames));
  case DType::Complex128:
    return makeKernel<OverlapAdd<Complex>>(std::move(frames));
  default:
    return badType(context, results[0].dtype);
  }
}

} // namespace
} // namespace spectral

extern const KernelDef kernelDef_fft = {"fft", spectral::inferFft, spectral::bindFft, false};
extern const KernelDef kernelDef_overlap_add = {"overlap_add", spectral::inferOverlapAdd, spectral::bindOverlapAdd,
                                                false};

} // namespace ingot
