// ingot tune: measure the implementations that a step can have, each as a part of the whole program, and keep what is faster than
// the usual one for later loads on this kind of CPU.
#include "Calls.h"
#include "Text.h"
#include "runtime/Profile.h"
#include "runtime/Program.h"

#include <algorithm>
#include <chrono>
#include <iostream>
#include <map>
#include <span>
#include <tuple>
#include <unistd.h>

using namespace ingot;
using namespace ingot::cli;
using nlohmann::json;

namespace {

using Clock = std::chrono::steady_clock;

struct TuneOptions {
  CallOptions call;
  double seconds = 20;
  bool forgets = false;
};

constexpr const char *examples =
    R"(Every product and convolution that can be computed in several ways is measured in each, inside the whole program and in turns. What
is clearly faster than the usual way is kept in the asset's cache, for this kind of CPU, number of threads and sizes, if calls as a
whole are faster with it; loads from every language find it there. Results stay within the same tolerances.

Examples:
  ingot tune resnet50.ingot
  ingot tune bert.ingot --dim s0=8 --threads 1 --seconds 60
  ingot tune resnet50.ingot --forget                  (back to the usual ways)
)";

constexpr size_t kMinRounds = 8, kTimedCalls = 2, kMostRows = 20;
/// A method has to take less than this part of the time, and its slower quarter less than the usual method's median: one
/// measurement in many is wrong by more, half of them are not.
constexpr double kClearly = 0.95;
/// Of whole calls, for which many more steps are measured at once.
constexpr double kFaster = 0.995;

/// The program, with one method wherever that can be.
struct Candidate {
  Method method;
  RepeatedCall call;
  struct Samples {
    std::string used;                 ///< what computes the problem: some other way where the method cannot
    std::vector<double> milliseconds; ///< sorted at the end, as `whole` is
  };
  std::map<std::string, Samples> byProblem{};
  std::vector<double> whole{}; ///< milliseconds of calls
};

Result<Candidate> makeCandidate(const TuneOptions &options, std::string_view method) {
  CallOptions call = options.call;
  call.load.method = method;
  call.load.keepsConstants = false;
  INGOT_TRY(RepeatedCall made, RepeatedCall::make(call));
  return Candidate{methodNamed(method).value_or(Method::Usual), std::move(made)};
}

Status measure(Candidate &candidate, bool bySteps) {
  INGOT_CHECK(candidate.call()); // brings what it needs into the caches
  for (size_t i = 0; i < kTimedCalls; ++i) {
    std::optional<StepProfile> profile;
    if (bySteps)
      profile.emplace();
    const Clock::time_point start = Clock::now();
    INGOT_CHECK(candidate.call());
    candidate.whole.push_back(std::chrono::duration<double, std::milli>(Clock::now() - start).count());
    if (!profile)
      continue;
    for (const StepProfile::Record &record : profile->records) {
      if (record.work.problem.empty())
        continue;
      Candidate::Samples &samples = candidate.byProblem[record.work.problem];
      samples.used = record.work.method;
      samples.milliseconds.push_back(1e3 * record.seconds());
    }
  }
  return {};
}

/// All in turns, so that whatever else the machine does hits them alike.
Status measureInTurns(std::vector<Candidate> &candidates, double seconds, bool bySteps) {
  const Clock::time_point start = Clock::now();
  auto elapsed = [&] { return std::chrono::duration<double>(Clock::now() - start).count(); };
  for (size_t round = 0; round < kMinRounds || elapsed() < seconds; ++round) {
    for (size_t i = 0; i < candidates.size(); ++i)
      INGOT_CHECK(measure(candidates[(i + round) % candidates.size()], bySteps));
    if (::isatty(STDERR_FILENO))
      std::cerr << "\r  " << (bySteps ? "every step" : "whole calls") << ": round " << round + 1 << "\033[K"
                << std::flush;
  }
  if (::isatty(STDERR_FILENO))
    std::cerr << "\r\033[K" << std::flush;
  for (Candidate &candidate : candidates) {
    std::ranges::sort(candidate.whole);
    for (auto &[problem, samples] : candidate.byProblem)
      std::ranges::sort(samples.milliseconds);
  }
  return {};
}

struct Choice {
  std::string problem, usual, chosen;
  double usualMs, chosenMs;
  Method method;
};

/// Of the first candidate, which is the usual one, and the others.
std::vector<Choice> choose(const std::vector<Candidate> &candidates) {
  std::vector<Choice> choices;
  for (const auto &[problem, usual] : candidates.front().byProblem) {
    const double median = quantile(usual.milliseconds, 0.5);
    Choice best{problem, usual.used, usual.used, median, kClearly * median, Method::Usual};
    for (const Candidate &candidate : candidates) {
      const auto found = candidate.byProblem.find(problem);
      if (found == candidate.byProblem.end() || found->second.used == usual.used)
        continue;
      const double its = quantile(found->second.milliseconds, 0.5);
      if (its < best.chosenMs && quantile(found->second.milliseconds, 0.75) < median)
        best = {problem, usual.used, found->second.used, median, its, candidate.method};
    }
    if (best.method != Method::Usual)
      choices.push_back(std::move(best));
  }
  return choices;
}

using Methods = std::vector<std::pair<std::string, Method>>;

Methods usualEverywhere(const Candidate &usual) {
  Methods methods;
  for (const auto &[problem, samples] : usual.byProblem)
    methods.emplace_back(problem, Method::Usual);
  return methods;
}

