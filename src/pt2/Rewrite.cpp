#include "pt2/Rewrite.h"

#include "pt2/ProgramReader.h"
#include "pt2/Schema.h"

#include <algorithm>
#include <set>
#include <unordered_map>

namespace ingot::pt2 {

std::string nodeName(const Graph &graph, size_t index) {
  const std::string &name = graph.nodes[index].name;
  return name.empty() ? "#" + std::to_string(index) : name;
}

namespace {

using NodeNumbers = std::unordered_map<std::string, size_t>;

NodeNumbers numberNodes(const Graph &graph) {
  NodeNumbers numbers;
  for (size_t i = 0; i < graph.nodes.size(); ++i)
    numbers.try_emplace(nodeName(graph, i), i);
  return numbers;
}

Result<size_t> findNode(const NodeNumbers &numbers, const std::string &name) {
  auto it = numbers.find(name);
  if (it == numbers.end())
    return usageError("the program has no node '" + name + "'");
  return it->second;
}

std::vector<std::string> resultNames(const Node &node) {
  std::vector<std::string> names;
  for (const Argument &output : node.outputs)
    forEachValueName(output, [&](const std::string &name) { names.push_back(name); });
  return names;
}

/// The value as an input or an output of the graph.
Result<Argument> reference(const Graph &graph, const std::string &name) {
  if (graph.findTensor(name))
    return Argument::makeTensor(name);
  if (graph.symIntValues.contains(name))
    return Argument::makeSymInt(name);
  if (graph.symFloatValues.contains(name))
    return Argument::makeSymFloat(name);
  if (graph.symBoolValues.contains(name))
    return Argument::makeSymBool(name);
  return usageError("the program has no value '" + name + "' that could be looked at");
}

Status addInput(Program &program, const std::string &name) {
  INGOT_TRY(Argument value, reference(program.graph, name));
  program.graph.inputs.push_back(value);
  program.signature.inputs.push_back({InputKind::UserInput, value, "", true});
  return {};
}

void addOutput(Program &program, const Argument &value) {
  program.graph.outputs.push_back(value);
  program.signature.outputs.push_back({OutputKind::UserOutput, value, ""});
}

//===----------------------------------------------------------------------===//
// Bodies
//===----------------------------------------------------------------------===//

Status enterBody(Program &program, const Enter &enter) {
  INGOT_TRY(size_t index, findNode(numberNodes(program.graph), enter.node));
  Bodies found = bodiesOf(program.graph.nodes[index]);
  if (enter.body >= found.bodies.size())
    return usageError("node '" + enter.node + "' has no body " + std::to_string(enter.body));
  std::shared_ptr<const Graph> body = found.bodies[enter.body]->graph; // the node goes away
  program.graph = *body;
  program.signature = {};
  for (const Argument &input : program.graph.inputs)
    program.signature.inputs.push_back({InputKind::UserInput, input, "", true});
  for (const Argument &output : program.graph.outputs)
    program.signature.outputs.push_back({OutputKind::UserOutput, output, ""});
  return {};
}

//===----------------------------------------------------------------------===//
// Values from outside
//===----------------------------------------------------------------------===//

bool writesInPlace(const Node &node) {
  std::optional<std::string> name = qualifiedNameOfTarget(node.target);
  const OpSchema *schema = name ? findSchema(*name) : nullptr;
  return schema && schema->isMutable();
}

/// `x.normal_()` becomes `x.copy_(given)`: what shares memory with x sees it too.
Status copyGiven(Program &program, Node &node) {
  std::vector<std::string> results = resultNames(node);
  const Argument *self = node.inputs.empty() ? nullptr : &node.inputs.front().value;
  const TensorMeta *meta = results.size() == 1 ? program.graph.findTensor(results.front()) : nullptr;
  if (!self || !self->is(ArgumentKind::Tensor) || !meta)
    return unsupportedError("the values of '" + node.name + "' cannot be given from outside");
  std::string given = "given:" + results.front();
  TensorMeta copy = *meta;
  program.graph.tensorValues[given] = std::move(copy);
  node.target = "torch.ops.aten.copy_.default";
  node.inputs = {{"self", *self, PassedAs::Positional}, {"src", Argument::makeTensor(given), PassedAs::Positional}};
  return addInput(program, given);
}

Status takeFromOutside(Program &program, const std::vector<std::string> &nodes) {
  NodeNumbers numbers = numberNodes(program.graph);
  std::set<size_t> removed;
  for (const std::string &name : nodes) {
    INGOT_TRY(size_t index, findNode(numbers, name));
    Node &node = program.graph.nodes[index];
    if (writesInPlace(node)) {
      INGOT_CHECK(copyGiven(program, node));
      continue;
    }
    removed.insert(index);
    for (const std::string &result : resultNames(node))
      INGOT_CHECK(addInput(program, result));
  }
  std::vector<Node> kept;
  for (size_t i = 0; i < program.graph.nodes.size(); ++i)
    if (!removed.contains(i)) {
      program.graph.nodes[i].name = nodeName(program.graph, i); // before numbers change
      kept.push_back(program.graph.nodes[i]);
    }
  program.graph.nodes = std::move(kept);
  return {};
}

//===----------------------------------------------------------------------===//
// Nodes on their own
//===----------------------------------------------------------------------===//

/// Replaces names in an argument: tensors by other names, symbolic numbers by literals.
class Renamer {
public:
  Renamer(const Rewrite &rewrite, const std::map<std::string, std::string> &names) : rewrite(rewrite), names(names) {}

