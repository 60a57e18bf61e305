// matmul of float32 by oneDNN, with packed weights, fused bias, activation and residual.
#include "runtime/dnnl/Dnnl.h"
#include "runtime/kernels/elementwise/Strided.h"
#include "runtime/kernels/matmul/FiniteOnly.h"
#include "runtime/kernels/matmul/Layout.h"
#include "runtime/kernels/matmul/Problem.h"

#include <string_view>

namespace ingot {
namespace {

using dnnl::memory;

/// The residual is added after the activation, which only the reference can do apart.
OtherKernel matmulOfAnything(const MatmulProblem &problem) {
  MatmulProblem plain = problem;
  if (problem.residual)
    return {[plain] { return Result<std::unique_ptr<BoundKernel>>(makeReferenceMatmul(plain)); }};
  plain.activation = Activation::None;
  return {[plain] { return makeDnnlMatmul(plain); }, problem.activation, problem.result.numel()};
}

/// An operand, copied into scratch first where oneDNN cannot read it in place.
struct Source {
  bool present = false;
  std::optional<StridedCopy> copy;
  size_t scratchOffset = 0;

  void *prepare(const KernelArgs &args, size_t index) const {
    if (!present)
      return nullptr;
    if (!copy)
      return args.operands[index];
    void *target = static_cast<char *>(args.scratch) + scratchOffset;
    copy->run(args.operands[index], target);
    return target;
  }
};

class DnnlMatmul final : public BoundKernel {
public:
  size_t scratchBytes() const override { return scratch.bytes(); }
  std::string_view method() const override { return "onednn"; }

  Status run(const KernelArgs &args) const override {
    void *weights = packed ? packed->get_data_handle() : b.prepare(args, MatmulB);
    void *added = residual.prepare(args, MatmulResidual);
    INGOT_CHECK(primitive.run({{DNNL_ARG_SRC, &aDesc, a.prepare(args, MatmulA)},
                               {DNNL_ARG_WEIGHTS, &bDesc, weights},
                               {DNNL_ARG_DST, &resultDesc, args.results[0]},
                               {biasArgument, bias.present ? &biasDesc : nullptr, bias.prepare(args, MatmulBias)},
                               {residualArgument, residualArgument ? &residualDesc : nullptr, added}},
                              args.scratch));
    tail.run(static_cast<float *>(args.results[0]), static_cast<const float *>(added));
    return {};
  }

private:
  friend class Builder;

  DnnlPrimitive primitive;
  ScratchLayout scratch;
  Source a, b, bias, residual;
  memory::desc aDesc, bDesc, resultDesc, biasDesc, residualDesc;
  int biasArgument = DNNL_ARG_BIAS, residualArgument = 0;
  std::shared_ptr<memory> packed;
  Tail tail;
};

memory::desc descOf(const TensorDesc &desc) {
  const TensorDesc sane = withSaneStrides(desc);
  return dnnlDesc(sane.sizes, sane.strides);
}

class Builder {
public:
  explicit Builder(const MatmulProblem &problem) : problem(problem), kernel(std::make_unique<DnnlMatmul>()) {}

  Result<std::unique_ptr<BoundKernel>> build() {
    const size_t rank = problem.result.sizes.size();
    TensorDesc a = asBatchedMatrix(problem.a, rank), b = asBatchedMatrix(problem.b, rank);
    if (!isGemmLayout(a))
      a = copied(kernel->a, a);
    if (!isGemmLayout(b))
      b = copied(kernel->b, b), problem.bData = nullptr;
    shapes = simplifyMatmul(a, b, problem.result);
    addPostOps();
    return catchDnnl("making a matmul", [&]() -> Result<std::unique_ptr<BoundKernel>> {
      dnnl::matmul::primitive_desc pd = describe();
      // oneDNN's own reference is what it takes for odd broadcasts; copies make them even.
      const bool isSlow = std::string_view(pd.impl_info_str()).starts_with("ref");
      if (isSlow && rank > 3 && shapes.result.sizes.size() == rank) {
        spreadBatches(a, b);
        pd = describe();
      }
      return finish(pd);
    });
  }

private:
  /// Row-major, filled from the operand before every run.
  TensorDesc copied(Source &source, const TensorDesc &desc) {
    TensorDesc dense = TensorDesc::contiguous(desc.dtype, desc.sizes);
    source.copy = makeCopy(dense, desc);
    source.scratchOffset = kernel->scratch.add(static_cast<size_t>(dense.numel()) * sizeof(float));
    return dense;
  }

  /// Repeats both operands over all batches.
  void spreadBatches(const TensorDesc &a, const TensorDesc &b) {
    auto spread = [&](Source &source, const TensorDesc &original, TensorDesc current) {
      for (size_t i = 0; i + 2 < current.sizes.size(); ++i)
        current.sizes[i] = problem.result.sizes[i];
      TensorDesc dense = TensorDesc::contiguous(current.dtype, current.sizes);
      source.copy = makeCopy(dense, original);
      source.scratchOffset = kernel->scratch.add(static_cast<size_t>(dense.numel()) * sizeof(float));
      return dense;
    };
    const TensorDesc fullA = spread(kernel->a, problem.a, a);
    const TensorDesc fullB = spread(kernel->b, problem.b, b);
    problem.bData = nullptr;
    shapes = simplifyMatmul(fullA, fullB, problem.result);
    // Post-ops describe tensors by the result's shape, which has changed.
    postOps = {};
    kernel->biasDesc = {};
    addPostOps();
  }

