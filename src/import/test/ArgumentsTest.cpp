#include "import/Arguments.h"

#include "import/Carrier.h"
#include "import/GraphImporter.h"

#include <gtest/gtest.h>

namespace ingot {
namespace {

using pt2::Argument;

const pt2::SchemaType &typeOf(const char *op, const char *argument) {
  return pt2::findSchema(op)->findArgument(argument)->type;
}

TEST(Arguments, numbersTakeTheSchemasType) {
  EXPECT_EQ(coerce(Argument::makeInt(2), typeOf("aten::dropout", "p")).asFloat(), 2.0);
  EXPECT_EQ(coerce(Argument::makeInt(3), typeOf("aten::conv2d", "stride")).asInts(), (std::vector<int64_t>{3, 3}));
  EXPECT_EQ(coerce(Argument::makeInt(1), typeOf("aten::add.Tensor", "other")).asInt(), 1);
  EXPECT_TRUE(coerce(Argument::makeNone(), typeOf("aten::mean.dim", "dim")).isNone());
}

TEST(Arguments, targetsBecomeSchemaNames) {
  EXPECT_EQ(carrierTarget("torch.ops.aten.add.Tensor"), "aten::add.Tensor");
  EXPECT_EQ(carrierTarget("torch.ops.aten.relu.default"), "aten::relu");
  EXPECT_EQ(carrierTarget("torch.ops.higher_order.cond"), "higher_order::cond");
  EXPECT_EQ(carrierTarget("_operator.mul"), "_operator::mul");
  EXPECT_EQ(carrierTarget("torch.sym_max"), "torch::sym_max");
  EXPECT_EQ(carrierTarget("math.trunc"), "math::trunc");
  EXPECT_EQ(carrierTarget("nonsense"), "python::nonsense");
}

TEST(Arguments, targetNamesComeApart) {
  EXPECT_EQ(TargetName("aten::add_.Tensor").name, "aten::add_");
  EXPECT_EQ(TargetName("aten::add_.Tensor").overload, "Tensor");
  EXPECT_EQ(TargetName("aten::relu").overload, "");
}

} // namespace
} // namespace ingot
