// Symbolic expressions of .pt2 files: SymPy's srepr text parsed into a tree, evaluated, printed.
#pragma once

#include "base/Result.h"

#include <cstdint>
#include <functional>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace ingot::pt2 {

// Rows: enumerator, name in srepr, fewest operands, most operands (-1: any number).
#define INGOT_SYM_OPS(X)                                                                                               \
  X(Add, "Add", 1, -1)                                                                                                 \
  X(Mul, "Mul", 1, -1)                                                                                                 \
  X(Max, "Max", 1, -1)                                                                                                 \
  X(Min, "Min", 1, -1)                                                                                                 \
  X(And, "And", 0, -1)                                                                                                 \
  X(Or, "Or", 0, -1)                                                                                                   \
  X(Not, "Not", 1, 1)                                                                                                  \
  X(Pow, "Pow", 2, 2)                                                                                                  \
  X(PowByNatural, "PowByNatural", 2, 2)                                                                                \
  X(FloatPow, "FloatPow", 2, 2)                                                                                        \
  X(FloorDiv, "FloorDiv", 2, 2)                                                                                        \
  X(CleanDiv, "CleanDiv", 2, 2)                                                                                        \
  X(CeilDiv, "CeilDiv", 2, 2)                                                                                          \
  X(Mod, "Mod", 2, 2)                                                                                                  \
  X(PythonMod, "PythonMod", 2, 2)                                                                                      \
  X(ModularIndexing, "ModularIndexing", 3, 3)                                                                          \
  X(IntTrueDiv, "IntTrueDiv", 2, 2)                                                                                    \
  X(FloatTrueDiv, "FloatTrueDiv", 2, 2)                                                                                \
  X(LShift, "LShift", 2, 2)                                                                                            \
  X(RShift, "RShift", 2, 2)                                                                                            \
  X(BitwiseAnd, "BitwiseFn_bitwise_and", 2, 2)                                                                         \
  X(BitwiseOr, "BitwiseFn_bitwise_or", 2, 2)                                                                           \
  X(ToFloat, "ToFloat", 1, 1)                                                                                          \
  X(TruncToInt, "TruncToInt", 1, 1)                                                                                    \
  X(TruncToFloat, "TruncToFloat", 1, 1)                                                                                \
  X(FloorToInt, "FloorToInt", 1, 1)                                                                                    \
  X(CeilToInt, "CeilToInt", 1, 1)                                                                                      \
  X(Floor, "floor", 1, 1)                                                                                              \
  X(Ceiling, "ceiling", 1, 1)                                                                                          \
  X(RoundToInt, "RoundToInt", 1, 1)                                                                                    \
  X(RoundDecimal, "RoundDecimal", 2, 2)                                                                                \
  X(Identity, "Identity", 1, 1)                                                                                        \
  X(Abs, "Abs", 1, 1)                                                                                                  \
  X(Rational, "Rational", 2, 2)                                                                                        \
  X(Where, "Where", 3, 3)                                                                                              \
  X(Piecewise, "Piecewise", 1, -1)                                                                                     \
  X(ExprCondPair, "ExprCondPair", 2, 2)                                                                                \
  X(Equal, "Equality", 2, 2)                                                                                           \
  X(NotEqual, "Unequality", 2, 2)                                                                                      \
  X(Less, "StrictLessThan", 2, 2)                                                                                      \
  X(LessEqual, "LessThan", 2, 2)                                                                                       \
  X(Greater, "StrictGreaterThan", 2, 2)                                                                                \
  X(GreaterEqual, "GreaterThan", 2, 2)                                                                                 \
  X(Sqrt, "OpaqueUnaryFn_sqrt", 1, 1)                                                                                  \
  X(Exp, "OpaqueUnaryFn_exp", 1, 1)                                                                                    \
  X(Log, "OpaqueUnaryFn_log", 1, 1)                                                                                    \
  X(Log2, "OpaqueUnaryFn_log2", 1, 1)                                                                                  \
  X(Sin, "OpaqueUnaryFn_sin", 1, 1)                                                                                    \
  X(Cos, "OpaqueUnaryFn_cos", 1, 1)                                                                                    \
  X(Tan, "OpaqueUnaryFn_tan", 1, 1)                                                                                    \
  X(Sinh, "OpaqueUnaryFn_sinh", 1, 1)                                                                                  \
  X(Cosh, "OpaqueUnaryFn_cosh", 1, 1)                                                                                  \
  X(Tanh, "OpaqueUnaryFn_tanh", 1, 1)                                                                                  \
  X(Asin, "OpaqueUnaryFn_asin", 1, 1)                                                                                  \
  X(Acos, "OpaqueUnaryFn_acos", 1, 1)                                                                                  \
  X(Atan, "OpaqueUnaryFn_atan", 1, 1)

enum class SymOp : uint8_t {
  Integer,
  Float,
  Boolean,
  Symbol,
#define X(name, text, fewest, most) name,
  INGOT_SYM_OPS(X)
#undef X
};

struct SymExpr {
  SymOp op = SymOp::Integer;
  int64_t integer = 0;  ///< of an Integer
  double real = 0;      ///< of a Float
  bool boolean = false; ///< of a Boolean
  std::string symbol;   ///< of a Symbol: "s77" (from an input), "u0" (from data), "zf3" (a float)
  std::vector<SymExpr> operands;

  static SymExpr makeInteger(int64_t value);
  static SymExpr makeSymbol(std::string name);
  static SymExpr make(SymOp op, std::vector<SymExpr> operands);

  bool isInteger() const { return op == SymOp::Integer; }
  bool isSymbol() const { return op == SymOp::Symbol; }
  bool operator==(const SymExpr &) const = default;
};

/// Parses srepr text. Unknown functions are Unsupported, anything else that fails is Corrupt.
Result<SymExpr> parseSymExpr(std::string_view text);

/// Readable text: "2*s0 + 1", "(s0 + 1)//2", "Max(1, s0)". Matches Python's str() where that is
/// used as a key (range constraints).
std::string printSymExpr(const SymExpr &expr);

void collectSymbols(const SymExpr &expr, std::set<std::string> &symbols);

using SymValue = std::variant<int64_t, double, bool>;
/// The value of a symbol, or nullopt if it has none.
using SymLookup = std::function<std::optional<SymValue>(std::string_view)>;

/// Python's arithmetic: floor division, exact fractions. Overflow, division by zero and unknown
/// symbols are errors (Usage: the values came from the caller).
Result<SymValue> evaluateSymExpr(const SymExpr &expr, const SymLookup &lookup);
/// Likewise, for sizes: the result must be an integer.
Result<int64_t> evaluateSymInt(const SymExpr &expr, const SymLookup &lookup);

} // namespace ingot::pt2