  /// A bias per column is oneDNN's own; others are spread to the result's shape and added.
  void addPostOps() {
    const memory::desc full = descOf(shapes.result);
    kernel->resultDesc = full;
    if (problem.bias) {
      kernel->bias.present = true;
      const TensorDesc &bias = *problem.bias;
      const bool isPerColumn = !bias.sizes.empty() && bias.sizes.back() == problem.n && bias.numel() == problem.n;
      TensorDesc target = problem.result;
      if (isPerColumn)
        target = TensorDesc::contiguous(bias.dtype, {problem.n});
      if (!isPerColumn || (problem.n != 1 && bias.strides.back() != 1))
        spreadInto(kernel->bias, target, bias);
      kernel->biasDesc = full;
      if (isPerColumn)
        kernel->biasDesc = columnDesc();
      else
        kernel->biasArgument = appendAdd(full);
    }
    const bool isFused = canFuse(problem.activation);
    if (isFused)
      appendActivation(postOps, problem.activation);
    else
      kernel->tail = {problem.activation, false, problem.result.numel()};
    if (problem.residual) {
      kernel->residual.present = true;
      kernel->residualDesc = full;
      if (!problem.residual->isContiguous())
        spreadInto(kernel->residual, problem.result, *problem.residual);
      if (isFused)
        kernel->residualArgument = appendAdd(full);
    }
  }

  void spreadInto(Source &source, const TensorDesc &target, const TensorDesc &from) {
    if (source.copy)
      return;
    TensorDesc flat = from;
    while (flat.sizes.size() > target.sizes.size()) // a bias of sizes [1, …, n] for a target [n]
      flat.sizes.erase(flat.sizes.begin()), flat.strides.erase(flat.strides.begin());
    source.copy = makeCopy(target, flat);
    source.scratchOffset = kernel->scratch.add(static_cast<size_t>(target.numel()) * sizeof(float));
  }

  int appendAdd(const memory::desc &desc) {
    postOps.append_binary(dnnl::algorithm::binary_add, desc);
    return DNNL_ARG_ATTR_MULTIPLE_POST_OP(postOps.len() - 1) | DNNL_ARG_SRC_1;
  }

  memory::desc columnDesc() const {
    std::vector<int64_t> sizes(shapes.result.sizes.size(), 1);
    sizes.back() = problem.n;
    return descOf(TensorDesc::contiguous(DType::Float32, std::move(sizes)));
  }

  dnnl::matmul::primitive_desc describe() {
    kernel->aDesc = descOf(shapes.a);
    kernel->bDesc = descOf(shapes.b);
    memory::desc weights = kernel->bDesc;
    if (problem.bData)
      weights = memory::desc(kernel->bDesc.get_dims(), memory::data_type::f32, memory::format_tag::any);
    const bool hasBias = problem.bias && kernel->biasArgument == DNNL_ARG_BIAS;
    const dnnl::primitive_attr attr = dnnlAttr(postOps);
    if (hasBias)
      return {dnnlEngine(), kernel->aDesc, weights, kernel->biasDesc, kernel->resultDesc, attr};
    return {dnnlEngine(), kernel->aDesc, weights, kernel->resultDesc, attr};
  }

  Result<std::unique_ptr<BoundKernel>> finish(const dnnl::matmul::primitive_desc &pd) {
    if (problem.bData && pd.weights_desc() != kernel->bDesc) {
      INGOT_TRY(kernel->packed, packWeights(problem.bData, kernel->bDesc, pd.weights_desc()));
      kernel->bDesc = pd.weights_desc();
    }
    kernel->a.present = kernel->b.present = true;
    kernel->primitive = DnnlPrimitive(dnnl::matmul(pd), pd.scratchpad_desc(), kernel->scratch);
    return std::unique_ptr<BoundKernel>(std::move(kernel));
  }

  MatmulProblem problem;
  std::unique_ptr<DnnlMatmul> kernel;
  MatmulShapes shapes;
  dnnl::post_ops postOps;
};

} // namespace

Result<std::unique_ptr<BoundKernel>> makeDnnlMatmul(const MatmulProblem &problem) {
  INGOT_TRY(std::unique_ptr<BoundKernel> kernel, Builder(problem).build());
  if (!losesNan(problem.activation))
    return kernel;
  std::vector<FiniteOperand> finite{{MatmulA, problem.a}, {MatmulB, problem.b}};
  if (problem.bias)
    finite.push_back({MatmulBias, *problem.bias});
  return makeKernel<FiniteOnly<DnnlMatmul>>(std::move(kernel), finite, matmulOfAnything(problem));
}

} // namespace ingot
