#include "passes/functionalise/Statistics.h"

#include "import/Carrier.h"

using namespace mlir;

namespace ingot {

static StringRef nameOf(AtenOp op) { return TargetName(op.getTarget()).name; }

bool keepsStatistics(AtenOp op) {
  return nameOf(op) == "aten::_native_batch_norm_legit" && !booleanOf(op, "training").value_or(true);
}

bool updatesStatistics(AtenOp op) {
  StringRef name = nameOf(op);
  Value mean = operandOf(op, "running_mean");
  if (!mean || !isa<RankedTensorType>(mean.getType()) || !operandOf(op, "running_var"))
    return false;
  if (name == "aten::_batch_norm_with_update")
    return true;
  bool training = booleanOf(op, "training").value_or(false) || booleanOf(op, "use_input_stats").value_or(false);
  bool norm = name == "aten::batch_norm" || name == "aten::native_batch_norm" ||
              name == "aten::_native_batch_norm_legit" || name == "aten::instance_norm" ||
              name == "aten::cudnn_batch_norm" || name == "aten::miopen_batch_norm";
  return norm && training;
}

namespace {

std::optional<int64_t> literalOf(OpFoldResult size) {
  auto literal = dyn_cast_or_null<IntegerAttr>(dyn_cast<Attribute>(size));
  return literal ? std::optional(literal.getInt()) : std::nullopt;
}

/// Makes carriers at one place.
class Maker {
public:
  Maker(OpBuilder &builder, AtenOp op) : builder(builder), op(op) {}

  RankedTensorType typeOf(StringRef argument) { return cast<RankedTensorType>(operandOf(op, argument).getType()); }

  /// The new statistics are the last two results.
  StatisticsUpdate batchNorm(StringRef target, TypeRange ownResults) {
    CarrierBuilder carrier(builder, op.getLoc(), target);
    for (StringRef name : {"input", "weight", "bias", "running_mean", "running_var", "momentum", "eps"})
      carrier.copy(op, name);
    if (!target.ends_with("_with_update_functional"))
      carrier.arg("training", builder.getBoolAttr(true));
    SmallVector<Type> types(ownResults);
    types.push_back(typeOf("running_mean"));
    types.push_back(typeOf("running_var"));
    AtenOp pure = carrier.create(types);
    unsigned own = ownResults.size();
    StatisticsUpdate update;
    for (unsigned i = 0; i < op->getNumResults(); ++i)
      update.results.push_back(pure.getResult(i));
    update.mean = pure.getResult(own);
    update.variance = pure.getResult(own + 1);
    return update;
  }

  /// A batch norm of every image's every channel: [1, N * C, ...]; the statistics are means over the images.
  StatisticsUpdate instanceNorm() {
    auto x = typeOf("input"), mean = typeOf("running_mean"), variance = typeOf("running_var");
    OpFoldResult batch = sizeAt(0), channels = sizeAt(1), merged = product(batch, channels);
    SmallVector<OpFoldResult> flat = {number(1), merged}, whole = {batch, channels};
    for (int64_t i = 2; i < x.getRank(); ++i) {
      flat.push_back(sizeAt(i));
      whole.push_back(flat.back());
    }
    CarrierBuilder carrier(builder, op.getLoc(), "aten::_native_batch_norm_legit_functional");
    carrier.arg("input", reshape(operandOf(op, "input"), flat));
    for (StringRef name : {"weight", "bias", "running_mean", "running_var"}) {
      if (Value value = operandOf(op, name))
        carrier.arg(name, repeat(value, batch));
      else
        carrier.copy(op, name);
    }
    carrier.copy(op, "momentum").copy(op, "eps").arg("training", builder.getBoolAttr(true));
    auto statistics = [&](RankedTensorType type) { return shaped(type, {merged}); };
    AtenOp pure =
        carrier.create({shaped(x, flat), statistics(mean), statistics(mean), statistics(mean), statistics(variance)});
    StatisticsUpdate update;
    update.results.push_back(reshape(pure.getResult(0), whole));
    update.mean = meanOverImages(pure.getResult(3), mean, batch, channels);
    update.variance = meanOverImages(pure.getResult(4), variance, batch, channels);
    return update;
  }

private:
  OpFoldResult number(int64_t value) { return builder.getI64IntegerAttr(value); }

  OpFoldResult sizeAt(int64_t axis) {
    auto x = typeOf("input");
    if (!x.isDynamicDim(axis))
      return number(x.getDimSize(axis));
    return CarrierBuilder(builder, op.getLoc(), "aten::sym_size.int")
        .arg("self", operandOf(op, "input"))
        .arg("dim", axis)
        .value(builder.getI64Type());
  }

  OpFoldResult product(OpFoldResult a, OpFoldResult b) {
    std::optional<int64_t> left = literalOf(a), right = literalOf(b);
    if (left && right)
      return number(*left * *right);
    CarrierBuilder carrier(builder, op.getLoc(), "_operator::mul");
    for (auto [name, factor] : {std::pair("a", a), std::pair("b", b)}) {
      if (auto value = dyn_cast<Value>(factor))
        carrier.arg(name, value);
      else
        carrier.arg(name, cast<Attribute>(factor));
    }
    return carrier.value(builder.getI64Type());
  }

  static RankedTensorType shaped(RankedTensorType like, ArrayRef<OpFoldResult> sizes) {
    SmallVector<int64_t> shape;
    for (OpFoldResult size : sizes)
      shape.push_back(literalOf(size).value_or(ShapedType::kDynamic));
    return RankedTensorType::get(shape, like.getElementType());
  }

  Value reshape(Value x, ArrayRef<OpFoldResult> sizes) {
    return CarrierBuilder(builder, op.getLoc(), "aten::reshape")
        .arg("self", x)
        .arg("shape", sizes)
        .value(shaped(cast<RankedTensorType>(x.getType()), sizes));
  }

  Value repeat(Value x, OpFoldResult count) {
    auto type = cast<RankedTensorType>(x.getType());
    OpFoldResult size = product(count, sizeAt(1));
    return CarrierBuilder(builder, op.getLoc(), "aten::repeat")
        .arg("self", x)
        .arg("repeats", ArrayRef<OpFoldResult>(count))
        .value(shaped(type, {size}));
  }

  Value meanOverImages(Value x, RankedTensorType type, OpFoldResult batch, OpFoldResult channels) {
    return CarrierBuilder(builder, op.getLoc(), "aten::mean.dim")
        .arg("self", reshape(x, {batch, channels}))
        .arg("dim", ArrayRef<OpFoldResult>(number(0)))
        .value(type);
  }

  OpBuilder &builder;
  AtenOp op;
};

} // namespace

StatisticsUpdate updateStatistics(OpBuilder &builder, AtenOp op) {
  Maker maker(builder, op);
  if (nameOf(op) == "aten::instance_norm")
    return maker.instanceNorm();
  SmallVector<Type> types(op->getResultTypes());
  if (nameOf(op) == "aten::_batch_norm_with_update")
    return maker.batchNorm("aten::_batch_norm_with_update_functional", types);
  // Norms that give their result alone have no statistics of the batch to take the types from.
  auto mean = maker.typeOf("running_mean");
  types.resize(3, mean);
  return maker.batchNorm("aten::_native_batch_norm_legit_functional", types);
}

} // namespace ingot
