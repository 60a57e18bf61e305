#include "Calls.h"

#include "asset/Reader.h"

#include <algorithm>
#include <cmath>

using namespace ingot;
using namespace ingot::cli;

Result<asset::EntryPoint> cli::chooseEntry(const asset::Manifest &manifest, const std::string &name) {
  std::string names;
  for (const asset::EntryPoint &entry : manifest.entryPoints) {
    if (entry.name == name || (name.empty() && manifest.entryPoints.size() == 1))
      return entry;
    names += (names.empty() ? "" : ", ") + entry.name;
  }
  if (name.empty())
    return usageError("the asset has several entry points").note("choose one with --entry: " + names);
  return usageError("there is no entry point '" + name + "'").note("the asset has: " + names);
}

/// Inputs may lie in a mapped file; what the program changes needs memory of its own.
static Result<std::byte *> makeWritable(Tensor &tensor) {
  INGOT_TRY(NewTensor copy, makeTensor(tensor.dtype, tensor.shape));
  std::ranges::copy(tensor.data, copy.bytes);
  tensor = std::move(copy.tensor);
  return copy.bytes;
}

Result<ResultHandle> cli::callEntry(ingot_program *program, const asset::EntryPoint &entry,
                                    std::vector<Tensor> &inputs) {
  std::vector<ingot_tensor> views;
  std::vector<ingot_state> states;
  size_t index = 0;
  for (const asset::Port &port : entry.inputs) {
    if (!port.literal.empty())
      continue;
    Tensor &tensor = inputs[index++];
    // The interface has no const because outputs share the struct; inputs are only read.
    auto *data = const_cast<std::byte *>(tensor.data.data());
    if (!port.state.empty()) {
      INGOT_TRY(data, makeWritable(tensor));
    }
    ingot_tensor view{data, static_cast<ingot_dtype>(tensor.dtype), static_cast<int32_t>(tensor.shape.size()),
                      tensor.shape.data(), nullptr};
    if (port.state.empty())
      views.push_back(view);
    else
      states.push_back({port.state.c_str(), view});
  }
  ingot_result *result = nullptr;
  INGOT_CHECK(checked(ingot_program_run_with_states(program, entry.name.c_str(), views.data(), views.size(),
                                                    states.data(), states.size(), &result)));
  return ResultHandle(result);
}

double cli::quantile(const std::vector<double> &sorted, double part) {
  const double rank = std::ceil(part * static_cast<double>(sorted.size()));
  return sorted[static_cast<size_t>(std::max(rank - 1, 0.0))];
}

void cli::addCallOptions(CLI::App &command, CallOptions &options) {
  command.add_option("ASSET", options.asset, "The asset's directory")->required();
  command.add_option("--inputs", options.inputs.safetensors, "safetensors file with the inputs by name");
  command.add_option("--input", options.inputs.npy, "One input as NAME=FILE.npy; may be repeated")
      ->allow_extra_args(false);
  command
      .add_option("--random-seed", options.inputs.randomSeed,
                  "Make the inputs that are not given, from this seed (default without any inputs: 0)")
      ->check(wholeNumber());
  command.add_option("--dim", options.inputs.dimensions, "Size of a symbol in random inputs, as s0=4; may be repeated")
      ->allow_extra_args(false);
  command.add_option("--entry", options.entry, "Entry point, if there are several");
  command.add_option("--threads", options.threads, "Number of threads (default: all cores, or INGOT_NUM_THREADS)")
      ->check(wholeNumber(1));
  addLoadFlags(command, options.load);
}

Result<RepeatedCall> RepeatedCall::make(const CallOptions &options) {
  INGOT_TRY(asset::CheckedManifest manifest, asset::readManifest(options.asset));
  INGOT_TRY(asset::EntryPoint entry, chooseEntry(manifest.manifest, options.entry));
  InputSources sources = options.inputs;
  if (sources.safetensors.empty() && sources.npy.empty() && !sources.randomSeed)
    sources.randomSeed = 0;
  INGOT_TRY(std::vector<Tensor> inputs, gatherInputs(entry, sources));
  if (options.threads > 0)
    ingot_set_num_threads(options.threads);
  INGOT_TRY(ProgramHandle program, loadProgram(options.asset, options.load));
  return RepeatedCall(std::move(program), std::move(entry), std::move(inputs));
}
