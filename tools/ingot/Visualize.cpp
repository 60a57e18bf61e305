// ingot visualize: a drawing of a graph as Mermaid or DOT text, or as a picture.
#include "Command.h"
#include "Graphs.h"
#include "base/Message.h"
#include "graph/Dot.h"
#include "graph/Mermaid.h"

#include <cerrno>
#include <filesystem>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

using namespace ingot;
using namespace ingot::cli;
namespace fs = std::filesystem;

namespace {

struct VisualizeOptions {
  std::string path, output, format = "mermaid";
  size_t maxNodes = 30;
  bool noWeights = false, byModule = false;
};

constexpr const char *examples = R"(Examples:
  ingot visualize graph.json
  ingot visualize resnet50.pt2 --group -o resnet50.mmd
  ingot visualize resnet50.pt2 --format dot --max-nodes 0 -o resnet50.dot
  ingot visualize resnet50.ingot -o resnet50.svg      (needs Graphviz)
)";

/// Runs Graphviz on a DOT text.
Status render(const std::string &text, const std::string &format, const std::string &output) {
  std::string source = output + ".dot~";
  INGOT_CHECK(writeText(source, text));
  std::string type = "-T" + format;
  const char *arguments[] = {"dot", type.c_str(), "-o", output.c_str(), source.c_str(), nullptr};
  pid_t child = 0;
  int failure = ::posix_spawnp(&child, "dot", nullptr, nullptr, const_cast<char **>(arguments), environ);
  int status = 0;
  while (failure == 0 && ::waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  std::error_code ignored;
  fs::remove(source, ignored);
  if (failure != 0)
    return unsupportedError("a ." + format + " picture requires Graphviz, whose program `dot` cannot be started")
        .note("install it (Debian: apt install graphviz), or write text: -o graph.mmd, or --format dot -o graph.dot");
  if (status != 0)
    return internalError("`dot` failed on the drawing");
  return {};
}

Status visualize(const VisualizeOptions &options, bool asJson) {
  INGOT_CHECK(checkOutput(options.output, {options.path}));
  INGOT_TRY(graph::Document document, loadGraph(options.path));
  graph::DrawOptions drawing{options.maxNodes, !options.noWeights};
  std::string extension = fs::path(options.output).extension().string();
  if (extension == ".png" || extension == ".svg" || extension == ".pdf")
    return render(plainText(graph::dot(document, drawing)), extension.substr(1), options.output);
  if (options.format == "mermaid" && options.maxNodes == 0)
    drawing.maxNodes = static_cast<size_t>(-1);
  std::string text = options.format == "dot" ? graph::dot(document, drawing)
                     : options.byModule      ? graph::mermaidByModule(document, drawing)
                                             : graph::mermaid(document, drawing);
  if (asJson && options.output.empty()) {
    printJson({{"format", options.format}, {"text", text}});
    return {};
  }
  return writeText(options.output, plainText(text));
}

} // namespace

void cli::addVisualize(CLI::App &app, Request &request) {
  auto options = std::make_shared<VisualizeOptions>();
  CLI::App *command = app.add_subcommand("visualize", "Draw a graph as Mermaid or DOT text");
  command->add_option("FILE", options->path, "A graph document, a .pt2 file or an asset")->required();
  command->add_option("--max-nodes", options->maxNodes, "Draw at most so many nodes; 0: all")
      ->check(wholeNumber())
      ->capture_default_str();
  command->add_flag("--no-weights", options->noWeights, "Leave weights out");
  command->add_flag("--group", options->byModule, "Frame modules; those too deep for --max-nodes are single boxes");
  command->add_option("--format", options->format, "Language of the drawing")
      ->check(CLI::IsMember({"mermaid", "dot"}))
      ->capture_default_str();
  command->add_option("-o,--output", options->output, "Write to this file; .png, .svg and .pdf are pictures");
  command->footer(examples);
  setAction(*command, request, options, visualize);
}
