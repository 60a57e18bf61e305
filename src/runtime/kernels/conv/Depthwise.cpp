// Depthwise convolutions of float32, one filter for each channel: sixteen channels a register, some pixels of a row at
// once. Images are channels-last and need no copy: columns beside them are read from a line of zeros.
#include "runtime/kernels/conv/Geometry.h"
#include "runtime/kernels/elementwise/Avx512.h"
#include "runtime/kernels/elementwise/Strided.h"
#include "runtime/kernels/gemm/Activate.h"
#include "runtime/kernels/gemm/NoSubnormals.h"
#include "runtime/kernels/gemm/Tile.h"
#include "runtime/threads/Pool.h"

#include <algorithm>
#include <optional>

namespace ingot {

#if defined(__x86_64__)

namespace {

/// Pixels that are computed together: what widths of images are mostly made of.
constexpr int64_t kPixels = 7;
/// Channels that are computed together, in two registers.
constexpr int64_t kBlock = 32;
constexpr float kZeros[kBlock] = {};

/// Some pixels of one row of the result, of one block of channels.
struct Piece {
  const float *x = nullptr;       ///< of the first tap of the first pixel, which may lie beside the image
  const float *weights = nullptr; ///< [kernel height][kernel width][kBlock]
  const float *bias = nullptr;    ///< null: zeros
  float *out = nullptr;
  int64_t channels = kBlock;            ///< of this block
  int64_t rowElements = 0;              ///< from row to row of the input
  int64_t pixelElements = 0;            ///< from column to column of both
  int64_t firstTapRow = 0, tapRows = 0; ///< rows of the kernel that lie in the image
  int64_t firstColumn = 0, columns = 0; ///< column of `x` in the image, and how many it has
  int64_t pixels = kPixels;             ///< that are stored
  gemm::Limits limits{};
  bool isSilu = false;
};

template <int Width, int Stride, bool atEdge>
INGOT_AVX512_INLINE void addTapRow(const Piece &piece, const float *line, const float *weights, __mmask16 low,
                                   __mmask16 high, __m512 (&sums)[kPixels][2]) {
  __m512 taps[Width][2];
#pragma unroll
  for (int tap = 0; tap < Width; ++tap) {
    taps[tap][0] = _mm512_loadu_ps(weights + tap * kBlock);
    taps[tap][1] = _mm512_loadu_ps(weights + tap * kBlock + avx512::kLanes);
  }
#pragma unroll
  for (int column = 0; column < (kPixels - 1) * Stride + Width; ++column) {
    const bool isInside =
        !atEdge || static_cast<uint64_t>(piece.firstColumn + column) < static_cast<uint64_t>(piece.columns);
    const float *from = isInside ? line + column * piece.pixelElements : kZeros;
    const __m512 first = _mm512_maskz_loadu_ps(low, from);
    const __m512 second = _mm512_maskz_loadu_ps(high, from + avx512::kLanes);
#pragma unroll
    for (int tap = 0; tap < Width; ++tap) {
      const int pixel = (column - tap) / Stride;
      if (column < tap || (column - tap) % Stride != 0 || pixel >= kPixels)
        continue;
      sums[pixel][0] = _mm512_fmadd_ps(first, taps[tap][0], sums[pixel][0]);
      sums[pixel][1] = _mm512_fmadd_ps(second, taps[tap][1], sums[pixel][1]);
    }
  }
}

template <int Width, int Stride, bool atEdge> INGOT_AVX512 void computePiece(const Piece &piece) {
  const __mmask16 low = avx512::firstOf(piece.channels), high = avx512::firstOf(piece.channels - avx512::kLanes);
  const float *bias = piece.bias ? piece.bias : kZeros;
  const __m512 start[2] = {_mm512_maskz_loadu_ps(low, bias), _mm512_maskz_loadu_ps(high, bias + avx512::kLanes)};
  __m512 sums[kPixels][2];
#pragma unroll
  for (auto &sum : sums)
    sum[0] = start[0], sum[1] = start[1];
  for (int64_t row = piece.firstTapRow; row < piece.firstTapRow + piece.tapRows; ++row)
    addTapRow<Width, Stride, atEdge>(piece, piece.x + row * piece.rowElements, piece.weights + row * Width * kBlock,
                                     low, high, sums);
  const __m512 floor = _mm512_set1_ps(piece.limits.floor), ceiling = _mm512_set1_ps(piece.limits.ceiling);
#pragma unroll
  for (int64_t pixel = 0; pixel < kPixels; ++pixel) {
    if (pixel >= piece.pixels)
      break;
    float *out = piece.out + pixel * piece.pixelElements;
    const __m512 first = sums[pixel][0], second = sums[pixel][1];
    _mm512_mask_storeu_ps(out, low, piece.isSilu ? avx512::silu(first) : avx512::limited(first, floor, ceiling));
    _mm512_mask_storeu_ps(out + avx512::kLanes, high,
                          piece.isSilu ? avx512::silu(second) : avx512::limited(second, floor, ceiling));
  }
}

using PieceFunction = void (*)(const Piece &);
struct PieceFunctions {
  PieceFunction inside = nullptr, atEdge = nullptr;
};

template <int Width, int Stride> constexpr PieceFunctions functionsOf() {
  return {computePiece<Width, Stride, false>, computePiece<Width, Stride, true>};
}

PieceFunctions functionsFor(int64_t width, int64_t stride) {
  switch (width * 10 + stride) {
  case 31:
    return functionsOf<3, 1>();
  case 32:
    return functionsOf<3, 2>();
  case 51:
    return functionsOf<5, 1>();
  case 52:
    return functionsOf<5, 2>();
  case 71:
    return functionsOf<7, 1>();
  default:
    return {};
  }
}

/// [blocks of channels][kernel height][kernel width][kBlock], filled up with zeros.
std::vector<float> packFilters(const ConvProblem &problem, const Geometry &g) {
  const std::vector<int64_t> &strides = problem.weight.strides;
  const int64_t rowStride = strides.size() == 4 ? strides[2] : 0;
  const int64_t taps = g.kernel.height * g.kernel.width, blocks = (g.channels + kBlock - 1) / kBlock;
  std::vector<float> packed(static_cast<size_t>(blocks * taps * kBlock));
  const auto *from = static_cast<const float *>(problem.weightData);
  for (int64_t c = 0; c < g.channels; ++c)
    for (int64_t tap = 0; tap < taps; ++tap)
      packed[static_cast<size_t>((c / kBlock * taps + tap) * kBlock + c % kBlock)] =
          from[c * strides[0] + tap / g.kernel.width * rowStride + tap % g.kernel.width * strides.back()];
  return packed;
}

class DepthwiseConv final : public BoundKernel {
public:
  DepthwiseConv(const ConvProblem &problem, const Geometry &g, bool needsCopy)
      : g(g), filters(packFilters(problem, g)), functions(functionsFor(g.kernel.width, g.stride.width)),
        activation(problem.activation), hasBias(problem.bias.has_value()) {
    if (needsCopy)
      copy = makeCopy(channelsLast(DType::Float32, problem.x.sizes), problem.x);
  }

