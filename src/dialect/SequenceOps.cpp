// Verifiers of SequenceOps.td.
#include "dialect/SequenceOps.h"
#include "dialect/Types.h"
#include "dialect/VerifyHelpers.h"

using namespace mlir;

#define GET_OP_CLASSES
#include "dialect/SequenceOps.cpp.inc"

namespace ingot {} // namespace ingot
