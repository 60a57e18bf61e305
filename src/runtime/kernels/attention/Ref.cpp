// The reference: any floating-point type, any strides, one query at a time, in double.
#include "runtime/kernels/attention/Problem.h"
#include "runtime/kernels/elementwise/Dispatch.h"
#include "runtime/kernels/elementwise/Scalar.h"
#include "runtime/threads/Pool.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace ingot {
namespace {

template <typename T> class ReferenceAttention final : public BoundKernel {
public:
  explicit ReferenceAttention(const AttentionProblem &problem) : problem(problem) {}

  Status run(const KernelArgs &args) const override {
    const int64_t rows = problem.batch * problem.heads * problem.queries;
    parallelFor(0, rows, 4, [&](int64_t begin, int64_t end) {
      std::vector<double> scores(static_cast<size_t>(problem.keys));
      for (int64_t i = begin; i < end; ++i)
        query(args, i / (problem.heads * problem.queries), i / problem.queries % problem.heads, i % problem.queries,
              scores);
    });
    return {};
  }

private:
  const T *operand(const KernelArgs &args, AttentionOperand which, const AttentionStrides &strides, int64_t batch,
                   int64_t head) const {
    return static_cast<const T *>(args.operands[which]) + strides.offset(problem.batchSizes, batch, head);
  }

  double maskAt(const KernelArgs &args, int64_t batch, int64_t head, int64_t l, int64_t s) const {
    constexpr double hidden = -std::numeric_limits<double>::infinity();
    if (problem.isCausal && s > l)
      return hidden;
    if (!problem.mask)
      return 0;
    const AttentionStrides &strides = problem.maskStrides;
    const int64_t offset = strides.offset(problem.batchSizes, batch, head) + l * strides.row + s * strides.column;
    if (problem.mask->dtype == DType::Bool)
      return static_cast<const bool *>(args.operands[AttentionMask])[offset] ? 0 : hidden;
    return scalar::cast<double>(static_cast<const T *>(args.operands[AttentionMask])[offset]);
  }

  /// Fills the weights of all keys. A query that sees nothing has only zeros, or NaN.
  void weigh(const KernelArgs &args, int64_t batch, int64_t head, int64_t l, std::vector<double> &scores) const {
    const T *q = operand(args, AttentionQ, problem.qStrides, batch, head) + l * problem.qStrides.row;
    const T *k = operand(args, AttentionK, problem.kStrides, batch, problem.kvHeadOf(head));
    double largest = -std::numeric_limits<double>::infinity(), sum = 0;
    for (int64_t s = 0; s < problem.keys; ++s) {
      double dot = 0;
      for (int64_t e = 0; e < problem.depth; ++e)
        dot += scalar::cast<double>(q[e * problem.qStrides.column]) *
               scalar::cast<double>(k[s * problem.kStrides.row + e * problem.kStrides.column]);
      scores[static_cast<size_t>(s)] = dot * problem.scale + maskAt(args, batch, head, l, s);
      largest = scalar::maximum(largest, scores[static_cast<size_t>(s)]);
    }
    const double hidden = problem.hasNanRows ? std::numeric_limits<double>::quiet_NaN() : 0;
    const bool seesNothing = largest == -std::numeric_limits<double>::infinity();
    for (double &score : scores)
      sum += score = seesNothing ? 0 : std::exp(score - largest);
    for (double &score : scores)
      score = seesNothing ? hidden : score / sum;
  }

  void query(const KernelArgs &args, int64_t batch, int64_t head, int64_t l, std::vector<double> &scores) const {
    weigh(args, batch, head, l, scores);
    const T *v = operand(args, AttentionV, problem.vStrides, batch, problem.kvHeadOf(head));
    const AttentionStrides &out = problem.resultStrides;
    T *result = static_cast<T *>(args.results[0]) + out.offset(problem.batchSizes, batch, head) + l * out.row;
    for (int64_t f = 0; f < problem.valueDepth; ++f) {
      double sum = 0;
      for (int64_t s = 0; s < problem.keys; ++s)
        sum += scores[static_cast<size_t>(s)] *
               scalar::cast<double>(v[s * problem.vStrides.row + f * problem.vStrides.column]);
      result[f * out.column] = scalar::cast<T>(sum);
    }
  }

  AttentionProblem problem;
};

} // namespace

Result<std::unique_ptr<BoundKernel>> makeReferenceAttention(const AttentionProblem &problem) {
  return dispatchType<FloatTypes>("attention", problem.q.dtype,
                                  [&]<typename T>() { return makeKernel<ReferenceAttention<T>>(problem); });
}

} // namespace ingot
