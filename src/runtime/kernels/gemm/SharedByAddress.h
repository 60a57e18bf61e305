// What bindings of one program make from its constants and share: found by the constant's address and by how it was made,
// while somebody uses it.
#pragma once

#include "base/ForkSafeMutex.h"

#include <functional>
#include <map>
#include <memory>

namespace ingot {

/// `How` tells apart what is made from one constant. Both calls are short: things are made between them.
template <typename How, typename Made> class SharedByAddress {
public:
  /// Null where there is none.
  std::shared_ptr<Made> find(const void *address, const How &how) {
    std::lock_guard lock(mutex);
    return findLocked(address, how);
  }

  /// What counts from now on: `made`, or that of a thread that was faster.
  std::shared_ptr<Made> add(const void *address, const How &how, std::shared_ptr<Made> made) {
    std::lock_guard lock(mutex);
    if (std::shared_ptr<Made> found = findLocked(address, how))
      return found;
    entries.emplace(address, Entry{how, made});
    return made;
  }

  /// Calls `visitor(how, made)` for what is used of constants from `begin` up to `end`.
  template <typename Visitor> void visit(const void *begin, const void *end, const Visitor &visitor) {
    std::lock_guard lock(mutex);
    for (auto it = entries.lower_bound(begin); it != entries.end() && std::less<>()(it->first, end); ++it)
      if (std::shared_ptr<Made> found = it->second.made.lock())
        visitor(it->second.how, std::move(found));
  }

private:
  struct Entry {
    How how;
    std::weak_ptr<Made> made;
  };

  std::shared_ptr<Made> findLocked(const void *address, const How &how) {
    auto [begin, end] = entries.equal_range(address);
    for (auto it = begin; it != end;) {
      std::shared_ptr<Made> found = it->second.made.lock();
      if (found && it->second.how == how)
        return found;
      it = found ? std::next(it) : entries.erase(it);
    }
    return nullptr;
  }

  ForkSafeMutex mutex;
  std::multimap<const void *, Entry> entries;
};

} // namespace ingot
