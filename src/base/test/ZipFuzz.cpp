// libFuzzer: any bytes may be an archive; what it says it holds must be readable, within bounds.
#include "base/test/FuzzMutators.h"

using namespace ingot;

extern "C" size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t maxSize, unsigned seed) {
  // Headers are what is read here: plain changes half of the time.
  return seed % 2 ? LLVMFuzzerMutate(data, size, maxSize) : fuzz::mutateArchive(data, size, maxSize, seed);
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  Result<Zip> zip = Zip::parse(std::as_bytes(std::span(data, size)));
  if (!zip)
    return 0;
  for (const Zip::Entry &entry : zip->entries()) {
    (void)zip->read(entry, 1 << 20);
    if (entry.isStored())
      (void)zip->verify(entry);
  }
  return 0;
}
