// ingot verify: run a .pt2 file, or a graph document with its weights, in eager and in Ingot, side by side, and name the first node that departs.
#include "verify/Verify.h"
#include "Command.h"
#include "Documents.h"
#include "Inputs.h"
#include "Text.h"
#include "asset/Reader.h"
#include "base/Bytes.h"
#include "base/MappedFile.h"
#include "base/Message.h"
#include "graph/Reader.h"
#include "graph/ToProgram.h"
#include "pt2/SymExpr.h"

#include <algorithm>
#include <iostream>
#include <unistd.h>

using namespace ingot;
using namespace ingot::cli;

namespace {

struct VerifyOptions {
  std::string input;
  InputSources inputs;
  std::vector<std::string> plugins, disabledPasses, weights;
  std::string saveTo;
  std::optional<double> relative, absolute;
  bool bisect = false, outputsOnly = false, fallback = false;
};

constexpr const char *examples = R"(Examples:
  ingot verify bert.pt2
  ingot verify bert.pt2 --inputs in.safetensors --bisect
  ingot verify bert.json --weights bert.safetensors
  ingot verify custom.pt2 --plugin lowerings.so --save-inputs found/
Exit codes: 0 equal, 1 a node departs, 2 anything else.
)";

nlohmann::json compilerOptions(const VerifyOptions &options) {
  return {{"plugins", options.plugins},
          {"disable_passes", options.disabledPasses},
          {"fallback", options.fallback},
          {"weights", options.weights}};
}

Status convertTo(const std::string &path, const VerifyOptions &options, const nlohmann::json &more) {
  nlohmann::json all = compilerOptions(options);
  all.update(more);
  return checked(ingot_convert(options.input.c_str(), path.c_str(), 0, all.dump().c_str()));
}

/// The entry point as Ingot describes it, which is what inputs are made for.
Result<asset::EntryPoint> describeEntry(const VerifyOptions &options) {
  INGOT_TRY(TemporaryAsset asset, TemporaryAsset::convert(options.input, compilerOptions(options)));
  INGOT_TRY(asset::CheckedManifest manifest, asset::readManifest(asset.path()));
  if (manifest.manifest.entryPoints.empty())
    return internalError("the program has no entry point");
  return manifest.manifest.entryPoints.front();
}

/// A .pt2 file or a graph document. Values are looked at by their names: no weights are needed here.
Result<pt2::Program> readInput(const std::string &path) {
  INGOT_TRY(std::shared_ptr<const MappedFile> file, MappedFile::open(path));
  if (!graph::looksLikeDocument(asText(file->bytes())))
    return pt2::readProgram(path);
  INGOT_TRY(graph::Document document, graph::readDocumentFile(path));
  return graph::programWithoutWeights(document);
}

/// Sizes of the export for symbols that the command line does not mention.
void addHints(const pt2::Program &program, const asset::EntryPoint &entry, InputSources &sources) {
  std::map<std::string, int64_t> hints;
  for (const auto &[name, meta] : program.graph.tensorValues)
    for (const pt2::SymInt &size : meta.sizes)
      if (!size.isConcrete() && std::holds_alternative<int64_t>(size.expr().hint))
        if (Result<pt2::SymExpr> expr = pt2::parseSymExpr(size.expr().text); expr && expr->isSymbol())
          hints[expr->symbol] = std::get<int64_t>(size.expr().hint);
  for (const asset::Symbol &symbol : entry.symbols) {
    bool isGiven = std::ranges::any_of(sources.dimensions,
                                       [&](const std::string &text) { return text.starts_with(symbol.name + "="); });
    if (auto hint = hints.find(symbol.name); hint != hints.end() && !isGiven)
      sources.dimensions.push_back(symbol.name + "=" + std::to_string(hint->second));
  }
}

Result<verify::Values> inputsOf(const asset::EntryPoint &entry, const InputSources &sources) {
  INGOT_TRY(std::vector<Tensor> tensors, gatherInputs(entry, sources));
  verify::Values values;
  size_t index = 0;
  for (const asset::Port &port : entry.inputs)
    if (port.literal.empty())
      values[port.name] = std::move(tensors[index++]);
  return values;
}

void showProgress(const std::string &what, size_t done, size_t total) {
  static constexpr size_t width = 30;
  std::string bar(total ? width * done / total : 0, '#');
  bar.resize(width, ' ');
  std::cerr << "\r\x1b[K[" << bar << "] " << done << "/" << total << " " << what << std::flush;
}

