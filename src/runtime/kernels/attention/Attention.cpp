// The checks of an attention step, and the choice between implementations.
#include "runtime/kernels/attention/Problem.h"

#include "runtime/kernels/elementwise/Strided.h"
#include "runtime/kernels/elementwise/Widened.h"
#include "runtime/kernels/matmul/Activation.h"

#include <algorithm>
#include <array>
#include <numeric>

namespace ingot {
namespace {

AttentionStrides stridesFor(const TensorDesc &tensor, size_t rank) {
  std::vector<int64_t> strides(rank, 0);
  const size_t missing = rank - tensor.sizes.size();
  for (size_t i = 0; i < tensor.sizes.size(); ++i)
    if (tensor.sizes[i] != 1)
      strides[missing + i] = tensor.strides[i];
  return {{strides.begin(), strides.end() - 3}, strides[rank - 3], strides[rank - 2], strides[rank - 1]};
}

/// [..., heads, queries, depth] with the heads of one query together: what follows usually joins them.
TensorDesc resultDesc(DType dtype, std::vector<int64_t> sizes) {
  std::vector<int64_t> order(sizes.size());
  std::iota(order.begin(), order.end(), int64_t(0));
  std::swap(order[sizes.size() - 3], order[sizes.size() - 2]);
  return TensorDesc::dense(dtype, std::move(sizes), order);
}

Status readTensors(const StepContext &context, AttentionProblem &problem) {
  INGOT_CHECK(checkCounts(context, 3, 4));
  INGOT_TRY(const TensorDesc *q, tensorAt(context, AttentionQ));
  INGOT_TRY(const TensorDesc *k, tensorAt(context, AttentionK));
  INGOT_TRY(const TensorDesc *v, tensorAt(context, AttentionV));
  INGOT_TRY(const TensorDesc *mask, optionalTensorAt(context, AttentionMask));
  problem.q = *q;
  problem.k = *k;
  problem.v = *v;
  if (mask)
    problem.mask = *mask;
  for (const TensorDesc *tensor : {q, k, v}) {
    if (tensor->sizes.size() < 3)
      return badShapes(context, "the operands need three dimensions at least");
    if (tensor->dtype != context.resultTypes[0].dtype)
      return badStep(context, "the operands and the result have different element types");
  }
  if (!isFloating(q->dtype))
    return badType(context, q->dtype);
  if (mask && mask->dtype != DType::Bool && mask->dtype != q->dtype)
    return badStep(context, "the mask has the wrong element type");
  return {};
}

Status checkSizes(const StepContext &context, AttentionProblem &problem) {
  auto at = [](const TensorDesc &tensor, size_t fromEnd) { return tensor.sizes[tensor.sizes.size() - fromEnd]; };
  problem.heads = at(problem.q, 3);
  problem.queries = at(problem.q, 2);
  problem.depth = at(problem.q, 1);
  problem.kvHeads = at(problem.k, 3);
  problem.keys = at(problem.k, 2);
  problem.valueDepth = at(problem.v, 1);
  const bool areShared = problem.kvHeads > 0 && problem.heads % problem.kvHeads == 0;
  const bool fits = at(problem.k, 1) == problem.depth && at(problem.v, 2) == problem.keys &&
                    at(problem.v, 3) == problem.kvHeads && (areShared || problem.heads == problem.kvHeads);
  if (!fits)
    return badShapes(context, "the sizes of query, key and value do not agree");
  for (const TensorDesc *tensor : {&problem.q, &problem.k, &problem.v}) {
    const std::span<const int64_t> leading = std::span(tensor->sizes).first(tensor->sizes.size() - 3);
    INGOT_TRY(problem.batchSizes, broadcastSizes(context, problem.batchSizes, leading));
  }
  for (int64_t size : {problem.queries, problem.keys, problem.depth, problem.valueDepth})
    if (size > kMaxExtent)
      return badShapes(context, "a size is out of range");
  return {};
}

Result<AttentionProblem> makeProblem(const StepContext &context) {
  AttentionProblem problem;
  INGOT_CHECK(readTensors(context, problem));
  INGOT_CHECK(checkSizes(context, problem));
  INGOT_TRY(problem.scale, requiredAttr<double>(context, "scale"));
  INGOT_TRY(problem.isCausal, requiredAttr<bool>(context, "causal"));
  problem.hasNanRows = context.attr<bool>("nan_rows", false);
  std::vector<int64_t> sizes = problem.batchSizes, maskSizes = problem.batchSizes;
  sizes.insert(sizes.end(), {problem.heads, problem.queries, problem.valueDepth});
  maskSizes.insert(maskSizes.end(), {problem.heads, problem.queries, problem.keys});
  if (problem.mask && !broadcastsTo(problem.mask->sizes, maskSizes))
    return badShapes(context, "the mask does not broadcast to the scores");
  const size_t rank = sizes.size();
  problem.result = resultDesc(problem.q.dtype, std::move(sizes));
  problem.qStrides = stridesFor(problem.q, rank);
  problem.kStrides = stridesFor(problem.k, rank);
  problem.vStrides = stridesFor(problem.v, rank);
  problem.resultStrides = stridesFor(problem.result, rank);
  if (problem.mask)
    problem.maskStrides = stridesFor(*problem.mask, rank);
  for (int64_t size : problem.batchSizes)
    problem.batch *= size;
  return problem;
}

/// Whether rows can be read by a matrix product: elements side by side, rows apart.
bool hasRows(const AttentionStrides &strides, int64_t rows, int64_t columns) {
  return (columns == 1 || strides.column == 1) && (rows == 1 || strides.row >= columns);
}

Result<std::vector<ResultDesc>> inferAttention(const StepContext &context) {
  INGOT_TRY(AttentionProblem problem, makeProblem(context));
  return denseResult(context, std::move(problem.result));
}

/// An operand that is copied in every call, since its rows cannot be read as they lie.
struct DenseCopy {
  AttentionOperand which;
  StridedCopy copy;
  size_t bytes;
};

/// The kernel of the same problem with dense operands.
class DenseAttention final : public BoundKernel {
public:
  DenseAttention(std::unique_ptr<BoundKernel> kernel, std::vector<DenseCopy> made)
      : inner(std::move(kernel)), copies(std::move(made)), innerBytes(aligned(inner->scratchBytes())) {}

