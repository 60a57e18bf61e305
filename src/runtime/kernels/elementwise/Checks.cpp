#include "runtime/kernels/elementwise/Checks.h"

#include "base/Bytes.h"
#include "runtime/TensorDesc.h"

#include <algorithm>

namespace ingot {

Error badStep(const StepContext &context, std::string_view what) {
  return corruptError(context.step.kernel + ": " + std::string(what));
}

Error badShapes(const StepContext &context, std::string_view what) {
  std::string text = context.step.kernel + ": " + std::string(what) + " (operands:";
  for (const BoundOperand &operand : context.operands)
    text += " " + (operand.present && !operand.scalar ? describe(operand.desc) : std::string("-"));
  return usageError(text + ")");
}

Error badType(const StepContext &context, DType dtype) {
  return unsupportedError(context.step.kernel + ": " + std::string(dtypeName(dtype)) + " is not supported");
}

Status checkCounts(const StepContext &context, size_t low, size_t high, size_t results) {
  if (context.operands.size() < low || context.operands.size() > high)
    return badStep(context, "wrong number of operands: " + std::to_string(context.operands.size()));
  if (context.resultTypes.size() != results)
    return badStep(context, "wrong number of results: " + std::to_string(context.resultTypes.size()));
  return {};
}

Result<const TensorDesc *> optionalTensorAt(const StepContext &context, size_t index) {
  if (index >= context.operands.size() || !context.operands[index].present)
    return static_cast<const TensorDesc *>(nullptr);
  const BoundOperand &operand = context.operands[index];
  if (operand.scalar)
    return badStep(context, "operand " + std::to_string(index) + " is a number, not a tensor");
  if (!checkedExtent(operand.desc))
    return badStep(context, "operand " + std::to_string(index) + " has impossible sizes");
  return &operand.desc;
}

Result<const TensorDesc *> tensorAt(const StepContext &context, size_t index) {
  INGOT_TRY(const TensorDesc *desc, optionalTensorAt(context, index));
  if (!desc)
    return badStep(context, "operand " + std::to_string(index) + " is missing");
  return desc;
}

Result<std::vector<int64_t>> listAttr(const StepContext &context, std::string_view name, size_t count, int64_t low,
                                      int64_t high) {
  INGOT_TRY(auto list, requiredAttr<std::vector<int64_t>>(context, name));
  if (list.size() != count)
    return badStep(context, "attribute '" + std::string(name) + "' has " + std::to_string(list.size()) +
                                " entries, not " + std::to_string(count));
  for (int64_t value : list)
    if (value < low || value > high)
      return badStep(context, "attribute '" + std::string(name) + "' is out of range: " + std::to_string(value));
  return list;
}

Result<int64_t> axisAttr(const StepContext &context, std::string_view name, size_t rank) {
  INGOT_TRY(int64_t axis, requiredAttr<int64_t>(context, name));
  const auto limit = static_cast<int64_t>(rank);
  if (axis < -limit || axis >= limit)
    return badStep(context, "attribute '" + std::string(name) + "' is out of range: " + std::to_string(axis));
  return axis < 0 ? axis + limit : axis;
}

Result<size_t> keywordAttr(const StepContext &context, std::string_view name,
                           std::span<const std::string_view> keywords) {
  INGOT_TRY(std::string text, requiredAttr<std::string>(context, name));
  auto it = std::ranges::find(keywords, text);
  if (it == keywords.end())
    return badStep(context, "attribute '" + std::string(name) + "' has the unknown value '" + text + "'");
  return static_cast<size_t>(it - keywords.begin());
}

bool broadcastsTo(std::span<const int64_t> from, std::span<const int64_t> to) {
  if (from.size() > to.size())
    return false;
  const std::span<const int64_t> last = to.last(from.size());
  for (size_t i = 0; i < from.size(); ++i)
    if (from[i] != last[i] && from[i] != 1)
      return false;
  return true;
}

Result<std::vector<int64_t>> broadcastSizes(const StepContext &context, std::span<const int64_t> a,
                                            std::span<const int64_t> b) {
  std::vector<int64_t> sizes(std::max(a.size(), b.size()));
  for (size_t i = 1; i <= sizes.size(); ++i) {
    const int64_t left = i <= a.size() ? a[a.size() - i] : 1;
    const int64_t right = i <= b.size() ? b[b.size() - i] : 1;
    if (left != right && left != 1 && right != 1)
      return badShapes(context, "the sizes do not broadcast together");
    sizes[sizes.size() - i] = left == 1 ? right : left;
  }
  return sizes;
}

Result<std::vector<ResultDesc>> denseResult(const StepContext &context, TensorDesc desc) {
  if (auto bytes = checkedBytes(desc); !bytes)
    return std::move(bytes.error()).note("in " + context.step.kernel);
  std::vector<ResultDesc> results(1);
  results[0].desc = std::move(desc);
  return results;
}

TensorDesc denseLike(DType dtype, std::vector<int64_t> sizes, const TensorDesc &like) {
  if (like.sizes.size() == sizes.size())
    if (auto order = denseOrder(like))
      return TensorDesc::dense(dtype, std::move(sizes), *order);
  return TensorDesc::contiguous(dtype, std::move(sizes));
}

namespace {

std::vector<int64_t> channelsLastOrder(size_t rank) {
  std::vector<int64_t> order{0};
  for (size_t i = 2; i < rank; ++i)
    order.push_back(static_cast<int64_t>(i));
  order.push_back(1);
  return order;
}

} // namespace

TensorDesc channelsLast(DType dtype, std::vector<int64_t> sizes) {
  const std::vector<int64_t> order = channelsLastOrder(sizes.size());
  return TensorDesc::dense(dtype, std::move(sizes), order);
}

bool isChannelsLast(const TensorDesc &desc) {
  if (desc.sizes.size() < 3 || desc.sizes.size() > 5)
    return false;
  const TensorDesc wanted = channelsLast(desc.dtype, desc.sizes);
  for (size_t i = 0; i < desc.sizes.size(); ++i)
    if (desc.sizes[i] != 1 && desc.strides[i] != wanted.strides[i])
      return false;
  return true;
}

} // namespace ingot
