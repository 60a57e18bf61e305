// The values of constants: inside the document, or in the file beside it.
#pragma once

#include "base/Result.h"
#include "graph/Document.h"
#include "pt2/Archive.h"

#include <memory>
#include <string>
#include <vector>

namespace ingot::graph {

/// More elements than this go to the file beside the document.
constexpr int64_t kMostInlineElements = 1024;

/// "model.json" ► "model.json.constants.safetensors".
std::string constantsFileOf(const std::string &documentPath);

/// Adds the value of a constant, as the program has it.
void addConstant(Document &document, const std::string &name, const pt2::Weight &weight);

struct ConstantValue {
  DType dtype = DType::Float32;
  std::vector<int64_t> shape;
  std::span<const std::byte> data;
  std::shared_ptr<const void> memory;
};

/// The value of one entry of Document::constants.
Result<ConstantValue> constantValue(const Document &document, const Json &entry);

} // namespace ingot::graph
