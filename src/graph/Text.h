// Texts that drawings, tables and comparisons of documents share.
#pragma once

#include "graph/Flat.h"

#include <optional>
#include <span>
#include <unordered_map>

namespace ingot::graph {

/// "2x3", "1xs77"; empty for scalars.
std::string shapeText(std::span<const Size> shape, std::string_view separator = "x");

/// "mul.Tensor" of aten.mul.Tensor, "conv2d" of aten.conv2d.default, "getitem[1]", "matmul" of ingot.matmul.
std::string shortOp(const Node &node);

/// The number of elements; nullopt if a size varies or the number does not fit.
std::optional<uint64_t> elementCount(const Tensor &tensor);
/// 0 for element types that we do not know.
uint64_t byteCount(const Tensor &tensor);

/// "25,557,032"
std::string withSeparators(uint64_t number);

/// A name in which only letters, digits and underscores are left.
std::string identifier(std::string_view text);

/// "encoder.layer.0" ► encoder, layer, 0
std::vector<std::string> modulePath(std::string_view module);

/// JSON that is valid whatever bytes a document has; in one line, or indented.
std::string jsonText(const Json &value, int indent = -1);

/// Distinct names for names that may be equal once they are made into identifiers.
class UniqueNames {
public:
  std::string make(std::string name);

private:
  std::unordered_map<std::string, size_t> used;
};

} // namespace ingot::graph
