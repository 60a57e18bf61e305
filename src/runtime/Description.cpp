#include "runtime/Description.h"

#include "asset/Format.h"

namespace ingot {
namespace {

std::vector<std::string> shapeOf(const Value &value, const std::vector<std::string> &dims) {
  if (!dims.empty())
    return dims;
  std::vector<std::string> shape;
  for (int64_t size : value.shape)
    shape.push_back(size == kDynamic ? "?" : std::to_string(size));
  return shape;
}

asset::Port port(const Function &function, const std::string &name, ValueId id, const std::string &literal,
                 const std::vector<std::string> &dims) {
  asset::Port port;
  port.name = name;
  port.literal = literal;
  if (id == kNoValue)
    return port;
  const Value &value = function.values[static_cast<size_t>(id)];
  port.dtype = value.dtype;
  port.shape = shapeOf(value, dims);
  port.isScalar = value.kind == ValueKind::Scalar;
  return port;
}

asset::EntryPoint entryPoint(const Function &function) {
  asset::EntryPoint entry;
  entry.name = function.name;
  entry.inSpec = function.inSpec;
  entry.outSpec = function.outSpec;
  for (const Input &input : function.inputs)
    entry.inputs.push_back(port(function, input.name, input.value, input.literal, input.dims));
  for (const Output &output : function.outputs)
    entry.outputs.push_back(port(function, output.name, output.value, output.literal, {}));
  for (const State &state : function.states) {
    const Value &value = function.values[static_cast<size_t>(state.input)];
    entry.states.push_back({state.name, value.dtype, shapeOf(value, {}), state.initialWeight});
    for (size_t i = 0; state.isArgument() && i < function.inputs.size(); ++i)
      if (function.inputs[i].value == state.input) {
        entry.inputs[i].state = state.name;
        entry.states.back().shape = entry.inputs[i].shape;
      }
  }
  for (const SymbolRange &range : function.symbols)
    entry.symbols.push_back({range.symbol, range.min, range.max});
  return entry;
}

} // namespace

std::string describePlan(const Plan &plan) {
  std::vector<asset::EntryPoint> entries;
  for (const Function &function : plan.functions)
    if (!function.isInternal)
      entries.push_back(entryPoint(function));
  return asset::entryPointsText(entries);
}

} // namespace ingot