  void apply(Argument &argument) const {
    // Texts that are no names of values.
    if (argument.is(ArgumentKind::String) || argument.is(ArgumentKind::Strings) || argument.is(ArgumentKind::Operator))
      return;
    std::visit([&](auto &payload) { rename(payload); }, argument.payload);
  }

private:
  // Payloads without names stay as they are.
  template <typename T> void rename(T &) const {}
  void rename(std::string &name) const {
    if (auto it = names.find(name); it != names.end())
      name = it->second;
  }
  void rename(std::optional<std::string> &name) const {
    if (name)
      rename(*name);
  }
  template <typename T> void rename(std::vector<T> &items) const {
    if constexpr (!std::is_same_v<T, bool>)
      for (T &item : items)
        rename(item);
  }
  template <typename T> void rename(SymRef<T> &ref) const {
    auto it = ref.isName() ? rewrite.numbers.find(ref.name()) : rewrite.numbers.end();
    if (it != rewrite.numbers.end())
      ref = SymRef<T>(std::visit([](auto number) { return static_cast<T>(number); }, it->second));
  }
  void rename(ArgumentDict &dict) const {
    for (auto &[key, value] : dict)
      apply(value);
  }

  const Rewrite &rewrite;
  const std::map<std::string, std::string> &names;
};

/// A contiguous tensor of known sizes.
TensorMeta staticMeta(TensorMeta meta, const std::vector<int64_t> &sizes) {
  meta.sizes.assign(sizes.begin(), sizes.end());
  meta.strides.assign(sizes.size(), SymInt(1));
  int64_t stride = 1;
  for (size_t i = sizes.size(); i-- > 0; stride *= std::max<int64_t>(sizes[i], 1))
    meta.strides[i] = SymInt(stride);
  meta.storageOffset = SymInt(0);
  meta.requiresGrad = false;
  return meta;
}

class Isolation {
public:
  Isolation(Program &program, const Rewrite &rewrite) : program(program), rewrite(rewrite) {}

  Status run() {
    NodeNumbers numbers = numberNodes(program.graph);
    std::vector<Node> kept;
    std::vector<size_t> chosen;
    for (const std::string &name : rewrite.alone) {
      INGOT_TRY(size_t index, findNode(numbers, name));
      chosen.push_back(index);
    }
    std::ranges::sort(chosen);
    keepWeights();
    for (size_t index : chosen) {
      Node node = program.graph.nodes[index];
      node.name = nodeName(program.graph, index);
      INGOT_CHECK(detach(node));
      kept.push_back(std::move(node));
    }
    program.graph.nodes = std::move(kept);
    program.rangeConstraints.clear();
    program.guards.clear();
    return {};
  }

private:
  void keepWeights() {
    std::vector<InputSpec> inputs;
    for (InputSpec &input : program.signature.inputs)
      if (input.kind == InputKind::Parameter || input.kind == InputKind::Buffer ||
          input.kind == InputKind::TensorConstant || input.kind == InputKind::CustomObj)
        inputs.push_back(std::move(input));
    program.signature.inputs = std::move(inputs);
    program.graph.inputs.clear();
    for (const InputSpec &input : program.signature.inputs)
      program.graph.inputs.push_back(input.value);
    program.signature.outputs.clear();
    program.graph.outputs.clear();
  }

