// Verifiers of SequenceOps.td.
#include "dialect/SequenceOps.h"
#include "dialect/Types.h"
#include "dialect/VerifyHelpers.h"

using namespace mlir;

#define GET_OP_CLASSES
#include "dialect/SequenceOps.cpp.inc"

namespace ingot {

/// Parts of `gates` in one gate's size; 0 for an unknown cell.
static int64_t gateCount(StringRef cell) {
  return llvm::StringSwitch<int64_t>(cell).Case("lstm", 4).Case("gru", 3).Cases("tanh", "relu", 1).Default(0);
}

LogicalResult RecurrentOp::verify() {
  RankedTensorType gates = getGates().getType(), h = getH().getType(), weight = getWeight().getType();
  bool isPacked = static_cast<bool>(getBatchSizes()), isLstm = getCell() == "lstm";
  if (gateCount(getCell()) == 0)
    return emitOpError("has an unknown cell");
  if (gates.getRank() != (isPacked ? 2 : 3) || h.getRank() != 2 || weight.getRank() != 2 ||
      !isFloat(gates.getElementType()) || gates.getElementType() != h.getElementType() ||
      gates.getElementType() != weight.getElementType())
    return emitOpError("needs gates, a hidden state [B, P] and a weight [G * H, P] of one floating-point type");
  if (!shapesAgree(weight.getShape().take_back(1), h.getShape().take_back(1)) ||
      !shapesAgree(weight.getShape().take_front(1), gates.getShape().take_back(1)))
    return emitOpError("weight does not fit gates and hidden state");
  if (isLstm != static_cast<bool>(getC()) || getLastC().size() != (isLstm ? 1U : 0U))
    return emitOpError("the cell lstm alone has a cell state");
  Shape sequence(gates.getShape());
  sequence.back() = h.getDimSize(1);
  if (failed(verifyResultType(*this, withShape(gates, sequence), getSequence().getType())))
    return failure();
  if (isLstm && failed(verifyResultType(*this, getC().getType(), cast<RankedTensorType>(getLastC().front().getType()))))
    return failure();
  return verifyResultType(*this, h, getLastH().getType());
}

LogicalResult GatedDeltaOp::verify() {
  RankedTensorType query = getQuery().getType(), value = getValue().getType(), state = getState().getType();
  if (llvm::any_of(getOperands(),
                   [](Value x) { return !cast<RankedTensorType>(x.getType()).getElementType().isF32(); }))
    return emitOpError("needs operands of type f32");
  if (query.getRank() != 4 || value.getRank() != 4 || state.getRank() != 4 || getBeta().getType().getRank() != 3)
    return emitOpError("needs query, key and value [B, H, S, D], decay and beta [B, H, S] and a state [B, H, K, V]");
  if (!shapesAgree(query.getShape(), getKey().getType().getShape()) ||
      !shapesAgree(query.getShape().drop_back(), value.getShape().drop_back()) ||
      !shapesAgree(query.getShape().drop_back(), getDecay().getType().getShape()) ||
      !shapesAgree(query.getShape().drop_back(), getBeta().getType().getShape()) ||
      !shapesAgree(query.getShape().take_front(2), state.getShape().take_front(2)) ||
      !shapesAgree({query.getDimSize(3), value.getDimSize(3)}, state.getShape().take_back(2)))
    return emitOpError("the operands do not fit each other");
  if (failed(verifyResultType(*this, value, getResult().getType())))
    return failure();
  return verifyResultType(*this, state, getLastState().getType());
}

LogicalResult CtcLossOp::verify() {
  RankedTensorType probs = getLogProbs().getType();
  if (probs.getRank() != 3 || !isFloat(probs.getElementType()) || getInputLengths().getType().getRank() != 1 ||
      getTargetLengths().getType().getRank() != 1)
    return emitOpError("needs log probabilities [T, N, C] and lengths [N]");
  return verifyResultType(*this, withShape(probs, probs.getShape().slice(1, 1)), getType());
}

LogicalResult EmbeddingBagOp::verify() {
  RankedTensorType table = getTable().getType(), offsets = getOffsets().getType();
  if (table.getRank() != 2 || getIndices().getType().getRank() != 1 || offsets.getRank() != 1)
    return emitOpError("needs a table of rows, and lists of indices and offsets");
  int64_t bags = offsets.getDimSize(0);
  if (!offsets.isDynamicDim(0) && getIncludeLastOffset())
    --bags;
  RankedTensorType counts = RankedTensorType::get({bags}, IntegerType::get(getContext(), 64));
  if (bags < 0 && !offsets.isDynamicDim(0))
    return emitOpError("has no last offset");
  if (failed(verifyResultType(*this, counts, getCounts().getType())))
    return failure();
  return verifyResultType(*this, withShape(table, {bags, table.getDimSize(1)}), getResult().getType());
}

} // namespace ingot
