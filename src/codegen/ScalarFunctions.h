// The scalar functions that ops of a cluster call, by name: ingot_s_<mnemonic>_<dtype>.
// They are compiled from src/runtime/kernels/elementwise, so that one definition serves the
// reference kernels and the compiled ones.
#pragma once

#include <string>

#include <llvm/ADT/StringRef.h>
#include <mlir/IR/Operation.h>
#include <mlir/IR/Types.h>

namespace ingot::codegen {

/// "f32", "i64", "b" ...; empty for element types that clusters do not hold.
llvm::StringRef dtypeSuffix(mlir::Type elementType);

/// The function of an element-wise op for which canCompile() holds.
std::string scalarFunctionName(mlir::Operation *op);

std::string castFunctionName(llvm::StringRef from, llvm::StringRef to);

/// Reductions over the last dimensions: how many there are, 0 if `op` is no reduction or not of this form.
int64_t lastDimsReduced(mlir::Operation *op);

/// True when codegen can compile `op` inside a cluster.
bool canCompile(mlir::Operation *op);

/// True when computing the op again costs more than reading its result from memory.
bool isExpensive(mlir::Operation *op);

/// True when the op's function for float32 calls the C library: loops around it do not become vectors.
bool callsLibrary(mlir::Operation *op);

} // namespace ingot::codegen
