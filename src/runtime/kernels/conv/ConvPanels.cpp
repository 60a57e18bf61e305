// Convolutions of float32 as products: pixels are rows, and the constant weight is kept as panels. Around the image stand
// zeros, so that pixels of one row of the result lie evenly for every tap. Where operands may be rounded, the
// geometry counts pairs or quads of channels.
#include "runtime/kernels/conv/Geometry.h"
#include "runtime/kernels/elementwise/Strided.h"
#include "runtime/kernels/gemm/Pairs.h"
#include "runtime/kernels/gemm/Product.h"
#include "runtime/kernels/gemm/Quads.h"
#include "runtime/threads/Pool.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <cstring>
#include <optional>

namespace ingot {
namespace {

constexpr int64_t kFloat = sizeof(float);
/// Fewer multiplications with each element than this are not worth a copy.
constexpr int64_t kCopied = 128, kRounded = 32;

std::vector<int64_t> tapsOf(const Geometry &g) {
  std::vector<int64_t> taps;
  for (int64_t y = 0; y < g.kernel.height; ++y)
    for (int64_t x = 0; x < (g.joinsTaps() ? 1 : g.kernel.width); ++x)
      taps.push_back(y * g.dilation.height * g.rowElements() + x * g.dilation.width * g.pixelElements);
  return taps;
}

/// The input with zeros around it, [images, height, width, channels]; as pairs or quads if it is channels-last. Behind quads are the scales
/// of all pixels of the result, then their zeros: an image has one of each.
class PaddedInput {
public:
  PaddedInput(const ConvProblem &problem, const Geometry &g, gemm::Packing packing) : g(g), packing(packing) {
    if (packing != gemm::Packing::Single)
      return;
    TensorDesc inside = problem.x;
    inside.strides = {g.imageElements(), 1, g.rowElements(), g.pixelElements};
    if (problem.spatialRank() == 1)
      inside.strides = {g.imageElements(), 1, g.pixelElements};
    copy = makeCopy(inside, problem.x);
  }

  int64_t elements() const { return g.images * (g.imageElements() + (isQuads() ? 2 * outPixels() : 0)); }

  void describe(gemm::Product &product, const float *padded) const {
    if (!isQuads())
      return;
    product.rowScales = padded + g.images * g.imageElements();
    product.rowZeros = reinterpret_cast<const int32_t *>(product.rowScales + g.images * outPixels());
  }

  void fill(const float *x, float *to) const {
    for (int64_t image = 0; isQuads() && image < g.images; ++image)
      fillImages(x, to, image, image + 1, findScale(x, to, image));
    if (!isQuads() && (g.isPadded() || !copy))
      fillImages(x, to, 0, g.images, {});
    if (copy)
      copy->run(x, to + g.low.height * g.rowElements() + g.low.width * g.pixelElements);
  }

private:
  static constexpr int64_t kGrain = 16384;

  bool isQuads() const { return packing == gemm::Packing::Quads; }
  /// Floats of an element of the geometry.
  int64_t packed() const { return isQuads() ? 4 : packing == gemm::Packing::Pairs ? 2 : 1; }
  int64_t outPixels() const { return g.out.height * g.out.width; }

  /// Of an image; writes it behind the images.
  gemm::QuadScale findScale(const float *x, float *to, int64_t image) const {
    const int64_t count = g.in.height * g.in.width * g.channels * packed();
    std::atomic<uint32_t> above = 0, below = 0;
    parallelFor(0, count, kGrain, [&](int64_t begin, int64_t end) {
      const auto range = gemm::QuadRange::of(x + image * count + begin, end - begin);
      raise(above, range.above);
      raise(below, range.below);
    });
    const auto scale = gemm::QuadScale::of({above, below});
    float *scales = to + g.images * g.imageElements();
    auto *zeros = reinterpret_cast<int32_t *>(scales + g.images * outPixels());
    std::fill_n(scales + image * outPixels(), outPixels(), scale.scale);
    std::fill_n(zeros + image * outPixels(), outPixels(), scale.zero);
    return scale;
  }

  static void raise(std::atomic<uint32_t> &most, uint32_t value) {
    uint32_t now = most.load(std::memory_order_relaxed);
    while (now < value && !most.compare_exchange_weak(now, value, std::memory_order_relaxed)) {
    }
  }

  void fillImages(const float *x, float *to, int64_t first, int64_t last, gemm::QuadScale scale) const {
    parallelFor(first * g.padded.height, last * g.padded.height, std::max<int64_t>(1, kGrain / g.rowElements()),
                [&](int64_t begin, int64_t end) {
                  for (int64_t row = begin; row < end; ++row) {
                    const int64_t y = row % g.padded.height - g.low.height;
                    clearAround(to + row * g.rowElements(), y, scale);
                    if (!copy && y >= 0 && y < g.in.height)
                      roundRow(x, row / g.padded.height * g.in.height + y, to + row * g.rowElements(), scale);
                  }
                });
  }

