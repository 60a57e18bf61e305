// ingot convert: a .pt2 file, or a graph document and its weights, become an asset.
#include "Command.h"
#include "Documents.h"
#include "Text.h"
#include "asset/Reader.h"
#include "asset/Writer.h"

#include <chrono>
#include <cmath>
#include <iostream>

using namespace ingot;
using namespace ingot::cli;

namespace {

struct ConvertOptions {
  std::string input, program, output, stopAfter, dumpFolder;
  std::vector<std::string> disabledPasses, plugins, weights;
  bool overwrite = false, specialise = false, timePasses = false, fallback = false;
};

constexpr const char *examples = R"(Examples:
  ingot convert resnet50.pt2 -o resnet50.ingot
  ingot convert resnet50.pt2 -o resnet50.ingot --overwrite --specialise
  ingot convert exotic.pt2 -o exotic.ingot --fallback
  ingot convert llama.json --weights model.safetensors.index.json -o llama.ingot
  ingot convert custom.pt2 -o custom.ingot --plugin lowerings.so
  ingot convert resnet50.pt2 --stop-after lower --dump-ir ir/
)";

/// Phases that belong to a CPU are reached only by compiling for it.
bool needsSpecialising(const ConvertOptions &options) {
  const std::string &phase = options.stopAfter;
  return options.specialise || phase == "fuse" || phase == "codegen" || phase == "plan";
}

nlohmann::json compilerOptions(const ConvertOptions &options) {
  nlohmann::json json = {{"specialise", needsSpecialising(options)},
                         {"disable_passes", options.disabledPasses},
                         {"time_passes", options.timePasses},
                         {"fallback", options.fallback},
                         {"plugins", options.plugins},
                         {"weights", options.weights}};
  if (!options.stopAfter.empty())
    json["stop_after"] = options.stopAfter;
  if (!options.program.empty())
    json["program"] = options.program;
  if (!options.dumpFolder.empty())
    json["dump_ir"] = options.dumpFolder;
  return json;
}

uint64_t weightBytes(const asset::Asset &asset) {
  uint64_t bytes = 0;
  for (const SafeTensor &tensor : asset.weights.tensors)
    bytes += tensor.data.size();
  return bytes;
}

/// Which nodes PyTorch will run, and why.
std::string fallbackReport(const asset::Manifest &manifest) {
  if (manifest.fallback.empty())
    return "";
  int64_t nodes = 0;
  std::string lines;
  for (const asset::FallbackOp &op : manifest.fallback) {
    nodes += op.count;
    lines += "  " + op.name + ", " + std::to_string(op.count) + (op.count == 1 ? " node" : " nodes") + ": " + op.reason;
    for (size_t i = 0; i < op.sources.size(); ++i)
      lines += (i == 0 ? " (" : ", ") + op.sources[i] + (i + 1 == op.sources.size() ? ")" : "");
    lines += "\n";
  }
  return paint("fallback", Colour::Bold, stdout) + " " + std::to_string(nodes) +
         (nodes == 1 ? " node runs" : " nodes run") + " with PyTorch; run it with --fallback:\n" + lines;
}

/// Says what was written, read off the asset itself.
Status reportSaved(const std::string &path, double seconds, bool asJson) {
  INGOT_TRY(asset::Asset asset, asset::readAsset(path, asset::Verify::Structure));
  size_t count = asset.weights.tensors.size();
  uint64_t bytes = weightBytes(asset);
  if (asJson) {
    printJson({{"asset", path},
               {"seconds", seconds},
               {"weights", {{"count", count}, {"bytes", bytes}}},
               {"ops", asset.manifest.opCounts},
               {"fallback", nlohmann::json::parse(asset::fallbackText(asset.manifest.fallback))}});
    return {};
  }
  int64_t ops = 0;
  for (const auto &[name, number] : asset.manifest.opCounts)
    ops += number;
  std::cout << paint("saved", Colour::Green, stdout) << " " << path << ": " << ops << " ops, " << count << " weights ("
            << bytesText(bytes) << ") in " << std::llround(seconds * 1000) << " ms\n"
            << fallbackReport(asset.manifest);
  return {};
}

void reportStopped(const std::string &phase, double seconds, bool asJson) {
  if (asJson)
    printJson({{"stopped_after", phase}, {"seconds", seconds}});
  else
    std::cout << "stopped after " << phase << "; no asset was saved\n";
}

/// Converts to `path`; the time it took, in seconds.
Result<double> convertTo(const std::string &path, const ConvertOptions &options) {
  auto start = std::chrono::steady_clock::now();
  INGOT_CHECK(noteUnknownWeights(options.input, options.weights));
  std::string json = compilerOptions(options).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
  INGOT_CHECK(checked(ingot_convert(options.input.c_str(), path.c_str(), options.overwrite ? 1 : 0, json.c_str())));
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

/// Late phases start from a saved asset; when nobody wants it, it goes where it can be thrown away.
Status convertAndDiscard(const ConvertOptions &options, bool asJson) {
  INGOT_TRY(ScratchFolder folder, ScratchFolder::make());
  INGOT_TRY(double seconds, convertTo(folder.file("unused.ingot"), options));
  reportStopped(options.stopAfter, seconds, asJson);
  return {};
}

Status convert(const ConvertOptions &options, bool asJson) {
  if (options.output.empty() && options.stopAfter.empty())
    return usageError("no name for the asset").note("add -o NAME.ingot");
  if (options.output.empty())
    return convertAndDiscard(options, asJson);
  // Asked here as well so that a long conversion does not end in a refusal.
  INGOT_CHECK(asset::checkSavable(options.output, {.overwrite = options.overwrite}));
  INGOT_TRY(double seconds, convertTo(options.output, options));
  if (options.stopAfter.empty() || asset::looksLikeAsset(options.output))
    return reportSaved(options.output, seconds, asJson);
  reportStopped(options.stopAfter, seconds, asJson);
  return {};
}

} // namespace

void cli::addConvert(CLI::App &app, Request &request) {
  auto options = std::make_shared<ConvertOptions>();
  CLI::App *command = app.add_subcommand("convert", "Convert a .pt2 file, or a graph document, to an asset");
  command->add_option("IN.pt2", options->input, "What torch.export.save wrote, or a graph document")->required();
  command
      ->add_option("--weights", options->weights,
                   "Checkpoint of a graph document (.safetensors, or the *.index.json of its shards); may be repeated")
      ->allow_extra_args(false);
  command->add_option("--program", options->program, "Which program, if the file holds several");
  command->add_option("-o,--output", options->output, "The asset to write (a directory, NAME.ingot)");
  command->add_flag("--overwrite", options->overwrite, "Replace the asset if it exists");
  command->add_flag("--specialise", options->specialise,
                    "Also compile it for this CPU, so that the first run is quick");
  command->add_flag("--fallback", options->fallback,
                    "Keep operators without a native form; PyTorch runs them (ingot run --fallback)");
  command
      ->add_option("--plugin", options->plugins, "Load a library with lowerings of operators (lib.so); may be repeated")
      ->allow_extra_args(false);
  command->add_option("--stop-after", options->stopAfter,
                      "Stop after a phase: import, functionalise, lower, optimise, fuse, codegen, plan");
  command->add_option("--dump-ir", options->dumpFolder, "Write the program after every phase into this folder");
  command->add_option("--disable-pass", options->disabledPasses, "Leave out a pass, by name; may be repeated")
      ->allow_extra_args(false);
  command->add_flag("--time-passes", options->timePasses, "Print the time of every pass on stderr");
  command->footer(examples);
  setAction(*command, request, options, convert);
}
