// The scalar functions: accuracy of those written for float, and the corners of all.
#include "runtime/kernels/elementwise/Scalar.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

namespace ingot {
namespace {

constexpr float inf = std::numeric_limits<float>::infinity();
const float nan = std::numeric_limits<float>::quiet_NaN();

/// Distance in units of the last place of the float nearest to `want`.
double ulps(float got, double want) {
  const auto rounded = static_cast<float>(want);
  if (std::isnan(got) || std::isnan(rounded))
    return std::isnan(got) == std::isnan(rounded) ? 0 : 1e9;
  if (got == rounded)
    return 0;
  if (std::isinf(got) || std::isinf(rounded))
    return 1e9;
  int exponent = 0;
  (void)std::frexp(want, &exponent);
  return std::abs(static_cast<double>(got) - want) / std::ldexp(1.0, std::max(exponent, -125) - 24);
}

template <typename F, typename G> void expectAccurate(const char *name, F got, G want, double limit) {
  double worst = 0;
  float at = 0;
  auto check = [&](float x) {
    if (double error = ulps(got(x), want(static_cast<double>(x))); error > worst) {
      worst = error;
      at = x;
    }
  };
  // Every exponent and many mantissas; a prime step visits different low bits.
  for (uint64_t w = 0; w < (uint64_t(1) << 32); w += 65521)
    check(std::bit_cast<float>(static_cast<uint32_t>(w)));
  for (float x : {0.0f, -0.0f, 1.0f, -1.0f, inf, -inf, nan, 0x1p-149f, -0x1p-149f})
    check(x);
  EXPECT_LE(worst, limit) << name << " at " << at;
}

TEST(Scalar, FloatFunctionsAreAccurate) {
#define CHECK(op, limit)                                                                                               \
  expectAccurate(#op, [](float x) { return scalar::op(x); }, [](double x) { return scalar::op(x); }, limit)
  CHECK(exp, 1.5);
  CHECK(exp2, 1.5);
  CHECK(expm1, 2);
  CHECK(log, 1.5);
  CHECK(log2, 1.5);
  CHECK(log10, 1.5);
  CHECK(log1p, 1.5);
  CHECK(tanh, 3);
  CHECK(erf, 1.5);
  CHECK(sin, 2);
  CHECK(cos, 2);
#undef CHECK
}

TEST(Scalar, PowIsAccurate) {
  std::mt19937 random(1);
  for (int i = 0; i < 200000; ++i) {
    const auto a = std::bit_cast<float>(static_cast<uint32_t>(random()));
    const float b = static_cast<float>(static_cast<int>(random() % 401) - 200) / (i % 2 ? 1.0f : 16.0f);
    EXPECT_LE(ulps(scalar::pow(a, b), std::pow(static_cast<double>(a), static_cast<double>(b))), 1) << a << " ^ " << b;
  }
  for (float a : {0.0f, -0.0f, 1.0f, -1.0f, 2.0f, -2.0f, 0.5f, inf, -inf, nan, 1e-45f, -3e38f})
    for (float b : {0.0f, -0.0f, 1.0f, -1.0f, 2.0f, 3.0f, -3.0f, 0.5f, inf, -inf, nan, 1e10f})
      EXPECT_LE(ulps(scalar::pow(a, b), static_cast<double>(std::pow(a, b))), 1) << a << " ^ " << b;
}

TEST(Scalar, IntegersWrapAndNeverTrap) {
  EXPECT_EQ(scalar::add<int8_t>(127, 1), -128);
  EXPECT_EQ(scalar::mul<uint16_t>(65535, 65535), 1);
  EXPECT_EQ(scalar::neg<int64_t>(INT64_MIN), INT64_MIN);
  EXPECT_EQ(scalar::abs<int32_t>(INT32_MIN), INT32_MIN);
  EXPECT_EQ(scalar::div_floor(7, 0), 0);
  EXPECT_EQ(scalar::remainder(7, 0), 0);
  EXPECT_EQ(scalar::div_trunc<int64_t>(INT64_MIN, -1), INT64_MIN);
  EXPECT_EQ(scalar::div_floor<int8_t>(-128, -1), -128);
  EXPECT_EQ(scalar::remainder<int64_t>(INT64_MIN, -1), 0);
  EXPECT_EQ(scalar::pow<int64_t>(2, -1), 0);
  EXPECT_EQ(scalar::pow<int64_t>(-1, -3), -1);
  EXPECT_EQ(scalar::pow<int8_t>(3, 5), -13);
}

TEST(Scalar, DividesAsPython) {
  EXPECT_EQ(scalar::div_floor(-5, 3), -2);
  EXPECT_EQ(scalar::remainder(-5, 3), 1);
  EXPECT_EQ(scalar::remainder(5, -3), -1);
  EXPECT_EQ(scalar::fmod(-5, 3), -2);
  EXPECT_EQ(scalar::div_floor(-5.0f, 3.0f), -2.0f);
  EXPECT_EQ(scalar::div_floor(1.0f, 0.0f), inf);
  EXPECT_TRUE(std::isnan(scalar::div_floor(inf, 2.0f)));
  EXPECT_EQ(scalar::div_floor(-1.0f, inf), -1.0f);
  EXPECT_TRUE(std::signbit(scalar::div_floor(-0.0f, 3.0f)));
  EXPECT_EQ(scalar::remainder(-1.0f, inf), inf);
  EXPECT_TRUE(std::isnan(scalar::remainder(1.0f, 0.0f)));
}

TEST(Scalar, TreatsNanAsPyTorchDoes) {
  EXPECT_TRUE(std::isnan(scalar::maximum(nan, 1.0f)) && std::isnan(scalar::maximum(1.0f, nan)));
  EXPECT_TRUE(std::isnan(scalar::minimum(nan, 1.0f)) && std::isnan(scalar::minimum(1.0f, nan)));
  EXPECT_EQ(scalar::fmax(nan, 1.0f), 1.0f);
  EXPECT_EQ(scalar::fmin(1.0f, nan), 1.0f);
  EXPECT_EQ(scalar::sign(nan), 0.0f);
  EXPECT_TRUE(std::isnan(scalar::relu(nan)));
  EXPECT_TRUE(std::isnan(scalar::hard_sigmoid(nan)));
  EXPECT_EQ(scalar::round(2.5f), 2.0f);
  EXPECT_EQ(scalar::round(-3.5f), -4.0f);
}

TEST(Scalar, CastsWithoutUndefinedBehaviour) {
  EXPECT_EQ(scalar::cast<int32_t>(nan), INT32_MIN);
  EXPECT_EQ(scalar::cast<int32_t>(3e9f), INT32_MIN);
  EXPECT_EQ(scalar::cast<int64_t>(-inf), INT64_MIN);
  EXPECT_EQ(scalar::cast<uint8_t>(300.7f), 44);
  EXPECT_EQ(scalar::cast<uint8_t>(-1.5f), 255);
  EXPECT_EQ(scalar::cast<uint32_t>(-1.5f), 4294967295u);
  EXPECT_EQ(scalar::cast<uint64_t>(1.5e19), 15000000000000000000ull);
  EXPECT_TRUE(scalar::cast<bool>(nan));
  EXPECT_FALSE(scalar::cast<bool>(-0.0f));
}

/// Every value survives, and rounding goes to the nearest of two neighbours.
template <typename T, int count> void expectRounds() {
  for (int w = 0; w < count; ++w) {
    const T value = T::fromBits(static_cast<decltype(T::bits)>(w));
    const auto x = static_cast<float>(value);
    if (std::isnan(x))
      EXPECT_TRUE(std::isnan(static_cast<float>(T(x))));
    else
      EXPECT_EQ(T(x).bits, value.bits) << x;
    const auto next = static_cast<float>(T::fromBits(static_cast<decltype(T::bits)>(w + 1)));
    if (!std::isfinite(x) || !std::isfinite(next) || (x < 0) != (next < 0) || w + 1 == count / 2)
      continue;
    const float middle = x / 2 + next / 2;
    EXPECT_EQ(T(middle).bits, w % 2 == 0 ? w : w + 1) << "between " << x << " and " << next;
    EXPECT_EQ(T(std::nextafter(middle, next)).bits, w + 1);
    EXPECT_EQ(T(std::nextafter(middle, x)).bits, w);
  }
}

TEST(Scalar, SmallFloatsRoundToNearestEven) {
  expectRounds<Half, 65536>();
  expectRounds<BFloat16, 65536>();
  expectRounds<Float8E4M3FN, 256>();
  expectRounds<Float8E5M2, 256>();
  EXPECT_EQ(Half(65520.0f).bits, 0x7C00);
  EXPECT_EQ(Half(65519.0f).bits, 0x7BFF);
  EXPECT_EQ(Float8E4M3FN(1e9f).bits, 0x7E); // saturates, as in PyTorch
  EXPECT_EQ(Float8E5M2(1e9f).bits, 0x7C);
}

TEST(Scalar, ComplexNumbers) {
  using C = std::complex<float>;
  EXPECT_EQ(scalar::mul(C(1, 2), C(3, 4)), C(-5, 10));
  EXPECT_EQ(scalar::div(C(-5, 10), C(3, 4)), C(1, 2));
  EXPECT_TRUE(scalar::eq(C(1, 2), C(1, 2)));
}

} // namespace
} // namespace ingot
