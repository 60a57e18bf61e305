#include "verify/Sites.h"

#include <gmock/gmock.h>

using namespace ingot;
using namespace ingot::verify;
using testing::HasSubstr;

namespace {

pt2::Program readFixture(const std::string &name) {
  Result<pt2::Program> program = pt2::readProgram(std::string(INGOT_PT2_TEST_DATA) + "/" + name + ".pt2");
  EXPECT_TRUE(program) << program.error().str();
  return program ? *std::move(program) : pt2::Program();
}

pt2::Node nodeOf(std::string target, std::vector<pt2::NamedArgument> inputs) {
  pt2::Node node;
  node.target = std::move(target);
  node.name = "node";
  node.inputs = std::move(inputs);
  node.outputs = {pt2::Argument::makeTensor("made")};
  return node;
}

std::string whyGiven(pt2::Node node) {
  pt2::Program program;
  program.graph.tensorValues["x"] = {};
  program.graph.tensorValues["made"] = {};
  program.graph.inputs = {pt2::Argument::makeTensor("x")};
  program.signature.inputs = {{pt2::InputKind::UserInput, pt2::Argument::makeTensor("x"), "", true}};
  program.graph.nodes = {std::move(node)};
  return Sites(program).all.front().givenBecause;
}

TEST(Sites, KnowsWhatIsRandomAndWhatIsSwitchedOff) {
  auto dropout = [](bool train) {
    return nodeOf("torch.ops.aten.dropout.default", {{"input", pt2::Argument::makeTensor("x")},
                                                     {"p", pt2::Argument::makeFloat(0.5)},
                                                     {"train", pt2::Argument::makeBool(train)}});
  };
  EXPECT_THAT(whyGiven(dropout(true)), HasSubstr("random"));
  EXPECT_EQ(whyGiven(dropout(false)), "");
  EXPECT_THAT(whyGiven(nodeOf("torch.ops.aten.bernoulli_.float",
                              {{"self", pt2::Argument::makeTensor("x")}, {"p", pt2::Argument::makeFloat(0.0)}})),
              HasSubstr("random"));
  EXPECT_THAT(whyGiven(nodeOf("torch.ops.aten.empty_like.default", {{"self", pt2::Argument::makeTensor("x")}})),
              HasSubstr("undefined"));
  EXPECT_EQ(whyGiven(nodeOf("torch.ops.aten.scaled_dot_product_attention.default",
                            {{"query", pt2::Argument::makeTensor("x")}})),
            "");
}

TEST(Sites, TellsOperandsFromWeights) {
  pt2::Program program = readFixture("linear");
  Sites sites(program);
  ASSERT_FALSE(sites.all.empty());
  const Site &linear = sites.all.front();
  EXPECT_EQ(linear.op, "aten.linear.default");
  EXPECT_EQ(linear.operands.size(), 1U);
  EXPECT_EQ(linear.weights.size(), 2U);
  EXPECT_EQ(sites.callText(0).find("torch.ops.aten.linear.default(t[\"x\"], t[\""), 0U) << sites.callText(0);
  EXPECT_EQ(sites.outputs().front().before, pt2::kGraphEnd);
}

TEST(Sites, LooksAtContentsOnceSomethingWrites) {
  pt2::Program program = readFixture("cache");
  Sites sites(program);
  bool seesContents = false;
  for (const Site &site : sites.all)
    for (const pt2::Tap &tap : site.operands)
      seesContents |= tap.before == site.name;
  EXPECT_TRUE(seesContents);
}

TEST(Sites, EverythingThatIsUsedLaterIsLive) {
  pt2::Program program = readFixture("linear");
  Sites sites(program);
  for (size_t i = 0; i + 1 < sites.all.size(); ++i)
    EXPECT_FALSE(sites.liveAfter(i).empty()) << i;
}

} // namespace
