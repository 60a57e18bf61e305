// Little-endian loads from untrusted bytes, and arithmetic that reports overflow.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <span>
#include <string_view>

namespace ingot {

// Every format we read is little endian and used in place.
static_assert(std::endian::native == std::endian::little, "big-endian hosts are not supported");

/// The value at `offset`. The caller has checked the bounds.
template <typename T> T loadLittle(std::span<const std::byte> bytes, size_t offset) {
  T value;
  std::memcpy(&value, bytes.data() + offset, sizeof(T));
  return value;
}

/// Whether [offset, offset + length) lies inside `total` bytes, without wrapping around.
constexpr bool fitsIn(uint64_t offset, uint64_t length, uint64_t total) {
  return offset <= total && length <= total - offset;
}

inline std::string_view asText(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char *>(bytes.data()), bytes.size()};
}

inline std::span<const std::byte> asBytes(std::string_view text) {
  return std::as_bytes(std::span(text.data(), text.size()));
}

template <typename T> std::optional<T> checkedAdd(T a, T b) {
  T sum;
  if (__builtin_add_overflow(a, b, &sum))
    return std::nullopt;
  return sum;
}

template <typename T> std::optional<T> checkedMul(T a, T b) {
  T product;
  if (__builtin_mul_overflow(a, b, &product))
    return std::nullopt;
  return product;
}

/// The number of elements of a shape; nullopt if a size is negative or the product overflows.
/// Zero sizes do not hide an overflow of the others: such a shape could not be strided.
inline std::optional<int64_t> checkedElementCount(std::span<const int64_t> sizes) {
  int64_t product = 1;
  bool isEmpty = false;
  for (int64_t size : sizes) {
    if (size < 0)
      return std::nullopt;
    if (size == 0) {
      isEmpty = true;
      continue;
    }
    if (__builtin_mul_overflow(product, size, &product))
      return std::nullopt;
  }
  return isEmpty ? 0 : product;
}

} // namespace ingot
