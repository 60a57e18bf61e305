// ingot show: what is in an asset, a .pt2 file or a graph document, as text or as a page.
#include "Command.h"
#include "Graphs.h"
#include "Summary.h"
#include "Text.h"
#include "base/Message.h"
#include "graph/Html.h"
#include "graph/Info.h"
#include "graph/Text.h"

#include <algorithm>
#include <filesystem>
#include <iostream>
#include <set>
#include <tuple>

using namespace ingot;
using namespace ingot::cli;
using nlohmann::json;

namespace {

struct ShowOptions {
  std::string path, html;
};

constexpr const char *examples = R"(Examples:
  ingot show resnet50.ingot
  ingot show resnet50.pt2 --json
  ingot show resnet50.pt2 --html resnet50.html      (a page with the graph, for any browser)
)";

json symbolsJson(const Summary &summary) {
  json list = json::array();
  std::set<std::tuple<std::string_view, int64_t, int64_t>> seen;
  for (const asset::EntryPoint &entry : summary.entryPoints)
    for (const asset::Symbol &symbol : entry.symbols)
      if (seen.emplace(symbol.name, symbol.min, symbol.max).second)
        list.push_back({{"name", symbol.name}, {"min", symbol.min}, {"max", symbol.max}});
  return list;
}

json memoryJson(const Summary &summary) {
  json list = json::array();
  for (const Summary::MemoryUse &use : summary.memory)
    list.push_back({{"entry_point", use.entry},
                    {"arena_bytes", use.arenaBytes},
                    {"unshared_bytes", use.unsharedBytes},
                    {"sizes", use.sizes}});
  return list;
}

json summaryJson(const Summary &summary) {
  json value = {{"kind", summary.kind}, {"path", summary.path}, {"ops", summary.opCounts}};
  for (const auto &[key, text] : summary.origin)
    value[key] = text;
  value["entry_points"] = json::parse(asset::entryPointsText(summary.entryPoints));
  value["symbols"] = symbolsJson(summary);
  value["weights"] = {{"count", summary.weightCount}, {"bytes", summary.weightBytes}};
  if (summary.kind == "asset") {
    json files = json::array();
    for (const auto &[name, size] : summary.files)
      files.push_back({{"name", name}, {"size", size}});
    value["files"] = std::move(files);
    value["requirements"] = summary.requirements;
    value["fallback"] = json::parse(asset::fallbackText(summary.fallback));
    value["specialisations"] = summary.specialisations;
    value["memory"] = memoryJson(summary);
  }
  return value;
}

std::vector<std::string> portRow(const asset::Port &port) {
  if (!port.literal.empty())
    return {"  " + port.name, "= " + port.literal};
  std::string note = port.state.empty() ? "" : "changed in place";
  return {"  " + port.name, port.isScalar ? "number" : shapeText(port.shape), std::string(dtypeName(port.dtype)), note};
}

std::string entryText(const asset::EntryPoint &entry) {
  std::string text = paint("entry point " + entry.name, Colour::Bold, stdout) + "\n";
  auto addPorts = [&](const char *title, const std::vector<asset::Port> &ports) {
    Table table;
    for (const asset::Port &port : ports)
      table.add(portRow(port));
    text += std::string("  ") + title + "\n" + table.str();
  };
  addPorts("inputs", entry.inputs);
  addPorts("outputs", entry.outputs);
  Table states, symbols;
  for (const asset::StatePort &state : entry.states)
    states.add({"  " + state.name, shapeText(state.shape), std::string(dtypeName(state.dtype))});
  for (const asset::Symbol &symbol : entry.symbols)
    symbols.add({"  " + symbol.name, std::to_string(symbol.min) + " ..",
                 symbol.max == std::numeric_limits<int64_t>::max() ? "any" : std::to_string(symbol.max)});
  if (!states.isEmpty())
    text += "  states\n" + states.str();
  if (!symbols.isEmpty())
    text += "  symbols\n" + symbols.str();
  return text;
}

