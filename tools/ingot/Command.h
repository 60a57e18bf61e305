// What the subcommands of `ingot` share: how each is added, and how results and errors are shown.
#pragma once

#include "base/Result.h"
#include "ingot/ingot.h"

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace ingot::cli {

/// What the command line asked for. A subcommand's callback fills it; main runs it.
struct Request {
  std::function<Status()> action;
  bool asJson = false;
  int doneCode = 0, failureCode = 1; ///< exit codes; `diff` and `verify` have their own
};

void addBench(CLI::App &app, Request &request);
void addConvert(CLI::App &app, Request &request);
void addDiff(CLI::App &app, Request &request);
void addExtract(CLI::App &app, Request &request);
void addInfo(CLI::App &app, Request &request);
void addProfile(CLI::App &app, Request &request);
void addRun(CLI::App &app, Request &request);
void addShow(CLI::App &app, Request &request);
void addSpecialise(CLI::App &app, Request &request);
void addTune(CLI::App &app, Request &request);
void addValidate(CLI::App &app, Request &request);
void addVerify(CLI::App &app, Request &request);
void addVisualize(CLI::App &app, Request &request);

/// Adds --json, and makes `action` what runs when `command` is chosen. `Options` lives as long as the app.
template <typename Options>
void setAction(CLI::App &command, Request &request, std::shared_ptr<Options> options,
               Status (*action)(const Options &, bool asJson)) {
  command.add_flag("--json", request.asJson, "Print one JSON object instead of text, also for errors");
  command.callback([&request, options = std::move(options), action] {
    request.action = [&request, options, action] { return action(*options, request.asJson); };
  });
}

/// A status of the C interface as our own error, with the message it left behind.
Status checked(ingot_status status);

/// Loads `asset` through the C interface; freed by the deleter.
struct ProgramDeleter {
  void operator()(ingot_program *program) const { ingot_program_free(program); }
};
using ProgramHandle = std::unique_ptr<ingot_program, ProgramDeleter>;
struct LoadFlags {
  bool fallback = false;
  uint64_t memoryLimit = 0; ///< bytes, 0: none
  double timeLimit = 0;     ///< seconds, 0: none
  std::string matmulPrecision = "highest";
  std::string method = {};    ///< as the option of ingot_program_load_with; no flag of the command line
  bool keepsConstants = true; ///< likewise
};
void addLoadFlags(CLI::App &command, LoadFlags &flags);
Result<ProgramHandle> loadProgram(const std::string &asset, const LoadFlags &flags = {});

/// Options that are whole numbers: others are refused, also those that an unsigned number would wrap around.
CLI::Validator wholeNumber(uint64_t least = 0);
/// Options that are finite numbers, `least` or more.
CLI::Validator numberFrom(double least);

/// Whether a command may write to `path`: not over a file that it reads, nor over an archive, which may be somebody's model.
Status checkOutput(const std::string &path, const std::vector<std::string> &inputs);

/// Prints the error on stderr, and with --json also as an object on stdout.
void reportError(const Error &error, bool asJson);
void printJson(const nlohmann::json &value);

} // namespace ingot::cli
