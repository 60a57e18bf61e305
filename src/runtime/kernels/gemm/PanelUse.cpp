#include "runtime/kernels/gemm/PanelUse.h"

#include "runtime/kernels/gemm/Panels.h"

#include <algorithm>
#include <cstdlib>
#include <string_view>

namespace ingot::gemm {
namespace {

/// A large page comes and goes in some five microseconds, and is multiplied by so many rows in fifty times as long.
constexpr int64_t kLeastRows = 48;
/// Bytes times rows. Smaller products take less than some hundred microseconds, which two calls of the system would prolong; their weights
/// go with their neighbours.
constexpr size_t kLeastWork = size_t(180) << 20;
/// Of a file, and at most so many bytes, wait until they are released together.
constexpr size_t kPartWaiting = 16, kMostWaiting = size_t(1) << 25;

bool areWeightsResident() {
  static const bool isWanted = [] {
    const char *setting = std::getenv("INGOT_WEIGHTS");
    return setting && std::string_view(setting) == "resident";
  }();
  return isWanted;
}

} // namespace

PanelFile::PanelFile(std::shared_ptr<const MappedFile> mapped)
    : file(std::move(mapped)), mostWaiting(std::min(file->bytes().size() / kPartWaiting, kMostWaiting)) {}

void PanelFile::leave(std::span<const std::byte> bytes) {
  std::lock_guard lock(mutex);
  waiting.push_back(bytes);
  waitingBytes += bytes.size();
  if (waitingBytes >= mostWaiting)
    releaseWaiting();
}

/// Neighbours by one call.
void PanelFile::releaseWaiting() {
  std::ranges::sort(waiting, {}, [](std::span<const std::byte> part) { return part.data(); });
  for (size_t i = 0; i < waiting.size();) {
    const std::byte *begin = waiting[i].data(), *end = begin;
    for (; i < waiting.size() && waiting[i].data() <= end + kLargePage; ++i)
      end = std::max(end, waiting[i].data() + waiting[i].size());
    file->release({begin, end});
  }
  waiting.clear();
  waitingBytes = 0;
}

void MappedBlock::begin() {
  if (leaves != Leaves::No)
    file->mapped().fetch(bytes);
}

void MappedBlock::end() {
  if (leaves == Leaves::Unknown)
    leaves = file->mapped().isOnLargePages(bytes) ? Leaves::Yes : Leaves::No;
  if (leaves == Leaves::Yes)
    file->leave(bytes);
}

PanelUse::PanelUse(const Panels &panels, int64_t rows) {
  if (rows < kLeastRows || panels.blockBytes() < kLeastWork / static_cast<size_t>(rows) || areWeightsResident())
    return;
  block = panels.mappedBlock();
  if (block)
    block->begin();
}

} // namespace ingot::gemm
