// A plan as JSON text (plan.json in an asset's cache), and the rules a plan has to keep.
#pragma once

#include "base/Result.h"
#include "runtime/Plan.h"

#include <string>
#include <string_view>

namespace ingot {

/// Compact JSON. Attributes are written with their type ({"eps": {"float": 1e-5}}), constants in hex.
std::string planToJson(const Plan &plan);

/// Reads and validates: Corrupt for text that no version of Ingot writes, Unsupported for a plan of another
/// version or with kernels this runtime does not have.
Result<Plan> planFromJson(std::string_view text);

/// What every plan must keep, wherever it comes from: ids in range, every value defined once and before it
/// is used, the prologue free of inputs, kernels that exist, shapes and constants that fit into memory.
Status validatePlan(const Plan &plan);

} // namespace ingot