  Status detach(Node &node) {
    std::map<std::string, std::string> names;
    if (auto it = rewrite.operands.find(node.name); it != rewrite.operands.end())
      for (const Tap &operand : it->second) {
        INGOT_TRY(names[operand.value], takeOperand(operand));
      }
    Renamer renamer(rewrite, names);
    for (NamedArgument &input : node.inputs)
      renamer.apply(input.value);
    for (const std::string &result : resultNames(node))
      if (auto sizes = rewrite.sizes.find(result); sizes != rewrite.sizes.end())
        if (auto meta = program.graph.tensorValues.find(result); meta != program.graph.tensorValues.end())
          meta->second = staticMeta(meta->second, sizes->second);
    return {};
  }

  /// The name of the input that the operand comes in by.
  Result<std::string> takeOperand(const Tap &operand) {
    std::string name = "in:" + operand.key();
    if (!taken.insert(name).second)
      return name;
    const TensorMeta *meta = program.graph.findTensor(operand.value);
    auto sizes = rewrite.sizes.find(operand.key());
    if (!meta || sizes == rewrite.sizes.end() || sizes->second.size() != meta->sizes.size())
      return usageError("the sizes of '" + operand.key() + "' are needed");
    TensorMeta copy = staticMeta(*meta, sizes->second);
    program.graph.tensorValues[name] = std::move(copy);
    INGOT_CHECK(addInput(program, name));
    return name;
  }

  Program &program;
  const Rewrite &rewrite;
  std::set<std::string> taken;
};

//===----------------------------------------------------------------------===//
// Taps
//===----------------------------------------------------------------------===//

class Tapper {
public:
  explicit Tapper(Program &program) : program(program), graph(program.graph) {}

  Status run(const std::vector<Tap> &taps) {
    NodeNumbers numbers = numberNodes(graph);
    std::unordered_map<std::string, size_t> makers;
    for (size_t i = 0; i < graph.nodes.size(); ++i)
      for (const std::string &name : resultNames(graph.nodes[i]))
        makers[name] = i;
    std::vector<std::vector<Node>> before(graph.nodes.size() + 1);
    for (const Tap &tap : taps) {
      size_t place = graph.nodes.size();
      if (tap.before.empty()) {
        auto maker = makers.find(tap.value);
        place = maker == makers.end() ? 0 : maker->second + 1;
      } else if (auto it = numbers.find(tap.before); it != numbers.end()) {
        place = it->second;
      } else if (tap.before != kGraphEnd) {
        return usageError("the program has no node '" + tap.before + "'");
      }
      INGOT_CHECK(add(tap, before[place]));
    }
    std::vector<Node> nodes;
    for (size_t i = 0; i <= graph.nodes.size(); ++i) {
      std::ranges::move(before[i], std::back_inserter(nodes));
      if (i < graph.nodes.size())
        nodes.push_back(std::move(graph.nodes[i]));
    }
    graph.nodes = std::move(nodes);
    return {};
  }

private:
  /// A tensor is copied where it is looked at, since later nodes may write to it; numbers never change.
  Status add(const Tap &tap, std::vector<Node> &place) {
    std::string name = kTapPrefix + tap.key();
    if (!made.insert(name).second)
      return {};
    INGOT_TRY(Argument value, reference(graph, tap.value));
    if (!value.is(ArgumentKind::Tensor)) {
      addOutput(program, value);
      return {};
    }
    TensorMeta meta = *graph.findTensor(tap.value);
    meta.requiresGrad = false;
    graph.tensorValues[name] = std::move(meta);
    Node node;
    node.target = "torch.ops.aten.clone.default";
    node.name = name;
    node.inputs = {{"self", value, PassedAs::Positional}};
    node.outputs = {Argument::makeTensor(name)};
    place.push_back(std::move(node));
    addOutput(program, Argument::makeTensor(name));
    return {};
  }

