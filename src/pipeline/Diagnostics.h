// MLIR's diagnostics as our errors.
#pragma once

#include "base/Result.h"

#include <mlir/IR/Diagnostics.h>
#include <string>
#include <vector>

namespace ingot {

/// Collects every error that MLIR reports while it lives, each with the user's Python line.
class DiagnosticCollector {
public:
  explicit DiagnosticCollector(mlir::MLIRContext &context);

  /// All errors as one, or `fallback` if none was reported.
  Error error(ErrorKind kind, std::string fallback) const;
  bool hasErrors() const { return !messages.empty(); }

private:
  std::vector<std::string> messages;
  mlir::ScopedDiagnosticHandler handler;
};

} // namespace ingot
