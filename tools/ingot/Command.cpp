#include "Command.h"

#include "Text.h"
#include "base/Message.h"

#include <array>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iostream>

using namespace ingot;
using namespace ingot::cli;

namespace {

ErrorKind kindOf(ingot_status status) {
  switch (status) {
  case INGOT_ERROR_USAGE:
    return ErrorKind::Usage;
  case INGOT_ERROR_CORRUPT:
    return ErrorKind::Corrupt;
  case INGOT_ERROR_UNSUPPORTED:
    return ErrorKind::Unsupported;
  case INGOT_ERROR_IO:
    return ErrorKind::Io;
  default:
    return ErrorKind::Internal;
  }
}

const char *kindName(ErrorKind kind) {
  switch (kind) {
  case ErrorKind::Usage:
    return "usage";
  case ErrorKind::Corrupt:
    return "corrupt";
  case ErrorKind::Unsupported:
    return "unsupported";
  case ErrorKind::Io:
    return "io";
  case ErrorKind::Internal:
    return "internal";
  }
  return "internal";
}

} // namespace

Status cli::checked(ingot_status status) {
  if (status == INGOT_OK)
    return {};
  // The first line is the message; the notes follow, indented (Error::str).
  std::vector<std::string> lines = splitLines(ingot_last_error());
  Error error(kindOf(status), lines.empty() ? "failed without a message" : lines.front());
  for (size_t i = 1; i < lines.size(); ++i)
    error.notes.push_back(lines[i].starts_with("  ") ? lines[i].substr(2) : lines[i]);
  return error;
}

void cli::addLoadFlags(CLI::App &command, LoadFlags &flags) {
  command.add_flag("--fallback", flags.fallback,
                   "Let the asset run operators without a native form with PyTorch (see convert --fallback)");
  command
      .add_option("--memory-limit", flags.memoryLimit,
                  "Refuse what would need more memory: bytes, or a number with KiB, MiB, GiB (default: no limit)")
      ->transform(CLI::Validator(
          [](std::string &text) {
            return text.starts_with('-') ? "must not be negative" : CLI::AsSizeValue(true)(text);
          },
          CLI::AsSizeValue(true).get_description()));
  command
      .add_option("--time-limit", flags.timeLimit,
                  "End a call that takes more seconds than this, with an error (default: no limit)")
      ->check(numberFrom(0));
  command
      .add_option("--matmul-precision", flags.matmulPrecision,
                  "medium: products and convolutions of float32 may round their operands to bfloat16, where the CPU is "
                  "faster then; int8: those by constant weights to integers of 8 bits (default: highest)")
      ->check(CLI::IsMember({"highest", "medium", "int8"}));
}

CLI::Validator cli::wholeNumber(uint64_t least) {
  return CLI::Validator(
      [least](std::string &text) -> std::string {
        uint64_t value = 0;
        const char *end = text.data() + text.size();
        const auto [stop, failure] = std::from_chars(text.data(), end, value);
        if (failure != std::errc() || stop != end || value < least)
          return "'" + text + "' is no whole number from " + std::to_string(least) + " on";
        return {};
      },
      "");
}

CLI::Validator cli::numberFrom(double least) {
  return CLI::Validator(
      [least](std::string &text) -> std::string {
        double value = 0;
        if (!CLI::detail::lexical_cast(text, value) || !std::isfinite(value) || value < least)
          return "'" + text + "' is no number from " + nlohmann::json(least).dump() + " on";
        return {};
      },
      "");
}

Status cli::checkOutput(const std::string &path, const std::vector<std::string> &inputs) {
  namespace fs = std::filesystem;
  std::error_code failure;
  if (path.empty() || !fs::exists(path, failure))
    return {};
  if (fs::is_directory(path, failure))
    return usageError("cannot write to '" + path + "': it is a folder");
  const fs::path folder = fs::absolute(path, failure).parent_path();
  for (const std::string &input : inputs) // or a file of the asset that is one
    if (fs::equivalent(path, input, failure) || fs::equivalent(folder, input, failure))
      return usageError("'" + path + "' is what the command reads; it is not replaced").note("give another name");
  std::array<char, 4> start{};
  if (fs::is_regular_file(path, failure) && std::ifstream(path, std::ios::binary).read(start.data(), start.size()) &&
      std::string_view(start.data(), start.size()) == "PK\3\4")
    return usageError("'" + path + "' is an archive; it is not replaced").note("delete it first, or give another name");
  return {};
}

Result<ProgramHandle> cli::loadProgram(const std::string &asset, const LoadFlags &flags) {
  ingot_program *program = nullptr;
  nlohmann::json options = {{"fallback", flags.fallback},
                            {"memory_limit", flags.memoryLimit},
                            {"time_limit", flags.timeLimit},
                            {"matmul_precision", flags.matmulPrecision},
                            {"keep_constants", flags.keepsConstants}};
  if (!flags.method.empty())
    options["method"] = flags.method;
  INGOT_CHECK(checked(ingot_program_load_with(asset.c_str(), options.dump().c_str(), &program)));
  return ProgramHandle(program);
}

void cli::reportError(const Error &given, bool asJson) {
  Error error(given.kind, messageText(given.message));
  for (const std::string &note : given.notes)
    error.notes.push_back(messageText(note));
  if (asJson)
    printJson({{"error", {{"kind", kindName(error.kind)}, {"message", error.message}, {"notes", error.notes}}}});
  std::cerr << paint("error:", Colour::Red, stderr) << " " << error.message << "\n";
  for (const std::string &note : error.notes)
    std::cerr << "  " << note << "\n";
  if (error.kind == ErrorKind::Internal)
    std::cerr << "  this is a bug of Ingot; please report it with the command and the file\n";
}

void cli::printJson(const nlohmann::json &value) {
  std::cout << value.dump(2, ' ', false, nlohmann::json::error_handler_t::replace) << "\n";
}
