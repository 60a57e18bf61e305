#include "runtime/kernels/linalg/Matrix.h"

#include <gtest/gtest.h>

using namespace ingot::linalg;

template <typename T> static Matrix<T> sample(int64_t rows, int64_t columns) {
  Matrix<T> result(rows, columns);
  for (size_t i = 0; i < result.data.size(); ++i) {
    const auto number = static_cast<double>(i * i + 3 * i);
    if constexpr (std::is_same_v<T, Complex>)
      result.data[i] = Complex(std::sin(number), std::cos(2 * number));
    else
      result.data[i] = std::sin(number);
  }
  return result;
}

template <typename T> static double distance(const Matrix<T> &a, const Matrix<T> &b) {
  double largest = 0;
  for (size_t i = 0; i < a.data.size(); ++i)
    largest = std::max(largest, std::abs(a.data[i] - b.data[i]));
  return largest;
}

template <typename T> class Matrices : public testing::Test {};
using Elements = testing::Types<double, Complex>;
TYPED_TEST_SUITE(Matrices, Elements);

TYPED_TEST(Matrices, SvdGivesTheMatrixBack) {
  for (auto [rows, columns] : {std::pair<int64_t, int64_t>{5, 3}, {3, 5}, {4, 4}, {1, 6}, {0, 3}}) {
    const Matrix<TypeParam> x = sample<TypeParam>(rows, columns);
    Svd<TypeParam> svd;
    ASSERT_TRUE(computeSvd(x, false, svd));
    Matrix<TypeParam> scaled = svd.u;
    for (int64_t i = 0; i < scaled.rows; ++i)
      for (int64_t j = 0; j < scaled.columns; ++j)
        scaled(i, j) *= svd.s[static_cast<size_t>(j)];
    EXPECT_LT(distance(multiply(scaled, svd.vh), x), 1e-13);
    EXPECT_TRUE(std::is_sorted(svd.s.rbegin(), svd.s.rend()));
  }
}

TYPED_TEST(Matrices, FullSvdOfALowRankIsOrthogonal) {
  Matrix<TypeParam> x(5, 3); // rank one
  for (int64_t i = 0; i < 5; ++i)
    for (int64_t j = 0; j < 3; ++j)
      x(i, j) = static_cast<double>((i + 1) * (j + 1));
  Svd<TypeParam> svd;
  ASSERT_TRUE(computeSvd(x, true, svd));
  EXPECT_LT(distance(multiply(adjoint(svd.u), svd.u), Matrix<TypeParam>::identity(5)), 1e-13);
  EXPECT_LT(svd.s[1], 1e-13);
}

TYPED_TEST(Matrices, LuSolvesBothWays) {
  const Matrix<TypeParam> a = sample<TypeParam>(6, 6), b = sample<TypeParam>(6, 2);
  Matrix<TypeParam> lu = a;
  std::vector<int64_t> pivots;
  EXPECT_EQ(factorLu(lu, pivots), 0);
  for (bool isAdjoint : {false, true}) {
    Matrix<TypeParam> x = b;
    solveLu(lu, pivots, x, isAdjoint);
    EXPECT_LT(distance(multiply(isAdjoint ? adjoint(a) : a, x), b), 1e-11);
  }
}
