// matmul of float32 over many pairs of small matrices: the right one becomes panels in scratch memory every time.
#include "runtime/kernels/gemm/Product.h"
#include "runtime/kernels/matmul/Layout.h"
#include "runtime/kernels/matmul/Problem.h"
#include "runtime/threads/Pool.h"

#include <algorithm>

namespace ingot {
namespace {

/// Right-hand sides that stay in the second-level cache; larger ones are oneDNN's.
constexpr int64_t kMaxPanelBytes = int64_t(1) << 19;
/// Packing must be worth it.
constexpr int64_t kMinRows = 8;
constexpr int64_t kRowsPerTask = 8 * gemm::kTileRows;

class BatchedMatmul final : public BoundKernel {
public:
  BatchedMatmul(const MatmulProblem &p, TensorDesc a, TensorDesc b) : problem(p), a(std::move(a)), b(std::move(b)) {
    for (size_t i = 0; i < problem.batchRank(); ++i)
      batches *= problem.result.sizes[i];
    const int64_t most = std::max<int64_t>(1, problem.m / kRowsPerTask);
    parts = std::clamp<int64_t>(4 * numThreads() / std::max<int64_t>(1, batches), 1, most);
    workers = std::clamp<int64_t>(numThreads(), 1, batches * parts);
    slotElements = gemm::panelElements(problem.k, problem.n);
  }

  size_t scratchBytes() const override { return static_cast<size_t>(workers * slotElements) * sizeof(float); }
  std::string_view method() const override { return "batched"; }

  Status run(const KernelArgs &args) const override {
    Tasks queue(batches * parts, workers);
    parallelFor(0, workers, 1, [&](int64_t begin, int64_t end) {
      for (int64_t w = begin; w < end; ++w)
        runShare(args, queue, w, static_cast<float *>(args.scratch) + w * slotElements);
    });
    return {};
  }

private:
  /// The tasks of one worker: parts of one batch, which follow each other, share the panels.
  void runShare(const KernelArgs &args, Tasks &queue, int64_t worker, float *panels) const {
    const float *packed = nullptr;
    queue.forEach(worker, [&](int64_t task) {
      const int64_t batch = task / parts, part = task % parts;
      const float *right = static_cast<const float *>(args.operands[MatmulB]) + offsetOf(b, batch);
      if (right != packed)
        gemm::packPanels(panels, right, problem.k, b.strides[b.strides.size() - 2], problem.n, b.strides.back());
      packed = right;
      runPart(args, panels, batch, problem.m * part / parts, problem.m * (part + 1) / parts);
    });
  }

  void runPart(const KernelArgs &args, const float *panels, int64_t batch, int64_t begin, int64_t end) const {
    constexpr int64_t noTap = 0;
    const int64_t stride = a.strides[a.strides.size() - 2], offset = batch * problem.m * problem.n;
    gemm::Product product;
    product.panels = {panels, problem.k, problem.n};
    product.taps = {&noTap, 1};
    product.depth = problem.k;
    product.out = static_cast<float *>(args.results[0]) + offset;
    product.outStride = problem.n;
    product.finish.activation = problem.activation;
    if (problem.bias)
      product.finish.bias = static_cast<const float *>(args.operands[MatmulBias]);
    if (problem.residual)
      product.finish.added = static_cast<const float *>(args.operands[MatmulResidual]) + offset;
    const float *left = static_cast<const float *>(args.operands[MatmulA]) + offsetOf(a, batch);
    gemm::multiplyRows(product, {left, stride, begin, end}, 0, product.panels.count());
  }

  int64_t offsetOf(const TensorDesc &desc, int64_t batch) const {
    int64_t offset = 0;
    for (size_t i = problem.batchRank(); i-- > 0;) {
      offset += batch % problem.result.sizes[i] * (desc.sizes[i] == 1 ? 0 : desc.strides[i]);
      batch /= problem.result.sizes[i];
    }
    return offset;
  }

  MatmulProblem problem;
  TensorDesc a, b; ///< with the result's rank
  int64_t batches = 1, parts = 1, workers = 1, slotElements = 0;
};

} // namespace

std::unique_ptr<BoundKernel> makeBatchedMatmul(const MatmulProblem &problem) {
  const size_t rank = problem.result.sizes.size();
  const int64_t bytes = gemm::panelElements(problem.k, problem.n) * static_cast<int64_t>(sizeof(float));
  TensorDesc a = asBatchedMatrix(problem.a, rank), b = asBatchedMatrix(problem.b, rank);
  const bool hasRows = a.sizes.back() == 1 || a.strides.back() == 1;
  const bool isBatched = std::any_of(b.sizes.begin(), b.sizes.end() - 2, [](int64_t size) { return size != 1; });
  if (!gemm::canComputeTiles() || !hasRows || !isBatched || problem.m < kMinRows || bytes > kMaxPanelBytes)
    return nullptr;
  if ((problem.bias && !isDenseVector(*problem.bias, problem.n)) ||
      (problem.residual && !problem.residual->isContiguous()))
    return nullptr;
  return std::make_unique<BatchedMatmul>(problem, std::move(a), std::move(b));
}

} // namespace ingot
