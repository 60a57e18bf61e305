// Whether two documents are the same graph up to names and order, and where they differ.
#pragma once

#include "graph/Document.h"

namespace ingot::graph {

struct Difference {
  /// node_added, node_removed, op_changed, attribute_changed, shape_changed, dtype_changed, input_rewired,
  /// inputs_changed (their number), weight_added, weight_removed, weight_changed, constant_changed, graph_input_added,
  /// graph_input_removed, graph_input_changed, graph_inputs_reordered, graph_output_changed, graph_outputs_changed
  std::string kind;
  std::string where; ///< of the node, weight or port, as the first document calls it (the second, where it was added)
  std::string before, after;
};

struct Comparison {
  std::vector<Difference> differences; ///< empty: the same structure
  // What may differ in the same structure.
  std::vector<std::pair<std::string, std::string>> renamedNodes, renamedWeights, renamedInputs;
  bool isReordered = false;

  bool isSame() const { return differences.empty(); }
};

/// Values of weights are not looked at; documents do not have them.
Comparison compare(const Document &first, const Document &second);

Json comparisonJson(const Comparison &comparison);
/// At most `maxItems` differences of each kind are listed; 0 is no limit.
std::string comparisonText(const Comparison &comparison, size_t maxItems);

} // namespace ingot::graph
