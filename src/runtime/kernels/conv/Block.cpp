// The checks of a depthwise block, and its parts one after the other where no kernel joins them.
#include "runtime/kernels/conv/Block.h"
#include "runtime/kernels/pool/Pool.h"

#include <algorithm>

namespace ingot {
namespace {

Result<ConvProblem> expandProblem(const StepContext &context, const TensorDesc &x, const TensorDesc &weight) {
  INGOT_TRY(const TensorDesc *bias, optionalTensorAt(context, BlockExpandBias));
  ConvProblem problem;
  problem.x = x;
  problem.weight = weight;
  problem.weightData = context.operands[BlockExpandWeight].data;
  problem.precision = context.precision;
  if (bias)
    problem.bias = *bias;
  INGOT_TRY(problem.activation, activationAttr(context, "expand_activation"));
  makePointwise(problem);
  if (weight.sizes.size() != 4 || weight.sizes[2] != 1 || weight.sizes[3] != 1)
    return badShapes(context, "what comes before the depthwise convolution reads other pixels as well");
  INGOT_CHECK(completeConv(context, problem));
  return problem;
}

Result<ConvProblem> depthwiseProblem(const StepContext &context, const TensorDesc &x) {
  INGOT_TRY(const TensorDesc *weight, tensorAt(context, BlockWeight));
  INGOT_TRY(const TensorDesc *bias, optionalTensorAt(context, BlockBias));
  ConvProblem problem;
  problem.x = x;
  problem.weight = *weight;
  problem.weightData = context.operands[BlockWeight].data;
  problem.precision = context.precision;
  problem.groups = x.sizes[1];
  if (bias)
    problem.bias = *bias;
  makePointwise(problem);
  INGOT_TRY(problem.strides, listAttr(context, "strides", 2, 1, kMaxExtent));
  INGOT_TRY(problem.padLow, listAttr(context, "pad_low", 2, 0, kMaxExtent));
  INGOT_TRY(problem.padHigh, listAttr(context, "pad_high", 2, 0, kMaxExtent));
  INGOT_TRY(problem.dilations, listAttr(context, "dilations", 2, 1, kMaxExtent));
  INGOT_TRY(problem.activation, activationAttr(context));
  if (weight->sizes.size() != 4 || problem.groups < 1 || weight->sizes[0] != problem.groups || weight->sizes[1] != 1)
    return badShapes(context, "there is not one filter for each channel");
  INGOT_CHECK(completeConv(context, problem));
  return problem;
}

Result<BlockProblem> blockProblem(const StepContext &context) {
  BlockProblem problem;
  problem.hasMeans = context.resultTypes.size() == 2;
  INGOT_CHECK(checkCounts(context, 2, 5, problem.hasMeans ? 2 : 1));
  INGOT_TRY(const TensorDesc *x, tensorAt(context, BlockX));
  INGOT_TRY(const TensorDesc *expandWeight, optionalTensorAt(context, BlockExpandWeight));
  if (x->dtype != DType::Float32 || context.resultTypes.back().dtype != DType::Float32)
    return badType(context, x->dtype);
  if (x->sizes.size() != 4)
    return badShapes(context, "the image has not four dimensions");
  if (expandWeight) {
    INGOT_TRY(problem.expand, expandProblem(context, *x, *expandWeight));
  }
  INGOT_TRY(problem.depthwise, depthwiseProblem(context, problem.expand ? problem.expand->result : *x));
  return problem;
}

TensorDesc meansDesc(const ConvProblem &problem) {
  return TensorDesc::contiguous(DType::Float32, {problem.batch(), problem.outChannels(), 1, 1});
}

Result<std::vector<ResultDesc>> inferBlock(const StepContext &context) {
  INGOT_TRY(BlockProblem problem, blockProblem(context));
  if (problem.expand)
    INGOT_CHECK(denseResult(context, problem.expand->result)); // which may be a step of its own
  INGOT_TRY(std::vector<ResultDesc> results, denseResult(context, problem.depthwise.result));
  if (problem.hasMeans)
    results.emplace_back().desc = meansDesc(problem.depthwise);
  return results;
}

/// Each part by a kernel of its own.
class BlockInParts final : public BoundKernel {
public:
  BlockInParts(const BlockProblem &problem, std::unique_ptr<BoundKernel> expand, std::unique_ptr<BoundKernel> depthwise)
      : expand(std::move(expand)), depthwise(std::move(depthwise)), hasMeans(problem.hasMeans) {
    const std::vector<int64_t> &sizes = problem.depthwise.result.sizes;
    const int64_t pixels = sizes[2] * sizes[3];
    average = {sizes[0], pixels, sizes[1], static_cast<float>(pixels)};
    if (problem.expand)
      imageBytes = (static_cast<size_t>(problem.expand->result.numel()) * sizeof(float) + 63) / 64 * 64;
  }

  size_t scratchBytes() const override {
    return imageBytes + std::max(expand ? expand->scratchBytes() : 0, depthwise->scratchBytes());
  }
  int reorders() const override { return (expand ? expand->reorders() : 0) + depthwise->reorders(); }
  std::string_view method() const override { return "parts"; }

  Status run(const KernelArgs &args) const override {
    void *rest = static_cast<std::byte *>(args.scratch) + imageBytes;
    auto operand = [&](size_t i) { return i < args.operands.size() ? args.operands[i] : nullptr; };
    void *image = operand(BlockX);
    if (expand) {
      void *const operands[] = {image, operand(BlockExpandWeight), operand(BlockExpandBias)};
      image = args.scratch;
      INGOT_CHECK(expand->run({operands, {&image, 1}, rest}));
    }
    void *const operands[] = {image, operand(BlockWeight), operand(BlockBias)};
    INGOT_CHECK(depthwise->run({operands, args.results.first(1), rest}));
    if (hasMeans) // of what is channels-last
      averagePixels(static_cast<const float *>(args.results[BlockImage]),
                    static_cast<float *>(args.results[BlockMeans]), average);
    return {};
  }

private:
  std::unique_ptr<BoundKernel> expand, depthwise;
  bool hasMeans;
  PixelAverage average{};
  size_t imageBytes = 0;
};

Result<std::unique_ptr<BoundKernel>> makeInParts(const BlockProblem &problem, MakeConv make) {
  std::unique_ptr<BoundKernel> expand;
  if (problem.expand) {
    INGOT_TRY(expand, make(*problem.expand));
  }
  INGOT_TRY(std::unique_ptr<BoundKernel> depthwise, make(problem.depthwise));
  return makeKernel<BlockInParts>(problem, std::move(expand), std::move(depthwise));
}

Result<std::unique_ptr<BoundKernel>> bindBlock(const StepContext &context, std::span<const TensorDesc>) {
  INGOT_TRY(BlockProblem problem, blockProblem(context));
  const bool isEmpty = problem.depthwise.x.numel() == 0 || problem.depthwise.result.numel() == 0 ||
                       (problem.expand && problem.expand->x.numel() == 0);
  if (auto joined = isEmpty ? nullptr : makeDepthwiseBlock(problem))
    return joined;
  return makeInParts(problem, makeConv);
}

} // namespace

Result<std::unique_ptr<BoundKernel>> bindReferenceBlock(const StepContext &context, std::span<const TensorDesc>) {
  INGOT_TRY(BlockProblem problem, blockProblem(context));
  return makeInParts(problem, makeReferenceConv);
}

extern const KernelDef kernelDef_depthwise_block = {
    .name = "depthwise_block", .infer = inferBlock, .bind = bindBlock, .acceptsStrides = true};

} // namespace ingot
