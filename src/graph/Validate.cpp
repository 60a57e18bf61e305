#include "graph/Validate.h"

#include "graph/Constants.h"
#include "graph/OpNames.h"
#include "graph/SignatureKinds.h"
#include "graph/Values.h"
#include "pt2/SymExpr.h"

#include <algorithm>
#include <unordered_map>
#include <unordered_set>

namespace ingot::graph {

namespace {

constexpr size_t kMostShown = 30;

std::string at(std::string_view path, size_t index) { return std::string(path) + "[" + std::to_string(index) + "]"; }

std::string inQuotes(const std::string &text) { return "'" + text + "'"; }

using Problems = std::vector<std::string>;

/// Checks that need no knowledge of what comes before.
class TensorChecker {
public:
  TensorChecker(const Document &document, Problems &problems) : document(document), problems(problems) {}

  void check(const Tensor &tensor, const std::string &path) {
    if (tensor.name.empty())
      problems.push_back(path + ": has no name");
    if (tensor.dtype.empty())
      problems.push_back(path + ": has no dtype");
    else if (!dtypeFromText(tensor.dtype))
      problems.push_back(path + ": there is no dtype " + inQuotes(tensor.dtype));
    sizes(tensor.shape, path + ".shape");
    sizes(tensor.strides, path + ".strides");
    if (!tensor.strides.empty() && tensor.strides.size() != tensor.shape.size())
      problems.push_back(path + ".strides: are " + std::to_string(tensor.strides.size()) + " for " +
                         std::to_string(tensor.shape.size()) + " dimensions");
    if (!tensor.layout.empty() && !layoutFromName(tensor.layout))
      problems.push_back(path + ": there is no layout " + inQuotes(tensor.layout));
  }

private:
  void sizes(const std::vector<Size> &sizes, const std::string &path) {
    for (size_t i = 0; i < sizes.size(); ++i) {
      const int64_t *number = std::get_if<int64_t>(&sizes[i]);
      if (number && *number < 0)
        problems.push_back(at(path, i) + ": is negative");
      else if (!number && !isDeclared(std::get<std::string>(sizes[i])))
        problems.push_back(at(path, i) + ": " + inQuotes(std::get<std::string>(sizes[i])) +
                           " is neither in 'symbols' nor in 'expressions'");
    }
  }

  bool isDeclared(const std::string &text) const {
    return document.symbols.contains(text) || document.expressions.contains(text);
  }

  const Document &document;
  Problems &problems;
};

/// Walks one graph in execution order.
class BodyChecker {
public:
  BodyChecker(const Body &body, std::string prefix, TensorChecker &tensors, Problems &problems)
      : body(body), prefix(std::move(prefix)), tensors(tensors), problems(problems) {
    for (const Node &node : body.nodes)
      later.insert(node.name);
  }

  /// A weight: a value that nothing produces.
  void addWeight(const std::string &value) { values.insert(value); }

  void check(std::string_view inputsKey, std::string_view outputsKey, const Json &signature) {
    for (size_t i = 0; i < body.inputs.size(); ++i)
      addInput(body.inputs[i], at(prefix + std::string(inputsKey), i));
    addSymbolicInputs(signature);
    for (size_t i = 0; i < body.nodes.size(); ++i)
      checkNode(body.nodes[i], at(prefix + "nodes", i));
    for (size_t i = 0; i < body.outputs.size(); ++i) {
      std::string path = at(prefix + std::string(outputsKey), i);
      tensors.check(body.outputs[i], path);
      needValue(body.outputs[i].name, path);
    }
    checkSignature(signature);
    for (const auto &[name, inner] : body.subgraphs)
      BodyChecker(inner, prefix + "subgraphs." + name + ".", tensors, problems)
          .check("inputs", "outputs", inner.signature);
  }

private:
  void add(const std::string &path, const std::string &text) { problems.push_back(path + ": " + text); }

  void addInput(const Tensor &tensor, const std::string &path) {
    tensors.check(tensor, path);
    if (!producers.try_emplace(tensor.name, 1).second)
      add(path, "the name " + inQuotes(tensor.name) + " is used twice");
    values.insert(tensor.name);
  }

  static std::string textOf(const Json &object, const char *key) {
    bool isText = object.is_object() && object.contains(key) && object[key].is_string();
    return isText ? object[key].get<std::string>() : "";
  }

  static const Json &listOf(const Json &signature, const char *key) {
    static const Json empty = Json::array();
    bool isList = signature.is_object() && signature.contains(key) && signature[key].is_array();
    return isList ? signature[key] : empty;
  }

