#include "verify/Sites.h"

#include "pt2/Schema.h"

#include <algorithm>
#include <cmath>
#include <set>

namespace ingot::verify {

using pt2::Argument;
using pt2::ArgumentKind;
using pt2::InputKind;
using pt2::Node;
using pt2::Tap;

namespace {

/// "torch.ops.aten.add.Tensor" ► "aten.add.Tensor"
std::string opText(const std::string &target) {
  static constexpr std::string_view prefix = "torch.ops.";
  return target.starts_with(prefix) ? target.substr(prefix.size()) : target;
}

const pt2::OpSchema *schemaOf(const Node &node) {
  std::optional<std::string> name = pt2::qualifiedNameOfTarget(node.target);
  return name ? pt2::findSchema(*name) : nullptr;
}

/// "aten::bernoulli_.float" ► "bernoulli"
std::string plainName(const pt2::OpSchema &schema) {
  std::string name = schema.name.substr(schema.name.find("::") + 2);
  if (name.ends_with("_") && !name.ends_with("__"))
    name.pop_back();
  return name;
}

// What torch tags as drawing from a generator, as far as it exists on the CPU.
const std::set<std::string_view> kRandom = {"_fused_dropout",
                                            "_sample_dirichlet",
                                            "_standard_gamma",
                                            "_scaled_dot_product_attention_math",
                                            "_scaled_dot_product_flash_attention_for_cpu",
                                            "alpha_dropout",
                                            "bernoulli",
                                            "binomial",
                                            "cauchy",
                                            "dropout",
                                            "exponential",
                                            "feature_alpha_dropout",
                                            "feature_dropout",
                                            "geometric",
                                            "gru",
                                            "log_normal",
                                            "lstm",
                                            "multinomial",
                                            "native_dropout",
                                            "normal",
                                            "normal_functional",
                                            "poisson",
                                            "rand",
                                            "rand_like",
                                            "randint",
                                            "randint_like",
                                            "randn",
                                            "randn_like",
                                            "random",
                                            "randperm",
                                            "rnn_relu",
                                            "rnn_tanh",
                                            "rrelu",
                                            "rrelu_with_noise",
                                            "rrelu_with_noise_functional",
                                            "scaled_dot_product_attention",
                                            "uniform"};

const std::set<std::string_view> kUndefined = {"empty",     "empty_like", "empty_strided",    "empty_permuted",
                                               "new_empty", "resize",     "new_empty_strided"};

/// Whether an argument switches chance off: `train=False`, `dropout_p=0.0`.
bool isSwitchedOff(const Node &node, const pt2::OpSchema &schema) {
  for (std::string_view name : {"train", "training", "dropout", "dropout_p", "p"}) {
    const pt2::SchemaArgument *parameter = schema.findArgument(name);
    // Of other operators, `p` is the probability of a one.
    if (!parameter || (name == "p" && !schema.findArgument("train")))
      continue;
    const Argument *value = node.findInput(name);
    if (!value && parameter->defaultValue)
      value = &*parameter->defaultValue;
    if (value && ((value->is(ArgumentKind::Bool) && !value->asBool()) ||
                  (value->is(ArgumentKind::Float) && value->asFloat() == 0) ||
                  (value->is(ArgumentKind::Int) && value->asInt() == 0)))
      return true;
  }
  return false;
}

std::string whyGiven(const Node &node);

std::string whyGivenBody(const Argument &argument) {
  std::string why;
  if (argument.is(ArgumentKind::Graph))
    for (const Node &node : argument.asGraph().graph->nodes)
      if (why = whyGiven(node); !why.empty())
        return why;
  return why;
}

std::string whyGiven(const Node &node) {
  if (const pt2::OpSchema *schema = schemaOf(node)) {
    std::string name = plainName(*schema);
    if (schema->name.starts_with("aten::") && kRandom.contains(name) && !isSwitchedOff(node, *schema))
      return "its values are random";
    if (schema->name.starts_with("aten::") && kUndefined.contains(name))
      return "its values are undefined";
    return "";
  }
  std::string why;
  for (const pt2::NamedArgument &input : node.inputs)
    if (why.empty())
      why = whyGivenBody(input.value);
  return why;
}

bool mayWrite(const Node &node) {
  const pt2::OpSchema *schema = schemaOf(node);
  return schema && schema->isMutable();
}

int64_t sizeHint(const pt2::SymInt &size) {
  if (size.isConcrete())
    return size.concrete();
  const int64_t *hint = std::get_if<int64_t>(&size.expr().hint);
  return hint ? *hint : 1;
}

uint64_t bytesOf(const pt2::Graph &graph, const std::string &value) {
  const pt2::TensorMeta *meta = graph.findTensor(value);
  double bytes = meta ? static_cast<double>(byteSize(meta->dtype)) : 0;
  if (meta)
    for (const pt2::SymInt &size : meta->sizes)
      bytes *= static_cast<double>(std::max<int64_t>(sizeHint(size), 0));
  return static_cast<uint64_t>(std::min(bytes, 0x1p40));
}

bool hasBody(const Node &node) {
  return std::ranges::any_of(node.inputs, [](const auto &input) { return input.value.is(ArgumentKind::Graph); });
}

/// as_strided looks at memory around its operand, of which only the values are given.
bool seesMemory(const Node &node) { return node.target.find(".as_strided") != std::string::npos; }

template <typename Visit> void forEachOperand(const Node &node, Visit visit) {
  for (const pt2::NamedArgument &input : node.inputs)
    pt2::forEachValueName(input.value, visit);
}

} // namespace

Sites::Sites(const pt2::Program &program) : program(program) {
  const pt2::Graph &graph = program.graph;
  size_t count = graph.nodes.size();
  auto writer = std::ranges::find_if(graph.nodes, mayWrite);
  firstWrite = static_cast<size_t>(writer - graph.nodes.begin());
  for (size_t i = 0; i < count; ++i) {
    forEachOperand(graph.nodes[i], [&](const std::string &name) { lastUse[name] = i; });
    for (const Argument &output : graph.nodes[i].outputs)
      pt2::forEachValueName(output, [&](const std::string &name) { maker[name] = i; });
  }
  for (const Argument &output : graph.outputs)
    pt2::forEachValueName(output, [&](const std::string &name) { lastUse[name] = count; });
  for (const pt2::InputSpec &input : program.signature.inputs)
    if (input.kind == InputKind::Parameter || input.kind == InputKind::TensorConstant ||
        input.kind == InputKind::Buffer)
      pt2::forEachValueName(input.value, [&](const std::string &name) { weights[name] = input.kind; });
  for (size_t i = 0; i < count; ++i)
    all.push_back(describe(i));
}

bool Sites::isWeight(const std::string &value, size_t index) const {
  auto found = weights.find(value);
  // A buffer may have been written to since.
  return found != weights.end() && (found->second != InputKind::Buffer || firstWrite >= index);
}

Tap Sites::at(const std::string &value, size_t index) const {
  if (index <= firstWrite)
    return {value};
  return {value, index < program.graph.nodes.size() ? pt2::nodeName(program.graph, index) : pt2::kGraphEnd};
}

Site Sites::describe(size_t index) const {
  const pt2::Graph &graph = program.graph;
  const Node &node = graph.nodes[index];
  Site site;
  site.name = pt2::nodeName(graph, index);
  site.op = opText(node.target);
  std::set<std::string> seen;
  forEachOperand(node, [&](const std::string &name) {
    if (!seen.insert(name).second || graph.customObjValues.contains(name))
      return;
    if (!graph.findTensor(name))
      site.numbers.push_back(name);
    else
      (isWeight(name, index) ? site.weights : site.operands).push_back(at(name, index));
    site.bytes += bytesOf(graph, name);
  });
  std::vector<std::string> results;
  for (const Argument &output : node.outputs)
    pt2::forEachValueName(output, [&](const std::string &name) { results.push_back(name); });
  for (const std::string &name : results)
    // Of several results, those that nobody uses may have no value.
    if (graph.findTensor(name) && (results.size() == 1 || lastUse.contains(name))) {
      site.results.push_back(name);
      site.bytes += bytesOf(graph, name);
    }
  site.givenBecause = whyGiven(node);
  if (seesMemory(node))
    site.notAloneBecause = "it looks at the memory of its operand";
  return site;
}

std::vector<Tap> Sites::liveAfter(size_t index) const {
  std::vector<Tap> taps;
  for (const auto &[name, made] : maker)
    if (made <= index && program.graph.findTensor(name))
      if (auto used = lastUse.find(name); used != lastUse.end() && used->second > index)
        taps.push_back(at(name, index + 1));
  if (index >= firstWrite)
    for (const pt2::InputSpec &input : program.signature.inputs)
      if ((input.kind == InputKind::UserInput || input.kind == InputKind::Buffer) &&
          input.value.is(ArgumentKind::Tensor))
        if (auto used = lastUse.find(input.value.asTensor()); used != lastUse.end() && used->second > index)
          taps.push_back(at(input.value.asTensor(), index + 1));
  return taps;
}

std::vector<Tap> Sites::outputs() const {
  std::vector<Tap> taps;
  for (const Argument &output : program.graph.outputs)
    pt2::forEachValueName(output, [&](const std::string &name) {
      if (program.graph.findTensor(name))
        taps.push_back({name, pt2::kGraphEnd});
    });
  return taps;
}

std::vector<std::string> Sites::given() const {
  std::vector<std::string> names;
  for (const Site &site : all)
    if (!site.givenBecause.empty())
      names.push_back(site.name);
  return names;
}

//===----------------------------------------------------------------------===//
// A node as Python
//===----------------------------------------------------------------------===//

namespace {

class CallWriter {
public:
  explicit CallWriter(const Site &site) {
    for (const std::vector<Tap> *taps : {&site.operands, &site.weights})
      for (const Tap &tap : *taps)
        keys[tap.value] = tap.key();
  }

