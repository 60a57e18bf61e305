// Any bytes may be a manifest; none may crash the parser.
#include "asset/Format.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  (void)ingot::asset::parseManifest({reinterpret_cast<const char *>(data), size});
  return 0;
}
