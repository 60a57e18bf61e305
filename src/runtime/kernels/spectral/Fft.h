// Discrete Fourier transforms of any length.
#pragma once

#include <complex>
#include <cstdint>
#include <vector>

namespace ingot::spectral {

using Complex = std::complex<double>;

/// What can be computed before the data is there. Immutable: several threads may use it at once.
class Transform {
public:
  Transform(int64_t length, bool isForward);

  int64_t length() const { return count; }
  /// sum of x[j] exp(∓2πi jk / length) for every k, in place of x. `work` grows to what is needed.
  void run(Complex *x, std::vector<Complex> &work) const;

private:
  void recurse(const Complex *from, Complex *to, int64_t size, int64_t stride, size_t factor) const;
  void combine(Complex *to, int64_t size, int64_t radix, int64_t stride) const;
  void combineFour(Complex *to, int64_t part, int64_t stride) const;
  void runBluestein(Complex *x, std::vector<Complex> &work) const;

  int64_t count;
  bool isForward;
  std::vector<int64_t> factors; ///< of `count`; empty where it has a large prime factor
  std::vector<Complex> roots;   ///< exp(∓2πi k / count)
  // A length with a large prime factor becomes a convolution, done with transforms of a power of two.
  std::vector<Complex> chirp, chirpSpectrum;
  std::vector<Transform> helpers; ///< forward and backward
};

} // namespace ingot::spectral
