// Verifiers of CustomOps.td.
#include "dialect/CustomOps.h"
#include "dialect/VerifyHelpers.h"

using namespace mlir;

#define GET_OP_CLASSES
#include "dialect/CustomOps.cpp.inc"

namespace ingot {

LogicalResult CustomOp::verify() {
  if (getNumResults() == 0)
    return emitOpError("needs a result");
  auto inputs = static_cast<int64_t>(getInputs());
  if (inputs < 0 || inputs > static_cast<int64_t>(getValues().size()))
    return emitOpError("has ") << getValues().size() << " values, fewer than its " << inputs << " inputs";
  ValueRange dynamic = getValues().drop_front(inputs);
  if (!llvm::all_of(dynamic.getTypes(), [](Type type) { return type.isSignlessInteger(64); }))
    return emitOpError("needs sizes that are i64");
  if (failed(verifyDynamic(*this, getSizes(), dynamic.size())))
    return failure();
  ShapeRef sizes = getSizes();
  for (Type type : getResultTypes()) {
    auto tensor = cast<RankedTensorType>(type);
    auto rank = static_cast<size_t>(tensor.getRank());
    if (sizes.size() < rank || !shapesAgree(sizes.take_front(rank), tensor.getShape()))
      return emitOpError("has sizes that are not those of its results");
    sizes = sizes.drop_front(rank);
  }
  if (!sizes.empty())
    return emitOpError("has more sizes than its results");
  return success();
}

} // namespace ingot
