#include "base/Symbols.h"

#include <gtest/gtest.h>

namespace ingot {
namespace {

const SymbolValues kSymbols = {{"s0", 7}, {"seq", 12}, {"u_1", 3}};

TEST(Symbols, Evaluates) {
  EXPECT_EQ(evaluate("128", {}), 128);
  EXPECT_EQ(evaluate("s0", kSymbols), 7);
  EXPECT_EQ(evaluate("2*s0 + 1", kSymbols), 15);
  EXPECT_EQ(evaluate("-s0 + 2*(seq - u_1)", kSymbols), 11);
  EXPECT_EQ(evaluate("(s0 // 2)", kSymbols), 3);
  EXPECT_EQ(evaluate("-s0 // 2", kSymbols), -4);
  EXPECT_EQ(evaluate("-7 % 3", {}), 2);
  EXPECT_EQ(evaluate("(-9223372036854775807 - 1) % 3", {}), 1);
  EXPECT_EQ(evaluate("s0**2", kSymbols), 49);
  EXPECT_EQ(evaluate("Max(1, s0, Min(seq, 100))", kSymbols), 12);
  EXPECT_EQ(evaluate("FloorDiv(seq, 5) + Mod(seq, 5) + CeilDiv(seq, 5)", kSymbols), 7);
  EXPECT_EQ(evaluate("seq / 4", kSymbols), 3);
}

TEST(Symbols, Compares) {
  for (const char *text :
       {"s0 < seq", "s0 <= 7", "s0 != seq", "seq == 4*u_1", "seq > 11", "s0 >= u_1", "(s0 & (-1) + s0) == 6",
        "s0 / seq <= 0.6", "0.3*torch.sym_float(s0) > 2.0", "math.trunc(0.5*s0) == u_1", "math.ceil(s0 / 3) == 3",
        "1 / s0 < 0.15", "max(s0, seq) == seq", "s0**0.5 < 2.7"})
    EXPECT_EQ(evaluate(text, kSymbols), 1) << text;
  for (const char *text : {"s0 < 7", "s0 > 7", "s0 != 7", "s0 == 8", "s0 <= 6.5", "s0 / 2 == 3"})
    EXPECT_EQ(evaluate(text, kSymbols), 0) << text;
  for (const char *text : {"s9 < 1", "1 <", "< 1", "1 < 2 < 3", "s0 / 0 < 1", "0.5 & s0 == 1", "(1 < 2"})
    EXPECT_FALSE(evaluate(text, kSymbols)) << text;
  for (const char *text : {"s0 == 1 or seq == 12", "s0 == 7 and seq == 12", "(s0 == 1 or s0 == 7) and (seq > 3)",
                           "((s0 % 2) == 0) or (((seq)) // 4 == u_1)", "(s0 == 7)"})
    EXPECT_EQ(evaluate(text, kSymbols), 1) << text;
  for (const char *text : {"s0 == 1 or seq == 1", "s0 == 7 and seq == 1", "s0 == 1 and (seq == 12 or seq == 1)"})
    EXPECT_EQ(evaluate(text, kSymbols), 0) << text;
  for (const char *text : {"s0 == 1 or", " or s0 == 1", "s0 == 7 or s9 == 1", "s0 == 7 or (", "s0 == 7) or (s0 == 7"})
    EXPECT_FALSE(evaluate(text, kSymbols)) << text;
  EXPECT_FALSE(evaluate(std::string(100000, '(') + "s0 == 7" + std::string(100000, ')'), kSymbols));
  EXPECT_TRUE(isCondition("s0 < 1"));
  EXPECT_FALSE(isCondition("s0 - 1"));
}

TEST(Symbols, RefusesWhatItCannotDo) {
  for (const char *text : {"", "s9", "1 +", "(1", "1)", "2 3", "s0 / 0", "s0 // 0", "s0 % 0", "Foo(1)", "Max()",
                           "9223372036854775807 + 1", "99999999999999999999", "2**64", "seq / 5", "$"})
    EXPECT_FALSE(evaluate(text, kSymbols)) << text;
  EXPECT_FALSE(evaluate(std::string(100000, '('), {}));
  EXPECT_FALSE(evaluate(std::string(100000, '-') + "1", {}));
}

TEST(Symbols, FindsNames) {
  EXPECT_EQ(symbolsIn("2*s0 + Max(seq, 1)"), (std::set<std::string, std::less<>>{"s0", "seq"}));
  EXPECT_TRUE(symbolsIn("128").empty());
  EXPECT_EQ(symbolsIn("a == 1 or b == 2 and c == 3"), (std::set<std::string, std::less<>>{"a", "b", "c"}));
}

TEST(Symbols, Solves) {
  EXPECT_EQ(solveFor("2*s1 + 1", "s1", 15, {}), 7);
  EXPECT_EQ(solveFor("2*s1 + 1", "s1", 14, {}), std::nullopt);
  EXPECT_EQ(solveFor("s1 * s1", "s1", 9, {}), std::nullopt);
  EXPECT_EQ(solveFor("s0*s1", "s1", 21, kSymbols), 3);
  EXPECT_EQ(solveFor("s1 // 2", "s1", 4, {}), std::nullopt);
}

} // namespace
} // namespace ingot
