// Where in the user's Python a node comes from, out of the node's metadata.
#pragma once

#include "pt2/Graph.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace ingot::pt2 {

struct SourceFrame {
  std::string file;
  int64_t line = 0;
  std::string function;
  std::string code; ///< the line's text, empty if the trace has none

  /// "model.py:12"; empty for an unknown place.
  std::string str() const;
  bool operator==(const SourceFrame &) const = default;
};

struct SourceLocation {
  /// The innermost frame of the user's own files; the innermost of all if there is none.
  std::optional<SourceFrame> frame;
  /// The innermost frame outside torch (say, in a model library), if it is not `frame`.
  std::optional<SourceFrame> libraryFrame;
  std::string modulePath; ///< "encoder.layer.0.attention", empty for the root
  std::string moduleType; ///< "torch.nn.modules.linear.Linear"

  /// "model.py:12 (encoder.layer.0)".
  std::string str() const;
};

SourceLocation locate(const NodeMetadata &metadata);

/// The frames of a Python trace, outermost first. Lines that do not look like one are skipped.
std::vector<SourceFrame> parseStackTrace(std::string_view text);

struct ModuleFrame {
  std::string key, path, type;
};

/// The modules of `nn_module_stack`, outermost first.
std::vector<ModuleFrame> parseModuleStack(std::string_view text);

} // namespace ingot::pt2
