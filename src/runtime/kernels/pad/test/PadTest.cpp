#include "runtime/kernels/elementwise/test/TestKernel.h"

namespace ingot::test {
namespace {

using Values = std::vector<double>;
using List = std::vector<int64_t>;

Case pad(Tensor x, List low, List high, std::string mode, double value = 0) {
  const DType dtype = x.desc.dtype;
  return {"pad", {std::move(x)}, {{"low", low}, {"high", high}, {"mode", mode}, {"value", value}}, {dtype}};
}

Values padded(const Case &testCase) {
  auto result = testCase.run();
  EXPECT_TRUE(result) << (result ? "" : result.error().str());
  return result ? (*result)[0].values() : Values{};
}

TEST(Pad, FillsWithTheModesValues) {
  const Tensor x = tensor({4}, {1, 2, 3, 4});
  EXPECT_EQ(padded(pad(x, {2}, {1}, "constant", 9)), (Values{9, 9, 1, 2, 3, 4, 9}));
  EXPECT_EQ(padded(pad(x, {2}, {1}, "reflect")), (Values{3, 2, 1, 2, 3, 4, 3}));
  EXPECT_EQ(padded(pad(x, {2}, {1}, "replicate")), (Values{1, 1, 1, 2, 3, 4, 4}));
  EXPECT_EQ(padded(pad(x, {2}, {1}, "circular")), (Values{3, 4, 1, 2, 3, 4, 1}));
}

TEST(Pad, NegativeOnesRemove) {
  const Tensor x = tensor({4}, {1, 2, 3, 4});
  EXPECT_EQ(padded(pad(x, {-1}, {1}, "constant", 9)), (Values{2, 3, 4, 9}));
  EXPECT_EQ(padded(pad(x, {-1}, {-2}, "circular")), (Values{2}));
  EXPECT_EQ(padded(pad(x, {-2}, {-2}, "constant")), (Values{}));
}

TEST(Pad, KeepsTheLayout) {
  Tensor x = noise({1, 3, 4, 5}, 1), last = inOrder(x, {0, 2, 3, 1});
  for (std::string mode : {"constant", "reflect", "replicate", "circular"}) {
    auto a = pad(x, {0, 0, 1, 2}, {0, 0, 2, 1}, mode, 7).run(),
         b = pad(last, {0, 0, 1, 2}, {0, 0, 2, 1}, mode, 7).run();
    ASSERT_TRUE(a && b);
    EXPECT_EQ((*b)[0].desc.strides[1], 1);
    expectNear((*b)[0], (*a)[0], 0);
  }
}

TEST(Pad, RefusesWhatDoesNotFit) {
  const Tensor x = tensor({4}, {1, 2, 3, 4});
  EXPECT_FALSE(pad(x, {4}, {0}, "reflect").run());
  EXPECT_FALSE(pad(x, {5}, {0}, "circular").run());
  EXPECT_FALSE(pad(x, {-3}, {-2}, "constant").run());
  EXPECT_FALSE(pad(x, {0, 0}, {0, 0}, "constant").run());
  EXPECT_FALSE(pad(x, {INT64_MAX}, {0}, "constant").run());
}

} // namespace
} // namespace ingot::test
