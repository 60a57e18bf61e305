// Graph documents: from exported programs, and what is wrong with them.
#include "Bind.h"
#include "Weights.h"
#include "graph/FromProgram.h"
#include "graph/Reader.h"
#include "graph/Validate.h"
#include "graph/Writer.h"
#include "pt2/ProgramReader.h"
#include "pt2/Schema.h"

#include <nanobind/stl/map.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

namespace nb = nanobind;
using namespace nb::literals;
using namespace ingot;
using namespace ingot::bind;

namespace {

template <typename T> T taken(Result<T> result) {
  if (!result)
    throw Failure(result.error());
  return *std::move(result);
}

void addConstants(pt2::Program &program, const std::vector<const WeightRef *> &constants) {
  for (const WeightRef *ref : constants) {
    pt2::Weight weight;
    weight.dtype = ref->dtype;
    weight.sizes = ref->sizes;
    weight.strides = ref->strides;
    weight.storageOffset = ref->storageOffset;
    weight.storage = {reinterpret_cast<const std::byte *>(ref->storage), ref->storageBytes};
    weight.storageId = program.storages.size();
    check(pt2::checkView(ref->name, weight));
    program.storages.push_back({ref->name, weight.storage});
    program.constants.emplace(ref->name, std::move(weight));
  }
}

std::string extract(const nb::bytes &programJson, const std::string &modelName, const std::vector<std::string> &schemas,
                    const std::vector<const WeightRef *> &constants, const std::map<std::string, std::string> &tied) {
  std::string_view text(programJson.c_str(), programJson.size());
  GilRelease release;
  for (const std::string &schema : schemas)
    check(pt2::addSchema(schema));
  pt2::Program program = taken(pt2::readProgramJson(text, {}));
  program.modelName = modelName;
  addConstants(program, constants);
  return graph::writeDocument(graph::documentOf(program, tied));
}

std::vector<std::string> problems(const std::string &text) {
  GilRelease release;
  Result<graph::Document> document = graph::readDocument(text);
  if (document)
    return graph::validate(*document);
  std::vector<std::string> list = {document.error().message};
  list.insert(list.end(), document.error().notes.begin(), document.error().notes.end());
  return list;
}

} // namespace

void bind::initGraph(nb::module_ &module) {
  module.def("extract_document", &extract, "program_json"_a, "model_name"_a, "schemas"_a = nb::list(),
             "constants"_a = nb::list(), "tied"_a = nb::dict(),
             "The graph document of an exported program. Constants above 1,024 elements are described only.");
  module.def("validate_document", &problems, "text"_a, "Every problem of a graph document, with its path.");
}
