// Norms and condition of matrices, powers, exponentials, products of several matrices, cross products.
#include "dialect/OrderOps.h"
#include "lower/Linalg.h"
#include "lower/Reduce.h"

#include <cmath>
#include <limits>

using namespace mlir;

namespace ingot::lower {

//===------------------------------------------------------------------------------------------===//
// Norms
//===------------------------------------------------------------------------------------------===//

namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

/// An order that is a name has no number.
struct Order {
  StringRef name;
  double number = 0;
};

/// Of the singular values over two dimensions, which stay with size 1.
template <typename F> Value overSingularValues(LowerContext &ctx, Value x, ArrayRef<int64_t> dims, F reduce) {
  SmallVector<int64_t> order;
  for (int64_t i = 0; i < rankOf(x); ++i)
    if (i != dims[0] && i != dims[1])
      order.push_back(i);
  llvm::append_range(order, dims);
  Value values = factorSvd(ctx, ctx.permute(x, order), false).s;
  Value reduced = reduce(values, rankOf(values) - 1);
  Sizes sizes;
  for (int64_t i = 0; i < rankOf(x); ++i)
    sizes.push_back(i == dims[0] || i == dims[1] ? Size(1) : ctx.dim(x, i));
  return ctx.reshape(reduced, sizes);
}

/// The largest or smallest magnitude along `dim`; the largest of none is zero.
Value extremeAlong(LowerContext &ctx, Value sizes, ReduceKind kind, int64_t dim) {
  if (kind != ReduceKind::Max || shapeOf(sizes)[dim] != 0)
    return ctx.reduce(kind, sizes, {dim});
  Sizes one = ctx.sizes(sizes);
  one[dim] = 1;
  return ctx.full(Number::of(0.0), one, dtypeOf(sizes));
}

/// Null after refusing.
Value matrixNorm(LowerContext &ctx, Value x, const Order &order, ArrayRef<int64_t> dims) {
  if (order.name == "fro")
    return vectorNorm(ctx, x, 2, dims);
  if (order.name == "nuc")
    return overSingularValues(ctx, x, dims,
                              [&](Value values, int64_t axis) { return ctx.reduce(ReduceKind::Sum, values, {axis}); });
  double p = order.number;
  ReduceKind kind = p > 0 ? ReduceKind::Max : ReduceKind::Min;
  if (order.name.empty() && std::abs(p) == 2)
    return overSingularValues(ctx, x, dims,
                              [&](Value values, int64_t axis) { return extremeAlong(ctx, values, kind, axis); });
  if (order.name.empty() && (std::abs(p) == 1 || std::isinf(p))) {
    bool isRows = std::isinf(p);
    Value sums = ctx.reduce(ReduceKind::Sum, magnitude(ctx, x), {dims[isRows ? 1 : 0]});
    return extremeAlong(ctx, sums, kind, dims[isRows ? 0 : 1]);
  }
  (void)ctx.refuse("PyTorch has no matrix norm of this order");
  return {};
}

/// The operand in the type that the norm is computed in; the result is rounded at the end.
Value normOperand(LowerContext &ctx) {
  Value x = ctx.tensor("self");
  auto dtype = ctx.has("dtype") ? dyn_cast<TypeAttr>(ctx.attr("dtype")) : TypeAttr();
  if (dtype)
    x = ctx.cast(x, dtype.getValue());
  return isComplex(dtypeOf(x)) ? x : ctx.cast(x, computeType(dtypeOf(x)));
}

LogicalResult finishNorm(LowerContext &ctx, Value norm, ArrayRef<int64_t> dims) {
  if (!norm)
    return failure(); // matrixNorm said why
  Value result = ctx.cast(norm, ctx.resultDtype());
  bool keeps = ctx.has("keepdim") && ctx.flag("keepdim");
  return ctx.replace(keeps ? result : ctx.dropDims(result, dims));
}

Order orderOf(LowerContext &ctx, StringRef name, double fallback) {
  StringRef text = ctx.string(name);
  if (!text.empty())
    return {text, text == "inf" ? kInfinity : text == "-inf" ? -kInfinity : 0};
  return {"", ctx.optionalReal(name).value_or(fallback)};
}

bool areNumbers(LowerContext &ctx, Value x) {
  if (isFloat(dtypeOf(x)) || isComplex(dtypeOf(x)))
    return true;
  (void)ctx.refuse("PyTorch has norms of floating-point and complex tensors only");
  return false;
}

} // namespace

LogicalResult lowerVectorNorm(LowerContext &ctx) {
  Value x = normOperand(ctx);
  if (!areNumbers(ctx, x))
    return failure(); // areNumbers said why
  double p = ctx.optionalReal(ctx.has("ord") ? "ord" : "p").value_or(2);
  SmallVector<int64_t> dims = ctx.has("dim") ? ctx.axes("dim", rankOf(x)) : axisRange(0, rankOf(x));
  return finishNorm(ctx, vectorNorm(ctx, x, p, dims), dims);
}

