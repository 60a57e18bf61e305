#include "base/Bytes.h"
#include "pt2/SymExpr.h"

#include <cmath>
#include <numeric>

using namespace ingot;
using namespace ingot::pt2;

namespace {

/// An exact fraction in lowest terms, or a double. SymPy keeps `Rational(1, 2)*s0` exact, and so
/// must we: the sum of such terms is a size again.
struct Number {
  bool isReal = false;
  int64_t over = 0, under = 1;
  double real = 0;

  bool isInteger() const { return !isReal && under == 1; }
  double asReal() const { return isReal ? real : static_cast<double>(over) / static_cast<double>(under); }
};

using Wide = __int128;

Error overflow() { return usageError("a symbolic expression overflows 64 bits"); }

Number fromReal(double value) { return {true, 0, 1, value}; }
Number fromInteger(int64_t value) { return {false, value, 1, 0}; }

Wide gcd(Wide a, Wide b) {
  if (a < 0)
    a = -a;
  while (b != 0) {
    Wide rest = a % b;
    a = b;
    b = rest < 0 ? -rest : rest;
  }
  return a;
}

Result<Number> fraction(Wide over, Wide under) {
  if (under == 0)
    return usageError("a symbolic expression divides by zero");
  if (under < 0) {
    over = -over;
    under = -under;
  }
  Wide common = over == 0 ? under : gcd(over, under);
  over /= common;
  under /= common;
  if (over > INT64_MAX || over < INT64_MIN || under > INT64_MAX)
    return overflow();
  return Number{false, static_cast<int64_t>(over), static_cast<int64_t>(under), 0};
}

Result<Number> add(const Number &a, const Number &b) {
  if (a.isReal || b.isReal)
    return fromReal(a.asReal() + b.asReal());
  // Products of two int64 and their sum fit 128 bits.
  return fraction(Wide(a.over) * b.under + Wide(b.over) * a.under, Wide(a.under) * b.under);
}

Result<Number> multiply(const Number &a, const Number &b) {
  if (a.isReal || b.isReal)
    return fromReal(a.asReal() * b.asReal());
  return fraction(Wide(a.over) * b.over, Wide(a.under) * b.under);
}

int compare(const Number &a, const Number &b) {
  if (a.isReal || b.isReal) {
    double x = a.asReal(), y = b.asReal();
    return x < y ? -1 : x > y;
  }
  Wide left = Wide(a.over) * b.under, right = Wide(b.over) * a.under;
  return left < right ? -1 : left > right;
}

Result<Number> realToInteger(double value) {
  if (!(std::abs(value) < 0x1p63))
    return overflow();
  return fromInteger(static_cast<int64_t>(value));
}

Result<Number> floorOf(const Number &a) {
  if (a.isReal)
    return realToInteger(std::floor(a.real));
  int64_t quotient = a.over / a.under;
  return fromInteger(quotient - (a.over % a.under < 0));
}

Result<Number> ceilingOf(const Number &a) {
  if (a.isReal)
    return realToInteger(std::ceil(a.real));
  int64_t quotient = a.over / a.under;
  return fromInteger(quotient + (a.over % a.under > 0));
}

Result<Number> truncationOf(const Number &a) {
  if (a.isReal)
    return realToInteger(std::trunc(a.real));
  return fromInteger(a.over / a.under);
}

Result<Number> divide(const Number &a, const Number &b) {
  if (a.isReal || b.isReal) {
    if (b.asReal() == 0)
      return usageError("a symbolic expression divides by zero");
    return fromReal(a.asReal() / b.asReal());
  }
  return fraction(Wide(a.over) * b.under, Wide(a.under) * b.over);
}

Result<Number> floorDivide(const Number &a, const Number &b) {
  INGOT_TRY(Number quotient, divide(a, b));
  return floorOf(quotient);
}

/// Python's remainder has the divisor's sign: a - b*floor(a/b).
Result<Number> modulo(const Number &a, const Number &b) {
  INGOT_TRY(Number quotient, floorDivide(a, b));
  INGOT_TRY(Number product, multiply(b, quotient));
  INGOT_TRY(Number negative, multiply(product, fromInteger(-1)));
  return add(a, negative);
}

Result<Number> power(const Number &base, const Number &exponent) {
  if (base.isReal || !exponent.isInteger())
    return fromReal(std::pow(base.asReal(), exponent.asReal()));
  // Beyond 64 only 0, 1 and -1 stay in range, and their powers repeat.
  int64_t count = exponent.over;
  if (count > 64 || count < -64)
    count = (count % 2 + 2) % 2 + (count > 0 ? 64 : -66);
  Number result = fromInteger(1);
  for (int64_t i = 0; i < std::abs(count); ++i) {
    INGOT_TRY(result, multiply(result, base));
  }
  return count < 0 ? divide(fromInteger(1), result) : Result<Number>(result);
}

Result<Number> shift(const Number &a, const Number &b, bool left) {
  if (!a.isInteger() || !b.isInteger() || b.over < 0 || b.over > 62)
    return usageError("a symbolic expression shifts by a bad amount");
  Number factor = fromInteger(int64_t(1) << b.over);
  return left ? multiply(a, factor) : floorDivide(a, factor);
}

Result<Number> roundDecimal(const Number &a, const Number &digits) {
  if (!digits.isInteger() || std::abs(digits.asReal()) > 300)
    return usageError("a symbolic expression rounds to a bad number of digits");
  double scale = std::pow(10.0, digits.asReal());
  return fromReal(std::nearbyint(a.asReal() * scale) / scale);
}

Result<Number> unaryMath(SymOp op, double x) {
  switch (op) {
  case SymOp::Sqrt:
    return fromReal(std::sqrt(x));
  case SymOp::Exp:
    return fromReal(std::exp(x));
  case SymOp::Log:
    return fromReal(std::log(x));
  case SymOp::Log2:
    return fromReal(std::log2(x));
  case SymOp::Sin:
    return fromReal(std::sin(x));
  case SymOp::Cos:
    return fromReal(std::cos(x));
  case SymOp::Tan:
    return fromReal(std::tan(x));
  case SymOp::Sinh:
    return fromReal(std::sinh(x));
  case SymOp::Cosh:
    return fromReal(std::cosh(x));
  case SymOp::Tanh:
    return fromReal(std::tanh(x));
  case SymOp::Asin:
    return fromReal(std::asin(x));
  case SymOp::Acos:
    return fromReal(std::acos(x));
  case SymOp::Atan:
    return fromReal(std::atan(x));
  default:
    return internalError("operator without evaluation in a symbolic expression");
  }
}

Result<Number> unary(SymOp op, const Number &x) {
  switch (op) {
  case SymOp::ToFloat:
    return fromReal(x.asReal());
  case SymOp::TruncToFloat:
    return fromReal(std::trunc(x.asReal()));
  case SymOp::TruncToInt:
    return truncationOf(x);
  case SymOp::FloorToInt:
  case SymOp::Floor:
    return floorOf(x);
  case SymOp::CeilToInt:
  case SymOp::Ceiling:
    return ceilingOf(x);
  case SymOp::RoundToInt:
    return realToInteger(std::nearbyint(x.asReal()));
  case SymOp::Identity:
    return x;
  case SymOp::Abs:
    return compare(x, fromInteger(0)) < 0 ? multiply(x, fromInteger(-1)) : Result<Number>(x);
  default:
    return unaryMath(op, x.asReal());
  }
}

Result<Number> binary(SymOp op, const Number &a, const Number &b) {
  switch (op) {
  case SymOp::Add:
    return add(a, b);
  case SymOp::Mul:
    return multiply(a, b);
  case SymOp::Max:
    return compare(a, b) < 0 ? b : a;
  case SymOp::Min:
    return compare(a, b) > 0 ? b : a;
  case SymOp::Rational:
    return divide(a, b);
  case SymOp::Pow:
  case SymOp::PowByNatural:
    return power(a, b);
  case SymOp::FloatPow:
    return fromReal(std::pow(a.asReal(), b.asReal()));
  case SymOp::FloorDiv:
  case SymOp::CleanDiv:
    return floorDivide(a, b);
  case SymOp::CeilDiv: {
    INGOT_TRY(Number quotient, divide(a, b));
    return ceilingOf(quotient);
  }
  case SymOp::Mod:
  case SymOp::PythonMod:
    return modulo(a, b);
  case SymOp::IntTrueDiv:
  case SymOp::FloatTrueDiv:
    return divide(fromReal(a.asReal()), b);
  case SymOp::LShift:
    return shift(a, b, true);
  case SymOp::RShift:
    return shift(a, b, false);
  case SymOp::RoundDecimal:
    return roundDecimal(a, b);
  case SymOp::BitwiseAnd:
  case SymOp::BitwiseOr:
    if (!a.isInteger() || !b.isInteger())
      return usageError("a symbolic expression combines the bits of a fraction");
    return fromInteger(op == SymOp::BitwiseAnd ? a.over & b.over : a.over | b.over);
  default:
    return internalError("operator without evaluation in a symbolic expression");
  }
}

class Evaluator {
public:
  explicit Evaluator(const SymLookup &lookup) : lookup(lookup) {}

