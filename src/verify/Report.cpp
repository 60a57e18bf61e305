#include "verify/Report.h"

#include <array>
#include <cmath>

namespace ingot::verify {

using nlohmann::json;

std::string_view verdictName(Verdict verdict) {
  static constexpr std::array<std::string_view, 5> names = {"equal", "lowering", "company", "adds_up", "outputs"};
  return names[static_cast<size_t>(verdict)];
}

namespace {

std::string numberText(double number) {
  char text[32];
  std::snprintf(text, sizeof(text), "%.6g", number);
  return text;
}

/// JSON has no NaN and no infinity.
json number(double value) { return std::isfinite(value) ? json(value) : json(numberText(value)); }

json statisticsJson(const Statistics &statistics) {
  return {{"min", number(statistics.min)}, {"max", number(statistics.max)}, {"mean", number(statistics.mean)},
          {"nan", statistics.nans},        {"inf", statistics.infinities},  {"first", statistics.first}};
}

json departureJson(const Departure &found) {
  json operands = json::array();
  for (const Operand &operand : found.operands)
    operands.push_back({{"name", operand.key}, {"type", operand.type}});
  return {{"node", found.node},
          {"op", found.op},
          {"value", found.value},
          {"type", found.type},
          {"file", found.file},
          {"line", found.line},
          {"function", found.function},
          {"code", found.code},
          {"module", found.module},
          {"module_type", found.moduleType},
          {"problem", found.difference.problem},
          {"elements_beyond", found.difference.count},
          {"ratio", number(found.difference.ratio)},
          {"largest_difference", number(found.difference.largest)},
          {"where", found.difference.where},
          {"eager_there", found.difference.eager},
          {"ingot_there", found.difference.ours},
          {"eager", statisticsJson(found.eager)},
          {"ingot", statisticsJson(found.ours)},
          {"operands", std::move(operands)},
          {"call", found.call},
          {"saved_to", found.savedTo}};
}

const char *explain(Verdict verdict) {
  switch (verdict) {
  case Verdict::Lowering:
    return "its lowering is wrong: alone and fed with eager's values, it departs";
  case Verdict::Company:
    return "it departs among the other nodes only, not alone: something around it is wrong (fusion, folding, memory)";
  case Verdict::AddsUp:
    return "no node departs from what it is fed with, but rounding has grown very large";
  case Verdict::Outputs:
    return "the outputs depart, and no single node was found that does";
  case Verdict::Equal:
    break;
  }
  return "";
}

std::string statisticsLine(const char *side, const Statistics &statistics) {
  std::string text = std::string("    ") + side + "  min " + numberText(statistics.min) + "  max " +
                     numberText(statistics.max) + "  mean " + numberText(statistics.mean) + "  nan " +
                     std::to_string(statistics.nans) + "  inf " + std::to_string(statistics.infinities) + "  first";
  for (const std::string &element : statistics.first)
    text += " " + element;
  return text + "\n";
}

std::string differenceLine(const Difference &difference) {
  if (!difference.problem.empty())
    return "  " + difference.problem + "\n";
  std::string text = "  largest difference " + numberText(difference.largest) + " at " + shapeText(difference.where) +
                     ": eager " + difference.eager + ", ingot " + difference.ours;
  if (std::isfinite(difference.ratio))
    text += " (" + numberText(difference.ratio) + " times what is allowed)";
  return text + "; " + std::to_string(difference.count) + " elements are beyond the tolerance\n";
}

std::string departureText(const Departure &found, Verdict verdict) {
  std::string text = "departs at node '" + found.node + "', " + found.op + "\n";
  if (found.line > 0) {
    text += "  where    " + found.file + ":" + std::to_string(found.line);
    text += (found.function.empty() ? "" : " in " + found.function) + (found.code.empty() ? "" : ": " + found.code);
    text += "\n";
  }
  if (!found.module.empty())
    text += "  module   " + found.module + (found.moduleType.empty() ? "" : " (" + found.moduleType + ")") + "\n";
  text += std::string("  verdict  ") + explain(verdict) + "\n";
  text += "  value    " + found.value + ": " + found.type + "\n";
  text += statisticsLine("eager", found.eager) + statisticsLine("ingot", found.ours);
  text += differenceLine(found.difference);
  if (!found.call.empty())
    text += "  repeat   " + found.call + "\n";
  for (const Operand &operand : found.operands)
    text += "           " + operand.key + ": " + operand.type + "\n";
  if (!found.savedTo.empty())
    text += "  saved    its operands and both results in " + found.savedTo + "\n";
  return text;
}

std::string leftOutText(const std::vector<LeftOut> &leftOut) {
  static constexpr size_t shown = 8;
  std::string text;
  for (size_t i = 0; i < std::min(leftOut.size(), shown); ++i)
    text += "  left out '" + leftOut[i].node + "', " + leftOut[i].op + ": " + leftOut[i].why + "\n";
  if (leftOut.size() > shown)
    text += "  left out " + std::to_string(leftOut.size() - shown) + " more\n";
  return text;
}

} // namespace

json reportToJson(const Report &report) {
  json leftOut = json::array();
  for (const LeftOut &entry : report.leftOut)
    leftOut.push_back({{"node", entry.node}, {"op", entry.op}, {"why", entry.why}});
  return {{"equal", report.isEqual()},
          {"verdict", verdictName(report.verdict)},
          {"departure", report.departure ? departureJson(*report.departure) : json()},
          {"also_departing", report.alsoDeparting},
          {"nodes", report.nodes},
          {"compared", report.compared},
          {"runs", report.runs},
          {"rounding", number(report.rounding)},
          {"left_out", std::move(leftOut)},
          {"notes", report.notes}};
}

std::string reportText(const Report &report) {
  std::string text;
  if (report.isEqual())
    text = "equal: " +
           (report.compared
                ? std::to_string(report.compared) + " of " + std::to_string(report.nodes) + " nodes one by one, and "
                : std::string()) +
           "the outputs of the whole program\n";
  else if (report.departure)
    text = departureText(*report.departure, report.verdict);
  else
    text = std::string("departs: ") + explain(report.verdict) + "\n";
  if (!report.alsoDeparting.empty()) {
    text += "  also     " + std::to_string(report.alsoDeparting.size()) + " more:";
    for (size_t i = 0; i < std::min<size_t>(report.alsoDeparting.size(), 12); ++i)
      text += (i ? ", " : " ") + report.alsoDeparting[i];
    text += report.alsoDeparting.size() > 12 ? ", ...\n" : "\n";
  }
  for (const std::string &note : report.notes)
    text += "  note     " + note + "\n";
  return text + leftOutText(report.leftOut);
}

} // namespace ingot::verify
