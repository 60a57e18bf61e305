// The scores of one query: masked, and turned into weights.
#pragma once

#include "runtime/kernels/attention/Problem.h"

namespace ingot {

struct AttentionRow {
  int64_t batch, head, query;
};

/// Turns scores into weights that still have to be multiplied by the number returned. A query that sees nothing gets
/// weights of 0, and NaN or 0 as the number.
float weightsOf(const AttentionProblem &problem, const KernelArgs &args, const AttentionRow &row, float *scores,
                int64_t keys);

} // namespace ingot