  size_t scratchBytes() const override {
    return copy ? static_cast<size_t>(g.images * g.in.height * g.in.width * g.channels) * sizeof(float) : 0;
  }

  int reorders() const override { return copy ? 1 : 0; }
  std::string_view method() const override { return "depthwise"; }

  Status run(const KernelArgs &args) const override {
    const void *x = args.operands[ConvX];
    if (copy) {
      copy->run(x, args.scratch);
      x = args.scratch;
    }
    const Call call{static_cast<const float *>(x),
                    hasBias ? static_cast<const float *>(args.operands[ConvBias]) : nullptr,
                    static_cast<float *>(args.results[0])};
    const int64_t rows = g.images * g.out.height, blocks = (g.channels + kBlock - 1) / kBlock;
    // A thread that is late leaves its last pieces to the others. Small images are divided by channels, whose filters are
    // more to read than the image.
    const int64_t wanted = numThreads() > 1 ? 4 * numThreads() : 1;
    const int64_t chunks = rows >= kMinRows * wanted ? wanted : 1;
    const int64_t groups = std::clamp<int64_t>((wanted + chunks - 1) / chunks, 1, blocks);
    parallelFor(0, chunks * groups, 1, [&](int64_t begin, int64_t end) {
      [[maybe_unused]] const gemm::NoSubnormals here;
      for (int64_t task = begin; task < end; ++task) {
        const int64_t chunk = task / groups, group = task % groups;
        computeRows(call, {rows * chunk / chunks, rows * (chunk + 1) / chunks},
                    {blocks * group / groups, blocks * (group + 1) / groups});
      }
    });
    return {};
  }

private:
  static constexpr int64_t kMinRows = 3;

