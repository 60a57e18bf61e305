// The `ingot` program. Exit codes: 0 done, 1 failed (the reason is on stderr), 2 the command line is wrong. Commands that
// compare give 0 for equal, 1 for different, 2 for anything that went wrong.
#include "Command.h"

#include <cstdlib>
#include <iostream>
#include <new>
#include <unistd.h>

using namespace ingot;
using namespace ingot::cli;

namespace {

/// Leaves without running destructors: unmapping and freeing what the system reclaims anyway takes longer.
[[noreturn]] void leave(int code) {
  std::cout.flush();
  std::cerr.flush();
  std::_Exit(std::cout ? code : 1);
}

int runAction(Request &request) {
  // Nothing of ours throws; the standard library does, when memory runs out.
  try {
    Status status = request.action();
    if (status)
      return request.doneCode;
    reportError(status.error(), request.asJson);
  } catch (const std::bad_alloc &) {
    reportError(ioError("out of memory"), request.asJson);
  } catch (const std::exception &failure) {
    reportError(internalError(failure.what()), request.asJson);
  }
  return request.failureCode;
}

} // namespace

int main(int argc, char **argv) {
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
