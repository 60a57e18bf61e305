// gated_delta: a state for each head that every step decays, corrects at its key, and reads at its query.
#include "runtime/kernels/elementwise/Checks.h"
#include "runtime/kernels/elementwise/Simd.h"
#include "runtime/threads/Pool.h"

#include <algorithm>
#include <cstring>

namespace ingot {
namespace {

enum DeltaOperand : size_t { DeltaQuery, DeltaKey, DeltaValue, DeltaDecay, DeltaBeta, DeltaState };

/// Columns of the state do not touch each other: so many are walked through all steps at a time, in registers and the
/// first-level cache.
constexpr int64_t kBlock = 64;

struct DeltaProblem {
  int64_t heads = 0, steps = 0, keyDepth = 0, valueDepth = 0; ///< heads of all of the batch
  TensorDesc result, lastState;
};

/// One head's rows, and the block of columns that is walked.
struct DeltaBlock {
  const float *query, *key, *value, *decay, *beta;
  float *state, *result;
  int64_t steps, keyDepth, valueDepth, columns;
};

template <bool isWhole> [[gnu::always_inline]] inline void walk(const DeltaBlock &block) {
  const int64_t columns = isWhole ? kBlock : block.columns, stride = block.valueDepth;
  alignas(64) float correction[kBlock], read[kBlock];
  for (int64_t t = 0; t < block.steps; ++t) {
    const float *key = block.key + t * block.keyDepth, *query = block.query + t * block.keyDepth;
    const float decay = block.decay[t], beta = block.beta[t];
    std::fill_n(correction, kBlock, 0.0F);
    std::fill_n(read, kBlock, 0.0F);
    for (int64_t k = 0; k < block.keyDepth; ++k) {
      float *__restrict row = block.state + k * stride;
      for (int64_t v = 0; v < columns; ++v) {
        row[v] *= decay;
        correction[v] += row[v] * key[k];
      }
    }
    for (int64_t v = 0; v < columns; ++v)
      correction[v] = (block.value[t * stride + v] - correction[v]) * beta;
    for (int64_t k = 0; k < block.keyDepth; ++k) {
      float *__restrict row = block.state + k * stride;
      for (int64_t v = 0; v < columns; ++v) {
        row[v] += key[k] * correction[v];
        read[v] += row[v] * query[k];
      }
    }
    std::copy_n(read, columns, block.result + t * stride);
  }
}

INGOT_SIMD void walkWhole(const DeltaBlock *block) { walk<true>(*block); }
INGOT_SIMD void walkPart(const DeltaBlock *block) { walk<false>(*block); }

class GatedDelta final : public BoundKernel {
public:
  explicit GatedDelta(const DeltaProblem &p) : problem(p), blocksPerHead((p.valueDepth + kBlock - 1) / kBlock) {}

  Status run(const KernelArgs &args) const override {
    std::memcpy(args.results[1], args.operands[DeltaState],
                static_cast<size_t>(problem.lastState.numel()) * sizeof(float));
    parallelFor(0, problem.heads * blocksPerHead, 1, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) {
        const DeltaBlock block = blockAt(args, i / blocksPerHead, i % blocksPerHead * kBlock);
        if (block.columns == kBlock)
          walkWhole(&block);
        else
          walkPart(&block);
      }
    });
    return {};
  }

private:
  DeltaBlock blockAt(const KernelArgs &args, int64_t head, int64_t column) const {
    auto rows = [&](DeltaOperand which, int64_t depth) {
      return static_cast<const float *>(args.operands[which]) + head * problem.steps * depth;
    };
    const int64_t depth = problem.valueDepth;
    return {rows(DeltaQuery, problem.keyDepth),
            rows(DeltaKey, problem.keyDepth),
            rows(DeltaValue, depth) + column,
            rows(DeltaDecay, 1),
            rows(DeltaBeta, 1),
            static_cast<float *>(args.results[1]) + head * problem.keyDepth * depth + column,
            static_cast<float *>(args.results[0]) + head * problem.steps * depth + column,
            problem.steps,
            problem.keyDepth,
            depth,
            std::min(kBlock, depth - column)};
  }

  DeltaProblem problem;
  int64_t blocksPerHead;
};

Result<DeltaProblem> makeProblem(const StepContext &context) {
  INGOT_CHECK(checkCounts(context, 6, 6, 2));
  const TensorDesc *tensors[6];
  for (size_t i = 0; i < 6; ++i) {
    INGOT_TRY(tensors[i], tensorAt(context, i));
    if (tensors[i]->dtype != DType::Float32)
      return badType(context, tensors[i]->dtype);
  }
  for (const Value &type : context.resultTypes)
    if (type.dtype != DType::Float32)
      return badStep(context, "the results have the wrong element types");
  const std::vector<int64_t> &query = tensors[DeltaQuery]->sizes, &value = tensors[DeltaValue]->sizes;
  if (query.size() != 4 || value.size() != 4)
    return badShapes(context, "needs query and value [B, H, S, D]");
  const std::vector<int64_t> scalars(query.begin(), query.end() - 1);
  const std::vector<int64_t> state = {query[0], query[1], query[3], value[3]};
  if (tensors[DeltaKey]->sizes != query || !std::equal(scalars.begin(), scalars.end(), value.begin()) ||
      tensors[DeltaDecay]->sizes != scalars || tensors[DeltaBeta]->sizes != scalars ||
      tensors[DeltaState]->sizes != state)
    return badShapes(context, "the operands do not fit each other");
  return DeltaProblem{query[0] * query[1],
                      query[2],
                      query[3],
                      value[3],
                      TensorDesc::contiguous(DType::Float32, value),
                      TensorDesc::contiguous(DType::Float32, state)};
}

Result<std::vector<ResultDesc>> inferGatedDelta(const StepContext &context) {
  INGOT_TRY(DeltaProblem problem, makeProblem(context));
  INGOT_TRY(auto results, denseResult(context, problem.result));
  INGOT_TRY(auto state, denseResult(context, problem.lastState));
  results.push_back(std::move(state[0]));
  return results;
}

Result<std::unique_ptr<BoundKernel>> bindGatedDelta(const StepContext &context, std::span<const TensorDesc>) {
  INGOT_TRY(DeltaProblem problem, makeProblem(context));
  return makeKernel<GatedDelta>(problem);
}

} // namespace

extern const KernelDef kernelDef_gated_delta = {"gated_delta", inferGatedDelta, bindGatedDelta, false};

} // namespace ingot