LogicalResult lowerMatrixNorm(LowerContext &ctx) {
  Value x = normOperand(ctx);
  SmallVector<int64_t> dims;
  for (int64_t dim : ctx.integers("dim"))
    dims.push_back(ctx.normalizeAxis(dim, rankOf(x)));
  if (!areNumbers(ctx, x) || dims.size() != 2)
    return ctx.refuse("needs two dimensions");
  return finishNorm(ctx, matrixNorm(ctx, x, orderOf(ctx, "ord", 2), dims), dims);
}

LogicalResult lowerLinalgNorm(LowerContext &ctx) {
  Value x = normOperand(ctx);
  if (!areNumbers(ctx, x))
    return failure(); // areNumbers said why
  SmallVector<int64_t> dims;
  for (int64_t dim : ctx.integers("dim"))
    dims.push_back(ctx.normalizeAxis(dim, rankOf(x)));
  bool hasOrder = !ctx.isNone("ord"), isAll = ctx.isNone("dim");
  if (isAll)
    dims = axisRange(0, rankOf(x));
  if (hasOrder && dims.size() == 2)
    return finishNorm(ctx, matrixNorm(ctx, x, orderOf(ctx, "ord", 2), dims), dims);
  if (rankOf(x) == 0)
    dims.clear();
  return finishNorm(ctx, vectorNorm(ctx, x, orderOf(ctx, "ord", 2).number, dims), dims);
}

LogicalResult lowerFrobeniusNorm(LowerContext &ctx) {
  Value x = normOperand(ctx);
  SmallVector<int64_t> dims = ctx.axes("dim", rankOf(x));
  return finishNorm(ctx, vectorNorm(ctx, x, 2, dims), dims);
}

LogicalResult lowerNuclearNorm(LowerContext &ctx) {
  Value x = normOperand(ctx);
  SmallVector<int64_t> dims{0, 1};
  if (ctx.has("dim")) {
    dims.clear();
    for (int64_t dim : ctx.integers("dim"))
      dims.push_back(ctx.normalizeAxis(dim, rankOf(x)));
  }
  if (rankOf(x) < 2 || dims.size() != 2)
    return ctx.refuse("needs two dimensions");
  return finishNorm(ctx, matrixNorm(ctx, x, {"nuc", 0}, dims), dims);
}

LogicalResult lowerLinalgCond(LowerContext &ctx) {
  Value x = ctx.tensor("self");
  if (!isMatrix(ctx, x))
    return failure(); // isMatrix said why
  SmallVector<int64_t> dims{rankOf(x) - 2, rankOf(x) - 1};
  Order order = orderOf(ctx, "p", 2);
  if (sizeAt(x, -1) == 0 || sizeAt(x, -2) == 0)
    return ctx.replace(ctx.full(Number::of(0.0), batchSizes(ctx, x), ctx.resultDtype()));
  if (order.name.empty() && std::abs(order.number) == 2) {
    Value values = factorSvd(ctx, x, false).s;
    int64_t last = rankOf(values) - 1;
    Value high = ctx.reduce(ReduceKind::Max, values, {last}), low = ctx.reduce(ReduceKind::Min, values, {last});
    Value ratio = order.number > 0 ? ctx.binary<DivOp>(high, low) : ctx.binary<DivOp>(low, high);
    return ctx.replace(ctx.dropDims(ratio, {last}));
  }
  auto op = ctx.create<InverseOp>(x.getType(), batchedType(x, {}, ctx.builder.getI32Type()), x, "");
  Value left = matrixNorm(ctx, x, order, dims);
  Value isSingular = ctx.compare<NeOp>(op.getInfo(), ctx.constant(0, ctx.builder.getI32Type()));
  Value matrix = isSingular;
  for (int i = 0; i < 2; ++i)
    matrix = ctx.insertDim(matrix, rankOf(matrix));
  // The inverse of a singular matrix may hold anything; the singular values of that need not exist.
  Value safe = ctx.select(matrix, ctx.constant(0, dtypeOf(x)), op.getResult());
  Value right = left ? matrixNorm(ctx, safe, order, dims) : Value();
  if (!right)
    return failure(); // matrixNorm said why
  Value product = ctx.dropDims(ctx.binary<MulOp>(left, right), dims);
  return ctx.replace(ctx.select(isSingular, ctx.constant(kInfinity, dtypeOf(product)), product));
}

//===------------------------------------------------------------------------------------------===//
// Powers and exponentials
//===------------------------------------------------------------------------------------------===//

