// The checks of a matmul step, and the choice between implementations.
#include "runtime/dnnl/DnnlApi.h"

#include "runtime/TensorDesc.h"
#include "runtime/kernels/elementwise/Widened.h"

namespace ingot {
namespace {

bool isEmpty(const MatmulProblem &problem) { return problem.result.numel() == 0 || problem.k == 0; }

/// Whether the reference can compute it: with activations of floats only where there are floats, and booleans only where
/// there is nothing to compute, as in PyTorch.
Status checkTypes(const StepContext &context, const MatmulProblem &problem) {
  const DType dtype = problem.a.dtype;
  const Activation activation = problem.activation;
  if (isFloating(dtype) || (dtype == DType::Bool && activation == Activation::None && isEmpty(problem)))
    return {};
  const bool isInteger = dtype == DType::Int8 || dtype == DType::Int16 || dtype == DType::Int32 ||
                         dtype == DType::Int64 || dtype == DType::UInt8 || dtype == DType::UInt16 ||
                         dtype == DType::UInt32 || dtype == DType::UInt64;
  const bool isComplex = dtype == DType::Complex64 || dtype == DType::Complex128;
  if ((isInteger && activation <= Activation::Relu6) || (isComplex && activation == Activation::None))
    return {};
  return badType(context, dtype);
}

Status checkAdditions(const StepContext &context, const MatmulProblem &problem) {
  for (const std::optional<TensorDesc> &extra : {problem.bias, problem.residual})
    if (extra && extra->dtype != problem.a.dtype)
      return badStep(context, "the operands have different element types");
  if (problem.bias && !broadcastsTo(problem.bias->sizes, problem.result.sizes))
    return badShapes(context, "the bias does not broadcast to the result");
  if (problem.residual && problem.residual->sizes != problem.result.sizes)
    return badShapes(context, "the residual has not the result's sizes");
  return {};
}

Result<MatmulProblem> makeProblem(const StepContext &context) {
  INGOT_CHECK(checkCounts(context, 2, 4));
  INGOT_TRY(const TensorDesc *a, tensorAt(context, MatmulA));
  INGOT_TRY(const TensorDesc *b, tensorAt(context, MatmulB));
  INGOT_TRY(const TensorDesc *bias, optionalTensorAt(context, MatmulBias));
  INGOT_TRY(const TensorDesc *residual, optionalTensorAt(context, MatmulResidual));
  MatmulProblem problem;
  problem.a = *a;
  problem.b = *b;
  INGOT_TRY(problem.activation, activationAttr(context));
  if (bias)
    problem.bias = *bias;
  if (residual)
    problem.residual = *residual;
  problem.bData = context.operands[MatmulB].data;
  problem.precision = context.precision;
  problem.method = context.method;
  if (a->sizes.size() < 2 || b->sizes.size() < 2)
    return badShapes(context, "the operands need two dimensions at least");
  if (a->dtype != b->dtype || context.resultTypes[0].dtype != a->dtype)
    return badStep(context, "the operands and the result have different element types");
  std::span<const int64_t> aSizes(a->sizes), bSizes(b->sizes);
  problem.m = aSizes[aSizes.size() - 2];
  problem.k = aSizes.back();
  problem.n = bSizes.back();
  if (bSizes[bSizes.size() - 2] != problem.k)
    return badShapes(context, "the inner sizes differ");
  INGOT_TRY(auto sizes, broadcastSizes(context, aSizes.first(aSizes.size() - 2), bSizes.first(bSizes.size() - 2)));
  sizes.push_back(problem.m);
  sizes.push_back(problem.n);
  problem.result = TensorDesc::contiguous(a->dtype, std::move(sizes));
  INGOT_CHECK(checkTypes(context, problem));
  INGOT_CHECK(checkAdditions(context, problem));
  return problem;
}

Result<std::vector<ResultDesc>> inferMatmul(const StepContext &context) {
  INGOT_TRY(MatmulProblem problem, makeProblem(context));
  return denseResult(context, std::move(problem.result));
}

/// Nothing is summed, so that oneDNN is no better, and takes longer to be made ready. (Tables of angles are made so.)
bool isSmallOuterProduct(const MatmulProblem &problem) {
  constexpr int64_t small = 1 << 14;
  return problem.k == 1 && problem.result.numel() <= small && !problem.bias && !problem.residual &&
         problem.activation == Activation::None;
}

/// Null where oneDNN refuses it, as it does odd layouts.
Result<std::unique_ptr<BoundKernel>> makeDnnlMatmul(const MatmulProblem &problem) {
  INGOT_TRY(const DnnlApi *dnnl, dnnlApi());
  Result<std::unique_ptr<BoundKernel>> made = dnnl->makeMatmul(problem);
  return made ? *std::move(made) : nullptr;
}

/// Of float32, and not empty; null where only the reference can.
Result<std::unique_ptr<BoundKernel>> bindFloatMatmul(const MatmulProblem &problem) {
  if (problem.method == Method::OneDnn) {
    INGOT_TRY(std::unique_ptr<BoundKernel> chosen, makeDnnlMatmul(problem));
    if (chosen)
      return chosen;
  }
  if (auto panels = makePanelMatmul(problem))
    return panels;
  if (auto batched = makeBatchedMatmul(problem))
    return batched;
  if (isSmallOuterProduct(problem))
    return std::unique_ptr<BoundKernel>();
  return makeDnnlMatmul(problem);
}

/// Of float16 and bfloat16. A constant right-hand side becomes panels of float32, or is converted in every call.
Result<std::unique_ptr<BoundKernel>> bindHalfMatmul(const MatmulProblem &problem) {
  MatmulProblem wide = problem;
  WideOperands operands(problem.a.dtype);
  wide.bias = operands.add(MatmulBias, problem.bias);
  wide.residual = operands.add(MatmulResidual, problem.residual);
  wide.b = widened(problem.b);
  wide.result = widened(problem.result);
  wide.bDataType = problem.b.dtype;
  // Pairs lose nothing of bfloat16, but much of float16.
  wide.precision = problem.a.dtype == DType::BFloat16 ? Precision::BFloat16 : Precision::Highest;
  std::unique_ptr<BoundKernel> inner = makePanelMatmul(wide);
  if (!inner) {
    wide.a = operands.add(MatmulA, problem.a);
    inner = makePanelMatmul(wide);
  }
  if (!inner) {
    wide.bData = nullptr;
    wide.b = operands.add(MatmulB, problem.b);
    INGOT_TRY(inner, bindFloatMatmul(wide));
  }
  return std::move(operands).makeKernel(std::move(inner), problem.result);
}

Result<std::unique_ptr<BoundKernel>> bindMatmul(const StepContext &context, std::span<const TensorDesc>) {
  INGOT_TRY(MatmulProblem problem, makeProblem(context));
  const DType dtype = problem.a.dtype;
  if (!isEmpty(problem) && (dtype == DType::Float32 || isHalf(dtype))) {
    INGOT_TRY(auto fast, isHalf(dtype) ? bindHalfMatmul(problem) : bindFloatMatmul(problem));
    if (fast)
      return fast;
  }
  return makeReferenceMatmul(problem);
}

} // namespace

Result<std::unique_ptr<BoundKernel>> bindDnnlMatmul(const StepContext &context, std::span<const TensorDesc>) {
  INGOT_TRY(MatmulProblem problem, makeProblem(context));
  INGOT_TRY(const DnnlApi *dnnl, dnnlApi());
  return dnnl->makeMatmul(problem);
}

Result<std::unique_ptr<BoundKernel>> bindReferenceMatmul(const StepContext &context, std::span<const TensorDesc>) {
  INGOT_TRY(MatmulProblem problem, makeProblem(context));
  return makeReferenceMatmul(problem);
}

extern const KernelDef kernelDef_matmul = {
    .name = "matmul", .infer = inferMatmul, .bind = bindMatmul, .acceptsStrides = true, .hasMethods = true};

} // namespace ingot
