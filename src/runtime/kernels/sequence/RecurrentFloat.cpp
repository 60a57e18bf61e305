// The float32 parts of recurrent layers that are compiled for several CPUs, or left to oneDNN.
#include "runtime/dnnl/DnnlApi.h"
#include "runtime/kernels/elementwise/Simd.h"
#include "runtime/kernels/sequence/Recurrent.h"

#include <algorithm>

namespace ingot {
namespace {

INGOT_SIMD void lstmRowFloat(const CellRow<float> *row) { lstmRow(*row); }
INGOT_SIMD void gruRowFloat(const CellRow<float> *row) { gruRow(*row); }
INGOT_SIMD void plainRowFloat(const CellRow<float> *row, bool isRelu) { plainRow(*row, isRelu); }

/// Up to here, waking threads up for a step costs more than they save.
constexpr int64_t kSmallProduct = int64_t(1) << 20;

INGOT_SIMD void multiplySmall(const float *a, const float *b, float *c, int64_t m, int64_t n, int64_t k) {
  for (int64_t i = 0; i < m; ++i)
    for (int64_t j = 0; j < n; ++j) {
#pragma clang fp reassociate(on)
      float sum = 0;
      for (int64_t l = 0; l < k; ++l)
        sum += a[i * k + l] * b[j * k + l];
      c[i * n + j] = sum;
    }
}

} // namespace

void recurrentRow(RecurrentCell cell, const CellRow<float> &row) {
  if (cell == RecurrentCell::Lstm)
    lstmRowFloat(&row);
  else if (cell == RecurrentCell::Gru)
    gruRowFloat(&row);
  else
    plainRowFloat(&row, cell == RecurrentCell::Relu);
}

void multiplyTransposed(const float *a, const float *b, float *c, int64_t m, int64_t n, int64_t k) {
  if (m * n <= kSmallProduct / std::max<int64_t>(k, 1))
    return multiplySmall(a, b, c, m, n, k);
  const Result<const DnnlApi *> dnnl = dnnlApi();
  if (!dnnl || !(*dnnl)->multiply({true, m, n, k, 1.0F, a, k, b, k, c, n}))
    multiplySmall(a, b, c, m, n, k);
}

} // namespace ingot
