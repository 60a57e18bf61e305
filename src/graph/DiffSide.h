// One of two documents that are compared, without the names that may differ.
#pragma once

#include "graph/Flat.h"

#include <map>

namespace ingot::graph {

struct CanonicalOutput {
  std::string shape, dtype;
};

/// A node as it is compared: values by where they come from, not by their names.
struct CanonicalNode {
  std::string op;                                ///< with the role of the body that it is in
  std::map<std::string, std::string> attributes; ///< arguments that are no values
  std::vector<CanonicalOutput> outputs;
};

struct Side {
  explicit Side(const Document &document) : document(document), flat(flatten(document)) {}

  /// `useArguments`: every node of both documents has argument records.
  void canonicalise(bool useArguments);
  bool hasArguments() const;

  /// A shape, with the document's symbols counted in the order of their appearance.
  std::string shape(const Tensor &tensor);

  const Document &document;
  Flat flat;
  std::vector<CanonicalNode> nodes;
  std::vector<std::vector<std::pair<size_t, size_t>>> users; ///< of every node: a user, and which input

private:
  std::string canonicalSize(const std::string &text);
  std::map<std::string, std::string> attributesOf(const Node &node, bool useArguments);

  std::map<std::string, std::string> symbols;
};

} // namespace ingot::graph
