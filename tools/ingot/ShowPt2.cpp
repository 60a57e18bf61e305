#include "Summary.h"
#include "pt2/Archive.h"
#include "pt2/Literal.h"
#include "pt2/SymExpr.h"

#include <algorithm>
#include <array>
#include <set>

using namespace ingot;
using namespace ingot::cli;
using pt2::Argument;
using pt2::ArgumentKind;

namespace {

/// Expressions we cannot parse are still worth showing.
std::string symText(const pt2::SymInt &size) {
  if (size.isConcrete())
    return std::to_string(size.concrete());
  Result<pt2::SymExpr> parsed = pt2::parseSymExpr(size.expr().text);
  return parsed ? pt2::printSymExpr(*parsed) : size.expr().text;
}

/// JSON text of a literal argument; other kinds are named.
std::string shownLiteral(const Argument &argument) {
  Result<std::string> text = pt2::literalText(argument);
  return text ? *text : "\"" + std::string(pt2::argumentKindName(argument.kind)) + "\"";
}

asset::Port scalarPort(std::string name, DType dtype) {
  asset::Port port;
  port.name = std::move(name);
  port.dtype = dtype;
  port.isScalar = true;
  return port;
}

/// An input or output as the doors show it. `fallbackName` is for literals, which have no name in the graph.
asset::Port describePort(const pt2::Graph &graph, const Argument &argument, const std::string &fallbackName) {
  asset::Port port;
  if (argument.is(ArgumentKind::Tensor)) {
    port.name = argument.asTensor();
    if (const pt2::TensorMeta *meta = graph.findTensor(port.name)) {
      port.dtype = meta->dtype;
      std::ranges::transform(meta->sizes, std::back_inserter(port.shape), symText);
    }
    return port;
  }
  if (argument.is(ArgumentKind::SymInt) && argument.asSymInt().isName())
    return scalarPort(argument.asSymInt().name(), DType::Int64);
  if (argument.is(ArgumentKind::SymFloat) && argument.asSymFloat().isName())
    return scalarPort(argument.asSymFloat().name(), DType::Float64);
  if (argument.is(ArgumentKind::SymBool) && argument.asSymBool().isName())
    return scalarPort(argument.asSymBool().name(), DType::Bool);
  port.name = fallbackName;
  port.literal = shownLiteral(argument);
  return port;
}

/// Buffers that the program writes: listed in functional programs; in others, in-place operators on them.
std::set<std::string> mutatedBuffers(const pt2::Program &program) {
  std::map<std::string, std::string> bufferOf; // value name -> buffer
  for (const pt2::InputSpec &input : program.signature.inputs)
    if (input.kind == pt2::InputKind::Buffer && input.value.is(ArgumentKind::Tensor))
      bufferOf[input.value.asTensor()] = input.target;
  std::set<std::string> mutated;
  for (const pt2::OutputSpec &output : program.signature.outputs)
    if (output.kind == pt2::OutputKind::BufferMutation)
      mutated.insert(output.target);
  for (const pt2::Node &node : program.graph.nodes) {
    // "torch.ops.aten.add_.Tensor" writes its first argument.
    size_t overload = node.target.rfind('.');
    bool isInPlace = overload != std::string::npos && overload > 0 && node.target[overload - 1] == '_';
    if (!isInPlace || node.inputs.empty() || !node.inputs[0].value.is(ArgumentKind::Tensor))
      continue;
    if (auto found = bufferOf.find(node.inputs[0].value.asTensor()); found != bufferOf.end())
      mutated.insert(found->second);
  }
  return mutated;
}

std::vector<asset::StatePort> describeStates(const pt2::Program &program) {
  std::vector<asset::StatePort> states;
  std::set<std::string> mutated = mutatedBuffers(program);
  for (const pt2::InputSpec &input : program.signature.inputs) {
    if (input.kind != pt2::InputKind::Buffer || !mutated.contains(input.target))
      continue;
    asset::Port port = describePort(program.graph, input.value, input.target);
    states.push_back({input.target, port.dtype, port.shape, input.target});
  }
  return states;
}

asset::EntryPoint describeEntry(const pt2::Program &program) {
  asset::EntryPoint entry;
  entry.name = program.modelName;
  for (const pt2::InputSpec &input : program.signature.inputs)
    if (input.kind == pt2::InputKind::UserInput || input.kind == pt2::InputKind::ConstantInput)
      entry.inputs.push_back(describePort(program.graph, input.value, input.target));
  for (const pt2::OutputSpec &output : program.signature.outputs)
    if (output.kind == pt2::OutputKind::UserOutput || output.kind == pt2::OutputKind::Loss)
      entry.outputs.push_back(
          describePort(program.graph, output.value, "output_" + std::to_string(entry.outputs.size())));
  entry.states = describeStates(program);
  for (const auto &[symbol, range] : program.rangeConstraints)
    entry.symbols.push_back({symbol, range.min.value_or(0), range.max.value_or(std::numeric_limits<int64_t>::max())});
  return entry;
}

void countOps(const pt2::Graph &graph, Summary &summary) {
  constexpr std::string_view prefix = "torch.ops.";
  for (const pt2::Node &node : graph.nodes) {
    std::string_view target = node.target;
    if (target.starts_with(prefix))
      target.remove_prefix(prefix.size());
    ++summary.opCounts[std::string(target)];
    for (const pt2::NamedArgument &input : node.inputs)
      if (input.value.is(ArgumentKind::Graph) && input.value.asGraph().graph)
        countOps(*input.value.asGraph().graph, summary);
  }
}

} // namespace

Result<Summary> cli::summarisePt2(const std::string &path) {
  INGOT_TRY(std::vector<std::string> models, pt2::listModels(path));
  Summary summary;
  summary.kind = "pt2";
  summary.path = path;
  std::set<const std::byte *> counted;
  for (const std::string &model : models) {
    pt2::ReadOptions options;
    options.modelName = model;
    options.keepMetadata = false;
    INGOT_TRY(pt2::Program program, pt2::readProgram(path, options));
    if (summary.origin.empty())
      summary.origin = {
          {"schema", std::to_string(program.schemaVersion.major) + "." + std::to_string(program.schemaVersion.minor)},
          {"torch", program.torchVersion},
          {"dialect", program.dialect == pt2::Dialect::Training ? "training"
                      : program.dialect == pt2::Dialect::Aten   ? "aten"
                                                                : "other"}};
    summary.entryPoints.push_back(describeEntry(program));
    countOps(program.graph, summary);
    summary.weightCount += program.weights.size() + program.constants.size();
    // Tied weights lie in the file once.
    for (const pt2::Storage &storage : program.storages)
      if (counted.insert(storage.bytes.data()).second)
        summary.weightBytes += storage.bytes.size();
  }
  return summary;
}
