#include "lower/CustomLowering.h"

#include "dialect/ControlOps.h"
#include "dialect/Types.h"
#include "import/Location.h"
#include "lower/PluginBuilder.h"

#include "llvm/Support/raw_ostream.h"

using namespace mlir;

namespace ingot::lower {

std::string loweringTarget(StringRef name) {
  name.consume_back(".default");
  return name.str();
}

namespace {

LogicalResult refuseCustom(LowerContext &ctx, const Twine &why) { return ctx.refuse(kCustomPrefix + why); }

std::string text(Type type) {
  std::string text;
  llvm::raw_string_ostream(text) << type;
  return text;
}

/// Narrower types that are taken for the node's own, and widened.
bool isAccepted(Type have, Type want) {
  if (want.isSignlessInteger(64))
    return have.isSignlessInteger(32) || have.isUnsignedInteger(32);
  if (want.isF64())
    return have.isF32();
  auto complex = dyn_cast<ComplexType>(have), wanted = dyn_cast<ComplexType>(want);
  return complex && wanted && wanted.getElementType().isF32() && complex.getElementType().isF16();
}

/// What differs between a result and what the program says, as "rank 2 vs 3"; empty when nothing does.
std::string difference(RankedTensorType have, RankedTensorType want) {
  if (have.getRank() != want.getRank())
    return "rank " + std::to_string(have.getRank()) + " vs " + std::to_string(want.getRank());
  if (have.getElementType() != want.getElementType() && !isAccepted(have.getElementType(), want.getElementType()))
    return "dtype " + text(have.getElementType()) + " vs " + text(want.getElementType());
  for (int64_t i = 0; i < want.getRank(); ++i)
    if (!have.isDynamicDim(i) && !want.isDynamicDim(i) && have.getDimSize(i) != want.getDimSize(i))
      return "dim[" + std::to_string(i) + "] " + std::to_string(have.getDimSize(i)) + " vs " +
             std::to_string(want.getDimSize(i));
  return "";
}

/// A number where the node has one: a number of that type, or the only element of a tensor.
Value fitNumber(LowerContext &ctx, Value value, Type want) {
  auto tensor = dyn_cast<RankedTensorType>(value.getType());
  if (!tensor || elementCount(tensor.getShape()) != 1)
    return value.getType() == want ? value : Value();
  Value element = ctx.cast(value, want);
  return ctx.create<ItemOp>(want, element).getResult();
}

/// The value as result number `index` of the node; null after refusing.
Value fitResult(LowerContext &ctx, Value value, size_t index) {
  Type want = ctx.op->getResult(index).getType();
  std::string place = sourceInfo(ctx.op.getLoc()).node + "[" + std::to_string(index) + "]: ";
  std::string types = " (the lowering gives " + text(value.getType()) + ", the program says " + text(want) + ")";
  auto wanted = dyn_cast<RankedTensorType>(want);
  if (!wanted) {
    Value number = fitNumber(ctx, value, want);
    if (!number)
      (void)refuseCustom(ctx, place + "dtype " + text(value.getType()) + " vs " + text(want) + types);
    return number;
  }
  if (!isa<RankedTensorType>(value.getType()))
    value = ctx.create<FromScalarOp>(RankedTensorType::get({}, value.getType()), value);
  auto have = cast<RankedTensorType>(value.getType());
  if (std::string problem = difference(have, wanted); !problem.empty()) {
    (void)refuseCustom(ctx, place + problem + types);
    return {};
  }
  return ctx.cast(value, wanted.getElementType());
}

LogicalResult takeResults(LowerContext &ctx, const ingot_builder &builder) {
  if (!builder.hasResults)
    return refuseCustom(ctx, "it gives no results");
  if (builder.results.size() != ctx.numResults())
    return refuseCustom(ctx, "it gives " + Twine(builder.results.size()) + " results, and the node has " +
                                 Twine(ctx.numResults()));
  SmallVector<Value> values;
  for (auto [i, value] : llvm::enumerate(builder.results)) {
    if (!value && ctx.isUsed(i))
      return refuseCustom(ctx, "it gives no result number " + Twine(i) + ", which is used");
    values.push_back(value ? fitResult(ctx, value, i) : Value());
    if (ctx.isRefused())
      return failure();
  }
  return ctx.replace(values);
}

} // namespace

LogicalResult lowerByCustom(const ingot_lowering &lowering, LowerContext &ctx) {
  ingot_builder builder(ctx.builder, ctx.loc, ctx.op);
  if (lowering.lower(&builderApi(), &builder, lowering.user) != INGOT_PLUGIN_OK)
    return refuseCustom(ctx, builder.error.empty() ? "it gives no reason" : builder.error);
  return takeResults(ctx, builder);
}

} // namespace ingot::lower
