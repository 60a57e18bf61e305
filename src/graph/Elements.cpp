#include "graph/Elements.h"

#include "base/Bytes.h"

#include <array>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>

namespace ingot::graph {

namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr double kInfinity = std::numeric_limits<double>::infinity();

//===----------------------------------------------------------------------===//
// Eight-bit floats: few enough to list all their values
//===----------------------------------------------------------------------===//

struct SmallFloat {
  int exponentBits, mantissaBits, bias;
  bool hasInfinity;
  bool isUnsignedZero; ///< the "fnuz" kinds: the only NaN stands where negative zero would
};

double smallFloatValue(const SmallFloat &kind, unsigned code) {
  if (kind.mantissaBits == 0)
    return code == 0xff ? kNan : std::ldexp(1.0, static_cast<int>(code) - kind.bias);
  unsigned mantissaMask = (1u << kind.mantissaBits) - 1, exponentMask = (1u << kind.exponentBits) - 1;
  unsigned mantissa = code & mantissaMask, exponent = (code >> kind.mantissaBits) & exponentMask;
  double sign = code & 0x80 ? -1 : 1;
  if (kind.isUnsignedZero && code == 0x80)
    return kNan;
  if (!kind.isUnsignedZero && exponent == exponentMask) {
    if (kind.hasInfinity)
      return mantissa ? kNan : sign * kInfinity;
    if (mantissa == mantissaMask)
      return kNan;
  }
  double fraction = std::ldexp(static_cast<double>(mantissa), -kind.mantissaBits);
  int scale = static_cast<int>(exponent == 0 ? 1 : exponent) - kind.bias;
  return sign * std::ldexp(fraction + (exponent == 0 ? 0 : 1), scale);
}

std::optional<SmallFloat> smallFloatOf(DType dtype) {
  switch (dtype) {
  case DType::Float8E4M3FN:
    return SmallFloat{4, 3, 7, false, false};
  case DType::Float8E5M2:
    return SmallFloat{5, 2, 15, true, false};
  case DType::Float8E4M3FNUZ:
    return SmallFloat{4, 3, 8, false, true};
  case DType::Float8E5M2FNUZ:
    return SmallFloat{5, 2, 16, false, true};
  case DType::Float8E8M0FNU:
    return SmallFloat{8, 0, 127, false, false};
  default:
    return std::nullopt;
  }
}

/// The code whose value is nearest; exact for values that were written from one.
uint8_t smallFloatCode(const SmallFloat &kind, double value) {
  unsigned best = 0;
  double distance = kInfinity;
  for (unsigned code = 0; code < 256; ++code) {
    double candidate = smallFloatValue(kind, code);
    if (std::isnan(value) ? std::isnan(candidate)
                          : candidate == value && std::signbit(candidate) == std::signbit(value))
      return static_cast<uint8_t>(code);
    if (std::abs(candidate - value) < distance) {
      distance = std::abs(candidate - value);
      best = code;
    }
  }
  return static_cast<uint8_t>(best);
}

//===----------------------------------------------------------------------===//
// One number
//===----------------------------------------------------------------------===//

Json numberJson(double value) {
  if (std::isfinite(value))
    return value;
  return std::isnan(value) ? "nan" : value > 0 ? "inf" : "-inf";
}

template <typename T> T load(const std::byte *from) {
  T value;
  std::memcpy(&value, from, sizeof(T));
  return value;
}

template <typename T> void store(std::byte *to, T value) { std::memcpy(to, &value, sizeof(T)); }

double bfloat16Value(uint16_t bits) { return std::bit_cast<float>(static_cast<uint32_t>(bits) << 16); }

uint16_t bfloat16Bits(float value) {
  uint32_t bits = std::bit_cast<uint32_t>(value);
  if (std::isnan(value))
    return static_cast<uint16_t>((bits >> 16) | 0x40);
  return static_cast<uint16_t>((bits + 0x7fff + ((bits >> 16) & 1)) >> 16); // to nearest, ties to even
}

std::optional<DType> partOfComplex(DType dtype) {
  switch (dtype) {
  case DType::Complex32:
    return DType::Float16;
  case DType::Complex64:
    return DType::Float32;
  case DType::Complex128:
    return DType::Float64;
  default:
    return std::nullopt;
  }
}

Json elementJson(DType dtype, const std::byte *from) {
  if (std::optional<DType> part = partOfComplex(dtype))
    return Json::array({elementJson(*part, from), elementJson(*part, from + byteSize(*part))});
  if (std::optional<SmallFloat> small = smallFloatOf(dtype))
    return numberJson(smallFloatValue(*small, load<uint8_t>(from)));
  switch (dtype) {
  case DType::Bool:
    return load<uint8_t>(from) != 0;
  case DType::UInt8:
    return load<uint8_t>(from);
  case DType::Int8:
    return load<int8_t>(from);
  case DType::Int16:
    return load<int16_t>(from);
  case DType::Int32:
    return load<int32_t>(from);
  case DType::Int64:
    return load<int64_t>(from);
  case DType::UInt16:
    return load<uint16_t>(from);
  case DType::UInt32:
    return load<uint32_t>(from);
  case DType::UInt64:
    return load<uint64_t>(from);
  case DType::Float16:
    return numberJson(static_cast<double>(load<_Float16>(from)));
  case DType::BFloat16:
    return numberJson(bfloat16Value(load<uint16_t>(from)));
  case DType::Float32:
    return numberJson(load<float>(from));
  default:
    return numberJson(load<double>(from));
  }
}

std::optional<double> realOf(const Json &json) {
  if (json.is_number() || json.is_boolean())
    return json.is_boolean() ? json.get<bool>() : json.get<double>();
  if (!json.is_string())
    return std::nullopt;
  const std::string text = json.get<std::string>();
  if (text == "nan" || text == "NaN")
    return kNan;
  if (text == "inf" || text == "Infinity")
    return kInfinity;
  if (text == "-inf" || text == "-Infinity")
    return -kInfinity;
  return std::nullopt;
}

template <typename T> bool storeInteger(const Json &json, std::byte *to) {
  if (json.is_boolean()) {
    store<T>(to, json.get<bool>());
    return true;
  }
  if (!json.is_number_integer())
    return false;
  if (json.is_number_unsigned() ? !std::in_range<T>(json.get<uint64_t>()) : !std::in_range<T>(json.get<int64_t>()))
    return false;
  store<T>(to, json.is_number_unsigned() ? static_cast<T>(json.get<uint64_t>()) : static_cast<T>(json.get<int64_t>()));
  return true;
}

bool storeReal(DType dtype, const Json &json, std::byte *to) {
  std::optional<double> value = realOf(json);
  if (!value)
    return false;
  if (std::optional<SmallFloat> small = smallFloatOf(dtype))
    store(to, smallFloatCode(*small, *value));
  else if (dtype == DType::Float16)
    store(to, static_cast<_Float16>(*value));
  else if (dtype == DType::BFloat16)
    store(to, bfloat16Bits(static_cast<float>(*value)));
  else if (dtype == DType::Float32)
    store(to, static_cast<float>(*value));
  else
    store(to, *value);
  return true;
}

bool storeElement(DType dtype, const Json &json, std::byte *to) {
  if (std::optional<DType> part = partOfComplex(dtype)) {
    if (!json.is_array())
      return storeReal(*part, json, to); // the imaginary part stays zero
    return json.size() == 2 && storeReal(*part, json[0], to) && storeReal(*part, json[1], to + byteSize(*part));
  }
  switch (dtype) {
  case DType::Bool: {
    std::optional<double> value = realOf(json);
    store<uint8_t>(to, value.value_or(0) != 0);
    return value.has_value();
  }
  case DType::UInt8:
    return storeInteger<uint8_t>(json, to);
  case DType::Int8:
    return storeInteger<int8_t>(json, to);
  case DType::Int16:
    return storeInteger<int16_t>(json, to);
  case DType::Int32:
    return storeInteger<int32_t>(json, to);
  case DType::Int64:
    return storeInteger<int64_t>(json, to);
  case DType::UInt16:
    return storeInteger<uint16_t>(json, to);
  case DType::UInt32:
    return storeInteger<uint32_t>(json, to);
  case DType::UInt64:
    return storeInteger<uint64_t>(json, to);
  default:
    return storeReal(dtype, json, to);
  }
}

//===----------------------------------------------------------------------===//
// Nested lists
//===----------------------------------------------------------------------===//

Json listsFrom(DType dtype, std::span<const int64_t> shape, const std::byte *&from) {
  if (shape.empty()) {
    Json element = elementJson(dtype, from);
    from += byteSize(dtype);
    return element;
  }
  Json list = Json::array();
  for (int64_t i = 0; i < shape[0]; ++i)
    list.push_back(listsFrom(dtype, shape.subspan(1), from));
  return list;
}

Status storeLists(DType dtype, std::span<const int64_t> shape, const Json &lists, std::byte *&to) {
  if (shape.empty()) {
    if (!storeElement(dtype, lists, to))
      return corruptError("has an element that is no " + std::string(dtypeName(dtype)));
    to += byteSize(dtype);
    return {};
  }
  if (!lists.is_array() || lists.size() != static_cast<size_t>(shape[0]))
    return corruptError("has lists that don't have its shape");
  for (const Json &item : lists)
    INGOT_CHECK(storeLists(dtype, shape.subspan(1), item, to));
  return {};
}

size_t elementCountOfLists(const Json &lists) {
  if (!lists.is_array())
    return 1;
  size_t count = 0;
  for (const Json &item : lists)
    count += elementCountOfLists(item);
  return count;
}

} // namespace

