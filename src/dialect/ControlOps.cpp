// Verifiers of ControlOps.td.
#include "dialect/ControlOps.h"
#include "dialect/Types.h"
#include "dialect/VerifyHelpers.h"

using namespace mlir;

#define GET_OP_CLASSES
#include "dialect/ControlOps.cpp.inc"

namespace ingot {

/// Sizes may be known on one side only.
static bool typesAgree(Type a, Type b) {
  auto left = dyn_cast<RankedTensorType>(a), right = dyn_cast<RankedTensorType>(b);
  if (!left || !right)
    return a == b;
  return left.getElementType() == right.getElementType() && shapesAgree(left.getShape(), right.getShape());
}

static bool typesAgree(TypeRange a, TypeRange b) {
  return a.size() == b.size() &&
         llvm::all_of(llvm::zip(a, b), [](auto pair) { return typesAgree(std::get<0>(pair), std::get<1>(pair)); });
}

/// The sub-graph takes `arguments` and gives `results`.
static LogicalResult verifyBody(Operation *op, Region &body, TypeRange arguments, TypeRange results) {
  auto yield = body.hasOneBlock() && !body.front().empty() ? dyn_cast<YieldOp>(body.front().back()) : YieldOp();
  if (!yield)
    return op->emitOpError("sub-graphs have one block that ends in ingot.yield");
  if (!typesAgree(body.front().getArgumentTypes(), arguments))
    return op->emitOpError("the arguments of a sub-graph do not fit its operands");
  if (!typesAgree(yield.getValues().getTypes(), results))
    return op->emitOpError("what a sub-graph gives does not fit the results");
  return success();
}

static bool isCondition(Type type) {
  if (auto tensor = dyn_cast<RankedTensorType>(type))
    return tensor.getElementType().isInteger(1);
  return type.isInteger(1);
}

LogicalResult ItemOp::verify() {
  int64_t count = elementCount(getX().getType().getShape());
  if (count != 1 && count != ShapedType::kDynamic)
    return emitOpError("needs a tensor of one element, not ") << count;
  return success();
}

OpFoldResult ItemOp::fold(FoldAdaptor adaptor) {
  auto elements = dyn_cast_or_null<DenseElementsAttr>(adaptor.getX());
  if (!elements || elements.getNumElements() != 1)
    return {};
  Attribute element = *elements.getValues<Attribute>().begin();
  Builder builder(getContext());
  if (auto number = dyn_cast<FloatAttr>(element); number && getType().isF64())
    return builder.getF64FloatAttr(number.getValueAsDouble());
  if (auto number = dyn_cast<IntegerAttr>(element); number && getType().isInteger(1))
    return builder.getBoolAttr(!number.getValue().isZero());
  if (auto number = dyn_cast<IntegerAttr>(element); number && getType().isInteger(64)) {
    bool isUnsigned = number.getType().isUnsignedInteger() || number.getType().isInteger(1);
    return builder.getI64IntegerAttr(isUnsigned ? static_cast<int64_t>(number.getValue().getZExtValue())
                                                : number.getValue().getSExtValue());
  }
  return {};
}

LogicalResult IfOp::verify() {
  if (!isCondition(getCondition().getType()))
    return emitOpError("the condition must be a boolean");
  if (failed(verifyBody(*this, getThen(), getValues().getTypes(), getResultTypes())))
    return failure();
  return verifyBody(*this, getOtherwise(), getValues().getTypes(), getResultTypes());
}

LogicalResult WhileOp::verify() {
  if (failed(verifyBody(*this, getBody(), getOperandTypes(), getResultTypes())))
    return failure();
  auto yield = dyn_cast<YieldOp>(getTest().front().back());
  if (!yield || yield.getValues().size() != 1 || !isCondition(yield.getValues()[0].getType()))
    return emitOpError("the test must give one boolean");
  return verifyBody(*this, getTest(), getOperandTypes(), yield.getValues().getTypes());
}

static RankedTensorType sliceOf(Type sequence) {
  auto type = cast<RankedTensorType>(sequence);
  return RankedTensorType::get(type.getShape().drop_front(), type.getElementType());
}

LogicalResult ForEachOp::verify() {
  size_t carried = getCarried().size();
  if (getSequences().empty() || getResults().size() < carried || (getAssociative() && carried != 0))
    return emitOpError("needs sequences, and a result for each carried value");
  SmallVector<Type> arguments(getCarried().getTypes()), results(getResults().take_front(carried).getTypes());
  for (size_t round = 0; round < (getAssociative() ? 2 : 1); ++round)
    for (Type type : getSequences().getTypes()) {
      if (cast<RankedTensorType>(type).getRank() == 0)
        return emitOpError("sequences have a first dimension");
      arguments.push_back(sliceOf(type));
    }
  llvm::append_range(arguments, getExtra().getTypes());
  for (Type type : getResults().drop_front(carried).getTypes()) {
    auto stacked = dyn_cast<RankedTensorType>(type);
    if (!stacked || stacked.getRank() == 0)
      return emitOpError("stacked results have a first dimension");
    results.push_back(sliceOf(type));
  }
  return verifyBody(*this, getBody(), arguments, results);
}

} // namespace ingot
