// Calls the function that codegen made of a cluster of ops.
#include "base/Bytes.h"
#include "runtime/TensorDesc.h"
#include "runtime/kernels/cluster/ClusterLoop.h"
#include "runtime/kernels/cluster/ClusterSymbol.h"
#include "runtime/kernels/elementwise/Checks.h"
#include "runtime/kernels/view/StridedCopy.h"

#include <algorithm>
#include <array>

namespace ingot {

extern const KernelDef kernelDef_cluster;

namespace {

/// The iteration of a cluster: the sizes that operands and results broadcast to.
struct Iteration {
  std::vector<int64_t> sizes;
  size_t rowRank = 0;
  bool isReduce = false;
};

Result<Iteration> iterationOf(const StepContext &context) {
  Iteration iteration;
  for (size_t i = 0; i < context.operands.size(); ++i) {
    INGOT_TRY(const TensorDesc *desc, tensorAt(context, i));
    INGOT_TRY(iteration.sizes, broadcastSizes(context, iteration.sizes, desc->sizes));
  }
  // Constants inside the cluster can make it larger than its operands.
  for (const Value &type : context.resultTypes) {
    std::vector<int64_t> sizes = type.shape;
    std::ranges::replace(sizes, kDynamic, int64_t(1));
    INGOT_TRY(iteration.sizes, broadcastSizes(context, iteration.sizes, sizes));
  }
  iteration.isReduce = context.attr<bool>("reduce", false);
  if (!iteration.isReduce)
    return iteration;
  INGOT_TRY(int64_t rank, requiredAttr<int64_t>(context, "reduce_rank"));
  if (rank < 0 || static_cast<size_t>(rank) > iteration.sizes.size())
    return badStep(context, "attribute 'reduce_rank' is out of range");
  iteration.rowRank = static_cast<size_t>(rank);
  return iteration;
}

/// A dynamic size is that of the iteration; a result that is smaller says so statically.
Result<std::vector<int64_t>> resultSizes(const StepContext &context, const Iteration &iteration, const Value &type) {
  if (type.kind != ValueKind::Tensor || type.shape.size() > iteration.sizes.size())
    return badStep(context, "a result has another rank than the cluster");
  std::vector<int64_t> sizes = type.shape;
  size_t added = iteration.sizes.size() - sizes.size();
  for (size_t i = 0; i < sizes.size(); ++i)
    if (sizes[i] == kDynamic)
      sizes[i] = iteration.sizes[i + added];
  return sizes;
}

/// The layout of the first operand that has every element once: channels-last stays channels-last.
TensorDesc resultLayout(const StepContext &context, const Iteration &iteration, DType dtype,
                        std::vector<int64_t> sizes) {
  if (!iteration.isReduce && sizes == iteration.sizes)
    for (const BoundOperand &operand : context.operands)
      if (operand.desc.sizes == sizes && denseOrder(operand.desc))
        return denseLike(dtype, std::move(sizes), operand.desc);
  return TensorDesc::contiguous(dtype, std::move(sizes));
}

Result<std::vector<ResultDesc>> inferCluster(const StepContext &context) {
  INGOT_TRY(Iteration iteration, iterationOf(context));
  std::vector<ResultDesc> results;
  for (const Value &type : context.resultTypes) {
    INGOT_TRY(std::vector<int64_t> sizes, resultSizes(context, iteration, type));
    ResultDesc result;
    result.desc = resultLayout(context, iteration, type.dtype, std::move(sizes));
    INGOT_CHECK(checkedBytes(result.desc));
    // A smaller result is written more than once for one element of the operand, and the loops of a
    // reduction read their operands again after the first of several results is written.
    result.mayOverwrite =
        result.desc.sizes == iteration.sizes && (!iteration.isReduce || context.resultTypes.size() == 1);
    results.push_back(std::move(result));
  }
  return results;
}

ClusterTensor clusterTensor(const TensorDesc &desc, const Iteration &iteration) {
  ClusterTensor tensor{std::vector<int64_t>(iteration.sizes.size(), 0), static_cast<int64_t>(byteSize(desc.dtype))};
  size_t added = iteration.sizes.size() - desc.sizes.size();
  for (size_t i = 0; i < desc.sizes.size(); ++i)
    if (desc.sizes[i] != 1)
      tensor.strides[i + added] = desc.strides[i];
  return tensor;
}

struct ClusterKernel : BoundKernel {
  /// An operand whose rows have to be made contiguous before the function sees them.
  struct RowCopy {
    size_t operand;
    StridedCopy copy;
    size_t scratchOffset;
  };

  ClusterFunction function = nullptr;
  ClusterLoop loop;
  std::vector<RowCopy> copies;
  size_t scratch = 0;

  size_t scratchBytes() const override { return scratch; }
  int reorders() const override { return static_cast<int>(copies.size()); }

