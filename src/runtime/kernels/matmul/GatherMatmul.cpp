// gather_matmul: products with matrices that indices choose from a table, read where they lie.
#include "runtime/dnnl/DnnlApi.h"
#include "runtime/kernels/elementwise/Checks.h"
#include "runtime/kernels/elementwise/Simd.h"
#include "runtime/kernels/index/Index.h"
#include "runtime/threads/Pool.h"

#include <algorithm>
#include <atomic>

namespace ingot {
namespace {

enum GatherOperand : size_t { GatherA, GatherTable, GatherIndices };

/// Columns of one piece of work: few enough for all threads to share one product, enough for long runs through memory.
constexpr int64_t kColumns = 256;
/// Up to so many rows a matrix is read once, and all rows are computed on the way.
constexpr int64_t kFewRows = 4;

struct GatherProblem {
  TensorDesc a, table, indices, result;
  int64_t batch = 1, m = 0, n = 0, k = 0;
  std::vector<int64_t> aOffsets; ///< of each matrix of a
  bool countsFromEnd = true;
};

/// `rows` rows of `c` are sums over the rows of `b`, of which `columns` are wanted.
INGOT_SIMD void multiplyFew(const float *a, const float *b, float *c, int64_t rows, int64_t columns, int64_t n,
                            int64_t k) {
  for (int64_t i = 0; i < rows; ++i)
    std::fill_n(c + i * n, columns, 0.0F);
  for (int64_t l = 0; l < k; ++l) {
    const float *__restrict row = b + l * n;
    for (int64_t i = 0; i < rows; ++i) {
      float *__restrict sum = c + i * n;
      const float factor = a[i * k + l];
      for (int64_t j = 0; j < columns; ++j)
        sum[j] += factor * row[j];
    }
  }
}

class GatherMatmul final : public BoundKernel {
public:
  GatherMatmul(GatherProblem p, const DnnlApi *dnnl)
      : problem(std::move(p)), dnnl(dnnl), batchSizes(problem.result.sizes.begin(), problem.result.sizes.end() - 2),
        positions("gather_matmul", problem.indices, batchSizes, problem.table.sizes[0], problem.countsFromEnd),
        pieces((problem.n + kColumns - 1) / kColumns) {}

  size_t scratchBytes() const override { return static_cast<size_t>(problem.batch) * sizeof(int64_t); }

  Status run(const KernelArgs &args) const override {
    auto *rows = static_cast<int64_t *>(args.scratch);
    INGOT_CHECK(positions.read(args.operands[GatherIndices], rows));
    std::atomic<bool> hasFailed = false;
    parallelFor(0, problem.batch * pieces, 1, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i)
        if (!multiply(args, i / pieces, rows[i / pieces], i % pieces * kColumns))
          hasFailed = true;
    });
    if (hasFailed)
      return internalError("gather_matmul: oneDNN refused a matrix product");
    return {};
  }

private:
  bool multiply(const KernelArgs &args, int64_t batch, int64_t row, int64_t column) const {
    const int64_t columns = std::min(kColumns, problem.n - column);
    const float *a = static_cast<const float *>(args.operands[GatherA]) + problem.aOffsets[batch];
    const float *b = static_cast<const float *>(args.operands[GatherTable]) + row * problem.k * problem.n + column;
    float *c = static_cast<float *>(args.results[0]) + batch * problem.m * problem.n + column;
    if (problem.m > kFewRows)
      return dnnl->multiply({false, problem.m, columns, problem.k, 1.0F, a, problem.k, b, problem.n, c, problem.n});
    multiplyFew(a, b, c, problem.m, columns, problem.n, problem.k);
    return true;
  }

  GatherProblem problem;
  const DnnlApi *dnnl; ///< for more than a few rows
  std::vector<int64_t> batchSizes;
  Positions positions;
  int64_t pieces;
};

