// Arguments of nodes as JSON: docs/graph_format.md, "Values".
#pragma once

#include "base/Result.h"
#include "graph/Document.h"
#include "pt2/Schema.h"

#include <functional>
#include <string>

namespace ingot::graph {

pt2::Device deviceFromText(std::string_view text);
/// "strided", "torch.strided".
std::optional<pt2::Layout> layoutFromName(std::string_view name);
/// "float16", "torch.float16".
std::optional<DType> dtypeFromText(std::string_view text);

/// Writes arguments. `addBody` takes a sub-graph into the document and gives its name there.
class ValueWriter {
public:
  using AddBody = std::function<std::string(const pt2::SubGraph &)>;
  explicit ValueWriter(AddBody addBody = nullptr) : addBody(std::move(addBody)) {}

  /// Kind and value of an argument record; name and keyword are the caller's.
  ArgumentRecord record(const pt2::Argument &argument) const;
  /// The value alone, with values of the graph as `{"$tensor": name}` and `{"$symbol": name}`.
  Json value(const pt2::Argument &argument) const;

private:
  Json dictionary(const pt2::ArgumentDict &dict) const;
  Json tagged(const pt2::Argument &argument) const;

  AddBody addBody;
};

/// Reads arguments. `Names` know what the graph's values and bodies are.
class ValueReader {
public:
  struct Names {
    /// A value of the graph as an argument: a tensor, a scalar or an object.
    std::function<Result<pt2::Argument>(const std::string &)> value;
    std::function<Result<pt2::SubGraph>(const std::string &)> body;
  };
  explicit ValueReader(Names names) : names(std::move(names)) {}

  Result<pt2::Argument> record(const ArgumentRecord &record, const pt2::SchemaType *type) const;
  /// `type` is the parameter's where it is known: empty lists and names of dtypes are read by it.
  Result<pt2::Argument> value(const Json &json, const pt2::SchemaType *type = nullptr) const;

private:
  Result<pt2::Argument> tensor(const Json &json) const;
  Result<pt2::Argument> tensors(const Json &json) const;
  Result<pt2::Argument> text(const std::string &text, const pt2::SchemaType *type) const;
  Result<pt2::Argument> list(const Json &json, const pt2::SchemaType *type) const;
  Result<pt2::Argument> tagged(const std::string &tag, const Json &json) const;
  Result<pt2::Argument> taggedText(const std::string &tag, const std::string &text) const;

  Names names;
};

} // namespace ingot::graph
