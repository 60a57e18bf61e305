#include "passes/Pointwise.h"

#include "passes/ConstantOnly.h"

using namespace mlir;

namespace ingot {

bool isPointwise(ConvOp conv) {
  auto isAll = [](ArrayRef<int64_t> list, int64_t value) {
    return llvm::all_of(list, [&](int64_t entry) { return entry == value; });
  };
  RankedTensorType weight = conv.getWeight().getType();
  return weight.hasStaticShape() && isAll(weight.getShape().drop_front(2), 1) && isAll(conv.getStrides(), 1) &&
         isAll(conv.getPadLow(), 0) && isAll(conv.getPadHigh(), 0) && conv.getGroups() == 1 && !conv.getTransposed() &&
         isConstantOnly(conv.getWeight());
}

bool isPlainImageConv(ConvOp conv) {
  RankedTensorType x = conv.getX().getType(), weight = conv.getWeight().getType();
  return x.getRank() == 4 && x.getElementType().isF32() && weight.hasStaticShape() && !conv.getTransposed() &&
         isConstantOnly(conv.getWeight()) && (!conv.getBias() || isConstantOnly(conv.getBias()));
}

} // namespace ingot
