// How an element that is written meets the one that is there.
#pragma once

#include "runtime/kernels/elementwise/Dispatch.h"
#include "runtime/kernels/elementwise/Scalar.h"
#include "runtime/kernels/index/Index.h"

#include <array>
#include <limits>

namespace ingot {

enum class Combine : uint8_t { None, Add, Prod, Mean, Max, Min };

/// The attributes `reduce` and `include_self`.
struct CombineAttrs {
  Combine kind = Combine::None;
  bool includesSelf = true;
};
Result<CombineAttrs> combineAttrs(const StepContext &context);

/// float16 and bfloat16 are rounded after every step.
template <typename T, Combine kind> T combine(T there, T written) {
  using C = scalar::Compute<T>;
  if constexpr (kind == Combine::None) {
    return written;
  } else {
    const C a = scalar::cast<C>(there), b = scalar::cast<C>(written);
    if constexpr (kind == Combine::Prod)
      return scalar::cast<T>(scalar::mul(a, b));
    else if constexpr (kind == Combine::Max)
      return scalar::cast<T>(scalar::maximum(a, b));
    else if constexpr (kind == Combine::Min)
      return scalar::cast<T>(scalar::minimum(a, b));
    else
      return scalar::cast<T>(scalar::add(a, b));
  }
}

/// Combining it with an element gives that element.
template <typename T, Combine kind> T neutral() {
  using C = scalar::Compute<T>;
  constexpr bool isMax = kind == Combine::Max;
  if constexpr (kind == Combine::Prod)
    return scalar::cast<T>(C(1));
  else if constexpr (!isMax && kind != Combine::Min)
    return scalar::cast<T>(C(0));
  else if constexpr (scalar::Float<C>)
    return scalar::cast<T>(isMax ? -std::numeric_limits<C>::infinity() : std::numeric_limits<C>::infinity());
  else
    return isMax ? std::numeric_limits<T>::lowest() : std::numeric_limits<T>::max();
}

/// A sum of `count` elements becomes their mean; that of integers is rounded down.
template <typename T> T meanOf(T sum, int64_t count) {
  using C = scalar::Compute<T>;
  if constexpr (scalar::Integer<C>)
    return scalar::div_floor(sum, static_cast<T>(count));
  else
    return scalar::cast<T>(scalar::cast<C>(sum) / scalar::cast<C>(static_cast<double>(count)));
}

/// f.template operator()<T, kind>(), for any type where elements are only moved, else for numbers; complex ones have no
/// order.
template <typename F>
Result<std::unique_ptr<BoundKernel>> dispatchCombine(const std::string &kernel, DType dtype, Combine kind, F &&f) {
  auto with = [&]<unsigned types, Combine known>() {
    return dispatchType<types>(kernel, dtype, [&]<typename T>() { return f.template operator()<T, known>(); });
  };
  constexpr unsigned numbers = RealTypes | ComplexTypes;
  switch (kind) {
  case Combine::None:
    return with.template operator()<EveryType, Combine::None>();
  case Combine::Add:
    return with.template operator()<numbers, Combine::Add>();
  case Combine::Prod:
    return with.template operator()<numbers, Combine::Prod>();
  case Combine::Mean:
    return with.template operator()<numbers, Combine::Mean>();
  case Combine::Max:
    return with.template operator()<RealTypes, Combine::Max>();
  case Combine::Min:
    return with.template operator()<RealTypes, Combine::Min>();
  }
  return unsupportedError(kernel + ": unknown reduction");
}

/// Combines runs of `length` elements of a source with runs of a result, given pairs of positions.
///   positionOf(i)  where run i of the source belongs in the result, and where it is
///   counts         memory for one number an element of the result, used by means
template <typename T, Combine kind, typename Position>
void combineAll(T *result, const T *source, int64_t runs, int64_t length, bool includesSelf, Position positionOf,
                int64_t *counts, int64_t resultCount) {
  if constexpr (kind != Combine::None) {
    for (int64_t i = 0; !includesSelf && i < runs; ++i)
      std::fill_n(result + positionOf(i).first, length, neutral<T, kind>());
  }
  if constexpr (kind == Combine::Mean)
    std::fill_n(counts, resultCount, includesSelf ? 1 : 0);
  for (int64_t i = 0; i < runs; ++i) {
    const auto [to, from] = positionOf(i);
    for (int64_t j = 0; j < length; ++j)
      result[to + j] = combine<T, kind>(result[to + j], source[from + j]);
    for (int64_t j = 0; kind == Combine::Mean && j < length; ++j)
      ++counts[to + j];
  }
  if constexpr (kind == Combine::Mean)
    for (int64_t i = 0; i < resultCount; ++i)
      if (counts[i] > 1)
        result[i] = meanOf(result[i], counts[i]);
}

} // namespace ingot
