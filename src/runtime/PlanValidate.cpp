#include "base/Bytes.h"
#include "base/Json.h"
#include "runtime/Kernel.h"
#include "runtime/PlanJson.h"
#include "runtime/kernels/fallback/Plugin.h"

#include <algorithm>
#include <map>
#include <set>

namespace ingot {
namespace {

/// PyTorch allows 64 dimensions; oneDNN 12.
constexpr size_t kMaxRank = 64;

/// Each call inside a call takes some of the stack. Documents nest no deeper either.
constexpr size_t kMaxCallDepth = 100;

/// Internal functions by name, with how deep their own calls go.
using Callable = std::map<std::string_view, size_t>;

/// Walks a function in execution order and keeps track of what is defined.
class FunctionValidator {
public:
  /// `callable` are the internal functions that came before: calls go backwards, so that none can go round.
  FunctionValidator(const Function &function, const Callable &callable)
      : function(function), callable(callable), defined(function.values.size()) {}

  Status run() {
    for (size_t i = 0; i < function.values.size(); ++i)
      INGOT_CHECK(checkValue(i));
    for (const Constant &constant : function.constants)
      INGOT_CHECK(checkConstant(constant));
    for (const Step &step : function.prologue)
      INGOT_CHECK(checkStep(step));
    INGOT_CHECK(checkInputs());
    for (const State &state : function.states)
      INGOT_CHECK(checkState(state));
    for (const Step &step : function.steps)
      INGOT_CHECK(checkStep(step));
    INGOT_CHECK(checkOutputs());
    return checkSymbols();
  }

  size_t callDepth() const { return depth; }

private:
  Error corrupt(const std::string &what) const {
    return corruptError("the plan is damaged: function `" + function.name + "`: " + what);
  }

  static std::string idText(ValueId id) { return "value " + std::to_string(id); }

  Status checkValue(size_t index) const {
    const Value &value = function.values[index];
    auto fail = [&](const char *what) { return corrupt(idText(static_cast<ValueId>(index)) + " " + what); };
    if (value.kind == ValueKind::Scalar) {
      bool known = value.dtype == DType::Int64 || value.dtype == DType::Float64 || value.dtype == DType::Bool;
      if (!known || !value.shape.empty())
        return fail("is no valid scalar");
      return {};
    }
    if (value.shape.size() > kMaxRank)
      return fail("has too many dimensions");
    std::vector<int64_t> sizes = value.shape;
    for (int64_t &size : sizes)
      size = size == kDynamic ? 1 : size;
    std::optional<int64_t> count = checkedElementCount(sizes);
    if (!count || !checkedMul(*count, static_cast<int64_t>(byteSize(value.dtype))))
      return fail("has an impossible shape");
    return {};
  }

  Status checkId(ValueId id) const {
    if (id < 0 || static_cast<size_t>(id) >= function.values.size())
      return corrupt(idText(id) + " does not exist");
    return {};
  }

  Status define(ValueId id) {
    INGOT_CHECK(checkId(id));
    if (defined[static_cast<size_t>(id)])
      return corrupt(idText(id) + " is defined twice");
    defined[static_cast<size_t>(id)] = true;
    return {};
  }

  Status use(ValueId id) const {
    INGOT_CHECK(checkId(id));
    if (!defined[static_cast<size_t>(id)])
      return corrupt(idText(id) + " is used before it is defined");
    return {};
  }

  Status checkConstant(const Constant &constant) {
    INGOT_CHECK(define(constant.value));
    const Value &value = function.values[static_cast<size_t>(constant.value)];
    std::optional<int64_t> count = checkedElementCount(value.shape);
    if (!count)
      return corrupt("constant " + idText(constant.value) + " has no static shape");
    if (!constant.weight.empty()) {
      if (value.kind == ValueKind::Scalar || !constant.bytes.empty())
        return corrupt("constant " + idText(constant.value) + " is both a weight and a literal");
      return {};
    }
    if (constant.bytes.size() != static_cast<size_t>(*count) * byteSize(value.dtype))
      return corrupt("constant " + idText(constant.value) + " has " + std::to_string(constant.bytes.size()) +
                     " bytes, which does not fit its shape");
    return {};
  }

  Status checkCalls(const Attribute &functions) {
    const auto *names = std::get_if<std::vector<std::string>>(&functions);
    for (size_t i = 0; names && i < names->size(); ++i) {
      auto callee = callable.find((*names)[i]);
      if (callee == callable.end())
        return corrupt("function `" + (*names)[i] + "` is called before it is there");
      depth = std::max(depth, callee->second + 1);
    }
    if (depth > kMaxCallDepth)
      return unsupportedError("function `" + function.name + "` calls functions that call others, more than " +
                              std::to_string(kMaxCallDepth) + " levels deep");
    return {};
  }

