// Verifiers of exported nodes, sources of values, symbolic numbers and clusters.
#include "dialect/Ops.h"
#include "dialect/Types.h"
#include "dialect/VerifyHelpers.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;

#define GET_OP_CLASSES
#include "dialect/Ops.cpp.inc"

namespace ingot {

/// Indices of operands and regions in `args` exist.
static LogicalResult verifyReferences(AtenOp op) {
  auto check = [&](int64_t index, size_t count, StringRef what) {
    if (index >= 0 && index < static_cast<int64_t>(count))
      return WalkResult::advance();
    op.emitOpError("has no ") << what << " number " << index;
    return WalkResult::interrupt();
  };
  WalkResult result = op.getArgs().walk([&](Attribute attribute) {
    if (auto value = dyn_cast<ValueRefAttr>(attribute))
      return check(value.getIndex(), op.getValues().size(), "operand");
    if (auto region = dyn_cast<RegionRefAttr>(attribute))
      return check(region.getIndex(), op.getGraphs().size(), "region");
    return WalkResult::advance();
  });
  return failure(result.wasInterrupted());
}

LogicalResult AtenOp::verify() {
  auto [space, name] = getTarget().split("::");
  if (space.empty() || name.empty())
    return emitOpError("target must be 'namespace::name', not '") << getTarget() << "'";
  for (Region &graph : getGraphs())
    if (!graph.hasOneBlock() || graph.front().empty() || !isa<YieldOp>(graph.front().back()))
      return emitOpError("sub-graphs have one block that ends in ingot.yield");
  return verifyReferences(*this);
}

LogicalResult WeightOp::verify() {
  if (getKey().empty())
    return emitOpError("needs a key");
  if (!getType().hasStaticShape())
    return emitOpError("the sizes of a weight are known");
  return success();
}

LogicalResult ConstantOp::verify() {
  if (!isa<DenseElementsAttr, DenseResourceElementsAttr>(getValue()))
    return emitOpError("value must be dense");
  return success();
}

LogicalResult IotaOp::verify() {
  if (getStart().getType() != getStep().getType())
    return emitOpError("start and step have different types");
  if (getType().getRank() != 1)
    return emitOpError("result must have one dimension");
  IntegerAttr count;
  if (!getType().isDynamicDim(0) && matchPattern(getCount(), m_Constant(&count)) &&
      count.getInt() != getType().getDimSize(0))
    return emitOpError("result must have ") << count.getInt() << " elements";
  return success();
}

LogicalResult DimOp::verify() { return verifyAxis(*this, getAxis(), getX().getType().getRank()); }

LogicalResult FromScalarOp::verify() {
  RankedTensorType type = getType();
  if (type.getRank() != 0 || type.getElementType() != getX().getType())
    return emitOpError("result must be a zero-dimensional tensor of ") << getX().getType();
  return success();
}

static LogicalResult verifyTypesMatch(Operation *op, TypeRange have, TypeRange want, StringRef what) {
  if (have != want)
    return op->emitOpError("types of ") << what << " do not match";
  return success();
}

LogicalResult ClusterOp::verify() {
  Block &block = getBody().front();
  auto yield = dyn_cast_or_null<YieldOp>(block.empty() ? nullptr : &block.back());
  if (!yield)
    return emitOpError("body must end in ingot.yield");
  if (failed(
          verifyTypesMatch(*this, block.getArgumentTypes(), getValues().getTypes(), "block arguments and operands")) ||
      failed(verifyTypesMatch(*this, yield.getValues().getTypes(), getResultTypes(), "yielded values and results")))
    return failure();
  for (Operation &op : block.without_terminator()) {
    auto constant = dyn_cast<ConstantOp>(op);
    bool single = constant && constant.getType().getNumElements() == 1;
    if (!op.hasTrait<Elementwise>() && !isa<ReduceOp>(op) && !single)
      return op.emitOpError("cannot be in a cluster");
  }
  return success();
}

} // namespace ingot
