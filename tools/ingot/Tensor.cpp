#include "Tensor.h"

#include "base/Bytes.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <functional>
#include <limits>
#include <numbers>
#include <optional>
#include <utility>

using namespace ingot;
using namespace ingot::cli;

// The enumerations are cast into each other; both come from the table in base/DType.h.
static_assert(static_cast<int>(DType::Float32) == INGOT_FLOAT32);
static_assert(static_cast<int>(DType::Complex128) == INGOT_COMPLEX128);

namespace {

bool isContiguous(const ingot_tensor &tensor) {
  int64_t expected = 1;
  for (int32_t i = tensor.rank; tensor.strides && i-- > 0; expected *= tensor.sizes[i])
    if (tensor.sizes[i] != 1 && tensor.strides[i] != expected)
      return false;
  return true;
}

void copyStrided(const ingot_tensor &tensor, int32_t dim, const std::byte *from, std::byte *&to, size_t element) {
  if (dim == tensor.rank) {
    std::memcpy(to, from, element);
    to += element;
    return;
  }
  for (int64_t i = 0; i < tensor.sizes[dim]; ++i)
    copyStrided(tensor, dim + 1, from + i * tensor.strides[dim] * static_cast<int64_t>(element), to, element);
}

double halfToDouble(uint16_t bits) {
  int exponent = bits >> 10 & 31, fraction = bits & 1023;
  double sign = bits & 0x8000 ? -1 : 1;
  if (exponent == 31)
    return fraction ? std::numeric_limits<double>::quiet_NaN() : sign * std::numeric_limits<double>::infinity();
  return exponent ? sign * std::ldexp(1024 + fraction, exponent - 25) : sign * std::ldexp(fraction, -24);
}

double bfloatToDouble(uint16_t bits) { return std::bit_cast<float>(static_cast<uint32_t>(bits) << 16); }

/// The nearest encodable value is not needed for random data: cutting off is enough.
uint16_t doubleToHalf(double value) {
  int exponent = 0;
  double fraction = std::frexp(std::abs(value), &exponent); // in [0.5, 1)
  if (exponent < -13)
    return 0;
  uint16_t bits = static_cast<uint16_t>((exponent + 14) << 10 | (static_cast<int>(fraction * 2048) & 1023));
  return value < 0 ? bits | 0x8000 : bits;
}

template <typename T, typename Convert> Statistics statistics(std::span<const std::byte> data, Convert convert) {
  Statistics result{std::numeric_limits<double>::infinity(), -std::numeric_limits<double>::infinity(), 0};
  size_t count = data.size() / sizeof(T);
  for (size_t i = 0; i < count; ++i) {
    double value = static_cast<double>(convert(loadLittle<T>(data, i * sizeof(T))));
    // A NaN must show, and std::min would drop it.
    result.min = std::isnan(value) ? value : std::min(result.min, value);
    result.max = std::isnan(value) ? value : std::max(result.max, value);
    result.mean += value;
  }
  result.mean /= static_cast<double>(count);
  return result;
}

template <typename T> Statistics plainStatistics(std::span<const std::byte> data) {
  return statistics<T>(data, std::identity());
}

/// Normal numbers by Box and Muller. Those of the standard library take a logarithm of long doubles for every number, which was a tenth of
/// the time to a first result.
class Normal {
public:
  explicit Normal(std::mt19937_64 &random) : random(random) {}

  double operator()() {
    if (spare)
      return *std::exchange(spare, std::nullopt);
    // (0, 1] and [0, 1), of the upper 53 bits
    const double u = static_cast<double>((random() >> 11) + 1) * 0x1p-53;
    const double angle = static_cast<double>(random() >> 11) * 0x1p-53 * 2 * std::numbers::pi;
    const double radius = std::sqrt(-2 * std::log(u));
    spare = radius * std::sin(angle);
    return radius * std::cos(angle);
  }

private:
  std::mt19937_64 &random;
  std::optional<double> spare;
};

/// Larger tensors repeat what was drawn: drawing is slow, and a damaged file may ask for a great many numbers.
constexpr size_t kMostDrawn = size_t(1) << 24;

template <typename T> void fill(NewTensor &target, const std::function<T()> &next) {
  size_t bytes = target.tensor.data.size(), drawn = std::min(bytes, kMostDrawn);
  for (size_t at = 0; at + sizeof(T) <= drawn; at += sizeof(T)) {
    T value = next();
    std::memcpy(target.bytes + at, &value, sizeof(T));
  }
  for (size_t at = drawn; at < bytes; at += drawn)
    std::memcpy(target.bytes + at, target.bytes, std::min(drawn, bytes - at));
}

} // namespace

