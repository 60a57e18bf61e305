// Symbolic numbers: Python's arithmetic on i64, f64 and i1 by the arith dialect.
#include "lower/Lowering.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"

using namespace mlir;

namespace ingot::lower {

namespace {

Value literal(LowerContext &ctx, const Number &number) {
  if (!number.isStatic())
    return number.dynamic;
  if (number.kind == Number::Float)
    return ctx.create<arith::ConstantOp>(ctx.builder.getF64FloatAttr(number.real));
  if (number.kind == Number::Bool)
    return ctx.create<arith::ConstantOp>(ctx.builder.getBoolAttr(number.integer != 0));
  return ctx.create<arith::ConstantOp>(ctx.builder.getI64IntegerAttr(number.integer));
}

/// The argument `name` as a value; null after refusing. These operators have no schema to check.
Value scalar(LowerContext &ctx, StringRef name) {
  Attribute attr = ctx.attr(name);
  auto ref = dyn_cast_or_null<ValueRefAttr>(attr);
  bool isValue = ref && ref.getIndex() >= 0 && ref.getIndex() < ctx.op->getNumOperands();
  if (!isValue && !isa_and_nonnull<IntegerAttr, FloatAttr>(attr)) {
    (void)ctx.refuse("argument `" + name + "` is missing or no number");
    return {};
  }
  Operand operand = ctx.operand(name);
  if (operand.isTensor()) {
    (void)ctx.refuse("argument `" + name + "` is a tensor");
    return {};
  }
  return literal(ctx, operand.number);
}

Value toInt(LowerContext &ctx, Value x) {
  if (x.getType().isInteger(64))
    return x;
  if (x.getType().isInteger(1))
    return ctx.create<arith::ExtUIOp>(ctx.i64(), x);
  return ctx.create<arith::FPToSIOp>(ctx.i64(), x); // int(x) goes towards zero as well
}

Value toFloat(LowerContext &ctx, Value x) {
  if (x.getType().isF64())
    return x;
  return ctx.create<arith::SIToFPOp>(ctx.builder.getF64Type(), toInt(ctx, x));
}

struct Scalars {
  Value a, b;
  bool isReal = false;
};

/// Both operands in one type, which is i64 or f64; nullopt after refusing.
std::optional<Scalars> scalars(LowerContext &ctx) {
  Value a = scalar(ctx, "a"), b = a ? scalar(ctx, "b") : Value();
  if (!b)
    return std::nullopt;
  if (a.getType().isF64() || b.getType().isF64())
    return Scalars{toFloat(ctx, a), toFloat(ctx, b), true};
  return Scalars{toInt(ctx, a), toInt(ctx, b), false};
}

template <typename IntOp, typename FloatOp> LogicalResult arithmetic(LowerContext &ctx) {
  std::optional<Scalars> pair = scalars(ctx);
  if (!pair)
    return failure(); // scalars said why
  Value result =
      pair->isReal ? Value(ctx.create<FloatOp>(pair->a, pair->b)) : Value(ctx.create<IntOp>(pair->a, pair->b));
  return ctx.replace(result);
}

LogicalResult comparison(LowerContext &ctx, arith::CmpIPredicate ints, arith::CmpFPredicate reals) {
  std::optional<Scalars> pair = scalars(ctx);
  if (!pair)
    return failure(); // scalars said why
  Value result = pair->isReal ? Value(ctx.create<arith::CmpFOp>(reals, pair->a, pair->b))
                              : Value(ctx.create<arith::CmpIOp>(ints, pair->a, pair->b));
  return ctx.replace(result);
}

/// floor(x) of a real, by the integer below: the arith dialect has no floor.
Value floorOf(LowerContext &ctx, Value x) {
  Value truncated = toInt(ctx, x);
  Value back = ctx.create<arith::SIToFPOp>(x.getType(), truncated);
  Value isAbove = ctx.create<arith::CmpFOp>(arith::CmpFPredicate::OGT, back, x);
  return ctx.create<arith::SubIOp>(truncated, toInt(ctx, isAbove));
}

} // namespace

LogicalResult lowerSymSize(LowerContext &ctx) {
  Value x = ctx.tensor("self");
  if (rankOf(x) == 0)
    return ctx.refuse("a zero-dimensional tensor has no sizes");
  return ctx.replace(ctx.asValue(ctx.dim(x, ctx.axis("dim", rankOf(x)))));
}

LogicalResult lowerSymNumel(LowerContext &ctx) {
  Value x = ctx.tensor("self");
  SmallVector<int64_t> all = axisRange(0, rankOf(x));
  return ctx.replace(ctx.asValue(ctx.numElements(x, all)));
}

LogicalResult lowerSymAdd(LowerContext &ctx) { return arithmetic<arith::AddIOp, arith::AddFOp>(ctx); }
LogicalResult lowerSymSub(LowerContext &ctx) { return arithmetic<arith::SubIOp, arith::SubFOp>(ctx); }
LogicalResult lowerSymMul(LowerContext &ctx) { return arithmetic<arith::MulIOp, arith::MulFOp>(ctx); }
LogicalResult lowerSymMax(LowerContext &ctx) { return arithmetic<arith::MaxSIOp, arith::MaximumFOp>(ctx); }
LogicalResult lowerSymMin(LowerContext &ctx) { return arithmetic<arith::MinSIOp, arith::MinimumFOp>(ctx); }

LogicalResult lowerSymTruediv(LowerContext &ctx) {
  std::optional<Scalars> pair = scalars(ctx);
  if (!pair)
    return failure(); // scalars said why
  Value quotient = ctx.create<arith::DivFOp>(toFloat(ctx, pair->a), toFloat(ctx, pair->b));
  return ctx.replace(quotient);
}

LogicalResult lowerSymFloordiv(LowerContext &ctx) {
  std::optional<Scalars> pair = scalars(ctx);
  if (!pair)
    return failure(); // scalars said why
  if (!pair->isReal)
    return ctx.replace(Value(ctx.create<arith::FloorDivSIOp>(pair->a, pair->b)));
  Value quotient = ctx.create<arith::DivFOp>(pair->a, pair->b);
  return ctx.replace(toFloat(ctx, floorOf(ctx, quotient)));
}

/// a - floor(a / b) * b: the sign is the divisor's.
LogicalResult lowerSymMod(LowerContext &ctx) {
  std::optional<Scalars> pair = scalars(ctx);
  if (!pair)
    return failure(); // scalars said why
  if (!pair->isReal) {
    Value quotient = ctx.create<arith::FloorDivSIOp>(pair->a, pair->b);
    Value multiple = ctx.create<arith::MulIOp>(quotient, pair->b);
    return ctx.replace(Value(ctx.create<arith::SubIOp>(pair->a, multiple)));
  }
  Value quotient = ctx.create<arith::DivFOp>(pair->a, pair->b);
  Value multiple = ctx.create<arith::MulFOp>(toFloat(ctx, floorOf(ctx, quotient)), pair->b);
  return ctx.replace(Value(ctx.create<arith::SubFOp>(pair->a, multiple)));
}

/// Powers that are real, such as n ** -0.5.
static LogicalResult realPower(LowerContext &ctx) {
  std::optional<Scalars> pair = scalars(ctx);
  if (!pair)
    return failure(); // scalars said why
  if (ctx.numResults() != 1 || !ctx.op->getResult(0).getType().isF64())
    return ctx.refuse("of integers only small powers that are known here are supported");
  return ctx.replace(Value(ctx.create<math::PowFOp>(toFloat(ctx, pair->a), toFloat(ctx, pair->b))));
}

LogicalResult lowerSymPow(LowerContext &ctx) {
  auto exponent = dyn_cast_or_null<IntegerAttr>(ctx.attr("b"));
  if (!exponent || exponent.getInt() < 0 || exponent.getInt() > 16)
    return realPower(ctx);
  Value base = scalar(ctx, "a");
  if (!base)
    return failure(); // scalar said why
  bool isReal = base.getType().isF64();
  base = isReal ? base : toInt(ctx, base);
  Value result = literal(ctx, isReal ? Number::of(1.0) : Number::of(int64_t{1}));
  for (int64_t i = 0; i < exponent.getInt(); ++i)
    result = isReal ? Value(ctx.create<arith::MulFOp>(result, base)) : Value(ctx.create<arith::MulIOp>(result, base));
  return ctx.replace(result);
}

LogicalResult lowerSymNeg(LowerContext &ctx) {
  Value x = scalar(ctx, "a");
  if (!x)
    return failure(); // scalar said why
  if (x.getType().isF64())
    return ctx.replace(Value(ctx.create<arith::NegFOp>(x)));
  Value zero = literal(ctx, Number::of(int64_t{0}));
  return ctx.replace(Value(ctx.create<arith::SubIOp>(zero, toInt(ctx, x))));
}

LogicalResult lowerSymPos(LowerContext &ctx) {
  Value x = scalar(ctx, "a");
  return x ? ctx.replace(x) : failure();
}

LogicalResult lowerSymEq(LowerContext &ctx) {
  return comparison(ctx, arith::CmpIPredicate::eq, arith::CmpFPredicate::OEQ);
}
LogicalResult lowerSymNe(LowerContext &ctx) {
  return comparison(ctx, arith::CmpIPredicate::ne, arith::CmpFPredicate::UNE);
}
LogicalResult lowerSymLt(LowerContext &ctx) {
  return comparison(ctx, arith::CmpIPredicate::slt, arith::CmpFPredicate::OLT);
}
LogicalResult lowerSymLe(LowerContext &ctx) {
  return comparison(ctx, arith::CmpIPredicate::sle, arith::CmpFPredicate::OLE);
}
LogicalResult lowerSymGt(LowerContext &ctx) {
  return comparison(ctx, arith::CmpIPredicate::sgt, arith::CmpFPredicate::OGT);
}
LogicalResult lowerSymGe(LowerContext &ctx) {
  return comparison(ctx, arith::CmpIPredicate::sge, arith::CmpFPredicate::OGE);
}

/// Bits of integers, or truth values.
template <typename Op> static LogicalResult bitwise(LowerContext &ctx) {
  Value a = scalar(ctx, "a"), b = a ? scalar(ctx, "b") : Value();
  if (!b)
    return failure(); // scalar said why
  if (a.getType() != b.getType() || a.getType().isF64())
    return ctx.refuse("needs two integers or two booleans");
  return ctx.replace(Value(ctx.create<Op>(a, b)));
}

LogicalResult lowerSymAnd(LowerContext &ctx) { return bitwise<arith::AndIOp>(ctx); }
LogicalResult lowerSymOr(LowerContext &ctx) { return bitwise<arith::OrIOp>(ctx); }

LogicalResult lowerSymLshift(LowerContext &ctx) { return bitwise<arith::ShLIOp>(ctx); }
LogicalResult lowerSymRshift(LowerContext &ctx) { return bitwise<arith::ShRSIOp>(ctx); }

LogicalResult lowerSymNot(LowerContext &ctx) {
  Value x = scalar(ctx, "a");
  if (!x)
    return failure(); // scalar said why
  if (!x.getType().isInteger(1))
    return ctx.refuse("needs a boolean");
  Value yes = literal(ctx, Number::of(true));
  return ctx.replace(Value(ctx.create<arith::XOrIOp>(x, yes)));
}

LogicalResult lowerSymFloat(LowerContext &ctx) {
  Value x = scalar(ctx, "a");
  return x ? ctx.replace(toFloat(ctx, x)) : failure();
}

/// sym_int, math.trunc.
LogicalResult lowerSymInt(LowerContext &ctx) {
  Value x = scalar(ctx, ctx.has("x") ? "x" : "a");
  return x ? ctx.replace(toInt(ctx, x)) : failure();
}

LogicalResult lowerSymSqrt(LowerContext &ctx) {
  Value x = scalar(ctx, ctx.has("x") ? "x" : "a");
  return x ? ctx.replace(Value(ctx.create<math::SqrtOp>(toFloat(ctx, x)))) : failure();
}

LogicalResult lowerSymIte(LowerContext &ctx) {
  Value condition = scalar(ctx, "b"), yes = condition ? scalar(ctx, "t") : Value();
  Value no = yes ? scalar(ctx, "f") : Value();
  if (!no)
    return failure(); // scalar said why
  if (!condition.getType().isInteger(1) || yes.getType() != no.getType())
    return ctx.refuse("needs a condition and two values of one type");
  return ctx.replace(Value(ctx.create<arith::SelectOp>(condition, yes, no)));
}

} // namespace ingot::lower