verify::Options verifyOptions(const VerifyOptions &options) {
  verify::Options made;
  made.perNode = !options.outputsOnly;
  made.bisect = options.bisect;
  made.saveTo = options.saveTo;
  if (options.relative || options.absolute)
    made.tolerance = verify::Tolerance{options.relative.value_or(0), options.absolute.value_or(0), 0};
  if (::isatty(STDERR_FILENO))
    made.progress = showProgress;
  return made;
}

Result<verify::Report> compareSides(const VerifyOptions &options) {
  INGOT_CHECK(noteUnknownWeights(options.input, options.weights));
  INGOT_TRY(pt2::Program program, readInput(options.input));
  INGOT_TRY(asset::EntryPoint entry, describeEntry(options));
  InputSources sources = options.inputs;
  bool areMade = sources.safetensors.empty() && sources.npy.empty();
  if (areMade && !sources.randomSeed)
    sources.randomSeed = 0;
  if (sources.randomSeed)
    addHints(program, entry, sources);
  INGOT_TRY(verify::Values inputs, inputsOf(entry, sources));
  verify::Runner runner(
      [&](const std::string &path, const nlohmann::json &more) { return convertTo(path, options, more); },
      std::move(inputs));
  verify::Options chosen = verifyOptions(options);
  Result<verify::Report> report = verify::verify(program, runner, nullptr, chosen);
  if (chosen.progress)
    std::cerr << "\r\x1b[K" << std::flush;
  if (report && areMade)
    report->notes.push_back("the inputs are random (seed " + std::to_string(*sources.randomSeed) +
                            "; integers are 0 and 1); give others with --inputs");
  return report;
}

Status verifyFile(const VerifyOptions &options, Request &request) {
  INGOT_TRY(verify::Report report, compareSides(options));
  request.doneCode = report.isEqual() ? 0 : 1;
  if (request.asJson) {
    printJson(verify::reportToJson(report));
    return {};
  }
  std::string text = plainText(verify::reportText(report));
  size_t word = text.find_first_of(": ");
  std::cout << paint(text.substr(0, word), report.isEqual() ? Colour::Green : Colour::Red, stdout) << text.substr(word);
  return {};
}

void addOptions(CLI::App &command, VerifyOptions &options) {
  command.add_option("IN.pt2", options.input, "What torch.export.save wrote, or a graph document")->required();
  command
      .add_option("--weights", options.weights,
                  "Checkpoint of a graph document (.safetensors, or the *.index.json of its shards); may be repeated")
      ->allow_extra_args(false);
  command.add_option("--inputs", options.inputs.safetensors, "safetensors file with the inputs by name");
  command.add_option("--input", options.inputs.npy, "One input as NAME=FILE.npy; may be repeated")
      ->allow_extra_args(false);
  command
      .add_option("--random-seed", options.inputs.randomSeed,
                  "Make the inputs that are not given, from this seed (default without any inputs: 0)")
      ->check(wholeNumber());
  command
      .add_option("--dim", options.inputs.dimensions,
                  "Size of a symbol in random inputs, as s0=4; may be repeated (default: as exported)")
      ->allow_extra_args(false);
  command.add_flag("--bisect", options.bisect, "Few runs and few values at a time: for big models");
  command.add_flag("--outputs-only", options.outputsOnly, "Compare the outputs, not the nodes");
  command.add_option("--save-inputs", options.saveTo,
                     "Folder for the operands of the node that departs, and a script that repeats it");
  command.add_option("--rtol", options.relative, "Relative tolerance of floats (default: by element type)")
      ->check(numberFrom(0));
  command.add_option("--atol", options.absolute, "Absolute tolerance of floats (default: by element type)")
      ->check(numberFrom(0));
  command.add_option("--plugin", options.plugins, "Library with lowerings; may be repeated")->allow_extra_args(false);
  command.add_option("--disable-pass", options.disabledPasses, "Leave out a pass of Ingot; may be repeated")
      ->allow_extra_args(false);
  command.add_flag("--fallback", options.fallback, "Let Ingot run operators without a native form with PyTorch");
}

} // namespace

void cli::addVerify(CLI::App &app, Request &request) {
  auto options = std::make_shared<VerifyOptions>();
  CLI::App *command = app.add_subcommand("verify", "Compare a .pt2 file in Ingot with eager PyTorch, node by node");
  addOptions(*command, *options);
  command->add_flag("--json", request.asJson, "Print one JSON object instead of text, also for errors");
  command->footer(examples);
  command->callback([&request, options] {
    request.failureCode = 2;
    request.action = [&request, options] { return verifyFile(*options, request); };
  });
}
