#include "runtime/kernels/matmul/Layout.h"

#include <algorithm>

namespace ingot {
namespace {

/// Merges the first `count` dimensions into one, if memory allows.
std::optional<TensorDesc> mergeLeading(const TensorDesc &desc, size_t count) {
  int64_t size = 1, stride = 0;
  for (size_t i = count; i-- > 0;) {
    if (desc.sizes[i] == 1)
      continue;
    if (size != 1 && desc.strides[i] != stride * size)
      return std::nullopt;
    stride = size == 1 ? desc.strides[i] : stride;
    size *= desc.sizes[i];
  }
  TensorDesc merged{desc.dtype, {size}, {stride}};
  const auto rest = static_cast<ptrdiff_t>(count);
  merged.sizes.insert(merged.sizes.end(), desc.sizes.begin() + rest, desc.sizes.end());
  merged.strides.insert(merged.strides.end(), desc.strides.begin() + rest, desc.strides.end());
  return merged;
}

int64_t batchCount(const TensorDesc &desc) {
  int64_t count = 1;
  for (size_t i = 0; i + 2 < desc.sizes.size(); ++i)
    count *= desc.sizes[i];
  return count;
}

TensorDesc lastMatrix(const TensorDesc &desc) {
  return {desc.dtype, {desc.sizes.end() - 2, desc.sizes.end()}, {desc.strides.end() - 2, desc.strides.end()}};
}

} // namespace

TensorDesc asBatchedMatrix(TensorDesc desc, size_t rank) {
  const size_t missing = rank - desc.sizes.size();
  desc.sizes.insert(desc.sizes.begin(), missing, 1);
  desc.strides.insert(desc.strides.begin(), missing, 0);
  for (size_t i = 0; i + 2 < rank; ++i)
    if (desc.strides[i] == 0)
      desc.sizes[i] = 1;
  return desc;
}

bool isDenseVector(const TensorDesc &desc, int64_t count) {
  return !desc.sizes.empty() && desc.sizes.back() == count && desc.numel() == count &&
         (count == 1 || desc.strides.back() == 1);
}

bool isGemmLayout(const TensorDesc &desc) {
  std::vector<std::pair<int64_t, int64_t>> dims; // stride, size
  for (size_t i = 0; i < desc.sizes.size(); ++i)
    if (desc.sizes[i] != 1)
      dims.emplace_back(desc.strides[i], desc.sizes[i]);
  std::ranges::sort(dims);
  int64_t reach = 1;
  for (auto [stride, size] : dims) {
    if (stride < reach)
      return false;
    reach = stride * size;
  }
  const size_t rank = desc.sizes.size();
  for (size_t i : {rank - 1, rank - 2})
    if (desc.sizes[i] == 1 || desc.strides[i] == 1)
      return true;
  return false;
}

MatmulShapes simplifyMatmul(const TensorDesc &a, const TensorDesc &b, const TensorDesc &result) {
  const size_t rank = result.sizes.size();
  const int64_t count = batchCount(result);
  if (batchCount(b) == 1 && batchCount(a) == count)
    if (auto folded = mergeLeading(a, rank - 1); folded && isGemmLayout(*folded))
      return {*folded, lastMatrix(b), *mergeLeading(result, rank - 1)};
  const bool isUniform =
      (batchCount(a) == 1 || batchCount(a) == count) && (batchCount(b) == 1 || batchCount(b) == count);
  if (rank > 3 && isUniform)
    if (auto mergedA = mergeLeading(a, rank - 2))
      if (auto mergedB = mergeLeading(b, rank - 2))
        return {*mergedA, *mergedB, *mergeLeading(result, rank - 2)};
  return {a, b, result};
}

TensorDesc withSaneStrides(TensorDesc desc) {
  int64_t reach = 1;
  for (size_t i = desc.sizes.size(); i-- > 0;) {
    if (desc.sizes[i] == 1)
      desc.strides[i] = reach;
    reach = std::max(reach, desc.strides[i] * desc.sizes[i]);
  }
  return desc;
}

} // namespace ingot
