// Programs that show what happens inside another one: values handed out, given from outside, nodes on their own.
#pragma once

#include "base/Json.h"
#include "pt2/Archive.h"

#include <string>
#include <vector>

namespace ingot::pt2 {

/// Stands for the end of the graph where a node is named.
inline constexpr const char *kGraphEnd = "output";

/// A look at a value: as it is right before the node `before` runs; without one, as it is when it was made.
struct Tap {
  std::string value;
  std::string before = {};

  /// "x" or "x@relu_": what the value is called among inputs, and, with kTapPrefix, among outputs.
  std::string key() const { return before.empty() ? value : value + "@" + before; }
  auto operator<=>(const Tap &) const = default;
};
inline constexpr const char *kTapPrefix = "tap:";

/// Goes into one of the bodies of a higher-order node, whose inputs then come from outside.
struct Enter {
  std::string node;
  size_t body = 0; ///< among those of the node

  bool operator==(const Enter &) const = default;
};

/// What the program becomes, in this order.
struct Rewrite {
  std::vector<Enter> enter; ///< the outermost first
  /// Nodes whose results come from outside, under the names of the values: random ones, so that both sides of a
  /// comparison see the same numbers.
  std::vector<std::string> given;
  /// If there are any, these nodes alone are left. Each takes the values in `operands` from outside, weights excepted.
  std::vector<std::string> alone;
  NameMap<std::vector<Tap>> operands;  ///< by node of `alone`
  NameMap<std::vector<int64_t>> sizes; ///< of operands by key, and of results: `alone` makes programs static
  NameMap<std::variant<int64_t, double, bool>> numbers; ///< symbolic operands of `alone`
  /// Handed out as further outputs, tensors as copies.
  std::vector<Tap> taps;
};

/// The node's name, or a made one where the file has none.
std::string nodeName(const Graph &graph, size_t index);

/// The bodies of a higher-order node, and the values that they take: all that follows them in the call.
struct Bodies {
  std::vector<const SubGraph *> bodies;
  std::vector<std::string> operands;
};
Bodies bodiesOf(const Node &node);

/// The trees of the call are lost: rewritten programs are called flat.
Status rewriteProgram(Program &program, const Rewrite &rewrite);

nlohmann::json rewriteToJson(const Rewrite &rewrite);
Result<Rewrite> rewriteFromJson(const nlohmann::json &json);

} // namespace ingot::pt2
