// nms: the best box stays, those that overlap it too much go, and so on. How many stay depends on the data.
#include "runtime/kernels/elementwise/Checks.h"
#include "runtime/kernels/elementwise/Dispatch.h"
#include "runtime/kernels/elementwise/Scalar.h"

#include <algorithm>
#include <numeric>

namespace ingot {
namespace {

template <typename C> struct Box {
  C left, top, right, bottom;

  C area() const { return (right - left) * (bottom - top); }
};

template <typename C> C overlap(const Box<C> &a, const Box<C> &b) {
  const C width = std::max(C(0), std::min(a.right, b.right) - std::max(a.left, b.left));
  const C height = std::max(C(0), std::min(a.bottom, b.bottom) - std::max(a.top, b.top));
  return width * height;
}

template <typename T>
std::vector<int64_t> keptBoxes(const T *corners, const T *scores, int64_t count, double threshold) {
  using C = scalar::Compute<T>;
  std::vector<Box<C>> boxes;
  for (int64_t i = 0; i < count; ++i)
    boxes.push_back({scalar::cast<C>(corners[4 * i]), scalar::cast<C>(corners[4 * i + 1]),
                     scalar::cast<C>(corners[4 * i + 2]), scalar::cast<C>(corners[4 * i + 3])});
  std::vector<int64_t> order(static_cast<size_t>(count)), kept;
  std::iota(order.begin(), order.end(), 0);
  // NaN counts as the best, as where PyTorch sorts; of equal scores the first comes first.
  auto isBetter = [&](int64_t a, int64_t b) {
    const C left = scalar::cast<C>(scores[a]), right = scalar::cast<C>(scores[b]);
    const bool leftIsNan = left != left, rightIsNan = right != right;
    if (leftIsNan != rightIsNan)
      return leftIsNan;
    return left == right || leftIsNan ? a < b : left > right;
  };
  std::sort(order.begin(), order.end(), isBetter);
  std::vector<char> isGone(static_cast<size_t>(count), 0);
  for (size_t i = 0; i < order.size(); ++i) {
    if (isGone[i])
      continue;
    kept.push_back(order[i]);
    const Box<C> &best = boxes[static_cast<size_t>(order[i])];
    for (size_t j = i + 1; j < order.size(); ++j) {
      const Box<C> &other = boxes[static_cast<size_t>(order[j])];
      const C common = overlap(best, other);
      if (static_cast<double>(common / (best.area() + other.area() - common)) > threshold)
        isGone[j] = 1;
    }
  }
  return kept;
}

Result<std::vector<EvaluatedResult>> evaluateNms(const StepContext &context) {
  INGOT_CHECK(checkCounts(context, 2, 2));
  INGOT_TRY(const TensorDesc *boxes, tensorAt(context, 0));
  INGOT_TRY(const TensorDesc *scores, tensorAt(context, 1));
  INGOT_TRY(double threshold, requiredAttr<double>(context, "threshold"));
  if (boxes->sizes.size() != 2 || boxes->sizes[1] != 4 || scores->sizes != std::vector<int64_t>{boxes->sizes[0]} ||
      boxes->dtype != scores->dtype || !boxes->isContiguous() || !scores->isContiguous())
    return badShapes(context, "needs boxes [N, 4] and scores [N] of one type");
  const void *corners = context.operands[0].data, *values = context.operands[1].data;
  if (!corners || !values || context.resultTypes[0].dtype != DType::Int64)
    return badStep(context, "the operands have no content, or the result is not int64");
  using Kept = Result<std::vector<int64_t>>;
  INGOT_TRY(std::vector<int64_t> kept, dispatchType<FloatTypes>("nms", boxes->dtype, [&]<typename T>() -> Kept {
              return keptBoxes(static_cast<const T *>(corners), static_cast<const T *>(values), boxes->sizes[0],
                               threshold);
            }));
  EvaluatedResult result;
  result.desc = TensorDesc::contiguous(DType::Int64, {static_cast<int64_t>(kept.size())});
  const size_t bytes = kept.size() * sizeof(int64_t);
  result.data =
      std::shared_ptr<std::byte>(new std::byte[std::max<size_t>(bytes, 1)], std::default_delete<std::byte[]>());
  std::ranges::copy(kept, reinterpret_cast<int64_t *>(result.data.get()));
  std::vector<EvaluatedResult> results;
  results.push_back(std::move(result));
  return results;
}

} // namespace

extern const KernelDef kernelDef_nms = {"nms", nullptr, nullptr, false, 0, evaluateNms};

} // namespace ingot