  size_t scratchBytes() const override {
    size_t bytes = innerBytes;
    for (const DenseCopy &copy : copies)
      bytes += aligned(copy.bytes);
    return bytes;
  }

  int reorders() const override { return inner->reorders() + static_cast<int>(copies.size()); }

  Status run(const KernelArgs &args) const override {
    std::array<void *, AttentionMask + 1> operands{};
    std::ranges::copy(args.operands, operands.begin());
    auto *next = static_cast<std::byte *>(args.scratch) + innerBytes;
    for (const DenseCopy &dense : copies) {
      dense.copy.run(args.operands[dense.which], next);
      operands[dense.which] = next;
      next += aligned(dense.bytes);
    }
    return inner->run({std::span(operands).first(args.operands.size()), args.results, args.scratch});
  }

private:
  static size_t aligned(size_t bytes) { return (bytes + 63) / 64 * 64; }

  std::unique_ptr<BoundKernel> inner;
  std::vector<DenseCopy> copies;
  size_t innerBytes;
};

/// Of float32, and not empty.
Result<std::unique_ptr<BoundKernel>> bindFloatAttention(AttentionProblem problem) {
  std::vector<DenseCopy> copies;
  auto makeRows = [&](AttentionOperand which, TensorDesc &desc, AttentionStrides &strides) {
    if (hasRows(strides, desc.sizes[desc.sizes.size() - 2], desc.sizes.back()))
      return;
    TensorDesc dense = TensorDesc::contiguous(desc.dtype, desc.sizes);
    copies.push_back({which, makeCopy(dense, desc), static_cast<size_t>(desc.numel()) * sizeof(float)});
    desc = std::move(dense);
    strides = stridesFor(desc, problem.result.sizes.size());
  };
  makeRows(AttentionQ, problem.q, problem.qStrides);
  std::unique_ptr<BoundKernel> kernel = makePanelAttention(problem);
  if (!kernel) {
    makeRows(AttentionK, problem.k, problem.kStrides);
    makeRows(AttentionV, problem.v, problem.vStrides);
    INGOT_TRY(kernel, makeTiledAttention(problem));
  }
  if (copies.empty())
    return kernel;
  return makeKernel<DenseAttention>(std::move(kernel), std::move(copies));
}

/// Of float16 and bfloat16.
Result<std::unique_ptr<BoundKernel>> bindHalfAttention(const AttentionProblem &problem) {
  AttentionProblem wide = problem;
  WideOperands operands(problem.q.dtype);
  wide.q = operands.add(AttentionQ, problem.q);
  wide.k = operands.add(AttentionK, problem.k);
  wide.v = operands.add(AttentionV, problem.v);
  wide.result = widened(problem.result);
  if (problem.mask && problem.mask->dtype == problem.q.dtype)
    wide.mask = operands.add(AttentionMask, problem.mask);
  INGOT_TRY(std::unique_ptr<BoundKernel> inner, bindFloatAttention(wide));
  return std::move(operands).makeKernel(std::move(inner), problem.result);
}

Result<std::unique_ptr<BoundKernel>> bindAttention(const StepContext &context, std::span<const TensorDesc>) {
  INGOT_TRY(AttentionProblem problem, makeProblem(context));
  const DType dtype = problem.q.dtype;
  const bool isEmpty = problem.result.numel() == 0 || problem.keys == 0 || problem.depth == 0;
  if (!isEmpty && (dtype == DType::Float32 || isHalf(dtype))) {
    INGOT_TRY(auto fast, isHalf(dtype) ? bindHalfAttention(problem) : bindFloatAttention(problem));
    if (fast)
      return fast;
  }
  return makeReferenceAttention(problem);
}

} // namespace

int64_t AttentionStrides::offset(std::span<const int64_t> sizes, int64_t flat, int64_t headIndex) const {
  int64_t result = headIndex * head;
  for (size_t i = sizes.size(); i-- > 0;) {
    result += flat % sizes[i] * batch[i];
    flat /= sizes[i];
  }
  return result;
}

Result<std::unique_ptr<BoundKernel>> bindReferenceAttention(const StepContext &context, std::span<const TensorDesc>) {
  INGOT_TRY(AttentionProblem problem, makeProblem(context));
  return makeReferenceAttention(problem);
}

extern const KernelDef kernelDef_attention = {"attention", inferAttention, bindAttention, true};

} // namespace ingot
