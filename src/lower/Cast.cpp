// Conversions between element types, and operators that give their operand back.
#include "lower/Lowering.h"

using namespace mlir;

namespace ingot::lower {

LogicalResult lowerIdentity(LowerContext &ctx) { return ctx.replace(ctx.tensor(ctx.has("self") ? "self" : "input")); }

/// A copy whose elements lie otherwise is the same value.
LogicalResult lowerCopyStrided(LowerContext &ctx) { return ctx.replace(ctx.tensor("a")); }

LogicalResult lowerTo(LowerContext &ctx) {
  Value x = ctx.tensor("self");
  if (auto dtype = dyn_cast_or_null<TypeAttr>(ctx.attr("dtype")))
    return ctx.replace(ctx.cast(x, dtype.getValue()));
  return ctx.replace(x);
}

/// To the type that the operator's name says.
LogicalResult lowerToResult(LowerContext &ctx) { return ctx.replace(ctx.cast(ctx.tensor("self"), ctx.resultDtype())); }

/// What decompositions have for a conversion.
LogicalResult lowerConvertPrim(LowerContext &ctx) { return ctx.replace(ctx.cast(ctx.tensor("a"), ctx.resultDtype())); }

/// to.other, type_as.
LogicalResult lowerToOther(LowerContext &ctx) {
  return ctx.replace(ctx.cast(ctx.tensor("self"), dtypeOf(ctx.tensor("other"))));
}

/// The functional form of copy_: `src` broadcast to self's shape, in its type.
LogicalResult lowerCopy(LowerContext &ctx) {
  Value self = ctx.tensor("self");
  Value src = ctx.cast(ctx.tensor("src"), dtypeOf(self));
  return ctx.replace(ctx.expand(src, ctx.sizes(self)));
}

/// Assertions about sizes and types; they hold by construction, or are checked at the entry.
LogicalResult lowerNothing(LowerContext &ctx) { return ctx.replace(ArrayRef<Value>()); }

} // namespace ingot::lower