  struct Call {
    const float *x, *bias;
    float *out;
  };

  void computeRows(const Call &call, Range rows, Range blocks) const {
    Piece piece;
    piece.limits = gemm::limitsOf(activation);
    piece.isSilu = activation == Activation::Silu;
    piece.pixelElements = g.channels;
    piece.rowElements = g.dilation.height * g.in.width * g.channels;
    piece.columns = g.in.width;
    for (int64_t block = blocks.begin; block < blocks.end; ++block) {
      const int64_t channel = block * kBlock;
      piece.channels = std::min(kBlock, g.channels - channel);
      piece.weights = filters.data() + block * g.kernel.height * g.kernel.width * kBlock;
      piece.bias = call.bias ? call.bias + channel : nullptr;
      for (int64_t row = rows.begin; row < rows.end; ++row)
        computeRow(call, piece, row, channel);
    }
    const bool isDone = piece.isSilu || gemm::isLimit(activation);
    if (!isDone)
      activateRows(call.out, rows, {blocks.begin * kBlock, std::min(g.channels, blocks.end * kBlock)});
  }

  /// `row` is counted over all images.
  void computeRow(const Call &call, Piece &piece, int64_t row, int64_t channel) const {
    const int64_t top = row % g.out.height * g.stride.height - g.low.height, step = g.dilation.height;
    // The taps with 0 <= top + tap * step < height.
    piece.firstTapRow = top < 0 ? std::min(g.kernel.height, (-top + step - 1) / step) : 0;
    const int64_t below = g.in.height > top ? (g.in.height - top + step - 1) / step : 0;
    piece.tapRows = std::max<int64_t>(0, std::min(g.kernel.height, below) - piece.firstTapRow);
    const float *line = call.x + ((row / g.out.height * g.in.height + top) * g.in.width) * g.channels + channel;
    float *out = call.out + row * g.out.width * g.channels + channel;
    for (int64_t pixel = 0; pixel < g.out.width; pixel += kPixels) {
      piece.firstColumn = pixel * g.stride.width - g.low.width;
      piece.x = line + piece.firstColumn * g.channels;
      piece.out = out + pixel * g.channels;
      piece.pixels = std::min(kPixels, g.out.width - pixel);
      const int64_t reach = (kPixels - 1) * g.stride.width + g.kernel.width;
      const bool isInside = piece.firstColumn >= 0 && piece.firstColumn + reach <= g.in.width;
      (isInside ? functions.inside : functions.atEdge)(piece);
    }
  }

  /// Of `channels`.
  void activateRows(float *out, Range rows, Range channels) const {
    for (int64_t pixel = rows.begin * g.out.width; pixel < rows.end * g.out.width; ++pixel)
      gemm::activateAll(activation, out + pixel * g.channels + channels.begin, channels.end - channels.begin);
  }

  Geometry g;
  std::vector<float> filters;
  PieceFunctions functions;
  std::optional<StridedCopy> copy;
  Activation activation;
  bool hasBias;
};

} // namespace

std::unique_ptr<BoundKernel> makeDepthwiseConv(const ConvProblem &problem) {
  const bool hasOneFilterEach = problem.groups == problem.inChannels() && problem.groups == problem.outChannels();
  if (!avx512::isThere() || !problem.weightData || problem.transposed || !hasOneFilterEach ||
      problem.spatialRank() > 2 || problem.residual || (problem.bias && !problem.bias->isContiguous()))
    return nullptr;
  const Geometry g(problem);
  if (g.channels < avx512::kLanes || g.dilation.width != 1 || !functionsFor(g.kernel.width, g.stride.width).inside)
    return nullptr;
  return std::make_unique<DepthwiseConv>(problem, g,
                                         !hasStridesOf(problem.x, channelsLast(DType::Float32, problem.x.sizes)));
}

#else

std::unique_ptr<BoundKernel> makeDepthwiseConv(const ConvProblem &) { return nullptr; }

#endif

} // namespace ingot
