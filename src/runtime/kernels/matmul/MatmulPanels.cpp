// matmul of float32 by a constant matrix, which is kept as panels; and of bfloat16, where this CPU can multiply that.
#include "runtime/kernels/elementwise/Strided.h"
#include "runtime/kernels/gemm/Pairs.h"
#include "runtime/kernels/gemm/Product.h"
#include "runtime/kernels/matmul/Layout.h"
#include "runtime/kernels/matmul/Problem.h"

#include <optional>

namespace ingot {
namespace {

class PanelMatmul final : public BoundKernel {
public:
  PanelMatmul(const MatmulProblem &problem, const TensorDesc &a, std::shared_ptr<const gemm::Panels> panels)
      : rows(a.sizes[0]), depth(a.sizes[1]), stride(rows == 1 ? a.sizes[1] : a.strides[0]), panels(std::move(panels)),
        activation(problem.activation), hasBias(problem.bias.has_value()), hasResidual(problem.residual.has_value()) {
    if (this->panels->view().isPaired) {
      pairs.emplace(a.dtype, rows, depth, stride);
      depth = gemm::pairsOf(depth);
      stride = pairs->to;
    } else if (rows > 1 && gemm::areAliased(stride)) {
      const TensorDesc apart{DType::Float32, {rows, depth}, {depth + gemm::kApart, 1}};
      copy = makeCopy(apart, {DType::Float32, {rows, depth}, {stride, 1}});
      stride = depth + gemm::kApart;
    }
  }

  size_t scratchBytes() const override {
    return copy || pairs ? static_cast<size_t>(rows * stride) * sizeof(float) : 0;
  }

  Status run(const KernelArgs &args) const override {
    const auto *a = static_cast<const float *>(copy || pairs ? args.scratch : args.operands[MatmulA]);
    if (pairs)
      pairs->copy(args.operands[MatmulA], static_cast<float *>(args.scratch));
    else if (copy)
      copy->run(args.operands[MatmulA], args.scratch);
    constexpr int64_t noTap = 0;
    gemm::Finish finish;
    finish.activation = activation;
    finish.bias = hasBias ? static_cast<const float *>(args.operands[MatmulBias]) : nullptr;
    finish.added = hasResidual ? static_cast<const float *>(args.operands[MatmulResidual]) : nullptr;
    const gemm::PanelView view = panels->view();
    gemm::multiplyMatrix({view, {&noTap, 1}, depth, static_cast<float *>(args.results[0]), view.columns, finish},
                         {a, stride, 0, rows});
    return {};
  }

private:
  int64_t rows, depth, stride;
  std::shared_ptr<const gemm::Panels> panels;
  std::optional<StridedCopy> copy;
  std::optional<gemm::PairedRows> pairs;
  Activation activation;
  bool hasBias, hasResidual;
};

} // namespace

std::unique_ptr<BoundKernel> makePanelMatmul(const MatmulProblem &problem) {
  const size_t rank = problem.result.sizes.size();
  const TensorDesc a = asBatchedMatrix(problem.a, rank), b = asBatchedMatrix(problem.b, rank);
  if (!problem.bData || !gemm::canComputeTiles())
    return nullptr;
  const MatmulShapes shapes = simplifyMatmul(a, b, problem.result);
  const bool hasRows =
      shapes.a.sizes.size() == 2 && (shapes.a.sizes[1] == 1 || shapes.a.strides[1] == 1) && shapes.b.sizes.size() == 2;
  if (!hasRows || (problem.bias && !isDenseVector(*problem.bias, problem.n)) ||
      (problem.residual && !problem.residual->isContiguous()))
    return nullptr;
  const TensorDesc &matrix = shapes.b;
  const bool isPaired = gemm::canComputePairs() && (problem.a.dtype == DType::BFloat16 || problem.roundsToBFloat16);
  if (problem.a.dtype != DType::Float32 && !isPaired)
    return nullptr;
  const gemm::PanelSource source{problem.bData,     {matrix.sizes[0]}, {matrix.strides[0]},
                                 matrix.sizes[1],   matrix.strides[1], false,
                                 problem.bDataType, isPaired};
  return std::make_unique<PanelMatmul>(problem, shapes.a, gemm::sharedPanels(source));
}

} // namespace ingot
