// From LLVM IR that calls scalar functions to object code.
#pragma once

#include "base/Result.h"
#include "codegen/TargetCpu.h"

#include <memory>
#include <string>

#include <llvm/IR/Module.h>
#include <llvm/Target/TargetMachine.h>

namespace ingot::codegen {

Result<std::unique_ptr<llvm::TargetMachine>> createTargetMachine(const TargetCpu &target);

/// Links the scalar functions that `module` calls into it and inlines them, optimises, and returns an object file.
Result<std::string> emitObject(llvm::Module &module, llvm::TargetMachine &machine);

} // namespace ingot::codegen