  Program &program;
  Graph &graph;
  std::set<std::string> made;
};

void forgetTrees(Program &program) {
  if (program.moduleCalls.empty() || !program.moduleCalls.front().signature)
    return;
  ModuleCallSignature &root = *program.moduleCalls.front().signature;
  root.inSpecText.clear();
  root.outSpecText.clear();
}

} // namespace

Bodies bodiesOf(const Node &node) {
  Bodies found;
  for (const NamedArgument &input : node.inputs) {
    if (input.value.is(ArgumentKind::Graph)) {
      found.bodies.push_back(&input.value.asGraph());
      found.operands.clear(); // a condition, say
    } else {
      forEachValueName(input.value, [&](const std::string &name) { found.operands.push_back(name); });
    }
  }
  return found;
}

Status rewriteProgram(Program &program, const Rewrite &rewrite) {
  forgetTrees(program);
  for (const Enter &enter : rewrite.enter)
    INGOT_CHECK(enterBody(program, enter));
  INGOT_CHECK(takeFromOutside(program, rewrite.given));
  if (!rewrite.alone.empty())
    INGOT_CHECK(Isolation(program, rewrite).run());
  INGOT_CHECK(Tapper(program).run(rewrite.taps));
  return checkGraph(program.graph);
}

//===----------------------------------------------------------------------===//
// As JSON
//===----------------------------------------------------------------------===//

static nlohmann::json tapsToJson(const std::vector<Tap> &taps) {
  nlohmann::json list = nlohmann::json::array();
  for (const Tap &tap : taps)
    list.push_back(nlohmann::json::array({tap.value, tap.before}));
  return list;
}

nlohmann::json rewriteToJson(const Rewrite &rewrite) {
  nlohmann::json json = {{"given", rewrite.given}, {"alone", rewrite.alone}, {"taps", tapsToJson(rewrite.taps)}};
  nlohmann::json &entered = json["enter"] = nlohmann::json::array();
  for (const Enter &enter : rewrite.enter)
    entered.push_back(nlohmann::json::array({enter.node, enter.body}));
  nlohmann::json &operands = json["operands"] = nlohmann::json::object();
  for (const auto &[node, taps] : rewrite.operands)
    operands[node] = tapsToJson(taps);
  nlohmann::json &sizes = json["sizes"] = nlohmann::json::object();
  for (const auto &[key, list] : rewrite.sizes)
    sizes[key] = list;
  nlohmann::json &numbers = json["numbers"] = nlohmann::json::object();
  for (const auto &[name, number] : rewrite.numbers)
    std::visit([&](auto value) { numbers[name] = value; }, number);
  return json;
}

static std::vector<Tap> tapsFromJson(const nlohmann::json &list) {
  std::vector<Tap> taps;
  for (const nlohmann::json &tap : list)
    taps.push_back({tap.at(0).get<std::string>(), tap.at(1).get<std::string>()});
  return taps;
}

Result<Rewrite> rewriteFromJson(const nlohmann::json &json) {
  Rewrite rewrite;
  try {
    rewrite.given = json.value("given", std::vector<std::string>());
    rewrite.alone = json.value("alone", std::vector<std::string>());
    rewrite.taps = tapsFromJson(json.value("taps", nlohmann::json::array()));
    // Named, since items() refers to what it is called on.
    const nlohmann::json none = nlohmann::json::object();
    const nlohmann::json operands = json.value("operands", none), sizes = json.value("sizes", none),
                         numbers = json.value("numbers", none), entered = json.value("enter", nlohmann::json::array());
    for (const nlohmann::json &enter : entered)
      rewrite.enter.push_back({enter.at(0).get<std::string>(), enter.at(1).get<size_t>()});
    for (const auto &[node, taps] : operands.items())
      rewrite.operands[node] = tapsFromJson(taps);
    for (const auto &[key, list] : sizes.items())
      rewrite.sizes[key] = list.get<std::vector<int64_t>>();
    for (const auto &[name, number] : numbers.items()) {
      if (number.is_boolean())
        rewrite.numbers[name] = number.get<bool>();
      else if (number.is_number_integer())
        rewrite.numbers[name] = number.get<int64_t>();
      else
        rewrite.numbers[name] = number.get<double>();
    }
  } catch (const nlohmann::json::exception &failure) {
    return usageError(std::string("the rewriting of a program is not well formed: ") + failure.what());
  }
  return rewrite;
}

} // namespace ingot::pt2