  Status checkStep(const Step &step) {
    if (!findKernel(step.kernel))
      return unsupportedError("this runtime has no kernel `" + step.kernel +
                              "`; the plan was made by another version of Ingot");
    auto functions = step.attributes.find("functions");
    if (functions != step.attributes.end())
      INGOT_CHECK(checkCalls(functions->second));
    for (ValueId id : step.operands)
      if (id != kNoValue)
        INGOT_CHECK(use(id));
    // PyTorch's operators may give nothing and still do something.
    if (step.results.empty() && step.kernel != kFallbackKernel)
      return corrupt("a step `" + step.kernel + "` has no results");
    for (ValueId id : step.results)
      INGOT_CHECK(define(id));
    return {};
  }

  Status checkLiteral(const std::string &name, const std::string &literal) const {
    if (literal.empty() || !parseJson(literal))
      return corrupt("`" + name + "` is neither a value nor a literal");
    return {};
  }

  Status checkInputs() {
    std::set<std::string_view> names;
    for (const Input &input : function.inputs) {
      if (input.value == kNoValue) {
        INGOT_CHECK(checkLiteral(input.name, input.literal));
        continue;
      }
      if (!names.insert(input.name).second)
        return corrupt("input `" + input.name + "` occurs twice");
      INGOT_CHECK(define(input.value));
      size_t rank = function.values[static_cast<size_t>(input.value)].shape.size();
      if (!input.dims.empty() && input.dims.size() != rank)
        return corrupt("input `" + input.name + "` has another number of dims than its value");
    }
    return {};
  }

  Status checkState(const State &state) {
    if (state.isArgument() && std::ranges::find(function.inputs, state.input, &Input::value) == function.inputs.end())
      return corrupt("state `" + state.name + "` has neither an initial value nor an argument");
    if (!stateNames.insert(state.name).second || !stateInputs.insert(state.input).second)
      return corrupt("state `" + state.name + "` occurs twice");
    if (!state.isArgument())
      INGOT_CHECK(define(state.input));
    INGOT_CHECK(checkId(state.input));
    INGOT_CHECK(checkId(state.output));
    const Value &before = function.values[static_cast<size_t>(state.input)];
    const Value &after = function.values[static_cast<size_t>(state.output)];
    bool isTensor = before.kind == ValueKind::Tensor && after.kind == ValueKind::Tensor;
    if (!isTensor || before.dtype != after.dtype || before.shape.size() != after.shape.size())
      return corrupt("state `" + state.name + "` changes its type");
    if (!state.isArgument() && !checkedElementCount(before.shape))
      return corrupt("state `" + state.name + "` has no static shape");
    return {};
  }

  Status checkOutputs() const {
    for (const State &state : function.states)
      INGOT_CHECK(use(state.output));
    for (const Output &output : function.outputs) {
      if (output.value == kNoValue)
        INGOT_CHECK(checkLiteral(output.name, output.literal));
      else
        INGOT_CHECK(use(output.value));
    }
    return {};
  }

  Status checkSymbols() const {
    std::set<std::string_view> names;
    for (const SymbolRange &range : function.symbols)
      if (!names.insert(range.symbol).second || range.min > range.max)
        return corrupt("symbol `" + range.symbol + "` has no valid range");
    return {};
  }

  const Function &function;
  const Callable &callable;
  size_t depth = 0;
  std::vector<bool> defined;
  std::set<std::string_view> stateNames;
  std::set<ValueId> stateInputs;
};

bool hasLiterals(const Function &function) {
  auto isLiteral = [](const auto &port) { return port.value == kNoValue; };
  return std::ranges::any_of(function.inputs, isLiteral) || std::ranges::any_of(function.outputs, isLiteral);
}

} // namespace

Status validatePlan(const Plan &plan) {
  // The library is loaded as code from beside the plan: a path in its name could point anywhere.
  if (plan.kernelLibrary.find('/') != std::string::npos)
    return corruptError("the plan is damaged: `" + plan.kernelLibrary + "` is no file name");
  std::set<std::string_view> names;
  Callable callable;
  for (const Function &function : plan.functions) {
    if (!names.insert(function.name).second)
      return corruptError("the plan is damaged: two functions are called `" + function.name + "`");
    FunctionValidator validator(function, callable);
    INGOT_CHECK(validator.run());
    if (function.isInternal && (!function.states.empty() || hasLiterals(function)))
      return corruptError("the plan is damaged: internal function `" + function.name + "` has states or literals");
    if (function.isInternal)
      callable.emplace(function.name, validator.callDepth());
  }
  return {};
}

} // namespace ingot
