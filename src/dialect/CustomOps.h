// Kernels that the user has written.
#pragma once

#include "dialect/Ops.h"

namespace ingot::attr {

/// Dictionary, on bodies: the kernel for a Metal target that the body is the reference of.
inline constexpr const char *kMetalKernel = "ingot.metal_kernel";

} // namespace ingot::attr

#define GET_OP_CLASSES
#include "dialect/CustomOps.h.inc"
