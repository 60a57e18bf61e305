// The nodes of a document as one graph of a program; getitem nodes become names of results again.
#pragma once

#include "base/Result.h"
#include "graph/Document.h"
#include "graph/Symbols.h"
#include "graph/Values.h"

#include <map>
#include <memory>
#include <string>
#include <unordered_map>

namespace ingot::graph {

class BodyReader {
public:
  BodyReader(const Document &document, const Body &body, size_t depth = 0);

  /// Inputs come first, in the order of the call.
  Status addTensorInput(const std::string &name, const Tensor &tensor);
  /// An entry of a signature's inputs that is no weight.
  Status addInput(const Json &entry);
  Status addNodes();
  /// An entry of a signature's outputs.
  Status addOutput(const Json &entry);
  Status addOutputNamed(const std::string &name);
  /// All of it for a sub-graph, whose inputs and outputs are its own.
  Result<pt2::Graph> readWhole();

  const std::vector<pt2::Argument> &inputs() const { return graph.inputs; }
  const std::vector<pt2::Argument> &outputs() const { return graph.outputs; }
  pt2::Graph take() { return std::move(graph); }
  /// What a value's weight is called, for values that are weights.
  void setWeightKey(const std::string &value, const std::string &key) { weightKeys[value] = key; }

private:
  using Place = std::vector<int64_t>; ///< in the tuple of results
  struct Entry {
    Place place;
    const Tensor *tensor = nullptr;
    const Scalar *scalar = nullptr;
  };

  Status addNode(const Node &node);
  Status addGetItem(const Node &node);
  Result<std::vector<pt2::NamedArgument>> arguments(const Node &node, const pt2::OpSchema *schema);
  Result<std::vector<pt2::Argument>> operands(const Node &node, std::vector<std::string> &hints);
  Result<pt2::Argument> input(const Tensor &tensor) const;
  Status addResults(const Node &from, const pt2::OpSchema *schema, pt2::Node &node);
  Result<pt2::Argument> addResult(const Node &from, const Entry &entry, bool isSingle);
  Result<pt2::TensorMeta> meta(const Tensor &tensor) const;
  Status define(const std::string &name, const std::string &type, const std::string &expr);
  Result<pt2::Argument> value(const std::string &name) const;
  Result<pt2::SubGraph> subGraph(const std::string &name);
  static std::vector<Entry> entriesOf(const Node &node);

  const Document &document;
  const Body &body;
  const size_t depth;
  SymbolReader symbols;
  ValueReader values;
  pt2::Graph graph;
  std::unordered_map<std::string, pt2::Argument> named;                  ///< every name ► the value
  std::unordered_map<std::string, std::vector<pt2::Argument>> tensorsOf; ///< node ► its tensors, as they are counted
  std::map<std::pair<std::string, Place>, std::string> picked;           ///< node and place ► the getitem node
  std::map<std::pair<std::string, Place>, pt2::Argument> results;
  std::unordered_map<std::string, std::string> weightKeys;
  struct Made {
    std::shared_ptr<const pt2::Graph> graph;
    size_t nodeCount = 0;
  };
  std::map<std::string, Made> bodies;
  size_t nodeCount = 0; ///< with those of bodies, as often as they are used
};

} // namespace ingot::graph
