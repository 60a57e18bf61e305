// Verifiers of ControlOps.td.
#include "dialect/ControlOps.h"
#include "dialect/Types.h"
#include "dialect/VerifyHelpers.h"

using namespace mlir;

#define GET_OP_CLASSES
#include "dialect/ControlOps.cpp.inc"

namespace ingot {} // namespace ingot
