// Nodes that write, and what they are without writing.
#pragma once

#include "dialect/Ops.h"
#include "pt2/Schema.h"

#include <optional>
#include <string>
#include <vector>

namespace ingot {

/// A node with the same arguments whose result number i is the new content of argument written[i].
struct PureForm {
  const pt2::OpSchema *schema = nullptr;
  std::vector<std::string> written;
};

/// Names under which the pure form of a node may be found, the likeliest first.
std::vector<std::string> pureNames(llvm::StringRef target);

/// nullopt when there is none.
std::optional<PureForm> pureForm(AtenOp op, const pt2::OpSchema &schema);

/// Nodes that give a tensor other memory or another size: no value can stand for that.
bool replacesMemory(llvm::StringRef target);

/// `transpose_` and its like change what a tensor looks like, not what it holds: the view that they are.
/// Empty for other nodes.
std::string viewOfMetadataWrite(llvm::StringRef target);

/// The element type that the pure form computes in, which may be wider than that of the tensor written.
mlir::Type pureElementType(AtenOp op, mlir::RankedTensorType written);

/// Makes the conversions that torch.autocast does before a node explicit; `narrow` is autocast's type.
void applyAutocast(AtenOp op, mlir::Type narrow);

} // namespace ingot
