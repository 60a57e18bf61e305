// ingot profile: where the time of a call goes.
#include "runtime/Profile.h"
#include "Calls.h"
#include "Graphs.h"
#include "Machine.h"
#include "ProfilePage.h"
#include "Text.h"

#include <algorithm>
#include <iostream>
#include <map>

using namespace ingot;
using namespace ingot::cli;
using nlohmann::json;

namespace {

struct ProfileOptions {
  CallOptions call;
  size_t calls = 20, rows = 15;
  std::string trace, page;
};

constexpr const char *examples = R"(Examples:
  ingot profile resnet50.ingot
  ingot profile bert.ingot --dim s0=8 --calls 50 --rows 30
  ingot profile resnet50.ingot --trace trace.json     (open in chrome://tracing or ui.perfetto.dev)
  ingot profile resnet50.ingot --html profile.html
)";

using Records = std::vector<StepProfile::Record>;

/// Steps that have something in common, over all calls.
struct Share {
  std::string name;
  size_t count = 0;
  double seconds = 0, operations = 0, bytes = 0;
};

template <typename Name> std::vector<Share> sharesBy(const Records &records, Name nameOf) {
  std::map<std::string, Share> byName;
  for (const StepProfile::Record &record : records) {
    Share &share = byName[nameOf(record)];
    ++share.count;
    share.seconds += record.seconds();
    share.operations += record.work.operations;
    share.bytes += record.work.bytes;
  }
  std::vector<Share> shares;
  for (auto &[name, share] : byName) {
    share.name = name;
    shares.push_back(std::move(share));
  }
  std::ranges::sort(shares, [](const Share &a, const Share &b) { return a.seconds > b.seconds; });
  return shares;
}

std::string kernelOf(const StepProfile::Record &record) {
  return record.work.isCopy ? "copy for " + record.kernel : record.kernel;
}

std::string placeOf(const StepProfile::Record &record) {
  std::string node = record.node.empty() ? record.kernel : record.node;
  if (!record.work.method.empty())
    node += " (" + std::string(record.work.method) + ")";
  return record.source.empty() ? node : record.source + "  " + node;
}

std::vector<std::string> rowOf(const Share &share, double calls, double total) {
  const double seconds = std::max(share.seconds, 1e-12);
  return {share.name.size() > 70 ? share.name.substr(0, 67) + "..." : share.name,
          std::to_string(share.count / static_cast<size_t>(calls)),
          fixedText(1e3 * share.seconds / calls, 3),
          fixedText(100 * share.seconds / total, 1) + " %",
          fixedText(share.operations / seconds / 1e9, 1),
          fixedText(share.bytes / seconds / 1e9, 1)};
}

void printShares(const char *title, const std::vector<Share> &shares, size_t calls, size_t most) {
  double total = 0;
  for (const Share &share : shares)
    total += share.seconds;
  Table table;
  table.add({title, "times", "ms", "share", "GFLOP/s", "GB/s"});
  for (size_t i = 0; i < std::min(most, shares.size()); ++i)
    table.add(rowOf(shares[i], static_cast<double>(calls), std::max(total, 1e-12)));
  std::cout << table.str("");
  if (shares.size() > most)
    std::cout << "and " << shares.size() - most << " more\n";
  std::cout << "\n";
}

json sharesJson(const std::vector<Share> &shares, size_t calls) {
  json list = json::array();
  const auto count = static_cast<double>(calls);
  for (const Share &share : shares)
    list.push_back({{"name", share.name},
                    {"times", share.count / calls},
                    {"ms", 1e3 * share.seconds / count},
                    {"gflops", share.operations / std::max(share.seconds, 1e-12) / 1e9},
                    {"gigabytes_per_second", share.bytes / std::max(share.seconds, 1e-12) / 1e9}});
  return list;
}

/// The last call as Chrome's trace viewer reads it.
json traceOf(const Records &records, size_t calls) {
  json events = json::array();
  const size_t steps = records.size() / calls;
  const auto start = records[records.size() - steps].begin;
  for (size_t i = records.size() - steps; i < records.size(); ++i) {
    const StepProfile::Record &record = records[i];
    const double at = std::chrono::duration<double, std::micro>(record.begin - start).count();
    events.push_back({{"name", kernelOf(record)},
                      {"ph", "X"},
                      {"ts", at},
                      {"dur", 1e6 * record.seconds()},
                      {"pid", 1},
                      {"tid", 1},
                      {"args",
                       {{"node", record.node},
                        {"method", record.work.method},
                        {"source", record.source},
                        {"flop", record.work.operations},
                        {"bytes", record.work.bytes}}}});
  }
  return {{"traceEvents", std::move(events)}, {"displayTimeUnit", "ms"}};
}

Result<Records> record(const ProfileOptions &options) {
  INGOT_TRY(RepeatedCall call, RepeatedCall::make(options.call));
  for (int warm = 0; warm < 3; ++warm)
    INGOT_CHECK(call());
  StepProfile profile;
  for (size_t i = 0; i < options.calls; ++i)
    INGOT_CHECK(call());
  return std::move(profile.records);
}

/// Copies into another layout in one call.
size_t reordersOf(const Records &records, size_t calls) {
  size_t sum = 0;
  for (const StepProfile::Record &record : records)
    sum += static_cast<size_t>(record.work.reorders);
  return sum / calls;
}

json limitsJson(const MachineLimits &limits) {
  return {{"gflops", limits.gigaflops}, {"gigabytes_per_second", limits.gigabytesPerSecond}};
}

Status profile(const ProfileOptions &options, bool asJson) {
  for (const std::string &path : {options.trace, options.page})
    INGOT_CHECK(checkOutput(path, {}));
  INGOT_TRY(Records records, record(options));
  if (records.empty())
    return unsupportedError("the program has no steps to measure");
  const MachineLimits limits = measureMachine();
  const std::vector<Share> kernels = sharesBy(records, kernelOf), places = sharesBy(records, placeOf);
  const size_t reorders = reordersOf(records, options.calls);
  const json summary = {{"calls", options.calls},
                        {"reorders", reorders},
                        {"threads", ingot_get_num_threads()},
                        {"machine", limitsJson(limits)},
                        {"by_kernel", sharesJson(kernels, options.calls)},
                        {"by_place", sharesJson(places, options.calls)}};
  if (!options.trace.empty())
    INGOT_CHECK(writeText(options.trace, traceOf(records, options.calls).dump()));
  if (!options.page.empty())
    INGOT_CHECK(writeText(options.page, profilePage(options.call.asset, summary)));
  if (asJson) {
    printJson(summary);
    return {};
  }
  std::cout << options.calls << " calls with " << ingot_get_num_threads()
            << " threads; this machine: " << fixedText(limits.gigaflops, 0) << " GFLOP/s, "
            << fixedText(limits.gigabytesPerSecond, 1) << " GB/s\n"
            << "copies into another layout in a call: " << reorders << "\n\n";
  printShares("kernel", kernels, options.calls, options.rows);
  printShares("line and node", places, options.calls, options.rows);
  return {};
}

} // namespace

void cli::addProfile(CLI::App &app, Request &request) {
  auto options = std::make_shared<ProfileOptions>();
  CLI::App *command = app.add_subcommand("profile", "Show where the time of a call goes, by kernel and line of Python");
  addCallOptions(*command, options->call);
  command->add_option("--calls", options->calls, "How many calls are measured")
      ->check(wholeNumber(1))
      ->capture_default_str();
  command->add_option("--rows", options->rows, "Rows of each table")->check(wholeNumber())->capture_default_str();
  command->add_option("--trace", options->trace, "Write the last call as a Chrome trace to this file");
  command->add_option("--html", options->page, "Write a page with all of it to this file");
  command->footer(examples);
  setAction(*command, request, options, profile);
}
