// Decomposed programs thread tokens through operators with an effect, so that their order is data flow. Here the order
// of nodes is kept anyway: the tokens go, and with_effects(token, operator, …) becomes a plain call of the operator.
#include "pt2/ProgramReader.h"
#include "pt2/Schema.h"

#include <algorithm>

namespace ingot::pt2 {

namespace {

constexpr std::string_view kWithEffects = "torch.ops.higher_order.with_effects";

Status unwrap(Node &node) {
  if (node.inputs.size() < 2 || !node.inputs[1].value.is(ArgumentKind::Operator) || node.outputs.empty())
    return corruptError("node '" + node.name + "' has effects of no operator");
  node.target = node.inputs[1].value.asOperator();
  node.inputs.erase(node.inputs.begin(), node.inputs.begin() + 2);
  node.outputs.erase(node.outputs.begin());
  std::erase_if(node.outputs, [](const Argument &output) { return output.isNone(); });
  const std::optional<std::string> name = qualifiedNameOfTarget(node.target);
  const OpSchema *schema = name ? findSchema(*name) : nullptr;
  for (size_t i = 0; i < node.inputs.size() && schema; ++i) // operands of with_effects have no names
    if (node.inputs[i].name.empty() && i < schema->arguments.size())
      node.inputs[i].name = schema->arguments[i].name;
  return {};
}

/// Erases the entries of both lists where the signature says Token.
template <typename Spec, typename Kind>
void eraseTokens(std::vector<Spec> &specs, std::vector<Argument> &values, Kind token) {
  size_t kept = 0;
  for (size_t i = 0; i < specs.size(); ++i) {
    if (specs[i].kind == token)
      continue;
    std::swap(specs[kept], specs[i]);
    std::swap(values[kept++], values[i]);
  }
  specs.erase(specs.begin() + static_cast<ptrdiff_t>(kept), specs.end());
  values.erase(values.begin() + static_cast<ptrdiff_t>(kept), values.end());
}

} // namespace

Status removeEffectTokens(Program &program) {
  auto isToken = [](const OutputSpec &output) { return output.kind == OutputKind::Token; };
  if (std::ranges::none_of(program.signature.outputs, isToken))
    return {};
  for (Node &node : program.graph.nodes)
    if (node.target == kWithEffects)
      INGOT_CHECK(unwrap(node));
  eraseTokens(program.signature.inputs, program.graph.inputs, InputKind::Token);
  eraseTokens(program.signature.outputs, program.graph.outputs, OutputKind::Token);
  return {};
}

} // namespace ingot::pt2
