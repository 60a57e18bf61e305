// Factorisations of matrices and what is solved by them.
#include "lower/Linalg.h"

#include <cmath>

using namespace mlir;

namespace ingot::lower {

//===------------------------------------------------------------------------------------------===//
// Shared
//===------------------------------------------------------------------------------------------===//

RankedTensorType batchedType(Value like, ArrayRef<int64_t> trailing, Type dtype) {
  SmallVector<int64_t> shape(shapeOf(like).drop_back(2));
  llvm::append_range(shape, trailing);
  return RankedTensorType::get(shape, dtype ? dtype : dtypeOf(like));
}

int64_t sizeAt(Value x, int64_t back) { return shapeOf(x)[rankOf(x) + back]; }

int64_t rankLimit(Value x) {
  int64_t rows = sizeAt(x, -2), columns = sizeAt(x, -1);
  return rows == kDynamicEntry || columns == kDynamicEntry ? kDynamicEntry : std::min(rows, columns);
}

Sizes batchSizes(LowerContext &ctx, Value x) {
  Sizes sizes = ctx.sizes(x);
  sizes.pop_back_n(2);
  return sizes;
}

bool isMatrix(LowerContext &ctx, Value x) {
  Type part = realType(dtypeOf(x));
  if (rankOf(x) >= 2 && (part.isF32() || part.isF64()))
    return true;
  (void)ctx.refuse("needs matrices of float32, float64, complex64 or complex128");
  return false;
}

Value matrixTranspose(LowerContext &ctx, Value x) { return ctx.transpose(x, rankOf(x) - 2, rankOf(x) - 1); }

Value adjoint(LowerContext &ctx, Value x) {
  if (!isComplex(dtypeOf(x)))
    return matrixTranspose(ctx, x);
  return ctx.create<AdjointOp>(batchedType(x, {sizeAt(x, -1), sizeAt(x, -2)}), x).getResult();
}

/// column - row of every element of the matrices of `x`.
static Value diagonalNumber(LowerContext &ctx, Value x) {
  Size rows = ctx.dim(x, rankOf(x) - 2);
  Value row = ctx.reshape(ctx.iota(rows), {rows, Size(1)});
  Value column = ctx.iota(ctx.dim(x, rankOf(x) - 1));
  return ctx.binary<SubOp>(column, row);
}

Value triangle(LowerContext &ctx, Value x, bool isUpper, int64_t diagonal) {
  Value number = diagonalNumber(ctx, x), limit = ctx.constant(Number::of(diagonal), ctx.i64());
  Value isKept = isUpper ? ctx.compare<GeOp>(number, limit) : ctx.compare<LeOp>(number, limit);
  return ctx.select(isKept, x, ctx.constant(0, dtypeOf(x)));
}

Value identityLike(LowerContext &ctx, Value x) {
  Value isDiagonal = ctx.compare<EqOp>(diagonalNumber(ctx, x), ctx.constant(0, ctx.i64()));
  return ctx.expand(ctx.cast(isDiagonal, dtypeOf(x)), ctx.sizes(x));
}

void broadcastBatches(LowerContext &ctx, Value &a, Value &b) {
  auto grow = [&](Value x, Value like) {
    Sizes sizes = ctx.sizes(x);
    int64_t batch = std::max(rankOf(x), rankOf(like)) - 2;
    Sizes wanted;
    for (int64_t i = 0; i < batch; ++i) {
      int64_t mine = i - (batch + 2 - rankOf(x)), others = i - (batch + 2 - rankOf(like));
      bool takesOther = mine < 0 || (others >= 0 && shapeOf(x)[mine] == 1);
      wanted.push_back(takesOther ? ctx.dim(like, others) : sizes[mine]);
    }
    wanted.push_back(sizes[rankOf(x) - 2]);
    wanted.push_back(sizes[rankOf(x) - 1]);
    return ctx.expand(x, wanted);
  };
  Value left = grow(a, b);
  b = grow(b, a);
  a = left;
}

Value emptyResult(LowerContext &ctx, size_t result) {
  return ctx.full(Number::of(int64_t{0}), {Size(0)}, ctx.resultDtype(result));
}

//===------------------------------------------------------------------------------------------===//
// Cholesky
//===------------------------------------------------------------------------------------------===//

static LogicalResult cholesky(LowerContext &ctx, StringRef check) {
  Value x = ctx.tensor("self");
  if (!isMatrix(ctx, x))
    return failure(); // isMatrix said why
  auto op = ctx.create<CholeskyOp>(x.getType(), batchedType(x, {}, ctx.builder.getI32Type()), x, ctx.flag("upper"),
                                   ctx.has("check_errors") && !ctx.flag("check_errors") ? "" : check);
  if (ctx.numResults() == 2)
    return ctx.replace({op.getFactor(), op.getInfo()});
  return ctx.replace(op.getFactor());
}

LogicalResult lowerCholesky(LowerContext &ctx) { return cholesky(ctx, "cholesky"); }
LogicalResult lowerLinalgCholesky(LowerContext &ctx) { return cholesky(ctx, "linalg.cholesky"); }

/// X of A X = B for triangular A.
static Value solveTriangular(LowerContext &ctx, Value a, Value b, bool isUpper, bool isUnit = false) {
  broadcastBatches(ctx, a, b);
  return ctx.create<TriangularSolveOp>(b.getType(), a, b, isUpper, isUnit).getResult();
}

/// X of A X = B from the Cholesky factor of A.
static Value solveCholesky(LowerContext &ctx, Value factor, Value b, bool isUpper) {
  Value other = adjoint(ctx, factor);
  Value lower = isUpper ? other : factor, upper = isUpper ? factor : other;
  return solveTriangular(ctx, upper, solveTriangular(ctx, lower, b, false), true);
}

LogicalResult lowerCholeskySolve(LowerContext &ctx) {
  Value b = ctx.tensor("self"), factor = ctx.tensor(ctx.has("A") ? "A" : "input2");
  if (!isMatrix(ctx, b) || !isMatrix(ctx, factor))
    return failure(); // isMatrix said why
  return ctx.replace(solveCholesky(ctx, factor, b, ctx.flag("upper")));
}

LogicalResult lowerCholeskyInverse(LowerContext &ctx) {
  Value factor = ctx.tensor("self");
  if (!isMatrix(ctx, factor))
    return failure(); // isMatrix said why
  return ctx.replace(solveCholesky(ctx, factor, identityLike(ctx, factor), ctx.flag("upper")));
}

//===------------------------------------------------------------------------------------------===//
// LU
//===------------------------------------------------------------------------------------------===//

LuFactors factorLu(LowerContext &ctx, Value x, StringRef check) {
  Type i32 = ctx.builder.getI32Type();
  auto op = ctx.create<LuOp>(x.getType(), batchedType(x, {rankLimit(x)}, i32), batchedType(x, {}, i32), x, check);
  return {op.getLu(), op.getPivots(), op.getInfo()};
}

Value solveLu(LowerContext &ctx, const LuFactors &factors, Value b, bool left, bool isAdjoint) {
  Value lu = factors.lu, pivots = ctx.insertDim(factors.pivots, rankOf(factors.pivots));
  Value right = left ? b : adjoint(ctx, b), unused = right;
  broadcastBatches(ctx, pivots, unused);
  broadcastBatches(ctx, lu, right);
  pivots = ctx.dropDims(pivots, {rankOf(pivots) - 1});
  // X A = B is Aᴴ Xᴴ = Bᴴ.
  Value x = ctx.create<LuSolveOp>(right.getType(), lu, pivots, right, isAdjoint == left).getResult();
  return left ? x : adjoint(ctx, x);
}

static bool pivots(LowerContext &ctx) {
  if (!ctx.has("pivot") || ctx.flag("pivot"))
    return true;
  (void)ctx.refuse("LU without pivots, which PyTorch has on GPUs only");
  return false;
}

static LogicalResult lowerFactors(LowerContext &ctx, StringRef check) {
  Value x = ctx.tensor(ctx.has("A") ? "A" : "self");
  if (!isMatrix(ctx, x) || !pivots(ctx))
    return failure(); // both said why
  LuFactors factors = factorLu(ctx, x, ctx.has("check_errors") && !ctx.flag("check_errors") ? "" : check);
  if (ctx.numResults() == 2)
    return ctx.replace({factors.lu, factors.pivots});
  return ctx.replace({factors.lu, factors.pivots, factors.info});
}

LogicalResult lowerLuFactor(LowerContext &ctx) { return lowerFactors(ctx, "linalg.lu_factor"); }
LogicalResult lowerLuWithInfo(LowerContext &ctx) {
  return lowerFactors(ctx, ctx.flag("check_errors") ? "linalg.lu_factor" : "");
}

namespace {

struct Unpacked {
  Value l, u;
};

Unpacked unpack(LowerContext &ctx, Value lu) {
  int64_t rows = rankOf(lu) - 2, columns = rankOf(lu) - 1;
  Size limit = ctx.smaller(ctx.dim(lu, rows), ctx.dim(lu, columns));
  Value l = triangle(ctx, ctx.slice(lu, columns, 0, limit), false, -1);
  Value isDiagonal = ctx.compare<EqOp>(diagonalNumber(ctx, l), ctx.constant(0, ctx.i64()));
  l = ctx.select(isDiagonal, ctx.constant(1, dtypeOf(l)), l);
  return {l, triangle(ctx, ctx.slice(lu, rows, 0, limit), true, 0)};
}

Value permutation(LowerContext &ctx, Value lu, Value pivots) {
  int64_t rows = sizeAt(lu, -2);
  return ctx.create<LuPermutationOp>(batchedType(lu, {rows, rows}), lu, pivots).getResult();
}

} // namespace

LogicalResult lowerLu(LowerContext &ctx) {
  Value x = ctx.tensor("A");
  if (!isMatrix(ctx, x) || !pivots(ctx))
    return failure(); // both said why
  LuFactors factors = factorLu(ctx, x);
  Unpacked parts = unpack(ctx, factors.lu);
  return ctx.replace({permutation(ctx, factors.lu, factors.pivots), parts.l, parts.u});
}

LogicalResult lowerLuUnpack(LowerContext &ctx) {
  Value lu = ctx.tensor("LU_data"), pivots = ctx.tensor("LU_pivots");
  if (!isMatrix(ctx, lu))
    return failure(); // isMatrix said why
  SmallVector<Value> results{emptyResult(ctx, 0), emptyResult(ctx, 1), emptyResult(ctx, 2)};
  if (ctx.flag("unpack_pivots"))
    results[0] = permutation(ctx, lu, pivots);
  if (ctx.flag("unpack_data")) {
    Unpacked parts = unpack(ctx, lu);
    results[1] = parts.l;
    results[2] = parts.u;
  }
  return ctx.replace(results);
}

LogicalResult lowerLinalgLuSolve(LowerContext &ctx) {
  Value lu = ctx.tensor("LU"), b = ctx.tensor("B");
  if (!isMatrix(ctx, lu) || !isMatrix(ctx, b))
    return failure(); // isMatrix said why
  return ctx.replace(solveLu(ctx, {lu, ctx.tensor("pivots"), {}}, b, ctx.flag("left"), ctx.flag("adjoint")));
}

LogicalResult lowerLuSolve(LowerContext &ctx) {
  Value lu = ctx.tensor("LU_data"), b = ctx.tensor("self");
  if (!isMatrix(ctx, lu) || !isMatrix(ctx, b))
    return failure(); // isMatrix said why
  return ctx.replace(solveLu(ctx, {lu, ctx.tensor("LU_pivots"), {}}, b, true, false));
}

//===------------------------------------------------------------------------------------------===//
// Solving and inverting
//===------------------------------------------------------------------------------------------===//

namespace {

/// PyTorch's rule: `b` holds vectors where it has one dimension, or the shape of `a` without its last one.
bool holdsVectors(Value a, Value b) {
  return rankOf(b) == 1 || (rankOf(a) - 1 == rankOf(b) && shapesAgree(shapeOf(b), shapeOf(a).drop_back()));
}

struct Solved {
  Value result;
  LuFactors factors;
};

Solved solve(LowerContext &ctx, Value a, Value b, bool left, StringRef check) {
  LuFactors factors = factorLu(ctx, a, check);
  bool isVector = holdsVectors(a, b);
  if (isVector)
    b = ctx.insertDim(b, rankOf(b));
  Value x = solveLu(ctx, factors, b, left, false);
  return {isVector ? ctx.dropDims(x, {rankOf(x) - 1}) : x, factors};
}

} // namespace

Value inverse(LowerContext &ctx, Value x, StringRef check) {
  return ctx.create<InverseOp>(x.getType(), batchedType(x, {}, ctx.builder.getI32Type()), x, check).getResult();
}

LogicalResult lowerSolve(LowerContext &ctx) {
  Value a = ctx.tensor("A"), b = ctx.tensor("B");
  if (!isMatrix(ctx, a) || rankOf(b) == 0)
    return ctx.refuse("needs matrices");
  bool checks = !ctx.has("check_errors") || ctx.flag("check_errors");
  Solved solved = solve(ctx, a, b, ctx.flag("left"), checks ? "linalg.solve" : "");
  if (ctx.numResults() == 1)
    return ctx.replace(solved.result);
  if (ctx.numResults() == 2)
    return ctx.replace({solved.result, solved.factors.info});
  return ctx.replace({solved.result, solved.factors.lu, solved.factors.pivots, solved.factors.info});
}

LogicalResult lowerSolveTriangular(LowerContext &ctx) {
  Value a = ctx.tensor("self"), b = ctx.tensor("B");
  if (!isMatrix(ctx, a) || !isMatrix(ctx, b))
    return failure(); // isMatrix said why
  bool left = ctx.flag("left"), isUpper = ctx.flag("upper"), isUnit = ctx.flag("unitriangular");
  if (left)
    return ctx.replace(solveTriangular(ctx, a, b, isUpper, isUnit));
  Value x = solveTriangular(ctx, matrixTranspose(ctx, a), matrixTranspose(ctx, b), !isUpper, isUnit);
  return ctx.replace(matrixTranspose(ctx, x));
}

LogicalResult lowerTriangularSolve(LowerContext &ctx) {
  Value a = ctx.tensor("A"), b = ctx.tensor("self");
  if (!isMatrix(ctx, a) || !isMatrix(ctx, b))
    return failure(); // isMatrix said why
  bool isUpper = ctx.flag("upper"), isTransposed = ctx.flag("transpose");
  broadcastBatches(ctx, a, b);
  Value coefficients = isTransposed ? matrixTranspose(ctx, a) : a;
  Value x = solveTriangular(ctx, coefficients, b, isUpper != isTransposed, ctx.flag("unitriangular"));
  return ctx.replace({x, a});
}

LogicalResult lowerInverse(LowerContext &ctx) {
  Value x = ctx.tensor(ctx.has("A") ? "A" : "self");
  if (!isMatrix(ctx, x))
    return failure(); // isMatrix said why
  bool checks = !ctx.has("check_errors") || ctx.flag("check_errors");
  auto op =
      ctx.create<InverseOp>(x.getType(), batchedType(x, {}, ctx.builder.getI32Type()), x, checks ? "linalg.inv" : "");
  if (ctx.numResults() == 2)
    return ctx.replace({op.getResult(), op.getInfo()});
  return ctx.replace(op.getResult());
}

LogicalResult lowerCheckErrors(LowerContext &ctx) {
  Value info = ctx.tensor("info");
  if (!dtypeOf(info).isInteger(32))
    return ctx.refuse("info must be of int32");
  ctx.create<CheckInfoOp>(info.getType(), info, ctx.string("api_name"));
  return ctx.replace({});
}

//===------------------------------------------------------------------------------------------===//
// Determinants
//===------------------------------------------------------------------------------------------===//

namespace {

struct Determinant {
  LuFactors factors;
  Value det, sign, logabs;
};

Determinant determinant(LowerContext &ctx, Value x) {
  // A real matrix is transposed first, as PyTorch does: these factors are results of some operators.
  Determinant result{factorLu(ctx, isComplex(dtypeOf(x)) ? x : matrixTranspose(ctx, x)), {}, {}, {}};
  RankedTensorType type = batchedType(x, {});
  auto op = ctx.create<LuDetOp>(type, type, type.clone(realType(dtypeOf(x))), result.factors.lu, result.factors.pivots);
  result.det = op.getDet();
  result.sign = op.getSign();
  result.logabs = op.getLogabs();
  return result;
}

} // namespace

LogicalResult lowerDet(LowerContext &ctx) {
  Value x = ctx.tensor(ctx.has("A") ? "A" : "self");
  if (!isMatrix(ctx, x))
    return failure(); // isMatrix said why
  Determinant found = determinant(ctx, x);
  if (ctx.numResults() == 1)
    return ctx.replace(found.det);
  return ctx.replace({found.det, found.factors.lu, found.factors.pivots});
}

LogicalResult lowerSlogdet(LowerContext &ctx) {
  Value x = ctx.tensor(ctx.has("A") ? "A" : "self");
  if (!isMatrix(ctx, x))
    return failure(); // isMatrix said why
  Determinant found = determinant(ctx, x);
  if (ctx.numResults() == 2)
    return ctx.replace({found.sign, found.logabs});
  return ctx.replace({found.sign, found.logabs, found.factors.lu, found.factors.pivots});
}

LogicalResult lowerLogdet(LowerContext &ctx) {
  Value x = ctx.tensor("self");
  if (!isMatrix(ctx, x))
    return failure(); // isMatrix said why
  Determinant found = determinant(ctx, x);
  if (isComplex(dtypeOf(x)))
    return ctx.replace(ctx.binary<AddOp>(ctx.unary<LogOp>(found.sign), ctx.cast(found.logabs, dtypeOf(x))));
  Value isNegative = ctx.compare<EqOp>(found.sign, -1);
  return ctx.replace(ctx.select(isNegative, ctx.constant(std::nan(""), dtypeOf(x)), found.logabs));
}

//===------------------------------------------------------------------------------------------===//
// LDL
//===------------------------------------------------------------------------------------------===//

LogicalResult lowerLdlFactor(LowerContext &ctx) {
  Value x = ctx.tensor("self");
  if (!isMatrix(ctx, x))
    return failure(); // isMatrix said why
  bool checks = !ctx.has("check_errors") || ctx.flag("check_errors");
  Type i32 = ctx.builder.getI32Type();
  auto op = ctx.create<LdlOp>(x.getType(), batchedType(x, {sizeAt(x, -1)}, i32), batchedType(x, {}, i32), x,
                              ctx.flag("hermitian"), checks ? "linalg.ldl_factor" : "");
  if (ctx.numResults() == 2)
    return ctx.replace({op.getLd(), op.getPivots()});
  return ctx.replace({op.getLd(), op.getPivots(), op.getInfo()});
}

LogicalResult lowerLdlSolve(LowerContext &ctx) {
  Value ld = ctx.tensor("LD"), b = ctx.tensor("B"), pivots = ctx.tensor("pivots");
  if (!isMatrix(ctx, ld) || !isMatrix(ctx, b))
    return failure(); // isMatrix said why
  Value column = ctx.insertDim(pivots, rankOf(pivots)), unused = b;
  broadcastBatches(ctx, column, unused);
  broadcastBatches(ctx, ld, b);
  pivots = ctx.dropDims(column, {rankOf(column) - 1});
  return ctx.replace(ctx.create<LdlSolveOp>(b.getType(), ld, pivots, b, ctx.flag("hermitian")).getResult());
}

} // namespace ingot::lower
