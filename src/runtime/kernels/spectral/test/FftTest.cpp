#include "runtime/kernels/spectral/Fft.h"

#include <gtest/gtest.h>

#include <numbers>

using namespace ingot::spectral;

/// By the definition.
static std::vector<Complex> slow(const std::vector<Complex> &x, bool isForward) {
  std::vector<Complex> result(x.size());
  const auto count = static_cast<double>(x.size());
  for (size_t k = 0; k < x.size(); ++k)
    for (size_t j = 0; j < x.size(); ++j) {
      const double angle = 2 * std::numbers::pi * static_cast<double>(j * k % x.size()) / count;
      result[k] += x[j] * std::polar(1.0, isForward ? -angle : angle);
    }
  return result;
}

TEST(Fft, EveryLength) {
  // Powers of two, mixed factors, and primes too large for a butterfly.
  for (int64_t length : {1, 2, 3, 4, 5, 6, 7, 8, 12, 16, 30, 31, 37, 60, 64, 97, 101, 128, 210, 211, 331}) {
    std::vector<Complex> x;
    for (int64_t i = 0; i < length; ++i)
      x.emplace_back(std::sin(static_cast<double>(i * i)), std::cos(static_cast<double>(3 * i)));
    for (bool isForward : {true, false}) {
      std::vector<Complex> fast = x, work;
      Transform(length, isForward).run(fast.data(), work);
      const std::vector<Complex> expected = slow(x, isForward);
      for (size_t i = 0; i < x.size(); ++i)
        EXPECT_NEAR(std::abs(fast[i] - expected[i]), 0, 1e-11 * static_cast<double>(length)) << length << " " << i;
    }
  }
}
