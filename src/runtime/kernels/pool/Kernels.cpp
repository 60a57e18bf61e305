// The kernels: which implementation a step gets.
#include "runtime/kernels/pool/Pool.h"

namespace ingot {
namespace {

/// Positions are computed with 32 bits there.
bool suitsChannelsLast(const PoolProblem &problem) {
  return problem.x.dtype == DType::Float32 && problem.spatialRank + 2 == problem.x.sizes.size() &&
         isChannelsLast(problem.x) && isChannelsLast(problem.result) &&
         static_cast<double>(problem.in[0]) * static_cast<double>(problem.in[1]) * static_cast<double>(problem.in[2]) <
             2147483647.0;
}

template <Result<PoolProblem> (*makeProblem)(const StepContext &)>
Result<std::vector<ResultDesc>> inferMaxPool(const StepContext &context) {
  INGOT_TRY(PoolProblem problem, makeProblem(context));
  if (context.resultTypes[0].dtype != problem.x.dtype || context.resultTypes[1].dtype != DType::Int64)
    return badStep(context, "the results have the wrong element types");
  TensorDesc indices = problem.result;
  indices.dtype = DType::Int64;
  INGOT_TRY(auto results, denseResult(context, std::move(problem.result)));
  INGOT_TRY(auto second, denseResult(context, std::move(indices)));
  results.push_back(std::move(second[0]));
  return results;
}

template <Result<PoolProblem> (*makeProblem)(const StepContext &)>
Result<std::unique_ptr<BoundKernel>> bindMaxPool(const StepContext &context, std::span<const TensorDesc>) {
  INGOT_TRY(PoolProblem problem, makeProblem(context));
  if (suitsChannelsLast(problem))
    return makeFastMaxPool(std::move(problem));
  if (auto planar = makePlanarMaxPool(problem))
    return planar;
  return makeReferenceMaxPool(std::move(problem));
}

template <Result<PoolProblem> (*makeProblem)(const StepContext &)>
Result<std::vector<ResultDesc>> inferAvgPool(const StepContext &context) {
  INGOT_TRY(PoolProblem problem, makeProblem(context));
  if (context.resultTypes[0].dtype != problem.x.dtype)
    return badStep(context, "the result has the wrong element type");
  return denseResult(context, std::move(problem.result));
}

template <Result<PoolProblem> (*makeProblem)(const StepContext &)>
Result<std::unique_ptr<BoundKernel>> bindAvgPool(const StepContext &context, std::span<const TensorDesc>) {
  INGOT_TRY(PoolProblem problem, makeProblem(context));
  if (suitsChannelsLast(problem)) {
    if (auto global = makeGlobalAvgPool(problem))
      return global;
    return makeFastAvgPool(std::move(problem));
  }
  if (auto planar = makePlanarAvgPool(problem))
    return planar;
  return makeReferenceAvgPool(std::move(problem));
}

} // namespace

extern const KernelDef kernelDef_max_pool = {"max_pool", inferMaxPool<maxPoolProblem>, bindMaxPool<maxPoolProblem>,
                                             true};
extern const KernelDef kernelDef_adaptive_max_pool = {"adaptive_max_pool", inferMaxPool<adaptiveMaxPoolProblem>,
                                                      bindMaxPool<adaptiveMaxPoolProblem>, true};
extern const KernelDef kernelDef_avg_pool = {"avg_pool", inferAvgPool<avgPoolProblem>, bindAvgPool<avgPoolProblem>,
                                             true};
extern const KernelDef kernelDef_adaptive_avg_pool = {"adaptive_avg_pool", inferAvgPool<adaptivePoolProblem>,
                                                      bindAvgPool<adaptivePoolProblem>, true};

} // namespace ingot
