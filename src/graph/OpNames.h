// How operators are called: targets as .pt2 files have them, and op types as documents and FX print them.
#pragma once

#include "pt2/Schema.h"

#include <string>
#include <string_view>

namespace ingot::graph {

constexpr std::string_view kGetItem = "<built-in function getitem>";

/// "torch.ops.aten.add.Tensor" ► "aten.add.Tensor", "torch.ops.higher_order.cond" ► "cond", "_operator.mul" ►
/// "<built-in function mul>". Other Python functions keep their dotted names.
std::string opTypeOfTarget(std::string_view target);

/// The inverse; also takes "aten::add.Tensor", "torch.ops.aten.add.Tensor", and "aten.relu" for its default overload.
std::string targetOfOpType(std::string_view opType);

/// Null for operators without one: control flow, Python's own, unknown ones.
const pt2::OpSchema *schemaOfTarget(std::string_view target);

} // namespace ingot::graph
