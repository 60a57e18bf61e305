// Kernels that the user has written in C++, compiled by the clang that is installed.
#pragma once

#include "base/Result.h"
#include "codegen/TargetCpu.h"

#include <string>
#include <vector>

#include <mlir/IR/BuiltinOps.h>

namespace ingot::codegen {

/// Discardable attribute that compileCustom sets on kernels, for the runtime. String: the function in the library.
inline constexpr const char *kCustomSymbolAttr = "symbol";

struct CustomObjects {
  std::vector<std::string> objects; ///< bytes of object files
  std::vector<std::string> symbols;
};

/// Compiles the source of every `ingot.custom` in `module`; equal sources once. A source names its function
/// INGOT_KERNEL, which is defined as the symbol here.
Result<CustomObjects> compileCustom(mlir::ModuleOp module, const TargetCpu &target);

} // namespace ingot::codegen
