// Diagonals of matrices, and matrices of diagonals.
#include "dialect/ScatterOps.h"
#include "lower/Bounds.h"
#include "lower/Pick.h"

#include "mlir/IR/BuiltinAttributes.h"

#include <algorithm>

using namespace mlir;

namespace ingot::lower {

namespace {

/// A tensor with two of its dimensions put last, and the positions of a diagonal in them.
struct Diagonal {
  Value x, rows, columns;
  SmallVector<int64_t> order;
  Size length;
};

/// nullopt after refusing.
std::optional<Diagonal> diagonalOf(LowerContext &ctx, Value x, int64_t offset, int64_t dim1, int64_t dim2) {
  int64_t rank = rankOf(x);
  dim1 = ctx.normalizeAxis(dim1, rank);
  dim2 = ctx.normalizeAxis(dim2, rank);
  if (rank < 2 || dim1 == dim2) {
    (void)ctx.refuse("a diagonal needs two different dimensions");
    return std::nullopt;
  }
  Diagonal diagonal;
  for (int64_t i = 0; i < rank; ++i)
    if (i != dim1 && i != dim2)
      diagonal.order.push_back(i);
  diagonal.order.append({dim1, dim2});
  diagonal.x = ctx.permute(x, diagonal.order);
  int64_t below = std::max<int64_t>(0, -offset), right = std::max<int64_t>(0, offset);
  Size rows = ctx.minus(ctx.dim(x, dim1), below), columns = ctx.minus(ctx.dim(x, dim2), right);
  diagonal.length = ctx.larger(0, ctx.smaller(rows, columns));
  Number one = Number::of(int64_t{1});
  diagonal.rows = ctx.iota(Number::of(below), one, diagonal.length, ctx.i64());
  diagonal.columns = ctx.iota(Number::of(right), one, diagonal.length, ctx.i64());
  return diagonal;
}

Picks picksOf(const Diagonal &diagonal) {
  int64_t rank = rankOf(diagonal.x);
  return {diagonal.x, {diagonal.rows, diagonal.columns}, {rank - 2, rank - 1}, diagonal.order};
}

LogicalResult replaceDiagonal(LowerContext &ctx, Value x, int64_t offset, int64_t dim1, int64_t dim2) {
  std::optional<Diagonal> diagonal = diagonalOf(ctx, x, offset, dim1, dim2);
  if (!diagonal)
    return failure(); // diagonalOf said why
  Value result = pick(ctx, picksOf(*diagonal));
  return result ? ctx.replace(result) : failure();
}

/// Matrices whose diagonal is the last dimension of `x`, as the last two dimensions.
Value embedded(LowerContext &ctx, Value x, int64_t offset) {
  int64_t last = rankOf(x) - 1;
  Size length = ctx.dim(x, last), size = ctx.plus(length, std::abs(offset));
  Sizes padding = ctx.sizes(x);
  padding[last] = std::abs(offset);
  if (offset != 0)
    x = ctx.concat({x, ctx.full(Number::of(int64_t{0}), padding, dtypeOf(x))}, last);
  Value row = ctx.reshape(ctx.iota(size), {size, Size(1)});
  Value number = ctx.binary<SubOp>(ctx.iota(size), row);
  // Right of the main diagonal element i is in row i, left of it in column i.
  Value spread = ctx.insertDim(x, offset >= 0 ? last + 1 : last);
  Value zero = ctx.constant(0, dtypeOf(x));
  return ctx.select(ctx.compare<EqOp>(number, static_cast<double>(offset)), spread, zero);
}

} // namespace

LogicalResult lowerDiagonal(LowerContext &ctx) {
  return replaceDiagonal(ctx, ctx.tensor(ctx.has("A") ? "A" : "self"), ctx.integer("offset"), ctx.integer("dim1"),
                         ctx.integer("dim2"));
}

LogicalResult lowerDiagonalScatter(LowerContext &ctx) {
  Value x = ctx.tensor("self");
  std::optional<Diagonal> diagonal =
      diagonalOf(ctx, x, ctx.integer("offset"), ctx.integer("dim1"), ctx.integer("dim2"));
  if (!diagonal)
    return failure(); // diagonalOf said why
  Value result = put(ctx, picksOf(*diagonal), ctx.tensor("src"), "none");
  return result ? ctx.replace(result) : failure();
}

LogicalResult lowerDiag(LowerContext &ctx) {
  Value x = ctx.tensor("self");
  int64_t offset = ctx.integer("diagonal");
  if (rankOf(x) == 1)
    return ctx.replace(embedded(ctx, x, offset));
  return replaceDiagonal(ctx, x, offset, 0, 1);
}

LogicalResult lowerDiagflat(LowerContext &ctx) {
  return ctx.replace(embedded(ctx, ctx.flatten(ctx.tensor("self")), ctx.integer("offset")));
}

LogicalResult lowerDiagEmbed(LowerContext &ctx) {
  Value x = ctx.tensor("self");
  int64_t rank = rankOf(x) + 1, offset = ctx.integer("offset");
  int64_t dim1 = ctx.normalizeAxis(ctx.integer("dim1"), rank), dim2 = ctx.normalizeAxis(ctx.integer("dim2"), rank);
  if (rank < 2 || dim1 == dim2)
    return ctx.refuse("a diagonal needs two different dimensions");
  // With the dimensions exchanged, the diagonal lies on the other side.
  Value matrices = embedded(ctx, x, dim1 < dim2 ? offset : -offset);
  SmallVector<int64_t> order;
  for (int64_t i = 0, next = 0; i < rank; ++i)
    order.push_back(i == std::min(dim1, dim2) ? rank - 2 : i == std::max(dim1, dim2) ? rank - 1 : next++);
  return ctx.replace(ctx.permute(matrices, order));
}

LogicalResult lowerTrace(LowerContext &ctx) {
  Value x = ctx.tensor("self");
  std::optional<Diagonal> diagonal = diagonalOf(ctx, x, 0, 0, 1);
  if (!diagonal)
    return failure(); // diagonalOf said why
  Type dtype = ctx.resultDtype();
  Value elements = ctx.cast(pick(ctx, picksOf(*diagonal)), computeType(dtype));
  return ctx.replace(ctx.cast(ctx.dropDims(ctx.reduce(ReduceKind::Sum, elements, {0}), {0}), dtype));
}

/// Blocks one below another, each with zeros left and right of it.
LogicalResult lowerBlockDiag(LowerContext &ctx) {
  SmallVector<Value> blocks = ctx.tensors("tensors"), strips;
  Type dtype = ctx.resultDtype();
  Size left = 0, width = 0;
  for (Value &block : blocks) {
    if (rankOf(block) > 2)
      return ctx.refuse("takes tensors of at most two dimensions");
    while (rankOf(block) < 2)
      block = ctx.insertDim(block, 0);
    block = ctx.cast(block, dtype);
    width = ctx.plus(width, ctx.dim(block, 1));
  }
  for (Value block : blocks) {
    auto zeros = [&](Size columns) { return ctx.full(Number::of(int64_t{0}), {ctx.dim(block, 0), columns}, dtype); };
    Size end = ctx.plus(left, ctx.dim(block, 1));
    strips.push_back(ctx.concat({zeros(left), block, zeros(ctx.minus(width, end))}, 1));
    left = end;
  }
  return ctx.replace(ctx.concat(strips, 0));
}

/// Tensors of different lengths one beside another, filled up to the longest.
LogicalResult lowerPadSequence(LowerContext &ctx) {
  SmallVector<Value> rows = ctx.tensors("sequences");
  Type dtype = ctx.resultDtype();
  bool isBatchFirst = ctx.flag("batch_first"), padsLeft = ctx.string("padding_side") == "left";
  Size longest = 0;
  for (Value row : rows) {
    if (rankOf(row) == 0)
      return ctx.refuse("sequences have at least one dimension");
    longest = ctx.larger(longest, ctx.dim(row, 0));
  }
  int64_t axis = isBatchFirst ? 0 : 1;
  for (Value &row : rows) {
    Sizes sizes = ctx.sizes(row);
    sizes[0] = ctx.minus(longest, sizes[0]);
    Value filling = ctx.full(Number::of(ctx.real("padding_value")), sizes, dtype);
    row = ctx.cast(row, dtype);
    row = ctx.insertDim(padsLeft ? ctx.concat({filling, row}, 0) : ctx.concat({row, filling}, 0), axis);
  }
  return ctx.replace(ctx.concat(rows, axis));
}

//===------------------------------------------------------------------------------------------===//
// Tables of positions, known here
//===------------------------------------------------------------------------------------------===//

namespace {

Value table(LowerContext &ctx, ArrayRef<int64_t> numbers, ArrayRef<int64_t> shape) {
  auto type = RankedTensorType::get(shape, ctx.i64());
  return ctx.create<ConstantOp>(DenseElementsAttr::get(type, numbers)).getResult();
}

/// Rows, then columns, of the elements above (or below) a diagonal, and of those on it.
LogicalResult triangleIndices(LowerContext &ctx, bool isUpper) {
  int64_t rows = ctx.integer("row"), columns = ctx.integer("col");
  if (rows < 0 || rows > kMaxTableElements || columns < 0 || columns > kMaxTableElements)
    return ctx.refuse("the numbers of rows and columns are negative or too large");
  int64_t offset = std::clamp(ctx.integer("offset"), -rows, columns);
  SmallVector<int64_t> first, second;
  for (int64_t i = 0; i < rows; ++i) {
    int64_t begin = isUpper ? std::clamp(i + offset, int64_t{0}, columns) : 0;
    int64_t end = isUpper ? columns : std::clamp(i + offset + 1, int64_t{0}, columns);
    if (static_cast<int64_t>(first.size()) + end - begin > kMaxTableElements)
      return ctx.refuse("there are too many elements");
    for (int64_t j = begin; j < end; ++j) {
      first.push_back(i);
      second.push_back(j);
    }
  }
  auto count = static_cast<int64_t>(first.size());
  first.append(second);
  return ctx.replace(ctx.cast(table(ctx, first, {2, count}), ctx.resultDtype()));
}

} // namespace

LogicalResult lowerTrilIndices(LowerContext &ctx) { return triangleIndices(ctx, false); }
LogicalResult lowerTriuIndices(LowerContext &ctx) { return triangleIndices(ctx, true); }

/// All choices of r positions in rising order, one row each.
LogicalResult lowerCombinations(LowerContext &ctx) {
  Value x = ctx.tensor("self");
  int64_t r = ctx.integer("r"), repeats = ctx.flag("with_replacement");
  if (rankOf(x) != 1 || ShapedType::isDynamic(shapeOf(x).front()) || r < 0 || r > kMaxTableElements)
    return ctx.refuse("takes a vector of known size");
  if (r == 0)
    return ctx.replace(ctx.full(Number::of(int64_t{0}), {Size(0)}, dtypeOf(x)));
  int64_t n = shapeOf(x).front(), count = 0;
  SmallVector<int64_t> choice, numbers;
  // A counter whose digits never fall (or rise strictly).
  for (int64_t i = 0; i < r; ++i)
    choice.push_back(repeats ? 0 : i);
  while (n > 0 && choice.back() < n) {
    if (static_cast<int64_t>(numbers.size()) + r > kMaxTableElements)
      return ctx.refuse("there are too many combinations");
    numbers.append(choice);
    ++count;
    int64_t digit = r - 1;
    while (digit > 0 && choice[digit] >= (repeats ? n - 1 : n - r + digit))
      --digit;
    ++choice[digit];
    for (int64_t i = digit + 1; i < r; ++i)
      choice[i] = choice[i - 1] + (repeats ? 0 : 1);
  }
  if (count == 0)
    return ctx.replace(ctx.full(Number::of(int64_t{0}), {Size(0), Size(r)}, dtypeOf(x)));
  return ctx.replace(ctx.indexSelect(x, table(ctx, numbers, {count, r}), 0));
}

} // namespace ingot::lower
