// libFuzzer: an archive holds the files of an asset. Their checksums are made right, then it is loaded and called.
#include "asset/test/Seal.h"
#include "base/test/FuzzFolder.h"
#include "base/test/FuzzMutators.h"
#include "runtime/test/FuzzRun.h"

#include <cstdio>

using namespace ingot;

namespace {

std::string sealed(const fuzz::Members &members, const std::string &manifest) {
  return asset::test::sealManifest(manifest, [&](const std::string &name) -> std::optional<std::string_view> {
    auto found = std::ranges::find(members, name, &fuzz::Member::name);
    return found == members.end() ? std::nullopt : std::optional<std::string_view>(found->content);
  });
}

} // namespace

extern "C" size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t maxSize, unsigned seed) {
  return fuzz::mutateArchive(data, size, maxSize, seed);
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  std::optional<fuzz::Members> members = fuzz::unpack(data, size);
  if (!members)
    return 0;
  const std::string folder = fuzz::scratchFolder() + "/asset.ingot";
  std::filesystem::remove_all(folder);
  std::filesystem::create_directory(folder);
  for (const fuzz::Member &member : *members)
    if (member.name.size() < 100 && member.name.find('/') == std::string::npos)
      fuzz::writeScratch(folder + "/" + member.name,
                         member.name == "manifest.json" ? sealed(*members, member.content) : member.content);
  Result<std::shared_ptr<Program>> program = Program::load(folder, {.memoryLimit = 256 << 20});
  if (program) {
    fuzz::runProgram(**program);
  } else if (program.error().kind == ErrorKind::Internal) {
    std::fprintf(stderr, "an error of ours: %s\n", program.error().str().c_str());
    std::abort();
  }
  return 0;
}
