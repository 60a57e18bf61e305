#include "graph/Rebuild.h"

#include <algorithm>
#include <bit>

namespace ingot::graph {

using pt2::Argument;
using pt2::SchemaArgument;

namespace {

constexpr size_t kMostChoices = 12;

/// A parameter that takes tensors from the node's inputs.
struct Slot {
  const SchemaArgument *parameter = nullptr;
  size_t count = 1;
  std::vector<bool> mask; ///< of a list: where it has None
};

class Rebuilder {
public:
  Rebuilder(const Node &node, const pt2::OpSchema &schema, const std::vector<Argument> &tensors,
            const std::vector<std::string> &hints, const ValueReader &values)
      : node(node), schema(schema), tensors(tensors), hints(hints), values(values) {}

  Result<std::vector<pt2::NamedArgument>> run() {
    INGOT_CHECK(checkAttributes());
    INGOT_CHECK(makeSlots());
    INGOT_CHECK(chooseOptionals());
    std::vector<pt2::NamedArgument> list;
    for (const SchemaArgument &parameter : schema.arguments) {
      INGOT_TRY(std::optional<Argument> value, valueOf(parameter));
      if (!value)
        continue;
      auto passedAs = parameter.keywordOnly ? pt2::PassedAs::Keyword : pt2::PassedAs::Positional;
      list.push_back({parameter.name, std::move(*value), passedAs});
    }
    return list;
  }

private:
  bool hasAttribute(const SchemaArgument &parameter) const { return node.attrs.contains(parameter.name); }

  Status checkAttributes() const {
    for (const auto &[name, value] : node.attrs.items())
      if (!name.starts_with('_') && !schema.findArgument(name))
        return corruptError("has the attribute '" + name + "', which its operator lacks");
    return {};
  }

  /// An entry of `_tensor_list_sizes` or `_tensor_list_none_masks`; null if there is none.
  const Json *listEntry(const char *key, size_t index) const {
    auto found = node.attrs.find(key);
    bool isThere = found != node.attrs.end() && found->is_array() && index < found->size();
    return isThere ? &(*found)[index] : nullptr;
  }

  Status makeSlots() {
    size_t lists = 0;
    for (const SchemaArgument &parameter : schema.arguments) {
      if (parameter.type.base != pt2::TypeKind::Tensor || hasAttribute(parameter))
        continue;
      if (!parameter.type.isTensorList()) {
        slots.push_back({&parameter, 1, {}});
        continue;
      }
      INGOT_TRY(Slot slot, listSlot(parameter, lists));
      slots.push_back(std::move(slot));
      ++lists;
    }
    return {};
  }

  Result<Slot> listSlot(const SchemaArgument &parameter, size_t number) const {
    Slot slot{&parameter, 0, {}};
    const Json *size = listEntry("_tensor_list_sizes", number);
    if (size && (!size->is_number_unsigned() || size->get<size_t>() > tensors.size()))
      return corruptError("'_tensor_list_sizes' has an impossible entry");
    slot.count = size ? size->get<size_t>() : shareOfList();
    const Json *mask = listEntry("_tensor_list_none_masks", maskNumber(number));
    if (mask && mask->is_array() &&
        std::all_of(mask->begin(), mask->end(), [](const Json &m) { return m.is_boolean(); }))
      slot.mask = mask->get<std::vector<bool>>();
    if (std::ranges::count(slot.mask, false) != static_cast<ptrdiff_t>(slot.count))
      slot.mask.assign(slot.count, false); // a mask of another list: older documents leave out masks without None
    return slot;
  }

  /// Older documents have masks only for lists with None; with one mask for two lists, the one that fits is taken.
  size_t maskNumber(size_t number) const {
    auto masks = node.attrs.find("_tensor_list_none_masks");
    auto sizes = node.attrs.find("_tensor_list_sizes");
    bool isComplete = masks != node.attrs.end() && sizes != node.attrs.end() && masks->size() == sizes->size();
    return isComplete ? number : 0;
  }

  /// What remains for a list whose size is not recorded.
  size_t shareOfList() const {
    size_t plain = 0, lists = 0;
    for (const SchemaArgument &parameter : schema.arguments) {
      if (parameter.type.base != pt2::TypeKind::Tensor || hasAttribute(parameter))
        continue;
      lists += parameter.type.isTensorList();
      plain += !parameter.type.isTensorList() && !parameter.type.isOptional();
    }
    return tensors.size() > plain ? (tensors.size() - plain) / std::max<size_t>(lists, 1) : 0;
  }

  static bool isChoice(const Slot &slot) {
    return slot.parameter->type.isTensor() && slot.parameter->type.isOptional();
  }

