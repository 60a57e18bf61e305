// Panels that kernels made of a program's constants, kept in a file of the cache: later loads map them instead of packing the weights again, and
// processes that run the same program share them.
#pragma once

#include "base/ForkSafeMutex.h"
#include "runtime/Prepared.h"
#include "runtime/kernels/gemm/Panels.h"

#include <set>

namespace ingot {

/// The file has the form of a PreparedFile. Its first buffer counts the panels, the second has a record for each that tells
/// what it was made from, the others are the panels.
class PackedFile {
public:
  /// What panels were made from: the number of a constant, the offset in it, and the fields of a PanelSource.
  using Record = std::array<int64_t, 17>;

  /// `key` says what the constants are. Without a path nothing is read or written.
  void open(std::string path, const std::string &key, asset::IntactFiles &intact);
  /// Lets kernels find what is in the file. `constants` are those of the program, in an order that is the same in every load.
  void offer(std::vector<std::span<const std::byte>> constants);
  /// Writes the file anew where kernels have made panels since, if these are worth it. The program runs without the file, so that failures do
  /// not matter.
  void save(asset::IntactFiles &intact);

private:
  struct Kept {
    Record record;
    bool isInFile;
    std::shared_ptr<const gemm::Panels> panels;
  };

  bool read();
  void releaseOriginals() const;
  bool hasRoomFor(size_t bytes) const;
  std::vector<Kept> current() const;
  void write(std::span<const Kept> all, asset::IntactFiles &intact);

  std::string path;
  PreparedFile file;
  std::vector<std::span<const std::byte>> constants;
  std::vector<Kept> kept; ///< of the file
  ForkSafeMutex mutex;
  bool hasFailed = false;
};

} // namespace ingot
