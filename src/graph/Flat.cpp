#include "graph/Flat.h"

#include <algorithm>
#include <unordered_map>

using namespace ingot::graph;

namespace {

/// A small text can name bodies in bodies so often that they would not end; what is beyond is not unfolded.
constexpr size_t maxUnfolded = 200'000;
constexpr size_t maxBodyDepth = 64;

using Values = std::unordered_map<std::string, Link>;

class Flattener {
public:
  explicit Flattener(const Document &document) : document(document) {
    for (const auto &[value, key] : document.weightNames)
      weightKeys.emplace(value, key);
    for (const Weight &weight : document.weights)
      weightsByKey.emplace(weight.name, &weight);
  }

  Flat run() {
    Values values;
    for (size_t i = 0; i < document.graph.inputs.size(); ++i)
      values.insert_or_assign(document.graph.inputs[i].name, Link{Link::From::Input, i, 0, nullptr});
    flat.outputs = addBody(document.graph, std::move(values), {});
    return std::move(flat);
  }

private:
  /// What the nodes of a body have in common.
  struct Place {
    std::string module;      ///< where the body is
    std::string ownerModule; ///< as the owner's node tells it
    std::string role;
    size_t depth = 0;
  };

  std::vector<Link> addBody(const Body &body, Values values, const Place &place);
  void addNode(const Body &body, const Node &node, const Values &values, const Place &place);
  std::vector<Link> tensorLinks(const Node &node, const Values &values);
  Link tensorLink(const Tensor &tensor, const Values &values);
  void addNumbers(const Json &value, const Values &values, std::vector<Link> &links) const;
  std::vector<Link> bodyLinks(const Body &body, const FlatNode &owner, const std::string &argument,
                              const std::string &name, size_t depth);
  Link weightLink(const std::string &name);

