#include "Command.h"

#include "Text.h"
#include "base/Message.h"

#include <cstdio>
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
      ->transform(CLI::AsSizeValue(true));
}

Result<ProgramHandle> cli::loadProgram(const std::string &asset, const LoadFlags &flags) {
  ingot_program *program = nullptr;
  nlohmann::json options = {{"fallback", flags.fallback}, {"memory_limit", flags.memoryLimit}};
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
