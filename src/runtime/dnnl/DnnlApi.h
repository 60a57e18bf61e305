// The seam between the runtime and oneDNN: libingot_dnnl.so, which is loaded when the first kernel needs it. oneDNN sets up
// a lot when it is loaded, and many programs never use it.
#pragma once

#include "runtime/kernels/conv/Problem.h"
#include "runtime/kernels/matmul/Problem.h"

namespace ingot {

/// Raised with every change of the struct below, or of what its functions take and give. 1: first. 2: methods.
inline constexpr int32_t kDnnlApiVersion = 2;

/// Matrices by rows: c = scale * a * b, each with the distance from row to row. `b` may be given transposed.
struct DnnlProduct {
  bool isTransposed;
  int64_t m, n, k;
  float scale;
  const float *a;
  int64_t aRow;
  const float *b;
  int64_t bRow;
  float *c;
  int64_t cRow;
};

struct DnnlApi {
  int32_t version;
  /// Both for float32, nothing empty.
  Result<std::unique_ptr<BoundKernel>> (*makeConv)(const ConvProblem &problem);
  Result<std::unique_ptr<BoundKernel>> (*makeMatmul)(const MatmulProblem &problem);
  /// False if oneDNN refuses it.
  bool (*multiply)(const DnnlProduct &product);
};

/// The library, loaded at the first call.
Result<const DnnlApi *> dnnlApi();

} // namespace ingot
