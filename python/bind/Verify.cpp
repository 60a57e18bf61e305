// ingot.verify: eager as a Python function, everything else in C++.
#include "verify/Verify.h"
#include "Bind.h"
#include "Converted.h"
#include "graph/Reader.h"
#include "graph/ToProgram.h"
#include "pt2/ProgramReader.h"
#include "pt2/Schema.h"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

namespace nb = nanobind;
using namespace nb::literals;

namespace ingot::bind {

namespace {

using Tensors = std::vector<const WeightRef *>;

/// `owner` keeps the memory alive.
verify::Value valueOf(const WeightRef &tensor, std::shared_ptr<const void> owner) {
  size_t bytes = byteSize(tensor.dtype);
  const auto *data = reinterpret_cast<const std::byte *>(tensor.storage) + tensor.storageOffset * bytes;
  for (int64_t size : tensor.sizes)
    bytes *= static_cast<size_t>(size);
  return {tensor.dtype, tensor.sizes, {data, bytes}, std::move(owner)};
}

verify::Values valuesOf(const Tensors &tensors, const std::shared_ptr<const void> &owner) {
  verify::Values values;
  for (const WeightRef *tensor : tensors)
    values[tensor->name] = valueOf(*tensor, owner);
  return values;
}

/// Lets go of a Python object from any thread.
std::shared_ptr<const void> keep(const nb::object &object) {
  return {object.inc_ref().ptr(), [](const void *kept) {
            nb::gil_scoped_acquire acquire;
            nb::handle(static_cast<PyObject *>(const_cast<void *>(kept))).dec_ref();
          }};
}

/// Values are looked at by their names: no weights are needed here.
Result<pt2::Program> readPart(const Part &part) {
  const nb::bytes &json = std::get<0>(part);
  std::string_view text(json.c_str(), json.size());
  if (!graph::looksLikeDocument(text))
    return pt2::readProgramJson(text, {});
  INGOT_TRY(graph::Document document, graph::readDocument(text));
  return graph::programWithoutWeights(document);
}

/// `function` is called with (value, before) pairs and gives tensors by key, and what keeps them alive.
verify::Eager eagerOf(const nb::object &function) {
  if (function.is_none())
    return nullptr;
  return [&function](const std::vector<pt2::Tap> &taps) -> Result<verify::Values> {
    nb::gil_scoped_acquire acquire;
    nb::list wanted;
    for (const pt2::Tap &tap : taps)
      wanted.append(nb::make_tuple(tap.value, tap.before, tap.key()));
    nb::object made = function(wanted);
    return valuesOf(nb::cast<Tensors>(made[0]), keep(made));
  };
}

std::optional<verify::Tolerance> toleranceOf(std::optional<double> relative, std::optional<double> absolute) {
  if (!relative && !absolute)
    return std::nullopt;
  return verify::Tolerance{relative.value_or(0), absolute.value_or(0), 0};
}

Status convertPart(const std::vector<Part> &parts, const nlohmann::json &options, const Functions &lowerings,
                   const std::string &path) {
  try {
    nb::gil_scoped_acquire acquire;
    Converted::convert(parts, options.dump(), lowerings).save({path}, false, "");
  } catch (const Failure &failure) {
    return Error(failure.kind, failure.what());
  }
  return {};
}

/// The report as JSON, and as text under "text". The first part is the program; others are bodies of its operators.
std::string verifyParts(const std::vector<Part> &parts, const std::string &optionsJson, const Functions &lowerings,
                        const Tensors &inputs, const nb::object &eager, bool perNode, bool bisect,
                        std::optional<double> relative, std::optional<double> absolute, const std::string &saveTo,
                        const nb::object &progress) {
  verify::Options options;
  options.perNode = perNode;
  options.bisect = bisect;
  options.tolerance = toleranceOf(relative, absolute);
  options.saveTo = saveTo;
  if (!progress.is_none())
    options.progress = [&](const std::string &what, size_t done, size_t total) {
      nb::gil_scoped_acquire acquire;
      progress(what, done, total);
    };
  nlohmann::json base = nlohmann::json::parse(optionsJson);
  for (const nlohmann::json &schema : base.value("schemas", nlohmann::json::array()))
    (void)pt2::addSchema(schema.get<std::string>()); // one that cannot be read is no schema for the compiler either
  Result<pt2::Program> program = readPart(parts.at(0));
  if (!program)
    throw Failure(program.error());
  verify::Runner runner(
      [&](const std::string &path, const nlohmann::json &more) {
        nlohmann::json all = base;
        all.update(more);
        return convertPart(parts, all, lowerings, path);
      },
      valuesOf(inputs, nullptr));
  verify::Eager eagerSide = eagerOf(eager);
  GilRelease release;
  Result<verify::Report> report = verify::verify(*program, runner, eagerSide, options);
  if (!report)
    throw Failure(report.error());
  nlohmann::json json = verify::reportToJson(*report);
  json["text"] = verify::reportText(*report);
  return json.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

/// What is wrong with `ours`, in words; empty where it is the same as `eager`.
std::string compareTensors(const WeightRef &eager, const WeightRef &ours, std::optional<double> relative,
                           std::optional<double> absolute) {
  verify::Difference found =
      verify::compare(valueOf(eager, nullptr), valueOf(ours, nullptr), toleranceOf(relative, absolute));
  if (!found.departs())
    return "";
  return found.problem.empty() ? found.ours + " instead of " + found.eager + " at " + verify::shapeText(found.where)
                               : found.problem;
}

} // namespace

void initVerify(nb::module_ &module) {
  module.def("verify", &verifyParts, "parts"_a, "options_json"_a, "lowerings"_a, "inputs"_a, "eager"_a.none(),
             "per_node"_a, "bisect"_a, "rtol"_a.none(), "atol"_a.none(), "save_to"_a, "progress"_a.none());
  module.def("compare_tensors", &compareTensors, "eager"_a, "ours"_a, "rtol"_a.none(), "atol"_a.none());
}

} // namespace ingot::bind
