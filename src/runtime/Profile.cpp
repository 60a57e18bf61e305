#include "runtime/Profile.h"

namespace ingot {
namespace {

double elements(std::span<const int64_t> sizes) {
  double product = 1;
  for (int64_t size : sizes)
    product *= static_cast<double>(size);
  return product;
}

double lastSize(const BoundOperand &operand, size_t fromEnd = 1) {
  const std::vector<int64_t> &sizes = operand.desc.sizes;
  return fromEnd <= sizes.size() ? static_cast<double>(sizes[sizes.size() - fromEnd]) : 1;
}

/// Multiplications and additions for one element of the result.
double operationsPerElement(const Step &step, std::span<const BoundOperand> operands) {
  const std::string &kernel = step.kernel;
  if ((kernel == "matmul" || kernel == "gather_matmul") && !operands.empty())
    return 2 * lastSize(operands[0]);
  if (kernel == "conv" && operands.size() > 1) {
    // A filter's elements but for its first dimension: the channels of a group, and the window.
    const std::vector<int64_t> &filter = operands[1].desc.sizes;
    return filter.empty() ? 1 : 2 * elements(std::span(filter).subspan(1));
  }
  if (kernel == "attention" && operands.size() > 2)
    // Scores of all keys, and as many products with the values.
    return 2 * lastSize(operands[1], 2) * (1 + lastSize(operands[0]) / std::max(1.0, lastSize(operands[2])));
  return 1;
}

double bytesOf(const TensorDesc &desc) { return elements(desc.sizes) * static_cast<double>(byteSize(desc.dtype)); }

} // namespace

thread_local StepProfile *StepProfile::active = nullptr;

StepWork workOf(const Step &step, std::span<const BoundOperand> operands, std::span<const ResultDesc> results) {
  StepWork work;
  for (const BoundOperand &operand : operands)
    if (operand.present && !operand.scalar)
      work.bytes += bytesOf(operand.desc);
  for (const ResultDesc &result : results)
    if (result.viewOf < 0 && !result.scalar)
      work.bytes += bytesOf(result.desc);
  if (!results.empty())
    work.operations = elements(results[0].desc.sizes) * operationsPerElement(step, operands);
  return work;
}

} // namespace ingot