  /// Numbers and objects that the caller passes stand only in the signature.
  void addSymbolicInputs(const Json &signature) {
    for (const Json &input : listOf(signature, "inputs"))
      if (input.is_object() && (input.contains("type") || input.contains("class")))
        values.insert(textOf(input, "name"));
  }

  void checkSignature(const Json &signature) {
    auto walk = [&](const char *key, std::span<const std::string_view> kinds) {
      const Json &list = listOf(signature, key);
      for (size_t i = 0; i < list.size(); ++i) {
        std::string path = at(prefix + "signature." + key, i), kind = textOf(list[i], "kind"),
                    name = textOf(list[i], "name");
        if (std::ranges::find(kinds, kind) == kinds.end())
          add(path, "there is no kind " + inQuotes(kind));
        if (!name.empty() && kind != "token")
          needValue(name, path);
      }
    };
    walk("inputs", kInputKinds);
    walk("outputs", kOutputKinds);
  }

  void needValue(const std::string &name, const std::string &path) {
    if (name.empty() || values.contains(name))
      return;
    bool isLater = later.contains(name);
    add(path, inQuotes(name) + (isLater ? " is used before it is produced" : " is not produced by anything"));
  }

  void checkInput(const Tensor &input, const std::string &path) {
    tensors.check(input, path);
    if (!input.producerNode)
      return needValue(input.name, path);
    auto producer = producers.find(*input.producerNode);
    if (producer == producers.end()) {
      bool isLater = later.contains(*input.producerNode);
      add(path, "its producer " + inQuotes(*input.producerNode) + (isLater ? " comes later" : " does not exist"));
    } else if (input.producerIndex < 0 || input.producerIndex >= producer->second) {
      add(path, "its producer " + inQuotes(*input.producerNode) + " has " + std::to_string(producer->second) +
                    " outputs, there is no number " + std::to_string(input.producerIndex));
    }
  }

  void checkNode(const Node &node, const std::string &path) {
    if (node.name.empty())
      add(path, "has no name");
    if (node.opType.empty())
      add(path, "has no op_type");
    for (size_t i = 0; i < node.inputs.size(); ++i)
      checkInput(node.inputs[i], at(path + ".inputs", i));
    if (node.args)
      checkArguments(node, path);
    if (node.opType == kGetItem)
      checkGetItem(node, path);
    for (size_t i = 0; i < node.mutates.size(); ++i)
      needValue(node.mutates[i], at(path + ".mutates", i));
    if (!producers.try_emplace(node.name, static_cast<int64_t>(node.outputs.size())).second && !node.name.empty())
      add(path, "the name " + inQuotes(node.name) + " is used twice");
    for (size_t i = 0; i < node.outputs.size(); ++i)
      addResult(node.outputs[i].name, at(path + ".outputs", i), &node.outputs[i]);
    for (size_t i = 0; i < node.scalars.size(); ++i)
      addResult(node.scalars[i].name, at(path + ".scalars", i), nullptr);
  }

  void addResult(const std::string &name, const std::string &path, const Tensor *tensor) {
    if (tensor)
      tensors.check(*tensor, path);
    if (!values.insert(name).second && !name.empty())
      add(path, "the value " + inQuotes(name) + " is produced twice");
  }

  void checkGetItem(const Node &node, const std::string &path) {
    if (!node.attrs.contains("index"))
      return add(path + ".attrs", "lacks the index of getitem");
    const Json &index = node.attrs["index"];
    auto isNumber = [](const Json &item) { return item.is_number_integer() && item.get<int64_t>() >= 0; };
    bool isPath = index.is_array() && !index.empty() && std::all_of(index.begin(), index.end(), isNumber);
    if (!isNumber(index) && !isPath)
      add(path + ".attrs.index", "should be a number, or a list of them");
  }

  /// Collects the names of tensors that a record refers to.
  void checkNames(const Json &value, const std::string &path, std::vector<std::string> &found) {
    if (value.is_string()) {
      found.push_back(value.get<std::string>());
      needValue(found.back(), path);
    } else if (value.is_array()) {
      for (size_t i = 0; i < value.size(); ++i)
        checkNames(value[i], at(path, i), found);
    } else if (!value.is_null()) {
      add(path, "should be the name of a value");
    }
  }

  /// References inside a value: `{"$symbol": name}`, `{"$tensor": name}`, `{"$graph": name}`.
  void checkMarks(const Json &value, const std::string &path, std::vector<std::string> &found) {
    if (value.is_object() && value.size() == 1 && value.begin().value().is_string()) {
      std::string tag = value.begin().key(), name = value.begin().value().get<std::string>();
      if (tag == "$symbol" || tag == "$tensor")
        needValue(name, path);
      if (tag == "$tensor")
        found.push_back(name);
      if (tag == "$graph")
        needBody(value.begin().value(), path);
    } else if (value.is_structured()) {
      for (const Json &item : value)
        checkMarks(item, path, found);
    }
  }

