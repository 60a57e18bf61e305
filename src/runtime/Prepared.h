// What the prologues of a program computed, kept in a file of the cache: the next load maps it instead of computing it.
#pragma once

#include "asset/Intact.h"

#include <future>
#include <span>
#include <vector>

namespace ingot {

/// Layout: a line with the format, the key, and the size and the checksum of what follows, padded to 4096 bytes; then the
/// buffers in the order of the program, each at a multiple of 64 bytes. A file that does not fit, or is damaged, is
/// ignored and written anew.
class PreparedFile {
public:
  /// Large: see MappedFile::preferLargePages.
  enum class Pages : uint8_t { Small, Large };

  PreparedFile() = default;
  /// `key` says what the content was made from. Without a path nothing is read or written. The checksum is computed
  /// meanwhile, unless the file is known already.
  PreparedFile(std::string path, const std::string &key, asset::IntactFiles &intact, Pages pages = Pages::Small);

  /// The next buffers, read-only; none where they have to be computed and given to `add`.
  std::vector<const std::byte *> take(std::span<const size_t> sizes);
  /// Whether all of the file has been taken.
  bool isAtEnd() const;
  /// Later loads need not check what was found to be intact.
  void remember(asset::IntactFiles &intact) const;
  /// `buffer` must stay where it is until `save`.
  void add(std::span<const std::byte> buffer);
  /// Whoever has this has what was taken.
  std::shared_ptr<const MappedFile> owner() const { return file; }
  /// The file is out of use: what is added takes its place.
  void startAnew();
  /// Waits for the checksum. If it is wrong, nothing that was taken may be used, and the file is out of use from now on.
  bool isIntact();
  /// Writes what was added, if it is worth it. The program runs without the file, so that failures do not matter.
  void save(asset::IntactFiles &intact);

private:
  void map();

  std::string path, title;
  Pages pages = Pages::Small;
  std::shared_ptr<MappedFile> file;
  std::future<bool> check;
  size_t offset = 0;
  std::vector<std::span<const std::byte>> added;
};

} // namespace ingot
