// A directory that is filled under a temporary name and published by one rename.
#pragma once

#include "base/Result.h"

#include <string>

namespace ingot::asset {

/// The temporary directory is a hidden sibling of the target, locked while its process lives. `create`
/// removes those of processes that died, so nothing piles up.
class Staging {
public:
  enum class Existing {
    Refuse,  ///< publishing fails with Usage if the target exists
    Replace, ///< the target and the new directory change places in one step; the old one is removed
  };

  /// What a link at the target means: the user's is followed, one that came with a file is replaced.
  enum class Links { Follow, Replace };

  static Result<Staging> create(const std::string &target, Links links = Links::Follow);
  ~Staging();
  Staging(Staging &&other) noexcept;
  Staging &operator=(Staging &&) = delete;

  const std::string &folder() const { return temporary; }
  const std::string &target() const { return finalPath; }

  /// Where something is replaced, the new files are first forced to disk: a power cut must not cost both.
  /// A first save skips that, it is most of the time of a large one; checksums tell if it was cut short.
  Status publish(Existing existing);

private:
  Staging() = default;
  Status replace();
  Status replaceInTwoSteps();

  std::string finalPath, temporary;
  int lock = -1;
};

/// `path` without trailing slashes, and a symbolic link replaced by what it points to.
std::string resolveTarget(const std::string &path);

/// Where a save that died half-way on a file system without exchanging renames left the old directory;
/// empty if nowhere.
std::string findSetAside(const std::string &target);

} // namespace ingot::asset
