// One graph of a program as nodes of a document, with the getitem nodes that .pt2 files leave out.
#pragma once

#include "graph/Document.h"
#include "graph/Symbols.h"
#include "graph/Values.h"

#include <string>
#include <unordered_map>

namespace ingot::graph {

class BodyWriter {
public:
  BodyWriter(SymbolWriter &symbols, const pt2::Graph &graph, Body &body) : symbols(symbols), graph(graph), body(body) {}

  /// A value that the caller passes; weights have no producer.
  void addInput(const std::string &name) { producers[name] = {name, 0}; }
  void addNodes();

  Tensor tensor(const std::string &value);
  /// An input or output of the graph, for its signature; `kind` is the name of a pt2::InputKind or OutputKind.
  Json signatureEntry(std::string_view kind, const pt2::Argument &value);

private:
  struct Producer {
    std::string node;
    int64_t index = 0;
  };
  /// A result of a node with several: a tensor, a scalar or None, at a place in the tuple.
  struct Result {
    std::string value; ///< empty for None
    std::vector<int64_t> place;
  };

  void addNode(const pt2::Node &node);
  void addArguments(const pt2::Node &from, const pt2::OpSchema *schema, Node &node);
  void addAttributes(const pt2::Node &from, const pt2::OpSchema *schema, Node &node);
  void addInputs(const pt2::Argument &argument, Node &node);
  void addSingleResult(const pt2::Argument &output, Node &node);
  void addResults(const std::vector<Result> &results, Node node);
  void addGetItem(const Node &producer, const Result &result);
  Tensor used(const std::string &value);
  std::string addBody(const pt2::SubGraph &sub);
  std::optional<Scalar> scalar(const std::string &value);
  void describe(const pt2::Node &from, Node &node);

  SymbolWriter &symbols;
  const pt2::Graph &graph;
  Body &body;
  ValueWriter values{[this](const pt2::SubGraph &sub) { return addBody(sub); }};
  std::unordered_map<std::string, Producer> producers;
};

/// The value that an argument names, empty if it is none or many.
std::string nameOfValue(const pt2::Argument &argument);

} // namespace ingot::graph
