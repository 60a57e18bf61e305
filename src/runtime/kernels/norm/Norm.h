// The references of this family, for tests.
#pragma once

#include "runtime/Kernel.h"

namespace ingot {

Result<std::unique_ptr<BoundKernel>> bindReferenceSoftmax(const StepContext &context,
                                                          std::span<const TensorDesc> results);
Result<std::unique_ptr<BoundKernel>> bindReferenceLayerNorm(const StepContext &context,
                                                            std::span<const TensorDesc> results);

} // namespace ingot
