// A bound kernel that is one StridedCopy of operand 0 into result 0.
#pragma once

#include "runtime/kernels/view/StridedCopy.h"

#include <memory>

namespace ingot {

/// The source starts `srcOffsetBytes` behind the first element of operand 0.
std::unique_ptr<BoundKernel> makeCopyKernel(StridedCopy copy, int64_t srcOffsetBytes = 0);

} // namespace ingot
