// The text of conditions on sizes: comparisons of expressions, joined by `or` and `and`.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

namespace ingot {

/// `text` in the pieces between the words that stand outside of all brackets; the text itself where there are none.
std::vector<std::string_view> splitOutside(std::string_view text, std::string_view word);

inline constexpr std::string_view kOr = " or ", kAnd = " and ";

/// Without blanks around it, and without brackets around all of it.
std::string_view withoutBrackets(std::string_view text);

struct Comparison {
  std::string_view left, sign, right;
};

/// The comparison outside of all brackets, if the text is one.
std::optional<Comparison> comparisonIn(std::string_view text);

} // namespace ingot
