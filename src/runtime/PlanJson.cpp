#include "runtime/PlanJson.h"

#include "base/Json.h"

#include <algorithm>
#include <cmath>

namespace ingot {
namespace {

using nlohmann::json;

//===----------------------------------------------------------------------===//
// Writing
//===----------------------------------------------------------------------===//

json numberToJson(double number) {
  if (std::isnan(number))
    return "NaN";
  if (std::isinf(number))
    return number > 0 ? "Infinity" : "-Infinity";
  return number;
}

json toJson(bool value) { return {{"bool", value}}; }
json toJson(int64_t value) { return {{"int", value}}; }
json toJson(double value) { return {{"float", numberToJson(value)}}; }
json toJson(const std::string &value) { return {{"string", value}}; }
json toJson(const std::vector<int64_t> &value) { return {{"ints", value}}; }
json toJson(const std::vector<std::string> &value) { return {{"strings", value}}; }
json toJson(const std::vector<double> &value) {
  json list = json::array();
  for (double number : value)
    list.push_back(numberToJson(number));
  return {{"floats", std::move(list)}};
}

json toJson(const Attributes &attributes) {
  json object = json::object();
  for (const auto &[name, attribute] : attributes)
    object[name] = std::visit([](const auto &value) { return toJson(value); }, attribute);
  return object;
}

json toJson(const Value &value) {
  if (value.kind == ValueKind::Scalar)
    return {{"scalar", dtypeName(value.dtype)}};
  return {{"dtype", dtypeName(value.dtype)}, {"shape", value.shape}};
}

/// Members that are usually empty are left out: plans of thousands of steps stay small.
void putText(json &object, const char *key, const std::string &text) {
  if (!text.empty())
    object[key] = text;
}

json toJson(const Step &step) {
  json object = {{"kernel", step.kernel}, {"in", step.operands}, {"out", step.results}};
  if (!step.attributes.empty())
    object["attributes"] = toJson(step.attributes);
  putText(object, "node", step.node);
  putText(object, "source", step.source);
  return object;
}

json toJson(const Constant &constant) {
  json object = {{"value", constant.value}};
  if (!constant.weight.empty()) {
    object["weight"] = constant.weight;
    return object;
  }
  static constexpr char kDigits[] = "0123456789abcdef";
  std::string hex;
  hex.reserve(constant.bytes.size() * 2);
  for (std::byte byte : constant.bytes) {
    hex += kDigits[std::to_integer<unsigned>(byte) >> 4];
    hex += kDigits[std::to_integer<unsigned>(byte) & 15];
  }
  object["bytes"] = std::move(hex);
  return object;
}

json toJson(const Input &input) {
  json object = {{"name", input.name}, {"value", input.value}};
  if (!input.dims.empty())
    object["dims"] = input.dims;
  if (input.isReadLate)
    object["read_late"] = true;
  putText(object, "symbol", input.symbol);
  putText(object, "literal", input.literal);
  return object;
}

json toJson(const Output &output) {
  json object = {{"name", output.name}, {"value", output.value}};
  putText(object, "literal", output.literal);
  return object;
}

json toJson(const State &state) {
  json object = {{"name", state.name}, {"input", state.input}, {"output", state.output}};
  putText(object, "initial", state.initialWeight);
  return object;
}

json toJson(const SymbolRange &range) { return {{"symbol", range.symbol}, {"min", range.min}, {"max", range.max}}; }

template <typename T> json listToJson(const std::vector<T> &items) {
  json list = json::array();
  for (const T &item : items)
    list.push_back(toJson(item));
  return list;
}

json functionToJson(const Function &function) {
  json object = {{"name", function.name},
                 {"values", listToJson(function.values)},
                 {"constants", listToJson(function.constants)},
                 {"prologue", listToJson(function.prologue)},
                 {"steps", listToJson(function.steps)},
                 {"inputs", listToJson(function.inputs)},
                 {"outputs", listToJson(function.outputs)},
                 {"states", listToJson(function.states)},
                 {"symbols", listToJson(function.symbols)}};
  if (function.isInternal)
    object["internal"] = true;
  putText(object, "in_spec", function.inSpec);
  putText(object, "out_spec", function.outSpec);
  return object;
}

//===----------------------------------------------------------------------===//
// Reading
//===----------------------------------------------------------------------===//

template <typename T, typename Read> Result<std::vector<T>> readList(JsonRef object, std::string_view key, Read read) {
  INGOT_TRY(std::optional<JsonRef> list, object.optionalMember(key));
  if (!list)
    return std::vector<T>{};
  return list->list(read);
}

Result<std::string> readText(JsonRef object, std::string_view key) {
  INGOT_TRY(JsonRef member, object.member(key));
  return member.string();
}

Result<std::string> readOptionalText(JsonRef object, std::string_view key) {
  INGOT_TRY(std::optional<JsonRef> member, object.optionalMember(key));
  if (!member)
    return std::string();
  return member->string();
}

Result<int64_t> readInteger(JsonRef value) { return value.integer(); }
Result<double> readNumber(JsonRef value) { return value.number(); }
Result<std::string> readString(JsonRef value) { return value.string(); }

Result<ValueId> readId(JsonRef value) {
  INGOT_TRY(int64_t id, value.integer());
  if (id < kNoValue || id > INT32_MAX)
    return value.corrupt("is no value number");
  return static_cast<ValueId>(id);
}

Result<ValueId> readId(JsonRef object, std::string_view key) {
  INGOT_TRY(JsonRef member, object.member(key));
  return readId(member);
}

Result<DType> readDType(JsonRef value) {
  INGOT_TRY(std::string name, value.string());
  if (std::optional<DType> dtype = dtypeFromName(name))
    return *dtype;
  return value.corrupt("is no dtype");
}

Result<Value> readValue(JsonRef object) {
  Value value;
  INGOT_TRY(std::optional<JsonRef> scalar, object.optionalMember("scalar"));
  if (scalar) {
    value.kind = ValueKind::Scalar;
    INGOT_TRY(value.dtype, readDType(*scalar));
    return value;
  }
  INGOT_TRY(JsonRef dtype, object.member("dtype"));
  INGOT_TRY(value.dtype, readDType(dtype));
  INGOT_TRY(JsonRef shape, object.member("shape"));
  INGOT_TRY(value.shape, shape.list(readInteger));
  return value;
}

template <typename T> Result<Attribute> asAttribute(Result<T> value) {
  if (!value)
    return std::move(value.error());
  return Attribute(*std::move(value));
}

Result<Attribute> readAttribute(JsonRef object) {
  INGOT_TRY(auto tagged, object.onlyMember());
  const auto &[kind, value] = tagged;
  if (kind == "bool")
    return asAttribute(value.boolean());
  if (kind == "int")
    return asAttribute(value.integer());
  if (kind == "float")
    return asAttribute(value.number());
  if (kind == "string")
    return asAttribute(value.string());
  if (kind == "ints")
    return asAttribute(value.list(readInteger));
  if (kind == "floats")
    return asAttribute(value.list(readNumber));
  if (kind == "strings")
    return asAttribute(value.list(readString));
  return object.corrupt("is no kind of attribute");
}

Result<Step> readStep(JsonRef object) {
  Step step;
  auto id = [](JsonRef value) { return readId(value); };
  INGOT_TRY(step.kernel, readText(object, "kernel"));
  INGOT_TRY(step.operands, readList<ValueId>(object, "in", id));
  INGOT_TRY(step.results, readList<ValueId>(object, "out", id));
  INGOT_TRY(step.node, readOptionalText(object, "node"));
  INGOT_TRY(step.source, readOptionalText(object, "source"));
  INGOT_TRY(std::optional<JsonRef> attributes, object.optionalMember("attributes"));
  if (attributes)
    INGOT_CHECK(attributes->forEachMember([&](const std::string &name, JsonRef value) -> Status {
      INGOT_TRY(step.attributes[name], readAttribute(value));
      return {};
    }));
  return step;
}

int hexDigit(char c) {
  if (c >= '0' && c <= '9')
    return c - '0';
  return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

Result<Constant> readConstant(JsonRef object) {
  Constant constant;
  INGOT_TRY(constant.value, readId(object, "value"));
  INGOT_TRY(constant.weight, readOptionalText(object, "weight"));
  INGOT_TRY(std::string hex, readOptionalText(object, "bytes"));
  if (hex.size() % 2 != 0)
    return object.corrupt("has an odd number of hex digits");
  constant.bytes.reserve(hex.size() / 2);
  for (size_t i = 0; i < hex.size(); i += 2) {
    int high = hexDigit(hex[i]);
    int low = hexDigit(hex[i + 1]);
    if (high < 0 || low < 0)
      return object.corrupt("has bytes that are no hex digits");
    constant.bytes.push_back(static_cast<std::byte>(high * 16 + low));
  }
  return constant;
}

Result<Input> readInput(JsonRef object) {
  Input input;
  INGOT_TRY(input.name, readText(object, "name"));
  INGOT_TRY(input.value, readId(object, "value"));
  INGOT_TRY(input.dims, readList<std::string>(object, "dims", readString));
  INGOT_TRY(input.symbol, readOptionalText(object, "symbol"));
  INGOT_TRY(input.literal, readOptionalText(object, "literal"));
  INGOT_TRY(std::optional<JsonRef> readLate, object.optionalMember("read_late"));
  if (readLate) {
    INGOT_TRY(input.isReadLate, readLate->boolean());
  }
  return input;
}

Result<Output> readOutput(JsonRef object) {
  Output output;
  INGOT_TRY(output.name, readText(object, "name"));
  INGOT_TRY(output.value, readId(object, "value"));
  INGOT_TRY(output.literal, readOptionalText(object, "literal"));
  return output;
}

Result<State> readState(JsonRef object) {
  State state;
  INGOT_TRY(state.name, readText(object, "name"));
  INGOT_TRY(state.input, readId(object, "input"));
  INGOT_TRY(state.output, readId(object, "output"));
  INGOT_TRY(state.initialWeight, readOptionalText(object, "initial"));
  return state;
}

Result<SymbolRange> readSymbol(JsonRef object) {
  SymbolRange range;
  INGOT_TRY(range.symbol, readText(object, "symbol"));
  INGOT_TRY(JsonRef min, object.member("min"));
  INGOT_TRY(range.min, min.integer());
  INGOT_TRY(JsonRef max, object.member("max"));
  INGOT_TRY(range.max, max.integer());
  return range;
}

/// Up to version 2 the new value of a written argument was an output with the argument's name in "mutates".
Status upgradeOutputs(JsonRef object, Function &function) {
  INGOT_TRY(std::vector<std::string> mutated, readList<std::string>(object, "outputs", [](JsonRef output) {
              return readOptionalText(output, "mutates");
            }));
  std::vector<Output> plain;
  for (size_t i = 0; i < mutated.size(); ++i) {
    if (mutated[i].empty()) {
      plain.push_back(std::move(function.outputs[i]));
      continue;
    }
    auto input = std::ranges::find(function.inputs, mutated[i], &Input::name);
    if (input == function.inputs.end())
      return object.corrupt("changes the input `" + mutated[i] + "`, which it does not have");
    function.states.push_back({mutated[i], input->value, function.outputs[i].value, ""});
  }
  function.outputs = std::move(plain);
  return {};
}

Result<Function> readFunction(JsonRef object) {
  Function function;
  INGOT_TRY(function.name, readText(object, "name"));
  INGOT_TRY(std::optional<JsonRef> internal, object.optionalMember("internal"));
  if (internal) {
    INGOT_TRY(function.isInternal, internal->boolean());
  }
  INGOT_TRY(function.values, readList<Value>(object, "values", readValue));
  INGOT_TRY(function.constants, readList<Constant>(object, "constants", readConstant));
  INGOT_TRY(function.prologue, readList<Step>(object, "prologue", readStep));
  INGOT_TRY(function.steps, readList<Step>(object, "steps", readStep));
  INGOT_TRY(function.inputs, readList<Input>(object, "inputs", readInput));
  INGOT_TRY(function.outputs, readList<Output>(object, "outputs", readOutput));
  INGOT_TRY(function.states, readList<State>(object, "states", readState));
  INGOT_TRY(function.symbols, readList<SymbolRange>(object, "symbols", readSymbol));
  INGOT_TRY(function.inSpec, readOptionalText(object, "in_spec"));
  INGOT_TRY(function.outSpec, readOptionalText(object, "out_spec"));
  INGOT_CHECK(upgradeOutputs(object, function));
  return function;
}

} // namespace

std::string planToJson(const Plan &plan) {
  json functions = json::array();
  for (const Function &function : plan.functions)
    functions.push_back(functionToJson(function));
  json document = {{"format", "ingot-plan"}, {"version", kPlanVersion}, {"functions", std::move(functions)}};
  putText(document, "kernel_library", plan.kernelLibrary);
  // Names come from the user's program; bytes that are no UTF-8 must not throw here.
  return document.dump(-1, ' ', false, json::error_handler_t::replace);
}

Result<Plan> planFromJson(std::string_view text) {
  INGOT_TRY(json document, parseJson(text));
  JsonRef root(document);
  INGOT_TRY(std::string format, readText(root, "format"));
  if (format != "ingot-plan")
    return corruptError("this is no plan of Ingot");
  INGOT_TRY(JsonRef versionMember, root.member("version"));
  INGOT_TRY(int64_t version, versionMember.integer());
  if (version < 1 || version > kPlanVersion)
    return unsupportedError("the plan has version " + std::to_string(version) + ", this runtime reads 1 to " +
                            std::to_string(kPlanVersion) + "; delete the asset's cache folder to have it made anew");
  Plan plan;
  INGOT_TRY(plan.functions, readList<Function>(root, "functions", readFunction));
  INGOT_TRY(plan.kernelLibrary, readOptionalText(root, "kernel_library"));
  INGOT_CHECK(validatePlan(plan));
  return plan;
}

} // namespace ingot
