// A pointwise convolution of an image whose channels are multiplied by factors first, as a squeeze-and-excite block has it. The
// factors go into a copy of the weights where that is smaller than the image, which is then read once and written never.
#include "runtime/kernels/conv/Geometry.h"
#include "runtime/kernels/elementwise/Simd.h"
#include "runtime/kernels/elementwise/Strided.h"
#include "runtime/kernels/gemm/NoSubnormals.h"
#include "runtime/kernels/gemm/Product.h"
#include "runtime/threads/Pool.h"

#include <algorithm>

namespace ingot {
namespace {

/// The factors' place among the operands; the others are those of a convolution.
constexpr size_t kFactors = 4;
/// Elements that one thread multiplies sooner than it wakes another.
constexpr int64_t kSmall = 16384;

struct ScaledProblem {
  ConvProblem conv;
  TensorDesc factors; ///< [images or 1, channels, 1, 1]
};

Result<ScaledProblem> scaledProblem(const StepContext &context) {
  INGOT_CHECK(checkCounts(context, 5, 5));
  INGOT_TRY(ConvProblem conv, convOperands(context));
  INGOT_TRY(const TensorDesc *factors, tensorAt(context, kFactors));
  const std::vector<int64_t> &x = conv.x.sizes, &weight = conv.weight.sizes;
  if (conv.x.dtype != DType::Float32 || factors->dtype != DType::Float32)
    return badType(context, conv.x.dtype);
  if (x.size() != 4 || weight.size() != 4 || weight[2] != 1 || weight[3] != 1)
    return badShapes(context, "the convolution is not one of single pixels");
  const std::vector<int64_t> one{1, x[1], 1, 1}, each{x[0], x[1], 1, 1};
  if (factors->sizes != one && factors->sizes != each)
    return badShapes(context, "there is not one factor for each channel");
  ScaledProblem problem{std::move(conv), *factors};
  INGOT_TRY(problem.conv.activation, activationAttr(context));
  makePointwise(problem.conv);
  INGOT_CHECK(completeConv(context, problem.conv));
  return problem;
}

INGOT_SIMD void multiplyRows(float *__restrict to, const float *__restrict from, const float *__restrict factors,
                             int64_t rows, int64_t length) {
  for (int64_t row = 0; row < rows; ++row)
    for (int64_t i = 0; i < length; ++i)
      to[row * length + i] = from[row * length + i] * factors[i];
}

/// Every row of a panel by the factor of its channel.
INGOT_SIMD void multiplyPanel(float *__restrict to, const float *__restrict from, const float *__restrict factors,
                              int64_t depth) {
  for (int64_t k = 0; k < depth; ++k)
    for (int64_t i = 0; i < gemm::kPanel; ++i)
      to[k * gemm::kPanel + i] = from[k * gemm::kPanel + i] * factors[k];
}

class ScaledPanelConv final : public BoundKernel {
public:
  explicit ScaledPanelConv(const ScaledProblem &problem)
      : g(problem.conv), panels(gemm::sharedPanels(panelSource(problem.conv, gemm::Packing::Single))),
        activation(problem.conv.activation), hasResidual(problem.conv.residual.has_value()),
        factorStride(problem.factors.sizes[0] == 1 ? 0 : g.channels) {
    const int64_t weights = gemm::panelElements(g.channels, g.outChannels), image = pixels() * g.channels;
    scalesWeights = weights < image;
    scratchElements = std::min(weights, image);
  }

  size_t scratchBytes() const override { return static_cast<size_t>(scratchElements) * sizeof(float); }
  std::string_view method() const override { return "panels"; }

  Status run(const KernelArgs &args) const override {
    const gemm::PanelUse use(*panels, g.images * pixels());
    for (int64_t image = 0; image < g.images; ++image)
      runImage(args, image);
    return {};
  }

private:
  int64_t pixels() const { return g.in.height * g.in.width; }

  void runImage(const KernelArgs &args, int64_t image) const {
    const float *x = static_cast<const float *>(args.operands[ConvX]) + image * pixels() * g.channels;
    const float *factors = static_cast<const float *>(args.operands[kFactors]) + image * factorStride;
    const int64_t results = image * pixels() * g.outChannels;
    auto *scratch = static_cast<float *>(args.scratch);
    static constexpr int64_t noTap = 0;
    gemm::Product product{panels->view(), {&noTap, 1}, g.channels, static_cast<float *>(args.results[0]) + results,
                          g.outChannels,  {}};
    product.finish.activation = activation;
    product.finish.addsBeforeActivation = true;
    product.finish.bias = static_cast<const float *>(args.operands[ConvBias]);
    if (hasResidual)
      product.finish.added = static_cast<const float *>(args.operands[ConvResidual]) + results;
    if (scalesWeights) {
      scaleWeights(product.panels, factors, scratch);
      product.panels.data = scratch;
    } else {
      scaleImage(x, factors, scratch);
      x = scratch;
    }
    gemm::multiplyMatrix(product, {x, g.channels, 0, pixels()});
  }

