#include "runtime/kernels/spectral/Fft.h"

#include <cmath>
#include <numbers>

namespace ingot::spectral {

namespace {

constexpr int64_t kLargestRadix = 31;

/// exp(∓2πi k / count), with k reduced first so that the angle is exact.
Complex root(int64_t k, int64_t count, bool isForward) {
  const double angle = 2 * std::numbers::pi * static_cast<double>(k % count) / static_cast<double>(count);
  return {std::cos(angle), isForward ? -std::sin(angle) : std::sin(angle)};
}

/// The product as the formula says: C++'s own looks for infinities that the formula makes NaN of.
Complex times(Complex a, Complex b) {
  return {a.real() * b.real() - a.imag() * b.imag(), a.real() * b.imag() + a.imag() * b.real()};
}

/// Prime factors, fours first; empty where one is too large.
std::vector<int64_t> factorsOf(int64_t count) {
  std::vector<int64_t> factors;
  for (; count % 4 == 0; count /= 4)
    factors.push_back(4);
  for (int64_t prime = 2; prime <= kLargestRadix && count > 1; ++prime)
    for (; count % prime == 0; count /= prime)
      factors.push_back(prime);
  if (count > 1)
    factors.clear();
  return factors;
}

} // namespace

Transform::Transform(int64_t length, bool isForward) : count(length), isForward(isForward) {
  if (count <= 1)
    return;
  factors = factorsOf(count);
  if (!factors.empty()) {
    for (int64_t k = 0; k < count; ++k)
      roots.push_back(root(k, count, isForward));
    return;
  }
  int64_t padded = 1;
  while (padded < 2 * count - 1)
    padded *= 2;
  helpers.emplace_back(padded, true);
  helpers.emplace_back(padded, false);
  // k² modulo 2 count, step by step, so that nothing overflows.
  for (int64_t k = 0, square = 0; k < count; square = (square + 2 * k + 1) % (2 * count), ++k)
    chirp.push_back(root(square, 2 * count, isForward));
  chirpSpectrum.assign(static_cast<size_t>(padded), Complex(0));
  chirpSpectrum[0] = std::conj(chirp[0]);
  for (int64_t k = 1; k < count; ++k)
    chirpSpectrum[static_cast<size_t>(k)] = chirpSpectrum[static_cast<size_t>(padded - k)] =
        std::conj(chirp[static_cast<size_t>(k)]);
  std::vector<Complex> work;
  helpers[0].run(chirpSpectrum.data(), work);
}

void Transform::run(Complex *x, std::vector<Complex> &work) const {
  if (count <= 1)
    return;
  if (factors.empty())
    return runBluestein(x, work);
  work.assign(x, x + count);
  recurse(work.data(), x, count, 1, 0);
}

/// Transforms from[0], from[stride], … into `size` elements of `to`.
void Transform::recurse(const Complex *from, Complex *to, int64_t size, int64_t stride, size_t factor) const {
  if (size == 1) {
    *to = *from;
    return;
  }
  const int64_t radix = factors[factor], part = size / radix;
  for (int64_t i = 0; i < radix; ++i)
    recurse(from + i * stride, to + i * part, part, stride * radix, factor + 1);
  combine(to, size, radix, stride);
}

/// From the transforms of every radix-th element to that of all.
void Transform::combine(Complex *to, int64_t size, int64_t radix, int64_t stride) const {
  if (radix == 4)
    return combineFour(to, size / 4, stride);
  const int64_t part = size / radix;
  Complex terms[kLargestRadix];
  for (int64_t k = 0; k < part; ++k) {
    for (int64_t i = 0; i < radix; ++i)
      terms[i] = times(to[i * part + k], roots[static_cast<size_t>(i * k * stride)]);
    for (int64_t r = 0; r < radix; ++r) {
      Complex sum = terms[0];
      for (int64_t i = 1; i < radix; ++i)
        sum += times(terms[i], roots[static_cast<size_t>(i * r % radix * (count / radix))]);
      to[r * part + k] = sum;
    }
  }
}

/// The fourth roots of 1 are no multiplications.
void Transform::combineFour(Complex *to, int64_t part, int64_t stride) const {
  const double sign = isForward ? 1 : -1;
  for (int64_t k = 0; k < part; ++k) {
    const Complex a = to[k], b = times(to[part + k], roots[static_cast<size_t>(k * stride)]),
                  c = times(to[2 * part + k], roots[static_cast<size_t>(2 * k * stride)]),
                  d = times(to[3 * part + k], roots[static_cast<size_t>(3 * k * stride)]);
    const Complex even = a + c, odd = b + d, evenLess = a - c, oddLess = sign * (b - d);
    const Complex turned(oddLess.imag(), -oddLess.real());
    to[k] = even + odd;
    to[part + k] = evenLess + turned;
    to[2 * part + k] = even - odd;
    to[3 * part + k] = evenLess - turned;
  }
}

void Transform::runBluestein(Complex *x, std::vector<Complex> &work) const {
  const auto size = static_cast<size_t>(count);
  std::vector<Complex> product(chirpSpectrum.size(), Complex(0));
  for (size_t k = 0; k < size; ++k)
    product[k] = times(x[k], chirp[k]);
  helpers[0].run(product.data(), work);
  for (size_t k = 0; k < product.size(); ++k)
    product[k] = times(product[k], chirpSpectrum[k]);
  helpers[1].run(product.data(), work);
  for (size_t k = 0; k < size; ++k)
    x[k] = times(product[k], chirp[k]) / static_cast<double>(product.size());
}

} // namespace ingot::spectral
