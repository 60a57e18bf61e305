// Lowerings written in Python: the functions of ingot/plugin.h as methods, for the length of one call.
#include "Builder.h"

#include "base/DType.h"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <memory>

namespace nb = nanobind;
using namespace nb::literals;

namespace ingot::bind {

namespace {

int32_t dtypeNumber(const std::string &name) {
  std::optional<DType> dtype = dtypeFromName(name);
  if (!dtype)
    throw Failure(ErrorKind::Usage, "there is no element type '" + name + "'");
  return static_cast<int32_t>(*dtype);
}

TypeTuple toTuple(const ingot_type &type) {
  bool isKnown = type.dtype != INGOT_NO_DTYPE;
  std::vector<int64_t> sizes(type.sizes, type.sizes + type.rank);
  return {type.is_number != 0, isKnown ? std::string(dtypeName(static_cast<DType>(type.dtype))) : "", sizes};
}

ingot_value toValue(uintptr_t handle) { return reinterpret_cast<ingot_value>(handle); }
uintptr_t fromValue(ingot_value value) { return reinterpret_cast<uintptr_t>(value); }
ingot_body toBody(uintptr_t handle) { return reinterpret_cast<ingot_body>(handle); }

std::vector<ingot_value> toValues(const std::vector<uintptr_t> &handles) {
  std::vector<ingot_value> values;
  for (uintptr_t handle : handles)
    values.push_back(toValue(handle));
  return values;
}

std::vector<uintptr_t> fromValues(const std::vector<ingot_value> &values) {
  std::vector<uintptr_t> handles;
  for (ingot_value value : values)
    handles.push_back(fromValue(value));
  return handles;
}

/// More results than any op or function has that Python code writes.
constexpr size_t kMaxResults = 1024;

} // namespace

ingot_type viewOf(const TypeTuple &tuple) {
  const auto &[isNumber, dtype, sizes] = tuple;
  return {isNumber, dtypeNumber(dtype), static_cast<int32_t>(sizes.size()), sizes.data()};
}

ingot_builder *Builder::live() const {
  if (!handle)
    throw Failure(ErrorKind::Usage, "this value belongs to a lowering or graph that has ended");
  return handle;
}

void Builder::fail() const { throw Failure(ErrorKind::Usage, api->last_error(handle)); }

uintptr_t Builder::checked(ingot_value value) const {
  if (!value)
    fail();
  return fromValue(value);
}

template <typename Call> std::vector<uintptr_t> Builder::resultsOf(Call call) const {
  std::vector<ingot_value> results(kMaxResults);
  size_t count = 0;
  if (call(results.data(), &count) != INGOT_PLUGIN_OK)
    fail();
  if (count > kMaxResults)
    throw Failure(ErrorKind::Unsupported,
                  "an op or function with more than " + std::to_string(kMaxResults) + " results");
  results.resize(count);
  return fromValues(results);
}

std::vector<uintptr_t> Builder::create(const std::string &name, const std::vector<uintptr_t> &operands,
                                       const std::optional<std::vector<int32_t>> &groups, const std::string &attributes,
                                       const std::optional<std::string> &dtype,
                                       const std::optional<std::vector<TypeTuple>> &resultTypes) const {
  const std::vector<ingot_value> values = toValues(operands);
  std::vector<ingot_type> types;
  if (resultTypes)
    for (const TypeTuple &type : *resultTypes)
      types.push_back(viewOf(type));
  ingot_op op{};
  op.name = name.c_str();
  op.operands = values.data();
  op.operand_count = values.size();
  op.groups = groups ? groups->data() : nullptr;
  op.group_count = groups ? groups->size() : 0;
  op.attributes = attributes.c_str();
  op.dtype = dtype ? dtypeNumber(*dtype) : INGOT_NO_DTYPE;
  op.result_types = resultTypes ? types.data() : nullptr;
  op.result_count = types.size();
  return resultsOf(
      [&](ingot_value *results, size_t *count) { return api->create(live(), &op, results, kMaxResults, count); });
}

uintptr_t Builder::constant(const TypeTuple &tuple, const nb::bytes &data) const {
  ingot_type type = viewOf(tuple);
  return checked(api->constant(live(), &type, data.data(), data.size()));
}

std::optional<nb::bytes> Builder::constantData(uintptr_t value) const {
  size_t bytes = 0;
  const void *data = api->constant_data(live(), toValue(value), &bytes);
  return data ? std::optional(nb::bytes(data, bytes)) : std::nullopt;
}

TypeTuple Builder::typeOf(uintptr_t value) const { return toTuple(api->value_type(live(), toValue(value))); }

uintptr_t Builder::number(nb::handle object) const {
  if (nb::isinstance<nb::bool_>(object))
    return checked(api->bool_number(live(), nb::cast<bool>(object)));
  if (nb::isinstance<nb::int_>(object))
    return checked(api->int_number(live(), nb::cast<int64_t>(object)));
  return checked(api->float_number(live(), nb::cast<double>(object)));
}

std::vector<uintptr_t> Builder::beginBody(const std::vector<TypeTuple> &tuples) const {
  std::vector<ingot_type> types;
  for (const TypeTuple &tuple : tuples)
    types.push_back(viewOf(tuple));
  std::vector<ingot_value> arguments(types.size());
  if (api->begin_body(live(), types.data(), types.size(), arguments.data()) != INGOT_PLUGIN_OK)
    fail();
  return fromValues(arguments);
}

uintptr_t Builder::endBody(const std::vector<uintptr_t> &results) const {
  const std::vector<ingot_value> values = toValues(results);
  ingot_body body = api->end_body(live(), values.data(), values.size());
  if (!body)
    fail();
  return reinterpret_cast<uintptr_t>(body);
}

std::vector<uintptr_t> Builder::createIf(uintptr_t condition, uintptr_t then, uintptr_t otherwise) const {
  return resultsOf([&](ingot_value *results, size_t *count) {
    return api->create_if(live(), toValue(condition), toBody(then), toBody(otherwise), results, kMaxResults, count);
  });
}

std::vector<uintptr_t> Builder::createWhile(uintptr_t test, uintptr_t body,
                                            const std::vector<uintptr_t> &carried) const {
  const std::vector<ingot_value> values = toValues(carried);
  std::vector<ingot_value> results(values.size());
  if (api->create_while(live(), toBody(test), toBody(body), values.data(), values.size(), results.data()) !=
      INGOT_PLUGIN_OK)
    fail();
  return fromValues(results);
}

std::string Builder::defineFunction(const std::string &name, const std::string &declaration, uintptr_t body) const {
  const char *given = api->define_function(live(), name.c_str(), declaration.c_str(), toBody(body));
  if (!given)
    fail();
  return given;
}

std::vector<uintptr_t> Builder::callFunction(const std::string &name, const std::vector<uintptr_t> &operands) const {
  const std::vector<ingot_value> values = toValues(operands);
  return resultsOf([&](ingot_value *results, size_t *count) {
    return api->call_function(live(), name.c_str(), values.data(), values.size(), results, kMaxResults, count);
  });
}

nb::object Builder::argument(ingot_argument argument) const {
  switch (api->argument_kind(live(), argument)) {
  case INGOT_ARGUMENT_NONE:
    return nb::none();
  case INGOT_ARGUMENT_VALUE:
    return nb::make_tuple("value", fromValue(api->argument_value(handle, argument)));
  case INGOT_ARGUMENT_LIST: {
    nb::list items;
    for (size_t i = 0; i < api->list_size(handle, argument); ++i)
      items.append(this->argument(api->list_item(handle, argument, i)));
    return items;
  }
  case INGOT_ARGUMENT_INT:
    return nb::int_(api->argument_int(handle, argument));
  case INGOT_ARGUMENT_FLOAT:
    return nb::float_(api->argument_float(handle, argument));
  case INGOT_ARGUMENT_BOOL:
    return nb::bool_(api->argument_int(handle, argument) != 0);
  case INGOT_ARGUMENT_DTYPE:
    return nb::make_tuple("dtype", std::string(dtypeName(static_cast<DType>(api->argument_dtype(handle, argument)))));
  case INGOT_ARGUMENT_STRING:
    return nb::str(api->argument_text(handle, argument));
  case INGOT_ARGUMENT_OTHER:
    break;
  }
  return nb::make_tuple("other", std::string(api->argument_text(handle, argument)));
}

nb::list Builder::arguments() const {
  nb::list list;
  for (size_t i = 0; i < api->argument_count(live()); ++i)
    list.append(nb::make_tuple(api->argument_name(handle, i), argument(api->argument_at(handle, i))));
  return list;
}

std::vector<TypeTuple> Builder::resultTypes() const {
  std::vector<TypeTuple> types;
  for (size_t i = 0; i < api->result_count(live()); ++i)
    types.push_back(toTuple(api->result_type(handle, i)));
  return types;
}

void Builder::setResults(const std::vector<uintptr_t> &handles) const {
  const std::vector<ingot_value> values = toValues(handles);
  if (api->set_results(live(), values.data(), values.size()) != INGOT_PLUGIN_OK)
    fail();
}

/// Calls the Python function behind `user` with a builder that is of no use afterwards. It gives None, or what is wrong.
static int32_t callPython(const ingot_builder_api *api, ingot_builder *handle, void *user) {
  nb::gil_scoped_acquire acquire;
  auto builder = std::make_shared<Builder>(api, handle);
  std::string problem;
  try {
    nb::object said = nb::borrow(static_cast<PyObject *>(user))(builder);
    if (!said.is_none())
      problem = nb::cast<std::string>(said);
  } catch (const std::exception &error) {
    problem = error.what();
  }
  builder->end();
  return problem.empty() ? INGOT_PLUGIN_OK : api->fail(handle, problem.c_str());
}

PythonLowerings::PythonLowerings(const std::vector<std::pair<std::string, nb::callable>> &functions)
    : functions(functions) {
  for (const auto &[target, function] : this->functions)
    rows.push_back({target.c_str(), &callPython, function.ptr()});
}

void initBuilder(nb::module_ &module) {
  nb::class_<Builder>(module, "Builder", "Builds ops, and tells about the node that is lowered.")
      .def_prop_ro("is_alive", &Builder::isAlive)
      .def_prop_ro("target", [](const Builder &b) { return b.api->node_target(b.live()); })
      .def_prop_ro("name", [](const Builder &b) { return b.api->node_name(b.live()); })
      .def_prop_ro("path", [](const Builder &b) { return b.api->node_path(b.live()); })
      .def_prop_ro("function", [](const Builder &b) { return b.api->node_function(b.live()); })
      .def_prop_ro("file", [](const Builder &b) { return b.api->node_file(b.live()); })
      .def_prop_ro("line", [](const Builder &b) { return b.api->node_line(b.live()); })
      .def("arguments", &Builder::arguments)
      .def("result_types", &Builder::resultTypes)
      .def("set_results", &Builder::setResults, "values"_a)
      .def("create", &Builder::create, "name"_a, "operands"_a, "groups"_a.none(), "attributes"_a, "dtype"_a.none(),
           "result_types"_a.none())
      .def("constant", &Builder::constant, "type"_a, "data"_a)
      .def("constant_data", &Builder::constantData, "value"_a)
      .def("number", &Builder::number, "number"_a)
      .def("type_of", &Builder::typeOf, "value"_a)
      .def("begin_body", &Builder::beginBody, "types"_a)
      .def("end_body", &Builder::endBody, "results"_a)
      .def("drop_body", &Builder::dropBody)
      .def("create_if", &Builder::createIf, "condition"_a, "then"_a, "otherwise"_a)
      .def("create_while", &Builder::createWhile, "test"_a, "body"_a, "carried"_a)
      .def("define_function", &Builder::defineFunction, "name"_a, "declaration"_a, "body"_a)
      .def("call_function", &Builder::callFunction, "name"_a, "operands"_a);
}

} // namespace ingot::bind