  std::string text(const Argument &argument) const {
    return std::visit([&](const auto &payload) { return write(payload); }, argument.payload);
  }
  /// Names of tensors and texts have the same payload.
  std::string textOf(const Argument &argument) const {
    if (argument.is(ArgumentKind::String))
      return quoted(argument.asString());
    return text(argument);
  }

private:
  static std::string quoted(const std::string &value) { return nlohmann::json(value).dump(); }

  std::string write(std::monostate) const { return "None"; }
  std::string write(bool value) const { return value ? "True" : "False"; }
  std::string write(int64_t value) const { return std::to_string(value); }
  std::string write(uint64_t value) const { return std::to_string(value); }
  std::string write(double value) const {
    if (!std::isfinite(value))
      return std::string("float(\"") + (std::isnan(value) ? "nan" : value > 0 ? "inf" : "-inf") + "\")";
    return nlohmann::json(value).dump();
  }
  std::string write(const std::complex<double> &value) const {
    return "complex(" + write(value.real()) + ", " + write(value.imag()) + ")";
  }
  std::string write(DType value) const { return "torch." + std::string(dtypeName(value)); }
  std::string write(pt2::MemoryFormat value) const {
    static constexpr const char *names[] = {"contiguous_format", "contiguous_format", "channels_last",
                                            "channels_last_3d", "preserve_format"};
    return std::string("torch.") + names[std::min<size_t>(static_cast<size_t>(value), 4)];
  }
  std::string write(pt2::Layout) const { return "torch.strided"; }
  std::string write(const pt2::Device &) const { return "torch.device(\"cpu\")"; }
  std::string write(const std::string &name) const {
    auto key = keys.find(name);
    return "t[" + quoted(key == keys.end() ? name : key->second) + "]";
  }
  std::string write(const std::optional<std::string> &name) const { return name ? write(*name) : "None"; }
  template <typename T> std::string write(const std::vector<T> &items) const {
    std::string list;
    for (const T &item : items)
      list += (list.empty() ? "" : ", ") + write(item);
    return "[" + list + "]";
  }
  std::string write(const std::vector<bool> &items) const {
    std::string list;
    for (bool item : items)
      list += (list.empty() ? "" : ", ") + write(item);
    return "[" + list + "]";
  }
  template <typename T> std::string write(const pt2::SymRef<T> &ref) const {
    return ref.isName() ? "t[" + quoted(ref.name()) + "].item()" : write(ref.literal());
  }
  std::string write(const pt2::CustomObjRef &ref) const { return ref.name; }
  std::string write(const pt2::SubGraph &sub) const { return sub.name; }
  std::string write(const pt2::ArgumentDict &) const { return "{}"; }

  std::map<std::string, std::string> keys;
};

} // namespace

std::string Sites::callText(size_t index) const {
  const Node &node = program.graph.nodes[index];
  if (hasBody(node) || !node.target.starts_with("torch.ops."))
    return "";
  const pt2::OpSchema *schema = schemaOf(node);
  CallWriter writer(all[index]);
  std::string arguments;
  for (const pt2::NamedArgument &input : node.inputs) {
    const pt2::SchemaArgument *parameter = schema ? schema->findArgument(input.name) : nullptr;
    bool isKeyword = input.passedAs == pt2::PassedAs::Keyword || (parameter && parameter->keywordOnly);
    arguments += (arguments.empty() ? "" : ", ") + (isKeyword ? input.name + "=" : "") + writer.textOf(input.value);
  }
  return node.target + "(" + arguments + ")";
}

} // namespace ingot::verify
