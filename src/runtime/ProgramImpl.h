// What a loaded program consists of. Private to Program.cpp and Driver.cpp.
#pragma once

#include "runtime/BindingCache.h"
#include "runtime/KernelLibrary.h"
#include "runtime/MemoryPool.h"
#include "runtime/Program.h"
#include "runtime/States.h"

#include <map>

namespace ingot {

/// Sizes that a program is called with in turn. A binding holds no intermediate values, only kernels.
constexpr size_t kMaxBindings = 32;

ScalarValue readScalar(DType dtype, const void *data);
void writeScalar(const ScalarValue &scalar, void *data);

/// Whether a function has steps that cannot be planned ahead.
bool runsStepByStep(const Function &function);

/// One function with what was prepared for it.
struct Entry {
  explicit Entry(const Function &function)
      : environment{function, {}, {}, {}}, cache(kMaxBindings), runsStepByStep(ingot::runsStepByStep(function)) {}

  /// Whether its steps are run one by one (Driver.cpp) rather than planned at once.
  bool isDriver() const { return runsStepByStep; }
  const Function &function() const { return environment.function; }

  BindEnvironment environment;
  std::vector<std::shared_ptr<std::byte>> prepared; ///< results of the prologue
  std::vector<size_t> states;                       ///< numbers in Program::Impl::states
  BindingCache cache;
  bool runsStepByStep;
};

struct Program::Impl {
  ProgramSource source;
  KernelLibrary library;
  States states;
  MemoryPool memory;
  std::vector<std::unique_ptr<Entry>> entries;
  std::string description;

  std::mutex copiesMutex;
  std::map<std::pair<const void *, BindingKey>, std::shared_ptr<std::byte>> constantCopies;

  Status prepare();
  Result<std::unique_ptr<Entry>> prepareEntry(const Function &function);
  Status defineConstants(Entry &entry) const;
  Status runPrologue(Entry &entry);
  Result<const void *> contiguousConstant(const void *data, const TensorDesc &desc);
  Result<Entry *> findEntry(std::string_view name) const;
  /// A function that only other functions call; null when there is none of that name.
  Entry *findInternal(std::string_view name) const;
  Result<std::shared_ptr<const Binding>> bind(Entry &entry, std::span<const TensorView> inputs);
  Result<std::vector<OutputTensor>> allocateOutputs(const Binding &binding);
  Status placeOutside(Entry &entry, const Binding &binding, std::span<const TensorView> inputs,
                      std::span<const OutputTensor> outputs, std::span<std::byte *> bases);
  /// Runs a function whose steps are planned at once.
  Result<std::vector<OutputTensor>> runPlanned(Entry &entry, std::span<const TensorView> inputs);
  /// Runs a function step by step (Driver.cpp).
  Result<std::vector<OutputTensor>> runDriver(Entry &entry, std::span<const TensorView> inputs);
  Result<std::vector<OutputTensor>> runEntry(Entry &entry, std::span<const TensorView> inputs) {
    return entry.isDriver() ? runDriver(entry, inputs) : runPlanned(entry, inputs);
  }
  Status execute(Entry &entry, const Binding &binding, std::span<const TensorView> inputs,
                 std::span<const OutputTensor> outputs);
};

} // namespace ingot
