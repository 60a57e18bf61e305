// Convolutions with 3x3 filters of float32 with less than half the multiplications (Winograd's F(2x2, 3x3)): patches of
// 4x4 pixels and the filters are transformed, multiplied element by element, which is sixteen matrix products over
// channels, and the sums transformed back to 2x2 pixels. The factors are 1 and 1/2, so that rounding errors stay small.
#include "runtime/kernels/conv/Geometry.h"
#include "runtime/kernels/elementwise/Avx512.h"
#include "runtime/kernels/gemm/Activate.h"
#include "runtime/kernels/gemm/NoSubnormals.h"
#include "runtime/kernels/gemm/Panels.h"
#include "runtime/threads/Pool.h"

#include <algorithm>
#include <array>
#include <cstring>

namespace ingot {

#if defined(__x86_64__)

namespace {

using gemm::kPanel;
using gemm::kTileRows;

constexpr int64_t kPoints = 16; ///< elements of a patch
/// Patches that are transformed together: what is made of them stays in the second-level cache.
constexpr int64_t kPatches = 4 * kTileRows;
/// Transforming must be a small part of the work, and filters grow by 16 / 9, which memory has to deliver.
constexpr int64_t kMinChannels = 48, kMinPatches = 32, kMaxFilterBytes = 6 << 20;
constexpr float kZeros[kPanel] = {};

/// Channels that are transformed at once. Functions over them become part of callers that say which instructions they may use.
using Sixteen = float __attribute__((vector_size(64)));
using Eight = float __attribute__((vector_size(32)));
#define INGOT_PART __attribute__((always_inline)) inline

template <typename V> INGOT_PART void load(V &to, const float *from) { std::memcpy(&to, from, sizeof(V)); }
template <typename V> INGOT_PART void store(float *to, const V &from) { std::memcpy(to, &from, sizeof(V)); }

/// Sums and differences of four rows, for the input.
template <typename V> INGOT_PART void spread(const V (&d)[4], V (&t)[4]) {
  t[0] = d[0] - d[2];
  t[1] = d[1] + d[2];
  t[2] = d[2] - d[1];
  t[3] = d[1] - d[3];
}

using Pixels = std::array<const float *, kPoints>;

/// Some channels of a patch, whose pixels are at `pixels`; element i goes to to[i * stride].
template <typename V> INGOT_PART void transformAt(const Pixels &pixels, int64_t c, float *to, int64_t stride) {
  V rows[4][4];
#pragma unroll
  for (size_t x = 0; x < 4; ++x) {
    V column[4], spreadColumn[4];
#pragma unroll
    for (size_t y = 0; y < 4; ++y)
      load(column[y], pixels[y * 4 + x] + c);
    spread(column, spreadColumn);
#pragma unroll
    for (size_t y = 0; y < 4; ++y)
      rows[y][x] = spreadColumn[y];
  }
#pragma unroll
  for (int64_t y = 0; y < 4; ++y) {
    V row[4];
    spread(rows[y], row);
#pragma unroll
    for (int64_t x = 0; x < 4; ++x)
      store(to + (y * 4 + x) * stride + c, row[x]);
  }
}

/// Where 2x2 pixels of the result go, and what is done to them.
struct Target {
  std::array<int64_t, 4> offsets; ///< of the pixels; below zero: outside of the image
  float *out;
  const float *bias, *added; ///< null: nothing
  gemm::Limits limits;
};

template <typename V> INGOT_PART void gather(const V &a, const V &b, const V &c, const V &d, V &first, V &second) {
  first = a + b + c;
  second = b - c - d;
}

/// Some channels of one patch of sums; element i is at sums[i * stride].
template <typename V>
INGOT_PART void finishAt(const float *sums, int64_t stride, const Target &target, int64_t channel) {
  V upper[4], lower[4], results[4], bias = {};
#pragma unroll
  for (int64_t x = 0; x < 4; ++x) {
    V column[4];
#pragma unroll
    for (int64_t y = 0; y < 4; ++y)
      load(column[y], sums + (4 * y + x) * stride);
    gather(column[0], column[1], column[2], column[3], upper[x], lower[x]);
  }
  gather(upper[0], upper[1], upper[2], upper[3], results[0], results[1]);
  gather(lower[0], lower[1], lower[2], lower[3], results[2], results[3]);
  if (target.bias)
    load(bias, target.bias + channel);
  const V floor = target.limits.floor - V{}, ceiling = target.limits.ceiling - V{};
#pragma unroll
  for (size_t i = 0; i < 4; ++i) {
    if (target.offsets[i] < 0)
      continue;
    const int64_t offset = target.offsets[i] + channel;
    V value = results[i] + bias, added = {};
    if (target.added)
      load(added, target.added + offset);
    value = target.added ? value + added : value;
    // A NaN is neither below the floor nor above the ceiling.
    value = value < floor ? floor : value;
    store(target.out + offset, value > ceiling ? ceiling : value);
  }
}

/// The functions for registers of one kind: all channels, so many at once, and the rest one by one.
#define INGOT_WINOGRAD(NAME, V, MARK)                                                                                  \
  MARK void transformPatch##NAME(const Pixels &pixels, int64_t channels, float *to, int64_t stride) {                  \
    constexpr int64_t lanes = sizeof(V) / sizeof(float);                                                               \
    int64_t c = 0;                                                                                                     \
    for (; c + lanes <= channels; c += lanes)                                                                          \
      transformAt<V>(pixels, c, to, stride);                                                                           \
    for (; c < channels; ++c)                                                                                          \
      transformAt<float>(pixels, c, to, stride);                                                                       \
  }                                                                                                                    \
  MARK void finishPatch##NAME(const float *sums, int64_t stride, const Target &target, int64_t channel,                \
                              int64_t columns) {                                                                       \
    constexpr int64_t lanes = sizeof(V) / sizeof(float);                                                               \
    int64_t c = 0;                                                                                                     \
    for (; c + lanes <= columns; c += lanes)                                                                           \
      finishAt<V>(sums + c, stride, target, channel + c);                                                              \
    for (; c < columns; ++c)                                                                                           \
      finishAt<float>(sums + c, stride, target, channel + c);                                                          \
  }
