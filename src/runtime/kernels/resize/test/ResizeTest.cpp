#include "runtime/kernels/resize/Resize.h"
#include "runtime/kernels/elementwise/test/TestKernel.h"

namespace ingot::test {
namespace {

using Values = std::vector<double>;
using List = std::vector<int64_t>;

Case resize(Tensor x, std::string mode, List sizes, bool alignCorners = false, Values scales = {}) {
  const DType dtype = x.desc.dtype;
  scales.resize(sizes.size(), 0.0);
  return {"resize",
          {std::move(x)},
          {{"mode", mode}, {"align_corners", alignCorners}, {"scales", scales}, {"sizes", sizes}},
          {dtype}};
}

TEST(Resize, KnowsEveryMode) {
  const Tensor x = tensor({1, 1, 4}, {1, 2, 3, 4});
  auto values = [](const Case &testCase) {
    auto result = testCase.run();
    EXPECT_TRUE(result) << (result ? "" : result.error().str());
    return result ? (*result)[0].values() : Values{};
  };
  EXPECT_EQ(values(resize(x, "nearest", {3})), (Values{1, 2, 3}));
  EXPECT_EQ(values(resize(x, "nearest_exact", {2})), (Values{2, 4}));
  EXPECT_EQ(values(resize(x, "linear", {2})), (Values{1.5, 3.5}));
  EXPECT_EQ(values(resize(x, "linear", {7}, true)), (Values{1, 1.5, 2, 2.5, 3, 3.5, 4}));
  EXPECT_EQ(values(resize(x, "cubic", {4})), (Values{1, 2, 3, 4}));
}

TEST(Resize, ChannelsLastAgreesWithRowMajor) {
  const Tensor x = noise({2, 5, 6, 7}, 1);
  for (std::string mode : {"nearest", "nearest_exact", "linear", "cubic"})
    for (bool alignCorners : {false, true})
      for (List sizes : {List{12, 14}, {3, 9}, {1, 1}, {6, 7}}) {
        auto a = resize(x, mode, sizes, alignCorners).run();
        auto b = resize(inOrder(x, {0, 2, 3, 1}), mode, sizes, alignCorners).run();
        ASSERT_TRUE(a && b);
        EXPECT_TRUE(sizes == List({1, 1}) || (*b)[0].desc.strides[1] == 1);
        expectNear((*b)[0], (*a)[0], 2e-6);
      }
}

TEST(Resize, TakesDynamicSizes) {
  Case testCase = resize(noise({1, 1, 4, 4}, 1), "linear", {8, INT64_MIN});
  testCase.scalars = {int64_t(6)};
  auto result = testCase.run();
  ASSERT_TRUE(result) << result.error().str();
  EXPECT_EQ((*result)[0].desc.sizes, (List{1, 1, 8, 6}));
  testCase.scalars = {};
  EXPECT_FALSE(testCase.run());
}

TEST(Resize, RefusesWhatDoesNotFit) {
  EXPECT_FALSE(resize(noise({1, 1, 4}, 1), "linear", {0}).run());
  EXPECT_FALSE(resize(noise({1, 1, 4}, 1), "linear", {4, 4}).run());
  EXPECT_FALSE(resize(noise({1, 1, 4}, 1), "linear", {INT64_MAX}).run());
  EXPECT_FALSE(resize(noise({1, 1, 4}, 1), "linear", {4}, false, {-1.0}).run());
  EXPECT_FALSE(resize(noise({1, 1, 4}, 1, DType::Int64), "linear", {4}).run());
  EXPECT_TRUE(resize(noise({1, 1, 4}, 1, DType::Int64), "nearest", {4}).run());
}

} // namespace
} // namespace ingot::test
