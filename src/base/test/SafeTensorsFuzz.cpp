// libFuzzer: any bytes must be read or refused, and every tensor's data must be readable.
#include "base/SafeTensors.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  auto file = ingot::parseSafeTensors(std::as_bytes(std::span(data, size)));
  if (!file)
    return 0;
  unsigned sum = 0;
  for (const ingot::SafeTensor &tensor : file->tensors)
    for (std::byte value : tensor.data)
      sum += static_cast<unsigned>(value);
  volatile unsigned keep = sum;
  (void)keep;
  return 0;
}
