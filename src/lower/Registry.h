// The rows of aten_ops.inc.
#pragma once

#include "lower/Lowering.h"

namespace ingot::lower {

struct Row {
  llvm::StringRef name;   ///< schema name: "aten::add.Tensor"
  llvm::StringRef family; ///< the file that holds the lowering: "Elementwise"
  LowerFn lower;
  llvm::StringRef note; ///< for the table of supported operators in the documents
};

/// In the order of the table.
llvm::ArrayRef<Row> allRows();

/// Null where the table has no such operator.
const Row *findRow(llvm::StringRef name);

} // namespace ingot::lower
