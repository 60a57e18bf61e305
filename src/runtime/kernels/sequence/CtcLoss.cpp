// ctc_loss: the forward algorithm over the labels with blanks between them, in logarithms.
#include "runtime/kernels/elementwise/Checks.h"
#include "runtime/kernels/elementwise/Dispatch.h"
#include "runtime/kernels/elementwise/Scalar.h"
#include "runtime/threads/Pool.h"

#include <atomic>
#include <cmath>
#include <limits>

namespace ingot {
namespace {

struct CtcProblem {
  TensorDesc probs, targets;
  DType inputLengths = DType::Int64, targetLengths = DType::Int64;
  int64_t blank = 0;
};

bool isIndex(DType dtype) { return dtype == DType::Int64 || dtype == DType::Int32; }

Result<CtcProblem> makeProblem(const StepContext &context) {
  INGOT_CHECK(checkCounts(context, 4, 4));
  INGOT_TRY(const TensorDesc *probs, tensorAt(context, 0));
  INGOT_TRY(const TensorDesc *targets, tensorAt(context, 1));
  INGOT_TRY(const TensorDesc *inputs, tensorAt(context, 2));
  INGOT_TRY(const TensorDesc *labels, tensorAt(context, 3));
  INGOT_TRY(int64_t blank, requiredAttr<int64_t>(context, "blank"));
  if (probs->sizes.size() != 3 || targets->sizes.empty() || targets->sizes.size() > 2)
    return badShapes(context, "needs log probabilities [T, N, C] and lists of labels");
  const int64_t batch = probs->sizes[1];
  if (inputs->sizes != std::vector<int64_t>{batch} || labels->sizes != std::vector<int64_t>{batch} ||
      (targets->sizes.size() == 2 && targets->sizes[0] != batch))
    return badShapes(context, "needs one length for each of the sequences");
  if (!isIndex(targets->dtype) || !isIndex(inputs->dtype) || !isIndex(labels->dtype))
    return badStep(context, "labels and lengths are no integers");
  if (blank < 0 || blank >= probs->sizes[2] || context.resultTypes[0].dtype != probs->dtype)
    return badStep(context, "the blank is no class, or the result has the wrong type");
  return CtcProblem{*probs, *targets, inputs->dtype, labels->dtype, blank};
}

int64_t readIndex(const void *data, DType dtype, int64_t i) {
  return dtype == DType::Int32 ? static_cast<const int32_t *>(data)[i] : static_cast<const int64_t *>(data)[i];
}

template <typename T> class CtcLoss final : public BoundKernel {
  using C = scalar::Compute<T>;
  static constexpr C kNever = -std::numeric_limits<C>::infinity();

  struct Sequence {
    const T *probs;
    int64_t steps, labels, start;
  };

public:
  explicit CtcLoss(CtcProblem p) : problem(std::move(p)) {}

  Status run(const KernelArgs &args) const override {
    const int64_t batch = problem.probs.sizes[1];
    std::vector<Sequence> sequences;
    INGOT_CHECK(readSequences(args, sequences));
    std::atomic<bool> isGood = true;
    parallelFor(0, batch, 1, [&](int64_t begin, int64_t end) {
      for (int64_t n = begin; n < end; ++n) {
        std::vector<int64_t> classes;
        if (!readClasses(args, sequences[static_cast<size_t>(n)], classes)) {
          isGood = false;
          continue;
        }
        const C loss = -likelihood(sequences[static_cast<size_t>(n)], classes);
        static_cast<T *>(args.results[0])[n] = scalar::cast<T>(loss);
      }
    });
    return isGood ? Status() : usageError("ctc_loss: a label is no class");
  }

private:
  Status readSequences(const KernelArgs &args, std::vector<Sequence> &sequences) const {
    const int64_t batch = problem.probs.sizes[1], classes = problem.probs.sizes[2];
    const bool isFlat = problem.targets.sizes.size() == 1;
    const int64_t width = problem.targets.sizes.back();
    int64_t start = 0;
    for (int64_t n = 0; n < batch; ++n) {
      const int64_t steps = readIndex(args.operands[2], problem.inputLengths, n);
      const int64_t labels = readIndex(args.operands[3], problem.targetLengths, n);
      if (!isFlat)
        start = n * width;
      const int64_t room = isFlat ? width - start : width;
      if (steps < 0 || steps > problem.probs.sizes[0] || labels < 0 || labels > room)
        return usageError("ctc_loss: the length of sequence " + std::to_string(n) + " is out of range");
      sequences.push_back({static_cast<const T *>(args.operands[0]) + n * classes, steps, labels, start});
      start += labels;
    }
    return {};
  }

  /// The labels with a blank before, between and after them; false where one is no class.
  bool readClasses(const KernelArgs &args, const Sequence &sequence, std::vector<int64_t> &classes) const {
    classes.assign(static_cast<size_t>(2 * sequence.labels + 1), problem.blank);
    for (int64_t i = 0; i < sequence.labels; ++i) {
      const int64_t label = readIndex(args.operands[1], problem.targets.dtype, sequence.start + i);
      if (label < 0 || label >= problem.probs.sizes[2])
        return false;
      classes[static_cast<size_t>(2 * i + 1)] = label;
    }
    return true;
  }

  static C addLogs(C a, C b, C c) {
    const C peak = std::max({a, b, c});
    if (peak == kNever)
      return kNever;
    return std::log(std::exp(a - peak) + std::exp(b - peak) + std::exp(c - peak)) + peak;
  }

  C likelihood(const Sequence &sequence, const std::vector<int64_t> &classes) const {
    const size_t count = classes.size();
    if (sequence.steps == 0)
      return count == 1 ? C(0) : kNever;
    const int64_t stride = problem.probs.sizes[1] * problem.probs.sizes[2];
    auto probability = [&](int64_t t, size_t s) { return scalar::cast<C>(sequence.probs[t * stride + classes[s]]); };
    std::vector<C> alpha(count, kNever), next(count);
    alpha[0] = probability(0, 0);
    if (count > 1)
      alpha[1] = probability(0, 1);
    for (int64_t t = 1; t < sequence.steps; ++t) {
      for (size_t s = 0; s < count; ++s) {
        const bool skips = s > 1 && classes[s] != classes[s - 2];
        next[s] = addLogs(alpha[s], s > 0 ? alpha[s - 1] : kNever, skips ? alpha[s - 2] : kNever) + probability(t, s);
      }
      std::swap(alpha, next);
    }
    return addLogs(alpha[count - 1], count > 1 ? alpha[count - 2] : kNever, kNever);
  }

  CtcProblem problem;
};

Result<std::vector<ResultDesc>> inferCtc(const StepContext &context) {
  INGOT_TRY(CtcProblem problem, makeProblem(context));
  return denseResult(context, TensorDesc::contiguous(problem.probs.dtype, {problem.probs.sizes[1]}));
}

Result<std::unique_ptr<BoundKernel>> bindCtc(const StepContext &context, std::span<const TensorDesc>) {
  INGOT_TRY(CtcProblem problem, makeProblem(context));
  return dispatchType<FloatTypes>("ctc_loss", problem.probs.dtype,
                                  [&]<typename T>() { return makeKernel<CtcLoss<T>>(std::move(problem)); });
}

} // namespace

extern const KernelDef kernelDef_ctc_loss = {"ctc_loss", inferCtc, bindCtc, false};

} // namespace ingot
