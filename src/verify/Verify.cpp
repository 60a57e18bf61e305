#include "verify/Verify.h"

#include "base/AtomicWrite.h"
#include "base/SafeTensors.h"
#include "verify/Sites.h"

#include <algorithm>
#include <cmath>
#include <filesystem>

namespace ingot::verify {

using pt2::Rewrite;
using pt2::Tap;

namespace {

/// How many places are looked at in one run when bisecting.
constexpr size_t kPlaces = 16;
/// How often rounding may turn out to be the reason before it is called unreasonable.
constexpr int kRounds = 6;
/// By how much more rounding may grow after the node where it first showed.
constexpr double kGrowth = 4;
/// Nodes that cannot be converted alone, before the reason is taken to be another one.
constexpr size_t kMaxNotAlone = 16;

/// A value that departs.
struct Finding {
  size_t site = 0;
  std::string value;
  Difference difference;
  Value eager, ours;
};

class Verification {
public:
  Verification(const pt2::Program &program, Runner &runner, const Eager &eagerSide, const Options &options)
      : sites(program), runner(runner), eagerSide(eagerSide), options(options) {}

  Result<Report> run();

private:
  Status prepare();
  Status walk();
  Status search();
  Result<std::optional<Finding>> firstDeparting(double scale);
  Result<std::optional<Finding>> bisect(double scale, Finding found);
  Result<Verdict> judge(Finding &finding);
  Status finish(Verdict verdict, const Finding &finding);
  Result<std::optional<Report>> lookInside(size_t site, const Values &operands);
  Status save(const Site &site, const Finding &finding, Departure &departure, const Values &operands);

  Result<Values> eager(const std::vector<Tap> &taps);
  Result<Values> ours(const std::vector<Tap> &taps);
  Result<Values> alone(const std::vector<size_t> &chosen, const Values &values, Runner::Side side);
  Result<Values> aloneWhereItCan(const std::vector<size_t> &chosen, const Values &values);
  std::vector<std::vector<size_t>> chunks() const;
  std::optional<Finding> compareValue(size_t site, const std::string &value, const std::string &key,
                                      const Values &eagerValues, const Values &ourValues, double scale);
  std::optional<Finding> compareSite(size_t site, const Values &eagerValues, const Values &ourValues, double scale);
  Result<std::optional<Finding>> compareOutputs(double scale);
  void leaveOut(const Site &site, const std::string &why);
  void show(const std::string &what, size_t done, size_t total) const {
    if (options.progress)
      options.progress(what, done, total);
  }

