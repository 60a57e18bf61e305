// ingot extract: the graph of a .pt2 file as a document, without its weights.
#include "Command.h"
#include "Text.h"
#include "graph/Converters.h"
#include "graph/FromProgram.h"
#include "graph/Writer.h"
#include "plugins/Plugins.h"
#include "pt2/Archive.h"

#include <filesystem>
#include <iostream>

using namespace ingot;
using namespace ingot::cli;

namespace {

struct ExtractOptions {
  std::string input, output, program, modelName;
  std::vector<std::string> plugins;
};

constexpr const char *examples = R"(Examples:
  ingot extract resnet50.pt2 -o resnet50.json
  ingot extract llama.pt2 -o out/llama.json --model-name Llama
  ingot extract resnet50.pt2 | head
  ingot extract bert.pt2 -o bert.json --plugin vendor.so
)";

/// The name that the user gave, or the archive's, which is mostly just "model", or that of the file.
std::string nameOf(const ExtractOptions &options, const pt2::Program &program) {
  if (!options.modelName.empty())
    return options.modelName;
  return program.modelName == "model" ? std::filesystem::path(options.input).stem().string() : program.modelName;
}

Status makeFolderOf(const std::string &path) {
  std::filesystem::path folder = std::filesystem::path(path).parent_path();
  std::error_code failure;
  if (!folder.empty())
    std::filesystem::create_directories(folder, failure);
  if (failure)
    return ioError("cannot create the folder '" + folder.string() + "': " + failure.message());
  return {};
}

Status extract(const ExtractOptions &options, bool asJson) {
  INGOT_CHECK(checkOutput(options.output, {options.input}));
  INGOT_TRY(pt2::Program program, pt2::readProgram(options.input, {.modelName = options.program, .needsData = false}));
  program.modelName = nameOf(options, program);
  graph::Document document = graph::documentOf(program);
  Plugins plugins;
  for (const std::string &path : options.plugins)
    INGOT_CHECK(plugins.load(path));
  INGOT_CHECK(graph::convertNodes(document, plugins.converters()));
  if (options.output.empty()) {
    if (!document.sideConstants.empty())
      return usageError("the document needs a second file, for large constants").note("add -o NAME.json");
    std::cout << graph::writeDocument(document);
    return {};
  }
  INGOT_CHECK(makeFolderOf(options.output));
  INGOT_CHECK(graph::writeDocumentFile(document, options.output));
  size_t nodes = document.graph.nodes.size(), weights = document.weights.size();
  if (asJson)
    printJson({{"document", options.output},
               {"model_name", document.modelName},
               {"nodes", nodes},
               {"weights", weights},
               {"constants", document.constants.size() + document.sideConstants.size()}});
  else
    std::cout << paint("saved", Colour::Green, stdout) << " " << options.output << ": " << nodes << " nodes, "
              << weights << " weights\n";
  return {};
}

} // namespace

void cli::addExtract(CLI::App &app, Request &request) {
  auto options = std::make_shared<ExtractOptions>();
  CLI::App *command =
      app.add_subcommand("extract", "Write the graph of a .pt2 file as a document, without its weights");
  command->add_option("IN.pt2", options->input, "What torch.export.save wrote")->required();
  command->add_option("-o,--output", options->output, "The document to write (default: standard output)");
  command->add_option("--model-name", options->modelName, "The name in the document (default: that of the file)");
  command->add_option("--program", options->program, "Which program, if the file holds several");
  command->add_option("--plugin", options->plugins, "Load a library with converters of nodes (lib.so); may be repeated")
      ->allow_extra_args(false);
  command->footer(examples);
  setAction(*command, request, options, extract);
}
