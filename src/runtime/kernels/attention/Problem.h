// An attention step after its checks.
#pragma once

#include "runtime/kernels/elementwise/Checks.h"

namespace ingot {

/// Strides of a tensor [..., heads, rows, columns]; those of leading dimensions are 0 where it is repeated.
struct AttentionStrides {
  std::vector<int64_t> batch;
  int64_t head = 0, row = 0, column = 0;

  /// Offset of a head; `sizes` are the result's leading sizes and `flat` counts them.
  int64_t offset(std::span<const int64_t> sizes, int64_t flat, int64_t head) const;
};

struct AttentionProblem {
  TensorDesc q, k, v, result;
  std::optional<TensorDesc> mask;
  std::vector<int64_t> batchSizes;
  AttentionStrides qStrides, kStrides, vStrides, maskStrides, resultStrides;
  int64_t batch = 1, heads = 1, kvHeads = 1;
  int64_t queries = 0, keys = 0, depth = 0, valueDepth = 0;
  double scale = 1;
  bool isCausal = false;
  bool hasNanRows = false; ///< what a query that sees nothing gets: NaN, or zeros

  int64_t kvHeadOf(int64_t head) const { return head / (heads / kvHeads); }
  /// Keys that the queries before `end` may see.
  int64_t visibleKeys(int64_t end) const { return isCausal ? std::min(keys, end) : keys; }
};

/// Operands by their position in the step.
enum AttentionOperand : size_t { AttentionQ, AttentionK, AttentionV, AttentionMask };

Result<std::unique_ptr<BoundKernel>> makeReferenceAttention(const AttentionProblem &problem);
/// float32 with contiguous rows of queries, for some of them at least; null where it cannot.
std::unique_ptr<BoundKernel> makePanelAttention(const AttentionProblem &problem);
/// float32 with contiguous rows.
Result<std::unique_ptr<BoundKernel>> makeTiledAttention(const AttentionProblem &problem);

/// For tests: checks a step and binds it to the reference.
Result<std::unique_ptr<BoundKernel>> bindReferenceAttention(const StepContext &context,
                                                            std::span<const TensorDesc> results);

} // namespace ingot
