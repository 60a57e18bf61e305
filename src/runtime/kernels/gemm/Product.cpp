#include "runtime/kernels/gemm/Product.h"

#include "runtime/kernels/elementwise/Simd.h"
#include "runtime/kernels/gemm/Activate.h"
#include "runtime/kernels/gemm/NoSubnormals.h"
#include "runtime/kernels/gemm/Pairs.h"
#include "runtime/kernels/gemm/Quads.h"
#include "runtime/threads/Pool.h"

#include <algorithm>
#include <array>

namespace ingot::gemm {
namespace {

constexpr int64_t kCacheBytes = 1 << 20;
constexpr float kZeros[kPanel] = {};
/// Multiplications that one thread does sooner than it wakes another.
constexpr int64_t kSmall = 1 << 17;
/// Some ten microseconds of them; and tasks for each thread where that is more.
constexpr int64_t kTask = 1 << 20, kLeastTasks = 4;

/// Tasks that a product of so many multiplications is divided into: the more, the shorter threads wait for the last one.
int64_t tasksFor(int64_t multiplications) {
  if (numThreads() == 1)
    return 1;
  return std::clamp(multiplications / kTask, kLeastTasks * numThreads(), kPiecesPerThread * numThreads());
}

using TileFunction = void (*)(const Tile &tile, int64_t rows);

TileFunction tileFunction(Packing packing) {
  switch (packing) {
  case Packing::Pairs:
    return computePairedTile;
  case Packing::Quads:
    return computeQuadTile;
  case Packing::Single:
    break;
  }
  return computeTile;
}

/// Where a tile of sums goes.
struct TileEnd {
  float *out;
  const float *added; ///< null: nothing
  int64_t stride, rows, columns;
};

/// A whole panel is two registers, known to the compiler.
INGOT_SIMD void addToSums(float *__restrict sums, const TileEnd &end) {
  for (int64_t i = 0; i < end.rows; ++i)
    if (end.columns == kPanel)
      for (int64_t j = 0; j < kPanel; ++j)
        sums[i * kPanel + j] += end.added[i * end.stride + j];
    else
      for (int64_t j = 0; j < end.columns; ++j)
        sums[i * kPanel + j] += end.added[i * end.stride + j];
}

INGOT_SIMD void storeSums(const float *__restrict sums, const TileEnd &end) {
  for (int64_t i = 0; i < end.rows; ++i)
    if (end.columns == kPanel)
      std::copy_n(sums + i * kPanel, kPanel, end.out + i * end.stride);
    else
      std::copy_n(sums + i * kPanel, end.columns, end.out + i * end.stride);
}

void finishTile(const Finish &finish, float *sums, const TileEnd &end) {
  if (end.added && finish.addsBeforeActivation)
    addToSums(sums, end);
  if (finish.activation != Activation::None)
    activateAll(finish.activation, sums, end.rows * kPanel);
  if (end.added && !finish.addsBeforeActivation)
    addToSums(sums, end);
  storeSums(sums, end);
}

/// Lines of `bytes` for each group of steps of `blocks` tiles.
int64_t linesPerStep(int64_t bytes, int64_t steps) { return (bytes / 64 + steps - 1) / std::max<int64_t>(1, steps); }

/// The panel after this one is fetched while this one is used, a share by every tile.
struct Ahead {
  const char *next = nullptr;
  int64_t left = 0, lines = 0, perTile = 0;

