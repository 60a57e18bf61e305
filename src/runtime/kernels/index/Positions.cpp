#include "runtime/kernels/index/Index.h"

namespace ingot {

Status checkIndexType(const StepContext &context, const TensorDesc &index) {
  if (index.dtype != DType::Int64 && index.dtype != DType::Int32)
    return badType(context, index.dtype);
  return {};
}

Positions::Positions(std::string kernel, const TensorDesc &index, std::span<const int64_t> target, int64_t size,
                     bool countsFromEnd)
    : kernel(std::move(kernel)), dtype(index.dtype), sizes(target.begin(), target.end()), strides(target.size(), 0),
      size(size), total(1), countsFromEnd(countsFromEnd) {
  const size_t missing = sizes.size() - index.sizes.size();
  for (size_t i = 0; i < index.sizes.size(); ++i)
    if (index.sizes[i] != 1)
      strides[missing + i] = index.strides[i];
  for (int64_t length : sizes)
    total *= length;
  isContiguous = index.isContiguous() && index.numel() == total;
}

int64_t Positions::offsetOf(int64_t i) const {
  if (isContiguous)
    return i;
  int64_t offset = 0;
  for (size_t d = sizes.size(); d-- > 0;) {
    offset += i % sizes[d] * strides[d];
    i /= sizes[d];
  }
  return offset;
}

template <typename T> Status Positions::readTyped(const T *indices, int64_t *positions) const {
  for (int64_t i = 0; i < total; ++i) {
    const int64_t given = indices[offsetOf(i)];
    const int64_t position = given < 0 && countsFromEnd ? given + size : given;
    if (position < 0 || position >= size)
      return usageError(kernel + ": index " + std::to_string(given) + " at position " + std::to_string(i) +
                        " is out of range for a dimension of size " + std::to_string(size));
    positions[i] = position;
  }
  return {};
}

Status Positions::read(const void *indices, int64_t *positions) const {
  if (dtype == DType::Int32)
    return readTyped(static_cast<const int32_t *>(indices), positions);
  return readTyped(static_cast<const int64_t *>(indices), positions);
}

} // namespace ingot
