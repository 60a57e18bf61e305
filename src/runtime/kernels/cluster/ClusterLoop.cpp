#include "runtime/kernels/cluster/ClusterLoop.h"

#include "runtime/threads/Pool.h"

#include <algorithm>
#include <array>
#include <numeric>

namespace ingot {
namespace {

/// Elements that are worth a thread: some ten microseconds of a typical cluster.
constexpr int64_t kGrain = 16 * 1024;
/// Pieces of a cut row begin at multiples of this, so that no cache line is shared by two threads.
constexpr int64_t kPieceAlignment = 64;

} // namespace

bool mergesRow(std::span<const int64_t> sizes, std::span<const int64_t> strides, size_t rowRank) {
  int64_t expected = 0;
  bool isFirst = true;
  for (size_t i = sizes.size(); i-- > sizes.size() - rowRank;) {
    if (sizes[i] == 1)
      continue;
    if (!isFirst && strides[i] != expected)
      return false;
    isFirst = false;
    expected = strides[i] * sizes[i];
  }
  return true;
}

ClusterLoop ClusterLoop::elementwise(std::span<const int64_t> sizes, std::span<const ClusterTensor> tensors,
                                     size_t orderBy) {
  ClusterLoop loop;
  std::vector<size_t> order;
  for (size_t i = 0; i < sizes.size(); ++i) {
    loop.isEmpty |= sizes[i] == 0;
    if (sizes[i] != 1)
      order.push_back(i);
  }
  std::ranges::sort(order, [&](size_t a, size_t b) {
    const std::vector<int64_t> &strides = tensors[orderBy].strides;
    return strides[a] != strides[b] ? strides[a] > strides[b] : a < b;
  });
  std::vector<Dim> dims;
  for (size_t i : order) {
    Dim dim{sizes[i], {}};
    for (const ClusterTensor &tensor : tensors)
      dim.strides.push_back(tensor.strides[i]);
    bool merges = !dims.empty();
    for (size_t t = 0; merges && t < tensors.size(); ++t)
      merges = dims.back().strides[t] == dim.strides[t] * dim.size;
    if (merges) {
      dim.size *= dims.back().size;
      dims.back() = std::move(dim);
    } else {
      dims.push_back(std::move(dim));
    }
  }
  for (const ClusterTensor &tensor : tensors)
    loop.elementBytes.push_back(tensor.elementBytes);
  loop.setLoops(std::move(dims));
  return loop;
}

ClusterLoop ClusterLoop::rows(std::span<const int64_t> sizes, std::span<const ClusterTensor> tensors, size_t rowRank) {
  size_t outerRank = sizes.size() - rowRank;
  std::vector<ClusterTensor> outerTensors;
  Dim row;
  row.strides.assign(tensors.size(), 0);
  for (size_t i = outerRank; i < sizes.size(); ++i)
    row.size *= sizes[i];
  for (size_t t = 0; t < tensors.size(); ++t) {
    const std::vector<int64_t> &strides = tensors[t].strides;
    outerTensors.push_back({{strides.begin(), strides.begin() + static_cast<ptrdiff_t>(outerRank)}, 1});
    outerTensors[t].elementBytes = tensors[t].elementBytes;
    for (size_t i = outerRank; i < sizes.size(); ++i)
      if (sizes[i] != 1)
        row.strides[t] = strides[i]; // the innermost one that counts
  }
  // The rows themselves are an element-wise iteration; its innermost dimension is the function's outer loop.
  ClusterLoop loop = elementwise(sizes.first(outerRank), outerTensors, tensors.size() - 1);
  if (!loop.middle.strides.empty() && loop.middle.size != 1)
    loop.outer.push_back(loop.middle);
  loop.middle = std::move(loop.inner);
  loop.inner = std::move(row);
  loop.rowCount = loop.middle.size;
  for (const Dim &dim : loop.outer)
    loop.rowCount *= dim.size;
  loop.mayCutRows = false;
  return loop;
}

void ClusterLoop::setLoops(std::vector<Dim> dims) {
  auto take = [&](Dim &dim) {
    dim = {1, std::vector<int64_t>(elementBytes.size(), 0)};
    if (dims.empty())
      return;
    dim = std::move(dims.back());
    dims.pop_back();
  };
  take(inner);
  take(middle);
  outer = std::move(dims);
  rowCount = middle.size;
  for (const Dim &dim : outer)
    rowCount *= dim.size;
}

void ClusterLoop::run(ClusterFunction function, std::span<void *const> pointers) const {
  if (isEmpty)
    return;
  // Few long rows are cut, so that all threads have something to do.
  if (mayCutRows && rowCount < 4 * numThreads() && inner.size >= 2 * kGrain) {
    int64_t pieces = std::min<int64_t>((inner.size - 1) / kGrain + 1, 4 * numThreads());
    int64_t length = ((inner.size - 1) / pieces + kPieceAlignment) / kPieceAlignment * kPieceAlignment;
    runPieces(function, pointers.data(), length);
    return;
  }
  int64_t grain = std::max<int64_t>(1, kGrain / std::max<int64_t>(inner.size, 1));
  parallelFor(0, rowCount, grain,
              [&](int64_t begin, int64_t end) { runRange(function, pointers.data(), begin, end, inner.size); });
}

/// Rows [begin, end), in calls of as many as possible.
void ClusterLoop::runRange(ClusterFunction function, void *const *pointers, int64_t begin, int64_t end,
                           int64_t rowLength) const {
  size_t count = elementBytes.size();
  std::array<void *, kMaxTensors> moved;
  while (begin < end) {
    int64_t first = begin % middle.size;
    int64_t length = std::min(middle.size - first, end - begin);
    std::array<int64_t, kMaxTensors> offsets;
    for (size_t t = 0; t < count; ++t)
      offsets[t] = first * middle.strides[t];
    int64_t rest = begin / middle.size;
    for (size_t i = outer.size(); i-- > 0;) {
      int64_t index = rest % outer[i].size;
      rest /= outer[i].size;
      for (size_t t = 0; t < count; ++t)
        offsets[t] += index * outer[i].strides[t];
    }
    for (size_t t = 0; t < count; ++t)
      moved[t] = static_cast<std::byte *>(pointers[t]) + offsets[t] * elementBytes[t];
    function(moved.data(), length, rowLength, middle.strides.data(), inner.strides.data());
    begin += length;
  }
}

void ClusterLoop::runPieces(ClusterFunction function, void *const *pointers, int64_t pieceLength) const {
  size_t count = elementBytes.size();
  int64_t pieces = (inner.size - 1) / pieceLength + 1;
  parallelFor(0, rowCount * pieces, 1, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      int64_t at = i % pieces * pieceLength;
      int64_t length = std::min(pieceLength, inner.size - at);
      std::array<void *, kMaxTensors> moved;
      for (size_t t = 0; t < count; ++t)
        moved[t] = static_cast<std::byte *>(pointers[t]) + at * inner.strides[t] * elementBytes[t];
      runRange(function, moved.data(), i / pieces, i / pieces + 1, length);
    }
  });
}

} // namespace ingot
