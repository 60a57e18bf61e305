// LLVM IR of one cluster. The IR is built directly: the body of a kernel is calls of scalar functions between
// loads and stores, and the metadata that lets LLVM vectorise them is at hand here.
#pragma once

#include "codegen/Cluster.h"

#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/Module.h>

namespace ingot::codegen {

/// What tensors of `elementType` hold in memory: bool is a byte, 16-bit floats are their bits.
llvm::Type *storageType(llvm::LLVMContext &context, mlir::Type elementType);

/// Declares the scalar function if need be, and calls it.
llvm::Value *callScalar(llvm::IRBuilder<> &builder, const std::string &name, llvm::Type *result,
                        llvm::ArrayRef<llvm::Value *> arguments);

/// Adds the function `symbol` to `module` (its signature is in Codegen.h).
void emitKernel(llvm::Module &module, const Cluster &cluster, llvm::StringRef symbol);

} // namespace ingot::codegen
