// Programs that show values, take them from outside, or are single nodes.
#include "pt2/Rewrite.h"
#include "pt2/test/Fixtures.h"

#include <gmock/gmock.h>

#include <algorithm>

using namespace ingot;
using namespace ingot::pt2;
using namespace ingot::pt2::test;
using testing::ElementsAre;
using testing::HasSubstr;

namespace {

std::vector<std::string> nodeTargets(const Graph &graph) {
  std::vector<std::string> targets;
  for (const Node &node : graph.nodes)
    targets.push_back(node.target);
  return targets;
}

size_t userInputs(const Program &program) {
  return std::ranges::count_if(program.signature.inputs,
                               [](const InputSpec &input) { return input.kind == InputKind::UserInput; });
}

/// x ► relu (made) ► mul_ (made_1), which writes to `made`
Program smallProgram() {
  Program program;
  Graph &graph = program.graph;
  TensorMeta meta;
  meta.sizes = {SymInt(SymExprText{"Symbol('s0')", int64_t(3)})};
  meta.strides = {SymInt(1)};
  for (const char *name : {"x", "made", "made_1"})
    graph.tensorValues[name] = meta;
  graph.inputs = {Argument::makeTensor("x")};
  program.signature.inputs = {{InputKind::UserInput, Argument::makeTensor("x"), "", true}};
  Node relu{"torch.ops.aten.relu.default",  "relu", {{"self", Argument::makeTensor("x")}},
            {Argument::makeTensor("made")}, {},     {}};
  Node mul{"torch.ops.aten.mul_.Tensor",
           "mul_",
           {{"self", Argument::makeTensor("made")}, {"other", Argument::makeFloat(2)}},
           {Argument::makeTensor("made_1")},
           {},
           {}};
  graph.nodes = {relu, mul};
  graph.outputs = {Argument::makeTensor("made_1")};
  program.signature.outputs = {{OutputKind::UserOutput, Argument::makeTensor("made_1"), ""}};
  return program;
}

void rewriteWell(Program &program, const Rewrite &rewrite) {
  Status status = rewriteProgram(program, rewrite);
  ASSERT_TRUE(status) << status.error().str();
}

TEST(Rewrite, TapsAreCopiesWhereTheyAreLookedAt) {
  Program program = smallProgram();
  Rewrite rewrite;
  rewrite.taps = {{"made"}, {"made", kGraphEnd}, {"x"}, {"made"}};
  rewriteWell(program, rewrite);
  EXPECT_THAT(nodeTargets(program.graph),
              ElementsAre("torch.ops.aten.clone.default", "torch.ops.aten.relu.default", "torch.ops.aten.clone.default",
                          "torch.ops.aten.mul_.Tensor", "torch.ops.aten.clone.default"));
  std::vector<std::string> outputs;
  for (const OutputSpec &output : program.signature.outputs)
    outputs.push_back(output.value.asTensor());
  EXPECT_THAT(outputs, ElementsAre("made_1", "tap:made", "tap:made@output", "tap:x"));
}

TEST(Rewrite, ValuesComeFromOutside) {
  Program program = smallProgram();
  Rewrite rewrite;
  rewrite.given = {"relu"};
  rewriteWell(program, rewrite);
  EXPECT_THAT(nodeTargets(program.graph), ElementsAre("torch.ops.aten.mul_.Tensor"));
  EXPECT_EQ(program.graph.inputs.back().asTensor(), "made");
}

TEST(Rewrite, WhatWritesInPlaceStillDoes) {
  Program program = smallProgram();
  Rewrite rewrite;
  rewrite.given = {"mul_"};
  rewriteWell(program, rewrite);
  const Node &copy = program.graph.nodes.back();
  EXPECT_EQ(copy.target, "torch.ops.aten.copy_.default");
  EXPECT_EQ(copy.inputs[0].value.asTensor(), "made");
  EXPECT_EQ(copy.inputs[1].value.asTensor(), "given:made_1");
  EXPECT_EQ(userInputs(program), 2U);
}

TEST(Rewrite, NodesAloneAreStaticAndFedFromOutside) {
  Program program = smallProgram();
  Rewrite rewrite;
  rewrite.alone = {"mul_"};
  rewrite.operands["mul_"] = {{"made", "mul_"}};
  rewrite.sizes["made@mul_"] = {7};
  rewrite.sizes["made_1"] = {7};
  rewrite.taps = {{"made_1"}};
  rewriteWell(program, rewrite);
  EXPECT_THAT(nodeTargets(program.graph), ElementsAre("torch.ops.aten.mul_.Tensor", "torch.ops.aten.clone.default"));
  EXPECT_EQ(program.graph.nodes[0].inputs[0].value.asTensor(), "in:made@mul_");
  EXPECT_EQ(program.graph.findTensor("in:made@mul_")->sizes.front().concrete(), 7);
  EXPECT_EQ(program.graph.findTensor("tap:made_1")->sizes.front().concrete(), 7);
  EXPECT_EQ(userInputs(program), 1U);
}

TEST(Rewrite, WeightsStayWeights) {
  Program program = readFixture("linear");
  Rewrite rewrite;
  rewrite.alone = {nodeName(program.graph, 0)};
  rewrite.operands[rewrite.alone.front()] = {{"x"}};
  std::vector<int64_t> sizes;
  for (const SymInt &size : program.graph.findTensor("x")->sizes)
    sizes.push_back(size.isConcrete() ? size.concrete() : 2);
  rewrite.sizes["x"] = sizes;
  rewriteWell(program, rewrite);
  EXPECT_EQ(program.graph.nodes.size(), 1U);
  EXPECT_EQ(program.signature.inputs.size(), 3U);
  EXPECT_EQ(userInputs(program), 1U);
}

TEST(Rewrite, SurvivesItsWayAsJson) {
  Rewrite rewrite;
  rewrite.given = {"a"};
  rewrite.alone = {"b"};
  rewrite.operands["b"] = {{"x"}, {"y", "b"}};
  rewrite.sizes["x"] = {1, 2};
  rewrite.numbers = {{"n", int64_t(3)}, {"f", 0.5}, {"t", true}};
  rewrite.taps = {{"z"}};
  Result<Rewrite> read = rewriteFromJson(rewriteToJson(rewrite));
  ASSERT_TRUE(read) << read.error().str();
  EXPECT_EQ(read->given, rewrite.given);
  EXPECT_EQ(read->alone, rewrite.alone);
  EXPECT_EQ(read->operands, rewrite.operands);
  EXPECT_EQ(read->sizes, rewrite.sizes);
  EXPECT_EQ(read->numbers, rewrite.numbers);
  EXPECT_EQ(read->taps, rewrite.taps);
}

TEST(Rewrite, MistakesAreErrors) {
  auto problem = [](const Rewrite &rewrite) {
    Program program = smallProgram();
    Status status = rewriteProgram(program, rewrite);
    return status ? std::string() : status.error().message;
  };
  Rewrite rewrite;
  rewrite.taps = {{"nothing"}};
  EXPECT_THAT(problem(rewrite), HasSubstr("no value 'nothing'"));
  rewrite.taps = {{"x", "nowhere"}};
  EXPECT_THAT(problem(rewrite), HasSubstr("no node 'nowhere'"));
  rewrite.taps = {{"made_1", "relu"}};
  EXPECT_THAT(problem(rewrite), HasSubstr("before it is defined"));
  rewrite = {};
  rewrite.alone = {"mul_"};
  rewrite.operands["mul_"] = {{"made"}};
  EXPECT_THAT(problem(rewrite), HasSubstr("the sizes of 'made' are needed"));
  EXPECT_FALSE(rewriteFromJson(nlohmann::json::parse(R"({"taps": [["x"]]})")));
  EXPECT_FALSE(rewriteFromJson(nlohmann::json::parse(R"({"sizes": {"x": ["a"]}})")));
  EXPECT_FALSE(rewriteFromJson(nlohmann::json::parse("3")));
}

} // namespace
