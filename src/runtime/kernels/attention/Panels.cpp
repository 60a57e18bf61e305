// Attention of float32 by tiles in registers: keys and values of a head become panels, and a few queries at a time go
// through scores, weights and results while these are in the first-level cache.
#include "runtime/kernels/gemm/Panels.h"
#include "runtime/kernels/attention/Scores.h"
#include "runtime/kernels/gemm/NoSubnormals.h"
#include "runtime/kernels/norm/Rows.h"
#include "runtime/threads/Pool.h"

#include <algorithm>
#include <array>

namespace ingot {
namespace {

using gemm::kPanel;
using gemm::kTileRows;

constexpr float kZeros[kPanel] = {};
/// Packing keys and values must be worth it.
constexpr int64_t kMinQueries = 16, kQueriesPerTask = 8 * kTileRows;

int64_t panelsOf(int64_t columns) { return (columns + kPanel - 1) / kPanel; }

class PanelAttention final : public BoundKernel {
public:
  explicit PanelAttention(const AttentionProblem &p) : problem(p) {
    const int64_t heads = problem.batch * problem.heads;
    const int64_t most = std::max<int64_t>(1, problem.queries / kQueriesPerTask);
    tasksPerHead = std::clamp<int64_t>(8 * numThreads() / std::max<int64_t>(1, heads), 1, most);
    tasks = heads * tasksPerHead;
    workers = std::clamp<int64_t>(numThreads(), 1, tasks);
    scoreStride = panelsOf(problem.keys) * kPanel;
    // Rows of a tile in the same few places of the first-level cache would drive each other out.
    if (gemm::areAliased(scoreStride))
      scoreStride += gemm::kApart;
    copiesQueries = gemm::areAliased(problem.qStrides.row);
    keyElements = gemm::panelElements(problem.depth, problem.keys);
    valueElements = gemm::panelElements(problem.keys, problem.valueDepth);
    slotElements = keyElements + valueElements + kTileRows * (scoreStride + kPanel);
    if (copiesQueries)
      slotElements += kTileRows * (problem.depth + gemm::kApart);
  }

  size_t scratchBytes() const override { return static_cast<size_t>(workers * slotElements) * sizeof(float); }

  Status run(const KernelArgs &args) const override {
    Tasks queue(tasks, workers);
    parallelFor(0, workers, 1, [&](int64_t begin, int64_t end) {
      [[maybe_unused]] const gemm::NoSubnormals here;
      for (int64_t w = begin; w < end; ++w) {
        Worker worker{args, static_cast<float *>(args.scratch) + w * slotElements};
        queue.forEach(w, [&](int64_t task) { runTask(worker, task); });
      }
    });
    return {};
  }

private:
  /// What one thread has: its memory, and whose keys and values are packed there.
  struct Worker {
    const KernelArgs &args;
    float *memory;
    int64_t packedBatch = -1, packedHead = -1;
  };

  float *keyPanels(const Worker &worker) const { return worker.memory; }
  float *valuePanels(const Worker &worker) const { return worker.memory + keyElements; }
  float *scoresOf(const Worker &worker) const { return worker.memory + keyElements + valueElements; }
  float *resultTile(const Worker &worker) const { return scoresOf(worker) + kTileRows * scoreStride; }
  float *queryTile(const Worker &worker) const { return resultTile(worker) + kTileRows * kPanel; }

  const float *operand(const Worker &worker, AttentionOperand which, const AttentionStrides &strides, int64_t batch,
                       int64_t head) const {
    return static_cast<const float *>(worker.args.operands[which]) + strides.offset(problem.batchSizes, batch, head);
  }

