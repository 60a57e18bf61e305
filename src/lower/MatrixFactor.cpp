// Orthogonal factors: QR, eigenvalues, singular values, and what is computed from them.
#include "lower/Linalg.h"

#include <cmath>

using namespace mlir;

namespace ingot::lower {

//===------------------------------------------------------------------------------------------===//
// QR
//===------------------------------------------------------------------------------------------===//

namespace {

struct QrFactors {
  Value a, tau;
};

QrFactors factorQr(LowerContext &ctx, Value x) {
  auto op = ctx.create<QrOp>(x.getType(), batchedType(x, {rankLimit(x)}), x);
  return {op.getA(), op.getTau()};
}

Value householder(LowerContext &ctx, const QrFactors &factors, bool isFull) {
  int64_t rows = sizeAt(factors.a, -2), columns = isFull ? rows : sizeAt(factors.a, -1);
  return ctx.create<HouseholderOp>(batchedType(factors.a, {rows, columns}), factors.a, factors.tau, isFull).getResult();
}

LogicalResult replaceByQr(LowerContext &ctx, Value x, bool isComplete, bool wantsQ) {
  if (!isMatrix(ctx, x))
    return failure(); // isMatrix said why
  QrFactors factors = factorQr(ctx, x);
  int64_t rows = rankOf(x) - 2, columns = rankOf(x) - 1;
  Size limit = ctx.smaller(ctx.dim(x, rows), ctx.dim(x, columns));
  Value r = triangle(ctx, isComplete ? factors.a : ctx.slice(factors.a, rows, 0, limit), true, 0);
  if (!wantsQ)
    return ctx.replace({emptyResult(ctx, 0), r});
  factors.a = ctx.slice(factors.a, columns, 0, limit);
  return ctx.replace({householder(ctx, factors, isComplete), r});
}

} // namespace

LogicalResult lowerLinalgQr(LowerContext &ctx) {
  StringRef mode = ctx.string("mode");
  return replaceByQr(ctx, ctx.tensor("A"), mode == "complete", mode != "r");
}

LogicalResult lowerQr(LowerContext &ctx) { return replaceByQr(ctx, ctx.tensor("self"), !ctx.flag("some"), true); }

LogicalResult lowerGeqrf(LowerContext &ctx) {
  Value x = ctx.tensor("self");
  if (!isMatrix(ctx, x))
    return failure(); // isMatrix said why
  QrFactors factors = factorQr(ctx, x);
  return ctx.replace({factors.a, factors.tau});
}

LogicalResult lowerHouseholderProduct(LowerContext &ctx) {
  Value a = ctx.tensor(ctx.has("input") ? "input" : "self"), tau = ctx.tensor(ctx.has("tau") ? "tau" : "input2");
  if (!isMatrix(ctx, a))
    return failure(); // isMatrix said why
  return ctx.replace(householder(ctx, {a, tau}, false));
}

LogicalResult lowerOrmqr(LowerContext &ctx) {
  Value a = ctx.tensor("self"), tau = ctx.tensor("input2"), c = ctx.tensor("input3");
  if (!isMatrix(ctx, a) || !isMatrix(ctx, c))
    return failure(); // isMatrix said why
  return ctx.replace(
      ctx.create<ReflectOp>(c.getType(), a, tau, c, ctx.flag("left"), ctx.flag("transpose")).getResult());
}

//===------------------------------------------------------------------------------------------===//
// Eigenvalues
//===------------------------------------------------------------------------------------------===//

EighFactors factorEigh(LowerContext &ctx, Value x, bool isUpper) {
  auto op = ctx.create<EighOp>(batchedType(x, {sizeAt(x, -1)}, realType(dtypeOf(x))), x.getType(), x, isUpper);
  return {op.getValues(), op.getVectors()};
}

LogicalResult lowerEigh(LowerContext &ctx) {
  Value x = ctx.tensor(ctx.has("A") ? "A" : "self");
  if (!isMatrix(ctx, x))
    return failure(); // isMatrix said why
  EighFactors factors = factorEigh(ctx, x, ctx.string("UPLO").lower() == "u");
  if (ctx.numResults() == 1)
    return ctx.replace(factors.values);
  if (ctx.has("compute_v") && !ctx.flag("compute_v"))
    return ctx.replace({factors.values, emptyResult(ctx, 1)});
  return ctx.replace({factors.values, factors.vectors});
}

LogicalResult lowerEig(LowerContext &ctx) {
  Value x = ctx.tensor("self");
  if (!isMatrix(ctx, x))
    return failure(); // isMatrix said why
  Type dtype = ComplexType::get(realType(dtypeOf(x)));
  auto op = ctx.create<EigOp>(batchedType(x, {sizeAt(x, -1)}, dtype), tensorType(x).clone(dtype), x);
  if (ctx.numResults() == 1)
    return ctx.replace(op.getValues());
  return ctx.replace({op.getValues(), op.getVectors()});
}

//===------------------------------------------------------------------------------------------===//
// Singular values
//===------------------------------------------------------------------------------------------===//

SvdFactors factorSvd(LowerContext &ctx, Value x, bool isFull) {
  int64_t rows = sizeAt(x, -2), columns = sizeAt(x, -1), limit = rankLimit(x);
  RankedTensorType left = batchedType(x, {rows, isFull ? rows : limit});
  RankedTensorType right = batchedType(x, {isFull ? columns : limit, columns});
  auto op = ctx.create<SvdOp>(left, batchedType(x, {limit}, realType(dtypeOf(x))), right, x, isFull);
  return {op.getU(), op.getS(), op.getVh()};
}

LogicalResult lowerLinalgSvd(LowerContext &ctx) {
  Value x = ctx.tensor("A");
  if (!isMatrix(ctx, x))
    return failure(); // isMatrix said why
  SvdFactors factors = factorSvd(ctx, x, ctx.has("full_matrices") && ctx.flag("full_matrices"));
  if (ctx.numResults() == 1)
    return ctx.replace(factors.s);
  if (ctx.has("compute_uv") && !ctx.flag("compute_uv"))
    return ctx.replace({emptyResult(ctx, 0), factors.s, emptyResult(ctx, 2)});
  return ctx.replace({factors.u, factors.s, factors.vh});
}

/// The older function: V instead of its adjoint, and zeros instead of nothing.
LogicalResult lowerSvd(LowerContext &ctx) {
  Value x = ctx.tensor("self");
  if (!isMatrix(ctx, x))
    return failure(); // isMatrix said why
  bool wantsVectors = ctx.flag("compute_uv");
  SvdFactors factors = factorSvd(ctx, x, !wantsVectors || !ctx.flag("some"));
  Value v = adjoint(ctx, factors.vh);
  if (wantsVectors)
    return ctx.replace({factors.u, factors.s, v});
  auto zeros = [&](Value like) { return ctx.full(Number::of(int64_t{0}), ctx.sizes(like), dtypeOf(like)); };
  Value left = zeros(factors.u);
  return ctx.replace({left, factors.s, zeros(v)});
}

//===------------------------------------------------------------------------------------------===//
// Tolerances: pseudo-inverse and rank
//===------------------------------------------------------------------------------------------===//

namespace {

double epsilonOf(Type dtype) { return realType(dtype).isF64() ? 0x1.0p-52 : 0x1.0p-23; }

/// max(atol, rtol * largest) where a tolerance counts, with a last dimension of 1.
struct Tolerances {
  Operand absolute = Number::of(0.0), relative = Number::of(0.0);
};

/// PyTorch's defaults: rtol is epsilon times the larger dimension, unless atol is given.
Tolerances tolerancesOf(LowerContext &ctx, Value x) {
  Tolerances result;
  for (const char *name : {"rcond", "tol"}) // the older forms have one of the two
    if (ctx.has(name)) {
      (StringRef(name) == "tol" ? result.absolute : result.relative) = ctx.operand(name);
      return result;
    }
  bool hasAbsolute = !ctx.isNone("atol"), hasRelative = !ctx.isNone("rtol");
  if (hasAbsolute)
    result.absolute = ctx.operand("atol");
  if (hasRelative) {
    result.relative = ctx.operand("rtol");
    return result;
  }
  Size larger = ctx.larger(ctx.dim(x, rankOf(x) - 2), ctx.dim(x, rankOf(x) - 1));
  Type real = realType(dtypeOf(x));
  Value automatic = ctx.binary<MulOp>(ctx.constant(Number::of(larger), real), epsilonOf(dtypeOf(x)));
  if (!hasAbsolute)
    result.relative = automatic;
  else if (result.absolute.isTensor()) // where it is zero, the default counts
    result.relative =
        ctx.select(ctx.compare<GtOp>(ctx.cast(result.absolute.tensor, real), 0), ctx.constant(0, real), automatic);
  else if (!(result.absolute.number.asDouble() > 0))
    result.relative = automatic;
  return result;
}

/// Which of the magnitudes [..., n] count.
Value counting(LowerContext &ctx, Value x, Value magnitudes) {
  Tolerances tolerances = tolerancesOf(ctx, x);
  Type real = dtypeOf(magnitudes);
  auto column = [&](const Operand &operand) {
    Value value = ctx.as(operand, real);
    return operand.isTensor() && rankOf(value) > 0 ? ctx.insertDim(value, rankOf(value)) : value;
  };
  Value largest = ctx.reduce(ReduceKind::Max, magnitudes, {rankOf(magnitudes) - 1});
  Value relative = ctx.binary<MulOp>(column(tolerances.relative), largest);
  return ctx.compare<GtOp>(magnitudes, ctx.binary<MaximumOp>(column(tolerances.absolute), relative));
}

bool isEmptyMatrix(Value x) { return sizeAt(x, -1) == 0 || sizeAt(x, -2) == 0; }

bool isHermitian(LowerContext &ctx) { return ctx.has("hermitian") && ctx.flag("hermitian"); }

/// The columns of `left` times `factors`, then times `right`.
Value sandwich(LowerContext &ctx, Value left, Value factors, Value right) {
  Value row = ctx.cast(ctx.insertDim(factors, rankOf(factors) - 1), dtypeOf(left));
  return ctx.matmul(ctx.binary<MulOp>(left, row), right);
}

} // namespace

LogicalResult lowerPinv(LowerContext &ctx) {
  Value x = ctx.tensor("self");
  if (!isMatrix(ctx, x))
    return failure(); // isMatrix said why
  if (isEmptyMatrix(x))
    return ctx.replace(ctx.full(Number::of(int64_t{0}), ctx.sizes(matrixTranspose(ctx, x)), dtypeOf(x)));
  auto inverted = [&](Value values, Value magnitudes) {
    Value isKept = counting(ctx, x, magnitudes);
    return ctx.select(isKept, ctx.unary<ReciprocalOp>(values), ctx.constant(0, dtypeOf(values)));
  };
  if (isHermitian(ctx)) {
    EighFactors factors = factorEigh(ctx, x, false);
    Value values = inverted(factors.values, ctx.unary<AbsOp>(factors.values));
    return ctx.replace(sandwich(ctx, factors.vectors, values, adjoint(ctx, factors.vectors)));
  }
  SvdFactors factors = factorSvd(ctx, x, false);
  Value values = inverted(factors.s, factors.s), right = adjoint(ctx, factors.u);
  return ctx.replace(sandwich(ctx, adjoint(ctx, factors.vh), values, right));
}

LogicalResult lowerMatrixRank(LowerContext &ctx) {
  Value x = ctx.tensor(ctx.has("input") ? "input" : "self");
  if (!isMatrix(ctx, x))
    return failure(); // isMatrix said why
  if (isEmptyMatrix(x))
    return ctx.replace(ctx.full(Number::of(int64_t{0}), batchSizes(ctx, x), ctx.i64()));
  Value magnitudes = isHermitian(ctx) ? ctx.unary<AbsOp>(factorEigh(ctx, x, false).values) : factorSvd(ctx, x, false).s;
  Value counts = ctx.cast(counting(ctx, x, magnitudes), ctx.i64());
  int64_t last = rankOf(counts) - 1;
  return ctx.replace(ctx.dropDims(ctx.reduce(ReduceKind::Sum, counts, {last}), {last}));
}

//===------------------------------------------------------------------------------------------===//
// Least squares
//===------------------------------------------------------------------------------------------===//

/// All drivers by singular values. The results that a driver does not give are empty.
LogicalResult lowerLstsq(LowerContext &ctx) {
  Value a = ctx.tensor("self"), b = ctx.tensor("b");
  if (!isMatrix(ctx, a))
    return failure(); // isMatrix said why
  bool isVector = rankOf(b) == 1 || (rankOf(a) - 1 == rankOf(b) && shapesAgree(shapeOf(b), shapeOf(a).drop_back()));
  if (isVector)
    b = ctx.insertDim(b, rankOf(b));
  broadcastBatches(ctx, a, b);
  double larger = static_cast<double>(std::max(sizeAt(a, -1), sizeAt(a, -2)));
  double rcond = ctx.optionalReal("rcond").value_or(epsilonOf(dtypeOf(a)) * std::max(larger, 1.0));
  RankedTensorType type = batchedType(a, {sizeAt(a, -1), sizeAt(b, -1)});
  auto op = ctx.create<LstsqOp>(type, batchedType(a, {}, ctx.i64()),
                                batchedType(a, {rankLimit(a)}, realType(dtypeOf(a))), a, b, APFloat(rcond));
  Value solution = op.getResult();
  StringRef driver = ctx.string("driver");
  bool givesRank = driver != "gels", givesValues = driver == "gelsd" || driver == "gelss";
  SmallVector<Value> results{solution, emptyResult(ctx, 1), emptyResult(ctx, 2), emptyResult(ctx, 3)};
  if (isVector)
    results[0] = ctx.dropDims(solution, {rankOf(solution) - 1});
  if (ctx.resultType(1).getRank() > 1 || (ctx.resultType(1).getRank() == 1 && ctx.resultType(1).getDimSize(0) != 0)) {
    Value squares = magnitude(ctx, ctx.binary<SubOp>(ctx.matmul(a, solution), b));
    int64_t rows = rankOf(squares) - 2;
    results[1] = ctx.dropDims(ctx.reduce(ReduceKind::Sum, ctx.binary<MulOp>(squares, squares), {rows}), {rows});
  }
  if (givesRank)
    results[2] = op.getRank();
  if (givesValues)
    results[3] = op.getValues();
  return ctx.replace(results);
}

} // namespace ingot::lower
