// A graph document as plain data: docs/graph_format.md, field by field. Nothing here is checked; see Validate.h.
#pragma once

#include "base/SafeTensors.h"

#include <nlohmann/json.hpp>

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

namespace ingot::graph {

/// Keeps the order of keys as they were written.
using Json = nlohmann::ordered_json;

/// A number, or the text of an expression over the document's symbols.
using Size = std::variant<int64_t, std::string>;

struct Tensor {
  std::string name;
  std::vector<Size> shape;
  std::string dtype; ///< "float32"
  std::optional<std::string> producerNode;
  int64_t producerIndex = 0;
  std::vector<Size> strides; ///< empty: contiguous
  Size offset = int64_t(0);  ///< of the first element in its storage
  std::string device;        ///< empty: CPU or meta
  std::string layout;        ///< empty: strided

  bool operator==(const Tensor &) const = default;
};

struct Weight : Tensor {
  std::string kind; ///< "parameter", "buffer" or "constant"; empty in documents of other tools
  bool persistent = true;
  std::string sameAs; ///< the entry that has its memory, empty for most

  bool operator==(const Weight &) const = default;
};

/// One parameter of the operator's schema.
struct ArgumentRecord {
  std::string name;
  std::string kind; ///< "tensor", "tensors", "symbol", "graph", "value", "default"
  Json value;
  bool keyword = false;

  bool operator==(const ArgumentRecord &) const = default;
};

/// A result that is no tensor.
struct Scalar {
  std::string name;
  std::string type; ///< "int", "float", "bool", "none"
  std::string expr;

  bool operator==(const Scalar &) const = default;
};

struct Source {
  std::string file;
  int64_t line = 0;
  std::string function;
  std::string code;

  bool operator==(const Source &) const = default;
};

struct Node {
  std::string name;
  std::string opType;
  std::vector<Tensor> inputs;
  std::vector<Tensor> outputs;
  Json attrs = Json::object();
  std::optional<std::vector<ArgumentRecord>> args; ///< missing in documents of other tools
  std::vector<Scalar> scalars;
  std::vector<std::string> mutates;
  std::string module;
  std::string moduleType;
  std::optional<Source> source;

  bool operator==(const Node &) const = default;
};

/// Nodes in execution order, and the bodies that they refer to.
struct Body {
  std::vector<Tensor> inputs;
  std::vector<Tensor> outputs;
  std::vector<Node> nodes;
  std::map<std::string, Body> subgraphs;
  Json signature; ///< of a sub-graph that takes or gives more than tensors; the program's own is Document::signature

  bool operator==(const Body &) const = default;
};

struct Symbol {
  std::optional<int64_t> min, max, hint;
  std::string name; ///< of the dimension, as the user called it

  bool operator==(const Symbol &) const = default;
};

struct Document {
  std::string formatVersion; ///< empty in documents of other tools
  std::string modelName;
  std::string pytorchVersion;
  Body graph;
  std::vector<Weight> weights;
  std::vector<std::pair<std::string, std::string>> weightNames; ///< value ► weight
  std::vector<std::pair<std::string, Json>> constants;          ///< as they stand in the file
  std::map<std::string, Symbol> symbols;
  std::map<std::string, std::string> expressions;
  std::vector<std::string> guards;
  Json signature; ///< null in documents of other tools

  /// Constants that are too large for the document, for the file beside it.
  std::vector<SafeTensor> sideConstants;
  std::shared_ptr<const void> memory; ///< what they point into
  std::string folder;                 ///< where the document lies, for the files that it names; empty: in none
};

} // namespace ingot::graph
