// Sizes that vary: expressions of programs as the readable texts of documents, and back.
#pragma once

#include "base/Result.h"
#include "graph/Document.h"
#include "pt2/Archive.h"

#include <map>
#include <string>

namespace ingot::graph {

/// Writes sizes, and collects the symbols and expressions that they use.
class SymbolWriter {
public:
  explicit SymbolWriter(Document &document) : document(document) {}

  Size size(const pt2::SymInt &value);
  std::vector<Size> sizes(const std::vector<pt2::SymInt> &values);
  /// Numbers and expressions alike as text.
  std::string text(const pt2::SymInt &value);
  std::string text(const pt2::SymFloat &value);
  std::string text(const pt2::SymBool &value);

  /// Whether strides are those of a tensor that lies in memory as its sizes say.
  static bool isContiguous(const pt2::TensorMeta &meta);

private:
  std::string expression(const pt2::SymExprText &expr);

  Document &document;
  std::map<std::string, std::string> texts; ///< exact form ► what it was written as
};

/// Reads them.
class SymbolReader {
public:
  explicit SymbolReader(const Document &document) : document(document) {}

  Result<pt2::SymInt> size(const Size &size) const;
  Result<std::vector<pt2::SymInt>> sizes(const std::vector<Size> &sizes) const;
  Result<pt2::SymInt> integer(const std::string &text) const;
  Result<pt2::SymFloat> number(const std::string &text) const;
  Result<pt2::SymBool> boolean(const std::string &text) const;
  /// The strides of a tensor that lies in memory as its sizes say.
  static std::vector<pt2::SymInt> contiguousStrides(const std::vector<pt2::SymInt> &sizes);

private:
  Result<pt2::SymExprText> expression(const std::string &text) const;

  const Document &document;
};

} // namespace ingot::graph
