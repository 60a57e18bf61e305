// ingot validate: check every byte of an asset or a .pt2 file, and every reference of a graph document.
#include "graph/Validate.h"
#include "Command.h"
#include "Text.h"
#include "asset/Reader.h"
#include "base/Bytes.h"
#include "base/MappedFile.h"
#include "graph/Reader.h"
#include "pt2/Archive.h"

#include <filesystem>
#include <iostream>

using namespace ingot;
using namespace ingot::cli;

namespace {

struct ValidateOptions {
  std::string path;
};

Status validateArchive(const std::string &path) {
  pt2::ReadOptions everything;
  everything.verifyChecksums = true;
  INGOT_TRY(std::vector<std::string> models, pt2::listModels(path));
  for (const std::string &model : models) {
    everything.modelName = model;
    INGOT_TRY(pt2::Program program, pt2::readProgram(path, everything));
    (void)program;
  }
  return {};
}

/// What kind of file it is, "pt2", "graph" or "asset", if it is a good one.
Result<std::string> validated(const std::string &path) {
  std::error_code failure;
  if (!std::filesystem::is_regular_file(path, failure)) {
    INGOT_TRY(asset::Asset asset, asset::readAsset(path));
    (void)asset;
    return std::string("asset");
  }
  INGOT_TRY(std::shared_ptr<MappedFile> file, MappedFile::open(path));
  if (graph::looksLikeDocument(asText(file->bytes()))) {
    INGOT_TRY(graph::Document document, graph::readDocumentFile(path));
    INGOT_CHECK(graph::checkDocument(document));
    return std::string("graph");
  }
  INGOT_CHECK(validateArchive(path));
  return std::string("pt2");
}

Status validate(const ValidateOptions &options, bool asJson) {
  INGOT_TRY(std::string kind, validated(options.path));
  if (asJson)
    printJson({{"path", options.path}, {"kind", kind}, {"valid", true}});
  else
    std::cout << paint("valid", Colour::Green, stdout) << " " << options.path << "\n";
  return {};
}

} // namespace

void cli::addValidate(CLI::App &app, Request &request) {
  auto options = std::make_shared<ValidateOptions>();
  CLI::App *command =
      app.add_subcommand("validate", "Check every byte of an asset or a .pt2 file, every reference of a document");
  command->add_option("FILE", options->path, "An asset's directory, a .pt2 file, or a graph document")->required();
  command->footer(
      "Examples:\n  ingot validate resnet50.ingot\n  ingot validate resnet50.pt2\n  ingot validate resnet50.json\n");
  setAction(*command, request, options, validate);
}
