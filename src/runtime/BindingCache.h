// The bindings of one function that were used last.
#pragma once

#include "base/ForkSafeMutex.h"
#include "runtime/Binding.h"

#include <list>
#include <map>

namespace ingot {

/// What a binding depends on: dtypes, sizes and strides of the inputs, and numbers among them.
using BindingKey = std::vector<int64_t>;

/// Thread-safe, bounded: the binding that was not used for the longest time goes first.
class BindingCache {
public:
  explicit BindingCache(size_t capacity) : capacity(capacity) {}

  std::shared_ptr<const Binding> find(const BindingKey &key) {
    std::lock_guard lock(mutex);
    auto it = index.find(key);
    if (it == index.end())
      return nullptr;
    entries.splice(entries.begin(), entries, it->second);
    return it->second->second;
  }

  void add(const BindingKey &key, std::shared_ptr<const Binding> binding) {
    std::lock_guard lock(mutex);
    if (index.contains(key))
      return; // another thread was faster
    entries.emplace_front(key, std::move(binding));
    index.emplace(key, entries.begin());
    if (entries.size() <= capacity)
      return;
    index.erase(entries.back().first);
    entries.pop_back();
  }

  size_t size() const {
    std::lock_guard lock(mutex);
    return entries.size();
  }

private:
  using Entry = std::pair<BindingKey, std::shared_ptr<const Binding>>;

  size_t capacity;
  mutable ForkSafeMutex mutex;
  std::list<Entry> entries; ///< last used first
  std::map<BindingKey, std::list<Entry>::iterator> index;
};

} // namespace ingot
