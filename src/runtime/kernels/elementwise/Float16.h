// Floating-point types narrower than 32 bits, as bit patterns with conversions from and to float.
// All conversions round to nearest, ties to even. They are branch-free so that loops vectorise.
#pragma once

#include <bit>
#include <cstdint>

namespace ingot {

namespace bits {

inline uint32_t ofFloat(float x) { return std::bit_cast<uint32_t>(x); }
inline float toFloat(uint32_t x) { return std::bit_cast<float>(x); }

/// IEEE binary16. Multiplying by powers of two lets the FPU normalise subnormals and round.
inline float fromHalf(uint16_t h) {
  const uint32_t w = static_cast<uint32_t>(h) << 16;
  const uint32_t sign = w & 0x80000000u;
  const uint32_t magnitude = w + w;
  const float normal = toFloat((magnitude >> 4) + (0xE0u << 23)) * 0x1.0p-112f;
  const float subnormal = toFloat((magnitude >> 17) | (126u << 23)) - 0.5f;
  return toFloat(sign | (magnitude < (1u << 27) ? ofFloat(subnormal) : ofFloat(normal)));
}

inline uint16_t toHalf(float x) {
  const uint32_t w = ofFloat(x);
  const uint32_t magnitude = w + w;
  // Overflow to infinity happens in the first product, rounding in the sum below.
  const float scaled = (toFloat(w & 0x7FFFFFFFu) * 0x1.0p+112f) * 0x1.0p-110f;
  const uint32_t exponent = magnitude & 0xFF000000u;
  const uint32_t bias = exponent < 0x71000000u ? 0x71000000u : exponent;
  const uint32_t rounded = ofFloat(toFloat((bias >> 1) + 0x07800000u) + scaled);
  const uint32_t finite = ((rounded >> 13) & 0x7C00u) + (rounded & 0x0FFFu);
  const uint32_t sign = (w >> 16) & 0x8000u;
  return static_cast<uint16_t>(sign | (magnitude > 0xFF000000u ? 0x7E00u : finite));
}

inline float fromBFloat16(uint16_t h) { return toFloat(static_cast<uint32_t>(h) << 16); }

inline uint16_t toBFloat16(float x) {
  const uint32_t w = ofFloat(x);
  const uint32_t rounded = (w + 0x7FFFu + ((w >> 16) & 1u)) >> 16;
  return static_cast<uint16_t>((w & 0x7FFFFFFFu) > 0x7F800000u ? 0x7FC0u : rounded);
}

/// The 8-bit format with 4 exponent and 3 mantissa bits, no infinities; 0x7F is NaN. Too large values
/// become the largest one, as in PyTorch.
inline uint8_t toFloat8E4M3FN(float x) {
  const uint32_t w = ofFloat(x);
  const uint32_t magnitude = w & 0x7FFFFFFFu;
  // Adding 2^-9 * 2^23 places the last bit of a subnormal result at the float's last bit.
  const uint32_t subnormal = ofFloat(toFloat(magnitude) + 0x1.0p+14f) - (141u << 23);
  const uint32_t odd = (magnitude >> 20) & 1u;
  const uint32_t normal = (magnitude - (120u << 23) + 0x7FFFFu + odd) >> 20;
  const uint32_t finite = magnitude < (121u << 23) ? subnormal : normal;
  // 464 is halfway between the largest value (448) and the next one.
  const uint32_t limited = magnitude >= 0x43E80000u ? 0x7Eu : finite;
  const uint32_t result = magnitude > 0x7F800000u ? 0x7Fu : limited;
  return static_cast<uint8_t>(((w >> 24) & 0x80u) | result);
}

inline float fromFloat8E4M3FN(uint8_t h) {
  const uint32_t sign = static_cast<uint32_t>(h & 0x80u) << 24;
  const uint32_t magnitude = h & 0x7Fu;
  const float normal = toFloat((magnitude << 20) + (120u << 23));
  const float subnormal = static_cast<float>(magnitude) * 0x1.0p-9f;
  const float value = magnitude < 8u ? subnormal : normal;
  return toFloat(sign | (magnitude == 0x7Fu ? 0x7FC00000u : ofFloat(value)));
}

/// The 8-bit format with 5 exponent and 2 mantissa bits: the upper half of a binary16.
inline float fromFloat8E5M2(uint8_t h) { return fromHalf(static_cast<uint16_t>(h << 8)); }

inline uint8_t toFloat8E5M2(float x) {
  const uint32_t w = ofFloat(x);
  const uint32_t magnitude = w & 0x7FFFFFFFu;
  const uint32_t subnormal = ofFloat(toFloat(magnitude) + 0x1.0p+7f) - (134u << 23);
  const uint32_t odd = (magnitude >> 21) & 1u;
  const uint32_t normal = (magnitude - (112u << 23) + 0xFFFFFu + odd) >> 21;
  const uint32_t finite = magnitude < (113u << 23) ? subnormal : normal;
  const uint32_t limited = magnitude >= (143u << 23) ? 0x7Cu : finite;
  const uint32_t result = magnitude > 0x7F800000u ? 0x7Fu : limited;
  return static_cast<uint8_t>(((w >> 24) & 0x80u) | result);
}

} // namespace bits

/// A storage type with conversions through float.
template <typename Bits, float (*decode)(Bits), Bits (*encode)(float)> struct SmallFloat {
  Bits bits;

  SmallFloat() = default;
  explicit SmallFloat(float x) : bits(encode(x)) {}
  explicit operator float() const { return decode(bits); }
  static SmallFloat fromBits(Bits bits) {
    SmallFloat result;
    result.bits = bits;
    return result;
  }
};

using Half = SmallFloat<uint16_t, bits::fromHalf, bits::toHalf>;
using BFloat16 = SmallFloat<uint16_t, bits::fromBFloat16, bits::toBFloat16>;
using Float8E4M3FN = SmallFloat<uint8_t, bits::fromFloat8E4M3FN, bits::toFloat8E4M3FN>;
using Float8E5M2 = SmallFloat<uint8_t, bits::fromFloat8E5M2, bits::toFloat8E5M2>;

template <typename T> inline constexpr bool isSmallFloat = false;
template <> inline constexpr bool isSmallFloat<Half> = true;
template <> inline constexpr bool isSmallFloat<BFloat16> = true;
template <> inline constexpr bool isSmallFloat<Float8E4M3FN> = true;
template <> inline constexpr bool isSmallFloat<Float8E5M2> = true;

} // namespace ingot
