// A document as one list of nodes: the bodies of control flow stand before the node that runs them, and every input
// is resolved to what makes it. What draws or compares documents works on this.
#pragma once

#include "graph/Document.h"

namespace ingot::graph {

/// Where a value comes from.
struct Link {
  enum class From {
    Node,    ///< `index` of Flat::nodes
    Input,   ///< `index` of the document's inputs
    Weight,  ///< `index` of Flat::weights
    Unknown, ///< nothing makes it, or the argument of a body that nobody passes
  };

  From from = From::Unknown;
  size_t index = 0;
  int64_t output = 0;             ///< which result of the node
  const Tensor *tensor = nullptr; ///< null for numbers and for what a body returns

  bool isSameSource(const Link &other) const {
    return from == other.from && index == other.index && output == other.output;
  }
};

/// A value of the graph that is a weight.
struct WeightValue {
  std::string name;               ///< in the graph: "p_layer_weight"
  const Weight *weight = nullptr; ///< null where the document does not list it
};

struct FlatNode {
  const Node *node = nullptr;
  std::string module; ///< its path; below that of the owner for nodes of a body
  std::string role;   ///< of a body's node: what the body is to its owner, "true_graph"
  /// Tensors in the node's order (of `getitem` only the picked one), then numbers, then what its bodies return.
  std::vector<Link> inputs;
};

/// Points into the document.
struct Flat {
  std::vector<FlatNode> nodes;
  std::vector<WeightValue> weights;
  std::vector<Link> outputs;
};

Flat flatten(const Document &document);

bool isGetItem(const Node &node);
/// Which of several results a getitem node picks; -1 where it does not say.
int64_t pickedIndex(const Node &node);

} // namespace ingot::graph
