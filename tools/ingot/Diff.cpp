// ingot diff: whether two graphs have the same structure.
#include "graph/Diff.h"
#include "Command.h"
#include "Graphs.h"
#include "base/Message.h"
#include "graph/Text.h"

#include <iostream>

using namespace ingot;
using namespace ingot::cli;

namespace {

struct DiffOptions {
  std::string first, second, output;
  size_t maxItems = 20;
};

constexpr const char *examples =
    R"(Names of nodes, inputs and weights, and the order of independent nodes are no differences. Values of weights are not compared.
Exit codes: 0 the same structure, 1 different, 2 a file is missing or cannot be read.

Examples:
  ingot diff before.json after.json
  ingot diff model.pt2 graph.json --json
  ingot diff old.ingot new.ingot --max-items 0
)";

Status diff(const DiffOptions &options, Request &request) {
  request.failureCode = 2;
  INGOT_CHECK(checkOutput(options.output, {options.first, options.second}));
  INGOT_TRY(graph::Document first, loadGraph(options.first));
  INGOT_TRY(graph::Document second, loadGraph(options.second));
  graph::Comparison comparison = graph::compare(first, second);
  INGOT_CHECK(writeText(options.output, request.asJson
                                            ? graph::jsonText(graph::comparisonJson(comparison), 2)
                                            : plainText(graph::comparisonText(comparison, options.maxItems))));
  request.doneCode = comparison.isSame() ? 0 : 1;
  return {};
}

} // namespace

void cli::addDiff(CLI::App &app, Request &request) {
  auto options = std::make_shared<DiffOptions>();
  CLI::App *command = app.add_subcommand("diff", "Compare the structure of two graphs");
  command->add_option("FIRST", options->first, "A graph document, a .pt2 file or an asset")->required();
  command->add_option("SECOND", options->second, "Another one")->required();
  command->add_option("--max-items", options->maxItems, "Differences of a kind that are listed; 0: all")
      ->check(wholeNumber())
      ->capture_default_str();
  command->add_option("-o,--output", options->output, "Write to this file");
  command->add_flag("--json", request.asJson, "Print one JSON object instead of text, also for errors");
  command->footer(examples);
  command->callback([&request, options] { request.action = [&request, options] { return diff(*options, request); }; });
}
