// Which files were read and checked to the last byte before: as long as the system says that they are the same and did
// not change, they are not read again just to be checked.
#pragma once

#include "base/MappedFile.h"

#include <set>
#include <string>

namespace ingot::asset {

class IntactFiles {
public:
  /// Knows nothing, and remembers nothing.
  IntactFiles() = default;
  /// What the file of the cache at `path` says, if it was written for `key`. INGOT_VERIFY=always: nothing.
  IntactFiles(std::string path, const std::string &key);

  bool knows(const MappedFile &file);
  /// `file` was checked. Not remembered if it changed so lately that another change might have the same time.
  void add(const MappedFile &file);
  /// Likewise for a file that this process has just written.
  void addOwn(const MappedFile &file);
  /// Writes what was added or asked for, if anything is new. A wish: if it cannot be written, files are checked again.
  void save() const;

private:
  std::string path, title;
  std::set<std::string> known, current;
  bool hasChanged = false;
};

} // namespace ingot::asset
