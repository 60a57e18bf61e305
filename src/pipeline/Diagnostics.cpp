#include "pipeline/Diagnostics.h"

#include "import/Location.h"

#include <mlir/IR/MLIRContext.h>

using namespace mlir;

namespace ingot {

static std::string describe(Diagnostic &diagnostic) {
  std::string text = diagnostic.str();
  SourceInfo source = sourceInfo(diagnostic.getLocation());
  if (!source.node.empty())
    text += "\n    node `" + source.node + "`";
  if (!source.file.empty())
    text += "\n    at " + source.file + ":" + std::to_string(source.line);
  for (Diagnostic &note : diagnostic.getNotes())
    text += "\n    note: " + note.str();
  return text;
}

DiagnosticCollector::DiagnosticCollector(MLIRContext &context)
    : handler(&context, [this](Diagnostic &diagnostic) {
        if (diagnostic.getSeverity() == DiagnosticSeverity::Error)
          messages.push_back(describe(diagnostic));
        return success();
      }) {}

Error DiagnosticCollector::error(ErrorKind kind, std::string fallback) const {
  if (messages.empty())
    return {kind, std::move(fallback)};
  std::string text = messages.front();
  for (size_t i = 1; i < messages.size(); ++i)
    text += "\n" + messages[i];
  return {kind, std::move(text)};
}

} // namespace ingot
