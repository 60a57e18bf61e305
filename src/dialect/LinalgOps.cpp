// Verifiers of LinalgOps.td.
#include "dialect/LinalgOps.h"
#include "dialect/Types.h"
#include "dialect/VerifyHelpers.h"

using namespace mlir;

#define GET_OP_CLASSES
#include "dialect/LinalgOps.cpp.inc"

namespace ingot {} // namespace ingot
