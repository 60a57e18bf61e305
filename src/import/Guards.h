// What an export has taken for granted about the sizes of its inputs, beyond the ranges of symbols.
#pragma once

#include "pt2/Archive.h"

#include <string>
#include <vector>

namespace ingot {

/// `expression` is over symbols, "(s0 + 1) // 2"; a comparison, "s0 < s1", has the value 1.
struct SizeEquation {
  std::string expression;
  int64_t value = 0;
};

/// The guards that are conditions on sizes. Those that only keep sizes from being 0 or 1 are left out: exports assume it, and need
/// not. What is no comparison of sizes is left out with a warning.
std::vector<SizeEquation> sizeEquations(const pt2::Program &program);

} // namespace ingot