/// Medians of whole calls: by the usual methods, and by what is kept.
Result<std::pair<double, double>> compareWhole(const TuneOptions &options) {
  std::vector<Candidate> both;
  for (std::string_view method : {std::string_view("usual"), std::string_view()}) {
    INGOT_TRY(Candidate made, makeCandidate(options, method));
    both.push_back(std::move(made));
  }
  INGOT_CHECK(measureInTurns(both, options.seconds / 4, false));
  return std::pair(quantile(both[0].whole, 0.5), quantile(both[1].whole, 0.5));
}

/// Without the number of threads and the precision, which are those of all.
std::string stepOf(const std::string &problem) {
  return problem.substr(0, problem.rfind(", ", problem.rfind(", ") - 1));
}

/// Medians in milliseconds by problem and by what computed it.
json timesJson(const std::vector<Candidate> &candidates) {
  json times = json::object();
  for (const Candidate &candidate : candidates)
    for (const auto &[problem, samples] : candidate.byProblem)
      if (!times[problem].contains(samples.used))
        times[problem][samples.used] = quantile(samples.milliseconds, 0.5);
  return times;
}

struct Outcome {
  json times;
  std::vector<Choice> choices;
  double usualMs = 0, tunedMs = 0; ///< of whole calls, where there are choices
  bool isKept = false;
};

void report(const TuneOptions &options, const Outcome &outcome, bool asJson) {
  if (asJson) {
    json list = json::array();
    for (const Choice &choice : outcome.choices)
      list.push_back({{"problem", choice.problem},
                      {"usual", choice.usual},
                      {"usual_ms", choice.usualMs},
                      {"chosen", choice.chosen},
                      {"chosen_ms", choice.chosenMs}});
    printJson({{"asset", options.call.asset},
               {"threads", ingot_get_num_threads()},
               {"problems", outcome.times},
               {"faster", std::move(list)},
               {"usual_ms", outcome.usualMs},
               {"tuned_ms", outcome.tunedMs},
               {"kept", outcome.isKept}});
    return;
  }
  std::cout << outcome.times.size() << " steps that can be computed in several ways, with " << ingot_get_num_threads()
            << " threads\n";
  Table table;
  for (const Choice &choice : std::span(outcome.choices).first(std::min(kMostRows, outcome.choices.size())))
    table.add({stepOf(choice.problem), choice.usual + " " + fixedText(choice.usualMs, 3) + " ms",
               choice.chosen + " " + fixedText(choice.chosenMs, 3) + " ms"});
  std::cout << table.str();
  if (outcome.choices.size() > kMostRows)
    std::cout << "  and " << outcome.choices.size() - kMostRows << " more\n";
  if (outcome.choices.empty()) {
    std::cout << "the usual ways are the fastest\n";
    return;
  }
  std::cout << "whole calls: " << fixedText(outcome.usualMs, 3) << " ms, with these " << fixedText(outcome.tunedMs, 3)
            << " ms: " << (outcome.isKept ? paint("kept", Colour::Green, stdout) + " in the cache" : "not kept")
            << "\n";
}

/// Every method in the whole program.
Result<std::vector<Candidate>> measureAll(const TuneOptions &options) {
  std::vector<Candidate> candidates;
  for (std::string_view method : {"usual", "panels", "winograd", "onednn"}) {
    INGOT_TRY(Candidate made, makeCandidate(options, method));
    candidates.push_back(std::move(made));
  }
  INGOT_CHECK(measureInTurns(candidates, options.seconds, true));
  return candidates;
}

/// Keeps the choices where calls are faster with them.
Status tryOut(const TuneOptions &options, const LoadOptions &load, const Methods &usual, Outcome &outcome) {
  Methods methods = usual;
  for (const Choice &choice : outcome.choices)
    methods.emplace_back(choice.problem, choice.method);
  INGOT_CHECK(keepMethods(options.call.asset, load, methods));
  if (outcome.choices.empty())
    return {};
  INGOT_TRY(const auto whole, compareWhole(options));
  std::tie(outcome.usualMs, outcome.tunedMs) = whole;
  outcome.isKept = outcome.tunedMs < kFaster * outcome.usualMs;
  return outcome.isKept ? Status() : keepMethods(options.call.asset, load, usual);
}

Status forget(const TuneOptions &options, const LoadOptions &load, bool asJson) {
  INGOT_TRY(Candidate usual, makeCandidate(options, "usual"));
  INGOT_CHECK(measure(usual, true));
  const Methods methods = usualEverywhere(usual);
  INGOT_CHECK(keepMethods(options.call.asset, load, methods));
  if (asJson)
    printJson({{"asset", options.call.asset}, {"forgotten", methods.size()}});
  else
    std::cout << "the usual ways are used for " << methods.size() << " steps\n";
  return {};
}

Status tune(const TuneOptions &options, bool asJson) {
  LoadOptions load;
  load.fallback = options.call.load.fallback;
  if (options.forgets)
    return forget(options, load, asJson);
  INGOT_TRY(std::vector<Candidate> candidates, measureAll(options));
  Outcome outcome{timesJson(candidates), choose(candidates)};
  const Methods usual = usualEverywhere(candidates.front());
  candidates.clear(); // their memory
  INGOT_CHECK(tryOut(options, load, usual, outcome));
  report(options, outcome, asJson);
  return {};
}

} // namespace

void cli::addTune(CLI::App &app, Request &request) {
  auto options = std::make_shared<TuneOptions>();
  CLI::App *command =
      app.add_subcommand("tune", "Measure how products and convolutions are computed best on this machine");
  addCallOptions(*command, options->call);
  command->add_option("--seconds", options->seconds, "How long to measure, at least")
      ->check(numberFrom(0))
      ->capture_default_str();
  command->add_flag("--forget", options->forgets, "Go back to the usual ways instead");
  command->footer(examples);
  setAction(*command, request, options, tune);
}
