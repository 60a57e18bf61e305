// Element types of tensors: one table that every layer reads.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace ingot {

// Rows: enumerator, torch name, bytes, code in .pt2 files, safetensors name, DLPack type code.
#define INGOT_DTYPES(X)                                                                                                \
  X(Bool, "bool", 1, 12, "BOOL", 6)                                                                                    \
  X(UInt8, "uint8", 1, 1, "U8", 1)                                                                                     \
  X(Int8, "int8", 1, 2, "I8", 0)                                                                                       \
  X(Int16, "int16", 2, 3, "I16", 0)                                                                                    \
  X(Int32, "int32", 4, 4, "I32", 0)                                                                                    \
  X(Int64, "int64", 8, 5, "I64", 0)                                                                                    \
  X(UInt16, "uint16", 2, 28, "U16", 1)                                                                                 \
  X(UInt32, "uint32", 4, 34, "U32", 1)                                                                                 \
  X(UInt64, "uint64", 8, 35, "U64", 1)                                                                                 \
  X(Float16, "float16", 2, 6, "F16", 2)                                                                                \
  X(BFloat16, "bfloat16", 2, 13, "BF16", 4)                                                                            \
  X(Float32, "float32", 4, 7, "F32", 2)                                                                                \
  X(Float64, "float64", 8, 8, "F64", 2)                                                                                \
  X(Float8E4M3FN, "float8_e4m3fn", 1, 29, "F8_E4M3", 10)                                                               \
  X(Float8E5M2, "float8_e5m2", 1, 30, "F8_E5M2", 12)                                                                   \
  X(Float8E4M3FNUZ, "float8_e4m3fnuz", 1, 31, "F8_E4M3FNUZ", 11)                                                       \
  X(Float8E5M2FNUZ, "float8_e5m2fnuz", 1, 32, "F8_E5M2FNUZ", 13)                                                       \
  X(Float8E8M0FNU, "float8_e8m0fnu", 1, 33, "F8_E8M0", 14)                                                             \
  X(Complex32, "complex32", 4, 9, "C32", 5)                                                                            \
  X(Complex64, "complex64", 8, 10, "C64", 5)                                                                           \
  X(Complex128, "complex128", 16, 11, "C128", 5)

enum class DType : uint8_t {
#define X(name, torchName, bytes, code, safetensorsName, dlpackCode) name,
  INGOT_DTYPES(X)
#undef X
};

constexpr size_t byteSize(DType dtype) {
  switch (dtype) {
#define X(name, torchName, bytes, code, safetensorsName, dlpackCode)                                                   \
  case DType::name:                                                                                                    \
    return bytes;
    INGOT_DTYPES(X)
#undef X
  }
  return 0;
}

/// PyTorch's name without the `torch.` prefix.
constexpr std::string_view dtypeName(DType dtype) {
  switch (dtype) {
#define X(name, torchName, bytes, code, safetensorsName, dlpackCode)                                                   \
  case DType::name:                                                                                                    \
    return torchName;
    INGOT_DTYPES(X)
#undef X
  }
  return "invalid";
}

constexpr std::string_view safetensorsName(DType dtype) {
  switch (dtype) {
#define X(name, torchName, bytes, code, safetensorsName, dlpackCode)                                                   \
  case DType::name:                                                                                                    \
    return safetensorsName;
    INGOT_DTYPES(X)
#undef X
  }
  return "invalid";
}

constexpr uint8_t dlpackCode(DType dtype) {
  switch (dtype) {
#define X(name, torchName, bytes, code, safetensorsName, dlpackCode)                                                   \
  case DType::name:                                                                                                    \
    return dlpackCode;
    INGOT_DTYPES(X)
#undef X
  }
  return 0xff;
}

constexpr std::optional<DType> dtypeFromName(std::string_view text) {
#define X(name, torchName, bytes, code, safetensorsName, dlpackCode)                                                   \
  if (text == torchName)                                                                                               \
    return DType::name;
  INGOT_DTYPES(X)
#undef X
  return std::nullopt;
}

constexpr std::optional<DType> dtypeFromSafetensors(std::string_view text) {
#define X(name, torchName, bytes, code, safetensorsName, dlpackCode)                                                   \
  if (text == safetensorsName)                                                                                         \
    return DType::name;
  INGOT_DTYPES(X)
#undef X
  return std::nullopt;
}

constexpr std::optional<DType> dtypeFromPt2(int64_t code) {
  switch (code) {
#define X(name, torchName, bytes, pt2Code, safetensorsName, dlpackCode)                                                \
  case pt2Code:                                                                                                        \
    return DType::name;
    INGOT_DTYPES(X)
#undef X
  default:
    return std::nullopt;
  }
}

constexpr std::optional<DType> dtypeFromDlpack(uint8_t code, uint8_t bits) {
#define X(name, torchName, bytes, pt2Code, safetensorsName, dlpackCode)                                                \
  if (code == dlpackCode && bits == bytes * 8)                                                                         \
    return DType::name;
  INGOT_DTYPES(X)
#undef X
  return std::nullopt;
}

} // namespace ingot
