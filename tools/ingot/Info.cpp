// ingot info: the numbers of a graph, or of two beside each other.
#include "graph/Info.h"
#include "Command.h"
#include "Graphs.h"
#include "base/Message.h"
#include "graph/Text.h"

using namespace ingot;
using namespace ingot::cli;

namespace {

struct InfoOptions {
  std::string path, other, output;
};

constexpr const char *examples = R"(Examples:
  ingot info graph.json
  ingot info resnet50.pt2 --json
  ingot info resnet50.pt2 resnet50.ingot      (operators of both, * where they differ)
)";

Status info(const InfoOptions &options, bool asJson) {
  INGOT_CHECK(checkOutput(options.output, {options.path, options.other}));
  INGOT_TRY(graph::Document document, loadGraph(options.path));
  if (options.other.empty())
    return writeText(options.output,
                     asJson ? graph::jsonText(graph::infoJson(document), 2) : plainText(graph::infoText(document)));
  INGOT_TRY(graph::Document other, loadGraph(options.other));
  return writeText(options.output, asJson ? graph::jsonText(graph::compareInfoJson(document, other), 2)
                                          : plainText(graph::compareInfoText(document, other)));
}

} // namespace

void cli::addInfo(CLI::App &app, Request &request) {
  auto options = std::make_shared<InfoOptions>();
  CLI::App *command = app.add_subcommand("info", "Count operators, parameters and shapes of a graph");
  command->add_option("FILE", options->path, "A graph document, a .pt2 file or an asset")->required();
  command->add_option("OTHER", options->other, "Another one, to compare the operators with");
  command->add_option("-o,--output", options->output, "Write to this file");
  command->footer(examples);
  setAction(*command, request, options, info);
}
