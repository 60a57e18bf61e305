// matmul of float32 by a constant matrix, which is kept as panels; and of bfloat16, where this CPU can multiply that.
#include "runtime/kernels/elementwise/Strided.h"
#include "runtime/kernels/gemm/Pairs.h"
#include "runtime/kernels/gemm/Product.h"
#include "runtime/kernels/gemm/Quads.h"
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
    const gemm::Packing packing = this->panels->view().packing;
    if (packing == gemm::Packing::Quads) {
      quads.emplace(rows, depth, stride);
      depth = gemm::quadsOf(depth);
      stride = quads->to;
    } else if (packing == gemm::Packing::Pairs) {
      pairs.emplace(a.dtype, rows, depth, stride);
      depth = gemm::pairsOf(depth);
      stride = pairs->to;
    } else if (rows > 1 && gemm::areAliased(stride)) {
      const TensorDesc apart{DType::Float32, {rows, depth}, {depth + gemm::kApart, 1}};
      copy = makeCopy(apart, {DType::Float32, {rows, depth}, {stride, 1}});
      stride = depth + gemm::kApart;
    }
  }

  std::string_view method() const override { return "panels"; }
  size_t scratchBytes() const override {
    const int64_t floats = quads ? quads->size() : copy || pairs ? rows * stride : 0;
    return static_cast<size_t>(floats) * sizeof(float);
  }

  Status run(const KernelArgs &args) const override {
    const gemm::PanelUse use(*panels, rows);
    const float *a = rowsOf(args);
    constexpr int64_t noTap = 0;
    gemm::Finish finish;
    finish.activation = activation;
    finish.bias = hasBias ? static_cast<const float *>(args.operands[MatmulBias]) : nullptr;
    finish.added = hasResidual ? static_cast<const float *>(args.operands[MatmulResidual]) : nullptr;
    const gemm::PanelView view = panels->view();
    gemm::Product product{view, {&noTap, 1}, depth, static_cast<float *>(args.results[0]), view.columns, finish};
    if (quads) {
      product.rowScales = a + rows * stride;
      product.rowZeros = reinterpret_cast<const int32_t *>(product.rowScales + rows);
    }
    gemm::multiplyMatrix(product, {a, stride, 0, rows});
    return {};
  }

private:
  /// Rows as tiles take them: where they are, or copied.
  const float *rowsOf(const KernelArgs &args) const {
    const void *given = args.operands[MatmulA];
    auto *scratch = static_cast<float *>(args.scratch);
    if (quads)
      quads->copy(static_cast<const float *>(given), scratch);
    else if (pairs)
      pairs->copy(given, scratch);
    else if (copy)
      copy->run(given, scratch);
    else
      return static_cast<const float *>(given);
    return scratch;
  }

  int64_t rows, depth, stride;
  std::shared_ptr<const gemm::Panels> panels;
  std::optional<StridedCopy> copy;
  std::optional<gemm::PairedRows> pairs;
  std::optional<gemm::QuadRows> quads;
  Activation activation;
  bool hasBias, hasResidual;
};

gemm::Packing packingFor(const MatmulProblem &problem) {
  const bool isFloat = problem.a.dtype == DType::Float32 && problem.bDataType == DType::Float32;
  if (problem.precision == Precision::Int8 && isFloat && problem.k <= gemm::kMostQuadDepth && gemm::canComputeQuads())
    return gemm::Packing::Quads;
  return problem.precision != Precision::Highest && gemm::canComputePairs() ? gemm::Packing::Pairs
                                                                            : gemm::Packing::Single;
}

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
  const gemm::Packing packing = packingFor(problem);
  if (problem.a.dtype != DType::Float32 && packing != gemm::Packing::Pairs)
    return nullptr;
  const gemm::PanelSource source{problem.bData,       {matrix.sizes[0]},
                                 {matrix.strides[0]}, matrix.sizes[1],
                                 matrix.strides[1],   false,
                                 problem.bDataType,   packing};
  return std::make_unique<PanelMatmul>(problem, shapes.a, gemm::sharedPanels(source));
}

} // namespace ingot
