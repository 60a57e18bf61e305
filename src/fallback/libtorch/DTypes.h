// Element types, both ways. Private to this folder.
#pragma once

#include "base/DType.h"

#include <c10/core/ScalarType.h>

#include <optional>

namespace ingot::fallback {

// Rows: enumerator of DType, enumerator of c10::ScalarType.
#define INGOT_TORCH_DTYPES(X)                                                                                          \
  X(Bool, Bool)                                                                                                        \
  X(UInt8, Byte)                                                                                                       \
  X(Int8, Char)                                                                                                        \
  X(Int16, Short)                                                                                                      \
  X(Int32, Int)                                                                                                        \
  X(Int64, Long)                                                                                                       \
  X(UInt16, UInt16)                                                                                                    \
  X(UInt32, UInt32)                                                                                                    \
  X(UInt64, UInt64)                                                                                                    \
  X(Float16, Half)                                                                                                     \
  X(BFloat16, BFloat16)                                                                                                \
  X(Float32, Float)                                                                                                    \
  X(Float64, Double)                                                                                                   \
  X(Float8E4M3FN, Float8_e4m3fn)                                                                                       \
  X(Float8E5M2, Float8_e5m2)                                                                                           \
  X(Float8E4M3FNUZ, Float8_e4m3fnuz)                                                                                   \
  X(Float8E5M2FNUZ, Float8_e5m2fnuz)                                                                                   \
  X(Float8E8M0FNU, Float8_e8m0fnu)                                                                                     \
  X(Complex32, ComplexHalf)                                                                                            \
  X(Complex64, ComplexFloat)                                                                                           \
  X(Complex128, ComplexDouble)

inline std::optional<c10::ScalarType> torchDType(DType dtype) {
  switch (dtype) {
#define X(ours, theirs)                                                                                                \
  case DType::ours:                                                                                                    \
    return c10::ScalarType::theirs;
    INGOT_TORCH_DTYPES(X)
#undef X
  }
  return std::nullopt;
}

inline std::optional<DType> ourDType(c10::ScalarType dtype) {
  switch (dtype) {
#define X(ours, theirs)                                                                                                \
  case c10::ScalarType::theirs:                                                                                        \
    return DType::ours;
    INGOT_TORCH_DTYPES(X)
#undef X
  default:
    return std::nullopt;
  }
}

} // namespace ingot::fallback
