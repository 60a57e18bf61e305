// A convolution step after its checks.
#pragma once

#include "runtime/kernels/gemm/Panels.h"
#include "runtime/kernels/matmul/FiniteOnly.h"

namespace ingot {

struct ConvProblem {
  TensorDesc x, weight, result;
  std::optional<TensorDesc> bias, residual;
  std::vector<int64_t> strides, padLow, padHigh, dilations, outputPadding;
  int64_t groups = 1;
  bool transposed = false;
  Activation activation = Activation::None;
  const void *weightData = nullptr; ///< set when the weight is constant
  Precision precision = Precision::Highest;
  Method method = Method::Usual;

  size_t spatialRank() const { return x.sizes.size() - 2; }
  int64_t batch() const { return x.sizes[0]; }
  int64_t inChannels() const { return x.sizes[1]; }
  int64_t outChannels() const { return result.sizes[1]; }
};

/// Whether two tensors of the same sizes lie in the same order; strides of single entries do not count.
bool hasStridesOf(const TensorDesc &desc, const TensorDesc &wanted);

/// The operands of a step, by the positions below; nothing has been checked against anything else.
Result<ConvProblem> convOperands(const StepContext &context);
/// Checks operands and lists, of one number of spatial dimensions, against each other; they tell the result.
Status completeConv(const StepContext &context, ConvProblem &problem);
/// The lists of a convolution that reads every pixel once, as it lies.
void makePointwise(ConvProblem &problem);

/// Operands by their position in the step.
enum ConvOperand : size_t { ConvX, ConvWeight, ConvBias, ConvResidual };

Result<std::unique_ptr<BoundKernel>> makeReferenceConv(const ConvProblem &problem);
using MakeConv = Result<std::unique_ptr<BoundKernel>> (*)(const ConvProblem &problem);
/// The fastest kernel that can, or the reference.
Result<std::unique_ptr<BoundKernel>> makeConv(const ConvProblem &problem);
/// float32, nothing empty, with a constant weight; null where it cannot.
std::unique_ptr<BoundKernel> makePanelConv(const ConvProblem &problem);
/// What the numbers of makePanelConv would be.
gemm::Packing convPacking(const ConvProblem &problem);
/// The constant weight, as panels are made of it.
gemm::PanelSource panelSource(const ConvProblem &problem, gemm::Packing packing);
/// float32, nothing empty, with a constant weight of one filter a channel; null where it cannot.
std::unique_ptr<BoundKernel> makeDepthwiseConv(const ConvProblem &problem);
/// float32, nothing empty, with a constant weight of 3x3 filters; null where it cannot, or, unless it
/// is the method that is asked for, would hardly be faster.
std::unique_ptr<BoundKernel> makeWinogradConv(const ConvProblem &problem);
/// For kernels that take finite numbers only; float32, nothing empty.
OtherKernel convOfAnything(const ConvProblem &problem);

/// For tests: checks a step and binds it to oneDNN, or to the reference.
Result<std::unique_ptr<BoundKernel>> bindDnnlConv(const StepContext &context, std::span<const TensorDesc> results);
Result<std::unique_ptr<BoundKernel>> bindReferenceConv(const StepContext &context, std::span<const TensorDesc> results);
Result<std::unique_ptr<BoundKernel>> bindReferenceScaledPointwise(const StepContext &context,
                                                                  std::span<const TensorDesc> results);

} // namespace ingot
