// The `ingot` program. Exit codes: 0 done, 1 failed (the reason is on stderr), 2 the command line is wrong. Commands that
// compare give 0 for equal, 1 for different, 2 for anything that went wrong.
#include "Command.h"
#include "Scratch.h"

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <iostream>
#include <new>
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
  addValidate(app, request);
  addVerify(app, request);
  addVisualize(app, request);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError &failure) {
    leave(app.exit(failure) == 0 ? 0 : 2);
  }
  leave(runAction(request));
}
