// Converted programs that are not saved yet, as Python sees them.
#pragma once

#include "Bind.h"
#include "Weights.h"
#include "base/ForkSafeMutex.h"
#include "runtime/CompilerApi.h"

#include <memory>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

namespace ingot::bind {

/// The program's JSON, its weights, and what it becomes as JSON.
using Part = std::tuple<nanobind::bytes, std::vector<const WeightRef *>, std::string>;
using Functions = std::vector<std::pair<std::string, nanobind::callable>>;

class Converted {
public:
  /// Takes the program over.
  explicit Converted(CompilerProgram *program);

  static Converted convert(const std::vector<Part> &parts, const std::string &options, const Functions &lowerings);
  static Converted open(const FilePath &path);

  std::string text(const std::string &function, bool withLocations) const;
  std::string manifest() const;
  void strip();
  void save(const FilePath &path, bool overwrite, const std::string &metadata) const;

private:
  std::shared_ptr<CompilerProgram> handle;
  /// Taken without Python's lock: stripping changes what the others read.
  std::shared_ptr<ForkFreedMutex> mutex = std::make_shared<ForkFreedMutex>();
};

} // namespace ingot::bind
