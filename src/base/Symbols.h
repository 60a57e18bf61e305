// Sizes written as expressions over symbols: "s0", "2*s0 + 1", "(s0 // 2)".
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>

namespace ingot {

using SymbolValues = std::map<std::string, int64_t, std::less<>>;

/// The expression's value; nullopt if a symbol is unknown, something overflows, or the text is none.
/// Knows + - * / // % ** & ( ) and Max, Min, Mod, FloorDiv, CeilDiv. A comparison is 1 or 0, and may be one of real numbers:
/// "0.5*s0 <= 3", "math.ceil(s0 / 3) == 2". Comparisons may be joined by `or` and `and`.
std::optional<int64_t> evaluate(std::string_view expression, const SymbolValues &symbols);

/// The same with real numbers, of what is no comparison.
std::optional<double> evaluateReal(std::string_view expression, const SymbolValues &symbols);

/// Whether it is a comparison, or several.
bool isCondition(std::string_view expression);

/// The names in an expression that are no functions.
std::set<std::string, std::less<>> symbolsIn(std::string_view expression);

/// The value of `symbol` for which a linear expression has `value`; nullopt if it is not linear in it or
/// there is none.
std::optional<int64_t> solveFor(std::string_view expression, std::string_view symbol, int64_t value,
                                SymbolValues symbols);

} // namespace ingot