  Ahead(const Product &product, int64_t panel, size_t tiles) {
    if (panel + 1 >= product.panels.count())
      return;
    const int64_t steps = static_cast<int64_t>(product.taps.size()) * (product.depth / kAheadSteps);
    next = reinterpret_cast<const char *>(product.panels.panel(panel + 1));
    left = product.panels.depth * kPanel * static_cast<int64_t>(sizeof(float));
    lines = linesPerStep(left, steps * static_cast<int64_t>(tiles));
    perTile = lines * 64 * steps;
  }
  void giveTo(Tile &tile) {
    tile.ahead = next;
    tile.aheadLines = left > 0 ? lines : 0;
    next += perTile;
    left -= perTile;
  }
};

} // namespace

void multiply(const Product &product, std::span<const RowBlock> blocks, int64_t begin, int64_t end) {
  [[maybe_unused]] const NoSubnormals here;
  const Finish &finish = product.finish;
  const bool isSilu = finish.activation == Activation::Silu;
  // Otherwise the sums go through a buffer.
  const bool isDirect = (isLimit(finish.activation) || isSilu) &&
                        (!finish.added || finish.addsBeforeActivation || finish.activation == Activation::None);
  const TileFunction compute = tileFunction(product.panels.packing);
  alignas(64) float sums[kTileRows * kPanel], start[kPanel];
  Tile tile;
  tile.taps = product.taps;
  tile.depth = product.depth;
  tile.isSilu = isDirect && isSilu;
  const Limits limits = limitsOf(isDirect ? finish.activation : Activation::None);
  tile.floor = limits.floor;
  tile.ceiling = limits.ceiling;
  for (int64_t p = begin; p < end; ++p) {
    const int64_t column = p * kPanel, columns = std::min(kPanel, product.panels.columns - column);
    std::copy_n(finish.bias ? finish.bias + column : kZeros, columns, start);
    std::fill(start + columns, start + kPanel, 0.0f);
    tile.start = start;
    tile.panel = product.panels.panel(p);
    tile.columns = isDirect ? columns : kPanel;
    Ahead ahead(product, p, blocks.size());
    for (const RowBlock &block : blocks) {
      const int64_t offset = block.outRow * product.outStride + column - product.firstColumn;
      const float *added = finish.added ? finish.added + offset : nullptr;
      tile.a = block.a;
      tile.aStride = block.stride;
      tile.aJump = block.jump;
      tile.out = isDirect ? product.out + offset : sums;
      tile.outStride = isDirect ? product.outStride : kPanel;
      tile.added = isDirect ? added : nullptr;
      if (product.rowScales)
        tile.quads = {product.rowScales + block.outRow, product.panels.scales + column, product.rowZeros + block.outRow,
                      product.panels.sums + column};
      ahead.giveTo(tile);
      compute(tile, block.rows);
      if (!isDirect)
        finishTile(finish, sums, {product.out + offset, added, product.outStride, block.rows, columns});
    }
  }
}

Division divide(int64_t rows, int64_t rowBytes, int64_t panels, int64_t panelBytes) {
  const int64_t most =
      std::clamp<int64_t>(kCacheBytes / std::max<int64_t>(1, rowBytes), kTileRows, kBlocks * kTileRows);
  Division division;
  division.chunks = (rows + most - 1) / most;
  const int64_t wanted = tasksFor(rows * (rowBytes / static_cast<int64_t>(sizeof(float))) * panels * kPanel);
  const bool hasManyRows = rows * rowBytes > panels * panelBytes;
  if (hasManyRows)
    division.chunks =
        std::clamp(wanted, division.chunks, std::max(division.chunks, (rows + kTileRows - 1) / kTileRows));
  division.groups = std::clamp<int64_t>((wanted + division.chunks - 1) / division.chunks, 1, panels);
  return division;
}

void multiplyRows(const Product &product, const Rows &rows, int64_t firstPanel, int64_t lastPanel) {
  const int64_t total = rows.end - rows.begin;
  const int64_t tiles = (total + kTileRows - 1) / kTileRows;
  std::array<RowBlock, kBlocks> blocks;
  for (int64_t tile = 0; tile < tiles; tile += kBlocks) {
    const int64_t count = std::min(kBlocks, tiles - tile);
    for (int64_t i = 0; i < count; ++i) {
      const int64_t row = rows.begin + total * (tile + i) / tiles, next = rows.begin + total * (tile + i + 1) / tiles;
      blocks[static_cast<size_t>(i)] = {rows.a + row * rows.stride, rows.stride, next - row, row};
    }
    multiply(product, std::span(blocks).first(static_cast<size_t>(count)), firstPanel, lastPanel);
  }
}

void multiplyMatrix(const Product &product, const Rows &rows) {
  const int64_t panels = product.panels.count(), total = rows.end - rows.begin;
  const int64_t bytes = static_cast<int64_t>(sizeof(float));
  const Division division = divide(total, product.depth * bytes, panels, product.panels.depth * kPanel * bytes);
  const int64_t tasks = division.chunks * division.groups;
  const bool isSmall = total * product.depth * product.panels.columns < kSmall;
  parallelFor(0, tasks, isSmall ? tasks : 1, [&](int64_t begin, int64_t end) {
    for (int64_t task = begin; task < end; ++task) {
      const int64_t chunk = task / division.groups, group = task % division.groups;
      const Rows share{rows.a, rows.stride, rows.begin + total * chunk / division.chunks,
                       rows.begin + total * (chunk + 1) / division.chunks};
      multiplyRows(product, share, panels * group / division.groups, panels * (group + 1) / division.groups);
    }
  });
}

} // namespace ingot::gemm
