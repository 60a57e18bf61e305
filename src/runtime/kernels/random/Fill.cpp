// random_uniform, random_normal, random_integer, random_permutation: tensors of given sizes.
#include "runtime/Random.h"
#include "runtime/kernels/elementwise/Checks.h"
#include "runtime/kernels/elementwise/Dispatch.h"
#include "runtime/kernels/elementwise/Scalar.h"
#include "runtime/threads/Pool.h"

#include <numeric>

namespace ingot {
namespace {

constexpr int64_t kGrain = 2048;
constexpr int64_t kDynamicSize = INT64_MIN;

Result<int64_t> scalarAt(const StepContext &context, size_t index) {
  if (index < context.operands.size() && context.operands[index].scalar)
    if (const int64_t *value = std::get_if<int64_t>(&*context.operands[index].scalar))
      return *value;
  return badStep(context, "an operand is no integer");
}

/// `first` operands come before those that give sizes.
Result<TensorDesc> readSizes(const StepContext &context, size_t first) {
  INGOT_TRY(std::vector<int64_t> sizes, requiredAttr<std::vector<int64_t>>(context, "sizes"));
  size_t operand = first;
  for (int64_t &size : sizes) {
    if (size == kDynamicSize) {
      INGOT_TRY(size, scalarAt(context, operand++));
    }
    if (size < 0 || size > kMaxExtent)
      return badShapes(context, "a size is impossible: " + std::to_string(size));
  }
  INGOT_CHECK(checkCounts(context, operand, operand));
  return TensorDesc::contiguous(context.resultTypes[0].dtype, std::move(sizes));
}

template <size_t first> Result<std::vector<ResultDesc>> inferSizes(const StepContext &context) {
  INGOT_CHECK(checkCounts(context, 0, SIZE_MAX));
  INGOT_TRY(TensorDesc desc, readSizes(context, first));
  return denseResult(context, desc);
}

/// Calls draw(bits) for every element.
template <typename T, typename Draw> class Fill final : public BoundKernel {
public:
  Fill(int64_t count, Draw draw) : count(count), draw(std::move(draw)) {}

  Status run(const KernelArgs &args) const override {
    auto *result = static_cast<T *>(args.results[0]);
    const RandomCall call = RandomCall::next();
    parallelFor(0, count, kGrain, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) {
        RandomBits bits(call, static_cast<uint64_t>(i));
        result[i] = draw(bits);
      }
    });
    return {};
  }

private:
  int64_t count;
  Draw draw;
};

template <typename T, typename Draw> Result<std::unique_ptr<BoundKernel>> makeFill(const TensorDesc &desc, Draw draw) {
  return makeKernel<Fill<T, Draw>>(desc.numel(), std::move(draw));
}

/// As many bits as T has digits, so that 1 is never reached by rounding.
template <typename T> T uniformOf(RandomBits &bits) {
  constexpr int digits = std::is_same_v<T, double>     ? 53
                         : std::is_same_v<T, float>    ? 24
                         : std::is_same_v<T, Half>     ? 11
                         : std::is_same_v<T, BFloat16> ? 8
                                                       : 53;
  const double unit = static_cast<double>(bits.bits() >> (64 - digits));
  return scalar::cast<T>(static_cast<scalar::Compute<T>>(std::ldexp(unit, -digits)));
}

Result<std::unique_ptr<BoundKernel>> bindUniform(const StepContext &context, std::span<const TensorDesc> results) {
  auto make = [&]<typename T>() -> Result<std::unique_ptr<BoundKernel>> {
    return makeFill<T>(results[0], [](RandomBits &bits) -> T {
      if constexpr (scalar::isComplex<T>) {
        using Part = typename T::value_type;
        const Part real = uniformOf<Part>(bits);
        return {real, uniformOf<Part>(bits)};
      } else {
        return uniformOf<T>(bits);
      }
    });
  };
  return dispatchType < FloatTypes | ComplexTypes > (context.step.kernel, results[0].dtype, make);
}

