// The shared library of compiled clusters that belongs to a plan.
#pragma once

#include "base/Result.h"

#include <string>

namespace ingot {

class KernelLibrary {
public:
  KernelLibrary() = default;
  ~KernelLibrary();
  KernelLibrary(const KernelLibrary &) = delete;
  KernelLibrary &operator=(const KernelLibrary &) = delete;

  Status open(const std::string &path);
  /// nullptr when there is no such function.
  void *find(const std::string &symbol) const;

private:
  void *handle = nullptr;
};

} // namespace ingot
