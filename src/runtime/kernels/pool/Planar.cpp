// Averages over windows of row-major float32: columns of a window's rows are added up first, whole rows at once.
#include "runtime/kernels/norm/Rows.h"
#include "runtime/kernels/pool/Pool.h"
#include "runtime/threads/Pool.h"

#include <algorithm>

namespace ingot {
namespace {

class PlanarAvgPool final : public BoundKernel {
public:
  explicit PlanarAvgPool(PoolProblem p) : problem(std::move(p)) {}

  Status run(const KernelArgs &args) const override {
    const auto *x = static_cast<const float *>(args.operands[0]);
    auto *result = static_cast<float *>(args.results[0]);
    const int64_t inside = problem.in[1] * problem.in[2], outside = problem.out[1] * problem.out[2];
    parallelFor(0, problem.batch * problem.channels, std::max<int64_t>(1, 8192 / std::max<int64_t>(1, inside)),
                [&](int64_t begin, int64_t end) {
                  std::vector<float> sums(static_cast<size_t>(problem.in[2]));
                  for (int64_t plane = begin; plane < end; ++plane)
                    for (int64_t row = 0; row < problem.out[1]; ++row)
                      computeRow(x + plane * inside, result + plane * outside + row * problem.out[2], row, sums);
                });
    return {};
  }

private:
  void computeRow(const float *x, float *result, int64_t row, std::vector<float> &sums) const {
    const PoolWindow &lines = problem.windows[1][static_cast<size_t>(row)];
    std::ranges::fill(sums, 0.0f);
    for (int64_t i = 0; i < lines.count; ++i)
      rows::addTo(sums.data(), x + (lines.first + i) * problem.in[2], problem.in[2]);
    for (int64_t w = 0; w < problem.out[2]; ++w) {
      const PoolWindow &columns = problem.windows[2][static_cast<size_t>(w)];
      float sum = 0;
      for (int64_t i = 0; i < columns.count; ++i)
        sum += sums[static_cast<size_t>(columns.first + i)];
      const int64_t read = lines.count * columns.count;
      result[w] = read == 0 ? 0 : sum / static_cast<float>(problem.divisorFor(read, lines.padded * columns.padded));
    }
  }

  PoolProblem problem;
};

bool hasNoGaps(const std::vector<PoolWindow> &windows) {
  return std::ranges::all_of(windows, [](const PoolWindow &window) { return window.step == 1 || window.count <= 1; });
}

} // namespace

std::unique_ptr<BoundKernel> makePlanarAvgPool(const PoolProblem &problem) {
  const bool isPlane = problem.in[0] == 1 && problem.out[0] == 1 && problem.windows[0][0].padded == 1;
  if (problem.x.dtype != DType::Float32 || !isPlane || !problem.x.isContiguous() || !problem.result.isContiguous() ||
      !hasNoGaps(problem.windows[1]) || !hasNoGaps(problem.windows[2]))
    return nullptr;
  return std::make_unique<PlanarAvgPool>(problem);
}

} // namespace ingot
