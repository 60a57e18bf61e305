#include "runtime/kernels/pool/Pool.h"
#include "runtime/kernels/elementwise/test/TestKernel.h"

#include <limits>

namespace ingot::test {
namespace {

using List = std::vector<int64_t>;

Case maxPool(Tensor x, List kernel, List strides, List padding, List dilations, bool ceilMode = false) {
  const DType dtype = x.desc.dtype;
  return {"max_pool",
          {std::move(x)},
          {{"kernel", kernel},
           {"strides", strides},
           {"padding", padding},
           {"dilations", dilations},
           {"ceil_mode", ceilMode}},
          {dtype, DType::Int64}};
}

Case avgPool(Tensor x, List kernel, List strides, List padding, bool ceilMode, bool includePadding, int64_t divisor) {
  const DType dtype = x.desc.dtype;
  return {"avg_pool",
          {std::move(x)},
          {{"kernel", kernel},
           {"strides", strides},
           {"padding", padding},
           {"ceil_mode", ceilMode},
           {"count_include_pad", includePadding},
           {"divisor", divisor}},
          {dtype}};
}

template <Result<PoolProblem> (*problem)(const StepContext &),
          Result<std::unique_ptr<BoundKernel>> (*make)(PoolProblem)>
Result<std::unique_ptr<BoundKernel>> reference(const StepContext &context, std::span<const TensorDesc>) {
  INGOT_TRY(PoolProblem made, problem(context));
  return make(std::move(made));
}

TEST(Pool, FindsTheLargest) {
  auto result = maxPool(tensor({1, 1, 2, 4}, {1, 5, 2, 0, 3, 4, 7, 8}), {2, 2}, {2, 2}, {0, 0}, {1, 1}).run();
  ASSERT_TRUE(result) << result.error().str();
  EXPECT_EQ((*result)[0].values(), (std::vector<double>{5, 8}));
  EXPECT_EQ((*result)[1].values(), (std::vector<double>{1, 7}));
}

TEST(Pool, NanWins) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  Tensor x = tensor({1, 1, 2, 2}, {1, nan, 3, 4});
  for (const Tensor &input : {x, inOrder(x, {0, 2, 3, 1})}) {
    auto result = maxPool(input, {2, 2}, {2, 2}, {0, 0}, {1, 1}).run();
    ASSERT_TRUE(result);
    EXPECT_TRUE(std::isnan((*result)[0].at(0)));
    EXPECT_EQ((*result)[1].at(0), 1);
  }
}

TEST(Pool, ChannelsLastAgreesWithTheReference) {
  const Tensor x = inOrder(noise({2, 133, 9, 8}, 1), {0, 2, 3, 1});
  for (bool ceilMode : {false, true}) {
    expectFast(maxPool(x, {3, 2}, {2, 2}, {1, 1}, {1, 2}, ceilMode), "ChannelsLast",
               reference<maxPoolProblem, makeReferenceMaxPool>, 0);
    for (bool includePadding : {false, true})
      for (int64_t divisor : {0, 5})
        expectFast(avgPool(x, {3, 2}, {2, 2}, {1, 1}, ceilMode, includePadding, divisor), "ChannelsLast",
                   reference<avgPoolProblem, makeReferenceAvgPool>, 1e-6);
  }
  for (List output : {List{1, 1}, {3, 5}, {9, 8}, {11, 2}})
    expectFast({"adaptive_avg_pool", {x}, {{"output", output}}}, output == List{1, 1} ? "Global" : "ChannelsLast",
               reference<adaptivePoolProblem, makeReferenceAvgPool>, 1e-6);
  expectFast(avgPool(x, {9, 8}, {2, 2}, {0, 0}, false, true, 0), "Global",
             reference<avgPoolProblem, makeReferenceAvgPool>, 1e-6);
}

TEST(Pool, PlanarAveragesAgreeWithTheReference) {
  for (const Tensor &x : {noise({2, 5, 9, 8}, 1), noise({3, 17}, 2), noise({1, 2, 1, 30}, 3)}) {
    const size_t rank = x.desc.sizes.size() == 2 ? 1 : 2;
    const List kernel(rank, 3), strides(rank, 2), padding(rank, 1);
    for (bool ceilMode : {false, true})
      for (bool includePadding : {false, true})
        for (int64_t divisor : {0, 5})
          expectFast(avgPool(x, kernel, strides, padding, ceilMode, includePadding, divisor), "Planar",
                     reference<avgPoolProblem, makeReferenceAvgPool>, 1e-6);
    expectFast({"adaptive_avg_pool", {x}, {{"output", List(rank, 4)}}}, "Planar",
               reference<adaptivePoolProblem, makeReferenceAvgPool>, 1e-6);
  }
}

TEST(Pool, PlanarMaximaAgreeWithTheReference) {
  for (const Tensor &x : {noise({2, 5, 9, 8}, 1), noise({3, 17}, 2), noise({2, 4, 1, 3000}, 3)}) {
    const size_t rank = x.desc.sizes.size() == 2 ? 1 : 2;
    for (int64_t dilation : {1, 2})
      for (bool ceilMode : {false, true}) {
        List kernel(rank, 3), padding(rank, 1), dilations(rank, dilation);
        if (rank == 2 && x.desc.sizes[2] == 1)
          kernel[0] = 1, padding[0] = 0;
        expectFast(maxPool(x, kernel, List(rank, 2), padding, dilations, ceilMode), "Planar",
                   reference<maxPoolProblem, makeReferenceMaxPool>, 0);
      }
  }
}

TEST(Pool, HasOneToThreeDimensions) {
  EXPECT_TRUE(maxPool(noise({3, 9}, 1), {3}, {2}, {1}, {1}).run());
  EXPECT_TRUE(maxPool(noise({2, 3, 9}, 1, DType::Float64), {3}, {2}, {1}, {1}).run());
  auto volume = maxPool(noise({2, 3, 4, 5, 6}, 1), {2, 2, 2}, {2, 2, 2}, {0, 0, 0}, {1, 1, 1}).run();
  ASSERT_TRUE(volume);
  EXPECT_EQ((*volume)[0].desc.sizes, (List{2, 3, 2, 2, 3}));
}

TEST(Pool, RefusesWhatDoesNotFit) {
  EXPECT_FALSE(maxPool(noise({1, 1, 2, 2}, 1), {3, 3}, {1, 1}, {0, 0}, {1, 1}).run());
  EXPECT_FALSE(maxPool(noise({1, 1, 4, 4}, 1), {2, 2}, {1, 1}, {2, 2}, {1, 1}).run());
  EXPECT_FALSE(maxPool(noise({1, 1, 4, 4}, 1), {2, 2}, {0, 1}, {0, 0}, {1, 1}).run());
  EXPECT_FALSE(maxPool(noise({4, 4}, 1), {2, 2}, {1, 1}, {0, 0}, {1, 1}).run());
  EXPECT_FALSE((Case{"adaptive_avg_pool", {noise({1, 1, 0, 4}, 1)}, {{"output", List{1, 1}}}}.run()));
}

} // namespace
} // namespace ingot::test
