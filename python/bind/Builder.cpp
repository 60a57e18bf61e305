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

std::vector<uintptr_t> Builder::create(const std::string &name, const std::vector<uintptr_t> &operands,
                                       const std::optional<std::vector<int32_t>> &groups, const std::string &attributes,
                                       const std::optional<std::string> &dtype,
                                       const std::optional<std::vector<TypeTuple>> &resultTypes) const {
  std::vector<ingot_value> values;
  for (uintptr_t operand : operands)
    values.push_back(toValue(operand));
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
  ingot_value results[8];
  size_t count = 0;
  if (api->create(live(), &op, results, std::size(results), &count) != INGOT_PLUGIN_OK)
    fail();
  std::vector<uintptr_t> handles;
  for (size_t i = 0; i < std::min(count, std::size(results)); ++i)
    handles.push_back(fromValue(results[i]));
  return handles;
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
  std::vector<ingot_value> values;
  for (uintptr_t value : handles)
    values.push_back(toValue(value));
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
      .def("type_of", &Builder::typeOf, "value"_a);
}

} // namespace ingot::bind
