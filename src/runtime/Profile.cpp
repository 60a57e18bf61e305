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

/// Of one filter, for one element of the result: the channels of a group, and the window.
double filterOperations(const BoundOperand &filters) {
  const std::vector<int64_t> &sizes = filters.desc.sizes;
  return sizes.empty() ? 1 : 2 * elements(std::span(sizes).subspan(1));
}

/// Multiplications and additions for one element of the result.
double operationsPerElement(const Step &step, std::span<const BoundOperand> operands) {
  const std::string &kernel = step.kernel;
  if ((kernel == "matmul" || kernel == "gather_matmul") && !operands.empty())
    return 2 * lastSize(operands[0]);
  if ((kernel == "conv" || kernel == "scaled_pointwise") && operands.size() > 1)
    return filterOperations(operands[1]);
  if (kernel == "attention" && operands.size() > 2)
    // Scores of all keys, and as many products with the values.
    return 2 * lastSize(operands[1], 2) * (1 + lastSize(operands[0]) / std::max(1.0, lastSize(operands[2])));
  return 1;
}

/// Of the depthwise convolution, and of the one before it, which makes as many channels of the pixels of x.
double blockOperations(std::span<const BoundOperand> operands, const ResultDesc &result) {
  double operations = elements(result.desc.sizes) * filterOperations(operands[1]);
  if (operands.size() > 3 && operands[3].present && !operands[3].desc.sizes.empty())
    operations += 2 * elements(operands[0].desc.sizes) * static_cast<double>(operands[3].desc.sizes[0]);
  return operations;
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
  if (step.kernel == "depthwise_block" && operands.size() > 1 && !results.empty())
    work.operations = blockOperations(operands, results[0]);
  return work;
}

} // namespace ingot
