#include "ProfilePage.h"

#include "Text.h"

#include <algorithm>

using nlohmann::json;

namespace {

constexpr const char *kStyle = R"(
:root { color-scheme: light dark; --ink: #1f2933; --faint: #7b8794; --line: #d9dee5; --bar: #d9480f; --paper: #fff; }
@media (prefers-color-scheme: dark) { :root { --ink: #e4e7eb; --faint: #9aa5b1; --line: #3e4c59; --paper: #1b2128; } }
body { font: 14px/1.5 system-ui, sans-serif; color: var(--ink); background: var(--paper); margin: 2rem auto; max-width: 72rem; padding: 0 1rem; }
h1 { font-size: 1.4rem; } h2 { font-size: 1.1rem; margin-top: 2rem; } p { color: var(--faint); }
table { border-collapse: collapse; width: 100%; }
th, td { text-align: right; padding: .2rem .6rem; border-bottom: 1px solid var(--line); white-space: nowrap; }
th:first-child, td:first-child { text-align: left; font-family: ui-monospace, monospace; white-space: normal; word-break: break-all; }
td.bar { width: 30%; } td.bar div { background: var(--bar); height: .7rem; border-radius: 2px; }
)";

std::string escaped(const std::string &text) {
  std::string result;
  for (char c : text)
    switch (c) {
    case '<':
      result += "&lt;";
      break;
    case '>':
      result += "&gt;";
      break;
    case '&':
      result += "&amp;";
      break;
    case '"':
      result += "&quot;";
      break;
    default:
      result += c;
    }
  return result;
}

std::string tableOf(const char *title, const json &shares) {
  double total = 0, largest = 1e-12;
  for (const json &share : shares) {
    total += share["ms"].get<double>();
    largest = std::max(largest, share["ms"].get<double>());
  }
  std::string html = "<h2>" + std::string(title) +
                     "</h2><table><tr><th></th><th>times</th><th>ms</th><th>share</th><th></th><th>GFLOP/s</th><th>GB/s"
                     "</th></tr>";
  for (const json &share : shares) {
    const double ms = share["ms"].get<double>();
    html += "<tr><td>" + escaped(share["name"].get<std::string>()) + "</td><td>" +
            std::to_string(share["times"].get<size_t>()) + "</td><td>" + ingot::cli::fixedText(ms, 3) + "</td><td>" +
            ingot::cli::fixedText(100 * ms / std::max(total, 1e-12), 1) +
            " %</td><td class=bar><div style=\"width:" + ingot::cli::fixedText(100 * ms / largest, 1) +
            "%\"></div></td><td>" + ingot::cli::fixedText(share["gflops"].get<double>(), 1) + "</td><td>" +
            ingot::cli::fixedText(share["gigabytes_per_second"].get<double>(), 1) + "</td></tr>";
  }
  return html + "</table>";
}

} // namespace

std::string ingot::cli::profilePage(const std::string &asset, const json &summary) {
  const json &machine = summary["machine"];
  double total = 0;
  for (const json &share : summary["by_kernel"])
    total += share["ms"].get<double>();
  return "<!doctype html><html lang=en><meta charset=utf-8><title>Profile of " + escaped(asset) + "</title><style>" +
         kStyle + "</style><h1>" + escaped(asset) + "</h1><p>" + ingot::cli::fixedText(total, 3) + " ms a call, " +
         std::to_string(summary["calls"].get<size_t>()) + " calls, " + std::to_string(summary["threads"].get<int>()) +
         " threads. This machine: " + ingot::cli::fixedText(machine["gflops"].get<double>(), 0) + " GFLOP/s, " +
         ingot::cli::fixedText(machine["gigabytes_per_second"].get<double>(), 1) + " GB/s.</p>" +
         tableOf("By kernel", summary["by_kernel"]) + tableOf("By line and node", summary["by_place"]) + "</html>\n";
}
