#include "runtime/PlanJson.h"

#include "runtime/test/TestPlan.h"

#include <cmath>
#include <gmock/gmock.h>
#include <limits>

namespace ingot::test {
namespace {

using testing::HasSubstr;

Plan examplePlan() {
  FunctionBuilder b;
  ValueId x = b.input("x", {kDynamic, 4}, {"s0", "4"});
  ValueId w = b.tensor({4});
  b.function.constants.push_back({w, "layer.weight", {}});
  ValueId c = b.constant<float>({1, 2, 3, 4}, {4}, DType::Float32);
  ValueId prepared = b.prologue("reshape", {w}, b.tensor({1, 4}), {{"sizes", std::vector<int64_t>{1, 4}}});
  ValueId n = b.step("dim", {x}, b.scalar(), {{"axis", int64_t(0)}});
  ValueId y = b.cluster(kAdd, {x, prepared}, b.tensor({kDynamic, 4}));
  ValueId z = b.cluster(kAdd, {y, c}, b.tensor({kDynamic, 4}));
  ValueId r = b.step("reshape", {z, n}, b.tensor({kDynamic, 2, 2}), {{"sizes", std::vector<int64_t>{INT64_MIN, 2, 2}}});
  b.function.inputs.push_back({"flag", kNoValue, {}, "null"});
  b.output("y", r);
  b.function.outputs.push_back({"nothing", kNoValue, "null"});
  ValueId state = b.tensor({4});
  b.function.states.push_back({"cache", state, c, "layer.weight"});
  b.function.symbols.push_back({"s0", 2, 512});
  b.function.inSpec = "[1,{\"a\":2}]";
  Plan plan;
  plan.functions.push_back(b.function);
  plan.kernelLibrary = "kernels.so";
  return plan;
}

/// A plan that is broken by `breakIt`, and what reading it says.
template <typename Break> std::string errorOf(Break breakIt, ErrorKind kind = ErrorKind::Corrupt) {
  Plan plan = examplePlan();
  breakIt(plan, plan.functions[0]);
  Result<Plan> read = planFromJson(planToJson(plan));
  if (read)
    return "no error";
  EXPECT_EQ(read.error().kind, kind);
  return read.error().str();
}

TEST(PlanJson, RoundTrip) {
  std::string text = planToJson(examplePlan());
  Result<Plan> read = planFromJson(text);
  ASSERT_OK(read);
  EXPECT_EQ(planToJson(*read), text);
  const Function &function = read->functions[0];
  EXPECT_EQ(function.values.size(), examplePlan().functions[0].values.size());
  EXPECT_EQ(function.steps[1].source, "model.py:7");
  EXPECT_EQ(std::get<std::vector<int64_t>>(function.steps[3].attributes.at("sizes"))[0], INT64_MIN);
  EXPECT_EQ(function.symbols[0].max, 512);
  EXPECT_EQ(function.inSpec, "[1,{\"a\":2}]");
  EXPECT_EQ(read->kernelLibrary, "kernels.so");
}

TEST(PlanJson, WrittenArgumentsAreStates) {
  Plan plan = examplePlan();
  Function &function = plan.functions[0];
  function.states.push_back({"x", function.inputs[0].value, function.steps[1].results[0], ""});
  std::string text = planToJson(plan);
  Result<Plan> read = planFromJson(text);
  ASSERT_OK(read);
  EXPECT_EQ(planToJson(*read), text);
  EXPECT_TRUE(read->functions[0].states[1].isArgument());
  EXPECT_FALSE(read->functions[0].states[0].isArgument());
}

TEST(PlanJson, ReadsWrittenArgumentsOfVersion2) {
  Plan plan = examplePlan();
  Function &function = plan.functions[0];
  const ValueId changed = function.steps[1].results[0];
  function.outputs.push_back({"was x", changed, ""});
  std::string text = planToJson(plan);
  auto replace = [&](const std::string &from, const std::string &to) {
    ASSERT_NE(text.find(from), std::string::npos) << from;
    text.replace(text.find(from), from.size(), to);
  };
  replace(R"("name":"was x")", R"("name":"was x","mutates":"x")");
  replace(R"("version":3)", R"("version":2)");
  Result<Plan> read = planFromJson(text);
  ASSERT_OK(read);
  EXPECT_EQ(read->functions[0].outputs.size(), 2u);
  const State &state = read->functions[0].states.back();
  EXPECT_EQ(state.name, "x");
  EXPECT_EQ(state.input, read->functions[0].inputs[0].value);
  EXPECT_EQ(state.output, changed);
  replace(R"("mutates":"x")", R"("mutates":"z")");
  EXPECT_FALSE(planFromJson(text));
}

TEST(PlanJson, AttributesKeepTheirTypes) {
  Plan plan = examplePlan();
  Attributes attributes = {{"a", true},
                           {"b", int64_t(1)},
                           {"c", 1.0},
                           {"d", std::string("x")},
                           {"e", std::vector<int64_t>{}},
                           {"f", std::vector<double>{0.1, -std::numeric_limits<double>::infinity()}},
                           {"g", std::vector<std::string>{"p", "q"}},
                           {"h", INT64_MAX}};
  plan.functions[0].steps[0].attributes.insert(attributes.begin(), attributes.end());
  Result<Plan> read = planFromJson(planToJson(plan));
  ASSERT_OK(read);
  EXPECT_EQ(read->functions[0].steps[0].attributes, plan.functions[0].steps[0].attributes);

  plan.functions[0].steps[0].attributes["nan"] = std::nan("");
  read = planFromJson(planToJson(plan));
  ASSERT_OK(read);
  EXPECT_TRUE(std::isnan(std::get<double>(read->functions[0].steps[0].attributes.at("nan"))));
}

TEST(PlanJson, RefusesBrokenPlans) {
  using F = Function &;
  using P = Plan &;
  EXPECT_THAT(errorOf([](P, F f) { f.steps[1].operands[0] = 99; }), HasSubstr("does not exist"));
  EXPECT_THAT(errorOf([](P, F f) { f.steps[1].operands[0] = -2; }), HasSubstr("no value number"));
  EXPECT_THAT(errorOf([](P, F f) { f.steps[1].operands[0] = f.steps[3].results[0]; }),
              HasSubstr("before it is defined"));
  EXPECT_THAT(errorOf([](P, F f) { f.steps[2].results = f.steps[1].results; }), HasSubstr("defined twice"));
  EXPECT_THAT(errorOf([](P, F f) { f.steps[1].results.clear(); }), HasSubstr("no results"));
  EXPECT_THAT(errorOf([](P, F f) { f.prologue[0].operands[0] = f.inputs[0].value; }),
              HasSubstr("before it is defined"));
  EXPECT_THAT(errorOf([](P, F f) { f.steps[0].kernel = "frobnicate"; }, ErrorKind::Unsupported),
              HasSubstr("`frobnicate`"));
  EXPECT_THAT(errorOf([](P, F f) { f.values[0].shape = {-3, 4}; }), HasSubstr("impossible shape"));
  EXPECT_THAT(errorOf([](P, F f) { f.values[0].shape = {INT64_MAX, 4}; }), HasSubstr("impossible shape"));
  EXPECT_THAT(errorOf([](P, F f) { f.values[0].shape.assign(65, 1); }), HasSubstr("too many dimensions"));
  EXPECT_THAT(errorOf([](P, F f) { f.constants[1].bytes.pop_back(); }), HasSubstr("15 bytes"));
  EXPECT_THAT(errorOf([](P, F f) { f.inputs[0].dims.pop_back(); }), HasSubstr("number of dims"));
  EXPECT_THAT(errorOf([](P, F f) { f.inputs[1].literal = "{"; }), HasSubstr("neither a value nor a literal"));
  EXPECT_THAT(errorOf([](P, F f) { f.outputs[0].value = 50; }), HasSubstr("does not exist"));
  EXPECT_THAT(errorOf([](P, F f) { f.states[0].output = f.inputs[0].value; }), HasSubstr("changes its type"));
  EXPECT_THAT(errorOf([](P, F f) { f.states[0].initialWeight = ""; }), HasSubstr("neither an initial value nor"));
  EXPECT_THAT(errorOf([](P, F f) { f.states.push_back(f.states[0]); }), HasSubstr("occurs twice"));
  EXPECT_THAT(errorOf([](P, F f) { f.states.push_back({"flag", kNoValue, f.states[0].output, ""}); }),
              HasSubstr("does not exist")); // the argument is a literal
  EXPECT_THAT(errorOf([](P, F f) { f.symbols[0].min = 600; }), HasSubstr("no valid range"));
  EXPECT_THAT(errorOf([](P p, F) { p.kernelLibrary = "../evil.so"; }), HasSubstr("no file name"));
  EXPECT_THAT(errorOf([](P p, F f) { p.functions.push_back(f); }), HasSubstr("two functions"));
}

/// A function that calls the one before it, `depth` times over.
Plan chainOfCalls(size_t depth) {
  Plan plan;
  for (size_t i = 0; i <= depth; ++i) {
    FunctionBuilder b;
    ValueId x = b.input("x", {4});
    std::vector<std::string> callee = {"f" + std::to_string(i - 1)};
    ValueId y =
        i == 0 ? x : b.step("invoke", {x}, b.tensor({4}), {{"kind", std::string("call")}, {"functions", callee}});
    b.output("y", y);
    b.function.name = "f" + std::to_string(i);
    b.function.isInternal = true;
    plan.functions.push_back(b.function);
  }
  return plan;
}

TEST(PlanJson, CallsAreNotTooDeepForTheStack) {
  ASSERT_OK(validatePlan(chainOfCalls(100)));
  Status deep = validatePlan(chainOfCalls(101));
  ASSERT_FALSE(deep);
  EXPECT_THAT(deep.error().message, HasSubstr("levels deep"));
}

TEST(PlanJson, RefusesForeignText) {
  EXPECT_FALSE(planFromJson(""));
  EXPECT_FALSE(planFromJson("[]"));
  EXPECT_FALSE(planFromJson("{}"));
  EXPECT_FALSE(planFromJson(R"({"format":"ingot-plan","version":1,"functions":3})"));
  Result<Plan> newer = planFromJson(R"({"format":"ingot-plan","version":99})");
  ASSERT_FALSE(newer);
  EXPECT_EQ(newer.error().kind, ErrorKind::Unsupported);
  std::string text = planToJson(examplePlan());
  for (size_t length = 0; length < text.size(); length += 37)
    EXPECT_FALSE(planFromJson(text.substr(0, length)));
}

} // namespace
} // namespace ingot::test
