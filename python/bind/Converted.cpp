#include "Converted.h"
#include "Builder.h"

#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

namespace nb = nanobind;
using namespace nb::literals;

namespace ingot::bind {

namespace {

const CompilerApi &compiler() {
  Result<const CompilerApi *> api = compilerApi();
  if (!api)
    throw Failure(api.error());
  return **api;
}

/// Calls a function of the compiler; its last argument is the error.
template <typename Function, typename... Args> void call(Function function, Args... args) {
  CompilerError error{};
  if (!function(args..., &error))
    throw Failure(compilerFailure(compiler(), error));
}

std::string taken(char *text) {
  std::string copy = text;
  compiler().freeMessage(text);
  return copy;
}

} // namespace

Converted::Converted(CompilerProgram *program) : handle(program, compiler().programs->free) {}

Converted Converted::convert(const std::vector<Part> &parts, const std::string &options, const Functions &lowerings) {
  PythonLowerings functions(lowerings);
  std::vector<std::vector<CompilerWeight>> weights;
  std::vector<CompilerPart> given;
  for (const auto &[json, refs, role] : parts) {
    weights.push_back(views(refs));
    given.push_back({json.c_str(), json.size(), weights.back().data(), weights.back().size(), role.c_str()});
  }
  GilRelease release;
  CompilerProgram *program = nullptr;
  call(compiler().programs->convert, given.data(), given.size(), functions.rows.data(), functions.rows.size(),
       options.c_str(), &program);
  return Converted(program);
}

Converted Converted::open(const FilePath &path) {
  GilRelease release;
  CompilerProgram *program = nullptr;
  call(compiler().programs->open, path.c_str(), &program);
  return Converted(program);
}

std::string Converted::text(const std::string &function, bool withLocations) const {
  GilRelease release;
  std::lock_guard lock(*mutex);
  char *text = nullptr;
  call(compiler().programs->text, handle.get(), function.c_str(), withLocations, &text);
  return taken(text);
}

std::string Converted::manifest() const {
  GilRelease release;
  std::lock_guard lock(*mutex);
  char *text = nullptr;
  call(compiler().programs->manifest, handle.get(), &text);
  return taken(text);
}

void Converted::strip() {
  GilRelease release;
  std::lock_guard lock(*mutex);
  call(compiler().programs->stripLocations, handle.get());
}

void Converted::save(const FilePath &path, bool overwrite, const std::string &metadata) const {
  GilRelease release;
  std::lock_guard lock(*mutex);
  call(compiler().programs->save, handle.get(), path.c_str(), overwrite, metadata.c_str());
}

void initConverted(nb::module_ &module) {
  module.def(
      "load_compiler", [] { return static_cast<bool>(compilerApi()); }, "Whether the compiler's library is there.");
  nb::class_<Converted>(module, "Converted", "A converted program; the caller keeps its weights alive.")
      .def_static("convert", &Converted::convert, "parts"_a, "options_json"_a, "lowerings"_a = nb::list())
      .def_static("open", &Converted::open, "path"_a)
      .def_static(
          "has_lowering", [](const std::string &target) { return compiler().hasLowering(target.c_str()); }, "target"_a)
      .def("text", &Converted::text, "function"_a = "", "with_locations"_a = false)
      .def("manifest", &Converted::manifest)
      .def("strip", &Converted::strip)
      .def("save", &Converted::save, "path"_a, "overwrite"_a = false, "metadata_json"_a = "");
}

} // namespace ingot::bind