std::string opsText(const Summary &summary) {
  std::vector<std::pair<int64_t, std::string>> rows;
  int64_t total = 0;
  for (const auto &[name, count] : summary.opCounts) {
    rows.emplace_back(-count, name);
    total += count;
  }
  std::ranges::sort(rows);
  Table table;
  for (const auto &[count, name] : rows)
    table.add({name, std::to_string(-count)});
  return paint(std::to_string(total) + " ops", Colour::Bold, stdout) + "\n" + table.str();
}

std::string memoryText(const Summary &summary) {
  std::string text;
  for (const Summary::MemoryUse &use : summary.memory) {
    text += paint("memory of a call", Colour::Bold, stdout) + "  " + plainText(use.entry) + ": " +
            bytesText(use.arenaBytes) + " (without sharing " + bytesText(use.unsharedBytes) + ")";
    for (const auto &[symbol, size] : use.sizes)
      text += ", " + plainText(symbol) + " = " + std::to_string(size);
    text += "\n";
  }
  return text;
}

void printSummary(const Summary &summary) {
  std::cout << paint(summary.path, Colour::Bold, stdout) << " (";
  for (size_t i = 0; i < summary.origin.size(); ++i)
    std::cout << (i ? ", " : "") << summary.origin[i].first << " " << plainText(summary.origin[i].second);
  std::cout << ")\n";
  for (const asset::EntryPoint &entry : summary.entryPoints)
    std::cout << entryText(entry);
  std::cout << opsText(summary);
  std::cout << paint("weights", Colour::Bold, stdout) << "  " << summary.weightCount << ", "
            << bytesText(summary.weightBytes) << "\n";
  std::cout << memoryText(summary);
  Table files;
  for (const auto &[name, size] : summary.files)
    files.add({name, bytesText(size)});
  if (!files.isEmpty())
    std::cout << paint("files", Colour::Bold, stdout) << "\n" << files.str();
  for (const std::string &key : summary.specialisations)
    std::cout << paint("compiled for", Colour::Bold, stdout) << "  " << plainText(key) << "\n";
  Table fallback;
  for (const asset::FallbackOp &op : summary.fallback)
    fallback.add({op.name, std::to_string(op.count), op.reason});
  if (!fallback.isEmpty())
    std::cout << paint("run with PyTorch (--fallback)", Colour::Bold, stdout) << "\n" << fallback.str();
  for (const std::string &requirement : summary.requirements)
    std::cout << paint("requires", Colour::Bold, stdout) << "  " << plainText(requirement) << "\n";
}

Status writePage(const ShowOptions &options, bool asJson) {
  INGOT_CHECK(checkOutput(options.html, {options.path}));
  INGOT_TRY(graph::Document document, loadGraph(options.path));
  INGOT_CHECK(writeText(options.html, graph::html(document)));
  if (asJson)
    printJson({{"path", options.path}, {"html", options.html}});
  else
    std::cout << "wrote " << options.html << "\n";
  return {};
}

Status showDocument(const ShowOptions &options, bool asJson) {
  INGOT_TRY(graph::Document document, loadGraph(options.path));
  return writeText("", asJson ? graph::jsonText(graph::infoJson(document), 2) : plainText(graph::infoText(document)));
}

Status show(const ShowOptions &options, bool asJson) {
  if (!options.html.empty())
    return writePage(options, asJson);
  std::error_code failure;
  bool isFile = std::filesystem::is_regular_file(options.path, failure);
  if (isFile && isJson(options.path))
    return showDocument(options, asJson);
  INGOT_TRY(Summary summary, isFile ? summarisePt2(options.path) : summariseAsset(options.path));
  if (asJson)
    printJson(summaryJson(summary));
  else
    printSummary(summary);
  return {};
}

} // namespace

void cli::addShow(CLI::App &app, Request &request) {
  auto options = std::make_shared<ShowOptions>();
  CLI::App *command = app.add_subcommand("show", "Show what is in an asset, a .pt2 file or a graph document");
  command->add_option("FILE", options->path, "An asset's directory, a .pt2 file or a graph document")->required();
  command->add_option("--html", options->html, "Write a page with the graph to this file");
  command->footer(examples);
  setAction(*command, request, options, show);
}
