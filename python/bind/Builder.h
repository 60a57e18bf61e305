// A builder of ops as Python sees it, and lowerings that are Python functions.
#pragma once

#include "Bind.h"
#include "ingot/plugin.h"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

namespace ingot::bind {

/// (is a number, element type, sizes)
using TypeTuple = std::tuple<bool, std::string, std::vector<int64_t>>;

/// The sizes stay those of the tuple.
ingot_type viewOf(const TypeTuple &tuple);

/// Values are their addresses; `ingot.ir` sees to it that none outlives its builder.
class Builder {
public:
  /// `owner` keeps alive what the builder builds in; null where the caller does.
  Builder(const ingot_builder_api *api, ingot_builder *handle, std::shared_ptr<void> owner = nullptr)
      : api(api), handle(handle), owner(std::move(owner)) {}

  const ingot_builder_api *api;

  /// Refuses once the builder has ended.
  ingot_builder *live() const;
  bool isAlive() const { return handle != nullptr; }
  void end() { handle = nullptr; }

  std::vector<uintptr_t> create(const std::string &name, const std::vector<uintptr_t> &operands,
                                const std::optional<std::vector<int32_t>> &groups, const std::string &attributes,
                                const std::optional<std::string> &dtype,
                                const std::optional<std::vector<TypeTuple>> &resultTypes) const;
  uintptr_t constant(const TypeTuple &type, const nanobind::bytes &data) const;
  std::optional<nanobind::bytes> constantData(uintptr_t value) const;
  TypeTuple typeOf(uintptr_t value) const;
  /// A Python number as a symbolic one.
  uintptr_t number(nanobind::handle object) const;

  // Bodies are their addresses, too.

  std::vector<uintptr_t> beginBody(const std::vector<TypeTuple> &types) const;
  uintptr_t endBody(const std::vector<uintptr_t> &results) const;
  void dropBody() const { api->drop_body(live()); }
  std::vector<uintptr_t> createIf(uintptr_t condition, uintptr_t then, uintptr_t otherwise) const;
  std::vector<uintptr_t> createWhile(uintptr_t test, uintptr_t body, const std::vector<uintptr_t> &carried) const;
  std::string defineFunction(const std::string &name, const std::string &declaration, uintptr_t body) const;
  std::vector<uintptr_t> callFunction(const std::string &name, const std::vector<uintptr_t> &operands) const;

  /// Name and content; a value is ("value", its address), an element type ("dtype", its name).
  nanobind::list arguments() const;
  std::vector<TypeTuple> resultTypes() const;
  void setResults(const std::vector<uintptr_t> &handles) const;

private:
  [[noreturn]] void fail() const;
  uintptr_t checked(ingot_value value) const;
  /// What `call(results, count)` writes.
  template <typename Call> std::vector<uintptr_t> resultsOf(Call call) const;
  nanobind::object argument(ingot_argument argument) const;

  ingot_builder *handle;
  std::shared_ptr<void> owner;
};

/// Rows for the compiler over Python functions, which this keeps alive. Each is called with a Builder and gives None, or
/// a text that says why the node cannot be lowered.
class PythonLowerings {
public:
  explicit PythonLowerings(const std::vector<std::pair<std::string, nanobind::callable>> &functions);

  std::vector<ingot_lowering> rows;

private:
  std::vector<std::pair<std::string, nanobind::callable>> functions;
};

} // namespace ingot::bind
