#include "runtime/kernels/attention/Scores.h"

#include "runtime/kernels/elementwise/Simd.h"
#include "runtime/kernels/norm/Rows.h"

#include <algorithm>
#include <limits>

namespace ingot {
namespace {

constexpr float kHidden = -std::numeric_limits<float>::infinity();

INGOT_SIMD void addMask(float *__restrict scores, const float *__restrict mask, int64_t stride, int64_t count) {
  if (stride == 1)
    for (int64_t i = 0; i < count; ++i)
      scores[i] += mask[i];
  else
    for (int64_t i = 0; i < count; ++i)
      scores[i] += mask[i * stride];
}

INGOT_SIMD void hide(float *__restrict scores, const bool *__restrict mask, int64_t stride, int64_t count) {
  if (stride == 1)
    for (int64_t i = 0; i < count; ++i)
      scores[i] = mask[i] ? scores[i] : kHidden;
  else
    for (int64_t i = 0; i < count; ++i)
      scores[i] = mask[i * stride] ? scores[i] : kHidden;
}

void applyMask(const AttentionProblem &problem, const KernelArgs &args, const AttentionRow &row, float *scores,
               int64_t keys) {
  if (!problem.mask)
    return;
  const AttentionStrides &strides = problem.maskStrides;
  const int64_t offset = strides.offset(problem.batchSizes, row.batch, row.head) + row.query * strides.row;
  const void *mask = args.operands[AttentionMask];
  if (problem.mask->dtype == DType::Bool)
    hide(scores, static_cast<const bool *>(mask) + offset, strides.column, keys);
  else
    addMask(scores, static_cast<const float *>(mask) + offset, strides.column, keys);
}

} // namespace

float weightsOf(const AttentionProblem &problem, const KernelArgs &args, const AttentionRow &row, float *scores,
                int64_t keys) {
  applyMask(problem, args, row, scores, keys);
  const int64_t visible = problem.visibleKeys(row.query + 1);
  std::fill(scores + visible, scores + keys, 0.0f);
  const float largest = rows::maximum(scores, visible);
  if (largest == kHidden) {
    std::fill(scores, scores + visible, 0.0f);
    return problem.hasNanRows ? std::numeric_limits<float>::quiet_NaN() : 0.0f;
  }
  return static_cast<float>(1.0 / rows::expShifted(scores, scores, largest, visible));
}

} // namespace ingot
