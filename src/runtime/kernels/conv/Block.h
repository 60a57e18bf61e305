// A depthwise convolution with what stands around it in a model: a pointwise one that makes its image, and the means of its result.
#pragma once

#include "runtime/kernels/conv/Problem.h"

namespace ingot {

/// Operands and results by their position in the step; the first three are those of a convolution.
enum BlockOperand : size_t { BlockX, BlockWeight, BlockBias, BlockExpandWeight, BlockExpandBias };
enum BlockResult : size_t { BlockImage, BlockMeans };

struct BlockProblem {
  std::optional<ConvProblem> expand; ///< pointwise; its result is what the other one reads
  ConvProblem depthwise;
  bool hasMeans = false; ///< of every channel over all pixels
};

/// Keeps what is made between the parts in the cache; null where it cannot, or would hardly be faster.
std::unique_ptr<BoundKernel> makeDepthwiseBlock(const BlockProblem &problem);

/// For tests: one reference after the other.
Result<std::unique_ptr<BoundKernel>> bindReferenceBlock(const StepContext &context,
                                                        std::span<const TensorDesc> results);

} // namespace ingot
