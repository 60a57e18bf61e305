// The scalar functions as LLVM bitcode, part of this library.
#pragma once

#include <llvm/ADT/StringRef.h>

namespace ingot::codegen {

llvm::StringRef scalarBitcode();

} // namespace ingot::codegen
