// Lowerings that the caller of a conversion brings along: asked before the table of aten_ops.inc.
#pragma once

#include "ingot/plugin.h"
#include "lower/Lowering.h"

#include "llvm/ADT/StringMap.h"

#include <string>
#include <vector>

namespace ingot::lower {

/// Starts the reasons that came out of such a lowering.
inline constexpr const char *kCustomPrefix = "its registered lowering failed: ";

/// "aten::relu.default" is "aten::relu", as carriers have it.
std::string loweringTarget(llvm::StringRef name);

class CustomLowerings {
public:
  CustomLowerings() = default;
  explicit CustomLowerings(llvm::ArrayRef<ingot_lowering> lowerings) {
    for (const ingot_lowering &lowering : lowerings)
      byTarget[loweringTarget(lowering.target)] = lowering;
  }

  /// Null where none was given for this operator.
  const ingot_lowering *find(llvm::StringRef target) const {
    auto it = byTarget.find(target);
    return it == byTarget.end() ? nullptr : &it->second;
  }

private:
  llvm::StringMap<ingot_lowering> byTarget;
};

/// Runs a lowering for the carrier in `ctx`, and checks what it gives against the node's types.
mlir::LogicalResult lowerByCustom(const ingot_lowering &lowering, LowerContext &ctx);

} // namespace ingot::lower
