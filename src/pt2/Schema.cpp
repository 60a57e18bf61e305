#include "pt2/Schema.h"

#include "base/ForkSafeMutex.h"
#include "base/Log.h"

#include <array>
#include <memory>
#include <unordered_map>

using namespace ingot;
using namespace ingot::pt2;

namespace {

constexpr std::array<std::string_view, 18> typeNames = {
    "Tensor",     "int",    "SymInt",       "float",  "bool",      "SymBool", "Scalar", "complex", "str",
    "ScalarType", "Layout", "MemoryFormat", "Device", "Generator", "Storage", "Stream", "Any",     "",
};
static_assert(typeNames.size() == static_cast<size_t>(TypeKind::Class) + 1);

/// Everything before the parenthesis.
std::string_view nameOfLine(std::string_view line) { return line.substr(0, line.find('(')); }

/// Bisects the sorted text by byte position. No index is built: a compilation looks up a few dozen
/// operators, fewer than an index would cost.
std::string_view findLine(std::string_view table, std::string_view name) {
  size_t low = 0, high = table.size();
  while (low < high) {
    size_t middle = low + (high - low) / 2;
    // The line that holds `middle`; low and high always stand at line starts.
    size_t newline = middle == 0 ? table.npos : table.rfind('\n', middle - 1);
    size_t begin = newline == table.npos || newline < low ? low : newline + 1;
    size_t end = table.find('\n', middle);
    if (end == table.npos)
      end = table.size();
    std::string_view line = table.substr(begin, end - begin);
    int order = name.compare(nameOfLine(line));
    if (order == 0)
      return line;
    if (order < 0)
      high = begin;
    else
      low = end + 1;
  }
  return {};
}

struct Cache {
  ForkSafeMutex mutex;
  /// Null for names that the table lacks. Pointers stay valid while the map grows.
  std::unordered_map<std::string, std::unique_ptr<const OpSchema>> schemas;
  /// Of custom operators that were defined anew; somebody may still hold them.
  std::vector<std::unique_ptr<const OpSchema>> replaced;

  static Cache &get() {
    static Cache cache;
    return cache;
  }
};

std::unique_ptr<const OpSchema> loadSchema(std::string_view name) {
  std::string_view line = findLine(schemaTable(), name);
  if (line.empty())
    return nullptr;
  Result<OpSchema> schema = parseSchema(line);
  if (!schema) {
    INGOT_LOG(Error, schema.error().str());
    return nullptr;
  }
  return std::make_unique<const OpSchema>(*std::move(schema));
}

} // namespace

const SchemaType::Suffix *SchemaType::listSuffix() const {
  for (size_t i = suffixes.size(); i-- > 0;)
    if (suffixes[i].kind == Suffix::List)
      return &suffixes[i];
  return nullptr;
}

std::string SchemaType::str() const {
  std::string text = base == TypeKind::Class ? className : std::string(typeNames[static_cast<size_t>(base)]);
  for (const Suffix &suffix : suffixes) {
    if (suffix.kind == Suffix::Optional)
      text += "?";
    else
      text += "[" + (suffix.length ? std::to_string(*suffix.length) : "") + "]";
  }
  return text;
}

std::string OpSchema::qualifiedName() const { return overload.empty() ? name : name + "." + overload; }

const SchemaArgument *OpSchema::findArgument(std::string_view argumentName) const {
  for (const SchemaArgument &argument : arguments)
    if (argument.name == argumentName)
      return &argument;
  return nullptr;
}

bool OpSchema::isMutable() const {
  for (const SchemaArgument &argument : arguments)
    if (argument.alias && argument.alias->isWrite)
      return true;
  return false;
}

const OpSchema *pt2::findSchema(std::string_view qualifiedName) {
  Cache &cache = Cache::get();
  constexpr std::string_view emptyOverload = ".default";
  if (qualifiedName.ends_with(emptyOverload))
    qualifiedName.remove_suffix(emptyOverload.size());
  std::lock_guard lock(cache.mutex);
  auto [found, isNew] = cache.schemas.try_emplace(std::string(qualifiedName));
  if (isNew)
    found->second = loadSchema(qualifiedName);
  return found->second.get();
}

Status pt2::addSchema(std::string_view text) {
  INGOT_TRY(OpSchema schema, parseSchema(text));
  std::string name = schema.qualifiedName();
  if (!findLine(schemaTable(), name).empty())
    return {};
  Cache &cache = Cache::get();
  std::lock_guard lock(cache.mutex);
  std::unique_ptr<const OpSchema> &place = cache.schemas[name];
  if (place)
    cache.replaced.push_back(std::move(place));
  place = std::make_unique<const OpSchema>(std::move(schema));
  return {};
}

std::optional<std::string> pt2::qualifiedNameOfTarget(std::string_view target) {
  constexpr std::string_view prefix = "torch.ops.";
  if (!target.starts_with(prefix))
    return std::nullopt;
  target.remove_prefix(prefix.size());
  // Namespace and overload hold no dots; neither do operator names.
  size_t first = target.find('.');
  size_t last = target.rfind('.');
  if (first == target.npos || first == last)
    return std::nullopt;
  std::string name(target.substr(0, first));
  name += "::";
  name += target.substr(first + 1, last - first - 1);
  std::string_view overload = target.substr(last + 1);
  if (overload != "default")
    name += "." + std::string(overload);
  return name;
}
