// Convolutions of float32 as products: pixels are rows, and the constant weight is kept as panels. Around the image stand
// zeros, so that pixels of one row of the result lie evenly for every tap. Where operands may be rounded to bfloat16, the
// geometry counts pairs of channels.
#include "runtime/kernels/conv/Geometry.h"
#include "runtime/kernels/elementwise/Strided.h"
#include "runtime/kernels/gemm/Pairs.h"
#include "runtime/kernels/gemm/Product.h"
#include "runtime/threads/Pool.h"

#include <algorithm>
#include <array>
#include <optional>

namespace ingot {
namespace {

constexpr int64_t kFloat = sizeof(float);
/// Fewer multiplications with each element than this are not worth a copy.
constexpr int64_t kCopied = 128, kPaired = 32;

std::vector<int64_t> tapsOf(const Geometry &g) {
  std::vector<int64_t> taps;
  for (int64_t y = 0; y < g.kernel.height; ++y)
    for (int64_t x = 0; x < (g.joinsTaps() ? 1 : g.kernel.width); ++x)
      taps.push_back(y * g.dilation.height * g.rowElements() + x * g.dilation.width * g.pixelElements);
  return taps;
}

gemm::PanelSource panelSource(const ConvProblem &problem, const Geometry &g, bool isPaired) {
  const std::vector<int64_t> &strides = problem.weight.strides;
  const int64_t rowStride = strides.size() == 4 ? strides[2] : 0;
  return {static_cast<const float *>(problem.weightData),
          {g.kernel.height, g.kernel.width, problem.inChannels()},
          {rowStride, strides.back(), strides[1]},
          g.outChannels,
          strides[0],
          false,
          DType::Float32,
          isPaired};
}

/// The input with zeros around it, [images, height, width, channels]; as pairs if it is channels-last.
class PaddedInput {
public:
  PaddedInput(const ConvProblem &problem, const Geometry &g, bool isPaired) : g(g) {
    if (isPaired)
      return;
    TensorDesc inside = problem.x;
    inside.strides = {g.imageElements(), 1, g.rowElements(), g.pixelElements};
    if (problem.spatialRank() == 1)
      inside.strides = {g.imageElements(), 1, g.pixelElements};
    copy = makeCopy(inside, problem.x);
  }

  int64_t elements() const { return g.images * g.imageElements(); }

  void fill(const float *x, float *to) const {
    if (g.isPadded() || !copy)
      parallelFor(0, g.images * g.padded.height, std::max<int64_t>(1, kGrain / g.rowElements()),
                  [&](int64_t begin, int64_t end) {
                    for (int64_t row = begin; row < end; ++row) {
                      const int64_t y = row % g.padded.height - g.low.height;
                      clearAround(to + row * g.rowElements(), y);
                      if (!copy && y >= 0 && y < g.in.height)
                        pairRow(x, row / g.padded.height * g.in.height + y, to + row * g.rowElements());
                    }
                  });
    if (copy)
      copy->run(x, to + g.low.height * g.rowElements() + g.low.width * g.pixelElements);
  }

private:
  static constexpr int64_t kGrain = 16384;

  /// `row` is counted over all images, without what is around them.
  void pairRow(const float *x, int64_t row, float *to) const {
    const bool isDense = g.pixelElements == g.channels;
    const int64_t runs = isDense ? 1 : g.in.width, length = 2 * g.channels * (isDense ? g.in.width : 1);
    to += g.low.width * g.pixelElements;
    x += row * g.in.width * 2 * g.channels;
    for (int64_t run = 0; run < runs; ++run, x += length, to += g.pixelElements)
      gemm::roundToBFloat16(x, reinterpret_cast<uint16_t *>(to), length);
  }

  /// `y` is the row in the input; outside of it all of the row is zero.
  void clearAround(float *row, int64_t y) const {
    const bool isOutside = y < 0 || y >= g.in.height;
    const int64_t left = isOutside ? g.rowElements() : g.low.width * g.pixelElements;
    std::fill(row, row + left, 0.0f);
    if (!isOutside)
      std::fill(row + (g.low.width + g.in.width) * g.pixelElements, row + g.rowElements(), 0.0f);
  }

  Geometry g;
  std::optional<StridedCopy> copy; ///< not of pairs
};

class PanelConv final : public BoundKernel {
public:
  PanelConv(const ConvProblem &problem, const Geometry &g, bool isChannelsLast, bool isPaired)
      : g(g), panels(gemm::sharedPanels(panelSource(problem, g, isPaired))), taps(tapsOf(g)),
        activation(problem.activation), hasBias(problem.bias.has_value()), hasResidual(problem.residual.has_value()) {
    if (!isChannelsLast || g.isPadded() || g.pixelElements != g.channels || isPaired)
      input.emplace(problem, g, isPaired);
    isReordered = !isChannelsLast;
  }

  size_t scratchBytes() const override { return input ? static_cast<size_t>(input->elements() * kFloat) : 0; }

  int reorders() const override { return isReordered ? 1 : 0; }

  bool canMultiplyZeros() const { return panels->isFinite(); }

