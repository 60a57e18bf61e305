// Result types of ops from their operands and attributes, for those who build ops by name. Verifiers have the last word.
#pragma once

#include "base/Result.h"

#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/TypeRange.h"
#include "llvm/ADT/SmallVector.h"

namespace ingot {

/// An op that is about to be built.
struct OpDescription {
  llvm::StringRef name; ///< "ingot.add"
  mlir::TypeRange operands;
  llvm::ArrayRef<int32_t> groups; ///< operands of each group, for ops with optional ones
  mlir::DictionaryAttr attributes;
  mlir::Type dtype; ///< element type of the result where the op leaves it open; may be null
};

/// A usage error where the operands do not fit together, or where the types cannot be told without being given.
Result<llvm::SmallVector<mlir::Type>> inferResultTypes(const OpDescription &op);

} // namespace ingot