  Result<SymValue> value(const SymExpr &expr) const {
    if (isCondition(expr)) {
      INGOT_TRY(bool truth, condition(expr));
      return SymValue(truth);
    }
    INGOT_TRY(Number result, number(expr));
    if (result.isInteger())
      return SymValue(result.over);
    return SymValue(result.asReal());
  }

private:
  bool isCondition(const SymExpr &expr) const {
    switch (expr.op) {
    case SymOp::Boolean:
    case SymOp::And:
    case SymOp::Or:
    case SymOp::Not:
    case SymOp::Equal:
    case SymOp::NotEqual:
    case SymOp::Less:
    case SymOp::LessEqual:
    case SymOp::Greater:
    case SymOp::GreaterEqual:
      return true;
    case SymOp::Symbol: {
      std::optional<SymValue> value = lookup(expr.symbol);
      return value && std::holds_alternative<bool>(*value);
    }
    default:
      return false;
    }
  }

  Result<SymValue> symbol(const SymExpr &expr) const {
    std::optional<SymValue> value = lookup(expr.symbol);
    if (!value)
      return usageError("symbol '" + expr.symbol + "' has no value");
    return *value;
  }

  Result<bool> condition(const SymExpr &expr) const {
    switch (expr.op) {
    case SymOp::Boolean:
      return expr.boolean;
    case SymOp::Not: {
      INGOT_TRY(bool truth, condition(expr.operands[0]));
      return !truth;
    }
    case SymOp::And:
    case SymOp::Or:
      for (const SymExpr &operand : expr.operands) {
        INGOT_TRY(bool truth, condition(operand));
        if (truth == (expr.op == SymOp::Or))
          return truth;
      }
      return expr.op == SymOp::And;
    case SymOp::Symbol: {
      INGOT_TRY(SymValue value, symbol(expr));
      return std::visit([](auto scalar) { return scalar != 0; }, value);
    }
    default:
      return isCondition(expr) ? relation(expr) : truthOf(expr);
    }
  }

