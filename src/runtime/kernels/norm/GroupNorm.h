// A group_norm step after its checks.
#pragma once

#include "runtime/Kernel.h"

namespace ingot {

struct GroupNormProblem {
  TensorDesc x, result;
  int64_t batch = 1, groups = 1, channels = 1; ///< channels of a group
  int64_t positions = 1;
  bool isChannelsLast = false;
  bool hasWeight = false, hasBias = false;
  double eps = 0;
};

/// float32, channels-last: whole rows of channels at a time.
std::unique_ptr<BoundKernel> makeChannelsLastGroupNorm(const GroupNormProblem &problem);

/// For tests: any type and layout.
Result<std::unique_ptr<BoundKernel>> bindReferenceGroupNorm(const StepContext &context,
                                                            std::span<const TensorDesc> results);

} // namespace ingot
