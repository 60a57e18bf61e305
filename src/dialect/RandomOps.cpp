// Verifiers of RandomOps.td.
#include "dialect/RandomOps.h"
#include "dialect/Types.h"
#include "dialect/VerifyHelpers.h"

using namespace mlir;

#define GET_OP_CLASSES
#include "dialect/RandomOps.cpp.inc"

namespace ingot {} // namespace ingot
