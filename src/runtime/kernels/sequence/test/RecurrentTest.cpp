#include "runtime/kernels/elementwise/test/TestKernel.h"

namespace ingot::test {
namespace {

constexpr int64_t kHidden = 3;

int64_t gatesOf(const std::string &cell) { return cell == "lstm" ? 4 : cell == "gru" ? 3 : 1; }

struct Layer {
  std::string cell;
  bool reverse = false;
  DType dtype = DType::Float32;

  Case over(Tensor gates, Tensor h, std::optional<Tensor> c, std::optional<Tensor> batchSizes = {}) const {
    const int64_t width = gatesOf(cell) * kHidden;
    std::vector<DType> types(cell == "lstm" ? 3 : 2, dtype);
    return {"recurrent",
            {std::move(gates), std::move(h), noise({width, kHidden}, 1, dtype), std::move(c), noise({width}, 2, dtype),
             std::nullopt, std::move(batchSizes)},
            {{"cell", cell}, {"reverse", reverse}},
            types};
  }
  std::optional<Tensor> cellState(int64_t batch) const {
    return cell == "lstm" ? std::optional(noise({batch, kHidden}, 4, dtype)) : std::nullopt;
  }
};

Tensor row(const Tensor &from, int64_t index) {
  const int64_t width = from.desc.sizes.back();
  Tensor result = tensor({1, width}, {0}, from.desc.dtype);
  for (int64_t i = 0; i < width; ++i)
    result.set(i, from.at(index * width + i));
  return result;
}

/// Packed sequences of 3 and 1 steps: each gives what it gives alone.
TEST(Recurrent, PackedSequencesAreSequences) {
  for (const char *cell : {"lstm", "gru", "tanh", "relu"})
    for (bool reverse : {false, true}) {
      const Layer layer{cell, reverse};
      const int64_t width = gatesOf(cell) * kHidden;
      const Tensor gates = noise({4, width}, 3), h = noise({2, kHidden}, 5);
      const auto c = layer.cellState(2);
      auto packed = layer.over(gates, h, c, tensor({3}, {2, 1, 1}, DType::Int64)).run();
      ASSERT_TRUE(packed) << packed.error().str();
      const std::vector<std::vector<int64_t>> rows{{0, 2, 3}, {1}};
      for (int64_t n = 0; n < 2; ++n) {
        const auto &own = rows[static_cast<size_t>(n)];
        Tensor alone = tensor({static_cast<int64_t>(own.size()), 1, width}, {0});
        for (size_t t = 0; t < own.size(); ++t)
          for (int64_t i = 0; i < width; ++i)
            alone.set(static_cast<int64_t>(t) * width + i, gates.at(own[t] * width + i));
        auto result = layer.over(alone, row(h, n), c ? std::optional(row(*c, n)) : std::nullopt).run();
        ASSERT_TRUE(result) << result.error().str();
        expectNear(row((*packed)[1], n), (*result)[1], 1e-6);
        for (size_t t = 0; t < own.size(); ++t)
          expectNear(row((*packed)[0], own[t]), row((*result)[0], static_cast<int64_t>(t)), 1e-6);
      }
    }
}

TEST(Recurrent, KnowsOtherTypes) {
  const Tensor gates = noise({4, 2, 4 * kHidden}, 3), h = noise({2, kHidden}, 5);
  auto wide = Layer{"lstm"}.over(gates, h, Layer{"lstm"}.cellState(2)).run();
  ASSERT_TRUE(wide);
  for (DType dtype : {DType::Float64, DType::Float16, DType::BFloat16}) {
    const Layer layer{"lstm", false, dtype};
    auto result =
        layer.over(noise({4, 2, 4 * kHidden}, 3, dtype), noise({2, kHidden}, 5, dtype), layer.cellState(2)).run();
    ASSERT_TRUE(result) << result.error().str();
    expectNear((*result)[0], (*wide)[0], dtype == DType::Float64 ? 1e-5 : 3e-2);
  }
}

TEST(Recurrent, RefusesWhatDoesNotFit) {
  const Layer layer{"gru"};
  const Tensor gates = noise({4, 3 * kHidden}, 3), h = noise({2, kHidden}, 5);
  EXPECT_FALSE(layer.over(gates, h, {}, tensor({2}, {1, 3}, DType::Int64)).run()) << "grows";
  EXPECT_FALSE(layer.over(gates, h, {}, tensor({2}, {2, 1}, DType::Int64)).run()) << "too few rows";
  EXPECT_FALSE(layer.over(gates, noise({2, kHidden + 1}, 5), {}, tensor({2}, {2, 2}, DType::Int64)).run());
  EXPECT_FALSE((Layer{"other"}.over(gates, h, {}, tensor({2}, {2, 2}, DType::Int64)).run()));
}

} // namespace
} // namespace ingot::test
