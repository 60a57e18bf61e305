#include "base/ScratchFolder.h"

#include "base/MappedFile.h"

#include <filesystem>
#include <fstream>
#include <stdlib.h>

namespace fs = std::filesystem;

namespace ingot {

static std::string &chosenParent() {
  static std::string path;
  return path;
}

void ScratchFolder::setParent(std::string path) { chosenParent() = std::move(path); }

Result<ScratchFolder> ScratchFolder::make() {
  std::error_code failure;
  const fs::path parent = chosenParent().empty() ? fs::temp_directory_path(failure) : fs::path(chosenParent());
  if (failure)
    return ioError("there is no folder for temporary files (TMPDIR): " + failure.message());
  std::string path = (parent / "ingot-XXXXXX").string();
  if (!::mkdtemp(path.data()))
    return errnoError("cannot make a temporary folder in '" + parent.string() + "'");
  return ScratchFolder(std::move(path));
}

ScratchFolder::~ScratchFolder() {
  std::error_code ignored;
  if (!folder.empty())
    fs::remove_all(folder, ignored);
}

Result<std::string> ScratchFolder::write(std::string_view name, std::string_view bytes) const {
  std::string path = file(name);
  std::ofstream stream(path, std::ios::binary);
  stream.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  stream.close();
  if (!stream)
    return errnoError("cannot write '" + path + "'");
  return path;
}

} // namespace ingot