INGOT_WINOGRAD(512, Sixteen, INGOT_AVX512)
INGOT_WINOGRAD(256, Eight, INGOT_AVX2)
#undef INGOT_WINOGRAD

gemm::PanelSource filterSource(const ConvProblem &problem, const Geometry &g) {
  const std::vector<int64_t> &strides = problem.weight.strides;
  return {static_cast<const float *>(problem.weightData),
          {3, 3, g.channels / problem.groups},
          {strides[2], strides[3], strides[1]},
          g.outChannels,
          strides[0],
          true};
}

class WinogradConv final : public BoundKernel {
public:
  WinogradConv(const ConvProblem &problem, const Geometry &g)
      : g(g), groupChannels(g.channels / problem.groups), groupColumns(g.outChannels / problem.groups),
        panels(gemm::sharedPanels(filterSource(problem, g))), limits(gemm::limitsOf(problem.activation)),
        hasBias(problem.bias.has_value()), hasResidual(problem.residual.has_value()),
        patchesAcross((g.out.width + 1) / 2), patchesDown((g.out.height + 1) / 2),
        zeros(static_cast<size_t>(g.channels)) {
    const int64_t patches = g.images * patchesDown * patchesAcross, count = panels->view().count();
    chunks = (patches + kPatches - 1) / kPatches;
    // Every group transforms its patches by itself, so that there are no more than are needed.
    groups = std::clamp<int64_t>((2 * numThreads() + chunks - 1) / chunks, 1, numThreads() > 1 ? count : 1);
    workers = std::clamp<int64_t>(numThreads(), 1, chunks * groups);
  }

