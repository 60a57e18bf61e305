#include "passes/fuse/Sizes.h"

#include "dialect/Conventions.h"

#include <llvm/ADT/TypeSwitch.h>

using namespace mlir;

namespace ingot {

Sizes::Sizes(func::FuncOp function) {
  addArguments(function);
  // Operands come before their users, also those of nested regions.
  function.walk<WalkOrder::PreOrder>([&](Operation *op) {
    for (Value result : op->getResults())
      if (isa<RankedTensorType>(result.getType()))
        addResult(op, result);
  });
}

/// Dimensions of arguments are named; the same name is the same size.
void Sizes::addArguments(func::FuncOp function) {
  if (function.isExternal())
    return;
  for (BlockArgument argument : function.getArguments()) {
    auto type = dyn_cast<RankedTensorType>(argument.getType());
    if (!type)
      continue;
    auto names = function.getArgAttrOfType<ArrayAttr>(argument.getArgNumber(), attr::kDims);
    ShapeKey key(type.getShape());
    for (auto [dim, size] : llvm::enumerate(key)) {
      if (!ShapedType::isDynamic(size))
        continue;
      auto name = names && dim < names.size() ? dyn_cast<StringAttr>(names[dim]) : StringAttr();
      size = fresh();
      if (name)
        size = symbols.try_emplace(name.str(), size).first->second;
    }
    shapes[argument] = key;
  }
}

llvm::ArrayRef<SizeKey> Sizes::of(Value tensor) {
  auto [entry, isNew] = shapes.try_emplace(tensor);
  if (isNew) { // an argument of a nested block
    llvm::append_range(entry->second, cast<RankedTensorType>(tensor.getType()).getShape());
    for (SizeKey &size : entry->second)
      size = ShapedType::isDynamic(size) ? fresh() : size;
  }
  return entry->second;
}

void Sizes::addResult(Operation *op, Value result) {
  auto type = cast<RankedTensorType>(result.getType());
  ShapeKey key(type.getShape());
  for (auto [dim, size] : llvm::enumerate(key))
    if (ShapedType::isDynamic(size))
      size = dynamicSize(op, type, static_cast<int64_t>(dim));
  shapes[result] = key;
}

SizeKey Sizes::ofNumber(Value number) {
  if (auto dim = number.getDefiningOp<DimOp>()) {
    auto axis = static_cast<int64_t>(dim.getAxis());
    if (axis >= 0 && axis < dim.getX().getType().getRank())
      return dimOf(dim.getX(), axis);
  }
  SizeKey &key = numbers[number];
  return key = key == 0 ? fresh() : key;
}

/// Entry `dim` of a list whose dynamic entries are operands.
SizeKey Sizes::listedSize(llvm::ArrayRef<int64_t> sizes, ValueRange dynamic, int64_t dim) {
  size_t position = 0;
  for (int64_t i = 0; i < dim; ++i)
    position += ShapedType::isDynamic(sizes[i]);
  return position < dynamic.size() ? ofNumber(dynamic[position]) : fresh();
}

/// The size of a broadcast dimension, where all operands that are not 1 agree.
SizeKey Sizes::broadcastSize(ValueRange operands, int64_t fromEnd) {
  SizeKey common = 1;
  for (Value operand : operands) {
    llvm::ArrayRef<SizeKey> shape = of(operand);
    if (static_cast<int64_t>(shape.size()) < fromEnd || shape[shape.size() - fromEnd] == 1)
      continue;
    SizeKey size = shape[shape.size() - fromEnd];
    if (common != 1 && common != size)
      return fresh();
    common = size;
  }
  return common;
}

SizeKey Sizes::dynamicSize(Operation *op, RankedTensorType type, int64_t dim) {
  int64_t fromEnd = type.getRank() - dim;
  if (op->hasTrait<Elementwise>())
    return broadcastSize(op->getOperands(), fromEnd);
  return llvm::TypeSwitch<Operation *, SizeKey>(op)
      .Case<SoftmaxOp, LayerNormOp, GroupNormOp, CumsumOp, FlipOp, InsertSliceOp, ReduceOp, ArgReduceOp>(
          [&](auto same) { return dimOf(same.getX(), dim); })
      .Case<PermuteOp>([&](PermuteOp permute) { return dimOf(permute.getX(), permute.getDims()[dim]); })
      .Case<MatmulOp>([&](MatmulOp product) {
        if (fromEnd == 2 || fromEnd == 1) {
          Value source = fromEnd == 2 ? product.getA() : product.getB();
          return dimOf(source, static_cast<int64_t>(of(source).size()) - fromEnd);
        }
        return broadcastSize({product.getA(), product.getB()}, fromEnd);
      })
      .Case<ReshapeOp, ExpandOp>([&](auto listed) { return listedSize(listed.getSizes(), listed.getDynamic(), dim); })
      .Case<SliceOp>([&](SliceOp slice) {
        return dim == static_cast<int64_t>(slice.getAxis()) ? fresh() : dimOf(slice.getX(), dim);
      })
      .Case<ScaledPointwiseOp>([&](auto conv) { return dim == 1 ? fresh() : dimOf(conv.getX(), dim); })
      .Case<ConvOp, DepthwiseBlockOp, MaxPoolOp, AvgPoolOp>(
          [&](auto window) { return dim == 0 ? dimOf(window.getX(), 0) : fresh(); })
      .Case<IndexSelectOp>([&](IndexSelectOp select) {
        auto axis = static_cast<int64_t>(select.getAxis());
        auto rank = static_cast<int64_t>(of(select.getIndex()).size());
        if (dim >= axis && dim < axis + rank)
          return dimOf(select.getIndex(), dim - axis);
        return dimOf(select.getX(), dim < axis ? dim : dim - rank + 1);
      })
      .Case<AttentionOp>([&](AttentionOp attention) { return fromEnd == 1 ? fresh() : dimOf(attention.getQ(), dim); })
      .Default([&](Operation *) { return fresh(); });
}

} // namespace ingot
