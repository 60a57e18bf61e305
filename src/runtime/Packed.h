// Panels that kernels made of a program's constants, kept in a file of the cache: later loads map them instead of packing the weights again, and
// processes that run the same program share them.
#pragma once

#include "base/ForkSafeMutex.h"
#include "runtime/Prepared.h"
#include "runtime/kernels/gemm/Panels.h"

#include <array>
#include <compare>

namespace ingot {

/// The file has the form of a PreparedFile. Its first buffer counts the panels, the second has a record for each that tells
/// what it was made from, the others are the panels.
class PackedFile {
public:
  static constexpr size_t kMaxRank = 4;
  /// What panels were made from, and whether they are finite.
  struct Record {
    int64_t constant, offset; ///< its number, and bytes from its begin
    int64_t rank;             ///< from here on the fields of a PanelSource
    std::array<int64_t, kMaxRank> depthSizes, depthStrides;
    int64_t columns, columnStride, isTransformed, dtype, packing;
    int64_t isFinite;

    auto operator<=>(const Record &) const = default;
  };

  /// `key` says what the constants are. Without a path nothing is read or written.
  void open(std::string path, const std::string &key, asset::IntactFiles &intact);
  /// Lets kernels find what is in the file. `constants` are those of the program, in an order that is the same in every load.
  void offer(std::vector<std::span<const std::byte>> constants, asset::IntactFiles &intact);
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
