// How exactly products and convolutions of float32 are computed.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace ingot {

/// Where this CPU is faster then, operands may be rounded to what is named; what cannot be rounded to integers may be to bfloat16.
enum class Precision : uint8_t { Highest, BFloat16, Int8 };

/// The names that people give: "highest", "medium" and "int8".
constexpr std::string_view precisionName(Precision precision) {
  switch (precision) {
  case Precision::Highest:
    return "highest";
  case Precision::BFloat16:
    return "medium";
  case Precision::Int8:
    return "int8";
  }
  return {};
}

constexpr std::optional<Precision> precisionNamed(std::string_view name) {
  for (Precision precision : {Precision::Highest, Precision::BFloat16, Precision::Int8})
    if (name == precisionName(precision))
      return precision;
  return std::nullopt;
}

} // namespace ingot
