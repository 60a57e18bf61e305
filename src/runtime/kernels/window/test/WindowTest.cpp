#include "runtime/kernels/elementwise/test/TestKernel.h"

namespace ingot::test {
namespace {

using List = std::vector<int64_t>;
using Numbers = std::vector<double>;

Case scatter(Tensor values, Tensor places, int64_t size, bool accumulate) {
  return {"plane_scatter",
          {std::move(values), std::move(places)},
          {{"size", size}, {"accumulate", accumulate}},
          {DType::Float32}};
}

TEST(Window, ScattersWithinPlanes) {
  const Tensor values = tensor({2, 3}, {1, 2, 3, 4, 5, 6}), places = tensor({2, 3}, {0, 3, 0, 1, 1, 2}, DType::Int64);
  auto last = scatter(values, places, 4, false).run(), sums = scatter(values, places, 4, true).run();
  ASSERT_TRUE(last && sums);
  EXPECT_EQ((*last)[0].values(), (Numbers{3, 0, 0, 2, 0, 5, 6, 0}));
  EXPECT_EQ((*sums)[0].values(), (Numbers{4, 0, 0, 2, 0, 9, 6, 0}));
  EXPECT_FALSE(scatter(values, places, 3, false).run());
  EXPECT_FALSE(scatter(values, places, -1, false).run());
}

TEST(Window, FoldsPatches) {
  Case fold{"fold",
            {tensor({1, 4, 1}, {1, 2, 3, 4})},
            {{"output", List{2, 2}},
             {"kernel", List{2, 2}},
             {"strides", List{1, 1}},
             {"padding", List{0, 0}},
             {"dilations", List{1, 1}}}};
  auto result = fold.run();
  ASSERT_TRUE(result) << result.error().str();
  EXPECT_EQ((*result)[0].values(), (Numbers{1, 2, 3, 4}));
  fold.attributes["output"] = List{3, 3};
  EXPECT_FALSE(fold.run());
}

TEST(Window, GridsMustFitTheirImages) {
  Case sample{"grid_sample",
              {noise({1, 2, 3, 3}, 1), tensor({1, 1, 1, 2}, {0, 0})},
              {{"mode", std::string("bilinear")}, {"padding", std::string("zeros")}, {"align_corners", true}}};
  auto result = sample.run();
  ASSERT_TRUE(result) << result.error().str();
  EXPECT_EQ((*result)[0].at(0), sample.operands[0]->at(4));
  sample.operands[1] = tensor({2, 1, 1, 2}, {0, 0});
  EXPECT_FALSE(sample.run());
}

/// The numbers of the boxes that stay.
Result<std::vector<int64_t>> kept(const Tensor &boxes, const Tensor &scores, double threshold) {
  const KernelDef *def = findKernel("nms");
  Step step;
  step.kernel = "nms";
  step.attributes = {{"threshold", threshold}};
  const std::vector<Value> types{{ValueKind::Tensor, DType::Int64, {}}};
  std::vector<BoundOperand> operands(2);
  for (size_t i = 0; i < 2; ++i) {
    operands[i].present = true;
    operands[i].desc = (i == 0 ? boxes : scores).desc;
    operands[i].data = (i == 0 ? boxes : scores).address();
  }
  INGOT_TRY(auto results, def->evaluate(StepContext{step, types, operands, {}}));
  const auto *numbers = reinterpret_cast<const int64_t *>(results[0].data.get());
  return std::vector<int64_t>(numbers, numbers + results[0].desc.numel());
}

TEST(Window, TheBestOfOverlappingBoxesStays) {
  const Tensor boxes = tensor({4, 4}, {0, 0, 2, 2, 0, 0, 2, 1.9, 5, 5, 6, 6, 0, 0, 2, 2});
  const Tensor scores = tensor({4}, {0.5, 0.9, 0.1, 0.5});
  auto some = kept(boxes, scores, 0.5), all = kept(boxes, scores, 1.0);
  ASSERT_TRUE(some && all);
  EXPECT_EQ(*some, (List{1, 2}));
  EXPECT_EQ(*all, (List{1, 0, 3, 2}));
  EXPECT_EQ(*kept(tensor({0, 4}, {0}), tensor({0}, {0}), 0.5), List{});
  EXPECT_FALSE(kept(boxes, tensor({3}, {1, 2, 3}), 0.5));
}

} // namespace
} // namespace ingot::test
