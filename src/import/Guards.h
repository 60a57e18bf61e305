// What an export has taken for granted about the sizes of its inputs, beyond the ranges of symbols.
#pragma once

#include "pt2/Archive.h"

#include <string>
#include <vector>

namespace ingot {

/// Equations over symbols, "(s0 + 1) // 2 == 2", of the guards that are equations of sizes. Others are left out: they
/// keep sizes from being 0 or 1, which exports assume and need not, or speak of what Ingot does not specialise on.
std::vector<std::string> sizeEquations(const pt2::Program &program);

} // namespace ingot
