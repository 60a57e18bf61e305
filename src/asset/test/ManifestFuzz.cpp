// libFuzzer: any bytes may be a manifest; none may crash the parser, with its checksum made right or not.
#include "base/test/FuzzMutators.h"

#include "Seal.h"

using namespace ingot;
using namespace ingot::asset;

extern "C" size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t maxSize, unsigned seed) {
  return fuzz::mutateDocument(data, size, maxSize, seed);
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  const std::string_view text(reinterpret_cast<const char *>(data), size);
  (void)parseManifest(text);
  const std::string sealed = asset::test::sealManifest(text, [](const std::string &) { return std::nullopt; });
  if (Result<CheckedManifest> manifest = parseManifest(sealed))
    (void)parseManifest(manifestText(manifest->manifest));
  return 0;
}
