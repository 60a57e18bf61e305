// What an export has taken for granted about the sizes of its inputs, beyond the ranges of symbols.
#pragma once

#include "pt2/Archive.h"

#include <string>
#include <vector>

namespace ingot {

/// `expression` is over symbols, "(s0 + 1) // 2".
struct SizeEquation {
  std::string expression;
  int64_t value = 0;
};

/// The guards that are equations of sizes. Others are left out: they keep sizes from being 0 or 1, which exports assume
/// and need not, or speak of what Ingot does not specialise on.
std::vector<SizeEquation> sizeEquations(const pt2::Program &program);

} // namespace ingot
