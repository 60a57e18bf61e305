// Largest elements of windows of row-major float32.
#include "runtime/kernels/pool/Pool.h"
#include "runtime/threads/Pool.h"

#include <algorithm>

namespace ingot {
namespace {

class PlanarMaxPool final : public BoundKernel {
public:
  explicit PlanarMaxPool(PoolProblem p) : problem(std::move(p)) {}

  Status run(const KernelArgs &args) const override {
    const auto *x = static_cast<const float *>(args.operands[0]);
    auto *result = static_cast<float *>(args.results[0]);
    auto *indices = static_cast<int64_t *>(args.results[1]); // null where nobody wants them
    const int64_t inside = problem.in[1] * problem.in[2], width = problem.out[2];
    parallelFor(0, problem.batch * problem.channels * problem.out[1], std::max<int64_t>(1, kGrain / width),
                [&](int64_t begin, int64_t end) {
                  for (int64_t row = begin; row < end; ++row)
                    computeRow(x + row / problem.out[1] * inside, row % problem.out[1], result + row * width,
                               indices ? indices + row * width : nullptr);
                });
    return {};
  }

private:
  static constexpr int64_t kGrain = 8192;

  void computeRow(const float *x, int64_t row, float *result, int64_t *indices) const {
    const PoolWindow &lines = problem.windows[1][static_cast<size_t>(row)];
    for (int64_t w = 0; w < problem.out[2]; ++w) {
      const PoolWindow &columns = problem.windows[2][static_cast<size_t>(w)];
      int64_t index = lines.first * problem.in[2] + columns.first;
      float best = x[index];
      for (int64_t i = 0; i < lines.count; ++i) {
        const int64_t start = (lines.first + i * lines.step) * problem.in[2] + columns.first;
        for (int64_t j = 0; j < columns.count; ++j) {
          const int64_t at = start + j * columns.step;
          const float value = x[at];
          // The last NaN is the largest element.
          const bool isBetter = value > best || value != value;
          best = isBetter ? value : best;
          index = isBetter ? at : index;
        }
      }
      result[w] = best;
      if (indices)
        indices[w] = index;
    }
  }

  PoolProblem problem;
};

bool hasElements(const std::vector<PoolWindow> &windows) {
  return std::ranges::all_of(windows, [](const PoolWindow &window) { return window.count > 0; });
}

} // namespace

std::unique_ptr<BoundKernel> makePlanarMaxPool(const PoolProblem &problem) {
  const bool isPlane = problem.in[0] == 1 && problem.out[0] == 1 && problem.windows[0][0].count == 1;
  if (problem.x.dtype != DType::Float32 || !isPlane || problem.result.numel() == 0 || !problem.x.isContiguous() ||
      !problem.result.isContiguous() || !hasElements(problem.windows[1]) || !hasElements(problem.windows[2]))
    return nullptr;
  return std::make_unique<PlanarMaxPool>(problem);
}

} // namespace ingot
