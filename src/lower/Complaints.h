// What MLIR complains about, as text instead of on stderr.
#pragma once

#include "mlir/IR/Diagnostics.h"

#include <string>

namespace ingot::lower {

class Complaints {
public:
  explicit Complaints(mlir::MLIRContext *context)
      : handler(context, [this](mlir::Diagnostic &diagnostic) {
          text += (text.empty() ? "" : "; ") + diagnostic.str();
          return mlir::success();
        }) {}
  std::string text;

private:
  mlir::ScopedDiagnosticHandler handler;
};

} // namespace ingot::lower
