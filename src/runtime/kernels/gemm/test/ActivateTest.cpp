#include "runtime/kernels/gemm/Activate.h"

#include <cmath>
#include <gtest/gtest.h>
#include <limits>

namespace ingot::test {
namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity(), kNan = std::numeric_limits<float>::quiet_NaN();

constexpr Activation kAll[] = {Activation::None,      Activation::Relu,       Activation::Relu6,   Activation::Gelu,
                               Activation::GeluTanh,  Activation::Silu,       Activation::Sigmoid, Activation::Tanh,
                               Activation::HardSwish, Activation::HardSigmoid};

TEST(Activate, IsNearTheReferenceInDouble) {
  std::vector<float> x;
  for (float value = -30; value < 30; value += 0.0037f)
    x.push_back(value);
  for (float value : {0.0f, -0.0f, 1e-30f, -1e-30f, 87.5f, -87.5f, 103.0f, -103.0f, 1e10f, -1e10f, 3e38f, -3e38f})
    x.push_back(value);
  for (Activation activation : kAll) {
    std::vector<float> y = x;
    gemm::activateAll(activation, y.data(), static_cast<int64_t>(y.size()));
    for (size_t i = 0; i < x.size(); ++i) {
      // Whether x * 6 overflows on the way to x, as it does in eager, depends on the loop.
      if (activation == Activation::HardSwish && x[i] > std::numeric_limits<float>::max() / 6)
        continue;
      const double wanted = activate(activation, static_cast<double>(x[i]));
      EXPECT_NEAR(y[i], wanted, 4e-7 * std::abs(wanted) + 1.2e-6) << static_cast<int>(activation) << " of " << x[i];
    }
  }
}

TEST(Activate, TreatsInfinitiesAndNanAsTheReferenceDoes) {
  for (Activation activation : kAll)
    for (float x : {kInfinity, -kInfinity, kNan}) {
      float y = x;
      gemm::activateAll(activation, &y, 1);
      const float wanted = activate(activation, x);
      EXPECT_TRUE(std::isnan(wanted) ? std::isnan(y) : y == wanted)
          << static_cast<int>(activation) << " of " << x << " is " << y;
    }
}

TEST(Activate, TouchesNothingBehindTheEnd) {
  for (Activation activation : kAll) {
    std::vector<float> values(40, 1.5f);
    gemm::activateAll(activation, values.data(), 21);
    for (size_t i = 21; i < values.size(); ++i)
      EXPECT_EQ(values[i], 1.5f);
  }
}

} // namespace
} // namespace ingot::test
