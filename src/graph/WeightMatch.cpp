#include "graph/WeightMatch.h"

#include "graph/Constants.h"
#include "graph/ToProgram.h"
#include "graph/Values.h"

#include <algorithm>
#include <set>
#include <unordered_map>

namespace ingot::graph {

namespace {

std::string shapeText(const std::vector<Size> &shape) {
  std::string text = "[";
  for (const Size &size : shape) {
    const int64_t *number = std::get_if<int64_t>(&size);
    text += (text.size() > 1 ? ", " : "") + (number ? std::to_string(*number) : std::get<std::string>(size));
  }
  return text + "]";
}

std::vector<int64_t> rowMajorStrides(const std::vector<int64_t> &shape) {
  std::vector<int64_t> strides(shape.size(), 1);
  for (size_t d = shape.size(); d-- > 1;)
    strides[d - 1] = strides[d] * std::max<int64_t>(shape[d], 1);
  return strides;
}

class Matcher {
public:
  Matcher(const Document &document, const std::vector<pt2::MemoryWeight> &given) : document(document) {
    for (const pt2::MemoryWeight &weight : given)
      byName[weight.name] = &weight;
    for (const Weight &weight : document.weights) {
      described[weight.name] = &weight;
      if (!weight.sameAs.empty())
        tied[weight.sameAs].push_back(weight.name);
    }
    for (const auto &[name, entry] : document.constants)
      constants[name] = &entry;
  }

  Result<MatchedWeights> match(const pt2::Signature &signature) {
    for (const pt2::InputSpec &input : signature.inputs) {
      bool isWeight = input.kind == pt2::InputKind::Parameter || input.kind == pt2::InputKind::Buffer ||
                      input.kind == pt2::InputKind::TensorConstant;
      if (isWeight && seen.insert(input.target).second)
        add(input);
    }
    if (problems.empty())
      return std::move(matched);
    Error error = usageError("the weights don't fit the graph of '" + document.modelName + "'");
    error.notes = std::move(problems);
    return error;
  }

private:
  void add(const pt2::InputSpec &input) {
    const Weight &wanted = *described.at(input.target);
    std::optional<pt2::MemoryWeight> found = find(wanted);
    if (!found) {
      problems.push_back("weight '" + wanted.name + "' is missing");
      return;
    }
    checkType(wanted, *found);
    found->name = input.target;
    found->isParameter = input.kind == pt2::InputKind::Parameter;
    found->isConstant =
        input.kind == pt2::InputKind::TensorConstant || (input.kind == pt2::InputKind::Buffer && !input.persistent);
    matched.weights.push_back(std::move(*found));
  }

  /// Under its own name, under those it is tied to, or among the document's constants.
  std::optional<pt2::MemoryWeight> find(const Weight &wanted) {
    std::vector<std::string> names = {wanted.name, wanted.sameAs};
    for (const std::string &first : {wanted.name, wanted.sameAs})
      if (auto others = tied.find(first); !first.empty() && others != tied.end())
        names.insert(names.end(), others->second.begin(), others->second.end());
    for (const std::string &name : names)
      if (auto found = byName.find(name); found != byName.end())
        return *found->second;
    auto constant = constants.find(wanted.name);
    if (constant == constants.end())
      return std::nullopt;
    Result<ConstantValue> value = constantValue(document, *constant->second);
    if (!value) {
      problems.push_back("constant '" + wanted.name + "' " + value.error().str());
      return std::nullopt;
    }
    pt2::MemoryWeight weight;
    weight.dtype = value->dtype;
    weight.sizes = value->shape;
    weight.strides = rowMajorStrides(value->shape);
    weight.storage = value->data;
    matched.memory.push_back(value->memory);
    return weight;
  }

  void checkType(const Weight &wanted, const pt2::MemoryWeight &found) {
    std::vector<Size> shape(found.sizes.begin(), found.sizes.end());
    if (shape != wanted.shape)
      problems.push_back("weight '" + wanted.name + "' has the shape " + shapeText(shape) + ", the graph needs " +
                         shapeText(wanted.shape));
    if (dtypeFromText(wanted.dtype) != found.dtype)
      problems.push_back("weight '" + wanted.name + "' is " + std::string(dtypeName(found.dtype)) +
                         ", the graph needs " + wanted.dtype);
  }

  const Document &document;
  std::unordered_map<std::string, const pt2::MemoryWeight *> byName;
  std::unordered_map<std::string, const Weight *> described;
  std::unordered_map<std::string, std::vector<std::string>> tied;
  std::unordered_map<std::string, const Json *> constants;
  std::set<std::string> seen;
  std::vector<std::string> problems;
  MatchedWeights matched;
};

} // namespace

Result<MatchedWeights> matchWeights(const Document &document, const pt2::Signature &signature,
                                    const std::vector<pt2::MemoryWeight> &given) {
  return Matcher(document, given).match(signature);
}

std::vector<std::string> unknownWeights(const Document &document, const std::vector<std::string> &given) {
  std::set<std::string> known;
  for (const Weight &weight : document.weights)
    known.insert(weight.name);
  std::vector<std::string> unknown;
  for (const std::string &name : given)
    if (!known.contains(name))
      unknown.push_back(name);
  return unknown;
}

} // namespace ingot::graph
