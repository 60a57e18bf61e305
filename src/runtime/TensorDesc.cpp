#include "runtime/TensorDesc.h"

#include "base/Bytes.h"

#include <algorithm>
#include <numeric>

namespace ingot {
namespace {

/// Wraps around instead of overflowing: sizes of a plan are only known to be sane after Binding has
/// checked them.
int64_t wrappingMul(int64_t a, int64_t b) {
  return static_cast<int64_t>(static_cast<uint64_t>(a) * static_cast<uint64_t>(b));
}

} // namespace

int64_t TensorDesc::numel() const {
  int64_t count = 1;
  for (int64_t size : sizes)
    count = wrappingMul(count, size);
  return count;
}

bool TensorDesc::isContiguous() const {
  if (std::ranges::find(sizes, 0) != sizes.end())
    return true;
  int64_t expected = 1;
  for (size_t i = sizes.size(); i-- > 0;) {
    if (sizes[i] != 1 && strides[i] != expected)
      return false;
    expected = wrappingMul(expected, sizes[i]);
  }
  return true;
}

TensorDesc TensorDesc::contiguous(DType dtype, std::vector<int64_t> sizes) {
  std::vector<int64_t> order(sizes.size());
  std::iota(order.begin(), order.end(), 0);
  return dense(dtype, std::move(sizes), order);
}

TensorDesc TensorDesc::dense(DType dtype, std::vector<int64_t> sizes, std::span<const int64_t> order) {
  TensorDesc desc{dtype, std::move(sizes), {}};
  desc.strides.resize(desc.sizes.size());
  int64_t stride = 1;
  for (size_t i = order.size(); i-- > 0;) {
    auto dim = static_cast<size_t>(order[i]);
    desc.strides[dim] = stride;
    stride = wrappingMul(stride, std::max<int64_t>(desc.sizes[dim], 1));
  }
  return desc;
}

std::optional<std::vector<int64_t>> denseOrder(const TensorDesc &desc) {
  std::vector<int64_t> order(desc.sizes.size());
  std::iota(order.begin(), order.end(), 0);
  // Dimensions of size 1 have no place in memory. Leading ones (a batch of one) stay outermost, so that the
  // order also suits a larger batch; the others go last.
  size_t leading = 0;
  while (leading < desc.sizes.size() && desc.sizes[leading] == 1)
    ++leading;
  auto strideOf = [&](int64_t dim) {
    auto i = static_cast<size_t>(dim);
    return desc.sizes[i] == 1 ? 0 : desc.strides[i];
  };
  std::sort(order.begin() + static_cast<ptrdiff_t>(leading), order.end(),
            [&](int64_t a, int64_t b) { return strideOf(a) != strideOf(b) ? strideOf(a) > strideOf(b) : a < b; });
  int64_t expected = 1;
  for (size_t i = order.size(); i-- > 0;) {
    auto dim = static_cast<size_t>(order[i]);
    if (desc.sizes[dim] == 1)
      continue;
    if (desc.strides[dim] != expected)
      return std::nullopt;
    expected = wrappingMul(expected, desc.sizes[dim]);
  }
  return order;
}

std::optional<Extent> checkedExtent(const TensorDesc &desc) {
  if (desc.sizes.size() != desc.strides.size() || !checkedElementCount(desc.sizes))
    return std::nullopt;
  Extent extent;
  if (std::ranges::find(desc.sizes, 0) != desc.sizes.end())
    return extent;
  extent.end = 1;
  for (size_t i = 0; i < desc.sizes.size(); ++i) {
    std::optional<int64_t> reach = checkedMul(desc.sizes[i] - 1, desc.strides[i]);
    if (!reach)
      return std::nullopt;
    std::optional<int64_t> sum = checkedAdd(*reach < 0 ? extent.begin : extent.end, *reach);
    if (!sum)
      return std::nullopt;
    (*reach < 0 ? extent.begin : extent.end) = *sum;
  }
  const auto bytes = static_cast<int64_t>(byteSize(desc.dtype));
  if (!checkedMul(extent.begin, bytes) || !checkedMul(extent.end, bytes))
    return std::nullopt;
  return extent;
}

Result<size_t> checkedBytes(const TensorDesc &desc) {
  std::optional<int64_t> count = checkedElementCount(desc.sizes);
  std::optional<int64_t> bytes;
  if (count)
    bytes = checkedMul(*count, static_cast<int64_t>(byteSize(desc.dtype)));
  if (!bytes)
    return unsupportedError("a tensor of " + shapeText(desc.sizes) + " elements does not fit into memory");
  return static_cast<size_t>(*bytes);
}

std::string shapeText(std::span<const int64_t> sizes) {
  std::string text = "[";
  for (size_t i = 0; i < sizes.size(); ++i)
    text += (i ? ", " : "") + (sizes[i] == kDynamic ? std::string("?") : std::to_string(sizes[i]));
  return text + "]";
}

std::string describe(const TensorDesc &desc) {
  std::string text(dtypeName(desc.dtype));
  return text + shapeText(desc.sizes);
}

} // namespace ingot
