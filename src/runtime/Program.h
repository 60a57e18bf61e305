// A loaded program: weights mapped, constants prepared, ready to be called from any thread.
#pragma once

#include "runtime/Binding.h"
#include "runtime/Inputs.h"
#include "runtime/Plan.h"

#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace ingot {

/// A weight where it lies; contiguous.
struct WeightView {
  DType dtype = DType::Float32;
  std::vector<int64_t> shape;
  std::span<const std::byte> data;
};

/// Everything a program is made from.
struct ProgramSource {
  Plan plan;
  std::function<std::optional<WeightView>(std::string_view key)> findWeight;
  std::string kernelLibrary; ///< path; empty if the plan needs none
  /// Instead of kernelLibrary, for tests.
  std::function<void *(const std::string &symbol)> findSymbol;
  std::shared_ptr<const void> keepAlive; ///< what the weights lie in
};

/// Contiguous memory of its own. Copies share it.
struct OutputTensor {
  TensorDesc desc;
  std::shared_ptr<std::byte> data;
};

/// What a call would take, and what it would take if no memory were shared.
struct MemoryUse {
  size_t arenaBytes = 0;
  size_t unsharedBytes = 0;
};

class Program {
public:
  /// Validates the plan, prepares constants and states.
  static Result<std::shared_ptr<Program>> create(ProgramSource source);
  /// Opens an asset; has it specialised for this CPU first if that has not happened yet.
  static Result<std::shared_ptr<Program>> load(const std::string &assetPath);
  ~Program();
  Program(const Program &) = delete;
  Program &operator=(const Program &) = delete;

  const Plan &plan() const;
  /// The function of that name; the only one if the name is empty.
  Result<const Function *> entry(std::string_view name) const;

  /// Calls an entry point. `inputs` has an entry for each of its inputs that is no literal, with any strides;
  /// the result one for each output that is no literal. Calls may overlap; those that share states wait for
  /// each other.
  Result<std::vector<OutputTensor>> run(std::string_view entry, std::span<const TensorView> inputs);

  /// The memory a call with these inputs takes.
  Result<MemoryUse> memoryUse(std::string_view entry, std::span<const TensorView> inputs);

  std::vector<std::string> stateNames() const;
  Result<OutputTensor> readState(std::string_view name) const;
  Status writeState(std::string_view name, const TensorView &value);
  /// Gives every state its initial value.
  void resetStates();

  /// Entry points as JSON text, in the form of an asset's manifest.
  const std::string &description() const;

  struct Impl; ///< ProgramImpl.h

private:
  explicit Program(std::unique_ptr<Impl> impl);

  std::unique_ptr<Impl> impl;
};

} // namespace ingot
