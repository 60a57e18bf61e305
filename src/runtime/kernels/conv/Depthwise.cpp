// Depthwise convolutions of float32, one filter for each channel. Images are channels-last and need no copy: columns beside
// them are read from a line of zeros. An image that is itself made by a pointwise convolution is made some rows of one block
// of channels at a time, which stay in the cache.
#include "runtime/kernels/conv/Block.h"
#include "runtime/kernels/conv/DepthwisePiece.h"
#include "runtime/kernels/elementwise/Avx512.h"
#include "runtime/kernels/elementwise/Simd.h"
#include "runtime/kernels/elementwise/Strided.h"
#include "runtime/kernels/gemm/NoSubnormals.h"
#include "runtime/kernels/gemm/Product.h"
#include "runtime/kernels/pool/Pool.h"
#include "runtime/threads/Pool.h"

#include <algorithm>

namespace ingot {
namespace {

using depthwise::kBlock;
using depthwise::kPixels;
using depthwise::Piece;

/// Rows of a task at least, where rows are divided.
constexpr int64_t kMinRows = 3;
/// Of an image that is made on the way; the rest of the second-level cache has what it is made from.
constexpr int64_t kBufferBytes = 256 << 10;

INGOT_SIMD void addPixels(float *__restrict sums, const float *__restrict x, int64_t stride, int64_t pixels,
                          int64_t channels) {
  for (int64_t pixel = 0; pixel < pixels; ++pixel)
    for (int64_t c = 0; c < channels; ++c)
      sums[c] += x[pixel * stride + c];
}

/// How the rows of an image, and its blocks of channels, become tasks.
struct Division {
  int64_t chunks = 1, groups = 1;
};

/// The pointwise convolution that makes the image.
struct Expansion {
  std::shared_ptr<const gemm::Panels> panels;
  Activation activation;
  int64_t channels; ///< of what it reads
};

class DepthwiseConv final : public BoundKernel {
public:
  DepthwiseConv(const BlockProblem &block, const Geometry &g)
      : g(g), filters(depthwise::packFilters(block.depthwise, g)),
        functions(depthwise::functionsFor(g.kernel.width, g.stride.width)), activation(block.depthwise.activation),
        hasMeans(block.hasMeans), blocks((g.channels + kBlock - 1) / kBlock) {
    const ConvProblem &first = block.expand ? *block.expand : block.depthwise;
    if (block.expand)
      expansion = {gemm::sharedPanels(panelSource(*block.expand, gemm::Packing::Single)), block.expand->activation,
                   block.expand->inChannels()};
    const TensorDesc wanted = channelsLast(DType::Float32, first.x.sizes);
    if (!hasStridesOf(first.x, wanted))
      copy = makeCopy(wanted, first.x);
    copiedElements = copy ? wanted.numel() : 0;
    leastChunks = expansion ? chunksThatFit() : 1;
    workers = std::clamp<int64_t>(numThreads(), 1, taskCount(division()));
  }

  /// Whether rows that two chunks both need are few.
  bool isWorthwhile() const { return !expansion || leastChunks <= mostChunks(); }

  size_t scratchBytes() const override {
    return static_cast<size_t>(copiedElements + sumElements() + workers * bufferElements()) * sizeof(float);
  }
  int reorders() const override { return copy ? 1 : 0; }
  std::string_view method() const override { return "depthwise"; }

  Status run(const KernelArgs &args) const override {
    Call call(args);
    auto *scratch = static_cast<float *>(args.scratch);
    if (copy) {
      copy->run(call.x, scratch);
      call.x = scratch;
    }
    call.sums = hasMeans ? scratch + copiedElements : nullptr;
    call.division = division();
    float *buffers = scratch + copiedElements + sumElements();
    std::optional<gemm::PanelUse> use;
    if (expansion)
      use.emplace(*expansion->panels, g.images * g.in.height * g.in.width);
    Tasks queue(taskCount(call.division), workers);
    parallelFor(0, workers, 1, [&](int64_t begin, int64_t end) {
      [[maybe_unused]] const gemm::NoSubnormals here;
      for (int64_t worker = begin; worker < end; ++worker)
        queue.forEach(worker, [&](int64_t task) { runTask(call, task, buffers + worker * bufferElements()); });
    });
    if (hasMeans)
      averagePixels(call.sums, static_cast<float *>(args.results[BlockMeans]),
                    {g.images, g.out.height, g.channels, static_cast<float>(g.out.height * g.out.width)});
    return {};
  }

private:
  struct Call {
    const float *x, *bias, *expandBias;
    float *out, *sums = nullptr; ///< sums: [images][height][channels], of the rows of the result
    Division division;

