// ingot validate: check every byte of an asset or a .pt2 file.
#include "Command.h"
#include "Text.h"
#include "asset/Reader.h"
#include "pt2/Archive.h"

#include <filesystem>
#include <iostream>

using namespace ingot;
using namespace ingot::cli;

namespace {

struct ValidateOptions {
  std::string path;
};

Status validate(const ValidateOptions &options, bool asJson) {
  std::error_code failure;
  bool isFile = std::filesystem::is_regular_file(options.path, failure);
  if (isFile) {
    pt2::ReadOptions everything;
    everything.verifyChecksums = true;
    INGOT_TRY(std::vector<std::string> models, pt2::listModels(options.path));
    for (const std::string &model : models) {
      everything.modelName = model;
      INGOT_TRY(pt2::Program program, pt2::readProgram(options.path, everything));
      (void)program;
    }
  } else {
    INGOT_TRY(asset::Asset asset, asset::readAsset(options.path));
    (void)asset;
  }
  if (asJson)
    printJson({{"path", options.path}, {"kind", isFile ? "pt2" : "asset"}, {"valid", true}});
  else
    std::cout << paint("valid", Colour::Green, stdout) << " " << options.path << "\n";
  return {};
}

} // namespace

void cli::addValidate(CLI::App &app, Request &request) {
  auto options = std::make_shared<ValidateOptions>();
  CLI::App *command = app.add_subcommand("validate", "Check every byte of an asset or a .pt2 file");
  command->add_option("FILE", options->path, "An asset's directory, or a .pt2 file")->required();
  command->footer("Examples:\n  ingot validate resnet50.ingot\n  ingot validate resnet50.pt2\n");
  setAction(*command, request, options, validate);
}
