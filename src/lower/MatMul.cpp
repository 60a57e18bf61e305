// Matrix products.
#include "lower/Complex.h"
#include "lower/Lowering.h"

using namespace mlir;

namespace ingot::lower {

namespace {

/// torch.matmul: vectors become matrices of one row or column, and lose that again in the result.
LogicalResult product(LowerContext &ctx, Value a, Value b) {
  if (rankOf(a) == 0 || rankOf(b) == 0)
    return ctx.refuse("zero-dimensional tensors have no matrix product");
  bool isRow = rankOf(a) == 1, isColumn = rankOf(b) == 1;
  if (isRow)
    a = ctx.insertDim(a, 0);
  if (isColumn)
    b = ctx.insertDim(b, 1);
  Value result = ctx.matmul(a, b);
  SmallVector<int64_t> dropped;
  if (isRow)
    dropped.push_back(rankOf(result) - 2);
  if (isColumn)
    dropped.push_back(rankOf(result) - 1);
  return ctx.replace(ctx.dropDims(result, dropped));
}

/// Both have `rank` dimensions.
bool areOfRank(LowerContext &ctx, Value a, int64_t rankA, Value b, int64_t rankB) {
  if (rankOf(a) == rankA && rankOf(b) == rankB)
    return true;
  (void)ctx.refuse("the operands have other ranks than the operator takes");
  return false;
}

LogicalResult productOfRank(LowerContext &ctx, StringRef second, int64_t rankA, int64_t rankB) {
  Value a = ctx.tensor("self"), b = ctx.tensor(second);
  return areOfRank(ctx, a, rankA, b, rankB) ? product(ctx, a, b) : failure();
}

/// beta * self + alpha * (a @ b). With factors, 16-bit floats are rounded once, at the end.
LogicalResult addProduct(LowerContext &ctx, Value a, Value b) {
  Number beta = ctx.number("beta"), alpha = ctx.number("alpha");
  Value self = ctx.tensor("self");
  bool hasFactors = !alpha.is(1) || !(beta.is(0) || beta.is(1));
  Type dtype = dtypeOf(a), compute = hasFactors ? computeType(dtype) : dtype;
  auto scaled = [&](Value x, const Number &factor) {
    return factor.is(1) ? x : ctx.binary<MulOp>(x, ctx.constant(factor, compute));
  };
  a = ctx.cast(a, compute);
  b = ctx.cast(b, compute);
  if (beta.is(0)) // self does not count, not even its NaNs
    return ctx.replace(ctx.cast(scaled(ctx.matmul(a, b), alpha), dtype));
  self = scaled(ctx.cast(self, compute), beta);
  Value result = alpha.is(1) ? ctx.matmul(a, b, self) : ctx.binary<AddOp>(self, scaled(ctx.matmul(a, b), alpha));
  return ctx.replace(ctx.cast(result, dtype));
}

} // namespace

LogicalResult lowerMatmul(LowerContext &ctx) { return product(ctx, ctx.tensor("self"), ctx.tensor("other")); }

LogicalResult lowerMm(LowerContext &ctx) { return productOfRank(ctx, "mat2", 2, 2); }
LogicalResult lowerBmm(LowerContext &ctx) { return productOfRank(ctx, "mat2", 3, 3); }
LogicalResult lowerMv(LowerContext &ctx) { return productOfRank(ctx, "vec", 2, 1); }
LogicalResult lowerDot(LowerContext &ctx) { return productOfRank(ctx, ctx.has("tensor") ? "tensor" : "other", 1, 1); }

LogicalResult lowerAddmm(LowerContext &ctx) {
  Value a = ctx.tensor("mat1"), b = ctx.tensor("mat2");
  return areOfRank(ctx, a, 2, b, 2) ? addProduct(ctx, a, b) : failure();
}

LogicalResult lowerBaddbmm(LowerContext &ctx) {
  Value a = ctx.tensor("batch1"), b = ctx.tensor("batch2");
  return areOfRank(ctx, a, 3, b, 3) ? addProduct(ctx, a, b) : failure();
}

LogicalResult lowerAddmv(LowerContext &ctx) {
  Value a = ctx.tensor("mat"), b = ctx.tensor("vec"), self = ctx.tensor("self");
  if (!areOfRank(ctx, a, 2, b, 1))
    return failure(); // areOfRank said why
  Value result = ctx.dropDims(ctx.matmul(a, ctx.insertDim(b, 1)), {1});
  auto scaled = [&](Value x, const Number &factor) {
    return factor.is(1) ? x : ctx.binary<MulOp>(x, ctx.constant(factor, dtypeOf(x)));
  };
  result = scaled(result, ctx.number("alpha"));
  if (!ctx.number("beta").is(0))
    result = ctx.binary<AddOp>(scaled(self, ctx.number("beta")), result);
  return ctx.replace(result);
}

LogicalResult lowerLinear(LowerContext &ctx) {
  Value x = ctx.tensor("input"), weight = ctx.tensor("weight");
  Value bias = ctx.optionalTensor("bias");
  if (rankOf(x) == 0 || rankOf(weight) == 0 || rankOf(weight) > 2)
    return ctx.refuse("needs a tensor and a matrix");
  if (rankOf(weight) == 1) {
    if (bias)
      return ctx.refuse("a vector of weights with a bias");
    return product(ctx, x, weight);
  }
  bool isVector = rankOf(x) == 1;
  if (isVector)
    x = ctx.insertDim(x, 0);
  Value result = ctx.matmul(x, ctx.transpose(weight, 0, 1), bias);
  return ctx.replace(isVector ? ctx.dropDims(result, {0}) : result);
}

LogicalResult lowerOuter(LowerContext &ctx) {
  Value a = ctx.tensor("self"), b = ctx.tensor("vec2");
  if (!areOfRank(ctx, a, 1, b, 1))
    return failure(); // areOfRank said why
  Type dtype = promoteTypes(dtypeOf(a), dtypeOf(b));
  if (!dtype)
    return ctx.refuse("PyTorch has no common type for these operands");
  Value column = ctx.insertDim(ctx.cast(a, dtype), 1);
  return ctx.replace(ctx.binary<MulOp>(column, ctx.cast(b, dtype)));
}

} // namespace ingot::lower
