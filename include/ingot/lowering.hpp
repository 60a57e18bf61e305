// C++ over ingot/plugin.h: lowerings as functions that give values back, errors as exceptions. Header only, C++20.
//
//   ingot::plugin::Value lowerSoftclip(ingot::plugin::Lowering &node) {
//     auto x = node.value("x");
//     auto limit = node.constant(node.real("limit"), x.type().dtype);
//     return node.op("mul", {node.op("tanh", {node.op("div", {x, limit})}), limit});
//   }
//
//   INGOT_PLUGIN(registry) { registry.add("acme::softclip", lowerSoftclip); }
#pragma once

#include "ingot/plugin.h"

#include <cstring>
#include <exception>
#include <functional>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace ingot::plugin {

/// Says why a node cannot be lowered. Other exceptions derived from std::exception do as well.
class Refusal : public std::runtime_error {
public:
  using std::runtime_error::runtime_error;
};

struct Type {
  bool isNumber = false; ///< a symbolic number: int64, float64 or bool
  ingot_dtype dtype = INGOT_FLOAT32;
  std::vector<int64_t> sizes; ///< INGOT_DYNAMIC where unknown

  int64_t rank() const { return static_cast<int64_t>(sizes.size()); }
  bool isDynamic(size_t dim) const { return sizes.at(dim) == INGOT_DYNAMIC; }

  static Type tensor(std::vector<int64_t> sizes, ingot_dtype dtype) { return {false, dtype, std::move(sizes)}; }

  Type() = default;
  Type(bool isNumber, ingot_dtype dtype, std::vector<int64_t> sizes)
      : isNumber(isNumber), dtype(dtype), sizes(std::move(sizes)) {}
  explicit Type(const ingot_type &type)
      : isNumber(type.is_number != 0), dtype(static_cast<ingot_dtype>(type.dtype)),
        sizes(type.sizes, type.sizes + type.rank) {}
  ingot_type view() const { return {isNumber, dtype, static_cast<int32_t>(sizes.size()), sizes.data()}; }
};

class Lowering;

/// A tensor or a number that the program computes; lives as long as the lowering runs.
class Value {
public:
  Value() = default;
  Value(Lowering &owner, ingot_value handle) : owner(&owner), handle(handle) {}

  Type type() const;
  std::string typeText() const;
  explicit operator bool() const { return handle != nullptr; }
  ingot_value get() const { return handle; }

private:
  Lowering *owner = nullptr;
  ingot_value handle = nullptr;
};

/// What an op needs besides its operands. Everything may be left out.
struct OpOptions {
  std::string attributes;      ///< "{axis = 1, log = false}"
  std::vector<int32_t> groups; ///< how many operands each is, for ops with optional ones: {1, 1, 0, 0}
  std::optional<ingot_dtype> dtype;
  std::vector<Type> results; ///< empty: found from operands and attributes
};

/// One argument of the node.
class Argument {
public:
  Argument(Lowering &owner, ingot_argument handle) : owner(&owner), handle(handle) {}

  ingot_argument_kind kind() const;
  bool isNone() const { return kind() == INGOT_ARGUMENT_NONE; }
  bool isValue() const { return kind() == INGOT_ARGUMENT_VALUE; }
  Value value() const;
  int64_t integer() const;
  double real() const;
  bool flag() const { return integer() != 0; }
  std::string text() const;
  ingot_dtype dtype() const;
  std::vector<Argument> list() const;
  std::vector<int64_t> integers() const;

private:
  /// Refuses where the argument is of another kind.
  void expect(std::initializer_list<ingot_argument_kind> kinds, const char *what) const;

  Lowering *owner;
  ingot_argument handle;
};

/// The node, and the place where its ops go.
class Lowering {
public:
  Lowering(const ingot_builder_api *api, ingot_builder *builder) : api(api), builder(builder) {}

  const ingot_builder_api *api;
  ingot_builder *builder;

  std::string target() const { return api->node_target(builder); }
  std::string name() const { return api->node_name(builder); }
  std::string file() const { return api->node_file(builder); }
  int64_t line() const { return api->node_line(builder); }

  bool has(const char *name) const { return api->argument(builder, name) != nullptr; }
  Argument argument(const char *name) {
    ingot_argument found = api->argument(builder, name);
    if (!found)
      throw Refusal("the node has no argument '" + std::string(name) + "'");
    return {*this, found};
  }
  Argument argument(size_t index) {
    ingot_argument found = api->argument_at(builder, index);
    if (!found)
      throw Refusal("the node has no argument number " + std::to_string(index));
    return {*this, found};
  }
  Value value(const char *name) { return argument(name).value(); }
  int64_t integer(const char *name) { return argument(name).integer(); }
  double real(const char *name) { return argument(name).real(); }
  bool flag(const char *name) { return argument(name).flag(); }
  std::string text(const char *name) { return argument(name).text(); }
  std::vector<int64_t> integers(const char *name) { return argument(name).integers(); }