  Sites sites;
  Runner &runner;
  const Eager eagerSide;
  const Options &options;
  Values given; ///< eager's values of nodes that cannot be compared, as rewritten programs take them
  Report report;
};

Rewrite looking(std::vector<std::string> given, std::vector<Tap> taps) {
  Rewrite rewrite;
  rewrite.given = std::move(given);
  rewrite.taps = std::move(taps);
  return rewrite;
}

void addAll(std::vector<Tap> &taps, const std::vector<Tap> &more) { taps.insert(taps.end(), more.begin(), more.end()); }

/// What a node takes and gives.
std::vector<Tap> tapsAround(const Site &site) {
  std::vector<Tap> taps = site.operands;
  for (const std::string &name : site.numbers)
    taps.push_back({name});
  for (const std::string &name : site.results)
    taps.push_back({name});
  return taps;
}

std::variant<int64_t, double, bool> numberOf(const Value &value) {
  const std::byte *data = value.data.data();
  switch (value.dtype) {
  case DType::Bool:
    return *reinterpret_cast<const uint8_t *>(data) != 0;
  case DType::Float64:
    return *reinterpret_cast<const double *>(data);
  default:
    return *reinterpret_cast<const int64_t *>(data);
  }
}

void Verification::leaveOut(const Site &site, const std::string &why) {
  report.leftOut.push_back({site.name, site.op, why});
}

Result<Values> Verification::eager(const std::vector<Tap> &taps) {
  if (eagerSide)
    return eagerSide(taps);
  return runner.run(looking(sites.given(), taps), Runner::Side::Torch, given);
}

Result<Values> Verification::ours(const std::vector<Tap> &taps) {
  return runner.run(looking(sites.given(), taps), Runner::Side::Ingot, given);
}

/// Draws the random numbers that both sides see from now on.
Status Verification::prepare() {
  std::vector<Tap> taps;
  for (const Site &site : sites.all)
    if (!site.givenBecause.empty()) {
      leaveOut(site, site.givenBecause);
      for (const std::string &name : site.results)
        taps.push_back({name});
    }
  if (taps.empty())
    return {};
  Result<Values> drawn = eagerSide ? eagerSide(taps) : runner.run(looking({}, taps), Runner::Side::Torch);
  if (!drawn)
    return std::move(drawn.error());
  for (auto &[key, value] : *drawn) {
    given["given:" + key] = value; // of nodes that write in place
    given[key] = value;
  }
  return {};
}

//===----------------------------------------------------------------------===//
// Nodes one by one, fed with eager's values
//===----------------------------------------------------------------------===//

Result<Values> Verification::alone(const std::vector<size_t> &chosen, const Values &values, Runner::Side side) {
  Rewrite rewrite;
  for (size_t index : chosen) {
    const Site &site = sites.all[index];
    rewrite.alone.push_back(site.name);
    rewrite.operands[site.name] = site.operands;
    for (const std::string &name : site.results)
      rewrite.taps.push_back({name});
    for (const std::string &name : site.numbers)
      if (auto it = values.find(name); it != values.end() && !it->second.data.empty())
        rewrite.numbers[name] = numberOf(it->second);
  }
  for (const auto &[key, value] : values)
    rewrite.sizes[key] = value.shape;
  return runner.run(rewrite, side, values);
}

/// Halves what cannot be converted until it is known which node is the reason.
Result<Values> Verification::aloneWhereItCan(const std::vector<size_t> &chosen, const Values &values) {
  Result<Values> made = alone(chosen, values, Runner::Side::Ingot);
  if (made || chosen.empty())
    return made;
  if (chosen.size() == 1) {
    std::string why = made.error().message;
    leaveOut(sites.all[chosen.front()], "alone it cannot be converted: " + why.substr(0, why.find('\n')));
    sites.all[chosen.front()].notAloneBecause = why;
    size_t count = std::ranges::count_if(sites.all, [](const Site &site) { return !site.notAloneBecause.empty(); });
    if (count > kMaxNotAlone)
      return made;
    return Values();
  }
  auto middle = chosen.begin() + static_cast<ptrdiff_t>(chosen.size() / 2);
  INGOT_TRY(Values first, aloneWhereItCan({chosen.begin(), middle}, values));
  INGOT_TRY(Values second, aloneWhereItCan({middle, chosen.end()}, values));
  first.merge(second);
  return first;
}

/// Nodes that can be compared alone, in order, in pieces that fit into the memory allowed.
std::vector<std::vector<size_t>> Verification::chunks() const {
  std::vector<std::vector<size_t>> list;
  uint64_t bytes = 0;
  for (size_t i = 0; i < sites.all.size(); ++i) {
    const Site &site = sites.all[i];
    if (!site.givenBecause.empty() || !site.notAloneBecause.empty() || site.results.empty())
      continue;
    if (list.empty() || bytes + site.bytes > options.chunkBytes) {
      list.emplace_back();
      bytes = 0;
    }
    list.back().push_back(i);
    bytes += site.bytes;
  }
  return list;
}

std::optional<Finding> Verification::compareValue(size_t site, const std::string &value, const std::string &key,
                                                  const Values &eagerValues, const Values &ourValues, double scale) {
  auto left = eagerValues.find(key), right = ourValues.find(key);
  if (left == eagerValues.end() || right == ourValues.end())
    return std::nullopt;
  Difference difference = compare(left->second, right->second, options.tolerance, scale);
  if (!difference.departs())
    return std::nullopt;
  return Finding{site, value, std::move(difference), left->second, right->second};
}

std::optional<Finding> Verification::compareSite(size_t site, const Values &eagerValues, const Values &ourValues,
                                                 double scale) {
  for (const std::string &name : sites.all[site].results)
    if (std::optional<Finding> found = compareValue(site, name, name, eagerValues, ourValues, scale))
      return found;
  return std::nullopt;
}

Status Verification::walk() {
  std::optional<Finding> first;
  size_t total = sites.all.size();
  for (const std::vector<size_t> &chunk : chunks()) {
    show("nodes one by one", chunk.front(), total);
    std::vector<Tap> taps;
    for (size_t index : chunk)
      addAll(taps, tapsAround(sites.all[index]));
    INGOT_TRY(Values eagerValues, eager(taps));
    INGOT_TRY(Values ourValues, aloneWhereItCan(chunk, eagerValues));
    for (size_t index : chunk) {
      report.compared += sites.all[index].notAloneBecause.empty();
      std::optional<Finding> found = compareSite(index, eagerValues, ourValues, 1);
      if (found && first)
        report.alsoDeparting.push_back(sites.all[index].name);
      else if (found)
        first = std::move(found);
    }
    if (first)
      return finish(Verdict::Lowering, *first);
  }
  for (const Site &site : sites.all)
    if (site.notAloneBecause == "it looks at the memory of its operand")
      leaveOut(site, site.notAloneBecause);
  return {};
}

//===----------------------------------------------------------------------===//
// The whole program, looked at in a few places
//===----------------------------------------------------------------------===//

Result<std::optional<Finding>> Verification::compareOutputs(double scale) {
  std::vector<Tap> taps = sites.outputs();
  INGOT_TRY(Values eagerValues, eager(taps));
  INGOT_TRY(Values ourValues, ours(taps));
  std::optional<Finding> worst;
  for (const Tap &tap : taps) {
    std::string key = tap.key();
    Difference difference = compare(eagerValues[key], ourValues[key], options.tolerance);
    if (difference.problem.empty() && std::isfinite(difference.ratio))
      report.rounding = std::max(report.rounding, difference.ratio);
    if (!worst)
      worst = compareValue(sites.all.size(), tap.value, key, eagerValues, ourValues, scale);
  }
  return worst;
}

/// The first node in order whose value departs in a run of the whole program; nothing if the outputs do not depart.
Result<std::optional<Finding>> Verification::firstDeparting(double scale) {
  INGOT_TRY(std::optional<Finding> found, compareOutputs(scale));
  if (!found)
    return found;
  return bisect(scale, *std::move(found));
}

/// `found` lies behind the interval. All that is live at a place is looked at: if it is right there, then what departs
/// comes later.
Result<std::optional<Finding>> Verification::bisect(double scale, Finding found) {
  size_t begin = 0, end = sites.all.size(); // of the nodes that may be the first
  while (end - begin > kPlaces) {
    show("bisecting", sites.all.size() - (end - begin), sites.all.size());
    std::vector<size_t> places;
    std::vector<Tap> taps;
    for (size_t i = 1; i <= kPlaces; ++i)
      places.push_back(begin + (end - begin) * i / (kPlaces + 1));
    for (size_t place : places)
      addAll(taps, sites.liveAfter(place));
    INGOT_TRY(Values eagerValues, eager(taps));
    INGOT_TRY(Values ourValues, ours(taps));
    for (size_t place : places) {
      std::optional<Finding> here;
      for (const Tap &tap : sites.liveAfter(place))
        if (!here)
          here = compareValue(place, tap.value, tap.key(), eagerValues, ourValues, scale);
      if (here) {
        end = place + 1;
        found = *std::move(here);
        break;
      }
      begin = place + 1;
    }
  }
  std::vector<Tap> taps;
  for (size_t i = begin; i < end; ++i)
    if (sites.all[i].givenBecause.empty())
      for (const std::string &name : sites.all[i].results)
        taps.push_back({name});
  INGOT_TRY(Values eagerValues, eager(taps));
  INGOT_TRY(Values ourValues, ours(taps));
  for (size_t i = begin; i < end; ++i)
    if (std::optional<Finding> here = compareSite(i, eagerValues, ourValues, scale))
      return here;
  if (begin < end)
    report.notes.push_back("'" + found.value + "' departs, but none of the nodes '" + sites.all[begin].name + "' to '" +
                           sites.all[end - 1].name + "' does when all of them are looked at");
  return std::optional<Finding>(std::move(found));
}

/// Why the value of a node departs: by itself, through its neighbours, or through what it is fed with.
Result<Verdict> Verification::judge(Finding &finding) {
  if (finding.site >= sites.all.size() || std::ranges::count(sites.all[finding.site].results, finding.value) == 0)
    return Verdict::Company;
  const Site &site = sites.all[finding.site];
  std::vector<Tap> taps = tapsAround(site);
  INGOT_TRY(Values eagerValues, eager(taps));
  if (site.notAloneBecause.empty()) {
    INGOT_TRY(Values ourValues, aloneWhereItCan({finding.site}, eagerValues));
    if (std::optional<Finding> found = compareSite(finding.site, eagerValues, ourValues, 1)) {
      finding = *std::move(found);
      return Verdict::Lowering;
    }
  }
  if (!site.notAloneBecause.empty())
    return Verdict::Company;
  INGOT_TRY(Values inCompany, ours(taps));
  INGOT_TRY(Values reference, alone({finding.site}, inCompany, Runner::Side::Torch));
  return compareSite(finding.site, reference, inCompany, 1) ? Verdict::Company : Verdict::AddsUp;
}

Status Verification::search() {
  double scale = 1;
  std::optional<Finding> grown;
  for (int round = 0; round < kRounds; ++round) {
    INGOT_TRY(std::optional<Finding> found, firstDeparting(scale));
    if (!found) {
      if (grown)
        report.notes.push_back("rounding adds up, first beyond the tolerance at node '" + sites.all[grown->site].name +
                               "'; every node that was looked at agrees with what it was fed with");
      return {};
    }
    INGOT_TRY(Verdict verdict, judge(*found));
    if (verdict != Verdict::AddsUp)
      return finish(verdict, *found);
    scale = std::max(scale, found->difference.ratio) * kGrowth;
    grown = std::move(found);
  }
  return finish(Verdict::AddsUp, *grown);
}

//===----------------------------------------------------------------------===//
// What is reported
//===----------------------------------------------------------------------===//

std::string fileName(std::string node) {
  for (char &letter : node)
    if (!std::isalnum(static_cast<unsigned char>(letter)) && letter != '_' && letter != '-')
      letter = '_';
  return node;
}

Status Verification::save(const Site &site, const Finding &finding, Departure &departure, const Values &operands) {
  if (options.saveTo.empty())
    return {};
  std::error_code failure;
  std::filesystem::create_directories(options.saveTo, failure);
  if (failure)
    return ioError("cannot create '" + options.saveTo + "': " + failure.message());
  std::string name = fileName(site.name), base = options.saveTo + "/" + name;
  std::vector<SafeTensor> tensors;
  for (const auto &[key, value] : operands)
    tensors.push_back({key, value.dtype, value.shape, value.data});
  tensors.push_back({"eager:" + finding.value, finding.eager.dtype, finding.eager.shape, finding.eager.data});
  tensors.push_back({"ingot:" + finding.value, finding.ours.dtype, finding.ours.shape, finding.ours.data});
  INGOT_CHECK(writeSafeTensors(base + ".safetensors", tensors));
  if (!departure.call.empty()) {
    std::string script = "# " + site.op + " as it was called in node '" + site.name +
                         "', for eager.\nfrom pathlib import Path\n\nimport torch\nfrom safetensors.torch import "
                         "load_file\n\nt = load_file(Path(__file__).with_name(\"" +
                         name + ".safetensors\"))\nprint(\"eager now:  \", " + departure.call +
                         ")\nprint(\"eager then: \", t[\"eager:" + finding.value +
                         "\"])\nprint(\"ingot:      \", t[\"ingot:" + finding.value + "\"])\n";
    INGOT_CHECK(writeFileAtomically(base + ".py", script));
  }
  departure.savedTo = options.saveTo;
  return {};
}

/// What departs in the body of a higher-order node that was run, if that can be told.
Result<std::optional<Report>> Verification::lookInside(size_t site, const Values &operands) {
  const pt2::Node &node = sites.program.graph.nodes[site];
  pt2::Bodies found = pt2::bodiesOf(node);
  if (found.bodies.empty())
    return std::optional<Report>();
  size_t body = node.target.ends_with("while_loop") ? 1 : 0;
  if (node.target.ends_with(".cond") && !sites.all[site].operands.empty())
    if (auto taken = operands.find(sites.all[site].operands.front().key()); taken != operands.end())
      body = std::visit([](auto number) { return number != 0; }, numberOf(taken->second)) ? 0 : 1;
  if (body >= found.bodies.size() || found.operands.size() != found.bodies[body]->graph->inputs.size())
    return std::optional<Report>();
  Values inputs;
  for (size_t i = 0; i < found.operands.size(); ++i) {
    const std::string &name = found.operands[i];
    auto value = std::ranges::find_if(
        operands, [&](const auto &entry) { return entry.first == name || entry.first.starts_with(name + "@"); });
    std::string inner;
    pt2::forEachValueName(found.bodies[body]->graph->inputs[i], [&](const std::string &called) { inner = called; });
    if (value == operands.end() || inner.empty())
      return std::optional<Report>();
    inputs[inner] = value->second;
  }
  pt2::Program program = sites.program;
  Rewrite rewrite;
  rewrite.enter = {{sites.all[site].name, body}};
  INGOT_CHECK(pt2::rewriteProgram(program, rewrite));
  Runner inner = runner.inside(rewrite.enter.front(), std::move(inputs));
  Result<Report> report = Verification(program, inner, nullptr, options).run();
  // The body need not be a program that can be run by itself; the node as a whole has departed anyway.
  if (!report || !report->departure)
    return std::optional<Report>();
  return std::optional<Report>(*std::move(report));
}

Status Verification::finish(Verdict verdict, const Finding &finding) {
  report.verdict = verdict;
  Departure departure;
  departure.value = finding.value;
  departure.difference = finding.difference;
  departure.eager = statisticsOf(finding.eager);
  departure.ours = statisticsOf(finding.ours);
  departure.type = typeText(finding.eager);
  if (finding.site < sites.all.size()) {
    const Site &site = sites.all[finding.site];
    departure.node = site.name;
    departure.op = site.op;
    pt2::SourceLocation source = sites.locate(finding.site);
    departure.module = source.modulePath;
    departure.moduleType = source.moduleType;
    if (source.frame) {
      departure.file = source.frame->file;
      departure.line = source.frame->line;
      departure.function = source.frame->function;
      departure.code = source.frame->code;
    }
    departure.call = sites.callText(finding.site);
    std::vector<Tap> taps = site.operands;
    addAll(taps, site.weights);
    for (const std::string &name : site.numbers)
      taps.push_back({name});
    INGOT_TRY(Values operands, eager(taps));
    for (const auto &[key, value] : operands)
      departure.operands.push_back({key, typeText(value)});
    INGOT_TRY(std::optional<Report> inside, lookInside(finding.site, operands));
    if (inside) {
      departure = std::move(*inside->departure);
      departure.node = site.name + "/" + departure.node;
      report.verdict = inside->verdict;
      report.notes.insert(report.notes.end(), inside->notes.begin(), inside->notes.end());
    } else {
      INGOT_CHECK(save(site, finding, departure, operands));
    }
  } else {
    departure.node = pt2::kGraphEnd;
    departure.op = "output";
  }
  report.departure = std::move(departure);
  return {};
}

Result<Report> Verification::run() {
  report.nodes =
      static_cast<size_t>(std::ranges::count_if(sites.all, [](const Site &site) { return !site.results.empty(); }));
  INGOT_CHECK(prepare());
  if (!options.perNode) {
    INGOT_TRY(std::optional<Finding> found, compareOutputs(1));
    if (found)
      INGOT_CHECK(finish(Verdict::Outputs, *found));
  } else {
    if (!options.bisect)
      INGOT_CHECK(walk());
    if (report.isEqual())
      INGOT_CHECK(search());
  }
  report.runs = runner.runs();
  return std::move(report);
}

} // namespace

Result<Report> verify(const pt2::Program &program, Runner &runner, const Eager &eager, const Options &options) {
  return Verification(program, runner, eager, options).run();
}

} // namespace ingot::verify
