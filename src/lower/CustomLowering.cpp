#include "lower/CustomLowering.h"

#include "import/Location.h"
#include "lower/FitType.h"
#include "lower/PluginBuilder.h"

using namespace mlir;

namespace ingot::lower {

std::string loweringTarget(StringRef name) {
  name.consume_back(".default");
  return name.str();
}

namespace {

LogicalResult refuseCustom(LowerContext &ctx, const Twine &why) { return ctx.refuse(kCustomPrefix + why); }

/// The value as result number `index` of the node; null after refusing.
Value fitResult(LowerContext &ctx, Value value, size_t index) {
  Type want = ctx.op->getResult(index).getType();
  std::string given = typeText(value.getType()), problem;
  Value fitting = fitType(ctx, value, want, problem);
  if (!fitting)
    (void)refuseCustom(ctx, sourceInfo(ctx.op.getLoc()).node + "[" + Twine(index) + "]: " + problem +
                                " (the lowering gives " + given + ", the program says " + typeText(want) + ")");
  return fitting;
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
