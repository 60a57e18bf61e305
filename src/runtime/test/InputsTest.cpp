#include "runtime/Inputs.h"

#include "runtime/test/TestPlan.h"

#include <gmock/gmock.h>

namespace ingot::test {
namespace {

using testing::HasSubstr;

Function exampleFunction() {
  FunctionBuilder b;
  b.input("ids", {kDynamic, kDynamic}, {"batch", "seq"}, DType::Int64);
  b.input("mask", {kDynamic, kDynamic}, {"batch", "2*seq"}, DType::Bool);
  b.input("scale", {3}, {"3"});
  b.function.symbols = {{"batch", 2, INT64_MAX}, {"seq", 1, 512}};
  b.function.inputs.push_back({"none", kNoValue, {}, "null"});
  return b.function;
}

int64_t dummy[1];

std::vector<TensorView> tensors(std::vector<int64_t> ids, std::vector<int64_t> mask, std::vector<int64_t> scale) {
  return {{dummy, TensorDesc::contiguous(DType::Int64, std::move(ids))},
          {dummy, TensorDesc::contiguous(DType::Bool, std::move(mask))},
          {dummy, TensorDesc::contiguous(DType::Float32, std::move(scale))}};
}

std::string errorOf(const std::vector<TensorView> &inputs) {
  Status status = checkInputs(exampleFunction(), inputs);
  if (status)
    return "no error";
  EXPECT_EQ(status.error().kind, ErrorKind::Usage);
  return status.error().message;
}

TEST(Inputs, AcceptsWhatFits) {
  EXPECT_EQ(errorOf(tensors({2, 5}, {2, 10}, {3})), "no error");
  // A lower bound up to 2 is torch's assumption, not the user's.
  EXPECT_EQ(errorOf(tensors({1, 5}, {1, 10}, {3})), "no error");
  EXPECT_EQ(errorOf(tensors({0, 0}, {0, 0}, {3})), "no error");
}

TEST(Inputs, NamesWhatIsWrong) {
  EXPECT_EQ(errorOf(tensors({2, 700}, {2, 1400}, {3})),
            "dim `seq` of input `ids` is 700, allowed 1 to 512 (dimension 1)");
  EXPECT_EQ(errorOf(tensors({2, 5}, {3, 10}, {3})),
            "dim `batch` of input `mask` is 3, but `batch` is 2 in dim 0 of input `ids` (dimension 0)");
  EXPECT_EQ(errorOf(tensors({2, 5}, {2, 11}, {3})), "dim `2*seq` of input `mask` is 11, expected 10 (dimension 1)");
  EXPECT_EQ(errorOf(tensors({2, 5}, {2, 10}, {4})), "dim 0 of input `scale` is 4, expected 3");
  EXPECT_EQ(errorOf(tensors({2, 5, 1}, {2, 10}, {3})), "input `ids`: expected 2 dims [batch, seq], got [2, 5, 1]");
  std::vector<TensorView> wrongType = tensors({2, 5}, {2, 10}, {3});
  wrongType[0].desc.dtype = DType::Float32;
  EXPECT_EQ(errorOf(wrongType), "input `ids`: expected dtype int64, got float32");
  std::vector<TensorView> few = tensors({2, 5}, {2, 10}, {3});
  few.pop_back();
  EXPECT_EQ(errorOf(few), "`forward` takes 3 inputs (`ids`, `mask`, `scale`), got 2; missing input `scale`");
  std::vector<TensorView> null = tensors({2, 5}, {2, 10}, {3});
  null[1].data = nullptr;
  EXPECT_EQ(errorOf(null), "input `mask`: the data pointer is null");
  EXPECT_THAT(errorOf(tensors({-1, 5}, {2, 10}, {3})), HasSubstr("impossible"));
  EXPECT_THAT(errorOf(tensors({INT64_MAX, 5}, {2, 10}, {3})), HasSubstr("impossible"));
}

TEST(Inputs, SizesThatTheExportDecidedBy) {
  Function function = exampleFunction();
  function.symbols.push_back({"(seq + 1) // 2", 3, 3});
  function.symbols.push_back({"batch - (unknown)", 0, 0}); // cannot be told
  EXPECT_TRUE(checkInputs(function, tensors({2, 5}, {2, 10}, {3})));
  EXPECT_TRUE(checkInputs(function, tensors({2, 6}, {2, 12}, {3})));
  Status status = checkInputs(function, tensors({2, 7}, {2, 14}, {3}));
  ASSERT_FALSE(status);
  EXPECT_EQ(status.error().kind, ErrorKind::Usage);
  EXPECT_THAT(status.error().message, HasSubstr("(seq + 1) // 2 = 3, which is 4 for batch = 2, seq = 7"));
}

TEST(Inputs, ByName) {
  Function function = exampleFunction();
  std::vector<TensorView> t = tensors({2, 5}, {2, 10}, {3});
  std::vector<NamedTensor> named = {{"scale", t[2]}, {"ids", t[0]}, {"mask", t[1]}};
  auto ordered = orderInputs(function, named);
  ASSERT_OK(ordered);
  EXPECT_EQ((*ordered)[0].desc.dtype, DType::Int64);
  EXPECT_EQ((*ordered)[2].desc.dtype, DType::Float32);

  named[0].name = "scal";
  ordered = orderInputs(function, named);
  ASSERT_FALSE(ordered);
  EXPECT_THAT(ordered.error().message, HasSubstr("unknown input name `scal`; did you mean `scale`?"));
  named[0].name = "ids";
  EXPECT_FALSE(orderInputs(function, named));
  named.erase(named.begin());
  ordered = orderInputs(function, named);
  ASSERT_FALSE(ordered);
  EXPECT_EQ(ordered.error().message, "missing input `scale`");
}

} // namespace
} // namespace ingot::test
