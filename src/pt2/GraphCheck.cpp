#include "pt2/ProgramReader.h"

#include <unordered_set>

using namespace ingot;
using namespace ingot::pt2;

namespace {

std::vector<std::string> valueNames(const Argument &argument) {
  std::vector<std::string> names;
  forEachValueName(argument, [&](const std::string &name) { names.push_back(name); });
  return names;
}

class GraphChecker {
public:
  explicit GraphChecker(const Graph &graph) : graph(graph) {}

  Status check() {
    for (const Argument &input : graph.inputs)
      INGOT_CHECK(define(input, "the graph's inputs"));
    for (size_t i = 0; i < graph.nodes.size(); ++i)
      INGOT_CHECK(checkNode(graph.nodes[i], i));
    for (const Argument &output : graph.outputs)
      INGOT_CHECK(use(output, "the graph's outputs"));
    return {};
  }

private:
  Status checkNode(const Node &node, size_t index) {
    std::string where = "node " + std::to_string(index) + " (" + node.target + ")";
    for (const NamedArgument &input : node.inputs) {
      INGOT_CHECK(use(input.value, where));
      INGOT_CHECK(checkBodies(input.value, where));
    }
    for (const Argument &output : node.outputs)
      INGOT_CHECK(define(output, where));
    return {};
  }

  /// Bodies are closed scopes, so each is checked by itself.
  Status checkBodies(const Argument &argument, const std::string &where) {
    if (argument.is(ArgumentKind::Graph)) {
      const SubGraph &sub = argument.asGraph();
      Status status = checkGraph(*sub.graph);
      if (!status)
        return std::move(status.error()).note("in body '" + sub.name + "' of " + where);
    } else if (argument.is(ArgumentKind::Dict)) {
      for (const auto &[key, value] : argument.asDict())
        INGOT_CHECK(checkBodies(value, where));
    }
    return {};
  }

  Status define(const Argument &argument, const std::string &where) {
    for (std::string &name : valueNames(argument)) {
      if (!isDescribed(name))
        return corruptError("value '" + name + "' of " + where + " has no metadata");
      if (!defined.insert(name).second)
        return corruptError("value '" + name + "' of " + where + " is defined twice");
    }
    return {};
  }

  Status use(const Argument &argument, const std::string &where) const {
    // A custom object may name a constant of the archive instead of a value.
    if (argument.is(ArgumentKind::CustomObj))
      return {};
    for (const std::string &name : valueNames(argument))
      if (!defined.contains(name))
        return corruptError("value '" + name + "' is used by " + where + " before it is defined");
    return {};
  }

  bool isDescribed(const std::string &name) const {
    return graph.tensorValues.contains(name) || graph.symIntValues.contains(name) ||
           graph.symFloatValues.contains(name) || graph.symBoolValues.contains(name) ||
           graph.customObjValues.contains(name);
  }

  const Graph &graph;
  std::unordered_set<std::string> defined;
};

template <typename Spec>
Status checkSpecs(const std::vector<Argument> &arguments, const std::vector<Spec> &specs, const std::string &what) {
  if (arguments.size() != specs.size())
    return corruptError("the graph has " + std::to_string(arguments.size()) + " " + what + " but the signature has " +
                        std::to_string(specs.size()));
  for (size_t i = 0; i < specs.size(); ++i)
    if (valueNames(arguments[i]) != valueNames(specs[i].value))
      return corruptError("number " + std::to_string(i) + " of the " + what +
                          " is called differently in graph and signature");
  return {};
}

} // namespace

Status pt2::checkGraph(const Graph &graph) { return GraphChecker(graph).check(); }

Status pt2::checkSignature(const Graph &graph, const Signature &signature) {
  INGOT_CHECK(checkSpecs(graph.inputs, signature.inputs, "inputs"));
  return checkSpecs(graph.outputs, signature.outputs, "outputs");
}
