// JSON with errors instead of exceptions: parsing with limits, and typed access that knows the
// path of every value ("graph.nodes[12].inputs[0]") when something is not as expected.
#pragma once

#include "base/Result.h"

#include <nlohmann/json.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

namespace ingot {

constexpr size_t defaultJsonDepth = 512;

/// Parses a whole text. Nesting deeper than `maxDepth` is refused.
Result<nlohmann::json> parseJson(std::string_view text, size_t maxDepth = defaultJsonDepth);

/// A value inside a document that must stay alive and unchanged. Cheap to copy.
class JsonRef {
public:
  explicit JsonRef(const nlohmann::json &document) : root(&document), value(&document) {}

  const nlohmann::json &json() const { return *value; }
  bool isNull() const { return value->is_null(); }
  bool isString() const { return value->is_string(); }

  /// A member that must be there.
  Result<JsonRef> member(std::string_view key) const;
  /// A member that may be missing or null.
  Result<std::optional<JsonRef>> optionalMember(std::string_view key) const;
  /// The only member of an object with exactly one: how tagged unions are written.
  Result<std::pair<std::string_view, JsonRef>> onlyMember() const;

  Result<std::string> string() const;
  Result<bool> boolean() const;
  /// Integers beyond 64 bits are valid Python but Unsupported here.
  Result<int64_t> integer() const;
  /// Any integer, clamped to the range of int64.
  Result<int64_t> clampedInteger() const;
  /// An integer above int64 that fits uint64; nullopt for everything else.
  std::optional<uint64_t> largeUnsigned() const;
  /// Numbers and the strings "Infinity", "-Infinity" and "NaN".
  Result<double> number() const;

  /// Applies `read(JsonRef) -> Result<T>` to every element.
  template <typename Read> auto list(Read read) const {
    using T = std::decay_t<decltype(*read(*this))>;
    using ListResult = Result<std::vector<T>>;
    if (!value->is_array())
      return ListResult(mismatch("a list"));
    std::vector<T> items;
    items.reserve(value->size());
    for (const nlohmann::json &element : *value) {
      auto item = read(JsonRef(root, &element));
      if (!item)
        return ListResult(std::move(item.error()));
      items.push_back(*std::move(item));
    }
    return ListResult(std::move(items));
  }

  /// Calls `visit(const std::string &key, JsonRef) -> Status` for every member.
  template <typename Visit> Status forEachMember(Visit visit) const {
    if (!value->is_object())
      return mismatch("an object");
    for (auto item = value->begin(); item != value->end(); ++item)
      INGOT_CHECK(visit(item.key(), JsonRef(root, &*item)));
    return {};
  }

  /// Where this value stands in its document; computed only for messages.
  std::string path() const;
  Error corrupt(std::string_view what) const;
  Error unsupported(std::string_view what) const;

private:
  JsonRef(const nlohmann::json *root, const nlohmann::json *value) : root(root), value(value) {}
  Error mismatch(std::string_view expected) const;

  const nlohmann::json *root;
  const nlohmann::json *value;
};

} // namespace ingot
