// The nodes of a graph, and of its sub-graphs, as carrier operations. Private to this folder.
#pragma once

#include "base/Result.h"
#include "dialect/Ops.h"
#include "import/Arguments.h"
#include "pt2/Graph.h"

#include "mlir/IR/Builders.h"

namespace ingot {

class GraphImporter {
public:
  GraphImporter(mlir::OpBuilder &builder, const pt2::Graph &graph) : builder(builder), graph(graph) {}

  /// The type of a value of this graph.
  Result<mlir::Type> typeOf(llvm::StringRef name) const;

  Status define(llvm::StringRef name, mlir::Value value);
  Result<mlir::Value> lookup(llvm::StringRef name) const;

  /// All nodes, at the builder's place.
  Status importNodes();

private:
  Status importNode(const pt2::Node &node);
  Result<mlir::DictionaryAttr> convertArguments(const pt2::Node &node, const pt2::OpSchema *schema,
                                                ArgumentConverter &converter);
  Status importBody(const pt2::Graph &body, mlir::Region &region, mlir::Location location);
  Status yieldOutputs(const pt2::Graph &body, const GraphImporter &scope, mlir::Location location);

  mlir::OpBuilder &builder;
  const pt2::Graph &graph;
  Scope scope;
  /// Deeper sub-graphs than any real program has are refused, so that a hostile file cannot exhaust the stack.
  int depth = 0;
};

/// The name of the value that an output or a graph input is; empty for literals.
std::string valueName(const pt2::Argument &argument);

/// "torch.ops.aten.add.Tensor" is "aten::add.Tensor", "_operator.mul" is "_operator::mul".
std::string carrierTarget(llvm::StringRef target);

} // namespace ingot