  Result<bool> truthOf(const SymExpr &expr) const {
    INGOT_TRY(Number result, number(expr));
    return compare(result, fromInteger(0)) != 0;
  }

  Result<bool> relation(const SymExpr &expr) const {
    INGOT_TRY(Number left, number(expr.operands[0]));
    INGOT_TRY(Number right, number(expr.operands[1]));
    int order = compare(left, right);
    switch (expr.op) {
    case SymOp::Equal:
      return order == 0;
    case SymOp::NotEqual:
      return order != 0;
    case SymOp::Less:
      return order < 0;
    case SymOp::LessEqual:
      return order <= 0;
    case SymOp::Greater:
      return order > 0;
    default:
      return order >= 0;
    }
  }

  Result<Number> number(const SymExpr &expr) const {
    switch (expr.op) {
    case SymOp::Integer:
      return fromInteger(expr.integer);
    case SymOp::Float:
      return fromReal(expr.real);
    case SymOp::Symbol: {
      INGOT_TRY(SymValue value, symbol(expr));
      if (const double *real = std::get_if<double>(&value))
        return fromReal(*real);
      return fromInteger(std::visit([](auto scalar) { return int64_t(scalar); }, value));
    }
    case SymOp::Where: {
      INGOT_TRY(bool truth, condition(expr.operands[0]));
      return number(expr.operands[truth ? 1 : 2]);
    }
    case SymOp::Piecewise:
      return piecewise(expr);
    case SymOp::ModularIndexing: {
      INGOT_TRY(Number quotient, pair(SymOp::FloorDiv, expr.operands[0], expr.operands[1]));
      INGOT_TRY(Number size, number(expr.operands[2]));
      return modulo(quotient, size);
    }
    default:
      return isCondition(expr) ? truthNumber(expr) : fold(expr);
    }
  }

  Result<Number> truthNumber(const SymExpr &expr) const {
    INGOT_TRY(bool truth, condition(expr));
    return fromInteger(truth);
  }

  Result<Number> piecewise(const SymExpr &expr) const {
    for (const SymExpr &piece : expr.operands) {
      INGOT_TRY(bool truth, condition(piece.operands[1]));
      if (truth)
        return number(piece.operands[0]);
    }
    return usageError("no case of a piecewise expression applies");
  }

  Result<Number> pair(SymOp op, const SymExpr &left, const SymExpr &right) const {
    INGOT_TRY(Number a, number(left));
    INGOT_TRY(Number b, number(right));
    return binary(op, a, b);
  }

  /// One operand: a function. Several: applied from the left.
  Result<Number> fold(const SymExpr &expr) const {
    INGOT_TRY(Number result, number(expr.operands[0]));
    bool isChain = expr.op == SymOp::Add || expr.op == SymOp::Mul || expr.op == SymOp::Max || expr.op == SymOp::Min;
    if (expr.operands.size() == 1)
      return isChain ? Result<Number>(result) : unary(expr.op, result);
    for (size_t i = 1; i < expr.operands.size(); ++i) {
      INGOT_TRY(Number next, number(expr.operands[i]));
      INGOT_TRY(result, binary(expr.op, result, next));
    }
    return result;
  }

  const SymLookup &lookup;
};

} // namespace

Result<SymValue> pt2::evaluateSymExpr(const SymExpr &expr, const SymLookup &lookup) {
  return Evaluator(lookup).value(expr);
}

Result<int64_t> pt2::evaluateSymInt(const SymExpr &expr, const SymLookup &lookup) {
  INGOT_TRY(SymValue value, evaluateSymExpr(expr, lookup));
  if (const int64_t *integer = std::get_if<int64_t>(&value))
    return *integer;
  return usageError("'" + printSymExpr(expr) + "' is not an integer");
}
