// The plugin through its seam, as the runtime uses it.
#include "base/DType.h"
#include "runtime/kernels/fallback/Plugin.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <vector>

using namespace ingot;
using testing::ElementsAre;
using testing::HasSubstr;

namespace {

struct Operand {
  std::vector<float> data;
  std::vector<int64_t> sizes, strides;
};

class Fallback : public testing::Test {
protected:
  void SetUp() override {
    Result<const FallbackApi *> loaded = fallbackApi();
    ASSERT_TRUE(loaded) << loaded.error().str();
    api = *loaded;
  }

  void add(std::vector<float> data, std::vector<int64_t> sizes, std::vector<int64_t> strides) {
    kept.push_back(std::make_unique<Operand>(Operand{std::move(data), std::move(sizes), std::move(strides)}));
    Operand &operand = *kept.back();
    FallbackValue value;
    value.kind = FallbackKind::Tensor;
    value.dtype = static_cast<int32_t>(DType::Float32);
    value.data = operand.data.data();
    value.sizes = operand.sizes.data();
    value.strides = operand.strides.data();
    value.rank = operand.sizes.size();
    operands.push_back(value);
  }

  /// The error's text; empty on success.
  std::string run(const char *target, const char *arguments, const char *returns = "", const char *writes = "[]",
                  int64_t into = -1) {
    FallbackCall call{target, arguments, returns, writes, into, operands.data(), operands.size()};
    FallbackError error;
    FallbackResults *raw = nullptr;
    if (!api->run(&call, &raw, &error))
      return fallbackFailure(*api, error).str();
    results.reset(raw, api->freeResults);
    return "";
  }

  std::vector<float> floats(size_t index) const {
    const FallbackValue *value = api->result(results.get(), index);
    size_t count = 1;
    for (size_t i = 0; i < value->rank; ++i)
      count *= static_cast<size_t>(value->sizes[i]);
    const auto *data = static_cast<const float *>(value->data);
    return {data, data + count};
  }

  const FallbackApi *api = nullptr;
  std::vector<std::unique_ptr<Operand>> kept;
  std::vector<FallbackValue> operands;
  std::shared_ptr<FallbackResults> results;
};

TEST_F(Fallback, FillsInDefaultsAndReadsStrides) {
  add({1, 2, 3, 4}, {2, 2}, {1, 2});
  ASSERT_EQ(run("aten::add.Tensor", R"({"self": {"value": 0}, "other": {"value": 0}})"), "");
  EXPECT_THAT(floats(0), ElementsAre(2, 6, 4, 8));
}

TEST_F(Fallback, GivesListsAndNone) {
  add({1, 2, 3}, {3}, {1});
  ASSERT_EQ(run("aten::split.Tensor", R"({"self": {"value": 0}, "split_size": 2})", "[[0, 1]]"), "");
  EXPECT_THAT(floats(0), ElementsAre(1, 2));
  EXPECT_THAT(floats(1), ElementsAre(3));
  ASSERT_EQ(run("aten::aminmax", R"({"self": {"value": 0}})", "[null, 0]"), "");
  ASSERT_EQ(api->resultCount(results.get()), 1u);
  EXPECT_THAT(floats(0), ElementsAre(3));
}

TEST_F(Fallback, NeverWritesToOperands) {
  add({1, 2}, {2}, {1});
  ASSERT_EQ(run("aten::mul_.Scalar", R"({"self": {"value": 0}, "other": 3})", "[null]", R"(["self"])"), "");
  EXPECT_THAT(kept[0]->data, ElementsAre(1, 2));
  EXPECT_THAT(floats(0), ElementsAre(3, 6));
}

TEST_F(Fallback, WritesThroughViewsOfCopies) {
  add({1, 2, 3, 4}, {4}, {1});
  add({7, 8}, {1, 2}, {2, 1});
  const char *arguments = R"({"self": {"value": 0}, "dimension": 0, "size": 2, "step": 3})";
  ASSERT_EQ(run("aten::unfold", arguments, "[]", R"(["self"])", 0), "");
  EXPECT_THAT(floats(0), ElementsAre(7, 8, 3, 4));
  EXPECT_THAT(kept[0]->data, ElementsAre(1, 2, 3, 4));
  EXPECT_THAT(run("aten::unfold", arguments, "[]", R"(["self"])", 1), HasSubstr("no such result"));
  EXPECT_THAT(run("aten::unfold", arguments, "[]", "[]", 0), HasSubstr("no view of a copy"));
}

TEST_F(Fallback, CopiesStatisticsThatAreWrittenInSecret) {
  add({1, 2, 3, 4}, {2, 2}, {2, 1});
  add({0, 0}, {2}, {1});
  ASSERT_EQ(
      run("aten::batch_norm", R"({"input": {"value": 0}, "weight": null, "bias": null, "running_mean": {"value": 1},
                "running_var": {"value": 1}, "training": true, "momentum": 0.5, "eps": 1e-5, "cudnn_enabled": false})"),
      "");
  EXPECT_THAT(kept[1]->data, ElementsAre(0, 0));
}

TEST_F(Fallback, RefusesWritesThatTheProgramDoesNotKnow) {
  add({1, 2}, {2}, {1});
  EXPECT_THAT(run("aten::zero_", R"({"self": {"value": 0}})", "", ""), HasSubstr("writes to its argument 'self'"));
}

TEST_F(Fallback, ViewsGetMemoryOfTheirOwn) {
  add({1, 2, 3, 4}, {2, 2}, {2, 1});
  ASSERT_EQ(run("aten::view", R"({"self": {"value": 0}, "size": [4]})"), "");
  EXPECT_NE(api->result(results.get(), 0)->data, kept[0]->data.data());
}

TEST_F(Fallback, TurnsExceptionsIntoErrors) {
  add({1, 2, 3}, {3}, {1});
  EXPECT_THAT(run("aten::view", R"({"self": {"value": 0}, "size": [2]})"), HasSubstr("invalid for input"));
  EXPECT_THAT(run("aten::no_such_thing", "{}"), HasSubstr("has no operator aten::no_such_thing"));
  EXPECT_THAT(run("aten::relu", R"({"self": {"value": 7}})"), HasSubstr("operand that does not exist"));
  EXPECT_THAT(run("aten::relu", R"({"self": [1]})"), HasSubstr("cannot be passed"));
  EXPECT_THAT(run("aten::relu", "{}"), HasSubstr("missing"));
  EXPECT_THAT(run("aten::relu", "nonsense"), Not(testing::IsEmpty()));
}

TEST_F(Fallback, ReadsEveryKindOfLiteral) {
  ASSERT_EQ(run("aten::full", R"({"size": [2], "fill_value": {"float": "inf"}, "dtype": {"dtype": "float32"},
                                  "layout": {"layout": "strided"}, "device": {"device": "cuda:0"}, "pin_memory": null})"),
            "");
  EXPECT_THAT(floats(0), ElementsAre(INFINITY, INFINITY));
}

} // namespace