  std::string_view method() const override { return "winograd"; }

  bool hasFiniteFilters() const { return panels->isFinite(); }

  size_t scratchBytes() const override { return static_cast<size_t>(workers * slotElements()) * sizeof(float); }

  Status run(const KernelArgs &args) const override {
    const gemm::PanelUse use(*panels, g.images * patchesDown * patchesAcross);
    Tasks queue(chunks * groups, workers);
    parallelFor(0, workers, 1, [&](int64_t begin, int64_t end) {
      [[maybe_unused]] const gemm::NoSubnormals here;
      for (int64_t worker = begin; worker < end; ++worker)
        queue.forEach(worker, [&](int64_t task) {
          runTask(args, static_cast<float *>(args.scratch) + worker * slotElements(), task);
        });
    });
    return {};
  }

private:
  /// Transformed patches, and sums of one panel.
  int64_t slotElements() const { return kPoints * kPatches * (g.channels + kPanel); }

  void runTask(const KernelArgs &args, float *patches, int64_t task) const {
    const int64_t chunk = task / groups, group = task % groups, count = panels->view().count();
    const int64_t total = g.images * patchesDown * patchesAcross;
    const Range part{total * chunk / chunks, total * (chunk + 1) / chunks};
    const auto *x = static_cast<const float *>(args.operands[ConvX]);
    for (int64_t i = part.begin; i < part.end; ++i)
      transformPatch(pixelsOf(x, i), g.channels, patches + (i - part.begin) * g.channels, part.size() * g.channels);
    float *sums = patches + kPoints * kPatches * g.channels;
    for (int64_t p = count * group / groups; p < count * (group + 1) / groups; ++p) {
      multiply(patches, part.size(), p, sums);
      finish(args, sums, part, p);
    }
  }

  /// The pixels of patch `index`, those outside of the image from a line of zeros.
  Pixels pixelsOf(const float *x, int64_t index) const {
    Pixels pixels;
    const int64_t image = index / (patchesDown * patchesAcross);
    const int64_t top = index / patchesAcross % patchesDown * 2 - g.low.height;
    const int64_t left = index % patchesAcross * 2 - g.low.width;
    for (int64_t i = 0; i < kPoints; ++i) {
      const int64_t row = top + i / 4, column = left + i % 4;
      const bool isInside = row >= 0 && row < g.in.height && column >= 0 && column < g.in.width;
      pixels[static_cast<size_t>(i)] =
          isInside ? x + ((image * g.in.height + row) * g.in.width + column) * g.channels : zeros.data();
    }
    return pixels;
  }

  /// Sixteen products: [count, channels of the panel's group] times [channels, a panel].
  void multiply(const float *patches, int64_t count, int64_t panel, float *sums) const {
    static constexpr int64_t noTap = 0;
    const int64_t group = panel * kPanel / groupColumns;
    const int64_t blocks = (count + kTileRows - 1) / kTileRows;
    gemm::Tile tile;
    tile.taps = {&noTap, 1};
    tile.start = kZeros;
    tile.aStride = g.channels;
    tile.depth = groupChannels;
    tile.outStride = kPanel;
    // The next matrix is fetched while this one is used, a share by every tile.
    const int64_t perStep = 2 * gemm::kAheadSteps;
    tile.aheadLines = (perStep + blocks - 1) / blocks;
    for (int64_t point = 0; point < kPoints; ++point) {
      tile.panel = panels->view().panel(panel) + point * groupChannels * kPanel;
      tile.ahead = reinterpret_cast<const char *>(tile.panel + groupChannels * kPanel);
      for (int64_t block = 0; block < blocks; ++block) {
        const int64_t first = count * block / blocks, last = count * (block + 1) / blocks;
        tile.a = patches + (point * count + first) * g.channels + group * groupChannels;
        tile.out = sums + (point * count + first) * kPanel;
        gemm::computeTile(tile, last - first);
        tile.ahead += tile.aheadLines * 64 * (groupChannels / gemm::kAheadSteps);
      }
    }
  }

