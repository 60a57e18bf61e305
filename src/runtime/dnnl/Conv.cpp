// Convolutions of float32 by oneDNN. Activations are channels-last from end to end; weights are packed once.
#include "runtime/dnnl/Dnnl.h"
#include "runtime/kernels/conv/Problem.h"
#include "runtime/kernels/elementwise/Strided.h"

namespace ingot {
namespace {

using dnnl::algorithm;
using dnnl::memory;
using dnnl::prop_kind;

/// An operand that may have to be brought into another layout before the convolution.
struct Converted {
  std::optional<StridedCopy> copy;
  DnnlPrimitive reorder;
  memory::desc from, to;
  size_t scratchOffset = 0;

  Result<void *> prepare(void *data, void *scratch) const {
    if (!copy && !reorder)
      return data;
    void *target = static_cast<char *>(scratch) + scratchOffset;
    if (copy)
      copy->run(data, target);
    else
      INGOT_CHECK(reorder.run({{DNNL_ARG_FROM, &from, data}, {DNNL_ARG_TO, &to, target}}, scratch));
    return target;
  }
};

class DnnlConv final : public BoundKernel {
public:
  size_t scratchBytes() const override { return scratch.bytes(); }
  std::string_view method() const override { return "onednn"; }
  int reorders() const override {
    auto isCopied = [](const Converted &operand) { return operand.copy || operand.reorder ? 1 : 0; };
    return isCopied(x) + (packed ? 0 : isCopied(weight)) + isCopied(bias) + isCopied(residual);
  }

  Status run(const KernelArgs &args) const override {
    INGOT_TRY(void *source, x.prepare(args.operands[ConvX], args.scratch));
    void *weights = packed ? packed->get_data_handle() : nullptr;
    if (!weights) {
      INGOT_TRY(weights, weight.prepare(args.operands[ConvWeight], args.scratch));
    }
    void *biasData = nullptr, *residualData = nullptr;
    if (hasBias) {
      INGOT_TRY(biasData, bias.prepare(args.operands[ConvBias], args.scratch));
    }
    if (hasResidual) {
      INGOT_TRY(residualData, residual.prepare(args.operands[ConvResidual], args.scratch));
    }
    INGOT_CHECK(primitive.run({{DNNL_ARG_SRC, &x.to, source},
                               {DNNL_ARG_WEIGHTS, &weight.to, weights},
                               {DNNL_ARG_DST, &resultDesc, args.results[0]},
                               {DNNL_ARG_BIAS, hasBias ? &biasDesc : nullptr, biasData},
                               {residualArgument, isFused && hasResidual ? &resultDesc : nullptr, residualData}},
                              args.scratch));
    tail.run(static_cast<float *>(args.results[0]), static_cast<const float *>(residualData));
    return {};
  }

private:
  friend class Builder;

  DnnlPrimitive primitive;
  ScratchLayout scratch;
  Converted x, weight, bias, residual;
  memory::desc resultDesc, biasDesc;
  std::shared_ptr<memory> packed;
  int residualArgument = 0;
  bool hasBias = false, hasResidual = false, isFused = true;
  Tail tail;
};

memory::dims minusOne(std::span<const int64_t> list) {
  memory::dims result;
  for (int64_t value : list)
    result.push_back(value - 1); // oneDNN counts the gaps
  return result;
}

/// oneDNN's dimensions of the weight: [groups,] out, in, kernel. Ours are [out, in/groups, …], or
/// [in, out/groups, …] when transposed.
memory::desc weightDesc(const ConvProblem &problem) {
  const TensorDesc &weight = problem.weight;
  const size_t outDim = problem.transposed ? 1 : 0, inDim = 1 - outDim;
  const int64_t groups = problem.groups;
  memory::dims sizes, strides;
  if (groups > 1) {
    sizes.push_back(groups);
    strides.push_back(weight.strides[0] * (weight.sizes[0] / groups));
  }
  for (size_t dim : {outDim, inDim}) {
    sizes.push_back(dim == 0 ? weight.sizes[0] / groups : weight.sizes[1]);
    strides.push_back(weight.strides[dim]);
  }
  sizes.insert(sizes.end(), weight.sizes.begin() + 2, weight.sizes.end());
  strides.insert(strides.end(), weight.strides.begin() + 2, weight.strides.end());
  return dnnlDesc(sizes, strides);
}

class Builder {
public:
  explicit Builder(const ConvProblem &problem) : problem(problem), kernel(std::make_unique<DnnlConv>()) {}

  Result<std::unique_ptr<BoundKernel>> build() {
    return catchDnnl("making a convolution", [&]() -> Result<std::unique_ptr<BoundKernel>> {
      kernel->resultDesc = dnnlDesc(problem.result.sizes, problem.result.strides);
      kernel->hasBias = problem.bias.has_value();
      kernel->hasResidual = problem.residual.has_value();
      convert(kernel->x, problem.x, channelsLast(DType::Float32, problem.x.sizes));
      if (problem.residual)
        convert(kernel->residual, *problem.residual, problem.result);
      if (problem.bias)
        convertBias();
      INGOT_CHECK(makePrimitive());
      return std::unique_ptr<BoundKernel>(std::move(kernel));
    });
  }

private:
  void convert(Converted &operand, const TensorDesc &from, const TensorDesc &to) {
    operand.to = dnnlDesc(to.sizes, to.strides);
    if (hasStridesOf(from, to))
      return;
    operand.copy = makeCopy(to, from);
    operand.scratchOffset = kernel->scratch.add(operand.to.get_size());
  }

