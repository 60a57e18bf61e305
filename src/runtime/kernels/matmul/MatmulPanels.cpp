// matmul of float32 by a constant matrix, which is kept as panels.
#include "runtime/kernels/elementwise/Strided.h"
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
    if (rows > 1 && gemm::areAliased(stride)) {
      const TensorDesc apart{DType::Float32, {rows, depth}, {depth + gemm::kApart, 1}};
      copy = makeCopy(apart, {DType::Float32, {rows, depth}, {stride, 1}});
      stride = depth + gemm::kApart;
    }
  }

  size_t scratchBytes() const override { return copy ? static_cast<size_t>(rows * stride) * sizeof(float) : 0; }

  Status run(const KernelArgs &args) const override {
    const auto *a = static_cast<const float *>(args.operands[MatmulA]);
    if (copy) {
      copy->run(args.operands[MatmulA], args.scratch);
      a = static_cast<const float *>(args.scratch);
    }
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
  const gemm::PanelSource source{problem.bData,    {matrix.sizes[0]}, {matrix.strides[0]},
                                 matrix.sizes[1],  matrix.strides[1], false,
                                 problem.bDataType};
  return std::make_unique<PanelMatmul>(problem, shapes.a, gemm::sharedPanels(source));
}

} // namespace ingot
