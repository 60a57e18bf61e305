#include "asset/Intact.h"

#include "asset/Cache.h"
#include "base/AtomicWrite.h"
#include "base/Bytes.h"

#include <chrono>
#include <cstdlib>
#include <sstream>

namespace ingot::asset {
namespace {

/// Files of one asset and of its cache; a stamp with more is none of ours.
constexpr size_t kMaxBytes = 64 << 10;

bool checksAlways() {
  const char *setting = std::getenv("INGOT_VERIFY");
  return setting && std::string_view(setting) == "always";
}

} // namespace

IntactFiles::IntactFiles(std::string stampPath, const std::string &key)
    : path(std::move(stampPath)), title("ingot-intact 1 " + key) {
  if (checksAlways()) {
    path.clear();
    return;
  }
  const std::shared_ptr<MappedFile> file = mapCacheFile(path);
  if (!file || file->bytes().size() > kMaxBytes)
    return;
  std::istringstream lines{std::string(asText(file->bytes()))};
  std::string line;
  if (!std::getline(lines, line) || line != title)
    return;
  while (std::getline(lines, line))
    known.insert(line);
}

bool IntactFiles::knows(const MappedFile &file) {
  if (!known.contains(file.identity()))
    return false;
  current.insert(file.identity());
  return true;
}

void IntactFiles::add(const MappedFile &file) {
  using namespace std::chrono;
  // Clocks of files tick more slowly than programs run; some count whole seconds.
  const nanoseconds changed = file.lastChange(), now = system_clock::now().time_since_epoch();
  const nanoseconds tick = changed.count() % 1'000'000'000 == 0 ? nanoseconds(2s) : nanoseconds(100ms);
  if (changed + tick < now)
    addOwn(file);
}

void IntactFiles::addOwn(const MappedFile &file) {
  hasChanged |= !known.contains(file.identity());
  current.insert(file.identity());
}

void IntactFiles::save() const {
  if (path.empty() || !hasChanged)
    return;
  std::string text = title + "\n";
  for (const std::string &line : current)
    text += line + "\n";
  (void)writeFileAtomically(path, text);
}

} // namespace ingot::asset
