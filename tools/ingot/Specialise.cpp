// ingot specialise: compile an asset for this CPU, if that has not happened yet.
#include "Command.h"
#include "Text.h"

#include <chrono>
#include <cmath>
#include <iostream>

using namespace ingot;
using namespace ingot::cli;

namespace {

struct SpecialiseOptions {
  std::string asset;
  LoadFlags load;
};

Status specialise(const SpecialiseOptions &options, bool asJson) {
  auto start = std::chrono::steady_clock::now();
  // Loading specialises where it must, and proves that the result can be loaded.
  INGOT_TRY(ProgramHandle program, loadProgram(options.asset, options.load));
  // Freeing packed weights takes time and the process ends here.
  (void)program.release();
  std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - start;
  if (asJson)
    printJson({{"asset", options.asset}, {"seconds", elapsed.count()}});
  else
    std::cout << paint("ready", Colour::Green, stdout) << " " << options.asset << " in "
              << std::llround(elapsed.count() * 1000) << " ms\n";
  return {};
}

} // namespace

void cli::addSpecialise(CLI::App &app, Request &request) {
  auto options = std::make_shared<SpecialiseOptions>();
  CLI::App *command = app.add_subcommand("specialise", "Compile an asset for this CPU");
  command->alias("specialize");
  command->add_option("ASSET", options->asset, "The asset's directory")->required();
  addLoadFlags(*command, options->load);
  command->footer("Examples:\n  ingot specialise resnet50.ingot\n");
  setAction(*command, request, options, specialise);
}