  size_t resultCount() const { return api->result_count(builder); }
  Type resultType(size_t index = 0) const { return Type(api->result_type(builder, index)); }

  /// An op with one result, or the first result of one with several.
  Value op(const char *name, const std::vector<Value> &operands, const OpOptions &options = {}) {
    std::vector<Value> results = ops(name, operands, options);
    return results.empty() ? Value() : results.front();
  }
  Value op(const char *name, const std::vector<Value> &operands, const char *attributes) {
    return op(name, operands, OpOptions{.attributes = attributes, .groups = {}, .dtype = {}, .results = {}});
  }
  std::vector<Value> ops(const char *name, const std::vector<Value> &operands, const OpOptions &options = {});

  /// A kernel of your own: C++ source that is compiled when the program is specialised, and stays in the asset
  /// (docs/kernels.md says what its function `name` looks like). Sizes of results that are INGOT_DYNAMIC are given by `sizes`
  /// in their order.
  std::vector<Value> kernel(const char *name, const char *source, const std::vector<Value> &inputs,
                            const std::vector<Type> &results, const std::vector<Value> &sizes = {});

  Value cast(Value x, ingot_dtype dtype) {
    return op("cast", {x}, OpOptions{.attributes = "", .groups = {}, .dtype = dtype, .results = {}});
  }
  /// A tensor without dimensions.
  Value constant(double number, ingot_dtype dtype = INGOT_FLOAT32) {
    Value wide = constant(Type::tensor({}, INGOT_FLOAT64), &number, sizeof number);
    return dtype == INGOT_FLOAT64 ? wide : cast(wide, dtype);
  }
  Value constant(const Type &type, const void *data, size_t bytes) {
    ingot_type view = type.view();
    return checked(api->constant(builder, &view, data, bytes));
  }
  Value number(int64_t value) { return checked(api->int_number(builder, value)); }

  /// What builds a body: from its arguments to its results. It may use values from around it.
  using Build = std::function<std::vector<Value>(const std::vector<Value> &)>;
  /// What `then` builds where the condition (one boolean) holds when the program runs, else what `otherwise` builds.
  std::vector<Value> branch(Value condition, const Build &then, const Build &otherwise);
  /// The carried values after `step` has replaced them as long as `test`, which gives one boolean, holds.
  std::vector<Value> loop(const std::vector<Value> &carried, const Build &test, const Build &step);
  /// Defines a private function and gives its name. It must not use values from around it. `declaration` says what it
  /// is, as an MLIR dictionary; empty: nothing.
  std::string define(const char *name, const std::vector<Type> &types, const Build &build,
                     const std::string &declaration = "");
  std::vector<Value> call(const std::string &function, const std::vector<Value> &operands);

  /// The size of a dimension, as a number of the program.
  Value dim(Value x, int64_t axis) { return op("dim", {x}, ("{axis = " + std::to_string(axis) + "}").c_str()); }

  [[noreturn]] void fail() const { throw Refusal(api->last_error(builder)); }

private:
  Value checked(ingot_value value) {
    if (!value)
      fail();
    return {*this, value};
  }
  ingot_body body(const std::vector<Type> &types, const Build &build);
  /// What `call(results, capacity, count)` writes.
  template <typename Call> std::vector<Value> resultsOf(Call call);
};

//===------------------------------------------------------------------------------------------===//
// Values and arguments
//===------------------------------------------------------------------------------------------===//

inline Type Value::type() const { return Type(owner->api->value_type(owner->builder, handle)); }
inline std::string Value::typeText() const { return owner->api->value_type_text(owner->builder, handle); }

inline ingot_argument_kind Argument::kind() const { return owner->api->argument_kind(owner->builder, handle); }

inline void Argument::expect(std::initializer_list<ingot_argument_kind> kinds, const char *what) const {
  for (ingot_argument_kind allowed : kinds)
    if (kind() == allowed)
      return;
  throw Refusal("argument " + text() + " is no " + what);
}

inline Value Argument::value() const {
  expect({INGOT_ARGUMENT_VALUE}, "tensor or symbolic number");
  return {*owner, owner->api->argument_value(owner->builder, handle)};
}

inline int64_t Argument::integer() const {
  expect({INGOT_ARGUMENT_INT, INGOT_ARGUMENT_BOOL}, "whole number");
  return owner->api->argument_int(owner->builder, handle);
}

inline double Argument::real() const {
  expect({INGOT_ARGUMENT_FLOAT, INGOT_ARGUMENT_INT, INGOT_ARGUMENT_BOOL}, "number");
  return owner->api->argument_float(owner->builder, handle);
}

inline std::string Argument::text() const { return owner->api->argument_text(owner->builder, handle); }

