#include "pt2/Literal.h"

#include "base/Json.h"

#include <cmath>

namespace ingot::pt2 {
namespace {

std::string numberText(double number) {
  if (std::isnan(number))
    return R"({"float": "NaN"})";
  if (std::isinf(number))
    return number > 0 ? R"({"float": "Infinity"})" : R"({"float": "-Infinity"})";
  return nlohmann::json(number).dump();
}

} // namespace

Result<std::string> literalText(const Argument &argument) {
  switch (argument.kind) {
  case ArgumentKind::None:
    return std::string("null");
  case ArgumentKind::Int:
    return std::to_string(argument.asInt());
  case ArgumentKind::SymInt:
    return std::to_string(argument.asSymInt().literal());
  case ArgumentKind::Float:
    return numberText(argument.asFloat());
  case ArgumentKind::SymFloat:
    return numberText(argument.asSymFloat().literal());
  case ArgumentKind::Bool:
    return std::string(argument.asBool() ? "true" : "false");
  case ArgumentKind::SymBool:
    return std::string(argument.asSymBool().literal() ? "true" : "false");
  case ArgumentKind::String:
    return nlohmann::json(argument.asString()).dump(-1, ' ', true, nlohmann::json::error_handler_t::replace);
  default:
    return unsupportedError("an input or output of kind " + std::string(argumentKindName(argument.kind)));
  }
}

} // namespace ingot::pt2
