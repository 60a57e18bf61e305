// Verifiers of WindowOps.td.
#include "dialect/WindowOps.h"
#include "dialect/Types.h"
#include "dialect/VerifyHelpers.h"

using namespace mlir;

#define GET_OP_CLASSES
#include "dialect/WindowOps.cpp.inc"

namespace ingot {} // namespace ingot