inline ingot_dtype Argument::dtype() const {
  expect({INGOT_ARGUMENT_DTYPE}, "element type");
  return static_cast<ingot_dtype>(owner->api->argument_dtype(owner->builder, handle));
}

inline std::vector<Argument> Argument::list() const {
  expect({INGOT_ARGUMENT_LIST}, "list");
  std::vector<Argument> items;
  for (size_t i = 0; i < owner->api->list_size(owner->builder, handle); ++i)
    items.emplace_back(*owner, owner->api->list_item(owner->builder, handle, i));
  return items;
}

inline std::vector<int64_t> Argument::integers() const {
  std::vector<int64_t> numbers;
  for (const Argument &item : list())
    numbers.push_back(item.integer());
  return numbers;
}

namespace detail {

inline std::vector<ingot_value> handlesOf(const std::vector<Value> &values) {
  std::vector<ingot_value> handles;
  for (const Value &value : values)
    handles.push_back(value.get());
  return handles;
}

} // namespace detail

template <typename Call> std::vector<Value> Lowering::resultsOf(Call call) {
  std::vector<ingot_value> made(64);
  size_t count = 0;
  if (call(made.data(), made.size(), &count) != INGOT_PLUGIN_OK)
    fail();
  std::vector<Value> values;
  for (size_t i = 0; i < count && i < made.size(); ++i)
    values.emplace_back(*this, made[i]);
  return values;
}

inline std::vector<Value> Lowering::ops(const char *name, const std::vector<Value> &operands,
                                        const OpOptions &options) {
  const std::vector<ingot_value> handles = detail::handlesOf(operands);
  std::vector<ingot_type> types;
  for (const Type &type : options.results)
    types.push_back(type.view());
  ingot_op op{};
  op.name = name;
  op.operands = handles.data();
  op.operand_count = handles.size();
  op.groups = options.groups.empty() ? nullptr : options.groups.data();
  op.group_count = options.groups.size();
  op.attributes = options.attributes.c_str();
  op.dtype = options.dtype ? static_cast<int32_t>(*options.dtype) : INGOT_NO_DTYPE;
  op.result_types = types.empty() ? nullptr : types.data();
  op.result_count = types.size();
  return resultsOf([&](ingot_value *results, size_t capacity, size_t *count) {
    return api->create(builder, &op, results, capacity, count);
  });
}

namespace detail {

/// As MLIR writes strings.
inline std::string quoted(const std::string &text) {
  static const char digits[] = "0123456789ABCDEF";
  std::string result = "\"";
  for (unsigned char c : text) {
    const bool isPlain = c >= 32 && c < 127 && c != '"' && c != '\\';
    result += isPlain ? std::string(1, static_cast<char>(c)) : std::string("\\") + digits[c >> 4] + digits[c & 15];
  }
  return result + "\"";
}

} // namespace detail

inline std::vector<Value> Lowering::kernel(const char *name, const char *source, const std::vector<Value> &inputs,
                                           const std::vector<Type> &results, const std::vector<Value> &sizes) {
  std::string list;
  for (const Type &type : results)
    for (int64_t size : type.sizes)
      list += (list.empty() ? ": " : ", ") + std::to_string(size);
  OpOptions options;
  options.attributes =
      "{kernel = " + detail::quoted(name) + ", language = \"c++\", source = " + detail::quoted(source) +
      ", inputs = " + std::to_string(inputs.size()) + " : i64, sizes = array<i64" + list + ">, strided = false}";
  options.results = results;
  std::vector<Value> operands = inputs;
  operands.insert(operands.end(), sizes.begin(), sizes.end());
  return ops("custom", operands, options);
}

//===------------------------------------------------------------------------------------------===//
// Bodies
//===------------------------------------------------------------------------------------------===//

inline ingot_body Lowering::body(const std::vector<Type> &types, const Build &build) {
  std::vector<ingot_type> views;
  for (const Type &type : types)
    views.push_back(type.view());
  std::vector<ingot_value> arguments(types.size());
  if (api->begin_body(builder, views.data(), views.size(), arguments.data()) != INGOT_PLUGIN_OK)
    fail();
  std::vector<Value> given;
  for (ingot_value argument : arguments)
    given.emplace_back(*this, argument);
  std::vector<ingot_value> results;
  try {
    results = detail::handlesOf(build(given));
  } catch (...) {
    api->drop_body(builder);
    throw;
  }
  ingot_body made = api->end_body(builder, results.data(), results.size());
  if (!made)
    fail();
  return made;
}

inline std::vector<Value> Lowering::branch(Value condition, const Build &then, const Build &otherwise) {
  ingot_body first = body({}, then), second = body({}, otherwise);
  return resultsOf([&](ingot_value *results, size_t capacity, size_t *count) {
    return api->create_if(builder, condition.get(), first, second, results, capacity, count);
  });
}

