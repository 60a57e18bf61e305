// The nodes of a program as things to be compared: what goes in, what comes out, and which cannot be compared.
#pragma once

#include "pt2/Archive.h"
#include "pt2/Rewrite.h"
#include "pt2/SourceLocation.h"

#include <string>
#include <vector>

namespace ingot::verify {

struct Site {
  std::string name;
  std::string op;                   ///< "aten.gelu.default"
  std::vector<std::string> results; ///< tensors
  std::vector<pt2::Tap> operands;   ///< tensors that are no weights, as they are when the node runs
  std::vector<pt2::Tap> weights;    ///< the other tensors
  std::vector<std::string> numbers; ///< symbolic operands
  std::string givenBecause;         ///< its results cannot be compared, so that Ingot's side is given eager's
  std::string notAloneBecause;      ///< it can be compared in a run of the whole program only
  uint64_t bytes = 0;               ///< of operands and results, by the sizes of the export
};

/// What is known of a program before it runs. Refers to the program.
class Sites {
public:
  explicit Sites(const pt2::Program &program);

  const pt2::Program &program;
  std::vector<Site> all; ///< one a node, in order

  pt2::SourceLocation locate(size_t index) const { return pt2::locate(program.graph.nodes[index].metadata); }
  /// All that nodes after `index` can see of what happened up to it.
  std::vector<pt2::Tap> liveAfter(size_t index) const;
  /// What the caller gets, changed buffers and arguments included, at the end.
  std::vector<pt2::Tap> outputs() const;
  /// Nodes whose results are given, by name.
  std::vector<std::string> given() const;
  /// A call of the operator as Python; tensors are `t["key"]`.
  std::string callText(size_t index) const;

private:
  Site describe(size_t index) const;
  bool isWeight(const std::string &value, size_t index) const;
  pt2::Tap at(const std::string &value, size_t index) const;

  size_t firstWrite; ///< the first node that may write to a value; afterwards a name alone does not say which content
  std::map<std::string, size_t, std::less<>> lastUse, maker;
  std::map<std::string, pt2::InputKind, std::less<>> weights;
};

} // namespace ingot::verify
