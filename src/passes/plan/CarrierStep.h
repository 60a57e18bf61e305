// Exported nodes that were not lowered, as steps of the kernel `aten` (runtime/kernels/fallback). Their attributes:
//
//   target   "aten::add.Tensor"
//   args     JSON object, every argument by its schema name:
//              {"value": 0}                   the step's operand 0, a tensor or a number
//              3, 1.5, true, "x", null        literals; null is None
//              [...]                          lists of any of these
//              {"dtype": "float32"}           also {"device"}, {"layout"}, {"memory_format"}
//              {"complex": "1.5,-2"}          real and imaginary part
//              {"float": "inf"}               also -inf and nan, which JSON does not have
//   returns  JSON list, only where returns are None, unused, or several with a list: a result's number, a list of them, or
//            null for what is no result
//   writes   JSON list of arguments whose new content follows as further results; absent when the operator's schema is
//            not known, and so not what it writes
//   into     with `writes` of one argument: the operator is a view of it, and the last operand is copied into this one of
//            its results; the returns are not results
#pragma once

#include "base/Result.h"
#include "dialect/Ops.h"
#include "runtime/Plan.h"

namespace ingot {

Result<Attributes> carrierAttributes(AtenOp op);

} // namespace ingot
