#include "verify/Compare.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <complex>
#include <cstring>
#include <limits>

namespace ingot::verify {

namespace {

using Number = std::complex<double>;
using Decode = Number (*)(const std::byte *);

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

template <typename T> T load(const std::byte *from) {
  T value;
  std::memcpy(&value, from, sizeof(T));
  return value;
}

template <typename T> Number plain(const std::byte *from) { return static_cast<double>(load<T>(from)); }

enum class Special : uint8_t { Ieee, FiniteWithNan, UnsignedZero };

/// A small float: sign, exponent, fraction.
template <typename Bits, int exponentBits, int fractionBits, int bias, Special special>
double smallFloat(const std::byte *from) {
  uint32_t bits = load<Bits>(from);
  int exponent = static_cast<int>(bits >> fractionBits & ((1U << exponentBits) - 1));
  uint32_t fraction = bits & ((1U << fractionBits) - 1);
  bool isNegative = bits >> (exponentBits + fractionBits) & 1;
  double sign = isNegative ? -1 : 1;
  bool isLast = exponent == (1 << exponentBits) - 1;
  if (special == Special::Ieee && isLast)
    return fraction ? kNan : sign * kInfinity;
  if (special == Special::FiniteWithNan && isLast && fraction == (1U << fractionBits) - 1)
    return kNan;
  if (special == Special::UnsignedZero && isNegative && exponent == 0 && fraction == 0)
    return kNan;
  double whole = exponent ? (1U << fractionBits) + fraction : fraction;
  return sign * std::ldexp(whole, std::max(exponent, 1) - bias - fractionBits);
}

double half(const std::byte *from) { return smallFloat<uint16_t, 5, 10, 15, Special::Ieee>(from); }

Number powerOfTwo(const std::byte *from) {
  uint8_t bits = load<uint8_t>(from);
  return bits == 255 ? kNan : std::ldexp(1.0, bits - 127);
}

Decode decoderOf(DType dtype) {
  switch (dtype) {
  case DType::Bool:
  case DType::UInt8:
    return plain<uint8_t>;
  case DType::Int8:
    return plain<int8_t>;
  case DType::Int16:
    return plain<int16_t>;
  case DType::Int32:
    return plain<int32_t>;
  case DType::Int64:
    return plain<int64_t>;
  case DType::UInt16:
    return plain<uint16_t>;
  case DType::UInt32:
    return plain<uint32_t>;
  case DType::UInt64:
    return plain<uint64_t>;
  case DType::Float32:
    return plain<float>;
  case DType::Float64:
    return plain<double>;
  case DType::Float16:
    return [](const std::byte *from) { return Number(half(from)); };
  case DType::BFloat16:
    return [](const std::byte *from) { return Number(smallFloat<uint16_t, 8, 7, 127, Special::Ieee>(from)); };
  case DType::Float8E4M3FN:
    return [](const std::byte *from) { return Number(smallFloat<uint8_t, 4, 3, 7, Special::FiniteWithNan>(from)); };
  case DType::Float8E5M2:
    return [](const std::byte *from) { return Number(smallFloat<uint8_t, 5, 2, 15, Special::Ieee>(from)); };
  case DType::Float8E4M3FNUZ:
    return [](const std::byte *from) { return Number(smallFloat<uint8_t, 4, 3, 8, Special::UnsignedZero>(from)); };
  case DType::Float8E5M2FNUZ:
    return [](const std::byte *from) { return Number(smallFloat<uint8_t, 5, 2, 16, Special::UnsignedZero>(from)); };
  case DType::Float8E8M0FNU:
    return powerOfTwo;
  case DType::Complex32:
    return [](const std::byte *from) { return Number(half(from), half(from + 2)); };
  case DType::Complex64:
    return [](const std::byte *from) { return Number(load<std::complex<float>>(from)); };
  case DType::Complex128:
    return [](const std::byte *from) { return load<Number>(from); };
  }
  return plain<uint8_t>;
}

bool isComplex(DType dtype) {
  return dtype == DType::Complex32 || dtype == DType::Complex64 || dtype == DType::Complex128;
}

bool isExact(DType dtype) { return dtype <= DType::UInt64; }

/// The step from 1 to the next number.
double epsilonOf(DType dtype) {
  switch (dtype) {
  case DType::Float32:
  case DType::Complex64:
    return std::numeric_limits<float>::epsilon();
  case DType::Float64:
  case DType::Complex128:
    return std::numeric_limits<double>::epsilon();
  case DType::Float16:
  case DType::Complex32:
    return 0x1p-10;
  case DType::BFloat16:
    return 0x1p-7;
  default:
    return 0;
  }
}

bool isNan(Number number) { return std::isnan(number.real()) || std::isnan(number.imag()); }
bool isFinite(Number number) { return std::isfinite(number.real()) && std::isfinite(number.imag()); }

std::string elementText(const Value &value, size_t index) {
  size_t bytes = byteSize(value.dtype);
  const std::byte *from = value.data.data() + index * bytes;
  char text[64];
  if (value.dtype == DType::Bool)
    return load<uint8_t>(from) ? "True" : "False";
  if (value.dtype == DType::UInt64)
    return std::to_string(load<uint64_t>(from));
  if (value.dtype == DType::Int64)
    return std::to_string(load<int64_t>(from));
  Number number = decoderOf(value.dtype)(from);
  if (isComplex(value.dtype))
    std::snprintf(text, sizeof(text), "%.7g%+.7gj", number.real(), number.imag());
  else
    std::snprintf(text, sizeof(text), value.dtype == DType::Float64 ? "%.15g" : "%.8g", number.real());
  return text;
}

std::vector<int64_t> placeOf(size_t index, const std::vector<int64_t> &shape) {
  std::vector<int64_t> place(shape.size());
  for (size_t i = shape.size(); i-- > 0;) {
    place[i] = static_cast<int64_t>(index) % shape[i];
    index /= static_cast<size_t>(shape[i]);
  }
  return place;
}

/// How far two elements are apart, and how much of that is allowed.
class Judge {
public:
  Judge(const Value &eager, const Tolerance &tolerance, Decode decode) : dtype(eager.dtype), tolerance(tolerance) {
    if (isExact(dtype) || tolerance.units == 0)
      return;
    double largest = 0;
    for (size_t at = 0; at < eager.data.size(); at += byteSize(dtype))
      if (Number number = decode(eager.data.data() + at); isFinite(number))
        largest = std::max(largest, std::abs(number));
    forTerms = tolerance.units * epsilonOf(dtype) * largest;
  }

