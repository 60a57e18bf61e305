// libFuzzer: any bytes may be a .npy file; its elements must be readable.
#include "base/Npy.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  auto array = ingot::parseNpy(std::as_bytes(std::span(data, size)));
  if (!array)
    return 0;
  volatile unsigned sum = 0;
  for (std::byte value : array->data)
    sum = sum + static_cast<unsigned>(value);
  return 0;
}
