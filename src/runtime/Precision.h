// How exactly products and convolutions of float32 are computed.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace ingot {

/// Where this CPU is faster then, operands may be rounded to what is named; what cannot be rounded to integers may be to bfloat16.
enum class Precision : uint8_t { Highest, BFloat16, Int8 };

/// The names that people give: "highest", "medium" and "int8".
constexpr std::optional<Precision> precisionNamed(std::string_view name) {
  if (name == "highest")
    return Precision::Highest;
  if (name == "medium")
    return Precision::BFloat16;
  if (name == "int8")
    return Precision::Int8;
  return std::nullopt;
}

} // namespace ingot
