// What lowering left over: every problem of a program at once.
#pragma once

#include "dialect/Ops.h"

#include "mlir/IR/BuiltinOps.h"

#include <cstdint>
#include <string>
#include <vector>

namespace ingot::lower {

/// All carriers of one operator that stayed for one reason.
struct LeftOver {
  std::string op; ///< "aten::nonzero"
  int64_t count = 0;
  std::string firstNode;            ///< name of the first exported node
  std::vector<std::string> sources; ///< "model.py:12" of the user's Python: the first kMaxSources, distinct
  std::string modulePath;           ///< of the first node: "encoder.layer.0"
  std::string reason;
  std::string whatToDo;
  bool isBug = false; ///< a mistake of ours rather than a limit

  static constexpr size_t kMaxSources = 3;
};

/// Why PyTorch's dispatcher cannot run a carrier either; empty when it can.
std::string whyNoFallback(AtenOp op);

/// Sub-graphs included; in the order of the program. With `allowFallback` only those that PyTorch cannot run.
std::vector<LeftOver> collectLeftOvers(mlir::ModuleOp module, bool allowFallback = false);

/// For people; empty when nothing is left over.
std::string formatLeftOvers(const std::vector<LeftOver> &leftOvers);

} // namespace ingot::lower
