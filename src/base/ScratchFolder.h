// A folder for files that nobody needs later.
#pragma once

#include "base/Result.h"

#include <string>
#include <string_view>
#include <utility>

namespace ingot {

/// A new folder where the system keeps such things (TMPDIR); gone, with all that is in it, at the end of the scope.
class ScratchFolder {
public:
  static Result<ScratchFolder> make();
  /// Where later ones go instead. For a process of one thread that must not change its environment: the lock of that may
  /// be held by a thread that a fork has left behind.
  static void setParent(std::string path);
  ScratchFolder(ScratchFolder &&other) noexcept : folder(std::exchange(other.folder, "")) {}
  ScratchFolder &operator=(ScratchFolder &&) = delete;
  ~ScratchFolder();

  const std::string &path() const { return folder; }
  std::string file(std::string_view name) const { return folder + "/" + std::string(name); }
  /// Writes a file; its path.
  Result<std::string> write(std::string_view name, std::string_view bytes) const;

private:
  explicit ScratchFolder(std::string folder) : folder(std::move(folder)) {}

  std::string folder;
};

} // namespace ingot
