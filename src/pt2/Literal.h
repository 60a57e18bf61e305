// Arguments and results that are no tensors and never change, as text.
#pragma once

#include "base/Result.h"
#include "pt2/Graph.h"

namespace ingot::pt2 {

/// As JSON: null, 3, 2.5, true, "x"; {"float": "Infinity"}, {"float": "-Infinity"} and {"float": "NaN"} for what JSON has no numbers for.
Result<std::string> literalText(const Argument &argument);

} // namespace ingot::pt2