  Status run(const KernelArgs &args) const override {
    const auto *x = static_cast<const float *>(args.operands[ConvX]);
    if (input) {
      input->fill(x, static_cast<float *>(args.scratch));
      x = static_cast<const float *>(args.scratch);
    }
    gemm::Product product{panels->view(), taps, g.depth(), static_cast<float *>(args.results[0]), g.outChannels, {}};
    product.finish.activation = activation;
    product.finish.addsBeforeActivation = true;
    product.finish.bias = hasBias ? static_cast<const float *>(args.operands[ConvBias]) : nullptr;
    product.finish.added = hasResidual ? static_cast<const float *>(args.operands[ConvResidual]) : nullptr;
    if (g.isPointwise())
      gemm::multiplyMatrix(product, {x, g.pixelElements, 0, g.images * g.out.height * g.out.width});
    else
      multiplyImages(product, x);
    return {};
  }

private:
  void multiplyImages(const gemm::Product &product, const float *x) const {
    const int64_t rows = g.images * g.out.height, count = product.panels.count();
    const int64_t rowBytes = g.stride.height * g.rowElements() * kFloat;
    const gemm::Division division = gemm::divide(rows, rowBytes, count, product.panels.depth * gemm::kPanel * kFloat);
    parallelFor(0, division.chunks * division.groups, 1, [&](int64_t begin, int64_t end) {
      for (int64_t task = begin; task < end; ++task) {
        const int64_t chunk = task / division.groups, group = task % division.groups;
        multiplyOutputRows(product, x, {rows * chunk / division.chunks, rows * (chunk + 1) / division.chunks},
                           {count * group / division.groups, count * (group + 1) / division.groups});
      }
    });
  }

  const float *lineOf(const float *x, int64_t row) const {
    return x + row / g.out.height * g.imageElements() + row % g.out.height * g.stride.height * g.rowElements();
  }

  /// A tile of pixels of `row`; two rows that are half a tile each are one, if the next is before `lastRow`.
  gemm::RowBlock blockAt(const float *x, int64_t row, int64_t lastRow, int64_t tile, int64_t tiles) const {
    const int64_t first = g.out.width * tile / tiles, last = g.out.width * (tile + 1) / tiles;
    const float *line = lineOf(x, row);
    gemm::RowBlock block{line + first * g.stride.width * g.pixelElements, g.stride.width * g.pixelElements,
                         last - first, row * g.out.width + first};
    if (g.out.width == gemm::kHalfTile && row + 1 < lastRow) {
      block.rows = gemm::kTileRows;
      block.jump = lineOf(x, row + 1) - line - gemm::kHalfTile * block.stride;
    }
    return block;
  }

  /// Rows of the result, counted over all images, times panels.
  void multiplyOutputRows(const gemm::Product &product, const float *x, Range rows, Range columns) const {
    const int64_t tiles = (g.out.width + gemm::kTileRows - 1) / gemm::kTileRows;
    std::array<gemm::RowBlock, gemm::kBlocks> blocks;
    size_t used = 0;
    for (int64_t i = rows.begin * tiles; i < rows.end * tiles;) {
      const gemm::RowBlock &block = blocks[used++] = blockAt(x, i / tiles, rows.end, i % tiles, tiles);
      i += block.rows > g.out.width ? 2 : 1;
      if (used < blocks.size() && i < rows.end * tiles)
        continue;
      gemm::multiply(product, std::span(blocks).first(used), columns.begin, columns.end);
      used = 0;
    }
  }

  Geometry g;
  std::shared_ptr<const gemm::Panels> panels;
  std::vector<int64_t> taps;
  std::optional<PaddedInput> input;
  Activation activation;
  bool hasBias, hasResidual, isReordered = false;
};

} // namespace

std::unique_ptr<BoundKernel> makePanelConv(const ConvProblem &problem) {
  if (!gemm::canComputeTiles() || !problem.weightData || problem.transposed || problem.groups != 1 ||
      problem.spatialRank() > 2)
    return nullptr;
  Geometry g(problem);
  const bool isChannelsLast = hasStridesOf(problem.x, channelsLast(DType::Float32, problem.x.sizes));
  const bool isPaired = problem.roundsToBFloat16 && gemm::canComputePairs() && isChannelsLast && g.channels % 2 == 0 &&
                        g.outChannels * g.kernel.height * g.kernel.width >= kPaired;
  if (isPaired)
    g.pixelElements = g.channels /= 2;
  // Rows of a tile in the same few places of the first-level cache would drive each other out.
  if (gemm::areAliased(g.stride.width * g.channels) && g.outChannels >= kCopied)
    g.pixelElements += gemm::kApart;
  const bool hasPlainAdditions = (!problem.bias || problem.bias->isContiguous()) &&
                                 (!problem.residual || hasStridesOf(*problem.residual, problem.result));
  if (!hasPlainAdditions)
    return nullptr;
  auto kernel = std::make_unique<PanelConv>(problem, g, isChannelsLast, isPaired);
  // The zeros around an image are left out in PyTorch: an infinity would make NaN of them.
  return kernel->canMultiplyZeros() || !g.isPadded() ? std::move(kernel) : nullptr;
}

} // namespace ingot
