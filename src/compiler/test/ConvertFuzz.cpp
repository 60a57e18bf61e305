// libFuzzer: any bytes may be a .pt2 file to convert; what comes of it is looked at, not run (see LoadFuzz.cpp).
#include "base/test/FuzzFolder.h"
#include "base/test/FuzzMutators.h"
#include "ingot/ingot.h"

#include <cstdio>

using namespace ingot;

extern "C" size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t maxSize, unsigned seed) {
  return fuzz::mutateArchive(data, size, maxSize, seed);
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  const std::string input = fuzz::scratchFolder() + "/input.pt2";
  const std::string output = fuzz::scratchFolder() + "/output.ingot";
  fuzz::writeScratch(input, {reinterpret_cast<const char *>(data), size});
  const ingot_status status = ingot_convert(input.c_str(), output.c_str(), /*overwrite=*/1, nullptr);
  if (status == INGOT_ERROR_INTERNAL) {
    std::fprintf(stderr, "an error of ours: %s\n", ingot_last_error());
    std::abort();
  }
  return 0;
}
