// ingot run: execute an asset, or a graph document with its weights, on inputs from files.
#include "Calls.h"
#include "Command.h"
#include "Documents.h"
#include "Inputs.h"
#include "Text.h"
#include "asset/Reader.h"
#include "base/SafeTensors.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <filesystem>
#include <iostream>
#include <set>

using namespace ingot;
using namespace ingot::cli;
using nlohmann::json;

namespace {

struct RunOptions {
  std::string asset, outputs, entry;
  std::vector<std::string> weights;
  InputSources inputs;
  int threads = 0;
  LoadFlags load;
  std::optional<uint64_t> seed;
};

constexpr const char *examples = R"(Examples:
  ingot run bert.ingot --inputs in.safetensors --outputs out.safetensors
  ingot run resnet50.ingot --input x=image.npy --outputs out.safetensors
  ingot run resnet50.ingot --random-seed 7 --json
  ingot run bert.ingot --random-seed 7 --dim s0=3
  ingot run bert.json --weights bert.safetensors --inputs in.safetensors --outputs out.safetensors
)";

struct NamedTensor {
  std::string name;
  Tensor tensor;
};

/// Outputs under their names, then the arguments that the program changed; a name that is there already gets a number.
Result<std::vector<NamedTensor>> collect(const asset::EntryPoint &entry, const ingot_result *result,
                                         std::vector<Tensor> inputs) {
  std::vector<NamedTensor> outputs;
  std::set<std::string> used;
  auto add = [&](const std::string &wanted, Tensor tensor) {
    std::string name = wanted;
    for (int number = 1; !used.insert(name).second; ++number)
      name = wanted + "." + std::to_string(number);
    outputs.push_back({std::move(name), std::move(tensor)});
  };
  size_t index = 0;
  for (const asset::Port &port : entry.outputs) {
    if (!port.literal.empty())
      continue;
    if (index >= ingot_result_count(result))
      return corruptError("the manifest describes more outputs than the program returns");
    INGOT_TRY(Tensor tensor, fromResult(*ingot_result_tensor(result, index++)));
    add(port.name, std::move(tensor));
  }
  index = 0;
  for (const asset::Port &port : entry.inputs) {
    if (!port.literal.empty())
      continue;
    if (!port.state.empty())
      add(port.name, std::move(inputs[index]));
    ++index;
  }
  return outputs;
}

Status writeOutputs(const std::string &path, const std::vector<NamedTensor> &outputs) {
  std::vector<SafeTensor> tensors;
  for (const NamedTensor &output : outputs)
    tensors.push_back({output.name, output.tensor.dtype, output.tensor.shape, output.tensor.data});
  return writeSafeTensors(path, tensors);
}

std::string numberText(double value) {
  std::array<char, 32> text;
  std::snprintf(text.data(), text.size(), "%.6g", value);
  return text.data();
}

std::vector<std::string> outputRow(const NamedTensor &output) {
  std::vector<std::string> shape;
  for (int64_t size : output.tensor.shape)
    shape.push_back(std::to_string(size));
  std::vector<std::string> row = {output.name, std::string(dtypeName(output.tensor.dtype)), shapeText(shape)};
  if (std::optional<Statistics> stats = statisticsOf(output.tensor))
    row.push_back("min " + numberText(stats->min) + "  max " + numberText(stats->max) + "  mean " +
                  numberText(stats->mean));
  return row;
}

json outputJson(const NamedTensor &output) {
  json value = {{"name", output.name}, {"dtype", dtypeName(output.tensor.dtype)}, {"shape", output.tensor.shape}};
  // JSON has no NaN or infinity; the library writes null for them.
  if (std::optional<Statistics> stats = statisticsOf(output.tensor))
    value.update({{"min", stats->min}, {"max", stats->max}, {"mean", stats->mean}});
  return value;
}

