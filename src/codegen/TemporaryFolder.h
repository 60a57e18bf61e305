// Files for tools that read and write files only.
#pragma once

#include "base/Result.h"

#include <llvm/ADT/SmallString.h>

namespace ingot::codegen {

/// A new folder; gone at the end of the scope.
class TemporaryFolder {
public:
  TemporaryFolder() = default;
  ~TemporaryFolder();
  TemporaryFolder(const TemporaryFolder &) = delete;
  TemporaryFolder &operator=(const TemporaryFolder &) = delete;

  Status create(llvm::StringRef prefix);
  std::string file(llvm::StringRef name) const;

private:
  llvm::SmallString<128> path;
};

Status writeTemporary(const std::string &path, llvm::StringRef bytes);

} // namespace ingot::codegen