  Status run(const KernelArgs &args) const override {
    std::array<void *, ClusterLoop::kMaxTensors> pointers;
    std::ranges::copy(args.operands, pointers.begin());
    std::ranges::copy(args.results, pointers.begin() + static_cast<ptrdiff_t>(args.operands.size()));
    for (const RowCopy &copy : copies) {
      void *target = static_cast<std::byte *>(args.scratch) + copy.scratchOffset;
      copy.copy.run(pointers[copy.operand], target);
      pointers[copy.operand] = target;
    }
    loop.run(function, std::span(pointers).first(args.operands.size() + args.results.size()));
    return {};
  }
};

/// Whether neighbours of a row lie far apart: a row is read several times, each time by whole cache lines.
bool isScattered(const Iteration &iteration, const ClusterTensor &tensor) {
  constexpr int64_t nearBytes = 16, fewElements = 8;
  int64_t elements = 1, stride = 0;
  for (size_t i = iteration.sizes.size(); i-- > iteration.sizes.size() - iteration.rowRank;) {
    if (elements == 1 && iteration.sizes[i] != 1)
      stride = tensor.strides[i];
    elements *= iteration.sizes[i];
  }
  return elements > fewElements && stride * tensor.elementBytes > nearBytes;
}

/// Gives `tensor` contiguous rows, by a copy. Outer dimensions along which it is broadcast stay so.
Status addRowCopy(ClusterKernel &kernel, size_t operand, const Iteration &iteration, ClusterTensor &tensor) {
  std::vector<int64_t> sizes = iteration.sizes;
  for (size_t i = 0; i < sizes.size() - iteration.rowRank; ++i)
    if (tensor.strides[i] == 0)
      sizes[i] = 1;
  TensorDesc target = TensorDesc::contiguous(DType::UInt8, sizes);
  std::optional<int64_t> count = checkedElementCount(sizes);
  std::optional<int64_t> bytes = count ? checkedMul(*count, tensor.elementBytes) : std::nullopt;
  std::optional<size_t> end = bytes ? checkedAdd(kernel.scratch, static_cast<size_t>(*bytes) + 63) : std::nullopt;
  if (!end)
    return unsupportedError("cluster: a broadcast operand does not fit into memory");
  StridedCopy copy(sizes, tensor.strides, target.strides, static_cast<size_t>(tensor.elementBytes));
  kernel.copies.push_back({operand, std::move(copy), kernel.scratch});
  kernel.scratch = *end / 64 * 64;
  for (size_t i = 0; i < sizes.size(); ++i)
    tensor.strides[i] = sizes[i] == 1 ? 0 : target.strides[i];
  return {};
}

/// Results are written through the strides of the loop: every one must fit the iteration.
Status checkResults(const StepContext &context, const Iteration &iteration, std::span<const TensorDesc> results) {
  for (const TensorDesc &result : results) {
    size_t added = iteration.sizes.size() - result.sizes.size();
    bool isFull = true;
    bool isReduced = true;
    for (size_t i = 0; i < result.sizes.size(); ++i) {
      bool inRow = i + added >= iteration.sizes.size() - iteration.rowRank;
      if (inRow) {
        isFull &= result.sizes[i] == iteration.sizes[i + added];
        isReduced &= result.sizes[i] == 1;
      }
    }
    if (iteration.isReduce && !isFull && !isReduced)
      return badShapes(context, "a result has neither whole rows nor one element a row");
  }
  return {};
}

/// The compiled function, if it is one for these operands and results.
Result<ClusterFunction> findFunction(const StepContext &context, std::span<const TensorDesc> results) {
  INGOT_TRY(std::string symbol, requiredAttr<std::string>(context, "symbol"));
  std::vector<DType> from, to;
  for (const BoundOperand &operand : context.operands)
    from.push_back(operand.desc.dtype);
  for (const TensorDesc &result : results)
    to.push_back(result.dtype);
  if (!symbol.ends_with(clusterSignature(context.attr<bool>("reduce", false), from, to)))
    return badStep(context, "the function `" + symbol + "` is for other types");
  void *address = context.findSymbol ? context.findSymbol(symbol) : nullptr;
  if (!address)
    return badStep(context, "the kernel library has no function `" + symbol + "`");
  return reinterpret_cast<ClusterFunction>(address);
}

Result<std::unique_ptr<BoundKernel>> bindCluster(const StepContext &context, std::span<const TensorDesc> results) {
  INGOT_TRY(Iteration iteration, iterationOf(context));
  INGOT_CHECK(checkResults(context, iteration, results));
  auto kernel = std::make_unique<ClusterKernel>();
  INGOT_TRY(kernel->function, findFunction(context, results));
  if (context.operands.size() + results.size() > ClusterLoop::kMaxTensors || results.empty())
    return badStep(context, "too many operands");

  std::vector<ClusterTensor> tensors;
  for (size_t i = 0; i < context.operands.size(); ++i) {
    ClusterTensor tensor = clusterTensor(context.operands[i].desc, iteration);
    if (iteration.isReduce &&
        (!mergesRow(iteration.sizes, tensor.strides, iteration.rowRank) || isScattered(iteration, tensor)))
      INGOT_CHECK(addRowCopy(*kernel, i, iteration, tensor));
    tensors.push_back(std::move(tensor));
  }
  size_t orderBy = tensors.size();
  for (const TensorDesc &result : results) {
    // The first result with all elements knows the best order.
    if (result.sizes == iteration.sizes && results[orderBy - context.operands.size()].sizes != iteration.sizes)
      orderBy = tensors.size();
    tensors.push_back(clusterTensor(result, iteration));
  }
  kernel->loop = iteration.isReduce ? ClusterLoop::rows(iteration.sizes, tensors, iteration.rowRank)
                                    : ClusterLoop::elementwise(iteration.sizes, tensors, orderBy);
  return std::unique_ptr<BoundKernel>(std::move(kernel));
}

} // namespace

const KernelDef kernelDef_cluster = {"cluster", inferCluster, bindCluster, true, ~uint32_t(0)};

} // namespace ingot
