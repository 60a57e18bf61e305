#include "pt2/SymExpr.h"

#include <gtest/gtest.h>

using namespace ingot;
using namespace ingot::pt2;

namespace {

const std::string s0 = "Symbol('s0', positive=True, integer=True)";
const std::string s1 = "Symbol('s1')";

SymExpr parsed(const std::string &text) {
  Result<SymExpr> expr = parseSymExpr(text);
  EXPECT_TRUE(expr) << expr.error().str();
  return expr ? *expr : SymExpr();
}

std::string printed(const std::string &text) { return printSymExpr(parsed(text)); }

/// s0 = 7, s1 = -3.
Result<SymValue> valueOf(const std::string &text) {
  return evaluateSymExpr(parsed(text), [](std::string_view name) -> std::optional<SymValue> {
    if (name == "s0")
      return SymValue(int64_t(7));
    if (name == "s1")
      return SymValue(int64_t(-3));
    return std::nullopt;
  });
}

int64_t integerOf(const std::string &text) {
  Result<SymValue> value = valueOf(text);
  EXPECT_TRUE(value) << value.error().str();
  EXPECT_TRUE(value && std::holds_alternative<int64_t>(*value)) << text;
  return value && std::holds_alternative<int64_t>(*value) ? std::get<int64_t>(*value) : -999;
}

double realOf(const std::string &text) {
  Result<SymValue> value = valueOf(text);
  EXPECT_TRUE(value && std::holds_alternative<double>(*value)) << text;
  return value && std::holds_alternative<double>(*value) ? std::get<double>(*value) : -999;
}

bool truthOf(const std::string &text) {
  Result<SymValue> value = valueOf(text);
  EXPECT_TRUE(value && std::holds_alternative<bool>(*value)) << text;
  return value && std::holds_alternative<bool>(*value) && std::get<bool>(*value);
}

TEST(SymExpr, PrintsLikePython) {
  EXPECT_EQ(printed("Add(Integer(1), Mul(Integer(2), " + s0 + "))"), "2*s0 + 1");
  EXPECT_EQ(printed("Add(" + s0 + ", Integer(-1))"), "s0 - 1");
  EXPECT_EQ(printed("Add(" + s1 + ", Mul(Integer(-1), " + s0 + "))"), "s1 - s0");
  EXPECT_EQ(printed("Mul(Integer(-1), " + s0 + ")"), "-s0");
  EXPECT_EQ(printed("Add(" + s1 + ", Mul(Integer(-3), " + s0 + "))"), "s1 - 3*s0");
  EXPECT_EQ(printed("FloorDiv(Add(Integer(1), " + s0 + "), Integer(2))"), "(s0 + 1)//2");
  EXPECT_EQ(printed("FloorDiv(Mul(Integer(3), " + s0 + "), Integer(2))"), "(3*s0)//2");
  EXPECT_EQ(printed("Mul(Integer(2), FloorDiv(" + s0 + ", Integer(2)))"), "2*(s0//2)");
  EXPECT_EQ(printed("Mul(Integer(2), Add(" + s0 + ", Integer(1)))"), "2*(s0 + 1)");
  EXPECT_EQ(printed("Pow(" + s0 + ", Integer(2))"), "s0**2");
  EXPECT_EQ(printed("Pow(" + s0 + ", Integer(-1))"), "s0**(-1)");
  EXPECT_EQ(printed("Max(Integer(1), " + s0 + ")"), "Max(1, s0)");
  EXPECT_EQ(printed("And(LessThan(Integer(2), " + s0 + "), Not(Equality(" + s0 + ", Integer(3))))"),
            "2 <= s0 and not s0 == 3");
  EXPECT_EQ(printed("Float('0.5', precision=53)"), "0.5");
  EXPECT_EQ(printed("OpaqueUnaryFn_sqrt(" + s0 + ")"), "sqrt(s0)");
  EXPECT_EQ(printed("true"), "True");
}

TEST(SymExpr, EvaluatesIntegers) {
  EXPECT_EQ(integerOf("Add(" + s0 + ", " + s1 + ", Integer(1))"), 5);
  EXPECT_EQ(integerOf("Mul(" + s0 + ", " + s1 + ")"), -21);
  EXPECT_EQ(integerOf("FloorDiv(" + s1 + ", Integer(2))"), -2);
  EXPECT_EQ(integerOf("CeilDiv(" + s0 + ", Integer(2))"), 4);
  EXPECT_EQ(integerOf("CleanDiv(Integer(8), Integer(2))"), 4);
  EXPECT_EQ(integerOf("Mod(" + s0 + ", Integer(4))"), 3);
  EXPECT_EQ(integerOf("PythonMod(" + s1 + ", Integer(4))"), 1);
  EXPECT_EQ(integerOf("ModularIndexing(Integer(29), Integer(3), Integer(4))"), 1);
  EXPECT_EQ(integerOf("PowByNatural(" + s0 + ", Integer(3))"), 343);
  EXPECT_EQ(integerOf("Pow(Integer(-1), Integer(1001))"), -1);
  EXPECT_EQ(integerOf("Max(" + s0 + ", " + s1 + ", Integer(9))"), 9);
  EXPECT_EQ(integerOf("Min(" + s0 + ", " + s1 + ")"), -3);
  EXPECT_EQ(integerOf("LShift(Integer(3), Integer(2))"), 12);
  EXPECT_EQ(integerOf("RShift(Integer(-3), Integer(1))"), -2);
  EXPECT_EQ(integerOf("Abs(" + s1 + ")"), 3);
  EXPECT_EQ(integerOf("TruncToInt(IntTrueDiv(" + s1 + ", Integer(2)))"), -1);
  EXPECT_EQ(integerOf("CeilToInt(Float('2.25', precision=53))"), 3);
  EXPECT_EQ(integerOf("RoundToInt(Float('2.5', precision=53))"), 2);
  EXPECT_EQ(integerOf("Where(StrictLessThan(" + s0 + ", Integer(3)), Integer(1), Integer(2))"), 2);
  EXPECT_EQ(integerOf("Piecewise(ExprCondPair(Integer(1), Equality(" + s0 +
                      ", Integer(0))), ExprCondPair(Integer(5), true))"),
            5);
}

TEST(SymExpr, KeepsFractionsExact) {
  EXPECT_EQ(integerOf("Add(Mul(Rational(1, 2), " + s0 + "), Rational(1, 2))"), 4);
  EXPECT_EQ(integerOf("Mul(Pow(Integer(7), Integer(-1)), " + s0 + ")"), 1);
  EXPECT_EQ(realOf("Mul(Rational(1, 2), " + s0 + ")"), 3.5);
  EXPECT_EQ(realOf("ToFloat(" + s0 + ")"), 7.0);
  EXPECT_EQ(realOf("OpaqueUnaryFn_sqrt(Integer(16))"), 4.0);
  EXPECT_EQ(integerOf("floor(Rational(-1, 2))"), -1);
}

TEST(SymExpr, EvaluatesConditions) {
  EXPECT_TRUE(truthOf("And(LessThan(" + s1 + ", " + s0 + "), Unequality(" + s0 + ", Integer(6)))"));
  EXPECT_FALSE(truthOf("Or(false, Not(GreaterThan(" + s0 + ", Integer(7))))"));
  EXPECT_TRUE(truthOf("And()"));
}

TEST(SymExpr, ReportsOverflowAndBadValues) {
  std::string big = "Integer(9223372036854775807)";
  for (const std::string &text : std::vector<std::string>{
           "Add(" + big + ", Integer(1))", "Mul(" + big + ", Integer(2))", "Pow(Integer(2), Integer(63))",
           "Pow(Integer(3), Integer(99999999))", "FloorDiv(" + s0 + ", Integer(0))", "Mod(" + s0 + ", Integer(0))",
           "LShift(Integer(1), Integer(64))", "Pow(Integer(0), Integer(-1))",
           "FloorToInt(Float('1e300', precision=53))", "Symbol('u9')",
           "FloorDiv(Integer(-9223372036854775808), Integer(-1))"})
    EXPECT_FALSE(valueOf(text)) << text;
  Result<int64_t> half = evaluateSymInt(parsed("Rational(1, 2)"), [](auto) { return std::nullopt; });
  EXPECT_FALSE(half);
}

TEST(SymExpr, CollectsSymbols) {
  std::set<std::string> symbols;
  collectSymbols(parsed("Add(" + s0 + ", Mul(" + s1 + ", " + s0 + "))"), symbols);
  EXPECT_EQ(symbols, (std::set<std::string>{"s0", "s1"}));
}

TEST(SymExpr, RefusesNonsense) {
  EXPECT_EQ(parseSymExpr("Mystery(Integer(1))").error().kind, ErrorKind::Unsupported);
  EXPECT_EQ(parseSymExpr("Integer(99999999999999999999)").error().kind, ErrorKind::Unsupported);
  EXPECT_EQ(parseSymExpr("FloorDiv(Integer(1))").error().kind, ErrorKind::Corrupt);
  for (const char *text :
       {"ExprCondPair(Integer(1), true)", "Add(ExprCondPair(Integer(1), true), Integer(1))", "Piecewise(Integer(1))"})
    EXPECT_FALSE(parseSymExpr(text)) << text;
  std::string good = "Add(Integer(1), " + s0 +
                     ", Float('0.5', precision=53), Piecewise(ExprCondPair("
                     "Integer(1), true)))";
  for (size_t length = 0; length < good.size(); ++length)
    EXPECT_FALSE(parseSymExpr(good.substr(0, length))) << length;
  for (size_t at = 0; at < good.size(); ++at)
    for (char c : std::string_view("(),'x0-="))
      (void)parseSymExpr(std::string(good).replace(at, 1, 1, c));
  std::string deep;
  for (int i = 0; i < 100000; ++i)
    deep += "Add(";
  EXPECT_FALSE(parseSymExpr(deep));
}

} // namespace