/// Where in `a` the matrix of every product lies; leading dimensions of size 1 are repeated.
std::vector<int64_t> matrixOffsets(const TensorDesc &a, std::span<const int64_t> batchSizes, int64_t batch) {
  std::vector<int64_t> offsets(static_cast<size_t>(batch), 0);
  const size_t rank = a.sizes.size() - 2, missing = batchSizes.size() - rank;
  for (int64_t i = 0; i < batch; ++i)
    for (int64_t rest = i, dim = static_cast<int64_t>(batchSizes.size()) - 1; dim >= 0; --dim) {
      const auto at = static_cast<size_t>(dim);
      if (at >= missing && a.sizes[at - missing] != 1)
        offsets[static_cast<size_t>(i)] += rest % batchSizes[at] * a.strides[at - missing];
      rest /= batchSizes[at];
    }
  return offsets;
}

Result<GatherProblem> makeProblem(const StepContext &context) {
  INGOT_CHECK(checkCounts(context, 3, 3));
  INGOT_TRY(const TensorDesc *a, tensorAt(context, GatherA));
  INGOT_TRY(const TensorDesc *table, tensorAt(context, GatherTable));
  INGOT_TRY(const TensorDesc *indices, tensorAt(context, GatherIndices));
  INGOT_CHECK(checkIndexType(context, *indices));
  if (a->dtype != DType::Float32 || table->dtype != DType::Float32 || context.resultTypes[0].dtype != DType::Float32)
    return badType(context, a->dtype);
  if (a->sizes.size() < 2 || table->sizes.size() != 3 || a->sizes.back() != table->sizes[1])
    return badShapes(context, "needs matrices [..., M, K] and a table [R, K, N]");
  const std::span<const int64_t> leading = std::span(a->sizes).first(a->sizes.size() - 2);
  INGOT_TRY(std::vector<int64_t> sizes, broadcastSizes(context, leading, indices->sizes));
  GatherProblem problem;
  problem.a = *a;
  problem.table = *table;
  problem.indices = *indices;
  problem.countsFromEnd = countsFromEnd(context);
  problem.m = a->sizes[a->sizes.size() - 2];
  problem.k = table->sizes[1];
  problem.n = table->sizes[2];
  for (int64_t size : {problem.m, problem.n, problem.k})
    if (size > kMaxExtent)
      return badShapes(context, "a size is out of range");
  const std::vector<int64_t> batchSizes = sizes;
  sizes.insert(sizes.end(), {problem.m, problem.n});
  problem.result = TensorDesc::contiguous(DType::Float32, std::move(sizes));
  INGOT_CHECK(denseResult(context, problem.result));
  for (int64_t size : batchSizes)
    problem.batch *= size;
  if (problem.result.numel() != 0)
    problem.aOffsets = matrixOffsets(*a, batchSizes, problem.batch);
  return problem;
}

Result<std::vector<ResultDesc>> inferGather(const StepContext &context) {
  INGOT_TRY(GatherProblem problem, makeProblem(context));
  return denseResult(context, std::move(problem.result));
}

/// Nothing to compute, or only zeros because nothing is summed.
class NoProducts final : public BoundKernel {
public:
  explicit NoProducts(size_t bytes) : bytes(bytes) {}
  Status run(const KernelArgs &args) const override {
    std::fill_n(static_cast<std::byte *>(args.results[0]), bytes, std::byte{0});
    return {};
  }

private:
  size_t bytes;
};

Result<std::unique_ptr<BoundKernel>> bindGather(const StepContext &context, std::span<const TensorDesc>) {
  INGOT_TRY(GatherProblem problem, makeProblem(context));
  if (problem.result.numel() == 0 || problem.k == 0)
    return makeKernel<NoProducts>(static_cast<size_t>(problem.result.numel()) * sizeof(float));
  const DnnlApi *dnnl = nullptr;
  if (problem.m > kFewRows) {
    INGOT_TRY(dnnl, dnnlApi());
  }
  return makeKernel<GatherMatmul>(std::move(problem), dnnl);
}

} // namespace

extern const KernelDef kernelDef_gather_matmul = {"gather_matmul", inferGather, bindGather, false};

} // namespace ingot