  void scaleWeights(const gemm::PanelView &view, const float *factors, float *to) const {
    const int64_t length = view.depth * gemm::kPanel;
    parallelFor(0, view.count(), std::max<int64_t>(1, kSmall / length), [&](int64_t begin, int64_t end) {
      [[maybe_unused]] const gemm::NoSubnormals here;
      for (int64_t p = begin; p < end; ++p)
        multiplyPanel(to + p * length, view.panel(p), factors, view.depth);
    });
  }

  void scaleImage(const float *x, const float *factors, float *to) const {
    parallelFor(0, pixels(), std::max<int64_t>(1, kSmall / g.channels), [&](int64_t begin, int64_t end) {
      [[maybe_unused]] const gemm::NoSubnormals here;
      multiplyRows(to + begin * g.channels, x + begin * g.channels, factors, end - begin, g.channels);
    });
  }

  Geometry g;
  std::shared_ptr<const gemm::Panels> panels;
  Activation activation;
  bool hasResidual, scalesWeights = false;
  int64_t factorStride, scratchElements = 0;
};

/// The image is multiplied as it is, and any kernel takes the convolution.
class ScaledInParts final : public BoundKernel {
public:
  ScaledInParts(const ScaledProblem &problem, const TensorDesc &image, std::unique_ptr<BoundKernel> conv)
      : loop(loopOf(problem, image)), conv(std::move(conv)),
        imageBytes((static_cast<size_t>(image.numel()) * sizeof(float) + 63) / 64 * 64) {}

  size_t scratchBytes() const override { return imageBytes + conv->scratchBytes(); }
  int reorders() const override { return conv->reorders(); }
  std::string_view method() const override { return "parts"; }

  Status run(const KernelArgs &args) const override {
    const StridedLoop::Pointers base{static_cast<char *>(args.scratch), static_cast<char *>(args.operands[ConvX]),
                                     static_cast<char *>(args.operands[kFactors])};
    const int64_t grain = std::max<int64_t>(1, kSmall / std::max<int64_t>(1, loop.rowLength()));
    parallelFor(0, loop.rows(), grain, [&](int64_t begin, int64_t end) { loop.run(base, begin, end, multiplyRow); });
    void *const operands[] = {args.scratch, args.operands[ConvWeight], args.operands[ConvBias],
                              args.operands[ConvResidual]};
    return conv->run({operands, args.results, static_cast<std::byte *>(args.scratch) + imageBytes});
  }

private:
  static StridedLoop loopOf(const ScaledProblem &problem, const TensorDesc &image) {
    const TensorDesc *const tensors[] = {&image, &problem.conv.x, &problem.factors};
    return StridedLoop::make(tensors);
  }

  static void multiplyRow(int64_t count, const StridedLoop::Pointers &at, const StridedLoop::Strides &strides) {
    for (int64_t i = 0; i < count; ++i)
      *reinterpret_cast<float *>(at[0] + i * strides[0]) = *reinterpret_cast<const float *>(at[1] + i * strides[1]) *
                                                           *reinterpret_cast<const float *>(at[2] + i * strides[2]);
  }

  StridedLoop loop;
  std::unique_ptr<BoundKernel> conv;
  size_t imageBytes;
};

Result<std::unique_ptr<BoundKernel>> makeInParts(const ScaledProblem &problem, MakeConv make) {
  ConvProblem conv = problem.conv;
  conv.x = channelsLast(DType::Float32, conv.x.sizes);
  INGOT_TRY(std::unique_ptr<BoundKernel> inner, make(conv));
  return makeKernel<ScaledInParts>(problem, conv.x, std::move(inner));
}

bool canScalePanels(const ScaledProblem &problem) {
  const ConvProblem &conv = problem.conv;
  const bool isEmpty = conv.x.numel() == 0 || conv.result.numel() == 0;
  return !isEmpty && gemm::canComputeTiles() && conv.weightData && conv.groups == 1 &&
         convPacking(conv) == gemm::Packing::Single && problem.factors.isContiguous() &&
         hasStridesOf(conv.x, channelsLast(DType::Float32, conv.x.sizes)) && !gemm::areAliased(conv.inChannels()) &&
         (!conv.bias || conv.bias->isContiguous()) && (!conv.residual || hasStridesOf(*conv.residual, conv.result));
}

Result<std::vector<ResultDesc>> inferScaled(const StepContext &context) {
  INGOT_TRY(ScaledProblem problem, scaledProblem(context));
  return denseResult(context, std::move(problem.conv.result));
}

Result<std::unique_ptr<BoundKernel>> bindScaled(const StepContext &context, std::span<const TensorDesc>) {
  INGOT_TRY(ScaledProblem problem, scaledProblem(context));
  if (canScalePanels(problem))
    return makeKernel<ScaledPanelConv>(problem);
  return makeInParts(problem, makeConv);
}

} // namespace

Result<std::unique_ptr<BoundKernel>> bindReferenceScaledPointwise(const StepContext &context,
                                                                  std::span<const TensorDesc>) {
  INGOT_TRY(ScaledProblem problem, scaledProblem(context));
  return makeInParts(problem, makeReferenceConv);
}

extern const KernelDef kernelDef_scaled_pointwise = {
    .name = "scaled_pointwise", .infer = inferScaled, .bind = bindScaled, .acceptsStrides = true};

} // namespace ingot