Json elementsAsLists(DType dtype, std::span<const int64_t> shape, std::span<const std::byte> bytes) {
  const std::byte *from = bytes.data();
  return listsFrom(dtype, shape, from);
}

Result<std::vector<std::byte>> elementsFromLists(DType dtype, std::span<const int64_t> shape, const Json &lists) {
  std::optional<int64_t> count = checkedElementCount(shape);
  // A shape that the lists cannot fill is refused before memory is taken for it.
  if (!count || static_cast<size_t>(*count) > elementCountOfLists(lists))
    return corruptError("has lists that don't have its shape");
  std::vector<std::byte> bytes(static_cast<size_t>(*count) * byteSize(dtype));
  std::byte *to = bytes.data();
  if (*count > 0)
    INGOT_CHECK(storeLists(dtype, shape, lists, to));
  return bytes;
}

std::vector<int64_t> shapeOfLists(DType dtype, const Json &lists) {
  std::vector<int64_t> shape;
  const Json *inner = &lists;
  while (inner->is_array()) {
    shape.push_back(static_cast<int64_t>(inner->size()));
    if (inner->empty())
      return shape;
    inner = &inner->front();
  }
  if (partOfComplex(dtype) && !shape.empty() && shape.back() == 2)
    shape.pop_back(); // the pairs
  return shape;
}

} // namespace ingot::graph
