// group_norm of channels-last float32. A group has few channels, so several groups are walked together: rows are
// long enough for vectors then.
#include "runtime/kernels/norm/GroupNorm.h"
#include "runtime/kernels/norm/Rows.h"
#include "runtime/threads/Pool.h"

#include <algorithm>
#include <cmath>
#include <vector>

namespace ingot {
namespace {

/// Channels walked together, at least.
constexpr int64_t kBlock = 64;
/// Positions summed in float before they are added to a double.
constexpr int64_t kChunk = 256;

class ChannelsLastGroupNorm final : public BoundKernel {
public:
  explicit ChannelsLastGroupNorm(const GroupNormProblem &p) : problem(p) {
    groupsTogether = std::clamp<int64_t>((kBlock + p.channels - 1) / std::max<int64_t>(1, p.channels), 1, p.groups);
    blocks = (p.groups + groupsTogether - 1) / groupsTogether;
  }

  Status run(const KernelArgs &args) const override {
    parallelFor(0, problem.batch * blocks, 1, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i)
        runBlock(args, i / blocks, i % blocks * groupsTogether);
    });
    return {};
  }

private:
  struct Block {
    int64_t first, groups, channels; ///< first group; channels of all groups
    const float *x;
    int64_t rowLength;
  };

  /// Sums of add(partial sums, row) over all positions, then over each group's channels.
  template <typename F> std::vector<double> groupSums(const Block &block, F add) const {
    std::vector<double> sums(static_cast<size_t>(block.groups), 0.0);
    std::vector<float> partial(static_cast<size_t>(block.channels));
    for (int64_t start = 0; start < problem.positions; start += kChunk) {
      std::ranges::fill(partial, 0.0f);
      for (int64_t p = start; p < std::min(problem.positions, start + kChunk); ++p)
        add(partial.data(), block.x + p * block.rowLength);
      for (int64_t c = 0; c < block.channels; ++c)
        sums[static_cast<size_t>(c / problem.channels)] += static_cast<double>(partial[static_cast<size_t>(c)]);
    }
    return sums;
  }

  void runBlock(const KernelArgs &args, int64_t n, int64_t first) const {
    const int64_t all = problem.channels * problem.groups, groups = std::min(groupsTogether, problem.groups - first);
    const int64_t offset = n * all * problem.positions + first * problem.channels;
    const Block block{first, groups, groups * problem.channels, static_cast<const float *>(args.operands[0]) + offset,
                      all};
    const auto elements = static_cast<double>(problem.channels * problem.positions);
    std::vector<double> means =
        groupSums(block, [&](float *sums, const float *x) { rows::addTo(sums, x, block.channels); });
    std::vector<float> shift(static_cast<size_t>(block.channels));
    for (double &mean : means)
      mean /= elements;
    for (size_t c = 0; c < shift.size(); ++c)
      shift[c] = static_cast<float>(means[c / static_cast<size_t>(problem.channels)]);
    const std::vector<double> squares = groupSums(
        block, [&](float *sums, const float *x) { rows::addSquaresTo(sums, x, shift.data(), block.channels); });
    finish(args, block, means, squares, static_cast<float *>(args.results[0]) + offset);
  }

  void finish(const KernelArgs &args, const Block &block, const std::vector<double> &means,
              const std::vector<double> &squares, float *result) const {
    const auto elements = static_cast<double>(problem.channels * problem.positions);
    const auto *weight = problem.hasWeight ? static_cast<const float *>(args.operands[1]) : nullptr;
    const auto *bias = problem.hasBias ? static_cast<const float *>(args.operands[2]) : nullptr;
    std::vector<float> factors, shifts;
    for (int64_t c = 0; c < block.channels; ++c) {
      const auto group = static_cast<size_t>(c / problem.channels);
      const int64_t channel = block.first * problem.channels + c;
      const double factor =
          (weight ? static_cast<double>(weight[channel]) : 1.0) / std::sqrt(squares[group] / elements + problem.eps);
      factors.push_back(static_cast<float>(factor));
      shifts.push_back(static_cast<float>((bias ? static_cast<double>(bias[channel]) : 0.0) - means[group] * factor));
    }
    for (int64_t p = 0; p < problem.positions; ++p)
      rows::affine(result + p * block.rowLength, block.x + p * block.rowLength, factors.data(), shifts.data(),
                   block.channels);
  }

  GroupNormProblem problem;
  int64_t groupsTogether = 1, blocks = 1;
};

} // namespace

std::unique_ptr<BoundKernel> makeChannelsLastGroupNorm(const GroupNormProblem &problem) {
  return std::make_unique<ChannelsLastGroupNorm>(problem);
}

} // namespace ingot