  void runTask(Worker &worker, int64_t task) const {
    const int64_t part = task % tasksPerHead, batch = task / tasksPerHead / problem.heads;
    const int64_t head = task / tasksPerHead % problem.heads, kvHead = problem.kvHeadOf(head);
    if (worker.packedBatch != batch || worker.packedHead != kvHead) {
      pack(worker, batch, kvHead);
      worker.packedBatch = batch;
      worker.packedHead = kvHead;
    }
    const int64_t first = problem.queries * part / tasksPerHead, last = problem.queries * (part + 1) / tasksPerHead;
    const int64_t tiles = (last - first + kTileRows - 1) / kTileRows;
    for (int64_t i = 0; i < tiles; ++i) {
      const int64_t begin = first + (last - first) * i / tiles;
      runTile(worker, {batch, head, begin}, first + (last - first) * (i + 1) / tiles - begin);
    }
  }

  /// Keys become columns, and are multiplied by the scale on the way; values are rows already.
  void pack(Worker &worker, int64_t batch, int64_t kvHead) const {
    const AttentionStrides &ks = problem.kStrides, &vs = problem.vStrides;
    gemm::packPanels(keyPanels(worker), operand(worker, AttentionK, ks, batch, kvHead), problem.depth, ks.column,
                     problem.keys, ks.row, static_cast<float>(problem.scale));
    gemm::packPanels(valuePanels(worker), operand(worker, AttentionV, vs, batch, kvHead), problem.keys, vs.row,
                     problem.valueDepth, vs.column);
  }

  void runTile(const Worker &worker, AttentionRow row, int64_t count) const {
    constexpr int64_t noTap = 0;
    const int64_t keys = problem.visibleKeys(row.query + count);
    float *scores = scoresOf(worker);
    gemm::Tile tile;
    tile.taps = {&noTap, 1};
    tile.start = kZeros;
    tile.a = operand(worker, AttentionQ, problem.qStrides, row.batch, row.head) + row.query * problem.qStrides.row;
    tile.aStride = problem.qStrides.row;
    if (copiesQueries) {
      const int64_t apart = problem.depth + gemm::kApart;
      for (int64_t i = 0; i < count; ++i)
        std::copy_n(tile.a + i * tile.aStride, problem.depth, queryTile(worker) + i * apart);
      tile.a = queryTile(worker);
      tile.aStride = apart;
    }
    tile.depth = problem.depth;
    tile.outStride = scoreStride;
    for (int64_t p = 0; p < panelsOf(keys); ++p) {
      tile.panel = keyPanels(worker) + p * kPanel * problem.depth;
      tile.out = scores + p * kPanel;
      gemm::computeTile(tile, count);
    }
    std::array<float, kTileRows> factors;
    for (int64_t i = 0; i < count; ++i)
      factors[static_cast<size_t>(i)] =
          weightsOf(problem, worker.args, {row.batch, row.head, row.query + i}, scores + i * scoreStride, keys);
    tile.a = scores;
    tile.aStride = scoreStride;
    tile.depth = keys;
    tile.out = resultTile(worker);
    tile.outStride = kPanel;
    float *result = static_cast<float *>(worker.args.results[0]) +
                    problem.resultStrides.offset(problem.batchSizes, row.batch, row.head) +
                    row.query * problem.resultStrides.row;
    for (int64_t p = 0; p < panelsOf(problem.valueDepth); ++p) {
      tile.panel = valuePanels(worker) + p * kPanel * problem.keys;
      gemm::computeTile(tile, count);
      const int64_t columns = std::min(kPanel, problem.valueDepth - p * kPanel);
      for (int64_t i = 0; i < count; ++i)
        rows::scale(result + i * problem.resultStrides.row + p * kPanel, tile.out + i * kPanel,
                    factors[static_cast<size_t>(i)], columns);
    }
  }

  AttentionProblem problem;
  int64_t tasksPerHead = 1, tasks = 1, workers = 1, scoreStride = 0, keyElements = 0, valueElements = 0,
          slotElements = 0;
  bool copiesQueries = false;
};

} // namespace

std::unique_ptr<BoundKernel> makePanelAttention(const AttentionProblem &problem) {
  if (!gemm::canComputeTiles() || problem.queries < kMinQueries)
    return nullptr;
  return std::make_unique<PanelAttention>(problem);
}

} // namespace ingot
