#include "runtime/kernels/elementwise/test/TestKernel.h"

namespace ingot::test {
namespace {

struct Sizes {
  int64_t batch, heads, steps, key, value;
};

std::vector<std::optional<Tensor>> operands(const Sizes &n) {
  return {noise({n.batch, n.heads, n.steps, n.key}, 1),   noise({n.batch, n.heads, n.steps, n.key}, 2),
          noise({n.batch, n.heads, n.steps, n.value}, 3), noise({n.batch, n.heads, n.steps}, 4),
          noise({n.batch, n.heads, n.steps}, 5),          noise({n.batch, n.heads, n.key, n.value}, 6)};
}

Case stepOf(std::vector<std::optional<Tensor>> given) {
  return {"gated_delta", std::move(given), {}, {DType::Float32, DType::Float32}};
}

/// The rule as it is written down, element by element, in double.
void expectRule(const Sizes &n) {
  const auto given = operands(n);
  auto found = stepOf(given).run();
  ASSERT_TRUE(found) << found.error().str();
  Tensor read = noise({n.batch, n.heads, n.steps, n.value}, 0), state = *given[5];
  for (int64_t head = 0; head < n.batch * n.heads; ++head)
    for (int64_t t = head * n.steps; t < (head + 1) * n.steps; ++t)
      for (int64_t v = 0; v < n.value; ++v) {
        auto at = [&](int64_t k) { return (head * n.key + k) * n.value + v; };
        double memory = 0, result = 0;
        for (int64_t k = 0; k < n.key; ++k) {
          state.set(at(k), state.at(at(k)) * given[3]->at(t));
          memory += state.at(at(k)) * given[1]->at(t * n.key + k);
        }
        const double delta = (given[2]->at(t * n.value + v) - memory) * given[4]->at(t);
        for (int64_t k = 0; k < n.key; ++k) {
          state.set(at(k), state.at(at(k)) + given[1]->at(t * n.key + k) * delta);
          result += state.at(at(k)) * given[0]->at(t * n.key + k);
        }
        read.set(t * n.value + v, result);
      }
  expectNear((*found)[0], read, 1e-4);
  expectNear((*found)[1], state, 1e-4);
}

TEST(GatedDelta, FollowsTheRule) {
  expectRule({1, 2, 5, 3, 4});
  expectRule({2, 3, 1, 8, 64});   // one whole block of columns
  expectRule({1, 2, 4, 16, 100}); // a block, and a part of one
}

TEST(GatedDelta, NoStepsKeepTheState) {
  const auto given = operands({1, 2, 0, 3, 4});
  auto found = stepOf(given).run();
  ASSERT_TRUE(found) << found.error().str();
  expectNear((*found)[1], *given[5], 0);
}

TEST(GatedDelta, RefusesWhatDoesNotFit) {
  for (size_t i = 0; i < 6; ++i) {
    auto given = operands({1, 2, 5, 3, 4});
    given[i] = noise({2, 2, 5}, 1);
    EXPECT_FALSE(stepOf(given).run()) << "operand " << i;
  }
}

} // namespace
} // namespace ingot::test
