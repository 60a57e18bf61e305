// The names that a user gives to the inputs, outputs and states of an entry point.
#pragma once

#include "base/Result.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

#include <map>
#include <string>
#include <vector>

namespace ingot {

/// Empty lists keep the names of the exported program.
struct IoNames {
  std::vector<std::string> inputs;  ///< of arguments that are no states
  std::vector<std::string> outputs; ///< of results that are tensors or numbers, at every position
  std::vector<std::string> states;  ///< buffers first, then the inputs that the program writes to
  /// How states without a given name are called, by the buffer; where it says nothing, as the buffer is.
  std::map<std::string, std::string> buffers;
};

/// To be called once it is known what the program writes. Every output position has a name of its own afterwards.
Status applyNames(mlir::func::FuncOp func, const IoNames &names);

} // namespace ingot
