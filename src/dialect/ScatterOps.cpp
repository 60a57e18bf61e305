// Verifiers of ScatterOps.td.
#include "dialect/ScatterOps.h"
#include "dialect/Types.h"
#include "dialect/VerifyHelpers.h"

using namespace mlir;

#define GET_OP_CLASSES
#include "dialect/ScatterOps.cpp.inc"

namespace ingot {} // namespace ingot
