// The `ingot` program. Exit codes: 0 done, 1 failed (the reason is on stderr), 2 the command line is wrong. Commands that
// compare give 0 for equal, 1 for different, 2 for anything that went wrong.
#include "Command.h"
#include "Scratch.h"

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <iostream>
#include <new>
#include <span>
#include <unistd.h>

using namespace ingot;
using namespace ingot::cli;

namespace {

/// Leaves without running destructors: unmapping and freeing what the system reclaims anyway takes longer.
[[noreturn]] void leave(int code) {
  std::cout.flush();
  if (!std::cout) {
    // The reason may be that of an earlier piece: one more byte, of an output that is not whole anyway, says it again.
    const char *reason = ::write(STDOUT_FILENO, "\n", 1) < 0 ? std::strerror(errno) : "it is not complete";
    std::cerr << "error: cannot write to standard output: " << reason << "\n";
  }
  std::cerr.flush();
  removeScratch();
  std::_Exit(std::cout || code != 0 ? code : 1);
}

/// A standard stream that is closed would be the next file that is opened, and its content what is printed.
void holdStandardStreams() {
  for (int descriptor : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO})
    if (::fcntl(descriptor, F_GETFD) < 0 && errno == EBADF)
      (void)::open("/dev/null", O_RDONLY); // the lowest that is free; writing to it fails
}

/// Nothing of ours throws; the standard library does, when memory runs out.
Status act(const Request &request) {
  try {
    return request.action();
  } catch (const std::bad_alloc &) {
    return ioError("out of memory");
  } catch (const std::exception &failure) {
    return internalError(failure.what());
  }
}

/// Says what is wrong with the command line; with --json as an object, too.
int refuse(const CLI::App &app, const CLI::ParseError &failure, std::span<char *const> arguments) {
  const bool asJson = std::ranges::any_of(arguments, [](std::string_view argument) { return argument == "--json"; });
  const std::string_view first = arguments.size() > 1 ? arguments[1] : "";
  const bool isCommand = std::ranges::any_of(app.get_subcommands([](const CLI::App *) { return true; }),
                                             [&](const CLI::App *command) { return command->get_name() == first; });
  if (failure.get_exit_code() == 0)
    return app.exit(failure); // --help and --version
  if (first.empty() || first.starts_with('-') || isCommand) {
    if (asJson)
      reportError(usageError(failure.what()), true);
    else
      app.exit(failure);
    return 2;
  }
  reportError(usageError("there is no command '" + std::string(first) + "'").note("`ingot --help` lists them"), asJson);
  return 2;
}

int runAction(Request &request) {
  makeScratch();
  Status status = act(request);
  yieldToSignal();
  if (status)
    return request.doneCode;
  reportError(status.error(), request.asJson);
  return request.failureCode;
}

} // namespace

int main(int argc, char **argv) {
  holdStandardStreams();
  ::signal(SIGXFSZ, SIG_IGN); // a file that must not grow is an error of writing
  CLI::App app("Converts exported PyTorch programs (.pt2) to Ingot assets, and runs them.\n"
               "`ingot COMMAND --help` has examples.");
  app.name("ingot");
  app.set_version_flag("--version", "ingot " + std::string(ingot_version()));
  app.require_subcommand(1);
  Request request;
  addBench(app, request);
  addConvert(app, request);
  addDiff(app, request);
  addExtract(app, request);
  addInfo(app, request);
  addProfile(app, request);
  addRun(app, request);
  addShow(app, request);
  addSpecialise(app, request);
  addTune(app, request);
  addValidate(app, request);
  addVerify(app, request);
  addVisualize(app, request);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError &failure) {
    leave(refuse(app, failure, {argv, static_cast<size_t>(argc)}));
  }
  leave(runAction(request));
}
