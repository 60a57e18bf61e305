#include "pt2/Schema.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <thread>

using namespace ingot;
using namespace ingot::pt2;
using testing::ElementsAre;

namespace {

std::vector<std::string_view> tableLines() {
  std::vector<std::string_view> lines;
  std::string_view table = schemaTable();
  for (size_t begin = 0; begin < table.size();) {
    size_t end = table.find('\n', begin);
    lines.push_back(table.substr(begin, end - begin));
    begin = end + 1;
  }
  return lines;
}

TEST(Schema, ParsesAndFindsTheWholeTable) {
  std::vector<std::string_view> lines = tableLines();
  EXPECT_GT(lines.size(), 3500u);
  std::string previous;
  for (std::string_view line : lines) {
    Result<OpSchema> schema = parseSchema(line);
    ASSERT_TRUE(schema) << schema.error().str();
    std::string name = schema->qualifiedName();
    EXPECT_LT(previous, name) << "the table must be sorted";
    previous = name;
    const OpSchema *found = findSchema(name);
    ASSERT_TRUE(found) << name;
    EXPECT_EQ(found->qualifiedName(), name);
  }
}

TEST(Schema, FillsDefaults) {
  const OpSchema *conv = findSchema("aten::conv2d");
  ASSERT_TRUE(conv);
  EXPECT_EQ(findSchema("aten::conv2d.default"), conv);
  ASSERT_EQ(conv->arguments.size(), 7u);
  EXPECT_FALSE(conv->arguments[0].defaultValue);
  EXPECT_TRUE(conv->findArgument("bias")->defaultValue->isNone());
  EXPECT_TRUE(conv->findArgument("bias")->type.isOptional());
  EXPECT_THAT(conv->findArgument("dilation")->defaultValue->asInts(), ElementsAre(1, 1));
  EXPECT_EQ(conv->findArgument("dilation")->type.listLength(), 2);
  EXPECT_EQ(conv->findArgument("groups")->defaultValue->asInt(), 1);
  EXPECT_EQ(conv->findArgument("groups")->type.base, TypeKind::SymInt);
}

TEST(Schema, FillsDefaultsOfEveryType) {
  auto valueOf = [](std::string_view op, std::string_view argument) {
    const OpSchema *schema = findSchema(op);
    const SchemaArgument *found = schema ? schema->findArgument(argument) : nullptr;
    EXPECT_TRUE(found && found->defaultValue) << op << " " << argument;
    return found && found->defaultValue ? *found->defaultValue : Argument();
  };
  EXPECT_THAT(valueOf("aten::max_pool2d", "padding").asInts(), ElementsAre(0, 0));
  EXPECT_TRUE(valueOf("aten::max_pool2d", "stride").asInts().empty());
  EXPECT_EQ(valueOf("aten::layer_norm", "eps").asFloat(), 1e-5);
  EXPECT_EQ(valueOf("aten::add.Tensor", "alpha").asInt(), 1);
  EXPECT_EQ(valueOf("aten::gelu", "approximate").asString(), "none");
  EXPECT_TRUE(valueOf("aten::linalg_svd", "full_matrices").asBool());
  EXPECT_EQ(valueOf("aten::contiguous", "memory_format").asMemoryFormat(), MemoryFormat::Contiguous);
  EXPECT_EQ(valueOf("aten::tril_indices", "dtype").asScalarType(), DType::Int64);
  EXPECT_EQ(valueOf("aten::elu", "scale").asInt(), 1);
  EXPECT_EQ(valueOf("aten::leaky_relu", "negative_slope").asFloat(), 0.01);
  EXPECT_EQ(valueOf("aten::_test_string_default", "a").asString(), "\"'\\");
}

TEST(Schema, ReadsAliases) {
  const OpSchema *inPlace = findSchema("aten::add_.Tensor");
  ASSERT_TRUE(inPlace);
  EXPECT_TRUE(inPlace->isMutable());
  ASSERT_TRUE(inPlace->arguments[0].alias);
  EXPECT_TRUE(inPlace->arguments[0].alias->isWrite);
  EXPECT_THAT(inPlace->returns[0].alias->sets, ElementsAre("a"));
  const OpSchema *view = findSchema("aten::view");
  EXPECT_FALSE(view->isMutable());
  EXPECT_FALSE(view->arguments[0].alias->isWrite);
  const OpSchema *split = findSchema("aten::split.Tensor");
  EXPECT_THAT(split->arguments[0].alias->setsAfter, ElementsAre("*"));
  EXPECT_TRUE(split->returns[0].type.isTensorList());
  EXPECT_TRUE(findSchema("aten::add.Tensor")->findArgument("alpha")->keywordOnly);
}

TEST(Schema, ReadsTypes) {
  const OpSchema *index = findSchema("aten::index.Tensor");
  const SchemaType &indices = index->findArgument("indices")->type;
  EXPECT_EQ(indices.str(), "Tensor?[]");
  EXPECT_TRUE(indices.isTensorList());
  EXPECT_FALSE(indices.isOptional());
  EXPECT_EQ(findSchema("aten::sum.dim_IntList")->findArgument("dim")->type.str(), "int[1]?");
  EXPECT_EQ(findSchema("aten::get_gradients")->returns[0].type.str(), "Dict(Tensor, Tensor)");
  EXPECT_TRUE(findSchema("static_runtime::VarTupleUnpack")->hasVarArgs);
  EXPECT_EQ(findSchema("aten::topk")->returns[1].name, "indices");
  EXPECT_TRUE(findSchema("aten::_assert_async")->returns.empty());
}

TEST(Schema, TranslatesTargets) {
  EXPECT_EQ(qualifiedNameOfTarget("torch.ops.aten.add.Tensor"), "aten::add.Tensor");
  EXPECT_EQ(qualifiedNameOfTarget("torch.ops.aten.relu.default"), "aten::relu");
  EXPECT_EQ(qualifiedNameOfTarget("torch.ops.higher_order.cond"), std::nullopt);
  EXPECT_EQ(qualifiedNameOfTarget("_operator.add"), std::nullopt);
  EXPECT_EQ(qualifiedNameOfTarget("torch.sym_max"), std::nullopt);
}

TEST(Schema, AnswersUnknownNames) {
  for (std::string_view name : {"", "aten::", "aten::no_such_op", "zzz::last", "a", "aten::add.", "."})
    EXPECT_FALSE(findSchema(name)) << name;
}

TEST(Schema, IsThreadSafe) {
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i)
    threads.emplace_back([] {
      for (std::string_view line : tableLines())
        EXPECT_TRUE(findSchema(line.substr(0, line.find('('))));
    });
  for (std::thread &thread : threads)
    thread.join();
}

TEST(Schema, RefusesNonsense) {
  std::string good = "my::op.x(Tensor(a!)? self, int[2] n=1, *, str s=\"a\") -> (Tensor(a!), int[])";
  EXPECT_TRUE(parseSchema(good));
  for (size_t length = 0; length < good.size(); ++length)
    EXPECT_FALSE(parseSchema(good.substr(0, length))) << length;
  for (size_t at = 0; at < good.size(); ++at)
    for (char c : std::string_view("()[]!?*,=x0 \"\\"))
      (void)parseSchema(std::string(good).replace(at, 1, 1, c));
  EXPECT_FALSE(parseSchema("a::b(" + std::string(100000, '(')));
  EXPECT_FALSE(parseSchema("a::b(int[99999999999] x=1) -> ()"));
  EXPECT_FALSE(parseSchema("a::b(int x=1.5) -> ()"));
}

} // namespace
