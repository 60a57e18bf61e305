#include "runtime/kernels/elementwise/Strided.h"

#include <algorithm>
#include <numeric>

namespace ingot {
namespace {

/// Byte stride of `tensor` along dimension `dim` of a result with `rank` dimensions; 0 where it is repeated.
int64_t byteStride(const TensorDesc &tensor, size_t dim, size_t rank) {
  const size_t missing = rank - tensor.sizes.size();
  if (dim < missing || tensor.sizes[dim - missing] == 1)
    return 0;
  return tensor.strides[dim - missing] * static_cast<int64_t>(byteSize(tensor.dtype));
}

} // namespace

StridedLoop StridedLoop::make(std::span<const TensorDesc *const> tensors) {
  StridedLoop loop;
  const TensorDesc &result = *tensors[0];
  std::vector<size_t> order(result.sizes.size());
  std::iota(order.begin(), order.end(), size_t(0));
  std::ranges::sort(order, [&](size_t a, size_t b) {
    const int64_t left = std::abs(result.strides[a]), right = std::abs(result.strides[b]);
    return left != right ? left > right : a < b;
  });
  for (size_t i : order) {
    if (result.sizes[i] == 1)
      continue;
    Dim dim{result.sizes[i], {}};
    bool mergesWithLast = !loop.dims.empty();
    for (size_t t = 0; t < tensors.size(); ++t) {
      dim.strides[t] = byteStride(*tensors[t], i, order.size());
      if (mergesWithLast)
        mergesWithLast = loop.dims.back().strides[t] == dim.strides[t] * dim.size;
    }
    if (mergesWithLast)
      dim.size *= loop.dims.back().size, loop.dims.pop_back();
    loop.dims.push_back(dim);
  }
  loop.rowCount = 1;
  for (size_t i = 0; i + 1 < loop.dims.size(); ++i)
    loop.rowCount *= loop.dims[i].size;
  return loop;
}

StridedLoop::Pointers StridedLoop::rowPointers(Pointers base, int64_t row) const {
  for (size_t d = dims.size() > 1 ? dims.size() - 1 : 0; d-- > 0;) {
    const int64_t position = row % dims[d].size;
    row /= dims[d].size;
    for (size_t t = 0; t < kMaxTensors; ++t)
      base[t] += position * dims[d].strides[t];
  }
  return base;
}

StridedLoop::Pointers StridedLoop::at(const Pointers &base, int64_t index) const {
  if (dims.empty())
    return base;
  Pointers p = rowPointers(base, index / rowLength());
  for (size_t t = 0; t < kMaxTensors; ++t)
    p[t] += index % rowLength() * dims.back().strides[t];
  return p;
}

StridedCopy makeCopy(const TensorDesc &result, const TensorDesc &source) {
  const size_t rank = result.sizes.size();
  std::vector<int64_t> strides(rank, 0);
  for (size_t i = 0; i < rank; ++i)
    strides[i] = byteStride(source, i, rank) / static_cast<int64_t>(byteSize(source.dtype));
  return StridedCopy(result.sizes, strides, result.strides, byteSize(result.dtype));
}

} // namespace ingot