  /// Optional tensors that the inputs don't suffice for get none. Which ones is not recorded: names decide, then order.
  Status chooseOptionals() {
    size_t needed = 0;
    std::vector<size_t> optionals;
    for (size_t i = 0; i < slots.size(); ++i) {
      if (isChoice(slots[i]))
        optionals.push_back(i);
      else
        needed += slots[i].count;
    }
    if (tensors.size() < needed || tensors.size() > needed + optionals.size())
      return corruptError("has " + std::to_string(tensors.size()) + " inputs, its operator takes " +
                          std::to_string(needed) +
                          (optionals.empty() ? "" : " to " + std::to_string(needed + optionals.size())));
    size_t given = tensors.size() - needed;
    std::vector<size_t> best(optionals.begin(), optionals.begin() + static_cast<ptrdiff_t>(given));
    if (given > 0 && given < optionals.size() && optionals.size() <= kMostChoices)
      best = bestChoice(optionals, given);
    for (size_t i : optionals)
      slots[i].count = std::ranges::find(best, i) != best.end() ? 1 : 0;
    return {};
  }

  std::vector<size_t> bestChoice(const std::vector<size_t> &optionals, size_t given) {
    std::vector<size_t> best;
    size_t bestScore = 0;
    for (uint32_t bits = 0; bits < (1u << optionals.size()); ++bits) {
      if (static_cast<size_t>(std::popcount(bits)) != given)
        continue;
      std::vector<size_t> choice;
      for (size_t i = 0; i < optionals.size(); ++i)
        if (bits >> i & 1)
          choice.push_back(optionals[i]);
      size_t score = scoreOf(choice);
      if (best.empty() || score > bestScore || (score == bestScore && choice < best)) {
        best = choice;
        bestScore = score;
      }
    }
    return best;
  }

  /// How many optional tensors would get an input of their own name.
  size_t scoreOf(const std::vector<size_t> &choice) const {
    size_t next = 0, score = 0;
    for (size_t i = 0; i < slots.size(); ++i) {
      bool isChosen = std::ranges::find(choice, i) != choice.end();
      if (isChosen)
        score += hints[next] == slots[i].parameter->name;
      next += isChoice(slots[i]) ? isChosen : slots[i].count;
    }
    return score;
  }

  /// Nothing for a parameter that keeps its default.
  Result<std::optional<Argument>> valueOf(const SchemaArgument &parameter) {
    if (hasAttribute(parameter)) {
      Result<Argument> value = values.value(node.attrs[parameter.name], &parameter.type);
      if (!value)
        return std::move(value.error()).note("in attribute '" + parameter.name + "'");
      return std::optional(*std::move(value));
    }
    auto slot = std::ranges::find(slots, &parameter, &Slot::parameter);
    if (slot != slots.end() && (slot->count > 0 || slot->parameter->type.isTensorList()))
      return std::optional(taken(*slot));
    if (parameter.defaultValue)
      return std::optional<Argument>();
    if (parameter.type.isOptional())
      return std::optional(Argument::makeNone());
    return corruptError("lacks the argument '" + parameter.name + "'");
  }

  Argument taken(const Slot &slot) {
    if (!slot.parameter->type.isTensorList())
      return tensors[next++];
    std::vector<std::optional<std::string>> names;
    for (bool isNone : slot.mask) {
      const Argument *tensor = isNone ? nullptr : &tensors[next++];
      names.push_back(tensor && tensor->is(pt2::ArgumentKind::Tensor) ? std::optional(tensor->asTensor())
                                                                      : std::nullopt);
    }
    if (std::ranges::find(slot.mask, true) != slot.mask.end())
      return Argument::makeOptionalTensors(std::move(names));
    std::vector<std::string> plain;
    for (std::optional<std::string> &name : names)
      plain.push_back(name.value_or(""));
    return Argument::makeTensors(std::move(plain));
  }

  const Node &node;
  const pt2::OpSchema &schema;
  const std::vector<Argument> &tensors;
  const std::vector<std::string> &hints;
  const ValueReader &values;
  std::vector<Slot> slots;
  size_t next = 0; ///< of the inputs
};

} // namespace

Result<std::vector<pt2::NamedArgument>> rebuildArguments(const Node &node, const pt2::OpSchema *schema,
                                                         const std::vector<Argument> &tensors,
                                                         const std::vector<std::string> &hints,
                                                         const ValueReader &values) {
  if (!schema)
    return unsupportedError("the operator is not known, and the node has no 'args' that tell how to call it");
  return Rebuilder(node, *schema, tensors, hints, values).run();
}

} // namespace ingot::graph
