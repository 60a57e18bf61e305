// What a plan's entry points take and give, as JSON text.
#pragma once

#include "runtime/Plan.h"

#include <string>

namespace ingot {

/// A list of entry points in the form of an asset's manifest (asset/Format.h): inputs and outputs that are
/// literals have a "literal" and are not part of a call.
std::string describePlan(const Plan &plan);

} // namespace ingot