Result<std::unique_ptr<BoundKernel>> bindNormal(const StepContext &context, std::span<const TensorDesc> results) {
  auto make = [&]<typename T>() -> Result<std::unique_ptr<BoundKernel>> {
    return makeFill<T>(results[0], [](RandomBits &bits) -> T {
      const std::array<double, 2> pair = bits.normals();
      if constexpr (scalar::isComplex<T>) {
        using Part = typename T::value_type;
        const double half = std::sqrt(0.5); // the variance is that of both parts together
        return {static_cast<Part>(pair[0] * half), static_cast<Part>(pair[1] * half)};
      } else {
        return scalar::cast<T>(static_cast<scalar::Compute<T>>(pair[0]));
      }
    });
  };
  return dispatchType < FloatTypes | ComplexTypes > (context.step.kernel, results[0].dtype, make);
}

Result<std::unique_ptr<BoundKernel>> bindInteger(const StepContext &context, std::span<const TensorDesc> results) {
  INGOT_TRY(int64_t low, scalarAt(context, 0));
  INGOT_TRY(int64_t high, scalarAt(context, 1));
  if (low >= high)
    return badShapes(context, "random_ expects 'from' to be less than 'to', but got from=" + std::to_string(low) +
                                  " >= to=" + std::to_string(high));
  const uint64_t range = static_cast<uint64_t>(high) - static_cast<uint64_t>(low);
  auto make = [&]<typename T>() -> Result<std::unique_ptr<BoundKernel>> {
    return makeFill<T>(results[0], [low, range](RandomBits &bits) -> T {
      return scalar::cast<T>(static_cast<int64_t>(static_cast<uint64_t>(low) + bits.bits() % range));
    });
  };
  return dispatchType<EveryType>(context.step.kernel, results[0].dtype, make);
}

//===------------------------------------------------------------------------------------------===//
// random_permutation
//===------------------------------------------------------------------------------------------===//

template <typename T> class Permutation final : public BoundKernel {
public:
  explicit Permutation(int64_t count) : count(count) {}

  Status run(const KernelArgs &args) const override {
    auto *result = static_cast<T *>(args.results[0]);
    const RandomCall call = RandomCall::next();
    for (int64_t i = 0; i < count; ++i)
      result[i] = scalar::cast<T>(i);
    for (int64_t i = count - 1; i > 0; --i) {
      const uint64_t other = RandomBits(call, static_cast<uint64_t>(i)).bits() % static_cast<uint64_t>(i + 1);
      std::swap(result[i], result[other]);
    }
    return {};
  }

private:
  int64_t count;
};

Result<std::vector<ResultDesc>> inferPermutation(const StepContext &context) {
  INGOT_CHECK(checkCounts(context, 1, 1));
  INGOT_TRY(int64_t count, scalarAt(context, 0));
  if (count < 0 || count > kMaxExtent)
    return badShapes(context, "the number of elements is impossible: " + std::to_string(count));
  return denseResult(context, TensorDesc::contiguous(context.resultTypes[0].dtype, {count}));
}

Result<std::unique_ptr<BoundKernel>> bindPermutation(const StepContext &context, std::span<const TensorDesc> results) {
  const int64_t count = results[0].numel();
  auto make = [&]<typename T>() { return makeKernel<Permutation<T>>(count); };
  return dispatchType < IntTypes | FloatTypes > (context.step.kernel, results[0].dtype, make);
}

} // namespace

extern const KernelDef kernelDef_random_uniform = {"random_uniform", inferSizes<0>, bindUniform, false};
extern const KernelDef kernelDef_random_normal = {"random_normal", inferSizes<0>, bindNormal, false};
extern const KernelDef kernelDef_random_integer = {"random_integer", inferSizes<2>, bindInteger, false};
extern const KernelDef kernelDef_random_permutation = {"random_permutation", inferPermutation, bindPermutation, false};

} // namespace ingot