inline std::vector<Value> Lowering::loop(const std::vector<Value> &carried, const Build &test, const Build &step) {
  std::vector<Type> types;
  for (const Value &value : carried)
    types.push_back(value.type());
  ingot_body first = body(types, test), second = body(types, step);
  const std::vector<ingot_value> handles = detail::handlesOf(carried);
  std::vector<ingot_value> made(handles.size());
  if (api->create_while(builder, first, second, handles.data(), handles.size(), made.data()) != INGOT_PLUGIN_OK)
    fail();
  std::vector<Value> results;
  for (ingot_value result : made)
    results.emplace_back(*this, result);
  return results;
}

inline std::string Lowering::define(const char *name, const std::vector<Type> &types, const Build &build,
                                    const std::string &declaration) {
  const char *given = api->define_function(builder, name, declaration.c_str(), body(types, build));
  if (!given)
    fail();
  return given;
}

inline std::vector<Value> Lowering::call(const std::string &function, const std::vector<Value> &operands) {
  const std::vector<ingot_value> handles = detail::handlesOf(operands);
  return resultsOf([&](ingot_value *results, size_t capacity, size_t *count) {
    return api->call_function(builder, function.c_str(), handles.data(), handles.size(), results, capacity, count);
  });
}

//===------------------------------------------------------------------------------------------===//
// Registration
//===------------------------------------------------------------------------------------------===//

using LowerOne = Value (*)(Lowering &);
using LowerMany = std::vector<Value> (*)(Lowering &);

namespace detail {

inline std::vector<Value> asList(Value value) { return {value}; }
inline std::vector<Value> asList(std::vector<Value> values) { return values; }

/// The C function around a C++ one: no exception passes.
template <typename Function> int32_t call(const ingot_builder_api *api, ingot_builder *builder, void *user) noexcept {
  try {
    Lowering lowering(api, builder);
    std::vector<ingot_value> handles;
    for (const Value &value : asList(reinterpret_cast<Function>(user)(lowering)))
      handles.push_back(value.get());
    return api->set_results(builder, handles.data(), handles.size());
  } catch (const std::exception &error) {
    return api->fail(builder, error.what());
  } catch (...) {
    return api->fail(builder, "an exception without a message");
  }
}

} // namespace detail

/// Rewrites a node of a graph document, given and taken as JSON text: any number of nodes takes its place. Throws to refuse.
using ConvertNode = std::vector<std::string> (*)(const std::string &node);

namespace detail {

inline int32_t callConverter(const char *node, void (*emit)(void *, const char *), void *sink, void *user) noexcept {
  try {
    for (const std::string &made : reinterpret_cast<ConvertNode>(user)(node))
      emit(sink, made.c_str());
    return INGOT_PLUGIN_OK;
  } catch (...) {
    return INGOT_PLUGIN_FAILED;
  }
}

} // namespace detail

class Registry {
public:
  explicit Registry(const ingot_plugin_api *api) : api(api) {}

  /// "namespace::name.overload"; without an overload it is the default one.
  void add(const char *target, LowerOne function) { addAs<LowerOne>(target, function); }
  void add(const char *target, LowerMany function) { addAs<LowerMany>(target, function); }
  /// "aten.gelu.default" for that overload, "aten.gelu" for all of them.
  void addConverter(const char *pattern, ConvertNode function) {
    ingot_converter converter{pattern, &detail::callConverter, reinterpret_cast<void *>(function)};
    hasFailed |= api->add_converter(api->registry, &converter) != INGOT_PLUGIN_OK;
  }
  bool failed() const { return hasFailed; }

private:
  template <typename Function> void addAs(const char *target, Function function) {
    ingot_lowering lowering{target, &detail::call<Function>, reinterpret_cast<void *>(function)};
    hasFailed |= api->add_lowering(api->registry, &lowering) != INGOT_PLUGIN_OK;
  }

  const ingot_plugin_api *api;
  bool hasFailed = false;
};

} // namespace ingot::plugin

/// Defines what a plugin exports; the body that follows registers its lowerings with `registry`.
#define INGOT_PLUGIN(registry)                                                                                         \
  static void ingotPluginBody(ingot::plugin::Registry &registry);                                                      \
  extern "C" INGOT_PLUGIN_EXPORT int32_t ingot_plugin_register(const ingot_plugin_api *api) {                          \
    if (api->version != INGOT_PLUGIN_VERSION)                                                                          \
      return api->fail(api->registry, "it was built for another version of Ingot's plugin interface");                 \
    ingot::plugin::Registry made(api);                                                                                 \
    ingotPluginBody(made);                                                                                             \
    return made.failed() ? INGOT_PLUGIN_FAILED : INGOT_PLUGIN_OK;                                                      \
  }                                                                                                                    \
  static void ingotPluginBody(ingot::plugin::Registry &registry)