Result<NewTensor> cli::makeTensor(DType dtype, std::vector<int64_t> shape) {
  std::optional<int64_t> count = checkedElementCount(shape);
  std::optional<int64_t> bytes = count ? checkedMul<int64_t>(*count, static_cast<int64_t>(byteSize(dtype))) : count;
  if (!bytes)
    return usageError("the shape of a tensor is not valid or too large");
  auto memory = std::make_shared<std::vector<std::byte>>(static_cast<size_t>(*bytes));
  return NewTensor{{dtype, std::move(shape), *memory, memory}, memory->data()};
}

Result<Tensor> cli::fromResult(const ingot_tensor &tensor) {
  std::vector<int64_t> shape(tensor.sizes, tensor.sizes + tensor.rank);
  DType dtype = static_cast<DType>(tensor.dtype);
  const std::byte *data = static_cast<const std::byte *>(tensor.data);
  if (isContiguous(tensor)) {
    size_t count = 1;
    for (int64_t size : shape)
      count *= static_cast<size_t>(size);
    return Tensor{dtype, std::move(shape), {data, count * byteSize(dtype)}, nullptr};
  }
  INGOT_TRY(NewTensor copy, makeTensor(dtype, std::move(shape)));
  std::byte *to = copy.bytes;
  copyStrided(tensor, 0, data, to, byteSize(dtype));
  return copy.tensor;
}

Result<Tensor> cli::randomTensor(DType dtype, std::vector<int64_t> shape, std::mt19937_64 &random) {
  INGOT_TRY(NewTensor target, makeTensor(dtype, std::move(shape)));
  Normal normal(random);
  switch (dtype) {
  case DType::Float32:
  case DType::Complex64:
    fill<float>(target, [&] { return static_cast<float>(normal()); });
    break;
  case DType::Float64:
  case DType::Complex128:
    fill<double>(target, [&] { return normal(); });
    break;
  case DType::Float16:
  case DType::Complex32:
    fill<uint16_t>(target, [&] { return doubleToHalf(normal()); });
    break;
  case DType::BFloat16:
    fill<uint16_t>(target,
                   [&] { return static_cast<uint16_t>(std::bit_cast<uint32_t>(static_cast<float>(normal())) >> 16); });
    break;
  default:
    // Little endian: an integer (or bool, or 8-bit float) is its lowest byte and zeros.
    for (size_t at = 0; at < target.tensor.data.size(); at += byteSize(dtype))
      target.bytes[at] = static_cast<std::byte>(random() & 1);
  }
  return target.tensor;
}

std::optional<Statistics> cli::statisticsOf(const Tensor &tensor) {
  if (tensor.data.empty())
    return std::nullopt;
  switch (tensor.dtype) {
  case DType::Bool:
  case DType::UInt8:
    return plainStatistics<uint8_t>(tensor.data);
  case DType::Int8:
    return plainStatistics<int8_t>(tensor.data);
  case DType::Int16:
    return plainStatistics<int16_t>(tensor.data);
  case DType::Int32:
    return plainStatistics<int32_t>(tensor.data);
  case DType::Int64:
    return plainStatistics<int64_t>(tensor.data);
  case DType::UInt16:
    return plainStatistics<uint16_t>(tensor.data);
  case DType::UInt32:
    return plainStatistics<uint32_t>(tensor.data);
  case DType::UInt64:
    return plainStatistics<uint64_t>(tensor.data);
  case DType::Float16:
    return statistics<uint16_t>(tensor.data, halfToDouble);
  case DType::BFloat16:
    return statistics<uint16_t>(tensor.data, bfloatToDouble);
  case DType::Float32:
    return plainStatistics<float>(tensor.data);
  case DType::Float64:
    return plainStatistics<double>(tensor.data);
  default:
    return std::nullopt;
  }
}
