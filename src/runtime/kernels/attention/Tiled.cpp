// Attention of float32: a tile of queries at a time, so that their scores stay in the cache.
#include "runtime/dnnl/DnnlApi.h"
#include "runtime/kernels/attention/Scores.h"
#include "runtime/kernels/norm/Rows.h"
#include "runtime/threads/Pool.h"

#include <algorithm>
#include <atomic>

namespace ingot {
namespace {

/// Scores of a tile: what fits into a second-level cache beside keys and values.
constexpr int64_t kTileElements = 64 * 1024;

/// A tile's place in the problem.
struct Tile {
  int64_t batch, head, first, count;
};

class TiledAttention final : public BoundKernel {
public:
  TiledAttention(const AttentionProblem &p, const DnnlApi *dnnl) : problem(p), dnnl(dnnl) {
    // Rows of the tile are rounded to whole ones of the matrix product's blocks.
    tileRows = std::clamp<int64_t>(kTileElements / std::max<int64_t>(1, problem.keys) / 8 * 8, 16, 128);
    tileRows = std::min(tileRows, problem.queries);
    tilesPerHead = (problem.queries + tileRows - 1) / tileRows;
    tiles = problem.batch * problem.heads * tilesPerHead;
    workers = std::clamp<int64_t>(numThreads(), 1, tiles);
    slotElements = (tileRows * problem.keys + tileRows + 15) / 16 * 16;
  }

  size_t scratchBytes() const override { return static_cast<size_t>(workers * slotElements) * sizeof(float); }

  Status run(const KernelArgs &args) const override {
    std::atomic<bool> hasFailed = false;
    Tasks queue(tiles, workers);
    parallelFor(0, workers, 1, [&](int64_t begin, int64_t end) {
      for (int64_t w = begin; w < end; ++w)
        queue.forEach(w, [&](int64_t i) {
          if (!runTile(args, tileAt(i), static_cast<float *>(args.scratch) + w * slotElements))
            hasFailed = true;
        });
    });
    if (hasFailed)
      return internalError("attention: oneDNN refused a matrix product");
    return {};
  }

private:
  Tile tileAt(int64_t i) const {
    const int64_t first = i % tilesPerHead * tileRows, head = i / tilesPerHead;
    return {head / problem.heads, head % problem.heads, first, std::min(tileRows, problem.queries - first)};
  }

  const float *operand(const KernelArgs &args, AttentionOperand which, const AttentionStrides &strides,
                       const Tile &tile, int64_t head) const {
    return static_cast<const float *>(args.operands[which]) + strides.offset(problem.batchSizes, tile.batch, head);
  }

  bool runTile(const KernelArgs &args, const Tile &tile, float *scores) const {
    const AttentionStrides &qs = problem.qStrides, &ks = problem.kStrides, &vs = problem.vStrides,
                           &out = problem.resultStrides;
    const int64_t keys = problem.visibleKeys(tile.first + tile.count), kvHead = problem.kvHeadOf(tile.head);
    const float *q = operand(args, AttentionQ, qs, tile, tile.head) + tile.first * qs.row;
    const float *k = operand(args, AttentionK, ks, tile, kvHead);
    const float *v = operand(args, AttentionV, vs, tile, kvHead);
    float *result = static_cast<float *>(args.results[0]) + out.offset(problem.batchSizes, tile.batch, tile.head) +
                    tile.first * out.row;
    float *factors = scores + tileRows * problem.keys;
    // Leading dimensions of single rows may be anything, but not less than a row.
    if (!dnnl->multiply({true, tile.count, keys, problem.depth, static_cast<float>(problem.scale), q,
                         std::max(qs.row, problem.depth), k, std::max(ks.row, problem.depth), scores, keys}))
      return false;
    for (int64_t i = 0; i < tile.count; ++i)
      factors[i] = weightsOf(problem, args, {tile.batch, tile.head, tile.first + i}, scores + i * keys, keys);
    const int64_t resultRow = std::max(out.row, problem.valueDepth);
    if (!dnnl->multiply({false, tile.count, problem.valueDepth, keys, 1.0f, scores, keys, v,
                         std::max(vs.row, problem.valueDepth), result, resultRow}))
      return false;
    for (int64_t i = 0; i < tile.count; ++i)
      rows::scale(result + i * resultRow, result + i * resultRow, factors[i], problem.valueDepth);
    return true;
  }

  AttentionProblem problem;
  const DnnlApi *dnnl;
  int64_t tileRows = 1, tilesPerHead = 1, tiles = 1, workers = 1, slotElements = 0;
};

} // namespace

Result<std::unique_ptr<BoundKernel>> makeTiledAttention(const AttentionProblem &problem) {
  INGOT_TRY(const DnnlApi *dnnl, dnnlApi());
  return makeKernel<TiledAttention>(problem, dnnl);
}

} // namespace ingot
