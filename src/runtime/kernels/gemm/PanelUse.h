// Panels that are mapped from a file are in the process only while somebody multiplies by them, where coming and going is cheap.
#pragma once

#include "base/ForkSafeMutex.h"
#include "base/MappedFile.h"

#include <atomic>
#include <vector>

namespace ingot::gemm {

class Panels;

/// A file of panels, whose parts come into the process and leave it.
class PanelFile {
public:
  explicit PanelFile(std::shared_ptr<const MappedFile> file);

  const MappedFile &mapped() const { return *file; }
  /// Parts leave when there are some of them: telling all CPUs takes longer than the pages themselves. One that is in use again by then
  /// comes back by itself.
  void leave(std::span<const std::byte> bytes);

private:
  void releaseWaiting();

  std::shared_ptr<const MappedFile> file;
  ForkSafeMutex mutex;
  std::vector<std::span<const std::byte>> waiting;
  size_t waitingBytes = 0, mostWaiting;
};

/// Where panels are in a file.
class MappedBlock {
public:
  MappedBlock(std::shared_ptr<PanelFile> file, std::span<const std::byte> bytes)
      : file(std::move(file)), bytes(bytes) {}

  void begin();
  void end();

private:
  enum class Leaves : uint8_t { Unknown, Yes, No };

  std::shared_ptr<PanelFile> file;
  std::span<const std::byte> bytes;
  std::atomic<Leaves> leaves = Leaves::Unknown; ///< found out when it was used first
};

/// Around a product of `rows` rows.
class PanelUse {
public:
  PanelUse(const Panels &panels, int64_t rows);
  ~PanelUse() {
    if (block)
      block->end();
  }
  PanelUse(const PanelUse &) = delete;
  PanelUse &operator=(const PanelUse &) = delete;

private:
  MappedBlock *block = nullptr;
};

} // namespace ingot::gemm
