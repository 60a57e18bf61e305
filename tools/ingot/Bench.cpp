// ingot bench: how long calls of an asset take.
#include "Calls.h"
#include "Text.h"

#include <algorithm>
#include <chrono>
#include <iostream>
#include <numeric>

using namespace ingot;
using namespace ingot::cli;

namespace {

using Clock = std::chrono::steady_clock;

struct BenchOptions {
  CallOptions call;
  double seconds = 3;
  size_t warmUp = 3;
};

constexpr const char *examples = R"(Examples:
  ingot bench resnet50.ingot
  ingot bench bert.ingot --dim s0=8 --threads 1 --seconds 10
  ingot bench resnet50.ingot --json
)";

double millisecondsSince(Clock::time_point start) {
  return std::chrono::duration<double, std::milli>(Clock::now() - start).count();
}

std::string milliseconds(double value) { return fixedText(value, value < 1 ? 4 : 3) + " ms"; }

Status bench(const BenchOptions &options, bool asJson) {
  const Clock::time_point start = Clock::now();
  INGOT_TRY(RepeatedCall call, RepeatedCall::make(options.call));
  INGOT_CHECK(call());
  const double first = millisecondsSince(start);
  for (size_t i = 0; i < options.warmUp; ++i)
    INGOT_CHECK(call());
  std::vector<double> times;
  const Clock::time_point begin = Clock::now();
  while (times.size() < 5 || millisecondsSince(begin) < 1e3 * options.seconds) {
    const Clock::time_point started = Clock::now();
    INGOT_CHECK(call());
    times.push_back(millisecondsSince(started));
  }
  std::ranges::sort(times);
  const double mean = std::accumulate(times.begin(), times.end(), 0.0) / static_cast<double>(times.size());
  if (asJson) {
    printJson({{"calls", times.size()},
               {"threads", ingot_get_num_threads()},
               {"load_and_first_call_ms", first},
               {"min_ms", times.front()},
               {"median_ms", quantile(times, 0.5)},
               {"p90_ms", quantile(times, 0.9)},
               {"p99_ms", quantile(times, 0.99)},
               {"max_ms", times.back()},
               {"mean_ms", mean}});
    return {};
  }
  Table table;
  table.add({"median", milliseconds(quantile(times, 0.5))});
  table.add({"fastest", milliseconds(times.front())});
  table.add({"90 %", milliseconds(quantile(times, 0.9))});
  table.add({"99 %", milliseconds(quantile(times, 0.99))});
  table.add({"slowest", milliseconds(times.back())});
  table.add({"mean", milliseconds(mean)});
  table.add({"load and first call", milliseconds(first)});
  std::cout << times.size() << " calls with " << ingot_get_num_threads() << " threads\n" << table.str();
  return {};
}

} // namespace

void cli::addBench(CLI::App &app, Request &request) {
  auto options = std::make_shared<BenchOptions>();
  CLI::App *command = app.add_subcommand("bench", "Measure how long calls of an asset take");
  addCallOptions(*command, options->call);
  command->add_option("--seconds", options->seconds, "How long to measure")
      ->check(numberFrom(0))
      ->capture_default_str();
  command->add_option("--warm-up", options->warmUp, "Calls before that")->check(wholeNumber())->capture_default_str();
  command->footer(examples);
  setAction(*command, request, options, bench);
}