LogicalResult lowerMatrixPower(LowerContext &ctx) {
  Value x = ctx.tensor("self");
  int64_t n = ctx.integer("n");
  if (n < 0 && !isMatrix(ctx, x))
    return failure(); // isMatrix said why
  if (rankOf(x) < 2)
    return ctx.refuse("needs matrices");
  if (n == 0)
    return ctx.replace(identityLike(ctx, x));
  Value base = n < 0 ? inverse(ctx, x, "linalg.inv") : x, result;
  for (uint64_t rest = n < 0 ? 0 - static_cast<uint64_t>(n) : static_cast<uint64_t>(n); rest > 0; rest /= 2) {
    if (rest % 2 == 1)
      result = result ? ctx.matmul(result, base) : base;
    if (rest > 1)
      base = ctx.matmul(base, base);
  }
  return ctx.replace(result);
}

LogicalResult lowerMatrixExp(LowerContext &ctx) {
  Value x = ctx.tensor("self");
  if (rankOf(x) < 2 || isIntegral(dtypeOf(x)))
    return ctx.refuse("needs matrices of floating-point or complex numbers");
  Value wide = isComplex(dtypeOf(x)) ? x : ctx.cast(x, computeType(dtypeOf(x)));
  return ctx.replace(ctx.cast(ctx.create<MatrixExpOp>(wide.getType(), wide).getResult(), dtypeOf(x)));
}

//===------------------------------------------------------------------------------------------===//
// Products
//===------------------------------------------------------------------------------------------===//

namespace {

/// The cheapest order of products, by dynamic programming over their sizes; left to right where some are unknown.
class Chain {
public:
  Chain(LowerContext &ctx, ArrayRef<Value> matrices) : ctx(ctx), matrices(matrices), count(matrices.size()) {
    for (Value matrix : matrices)
      sizes.push_back(shapeOf(matrix)[0]);
    sizes.push_back(shapeOf(matrices.back())[1]);
    isKnown = !llvm::is_contained(sizes, kDynamicEntry);
    cost.assign(count * count, 0);
    split.assign(count * count, 0);
    for (size_t length = 2; length <= count && isKnown; ++length)
      for (size_t first = 0; first + length <= count; ++first)
        plan(first, first + length - 1);
  }

  Value product() { return product(0, count - 1); }

private:
  void plan(size_t first, size_t last) {
    double best = std::numeric_limits<double>::infinity();
    for (size_t at = first; at < last; ++at) {
      double own =
          static_cast<double>(sizes[first]) * static_cast<double>(sizes[at + 1]) * static_cast<double>(sizes[last + 1]);
      double total = cost[first * count + at] + cost[(at + 1) * count + last] + own;
      if (total < best) {
        best = total;
        split[first * count + last] = at;
      }
    }
    cost[first * count + last] = best;
  }

  Value product(size_t first, size_t last) {
    if (first == last)
      return matrices[first];
    size_t at = isKnown ? split[first * count + last] : last - 1;
    Value left = product(first, at);
    return ctx.matmul(left, product(at + 1, last));
  }

  LowerContext &ctx;
  ArrayRef<Value> matrices;
  size_t count;
  SmallVector<int64_t> sizes;
  std::vector<double> cost;
  std::vector<size_t> split;
  bool isKnown = true;
};

} // namespace

LogicalResult lowerMultiDot(LowerContext &ctx) {
  SmallVector<Value> matrices = ctx.tensors(ctx.has("tensors") ? "tensors" : "matrices");
  constexpr size_t kMaxMatrices = 256; // the time to find an order grows with the third power
  if (matrices.empty() || matrices.size() > kMaxMatrices || rankOf(matrices.front()) == 0)
    return ctx.refuse("needs matrices, at most " + llvm::Twine(kMaxMatrices));
  bool isRow = rankOf(matrices.front()) == 1, isColumn = matrices.size() > 1 && rankOf(matrices.back()) == 1;
  if (isRow)
    matrices.front() = ctx.insertDim(matrices.front(), 0);
  if (isColumn)
    matrices.back() = ctx.insertDim(matrices.back(), 1);
  if (llvm::any_of(matrices, [](Value x) { return rankOf(x) != 2; }))
    return ctx.refuse("needs matrices");
  Value result = Chain(ctx, matrices).product();
  SmallVector<int64_t> dropped;
  if (isRow)
    dropped.push_back(0);
  if (isColumn)
    dropped.push_back(1);
  return ctx.replace(ctx.dropDims(result, dropped));
}

