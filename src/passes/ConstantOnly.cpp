#include "passes/ConstantOnly.h"

#include "dialect/Ops.h"

#include <llvm/ADT/SetVector.h>
#include <mlir/Interfaces/SideEffectInterfaces.h>

using namespace mlir;

namespace ingot {

bool isConstantOnly(Value value) {
  // An explicit work list: chains of views over weights can be long, and files choose their length.
  llvm::SetVector<Operation *> work;
  auto push = [&](Value v) {
    Operation *op = v.getDefiningOp();
    if (!op || !isPure(op) || op->getNumRegions() != 0)
      return false;
    work.insert(op);
    return true;
  };
  if (!push(value))
    return false;
  for (size_t i = 0; i < work.size(); ++i)
    for (Value operand : work[i]->getOperands())
      if (!push(operand))
        return false;
  return true;
}

bool isSplatOf(Value value, double expected) {
  auto constant = value.getDefiningOp<ConstantOp>();
  if (!constant)
    return false;
  auto elements = dyn_cast<DenseElementsAttr>(constant.getValue());
  if (!elements || !elements.isSplat())
    return false;
  if (isa<FloatType>(elements.getElementType()))
    return elements.getSplatValue<APFloat>().convertToDouble() == expected;
  return false;
}

} // namespace ingot
