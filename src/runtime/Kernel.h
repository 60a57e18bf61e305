// What a kernel is to the executor. A family of kernels lives in kernels/<family>/ and lists its
// kernels in kernels/kernels.inc; the registry is made from that list.
#pragma once

#include "base/Result.h"
#include "runtime/Methods.h"
#include "runtime/Plan.h"
#include "runtime/Precision.h"

#include <functional>
#include <memory>
#include <optional>
#include <span>

namespace ingot {

/// Shape and placement of a tensor, without its data. Strides are in elements.
struct TensorDesc {
  DType dtype = DType::Float32;
  std::vector<int64_t> sizes;
  std::vector<int64_t> strides;

  int64_t numel() const;
  bool isContiguous() const;
  static TensorDesc contiguous(DType dtype, std::vector<int64_t> sizes);
  /// Dense, with memory order given by `order` (outermost dimension first), e.g. {0,2,3,1} for NHWC.
  static TensorDesc dense(DType dtype, std::vector<int64_t> sizes, std::span<const int64_t> order);
};

using ScalarValue = std::variant<int64_t, double, bool>;

/// An operand as seen while a plan is bound to sizes. `data` is set for constants only;
/// `scalar` is set for scalars.
struct BoundOperand {
  bool present = false;
  TensorDesc desc;
  const void *data = nullptr;
  std::optional<ScalarValue> scalar;
};

/// How a result is produced: dense memory of its own, or a view of operand `viewOf`.
struct ResultDesc {
  TensorDesc desc;
  int viewOf = -1;
  int64_t viewOffset = 0; ///< in elements, from the operand's first element
  std::optional<ScalarValue> scalar;
  bool mayOverwrite = true; ///< false: no operand's memory, whatever KernelDef::inPlaceOperands says
};

/// Everything a kernel can know about its step while binding.
struct StepContext {
  const Step &step;
  std::span<const Value> resultTypes;
  std::span<const BoundOperand> operands;
  std::function<void *(const std::string &symbol)> findSymbol; ///< in the plan's kernel library
  Precision precision = Precision::Highest;                    ///< of products and convolutions
  Method method = Method::Usual;                               ///< likewise

  template <typename T> T attr(std::string_view name, T fallback) const {
    auto it = step.attributes.find(name);
    if (it == step.attributes.end())
      return fallback;
    const T *value = std::get_if<T>(&it->second);
    return value ? *value : fallback;
  }
};

/// What a running kernel gets: data pointers in the order of operands, then results, and scratch.
/// A pointer to a view already points at the view's first element.
struct KernelArgs {
  std::span<void *const> operands;
  std::span<void *const> results;
  void *scratch = nullptr;
};

/// A kernel bound to sizes. Immutable after creation: several threads may run it at once.
class BoundKernel {
public:
  virtual ~BoundKernel() = default;
  /// Bytes of 64-byte-aligned scratch memory that run() needs.
  virtual size_t scratchBytes() const { return 0; }
  virtual Status run(const KernelArgs &args) const = 0;
  /// Operands that every run copies into another layout first.
  virtual int reorders() const { return 0; }
  /// Which of several implementations this is; empty where there is one only.
  virtual std::string_view method() const { return {}; }
};

/// A result whose sizes nobody knew before its content: contiguous memory of its own, or a number.
struct EvaluatedResult {
  TensorDesc desc;
  std::shared_ptr<std::byte> data;
  std::optional<ScalarValue> scalar;
};

struct KernelDef {
  const char *name;
  /// Result shapes and layouts from the operands. Never trusts attributes or shapes of a file.
  Result<std::vector<ResultDesc>> (*infer)(const StepContext &);
  /// Null for pure views and scalar computations, which need no run-time work.
  Result<std::unique_ptr<BoundKernel>> (*bind)(const StepContext &, std::span<const TensorDesc> results);
  /// Operands may have any strides; when false the executor makes them contiguous first.
  bool acceptsStrides;
  /// Bit i: the kernel may write its first result over operand i, if both have the same dtype, sizes and
  /// strides. The executor does so where nobody reads that operand afterwards.
  uint32_t inPlaceOperands = 0;
  /// Set instead of infer and bind where the results' sizes depend on the operands' content (nonzero, item, unique).
  /// Here every tensor operand has its `data`.
  Result<std::vector<EvaluatedResult>> (*evaluate)(const StepContext &) = nullptr;
  bool hasMethods = false; ///< there are several implementations, see StepContext::method
};

/// nullptr when there is no such kernel.
const KernelDef *findKernel(std::string_view name);

/// All kernels, sorted by name.
std::span<const KernelDef *const> allKernels();

} // namespace ingot
