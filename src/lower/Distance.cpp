// Distances, similarities and products that are sums of products.
#include "lower/Bounds.h"
#include "lower/Complex.h"
#include "lower/Pick.h"
#include "lower/Reduce.h"

#include "mlir/IR/BuiltinAttributes.h"

#include <cmath>

using namespace mlir;

namespace ingot::lower {

namespace {

/// The p-norm of x - y along the last dimension, which goes away.
Value distance(LowerContext &ctx, Value x, Value y, double p) {
  Value difference = ctx.binary<SubOp>(x, y);
  int64_t last = rankOf(difference) - 1;
  return ctx.dropDims(vectorNorm(ctx, difference, p, {last}), {last});
}

} // namespace

LogicalResult lowerDist(LowerContext &ctx) {
  Value x = ctx.tensor("self"), y = ctx.tensor("other");
  Type dtype = promoteTypes(dtypeOf(x), dtypeOf(y));
  if (!dtype || isIntegral(dtype))
    return ctx.refuse("PyTorch gives distances of floating-point tensors only");
  Value difference = ctx.cast(ctx.binary<SubOp>(ctx.cast(x, dtype), ctx.cast(y, dtype)), computeType(dtype));
  SmallVector<int64_t> all = axisRange(0, rankOf(difference));
  Value norm = ctx.dropDims(vectorNorm(ctx, difference, ctx.real("p"), all), all);
  return ctx.replace(ctx.cast(norm, ctx.resultDtype()));
}

namespace {

/// sqrt(|x|² + |y|² - 2 x·y) between all rows, as one product of matrices: [-2x, |x|², 1] times [y, 1, |y|²].
Value euclidean(LowerContext &ctx, Value x, Value y) {
  auto squares = [&](Value rows) {
    return ctx.reduce(ReduceKind::Sum, ctx.binary<MulOp>(rows, rows), {rankOf(rows) - 1});
  };
  auto ones = [&](Value column) { return ctx.full(Number::of(int64_t{1}), ctx.sizes(column), dtypeOf(column)); };
  int64_t lastX = rankOf(x) - 1, lastY = rankOf(y) - 1;
  Value xx = squares(x), yy = squares(y);
  Value left = ctx.concat({ctx.binary<MulOp>(x, -2), xx, ones(xx)}, lastX);
  Value right = ctx.concat({y, ones(yy), yy}, lastY);
  Value square = ctx.matmul(left, ctx.transpose(right, lastY - 1, lastY));
  return ctx.unary<SqrtOp>(ctx.binary<MaximumOp>(square, 0));
}

/// Whether PyTorch takes the product of matrices: asked to, or for many rows.
bool usesProduct(LowerContext &ctx, Value x, Value y) {
  constexpr int64_t manyRows = 25;
  int64_t mode = ctx.isNone("compute_mode") ? 0 : ctx.integer("compute_mode");
  auto isMany = [](Value rows) { return shapeOf(rows)[rankOf(rows) - 2] > manyRows; };
  return ctx.real("p") == 2 && (mode == 1 || (mode == 0 && (isMany(x) || isMany(y))));
}

} // namespace

/// Between all rows of x1 and all rows of x2.
LogicalResult lowerCdist(LowerContext &ctx) {
  Value x = ctx.tensor("x1"), y = ctx.tensor("x2");
  if (rankOf(x) < 2 || rankOf(y) < 2)
    return ctx.refuse("needs matrices");
  Value rows = ctx.insertDim(x, rankOf(x) - 1), columns = ctx.insertDim(y, rankOf(y) - 2);
  if (shapeOf(x).back() == 0) {
    Sizes sizes = broadcastSizes(ctx, {rows, columns});
    sizes.pop_back();
    return ctx.replace(ctx.full(Number::of(int64_t{0}), sizes, dtypeOf(x)));
  }
  if (usesProduct(ctx, x, y))
    return ctx.replace(euclidean(ctx, x, y));
  return ctx.replace(distance(ctx, rows, columns, ctx.real("p")));
}

LogicalResult lowerEuclideanDist(LowerContext &ctx) {
  Value x = ctx.tensor("x1"), y = ctx.tensor("x2");
  if (rankOf(x) < 2 || rankOf(y) < 2)
    return ctx.refuse("needs matrices");
  return ctx.replace(euclidean(ctx, x, y));
}

LogicalResult lowerPdist(LowerContext &ctx) {
  Value x = ctx.tensor("self");
  if (rankOf(x) != 2 || !tensorType(x).hasStaticShape())
    return ctx.refuse("takes a matrix of known size");
  int64_t count = shapeOf(x)[0];
  if (count > kMaxTableElements || count * (count - 1) / 2 > kMaxTableElements)
    return ctx.refuse("there are too many pairs of rows");
  SmallVector<int64_t> first, second;
  for (int64_t i = 0; i < count; ++i)
    for (int64_t j = i + 1; j < count; ++j) {
      first.push_back(i);
      second.push_back(j);
    }
  if (first.empty() || shapeOf(x)[1] == 0)
    return ctx.replace(ctx.full(Number::of(int64_t{0}), {Size(static_cast<int64_t>(first.size()))}, dtypeOf(x)));
  auto rows = [&](ArrayRef<int64_t> numbers) {
    auto type = RankedTensorType::get({static_cast<int64_t>(numbers.size())}, ctx.i64());
    Value index = ctx.create<ConstantOp>(DenseElementsAttr::get(type, numbers)).getResult();
    return ctx.indexSelect(x, index, 0);
  };
  Value left = rows(first);
  return ctx.replace(distance(ctx, left, rows(second), ctx.real("p")));
}

LogicalResult lowerPairwiseDistance(LowerContext &ctx) {
  Value x = ctx.tensor("x1"), y = ctx.tensor("x2");
  Type dtype = promoteTypes(dtypeOf(x), dtypeOf(y));
  if (!dtype)
    return ctx.refuse("PyTorch has no common type for these operands");
  Value difference = ctx.binary<SubOp>(ctx.cast(x, dtype), ctx.cast(y, dtype));
  difference = ctx.binary<AddOp>(ctx.cast(difference, floatType(dtype)), ctx.real("eps"));
  difference = ctx.cast(difference, computeType(dtypeOf(difference)));
  int64_t last = rankOf(difference) - 1;
  if (last < 0)
    return ctx.refuse("needs a dimension");
  Value norm = ctx.cast(vectorNorm(ctx, difference, ctx.real("p"), {last}), ctx.resultDtype());
  return ctx.replace(ctx.flag("keepdim") ? norm : ctx.dropDims(norm, {last}));
}

LogicalResult lowerCosineSimilarity(LowerContext &ctx) {
  Value x = ctx.tensor("x1"), y = ctx.tensor("x2");
  Type dtype = promoteTypes(dtypeOf(x), dtypeOf(y));
  if (!dtype || !isFloat(dtype))
    return ctx.refuse("takes floating-point tensors");
  Sizes sizes = broadcastSizes(ctx, {x, y});
  x = atLeastVector(ctx, ctx.expand(ctx.cast(x, dtype), sizes));
  y = atLeastVector(ctx, ctx.expand(ctx.cast(y, dtype), sizes));
  int64_t axis = ctx.axis("dim", static_cast<int64_t>(sizes.size()));
  Type compute = computeType(dtype);
  auto direction = [&](Value vector) {
    Value norm = ctx.cast(vectorNorm(ctx, ctx.cast(vector, compute), 2, {axis}), dtype);
    return ctx.binary<DivOp>(vector, ctx.binary<MaximumOp>(norm, ctx.real("eps")));
  };
  Value left = direction(x);
  Value products = ctx.cast(ctx.binary<MulOp>(left, direction(y)), compute);
  return ctx.replace(ctx.cast(ctx.dropDims(ctx.reduce(ReduceKind::Sum, products, {axis}), {axis}), dtype));
}

/// The norm of every slice along `dim`, of the whole for -1, in the type of computation.
static Value normExcept(LowerContext &ctx, Value v, double p) {
  Value wide = ctx.cast(v, computeType(dtypeOf(v)));
  SmallVector<int64_t> others = axisRange(0, rankOf(v));
  if (ctx.integer("dim") == -1)
    return ctx.reshape(vectorNorm(ctx, wide, p, others), {});
  others.erase(others.begin() + ctx.axis("dim", rankOf(v)));
  return vectorNorm(ctx, wide, p, others);
}

LogicalResult lowerNormExceptDim(LowerContext &ctx) {
  Value v = ctx.tensor("v");
  return ctx.replace(ctx.cast(normExcept(ctx, v, static_cast<double>(ctx.integer("pow"))), dtypeOf(v)));
}

/// v * (g / |v|), and the norms where they are asked for.
LogicalResult lowerWeightNorm(LowerContext &ctx) {
  Value v = ctx.tensor("v"), g = ctx.tensor("g");
  Value norm = normExcept(ctx, v, 2);
  Value factor = ctx.binary<DivOp>(ctx.cast(g, dtypeOf(norm)), norm);
  Value result = ctx.cast(ctx.binary<MulOp>(ctx.cast(v, dtypeOf(norm)), factor), dtypeOf(v));
  if (ctx.numResults() == 1)
    return ctx.replace(result);
  return ctx.replace({result, ctx.cast(norm, ctx.resultDtype(1))});
}

/// Slices along `dim` whose norm is above maxnorm are shortened to it.
LogicalResult lowerRenorm(LowerContext &ctx) {
  Value x = ctx.tensor("self");
  if (rankOf(x) < 2)
    return ctx.refuse("needs two dimensions");
  int64_t axis = ctx.axis("dim", rankOf(x));
  SmallVector<int64_t> others = axisRange(0, rankOf(x));
  others.erase(others.begin() + axis);
  Type dtype = dtypeOf(x);
  Value norm = vectorNorm(ctx, ctx.cast(x, computeType(dtype)), ctx.real("p"), others);
  double limit = ctx.real("maxnorm");
  Value shorter = ctx.binary<DivOp>(ctx.constant(limit, dtypeOf(norm)), ctx.binary<AddOp>(norm, 1e-7));
  Value factor = ctx.select(ctx.compare<GtOp>(norm, limit), shorter, ctx.constant(1, dtypeOf(norm)));
  return ctx.replace(ctx.binary<MulOp>(x, ctx.cast(factor, dtype)));
}

//===------------------------------------------------------------------------------------------===//
// Products
//===------------------------------------------------------------------------------------------===//

namespace {

/// Dimensions that are kept, then those that are summed over, as a matrix.
struct Folded {
  Value matrix;
  Sizes kept;
};

Folded fold(LowerContext &ctx, Value x, ArrayRef<int64_t> summed, bool summedFirst) {
  SmallVector<int64_t> order, keptAxes;
  Folded result;
  Size rows = 1, columns = 1;
  for (int64_t i = 0; i < rankOf(x); ++i) {
    if (llvm::is_contained(summed, i))
      continue;
    keptAxes.push_back(i);
    result.kept.push_back(ctx.dim(x, i));
    rows = ctx.times(rows, ctx.dim(x, i));
  }
  for (int64_t axis : summed)
    columns = ctx.times(columns, ctx.dim(x, axis));
  if (summedFirst) {
    llvm::append_range(order, summed);
    llvm::append_range(order, keptAxes);
    std::swap(rows, columns);
  } else {
    llvm::append_range(order, keptAxes);
    llvm::append_range(order, summed);
  }
  result.matrix = ctx.reshape(ctx.permute(x, order), {rows, columns});
  return result;
}

/// Sums over pairs of dimensions; where one has size 1, the other is summed first.
LogicalResult contract(LowerContext &ctx, Value a, Value b, ArrayRef<int64_t> dimsA, ArrayRef<int64_t> dimsB) {
  Type dtype = ctx.resultDtype();
  Type computed = dtype.isInteger(1) ? ctx.i64() : dtype; // whether any pair is true
  a = ctx.cast(a, computed);
  b = ctx.cast(b, computed);
  for (auto [i, j] : llvm::zip_equal(dimsA, dimsB)) {
    if (shapeOf(a)[i] == 1 && shapeOf(b)[j] != 1)
      b = ctx.reduce(ReduceKind::Sum, b, {j});
    else if (shapeOf(b)[j] == 1 && shapeOf(a)[i] != 1)
      a = ctx.reduce(ReduceKind::Sum, a, {i});
  }
  Folded left = fold(ctx, a, dimsA, false), right = fold(ctx, b, dimsB, true);
  Sizes sizes = left.kept;
  llvm::append_range(sizes, right.kept);
  return ctx.replace(ctx.cast(ctx.reshape(ctx.matmul(left.matrix, right.matrix), sizes), dtype));
}

} // namespace

LogicalResult lowerTensordot(LowerContext &ctx) {
  Value a = ctx.tensor("self"), b = ctx.tensor("other");
  SmallVector<int64_t> dimsA = ctx.integers("dims_self"), dimsB = ctx.integers("dims_other");
  if (dimsA.size() != dimsB.size())
    return ctx.refuse("the lists of dimensions have different lengths");
  for (int64_t &dim : dimsA)
    dim = ctx.normalizeAxis(dim, rankOf(a));
  for (int64_t &dim : dimsB)
    dim = ctx.normalizeAxis(dim, rankOf(b));
  if (ctx.isRefused())
    return failure();
  return contract(ctx, a, b, dimsA, dimsB);
}

LogicalResult lowerInner(LowerContext &ctx) {
  Value a = ctx.tensor("self"), b = ctx.tensor("other");
  if (rankOf(a) == 0 || rankOf(b) == 0)
    return ctx.replace(ctx.binary<MulOp>(ctx.cast(a, ctx.resultDtype()), ctx.cast(b, ctx.resultDtype())));
  return contract(ctx, a, b, {rankOf(a) - 1}, {rankOf(b) - 1});
}

namespace {

/// beta * self + product; without beta, self does not count, not even its NaNs.
LogicalResult addToSelf(LowerContext &ctx, Value product) {
  Number beta = ctx.number("beta");
  if (beta.is(0))
    return ctx.replace(product);
  Value self = ctx.cast(ctx.tensor("self"), ctx.resultDtype());
  if (!beta.is(1))
    self = ctx.binary<MulOp>(self, ctx.constant(beta, dtypeOf(self)));
  return ctx.replace(ctx.binary<AddOp>(self, product));
}

} // namespace

LogicalResult lowerAddr(LowerContext &ctx) {
  Value a = ctx.tensor("vec1"), b = ctx.tensor("vec2");
  if (rankOf(a) != 1 || rankOf(b) != 1)
    return ctx.refuse("needs vectors");
  Type dtype = ctx.resultDtype();
  // alpha * vec1 comes first, and float16 shows it.
  a = ctx.cast(a, dtype);
  Number alpha = ctx.number("alpha");
  if (!alpha.is(1))
    a = ctx.binary<MulOp>(a, ctx.constant(alpha, dtype));
  return addToSelf(ctx, ctx.binary<MulOp>(ctx.insertDim(a, 1), ctx.cast(b, dtype)));
}

/// One product after another is added and rounded: float16 and bfloat16 show it.
static LogicalResult addOneByOne(LowerContext &ctx, Value a, Value b) {
  Type dtype = ctx.resultDtype(), compute = computeType(dtype);
  Value sum = ctx.cast(ctx.tensor("self"), compute);
  Number beta = ctx.number("beta"), alpha = ctx.number("alpha");
  auto matrix = [&](Value batch, int64_t i) {
    return ctx.cast(ctx.dropDims(ctx.slice(batch, 0, i, i + 1), {0}), compute);
  };
  for (int64_t i = 0; i < shapeOf(a).front(); ++i) {
    Value product = ctx.binary<MulOp>(ctx.matmul(matrix(a, i), matrix(b, i)), ctx.constant(alpha, compute));
    Value scaled = i > 0 ? sum : ctx.binary<MulOp>(sum, ctx.constant(beta, compute));
    Value next = i == 0 && beta.is(0) ? product : ctx.binary<AddOp>(scaled, product);
    sum = ctx.cast(ctx.cast(next, dtype), compute);
  }
  return ctx.replace(ctx.cast(sum, dtype));
}

/// A sum of products of matrices is one product of longer ones.
LogicalResult lowerAddbmm(LowerContext &ctx) {
  Value a = ctx.tensor("batch1"), b = ctx.tensor("batch2");
  if (rankOf(a) != 3 || rankOf(b) != 3)
    return ctx.refuse("needs batches of matrices");
  constexpr int64_t manyProducts = 256;
  if (isReducedFloat(ctx.resultDtype()) && shapeOf(a).front() > 0 && shapeOf(a).front() <= manyProducts)
    return addOneByOne(ctx, a, b);
  Folded left = fold(ctx, a, {0, 2}, false), right = fold(ctx, b, {0, 1}, true);
  Value product = ctx.cast(ctx.matmul(left.matrix, right.matrix), ctx.resultDtype());
  if (Number alpha = ctx.number("alpha"); !alpha.is(1))
    product = ctx.binary<MulOp>(product, ctx.constant(alpha, dtypeOf(product)));
  return addToSelf(ctx, product);
}

/// vdot of vectors, and linalg_vecdot: the first is conjugated.
LogicalResult lowerVecdot(LowerContext &ctx) {
  Value x = ctx.tensor(ctx.has("x") ? "x" : "self"), y = ctx.tensor(ctx.has("y") ? "y" : "other");
  Type dtype = ctx.resultDtype();
  x = conjugate(ctx, ctx.cast(x, dtype));
  Type compute = computeType(dtype);
  Value products = ctx.binary<MulOp>(ctx.cast(x, compute), ctx.cast(ctx.cast(y, dtype), compute));
  if (rankOf(products) == 0)
    return ctx.refuse("needs a dimension");
  int64_t axis = ctx.has("dim") ? ctx.axis("dim", rankOf(products)) : 0;
  return ctx.replace(ctx.cast(ctx.dropDims(ctx.reduce(ReduceKind::Sum, products, {axis}), {axis}), dtype));
}

} // namespace ingot::lower
