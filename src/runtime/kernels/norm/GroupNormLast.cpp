// group_norm of channels-last float32. Whole rows of channels are walked, for all groups at once, and positions are divided
// among threads: there may be one group only.
#include "runtime/kernels/norm/GroupNorm.h"
#include "runtime/kernels/norm/Rows.h"
#include "runtime/threads/Pool.h"

#include <algorithm>
#include <cmath>

namespace ingot {
namespace {

/// Positions summed in float before they are added to a double.
constexpr int64_t kChunk = 64;

class ChannelsLastGroupNorm final : public BoundKernel {
public:
  explicit ChannelsLastGroupNorm(const GroupNormProblem &p)
      : problem(p), all(p.channels * p.groups), chunks((p.positions + kChunk - 1) / kChunk),
        elements(static_cast<double>(p.channels * p.positions)) {}

  size_t scratchBytes() const override {
    const int64_t doubles = problem.batch * (chunks + 1) * problem.groups, floats = problem.batch * (chunks + 2) * all;
    return static_cast<size_t>(doubles) * sizeof(double) + static_cast<size_t>(floats) * sizeof(float);
  }

  Status run(const KernelArgs &args) const override {
    const auto *x = static_cast<const float *>(args.operands[0]);
    const Scratch scratch(*this, args.scratch);
    sumChunks(x, scratch, [&](float *sums, const float *row, const float *) { rows::addTo(sums, row, all); });
    for (int64_t i = 0; i < problem.batch * problem.groups; ++i) {
      scratch.means[i] = total(scratch, i) / elements;
      std::fill_n(scratch.shifts + i * problem.channels, problem.channels, static_cast<float>(scratch.means[i]));
    }
    sumChunks(x, scratch,
              [&](float *sums, const float *row, const float *shifts) { rows::addSquaresTo(sums, row, shifts, all); });
    for (int64_t i = 0; i < problem.batch * problem.groups; ++i)
      setFactors(args, scratch, i, 1.0 / std::sqrt(total(scratch, i) / elements + problem.eps));
    forEachChunk([&](int64_t n, int64_t, int64_t begin, int64_t end) {
      for (int64_t row = n * problem.positions + begin; row < n * problem.positions + end; ++row)
        rows::affine(static_cast<float *>(args.results[0]) + row * all, x + row * all, scratch.factors + n * all,
                     scratch.shifts + n * all, all);
    });
    return {};
  }

private:
  struct Scratch {
    double *sums;   ///< [batch, chunks, groups]
    double *means;  ///< [batch, groups]
    float *partial; ///< [batch, chunks, all]
    float *factors; ///< [batch, all]
    float *shifts;  ///< [batch, all]

    Scratch(const ChannelsLastGroupNorm &k, void *memory)
        : sums(static_cast<double *>(memory)), means(sums + k.problem.batch * k.chunks * k.problem.groups),
          partial(reinterpret_cast<float *>(means + k.problem.batch * k.problem.groups)),
          factors(partial + k.problem.batch * k.chunks * k.all), shifts(factors + k.problem.batch * k.all) {}
  };

  /// visit(image, chunk, first position, end), on all threads.
  template <typename F> void forEachChunk(F visit) const {
    parallelFor(0, problem.batch * chunks, 1, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) {
        const int64_t first = i % chunks * kChunk;
        visit(i / chunks, i, first, std::min(problem.positions, first + kChunk));
      }
    });
  }

  /// Sums of add(partial sums, row, shifts) over every chunk's positions, then over each group's channels.
  template <typename F> void sumChunks(const float *x, const Scratch &scratch, F add) const {
    forEachChunk([&](int64_t n, int64_t chunk, int64_t begin, int64_t end) {
      float *partial = scratch.partial + chunk * all;
      std::fill_n(partial, all, 0.0f);
      for (int64_t p = begin; p < end; ++p)
        add(partial, x + (n * problem.positions + p) * all, scratch.shifts + n * all);
      for (int64_t g = 0; g < problem.groups; ++g)
        scratch.sums[chunk * problem.groups + g] = rows::sum(partial + g * problem.channels, problem.channels);
    });
  }

  /// Of group `i`, counted over all images.
  double total(const Scratch &scratch, int64_t i) const {
    const int64_t n = i / problem.groups, g = i % problem.groups;
    double sum = 0;
    for (int64_t chunk = n * chunks; chunk < (n + 1) * chunks; ++chunk)
      sum += scratch.sums[chunk * problem.groups + g];
    return sum;
  }

  void setFactors(const KernelArgs &args, const Scratch &scratch, int64_t i, double scale) const {
    const auto *weight = problem.hasWeight ? static_cast<const float *>(args.operands[1]) : nullptr;
    const auto *bias = problem.hasBias ? static_cast<const float *>(args.operands[2]) : nullptr;
    const int64_t first = i % problem.groups * problem.channels;
    for (int64_t c = 0; c < problem.channels; ++c) {
      const double factor = weight ? static_cast<double>(weight[first + c]) * scale : scale;
      const double shift = (bias ? static_cast<double>(bias[first + c]) : 0.0) - scratch.means[i] * factor;
      scratch.factors[i * problem.channels + c] = static_cast<float>(factor);
      scratch.shifts[i * problem.channels + c] = static_cast<float>(shift);
    }
  }

  GroupNormProblem problem;
  int64_t all, chunks; ///< channels of all groups; chunks of positions
  double elements;     ///< of a group
};

} // namespace

std::unique_ptr<BoundKernel> makeChannelsLastGroupNorm(const GroupNormProblem &problem) {
  return std::make_unique<ChannelsLastGroupNorm>(problem);
}

} // namespace ingot
