// Modules that are written by hand: graphs are begun, built with a Builder, and ended.
#include "Builder.h"
#include "Converted.h"
#include "runtime/CompilerApi.h"

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

/// Name, type, and a text for each dimension.
using PortTuple = std::tuple<std::string, TypeTuple, std::vector<std::string>>;

/// Ports as the compiler takes them; the texts are those of `given`.
struct Ports {
  explicit Ports(const std::vector<PortTuple> &given) {
    dims.reserve(given.size());
    for (const auto &[name, type, texts] : given) {
      std::vector<const char *> &list = dims.emplace_back();
      for (const std::string &text : texts)
        list.push_back(text.c_str());
      rows.push_back({name.c_str(), viewOf(type), list.empty() ? nullptr : list.data()});
    }
  }

  std::vector<std::vector<const char *>> dims;
  std::vector<AuthorPort> rows;
};

class Module {
public:
  Module() {
    Result<const CompilerApi *> found = compilerApi();
    if (!found)
      throw Failure(found.error());
    api = *found;
    handle.reset(api->author->create(), api->author->free);
  }

  std::shared_ptr<Builder> beginGraph(const std::string &name, const std::vector<PortTuple> &inputs,
                                      const std::vector<PortTuple> &outputs, bool isPrivate, bool noInline,
                                      const std::string &compositeDecl) const {
    Ports in(inputs), out(outputs);
    AuthorGraph graph{name.c_str(),    in.rows.data(), in.rows.size(), out.rows.data(),
                      out.rows.size(), isPrivate,      noInline,       compositeDecl.c_str()};
    CompilerError error{};
    ingot_builder *builder = api->author->beginGraph(handle.get(), &graph, &error);
    check(builder != nullptr, error);
    return std::make_shared<Builder>(api->author->builder, builder, handle);
  }

  std::vector<uintptr_t> arguments(const Builder &builder, size_t count) const {
    std::vector<uintptr_t> values;
    for (size_t i = 0; i < count; ++i)
      values.push_back(reinterpret_cast<uintptr_t>(api->author->argument(builder.live(), i)));
    return values;
  }

  void endGraph(Builder &builder, const std::vector<uintptr_t> &results) const {
    std::vector<ingot_value> values = handles(results);
    CompilerError error{};
    check(api->author->endGraph(handle.get(), builder.live(), values.data(), values.size(), &error), error);
    builder.end();
  }

  void dropGraph(Builder &builder) const {
    if (!builder.isAlive())
      return;
    api->author->dropGraph(handle.get(), builder.live());
    builder.end();
  }

  std::vector<uintptr_t> call(const Builder &builder, const std::string &graph, const std::vector<uintptr_t> &operands,
                              size_t resultCount) const {
    std::vector<ingot_value> values = handles(operands), results(resultCount);
    CompilerError error{};
    check(api->author->call(handle.get(), builder.live(), graph.c_str(), values.data(), values.size(), results.data(),
                            &error),
          error);
    std::vector<uintptr_t> made;
    for (ingot_value result : results)
      made.push_back(reinterpret_cast<uintptr_t>(result));
    return made;
  }

  void verify() const {
    CompilerError error{};
    check(api->author->verify(handle.get(), &error), error);
  }

  std::string print() const {
    char *text = api->author->print(handle.get());
    std::string copy = text;
    api->freeMessage(text);
    return copy;
  }

  nb::bytes bytecode() const {
    CompilerError error{};
    size_t bytes = 0;
    char *data = api->author->bytecode(handle.get(), &bytes, &error);
    check(data != nullptr, error);
    nb::bytes copy(data, bytes);
    api->freeMessage(data);
    return copy;
  }

  Converted convert() const {
    CompilerError error{};
    CompilerProgram *program = nullptr;
    check(api->author->convert(handle.get(), &program, &error), error);
    return Converted(program);
  }

private:
  void check(bool isDone, CompilerError &error) const {
    if (!isDone)
      throw Failure(compilerFailure(*api, error));
  }

  static std::vector<ingot_value> handles(const std::vector<uintptr_t> &values) {
    std::vector<ingot_value> list;
    for (uintptr_t value : values)
      list.push_back(reinterpret_cast<ingot_value>(value));
    return list;
  }

  const CompilerApi *api = nullptr;
  std::shared_ptr<AuthoredModule> handle;
};

} // namespace

void initModule(nb::module_ &module) {
  nb::class_<Module>(module, "Module", "Graphs that are written by hand.")
      .def(nb::init<>())
      .def("begin_graph", &Module::beginGraph, "name"_a, "inputs"_a, "outputs"_a, "private"_a, "no_inline"_a,
           "composite_decl"_a)
      .def("arguments", &Module::arguments, "builder"_a, "count"_a)
      .def("end_graph", &Module::endGraph, "builder"_a, "results"_a)
      .def("drop_graph", &Module::dropGraph, "builder"_a)
      .def("call", &Module::call, "builder"_a, "graph"_a, "operands"_a, "result_count"_a)
      .def("verify", &Module::verify)
      .def("print", &Module::print)
      .def("bytecode", &Module::bytecode)
      .def("convert", &Module::convert);
}

} // namespace ingot::bind
