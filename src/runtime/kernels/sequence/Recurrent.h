// One layer and direction of a recurrent network. What the inputs contribute to the gates is computed before, as one
// product for all steps; the kernel adds what the hidden state contributes, step by step.
#pragma once

#include "runtime/kernels/elementwise/Checks.h"
#include "runtime/kernels/elementwise/Scalar.h"

namespace ingot {

/// Into functions for several CPUs: called from there, they would be for any CPU.
#define INGOT_INLINE __attribute__((always_inline)) inline

enum class RecurrentCell : uint8_t { Lstm, Gru, Tanh, Relu };

enum RecurrentOperand : size_t {
  RecurrentGates,
  RecurrentH,
  RecurrentWeight,
  RecurrentC,
  RecurrentBias,
  RecurrentProjection,
  RecurrentBatchSizes
};

struct RecurrentProblem {
  DType dtype = DType::Float32;
  RecurrentCell cell = RecurrentCell::Lstm;
  bool reverse = false, hasBias = false, hasProjection = false, isPacked = false;
  int64_t steps = 0, rows = 0; ///< rows: of all steps together, where packed
  int64_t batch = 0, hidden = 0, projected = 0, gates = 0;
  TensorDesc sequence, h, c;
};

/// What one row of a step reads and writes; all in the type of computation.
template <typename C> struct CellRow {
  const C *input, *state, *bias; ///< gates [G * H]; bias may be null
  C *h, *c;
  int64_t hidden;
};

template <typename C> INGOT_INLINE C biased(const CellRow<C> &row, int64_t i) {
  return row.bias ? row.state[i] + row.bias[i] : row.state[i];
}

template <typename C> INGOT_INLINE void lstmRow(const CellRow<C> &row) {
  const int64_t n = row.hidden;
  C *__restrict h = row.h, *__restrict c = row.c;
  for (int64_t i = 0; i < n; ++i) {
    const C in = scalar::sigmoid(row.input[i] + biased(row, i));
    const C forget = scalar::sigmoid(row.input[n + i] + biased(row, n + i));
    const C fresh = scalar::tanh(row.input[2 * n + i] + biased(row, 2 * n + i));
    const C out = scalar::sigmoid(row.input[3 * n + i] + biased(row, 3 * n + i));
    c[i] = forget * c[i] + in * fresh;
    h[i] = out * scalar::tanh(c[i]);
  }
}

template <typename C> INGOT_INLINE void gruRow(const CellRow<C> &row) {
  const int64_t n = row.hidden;
  C *__restrict h = row.h;
  for (int64_t i = 0; i < n; ++i) {
    const C reset = scalar::sigmoid(row.input[i] + biased(row, i));
    const C keep = scalar::sigmoid(row.input[n + i] + biased(row, n + i));
    const C fresh = scalar::tanh(row.input[2 * n + i] + biased(row, 2 * n + i) * reset);
    h[i] = (h[i] - fresh) * keep + fresh;
  }
}

template <typename C> INGOT_INLINE void plainRow(const CellRow<C> &row, bool isRelu) {
  for (int64_t i = 0; i < row.hidden; ++i) {
    const C sum = row.input[i] + biased(row, i);
    row.h[i] = isRelu ? scalar::relu(sum) : scalar::tanh(sum);
  }
}

/// One row of float32, for the instructions of this CPU.
void recurrentRow(RecurrentCell cell, const CellRow<float> &row);

/// c[m, n] = a[m, k] b[n, k]ᵀ, all dense.
void multiplyTransposed(const float *a, const float *b, float *c, int64_t m, int64_t n, int64_t k);

Result<RecurrentProblem> recurrentProblem(const StepContext &context);

} // namespace ingot
