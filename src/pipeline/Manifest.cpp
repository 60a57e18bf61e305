#include "pipeline/Manifest.h"

#include "dialect/Conventions.h"
#include "dialect/Ops.h"
#include "lower/Report.h"
#include "passes/compose/Passes.h"
#include "passes/plan/EmitPlan.h"
#include "pipeline/Diagnostics.h"

#include <mlir/Dialect/Func/IR/FuncOps.h>
#include <mlir/Pass/PassManager.h>

using namespace mlir;

namespace ingot {

static std::vector<std::string> shapeText(const Value &value, const std::vector<std::string> &dims) {
  if (dims.size() == value.shape.size())
    return dims;
  std::vector<std::string> text;
  for (int64_t size : value.shape)
    text.push_back(size == kDynamic ? "?" : std::to_string(size));
  return text;
}

static asset::Port port(const Function &function, const std::string &name, ValueId id,
                        const std::vector<std::string> &dims, const std::string &literal) {
  asset::Port port;
  port.name = name;
  port.literal = literal;
  if (id == kNoValue)
    return port;
  const Value &value = function.values[id];
  port.dtype = value.dtype;
  port.isScalar = value.kind == ValueKind::Scalar;
  port.shape = shapeText(value, dims);
  return port;
}

static asset::EntryPoint entryPoint(const Function &function) {
  asset::EntryPoint entry;
  entry.name = function.name;
  entry.inSpec = function.inSpec;
  entry.outSpec = function.outSpec;
  for (const Input &input : function.inputs)
    entry.inputs.push_back(port(function, input.name, input.value, input.dims, input.literal));
  for (const Output &output : function.outputs)
    entry.outputs.push_back(port(function, output.name, output.value, {}, output.literal));
  for (const State &state : function.states) {
    const Value &value = function.values[state.input];
    entry.states.push_back({state.name, value.dtype, shapeText(value, {}), state.initialWeight});
    for (size_t i = 0; state.isArgument() && i < function.inputs.size(); ++i)
      if (function.inputs[i].value == state.input) {
        entry.inputs[i].state = state.name;
        entry.states.back().shape = entry.inputs[i].shape;
      }
  }
  for (const SymbolRange &symbol : function.symbols)
    entry.symbols.push_back({symbol.symbol, symbol.min, symbol.max});
  return entry;
}

static Status addWeight(asset::Content &content, const WeightTable &weights, const std::string &key) {
  if (!content.manifest.weights.emplace(key, key).second)
    return {};
  const pt2::Weight *weight = weights.find(key);
  if (!weight)
    return corruptError("the program uses weight `" + key + "`, which the file does not hold");
  content.weights.push_back({key, weight->dtype, weight->sizes, weight->strides, weight->data()});
  return {};
}

/// The carriers that are left, all of which PyTorch runs.
static void describeFallback(asset::Manifest &manifest, ModuleOp module) {
  for (lower::LeftOver &left : lower::collectLeftOvers(module))
    manifest.fallback.push_back({left.op, left.count, left.reason, left.sources});
  if (!manifest.fallback.empty())
    manifest.requirements.emplace_back(asset::kRequiresLibtorch);
}

/// The module as it will run, for which only calls matter here.
static Result<OwningOpRef<ModuleOp>> withoutCalls(ModuleOp module) {
  OwningOpRef<ModuleOp> copy = module.clone();
  DiagnosticCollector diagnostics(*module.getContext());
  PassManager manager(module.getContext());
  manager.addPass(createInlineBodiesPass());
  if (failed(manager.run(*copy)))
    return diagnostics.error(ErrorKind::Unsupported, "functions could not be put where they are called");
  return copy;
}

Result<asset::Content> describeContent(ModuleOp module, const WeightTable &weights) {
  asset::Content content;
  describeFallback(content.manifest, module);
  INGOT_TRY(OwningOpRef<ModuleOp> flat, withoutCalls(module));
  INGOT_TRY(Plan plan, emitPlan(*flat));
  for (const Function &function : plan.functions) {
    content.manifest.entryPoints.push_back(entryPoint(function));
    for (const Constant &constant : function.constants)
      if (!constant.weight.empty())
        INGOT_CHECK(addWeight(content, weights, constant.weight));
    for (const State &state : function.states)
      if (!state.initialWeight.empty())
        INGOT_CHECK(addWeight(content, weights, state.initialWeight));
    for (const std::vector<Step> *steps : {&function.prologue, &function.steps})
      for (const Step &step : *steps)
        ++content.manifest.opCounts[step.kernel];
  }
  return content;
}

} // namespace ingot
