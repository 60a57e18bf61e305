#include "runtime/kernels/order/Lines.h"

#include <cstdlib>
#include <cstring>

namespace ingot {

std::vector<int64_t> Lines::sizesWith(int64_t lineLength) const {
  std::vector<int64_t> result = sizes;
  result[axis] = lineLength;
  return result;
}

Result<Lines> linesOf(const StepContext &context) {
  INGOT_TRY(const TensorDesc *x, tensorAt(context, 0));
  INGOT_TRY(int64_t axis, axisAttr(context, "axis", x->sizes.size()));
  Lines lines;
  lines.sizes = x->sizes;
  lines.axis = static_cast<size_t>(axis);
  lines.length = x->sizes[lines.axis];
  for (size_t i = 0; i < x->sizes.size(); ++i) {
    if (i != lines.axis)
      (i < lines.axis ? lines.outer : lines.inner) *= x->sizes[i];
  }
  return lines;
}

Result<std::vector<ResultDesc>> valuesAndPositions(const StepContext &context, const std::vector<int64_t> &sizes) {
  const DType dtype = context.operands[0].desc.dtype;
  if (context.resultTypes[0].dtype != dtype || context.resultTypes[1].dtype != DType::Int64)
    return badStep(context, "the results have the wrong element types");
  INGOT_TRY(auto results, denseResult(context, TensorDesc::contiguous(dtype, sizes)));
  INGOT_TRY(auto positions, denseResult(context, TensorDesc::contiguous(DType::Int64, sizes)));
  // Kernels read lines after they have written others.
  results[0].mayOverwrite = false;
  results.push_back(std::move(positions[0]));
  return results;
}

Result<EvaluatedResult> evaluatedResult(const StepContext &context, DType dtype, std::vector<int64_t> sizes) {
  EvaluatedResult result;
  result.desc = TensorDesc::contiguous(dtype, std::move(sizes));
  INGOT_TRY(auto checked, denseResult(context, result.desc)); // refuses sizes that overflow
  (void)checked;
  const size_t bytes = (static_cast<size_t>(result.desc.numel()) * byteSize(dtype) + 63) / 64 * 64;
  auto *memory = static_cast<std::byte *>(std::aligned_alloc(64, std::max<size_t>(bytes, 64)));
  if (!memory)
    return usageError(context.step.kernel + ": not enough memory for a result of " + std::to_string(bytes) + " bytes");
  std::memset(memory, 0, bytes);
  result.data = std::shared_ptr<std::byte>(memory, [](std::byte *data) { std::free(data); });
  return result;
}

} // namespace ingot
