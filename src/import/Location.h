// Where an operation comes from, as an MLIR location:
//
//   loc("linear_1"(fused<"encoder.layer.0">["model.py":12:0]))
//
// a NameLoc with the exported node's name, around a FusedLoc whose metadata is the path of the module (absent
// for the root), around the line of the user's Python (absent when the file has no stack traces). Passes that
// merge operations fuse such locations; sourceInfo() takes them apart again.
#pragma once

#include "mlir/IR/Location.h"

#include <cstdint>
#include <string>

namespace ingot {

struct SourceInfo {
  std::string node;       ///< name of the exported node; several are joined by ", "
  std::string file;       ///< of the user's Python; empty when unknown
  int64_t line = 0;       ///< 0 when unknown
  std::string modulePath; ///< "encoder.layer.0"; empty for the root

  /// "node 'linear_1' (model.py:12, in encoder.layer.0)", with what is known of it.
  std::string str() const;
};

mlir::Location makeLocation(mlir::MLIRContext *context, const SourceInfo &source);

/// Of any location; fields that it does not tell are empty.
SourceInfo sourceInfo(mlir::Location location);

} // namespace ingot