void printOutputs(const std::vector<NamedTensor> &outputs, double milliseconds, bool asJson) {
  if (asJson) {
    json list = json::array();
    for (const NamedTensor &output : outputs)
      list.push_back(outputJson(output));
    printJson({{"outputs", std::move(list)}, {"milliseconds", milliseconds}});
    return;
  }
  Table table;
  for (const NamedTensor &output : outputs)
    table.add(outputRow(output));
  std::cout << table.str("") << "ran in " << numberText(milliseconds) << " ms\n";
}

Status runAsset(const RunOptions &options, bool asJson) {
  INGOT_TRY(asset::CheckedManifest manifest, asset::readManifest(options.asset));
  INGOT_TRY(asset::EntryPoint entry, chooseEntry(manifest.manifest, options.entry));
  INGOT_TRY(std::vector<Tensor> inputs, gatherInputs(entry, options.inputs));
  if (options.threads > 0)
    ingot_set_num_threads(options.threads);
  if (options.seed)
    ingot_set_seed(*options.seed);
  INGOT_TRY(ProgramHandle program, loadProgram(options.asset, options.load));
  auto start = std::chrono::steady_clock::now();
  INGOT_TRY(ResultHandle result, callEntry(program.get(), entry, inputs));
  std::chrono::duration<double, std::milli> elapsed = std::chrono::steady_clock::now() - start;
  INGOT_TRY(std::vector<NamedTensor> outputs, collect(entry, result.get(), std::move(inputs)));
  if (!options.outputs.empty())
    INGOT_CHECK(writeOutputs(options.outputs, outputs));
  printOutputs(outputs, elapsed.count(), asJson);
  // The process ends here: freeing packed weights only takes time.
  (void)result.release();
  (void)program.release();
  return {};
}

Status run(const RunOptions &options, bool asJson) {
  std::vector<std::string> read = options.weights;
  read.insert(read.end(), {options.asset, options.inputs.safetensors});
  INGOT_CHECK(checkOutput(options.outputs, read));
  std::error_code failure;
  if (!std::filesystem::is_regular_file(options.asset, failure)) {
    if (!options.weights.empty())
      return usageError("'" + options.asset + "' is no graph document, so it takes no --weights");
    return runAsset(options, asJson);
  }
  INGOT_TRY(TemporaryAsset asset, TemporaryAsset::convert(options.asset, options.weights, options.load.fallback));
  RunOptions converted = options;
  converted.asset = asset.path();
  return runAsset(converted, asJson);
}

} // namespace

void cli::addRun(CLI::App &app, Request &request) {
  auto options = std::make_shared<RunOptions>();
  CLI::App *command = app.add_subcommand("run", "Run an asset, or a graph document, on inputs from files");
  command->add_option("ASSET", options->asset, "The asset's directory, or a graph document or .pt2 file")->required();
  command
      ->add_option("--weights", options->weights,
                   "Checkpoint of a graph document (.safetensors, or the *.index.json of its shards); may be repeated")
      ->allow_extra_args(false);
  command->add_option("--inputs", options->inputs.safetensors, "safetensors file with the inputs by name");
  command->add_option("--input", options->inputs.npy, "One input as NAME=FILE.npy; may be repeated")
      ->allow_extra_args(false);
  command->add_option("--random-seed", options->inputs.randomSeed, "Make the inputs that are not given, from this seed")
      ->check(wholeNumber());
  command
      ->add_option("--dim", options->inputs.dimensions, "Size of a symbol in random inputs, as s0=4; may be repeated")
      ->allow_extra_args(false);
  command->add_option("--outputs", options->outputs, "safetensors file to write the outputs to");
  command->add_option("--entry", options->entry, "Entry point, if there are several");
  command->add_option("--seed", options->seed, "Seed of random operators (default: a fixed one)")->check(wholeNumber());
  command->add_option("--threads", options->threads, "Number of threads (default: all cores, or INGOT_NUM_THREADS)")
      ->check(wholeNumber(1));
  addLoadFlags(*command, options->load);
  command->footer(examples);
  setAction(*command, request, options, run);
}