  void needBody(const Json &name, const std::string &path) {
    if (!name.is_string() || !body.subgraphs.contains(name.get<std::string>()))
      add(path, "there is no sub-graph " + (name.is_string() ? inQuotes(name.get<std::string>()) : name.dump()));
  }

  void checkArguments(const Node &node, const std::string &path) {
    std::vector<std::string> used, listed;
    for (size_t i = 0; i < node.args->size(); ++i) {
      const ArgumentRecord &record = (*node.args)[i];
      std::string place = at(path + ".args", i);
      std::vector<std::string> ignored;
      if (record.kind == "tensor" || record.kind == "tensors")
        checkNames(record.value, place, used);
      else if (record.kind == "symbol")
        checkNames(record.value, place, ignored);
      else if (record.kind == "graph")
        needBody(record.value, place);
      else if (record.kind == "value" || record.kind == "default")
        checkMarks(record.value, place, used);
      else
        add(place, "there is no kind " + inQuotes(record.kind) + " of arguments");
    }
    for (const Tensor &input : node.inputs)
      listed.push_back(input.name);
    std::ranges::sort(used);
    std::ranges::sort(listed);
    if (used != listed)
      add(path, "'inputs' and 'args' name different tensors");
  }

  const Body &body;
  const std::string prefix;
  TensorChecker &tensors;
  Problems &problems;
  std::unordered_map<std::string, int64_t> producers; ///< name ► number of outputs
  std::unordered_set<std::string> values, later;
};

void checkWeights(const Document &document, TensorChecker &tensors, Problems &problems) {
  std::unordered_set<std::string> names;
  for (const Weight &weight : document.weights)
    names.insert(weight.name);
  std::unordered_set<std::string> seen;
  for (size_t i = 0; i < document.weights.size(); ++i) {
    const Weight &weight = document.weights[i];
    std::string path = at("weights", i);
    tensors.check(weight, path);
    if (!weight.name.empty() && !seen.insert(weight.name).second)
      problems.push_back(path + ": the name " + inQuotes(weight.name) + " is used twice");
    if (!weight.sameAs.empty() && !names.contains(weight.sameAs))
      problems.push_back(path + ".same_as: there is no weight " + inQuotes(weight.sameAs));
    bool isKnown =
        weight.kind.empty() || weight.kind == "parameter" || weight.kind == "buffer" || weight.kind == "constant";
    if (!isKnown)
      problems.push_back(path + ": there is no kind " + inQuotes(weight.kind));
  }
  for (const auto &[value, name] : document.weightNames)
    if (!names.contains(name))
      problems.push_back("weight_name_mapping." + value + ": there is no weight " + inQuotes(name));
}

void checkTables(const Document &document, Problems &problems) {
  for (const auto &[name, entry] : document.constants) {
    if (document.folder.empty() && entry.is_object() && entry.contains("file"))
      continue; // nobody knows where the file would be
    if (Result<ConstantValue> value = constantValue(document, entry); !value)
      problems.push_back("constants." + name + ": " + value.error().str());
  }
  for (const auto &[text, exact] : document.expressions)
    if (Result<pt2::SymExpr> expr = pt2::parseSymExpr(exact); !expr && expr.error().kind == ErrorKind::Corrupt)
      problems.push_back("expressions." + text + ": " + expr.error().str());
}

} // namespace

std::vector<std::string> validate(const Document &document) {
  Problems problems;
  TensorChecker tensors(document, problems);
  checkWeights(document, tensors, problems);
  BodyChecker body(document.graph, "", tensors, problems);
  for (const Weight &weight : document.weights)
    body.addWeight(weight.name);
  for (const auto &[value, name] : document.weightNames)
    body.addWeight(value);
  body.check("graph_inputs", "graph_outputs", document.signature);
  checkTables(document, problems);
  return problems;
}

Status checkDocument(const Document &document) {
  std::vector<std::string> problems = validate(document);
  if (problems.empty())
    return {};
  Error error = corruptError("the graph document is not valid, it has " + std::to_string(problems.size()) +
                             (problems.size() == 1 ? " problem" : " problems"));
  for (size_t i = 0; i < std::min(problems.size(), kMostShown); ++i)
    error.notes.push_back(problems[i]);
  if (problems.size() > kMostShown)
    error.notes.push_back("and " + std::to_string(problems.size() - kMostShown) + " more");
  return error;
}

} // namespace ingot::graph
