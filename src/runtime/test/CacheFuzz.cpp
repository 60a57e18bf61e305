// libFuzzer: whatever is in the files that a load finds in the cache, with right checksums. 'm' and a table of methods, or 'p', a
// number of 64 bytes for panels, and the records of packed weights.
#include "base/Bytes.h"
#include "base/test/TemporaryFolder.h"
#include "runtime/Methods.h"
#include "runtime/Packed.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <numeric>

using namespace ingot;

namespace {

asset::IntactFiles nothing;

/// In memory where that can be: files are forced to disk.
const test::TemporaryFolder &folder() {
  static const int isSet = std::filesystem::exists("/dev/shm") ? ::setenv("TMPDIR", "/dev/shm", 0) : 0;
  static const test::TemporaryFolder made;
  return (void)isSet, made;
}

/// A file must have a megabyte to be worth it; more than eight take long.
constexpr size_t kLeast = size_t(1) << 20, kMost = size_t(8) << 20;

void readPacked(std::span<const std::byte> given) {
  if (given.size() < sizeof(uint32_t))
    return;
  static const std::vector<float> first(1 << 18, 1.0f), second(1 << 16, 2.0f);
  const std::vector<std::span<const std::byte>> constants = {std::as_bytes(std::span(first)),
                                                             std::as_bytes(std::span(second))};
  const size_t bytes = std::clamp(64 * size_t(loadLittle<uint32_t>(given, 0)), kLeast, kMost);
  const std::span<const std::byte> records = given.subspan(sizeof(uint32_t));
  const auto count = static_cast<int64_t>(records.size() / sizeof(PackedFile::Record));
  const std::vector<std::byte> blocks(bytes);
  const std::string path = folder().file("packed.bin");
  PreparedFile written(path, "packed " + std::to_string(gemm::kPanelsFormat) + " key", nothing);
  written.startAnew();
  written.add(std::as_bytes(std::span(&count, 1)));
  written.add(records);
  written.add(blocks);
  written.save(nothing);
  PackedFile file;
  file.open(path, "key", nothing);
  file.offer(constants, nothing);
  for (std::span<const std::byte> constant : constants)
    for (const gemm::PanelsInUse &found : gemm::panelsMadeFrom(constant)) {
      const auto *data = static_cast<const std::byte *>(found.source.data);
      const size_t reach = static_cast<size_t>(found.source.reach()) * byteSize(found.source.dtype);
      const std::span<const float> block = found.panels->block();
      const bool isInside = reach <= static_cast<size_t>(constant.data() + constant.size() - data);
      if (!isInside ||
          std::accumulate(block.begin(), block.end(), 0.0f) != 0) // all of it can be read, and is of the file
        std::abort();
    }
}

void readMethods(std::span<const std::byte> text) {
  const std::string path = folder().write("methods.json", asText(text));
  const MethodTable table = MethodTable::read(path, "key");
  if (!table.write(path, "key") || MethodTable::read(path, "key") != table)
    std::abort();
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  const std::span given(reinterpret_cast<const std::byte *>(data), size);
  if (size > 0 && data[0] == 'm')
    readMethods(given.subspan(1));
  else if (size > 0 && data[0] == 'p')
    readPacked(given.subspan(1));
  return 0;
}
