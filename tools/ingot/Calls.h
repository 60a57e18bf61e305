// Calling an entry point of an asset: once for `ingot run`, many times for `bench` and `profile`.
#pragma once

#include "Command.h"
#include "Inputs.h"
#include "asset/Format.h"

#include <memory>
#include <string>
#include <vector>

namespace ingot::cli {

struct ResultDeleter {
  void operator()(ingot_result *result) const { ingot_result_free(result); }
};
using ResultHandle = std::unique_ptr<ingot_result, ResultDeleter>;

/// The entry point of that name, or the only one.
Result<asset::EntryPoint> chooseEntry(const asset::Manifest &manifest, const std::string &name);

/// Arguments that the program changes have their new values in `inputs` afterwards.
Result<ResultHandle> callEntry(ingot_program *program, const asset::EntryPoint &entry, std::vector<Tensor> &inputs);

/// What to call, and with what; options of several commands.
struct CallOptions {
  std::string asset, entry;
  InputSources inputs;
  int threads = 0;
  LoadFlags load;
};
void addCallOptions(CLI::App &command, CallOptions &options);

/// Of sorted numbers, of which there is one at least; nearest rank.
double quantile(const std::vector<double> &sorted, double part);

/// A loaded program with inputs, by chance where none are given.
class RepeatedCall {
public:
  static Result<RepeatedCall> make(const CallOptions &options);
  Status operator()() {
    INGOT_TRY(ResultHandle result, callEntry(program.get(), entry, inputs));
    return {};
  }

private:
  RepeatedCall(ProgramHandle program, asset::EntryPoint entry, std::vector<Tensor> inputs)
      : program(std::move(program)), entry(std::move(entry)), inputs(std::move(inputs)) {}

  ProgramHandle program;
  asset::EntryPoint entry;
  std::vector<Tensor> inputs;
};

} // namespace ingot::cli