    explicit Call(const KernelArgs &args)
        : x(operand(args, BlockX)), bias(operand(args, BlockBias)), expandBias(operand(args, BlockExpandBias)),
          out(static_cast<float *>(args.results[BlockImage])) {}
    static const float *operand(const KernelArgs &args, size_t index) {
      return index < args.operands.size() ? static_cast<const float *>(args.operands[index]) : nullptr;
    }
  };

  /// A block of channels of an image, from row `firstRow` on.
  struct Source {
    const float *x;
    int64_t pixelElements, firstRow;
  };

  int64_t sumElements() const { return hasMeans ? g.images * g.out.height * g.channels : 0; }
  /// Rows of the image, and of the zeros around it, that so many rows of the result are made from.
  int64_t reach(int64_t rows) const {
    return (rows - 1) * g.stride.height + (g.kernel.height - 1) * g.dilation.height + 1;
  }
  int64_t bufferElements() const {
    const int64_t rows = (g.out.height + leastChunks - 1) / leastChunks;
    return expansion ? std::min(g.in.height, reach(rows)) * g.in.width * kBlock : 0;
  }

  /// The least chunks whose rows of the image fit into the cache; one row each, at most.
  int64_t chunksThatFit() const {
    const int64_t fitting = kBufferBytes / (g.in.width * kBlock * static_cast<int64_t>(sizeof(float)));
    if (g.in.height <= fitting)
      return 1;
    const int64_t rows = std::max<int64_t>(1, (fitting - reach(1)) / g.stride.height + 1);
    return (g.out.height + rows - 1) / rows;
  }
  /// So that no more than a quarter of the rows is made twice.
  int64_t mostChunks() const {
    const int64_t shared = std::max<int64_t>(0, reach(1) - g.stride.height);
    const int64_t rows = (4 * shared + g.stride.height - 1) / g.stride.height;
    return std::max<int64_t>(1, g.out.height / std::max<int64_t>(1, rows));
  }

  /// A thread that is late leaves its last tasks to the others. Small images are divided by channels, whose filters are
  /// more to read than the image.
  Division division() const {
    const int64_t wanted = numThreads() > 1 ? 4 * numThreads() : 1, perImage = (wanted + g.images - 1) / g.images;
    if (expansion)
      return {std::clamp((perImage + blocks - 1) / blocks, leastChunks, std::max(leastChunks, mostChunks())), blocks};
    const int64_t chunks = g.out.height >= kMinRows * perImage ? perImage : 1;
    return {chunks, std::clamp<int64_t>((perImage + chunks - 1) / chunks, 1, blocks)};
  }
  int64_t taskCount(const Division &division) const { return g.images * division.chunks * division.groups; }

  void runTask(const Call &call, int64_t task, float *buffer) const {
    const auto [chunks, groups] = call.division;
    const int64_t group = task % groups, chunk = task / groups % chunks, image = task / groups / chunks;
    const Range rows{g.out.height * chunk / chunks, g.out.height * (chunk + 1) / chunks};
    for (int64_t block = blocks * group / groups; block < blocks * (group + 1) / groups; ++block) {
      const int64_t pixels = image * g.in.height * g.in.width;
      computeBlock(call, image, rows, block,
                   expansion ? expand(call, image, rows, block, buffer)
                             : Source{call.x + pixels * g.channels + block * kBlock, g.channels, 0});
    }
  }

  /// What `rows` of the result are made from.
  Source expand(const Call &call, int64_t image, Range rows, int64_t block, float *buffer) const {
    const int64_t top = rows.begin * g.stride.height - g.low.height;
    const int64_t bottom = top + reach(rows.size());
    const int64_t first = std::clamp<int64_t>(top, 0, g.in.height), last = std::clamp(bottom, first, g.in.height);
    static constexpr int64_t noTap = 0;
    gemm::Product product{
        expansion->panels->view(), {&noTap, 1}, expansion->channels, buffer, kBlock, {}, block * kBlock};
    product.finish.activation = expansion->activation;
    product.finish.bias = call.expandBias;
    const float *x = call.x + (image * g.in.height + first) * g.in.width * expansion->channels;
    gemm::multiplyRows(product, {x, expansion->channels, 0, (last - first) * g.in.width}, block, block + 1);
    return {buffer, kBlock, first};
  }

