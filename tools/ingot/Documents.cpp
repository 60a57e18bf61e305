#include "Documents.h"

#include "Command.h"
#include "Graphs.h"
#include "graph/Reader.h"
#include "graph/ToProgram.h"
#include "graph/WeightFiles.h"

#include <iostream>

namespace ingot::cli {

Status noteUnknownWeights(const std::string &document, const std::vector<std::string> &weightFiles) {
  if (weightFiles.empty())
    return {};
  if (!isJson(document))
    return usageError("'" + document + "' is no graph document, so it takes no --weights");
  constexpr size_t most = 10;
  INGOT_TRY(graph::Document graph, graph::readDocumentFile(document));
  INGOT_TRY(graph::WeightFiles files, graph::readWeightFiles(weightFiles));
  std::vector<std::string> names;
  for (const pt2::MemoryWeight &weight : files.weights)
    names.push_back(weight.name);
  std::vector<std::string> unknown = graph::unknownWeights(graph, names);
  if (unknown.empty())
    return {};
  std::cerr << "note: the graph doesn't use " << unknown.size() << " of the weights:";
  for (size_t i = 0; i < std::min(unknown.size(), most); ++i)
    std::cerr << (i == 0 ? " " : ", ") << unknown[i];
  std::cerr << (unknown.size() > most ? ", …\n" : "\n");
  return {};
}

Result<TemporaryAsset> TemporaryAsset::convert(const std::string &program, const std::vector<std::string> &weightFiles,
                                               bool fallback) {
  INGOT_CHECK(noteUnknownWeights(program, weightFiles));
  return convert(program, {{"weights", weightFiles}, {"fallback", fallback}});
}

Result<TemporaryAsset> TemporaryAsset::convert(const std::string &program, const nlohmann::json &options) {
  INGOT_TRY(ScratchFolder folder, ScratchFolder::make());
  TemporaryAsset asset(std::move(folder));
  std::string text = options.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
  INGOT_CHECK(checked(ingot_convert(program.c_str(), asset.path().c_str(), 0, text.c_str())));
  return asset;
}

} // namespace ingot::cli
