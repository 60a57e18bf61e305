// Verifiers of OrderOps.td.
#include "dialect/OrderOps.h"
#include "dialect/Types.h"
#include "dialect/VerifyHelpers.h"

using namespace mlir;

#define GET_OP_CLASSES
#include "dialect/OrderOps.cpp.inc"

namespace ingot {} // namespace ingot
