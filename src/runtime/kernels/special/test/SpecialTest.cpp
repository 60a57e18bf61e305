// Special functions at arguments whose values are known, and the refusals of their kernels. Against eager PyTorch they
// are tested by tests/ops/Special.txt.
#include "runtime/kernels/special/Special.h"
#include "runtime/kernels/elementwise/test/TestKernel.h"

namespace ingot::test {
namespace {

using Values = std::vector<double>;

void expectClose(double value, double expected, double tolerance = 1e-13) {
  EXPECT_NEAR(value, expected, tolerance * std::max(1.0, std::abs(expected)));
}

TEST(Special, Gamma) {
  expectClose(special::lgamma(5), std::log(24.0));
  expectClose(special::digamma(1), -std::numbers::egamma);
  expectClose(special::digamma(-0.5), 0.03648997397857652);
  expectClose(special::zeta(2, 1), std::numbers::pi * std::numbers::pi / 6);
  expectClose(special::igamma(1, 2), 1 - std::exp(-2.0));
  expectClose(special::igamma(100, 100), 0.5132987982791487, 1e-12);
  for (double a : {0.1, 0.7, 3.0, 40.0, 5000.0})
    for (double x : {0.01, 0.5, 2.0, 45.0, 5010.0})
      expectClose(special::igamma(a, x) + special::igammac(a, x), 1, 1e-12);
}

TEST(Special, InversesInvert) {
  for (double x : {-0.999999, -0.7, -0.1, 1e-12, 0.3, 0.5, 0.99, 0.9999999999})
    expectClose(std::erf(special::erfinv(x)), x, 1e-15);
  for (double p : {1e-300, 1e-20, 1e-3, 0.2, 0.5, 0.75, 0.9999})
    EXPECT_NEAR(0.5 * std::erfc(-special::ndtri(p) / std::numbers::sqrt2) / p, 1, 1e-11);
}

TEST(Special, Bessel) {
  expectClose(special::i0e(1), 0.46575960759364043);
  for (double x : {0.01, 1.0, 24.0, 26.0, 500.0}) { // Wronski's determinant
    const double sum = special::i0e(x) * special::bessel_k1e(x) + special::i1e(x) * special::bessel_k0e(x);
    EXPECT_NEAR(sum * x, 1, 1e-13);
  }
  expectClose(special::bessel_k0(1), 0.42102443824070833);
  expectClose(special::bessel_k1(0.001), 999.9962381560855, 1e-12);
  expectClose(special::airy_ai(0), 0.3550280538878172);
  expectClose(special::airy_ai(3), 0.006591139357460719);
  EXPECT_TRUE(std::isnan(special::bessel_y0(-1)));
}

TEST(Special, IntegersDoNotOverflow) {
  constexpr int8_t kLeast = -128;
  EXPECT_EQ(scalar::gcd<int8_t>(kLeast, -1), 1);
  EXPECT_EQ(scalar::shift_left<int8_t>(1, 8), 0);
  EXPECT_EQ(scalar::shift_right<int8_t>(kLeast, 100), -1);
  EXPECT_EQ(scalar::shift_right<uint8_t>(200, 8), 0);
}

TEST(Special, ComplexNumbersHaveParts) {
  Case join{"complex", {tensor({2}, {1, 2}), tensor({2}, {3, 4})}, {}, {DType::Complex64}};
  auto joined = join.run();
  ASSERT_TRUE(joined) << joined.error().str();
  Case wrong{"complex", {tensor({2}, {1, 2}, DType::Int64), tensor({2}, {3, 4}, DType::Int64)}, {}, {DType::Complex64}};
  EXPECT_FALSE(wrong.run());
  Case noParts{"real", {tensor({2}, {1, 2})}, {}, {DType::Float32}};
  EXPECT_FALSE(noParts.run());
}

TEST(Special, HashRefusesWhatItDoesNotKnow) {
  Case narrow{"hash", {tensor({2}, {1, 2})}, {{"dims", std::vector<int64_t>{0}}}, {DType::UInt64}};
  EXPECT_FALSE(narrow.run());
  Case outside{"hash", {tensor({2}, {1, 2}, DType::Int64)}, {{"dims", std::vector<int64_t>{1}}}, {DType::UInt64}};
  EXPECT_FALSE(outside.run());
}

} // namespace
} // namespace ingot::test
