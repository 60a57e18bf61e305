// The checks of a convolution step, and the choice between implementations.
#include "runtime/dnnl/DnnlApi.h"
#include "runtime/kernels/elementwise/Widened.h"

#include <algorithm>

namespace ingot {
namespace {

Status readAttributes(const StepContext &context, ConvProblem &problem) {
  const size_t rank = problem.spatialRank();
  INGOT_TRY(problem.strides, listAttr(context, "strides", rank, 1, kMaxExtent));
  INGOT_TRY(problem.padLow, listAttr(context, "pad_low", rank, 0, kMaxExtent));
  INGOT_TRY(problem.padHigh, listAttr(context, "pad_high", rank, 0, kMaxExtent));
  INGOT_TRY(problem.dilations, listAttr(context, "dilations", rank, 1, kMaxExtent));
  INGOT_TRY(problem.outputPadding, listAttr(context, "output_padding", rank, 0, kMaxExtent));
  INGOT_TRY(problem.groups, requiredAttr<int64_t>(context, "groups"));
  INGOT_TRY(problem.transposed, requiredAttr<bool>(context, "transposed"));
  INGOT_TRY(problem.activation, activationAttr(context));
  if (problem.groups < 1 || problem.groups > kMaxExtent)
    return badStep(context, "the number of groups is out of range");
  return {};
}

/// The result's size along spatial dimension `i`. All numbers are below 2^31, so nothing overflows.
Result<int64_t> resultSize(const StepContext &context, const ConvProblem &problem, size_t i) {
  const int64_t in = problem.x.sizes[i + 2], kernel = problem.weight.sizes[i + 2];
  if (in > kMaxExtent || kernel > kMaxExtent || kernel < 1)
    return badShapes(context, "a spatial size is out of range");
  const int64_t reach = problem.dilations[i] * (kernel - 1) + 1;
  const int64_t padding = problem.padLow[i] + problem.padHigh[i];
  int64_t size = 0;
  if (problem.transposed)
    size = (in - 1) * problem.strides[i] - padding + reach + problem.outputPadding[i];
  else if (in + padding >= reach)
    size = (in + padding - reach) / problem.strides[i] + 1;
  // PyTorch does not mind that nothing is left.
  const int64_t least = problem.transposed ? 0 : 1;
  if (size < least || size > kMaxExtent)
    return badShapes(context, "the kernel does not fit into the padded input");
  return size;
}

Status checkChannels(const StepContext &context, const ConvProblem &problem) {
  const int64_t channels = problem.x.sizes[1], groups = problem.groups;
  const std::vector<int64_t> &weight = problem.weight.sizes;
  const bool fits = problem.transposed ? weight[0] == channels && channels % groups == 0
                                       : weight[0] % groups == 0 && channels == weight[1] * groups;
  if (!fits)
    return badShapes(context, "the channels of input, weight and groups do not agree");
  return {};
}

Status checkAdditions(const StepContext &context, const ConvProblem &problem) {
  for (const std::optional<TensorDesc> &extra : {problem.bias, problem.residual})
    if (extra && extra->dtype != problem.x.dtype)
      return badStep(context, "the operands have different element types");
  if (problem.bias && problem.bias->sizes != std::vector<int64_t>{problem.outChannels()})
    return badShapes(context, "the bias has not one entry a channel");
  if (problem.residual && problem.residual->sizes != problem.result.sizes)
    return badShapes(context, "the residual has not the result's sizes");
  return {};
}

Result<ConvProblem> makeProblem(const StepContext &context) {
  INGOT_CHECK(checkCounts(context, 2, 4));
  INGOT_TRY(ConvProblem problem, convOperands(context));
  const size_t rank = problem.x.sizes.size();
  if (rank < 3 || rank > 5 || problem.weight.sizes.size() != rank)
    return badShapes(context, "a convolution has one to three spatial dimensions");
  INGOT_CHECK(readAttributes(context, problem));
  INGOT_CHECK(completeConv(context, problem));
  return problem;
}

Result<std::vector<ResultDesc>> inferConv(const StepContext &context) {
  INGOT_TRY(ConvProblem problem, makeProblem(context));
  return denseResult(context, std::move(problem.result));
}

/// Null where oneDNN refuses it, as it does odd layouts.
Result<std::unique_ptr<BoundKernel>> makeDnnlConv(const ConvProblem &problem) {
  INGOT_TRY(const DnnlApi *dnnl, dnnlApi());
  Result<std::unique_ptr<BoundKernel>> made = dnnl->makeConv(problem);
  return made ? *std::move(made) : nullptr;
}

/// By the method that is asked for; null where it cannot compute this.
Result<std::unique_ptr<BoundKernel>> makeByMethod(const ConvProblem &problem) {
  switch (problem.method) {
  case Method::Usual:
    break;
  case Method::Panels:
    return makePanelConv(problem);
  case Method::Winograd:
    return makeWinogradConv(problem);
  case Method::OneDnn:
    return makeDnnlConv(problem);
  }
  return std::unique_ptr<BoundKernel>();
}

/// Of float32, and not empty; null where only the reference can.
Result<std::unique_ptr<BoundKernel>> bindFloatConv(const ConvProblem &problem) {
  INGOT_TRY(std::unique_ptr<BoundKernel> chosen, makeByMethod(problem));
  if (chosen)
    return chosen;
  if (auto depthwise = makeDepthwiseConv(problem))
    return depthwise;
  // Of integers, fewer multiplications gain less than they lose.
  const bool isOfIntegers = convPacking(problem) == gemm::Packing::Quads;
  if (auto winograd = isOfIntegers ? nullptr : makeWinogradConv(problem))
    return winograd;
  if (auto panels = makePanelConv(problem))
    return panels;
  return makeDnnlConv(problem);
}

/// Of float16 and bfloat16.
Result<std::unique_ptr<BoundKernel>> bindHalfConv(const ConvProblem &problem) {
  ConvProblem wide = problem;
  WideOperands operands(problem.x.dtype);
  wide.x = operands.add(ConvX, problem.x);
  wide.bias = operands.add(ConvBias, problem.bias);
  wide.residual = operands.add(ConvResidual, problem.residual);
  wide.result = widened(problem.result);
  // Which loses nothing.
  wide.precision = problem.x.dtype == DType::BFloat16 ? Precision::BFloat16 : Precision::Highest;
  if (problem.weightData && problem.weight.isContiguous()) {
    wide.weight = widened(problem.weight);
    wide.weightData = operands.addConstant(ConvWeight, problem.weight, problem.weightData);
  } else {
    wide.weight = operands.add(ConvWeight, problem.weight);
    wide.weightData = nullptr;
  }
  INGOT_TRY(std::unique_ptr<BoundKernel> inner, bindFloatConv(wide));
  return std::move(operands).makeKernel(std::move(inner), problem.result);
}

Result<std::unique_ptr<BoundKernel>> bindConv(const StepContext &context, std::span<const TensorDesc>) {
  INGOT_TRY(ConvProblem problem, makeProblem(context));
  return makeConv(problem);
}

} // namespace

Result<ConvProblem> convOperands(const StepContext &context) {
  INGOT_TRY(const TensorDesc *x, tensorAt(context, ConvX));
  INGOT_TRY(const TensorDesc *weight, tensorAt(context, ConvWeight));
  INGOT_TRY(const TensorDesc *bias, optionalTensorAt(context, ConvBias));
  INGOT_TRY(const TensorDesc *residual, optionalTensorAt(context, ConvResidual));
  ConvProblem problem;
  problem.x = *x;
  problem.weight = *weight;
  problem.weightData = context.operands[ConvWeight].data;
  problem.precision = context.precision;
  problem.method = context.method;
  if (bias)
    problem.bias = *bias;
  if (residual)
    problem.residual = *residual;
  return problem;
}

Status completeConv(const StepContext &context, ConvProblem &problem) {
  if (problem.weight.dtype != problem.x.dtype || context.resultTypes[0].dtype != problem.x.dtype)
    return badStep(context, "the operands and the result have different element types");
  INGOT_CHECK(checkChannels(context, problem));
  const int64_t perGroup = problem.weight.sizes[1];
  std::vector<int64_t> sizes{problem.x.sizes[0],
                             problem.transposed ? perGroup * problem.groups : problem.weight.sizes[0]};
  for (size_t i = 0; i < problem.spatialRank(); ++i) {
    INGOT_TRY(int64_t size, resultSize(context, problem, i));
    sizes.push_back(size);
  }
  problem.result = channelsLast(problem.x.dtype, std::move(sizes));
  return checkAdditions(context, problem);
}

void makePointwise(ConvProblem &problem) {
  problem.strides = problem.dilations = std::vector<int64_t>(problem.spatialRank(), 1);
  problem.padLow = problem.padHigh = problem.outputPadding = std::vector<int64_t>(problem.spatialRank(), 0);
}

Result<std::unique_ptr<BoundKernel>> makeConv(const ConvProblem &problem) {
  const DType dtype = problem.x.dtype;
  const bool isEmpty = problem.x.numel() == 0 || problem.result.numel() == 0;
  if (!isEmpty && (dtype == DType::Float32 || isHalf(dtype))) {
    INGOT_TRY(auto fast, isHalf(dtype) ? bindHalfConv(problem) : bindFloatConv(problem));
    if (fast)
      return fast;
  }
  return makeReferenceConv(problem);
}

bool hasStridesOf(const TensorDesc &desc, const TensorDesc &wanted) {
  for (size_t i = 0; i < desc.sizes.size(); ++i)
    if (desc.sizes[i] != 1 && desc.strides[i] != wanted.strides[i])
      return false;
  return true;
}

OtherKernel convOfAnything(const ConvProblem &problem) {
  ConvProblem plain = problem;
  plain.activation = Activation::None;
  auto make = [plain = std::move(plain)]() -> Result<std::unique_ptr<BoundKernel>> {
    if (auto panels = makePanelConv(plain))
      return panels;
    INGOT_TRY(const DnnlApi *dnnl, dnnlApi());
    return dnnl->makeConv(plain);
  };
  return {std::move(make), problem.activation, problem.result.numel()};
}

Result<std::unique_ptr<BoundKernel>> bindReferenceConv(const StepContext &context, std::span<const TensorDesc>) {
  INGOT_TRY(ConvProblem problem, makeProblem(context));
  return makeReferenceConv(problem);
}

Result<std::unique_ptr<BoundKernel>> bindDnnlConv(const StepContext &context, std::span<const TensorDesc>) {
  INGOT_TRY(ConvProblem problem, makeProblem(context));
  INGOT_TRY(const DnnlApi *dnnl, dnnlApi());
  return dnnl->makeConv(problem);
}

extern const KernelDef kernelDef_conv = {
    .name = "conv", .infer = inferConv, .bind = bindConv, .acceptsStrides = true, .hasMethods = true};

} // namespace ingot