  /// `row` is counted over all images, without what is around them.
  void roundRow(const float *x, int64_t row, float *to, gemm::QuadScale scale) const {
    const bool isDense = g.pixelElements == g.channels;
    const int64_t runs = isDense ? 1 : g.in.width, length = packed() * g.channels * (isDense ? g.in.width : 1);
    to += g.low.width * g.pixelElements;
    x += row * g.in.width * packed() * g.channels;
    for (int64_t run = 0; run < runs; ++run, x += length, to += g.pixelElements)
      if (isQuads())
        gemm::roundToQuads(x, reinterpret_cast<uint8_t *>(to), length, scale);
      else
        gemm::roundToBFloat16(x, reinterpret_cast<uint16_t *>(to), length);
  }

  /// `y` is the row in the input; outside of it all of the row is zero.
  void clearAround(float *row, int64_t y, gemm::QuadScale scale) const {
    auto clear = [&](float *from, int64_t count) {
      std::memset(from, scale.zero, static_cast<size_t>(count * kFloat));
    };
    const bool isOutside = y < 0 || y >= g.in.height;
    clear(row, isOutside ? g.rowElements() : g.low.width * g.pixelElements);
    const int64_t end = (g.low.width + g.in.width) * g.pixelElements;
    if (!isOutside)
      clear(row + end, g.rowElements() - end);
  }

  Geometry g;
  gemm::Packing packing;
  std::optional<StridedCopy> copy; ///< of floats only
};

class PanelConv final : public BoundKernel {
public:
  PanelConv(const ConvProblem &problem, const Geometry &g, bool isChannelsLast, gemm::Packing packing)
      : g(g), panels(gemm::sharedPanels(panelSource(problem, packing))), taps(tapsOf(g)),
        activation(problem.activation), hasBias(problem.bias.has_value()), hasResidual(problem.residual.has_value()) {
    if (!isChannelsLast || g.isPadded() || g.pixelElements != g.channels || packing != gemm::Packing::Single)
      input.emplace(problem, g, packing);
    isReordered = !isChannelsLast;
  }

  size_t scratchBytes() const override { return input ? static_cast<size_t>(input->elements() * kFloat) : 0; }

  int reorders() const override { return isReordered ? 1 : 0; }

  std::string_view method() const override { return "panels"; }

  bool canMultiplyZeros() const { return panels->isFinite(); }

  Status run(const KernelArgs &args) const override {
    const gemm::PanelUse use(*panels, g.images * g.out.height * g.out.width);
    const auto *x = static_cast<const float *>(args.operands[ConvX]);
    if (input) {
      input->fill(x, static_cast<float *>(args.scratch));
      x = static_cast<const float *>(args.scratch);
    }
    gemm::Product product{panels->view(), taps, g.depth(), static_cast<float *>(args.results[0]), g.outChannels, {}};
    if (input)
      input->describe(product, x);
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

bool isChannelsLast(const ConvProblem &problem) {
  return hasStridesOf(problem.x, channelsLast(DType::Float32, problem.x.sizes));
}

} // namespace

gemm::PanelSource panelSource(const ConvProblem &problem, gemm::Packing packing) {
  const std::vector<int64_t> &strides = problem.weight.strides;
  const Plane kernel = planeOf(std::span(problem.weight.sizes).subspan(2), 1);
  return {static_cast<const float *>(problem.weightData),
          {kernel.height, kernel.width, problem.inChannels()},
          {strides.size() == 4 ? strides[2] : 0, strides.back(), strides[1]},
          problem.outChannels(),
          strides[0],
          false,
          DType::Float32,
          packing};
}

gemm::Packing convPacking(const ConvProblem &problem) {
  const Geometry g(problem);
  const int64_t depth = g.channels * g.kernel.height * g.kernel.width;
  const bool canRound = isChannelsLast(problem) && problem.weightData && !problem.transposed && problem.groups == 1 &&
                        problem.spatialRank() <= 2 && g.outChannels * g.kernel.height * g.kernel.width >= kRounded;
  if (!canRound || problem.precision == Precision::Highest)
    return gemm::Packing::Single;
  if (problem.precision == Precision::Int8 && g.channels % 4 == 0 && depth <= gemm::kMostQuadDepth &&
      gemm::canComputeQuads())
    return gemm::Packing::Quads;
  return g.channels % 2 == 0 && gemm::canComputePairs() ? gemm::Packing::Pairs : gemm::Packing::Single;
}

std::unique_ptr<BoundKernel> makePanelConv(const ConvProblem &problem) {
  if (!gemm::canComputeTiles() || !problem.weightData || problem.transposed || problem.groups != 1 ||
      problem.spatialRank() > 2)
    return nullptr;
  Geometry g(problem);
  const gemm::Packing packing = convPacking(problem);
  if (packing != gemm::Packing::Single)
    g.pixelElements = g.channels /= packing == gemm::Packing::Quads ? 4 : 2;
  // Rows of a tile in the same few places of the first-level cache would drive each other out.
  if (gemm::areAliased(g.stride.width * g.channels) && g.outChannels >= kCopied)
    g.pixelElements += gemm::kApart;
  const bool hasPlainAdditions = (!problem.bias || problem.bias->isContiguous()) &&
                                 (!problem.residual || hasStridesOf(*problem.residual, problem.result));
  if (!hasPlainAdditions)
    return nullptr;
  auto kernel = std::make_unique<PanelConv>(problem, g, isChannelsLast(problem), packing);
  // The zeros around an image are left out in PyTorch: an infinity would make NaN of them.
  return kernel->canMultiplyZeros() || !g.isPadded() ? std::move(kernel) : nullptr;
}

} // namespace ingot
