// Verifiers of SpecialOps.td.
#include "dialect/SpecialOps.h"
#include "dialect/Types.h"
#include "dialect/VerifyHelpers.h"

using namespace mlir;

#define GET_OP_CLASSES
#include "dialect/SpecialOps.cpp.inc"

namespace ingot {} // namespace ingot
