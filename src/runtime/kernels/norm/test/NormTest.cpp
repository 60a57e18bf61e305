#include "runtime/kernels/norm/Norm.h"
#include "runtime/kernels/elementwise/test/TestKernel.h"
#include "runtime/kernels/norm/GroupNorm.h"

#include <limits>

namespace ingot::test {
namespace {

using List = std::vector<int64_t>;

TEST(Norm, SoftmaxAgreesWithTheReference) {
  for (List sizes : {List{3, 7}, {2, 3, 65}, {1, 5000}, {4, 1}, {0, 3}})
    for (bool isLog : {false, true})
      for (int64_t axis : {int64_t(0), static_cast<int64_t>(sizes.size()) - 1})
        expectSameAs({"softmax", {noise(sizes, 1)}, {{"axis", axis}, {"log", isLog}}}, bindReferenceSoftmax, 1e-6);
  for (int64_t axis : {0, 1, 2}) {
    for (bool isLog : {false, true})
      expectFast({"softmax", {noise({3, 40, 33}, 1)}, {{"axis", axis}, {"log", isLog}}}, axis == 2 ? "Fast" : "Strided",
                 bindReferenceSoftmax, 1e-6);
    for (DType dtype : {DType::Float16, DType::BFloat16})
      expectFast({"softmax", {noise({3, 40, 33}, 1, dtype)}, {{"axis", axis}, {"log", false}}, {dtype}}, "Widened",
                 bindReferenceSoftmax, dtype == DType::Float16 ? 1e-3 : 8e-3);
  }
  const double inf = std::numeric_limits<double>::infinity(), nan = std::numeric_limits<double>::quiet_NaN();
  for (std::vector<double> row :
       {std::vector<double>{-inf, 1, 2}, {-inf, -inf, -inf}, {inf, 1, 2}, {nan, 1, 2}, {1000, -1000, 0}})
    expectSameAs({"softmax", {tensor({1, 3}, row)}, {{"axis", int64_t(1)}, {"log", false}}}, bindReferenceSoftmax,
                 1e-6);
}

TEST(Norm, LayerNormAgreesWithTheReference) {
  for (List sizes : {List{3, 7}, {2, 3, 100}, {1, 9000}})
    for (bool isRms : {false, true})
      for (int parameters : {0, 1, 2}) {
        Case testCase{"layer_norm", {noise(sizes, 1)}, {{"rank", int64_t(1)}, {"eps", 1e-5}, {"rms", isRms}}};
        for (int i = 0; i < parameters; ++i)
          testCase.operands.push_back(noise({sizes.back()}, 2 + static_cast<unsigned>(i)));
        expectFast(testCase, "Fast", bindReferenceLayerNorm, 1e-5);
      }
  for (DType dtype : {DType::Float16, DType::BFloat16}) {
    Case half{"layer_norm", {noise({5, 70}, 1, dtype), noise({70}, 2, dtype), noise({70}, 3, dtype)}, {}, {dtype}};
    half.attributes = {{"rank", int64_t(1)}, {"eps", 1e-5}, {"rms", false}};
    expectFast(half, "Widened", bindReferenceLayerNorm, dtype == DType::Float16 ? 1e-3 : 8e-3);
  }
  Case wrong{"layer_norm", {noise({3, 7}, 1), noise({6}, 2)}, {{"rank", int64_t(1)}, {"eps", 1e-5}, {"rms", false}}};
  EXPECT_FALSE(wrong.run());
}

TEST(Norm, GroupNormIsTheSameForEveryLayoutAndType) {
  auto norm = [](const Tensor &x, DType dtype) {
    return Case{"group_norm",
                {x, noise({6}, 2, dtype), noise({6}, 3, dtype)},
                {{"groups", int64_t(2)}, {"eps", 1e-5}},
                {dtype}};
  };
  auto want = norm(noise({2, 6, 4, 5}, 1, DType::Float64), DType::Float64).run();
  ASSERT_TRUE(want) << want.error().str();
  for (List order : {List{0, 1, 2, 3}, {0, 2, 3, 1}, {2, 1, 3, 0}}) {
    auto got = norm(inOrder(noise({2, 6, 4, 5}, 1), order), DType::Float32).run();
    ASSERT_TRUE(got) << got.error().str();
    expectNear((*got)[0], (*want)[0], 1e-5);
  }
  for (int64_t groups : {1, 32}) {
    Case last{"group_norm",
              {inOrder(noise({2, 160, 3, 300}, 1), {0, 2, 3, 1}), noise({160}, 2), noise({160}, 3)},
              {{"groups", groups}, {"eps", 1e-5}}};
    expectFast(last, "ChannelsLast", bindReferenceGroupNorm, 1e-5);
  }
  EXPECT_FALSE((Case{"group_norm", {noise({1, 5, 2}, 1)}, {{"groups", int64_t(2)}, {"eps", 1e-5}}}.run()));
}

} // namespace
} // namespace ingot::test
