// From a tensor's element type to a C++ type.
#pragma once

#include "base/DType.h"
#include "base/Result.h"
#include "runtime/kernels/elementwise/Float16.h"

#include <complex>
#include <string>

namespace ingot {

/// Sets of element types, to be combined.
enum TypeSet : unsigned {
  BoolType = 1,
  IntTypes = 2,
  FloatTypes = 4, ///< 16 to 64 bits
  Float8Types = 8,
  ComplexTypes = 16,
  RealTypes = BoolType | IntTypes | FloatTypes,
  EveryType = RealTypes | Float8Types | ComplexTypes,
};

// Rows: enumerator, C++ type, set.
#define INGOT_CPP_TYPES(X)                                                                                             \
  X(Bool, bool, BoolType)                                                                                              \
  X(UInt8, uint8_t, IntTypes)                                                                                          \
  X(Int8, int8_t, IntTypes)                                                                                            \
  X(Int16, int16_t, IntTypes)                                                                                          \
  X(Int32, int32_t, IntTypes)                                                                                          \
  X(Int64, int64_t, IntTypes)                                                                                          \
  X(UInt16, uint16_t, IntTypes)                                                                                        \
  X(UInt32, uint32_t, IntTypes)                                                                                        \
  X(UInt64, uint64_t, IntTypes)                                                                                        \
  X(Float16, Half, FloatTypes)                                                                                         \
  X(BFloat16, BFloat16, FloatTypes)                                                                                    \
  X(Float32, float, FloatTypes)                                                                                        \
  X(Float64, double, FloatTypes)                                                                                       \
  X(Float8E4M3FN, Float8E4M3FN, Float8Types)                                                                           \
  X(Float8E5M2, Float8E5M2, Float8Types)                                                                               \
  X(Complex64, std::complex<float>, ComplexTypes)                                                                      \
  X(Complex128, std::complex<double>, ComplexTypes)

/// f.template operator()<T>() for the C++ type of `dtype`, or an error if it is not in `types`. The result of
/// f must be made from an Error, too.
template <unsigned types, typename F> auto dispatchType(const std::string &kernel, DType dtype, F &&f) {
  using AnyType = std::conditional_t<(types & FloatTypes) != 0, float, int32_t>;
  using R = decltype(f.template operator()<AnyType>());
  switch (dtype) {
#define X(name, Type, set)                                                                                             \
  case DType::name:                                                                                                    \
    if constexpr ((types & set) != 0)                                                                                  \
      return f.template operator()<Type>();                                                                            \
    break;
    INGOT_CPP_TYPES(X)
#undef X
  default:
    break;
  }
  return R(unsupportedError(kernel + ": " + std::string(dtypeName(dtype)) + " is not supported"));
}

} // namespace ingot
