#include "pt2/ProgramReader.h"

using namespace ingot;
using namespace ingot::pt2;
using nlohmann::json;

namespace {

struct TreeRow {
  std::string_view type;
  TreeKind kind;
};

// Aliases of tuple, list and dict that torch registers itself are read as what they are.
constexpr TreeRow treeRows[] = {
    {"builtins.tuple", TreeKind::Tuple},
    {"builtins.list", TreeKind::List},
    {"builtins.dict", TreeKind::Dict},
    {"collections.OrderedDict", TreeKind::OrderedDict},
    {"collections.defaultdict", TreeKind::DefaultDict},
    {"collections.deque", TreeKind::Deque},
    {"collections.namedtuple", TreeKind::NamedTuple},
    {"torch.Size", TreeKind::Tuple},
    {"torch.fx.immutable_collections.immutable_list", TreeKind::List},
    {"torch.fx.immutable_collections.immutable_dict", TreeKind::Dict},
};

TreeKind kindOf(std::string_view type) {
  for (const TreeRow &row : treeRows)
    if (row.type == type)
      return row.kind;
  return TreeKind::Other;
}

std::optional<TreeKey> readKey(const json &key) {
  if (key.is_string())
    return TreeKey(key.get<std::string>());
  if (key.is_boolean())
    return TreeKey(key.get<bool>());
  if (key.is_null())
    return TreeKey(std::monostate());
  if (key.is_number_float())
    return TreeKey(key.get<double>());
  if (Result<int64_t> number = JsonRef(key).integer())
    return TreeKey(*number);
  return std::nullopt;
}

/// A list of dictionary keys; nullopt when a key is of a kind we cannot hold (an enum, a tuple).
std::optional<std::vector<TreeKey>> readKeys(const json &list) {
  if (!list.is_array())
    return std::nullopt;
  std::vector<TreeKey> keys;
  for (const json &item : list) {
    std::optional<TreeKey> key = readKey(item);
    if (!key)
      return std::nullopt;
    keys.push_back(std::move(*key));
  }
  return keys;
}

class TreeReader {
public:
  explicit TreeReader(const NameMap<std::vector<std::string>> &fields) : fields(fields) {}

  Result<TreeSpec> read(JsonRef node) const {
    TreeSpec spec;
    INGOT_TRY(auto type, node.optionalMember("type"));
    if (!type)
      return spec;
    INGOT_TRY(spec.type, type->string());
    spec.kind = kindOf(spec.type);
    INGOT_TRY(JsonRef children, node.member("children_spec"));
    INGOT_TRY(spec.children, children.list([this](JsonRef child) { return read(child); }));
    INGOT_TRY(JsonRef context, node.member("context"));
    // Most contexts are JSON inside a string; some are JSON directly.
    spec.context = context.isString() ? context.json().get_ref<const std::string &>()
                                      : context.json().dump(-1, ' ', false, json::error_handler_t::replace);
    readContext(spec);
    bool isKeyed = spec.kind == TreeKind::Dict || spec.kind == TreeKind::OrderedDict ||
                   spec.kind == TreeKind::DefaultDict || spec.kind == TreeKind::NamedTuple;
    if (isKeyed && spec.keys.size() != spec.children.size())
      return node.corrupt("has " + std::to_string(spec.keys.size()) + " keys for " +
                          std::to_string(spec.children.size()) + " children");
    return spec;
  }

private:
  /// Fills the keys. A container whose keys we cannot hold becomes Other: it can still be counted.
  void readContext(TreeSpec &spec) const {
    std::optional<std::vector<TreeKey>> keys;
    if (spec.kind == TreeKind::NamedTuple) {
      auto found = fields.find(spec.context);
      if (found != fields.end())
        keys.emplace(found->second.begin(), found->second.end());
    } else if (spec.kind == TreeKind::Dict || spec.kind == TreeKind::OrderedDict) {
      if (Result<json> context = parseJson(spec.context))
        keys = readKeys(*context);
    } else if (spec.kind == TreeKind::DefaultDict) {
      Result<json> context = parseJson(spec.context);
      if (context && context->is_object() && context->contains("dict_context"))
        keys = readKeys(*context->find("dict_context"));
    } else {
      return;
    }
    if (keys)
      spec.keys = std::move(*keys);
    else
      spec.kind = TreeKind::Other;
  }

  const NameMap<std::vector<std::string>> &fields;
};

} // namespace

Result<TreeSpec> pt2::readTreeSpec(std::string_view text, const NameMap<std::vector<std::string>> &namedTupleFields) {
  INGOT_TRY(json document, parseJson(text));
  if (!document.is_array() || document.size() != 2)
    return corruptError("a tree specification should be a list of two");
  JsonRef root(document);
  INGOT_TRY(auto items, root.list([](JsonRef item) { return Result<JsonRef>(item); }));
  INGOT_TRY(int64_t protocol, items[0].integer());
  if (protocol != 1)
    return unsupportedError("tree specification of unknown protocol " + std::to_string(protocol));
  return TreeReader(namedTupleFields).read(items[1]);
}