  void convertBias() {
    const TensorDesc dense = TensorDesc::contiguous(DType::Float32, problem.bias->sizes);
    convert(kernel->bias, *problem.bias, dense);
    kernel->biasDesc = kernel->bias.to;
  }

  dnnl::primitive_attr attributes(bool fuse) {
    dnnl::post_ops postOps;
    if (fuse && problem.residual) {
      postOps.append_binary(algorithm::binary_add, kernel->resultDesc);
      kernel->residualArgument = DNNL_ARG_ATTR_MULTIPLE_POST_OP(0) | DNNL_ARG_SRC_1;
    }
    if (fuse)
      appendActivation(postOps, problem.activation);
    return dnnlAttr(std::move(postOps));
  }

  Status makePrimitive() {
    const memory::desc plain = weightDesc(problem);
    const bool needsTail = problem.residual || problem.activation != Activation::None;
    if (canFuse(problem.activation)) {
      try {
        return usePrimitive(plain, true);
      } catch (const dnnl::error &) {
        if (!needsTail)
          throw;
      }
    }
    kernel->isFused = false;
    kernel->tail = {problem.activation, true, problem.result.numel()};
    return usePrimitive(plain, false);
  }

  Status usePrimitive(const memory::desc &plain, bool fuse) {
    const memory::desc any(plain.get_dims(), memory::data_type::f32, memory::format_tag::any);
    const dnnl::primitive_attr attr = attributes(fuse);
    if (!problem.transposed) {
      dnnl::convolution_forward::primitive_desc pd(dnnlEngine(), prop_kind::forward_inference,
                                                   algorithm::convolution_direct, kernel->x.to, any, kernel->biasDesc,
                                                   kernel->resultDesc, problem.strides, minusOne(problem.dilations),
                                                   problem.padLow, effectivePadHigh(), attr);
      return adopt(plain, pd.weights_desc(), dnnl::convolution_forward(pd), pd.scratchpad_desc());
    }
    dnnl::deconvolution_forward::primitive_desc pd(dnnlEngine(), prop_kind::forward_inference,
                                                   algorithm::deconvolution_direct, kernel->x.to, any, kernel->biasDesc,
                                                   kernel->resultDesc, problem.strides, minusOne(problem.dilations),
                                                   problem.padLow, effectivePadHigh(), attr);
    return adopt(plain, pd.weights_desc(), dnnl::deconvolution_forward(pd), pd.scratchpad_desc());
  }

  /// The padding at the end that makes oneDNN's formula give exactly our result's sizes.
  memory::dims effectivePadHigh() const {
    memory::dims padding;
    for (size_t i = 0; i < problem.spatialRank(); ++i) {
      const int64_t in = problem.x.sizes[i + 2], out = problem.result.sizes[i + 2], stride = problem.strides[i];
      const int64_t reach = problem.dilations[i] * (problem.weight.sizes[i + 2] - 1) + 1;
      const int64_t needed = problem.transposed ? (in - 1) * stride + reach - out : (out - 1) * stride + reach - in;
      padding.push_back(needed - problem.padLow[i]);
    }
    return padding;
  }

  Status adopt(const memory::desc &plain, const memory::desc &wanted, const dnnl::primitive &primitive,
               const memory::desc &scratchpad) {
    kernel->weight.from = plain;
    kernel->weight.to = wanted;
    if (problem.weightData && plain != wanted) {
      INGOT_TRY(kernel->packed, packWeights(problem.weightData, plain, wanted));
    } else if (plain != wanted) {
      kernel->weight.scratchOffset = kernel->scratch.add(wanted.get_size());
      INGOT_TRY(kernel->weight.reorder, makeReorder(plain, wanted, kernel->scratch));
    }
    kernel->primitive = DnnlPrimitive(primitive, scratchpad, kernel->scratch);
    return {};
  }

  ConvProblem problem;
  std::unique_ptr<DnnlConv> kernel;
};

} // namespace

Result<std::unique_ptr<BoundKernel>> makeDnnlConv(const ConvProblem &problem) {
  INGOT_TRY(std::unique_ptr<BoundKernel> kernel, Builder(problem).build());
  if (!losesNan(problem.activation))
    return kernel;
  std::vector<FiniteOperand> finite{{ConvX, problem.x}, {ConvWeight, problem.weight}};
  if (problem.bias)
    finite.push_back({ConvBias, *problem.bias});
  if (problem.residual)
    finite.push_back({ConvResidual, *problem.residual});
  return makeKernel<FiniteOnly<DnnlConv>>(std::move(kernel), finite, convOfAnything(problem));
}

} // namespace ingot