  const Document &document;
  Flat flat;
  std::unordered_map<std::string, std::string> weightKeys;
  std::unordered_map<std::string, const Weight *> weightsByKey;
  std::unordered_map<std::string, size_t> weightValues; ///< name ► index of flat.weights
};

std::vector<Link> Flattener::addBody(const Body &body, Values values, const Place &place) {
  for (const Node &node : body.nodes) {
    addNode(body, node, values, place);
    size_t index = flat.nodes.size() - 1;
    // A producer is named by its node or by its tensor.
    values.insert_or_assign(node.name, Link{Link::From::Node, index, 0, nullptr});
    for (size_t i = 0; i < node.outputs.size(); ++i)
      values.insert_or_assign(node.outputs[i].name, Link{Link::From::Node, index, static_cast<int64_t>(i), nullptr});
    for (const Scalar &scalar : node.scalars)
      values.insert_or_assign(scalar.name, Link{Link::From::Node, index, 0, nullptr});
  }
  std::vector<Link> outputs;
  for (const Tensor &output : body.outputs)
    outputs.push_back(tensorLink(output, values));
  return outputs;
}

/// A body's nodes may have the whole path of their module; that of the owner is told already.
std::string belowOwner(const std::string &module, const std::string &owner) {
  if (owner.empty() || !module.starts_with(owner))
    return module;
  if (module.size() == owner.size())
    return "";
  return module[owner.size()] == '.' ? module.substr(owner.size() + 1) : module;
}

void Flattener::addNode(const Body &body, const Node &node, const Values &values, const Place &place) {
  FlatNode made{&node, place.module, place.role, tensorLinks(node, values)};
  if (std::string below = belowOwner(node.module, place.ownerModule); !below.empty())
    made.module += (place.module.empty() ? "" : ".") + below;
  else if (isGetItem(node) && !made.inputs.empty() && made.inputs[0].from == Link::From::Node)
    made.module = flat.nodes[made.inputs[0].index].module;
  if (node.args) {
    for (const ArgumentRecord &record : *node.args)
      if (record.kind == "symbol" || record.kind == "value")
        addNumbers(record.kind == "symbol" ? Json{{"$symbol", record.value}} : record.value, values, made.inputs);
    std::vector<Link> returned;
    for (const ArgumentRecord &record : *node.args)
      if (record.kind == "graph" && record.value.is_string()) {
        std::vector<Link> links = bodyLinks(body, made, record.name, record.value.get<std::string>(), place.depth);
        returned.insert(returned.end(), links.begin(), links.end());
      }
    made.inputs.insert(made.inputs.end(), returned.begin(), returned.end());
  }
  flat.nodes.push_back(std::move(made));
}

/// getitem lists all results of its producer; only one of them is meant.
bool isPicked(const Node &node, const Tensor &tensor, int64_t index) {
  if (tensor.producerNode && tensor.name == *tensor.producerNode + "_" + std::to_string(index))
    return true;
  return node.inputs.size() == 1 || tensor.producerIndex == index;
}

std::vector<Link> Flattener::tensorLinks(const Node &node, const Values &values) {
  std::vector<Link> links;
  int64_t picked = isGetItem(node) ? pickedIndex(node) : -1;
  for (const Tensor &tensor : node.inputs)
    if (picked < 0 || isPicked(node, tensor, picked))
      links.push_back(tensorLink(tensor, values));
  if (picked >= 0 && links.size() > 1)
    links.resize(1);
  return links;
}

Link Flattener::tensorLink(const Tensor &tensor, const Values &values) {
  Link link;
  auto found = values.find(tensor.name);
  if (tensor.producerNode) {
    if (auto producer = values.find(*tensor.producerNode); producer != values.end()) {
      link = producer->second;
      if (link.from == Link::From::Node)
        link.output = tensor.producerIndex;
    } else if (found != values.end())
      link = found->second;
  } else if (weightKeys.contains(tensor.name) || (found == values.end() && !tensor.name.empty()))
    link = weightLink(tensor.name);
  else if (found != values.end())
    link = found->second;
  link.tensor = &tensor;
  return link;
}

Link Flattener::weightLink(const std::string &name) {
  auto [entry, isNew] = weightValues.emplace(name, flat.weights.size());
  if (isNew) {
    auto key = weightKeys.find(name);
    auto weight = weightsByKey.find(key == weightKeys.end() ? name : key->second);
    flat.weights.push_back({name, weight == weightsByKey.end() ? nullptr : weight->second});
  }
  return {Link::From::Weight, entry->second, 0, nullptr};
}

void Flattener::addNumbers(const Json &value, const Values &values, std::vector<Link> &links) const {
  if (!value.is_structured())
    return;
  if (value.is_object() && value.size() == 1 && value.begin().key() == "$symbol") {
    if (auto found = value.begin()->is_string() ? values.find(value.begin()->get<std::string>()) : values.end();
        found != values.end())
      links.push_back(found->second);
    return;
  }
  for (const Json &element : value)
    addNumbers(element, values, links);
}

/// Unfolds a body and returns what makes its outputs.
std::vector<Link> Flattener::bodyLinks(const Body &body, const FlatNode &owner, const std::string &argument,
                                       const std::string &name, size_t depth) {
  auto found = body.subgraphs.find(name);
  if (found == body.subgraphs.end() || depth >= maxBodyDepth || flat.nodes.size() >= maxUnfolded)
    return {};
  const Body &inner = found->second;
  // The operands of control flow are its last tensors; what comes before them, the predicate, stays outside.
  size_t given = owner.node->inputs.size(), taken = inner.inputs.size();
  Values values;
  for (size_t i = 0; i < taken; ++i) {
    Link link = taken <= given && given <= owner.inputs.size() ? owner.inputs[given - taken + i] : Link{};
    link.tensor = nullptr;
    values.insert_or_assign(inner.inputs[i].name, link);
  }
  std::string module = owner.module + (owner.module.empty() ? "" : ".") + owner.node->name + ":" + argument;
  return addBody(inner, std::move(values), {std::move(module), owner.node->module, argument, depth + 1});
}

} // namespace

Flat ingot::graph::flatten(const Document &document) { return Flattener(document).run(); }

bool ingot::graph::isGetItem(const Node &node) {
  return node.opType == "<built-in function getitem>" || node.opType == "getitem" ||
         node.opType == "_operator.getitem" || node.opType == "operator.getitem";
}

int64_t ingot::graph::pickedIndex(const Node &node) {
  auto index = node.attrs.find("index");
  return node.attrs.is_object() && index != node.attrs.end() && index->is_number_integer() ? index->get<int64_t>() : -1;
}
