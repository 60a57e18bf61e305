#include "codegen/TemporaryFolder.h"

#include <llvm/Support/FileSystem.h>
#include <llvm/Support/Path.h>
#include <llvm/Support/raw_ostream.h>

namespace ingot::codegen {

Status TemporaryFolder::create(llvm::StringRef prefix) {
  if (std::error_code error = llvm::sys::fs::createUniqueDirectory(prefix, path))
    return ioError("cannot create a temporary folder: " + error.message());
  return {};
}

TemporaryFolder::~TemporaryFolder() {
  if (!path.empty())
    llvm::sys::fs::remove_directories(path);
}

std::string TemporaryFolder::file(llvm::StringRef name) const {
  llvm::SmallString<128> full(path);
  llvm::sys::path::append(full, name);
  return std::string(full);
}

Status writeTemporary(const std::string &path, llvm::StringRef bytes) {
  std::error_code error;
  llvm::raw_fd_ostream stream(path, error, llvm::sys::fs::OF_None);
  if (!error) {
    stream << bytes;
    stream.close();
    error = stream.error();
  }
  stream.clear_error();
  if (error)
    return ioError("cannot write " + path + ": " + error.message());
  return {};
}

} // namespace ingot::codegen