/// Along the dimension given, or the first of size 3.
LogicalResult lowerCross(LowerContext &ctx) {
  Value a = ctx.tensor("self"), b = ctx.tensor("other");
  Type dtype = promoteTypes(dtypeOf(a), dtypeOf(b));
  if (!dtype)
    return ctx.refuse("PyTorch has no common type for these operands");
  Shape shape = commonShape(shapeOf(a), shapeOf(b));
  auto rank = static_cast<int64_t>(shape.size());
  int64_t axis = ctx.isNone("dim") ? llvm::find(shape, 3) - shape.begin() : ctx.axis("dim", rank);
  if (axis >= rank || shape[axis] != 3)
    return ctx.refuse("needs a dimension of size 3");
  auto withRank = [&](Value x) {
    while (rankOf(x) < rank)
      x = ctx.insertDim(x, 0);
    return ctx.cast(x, dtype);
  };
  a = withRank(a);
  b = withRank(b);
  auto part = [&](Value x, int64_t i) { return shapeOf(x)[axis] == 1 ? x : ctx.slice(x, axis, i, i + 1); };
  SmallVector<Value> parts;
  for (int64_t i = 0; i < 3; ++i) {
    int64_t next = (i + 1) % 3, last = (i + 2) % 3;
    Value plus = ctx.binary<MulOp>(part(a, next), part(b, last));
    parts.push_back(ctx.binary<SubOp>(plus, ctx.binary<MulOp>(part(a, last), part(b, next))));
  }
  return ctx.replace(ctx.concat(parts, axis));
}

//===------------------------------------------------------------------------------------------===//
// Tensors as matrices
//===------------------------------------------------------------------------------------------===//

LogicalResult lowerTensorinv(LowerContext &ctx) {
  Value x = ctx.tensor("self");
  int64_t ind = ctx.integer("ind"), rank = rankOf(x);
  if (ind < 1 || ind > rank)
    return ctx.refuse("ind must be a number of dimensions");
  Size rows = ctx.numElements(x, axisRange(0, ind)), columns = ctx.numElements(x, axisRange(ind, rank));
  Value matrix = ctx.reshape(x, {rows, columns});
  if (!isMatrix(ctx, matrix))
    return failure(); // isMatrix said why
  Sizes sizes = ctx.sizes(x), turned(sizes.begin() + ind, sizes.end());
  turned.append(sizes.begin(), sizes.begin() + ind);
  return ctx.replace(ctx.reshape(inverse(ctx, matrix, "linalg.tensorinv"), turned));
}

LogicalResult lowerTensorsolve(LowerContext &ctx) {
  Value a = ctx.tensor("self"), b = ctx.tensor("other");
  if (!ctx.isNone("dims")) {
    SmallVector<int64_t> moved, order;
    for (int64_t dim : ctx.integers("dims"))
      moved.push_back(ctx.normalizeAxis(dim, rankOf(a)));
    for (int64_t i = 0; i < rankOf(a); ++i)
      if (!llvm::is_contained(moved, i))
        order.push_back(i);
    llvm::append_range(order, moved);
    if (static_cast<int64_t>(order.size()) != rankOf(a))
      return ctx.refuse("dims must be different");
    a = ctx.permute(a, order);
  }
  if (rankOf(a) < rankOf(b))
    return ctx.refuse("the tensor has too few dimensions");
  Sizes all = ctx.sizes(a), shape(all.begin() + rankOf(b), all.end());
  Size unknowns = ctx.numElements(a, axisRange(rankOf(b), rankOf(a)));
  Value matrix = ctx.reshape(a, {ctx.numElements(b, axisRange(0, rankOf(b))), unknowns});
  if (!isMatrix(ctx, matrix))
    return failure(); // isMatrix said why
  Value column = ctx.insertDim(ctx.flatten(b), 1);
  Value x = solveLu(ctx, factorLu(ctx, matrix, "linalg.solve"), column, true, false);
  return ctx.replace(ctx.reshape(x, shape));
}

/// Powers of every element along a new last dimension.
LogicalResult lowerVander(LowerContext &ctx) {
  Value x = ctx.cast(ctx.tensor("x"), ctx.resultDtype());
  if (rankOf(x) == 0)
    x = ctx.insertDim(x, 0);
  int64_t last = rankOf(x);
  Size count = ctx.isNone("N") ? ctx.dim(x, last - 1) : ctx.size("N");
  Value column = ctx.insertDim(x, last);
  Value ones = ctx.full(Number::of(int64_t{1}), ctx.sizes(column), dtypeOf(x));
  Sizes sizes = ctx.sizes(column);
  sizes[last] = count;
  Value factors = ctx.concat({ones, ctx.expand(column, sizes)}, last);
  Value wide = ctx.cast(factors, computeType(dtypeOf(x)));
  Value products = ctx.create<CumReduceOp>(wide.getType(), wide, last, "prod").getResult();
  Value powers = ctx.cast(ctx.slice(products, last, 0, count), dtypeOf(x));
  bool isIncreasing = !ctx.has("increasing") || ctx.flag("increasing");
  return ctx.replace(isIncreasing ? powers : ctx.create<FlipOp>(powers.getType(), powers, last).getResult());
}

} // namespace ingot::lower
