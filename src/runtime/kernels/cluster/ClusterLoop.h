// The loops around a compiled cluster: which elements one call of the compiled function sees.
#pragma once

#include "runtime/Kernel.h"

#include <cstdint>
#include <span>
#include <vector>

namespace ingot {

/// What codegen compiles: a two-dimensional loop, n0 outside and n1 inside. `pointers` are the operands, then
/// the results; strides are in elements, one a pointer.
using ClusterFunction = void (*)(void *const *pointers, int64_t n0, int64_t n1, const int64_t *strides0,
                                 const int64_t *strides1);

/// A tensor as the loops see it: a stride for each dimension of the iteration, 0 where it is broadcast.
struct ClusterTensor {
  std::vector<int64_t> strides;
  int64_t elementBytes = 1;
};

class ClusterLoop {
public:
  /// Element-wise: dimensions in the memory order of tensor `orderBy`, merged where all tensors allow it.
  static ClusterLoop elementwise(std::span<const int64_t> sizes, std::span<const ClusterTensor> tensors,
                                 size_t orderBy);
  /// The last `rowRank` dimensions are one row, which a call sees as a whole. They must be mergeable in every
  /// tensor (see mergesRow).
  static ClusterLoop rows(std::span<const int64_t> sizes, std::span<const ClusterTensor> tensors, size_t rowRank);

  /// Runs the function over everything, on several threads where it is worth it.
  void run(ClusterFunction function, std::span<void *const> pointers) const;

  static constexpr size_t kMaxTensors = 256;

private:
  struct Dim {
    int64_t size = 1;
    std::vector<int64_t> strides; ///< in elements, one a tensor
  };

  void setLoops(std::vector<Dim> dims);
  void runRange(ClusterFunction function, void *const *pointers, int64_t begin, int64_t end, int64_t rowLength) const;
  void runPieces(ClusterFunction function, void *const *pointers, int64_t pieceLength) const;

  std::vector<int64_t> elementBytes;
  std::vector<Dim> outer; ///< iterated here
  Dim middle, inner;      ///< iterated by the function
  int64_t rowCount = 1;   ///< iterations of outer and middle
  bool mayCutRows = true;
  bool isEmpty = false;
};

/// Whether the last `rowRank` dimensions of a tensor lie in memory like one.
bool mergesRow(std::span<const int64_t> sizes, std::span<const int64_t> strides, size_t rowRank);

} // namespace ingot
