// Tensors made of nothing but sizes and numbers.
#include "dialect/ControlOps.h"
#include "lower/Lowering.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"

#include <cmath>

using namespace mlir;

namespace ingot::lower {

namespace {

/// The sizes of the tensor to make: given, or those of `self` for the `_like` operators.
Sizes sizesToMake(LowerContext &ctx) { return ctx.has("size") ? ctx.sizeList("size") : ctx.sizes(ctx.tensor("self")); }

LogicalResult fillWith(LowerContext &ctx, const Number &number) {
  return ctx.replace(ctx.full(number, sizesToMake(ctx), ctx.resultDtype()));
}

} // namespace

LogicalResult lowerFull(LowerContext &ctx) { return fillWith(ctx, ctx.number("fill_value")); }
LogicalResult lowerZeros(LowerContext &ctx) { return fillWith(ctx, Number::of(int64_t{0})); }
LogicalResult lowerOnes(LowerContext &ctx) { return fillWith(ctx, Number::of(int64_t{1})); }

LogicalResult lowerFill(LowerContext &ctx) {
  Value self = ctx.tensor("self");
  Value value = ctx.as(ctx.operand("value"), dtypeOf(self));
  return ctx.replace(ctx.expand(value, ctx.sizes(self)));
}

LogicalResult lowerScalarTensor(LowerContext &ctx) {
  return ctx.replace(ctx.constant(ctx.number("s"), ctx.resultDtype()));
}

//===------------------------------------------------------------------------------------------===//
// Sequences
//===------------------------------------------------------------------------------------------===//

namespace {

Size toSize(const Number &number) { return number.isStatic() ? Size(number.integer) : Size(number.dynamic); }

/// The iota op wants its scalars in one type.
Number toFloat(LowerContext &ctx, const Number &number) {
  if (number.kind == Number::Float)
    return number;
  if (number.isStatic())
    return Number::of(number.asDouble());
  Type f64 = ctx.builder.getF64Type();
  return Number::of(ctx.create<arith::SIToFPOp>(f64, number.dynamic).getResult());
}

/// Real numbers are cut off.
Number toInteger(LowerContext &ctx, const Number &number) {
  if (number.kind != Number::Float)
    return number;
  if (number.isStatic())
    return Number::of(static_cast<int64_t>(number.asDouble()));
  return Number::of(ctx.create<arith::FPToSIOp>(ctx.i64(), number.dynamic).getResult());
}

/// As countSteps(), at run time.
Size countRealSteps(LowerContext &ctx, const Number &start, const Number &end, const Number &step) {
  auto value = [&](const Number &number) -> Value {
    const Number real = toFloat(ctx, number);
    return real.isStatic() ? ctx.create<arith::ConstantOp>(ctx.builder.getF64FloatAttr(real.real)).getResult()
                           : real.dynamic;
  };
  Value length = ctx.create<arith::SubFOp>(value(end), value(start));
  Value count = ctx.create<math::CeilOp>(ctx.create<arith::DivFOp>(length, value(step)).getResult());
  return ctx.larger(Size(ctx.create<arith::FPToSIOp>(ctx.i64(), count).getResult()), 0);
}

/// Number of elements from `start` to `end`; nullopt after refusing.
std::optional<Size> countSteps(LowerContext &ctx, const Number &start, const Number &end, const Number &step) {
  if (start.kind == Number::Int && end.kind == Number::Int && step.kind == Number::Int) {
    if (step.isStatic() && step.integer == 0) {
      (void)ctx.refuse("the step must not be zero");
      return std::nullopt;
    }
    Size count = ctx.ceilDiv(ctx.minus(toSize(end), toSize(start)), toSize(step));
    return ctx.larger(count, 0);
  }
  if ((step.isStatic() && step.asDouble() == 0) || (!step.isStatic() && isIntegral(ctx.resultDtype()))) {
    (void)ctx.refuse("the step must not be zero, and be known where real numbers become integers");
    return std::nullopt;
  }
  if (!start.isStatic() || !end.isStatic() || !step.isStatic())
    return countRealSteps(ctx, start, end, step);
  double count = std::ceil((end.asDouble() - start.asDouble()) / step.asDouble());
  return Size(static_cast<int64_t>(std::max(count, 0.0)));
}

} // namespace

LogicalResult lowerArange(LowerContext &ctx) {
  Number start = ctx.has("start") ? ctx.number("start") : Number::of(int64_t{0});
  Number end = ctx.number("end");
  Number step = ctx.has("step") ? ctx.number("step") : Number::of(int64_t{1});
  if (ctx.resultDtype().isInteger(64)) // of int64, PyTorch truncates all three before it counts
    for (Number *number : {&start, &end, &step})
      *number = toInteger(ctx, *number);
  std::optional<Size> count = countSteps(ctx, start, end, step);
  if (!count)
    return failure(); // countSteps said why
  bool isReal = start.kind == Number::Float || step.kind == Number::Float;
  if (isReal && isIntegral(ctx.resultDtype())) {
    start = toInteger(ctx, start);
    step = toInteger(ctx, step);
    isReal = false;
  }
  if (isReal) {
    start = toFloat(ctx, start);
    step = toFloat(ctx, step);
  }
  return ctx.replace(ctx.iota(start, step, *count, ctx.resultDtype()));
}

/// torch.range: `end` counts too.
LogicalResult lowerRange(LowerContext &ctx) {
  Number start = ctx.number("start"), end = ctx.number("end");
  Number step = ctx.has("step") ? ctx.number("step") : Number::of(int64_t{1});
  if (!start.isStatic() || !end.isStatic() || !step.isStatic() || step.asDouble() == 0)
    return ctx.refuse("bounds must be known here, and the step must not be zero");
  auto count = static_cast<int64_t>(std::floor((end.asDouble() - start.asDouble()) / step.asDouble())) + 1;
  auto number = [&](const Number &given) {
    double value = given.asDouble();
    return isIntegral(ctx.resultDtype()) ? Number::of(static_cast<int64_t>(value)) : Number::of(value);
  };
  return ctx.replace(ctx.iota(number(start), number(step), Size(count), ctx.resultDtype()));
}

/// Numbers from start to end in steps of one size, in `compute`: from both ends to the middle, as PyTorch does, so that
/// the last one is `end` exactly.
static Value evenSteps(LowerContext &ctx, int64_t count, Type compute) {
  auto bound = [&](StringRef name) {
    // Numbers become ones of the result's type first.
    return ctx.cast(ctx.as(ctx.operand(name), ctx.resultDtype()), compute);
  };
  Value start = bound("start"), end = bound("end");
  if (count <= 1)
    return ctx.expand(start, {Size(count)});
  Value last = ctx.constant(Number::of(count - 1), compute);
  Value step = ctx.binary<DivOp>(ctx.binary<SubOp>(end, start), last);
  Value position = ctx.iota(Size(count));
  Value index = ctx.cast(position, compute);
  Value rest = ctx.cast(ctx.binary<SubOp>(ctx.constant(Number::of(count - 1), ctx.i64()), position), compute);
  Value low = ctx.binary<AddOp>(start, ctx.binary<MulOp>(step, index));
  Value high = ctx.binary<SubOp>(end, ctx.binary<MulOp>(step, rest));
  Value isLow = ctx.compare<LtOp>(position, static_cast<double>(count / 2));
  return ctx.select(isLow, low, high);
}

LogicalResult lowerLinspace(LowerContext &ctx) {
  Type dtype = ctx.resultDtype();
  Type compute = isIntegral(dtype) ? ctx.builder.getF64Type() : dtype;
  return ctx.replace(ctx.cast(evenSteps(ctx, ctx.integer("steps"), compute), dtype));
}

LogicalResult lowerLogspace(LowerContext &ctx) {
  Type dtype = ctx.resultDtype();
  int64_t count = ctx.integer("steps");
  // A single number is computed in float64, without rounding `start` to the result's type.
  Type compute = count == 1 ? ctx.builder.getF64Type() : computeType(floatType(dtype));
  Value exponents =
      count == 1 ? ctx.expand(ctx.as(ctx.operand("start"), compute), {Size(1)}) : evenSteps(ctx, count, compute);
  Value base = ctx.constant(ctx.real("base"), compute);
  return ctx.replace(ctx.cast(ctx.binary<PowOp>(base, exponents), dtype));
}

//===------------------------------------------------------------------------------------------===//
// Matrices by position
//===------------------------------------------------------------------------------------------===//

namespace {

/// column - row of every element of a [rows, columns] matrix, broadcast by its consumer.
Value diagonalNumber(LowerContext &ctx, Size rows, Size columns) {
  Value row = ctx.reshape(ctx.iota(rows), {rows, Size(1)});
  return ctx.binary<SubOp>(ctx.iota(columns), row);
}

template <typename Compare> LogicalResult lowerTriangle(LowerContext &ctx) {
  Value x = ctx.tensor("self");
  int64_t rank = rankOf(x);
  if (rank < 2)
    return ctx.refuse("a triangle needs a matrix");
  Value diagonal = diagonalNumber(ctx, ctx.dim(x, rank - 2), ctx.dim(x, rank - 1));
  Value limit = ctx.constant(Number::of(ctx.size("diagonal")), ctx.i64());
  Value zero = ctx.constant(0, dtypeOf(x));
  return ctx.replace(ctx.select(ctx.compare<Compare>(diagonal, limit), x, zero));
}

} // namespace

LogicalResult lowerTril(LowerContext &ctx) { return lowerTriangle<LeOp>(ctx); }
LogicalResult lowerTriu(LowerContext &ctx) { return lowerTriangle<GeOp>(ctx); }

LogicalResult lowerEye(LowerContext &ctx) {
  Size rows = ctx.size("n"), columns = ctx.has("m") ? ctx.size("m") : rows;
  Value isDiagonal = ctx.compare<EqOp>(diagonalNumber(ctx, rows, columns), 0);
  return ctx.replace(ctx.cast(isDiagonal, ctx.resultDtype()));
}

LogicalResult lowerOneHot(LowerContext &ctx) {
  Value x = ctx.tensor("self");
  int64_t classes = ctx.integer("num_classes");
  if (classes < 0)
    return ctx.refuse("the number of classes depends on the data; give num_classes");
  Value number = ctx.cast(x, ctx.i64());
  auto require = [&](Value holds, StringRef message) {
    Value all = ctx.reduce(ReduceKind::All, holds, axisRange(0, rankOf(x)));
    ctx.create<CheckOp>(ctx.i1(), ctx.dropDims(all, axisRange(0, rankOf(x))), message);
  };
  require(ctx.compare<GeOp>(number, 0), "one_hot: classes must not be negative");
  require(ctx.compare<LtOp>(number, classes), "one_hot: classes must be smaller than num_classes");
  Value column = ctx.insertDim(number, rankOf(x));
  Value isClass = ctx.compare<EqOp>(column, ctx.iota(Size(classes)));
  return ctx.replace(ctx.cast(isClass, ctx.resultDtype()));
}

LogicalResult lowerMeshgrid(LowerContext &ctx) {
  SmallVector<Value> inputs = ctx.tensors("tensors");
  bool isXy = ctx.string("indexing") == "xy" && inputs.size() >= 2;
  Sizes grid;
  for (Value input : inputs) {
    if (rankOf(input) > 1)
      return ctx.refuse("takes tensors of at most one dimension");
    grid.push_back(rankOf(input) ? ctx.dim(input, 0) : Size(1));
  }
  if (isXy)
    std::swap(grid[0], grid[1]);
  SmallVector<Value> results;
  for (auto [i, input] : llvm::enumerate(inputs)) {
    size_t axis = isXy && i < 2 ? 1 - i : i;
    Sizes shape(inputs.size(), Size(1));
    shape[axis] = grid[axis];
    results.push_back(ctx.expand(ctx.reshape(input, shape), grid));
  }
  return ctx.replace(results);
}

} // namespace ingot::lower
