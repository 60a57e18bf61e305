#include "passes/fold/Channel.h"

#include "dialect/Ops.h"

using namespace mlir;

namespace ingot {

static Value reshapeTo(OpBuilder &builder, Value value, ArrayRef<int64_t> sizes) {
  auto type = cast<RankedTensorType>(value.getType());
  if (type.getShape() == sizes)
    return value;
  return builder.create<ReshapeOp>(value.getLoc(), RankedTensorType::get(sizes, type.getElementType()), value,
                                   ValueRange{}, sizes);
}

Value asChannelVector(OpBuilder &builder, Value constant, RankedTensorType target, int64_t axis) {
  auto type = cast<RankedTensorType>(constant.getType());
  int64_t channels = target.getDimSize(axis);
  if (!type.hasStaticShape() || ShapedType::isDynamic(channels) || type.getRank() > target.getRank())
    return {};
  int64_t offset = target.getRank() - type.getRank();
  for (int64_t i = 0; i < type.getRank(); ++i)
    if (type.getDimSize(i) != 1 && (i + offset != axis || type.getDimSize(i) != channels))
      return {};
  Value vector = reshapeTo(builder, constant, {type.getNumElements()});
  if (type.getNumElements() == channels)
    return vector;
  auto vectorType = RankedTensorType::get({channels}, type.getElementType());
  return builder.create<ExpandOp>(constant.getLoc(), vectorType, vector, ValueRange{}, ArrayRef<int64_t>{channels});
}

Value alongAxis(OpBuilder &builder, Value vector, int64_t rank, int64_t axis) {
  SmallVector<int64_t> sizes(rank, 1);
  sizes[axis] = cast<RankedTensorType>(vector.getType()).getDimSize(0);
  return reshapeTo(builder, vector, sizes);
}

} // namespace ingot
