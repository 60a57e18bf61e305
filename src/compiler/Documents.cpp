#include "compiler/Documents.h"

#include "base/Bytes.h"
#include "base/MappedFile.h"
#include "graph/Reader.h"
#include "graph/ToProgram.h"
#include "graph/WeightFiles.h"
#include "pt2/Schema.h"

namespace ingot {

/// Nodes without argument records are called as their operators' schemas say.
static Status addSchemas(const std::vector<std::string> &schemas) {
  for (const std::string &schema : schemas)
    INGOT_CHECK(pt2::addSchema(schema));
  return {};
}

Result<pt2::Program> readProgramText(std::string_view text, const std::vector<pt2::MemoryWeight> &weights,
                                     const std::vector<std::string> &schemas) {
  if (!graph::looksLikeDocument(text))
    return pt2::readProgramFromMemory(text, weights);
  INGOT_CHECK(addSchemas(schemas));
  INGOT_TRY(graph::Document document, graph::readDocument(text));
  return graph::programOf(document, weights);
}

Result<pt2::Program> readProgramFile(const std::string &path, const std::string &name,
                                     const std::vector<std::string> &weightFiles,
                                     const std::vector<std::string> &schemas) {
  INGOT_TRY(std::shared_ptr<MappedFile> file, MappedFile::open(path));
  if (!graph::looksLikeDocument(asText(file->bytes()))) {
    if (!weightFiles.empty())
      return usageError("'" + path + "' has weights of its own; files of weights are for graph documents");
    return pt2::readProgram(path, {.modelName = name});
  }
  if (!name.empty())
    return usageError("'" + path + "' is a graph document, which holds one program");
  INGOT_CHECK(addSchemas(schemas));
  INGOT_TRY(graph::Document document, graph::readDocumentFile(path));
  INGOT_TRY(graph::WeightFiles weights, graph::readWeightFiles(weightFiles));
  return graph::programOf(document, weights.weights, weights.memory);
}

} // namespace ingot