  void finish(const KernelArgs &args, const float *sums, Range part, int64_t panel) const {
    Target target;
    target.out = static_cast<float *>(args.results[0]);
    target.bias = hasBias ? static_cast<const float *>(args.operands[ConvBias]) : nullptr;
    target.added = hasResidual ? static_cast<const float *>(args.operands[ConvResidual]) : nullptr;
    target.limits = limits;
    const int64_t channel = panel * kPanel, columns = std::min(kPanel, g.outChannels - channel);
    for (int64_t i = part.begin; i < part.end; ++i) {
      const int64_t image = i / (patchesDown * patchesAcross);
      const int64_t top = i / patchesAcross % patchesDown * 2, left = i % patchesAcross * 2;
      for (int64_t pixel = 0; pixel < 4; ++pixel) {
        const int64_t row = top + pixel / 2, column = left + pixel % 2;
        target.offsets[static_cast<size_t>(pixel)] =
            row < g.out.height && column < g.out.width
                ? ((image * g.out.height + row) * g.out.width + column) * g.outChannels
                : -1;
      }
      finishPatch(sums + (i - part.begin) * kPanel, part.size() * kPanel, target, channel, columns);
    }
  }

  decltype(&transformPatch256) transformPatch = avx512::isThere() ? transformPatch512 : transformPatch256;
  decltype(&finishPatch256) finishPatch = avx512::isThere() ? finishPatch512 : finishPatch256;
  Geometry g;
  int64_t groupChannels, groupColumns;
  std::shared_ptr<const gemm::Panels> panels;
  gemm::Limits limits;
  bool hasBias, hasResidual;
  int64_t patchesAcross, patchesDown, chunks = 1, groups = 1, workers = 1;
  std::vector<float> zeros;
};

} // namespace

std::unique_ptr<BoundKernel> makeWinogradConv(const ConvProblem &problem) {
  if (!gemm::canComputeTiles() || !problem.weightData || problem.transposed || problem.spatialRank() != 2 ||
      !gemm::isLimit(problem.activation))
    return nullptr;
  const Geometry g(problem);
  auto isAll = [](const Plane &plane, int64_t size) { return plane.height == size && plane.width == size; };
  const bool isPlain = isAll(g.kernel, 3) && isAll(g.stride, 1) && isAll(g.dilation, 1);
  const int64_t patches = g.images * ((g.out.height + 1) / 2) * ((g.out.width + 1) / 2);
  const int64_t channels = g.channels / problem.groups;
  const int64_t filterBytes = gemm::panelElements(kPoints * channels, g.outChannels) * int64_t(sizeof(float));
  const bool isWorthIt = problem.method == Method::Winograd ||
                         (channels >= kMinChannels && patches >= kMinPatches && filterBytes <= kMaxFilterBytes);
  // No panel may have columns of two groups.
  const bool hasWholePanels = g.outChannels / problem.groups % kPanel == 0;
  const bool lieWell = hasStridesOf(problem.x, channelsLast(DType::Float32, problem.x.sizes)) &&
                       (!problem.bias || problem.bias->isContiguous()) &&
                       (!problem.residual || hasStridesOf(*problem.residual, problem.result));
  if (!isPlain || !isWorthIt || !hasWholePanels || !lieWell)
    return nullptr;
  auto kernel = std::make_unique<WinogradConv>(problem, g);
  if (!kernel->hasFiniteFilters())
    return nullptr;
  const std::vector<FiniteOperand> finite{{ConvX, problem.x}};
  return std::make_unique<FiniteOnly<WinogradConv>>(std::move(kernel), finite, convOfAnything(problem));
}

#else

std::unique_ptr<BoundKernel> makeWinogradConv(const ConvProblem &) { return nullptr; }

#endif

} // namespace ingot