  void computeBlock(const Call &call, int64_t image, Range rows, int64_t block, const Source &source) const {
    const int64_t channel = block * kBlock;
    const std::optional<depthwise::Finish> finish = depthwise::finishOf(activation);
    Piece piece;
    piece.limits = gemm::limitsOf(finish ? activation : Activation::None);
    piece.finish = finish.value_or(depthwise::Finish::Limit);
    piece.pixelElements = source.pixelElements;
    piece.outElements = g.channels;
    piece.rowElements = g.dilation.height * g.in.width * source.pixelElements;
    piece.columns = g.in.width;
    piece.channels = std::min(kBlock, g.channels - channel);
    piece.weights = filters.data() + block * g.kernel.height * g.kernel.width * kBlock;
    piece.bias = call.bias ? call.bias + channel : nullptr;
    for (int64_t row = rows.begin; row < rows.end; ++row) {
      const int64_t line = image * g.out.height + row;
      float *out = call.out + line * g.out.width * g.channels + channel;
      float *sums = call.sums ? call.sums + line * g.channels + channel : nullptr;
      if (sums)
        std::fill_n(sums, piece.channels, 0.0f);
      piece.rowSums = finish ? sums : nullptr;
      computeRow(piece, row, source, out);
      if (!finish)
        finishRow(out, sums, piece.channels);
    }
  }

  void computeRow(Piece &piece, int64_t row, const Source &source, float *out) const {
    const int64_t top = row * g.stride.height - g.low.height, step = g.dilation.height;
    // The taps with 0 <= top + tap * step < height.
    piece.firstTapRow = top < 0 ? std::min(g.kernel.height, (-top + step - 1) / step) : 0;
    const int64_t below = g.in.height > top ? (g.in.height - top + step - 1) / step : 0;
    piece.tapRows = std::max<int64_t>(0, std::min(g.kernel.height, below) - piece.firstTapRow);
    const float *line = source.x + (top - source.firstRow) * g.in.width * source.pixelElements;
    for (int64_t pixel = 0; pixel < g.out.width; pixel += kPixels) {
      piece.firstColumn = pixel * g.stride.width - g.low.width;
      piece.x = line + piece.firstColumn * source.pixelElements;
      piece.out = out + pixel * g.channels;
      piece.pixels = std::min(kPixels, g.out.width - pixel);
      const int64_t across = (kPixels - 1) * g.stride.width + g.kernel.width;
      const bool isInside = piece.firstColumn >= 0 && piece.firstColumn + across <= g.in.width;
      (isInside ? functions.inside : functions.atEdge)(piece);
    }
  }

  /// Activates a row of some channels, and adds it up where sums are wanted.
  void finishRow(float *out, float *sums, int64_t channels) const {
    for (int64_t pixel = 0; pixel < g.out.width; ++pixel)
      gemm::activateAll(activation, out + pixel * g.channels, channels);
    if (sums)
      addPixels(sums, out, g.channels, g.out.width, channels);
  }

  Geometry g;
  std::vector<float> filters;
  depthwise::Functions functions;
  std::optional<Expansion> expansion;
  std::optional<StridedCopy> copy;
  Activation activation;
  bool hasMeans;
  int64_t blocks, copiedElements = 0, leastChunks = 1, workers = 1;
};

/// Rows of a tile in the same few places of the first-level cache would drive each other out; a copy with gaps is not made here.
bool canExpand(const ConvProblem &problem) {
  const Geometry g(problem);
  return gemm::canComputeTiles() && problem.weightData && g.isPointwise() && problem.groups == 1 &&
         problem.spatialRank() == 2 && !problem.transposed && !problem.residual &&
         problem.precision == Precision::Highest && !gemm::areAliased(g.channels) &&
         (!problem.bias || problem.bias->isContiguous());
}

} // namespace

std::unique_ptr<BoundKernel> makeDepthwiseBlock(const BlockProblem &block) {
  const ConvProblem &problem = block.depthwise;
  const bool hasOneFilterEach = problem.groups == problem.inChannels() && problem.groups == problem.outChannels();
  if (!problem.weightData || problem.transposed || !hasOneFilterEach || problem.spatialRank() > 2 || problem.residual ||
      (problem.bias && !problem.bias->isContiguous()) || (block.expand && !canExpand(*block.expand)))
    return nullptr;
  const Geometry g(problem);
  if (g.channels < avx512::kLanes || g.dilation.width != 1 ||
      !depthwise::functionsFor(g.kernel.width, g.stride.width).inside)
    return nullptr;
  auto kernel = std::make_unique<DepthwiseConv>(block, g);
  return kernel->isWorthwhile() ? std::move(kernel) : nullptr;
}

std::unique_ptr<BoundKernel> makeDepthwiseConv(const ConvProblem &problem) {
  return makeDepthwiseBlock({std::nullopt, problem, false});
}

} // namespace ingot