  struct Verdict {
    double difference = 0, ratio = 0;
  };

  Verdict judge(Number eager, Number ours) const {
    if (isNan(eager) && isNan(ours))
      return {};
    if (!isFinite(eager) || !isFinite(ours))
      return eager == ours ? Verdict{} : Verdict{kInfinity, kInfinity};
    double difference = std::abs(eager - ours);
    if (isExact(dtype)) // numbers above 2^53 may look the same here, and are not
      return {std::max(difference, 1.0), kInfinity};
    double allowed = tolerance.absolute + tolerance.relative * std::abs(eager) + forTerms;
    if (difference == 0)
      return {};
    return {difference, allowed > 0 ? difference / allowed : kInfinity};
  }

private:
  DType dtype;
  Tolerance tolerance;
  double forTerms = 0;
};

} // namespace

Tolerance toleranceOf(DType dtype) {
  switch (dtype) {
  case DType::Float16:
  case DType::Complex32:
    return {1e-3, 1e-5, 2};
  case DType::BFloat16:
    return {1.6e-2, 1e-5, 2};
  case DType::Float32:
  case DType::Complex64:
    return {1.3e-6, 1e-5, 16};
  case DType::Float64:
  case DType::Complex128:
    return {1e-7, 1e-7, 16};
  case DType::Float8E4M3FN:
  case DType::Float8E4M3FNUZ:
    return {0.125, 1e-5, 0};
  case DType::Float8E5M2:
  case DType::Float8E5M2FNUZ:
    return {0.25, 1e-5, 0};
  default:
    return {};
  }
}

Statistics statisticsOf(const Value &value) {
  Statistics statistics{kInfinity, -kInfinity, 0, 0, 0, {}};
  Decode decode = decoderOf(value.dtype);
  size_t bytes = byteSize(value.dtype), count = value.data.size() / bytes;
  int64_t finite = 0;
  for (size_t i = 0; i < count; ++i) {
    Number number = decode(value.data.data() + i * bytes);
    if (isNan(number)) {
      ++statistics.nans;
      continue;
    }
    if (!isFinite(number)) {
      ++statistics.infinities;
      continue;
    }
    double shown = isComplex(value.dtype) ? std::abs(number) : number.real();
    statistics.min = std::min(statistics.min, shown);
    statistics.max = std::max(statistics.max, shown);
    statistics.mean += shown;
    ++finite;
  }
  statistics.mean = finite ? statistics.mean / static_cast<double>(finite) : kNan;
  if (!finite)
    statistics.min = statistics.max = kNan;
  for (size_t i = 0; i < std::min<size_t>(count, 8); ++i)
    statistics.first.push_back(elementText(value, i));
  return statistics;
}

Difference compare(const Value &eager, const Value &ours, std::optional<Tolerance> tolerance, double scale) {
  Difference difference;
  if (eager.dtype != ours.dtype || eager.shape != ours.shape) {
    difference.problem = "eager gives " + typeText(eager) + ", Ingot " + typeText(ours);
    return difference;
  }
  if (eager.data.size() == ours.data.size() && std::ranges::equal(eager.data, ours.data))
    return difference;
  Decode decode = decoderOf(eager.dtype);
  Judge judge(eager, tolerance.value_or(toleranceOf(eager.dtype)), decode);
  size_t bytes = byteSize(eager.dtype), count = std::min(eager.data.size(), ours.data.size()) / bytes, worst = 0;
  for (size_t i = 0; i < count; ++i) {
    const std::byte *left = eager.data.data() + i * bytes, *right = ours.data.data() + i * bytes;
    if (std::memcmp(left, right, bytes) == 0)
      continue;
    Judge::Verdict verdict = judge.judge(decode(left), decode(right));
    difference.count += verdict.ratio > scale;
    if (verdict.ratio > difference.ratio ||
        (verdict.ratio == difference.ratio && verdict.difference > difference.largest)) {
      difference.ratio = verdict.ratio;
      difference.largest = verdict.difference;
      worst = i;
    }
  }
  if (difference.ratio > 0) {
    difference.where = placeOf(worst, eager.shape);
    difference.eager = elementText(eager, worst);
    difference.ours = elementText(ours, worst);
  }
  return difference;
}

std::string shapeText(const std::vector<int64_t> &shape) {
  std::string text = "[";
  for (size_t i = 0; i < shape.size(); ++i)
    text += (i ? ", " : "") + std::to_string(shape[i]);
  return text + "]";
}

std::string typeText(const Value &value) { return std::string(dtypeName(value.dtype)) + " " + shapeText(value.shape); }

} // namespace ingot::verify
